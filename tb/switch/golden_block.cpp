// SPDX-License-Identifier: Apache-2.0
// The golden model as a lookup block.
#include "switch/loader.hpp"
#include "switch/lookup_block.hpp"

namespace weft::tb {

namespace {

using namespace switch_lookup;

class GoldenBlock : public LookupBlock {
 public:
  explicit GoldenBlock(const Sizes& sizes) : sizes_(sizes), lookup_(sizes) {}

  const Sizes& sizes() const override { return sizes_; }
  void load(uint64_t switch_id, const std::vector<uint32_t>& image) override {
    switch_id_ = switch_id;
    lookup_.set_tables(read_image(image, switch_id, sizes_));
  }
  void begin_update(const std::vector<uint32_t>& image) override {
    update_ = read_image(image, switch_id_, sizes_);
  }
  bool updating() const override { return update_.has_value(); }
  void finish_update() override {
    if (!update_) return;
    lookup_.set_tables(*update_);
    lookups_before_ = lookups_;
    update_.reset();
  }
  void idle(uint32_t /*clocks*/) override {}
  uint64_t lookups() const override { return lookups_; }
  uint64_t lookups_before() const override { return lookups_before_; }
  void seed(uint32_t seed) override { lookup_.seed(seed); }
  void set_alive(Ports alive) override { alive_ = alive; }
  /// An update comes into use in the middle.
  void look(std::span<const formats::Request> requests, std::vector<Result>& results) override {
    results.clear();
    for (const formats::Request& request : requests) {
      if (update_ && results.size() >= requests.size() / 2) finish_update();
      results.push_back(lookup_.look(request, alive_));
      ++lookups_;
    }
  }
  uint64_t clocks() const override { return 0; }
  void spoil_model(const Image& /*image*/) override {}
  void open_traces(const std::filesystem::path& /*folder*/, uint32_t /*node*/) override {}

 private:
  Sizes sizes_;
  Lookup lookup_;
  uint64_t switch_id_ = 0;
  std::optional<Image> update_;
  Ports alive_ = 0;
  uint64_t lookups_ = 0, lookups_before_ = 0;
};

}  // namespace

std::unique_ptr<LookupBlock> golden_block(const Sizes& sizes) { return std::make_unique<GoldenBlock>(sizes); }

}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// Lookup blocks as the units of switches.
#include "switch/fabric_unit.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>
#include <vector>

#include "common/fault.hpp"
#include "switch/lookup_block.hpp"

namespace weft::tb {

namespace {

class BlockUnit : public switchfabric::LookupUnit {
 public:
  BlockUnit(uint32_t sw, std::unique_ptr<LookupBlock> block) : sw_(sw), block_(std::move(block)) {}

  void load(const switch_lookup::Image& image) override {
    const auto words = write_image(image);
    named([&] {
      if (!loaded_) return block_->load(image.head.switch_id, words);
      block_->begin_update(words);
      block_->finish_update();
    });
    loaded_ = true;
  }
  void set_alive(switch_lookup::Ports alive) override { block_->set_alive(alive); }
  switch_lookup::Result look(const switch_lookup::formats::Request& request) override {
    named([&] { block_->look(std::span(&request, 1), results_); });
    return results_.front();
  }

 private:
  template <typename Work>
  void named(const Work& work) {
    try {
      work();
    } catch (const LookupMismatch& mismatch) {
      throw LookupMismatch(fmt::format("switch {}: {}", sw_, mismatch.what()));
    }
  }

  uint32_t sw_;
  std::unique_ptr<LookupBlock> block_;
  bool loaded_ = false;
  std::vector<switch_lookup::Result> results_;
};

}  // namespace

switchfabric::MakeUnit lookup_units(std::set<uint32_t> golden, uint64_t seed) {
  return [golden = std::move(golden), seed](uint32_t sw, const switch_lookup::Sizes& image) {
    const auto sizes = block_sizes(image.ports);
    if (image.unicast_entries > sizes.unicast_entries)
      throw Fault(fmt::format("switches with {} table entries: lookup blocks have {}", image.unicast_entries,
                              sizes.unicast_entries));
    auto block = golden.contains(sw) ? golden_block(sizes) : verilated_block(sizes, seed + sw);
    block->seed(static_cast<uint32_t>(seed + sw + 1));
    return std::make_unique<BlockUnit>(sw, std::move(block));
  };
}

}  // namespace weft::tb

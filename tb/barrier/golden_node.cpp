// SPDX-License-Identifier: Apache-2.0
// The golden model as a node's barrier engine: a command and a packet a clock.
#include <deque>
#include <utility>

#include "barrier/engine_node.hpp"

namespace weft::tb {

namespace {

using namespace barrier;

class GoldenNode : public EngineNode {
 public:
  explicit GoldenNode(Node self) : engine_(self, engine_groups, engine_nodes) {}

  void open(uint32_t group, const GroupSettings& settings) override { check(engine_.open(group, settings)); }
  void arrive(uint32_t group) override { check(engine_.arrive(group)); }
  bool busy() const override { return false; }
  void receive(const PacketBytes& bytes) override { coming_.push_back(bytes); }
  void clock(uint32_t /*pauses*/) override {
    if (!coming_.empty()) {
      engine_.receive(coming_.front());
      coming_.pop_front();
    }
    if (++clocks_ % engine_tick == 0) engine_.tick();
    const Outputs out = engine_.take();
    for (const Packet& packet : out.packets) packets_.push_back(write_packet(packet));
    completions_.insert(completions_.end(), out.completions.begin(), out.completions.end());
  }
  std::vector<PacketBytes> take_packets() override { return std::exchange(packets_, {}); }
  std::vector<Completion> take_completions() override {
    for (const Completion& completion : completions_) engine_.completion_taken(completion.group);
    return std::exchange(completions_, {});
  }
  uint64_t repeated() const override { return engine_.repeated(); }

 private:
  static void check(Refusal refusal) {
    if (refusal != Refusal::none)
      throw BarrierMismatch("a command is refused: " + std::string(formats::name(refusal)));
  }

  Engine engine_;
  std::deque<PacketBytes> coming_;
  std::vector<PacketBytes> packets_;
  std::vector<Completion> completions_;
  uint64_t clocks_ = 0;
};

}  // namespace

std::unique_ptr<EngineNode> golden_node(Node self) { return std::make_unique<GoldenNode>(self); }

}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// A barrier engine in RTL beside its golden model: each event that the RTL takes is given to the model, and
// what both then send, tell and refuse is compared.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "barrier/engine.hpp"
#include "barrier/engine_node.hpp"
#include "barrier/engine_trace.hpp"
#include "barrier/packet.hpp"
#include "common/verilated_clock.hpp"

namespace weft::tb {

/// @param Size Top, the Verilated class, its groups, members, nodes, and clocks of a tick; maybe begin(), for
/// a new top
template <typename Size>
class LockstepNode : public EngineNode {
 public:
  static constexpr uint32_t groups = Size::groups, members = Size::members, nodes = Size::nodes,
                            tick_period = Size::tick_period;

  LockstepNode(barrier::Node self, uint64_t seed)
      : context_(seed),
        clock_(context_, "barrier"),
        self_(self),
        random_(seed * 1000 + self),
        trace_(self, groups, members, nodes) {
    if constexpr (requires { Size::begin(clock_.top()); }) Size::begin(clock_.top());
    clear();
    set_up();
  }

  /// Commands wait for each other. What is to be opened is written to the registers first.
  void open(uint32_t group, const barrier::GroupSettings& settings) override {
    namespace reg = barrier::formats::reg;
    push(reg::TABLE_GROUP, group);
    push(reg::TABLE_INDEX, 0);
    for (const barrier::Node member : settings.members) push(reg::MEMBER, member);
    push(reg::INSTANCE, settings.instance);
    push(reg::SHAPE, static_cast<uint32_t>(settings.shape));
    push(reg::MEMBERS, static_cast<uint32_t>(settings.members.size()));
    push(reg::BLOCK_LOG2, settings.block_log2);
    push(reg::MULTICAST, settings.multicast);
    push(reg::STRIDE, settings.judge.stride);
    push(reg::GOOD, settings.judge.good);
    push(reg::JUDGE_TRIES, settings.judge.tries);
    push(reg::FIRST, settings.waiting.first);
    push(reg::LARGEST, settings.waiting.largest);
    push(reg::TRIES, settings.waiting.tries);
    push(reg::LATE, settings.waiting.late);
    open_as_written(group, settings);
  }
  /// @param settings in the registers, and members in the table
  void open_as_written(uint32_t group, const barrier::GroupSettings& settings) {
    writes_.push_back({barrier::formats::reg::OPEN, group, settings, 15});
  }
  void close(uint32_t group) { push(barrier::formats::reg::CLOSE, group); }
  void arrive(uint32_t group) override { push(barrier::formats::reg::ARRIVE, group); }
  bool busy() const override { return !writes_.empty(); }

  void receive(const barrier::PacketBytes& bytes) override { coming_.push_back(bytes); }

  /// Reset goes on in the next clock; all is forgotten.
  void reset() {
    reset_only();
    set_up();
  }
  /// SELF and TICK_PERIOD stay as they are after a reset.
  void reset_only() {
    clear();
    trace_.reset(cycle_);
    clock_.top().rst_ni = 0;
    resetting_ = 2;
  }

  /// One clock; in `pauses` percent of them each stream pauses.
  void clock(uint32_t pauses) override {
    drive(pauses);
    clock_.settle();
    if (resetting_ == 0) sample();
    clock_.settle();
    clock_.edge();
    context_.advance();
    ++cycle_;
    require(!context_.failed(), "an assertion in the RTL failed");
    if (resetting_ > 0 && --resetting_ == 0) clock_.top().rst_ni = 1;
  }

  /// Counters of both are the same. Takes clocks.
  void compare_counters() {
    namespace reg = barrier::formats::reg;
    for (uint32_t i = 0; i < barrier::formats::count::DROP; i++) {
      uint64_t expected = golden_->dropped(static_cast<barrier::Drop>(i));
      if (i == static_cast<uint32_t>(barrier::Drop::overrun)) expected = overruns_;
      if (i == static_cast<uint32_t>(barrier::Drop::malformed)) expected = malformed_;
      equal(read(reg::DROP + 4 * i).value(), expected, fmt::format("drops {}", i));
    }
    equal(read(reg::REPEATED).value(), golden_->repeated(), "repeated");
    equal(read(reg::LATE_COUNT).value(), golden_->late(), "late");
    equal(read(reg::COMPLETED).value(), completed_, "completed");
    equal(read(reg::REFUSED).value(), golden_->refused(), "refused");
    for (uint32_t group = 0; group < groups; group++) {
      require(write(reg::TABLE_GROUP, group), "TABLE_GROUP is refused");
      const auto late = golden_->late_now(group);
      equal(read(reg::LATE_NOW).value(), late ? 1U << 31 | *late : 0, fmt::format("late in {}", group));
    }
  }

  std::optional<uint32_t> read(uint32_t address) {
    clock_.top().s_axil_araddr_i = static_cast<uint16_t>(address);
    clock_.top().s_axil_arvalid_i = 1;
    clock(0);
    clock_.top().s_axil_arvalid_i = 0;
    for (int i = 0; i < 100; i++) {
      clock_.top().s_axil_rready_i = chance(50);
      clock_.settle();
      const bool answered = clock_.top().s_axil_rvalid_o && clock_.top().s_axil_rready_i;
      const bool ok = clock_.top().s_axil_rresp_o == 0;
      const uint32_t data = clock_.top().s_axil_rdata_o;
      clock(0);
      if (answered) return ok ? std::optional(data) : std::nullopt;
    }
    throw BarrierMismatch("a read has no answer");
  }

  /// A write by itself. @return whether it was taken
  bool write(uint32_t address, uint32_t data, uint8_t strobes = 15) {
    push(address, data);
    writes_.back().strobes = strobes;
    for (int i = 0; i < 10000 && busy(); i++) clock(0);
    require(!busy(), "a write has no answer");
    return last_ok_;
  }

  uint64_t dropped(barrier::Drop reason) const {
    return reason == barrier::Drop::malformed ? malformed_
           : reason == barrier::Drop::overrun ? overruns_
                                              : golden_->dropped(reason);
  }
  uint64_t ticks(uint32_t group) const { return ticks_.at(group); }
  uint64_t refused(barrier::Refusal why) const { return refusals_[static_cast<size_t>(why)]; }
  std::vector<barrier::PacketBytes> take_packets() override { return std::exchange(sent_, {}); }
  std::vector<barrier::Completion> take_completions() override { return std::exchange(told_, {}); }
  uint64_t repeated() const override { return golden_->repeated(); }
  /// While it is, software takes no completion.
  void hold_completions(bool hold) { held_ = hold; }

 private:
  struct Write {
    uint32_t address, data;
    std::optional<barrier::GroupSettings> settings;
    uint8_t strobes = 15;
  };

  void push(uint32_t address, uint32_t data) { writes_.push_back({address, data, {}, 15}); }

  void clear() {
    golden_.emplace(self_, groups, nodes);
    writes_.clear();
    coming_.clear();
    accepted_.clear();
    packets_.clear();
    completions_.clear();
    phase_ = Phase::idle;
    addresses_taken_ = 0;
    data_taken_ = address_leaves_ = data_leaves_ = false;
    malformed_ = overruns_ = completed_ = 0;
    clock_.top().s_pkt_valid_i = clock_.top().s_axil_awvalid_i = clock_.top().s_axil_wvalid_i =
        clock_.top().s_axil_arvalid_i = 0;
    clock_.top().s_axil_bready_i = clock_.top().s_axil_rready_i = 1;
    clock_.top().rst_ni = 0;
    resetting_ = 2;
  }
  void set_up() {
    push(barrier::formats::reg::SELF, self_);
    push(barrier::formats::reg::TICK_PERIOD, tick_period);
  }

  void require(bool holds, const std::string& what) const {
    if (!holds) throw BarrierMismatch(fmt::format("node {}: {}", self_, what));
  }
  void equal(uint64_t rtl, uint64_t golden, const std::string& what) const {
    require(rtl == golden, fmt::format("{}: {} in RTL, {} in the golden model", what, rtl, golden));
  }

  bool chance(uint32_t percent) { return random_() % 100 < percent; }

  void drive(uint32_t pauses) {
    clock_.top().m_pkt_ready_i = !chance(pauses);
    clock_.top().m_cpl_ready_i = !held_ && !chance(pauses);
    clock_.top().s_axil_bready_i = !chance(pauses);
    clock_.top().s_pkt_valid_i = resetting_ == 0 && !coming_.empty() && !chance(pauses);
    if (clock_.top().s_pkt_valid_i) std::memcpy(clock_.top().s_pkt_data_i.data(), coming_.front().data(), 32);
    if (resetting_ == 0) drive_write(pauses);
    if (phase_ != Phase::asking && phase_ != Phase::reading) return;
    clock_.top().s_axil_araddr_i = barrier::formats::reg::RESULT;
    clock_.top().s_axil_arvalid_i = phase_ == Phase::asking;
    clock_.top().s_axil_rready_i = !chance(pauses);
  }

  /// Address and data come at once or, with pauses, one before the other; the next write's address may come
  /// once this one's is taken.
  void drive_write(uint32_t pauses) {
    auto& top = clock_.top();
    if (std::exchange(address_leaves_, false)) top.s_axil_awvalid_i = 0;
    if (std::exchange(data_leaves_, false)) top.s_axil_wvalid_i = 0;
    if (phase_ == Phase::idle && !writes_.empty() && !chance(pauses)) phase_ = Phase::writing;
    const bool writes = phase_ == Phase::writing;
    if (!top.s_axil_awvalid_i && addresses_taken_ < 2 && writes_.size() > addresses_taken_) {
      top.s_axil_awvalid_i = addresses_taken_ == 0 ? writes && !chance(pauses) : chance(pauses);
      top.s_axil_awaddr_i = static_cast<uint16_t>(writes_[addresses_taken_].address);
    }
    if (!top.s_axil_wvalid_i && writes && !data_taken_) {
      top.s_axil_wvalid_i = !chance(pauses);
      top.s_axil_wdata_i = writes_.front().data;
      top.s_axil_wstrb_i = writes_.front().strobes;
    }
  }
  void sample_write() {
    address_leaves_ = clock_.top().s_axil_awvalid_i && clock_.top().s_axil_awready_o;
    data_leaves_ = clock_.top().s_axil_wvalid_i && clock_.top().s_axil_wready_o;
    if (address_leaves_) addresses_taken_++;
    if (data_leaves_) data_taken_ = true;
  }

  void sample() {
    if (clock_.top().m_pkt_valid_o && clock_.top().m_pkt_ready_i) packet_left();
    if (clock_.top().trace_valid_o) event();
    if (clock_.top().trace_overrun_o) {
      overruns_++;
      require(!accepted_.empty(), "an overrun of no packet");
      accepted_.pop_back();
      trace_.dropped(cycle_, barrier::Drop::overrun);
    }
    require(clock_.top().s_pkt_ready_o, "packets are not taken");
    if (clock_.top().s_pkt_valid_i) {
      if (barrier::read_packet(coming_.front())) {
        accepted_.push_back(coming_.front());
      } else {
        malformed_++;
        trace_.dropped(cycle_, barrier::Drop::malformed);
      }
      coming_.pop_front();
    }
    if (clock_.top().m_cpl_valid_o && clock_.top().m_cpl_ready_i) completion_left();
    sample_write();
    if (clock_.top().s_axil_bvalid_o && clock_.top().s_axil_bready_i) written();
    if (phase_ == Phase::reading && clock_.top().s_axil_rvalid_o && clock_.top().s_axil_rready_i) refused();
    if (phase_ == Phase::asking && clock_.top().s_axil_arvalid_i) {
      require(clock_.top().s_axil_arready_o, "takes no read");
      phase_ = Phase::reading;
    }
  }

  /// What came before has ended: its packets have left, its completion is offered at least.
  void event() {
    require(packets_.empty(), "does not send what its model does");
    require(completions_.empty() || clock_.top().m_cpl_valid_o, "does not tell what its model does");
    const barrier::Outputs out = follow(clock_.top().trace_group_o);
    for (const auto& packet : out.packets) packets_.push_back(barrier::write_packet(packet));
    completions_.insert(completions_.end(), out.completions.begin(), out.completions.end());
  }
  /// What the golden model does with the event that the RTL has taken.
  barrier::Outputs follow(uint32_t group) {
    switch (clock_.top().trace_what_o) {
      case 0:
        require(writes_.front().settings || group >= groups, "OPEN that was not asked for");
        return command(group, "open", [&] {
          return golden_->open(group, writes_.front().settings.value_or(barrier::GroupSettings{}));
        });
      case 1:
        return command(group, "close", [&] { return golden_->close(group); });
      case 2:
        return command(group, "arrive", [&] { return golden_->arrive(group); });
      case 3:
        return packet_taken();
      default:
        require(golden_->view(group).phase != barrier::Phase::closed, "a tick of a group that is not open");
        ticks_[group]++;
        return trace_.follow(cycle_, *golden_, {.name = "tick", .group = group},
                             [&] { golden_->tick(group); });
    }
  }
  template <typename Act>
  barrier::Outputs command(uint32_t group, const char* name, Act act) {
    equal(group, writes_.front().data, "group of a command");
    return trace_.follow(cycle_, *golden_, {.name = name, .group = group}, [&] { return refusal_ = act(); });
  }
  barrier::Outputs packet_taken() {
    barrier::PacketBytes bytes{};
    std::memcpy(bytes.data(), clock_.top().trace_packet_o.data(), bytes.size());
    require(!accepted_.empty() && accepted_.front() == bytes, "takes a packet that has not come");
    accepted_.pop_front();
    const barrier::Packet packet = barrier::read_packet(bytes).value();
    equal(clock_.top().trace_group_o, packet.group, "group of a packet");
    return trace_.follow(cycle_, *golden_, {.name = "packet", .group = packet.group, .packet = packet},
                         [&] { golden_->receive(packet); });
  }

  void packet_left() {
    barrier::PacketBytes bytes{};
    std::memcpy(bytes.data(), clock_.top().m_pkt_data_o.data(), bytes.size());
    require(!packets_.empty() && packets_.front() == bytes, "sends what its model does not");
    packets_.pop_front();
    sent_.push_back(bytes);
  }

  void completion_left() {
    completed_++;
    require(!completions_.empty(), "tells what its model does not");
    const barrier::Completion expected = completions_.front();
    completions_.pop_front();
    golden_->completion_taken(expected.group);
    std::array<uint8_t, 8> bytes{};
    std::memcpy(bytes.data(), &clock_.top().m_cpl_data_o, bytes.size());
    const auto told = barrier::formats::unpack_completion(bytes);
    equal(told.group, expected.group, "group told");
    equal(told.epoch, expected.epoch, "epoch told");
    equal(told.ending, static_cast<uint8_t>(expected.ending), "ending told");
    equal(told.dead, expected.dead, "dead told");
    equal(told.has_late, expected.late.has_value() ? 1 : 0, "late told");
    equal(told.late, expected.late.value_or(0), "who is late");
    told_.push_back(expected);
  }

  void written() {
    namespace reg = barrier::formats::reg;
    require(!writes_.empty(), "answers no write");
    last_ok_ = clock_.top().s_axil_bresp_o == 0;
    const auto [address, data, settings, strobes] = writes_.front();
    if (strobes != 15) {
      require(!last_ok_, "takes a write without all strobes");
    } else if (address == reg::OPEN || address == reg::CLOSE || address == reg::ARRIVE) {
      require(last_ok_ == (refusal_ == barrier::Refusal::none), "refuses other commands than its model");
      phase_ = Phase::asking;
      return;
    }
    end_write();
  }
  /// RESULT has been read.
  void refused() {
    clock_.top().s_axil_rready_i = 1;
    require(clock_.top().s_axil_rresp_o == 0, "RESULT cannot be read");
    equal(clock_.top().s_axil_rdata_o, static_cast<uint64_t>(refusal_), "RESULT");
    refusals_[static_cast<size_t>(refusal_)]++;
    end_write();
  }
  void end_write() {
    writes_.pop_front();
    require(addresses_taken_ > 0 && data_taken_, "answers what has not come");
    addresses_taken_--;
    data_taken_ = false;
    phase_ = Phase::idle;
  }

  SimulationContext context_;
  VerilatedClock<typename Size::Top> clock_;
  barrier::Node self_;
  std::mt19937_64 random_;
  std::optional<barrier::Engine> golden_;
  std::deque<Write> writes_;
  enum class Phase : uint8_t {
    idle,
    writing,
    asking,
    reading
  };  // the latter two: for the RESULT of a command
  Phase phase_ = Phase::idle;
  uint32_t addresses_taken_ = 0;                       ///< of the first writes: at most two
  bool data_taken_ = false;                            ///< of the first one
  bool address_leaves_ = false, data_leaves_ = false;  ///< taken in this clock
  bool last_ok_ = false;
  barrier::Refusal refusal_ = barrier::Refusal::none;
  std::deque<barrier::PacketBytes> coming_, accepted_, packets_;
  std::deque<barrier::Completion> completions_;
  std::vector<barrier::PacketBytes> sent_;
  std::vector<barrier::Completion> told_;
  std::array<uint64_t, 16> refusals_{};
  std::array<uint64_t, groups> ticks_{};  ///< that groups have had
  uint64_t malformed_ = 0, overruns_ = 0, completed_ = 0;
  bool held_ = false;
  int resetting_ = 0;
  uint64_t cycle_ = 0;
  EngineTrace trace_;
};

}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// A barrier engine in RTL beside its golden model: each event that the RTL takes is given to the model, and
// what both then send, tell and refuse is compared.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "Vbarrier_engine.h"
#include "barrier/engine.hpp"
#include "barrier/packet.hpp"
#include "bench.hpp"

namespace weft::rtl_test {

class BarrierNode {
 public:
  static constexpr uint32_t groups = 4, members = 32, nodes = 24, tick_period = 24;  // as CMakeLists.txt says

  BarrierNode(barrier::Node self, uint64_t seed) : self_(self), random_(seed * 1000 + self) { clear(); }

  /// Commands wait for each other. What is to be opened is written to the registers first.
  void open(uint32_t group, const barrier::GroupSettings& settings) {
    namespace reg = barrier::formats::reg;
    push(reg::TABLE_GROUP, group);
    push(reg::TABLE_INDEX, 0);
    for (const barrier::Node member : settings.members) push(reg::MEMBER, member);
    push(reg::INSTANCE, settings.instance);
    push(reg::SHAPE, static_cast<uint32_t>(settings.shape));
    push(reg::MEMBERS, static_cast<uint32_t>(settings.members.size()));
    push(reg::STRIDE, settings.judge.stride);
    push(reg::GOOD, settings.judge.good);
    push(reg::JUDGE_TRIES, settings.judge.tries);
    push(reg::FIRST, settings.waiting.first);
    push(reg::LARGEST, settings.waiting.largest);
    push(reg::TRIES, settings.waiting.tries);
    push(reg::LATE, settings.waiting.late);
    writes_.push_back({reg::OPEN, group, settings});
  }
  void close(uint32_t group) { push(barrier::formats::reg::CLOSE, group); }
  void arrive(uint32_t group) { push(barrier::formats::reg::ARRIVE, group); }
  bool busy() const { return !writes_.empty(); }

  void receive(const barrier::PacketBytes& bytes) { coming_.push_back(bytes); }

  /// Reset goes on in the next clock; all is forgotten.
  void reset() {
    clear();
    bench_->rst_ni = 0;
    resetting_ = 2;
  }

  /// One clock; in `pauses` percent of them each stream pauses.
  void clock(uint32_t pauses) {
    drive(pauses);
    bench_.settle();
    if (resetting_ == 0) sample();
    bench_.step();
    if (resetting_ > 0 && --resetting_ == 0) bench_->rst_ni = 1;
  }

  /// Counters of both are the same. Takes clocks.
  void compare_counters() {
    namespace reg = barrier::formats::reg;
    for (uint32_t i = 0; i < barrier::formats::count::DROP; i++) {
      uint64_t expected = golden_->dropped(static_cast<barrier::Drop>(i));
      if (i == static_cast<uint32_t>(barrier::Drop::overrun)) expected = overruns_;
      if (i == static_cast<uint32_t>(barrier::Drop::malformed)) expected = malformed_;
      EXPECT_EQ(read(reg::DROP + 4 * i), expected) << "drop " << i << " of node " << self_;
    }
    EXPECT_EQ(read(reg::REPEATED), golden_->repeated());
    EXPECT_EQ(read(reg::LATE_COUNT), golden_->late());
    EXPECT_EQ(read(reg::COMPLETED), completed_);
  }

  std::optional<uint32_t> read(uint32_t address) {
    bench_->s_axil_araddr_i = static_cast<uint16_t>(address);
    bench_->s_axil_arvalid_i = 1;
    clock(0);
    bench_->s_axil_arvalid_i = 0;
    for (int i = 0; i < 100; i++) {
      bench_.settle();
      const bool answered = bench_->s_axil_rvalid_o;
      const bool ok = bench_->s_axil_rresp_o == 0;
      const uint32_t data = bench_->s_axil_rdata_o;
      clock(0);
      if (answered) return ok ? std::optional(data) : std::nullopt;
    }
    ADD_FAILURE() << "no answer";
    return std::nullopt;
  }

  /// A write by itself. @return whether it was taken
  bool write(uint32_t address, uint32_t data) {
    push(address, data);
    for (int i = 0; i < 10000 && busy(); i++) clock(0);
    EXPECT_FALSE(busy()) << "no answer";
    return last_ok_;
  }

  uint64_t dropped(barrier::Drop reason) const {
    return reason == barrier::Drop::malformed ? malformed_
           : reason == barrier::Drop::overrun ? overruns_
                                              : golden_->dropped(reason);
  }
  uint64_t refused(barrier::Refusal why) const { return refusals_[static_cast<size_t>(why)]; }
  std::vector<barrier::PacketBytes> take_packets() { return std::exchange(sent_, {}); }
  std::vector<barrier::Completion> take_completions() { return std::exchange(told_, {}); }
  uint64_t events() const { return events_; }

 private:
  struct Write {
    uint32_t address, data;
    std::optional<barrier::GroupSettings> settings;
  };

  void push(uint32_t address, uint32_t data) { writes_.push_back({address, data, {}}); }

  void clear() {
    golden_.emplace(self_, groups, nodes);
    writes_.clear();
    coming_.clear();
    accepted_.clear();
    packets_.clear();
    completions_.clear();
    phase_ = 0;
    malformed_ = overruns_ = completed_ = 0;
    bench_->s_pkt_valid_i = bench_->s_axil_awvalid_i = bench_->s_axil_wvalid_i = bench_->s_axil_arvalid_i = 0;
    bench_->s_axil_bready_i = bench_->s_axil_rready_i = 1;
    bench_->rst_ni = 0;
    resetting_ = 2;
    push(barrier::formats::reg::SELF, self_);
    push(barrier::formats::reg::TICK_PERIOD, tick_period);
  }

  bool chance(uint32_t percent) { return random_() % 100 < percent; }

  void drive(uint32_t pauses) {
    bench_->m_pkt_ready_i = !chance(pauses);
    bench_->m_cpl_ready_i = !chance(pauses);
    bench_->s_axil_bready_i = !chance(pauses);
    bench_->s_pkt_valid_i = resetting_ == 0 && !coming_.empty() && !chance(pauses);
    if (bench_->s_pkt_valid_i) std::memcpy(bench_->s_pkt_data_i.data(), coming_.front().data(), 32);
    const bool start = resetting_ == 0 && phase_ == 0 && !writes_.empty() && !chance(pauses);
    bench_->s_axil_awvalid_i = bench_->s_axil_wvalid_i = start;
    if (!start) return;
    bench_->s_axil_awaddr_i = static_cast<uint16_t>(writes_.front().address);
    bench_->s_axil_wdata_i = writes_.front().data;
    bench_->s_axil_wstrb_i = 15;
    phase_ = 1;
  }

  void sample() {
    if (bench_->trace_valid_o) event();
    if (bench_->trace_overrun_o) {
      overruns_++;
      ASSERT_FALSE(accepted_.empty());
      accepted_.pop_back();
    }
    EXPECT_TRUE(bench_->s_pkt_ready_o);
    if (bench_->s_pkt_valid_i) {
      if (barrier::read_packet(coming_.front())) {
        accepted_.push_back(coming_.front());
      } else {
        malformed_++;
      }
      coming_.pop_front();
    }
    if (bench_->m_pkt_valid_o && bench_->m_pkt_ready_i) packet_left();
    if (bench_->m_cpl_valid_o && bench_->m_cpl_ready_i) completion_left();
    if (bench_->s_axil_bvalid_o && bench_->s_axil_bready_i) written();
  }

  void event() {
    events_++;
    const uint32_t group = bench_->trace_group_o;
    switch (bench_->trace_what_o) {
      case 0:
        ASSERT_TRUE(writes_.front().settings || group >= groups);
        refusal_ = golden_->open(group, writes_.front().settings.value_or(barrier::GroupSettings{}));
        break;
      case 1:
        refusal_ = golden_->close(group);
        break;
      case 2:
        refusal_ = golden_->arrive(group);
        break;
      case 3: {
        barrier::PacketBytes bytes{};
        std::memcpy(bytes.data(), bench_->trace_packet_o.data(), bytes.size());
        ASSERT_FALSE(accepted_.empty());
        ASSERT_EQ(accepted_.front(), bytes);
        accepted_.pop_front();
        golden_->receive(bytes);
        break;
      }
      default:
        golden_->tick(group);
    }
    const barrier::Outputs out = golden_->take();
    for (const auto& packet : out.packets) packets_.push_back(barrier::write_packet(packet));
    completions_.insert(completions_.end(), out.completions.begin(), out.completions.end());
  }

  void packet_left() {
    barrier::PacketBytes bytes{};
    std::memcpy(bytes.data(), bench_->m_pkt_data_o.data(), bytes.size());
    ASSERT_FALSE(packets_.empty()) << "node " << self_ << " sends what its model does not";
    ASSERT_EQ(packets_.front(), bytes) << "node " << self_;
    packets_.pop_front();
    sent_.push_back(bytes);
  }

  void completion_left() {
    completed_++;
    ASSERT_FALSE(completions_.empty()) << "node " << self_ << " tells what its model does not";
    const barrier::Completion expected = completions_.front();
    completions_.pop_front();
    std::array<uint8_t, 8> bytes{};
    std::memcpy(bytes.data(), &bench_->m_cpl_data_o, bytes.size());
    const auto told = barrier::formats::unpack_completion(bytes);
    EXPECT_EQ(told.group, expected.group);
    EXPECT_EQ(told.epoch, expected.epoch);
    EXPECT_EQ(told.ending, static_cast<uint8_t>(expected.ending));
    EXPECT_EQ(told.dead, expected.dead);
    EXPECT_EQ(told.has_late != 0, expected.late.has_value());
    EXPECT_EQ(told.late, expected.late.value_or(0));
    told_.push_back(expected);
  }

  void written() {
    namespace reg = barrier::formats::reg;
    ASSERT_FALSE(writes_.empty());
    last_ok_ = bench_->s_axil_bresp_o == 0;
    const uint32_t address = writes_.front().address;
    if (address == reg::OPEN || address == reg::CLOSE || address == reg::ARRIVE) {
      EXPECT_EQ(last_ok_, refusal_ == barrier::Refusal::none)
          << "node " << self_ << " " << barrier::formats::name(refusal_);
      refusals_[static_cast<size_t>(refusal_)]++;
    }
    writes_.pop_front();
    phase_ = 0;
  }

  Bench<Vbarrier_engine> bench_;
  barrier::Node self_;
  std::mt19937_64 random_;
  std::optional<barrier::Engine> golden_;
  std::deque<Write> writes_;
  int phase_ = 0;  // 1: a write is under way
  bool last_ok_ = false;
  barrier::Refusal refusal_ = barrier::Refusal::none;
  std::deque<barrier::PacketBytes> coming_, accepted_, packets_;
  std::deque<barrier::Completion> completions_;
  std::vector<barrier::PacketBytes> sent_;
  std::vector<barrier::Completion> told_;
  std::array<uint64_t, 16> refusals_{};
  uint64_t malformed_ = 0, overruns_ = 0, completed_ = 0, events_ = 0;
  int resetting_ = 0;
};

}  // namespace weft::rtl_test

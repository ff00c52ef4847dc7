// SPDX-License-Identifier: Apache-2.0
// nic_packets: what comes is told apart in the clock in which it comes; what leaves is whole packets in
// order, in turns. Both buses, packets of any bytes and any tkeep.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>

#include "Vnic_packets.h"
#include "Vnic_packets_wide.h"
#include "barrier/packet.hpp"
#include "bench.hpp"
#include "common/axis.hpp"
#include "common/signals.hpp"

namespace weft::rtl_test {
namespace {

constexpr uint32_t barrier_bytes = 32;

struct Usual {  // as CMakeLists.txt says
  using Top = Vnic_packets;
  static constexpr uint32_t bytes = 32;
};
struct Wide {
  using Top = Vnic_packets_wide;
  static constexpr uint32_t bytes = 64;
};

/// Probabilities in percent, for a while: that a beat is offered, that one is taken.
struct Paces {
  unsigned network = 100, rdma = 100, rdma_out = 100, barrier_out = 100, leaving = 100;
};

template <typename Size>
class NicPackets : public testing::Test {
 protected:
  using Beat = tb::AxisBeat;

  NicPackets() { reset(); }

  auto& top() { return bench_.top(); }

  void reset() {
    coming_.clear();
    leaving_rdma_.clear();
    expected_.clear();
    inside_ = leaving_inside_ = false;
    waiting_barrier_ = waiting_rdma_ = 0;
    top().s_axis_tvalid_i = top().rdma_out_valid_i = top().barrier_out_valid_i = 0;
    bench_.reset();
  }

  void clock(const Paces& paces) {
    drive(paces);
    bench_.settle();
    compare_coming();
    const bool came = top().s_axis_tvalid_i && top().s_axis_tready_o;
    const bool rdma = top().rdma_out_valid_i && top().rdma_out_ready_o;
    const bool barrier = top().barrier_out_valid_i && top().barrier_out_ready_o;
    const bool left = top().m_axis_tvalid_o && top().m_axis_tready_i;
    ASSERT_FALSE(rdma && barrier);
    EXPECT_FALSE((rdma || barrier) && !expected_.empty()) << "before what it keeps has left";
    if (rdma) leave_rdma();
    if (barrier) leave_barrier();
    compare_leaving();
    bench_.step();
    if (came) {
      inside_ = !coming_.front().last;
      if (!inside_) to_barrier_.reset();
      coming_.pop_front();
      top().s_axis_tvalid_i = 0;
    }
    if (rdma) top().rdma_out_valid_i = 0;
    if (barrier) top().barrier_out_valid_i = 0;
    if (left) {
      expected_.pop_front();
      ++left_;
    }
  }

  Bench<typename Size::Top> bench_;
  uint64_t left_ = 0, barriers_came_ = 0, malformed_ = 0, barriers_left_ = 0, rdma_left_ = 0;

 private:
  Beat any_beat() {
    Beat beat;
    std::generate_n(beat.data.begin(), Size::bytes, [&] { return static_cast<uint8_t>(bench_.any(8)); });
    beat.keep = bench_.chance(60) ? tb::low_bits(Size::bytes)
                                  : (bench_.any(32) | bench_.any(32) << 32) & tb::low_bits(Size::bytes);
    beat.last = true;
    return beat;
  }
  std::deque<Beat> any_packet() {
    std::deque<Beat> beats(1 + (bench_.chance(50) ? 0 : bench_.below(5)));
    for (Beat& beat : beats) {
      beat = any_beat();
      beat.last = &beat == &beats.back();
    }
    return beats;
  }
  void put_magic(Beat& beat) {
    beat.data[0] = barrier::packet_magic & 0xff;
    beat.data[1] = barrier::packet_magic >> 8;
  }
  static bool begins_like_barrier(const Beat& beat) {
    return barrier::begins_like_packet(beat.data) && (beat.keep & 3) == 3;
  }

  void drive(const Paces& paces) {
    if (coming_.empty()) {
      coming_ = any_packet();
      if (bench_.chance(60)) put_magic(coming_.front());
      if (bench_.chance(30)) coming_.front().data[0] ^= static_cast<uint8_t>(1 << bench_.below(8));
      if (bench_.chance(40)) coming_.front().keep = tb::low_bits(barrier_bytes);
    }
    if (bench_.chance(paces.network)) top().s_axis_tvalid_i = 1;
    const Beat& coming = coming_.front();
    tb::put_bytes(top().s_axis_tdata_i, coming.data.data(), Size::bytes);
    top().s_axis_tkeep_i = static_cast<std::remove_cvref_t<decltype(top().s_axis_tkeep_i)>>(coming.keep);
    top().s_axis_tlast_i = coming.last;
    top().rdma_in_ready_i = bench_.chance(paces.rdma);

    if (!top().rdma_out_valid_i && bench_.chance(paces.rdma_out)) {
      if (leaving_rdma_.empty()) leaving_rdma_ = any_packet();
      const Beat& beat = leaving_rdma_.front();
      top().rdma_out_valid_i = 1;
      tb::put_bytes(top().rdma_out_data_i, beat.data.data(), Size::bytes);
      top().rdma_out_keep_i = static_cast<std::remove_cvref_t<decltype(top().rdma_out_keep_i)>>(beat.keep);
      top().rdma_out_last_i = beat.last;
    }
    if (!top().barrier_out_valid_i && bench_.chance(paces.barrier_out)) {
      barrier_ = Beat{};
      std::generate_n(barrier_.data.begin(), barrier_bytes,
                      [&] { return static_cast<uint8_t>(bench_.any(8)); });
      barrier_.keep = tb::low_bits(barrier_bytes);
      barrier_.last = true;
      top().barrier_out_valid_i = 1;
      tb::put_bytes(top().barrier_out_data_i, barrier_.data.data(), barrier_bytes);
    }
    top().m_axis_tready_i = bench_.chance(paces.leaving);
  }

  void compare_coming() {
    const bool valid = top().s_axis_tvalid_i;
    const Beat& beat = coming_.front();
    const bool of_barrier = inside_ ? *to_barrier_ : begins_like_barrier(beat);
    EXPECT_EQ(top().rdma_in_valid_o, valid && !of_barrier);
    EXPECT_EQ(top().barrier_in_valid_o, valid && of_barrier && !inside_);
    if (!valid) return;
    EXPECT_EQ(top().s_axis_tready_o, of_barrier || top().rdma_in_ready_i) << "barriers never wait";
    to_barrier_ = of_barrier;
    if (!of_barrier || inside_) return;
    const bool whole = beat.last && beat.keep == tb::low_bits(barrier_bytes);
    std::array<uint8_t, barrier_bytes> got{}, wanted{};
    tb::get_bytes(top().barrier_in_data_o, got.data(), got.size());
    if (whole) std::copy_n(beat.data.begin(), barrier_bytes, wanted.begin());
    EXPECT_EQ(got, wanted);
    ++(whole ? barriers_came_ : malformed_);
  }

  void leave_rdma() {
    EXPECT_TRUE(leaving_inside_ || waiting_rdma_ <= 1) << "more than one packet of the other before it";
    if (!leaving_inside_ && top().barrier_out_valid_i) ++waiting_barrier_;
    waiting_rdma_ = 0;
    expected_.push_back(leaving_rdma_.front());
    leaving_inside_ = !leaving_rdma_.front().last;
    leaving_rdma_.pop_front();
    ++rdma_left_;
  }
  void leave_barrier() {
    EXPECT_FALSE(leaving_inside_) << "within a packet of RDMA";
    EXPECT_LE(waiting_barrier_, 1u) << "more than one packet of the other before it";
    if (top().rdma_out_valid_i) ++waiting_rdma_;
    waiting_barrier_ = 0;
    expected_.push_back(barrier_);
    ++barriers_left_;
  }
  /// Each beat leaves in the clock in which it is taken, if the network lets it.
  void compare_leaving() {
    ASSERT_EQ(top().m_axis_tvalid_o, !expected_.empty());
    if (expected_.empty()) return;
    Beat beat;
    tb::get_bytes(top().m_axis_tdata_o, beat.data.data(), Size::bytes);
    beat.keep = top().m_axis_tkeep_o;
    beat.last = top().m_axis_tlast_o;
    EXPECT_EQ(beat, expected_.front());
  }

  std::deque<Beat> coming_, leaving_rdma_;  // packets under way
  std::optional<bool> to_barrier_;          // the one that comes
  Beat barrier_;
  std::deque<Beat> expected_;
  bool inside_ = false, leaving_inside_ = false;
  unsigned waiting_barrier_ = 0, waiting_rdma_ = 0;  // packets of the other that began before it
};

using Sizes = testing::Types<Usual, Wide>;
TYPED_TEST_SUITE(NicPackets, Sizes);

TYPED_TEST(NicPackets, TellsApartAndTakesTurns) {
  for (unsigned phase = 0; phase < 600 && !this->HasFailure(); ++phase) {
    auto& bench = this->bench_;
    const Paces paces{bench.pace(), bench.pace(), bench.pace(), bench.pace(), bench.pace()};
    for (unsigned n = 0; n < 200 && !this->HasFailure(); ++n) this->clock(paces);
    if (bench.chance(10)) this->reset();
  }
  for (const uint64_t count :
       {this->barriers_came_, this->malformed_, this->barriers_left_, this->rdma_left_})
    EXPECT_GT(count, 1000u);
}

TYPED_TEST(NicPackets, ABeatAClock) {
  constexpr unsigned clocks = 1'000;
  for (unsigned n = 0; n < clocks && !this->HasFailure(); ++n) this->clock({});
  EXPECT_EQ(this->left_, clocks);
}

}  // namespace
}  // namespace weft::rtl_test

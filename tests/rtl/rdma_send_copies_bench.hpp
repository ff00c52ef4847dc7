// SPDX-License-Identifier: Apache-2.0
// rdma_send_copies between a reader and a memory: whatever pauses, each order is answered once and in its
// turn, a new packet by memory, one that is sent again by what memory answered to the packet in its place
// before.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "common/signals.hpp"
#include "rdma_header.hpp"

namespace weft::rtl_test {

/// Top: rdma_send_copies; packets of up to so many beats.
template <typename Top>
class SendCopies {
 public:
  struct Paces {
    unsigned orders, copies, addresses, memory, answers;  // percent; copies: of the orders
  };

  explicit SendCopies(unsigned beats) : beats_(beats) { reset(); }

  void reset() {
    bench_->order_i = bench_->s_axi_arvalid_i = bench_->m_axi_rvalid_i = 0;
    bench_.reset(1);
    addresses_.clear();
    memory_.clear();
    expected_.clear();
    ordered_.clear();
    kept_.clear();
    offered_ = withheld_ = false;
  }

  void clock(const Paces& paces) {
    const std::optional<Order> order = next_order(paces);
    drive(order, paces);
    bench_.settle();
    check_answer();
    take_answer();
    take_address();
    if (order) addresses_.push_back(*order);
    bench_.step();
  }

  bool idle() const { return addresses_.empty() && expected_.empty(); }
  Bench<Top>& bench() { return bench_; }

  unsigned answered = 0;    // beats
  unsigned bad_copies = 0;  // likewise, that answer with an error
  unsigned copies = 0;      // packets

 private:
  // The sizes in CMakeLists.txt.
  static constexpr unsigned buffers = 2, window = 4, beat_bytes = 32, addr_bits = 16, most_addresses = 2;

  struct Order {
    rdma::formats::Header header;
    unsigned place;
    bool copy;
    uint32_t address;
    unsigned beats;
  };
  struct Beat {
    std::array<uint8_t, beat_bytes> data;
    uint8_t resp;
    bool last;
  };

  /// A copy of the packet that was ordered for its place last, of the same length.
  std::optional<Order> next_order(const Paces& paces) {
    if (addresses_.size() == most_addresses || !bench_.chance(paces.orders)) return {};
    Order order{random_header(bench_), static_cast<unsigned>(bench_.below(buffers * window)), false,
                static_cast<uint32_t>(bench_.any(addr_bits)),
                1 + static_cast<unsigned>(bench_.below(beats_))};
    const auto before = ordered_.find(order.place);
    order.copy = before != ordered_.end() && bench_.chance(paces.copies);
    if (order.copy) order.beats = before->second;
    ordered_[order.place] = order.beats;
    put_place(order);
    return order;
  }

  static void put_place(Order& order) {
    order.header.dst = static_cast<uint16_t>(order.header.dst / buffers * buffers + order.place / window);
    const uint64_t slot = order.place % window, mask = uint64_t{window - 1} << 24;
    order.header.arg = (order.header.arg & ~mask) | slot << 24;
    order.header.flags &= static_cast<uint8_t>(~rdma::formats::flag_retry);
    if (order.copy) order.header.flags |= rdma::formats::flag_retry;
  }

  void drive(const std::optional<Order>& order, const Paces& paces) {
    bench_->order_i = order.has_value();
    put_header(bench_->order_hdr_i, order ? order->header : random_header(bench_));
    bench_->s_axi_arvalid_i = !addresses_.empty();
    bench_->s_axi_araddr_i =
        static_cast<uint16_t>(addresses_.empty() ? bench_.any(addr_bits) : addresses_[0].address);
    bench_->s_axi_arlen_i =
        static_cast<uint8_t>(addresses_.empty() ? bench_.any(8) : addresses_[0].beats - 1);
    bench_->m_axi_arready_i = bench_.chance(paces.addresses);
    bench_->s_axi_rready_i = bench_.chance(paces.answers);
    offered_ = !memory_.empty() && (offered_ || bench_.chance(paces.memory));
    const Beat beat = offered_ ? memory_.front() : random_beat();
    bench_->m_axi_rvalid_i = offered_;
    tb::put_bytes(bench_->m_axi_rdata_i, beat.data.data(), beat.data.size());
    bench_->m_axi_rresp_i = beat.resp;
    bench_->m_axi_rlast_i = beat.last;
  }

  Beat random_beat() {
    Beat beat{{}, static_cast<uint8_t>(bench_.chance(80) ? 0 : bench_.below(4)), bench_.chance(50)};
    for (uint8_t& byte : beat.data) byte = static_cast<uint8_t>(bench_.any(8));
    return beat;
  }

  void check_answer() {
    const bool withheld = std::exchange(withheld_, bench_->s_axi_rvalid_o && !bench_->s_axi_rready_i);
    ASSERT_TRUE(bench_->s_axi_rvalid_o || !withheld) << "an answer was withdrawn";
    if (!bench_->s_axi_rvalid_o) return;
    ASSERT_FALSE(expected_.empty());
    const Beat& beat = expected_.front();
    std::array<uint8_t, beat_bytes> data{};
    tb::get_bytes(bench_->s_axi_rdata_o, data.data(), data.size());
    ASSERT_EQ(data, beat.data);
    ASSERT_EQ(bench_->s_axi_rresp_o, beat.resp);
    ASSERT_EQ(bench_->s_axi_rlast_o, beat.last);
  }

  void take_answer() {
    if (offered_ && bench_->m_axi_rready_o) {
      memory_.pop_front();
      offered_ = false;
    }
    if (!bench_->s_axi_rvalid_o || !bench_->s_axi_rready_i || expected_.empty()) return;
    expected_.pop_front();
    ++answered;
  }

  void take_address() {
    const bool taken = bench_->s_axi_arvalid_i && bench_->s_axi_arready_o;
    const bool of_memory = bench_->m_axi_arvalid_o && bench_->m_axi_arready_i;
    if (bench_->m_axi_arvalid_o) {
      ASSERT_FALSE(addresses_.empty() || addresses_[0].copy) << "memory is asked for nothing that is kept";
      ASSERT_EQ(bench_->m_axi_araddr_o, addresses_[0].address);
      ASSERT_EQ(bench_->m_axi_arlen_o, addresses_[0].beats - 1);
    }
    if (!taken) {
      ASSERT_FALSE(of_memory);
      return;
    }
    ASSERT_EQ(of_memory, !addresses_[0].copy);
    if (of_memory) read(addresses_[0]);
    copies += addresses_[0].copy;
    expect(addresses_[0]);
    addresses_.pop_front();
  }

  /// What memory will answer to it.
  void read(const Order& order) {
    kept_[order.place].clear();
    for (unsigned n = 1; n <= order.beats; ++n) {
      Beat beat = random_beat();
      beat.last = n == order.beats;
      memory_.push_back(beat);
      kept_[order.place].push_back(beat);
    }
  }

  void expect(const Order& order) {
    for (Beat beat : kept_[order.place]) {
      if (order.copy) beat.resp &= 2;  // SLVERR for any error
      bad_copies += order.copy && beat.resp != 0;
      expected_.push_back(beat);
    }
  }

  Bench<Top> bench_;
  unsigned beats_;
  std::deque<Order> addresses_;                 // ordered, not yet taken
  std::deque<Beat> memory_;                     // to be answered by memory
  std::deque<Beat> expected_;                   // answers due
  std::map<unsigned, unsigned> ordered_;        // place: beats of the packet
  std::map<unsigned, std::vector<Beat>> kept_;  // likewise
  bool offered_ = false;                        // memory offers its next beat
  bool withheld_ = false;                       // an answer was offered, but not taken
};

template <typename Top>
void answer_each_order(unsigned beats) {
  SendCopies<Top> bench(beats);
  typename SendCopies<Top>::Paces paces{};
  for (unsigned n = 0; n < 100'000 && !testing::Test::HasFatalFailure(); ++n) {
    auto& random = bench.bench();
    if (n % 250 == 0) paces = {random.pace(), random.pace(), random.pace(), random.pace(), random.pace()};
    bench.clock(paces);
  }
  for (unsigned n = 0; n < 100 && !testing::Test::HasFatalFailure(); ++n) bench.clock({0, 0, 100, 100, 100});
  EXPECT_TRUE(bench.idle()) << "somebody is not answered";
  EXPECT_GT(bench.answered, 10'000u);
  EXPECT_GT(bench.copies, 5'000u);
  EXPECT_GT(bench.bad_copies, 500u);
}

}  // namespace weft::rtl_test

// SPDX-License-Identifier: Apache-2.0
// rdma_host_read between a source of orders, a host memory, and a sink, with a check of everything it says:
// addresses, headers, payload words, errors.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "Vrdma_host_read_bench.h"
#include "bench.hpp"
#include "common/axi_memory.hpp"
#include "common/signals.hpp"
#include "common/stable.hpp"
#include "rdma/packet.hpp"
#include "rdma_header.hpp"

namespace weft::rtl_test {

struct ReadLane {
  uint8_t index;  // in rdma_host_read_bench.sv
  const char* name;
  uint32_t data_bytes;
  uint32_t payload;
};

inline std::ostream& operator<<(std::ostream& out, const ReadLane& lane) { return out << lane.name; }

struct Order {
  rdma::formats::Header header;
  uint64_t addr = 0;
  std::optional<uint32_t> bad_beat;  // the one that memory answers with an error
  uint8_t resp = tb::resp_okay;      // the answer to that beat
  bool over = false;                 // its transfer, when the last beat has come
};

/// Probabilities in percent of an order to come, a header, a word and a fault to be taken.
struct ReadPaces {
  unsigned order = 100;
  unsigned hdr = 100;
  unsigned payload = 100;
  unsigned fault = 100;
};

class HostReadTest : public testing::TestWithParam<ReadLane> {
 protected:
  /// Reset, with a new memory of this kind. Whatever was under way is forgotten.
  void start(tb::AxiMemoryConfig config) {
    config.data_bytes = lane_.data_bytes;
    config.max_burst_bytes = lane_.payload;
    config.seed = bench_.below(uint64_t{1} << 32);
    memory_.emplace(
        config, [](const tb::WrittenBurst&) {}, [](uint64_t, bool) {});
    fill_memory();
    forget();
    bench_->lane_i = lane_.index;
    bench_->order_valid_i = bench_->hdr_ready_i = bench_->payload_ready_i = bench_->fault_ready_i = 0;
    bench_->m_axi_arready_i = bench_->m_axi_rvalid_i = 0;
    bench_.reset();
  }

  Order make_order(uint16_t length) {
    Order order;
    order.header = random_header(bench_);  // its CRC field is not looked at
    order.header.len = length;
    order.addr = addresses_[bench_.below(addresses_.size())];
    return order;
  }

  uint32_t words(uint16_t length) const { return (length + lane_.data_bytes - 1) / lane_.data_bytes; }

  void cycle(const ReadPaces& paces) {
    drive(paces);
    bench_.settle();
    fetch_axi();
    reporter_.set_cycle(bench_.cycle());
    memory_->sample(axi_, reporter_);
    check_request();
    follow();
    check_fault();
    check_header();
    check_payload();
    ASSERT_FALSE(findings_.any()) << findings_.summary();
    if (HasFatalFailure()) return;
    bench_.step();
  }

  /// All orders done and all packets delivered, none too many.
  void finish() {
    for (unsigned n = 0; n < 100'000 && !all_done(); ++n) ASSERT_NO_FATAL_FAILURE(cycle({}));
    ASSERT_TRUE(all_done());
    for (unsigned n = 0; n < 20; ++n) ASSERT_NO_FATAL_FAILURE(cycle({}));
    EXPECT_TRUE(bench_->idle_o);
  }

  Bench<Vrdma_host_read_bench> bench_;
  const ReadLane lane_ = GetParam();
  std::deque<Order> orders_;  // to be given
  uint64_t delivered_ = 0;
  uint64_t bad_packets_ = 0;
  uint64_t faults_ = 0;          // taken
  uint64_t dropped_faults_ = 0;  // another one was waiting
  uint64_t words_taken_ = 0;
  uint64_t words_ordered_ = 0;  // of orders taken

 private:
  struct Delivery {
    rdma::formats::Header header;
    uint64_t end;  // words of payload up to and including its own
  };

  bool all_done() const {
    return orders_.empty() && under_way_.empty() && headers_.empty() && words_.empty();
  }

  /// Random bytes wherever a packet may come from, the ends of the address space among them.
  void fill_memory() {
    const uint64_t packets = (uint64_t{1} << 48) / lane_.payload;
    addresses_ = {0, (packets - 1) * lane_.payload};
    while (addresses_.size() < 32) addresses_.push_back(bench_.below(packets) * lane_.payload);
    for (const uint64_t address : addresses_) {
      std::vector<uint8_t> bytes(lane_.payload);
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(1 + bench_.below(255));  // zeros are padding
      memory_->memory().write(address, bytes);
    }
  }

  void forget() {
    orders_.clear();
    requests_.clear();
    under_way_.clear();
    headers_.clear();
    words_.clear();
    stable_hdr_.reset();
    stable_payload_.reset();
    axi_ = {};
    axi_.ar.burst = 1;
    axi_.ar.size = lane_.data_bytes == 64 ? 6 : 5;
    over_.reset();
    bad_now_ = false;
    failed_.reset();
    fault_.reset();
    fault_next_.reset();
    beats_ = 0;
    words_taken_ = words_ordered_ = words_fetched_ = owed_ = 0;
  }

  /// An order that is not taken may go away again; what lies on the wires beside a valid is random.
  void drive(const ReadPaces& paces) {
    bench_->order_valid_i = !orders_.empty() && bench_.chance(paces.order);
    put_header(bench_->order_hdr_i, bench_->order_valid_i ? orders_.front().header : random_header(bench_));
    bench_->order_addr_i = bench_->order_valid_i ? orders_.front().addr : bench_.below(uint64_t{1} << 48);
    bench_->hdr_ready_i = bench_.chance(paces.hdr);
    bench_->payload_ready_i = bench_.chance(paces.payload);
    bench_->fault_ready_i = bench_.chance(paces.fault);
    memory_->drive(axi_);
    axi_.rresp = axi_.rvalid ? response() : tb::resp_slverr;
    bench_->query_over_i = over_.value_or(bench_.chance(50));
    bench_->m_axi_arready_i = axi_.arready;
    bench_->m_axi_rvalid_i = axi_.rvalid;
    bench_->m_axi_rlast_i = axi_.rlast;
    bench_->m_axi_rresp_i = axi_.rresp;
    tb::put_bytes(bench_->m_axi_rdata_i, axi_.rdata.data(), lane_.data_bytes);
  }

  uint8_t response() const {
    const Order& order = under_way_.front();
    return order.bad_beat == beats_ ? order.resp : tb::resp_okay;
  }

  void fetch_axi() {
    axi_.arvalid = bench_->m_axi_arvalid_o;
    axi_.ar.addr = bench_->m_axi_araddr_o;
    axi_.ar.len = bench_->m_axi_arlen_o;
    axi_.rready = bench_->m_axi_rready_o;
  }

  void check_request() {
    if (!axi_.arvalid) return;
    ASSERT_FALSE(requests_.empty()) << "a read that no order asks for";
    ASSERT_EQ(axi_.ar.addr, requests_.front().addr);
    ASSERT_EQ(axi_.ar.len + 1u, words(requests_.front().header.len));
    if (axi_.arready) requests_.pop_front();
  }

  /// What passes into the block in this cycle.
  void follow() {
    ASSERT_EQ(bench_->error_o, bad_now_);
    bad_packets_ += bad_now_;
    bad_now_ = false;
    fault_next_ = std::exchange(failed_, std::nullopt);
    over_.reset();
    const bool beat = axi_.rvalid && axi_.rready;
    ASSERT_EQ(bench_->query_o, beat);
    if (beat) {
      ASSERT_EQ(bench_->query_sid_o, under_way_.front().header.sid);
      ASSERT_EQ(bench_->query_msgid_o, under_way_.front().header.msgid);
      ++beats_;
      if (axi_.rlast) end_burst();
    }
    if (!bench_->order_valid_i || !bench_->order_ready_o) return;
    requests_.push_back(orders_.front());
    under_way_.push_back(orders_.front());
    words_ordered_ += words(orders_.front().header.len);
    orders_.pop_front();
  }

  void end_burst() {
    const Order order = under_way_.front();
    under_way_.pop_front();
    beats_ = 0;
    over_ = order.over;
    bad_now_ = order.bad_beat && order.resp >= tb::resp_slverr;
    if (bad_now_ && !order.over) failed_ = order.header;
    if (bad_now_ || order.over) return;
    std::vector<uint8_t> flits =
        rdma::encode({order.header, memory_->memory().read(order.addr, order.header.len)});
    const auto header = rdma::formats::unpack(std::span(flits).first<rdma::formats::header_bytes>());
    flits.erase(flits.begin(), flits.begin() + rdma::formats::header_bytes);
    for (auto& word : beats(flits, lane_.data_bytes)) words_.push_back(std::move(word));
    words_fetched_ += words(order.header.len);
    headers_.push_back({header, words_fetched_});
  }

  /// The transfer of a packet that failed, from two clocks after its last beat until it is taken.
  void check_fault() {
    ASSERT_EQ(bench_->fault_valid_o, fault_.has_value());
    if (fault_) {
      ASSERT_EQ(bench_->fault_sid_o, fault_->sid);
      ASSERT_EQ(bench_->fault_msgid_o, fault_->msgid);
      if (!bench_->fault_ready_i) {
        dropped_faults_ += fault_next_.has_value();
        return;
      }
      ++faults_;
    }
    fault_ = fault_next_;
  }

  void check_header() {
    const auto header = get_header(bench_->hdr_o);
    stable_hdr_.sample(bench_->hdr_valid_o, bench_->hdr_ready_i, header, reporter_);
    if (!bench_->hdr_valid_o) return;
    ASSERT_FALSE(headers_.empty()) << "a packet that was not fetched";
    ASSERT_EQ(text(header), text(headers_.front().header));
    owed_ = headers_.front().end;
    if (!bench_->hdr_ready_i) return;
    headers_.pop_front();
    ++delivered_;
  }

  void check_payload() {
    std::vector<uint8_t> word(lane_.data_bytes);
    tb::get_bytes(bench_->payload_o, word.data(), word.size());
    stable_payload_.sample(bench_->payload_valid_o, bench_->payload_ready_i, word, reporter_);
    if (!bench_->payload_valid_o) {
      ASSERT_GE(words_taken_, owed_) << "a header is there, but not its payload";
      return;
    }
    ASSERT_FALSE(words_.empty()) << "payload that was not fetched";
    ASSERT_EQ(word, words_.front());
    if (!bench_->payload_ready_i) return;
    words_.pop_front();
    ++words_taken_;
  }

  std::optional<tb::AxiMemory> memory_;
  std::vector<uint64_t> addresses_;
  tb::AxiPins axi_;
  tb::Findings findings_;
  tb::Reporter reporter_{findings_, 0};
  tb::StableCheck<rdma::formats::Header> stable_hdr_{"hdr"};
  tb::StableCheck<std::vector<uint8_t>> stable_payload_{"payload"};
  std::deque<Order> requests_;                   // taken, not yet read from memory
  std::deque<Order> under_way_;                  // taken, not yet answered in full
  uint32_t beats_ = 0;                           // of the first of these that have come
  std::optional<bool> over_;                     // to be answered in the next clock; nothing: of no meaning
  bool bad_now_ = false;                         // the packet whose last beat came in the clock before
  std::optional<rdma::formats::Header> failed_;  // that packet, if it is bad and not over
  std::optional<rdma::formats::Header> fault_next_;  // in the clock after
  std::optional<rdma::formats::Header> fault_;       // waits at the port
  std::deque<Delivery> headers_;                     // answered, not yet taken
  std::deque<std::vector<uint8_t>> words_;
  uint64_t words_fetched_ = 0;
  uint64_t owed_ = 0;  // words that belong to headers seen so far
};

}  // namespace weft::rtl_test

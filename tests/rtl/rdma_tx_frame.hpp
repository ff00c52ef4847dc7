// SPDX-License-Identifier: Apache-2.0
// rdma_tx_frame between its three sources and a sink, with a check of the order in which it takes packets and
// of every packet that leaves.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "Vrdma_tx_frame_bench.h"
#include "bench.hpp"
#include "common/axis.hpp"
#include "common/signals.hpp"
#include "rdma/packet.hpp"
#include "rdma_header.hpp"

namespace weft::rtl_test {

struct FrameLane {
  uint8_t index;  // in rdma_tx_frame_bench.sv
  uint32_t data_bytes;
};

inline std::ostream& operator<<(std::ostream& out, const FrameLane& lane) {
  return out << lane.data_bytes << " bytes a beat";
}

/// Probabilities in percent of a waiting packet to be offered, and of a beat to be taken.
struct FramePaces {
  unsigned rx_ctl = 100;
  unsigned tx_ctl = 100;
  unsigned data = 100;
  unsigned sink = 100;
};

class TxFrameTest : public testing::TestWithParam<FrameLane> {
 protected:
  static constexpr uint32_t payload = 256;

  /// A stream of headers: one that is offered stays until it is taken.
  struct Source {
    std::deque<rdma::formats::Header> queue;
    bool offered = false;

    bool offer(bool now) { return offered = !queue.empty() && (offered || now); }
    rdma::formats::Header take() {
      const auto header = queue.front();
      queue.pop_front();
      offered = false;
      return header;
    }
  };

  void SetUp() override { reset(); }

  /// Whatever was under way is forgotten.
  void reset() {
    rx_ctl_ = tx_ctl_ = data_ = {};
    payloads_.clear();
    words_.clear();
    expected_.clear();
    monitor_.reset();
    bench_->lane_i = lane_.index;
    bench_->rx_ctl_valid_i = bench_->tx_ctl_valid_i = bench_->data_valid_i = 0;
    bench_->payload_valid_i = bench_->m_axis_tready_i = 0;
    bench_.reset();
  }

  /// Without payload; its CRC field is not looked at.
  rdma::formats::Header control() {
    auto header = random_header(bench_);
    header.len = 0;
    return header;
  }

  /// A DATA packet, all of whose payload waits from now on. Its CRC has been made before, so that any will
  /// do.
  void push_data(uint16_t length) {
    auto header = random_header(bench_);
    header.len = length;
    data_.queue.push_back(header);
    std::vector<uint8_t> bytes(length);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(bench_.below(256));
    for (auto& word : beats(bytes, lane_.data_bytes)) words_.push_back(std::move(word));
    bytes.resize((length + rdma::flit_bytes - 1) / rdma::flit_bytes * rdma::flit_bytes);
    payloads_.push_back(std::move(bytes));
  }

  uint64_t beats_of_data(uint16_t length) const {
    const uint64_t flits = 1 + (length + rdma::flit_bytes - 1) / rdma::flit_bytes;
    return (flits * rdma::flit_bytes + lane_.data_bytes - 1) / lane_.data_bytes;
  }

  void cycle(const FramePaces& paces) {
    drive(paces);
    bench_.settle();
    fetch();
    reporter_.set_cycle(bench_.cycle());
    follow();
    monitor_.sample(out_, reporter_);
    ASSERT_FALSE(findings_.any()) << findings_.summary();
    if (HasFatalFailure()) return;
    bench_.step();
  }

  void finish() {
    for (unsigned n = 0; n < 10'000 && !all_done(); ++n) ASSERT_NO_FATAL_FAILURE(cycle({}));
    ASSERT_TRUE(all_done());
    for (unsigned n = 0; n < 20; ++n) ASSERT_NO_FATAL_FAILURE(cycle({}));
    EXPECT_TRUE(words_.empty());
  }

  Bench<Vrdma_tx_frame_bench> bench_;
  const FrameLane lane_ = GetParam();
  Source rx_ctl_;
  Source tx_ctl_;
  Source data_;
  tb::AxisPins out_;
  std::string taken_;  // a letter for each packet taken: r and t control of receiver and sender, d data

 private:
  bool all_done() const {
    return rx_ctl_.queue.empty() && tx_ctl_.queue.empty() && data_.queue.empty() && expected_.empty();
  }

  static void put(auto& valid, auto& port, bool now, Source& source, auto& bench) {
    valid = source.offer(now);
    put_header(port, source.offered ? source.queue.front() : random_header(bench));
  }

  void drive(const FramePaces& paces) {
    put(bench_->rx_ctl_valid_i, bench_->rx_ctl_i, bench_.chance(paces.rx_ctl), rx_ctl_, bench_);
    put(bench_->tx_ctl_valid_i, bench_->tx_ctl_i, bench_.chance(paces.tx_ctl), tx_ctl_, bench_);
    put(bench_->data_valid_i, bench_->data_hdr_i, bench_.chance(paces.data), data_, bench_);
    bench_->payload_valid_i = !words_.empty();
    if (!words_.empty()) tb::put_bytes(bench_->payload_i, words_.front().data(), words_.front().size());
    bench_->m_axis_tready_i = out_.ready = bench_.chance(paces.sink);
  }

  void fetch() {
    out_.valid = bench_->m_axis_tvalid_o;
    out_.beat.keep = bench_->m_axis_tkeep_o;
    out_.beat.last = bench_->m_axis_tlast_o;
    tb::get_bytes(bench_->m_axis_tdata_o, out_.beat.data.data(), lane_.data_bytes);
  }

  /// What the block takes in this cycle: never what waits behind something more urgent.
  void follow() {
    const bool rx = rx_ctl_.offered && bench_->rx_ctl_ready_o;
    const bool tx = tx_ctl_.offered && bench_->tx_ctl_ready_o;
    const bool data = data_.offered && bench_->data_ready_o;
    ASSERT_LE(rx + tx + data, 1) << "two packets at once";
    ASSERT_FALSE(tx && rx_ctl_.offered) << "control of the sender before that of the receiver";
    ASSERT_FALSE(data && (rx_ctl_.offered || tx_ctl_.offered)) << "DATA before control";
    if (rx) take_control(rx_ctl_, 'r');
    if (tx) take_control(tx_ctl_, 't');
    if (data) take_data();
    if (!bench_->payload_ready_o) return;
    ASSERT_FALSE(words_.empty()) << "takes payload that is not there";
    words_.pop_front();
  }

  void take_control(Source& source, char letter) {
    taken_ += letter;
    expected_.push_back(rdma::encode({source.take(), {}}));
  }

  void take_data() {
    taken_ += 'd';
    const auto header = rdma::formats::pack(data_.take());
    tb::Bytes packet(header.begin(), header.end());
    packet.insert(packet.end(), payloads_.front().begin(), payloads_.front().end());
    payloads_.pop_front();
    expected_.push_back(std::move(packet));
  }

  /// Packets leave as a whole and in the order in which they were taken.
  void check_packet(const tb::Bytes& packet) {
    ASSERT_FALSE(expected_.empty()) << "a packet from nowhere";
    ASSERT_EQ(packet, expected_.front());
    expected_.pop_front();
  }

  tb::Findings findings_;
  tb::Reporter reporter_{findings_, 0};

 protected:
  tb::AxisMonitor monitor_{"m_axis", GetParam().data_bytes,
                           [this](const tb::Bytes& packet) { check_packet(packet); }};

 private:
  std::deque<tb::Bytes> payloads_;  // of the packets in data_, whole flits
  std::deque<tb::Bytes> words_;     // what of these has not been taken
  std::deque<tb::Bytes> expected_;  // taken, not yet left
};

}  // namespace weft::rtl_test

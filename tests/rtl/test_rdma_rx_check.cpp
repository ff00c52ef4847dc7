// SPDX-License-Identifier: Apache-2.0
// rdma_rx_check: header, verdict and payload of every packet are those of the golden model, whatever pauses;
// a beat a clock; nothing that a packet does harms the next one.
#include <cstring>
#include <deque>
#include <map>

#include "common/findings.hpp"
#include "common/stable.hpp"
#include "rdma_rx_check_packets.hpp"

namespace weft::rtl_test {
namespace {

constexpr unsigned latency = 3;  // clocks from a packet's last beat to its header, if nothing pauses

/// Probabilities in percent that a stream goes on.
struct Pace {
  unsigned in = 100;
  unsigned header = 100;
  unsigned payload = 100;
};

class RdmaRxCheck : public testing::TestWithParam<RxCheckLane> {
 protected:
  struct Verdict {
    Bytes header;
    int verdict;
    bool operator==(const Verdict&) const = default;
  };

  void SetUp() override {
    bench_->lane_i = lane_.index;
    bench_->tvalid_i = 0;
    bench_->hdr_ready_i = 0;
    bench_->payload_ready_i = 0;
    set_node(1);
    bench_.reset();
  }

  void TearDown() override { EXPECT_FALSE(findings_.any()) << findings_.summary(); }

  /// May only change while no packet is under way.
  void set_node(std::optional<uint16_t> node) {
    node_ = node;
    bench_->node_known_i = node.has_value();
    if (node) bench_->node_id_i = *node;
  }

  void send(const Beats& beats) {
    beats_.insert(beats_.end(), beats.begin(), beats.end());
    const Expected expected = expected_of(beats, lane_, node_);
    ++verdicts_[expected.verdict];
    expected_.push_back({expected.header, static_cast<int>(expected.verdict)});
    for (std::size_t at = 0; at < expected.payload.size(); at += lane_.bytes) {
      const std::size_t end = std::min<std::size_t>(at + lane_.bytes, expected.payload.size());
      words_.emplace_back(expected.payload.begin() + static_cast<std::ptrdiff_t>(at),
                          expected.payload.begin() + static_cast<std::ptrdiff_t>(end));
    }
  }

  void send(const std::vector<Fault>& faults) { send(packets_.make(bench_->node_id_i, faults)); }

  /// Whether the beat on offer waits.
  bool cycle(const Pace& pace) {
    offer(pace.in);
    bench_->hdr_ready_i = bench_.chance(pace.header);
    bench_->payload_ready_i = bench_.chance(pace.payload);
    bench_.settle();
    reporter_.set_cycle(bench_.cycle());
    check_header();
    check_payload();
    const bool taken = bench_->tvalid_i && bench_->tready_o;
    const bool waits = bench_->tvalid_i && !bench_->tready_o;
    if (taken && bench_->tlast_i) ends_.push_back(bench_.cycle());
    if (taken) beats_.pop_front();
    bench_.step();
    if (!waits) bench_->tvalid_i = 0;
    return waits;
  }

  /// Everything sent comes out, at a pace that changes all the time.
  void drain_at_random() {
    Pace pace;
    const uint64_t limit = bench_.cycle() + 200 * (beats_.size() + 100);
    for (unsigned n = 0; !idle() && !HasFatalFailure(); ++n) {
      ASSERT_LT(bench_.cycle(), limit) << "stuck";
      if (n % 128 == 0) pace = {bench_.pace(), bench_.pace(), bench_.pace()};
      cycle(pace);
    }
    for (unsigned n = 0; n < 10; ++n) cycle({});  // nothing more comes
  }

  /// Everything sent comes out, without a clock lost anywhere.
  void drain_without_a_bubble() {
    prompt_ = true;
    while (!beats_.empty() && !HasFatalFailure()) {
      ASSERT_FALSE(cycle({})) << "a beat had to wait in cycle " << bench_.cycle();
    }
    const unsigned words = lane_.sizes.payload / lane_.bytes;  // of a packet, which only its end lets through
    for (unsigned n = 0; n < latency + words; ++n) cycle({});
    EXPECT_TRUE(idle()) << expected_.size() << " headers and " << words_.size() << " words are missing";
    prompt_ = false;
  }

  /// No header comes out meanwhile.
  void take_all_beats() {
    for (unsigned n = 0; n < 1000 && !beats_.empty(); ++n) cycle({.in = 100, .header = 0, .payload = 100});
    ASSERT_TRUE(beats_.empty());
  }

  void restart() {
    bench_.reset();
    beats_.clear();
    ends_.clear();
    expected_.clear();
    words_.clear();
    stable_header_.reset();
    stable_payload_.reset();
  }

  bool idle() const { return beats_.empty() && expected_.empty() && words_.empty(); }

  RxCheckBench bench_;
  const RxCheckLane lane_ = GetParam();
  RxCheckPackets packets_{bench_, lane_};
  std::optional<uint16_t> node_;
  std::map<Outcome, unsigned> verdicts_;  // expected so far

 private:
  void offer(unsigned percent) {
    if (bench_->tvalid_i || beats_.empty() || !bench_.chance(percent)) return;
    const tb::AxisBeat& beat = beats_.front();
    bench_->tvalid_i = 1;
    std::memcpy(&bench_->tdata_i, beat.data.data(), beat.data.size());
    bench_->tkeep_i = beat.keep;
    bench_->tlast_i = beat.last;
  }

  Bytes bytes_of(const void* port, std::size_t count) {
    Bytes bytes(count);
    std::memcpy(bytes.data(), port, count);
    return bytes;
  }

  void check_header() {
    const Verdict here{bytes_of(&bench_->hdr_o, rdma::flit_bytes), bench_->verdict_o};
    stable_header_.sample(bench_->hdr_valid_o, bench_->hdr_ready_i, here, reporter_);
    if (!bench_->hdr_valid_o || !bench_->hdr_ready_i) return;
    ASSERT_FALSE(ends_.empty()) << "header before the end of its packet in cycle " << bench_.cycle();
    if (prompt_) {
      ASSERT_EQ(bench_.cycle(), ends_.front() + latency);
    }
    ends_.pop_front();
    const Verdict& expected = expected_.front();
    ASSERT_EQ(here.verdict, expected.verdict)
        << "expected " << rdma::formats::name(static_cast<Outcome>(expected.verdict)) << ", cycle "
        << bench_.cycle();
    ASSERT_EQ(here.header, expected.header) << "cycle " << bench_.cycle();
    expected_.pop_front();
  }

  /// Bytes beyond the packet's length may be anything.
  void check_payload() {
    const Bytes word = bytes_of(&bench_->payload_o, lane_.bytes);
    stable_payload_.sample(bench_->payload_valid_o, bench_->payload_ready_i, word, reporter_);
    if (!bench_->payload_valid_o) return;
    ASSERT_FALSE(words_.empty()) << "payload of no good packet in cycle " << bench_.cycle();
    ASSERT_TRUE(std::equal(words_.front().begin(), words_.front().end(), word.begin()))
        << "payload differs in cycle " << bench_.cycle();
    if (bench_->payload_ready_i) words_.pop_front();
  }

  bool prompt_ = false;             // every header has to come after `latency` clocks
  std::deque<tb::AxisBeat> beats_;  // not yet taken
  std::deque<uint64_t> ends_;       // when last beats were taken whose headers have not come
  std::deque<Verdict> expected_;
  std::deque<Bytes> words_;  // expected payload
  tb::Findings findings_;
  tb::Reporter reporter_{findings_, 0};
  tb::StableCheck<Verdict> stable_header_{"header"};
  tb::StableCheck<Bytes> stable_payload_{"payload"};
};

/// The sizes with a buffer deep enough.
class RdmaRxCheckPace : public RdmaRxCheck {};

TEST_P(RdmaRxCheck, DecidesAsTheGoldenModelForEveryFault) {
  const auto faults = static_cast<uint64_t>(Fault::count);
  for (unsigned batch = 0; batch < 40 && !HasFatalFailure(); ++batch) {
    if (bench_.chance(80)) {
      set_node(static_cast<uint16_t>(bench_.chance(20) ? 0 : bench_.below(1 << 16)));
    } else {
      set_node({});
    }
    for (uint64_t n = 0; n < 4 * faults; ++n) {
      const auto fault = [&] { return static_cast<Fault>(bench_.chance(40) ? 0 : bench_.below(faults)); };
      send(n < faults ? std::vector{static_cast<Fault>(n)} : std::vector{fault(), fault()});
    }
    drain_at_random();
  }
  for (const Outcome outcome :
       {Outcome::none, Outcome::drop_crc, Outcome::drop_malformed, Outcome::drop_not_mine}) {
    EXPECT_GT(verdicts_[outcome], 100u) << rdma::formats::name(outcome);
  }
}

TEST_P(RdmaRxCheck, TypeAndFlagsOfTransfersAreMalformedWithoutThem) {
  const auto verdict_of = [&](const std::vector<Fault>& faults) {
    verdicts_.clear();
    for (unsigned n = 0; n < 50; ++n) send(faults);
    drain_at_random();
    return verdicts_[Outcome::none];
  };
  EXPECT_EQ(verdict_of({Fault::flag_of_transfers}), lane_.sizes.transfers ? 50u : 0u);
  const unsigned reads = verdict_of({Fault::type_of_transfers});  // of DATA its payload is too much
  EXPECT_EQ(reads > 0, lane_.sizes.transfers);
  EXPECT_LT(reads, 50u);
}

TEST_P(RdmaRxCheck, NoPacketIsMineBeforeTheNodeNumberIsKnown) {
  for (const uint16_t node : {uint16_t{0}, uint16_t{77}}) {
    set_node(node);
    for (const bool known : {false, true, false}) {
      verdicts_.clear();
      set_node(known ? std::optional(node) : std::nullopt);
      for (unsigned n = 0; n < 20; ++n) send(packets_.make_good(node, n % 2 * lane_.sizes.payload));
      drain_at_random();
      EXPECT_EQ(verdicts_[known ? Outcome::none : Outcome::drop_not_mine], 20u);
    }
  }
}

TEST_P(RdmaRxCheckPace, PacketsOfOneBeatComeOneAClock) {
  const unsigned most = lane_.bytes - rdma::flit_bytes;  // bytes beside the header
  for (unsigned n = 0; n < 2000; ++n) {
    send(packets_.make_good(1, static_cast<unsigned>(bench_.below(most + 1))));
  }
  drain_without_a_bubble();
}

TEST_P(RdmaRxCheckPace, FullPacketsComeWithoutGaps) {
  for (unsigned n = 0; n < 500; ++n) send(packets_.make_good(1, lane_.sizes.payload));
  drain_without_a_bubble();
}

TEST_P(RdmaRxCheckPace, BadPacketsAmongGoodOnesMakeNoBubble) {
  for (unsigned n = 0; n < 2000; ++n) {
    const auto fault = static_cast<Fault>(bench_.below(static_cast<uint64_t>(Fault::count)));
    send({bench_.chance(50) ? Fault::none : fault});
  }
  drain_without_a_bubble();
}

TEST_P(RdmaRxCheck, PacketOfBeatsForEverIsCutOffAndTheNextOneIsFine) {
  const uint64_t full = tb::masked(~uint64_t{0}, lane_.bytes);
  for (const uint64_t keep : {uint64_t{0}, uint64_t{1}, full >> rdma::flit_bytes, full >> 1, full}) {
    send({Fault::none});
    Beats beats = packets_.endless(10'000, keep);
    const Beats end = packets_.make_good(1, lane_.sizes.payload);
    beats.insert(beats.end(), end.begin(), end.end());
    send(beats);
    for (unsigned n = 0; n < 3; ++n) send(packets_.make_good(1, lane_.sizes.payload));
    while (!idle() && !HasFatalFailure() && bench_.cycle() < 100'000) cycle({});
    ASSERT_TRUE(idle());
  }
  EXPECT_EQ(verdicts_[Outcome::drop_malformed], 5u);
}

TEST_P(RdmaRxCheck, InputWaitsWhileHeadersOrPayloadStandStill) {
  for (unsigned n = 0; n < 100 && !HasFatalFailure(); ++n) {
    const bool headers = n % 2 == 0;  // they stand still
    for (unsigned i = 0; i < 100; ++i) {
      // DATA fills the buffer, control packets fill the queue of headers fastest
      send(packets_.make_good(1, headers ? 0 : static_cast<unsigned>(1 + bench_.below(lane_.sizes.payload))));
    }
    for (unsigned i = 0; i < 300; ++i) cycle({.header = headers ? 0u : 100u, .payload = headers ? 100u : 0u});
    EXPECT_FALSE(idle());
    drain_at_random();
  }
}

TEST_P(RdmaRxCheck, ResetInTheMiddleOfAPacketForgetsIt) {
  for (unsigned n = 0; n < 100 && !HasFatalFailure(); ++n) {
    send({Fault::none});
    send(packets_.endless(1 + static_cast<unsigned>(bench_.below(4)), 0));
    take_all_beats();
    restart();
    send({Fault::none});
    drain_at_random();
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, RdmaRxCheck, testing::ValuesIn(rx_check_lanes), rx_check_lane_name);
INSTANTIATE_TEST_SUITE_P(Sizes, RdmaRxCheckPace, testing::Values(rx_check_lanes[0], rx_check_lanes[1]),
                         rx_check_lane_name);

}  // namespace
}  // namespace weft::rtl_test

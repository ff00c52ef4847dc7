// SPDX-License-Identifier: Apache-2.0
// rdma_receiver takes one header a clock, for any order of contexts, and decides each as the golden model
// does.
#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <vector>

#include "Vrdma_receiver.h"
#include "bench.hpp"
#include "rdma/receiver.hpp"
#include "rdma_header.hpp"
#include "rdma_region_port.hpp"

namespace weft::rtl_test {
namespace {

using rdma::formats::Header;
using rdma::formats::Outcome;
using rdma::formats::Ptype;

constexpr unsigned contexts = 64;
constexpr uint16_t node = 1;
constexpr uint16_t sender = 2;
constexpr uint64_t region_limit = uint64_t{1} << 40;
constexpr uint32_t payload = 256;
constexpr uint32_t packets = 1'000'000;  // of each transfer, more than any test sends
constexpr unsigned headers = 10'000;

rdma::Params params() {
  rdma::Params params;
  params.n_rx_ctx = contexts;
  return params;
}

rdma::Config config() {
  rdma::Config config;
  config.node_id = node;
  config.regions = {{0, region_limit, 0, true}};
  config.rx_timeout = 8191;
  return config;
}

class RdmaReceiver : public testing::Test {
 protected:
  void SetUp() override {
    bench_->node_id_i = node;
    bench_->region_set_i = 0;
    bench_->timeout_i = 8191;  // never comes, as time stands still
    bench_->now_i = 0;
    bench_->ask_from_after_i = 3;
    bench_->max_silent_i = 15;
    bench_->backoff_i = 3;
    bench_->ahead_i = 0;
    bench_->quota_i = 0;
    bench_->hdr_valid_i = 0;
    bench_->verdict_i = 0;
    bench_->cmd_ready_i = 1;
    bench_->ctl_ready_i = 1;
    bench_->writes_done_i = 0;
    bench_.reset();
    for (bench_.settle(); !bench_->ready_o && bench_.cycle() < 1000; bench_.settle()) bench_.step();
    ASSERT_TRUE(bench_->ready_o);
    put_region(bench_.top(), 0, config().regions[0], payload);
    bench_.step();
    bench_->region_set_i = 0;
    for (uint16_t sid = 0; sid < contexts; ++sid) offer(request(sid));
    drain();
    ASSERT_EQ(granted_, contexts);
    ASSERT_EQ(decided_, contexts);
  }

  static Header request(uint16_t sid, uint32_t count = packets) {
    Header header;
    header.ptype = static_cast<uint8_t>(Ptype::rqt);
    header.dst = node;
    header.src = sender;
    header.sid = sid;
    header.msgid = 100u + sid;
    header.pidx = count * payload;
    return header;
  }

  Header data(uint16_t cid, uint32_t pidx) const {
    const rdma::RxContext& context = golden_.context(cid);
    Header header;
    header.ptype = static_cast<uint8_t>(Ptype::data);
    header.dst = node;
    header.src = context.src;
    header.sid = context.sid;
    header.cid = cid;
    header.gen = context.gen;
    header.msgid = context.msgid;
    header.len = payload;
    header.pidx = pidx;
    return header;
  }

  Header release(uint16_t cid) const {
    Header header = data(cid, 0);
    header.ptype = static_cast<uint8_t>(Ptype::release);
    header.len = 0;
    return header;
  }

  Header last_data(uint16_t cid) const {
    Header header = data(cid, golden_.context(cid).cut.last);
    header.flags = rdma::formats::flag_last;
    return header;
  }

  /// One clock with this header at the input; whether it was taken.
  bool offer(const Header& header) {
    const auto bytes = rdma::formats::pack(sealed(header));
    std::memcpy(&bench_->hdr_i, bytes.data(), bytes.size());
    bench_->hdr_valid_i = 1;
    bench_.settle();
    const bool taken = bench_->hdr_ready_o;
    if (taken) under_way_.push_back(header);
    clock();
    bench_->hdr_valid_i = 0;
    return taken;
  }

  /// Clocks until nothing is under way.
  void drain() {
    for (int n = 0; n < 20; ++n) clock();
    EXPECT_TRUE(under_way_.empty());
  }

  void clock() {
    bench_.settle();
    if (bench_->cmd_valid_o) ++commands_;
    if (bench_->cmd_valid_o && bench_->cmd_write_o) ++writes_;
    if (bench_->ctl_valid_o && bench_->ctl_ready_i)
      sent_.push_back(static_cast<Ptype>(get_header(bench_->ctl_o).ptype));
    if (bench_->trace_valid_o) check_decision();
    bench_.step();
  }

  /// One header a clock: its context chosen by `next_cid`, its PIDX at or near WBASE; all is taken, decided,
  /// and commanded.
  template <typename NextCid>
  void send_one_header_a_clock(NextCid next_cid) {
    std::array<uint32_t, contexts> next{};
    const uint64_t start = bench_.cycle();
    decided_ = commands_ = writes_ = expected_writes_ = 0;
    for (unsigned n = 0; n < headers; ++n) {
      const uint16_t cid = next_cid();
      const uint32_t ahead = bench_.chance(80) ? 0 : static_cast<uint32_t>(bench_.below(140));
      const uint32_t pidx = next[cid] + ahead;
      if (ahead == 0) ++next[cid];
      ASSERT_TRUE(offer(data(cid, pidx))) << "header " << n << " had to wait";
      if (HasFatalFailure()) return;
    }
    EXPECT_EQ(bench_.cycle() - start, headers);
    drain();
    EXPECT_EQ(decided_, headers);
    EXPECT_EQ(commands_, headers);
    EXPECT_EQ(writes_, expected_writes_);
    EXPECT_GT(writes_, headers / 2);
  }

  Bench<Vrdma_receiver> bench_;
  unsigned granted_ = 0;
  unsigned decided_ = 0;
  unsigned commands_ = 0;
  unsigned writes_ = 0;
  unsigned expected_writes_ = 0;
  std::vector<Ptype> sent_;
  rdma::Receiver golden_{params(), config()};

 private:
  void check_decision() {
    ASSERT_FALSE(under_way_.empty());
    ASSERT_FALSE(bench_->trace_timeout_o);
    const Header header = under_way_.front();
    under_way_.pop_front();
    rdma::RxInputs inputs;
    inputs.room = bench_->trace_room_o;
    if (bench_->trace_offer_valid_o) inputs.offer = bench_->trace_offer_cid_o;
    const rdma::RxResult expected = golden_.packet({header, std::vector<uint8_t>(header.len)}, inputs);
    ASSERT_EQ(bench_->trace_outcome_o, static_cast<uint8_t>(expected.outcome))
        << "expected " << rdma::formats::name(expected.outcome) << " for PIDX " << header.pidx << " of CID "
        << header.cid;
    ASSERT_EQ(bench_->trace_cid_o, expected.cid);
    ASSERT_EQ(bench_->trace_wbase_o, expected.wbase);
    ASSERT_EQ(0, std::memcmp(&bench_->trace_wvec_o, expected.wvec.data(), sizeof bench_->trace_wvec_o));
    ++decided_;
    if (expected.outcome == Outcome::grant) ++granted_;
    if (expected.write) ++expected_writes_;
  }

  std::deque<Header> under_way_;
};

TEST_F(RdmaReceiver, OneHeaderAClockToRandomContexts) {
  send_one_header_a_clock([&] { return static_cast<uint16_t>(bench_.below(contexts)); });
}

TEST_F(RdmaReceiver, OneHeaderAClockToTheSameContext) {
  send_one_header_a_clock([] { return uint16_t{contexts - 1}; });
}

TEST_F(RdmaReceiver, OneHeaderAClockToContextsThatComeBackAfterAFewClocks) {
  uint16_t n = 0;
  send_one_header_a_clock(
      [&] { return static_cast<uint16_t>(++n / 1000 == 0 ? n % 2 : bench_.below(1 + n / 1000)); });
}

class RdmaReceiverDone : public RdmaReceiver {
 protected:
  /// Packets of a long transfer; memory answers as soon as it has got them.
  void write(uint32_t count) {
    for (; count > 0 && !HasFailure(); --count) {
      bench_->writes_done_i = static_cast<uint16_t>(writes_);
      ASSERT_TRUE(offer(data(contexts - 1, next_++)));
    }
  }

  /// The context holds a transfer of one packet instead.
  void grant_one_packet(uint16_t cid) {
    offer(release(cid));
    drain();
    offer(request(contexts + cid, 1));
    drain();
    ASSERT_EQ(golden_.context(cid).cut.last, 0u);
  }

  uint32_t next_ = 0;
};

/// The counts of writes have 16 bits; half of their range goes by while two DONE wait for the output.
TEST_F(RdmaReceiverDone, OnceItMayLeaveStaysSoWhateverIsWrittenMeanwhile) {
  for (const uint16_t cid : {0, 1}) grant_one_packet(cid);
  bench_->ctl_ready_i = 0;
  offer(last_data(0));
  write(10);
  offer(last_data(1));
  write((1u << 15) + 100);
  drain();
  sent_.clear();
  bench_->ctl_ready_i = 1;
  drain();
  EXPECT_EQ(sent_, (std::vector{Ptype::done, Ptype::done}));
}

}  // namespace
}  // namespace weft::rtl_test

// SPDX-License-Identifier: Apache-2.0
// rdma_host_write: every burst is that of its command, discarded payload is not written, each answer counts
// once and an error names the context of its command; bounded answers owed, a beat a clock.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <deque>

#include "common/findings.hpp"
#include "common/pins.hpp"
#include "common/signals.hpp"
#include "common/stable.hpp"
#include "rdma_host_write_lanes.hpp"

namespace weft::rtl_test {
namespace {

/// Probabilities in percent that a stream goes on.
struct Pace {
  unsigned command = 100;
  unsigned payload = 100;
  unsigned aw = 100;
  unsigned w = 100;
  unsigned b = 100;
};

class RdmaHostWrite : public testing::TestWithParam<WriteLane> {
 protected:
  struct Command {
    bool write;
    uint64_t addr;
    unsigned len;
    uint16_t cid;
  };

  void SetUp() override {
    bench_->lane_i = lane_.index;
    restart();
  }

  void TearDown() override { EXPECT_FALSE(findings_.any()) << findings_.summary(); }

  void restart() {
    bench_->cmd_valid_i = bench_->payload_valid_i = bench_->bvalid_i = 0;
    bench_.reset();
    state_ = {};
    stable_aw_.reset();
    stable_w_.reset();
  }

  /// A command with random address, context and data.
  void send(bool write, unsigned len) {
    const uint64_t blocks = tb::masked(~uint64_t{0}, lane_.addr_bits) / lane_.payload;
    const Command command{write, bench_.below(blocks + 1) * lane_.payload, len,
                          static_cast<uint16_t>(bench_.below(1 << lane_.cid_bits))};
    state_.commands.push_back(command);
    const unsigned beats = beats_of(len);
    for (unsigned n = 0; n < beats; ++n) {
      tb::AxiWriteBeat beat;
      for (unsigned i = 0; i < lane_.bytes; ++i) beat.data[i] = static_cast<uint8_t>(bench_.below(256));
      beat.strb = tb::masked(~uint64_t{0}, std::min(lane_.bytes, len - n * lane_.bytes));
      beat.last = n + 1 == beats;
      state_.payload.push_back(beat.data);
      if (write) state_.beats.push_back(beat);
    }
    if (!write) return;
    state_.addresses.push_back({.addr = command.addr, .len = static_cast<uint8_t>(beats - 1)});
    state_.owners.push_back(command.cid);
  }

  unsigned beats_of(unsigned len) const { return (len + lane_.bytes - 1) / lane_.bytes; }

  unsigned random_len() {
    const unsigned most = bench_.chance(50) ? lane_.payload : 2 * lane_.bytes;
    if (bench_.chance(20)) return lane_.payload;
    return static_cast<unsigned>(1 + bench_.below(std::min(most, lane_.payload)));
  }

  void cycle(const Pace& pace) {
    offer(pace);
    bench_.settle();
    reporter_.set_cycle(bench_.cycle());
    check_answer();
    check_address();
    check_data();
    take();
  }

  void drain_at_random() {
    Pace pace;
    const uint64_t limit = bench_.cycle() + 200 * (state_.payload.size() + 100);
    for (unsigned n = 0; !idle() && !HasFatalFailure(); ++n) {
      ASSERT_LT(bench_.cycle(), limit) << "stuck";
      if (n % 64 == 0) pace = {bench_.pace(), bench_.pace(), bench_.pace(), bench_.pace(), bench_.pace()};
      cycle(pace);
    }
    for (unsigned n = 0; n < 10; ++n) cycle({});  // nothing more comes
  }

  void expect_a_beat_a_clock(const Pace& pace = {}) {
    const std::size_t beats = state_.payload.size();
    for (std::size_t n = 0; n < beats && !HasFatalFailure(); ++n) {
      cycle(pace);
      ASSERT_EQ(state_.payload.size(), beats - n - 1) << "a beat had to wait in cycle " << bench_.cycle();
    }
  }

  bool idle() const { return state_.commands.empty() && state_.beats.empty() && state_.owners.empty(); }

  struct State {
    std::deque<Command> commands;          // not yet taken
    std::deque<tb::BusData> payload;       // not yet taken
    std::deque<tb::AxiAddress> addresses;  // expected
    std::deque<tb::AxiWriteBeat> beats;    // expected
    std::deque<uint16_t> owners;           // of the writes without an answer
    unsigned words = 0;                    // of payload, taken for the command at the input
    unsigned bursts_addressed = 0;
    unsigned bursts_written = 0;
    unsigned answers = 0;
  };

  HostWriteBench bench_;
  const WriteLane lane_ = GetParam();
  State state_;
  std::array<unsigned, 4> responses_{};  // how often each was given

 private:
  /// Inputs that are not valid are nonsense.
  void offer(const Pace& pace) {
    if (!bench_->cmd_valid_i) offer_command(pace.command);
    if (!bench_->payload_valid_i && !state_.payload.empty() && bench_.chance(pace.payload)) {
      bench_->payload_valid_i = 1;
      std::memcpy(&bench_->payload_i, state_.payload.front().data(), sizeof bench_->payload_i);
    }
    bench_->awready_i = bench_.chance(pace.aw);
    bench_->wready_i = bench_.chance(pace.w);
    if (bench_->bvalid_i) return;
    const unsigned whole = std::min(state_.bursts_addressed, state_.bursts_written);
    bench_->bvalid_i = state_.answers < whole && bench_.chance(pace.b);
    bench_->bresp_i = static_cast<uint8_t>(bench_.below(4));
  }

  void offer_command(unsigned percent) {
    bench_->cmd_valid_i = !state_.commands.empty() && bench_.chance(percent);
    const Command idle{bench_.chance(50), 0, 1, 0};
    const Command command = bench_->cmd_valid_i ? state_.commands.front() : idle;
    bench_->cmd_write_i = command.write;
    bench_->cmd_addr_i = command.addr;
    bench_->cmd_len_i = static_cast<uint16_t>(command.len);
    bench_->cmd_cid_i = command.cid;
  }

  /// The error comes with the answer, the count after it.
  void check_answer() {
    ASSERT_EQ(bench_->writes_done_o, static_cast<uint16_t>(state_.answers)) << "cycle " << bench_.cycle();
    check_idle();
    const bool answered = bench_->bvalid_i && bench_->bready_o;
    const bool error = answered && bench_->bresp_i >= tb::resp_slverr;
    ASSERT_EQ(bench_->error_o, error) << "cycle " << bench_.cycle();
    if (!answered) return;
    ASSERT_TRUE(!error || bench_->error_cid_o == state_.owners.front()) << "cycle " << bench_.cycle();
    ++responses_[bench_->bresp_i];
    state_.owners.pop_front();
  }

  /// The write of a command that is still offered may or may not be under way.
  void check_idle() {
    const auto offered =
        std::ranges::count_if(state_.commands, [](const Command& command) { return command.write; });
    if (state_.owners.size() > static_cast<std::size_t>(offered)) {
      ASSERT_FALSE(bench_->idle_o) << "cycle " << bench_.cycle();
    } else if (offered == 0) {
      ASSERT_TRUE(bench_->idle_o) << "cycle " << bench_.cycle();
    }
  }

  void check_address() {
    const tb::AxiAddress here{.addr = bench_->awaddr_o, .len = bench_->awlen_o};
    stable_aw_.sample(bench_->awvalid_o, bench_->awready_i, here, reporter_);
    if (!bench_->awvalid_o) return;
    ASSERT_FALSE(state_.addresses.empty()) << "address of no command in cycle " << bench_.cycle();
    ASSERT_EQ(here.addr, state_.addresses.front().addr) << "cycle " << bench_.cycle();
    ASSERT_EQ(here.len, state_.addresses.front().len) << "cycle " << bench_.cycle();
    if (!bench_->awready_i) return;
    state_.addresses.pop_front();
    ++state_.bursts_addressed;
    ASSERT_LE(state_.bursts_addressed - state_.answers, lane_.underway) << "cycle " << bench_.cycle();
  }

  /// Bytes without strobe may be anything, but may not change either.
  void check_data() {
    tb::AxiWriteBeat here{.strb = bench_->wstrb_o, .last = bench_->wlast_o != 0};
    std::memcpy(here.data.data(), &bench_->wdata_o, lane_.bytes);
    stable_w_.sample(bench_->wvalid_o, bench_->wready_i, here, reporter_);
    if (!bench_->wvalid_o || !bench_->wready_i) return;
    ASSERT_FALSE(state_.beats.empty()) << "data of no command in cycle " << bench_.cycle();
    const tb::AxiWriteBeat& expected = state_.beats.front();
    ASSERT_EQ(here.strb, expected.strb) << "cycle " << bench_.cycle();
    ASSERT_EQ(here.last, expected.last) << "cycle " << bench_.cycle();
    const auto count = static_cast<std::size_t>(std::popcount(expected.strb));
    ASSERT_EQ(0, std::memcmp(here.data.data(), expected.data.data(), count)) << "cycle " << bench_.cycle();
    if (expected.last) ++state_.bursts_written;
    state_.beats.pop_front();
  }

  /// Ends the cycle; what was taken is not offered any longer. A command goes with its last beat.
  void take() {
    const bool command = bench_->cmd_valid_i && bench_->cmd_ready_o;
    const bool payload = bench_->payload_valid_i && bench_->payload_ready_o;
    const bool answer = bench_->bvalid_i && bench_->bready_o;
    bench_.step();
    bench_->cmd_valid_i = bench_->cmd_valid_i && !command;
    bench_->payload_valid_i = bench_->payload_valid_i && !payload;
    bench_->bvalid_i = bench_->bvalid_i && !answer;
    if (answer) ++state_.answers;
    if (payload) {
      state_.payload.pop_front();
      ++state_.words;
    }
    if (!command) return;
    ASSERT_EQ(state_.words, beats_of(state_.commands.front().len)) << "cycle " << bench_.cycle();
    state_.commands.pop_front();
    state_.words = 0;
  }

  tb::Findings findings_;
  tb::Reporter reporter_{findings_, 0};
  tb::StableCheck<tb::AxiAddress> stable_aw_{"aw"};
  tb::StableCheck<tb::AxiWriteBeat> stable_w_{"w"};
};

TEST_P(RdmaHostWrite, WritesAndDiscardsAsCommandedAtAnyPace) {
  for (unsigned batch = 0; batch < 40 && !HasFatalFailure(); ++batch) {
    for (unsigned n = 0; n < 50; ++n) send(bench_.chance(70), random_len());
    drain_at_random();
  }
  for (const unsigned count : responses_) EXPECT_GT(count, 100u);
}

TEST_P(RdmaHostWrite, OwedAnswersHaveALimitThatIsReached) {
  for (unsigned n = 0; n < 2 * lane_.underway; ++n) send(true, random_len());
  const Pace silent{.b = 0};
  for (unsigned n = 0; n < 500 * lane_.underway && !HasFatalFailure(); ++n) cycle(silent);
  EXPECT_EQ(state_.bursts_addressed, lane_.underway);
  EXPECT_EQ(state_.bursts_written, lane_.underway);
  drain_at_random();
}

TEST_P(RdmaHostWrite, AnswerThatNobodyIsOwedIsNotTaken) {
  bench_->bvalid_i = 1;
  bench_->bresp_i = tb::resp_slverr;
  for (unsigned n = 0; n < 5; ++n) {
    bench_.settle();
    EXPECT_FALSE(bench_->bready_o);
    EXPECT_FALSE(bench_->error_o);
    bench_.step();
    EXPECT_EQ(bench_->writes_done_o, 0u);
  }
}

TEST_P(RdmaHostWrite, WritesOfOneBeatTakeOneClock) {
  for (unsigned n = 0; n < 1000; ++n) send(true, static_cast<unsigned>(1 + bench_.below(lane_.bytes)));
  expect_a_beat_a_clock();
}

TEST_P(RdmaHostWrite, WritesAndDiscardsOfAnyLengthLoseNoClock) {
  for (unsigned n = 0; n < 200; ++n) send(true, lane_.payload);
  for (unsigned n = 0; n < 500; ++n) send(bench_.chance(60), random_len());
  expect_a_beat_a_clock();
}

TEST_P(RdmaHostWrite, DiscardsDoNotWaitForMemoryThatOwesAllItMay) {
  for (unsigned n = 0; n < lane_.underway; ++n) send(true, lane_.payload);
  expect_a_beat_a_clock({.b = 0});
  for (unsigned n = 0; n < 200; ++n) send(false, random_len());
  expect_a_beat_a_clock({.aw = 0, .w = 0, .b = 0});
  drain_at_random();
}

TEST_P(RdmaHostWrite, DataDoesNotWaitForItsAddressToBeTaken) {
  send(true, lane_.payload);
  expect_a_beat_a_clock({.aw = 0});
  drain_at_random();
}

TEST_P(RdmaHostWrite, ResetInTheMiddleOfABurstForgetsIt) {
  for (unsigned n = 0; n < 50 && !HasFatalFailure(); ++n) {
    for (unsigned i = 0; i < 4; ++i) send(true, lane_.payload);
    const Pace pace{.aw = 50, .w = 50, .b = 50};
    for (uint64_t clocks = 1 + bench_.below(20); clocks > 0; --clocks) cycle(pace);
    restart();
    for (unsigned i = 0; i < 3; ++i) send(bench_.chance(50), random_len());
    drain_at_random();
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, RdmaHostWrite, testing::ValuesIn(write_lanes), write_lane_name);

}  // namespace
}  // namespace weft::rtl_test

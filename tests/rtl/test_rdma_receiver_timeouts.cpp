// SPDX-License-Identifier: Apache-2.0
// rdma_receiver at its ports: timeouts among packets. Who comes first, what a packet in front of a timeout
// changes, and how long either waits for the other.
#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "small_receiver.hpp"

namespace weft::rtl_test {
namespace {

class RdmaReceiverTimeouts : public ReceiverTest {
 protected:
  static constexpr unsigned offsets = 50;  // more clocks than the timers need to find one that has ended

  struct Race {
    unsigned timeouts = 0;  // retired
    int64_t lead = 0;       // clocks from the timeout to the packet
    bool operator==(const Race&) const = default;
  };

  /// After reset, context 0 with packets 1 and 2 of packets_ received; its timer ends, and `offset` clocks
  /// later a packet for it comes.
  Race race(unsigned offset, const rdma::Config& config, const std::function<Header()>& packet) {
    receiver_.reset(config);
    grant(with_another_ ? 2 : 1, packets_);
    for (const uint32_t pidx : {1u, 2u}) give(data(0, pidx));
    if (with_another_) {
      ++receiver_.now;
      give(data(1, 0));
    }
    receiver_.clocks(settled);
    receiver_.now = static_cast<uint16_t>(receiver_.now + config.rx_timeout - with_another_);
    const unsigned before = receiver_.timeouts;
    receiver_.clocks(offset);
    give(packet());
    receiver_.clocks(2 * offsets);
    return {receiver_.timeouts - before, static_cast<int64_t>(receiver_.packet_at - receiver_.timeout_at)};
  }

  /// At every offset, from both orders with clocks between them to both in consecutive clocks. A packet just
  /// in front of the timeout does, or does not, make it void.
  void race_at_all_offsets(const rdma::Config& config, bool makes_void,
                           const std::function<Header()>& packet) {
    std::set<int64_t> leads;
    for (unsigned offset = 0; offset < offsets && !HasFatalFailure(); ++offset) {
      const Race still_due = race(offset, config, [&] { return data(0, 1); });
      const Race raced = race(offset, config, packet);
      const bool overtaken = makes_void && still_due.lead < 0;
      EXPECT_EQ(raced, overtaken ? (Race{0, raced.lead}) : still_due) << "offset " << offset;
      leads.insert(still_due.lead);
    }
    EXPECT_TRUE(leads.contains(1)) << "timeout, and packet in the next clock";
    EXPECT_TRUE(leads.contains(-1)) << "packet, and timeout in the next clock";
  }

  /// Random DATA for contexts that have been granted so many packets, mostly near WBASE.
  Header any_data(uint32_t packets) {
    const auto cid = static_cast<uint16_t>(bench_.below(rx_contexts));
    const uint32_t base = context(cid).window.base;
    return data(cid, bench_.chance(60) ? base : static_cast<uint32_t>(bench_.below(packets)));
  }

  /// The contexts of the half that begins with `first` end, and all but one of the other half; the last one
  /// of them `phase` clocks after the others have. `later` clocks after that `first` is granted again. The
  /// timer of the other half ends `end` clocks after that, if at all.
  void grant_when_the_last_one_stops(uint16_t first, unsigned phase, unsigned later,
                                     std::optional<unsigned> end = {}) {
    constexpr uint16_t group = rx_contexts / 2;
    const auto last = static_cast<uint16_t>(first + group - 1);
    const auto stays = static_cast<uint16_t>(first == 0 ? rx_contexts - 1 : 0);
    receiver_.reset(config());
    const unsigned before = receiver_.timeouts;
    grant(rx_contexts, 4);
    for (uint16_t n = 0; n < rx_contexts; ++n) {
      const auto cid =
          static_cast<uint16_t>((first + n) % rx_contexts);  // so the next one granted is `first`
      if (cid != stays && cid != last) give(release(cid));
    }
    receiver_.clocks(offsets + phase);
    if (end) receiver_.now = static_cast<uint16_t>(receiver_.now + config().rx_timeout - 1);
    give(release(last));
    receiver_.clocks(later);
    give(another(4));
    if (end) {
      receiver_.clocks(*end);
      ++receiver_.now;
    }
    receiver_.clocks(offsets);
    ASSERT_EQ(receiver_.timeouts, end ? before + 1 : before);
    ASSERT_NE(context(first).state, RxContext::State::free);
  }

  static Header nonsense() { return {}; }

  uint32_t packets_ = 4;
  bool with_another_ = false;  // context 1, whose timer ends a tick later
};

TEST_F(RdmaReceiverTimeouts, PacketThatRestartsTheTimerMakesTheTimeoutVoid) {
  race_at_all_offsets(config(), true, [&] { return data(0, 0); });
  EXPECT_EQ(receiver_.outcomes[Outcome::advance], offsets);
}

TEST_F(RdmaReceiverTimeouts, PacketThatFillsTheLastHoleMakesTheTimeoutVoid) {
  packets_ = 3;
  race_at_all_offsets(config(), true, [&] { return data(0, 0); });
  EXPECT_EQ(receiver_.outcomes[Outcome::finish], offsets);
}

TEST_F(RdmaReceiverTimeouts, PacketThatRestartsTheTimerOfAnotherContextDoesNot) {
  with_another_ = true;
  race_at_all_offsets(config(), false, [&] { return data(1, 1); });
  EXPECT_EQ(receiver_.outcomes[Outcome::advance], 3 * offsets);
}

/// To the tick, also where twice the timeout is more than a timer can hold.
TEST_F(RdmaReceiverTimeouts, DoublesUpToTheLongestThatThereIs) {
  constexpr unsigned longest = (1u << 13) - 1;
  rdma::Config settings = config();
  settings.weft_mode = true;
  settings.backoff = 3;
  settings.max_silent = 6;
  for (const unsigned timeout : {20u, 700u, 1023u, 1024u, 1500u, 2048u, 4095u, 5000u, longest}) {
    settings.rx_timeout = static_cast<uint16_t>(timeout);
    receiver_.reset(settings);
    grant(1, 4);
    for (unsigned n = 0; n < 6 && !HasFatalFailure(); ++n) {
      const unsigned limit = std::min(timeout << std::min(n, 3u), longest), before = receiver_.timeouts;
      receiver_.now = static_cast<uint16_t>(receiver_.now + limit - 1);
      receiver_.clocks(2 * offsets);
      EXPECT_EQ(receiver_.timeouts, before) << "timeout " << timeout << ", doubled " << n << " times";
      ++receiver_.now;
      receiver_.clocks(2 * offsets);
      EXPECT_EQ(receiver_.timeouts, before + 1) << "timeout " << timeout << ", doubled " << n << " times";
    }
  }
}

TEST_F(RdmaReceiverTimeouts, ReleaseMakesTheTimeoutVoid) {
  race_at_all_offsets(config(), true, [&] { return release(0); });
  EXPECT_EQ(receiver_.outcomes[Outcome::released], offsets);
  receiver_.clocks(settled);
  expect_idle();
  grant(rx_contexts, 1);
}

TEST_F(RdmaReceiverTimeouts, PacketThatAsksForWbaseMakesTheTimeoutVoid) {
  rdma::Config settings = config();
  settings.weft_mode = true;
  settings.rx_ahead = 3;
  race_at_all_offsets(settings, true, [&] { return data(0, 3); });
}

/// Each bit of WBASE counts.
TEST_F(RdmaReceiverTimeouts, PacketThatAsksForWbaseRestartsTheTimerWhereverThatIs) {
  rdma::Config settings = config();
  settings.weft_mode = true;
  settings.rx_ahead = 3;
  for (uint32_t base = 0; base < 250 && !HasFatalFailure(); base = base == 0 ? 1 : 2 * base) {
    receiver_.reset(settings);
    grant(1, 250);
    for (uint32_t pidx = 0; pidx < base; ++pidx) give(data(0, pidx));
    receiver_.clocks(settled);
    const unsigned before = receiver_.timeouts;
    receiver_.now = static_cast<uint16_t>(receiver_.now + settings.rx_timeout - 1);
    give(data(0, base + settings.rx_ahead));
    receiver_.clocks(settled);
    receiver_.now = static_cast<uint16_t>(receiver_.now + settings.rx_timeout - 1);
    receiver_.clocks(offsets);
    EXPECT_EQ(receiver_.timeouts, before) << "WBASE " << base;
    ++receiver_.now;
    receiver_.clocks(offsets);
    EXPECT_EQ(receiver_.timeouts, before + 1) << "WBASE " << base;
  }
}

TEST_F(RdmaReceiverTimeouts, PacketAheadOfOneThatHasComeDoesNotKeepIt) {
  rdma::Config settings = config();
  settings.weft_mode = true;
  settings.rx_ahead = 2;
  race_at_all_offsets(settings, false, [&] { return data(0, 3); });
}

TEST_F(RdmaReceiverTimeouts, PacketAheadDoesNotKeepTheTimeoutFromComing) {
  rdma::Config paper = config();
  paper.weft_mode = false;
  race_at_all_offsets(paper, false, [&] { return data(0, 3); });
  EXPECT_EQ(receiver_.outcomes[Outcome::accept], offsets * 5) << "two before each race, one in every second";
}

TEST_F(RdmaReceiverTimeouts, ReclaimAndPacketInBothOrders) {
  rdma::Config impatient = config();
  impatient.max_silent = 0;
  race_at_all_offsets(impatient, false, [&] { return data(0, 2); });
  EXPECT_GT(receiver_.outcomes[Outcome::drop_duplicate], 0u) << "packet first";
  EXPECT_GT(receiver_.outcomes[Outcome::drop_unknown_cid], 0u) << "timeout first";
  EXPECT_EQ(receiver_.outcomes[Outcome::reclaim], 2 * offsets);
  grant(rx_contexts, 1);
}

/// One timer runs, and only its half of all timers is looked at: wherever in it the scanner is when the timer
/// ends.
TEST_F(RdmaReceiverTimeouts, LateByNoMoreThanAPassThroughTheGroupInUse) {
  constexpr unsigned group = rx_contexts / 2;
  for (uint16_t cid = 0; cid < rx_contexts; ++cid) {
    std::set<uint64_t> late;
    for (unsigned offset = 0; offset < 2 * rx_contexts && !HasFatalFailure(); ++offset) {
      receiver_.reset(config());
      grant(rx_contexts, 4);
      for (uint16_t other = 0; other < rx_contexts; ++other) {
        if (other != cid) give(release(other));
      }
      receiver_.clocks(offsets + offset);
      const unsigned before = receiver_.timeouts;
      const uint64_t end = bench_.cycle();
      receiver_.now = static_cast<uint16_t>(receiver_.now + config().rx_timeout);
      receiver_.clocks(offsets);
      ASSERT_EQ(receiver_.timeouts, before + 1) << "context " << cid << ", offset " << offset;
      late.insert(receiver_.timeout_at - end);
    }
    EXPECT_EQ(*late.rbegin() - *late.begin(), group - 1) << "context " << cid;
  }
}

/// Two timers run, one in each half of all timers. One of them is of a context that was granted while, or
/// just before or after, the scanner passed its half, where no timer ran any more: wherever the scanner is
/// when the last one there stops, and however long after that.
TEST_F(RdmaReceiverTimeouts, OfAContextThatIsGrantedBehindAPassThroughItsGroup) {
  constexpr uint16_t group = rx_contexts / 2;
  for (const uint16_t first : {uint16_t{0}, group}) {
    for (unsigned phase = 0; phase < rx_contexts; ++phase) {
      for (unsigned later = 0; later < 2 * rx_contexts && !HasFatalFailure(); ++later) {
        grant_when_the_last_one_stops(first, phase, later);
        const unsigned before = receiver_.timeouts;
        receiver_.now = static_cast<uint16_t>(receiver_.now + config().rx_timeout);
        receiver_.clocks(2 * offsets);
        ASSERT_EQ(receiver_.timeouts, before + 2)
            << "of context " << first << " and one of the other half, phase " << phase << ", " << later
            << " clocks later";
      }
    }
  }
}

/// As before, but the timer of the other half ends meanwhile, so that the scanner goes back to it before it
/// knows what the pass was to tell it.
TEST_F(RdmaReceiverTimeouts, OfAContextThatIsGrantedBehindAPassWhileTheOtherHalfsEnds) {
  constexpr uint16_t group = rx_contexts / 2;
  constexpr unsigned longest = ReceiverLockstep::latency + rx_contexts;
  for (const uint16_t first : {uint16_t{0}, group}) {
    for (unsigned phase = 0; phase < rx_contexts; ++phase) {
      for (unsigned end = 0; end < longest && !HasFatalFailure(); ++end) {
        grant_when_the_last_one_stops(first, phase, group, end);
        const unsigned before = receiver_.timeouts;
        receiver_.now = static_cast<uint16_t>(receiver_.now + config().rx_timeout);
        receiver_.clocks(2 * offsets);
        ASSERT_EQ(receiver_.timeouts, before + 2)
            << "of context " << first << " and one of the other half, phase " << phase << ", which ended "
            << end << " clocks after the grant";
      }
    }
  }
}

/// Packets of the same context right behind each timeout: what it has counted so far goes on to them, each
/// bit of it.
TEST_F(RdmaReceiverTimeouts, CountOnWithPacketsOfTheSameContextRightBehind) {
  rdma::Config patient = config();
  patient.max_silent = 15;
  receiver_.reset(patient);
  grant(1, 4);
  const unsigned before = receiver_.timeouts;
  for (unsigned n = 0; n < 8000 && receiver_.outcomes[Outcome::reclaim] == 0 && !HasFatalFailure(); ++n) {
    if (n % 10 == 0) ++receiver_.now;
    Header stranger = data(0, 0);
    stranger.msgid ^= 1;
    if (!receiver_.packet) receiver_.packet = {stranger};
    receiver_.clock();
  }
  EXPECT_EQ(receiver_.timeouts - before, 16u);
  EXPECT_EQ(receiver_.outcomes[Outcome::reclaim], 1u);
}

/// Also where a timer has ended again before the next one is looked at.
TEST_F(RdmaReceiverTimeouts, OfAllContextsInTurn) {
  rdma::Config hasty = config();
  hasty.rx_timeout = 1;
  hasty.max_silent = 15;
  receiver_.reset(hasty);
  grant(rx_contexts, 4);
  const unsigned before = receiver_.timeouts;
  while (receiver_.timeouts - before < 10 * rx_contexts && !HasFatalFailure()) {
    ++receiver_.now;
    receiver_.clock();
    unsigned most = 0, least = 16;
    for (uint16_t cid = 0; cid < rx_contexts; ++cid) {
      most = std::max<unsigned>(most, context(cid).silent);
      least = std::min<unsigned>(least, context(cid).silent);
    }
    ASSERT_LE(most, least + 1) << "timeouts of one context while another one has had none";
  }
}

TEST_F(RdmaReceiverTimeouts, TakesAClockFromPacketsAfter255) {
  grant(1, 4);
  receiver_.now = config().rx_timeout;
  const unsigned before = receiver_.taken;
  for (unsigned n = 0; n < 1000 && receiver_.timeouts == 0 && !HasFatalFailure(); ++n) {
    receiver_.packet = {nonsense(), Outcome::drop_crc};
    receiver_.clock();
  }
  EXPECT_EQ(receiver_.timeouts, 1u);
  EXPECT_EQ(receiver_.waits, 1u);
  const unsigned packets = receiver_.taken - before - ReceiverLockstep::latency;
  EXPECT_GE(packets, 255u);
  EXPECT_LE(packets, 255 + 2 * rx_contexts) << "a look at all timers comes before";
}

TEST_F(RdmaReceiverTimeouts, EachTakesOneClockAfter255Packets) {
  grant(rx_contexts, 4);
  receiver_.now = config().rx_timeout;
  const uint64_t start = bench_.cycle();
  for (unsigned n = 0; n < 12 * 256 && !HasFatalFailure(); ++n) {
    receiver_.packet = {nonsense(), Outcome::drop_malformed};
    receiver_.clock();
  }
  EXPECT_EQ(receiver_.timeouts, rx_contexts);
  ASSERT_EQ(receiver_.stolen.size(), rx_contexts);
  uint64_t before = start;
  for (const uint64_t cycle : receiver_.stolen) {
    EXPECT_GE(cycle - before, 255u);
    EXPECT_LE(cycle - before, 256 + 2 * rx_contexts + ReceiverLockstep::latency);
    before = cycle;
  }
}

/// Clocks in which nothing is taken do not count.
TEST_F(RdmaReceiverTimeouts, EachTakesOneClockAfter255PacketsThatWaitForCommands) {
  rdma::Config patient = config();
  patient.max_silent = 15;
  receiver_.reset(patient);
  grant(rx_contexts, 4);
  for (unsigned round = 1; round <= 4 && !HasFatalFailure(); ++round) {
    receiver_.now = static_cast<uint16_t>(receiver_.now + patient.rx_timeout);
    for (unsigned n = 0; n < 8000 && receiver_.timeouts < round * rx_contexts && !HasFatalFailure(); ++n) {
      out_.cmd_ready = bench_.chance(70);
      if (!receiver_.packet) receiver_.packet = {data(0, 1)};
      receiver_.clock();
    }
    EXPECT_EQ(receiver_.timeouts, round * rx_contexts);
  }
  EXPECT_EQ(receiver_.stolen.size(), receiver_.timeouts);
}

TEST_F(RdmaReceiverTimeouts, OnePacketAClockWhileTimersRun) {
  rdma::Config patient = config();
  patient.rx_timeout = 500;
  patient.max_silent = 15;
  receiver_.reset(patient);
  grant(rx_contexts, 255);
  const unsigned clocks = 20'000;
  for (unsigned n = 0; n < clocks && !HasFatalFailure(); ++n) {
    ++receiver_.now;
    if (!receiver_.packet) receiver_.packet = {any_data(255)};
    receiver_.clock();
  }
  EXPECT_EQ(receiver_.waits, receiver_.stolen.size()) << "only timeouts take clocks";
  EXPECT_GE(receiver_.stolen.size(), receiver_.timeouts);
  EXPECT_GT(receiver_.timeouts, 10u);
  EXPECT_LE(receiver_.stolen.size(), clocks / 256);
}

TEST_F(RdmaReceiverTimeouts, OnePacketAClockInOrderWhileItsTimerKeepsEnding) {
  rdma::Config hasty = config();
  hasty.rx_timeout = 1;
  receiver_.reset(hasty);
  const uint32_t packets = 250;
  give(transfer(packets));
  receiver_.clocks(ReceiverLockstep::latency + 1);
  ASSERT_EQ(receiver_.outcomes[Outcome::grant], 1u);
  const Header first = data(0, 0);
  for (uint32_t pidx = 0; pidx < packets && !HasFatalFailure(); ++pidx) {
    ++receiver_.now;
    receiver_.packet = {pidx == packets - 1 ? data(0, pidx) : first};
    receiver_.packet->header.pidx = pidx;
    receiver_.clock();
    ASSERT_FALSE(receiver_.packet) << "packet " << pidx << " had to wait";
  }
  receiver_.clocks(settled);
  EXPECT_EQ(receiver_.outcomes[Outcome::advance], packets - 1);
  EXPECT_EQ(receiver_.outcomes[Outcome::finish], 1u);
}

TEST_F(RdmaReceiverTimeouts, IdleAgainAfterEachTimeoutAndAfterTheLast) {
  out_.ctl_ready = false;
  grant(1, 1);
  bench_.settle();
  EXPECT_FALSE(bench_->idle_o) << "the RSP waits";
  out_.ctl_ready = true;
  for (unsigned n = 0; n <= config().max_silent; ++n) {
    receiver_.clocks(offsets);
    expect_idle();
    receiver_.now = static_cast<uint16_t>(receiver_.now + config().rx_timeout);
  }
  receiver_.clocks(offsets);
  expect_idle();
  EXPECT_EQ(receiver_.outcomes[Outcome::ask_map], config().max_silent);
  EXPECT_EQ(receiver_.outcomes[Outcome::reclaim], 1u);
  EXPECT_EQ(free_contexts(), rx_contexts);
}

TEST_F(RdmaReceiverTimeouts, WaitWhileCommandsDo) {
  grant(1, 200);
  out_.cmd_ready = false;
  for (uint32_t pidx = 0; pidx < ReceiverQueues::commands_full; ++pidx) give(data(0, pidx));
  receiver_.clocks(settled);
  receiver_.now = config().rx_timeout;
  receiver_.clocks(100);
  EXPECT_EQ(receiver_.timeouts, 0u);
  out_.cmd_ready = true;
  receiver_.clocks(60);
  EXPECT_EQ(receiver_.timeouts, 1u);
}

}  // namespace
}  // namespace weft::rtl_test

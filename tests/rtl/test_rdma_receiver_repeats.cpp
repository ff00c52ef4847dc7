// SPDX-License-Identifier: Apache-2.0
// Requests that come again (docs/rdma.md, Repeated requests): the lockstep judges each; here is what they are
// to lead to.
#include <array>
#include <vector>

#include "small_receiver.hpp"

namespace weft::rtl_test {
namespace {

class RdmaReceiverRepeats : public ReceiverTest {
 protected:
  static constexpr unsigned farthest =
      ReceiverLockstep::latency + 12;  // clocks between two packets, to meet in no stage

  unsigned count(Outcome outcome) { return receiver_.outcomes[outcome]; }

  /// Packets one after the other, each so many clocks after the one before.
  void give_at(unsigned distance, const std::vector<Header>& packets) {
    for (const Header& header : packets) {
      receiver_.give({header}, 1);
      receiver_.clocks(distance - 1);
    }
    receiver_.clocks(settled);
  }

  /// All contexts are free, and no outcome counted.
  void start_over() {
    for (uint16_t cid = 0; cid < rx_contexts; ++cid) {
      if (context(cid).state != RxContext::State::free) give(release(cid));
    }
    receiver_.clocks(settled);
    ASSERT_EQ(free_contexts(), rx_contexts);
    receiver_.outcomes.clear();
  }
};

TEST_F(RdmaReceiverRepeats, TheSameRequestGetsTheSameContextHoweverSoonItComesAgain) {
  for (unsigned distance = 1; distance <= farthest; ++distance) {
    const Header request = another(3);
    give_at(distance, {request, request, request, request});
    EXPECT_EQ(count(Outcome::grant), 1u) << distance;
    EXPECT_EQ(count(Outcome::grant_again), 3u) << distance;
    EXPECT_EQ(free_contexts(), rx_contexts - 1) << distance;
    start_over();
  }
}

// Who has sent a packet knows its context: the request is a late copy, or of a node that was reset, which
// must not take what came before for its own.
TEST_F(RdmaReceiverRepeats, RequestAfterAnyPacketOfItsTransferIsDroppedOnceAndThenANewOne) {
  const uint32_t packets = 3 * receiver_params().window;
  for (unsigned distance = 1; distance <= farthest; ++distance) {
    for (const uint32_t first : {0u, 1u, 2u, receiver_params().window - 1, receiver_params().window}) {
      receiver_.reset(config());
      receiver_.outcomes.clear();
      const Header request = another(packets);
      give_at(1, {request});
      give_at(distance, {request, data(0, first), request});
      EXPECT_EQ(count(Outcome::grant_again), 1u) << "before packet " << first;
      EXPECT_EQ(count(Outcome::drop_asked), 1u) << "after packet " << first << " by " << distance;
      give_at(farthest, {request, request});
      EXPECT_EQ(count(Outcome::grant), 2u);
      EXPECT_EQ(count(Outcome::grant_again), 2u);
    }
  }
}

// Bits of arg above the key are nobody's, so DATA can have any CRC.
TEST_F(RdmaReceiverRepeats, DataWithTheCrcOfItsRequestIsNotTakenForIt) {
  const Header request = another(3);
  give_at(1, {request});
  for (const uint32_t pidx : {0u, 2u, 1u}) {
    Header packet = data(0, pidx);
    packet.arg ^= change_for_crc(packet, sealed(packet).crc ^ sealed(request).crc, 24);
    ASSERT_EQ(sealed(packet).crc, sealed(request).crc);
    give_at(1, {packet});
  }
  EXPECT_EQ(count(Outcome::grant_again) + count(Outcome::drop_asked), 0u);
  EXPECT_EQ(count(Outcome::finish), 1u);
}

// Whoever guesses the context finds all of the grant there, also what is written just then.
TEST_F(RdmaReceiverRepeats, DataRightBehindItsRequestMeetsTheWholeGrant) {
  for (unsigned distance = 1; distance <= farthest; ++distance) {
    for (uint32_t last = 1; last < 1u << (receiver_params().pidx_bits - 1); last *= 2) {
      receiver_.reset(config());
      const Header request = another(last + 1);
      give_at(1, {request});
      const Header guessed = data(0, last);  // the same context is granted after each reset
      receiver_.reset(config());
      receiver_.outcomes.clear();
      receiver_.give({request}, 1);
      receiver_.clocks(distance - 1);
      give_at(1, {guessed});
      EXPECT_EQ(count(Outcome::accept) + count(Outcome::drop_window), 1u)
          << "packet " << last << ", " << distance << " clocks behind";
    }
  }
}

// Nothing is missing but the first packet: of its lap all are marked, as none is in the next one.
TEST_F(RdmaReceiverRepeats, RequestBehindAFullWindowIsNotTakenForTheFirst) {
  const uint32_t window = receiver_params().window;
  for (const uint32_t last : {window - 1, window}) {
    const Header request = another(3 * window);
    give_at(1, {request});
    for (uint32_t pidx = 1; pidx <= last; ++pidx) give(data(0, pidx));
    give_at(1, {request});
    EXPECT_EQ(count(Outcome::drop_asked), 1u) << last;
    receiver_.reset(config());
    receiver_.outcomes.clear();
  }
}

// All its marks are as in the beginning, but of another lap.
TEST_F(RdmaReceiverRepeats, RequestAfterAWholeLapIsNotTakenForTheFirst) {
  const uint32_t laps = 4 * receiver_params().window;
  const Header request = another(laps + 1);
  give_at(1, {request});
  for (uint32_t pidx = 0; pidx < laps; ++pidx) give(data(0, pidx));
  give_at(1, {request});
  EXPECT_EQ(count(Outcome::drop_asked), 1u);
  give(data(0, laps));
  receiver_.clocks(settled);
  EXPECT_EQ(context(0).state, RxContext::State::done);
}

// The other one shares the place of the first one, or has one of its own.
TEST_F(RdmaReceiverRepeats, ARequestThatDiffersInOneBitIsAnotherOne) {
  const auto differ_in = [&](unsigned bits, const auto& flip) {
    for (unsigned bit = 0; bit < bits; ++bit) {
      for (const unsigned distance : {1u, 2u, farthest}) {
        Header first = transfer(3);
        first.gen = 1;
        first.cid = test_key;
        first.arg = 0x4000;
        Header other = first;
        flip(other, uint64_t{1} << bit);
        give_at(distance, {first, other});
        EXPECT_EQ(count(Outcome::grant_again) + count(Outcome::drop_asked), 0u) << text(other);
        receiver_.reset(config());
      }
    }
  };
  differ_in(4, [](Header& header, uint64_t bit) { header.src ^= static_cast<uint16_t>(bit); });
  differ_in(4, [](Header& header, uint64_t bit) { header.sid ^= static_cast<uint16_t>(bit); });
  differ_in(6, [](Header& header, uint64_t bit) { header.msgid ^= static_cast<uint32_t>(bit); });
  differ_in(32, [](Header& header, uint64_t bit) { header.pidx ^= static_cast<uint32_t>(bit); });
  differ_in(64, [](Header& header, uint64_t bit) { header.arg ^= bit; });
  differ_in(16, [](Header& header, uint64_t bit) { header.cid ^= static_cast<uint16_t>(bit); });
  differ_in(8, [](Header& header, uint64_t bit) { header.gen ^= static_cast<uint8_t>(bit); });
}

// What a request says is compared by its CRC: each bit of that.
TEST_F(RdmaReceiverRepeats, ARequestWhoseCrcDiffersInOneBitIsAnotherOne) {
  for (unsigned bit = 0; bit < 32; ++bit) {
    for (const unsigned distance : {1u, 2u, farthest}) {
      const Header first = transfer(3);
      Header other = first;
      other.arg ^= change_for_crc(first, uint32_t{1} << bit);
      ASSERT_EQ(sealed(other).crc ^ sealed(first).crc, uint32_t{1} << bit);
      give_at(distance, {first, other});
      EXPECT_EQ(count(Outcome::grant_again) + count(Outcome::drop_asked), 0u) << "bit " << bit;
      receiver_.reset(config());
    }
  }
}

// Of the request there is no context any more: once it is dropped, then it is a new one.
TEST_F(RdmaReceiverRepeats, RequestWhoseContextIsOverIsDroppedOnceAndThenANewOne) {
  const Header request = another(3);
  give_at(1, {request});
  give(release(0));
  give_at(farthest, {request});
  EXPECT_EQ(count(Outcome::drop_asked), 1u);
  EXPECT_EQ(free_contexts(), rx_contexts);
  give_at(farthest, {request, request});
  EXPECT_EQ(count(Outcome::grant), 2u);
  EXPECT_EQ(count(Outcome::grant_again), 1u);
}

TEST_F(RdmaReceiverRepeats, RequestMeetsTheEndOfItsContextAtAnyDistance) {
  for (unsigned distance = 1; distance <= farthest; ++distance) {
    for (const bool end_first : {true, false}) {
      const Header request = another(3);
      give_at(1, {request});
      uint16_t cid = 0;
      while (cid + 1u < rx_contexts && context(cid).state == RxContext::State::free) ++cid;
      const Header end = release(cid);
      give_at(distance, end_first ? std::vector{end, request} : std::vector{request, end});
      EXPECT_EQ(count(Outcome::released), 1u);
      EXPECT_EQ(count(end_first ? Outcome::drop_asked : Outcome::grant_again), 1u) << distance;
      EXPECT_EQ(free_contexts(), rx_contexts);
      start_over();
    }
  }
}

// The context has been granted to another transfer meanwhile.
TEST_F(RdmaReceiverRepeats, ContextOfAnotherTransferIsNotTaken) {
  const Header request = another(3);
  give_at(1, {request});
  for (unsigned n = 0; n < rx_contexts; ++n) {  // until context 0 comes back
    give(release(static_cast<uint16_t>(n)));
    Header other = another(2);
    other.sid ^= 1;
    give_at(1, {other});
  }
  ASSERT_EQ(context(0).state, RxContext::State::active);
  ASSERT_NE(context(0).msgid, request.msgid);
  const unsigned dropped = count(Outcome::drop_asked);
  give_at(1, {request});
  EXPECT_EQ(count(Outcome::drop_asked), dropped + 1);
  EXPECT_EQ(count(Outcome::grant_again), 0u);
}

// One that takes the place of another, however close: what is remembered is the last one granted.
TEST_F(RdmaReceiverRepeats, APlaceIsOfTheLastOneGranted) {
  for (unsigned distance = 1; distance <= farthest; ++distance) {
    const Header first = another(3), second = another(3);
    give_at(distance, {first, second, second, first, first, second});
    EXPECT_EQ(count(Outcome::grant), 4u) << distance;
    EXPECT_EQ(count(Outcome::grant_again), 2u) << distance;
    start_over();
  }
}

// A request that is refused takes no place.
TEST_F(RdmaReceiverRepeats, ARefusedOneIsNotRemembered) {
  for (unsigned distance = 1; distance <= farthest; ++distance) {
    const Header first = another(3);
    Header refused = another(3);
    refused.cid ^= 1;
    give_at(distance, {first, refused, refused, first});
    EXPECT_EQ(count(Outcome::refuse_key), 2u) << distance;
    EXPECT_EQ(count(Outcome::grant_again), 1u) << distance;
    start_over();
  }
}

TEST_F(RdmaReceiverRepeats, AllOfASourceAndOneEachOfManySourcesAreRemembered) {
  for (const bool one_source : {true, false}) {
    std::vector<Header> requests;
    for (unsigned n = 0; n < rx_contexts; ++n) {
      requests.push_back(another(2));
      requests.back().src = static_cast<uint16_t>(one_source ? 5 : n);
      requests.back().sid = static_cast<uint16_t>(one_source ? n : 6);
    }
    give_at(1, requests);
    ASSERT_EQ(count(Outcome::grant), rx_contexts);
    for (unsigned round = 1; round <= 3; ++round) {
      give_at(1, requests);
      EXPECT_EQ(count(Outcome::grant_again), round * rx_contexts) << "although no context is free";
    }
    start_over();
  }
}

TEST_F(RdmaReceiverRepeats, NeitherAQuotaNorAClosedRegionKeepsItsAnswerBack) {
  rdma::Config narrow = config();
  narrow.rx_quota = 1;
  receiver_.reset(narrow);
  const Header request = another(3);
  give_at(farthest, {request, another(3)});
  EXPECT_EQ(count(Outcome::refuse_quota), 1u);
  narrow.regions.clear();
  receiver_.config = narrow;
  receiver_.clocks(farthest);
  give_at(farthest, {request, another(3)});
  EXPECT_EQ(count(Outcome::grant_again), 1u);
  EXPECT_EQ(count(Outcome::refuse_key), 1u);
}

TEST_F(RdmaReceiverRepeats, WithoutRoomForTheAnswerItIsDroppedAndStaysKnown) {
  const Header request = another(3);
  give_at(1, {request});
  out_.ctl_ready = false;
  Header refused = another(1);
  refused.pidx = 0;
  for (unsigned n = 0; n < ReceiverQueues::control_full; ++n) give_at(1, {refused});
  ASSERT_EQ(out_.controls_waiting(), ReceiverQueues::control_full);
  give_at(1, {request, request});
  EXPECT_EQ(count(Outcome::drop_busy), 2u);
  EXPECT_EQ(count(Outcome::grant_again), 0u);
  out_.ctl_ready = true;
  receiver_.clocks(2 * ReceiverQueues::depth);
  give_at(1, {request});
  EXPECT_EQ(count(Outcome::grant_again), 1u);
}

// Whoever repeats a request keeps no context for it.
TEST_F(RdmaReceiverRepeats, RepeatingIsNoSignOfLife) {
  const Header request = another(3);
  give_at(1, {request});
  for (unsigned n = 0; n < 200 && count(Outcome::reclaim) == 0; ++n) {
    receiver_.now = static_cast<uint16_t>(receiver_.now + config().rx_timeout / 2);
    give_at(1, {request});
  }
  EXPECT_EQ(count(Outcome::reclaim), 1u);
  EXPECT_EQ(count(Outcome::ask_map), config().max_silent);
}

// A request that is dropped is forgotten some clocks later; one that takes its place meanwhile may be
// forgotten with it, but none that does so afterwards.
TEST_F(RdmaReceiverRepeats, ForgettingMeetsTheNextOneOfThePlaceAtAnyDistance) {
  for (unsigned distance = 1; distance <= farthest; ++distance) {
    const Header over = another(3), next = another(3), last = another(3);
    give_at(1, {over});
    start_over();
    give_at(distance, {over, next});
    EXPECT_EQ(count(Outcome::drop_asked), 1u) << distance;
    EXPECT_EQ(count(Outcome::grant), 1u) << distance;
    give_at(farthest, {next});
    EXPECT_EQ(count(Outcome::grant) + count(Outcome::grant_again), 2u) << distance;
    if (distance == farthest) {
      EXPECT_EQ(count(Outcome::grant_again), 1u);
    }
    receiver_.outcomes.clear();
    give_at(farthest, {last, last});
    EXPECT_EQ(count(Outcome::grant_again), 1u) << distance;
    start_over();
  }
}

/// This request with another address, so that its CRC is 0: a sum of what single bits of the address change.
rdma::formats::Header with_crc_zero(rdma::formats::Header header) {
  const uint32_t crc = sealed(header).crc;
  struct Sum {
    uint32_t change;
    uint64_t bits;
  };
  std::array<Sum, 32> by_highest{};  // bit of the change
  const auto reduce = [&](Sum sum) {
    for (unsigned bit = 32; bit-- > 0;) {
      if ((sum.change >> bit & 1) == 0 || by_highest[bit].change == 0) continue;
      sum.change ^= by_highest[bit].change;
      sum.bits ^= by_highest[bit].bits;
    }
    return sum;
  };
  for (unsigned bit = 0; bit < 64; ++bit) {
    rdma::formats::Header changed = header;
    changed.arg ^= uint64_t{1} << bit;
    const Sum sum = reduce({sealed(changed).crc ^ crc, uint64_t{1} << bit});
    if (sum.change != 0) by_highest[static_cast<unsigned>(std::bit_width(sum.change)) - 1] = sum;
  }
  header.arg ^= reduce({crc, 0}).bits;
  return header;
}

// Places that no request has taken look as if one with CRC 0 had been there.
TEST_F(RdmaReceiverRepeats, NothingIsKnownAfterReset) {
  for (uint16_t sid = 0; sid < rx_contexts; ++sid) {
    Header request = another(3);
    request.sid = sid;
    request = with_crc_zero(request);
    ASSERT_EQ(sealed(request).crc, 0u);
    give_at(1, {request});
  }
  EXPECT_EQ(count(Outcome::drop_asked) + count(Outcome::grant_again), 0u);
}

TEST_F(RdmaReceiverRepeats, ResetForgetsThem) {
  const Header request = another(3);
  for (unsigned round = 0; round < 3; ++round) {
    give_at(1, {request});
    EXPECT_EQ(count(Outcome::grant), round + 1) << "outcomes are counted through resets";
    receiver_.reset(config());
  }
  EXPECT_EQ(count(Outcome::grant_again), 0u);
}

}  // namespace
}  // namespace weft::rtl_test

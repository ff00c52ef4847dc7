// SPDX-License-Identifier: Apache-2.0
// Each outcome of the receiver, in the order of docs/rdma.md; drops must change nothing.
#include "rdma/receiver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "property.hpp"
#include "rdma/region.hpp"
#include "small_engine.hpp"

namespace weft::rdma::test {
namespace {

using State = RxContext::State;
using Contexts = std::vector<RxContext>;

constexpr uint16_t sid = 2;
constexpr uint32_t msgid = 5;
constexpr uint16_t cid = 1;
constexpr uint64_t base = 0x2000;

class ReceiverTest : public ::testing::Test {
 protected:
  Contexts contexts() const {
    Contexts all;
    for (uint16_t i = 0; i < small_params().n_rx_ctx; ++i) all.push_back(receiver.context(i));
    return all;
  }

  static Packet request(uint32_t bytes, uint64_t address = base) {
    Packet packet{to_receiver(Ptype::rqt, sid, msgid), {}};
    packet.header.pidx = bytes;
    packet.header.arg = address;
    return packet;
  }

  /// A transfer of 20 full packets at `cid` unless told otherwise.
  RxResult grant(uint32_t bytes = 20 * 32, uint16_t now = 0) {
    return receiver.packet(request(bytes), {true, cid, now});
  }

  Packet data(uint32_t pidx, uint8_t flags = 0) const {
    const auto& context = receiver.context(cid);
    Packet packet{to_receiver(Ptype::data, sid, msgid), {}};
    packet.header.cid = cid;
    packet.header.gen = context.gen;
    packet.header.pidx = pidx;
    packet.header.flags = flags;
    if (pidx == context.cut.last) packet.header.flags |= formats::flag_last;
    packet.header.len = static_cast<uint16_t>(packet_length(pidx, context.cut, small_params()));
    packet.payload = pattern(packet.header.len, pidx);
    return packet;
  }

  Packet release() const {
    Packet packet{to_receiver(Ptype::release, sid, msgid), {}};
    packet.header.cid = cid;
    packet.header.gen = receiver.context(cid).gen;
    return packet;
  }

  Header from_context(Ptype type, uint32_t pidx = 0, uint8_t flags = 0) const {
    Header header = to_sender(type, sid, msgid);
    header.cid = cid;
    header.gen = receiver.context(cid).gen;
    header.pidx = pidx;
    header.flags = flags;
    return header;
  }

  /// The event is dropped with this outcome, and no context changes.
  void expect_drop(const Packet& packet, Outcome outcome, const RxInputs& inputs = {}) {
    const Contexts before = contexts();
    const uint32_t free = receiver.free_contexts();
    const auto result = receiver.packet(packet, inputs);
    EXPECT_EQ(result.outcome, outcome) << formats::name(result.outcome);
    EXPECT_EQ(result.cid, packet.header.cid);
    EXPECT_FALSE(result.write);
    EXPECT_TRUE(contexts() == before);
    EXPECT_EQ(receiver.free_contexts(), free);
  }

  Receiver receiver{small_params(), small_config(receiver_node)};
};

// Arrival checks

TEST_F(ReceiverTest, DropsOfArrivalChecksChangeNothing) {
  grant();
  const auto before = contexts();
  for (const auto outcome : {Outcome::drop_crc, Outcome::drop_malformed, Outcome::drop_not_mine}) {
    RxResult expected;
    expected.outcome = outcome;
    expected.wvec = {0};
    EXPECT_EQ(receiver.drop(outcome), expected);
  }
  EXPECT_TRUE(contexts() == before);
  EXPECT_THROW(receiver.drop(Outcome::drop_zombie), Violation);
}

// RQT

TEST_F(ReceiverTest, Grant) {
  const auto result = grant(33, 17);
  EXPECT_EQ(result.outcome, Outcome::grant);
  EXPECT_EQ(result.cid, cid);
  EXPECT_EQ(result.emitted, (Packet{from_context(Ptype::rsp), {}}));
  const auto& context = receiver.context(cid);
  EXPECT_EQ(context.state, State::active);
  EXPECT_EQ(context.gen, 1);
  EXPECT_EQ(context.src, sender_node);
  EXPECT_EQ(context.region, 0);
  EXPECT_EQ(context.offset, base - 0x1000);
  EXPECT_EQ(context.cut, (Cut{1, 1}));
  EXPECT_EQ(context.timer.elapsed(17), 0);
  EXPECT_EQ(receiver.free_contexts(), 3u);
}

TEST_F(ReceiverTest, EachGrantIsAnotherGeneration) {
  for (int i = 1; i <= 300; ++i) {
    grant();
    ASSERT_EQ(receiver.context(cid).gen, i % 256);
    receiver.packet(release(), {});
  }
}

TEST_F(ReceiverTest, BusyComesBeforeRefusals) {
  expect_drop(request(0), Outcome::drop_busy, {false, cid, 0});
}

TEST_F(ReceiverTest, Refusals) {
  const auto expect = [&](const Packet& request, Outcome outcome, Refusal code,
                          std::optional<uint16_t> offer) {
    const auto before = contexts();
    const auto result = receiver.packet(request, {true, offer, 0});
    EXPECT_EQ(result.outcome, outcome) << formats::name(result.outcome);
    Header answer = to_sender(Ptype::rsp, sid, msgid);
    answer.arg = static_cast<uint64_t>(code);
    EXPECT_EQ(result.emitted, (Packet{answer, {}}));
    EXPECT_EQ(result.wbase, 0u);
    EXPECT_TRUE(contexts() == before);
  };
  expect(request(0, 1), Outcome::refuse_length, Refusal::bad_length, cid);
  expect(request(255 * 32 + 1), Outcome::refuse_length, Refusal::bad_length, cid);
  expect(request(32, 0x2001), Outcome::refuse_align, Refusal::misaligned, cid);
  expect(request(32, 0x8fe1), Outcome::refuse_align, Refusal::misaligned, cid);
  expect(request(32, 0x0fe0), Outcome::refuse_region, Refusal::bad_region, cid);
  expect(request(33, 0x8fe0), Outcome::refuse_region, Refusal::bad_region, cid);
  expect(request(32, 0x9000), Outcome::refuse_region, Refusal::bad_region, cid);
  expect(request(64, ~uint64_t{0} - 31), Outcome::refuse_region, Refusal::bad_region, cid);
  expect(request(32, 0x0fe0), Outcome::refuse_region, Refusal::bad_region, std::nullopt);
  expect(request(32), Outcome::refuse_no_context, Refusal::no_context, std::nullopt);
}

TEST_F(ReceiverTest, LongestTransferAndEdgesOfTheRegionAreGranted) {
  EXPECT_EQ(receiver.packet(request(255 * 32), {true, 0, 0}).outcome, Outcome::grant);
  EXPECT_EQ(receiver.packet(request(32, 0x8fe0), {true, 1, 0}).outcome, Outcome::grant);
  EXPECT_EQ(receiver.packet(request(0x1fe0, 0x1000), {true, 2, 0}).outcome, Outcome::grant);
}

TEST_F(ReceiverTest, RegionsThatNoEngineTakesAreViolations) {
  const auto accepts = [&](const Region& region) {
    Config config = small_config(receiver_node);
    config.regions = {{}, region};
    try {
      receiver.configure(config);
    } catch (const Violation&) {
      return false;
    }
    return true;
  };
  constexpr uint64_t bus = 1 << 20;
  EXPECT_TRUE(accepts({bus - 32, bus, 0, true}));
  EXPECT_FALSE(accepts({bus - 32, bus + 32, 0, true}));
  EXPECT_TRUE(accepts({bus + 32, 0, 0, true})) << "empty";
  EXPECT_FALSE(accepts({0x1010, 0x2000, 0, true}));
  EXPECT_FALSE(accepts({0x1000, 0x2010, 0, true}));
  Config config = small_config(receiver_node);
  config.regions.resize(65);
  EXPECT_THROW(receiver.configure(config), Violation);
}

/// Region 2: [0x4000, 0x4400), key 0xbeef; region 0 as ever.
class RegionTest : public ReceiverTest {
 protected:
  RegionTest() { set({0x4000, 0x4400, 0xbeef, true}); }

  void set(const Region& region) {
    Config config = small_config(receiver_node);
    config.regions.resize(3);
    config.regions[2] = region;
    receiver.configure(config);
  }

  static Packet request(uint32_t bytes, uint64_t address, RegionKey named = {2, 0xbeef}) {
    Packet packet = ReceiverTest::request(bytes, address);
    packet.header.gen = named.region;
    packet.header.cid = named.key;
    return packet;
  }

  Outcome outcome(const Packet& request) { return receiver.packet(request, {true, cid, 0}).outcome; }

  /// Of the transfer at `cid`, which was granted for region 2.
  Packet data(uint32_t pidx, RegionKey named = {2, 0xbeef}) const {
    Packet packet = ReceiverTest::data(pidx);
    packet.header.arg = rkey(named);
    return packet;
  }
};

TEST_F(RegionTest, RequestNamesRegionAndKey) {
  EXPECT_EQ(outcome(request(32, 0x4000, {2, 0xbeee})), Outcome::refuse_key);
  EXPECT_EQ(outcome(request(32, 0x4000, {1, 0xbeef})), Outcome::refuse_key) << "closed";
  EXPECT_EQ(outcome(request(32, 0x4000, {1, 0})), Outcome::refuse_key) << "closed";
  EXPECT_EQ(outcome(request(32, 0x4000, {3, 0})), Outcome::refuse_key) << "never set";
  EXPECT_EQ(outcome(request(32, 0x4000, {255, 0})), Outcome::refuse_key) << "no such region";
  EXPECT_EQ(outcome(request(32, 0x2000)), Outcome::refuse_region) << "in region 0 only";
  EXPECT_EQ(outcome(request(0x401, 0x4000)), Outcome::refuse_region);
  const auto refused = receiver.packet(request(32, 0x4000, {2, 0}), {true, cid, 0});
  EXPECT_EQ(refused.emitted->header.arg, static_cast<uint64_t>(Refusal::bad_key));
  EXPECT_EQ(outcome(request(0x400, 0x4000)), Outcome::grant);
  EXPECT_EQ(receiver.context(cid).region, 2);
  EXPECT_EQ(receiver.context(cid).offset, 0u);
}

TEST_F(RegionTest, ReadOnlyIsClosed) {
  set({0x4000, 0x4400, 0xbeef, false});
  EXPECT_EQ(outcome(request(32, 0x4000)), Outcome::refuse_key);
}

TEST_F(RegionTest, DataNamesTheRegionOfItsGrant) {
  ASSERT_EQ(outcome(request(5 * 32, 0x4040)), Outcome::grant);
  expect_drop(data(0, {0, 0}), Outcome::drop_key);  // open, but another one
  expect_drop(data(0, {2, 0xbeee}), Outcome::drop_key);
  const auto result = receiver.packet(data(1), {});
  EXPECT_EQ(result.outcome, Outcome::accept);
  EXPECT_EQ(result.write->addr, 0x4060u);
}

TEST_F(RegionTest, NothingIsWrittenToARegionThatIsClosedOrGotAnotherKey) {
  ASSERT_EQ(outcome(request(5 * 32, 0x4040)), Outcome::grant);
  for (const Region& region : {Region{0x4000, 0x4400, 0xbeef, false}, Region{0x4000, 0x4000, 0xbeef, true},
                               Region{0x4000, 0x4400, 0xbeee, true}}) {
    set(region);
    expect_drop(data(0), Outcome::drop_key);
  }
  Packet beyond = data(0);
  beyond.header.pidx = 5;
  expect_drop(beyond, Outcome::drop_key);  // comes before
  set({0x4000, 0x4400, 0xbeef, true});
  EXPECT_EQ(receiver.packet(data(0), {}).outcome, Outcome::advance);
}

TEST_F(RegionTest, NothingIsWrittenBeyondARegionThatHasShrunk) {
  ASSERT_EQ(outcome(request(5 * 32, 0x4040)), Outcome::grant);
  set({0x4000, 0x4080, 0xbeef, true});
  EXPECT_EQ(receiver.packet(data(1), {}).outcome, Outcome::accept);
  expect_drop(data(2), Outcome::drop_region);
  expect_drop(data(4), Outcome::drop_region);
}

TEST_F(RegionTest, TransferFollowsARegionThatMoves) {
  ASSERT_EQ(outcome(request(5 * 32, 0x4040)), Outcome::grant);
  set({0x6000, 0x6400, 0xbeef, true});
  EXPECT_EQ(receiver.packet(data(1), {}).write->addr, 0x6060u);
}

// Quota

TEST_F(ReceiverTest, GroupOfSourcesHoldsNoMoreContextsThanItsQuota) {
  Params params = small_params();
  params.n_sources = 4;
  Receiver quotas(params, small_config(receiver_node));
  Config config = small_config(receiver_node);
  config.rx_quota = 2;
  quotas.configure(config);
  const auto ask = [&](uint16_t source, uint16_t offer, bool over) {
    Packet packet = request(32);
    packet.header.src = source;
    return quotas.packet(packet, {true, offer, 0, over});
  };
  EXPECT_EQ(ask(3, 0, false).outcome, Outcome::grant);
  EXPECT_EQ(ask(7, 1, false).outcome, Outcome::grant) << "of the same group";
  EXPECT_EQ(quotas.held_by(11), 2u);
  const auto refused = ask(3, 2, true);
  EXPECT_EQ(refused.outcome, Outcome::refuse_quota);
  EXPECT_EQ(refused.emitted->header.arg, static_cast<uint64_t>(Refusal::no_context));
  EXPECT_THROW(ask(11, 2, false), Violation);
  EXPECT_EQ(ask(2, 2, false).outcome, Outcome::grant) << "of another group";
  Packet gone{to_receiver(Ptype::release, sid, msgid), {}};
  gone.header.src = 7;
  gone.header.cid = 1;
  gone.header.gen = 1;
  EXPECT_EQ(quotas.packet(gone, {}).outcome, Outcome::released);
  EXPECT_EQ(quotas.held_by(3), 1u);
  EXPECT_EQ(ask(3, 1, false).outcome, Outcome::grant);
  config.rx_quota = 0;
  quotas.configure(config);
  EXPECT_EQ(ask(3, 3, true).outcome, Outcome::grant) << "no quota";
}

TEST_F(ReceiverTest, OfferOfAContextInUseIsAViolation) {
  grant();
  EXPECT_THROW(grant(), Violation);
  EXPECT_THROW(receiver.packet(request(32), {true, 4, 0}), Violation);
}

// DATA

TEST_F(ReceiverTest, UnknownCid) {
  expect_drop(data(0), Outcome::drop_unknown_cid);  // free
  grant();
  for (const uint16_t other : {4, 0x8001}) {
    auto packet = data(0);
    packet.header.cid = other;
    expect_drop(packet, Outcome::drop_unknown_cid);
  }
}

TEST_F(ReceiverTest, ZombieNeverChangesAnything) {
  grant();
  receiver.timeout(cid, {true, {}, 10});
  const auto expect = [&](Outcome reason, const std::function<void(Header&)>& change) {
    auto packet = data(0);
    change(packet.header);
    expect_drop(packet, reason);
    auto freeing = release();
    change(freeing.header);
    expect_drop(freeing, reason);
  };
  expect(Outcome::drop_source, [](Header& h) { h.src += 1; });
  expect(Outcome::drop_source, [](Header& h) { h.src |= 0x100; });  // wider than NODE_W
  expect(Outcome::drop_sid, [](Header& h) { h.sid += 1; });
  expect(Outcome::drop_sid, [](Header& h) { h.sid |= 0x10; });  // wider than SID_W
  expect(Outcome::drop_msgid, [](Header& h) { h.msgid += 1; });
  expect(Outcome::drop_msgid, [](Header& h) { h.msgid |= 0x10; });  // wider than MSGID_W
  expect(Outcome::drop_zombie, [](Header& h) { h.gen += 1; });
  expect(Outcome::drop_source, [](Header& h) { h.src += 1, h.sid += 1, h.msgid += 1, h.gen += 1; });
  expect(Outcome::drop_sid, [](Header& h) { h.sid += 1, h.msgid += 1, h.gen += 1; });
  expect(Outcome::drop_msgid, [](Header& h) { h.msgid += 1, h.gen += 1; });
  EXPECT_EQ(receiver.context(cid).silent, 1);
}

TEST_F(ReceiverTest, RandomZombiesNeverChangeAnything) {
  EXPECT_PROPERTY("zombie", [this] {
    receiver.reset();
    grant();
    const auto heard = *rc::gen::inRange<uint32_t>(0, 20);
    for (uint32_t pidx = 0; pidx < heard; ++pidx) receiver.packet(data(pidx), {});
    auto packet = data(*rc::gen::inRange<uint32_t>(0, 20));
    if (*rc::gen::arbitrary<bool>()) packet = release();
    const Header good = packet.header;
    Outcome reason = Outcome::drop_zombie;
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        packet.header.src = *rc::gen::arbitrary<uint16_t>();
        reason = Outcome::drop_source;
        break;
      case 1:
        packet.header.sid = *rc::gen::arbitrary<uint16_t>();
        reason = Outcome::drop_sid;
        break;
      case 2:
        packet.header.msgid = *rc::gen::inRange<uint32_t>(0, 1u << 24);
        reason = Outcome::drop_msgid;
        break;
      default:
        packet.header.gen = *rc::gen::arbitrary<uint8_t>();
    }
    RC_PRE(packet.header != good);
    const auto before = contexts();
    const auto result = receiver.packet(packet, {});
    RC_ASSERT(result.outcome == reason);
    RC_ASSERT(!result.write && !result.emitted);
    RC_ASSERT(contexts() == before);
  });
}

TEST_F(ReceiverTest, BeyondEnd) {
  grant();
  receiver.timeout(cid, {true, {}, 10});
  expect_drop(data(20), Outcome::drop_beyond_end);
  expect_drop(data(0x100), Outcome::drop_beyond_end);
}

TEST_F(ReceiverTest, BadLengthOrLastMark) {
  grant(2 * 32 + 5);
  const auto expect = [&](Outcome reason, uint32_t pidx, uint16_t len, uint8_t flags) {
    auto packet = data(pidx);
    packet.header.len = len;
    packet.header.flags = flags;
    packet.payload.resize(len);
    expect_drop(packet, reason);
  };
  expect(Outcome::drop_bad_length, 0, 31, 0);
  expect(Outcome::drop_bad_length, 0, 31, formats::flag_last);
  expect(Outcome::drop_last_mark, 0, 32, formats::flag_last);
  expect(Outcome::drop_bad_length, 2, 32, formats::flag_last);
  expect(Outcome::drop_bad_length, 2, 4, formats::flag_last);
  expect(Outcome::drop_last_mark, 2, 5, 0);
  EXPECT_EQ(receiver.packet(data(2), {}).outcome, Outcome::accept);
}

TEST_F(ReceiverTest, DuplicatesBelowAndInsideTheWindow) {
  grant();
  receiver.packet(data(0), {});
  receiver.packet(data(3), {});
  expect_drop(data(0), Outcome::drop_duplicate);
  expect_drop(data(3), Outcome::drop_duplicate);
}

TEST_F(ReceiverTest, BeyondTheWindowIsAskedForAgain) {
  grant();
  const auto before = contexts();
  auto result = receiver.packet(data(9), {});
  EXPECT_EQ(result.outcome, Outcome::drop_window);
  EXPECT_EQ(result.emitted, (Packet{from_context(Ptype::resend, 9), {}}));
  result = receiver.packet(data(9), {false, {}, 0});
  EXPECT_EQ(result.outcome, Outcome::drop_window);
  EXPECT_FALSE(result.emitted);
  EXPECT_TRUE(result.ctl_dropped);
  EXPECT_TRUE(contexts() == before);
}

TEST_F(ReceiverTest, AcceptWritesAndMarks) {
  grant(20 * 32, 3);
  const auto result = receiver.packet(data(8), {true, {}, 5});
  EXPECT_EQ(result.outcome, Outcome::accept);
  EXPECT_EQ(result.write, (HostWrite{base + 8 * 32, pattern(32, 8)}));
  EXPECT_EQ(result.wbase, 0u);
  EXPECT_EQ(result.wvec, WindowBits{0x80});
  EXPECT_EQ(receiver.context(cid).timer.elapsed(5), 2);  // not restarted
}

TEST_F(ReceiverTest, AdvanceSkipsWhatWasReceivedAndRestartsTheTimer) {
  grant();
  receiver.packet(data(1), {});
  receiver.packet(data(3), {});
  const auto result = receiver.packet(data(0), {true, {}, 5});
  EXPECT_EQ(result.outcome, Outcome::advance);
  EXPECT_EQ(result.write, (HostWrite{base, pattern(32, 0)}));
  EXPECT_EQ(result.wbase, 2u);
  EXPECT_EQ(result.wvec, WindowBits{1});
  EXPECT_EQ(receiver.context(cid).timer.elapsed(5), 0);
}

TEST_F(ReceiverTest, OnlyAnAdvanceByAFirstTransmissionEndsTheAsking) {
  grant();
  receiver.timeout(cid, {true, {}, 10});
  receiver.packet(data(1), {});
  EXPECT_EQ(receiver.context(cid).asks, 1);
  receiver.packet(data(0, formats::flag_retry), {true, {}, 11});
  EXPECT_EQ(receiver.context(cid).asks, 1);
  receiver.packet(data(2), {});
  EXPECT_EQ(receiver.context(cid).asks, 0);
}

TEST_F(ReceiverTest, FinishSaysDone) {
  grant(32 + 1);
  receiver.packet(data(1), {});
  receiver.timeout(cid, {true, {}, 10});
  const auto result = receiver.packet(data(0, formats::flag_retry), {true, {}, 12});
  EXPECT_EQ(result.outcome, Outcome::finish);
  EXPECT_EQ(result.wbase, 2u);
  EXPECT_EQ(result.write, (HostWrite{base, pattern(32, 0)}));
  EXPECT_EQ(result.emitted, (Packet{from_context(Ptype::done), {}}));
  EXPECT_EQ(receiver.context(cid).state, State::done);
  EXPECT_EQ(receiver.context(cid).asks, 0);
  EXPECT_EQ(receiver.context(cid).timer.elapsed(12), 0);
  expect_drop(data(0), Outcome::drop_duplicate);
}

TEST_F(ReceiverTest, FinishWithoutRoomSaysDoneLater) {
  grant(32);
  const auto result = receiver.packet(data(0), {false, {}, 0});
  EXPECT_EQ(result.outcome, Outcome::finish);
  EXPECT_FALSE(result.emitted);
  EXPECT_TRUE(result.ctl_dropped);
  EXPECT_EQ(receiver.timeout(cid, {true, {}, 10}).emitted, (Packet{from_context(Ptype::done), {}}));
}

TEST_F(ReceiverTest, EveryPacketIsWrittenOnceInAnyOrderWithDuplicates) {
  EXPECT_PROPERTY("written once", [this] {
    receiver.reset();
    const uint32_t last = *rc::gen::inRange<uint32_t>(0, 20);
    grant(last * 32 + *rc::gen::inRange<uint32_t>(1, 33));
    auto arrivals = *rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange<uint32_t>(0, last + 1));
    for (uint32_t pidx = 0; pidx <= last; ++pidx) arrivals.push_back(pidx);  // nothing is missing in the end
    std::map<uint64_t, std::vector<uint8_t>> written;
    std::vector<bool> seen(last + 1, false);
    int finishes = 0;
    for (const uint32_t pidx : arrivals) {
      const auto result = receiver.packet(data(pidx), {});
      finishes += result.outcome == Outcome::finish ? 1 : 0;
      RC_ASSERT(result.write.has_value() ==
                (result.outcome == Outcome::accept || result.outcome == Outcome::advance ||
                 result.outcome == Outcome::finish));
      if (result.write) {
        RC_ASSERT(written.emplace(result.write->addr, result.write->bytes).second);
        seen[pidx] = true;
      }
      RC_ASSERT(result.wbase > last || !seen[result.wbase]);
      RC_ASSERT(std::all_of(seen.begin(), seen.begin() + std::min(result.wbase, last + 1),
                            [](bool s) { return s; }));
    }
    RC_ASSERT(finishes == 1);
    RC_ASSERT(written.size() == last + 1);
    for (uint32_t pidx = 0; pidx <= last; ++pidx)
      RC_ASSERT(written.at(base + pidx * 32) == data(pidx).payload);
  });
}

// RELEASE

TEST_F(ReceiverTest, ReleaseFreesButKeepsTheGeneration) {
  expect_drop(release(), Outcome::drop_unknown_cid);
  grant();
  receiver.timeout(cid, {true, {}, 10});
  const auto result = receiver.packet(release(), {});
  EXPECT_EQ(result.outcome, Outcome::released);
  EXPECT_FALSE(result.emitted);
  EXPECT_EQ(receiver.context(cid).state, State::free);
  EXPECT_EQ(receiver.context(cid).gen, 1);
  EXPECT_EQ(receiver.free_contexts(), 4u);
  EXPECT_FALSE(receiver.due(cid, 100));
  expect_drop(release(), Outcome::drop_unknown_cid);
}

// Timeout

TEST_F(ReceiverTest, TimeoutsAskForOneThenForAllThenReclaim) {
  grant();
  receiver.packet(data(0), {});
  const auto timeout = [&](uint16_t now, Outcome outcome) {
    const auto result = receiver.timeout(cid, {true, {}, now});
    EXPECT_EQ(result.outcome, outcome) << formats::name(result.outcome);
    EXPECT_EQ(result.wbase, 1u);
    return result.emitted;
  };
  EXPECT_EQ(timeout(10, Outcome::ask_one), (Packet{from_context(Ptype::resend, 1), {}}));
  EXPECT_EQ(timeout(20, Outcome::ask_one), (Packet{from_context(Ptype::resend, 1), {}}));
  EXPECT_EQ(timeout(30, Outcome::ask_from), (Packet{from_context(Ptype::resend, 1, formats::flag_from), {}}));
  EXPECT_EQ(timeout(40, Outcome::ask_from), (Packet{from_context(Ptype::resend, 1, formats::flag_from), {}}));
  EXPECT_EQ(timeout(50, Outcome::reclaim), std::nullopt);
  EXPECT_EQ(receiver.context(cid).state, State::free);
  EXPECT_EQ(receiver.free_contexts(), 4u);
}

TEST_F(ReceiverTest, NewDataEndsTheSilence) {
  grant();
  for (uint32_t pidx = 1; pidx < 8; ++pidx) {
    const auto now = static_cast<uint16_t>(10 * pidx);
    receiver.timeout(cid, {true, {}, now});
    EXPECT_EQ(receiver.context(cid).silent, 1);
    EXPECT_EQ(receiver.packet(data(pidx), {true, {}, now}).outcome, Outcome::accept);
    EXPECT_EQ(receiver.context(cid).silent, 0);
  }
}

// Else a sender that can never send what is missing would keep its context, and never hear of it.
TEST_F(ReceiverTest, RepeatedDataDoesNotKeepAContextForEver) {
  grant();
  receiver.packet(data(3), {});
  Outcome outcome = Outcome::none;
  for (uint16_t now = 10; now <= 50; now += 10) {
    outcome = receiver.timeout(cid, {true, {}, now}).outcome;
    if (now < 50) {
      expect_drop(data(3), Outcome::drop_duplicate, {true, {}, now});
    }
  }
  EXPECT_EQ(outcome, Outcome::reclaim);
}

TEST_F(ReceiverTest, DoneIsRepeated) {
  grant(32);
  receiver.packet(data(0), {});
  const auto result = receiver.timeout(cid, {true, {}, 10});
  EXPECT_EQ(result.outcome, Outcome::done_again);
  EXPECT_EQ(result.emitted, (Packet{from_context(Ptype::done), {}}));
}

TEST_F(ReceiverTest, TimeoutsInVainDoubleInWeftModeOnly) {
  Config config = small_config(receiver_node);
  config.max_silent = 15;
  config.backoff = 2;
  for (const bool weft_mode : {true, false}) {
    config.weft_mode = weft_mode;
    receiver.configure(config);
    grant();
    uint16_t now = 0;
    const auto expect_after = [&](uint16_t ticks) {
      EXPECT_FALSE(receiver.due(cid, static_cast<uint16_t>(now + ticks - 1)));
      now = static_cast<uint16_t>(now + ticks);
      ASSERT_TRUE(receiver.due(cid, now));
      receiver.timeout(cid, {true, {}, now});
    };
    for (const uint16_t wait : {10, 20, 40, 40}) expect_after(weft_mode ? wait : uint16_t{10});
    receiver.packet(data(0), {true, {}, now});
    expect_after(10);
    receiver.packet(release(), {});
  }
}

TEST_F(ReceiverTest, TimeoutWithoutRoomCountsTheDroppedPacket) {
  grant();
  const auto result = receiver.timeout(cid, {false, {}, 10});
  EXPECT_EQ(result.outcome, Outcome::ask_one);
  EXPECT_FALSE(result.emitted);
  EXPECT_TRUE(result.ctl_dropped);
  EXPECT_EQ(receiver.context(cid).asks, 1);
}

TEST_F(ReceiverTest, TimeoutMustBeDue) {
  EXPECT_THROW(receiver.timeout(cid, {true, {}, 100}), Violation);
  grant();
  EXPECT_THROW(receiver.timeout(cid, {true, {}, 9}), Violation);
  EXPECT_EQ(receiver.longest_overdue(9), 0u);
  EXPECT_EQ(receiver.longest_overdue(13), 3u);
  EXPECT_THROW(receiver.timeout(4, {}), Violation);
}

TEST_F(ReceiverTest, TakesNoPacketsForTheSender) {
  for (const auto type : {Ptype::rsp, Ptype::resend, Ptype::done}) {
    EXPECT_THROW(receiver.packet({to_sender(type, 0, 0), {}}, {}), Violation);
  }
}

TEST(Params, ThatMakeNoEngineAreRefused) {
  Params params = small_params();
  params.payload = 33;
  EXPECT_THROW(Receiver(params, small_config(0)), Violation);
  Config config = small_config(0);
  config.max_silent = 16;
  EXPECT_THROW(Receiver(small_params(), config), Violation);
}

}  // namespace
}  // namespace weft::rdma::test

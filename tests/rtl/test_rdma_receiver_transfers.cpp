// SPDX-License-Identifier: Apache-2.0
// rdma_receiver with SEND, READ and write with immediate, in lockstep with the golden model: what the inbox
// says about requests, READs, rights of regions, at first one by one, then at random with everything else.
#include <array>
#include <string>
#include <vector>

#include "Vtransfers_receiver.h"
#include "rdma_baseline/outcomes.hpp"
#include "rdma_receiver_traffic.hpp"

namespace weft::rtl_test {
namespace {

using rdma::Admission;
using rdma::formats::TransferFlag;
using TransfersLockstep = BasicReceiverLockstep<Vtransfers_receiver, true>;
using Asked = TransfersLockstep::Asked;
using Kind = Admission::Kind;

constexpr auto imm_flag = static_cast<uint8_t>(TransferFlag::imm);
constexpr auto send_flag = static_cast<uint8_t>(TransferFlag::send);
constexpr auto read_flag = static_cast<uint8_t>(TransferFlag::read);

/// With what the inbox would find out from the flags alone.
Asked asked(rdma::formats::Header header, uint8_t flags, Kind kind) {
  header.flags = flags;
  Asked result{header, {}};
  result.admission.kind = kind;
  result.admission.of_read = (flags & read_flag) != 0;
  return result;
}

Asked for_buffer(const rdma::formats::Header& header, uint8_t flags, uint64_t address, rdma::RegionKey rkey) {
  Asked result = asked(header, flags, Kind::buffer);
  result.admission.address = address;
  result.admission.rkey = rkey;
  return result;
}

Asked again(const rdma::formats::Header& header, uint8_t flags, uint16_t cid) {
  Asked result = asked(header, flags, Kind::again);
  result.admission.cid = cid;
  result.admission.rkey = {1, test_key};
  return result;
}

class RdmaReceiverTransfers : public BasicReceiverTest<TransfersLockstep> {
 protected:
  static Header write_to(uint8_t region) {
    Header header = transfer(3);
    header.gen = region;
    header.cid = region == 0 ? uint16_t{0} : test_key;
    header.arg = 0x4400;
    return header;
  }

  static Header read_of(uint8_t region) {
    Header header = write_to(region);
    header.ptype = static_cast<uint8_t>(Ptype::read);
    return header;
  }

  static Header refusal_of_read() {
    Header header = write_to(1);
    header.ptype = static_cast<uint8_t>(Ptype::rsp);
    header.flags = read_flag;
    header.arg = static_cast<uint64_t>(rdma::formats::Refusal::no_context);
    return header;
  }

  /// A SEND into a buffer in region 1; the queue that it names is of no meaning here.
  static Asked send() { return for_buffer(transfer(3), send_flag, 0x4400, {1, test_key}); }

  Outcome outcome_of(const Asked& request) {
    return only_outcome([&] { receiver_.ask(request); });
  }
  Outcome outcome_of(const TransfersLockstep::Input& packet) {
    return only_outcome([&] { receiver_.give(packet); });
  }
  Outcome only_outcome(const auto& give_it) {
    receiver_.outcomes.clear();
    give_it();
    receiver_.clocks(settled);
    EXPECT_EQ(receiver_.outcomes.size(), 1u);
    return receiver_.outcomes.empty() ? Outcome::none : receiver_.outcomes.begin()->first;
  }

  void set_rights(unsigned rights) {
    rdma::Region& region = receiver_.config.regions[1];
    region.remote_write = rights & 1;
    region.remote_read = rights & 2;
    region.receive = rights & 4;
    receiver_.clocks(4);
  }

  /// The first of them.
  uint16_t context_in_use() const {
    uint16_t cid = 0;
    while (cid + 1u < rx_contexts && context(cid).state == RxContext::State::free) ++cid;
    return cid;
  }

  /// All contexts are free again.
  void release_all() {
    for (uint16_t cid = 0; cid < rx_contexts; ++cid) {
      if (context(cid).state != RxContext::State::free) give(release(cid));
    }
    receiver_.clocks(settled);
    ASSERT_EQ(free_contexts(), rx_contexts);
  }
};

// Regions

TEST_F(RdmaReceiverTransfers, EachRightAllowsItsOwnUseOnly) {
  for (unsigned rights = 0; rights < 8; ++rights) {
    set_rights(rights);
    const auto expected = [&](unsigned right, Outcome allowed, Outcome refused) {
      return (rights & right) != 0 ? allowed : refused;
    };
    const Outcome written = expected(1, Outcome::grant, Outcome::refuse_key);
    Header write = write_to(1);
    write.msgid = rights;
    EXPECT_EQ(outcome_of(TransfersLockstep::Input{write}), written) << rights;
    EXPECT_EQ(outcome_of(asked(write_to(1), imm_flag, Kind::with_ticket)), written) << rights;
    EXPECT_EQ(outcome_of(TransfersLockstep::Input{read_of(1)}),
              expected(2, Outcome::read_taken, Outcome::refuse_key))
        << rights;
    EXPECT_EQ(outcome_of(send()), expected(4, Outcome::grant, Outcome::refuse_buffer)) << rights;
    release_all();
  }
}

/// Not where another one is that also lets others write: a buffer whose RECV has ended may lie where the last
/// packets of a WRITE go, and the other way round.
TEST_F(RdmaReceiverTransfers, DataGoesWhereTheRightOfItsGrantIs) {
  const auto check = [&](unsigned right) {
    const uint16_t cid = context_in_use();
    for (unsigned rights = 0; rights < 8; ++rights) {
      set_rights(rights);
      const bool open = (rights & right) != 0;
      EXPECT_EQ(outcome_of(TransfersLockstep::Input{data(cid, 1)}) != Outcome::drop_key, open)
          << rights << " instead of " << right;
    }
    set_rights(7);
    release_all();
  };
  set_rights(7);
  ASSERT_EQ(outcome_of(TransfersLockstep::Input{write_to(1)}), Outcome::grant);
  check(1);
  ASSERT_EQ(outcome_of(asked(write_to(1), imm_flag, Kind::with_ticket)), Outcome::grant);
  check(1);
  ASSERT_EQ(outcome_of(send()), Outcome::grant);
  check(4);
  ASSERT_EQ(outcome_of(for_buffer(transfer(3), read_flag, 0x4400, {1, test_key})), Outcome::grant);
  check(4);
}

TEST_F(RdmaReceiverTransfers, FaultOfABufferIsToldToItsKind) {
  const uint64_t payload = receiver_params().payload;
  for (const uint8_t flags : {send_flag, read_flag, static_cast<uint8_t>(read_flag | send_flag | imm_flag)}) {
    EXPECT_EQ(outcome_of(for_buffer(transfer(3), flags, 0x4400, {1, 0})), Outcome::refuse_buffer);
    EXPECT_EQ(outcome_of(for_buffer(transfer(3), flags, 0x4401, {1, test_key})), Outcome::refuse_buffer);
    EXPECT_EQ(outcome_of(for_buffer(transfer(3), flags, 0x6000 - 2 * payload, {1, test_key})),
              Outcome::refuse_buffer);
    EXPECT_EQ(outcome_of(for_buffer(transfer(3), flags, 0x6000 - 3 * payload, {1, test_key})),
              Outcome::grant);
  }
}

TEST_F(RdmaReceiverTransfers, ResetClosesRegionsToEachUse) {
  rdma::Config closed = config();
  closed.regions.clear();
  receiver_.reset(closed);
  for (unsigned region = 0; region < receiver_params().n_regions; ++region) {
    for (const uint16_t key : {uint16_t{0}, test_key}) {
      for (const uint64_t address : {0u, 0x4400u}) {
        Header request = transfer(1);
        request.gen = static_cast<uint8_t>(region);
        request.cid = key;
        request.arg = address;
        Header read = request;
        read.ptype = static_cast<uint8_t>(Ptype::read);
        EXPECT_EQ(outcome_of(TransfersLockstep::Input{request}), Outcome::refuse_key);
        EXPECT_EQ(outcome_of(TransfersLockstep::Input{read}), Outcome::refuse_key);
        EXPECT_EQ(outcome_of(for_buffer(request, send_flag, address, {request.gen, key})),
                  Outcome::refuse_buffer);
      }
    }
  }
}

TEST_F(RdmaReceiverTransfers, RegionsThatDoNotExistAreOpenToNobody) {
  for (const uint8_t region : {uint8_t{0}, uint8_t{1}}) {
    for (unsigned bit = 2; bit < 8; ++bit) {
      const auto number = static_cast<uint8_t>(region | 1u << bit);
      Header request = write_to(region), read = read_of(region);
      request.gen = read.gen = number;
      EXPECT_EQ(outcome_of(TransfersLockstep::Input{request}), Outcome::refuse_key) << unsigned{number};
      EXPECT_EQ(outcome_of(TransfersLockstep::Input{read}), Outcome::refuse_key) << unsigned{number};
      EXPECT_EQ(outcome_of(for_buffer(request, send_flag, request.arg, {number, request.cid})),
                Outcome::refuse_buffer)
          << unsigned{number};
    }
  }
}

TEST_F(RdmaReceiverTransfers, PlainRequestsAreToldApartByEachBitOfTheirCrc) {
  for (unsigned bit = 0; bit < 32; ++bit) {
    const Header first = transfer(3);
    Header other = first;
    other.arg ^= change_for_crc(first, uint32_t{1} << bit);
    ASSERT_EQ(outcome_of(TransfersLockstep::Input{first}), Outcome::grant);
    EXPECT_NE(outcome_of(TransfersLockstep::Input{other}), Outcome::grant_again) << "bit " << bit;
    receiver_.reset(config());
  }
}

TEST_F(RdmaReceiverTransfers, RegionsStayWhateverStandsAtTheirInputsUnlessTheyAreSet) {
  const uint32_t payload = receiver_params().payload;
  const uint64_t bus = uint64_t{1} << receiver_params().addr_bits;
  for (uint8_t number = 0; number < receiver_params().n_regions; ++number) {
    for (const bool ones : {false, true}) {
      rdma::Region other{ones ? bus - payload : 0, bus, 0, ones, ones, ones};
      if (ones) other.key = 0xffff;
      // The lockstep takes the order back, nothing else.
      put_region(bench_.top(), number, other, payload);
      receiver_.clocks(4);
      for (const uint8_t named : {uint8_t{0}, uint8_t{1}}) {
        const rdma::Region& region = receiver_.config.regions[named];
        for (const uint64_t address : {region.base, region.limit - 3 * payload}) {
          Header request = write_to(named), read = read_of(named);
          request.arg = read.arg = address;
          EXPECT_EQ(outcome_of(TransfersLockstep::Input{request}), Outcome::grant);
          EXPECT_EQ(outcome_of(TransfersLockstep::Input{read}), Outcome::read_taken);
        }
      }
      EXPECT_EQ(outcome_of(send()), Outcome::grant);
      release_all();
    }
  }
}

TEST_F(RdmaReceiverTransfers, AnyKeyIsPassedOnWhole) {
  for (unsigned n = 0; n < 200 && !HasFatalFailure(); ++n) {
    const auto key = static_cast<uint16_t>(bench_.below(1 << 16));
    receiver_.config.regions[1].key = key;
    receiver_.clocks(4);
    Header request = write_to(1);
    request.cid = key;
    Header read = read_of(1);
    read.cid = key;
    EXPECT_EQ(outcome_of(TransfersLockstep::Input{read}), Outcome::read_taken);
    EXPECT_EQ(outcome_of(asked(request, imm_flag, Kind::none)), Outcome::drop_asked);
    EXPECT_EQ(outcome_of(asked(request, imm_flag, Kind::with_ticket)), Outcome::grant);
    EXPECT_EQ(outcome_of(for_buffer(request, send_flag, request.arg, {1, key})), Outcome::grant);
    release_all();
  }
}

// Answers

TEST_F(RdmaReceiverTransfers, AnswersComeFromANodeOfAnyNumber) {
  for (unsigned bit = 0; bit < 16; ++bit) {
    for (const unsigned number : {1u << bit, 0xffffu ^ (1u << bit)}) {
      rdma::Config numbered = config();
      numbered.node_id = static_cast<uint16_t>(number);
      receiver_.reset(numbered);
      out_.ctl_ready = false;  // they wait, one behind the other
      ASSERT_EQ(outcome_of(send()), Outcome::grant);
      ASSERT_EQ(outcome_of(for_buffer(transfer(3), read_flag, 1, {1, test_key})), Outcome::refuse_buffer);
      receiver_.answer_room = false;
      ASSERT_EQ(outcome_of(TransfersLockstep::Input{read_of(1)}), Outcome::refuse_answers);
      receiver_.answer_room = true;
      out_.ctl_ready = true;
      receiver_.clocks(settled);
      ASSERT_EQ(out_.controls.size(), 3u);
    }
  }
}

TEST_F(RdmaReceiverTransfers, ContextsForBuffersComeBackWithTheNextGeneration) {
  for (unsigned round = 1; round <= 260 && !HasFatalFailure(); ++round) {
    for (unsigned n = 0; n < rx_contexts; ++n) receiver_.ask(send());
    receiver_.clocks(settled);
    for (uint16_t cid = 0; cid < rx_contexts; ++cid) {
      ASSERT_EQ(context(cid).gen, round % 256);
      receiver_.ask(again(transfer(3), send_flag, cid));
    }
    receiver_.clocks(settled);
    ASSERT_EQ(receiver_.outcomes[Outcome::grant_again], round * rx_contexts);
    release_all();
  }
}

// What the inbox says

TEST_F(RdmaReceiverTransfers, RefusalsAndDropsOfTheInboxAreFinal) {
  for (const uint8_t flags : {imm_flag, send_flag, read_flag}) {
    for (const Outcome refusal : {Outcome::refuse_queue, Outcome::refuse_not_ready, Outcome::refuse_too_long,
                                  Outcome::refuse_not_wanted}) {
      Asked request = asked(write_to(1), flags, Kind::refuse);
      request.admission.refusal = refusal;
      EXPECT_EQ(outcome_of(request), refusal);
    }
    EXPECT_EQ(outcome_of(asked(write_to(1), flags, Kind::drop)), Outcome::drop_asked);
  }
  EXPECT_EQ(free_contexts(), rx_contexts);
}

TEST_F(RdmaReceiverTransfers, ImmediateWithoutTicketIsNotGranted) {
  Header wrong = write_to(1);
  wrong.cid ^= 1;
  EXPECT_EQ(outcome_of(asked(wrong, imm_flag, Kind::none)), Outcome::refuse_key);
  EXPECT_EQ(outcome_of(asked(write_to(1), imm_flag, Kind::none)), Outcome::drop_asked)
      << "its region was opened after the inbox looked";
  EXPECT_EQ(free_contexts(), rx_contexts);
}

TEST_F(RdmaReceiverTransfers, WithoutRoomNothingIsAnsweredOrChanged) {
  ASSERT_EQ(outcome_of(send()), Outcome::grant);
  const uint16_t cid = context_in_use();
  out_.ctl_ready = false;
  Header refused = transfer(1);
  refused.pidx = 0;
  for (unsigned n = 0; n < ReceiverQueues::control_full; ++n) give(refused);
  receiver_.clocks(settled);
  Asked refuse = asked(write_to(1), send_flag, Kind::refuse);
  refuse.admission.refusal = Outcome::refuse_queue;
  for (const Asked& request :
       {send(), again(transfer(3), send_flag, cid), refuse, asked(write_to(1), imm_flag, Kind::with_ticket),
        asked(write_to(1), send_flag, Kind::drop)}) {
    EXPECT_EQ(outcome_of(request), Outcome::drop_busy);
  }
  EXPECT_EQ(outcome_of(TransfersLockstep::Input{read_of(1)}), Outcome::drop_busy);
  EXPECT_EQ(receiver_.answers, 0u);
}

TEST_F(RdmaReceiverTransfers, WhatTheInboxHadNoRoomForIsDropped) {
  for (const uint8_t flags : {imm_flag, send_flag, read_flag}) {
    Header request = write_to(1);
    request.flags = flags;
    EXPECT_EQ(outcome_of(TransfersLockstep::Input{request, Outcome::none, true}), Outcome::drop_busy);
  }
  EXPECT_EQ(outcome_of(TransfersLockstep::Input{refusal_of_read(), Outcome::none, true}), Outcome::drop_busy);
}

TEST_F(RdmaReceiverTransfers, AgainIsForTheSameTransferOnly) {
  ASSERT_EQ(outcome_of(send()), Outcome::grant);
  const uint16_t cid = context_in_use();
  const Header same = transfer(3);
  EXPECT_EQ(outcome_of(again(same, send_flag, cid)), Outcome::grant_again);
  EXPECT_EQ(outcome_of(again(same, imm_flag, cid)), Outcome::grant_again);
  for (unsigned bit = 0; bit < 4; ++bit) {
    Header src = same, sid = same, msgid = same;
    src.src ^= static_cast<uint16_t>(1u << bit);
    sid.sid ^= static_cast<uint16_t>(1u << bit);
    msgid.msgid ^= 1u << bit;
    for (const Header& other : {src, sid, msgid}) {
      EXPECT_EQ(outcome_of(again(other, send_flag, cid)), Outcome::drop_asked);
    }
  }
  for (const uint32_t pidx : {1u, 0u, 2u}) {
    give(data(cid, pidx));
    receiver_.clocks(settled);
    EXPECT_EQ(outcome_of(again(same, send_flag, cid)), Outcome::drop_asked) << "who has sent one has the RSP";
  }
  ASSERT_EQ(context(cid).state, RxContext::State::done);
  release_all();
  EXPECT_EQ(outcome_of(again(same, send_flag, cid)), Outcome::drop_asked);
}

TEST_F(RdmaReceiverTransfers, RequestOfTheInboxIsNotTakenForAPlainOneWithItsCrc) {
  const Header plain = write_to(1);
  ASSERT_EQ(outcome_of(TransfersLockstep::Input{plain}), Outcome::grant);
  Asked other = send();
  ASSERT_EQ(other.header.msgid, plain.msgid);
  other.header.crc = sealed(plain).crc;
  EXPECT_EQ(outcome_of(other), Outcome::grant);
  EXPECT_EQ(outcome_of(TransfersLockstep::Input{plain}), Outcome::grant_again);
}

TEST_F(RdmaReceiverTransfers, AgainMeetsTheEndOfItsContextAtAnyDistance) {
  for (unsigned distance = 1; distance <= TransfersLockstep::latency + 2; ++distance) {
    for (const bool end_first : {true, false}) {
      ASSERT_EQ(outcome_of(send()), Outcome::grant);
      const uint16_t cid = context_in_use();
      const Header end = release(cid);
      receiver_.outcomes.clear();
      if (end_first) {
        receiver_.give({end}, 1);
      } else {
        receiver_.ask(again(transfer(3), send_flag, cid), 1);
      }
      receiver_.clocks(distance - 1);
      if (end_first) {
        receiver_.ask(again(transfer(3), send_flag, cid), 1);
      } else {
        receiver_.give({end}, 1);
      }
      receiver_.clocks(settled);
      EXPECT_EQ(receiver_.outcomes[Outcome::released], 1u);
      EXPECT_EQ(receiver_.outcomes[end_first ? Outcome::drop_asked : Outcome::grant_again], 1u) << distance;
      ASSERT_EQ(free_contexts(), rx_contexts);
    }
  }
}

TEST_F(RdmaReceiverTransfers, AgainIsNoSignOfLife) {
  ASSERT_EQ(outcome_of(send()), Outcome::grant);
  const uint16_t cid = context_in_use();
  receiver_.outcomes.clear();
  for (unsigned round = 0; round <= config().max_silent; ++round) {
    EXPECT_EQ(receiver_.outcomes[Outcome::reclaim], 0u) << "timeouts: " << round;
    EXPECT_EQ(context(cid).silent, round);
    ASSERT_EQ(outcome_of(again(transfer(3), send_flag, cid)), Outcome::grant_again);
    receiver_.now = static_cast<uint16_t>(receiver_.now + config().rx_timeout);
    receiver_.clocks(200);
  }
  EXPECT_EQ(receiver_.outcomes[Outcome::reclaim], 1u);
}

// READ

TEST_F(RdmaReceiverTransfers, ReadsAreCheckedAsRequestsAre) {
  EXPECT_EQ(outcome_of(TransfersLockstep::Input{read_of(1)}), Outcome::read_taken);
  receiver_.answer_room = false;
  EXPECT_EQ(outcome_of(TransfersLockstep::Input{read_of(1)}), Outcome::refuse_answers);
  receiver_.answer_asked = true;
  for (const bool room : {false, true}) {
    receiver_.answer_room = room;
    EXPECT_EQ(outcome_of(TransfersLockstep::Input{read_of(1)}), Outcome::drop_asked) << "comes before room";
  }
  const std::array<Outcome, 4> faults{Outcome::refuse_length, Outcome::refuse_align, Outcome::refuse_key,
                                      Outcome::refuse_region};
  std::array<Header, 4> wrong;
  wrong.fill(read_of(1));
  wrong[0].pidx = 0;
  wrong[1].arg += 1;
  wrong[2].cid ^= 1;
  wrong[3].arg = 0x6000;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    EXPECT_EQ(outcome_of(TransfersLockstep::Input{wrong[i]}), faults[i]) << "comes before both";
  }
  EXPECT_EQ(receiver_.answers, 1u);
  EXPECT_EQ(free_contexts(), rx_contexts);
}

TEST_F(RdmaReceiverTransfers, AnswersAreCountedFromOneClockToTheNext) {
  constexpr unsigned most = 3;
  const auto clock = [&] {
    receiver_.answer_room = receiver_.answers < most;
    receiver_.clock();
  };
  for (unsigned n = 0; n < 8; ++n) {
    receiver_.packet = {read_of(1)};
    clock();
    ASSERT_FALSE(receiver_.packet);
  }
  for (unsigned n = 0; n < settled; ++n) clock();
  EXPECT_EQ(receiver_.outcomes[Outcome::read_taken], most);
  EXPECT_EQ(receiver_.outcomes[Outcome::refuse_answers], 8 - most);
}

// What comes first

TEST_F(RdmaReceiverTransfers, RequestsOfTheInboxComeFirst) {
  receiver_.packet = {write_to(0)};
  receiver_.request = asked(write_to(0), imm_flag, Kind::with_ticket);
  receiver_.clock();
  EXPECT_EQ(receiver_.asked, 1u);
  EXPECT_TRUE(receiver_.packet);
  receiver_.clock();
  EXPECT_FALSE(receiver_.packet);
}

TEST_F(RdmaReceiverTransfers, PacketsAndRequestsOfTheInboxTogetherStarveNoTimeout) {
  for (const unsigned requests : {0u, 20u, 80u, 100u}) {  // percent
    receiver_.reset(config());
    ASSERT_EQ(outcome_of(send()), Outcome::grant);
    receiver_.now = static_cast<uint16_t>(receiver_.now + config().rx_timeout);
    receiver_.stolen.clear();
    const uint64_t start = bench_.cycle();
    for (unsigned n = 0; n < 1000 && receiver_.stolen.empty() && !HasFatalFailure(); ++n) {
      if (bench_.chance(requests)) {
        receiver_.request = asked(write_to(0), send_flag, Kind::drop);
      } else {
        receiver_.packet = {Header{}, Outcome::drop_malformed};
      }
      receiver_.clock();
    }
    ASSERT_EQ(receiver_.stolen.size(), 1u);
    EXPECT_LE(receiver_.stolen[0] - start, 256 + 2 * rx_contexts + TransfersLockstep::latency);
    receiver_.packet.reset();
    receiver_.request.reset();
    receiver_.clocks(settled);
    EXPECT_EQ(receiver_.outcomes[Outcome::ask_map] + receiver_.outcomes[Outcome::ask_one], 1u);
    receiver_.outcomes.clear();
  }
}

// Everything at random

class RdmaReceiverTransfersRandom : public RandomReceiverTest<TransfersLockstep> {
 protected:
  std::vector<rdma::Region> random_regions() override;
  void random_clock() override;
  Input random_packet() override;

  Header right_request();
  Asked random_asked();
  void random_admission(Asked& request);
  void name_context(Asked& request);

  unsigned asks_ = 0, rooms_ = 0;  // percent
};

std::vector<rdma::Region> RdmaReceiverTransfersRandom::random_regions() {
  auto regions = RandomReceiverTest::random_regions();
  for (rdma::Region& region : regions) {
    if (bench_.chance(20)) region.remote_write = !region.remote_write;
    if (bench_.chance(20)) region.remote_read = !region.remote_read;
    if (bench_.chance(20)) region.receive = !region.receive;
  }
  return regions;
}

/// Mostly by the right key.
rdma::formats::Header RdmaReceiverTransfersRandom::right_request() {
  Header header = random_request();
  if (header.gen == 0 && bench_.chance(95)) header.cid = 0;
  return header;
}

TransfersLockstep::Input RdmaReceiverTransfersRandom::random_packet() {
  if (bench_.chance(10)) {
    Header read = right_request();
    read.ptype = static_cast<uint8_t>(rdma::formats::Ptype::read);
    read.flags = static_cast<uint8_t>(any(8) << 4);
    return {read, Outcome::none, false};
  }
  if (bench_.chance(3)) {
    Header request = right_request();
    request.flags = static_cast<uint8_t>((1 + any(7)) << 4);
    if (bench_.chance(30)) {
      request.ptype = static_cast<uint8_t>(rdma::formats::Ptype::rsp);
      request.flags |= read_flag;
    }
    return {request, Outcome::none, true};
  }
  Input input = RandomReceiverTest::random_packet();
  const bool request = input.header.ptype == static_cast<uint8_t>(rdma::formats::Ptype::rqt);
  if (input.verdict == Outcome::none && request) return input;
  if (input.verdict != Outcome::none) {
    input.busy = bench_.chance(50);
    return input;
  }
  input.header.flags |= static_cast<uint8_t>(any(8) << 4);
  if (input.header.flags & imm_flag) input.header.arg |= bench_.below(uint64_t{1} << 32) << 32;
  return input;
}

/// Mostly one that is granted already.
void RdmaReceiverTransfersRandom::name_context(Asked& request) {
  const auto cid = static_cast<uint16_t>(any(rx_contexts));
  request.admission.cid = cid;
  request.admission.rkey = {static_cast<uint8_t>(any(256)), static_cast<uint16_t>(any(1 << 16))};
  if (bench_.chance(20)) return;
  request.header.src = context(cid).src;
  request.header.sid = context(cid).sid;
  request.header.msgid = context(cid).msgid;
  if (bench_.chance(10)) spoil(request.header);
}

void RdmaReceiverTransfersRandom::random_admission(Asked& request) {
  constexpr std::array refusals{Outcome::refuse_queue, Outcome::refuse_not_ready, Outcome::refuse_too_long,
                                Outcome::refuse_not_wanted};
  const bool buffer = (request.header.flags & (send_flag | read_flag)) != 0;
  Admission& admission = request.admission;
  switch (bench_.below(8)) {
    case 0:
      admission.kind = Kind::refuse;
      admission.refusal = refusals[bench_.below(refusals.size())];
      break;
    case 1:
      admission.kind = Kind::drop;
      break;
    case 2:
    case 3:
      admission.kind = Kind::again;
      name_context(request);
      break;
    default: {
      admission.kind = buffer ? Kind::buffer : Kind::with_ticket;
      const Header place = right_request();
      admission.address = place.arg;
      admission.rkey = rdma::RegionKey{place.gen, place.cid};
    }
  }
}

/// From a request as the network brings it. One for a buffer has nothing said about it only if its length is
/// wrong.
Asked RdmaReceiverTransfersRandom::random_asked() {
  Asked request = asked(right_request(), static_cast<uint8_t>((1 + any(7)) << 4), Kind::none);
  const bool buffer = (request.header.flags & (send_flag | read_flag)) != 0;
  const bool length = rdma::cut(request.header.pidx, receiver_params()).has_value();
  if (buffer && bench_.chance(80)) request.header.arg = bench_.below(uint64_t{1} << 63);
  if (buffer ? length : bench_.chance(90)) random_admission(request);
  return request;
}

void RdmaReceiverTransfersRandom::random_clock() {
  if (bench_.below(512) == 0) asks_ = std::array{0u, 1u, 10u, 10u, 50u, 100u}[bench_.below(6)];
  if (bench_.below(512) == 0) rooms_ = bench_.pace();
  if (!receiver_.request && bench_.chance(paces_.packets == 0 ? 0 : asks_))
    receiver_.request = random_asked();
  receiver_.answer_asked = bench_.chance(30);
  receiver_.answer_room = bench_.chance(rooms_);
  RandomReceiverTest::random_clock();
}

TEST_F(RdmaReceiverTransfersRandom, EqualsTheGoldenModelInBothModesWithPausesAndResets) {
  for (unsigned n = 0; n < 400'000; ++n) {
    if (n % 512 == 0) random_paces();
    if (bench_.below(300) == 0) random_settings();
    if (bench_.below(10'000) == 0) receiver_.reset(config());
    random_clock();
    if (HasFatalFailure()) FAIL() << "clock " << n;
  }
  end_all();
  const auto often = [&](Outcome first, Outcome behind) {
    for (auto code = static_cast<int>(first); code < static_cast<int>(behind); ++code) {
      const auto outcome = static_cast<Outcome>(code);
      if (name(outcome) == "?" || rdma::is_of_older_schemes(outcome)) continue;
      EXPECT_GT(receiver_.outcomes[outcome], 50u) << name(outcome);
      RecordProperty(std::string(name(outcome)), std::to_string(receiver_.outcomes[outcome]));
    }
  };
  often(Outcome::grant, Outcome::submit);
  often(Outcome::grant_again, Outcome::wait);
  EXPECT_GT(receiver_.dropped, 50u);
  EXPECT_GT(receiver_.stolen.size(), 20u);
}

}  // namespace
}  // namespace weft::rtl_test

// SPDX-License-Identifier: Apache-2.0
// Each outcome of the sender, in the order of docs/rdma.md; stale and dropped packets must change nothing.
#include "rdma/sender.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "small_engine.hpp"

namespace weft::rdma::test {
namespace {

using State = TxContext::State;

constexpr uint16_t sid = 2;
constexpr uint16_t cid = 600;
constexpr uint8_t gen = 9;
constexpr uint16_t tag = 0xbeef;
constexpr uint64_t source = 0x400;
constexpr uint64_t destination = 0x2000;

class SenderTest : public ::testing::Test {
 protected:
  std::vector<TxContext> contexts() const {
    std::vector<TxContext> all;
    for (uint16_t i = 0; i < small_params().n_tx_ctx; ++i) all.push_back(sender.context(i));
    return all;
  }

  static Post wanted(uint32_t bytes = 3 * 32 + 5) { return {source, destination, bytes, receiver_node, tag}; }

  TxResult submit(uint16_t now = 0) { return sender.post(wanted(), {true, true, sid, now}); }

  static Packet answer(Ptype type, uint64_t arg = 0, uint32_t pidx = 0, uint8_t flags = 0) {
    Packet packet{to_sender(type, sid, 0), {}};
    packet.header.cid = cid;
    packet.header.gen = gen;
    packet.header.arg = arg;
    packet.header.pidx = pidx;
    packet.header.flags = flags;
    return packet;
  }

  void activate() {
    submit();
    sender.packet(answer(Ptype::rsp), {});
  }

  void send_all() {
    while (sender.context(sid).turn) sender.turn(sid, {});
  }

  static Packet request() {
    Packet packet{to_receiver(Ptype::rqt, sid, 0), {}};
    packet.header.pidx = 3 * 32 + 5;
    packet.header.arg = destination;
    return packet;
  }

  static Packet release_for(const Packet& packet) {
    Packet release{to_receiver(Ptype::release, packet.header.sid, packet.header.msgid), {}};
    release.header.dst = packet.header.src;
    release.header.cid = packet.header.cid;
    release.header.gen = packet.header.gen;
    return release;
  }

  static DataOrder data(uint32_t pidx, bool retry) {
    DataOrder order;
    order.header = to_receiver(Ptype::data, sid, 0);
    order.header.cid = cid;
    order.header.gen = gen;
    order.header.pidx = pidx;
    order.header.len = pidx == 3 ? 5 : 32;
    order.header.flags =
        static_cast<uint8_t>((pidx == 3 ? formats::flag_last : 0) | (retry ? formats::flag_retry : 0));
    order.src_addr = source + pidx * 32;
    return order;
  }

  void expect_unchanged(const Packet& packet, Outcome outcome, const TxInputs& inputs,
                        const std::optional<Packet>& emitted = {}) {
    const auto before = contexts();
    const auto result = sender.packet(packet, inputs);
    EXPECT_EQ(result.outcome, outcome) << formats::name(result.outcome);
    EXPECT_EQ(result.sid, packet.header.sid);
    EXPECT_EQ(result.emitted, emitted);
    EXPECT_FALSE(result.data);
    EXPECT_FALSE(result.completion);
    EXPECT_TRUE(contexts() == before);
  }

  void expect_stale(const Packet& packet) {
    expect_unchanged(packet, Outcome::stale, {}, release_for(packet));
    TxInputs no_room;
    no_room.room = false;
    expect_unchanged(packet, Outcome::stale, no_room);
    EXPECT_TRUE(sender.packet(packet, no_room).ctl_dropped);
  }

  void expect_stale_if(Packet packet, const std::function<void(Header&)>& change) {
    change(packet.header);
    expect_stale(packet);
  }

  Sender sender{small_params(), small_config(sender_node)};
};

// Post

TEST_F(SenderTest, Submit) {
  const auto result = submit(17);
  EXPECT_EQ(result.outcome, Outcome::submit);
  EXPECT_EQ(result.sid, sid);
  EXPECT_EQ(result.emitted, request());
  EXPECT_FALSE(result.completion);
  const auto& context = sender.context(sid);
  EXPECT_EQ(context.state, State::requested);
  EXPECT_EQ(context.cut, (Cut{3, 5}));
  EXPECT_FALSE(context.turn);
  EXPECT_EQ(context.timer.elapsed(17), 0);
  EXPECT_EQ(sender.free_contexts(), 3u);
}

TEST_F(SenderTest, SubmitWithoutRoomAsksLater) {
  const auto result = sender.post(wanted(), {false, true, sid, 0});
  EXPECT_EQ(result.outcome, Outcome::submit);
  EXPECT_FALSE(result.emitted);
  EXPECT_TRUE(result.ctl_dropped);
}

TEST_F(SenderTest, Rejections) {
  const auto expect = [&](const std::function<void(Post&)>& change, Outcome outcome, Status status) {
    Post post = wanted();
    change(post);
    const auto before = contexts();
    const auto result = sender.post(post, {});
    EXPECT_EQ(result.outcome, outcome) << formats::name(result.outcome);
    EXPECT_EQ(result.completion, (Completion{tag, status}));
    EXPECT_EQ(result.sid, 0);
    EXPECT_FALSE(result.emitted);
    EXPECT_TRUE(contexts() == before);
  };
  expect([](Post& p) { p.node = 256, p.bytes = 0; }, Outcome::reject_node, Status::bad_node);
  expect([](Post& p) { p.node = 0x10007; }, Outcome::reject_node, Status::bad_node);
  expect([](Post& p) { p.bytes = 0, p.src_addr = 1; }, Outcome::reject_length, Status::bad_length);
  expect([](Post& p) { p.bytes = 255 * 32 + 1; }, Outcome::reject_length, Status::bad_length);
  expect([](Post& p) { p.src_addr = 0xfffff1; }, Outcome::reject_align, Status::misaligned);
  expect([](Post& p) { p.dst_addr += 16; }, Outcome::reject_align, Status::misaligned);
  expect([](Post& p) { p.src_addr = 0xfffa0; }, Outcome::reject_address, Status::bad_address);
  expect([](Post& p) { p.dst_addr = ~uint64_t{31}; }, Outcome::reject_address, Status::bad_address);
}

TEST_F(SenderTest, RangeMayEndAtTheEndOfTheBus) {
  Post post = wanted(32);
  post.src_addr = post.dst_addr = 0xfffe0;
  EXPECT_EQ(sender.post(post, {true, true, sid, 0}).outcome, Outcome::submit);
}

TEST_F(SenderTest, OnlySubmitsCountMsgids) {
  for (uint32_t i = 0; i < 20; ++i) {
    sender.post(wanted(0), {});
    const auto result = submit();
    ASSERT_EQ(result.emitted->header.msgid, i % 16);
    auto refusal = answer(Ptype::rsp, 2);
    refusal.header.msgid = i % 16;
    ASSERT_EQ(sender.packet(refusal, {}).outcome, Outcome::refused);
  }
}

TEST_F(SenderTest, PostNeedsAFreeContext) {
  EXPECT_THROW(sender.post(wanted(), {}), Violation);
  submit();
  EXPECT_THROW(submit(), Violation);
  EXPECT_THROW(sender.post(wanted(), {true, true, 4, 0}), Violation);
}

// RSP

TEST_F(SenderTest, Granted) {
  submit();
  const auto result = sender.packet(answer(Ptype::rsp), {true, true, {}, 5});
  EXPECT_EQ(result.outcome, Outcome::granted);
  const auto& context = sender.context(sid);
  EXPECT_EQ(context.state, State::active);
  EXPECT_EQ(context.cid, cid);
  EXPECT_EQ(context.gen, gen);
  EXPECT_TRUE(context.turn);
  EXPECT_EQ(context.timer.elapsed(5), 0);
}

TEST_F(SenderTest, BackoffStartsTheRetriesAnew) {
  submit();
  sender.timeout(sid, {true, true, {}, 10});
  EXPECT_EQ(sender.context(sid).retries, 1);
  EXPECT_EQ(sender.packet(answer(Ptype::rsp, 1), {true, true, {}, 12}).outcome, Outcome::backoff);
  EXPECT_EQ(sender.context(sid).retries, 0);
  EXPECT_EQ(sender.context(sid).timer.elapsed(12), 0);
  EXPECT_EQ(sender.context(sid).state, State::requested);
}

TEST_F(SenderTest, TimeoutsInVainDoNotDoubleInPaperMode) {
  Config config = small_config(sender_node);
  config.backoff = 3;
  config.weft_mode = false;
  sender.configure(config);
  submit();
  for (const uint16_t now : {10, 20}) {
    EXPECT_FALSE(sender.due(sid, static_cast<uint16_t>(now - 1)));
    ASSERT_TRUE(sender.due(sid, now));
    EXPECT_EQ(sender.timeout(sid, {true, true, {}, now}).outcome, Outcome::retry_rqt);
  }
}

TEST_F(SenderTest, TimeoutsInVainDouble) {
  Config config = small_config(sender_node);
  config.weft_mode = true;
  config.max_retry = 15;
  config.backoff = 2;
  sender.configure(config);
  submit();
  uint16_t now = 0;
  for (const uint16_t wait : {10, 20, 40, 40, 40}) {
    EXPECT_FALSE(sender.due(sid, static_cast<uint16_t>(now + wait - 1)));
    now = static_cast<uint16_t>(now + wait);
    ASSERT_TRUE(sender.due(sid, now));
    EXPECT_EQ(sender.timeout(sid, {true, true, {}, now}).outcome, Outcome::retry_rqt);
  }
}

TEST_F(SenderTest, GivesUpOnAReceiverThatIsBusyForever) {
  Config config = small_config(sender_node);
  config.weft_mode = true;
  config.backoff = 3;
  config.max_busy = 5;
  sender.configure(config);
  submit();
  uint16_t now = 0;
  for (const uint16_t wait : {20, 40, 80, 80, 80}) {
    EXPECT_EQ(sender.packet(answer(Ptype::rsp, 1), {true, true, {}, now}).outcome, Outcome::backoff);
    EXPECT_FALSE(sender.due(sid, static_cast<uint16_t>(now + wait - 1)));
    now = static_cast<uint16_t>(now + wait);
    EXPECT_TRUE(sender.due(sid, now));
    EXPECT_EQ(sender.timeout(sid, {true, true, {}, now}).outcome, Outcome::retry_rqt);
  }
  const TxResult last = sender.packet(answer(Ptype::rsp, 1), {true, true, {}, now});
  EXPECT_EQ(last.outcome, Outcome::refused);
  EXPECT_EQ(last.completion->status, Status::remote_busy);
  EXPECT_EQ(sender.context(sid).state, State::free);
}

TEST_F(SenderTest, WaitsForABusyReceiverWithoutBoundIfToldSo) {
  Config config = small_config(sender_node);
  config.max_busy = 0;
  sender.configure(config);
  submit();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(sender.packet(answer(Ptype::rsp, 1), {true, true, {}, 0}).outcome, Outcome::backoff);
  }
}

TEST_F(SenderTest, RefusedWithTheCodeAsStatus) {
  const std::pair<uint64_t, Status> cases[] = {{2, Status::bad_length},
                                               {3, Status::misaligned},
                                               {4, Status::bad_region},
                                               {10, Status::bad_key},
                                               {5, Status::bad_region},
                                               {uint64_t{1} << 32, Status::bad_region},
                                               {(uint64_t{1} << 32) + 2, Status::bad_region}};
  for (const auto& [code, status] : cases) {
    sender.reset();
    submit();
    const auto result = sender.packet(answer(Ptype::rsp, code), {});
    EXPECT_EQ(result.outcome, Outcome::refused);
    EXPECT_EQ(result.completion, (Completion{tag, status}));
    EXPECT_EQ(sender.context(sid).state, State::free);
    EXPECT_EQ(sender.free_contexts(), 4u);
  }
}

TEST_F(SenderTest, RspThatFitsNothingIsStale) {
  expect_stale(answer(Ptype::rsp));  // free
  submit();
  expect_stale_if(answer(Ptype::rsp), [](Header& h) { h.sid = 4; });
  expect_stale_if(answer(Ptype::rsp), [](Header& h) { h.msgid = 1; });
  expect_stale_if(answer(Ptype::rsp), [](Header& h) { h.msgid |= 0x10; });
  expect_stale_if(answer(Ptype::rsp), [](Header& h) { h.src = 8; });
  sender.packet(answer(Ptype::rsp), {});
  expect_stale_if(answer(Ptype::rsp), [](Header& h) { h.cid += 1; });
  expect_stale_if(answer(Ptype::rsp), [](Header& h) { h.gen += 1; });
}

TEST_F(SenderTest, StaleRefusalHoldsNoContextToRelease) {
  expect_unchanged(answer(Ptype::rsp, 1), Outcome::stale, {});
  TxInputs no_room;
  no_room.room = false;
  EXPECT_FALSE(sender.packet(answer(Ptype::rsp, 1), no_room).ctl_dropped);
}

TEST_F(SenderTest, RepeatedRsp) {
  activate();
  expect_unchanged(answer(Ptype::rsp), Outcome::drop_repeated_rsp, {true, true, {}, 5});
  expect_unchanged(answer(Ptype::rsp, 1), Outcome::drop_repeated_rsp, {true, true, {}, 5});
  expect_unchanged(answer(Ptype::rsp, 4), Outcome::drop_repeated_rsp, {true, true, {}, 5});
}

// RESEND

TEST_F(SenderTest, ResendAndDoneThatFitNothingAreStale) {
  for (const auto type : {Ptype::resend, Ptype::done}) {
    sender.reset();
    expect_stale(answer(type));  // free
    submit();
    if (type == Ptype::done) expect_stale(answer(type));  // only requested
    sender.packet(answer(Ptype::rsp), {});
    expect_stale_if(answer(type), [](Header& h) { h.sid = 4; });
    expect_stale_if(answer(type), [](Header& h) { h.sid |= 0x400; });
    expect_stale_if(answer(type), [](Header& h) { h.msgid = 1; });
    expect_stale_if(answer(type), [](Header& h) { h.src = 8; });
    expect_stale_if(answer(type), [](Header& h) { h.cid += 1; });
    expect_stale_if(answer(type), [](Header& h) { h.gen += 1; });
  }
}

TEST_F(SenderTest, ResendThatOvertakesItsGrantIsTheGrant) {
  submit();
  expect_stale_if(answer(Ptype::resend), [](Header& h) { h.msgid = 1; });
  expect_stale_if(answer(Ptype::resend), [](Header& h) { h.src = 8; });
  const auto result = sender.packet(answer(Ptype::resend, 0, 0, formats::flag_from), {false, false, {}, 6});
  EXPECT_EQ(result.outcome, Outcome::granted);
  EXPECT_EQ(result.next, 0u);
  EXPECT_FALSE(result.data);
  EXPECT_FALSE(result.emitted);
  auto expected = sender.context(sid);
  EXPECT_EQ(expected.state, State::active);
  EXPECT_EQ(expected.cid, cid);
  EXPECT_EQ(expected.gen, gen);
  EXPECT_TRUE(expected.turn);
  EXPECT_EQ(expected.timer.elapsed(6), 0);
  expect_unchanged(answer(Ptype::rsp), Outcome::drop_repeated_rsp, {});
}

// Of a transfer that had the same numbers before this node was reset.
TEST_F(SenderTest, AContextThatHasGotAPacketIsReleased) {
  submit();
  for (const Ptype type : {Ptype::resend, Ptype::ack}) {
    expect_stale_if(answer(type), [](Header& h) { h.pidx = 1; });
  }
  expect_stale_if(answer(Ptype::ack), [](Header& h) { h.arg = 3; });
  EXPECT_EQ(sender.packet(answer(Ptype::ack), {}).outcome, Outcome::granted);
}

TEST_F(SenderTest, DoneThatFitsNoGrantIsNone) {
  submit();
  expect_stale_if(answer(Ptype::done), [](Header&) {});
}

TEST_F(SenderTest, DoneThatSaysFailedEndsWithAnError) {
  activate();
  send_all();
  const auto result = sender.packet(answer(Ptype::done, 0, 0, formats::flag_failed), {true, true, {}, 6});
  EXPECT_EQ(result.outcome, Outcome::complete_error);
  EXPECT_EQ(result.completion, (Completion{tag, Status::remote_error}));
  ASSERT_TRUE(result.emitted);
  EXPECT_EQ(result.emitted->header.ptype, static_cast<uint8_t>(Ptype::release));
  EXPECT_EQ(sender.context(sid).state, State::free);
  EXPECT_EQ(sender.free_contexts(), 4u);
}

TEST_F(SenderTest, ResendOfWhatWasNotSentIsOnlyARepeat) {
  for (const Packet& early : {answer(Ptype::resend, 0, 1), answer(Ptype::resend, 0, 2, formats::flag_from)}) {
    sender.reset();
    activate();
    sender.turn(sid, {});
    auto before = contexts();
    const auto result = sender.packet(early, {true, true, {}, 6});
    EXPECT_EQ(result.outcome, Outcome::drop_not_yet);
    EXPECT_FALSE(result.data);
    before[sid].heard = true;
    EXPECT_TRUE(contexts() == before);
  }
}

TEST_F(SenderTest, ResendOne) {
  activate();
  send_all();
  const auto result = sender.packet(answer(Ptype::resend, 0, 3), {true, true, {}, 6});
  EXPECT_EQ(result.outcome, Outcome::resend_one);
  auto expected = data(3, true);
  expected.resend = true;
  EXPECT_EQ(result.data, expected);
  EXPECT_EQ(result.next, 4u);
  EXPECT_FALSE(sender.context(sid).turn);
  EXPECT_TRUE(sender.context(sid).heard);
  EXPECT_EQ(sender.context(sid).timer.elapsed(6), 6) << "which does not restart the timer";
}

TEST_F(SenderTest, ResendWithoutRoomIsDropped) {
  activate();
  send_all();
  expect_unchanged(answer(Ptype::resend, 0, 0), Outcome::drop_full, {true, false, {}, 6});
}

TEST_F(SenderTest, ResendFromGoesBackAndMarksRetries) {
  activate();
  sender.turn(sid, {});
  sender.turn(sid, {});
  sender.turn(sid, {});
  const auto result = sender.packet(answer(Ptype::resend, 0, 1, formats::flag_from), {true, false, {}, 6});
  EXPECT_EQ(result.outcome, Outcome::resend_from);
  EXPECT_EQ(result.next, 1u);
  EXPECT_TRUE(sender.context(sid).heard);
  EXPECT_EQ(sender.context(sid).timer.elapsed(6), 6);
  EXPECT_EQ(sender.packet(answer(Ptype::resend, 0, 2, formats::flag_from), {}).next, 1u);
  EXPECT_EQ(sender.turn(sid, {}).data, data(1, true));
  EXPECT_EQ(sender.turn(sid, {}).data, data(2, true));
  EXPECT_EQ(sender.turn(sid, {}).data, data(3, false));
}

TEST_F(SenderTest, ResendFromAfterTheEndGivesATurnAgain) {
  activate();
  send_all();
  sender.packet(answer(Ptype::resend, 0, 3, formats::flag_from), {});
  EXPECT_TRUE(sender.context(sid).turn);
  EXPECT_EQ(sender.turn(sid, {}).data, data(3, true));
  EXPECT_FALSE(sender.context(sid).turn);
}

// DONE

TEST_F(SenderTest, Complete) {
  activate();
  send_all();
  const auto result = sender.packet(answer(Ptype::done), {});
  EXPECT_EQ(result.outcome, Outcome::complete);
  EXPECT_EQ(result.completion, (Completion{tag, Status::ok}));
  EXPECT_EQ(result.emitted, release_for(answer(Ptype::done)));
  EXPECT_EQ(sender.context(sid).state, State::free);
  EXPECT_EQ(sender.free_contexts(), 4u);
  expect_stale(answer(Ptype::done));
}

TEST_F(SenderTest, CompleteWithoutRoom) {
  activate();
  const auto result = sender.packet(answer(Ptype::done), {false, true, {}, 0});
  EXPECT_EQ(result.outcome, Outcome::complete);
  EXPECT_FALSE(result.emitted);
  EXPECT_TRUE(result.ctl_dropped);
}

// Turn

TEST_F(SenderTest, SendsPacketByPacket) {
  activate();
  for (uint32_t pidx = 0; pidx < 4; ++pidx) {
    const auto result = sender.turn(sid, {true, true, {}, static_cast<uint16_t>(20 + pidx)});
    EXPECT_EQ(result.outcome, Outcome::send);
    EXPECT_EQ(result.data, data(pidx, false));
    EXPECT_EQ(result.next, pidx + 1);
    EXPECT_EQ(sender.context(sid).turn, pidx < 3);
    EXPECT_EQ(sender.context(sid).timer.elapsed(static_cast<uint16_t>(20 + pidx)), 0);
  }
}

TEST_F(SenderTest, TurnWithNothingToSendLapses) {
  const auto expect_lapse = [&] {
    auto before = contexts();
    const auto result = sender.turn(sid, {true, true, {}, 5});
    EXPECT_EQ(result.outcome, Outcome::lapse);
    EXPECT_FALSE(result.data);
    EXPECT_TRUE(contexts() == before);
  };
  expect_lapse();  // free
  submit();
  expect_lapse();
  sender.packet(answer(Ptype::rsp), {});
  send_all();
  expect_lapse();
  EXPECT_THROW(sender.turn(4, {}), Violation);
}

// Fault

TEST_F(SenderTest, FaultEndsTheTransferAndReleasesItsReceiver) {
  activate();
  sender.turn(sid, {});
  const auto result = sender.fault(sid, 0, {true, true, {}, 5});
  EXPECT_EQ(result.outcome, Outcome::source_failed);
  EXPECT_EQ(result.sid, sid);
  EXPECT_EQ(result.next, 1u);
  EXPECT_EQ(result.completion, (Completion{tag, Status::source_error}));
  Packet release = release_for(answer(Ptype::rsp));
  release.header.flags = formats::flag_failed;
  EXPECT_EQ(result.emitted, release);
  EXPECT_FALSE(result.data);
  EXPECT_EQ(sender.context(sid).state, State::free);
  EXPECT_EQ(sender.free_contexts(), 4u);
  EXPECT_FALSE(sender.due(sid, 1000));
  expect_stale(answer(Ptype::done));
  EXPECT_EQ(sender.turn(sid, {}).outcome, Outcome::lapse);
}

TEST_F(SenderTest, FaultWithoutRoom) {
  activate();
  const auto result = sender.fault(sid, 0, {false, true, {}, 0});
  EXPECT_EQ(result.outcome, Outcome::source_failed);
  EXPECT_FALSE(result.emitted);
  EXPECT_TRUE(result.ctl_dropped);
  const auto stale = sender.packet(answer(Ptype::ack), {});
  EXPECT_EQ(stale.emitted, release_for(answer(Ptype::ack))) << "the receiver that asks is told again";
}

TEST_F(SenderTest, FaultOfATransferThatThereIsNotIsAViolation) {
  EXPECT_THROW(sender.fault(sid, 0, {}), Violation);
  submit();
  EXPECT_THROW(sender.fault(sid, 0, {}), Violation);
  sender.packet(answer(Ptype::rsp), {});
  EXPECT_THROW(sender.fault(sid, 1, {}), Violation);
  EXPECT_THROW(sender.fault(4, 0, {}), Violation);
  sender.fault(sid, 0, {});
  EXPECT_THROW(sender.fault(sid, 0, {}), Violation);
}

// Timeout

TEST_F(SenderTest, RequestIsRepeatedThenGivenUp) {
  submit();
  for (uint16_t now : {10, 20}) {
    const auto result = sender.timeout(sid, {true, true, {}, now});
    EXPECT_EQ(result.outcome, Outcome::retry_rqt);
    EXPECT_EQ(result.emitted, request());
  }
  const auto result = sender.timeout(sid, {true, true, {}, 30});
  EXPECT_EQ(result.outcome, Outcome::give_up);
  EXPECT_EQ(result.completion, (Completion{tag, Status::no_answer}));
  EXPECT_EQ(sender.context(sid).state, State::free);
}

TEST_F(SenderTest, RetryWithoutRoomIsCountedAsARetry) {
  submit();
  const auto result = sender.timeout(sid, {false, true, {}, 10});
  EXPECT_EQ(result.outcome, Outcome::retry_rqt);
  EXPECT_FALSE(result.emitted);
  EXPECT_TRUE(result.ctl_dropped);
  EXPECT_EQ(sender.context(sid).retries, 1);
}

TEST_F(SenderTest, SilentPeerIsDeadOnlyOnceEverythingWasSent) {
  activate();
  auto result = sender.timeout(sid, {true, true, {}, 100});
  EXPECT_EQ(result.outcome, Outcome::still_sending);
  EXPECT_FALSE(sender.due(sid, 199));
  send_all();
  result = sender.timeout(sid, {true, true, {}, 300});
  EXPECT_EQ(result.outcome, Outcome::give_up);
  EXPECT_EQ(result.completion, (Completion{tag, Status::dead_peer}));
  EXPECT_EQ(sender.free_contexts(), 4u);
}

TEST_F(SenderTest, PeerIsDeadIfItsTurnDoesNotComeForTooLong) {
  submit();
  sender.timeout(sid, {true, true, {}, 10});
  sender.packet(answer(Ptype::rsp), {true, true, {}, 15});
  EXPECT_EQ(sender.context(sid).retries, 0) << "the repeats of the request do not count";
  EXPECT_EQ(sender.timeout(sid, {true, true, {}, 115}).outcome, Outcome::still_sending);
  sender.turn(sid, {true, true, {}, 120});
  for (const uint16_t now : {220, 320}) {
    EXPECT_EQ(sender.timeout(sid, {true, true, {}, now}).outcome, Outcome::still_sending);
  }
  const auto result = sender.timeout(sid, {true, true, {}, 420});
  EXPECT_EQ(result.outcome, Outcome::give_up);
  EXPECT_EQ(result.completion, (Completion{tag, Status::dead_peer}));
  EXPECT_TRUE(sender.context(sid).turn);
  EXPECT_EQ(sender.turn(sid, {}).outcome, Outcome::lapse) << "which comes after all";
}

TEST_F(SenderTest, TimeoutMustBeDue) {
  EXPECT_THROW(sender.timeout(sid, {true, true, {}, 100}), Violation);
  submit();
  EXPECT_THROW(sender.timeout(sid, {true, true, {}, 9}), Violation);
  EXPECT_EQ(sender.longest_overdue(14), 4u);
  sender.packet(answer(Ptype::rsp), {});
  EXPECT_THROW(sender.timeout(sid, {true, true, {}, 99}), Violation);
}

TEST_F(SenderTest, TakesNoPacketsForTheReceiver) {
  for (const auto type : {Ptype::rqt, Ptype::data, Ptype::release}) {
    EXPECT_THROW(sender.packet({to_receiver(type, 0, 0), {}}, {}), Violation);
  }
}

}  // namespace
}  // namespace weft::rdma::test

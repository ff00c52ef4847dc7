// SPDX-License-Identifier: Apache-2.0
// Each outcome of SEND, READ and write with immediate, in the order of docs/rdma_transfers.md; what is
// refused or dropped must change nothing.
#include <gtest/gtest.h>

#include <map>

#include "property.hpp"
#include "rdma/inbox.hpp"
#include "rdma/receiver.hpp"
#include "rdma/request.hpp"
#include "rdma/sender.hpp"
#include "small_engine.hpp"

namespace weft::rdma::test {
namespace {

using formats::TransferFlag;
using State = Ticket::State;
using Kind = Admission::Kind;

constexpr uint16_t sid = 2, cid = 1, queue_key = 0x77, receive_key = 0x11, read_key = 0x22;
constexpr uint32_t msgid = 5;
constexpr uint64_t buffer = 0x9000;

Params transfer_params() {
  Params params = small_params();
  params.transfers = true;
  params.n_tickets = 4;
  params.n_queues = 2;
  return params;
}

/// Region 0: remote writes, tells queue 0. 1: buffers. 2: remote reads. 3: remote writes, tells nobody.
Config transfer_config(uint16_t node) {
  Config config = small_config(node);
  config.regions = {{0x1000, 0x9000, 0, true, false, false, uint8_t{0}},
                    {0x9000, 0xa000, receive_key, false, false, true},
                    {0xa000, 0xb000, read_key, false, true},
                    {0xb000, 0xc000, 0, true}};
  config.max_busy = 2;
  return config;
}

Header with(Header header, TransferFlag flag) {
  set_flag(header, flag);
  return header;
}

class Transfers : public ::testing::Test {
 protected:
  Transfers() { inbox.open(0, queue_key); }

  TicketPost recv(uint16_t tag = 1, uint32_t bytes = 0x100) const {
    TicketPost post;
    post.tag = tag;
    post.address = buffer + 0x100u * tag;
    post.bytes = bytes;
    post.rkey = {1, receive_key};
    return post;
  }

  TicketPost read(uint16_t tag = 1, uint32_t bytes = 64) const {
    TicketPost post = recv(tag, bytes);
    post.kind = TicketKind::read;
    post.node = sender_node;
    post.remote_addr = 0xa000;
    post.remote_rkey = {2, read_key};
    return post;
  }

  /// At the ticket of its tag.
  InboxResult post(const TicketPost& post, bool room = true, uint16_t now = 0) {
    return inbox.post(post, {room, post.tag, now});
  }

  static Header send(uint32_t bytes = 64, uint32_t number = msgid) {
    Header header = with(to_receiver(Ptype::rqt, sid, number), TransferFlag::send);
    header.pidx = bytes;
    name_region(header, {0, queue_key});
    return header;
  }

  static Header write_imm(uint8_t region = 0, uint32_t bytes = 64) {
    Header header = with(to_receiver(Ptype::rqt, sid, msgid), TransferFlag::imm);
    header.pidx = bytes;
    header.arg = region == 0 ? 0x2000 : 0xb000;
    name_region(header, {region, 0});
    return header;
  }

  static Header answer(uint16_t ticket, uint64_t number, uint32_t bytes = 64) {
    Header header = with(to_receiver(Ptype::rqt, sid, msgid), TransferFlag::read);
    header.pidx = bytes;
    header.arg = number;
    header.cid = ticket;
    return header;
  }

  static Header refused_read(uint16_t ticket, uint32_t number, Refusal code) {
    Header header = with(to_receiver(Ptype::rsp, ticket, number), TransferFlag::read);
    header.arg = static_cast<uint64_t>(code);
    return header;
  }

  /// The request through inbox and receiver, as in the engine.
  RxResult request(const Header& header, RxInputs inputs = {true, cid, 0}) {
    inputs.admission = inbox.admit(header);
    RxResult result = receiver.packet({header, {}}, inputs);
    const Kind kind = inputs.admission.kind;
    ended.reset();
    if (kind == Kind::buffer || kind == Kind::with_ticket) {
      ended = inbox.decided(inputs.admission.ticket, result, inputs.now);
    }
    return result;
  }

  /// DATA of the transfer in context `cid`.
  RxResult data(uint32_t pidx, RegionKey region, std::optional<uint32_t> imm) {
    const RxContext& context = receiver.context(cid);
    Packet packet{to_receiver(Ptype::data, context.sid, context.msgid), {}};
    Header& header = packet.header;
    header.cid = cid;
    header.gen = context.gen;
    header.pidx = pidx;
    header.len = static_cast<uint16_t>(packet_length(pidx, context.cut, transfer_params()));
    if (pidx == context.cut.last) header.flags = formats::flag_last;
    header.arg = rkey(region) | uint64_t{imm.value_or(0)} << 32;
    if (imm) set_flag(header, TransferFlag::imm);
    packet.payload = pattern(header.len, pidx);
    RxResult result = receiver.packet(packet, {true, {}, 0});
    inbox.retired(result, &header);
    return result;
  }

  void release(bool failed = false) {
    Packet packet{to_receiver(Ptype::release, sid, receiver.context(cid).msgid), {}};
    packet.header.cid = cid;
    packet.header.gen = receiver.context(cid).gen;
    if (failed) packet.header.flags = formats::flag_failed;
    const RxResult result = receiver.packet(packet, {});
    ASSERT_EQ(result.outcome, failed ? Outcome::released_failed : Outcome::released);
    inbox.retired(result, &packet.header);
  }

  struct Everything {
    std::vector<Ticket> tickets;
    std::vector<std::deque<uint16_t>> lists;
    std::vector<RxContext> contexts;
    std::size_t leaving;
    bool operator==(const Everything&) const = default;
  };

  Everything everything() const {
    Everything all{{}, {}, {}, inbox.leaving()};
    for (uint16_t i = 0; i < 4; ++i) all.tickets.push_back(inbox.ticket(i));
    for (uint8_t i = 0; i < 2; ++i) all.lists.push_back(inbox.list(i));
    for (uint16_t i = 0; i < 4; ++i) all.contexts.push_back(receiver.context(i));
    return all;
  }

  void expect_refused(const Header& header, Outcome outcome, Refusal code,
                      const RxInputs& inputs = {true, cid, 0}) {
    const Everything before = everything();
    const RxResult result = request(header, inputs);
    EXPECT_EQ(formats::name(result.outcome), formats::name(outcome));
    ASSERT_TRUE(result.emitted);
    EXPECT_EQ(result.emitted->header.arg, static_cast<uint64_t>(code));
    EXPECT_EQ(result.emitted->header.dst, header.src);
    EXPECT_TRUE(everything() == before);
    EXPECT_FALSE(ended);
  }

  void expect_dropped(const Header& header, Outcome outcome) {
    const Everything before = everything();
    const RxResult result = request(header);
    EXPECT_EQ(formats::name(result.outcome), formats::name(outcome));
    EXPECT_FALSE(result.emitted);
    EXPECT_TRUE(everything() == before);
  }

  Receiver receiver{transfer_params(), transfer_config(receiver_node)};
  Inbox inbox{transfer_params(), transfer_config(receiver_node)};
  std::optional<TicketCompletion> ended;  // by the last request
};

// Arrival

TEST(TransferArrival, WithoutTransfersTheNewTypeAndFlagsAreMalformed) {
  std::vector<Header> headers = {to_receiver(Ptype::read, sid, msgid)};
  for (const auto flag : {TransferFlag::imm, TransferFlag::send, TransferFlag::read}) {
    headers.push_back(with(to_receiver(Ptype::rqt, sid, msgid), flag));
  }
  for (const Header& header : headers) {
    const auto flits = encode({header, {}});
    EXPECT_EQ(check_arrival(flits, small_params(), receiver_node).verdict, Outcome::drop_malformed);
    EXPECT_EQ(check_arrival(flits, transfer_params(), receiver_node).verdict, Outcome::none);
  }
  Header beyond = to_receiver(Ptype::read, sid, msgid);
  beyond.ptype += 1;
  EXPECT_EQ(check_arrival(encode({beyond, {}}), transfer_params(), receiver_node).verdict,
            Outcome::drop_malformed);
}

TEST(TransferArrival, RefusalsOfReadsGoToTheInbox) {
  EXPECT_TRUE(for_inbox(with(to_sender(Ptype::rsp, sid, msgid), TransferFlag::read)));
  EXPECT_FALSE(for_inbox(with(to_sender(Ptype::rsp, sid, msgid), TransferFlag::send)));
  EXPECT_FALSE(for_inbox(with(to_receiver(Ptype::rqt, sid, msgid), TransferFlag::read)));
}

// Post

TEST_F(Transfers, PostsThatAreRejected) {
  struct Case {
    TicketPost post;
    Outcome outcome;
    Status status;
  };
  std::vector<Case> cases;
  const auto add = [&](TicketPost post, auto change, Outcome outcome, Status status) {
    change(post);
    cases.push_back({post, outcome, status});
  };
  add(
      recv(), [](auto& p) { p.queue = 1; }, Outcome::reject_closed, Status::cancelled);
  add(
      read(), [](auto& p) { p.node = 0x100; }, Outcome::reject_node, Status::bad_node);
  add(
      read(), [](auto& p) { p.node = 0x10000; }, Outcome::reject_node, Status::bad_node);
  add(
      read(), [](auto& p) { p.bytes = 0; }, Outcome::reject_length, Status::bad_length);
  add(
      recv(), [](auto& p) { p.bytes = 255 * 32 + 1; }, Outcome::reject_length, Status::bad_length);
  add(
      recv(), [](auto& p) { p.address += 1; }, Outcome::reject_align, Status::misaligned);
  add(
      read(), [](auto& p) { p.remote_addr += 1; }, Outcome::reject_align, Status::misaligned);
  add(
      read(), [](auto& p) { p.remote_addr = 0xfffe0; }, Outcome::reject_address, Status::bad_address);
  add(
      recv(), [](auto& p) { p.rkey.key += 1; }, Outcome::reject_buffer, Status::bad_buffer);
  add(
      recv(),
      [](auto& p) {
        p.rkey = {2, read_key};
      },
      Outcome::reject_buffer, Status::bad_buffer);
  add(
      recv(), [](auto& p) { p.address = 0x9fe0; }, Outcome::reject_buffer, Status::bad_buffer);
  const Everything before = everything();
  for (const Case& wrong : cases) {
    const InboxResult result = post(wrong.post);
    EXPECT_EQ(formats::name(result.outcome), formats::name(wrong.outcome));
    ASSERT_TRUE(result.completion);
    EXPECT_EQ(formats::name(result.completion->status), formats::name(wrong.status));
    EXPECT_EQ(result.completion->tag, wrong.post.tag);
    EXPECT_FALSE(result.emitted);
  }
  const InboxResult no_ticket = inbox.post(recv(), {true, {}, 0});
  EXPECT_EQ(no_ticket.outcome, Outcome::reject_ticket);
  EXPECT_EQ(no_ticket.completion->status, Status::no_ticket);
  EXPECT_TRUE(everything() == before);
}

TEST_F(Transfers, AQueueHoldsNoMoreTicketsThanItsQuota) {
  Config config = transfer_config(receiver_node);
  config.ticket_quota = 2;
  inbox.configure(config);
  EXPECT_EQ(post(recv(0)).outcome, Outcome::wait);
  EXPECT_EQ(post(read(1)).outcome, Outcome::ask);
  EXPECT_EQ(post(recv(2)).outcome, Outcome::reject_ticket);
  EXPECT_EQ(inbox.held_by(0), 2u);
}

TEST_F(Transfers, CallsThatTheSurroundingsMustNotMake) {
  post(recv(1));
  EXPECT_THROW(post(recv(1)), Violation);
  EXPECT_THROW(inbox.open(0, 3), Violation);
  EXPECT_THROW(inbox.timeout(1, {true, {}, 100}), Violation);
  EXPECT_THROW(inbox.cancel(1), Violation);
  EXPECT_THROW(inbox.leave(0), Violation);
  EXPECT_THROW(inbox.decided(1, {}, 0), Violation);
  EXPECT_THROW((Inbox{small_params(), transfer_config(receiver_node)}), Violation);
  EXPECT_THROW(receiver.packet({send(), {}}, {true, cid, 0}), Violation);
}

// SEND

TEST_F(Transfers, SendGoesIntoTheFirstBufferPosted) {
  post(recv(2));
  post(recv(1));
  const RxResult granted = request(send(40));
  ASSERT_EQ(granted.outcome, Outcome::grant);
  EXPECT_TRUE(has_flag(granted.emitted->header, TransferFlag::send));
  EXPECT_EQ(granted.emitted->header.arg, uint64_t{rkey({1, receive_key})} << 32);
  EXPECT_EQ(inbox.ticket(2).state, State::bound);
  EXPECT_EQ(inbox.list(0), std::deque<uint16_t>{1});
  const RxResult first = data(0, {1, receive_key}, 0xabcd1234);
  ASSERT_TRUE(first.write);
  EXPECT_EQ(first.write->addr, buffer + 0x200);
  EXPECT_EQ(inbox.leaving(), 0u);
  const RxResult last = data(1, {1, receive_key}, 0xabcd1234);
  EXPECT_EQ(last.outcome, Outcome::finish);
  EXPECT_EQ(inbox.ticket(2).state, State::ending);
  const InboxResult arrived = inbox.leave(0);
  EXPECT_EQ(arrived.outcome, Outcome::arrived);
  EXPECT_EQ(arrived.completion, (TicketCompletion{0, 2, TicketKind::recv, Status::ok, sender_node,
                                                  Form::buffer, 40, 0xabcd1234}));
  EXPECT_EQ(inbox.ticket(2).state, State::free);
}

TEST_F(Transfers, SendWithoutImmediateTellsOfNone) {
  post(recv(1));
  request(send(32));
  data(0, {1, receive_key}, {});
  EXPECT_EQ(inbox.leave(0).completion->imm, std::nullopt);
}

TEST_F(Transfers, DataMustNameTheBuffersRegion) {
  post(recv(1));
  request(send(32));
  EXPECT_EQ(data(0, {0, 0}, {}).outcome, Outcome::drop_key);
  EXPECT_EQ(data(0, {1, receive_key + 1}, {}).outcome, Outcome::drop_key);
}

TEST_F(Transfers, SendsThatAreRefusedChangeNothing) {
  Header wrong = send();
  wrong.cid += 1;
  post(recv(1));
  expect_refused(wrong, Outcome::refuse_queue, Refusal::bad_key);
  wrong = send();
  wrong.gen = 1;  // closed
  expect_refused(wrong, Outcome::refuse_queue, Refusal::bad_key);
  wrong.gen = 2;  // does not exist
  expect_refused(wrong, Outcome::refuse_queue, Refusal::bad_key);
  expect_refused(send(0x101), Outcome::refuse_too_long, Refusal::too_long);
  expect_refused(send(0), Outcome::refuse_length, Refusal::bad_length);
  expect_refused(send(255 * 32 + 1), Outcome::refuse_length, Refusal::bad_length);
  expect_refused(send(), Outcome::refuse_no_context, Refusal::no_context, {true, {}, 0});
  const Everything before = everything();
  EXPECT_EQ(request(send(), {false, cid, 0}).outcome, Outcome::drop_busy);
  EXPECT_TRUE(everything() == before);
}

TEST_F(Transfers, NoBufferPosted) { expect_refused(send(), Outcome::refuse_not_ready, Refusal::not_ready); }

TEST_F(Transfers, ATicketThatIsNotGrantedGoesBackToTheHead) {
  post(recv(1));
  post(recv(2));
  request(send(), {true, {}, 0});
  EXPECT_EQ(inbox.list(0), (std::deque<uint16_t>{1, 2}));
}

TEST_F(Transfers, ARepeatedRequestIsAnsweredAgain) {
  post(recv(1));
  post(recv(2));
  const RxResult first = request(send(), {true, cid, 0});
  receiver.timeout(cid, {true, {}, 10});
  ASSERT_EQ(receiver.context(cid).silent, 1);
  const RxResult again = request(send(), {true, 3, 15});
  EXPECT_EQ(again.outcome, Outcome::grant_again);
  EXPECT_EQ(again.cid, cid);
  EXPECT_EQ(again.emitted, first.emitted);
  EXPECT_EQ(receiver.context(cid).silent, 1) << "no sign of life";
  EXPECT_EQ(inbox.ticket(2).state, State::waiting);
  EXPECT_EQ(receiver.free_contexts(), 3u);
  request(send(64, msgid + 1), {true, 3, 15});  // another message gets another buffer
  EXPECT_EQ(inbox.ticket(2).state, State::bound);
}

TEST_F(Transfers, ARequestThatIsBeingDecidedIsNotTakenTwice) {
  post(recv(1));
  post(recv(2));
  ASSERT_EQ(inbox.admit(send()).kind, Kind::buffer);
  EXPECT_EQ(inbox.admit(send()).kind, Kind::drop);
  EXPECT_EQ(inbox.ticket(2).state, State::waiting);
}

TEST_F(Transfers, ARepeatedRequestWhoseContextIsOverIsDropped) {
  post(recv(1));
  request(send());
  RxInputs inputs{true, 3, 0};
  inputs.admission = inbox.admit(send());
  ASSERT_EQ(inputs.admission.kind, Kind::again);
  release();  // while the request is on its way through the receiver
  const RxResult result = receiver.packet({send(), {}}, inputs);
  EXPECT_EQ(result.outcome, Outcome::drop_asked);
  EXPECT_FALSE(result.emitted);
}

TEST_F(Transfers, ABufferThatIsClosedEndsItsRecvNotTheSend) {
  post(recv(1));
  post(recv(2));
  Config config = transfer_config(receiver_node);
  config.regions[1].key += 1;
  receiver.configure(config);
  const RxResult result = request(send());
  EXPECT_EQ(result.outcome, Outcome::refuse_buffer);
  EXPECT_EQ(result.emitted->header.arg, static_cast<uint64_t>(Refusal::not_ready));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status, Status::bad_buffer);
  EXPECT_EQ(ended->tag, 1);
  EXPECT_EQ(inbox.list(0), std::deque<uint16_t>{2});
}

TEST_F(Transfers, AReleasedContextGivesTheTicketBackWhenMemoryHasAnswered) {
  post(recv(1));
  post(recv(2));
  request(send());
  release();
  EXPECT_EQ(inbox.ticket(1).state, State::returning);
  EXPECT_EQ(inbox.list(0), std::deque<uint16_t>{2});
  const InboxResult returned = inbox.leave(0);
  EXPECT_EQ(returned.outcome, Outcome::returned);
  EXPECT_FALSE(returned.completion);
  EXPECT_EQ(inbox.list(0), (std::deque<uint16_t>{1, 2}));
}

TEST_F(Transfers, ReclaimGivesTheTicketBack) {
  post(recv(1));
  request(send());
  uint16_t now = 0;
  RxResult result;
  do {
    now = static_cast<uint16_t>(now + 10);
    result = receiver.timeout(cid, {true, {}, now});
    inbox.retired(result, nullptr);
  } while (result.outcome != Outcome::reclaim);
  EXPECT_EQ(inbox.ticket(1).state, State::returning);
}

TEST_F(Transfers, AfterTheEndIsDecidedAReleaseTakesNothingBack) {
  post(recv(1));
  request(send(32));
  data(0, {1, receive_key}, {});
  release();
  EXPECT_EQ(inbox.ticket(1).state, State::ending);
  EXPECT_EQ(inbox.leaving(), 1u);
  EXPECT_EQ(inbox.leave(0).completion->status, Status::ok);
  EXPECT_EQ(inbox.leaving(), 0u);
}

TEST_F(Transfers, AWriteErrorIsToldButNotToTheNextMessage) {
  post(recv(1));
  request(send(32));
  inbox.write_failed(cid + 1);
  data(0, {1, receive_key}, {});
  inbox.write_failed(cid);
  const InboxResult arrived = inbox.leave(0);
  EXPECT_EQ(arrived.completion->status, Status::local_error);
  EXPECT_EQ(arrived.completion->bytes, 32u);
  release();
  post(recv(1));
  request(send(32));
  data(0, {1, receive_key}, {});
  EXPECT_EQ(inbox.leave(0).completion->status, Status::ok);
}

TEST_F(Transfers, AClosedQueueCancelsWhatWaits) {
  post(recv(1));
  post(recv(2));
  request(send());
  inbox.close(0);
  EXPECT_FALSE(inbox.cancelled(1));  // bound
  EXPECT_TRUE(inbox.cancelled(2));
  Header other = send(64, msgid + 1);
  expect_refused(other, Outcome::refuse_queue, Refusal::bad_key);
  other.cid = 0;  // what a closed queue may have for a key
  expect_refused(other, Outcome::refuse_queue, Refusal::bad_key);
  other = write_imm();
  other.msgid += 1;
  expect_refused(other, Outcome::refuse_queue, Refusal::bad_key);
  const InboxResult cancelled = inbox.cancel(2);
  EXPECT_EQ(cancelled.outcome, Outcome::cancel);
  EXPECT_EQ(cancelled.completion->status, Status::cancelled);
  release();
  EXPECT_EQ(inbox.leave(0).outcome, Outcome::returned);
  EXPECT_TRUE(inbox.list(0).empty());
  EXPECT_EQ(inbox.cancel(1).completion->status, Status::cancelled);
  inbox.open(0, queue_key);
  EXPECT_TRUE(inbox.list(0).empty());
}

// Write with immediate

TEST_F(Transfers, WriteWithImmediateUsesUpATicketButNotItsBuffer) {
  post(recv(1, 0));
  const RxResult granted = request(write_imm());
  ASSERT_EQ(granted.outcome, Outcome::grant);
  EXPECT_EQ(granted.emitted->header.flags, 0);
  EXPECT_EQ(granted.emitted->header.arg, 0u);
  EXPECT_EQ(data(0, {0, 0}, 77).write->addr, 0x2000u);
  data(1, {0, 0}, 77);
  EXPECT_EQ(inbox.leave(0).completion,
            (TicketCompletion{0, 1, TicketKind::recv, Status::ok, sender_node, Form::immediate, 64, 77}));
}

TEST_F(Transfers, WritesWithImmediateThatAreRefused) {
  expect_refused(write_imm(), Outcome::refuse_not_ready, Refusal::not_ready);
  post(recv(1));
  expect_refused(write_imm(3), Outcome::refuse_queue, Refusal::bad_key);
  Header wrong = write_imm();
  wrong.cid += 1;
  expect_refused(wrong, Outcome::refuse_key, Refusal::bad_key);
  wrong = write_imm();
  wrong.arg += 1;
  expect_refused(wrong, Outcome::refuse_align, Refusal::misaligned);
  wrong.arg = 0x9000;
  expect_refused(wrong, Outcome::refuse_region, Refusal::bad_region);
  wrong = write_imm(1);  // region of buffers: not open to remote writes
  wrong.arg = buffer;
  wrong.cid = receive_key;
  expect_refused(wrong, Outcome::refuse_key, Refusal::bad_key);
}

TEST_F(Transfers, WriteWithImmediateIsNotGrantedWithoutATicketIfItsRegionOpensAfterTheInboxLooked) {
  post(recv(1));
  Header early = write_imm();
  early.cid += 1;
  const Admission admission = inbox.admit(early);
  ASSERT_EQ(admission.kind, Kind::none);
  RxInputs inputs{true, cid, 0};
  inputs.admission = admission;
  const RxResult result = receiver.packet({write_imm(), {}}, inputs);  // by the key that is right now
  EXPECT_EQ(result.outcome, Outcome::drop_asked);
  EXPECT_FALSE(result.emitted);
  EXPECT_EQ(request(write_imm()).outcome, Outcome::grant) << "repeated";
}

// READ at the initiator

TEST_F(Transfers, ReadAsksAndIsAnsweredIntoItsBuffer) {
  inbox.number_from(9);
  const InboxResult asked = post(read(2, 40));
  ASSERT_EQ(asked.outcome, Outcome::ask);
  ASSERT_TRUE(asked.emitted);
  Header expected = to_sender(Ptype::read, 2, 9);
  expected.pidx = 40;
  expected.arg = 0xa000;
  name_region(expected, {2, read_key});
  EXPECT_EQ(asked.emitted->header, expected);
  const RxResult granted = request(answer(2, 9, 40));
  ASSERT_EQ(granted.outcome, Outcome::grant);
  EXPECT_EQ(granted.emitted->header.arg, uint64_t{rkey({1, receive_key})} << 32);
  EXPECT_EQ(data(0, {1, receive_key}, {}).write->addr, buffer + 0x200);
  data(1, {1, receive_key}, {});
  EXPECT_EQ(inbox.leave(0).completion, (TicketCompletion{0, 2, TicketKind::read, Status::ok, sender_node,
                                                         Form::buffer, 40, std::nullopt}));
  EXPECT_EQ(post(read(2)).emitted->header.msgid, 10u);
}

TEST_F(Transfers, AReadIsRepeatedUntilItIsGivenUp) {
  EXPECT_TRUE(post(read(1), false).ctl_dropped);
  for (uint16_t i = 1; i <= 2; ++i) {
    EXPECT_FALSE(inbox.due(1, static_cast<uint16_t>(10 * i - 1)));
    const InboxResult again = inbox.timeout(1, {true, {}, static_cast<uint16_t>(10 * i)});
    EXPECT_EQ(again.outcome, Outcome::retry_read);
    EXPECT_EQ(again.emitted->header.msgid, inbox.ticket(1).number);
  }
  const InboxResult given_up = inbox.timeout(1, {true, {}, 30});
  EXPECT_EQ(given_up.outcome, Outcome::give_up_read);
  EXPECT_EQ(given_up.completion->status, Status::no_answer);
  expect_refused(answer(1, 0), Outcome::refuse_not_wanted, Refusal::not_wanted);
}

TEST_F(Transfers, ABoundReadIsNeitherRepeatedNorEnded) {
  post(read(1));
  request(answer(1, 0));
  EXPECT_FALSE(inbox.due(1, 1000));
  EXPECT_EQ(inbox.packet(refused_read(1, 0, Refusal::bad_key), 0).outcome, Outcome::drop_old_read);
  inbox.close(0);
  EXPECT_FALSE(inbox.cancelled(1));
  EXPECT_EQ(inbox.ticket(1).state, State::bound);
}

TEST_F(Transfers, AnswersThatAreNotWanted) {
  post(read(1));
  post(recv(2));
  expect_refused(answer(1, 1), Outcome::refuse_not_wanted, Refusal::not_wanted);                  // number
  expect_refused(answer(1, uint64_t{1} << 32), Outcome::refuse_not_wanted, Refusal::not_wanted);  // all of it
  expect_refused(answer(1, 0, 63), Outcome::refuse_not_wanted, Refusal::not_wanted);              // bytes
  expect_refused(answer(2, 0), Outcome::refuse_not_wanted, Refusal::not_wanted);                  // a RECV
  expect_refused(answer(3, 0), Outcome::refuse_not_wanted, Refusal::not_wanted);                  // free
  expect_refused(answer(4, 0), Outcome::refuse_not_wanted, Refusal::not_wanted);  // does not exist
  Header stranger = answer(1, 0);
  stranger.src += 1;
  expect_refused(stranger, Outcome::refuse_not_wanted, Refusal::not_wanted);
  inbox.close(0);
  expect_refused(answer(1, 0), Outcome::refuse_not_wanted, Refusal::not_wanted);
}

TEST_F(Transfers, ASecondAnswerIsDroppedWhileTheFirstIsUnderWayAndThenNotWanted) {
  post(read(1, 32));
  request(answer(1, 0, 32));
  Header second = answer(1, 0, 32);
  second.msgid += 1;
  expect_dropped(second, Outcome::drop_asked);
  data(0, {1, receive_key}, {});
  expect_refused(second, Outcome::refuse_not_wanted, Refusal::not_wanted);
  inbox.leave(0);
  expect_refused(second, Outcome::refuse_not_wanted, Refusal::not_wanted);
}

TEST_F(Transfers, AReadWhoseContextIsFreedAsksAgainAndEndsAsDeadPeer) {
  post(read(1));
  for (int i = 0; i <= 2; ++i) {
    Header header = answer(1, 0);
    header.msgid += static_cast<uint32_t>(i);
    ASSERT_EQ(request(header).outcome, Outcome::grant);
    release();
    expect_dropped(answer(1, 0), Outcome::drop_asked);  // returning
    const InboxResult returned = inbox.leave(7);
    EXPECT_EQ(returned.outcome, Outcome::returned);
    ASSERT_EQ(returned.completion.has_value(), i == 2);
    if (i < 2) {
      EXPECT_TRUE(inbox.due(1, 17) && !inbox.due(1, 16));
    } else {
      EXPECT_EQ(returned.completion->status, Status::dead_peer);
    }
  }
}

TEST_F(Transfers, AReadThatItsTargetCannotAnswerEndsAtOnce) {
  post(read(1));
  ASSERT_EQ(request(answer(1, 0)).outcome, Outcome::grant);
  release(true);
  expect_dropped(answer(1, 0), Outcome::drop_asked);  // returning
  const InboxResult returned = inbox.leave(7);
  EXPECT_EQ(returned.outcome, Outcome::returned);
  ASSERT_TRUE(returned.completion);
  EXPECT_EQ(returned.completion->status, Status::remote_error);
  EXPECT_EQ(returned.completion->node, sender_node);
}

TEST_F(Transfers, ABufferWhoseSenderFailsWaitsAgain) {
  post(recv(0));
  ASSERT_EQ(request(send()).outcome, Outcome::grant);
  release(true);
  const InboxResult returned = inbox.leave(7);
  EXPECT_EQ(returned.outcome, Outcome::returned);
  EXPECT_FALSE(returned.completion);
  ASSERT_EQ(request(send(64, msgid + 1)).outcome, Outcome::grant) << "the next message has it";
}

TEST_F(Transfers, ReadsThatAreRefused) {
  const std::map<Refusal, Status> statuses = {{Refusal::bad_length, Status::bad_length},
                                              {Refusal::misaligned, Status::misaligned},
                                              {Refusal::bad_key, Status::bad_key},
                                              {Refusal::bad_region, Status::bad_region},
                                              {static_cast<Refusal>(99), Status::bad_region}};
  uint32_t number = 0;
  for (const auto& [code, status] : statuses) {
    post(read(1));
    const InboxResult result = inbox.packet(refused_read(1, number++, code), 0);
    EXPECT_EQ(result.outcome, Outcome::refused_read);
    EXPECT_EQ(result.completion->status, status);
    EXPECT_EQ(result.completion->node, sender_node);
  }
  post(read(1));
  for (uint16_t i = 0; i < 2; ++i) {
    EXPECT_EQ(inbox.packet(refused_read(1, number, Refusal::no_context), i).outcome, Outcome::backoff_read);
    EXPECT_EQ(inbox.ticket(1).busy, i + 1);
  }
  EXPECT_EQ(inbox.packet(refused_read(1, number, Refusal::no_context), 9).completion->status,
            Status::remote_busy);
}

TEST_F(Transfers, WantOfAContextHereCountsAsABusyPeer) {
  post(read(1));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(request(answer(1, 0), {true, {}, 0}).outcome, Outcome::refuse_no_context);
    EXPECT_FALSE(ended);
  }
  request(answer(1, 0), {true, {}, 0});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status, Status::remote_busy);
}

TEST_F(Transfers, RefusalsOfOtherReadsAreDropped) {
  post(read(1));
  post(recv(2));
  Header stranger = refused_read(1, 0, Refusal::bad_key);
  stranger.src += 1;
  const Everything before = everything();
  for (const Header& header : {refused_read(1, 1, Refusal::bad_key), refused_read(2, 0, Refusal::bad_key),
                               refused_read(3, 0, Refusal::bad_key), refused_read(4, 0, Refusal::bad_key),
                               refused_read(1, 0, Refusal::granted), stranger}) {
    const InboxResult result = inbox.packet(header, 0);
    EXPECT_EQ(result.outcome, Outcome::drop_old_read);
    EXPECT_FALSE(result.completion);
  }
  EXPECT_TRUE(everything() == before);
  EXPECT_THROW(inbox.packet(with(to_receiver(Ptype::rsp, 1, 0), TransferFlag::send), 0), Violation);
}

// READ at the target

Header asked_read(uint32_t bytes = 64, uint64_t address = 0xa020) {
  Header header = to_receiver(Ptype::read, sid, msgid);
  header.pidx = bytes;
  header.arg = address;
  name_region(header, {2, read_key});
  return header;
}

TEST_F(Transfers, ReadIsHandedToTheSender) {
  const RxResult taken = receiver.packet({asked_read(), {}}, {});
  EXPECT_EQ(taken.outcome, Outcome::read_taken);
  EXPECT_EQ(taken.read, (ReadOrder{0xa020, 64, sender_node, sid, msgid}));
  EXPECT_FALSE(taken.emitted);
  EXPECT_EQ(receiver.packet({asked_read(), {}}, {false, {}, 0}).outcome, Outcome::drop_busy);
}

TEST_F(Transfers, ReadsThatTheTargetRefuses) {
  const auto expect = [&](const Header& header, Outcome outcome, Refusal code, const RxInputs& inputs = {}) {
    const RxResult result = receiver.packet({header, {}}, inputs);
    EXPECT_EQ(formats::name(result.outcome), formats::name(outcome));
    EXPECT_FALSE(result.read);
    ASSERT_TRUE(result.emitted);
    EXPECT_TRUE(for_inbox(result.emitted->header));
    EXPECT_EQ(result.emitted->header.arg, static_cast<uint64_t>(code));
    EXPECT_EQ(result.emitted->header.sid, sid);
    EXPECT_EQ(result.emitted->header.msgid, msgid);
  };
  expect(asked_read(0), Outcome::refuse_length, Refusal::bad_length);
  expect(asked_read(64, 0xa001), Outcome::refuse_align, Refusal::misaligned);
  expect(asked_read(64, 0xafe0), Outcome::refuse_region, Refusal::bad_region);
  Header wrong = asked_read();
  wrong.cid += 1;
  expect(wrong, Outcome::refuse_key, Refusal::bad_key);
  wrong = asked_read(64, 0x2000);
  name_region(wrong, {0, 0});  // open to writes only
  expect(wrong, Outcome::refuse_key, Refusal::bad_key);
  RxInputs full;
  full.answer_room = false;
  expect(asked_read(), Outcome::refuse_answers, Refusal::no_context, full);
}

TEST_F(Transfers, AReadThatIsBeingAnsweredIsDropped) {
  for (const bool room : {false, true}) {
    RxInputs inputs;
    inputs.answer_asked = true;
    inputs.answer_room = room;
    const RxResult result = receiver.packet({asked_read(), {}}, inputs);
    EXPECT_EQ(result.outcome, Outcome::drop_asked);
    EXPECT_FALSE(result.read || result.emitted || result.ctl_dropped);
    EXPECT_EQ(receiver.packet({asked_read(0), {}}, inputs).outcome, Outcome::refuse_length);
    inputs.room = false;
    EXPECT_EQ(receiver.packet({asked_read(), {}}, inputs).outcome, Outcome::drop_busy);
  }
}

TEST_F(Transfers, RefusalThatTheInboxHasNoRoomForIsDropped) {
  RxInputs full;
  full.answer_room = false;
  const Packet refusal = *receiver.packet({asked_read(), {}}, full).emitted;
  RxInputs inputs;
  EXPECT_THROW(receiver.packet(refusal, inputs), Violation);
  inputs.room = false;
  const RxResult result = receiver.packet(refusal, inputs);
  EXPECT_EQ(result.outcome, Outcome::drop_busy);
  EXPECT_FALSE(result.emitted || result.ctl_dropped);
  Packet other = refusal;
  other.header.flags = 0;
  EXPECT_THROW(receiver.packet(other, inputs), Violation);
}

// Sender

class TransferSender : public ::testing::Test {
 protected:
  static Post post(Post::To to, std::optional<uint32_t> imm = {}) {
    Post post{0x400, 0, 40, receiver_node, 9, rkey({0, queue_key})};
    post.to = to;
    post.imm = imm;
    return post;
  }

  TxResult submit(const Post& post) { return sender.post(post, {true, true, sid, 0}); }

  Header rsp(Refusal code, bool with_key) const {
    Header header = to_sender(Ptype::rsp, sid, sender.context(sid).msgid);
    header.cid = cid;
    header.gen = 4;
    header.arg = static_cast<uint64_t>(code);
    if (with_key) {
      set_flag(header, TransferFlag::send);
      if (code == Refusal::granted) header.arg |= uint64_t{rkey({1, receive_key})} << 32;
    }
    return header;
  }

  TxResult take(const Header& header, uint16_t now = 0) {
    return sender.packet({header, {}}, {true, true, {}, now});
  }

  Sender sender{transfer_params(), transfer_config(sender_node)};
};

TEST_F(TransferSender, SendNamesItsQueueAndThenTheBuffer) {
  const TxResult submitted = submit(post(Post::To::queue, 0x12345678));
  ASSERT_EQ(submitted.outcome, Outcome::submit);
  Header expected = with(to_receiver(Ptype::rqt, sid, 0), TransferFlag::send);
  expected.pidx = 40;
  name_region(expected, {0, queue_key});
  EXPECT_EQ(submitted.emitted->header, expected);
  EXPECT_EQ(take(rsp(Refusal::granted, true)).outcome, Outcome::granted);
  for (int i = 0; i < 2; ++i) {
    const TxResult sent = sender.turn(sid, {});
    ASSERT_TRUE(sent.data);
    EXPECT_TRUE(has_flag(sent.data->header, TransferFlag::imm));
    EXPECT_EQ(sent.data->header.arg, uint64_t{0x12345678} << 32 | rkey({1, receive_key}));
  }
}

TEST_F(TransferSender, WriteWithImmediate) {
  Post write = post(Post::To::region, 3);
  write.dst_addr = 0x2000;
  write.rkey = 0;
  EXPECT_EQ(submit(write).emitted->header.flags, static_cast<uint8_t>(TransferFlag::imm));
  take(rsp(Refusal::granted, false));
  EXPECT_EQ(sender.turn(sid, {}).data->header.arg, uint64_t{3} << 32);
}

TEST_F(TransferSender, AGrantMustBringAKeyExactlyIfOneIsNeeded) {
  submit(post(Post::To::queue));
  const TxResult without = take(rsp(Refusal::granted, false));
  EXPECT_EQ(without.outcome, Outcome::stale);
  EXPECT_EQ(without.emitted->header.ptype, static_cast<uint8_t>(Ptype::release));
  EXPECT_EQ(sender.context(sid).state, TxContext::State::requested);
  sender.reset();
  Post write = post(Post::To::region);
  write.dst_addr = 0x2000;
  submit(write);
  EXPECT_EQ(take(rsp(Refusal::granted, true)).outcome, Outcome::stale);
}

TEST_F(TransferSender, AnAckCannotStandForARspThatBringsAKey) {
  submit(post(Post::To::queue));
  for (const Ptype type : {Ptype::ack, Ptype::resend}) {
    Header early = to_sender(type, sid, 0);
    early.cid = cid;
    const TxContext before = sender.context(sid);
    const TxResult result = take(early);
    EXPECT_EQ(result.outcome, Outcome::drop_no_key);
    EXPECT_FALSE(result.emitted);
    EXPECT_TRUE(sender.context(sid) == before);
  }
  EXPECT_EQ(take(rsp(Refusal::granted, true)).outcome, Outcome::granted);
}

TEST_F(TransferSender, AReceiverThatIsNotReadyIsAskedAgain) {
  submit(post(Post::To::queue));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(take(rsp(Refusal::not_ready, true)).outcome, Outcome::backoff);
  const TxResult given_up = take(rsp(Refusal::not_ready, true));
  EXPECT_EQ(given_up.outcome, Outcome::refused);
  EXPECT_EQ(given_up.completion, (Completion{9, Status::not_ready}));
  submit(post(Post::To::queue));
  EXPECT_EQ(take(rsp(Refusal::too_long, true)).completion, (Completion{9, Status::too_long}));
  Post plain = post(Post::To::region);
  submit(plain);
  EXPECT_EQ(take(rsp(Refusal::not_ready, false)).completion, (Completion{9, Status::bad_region}));
}

TEST_F(TransferSender, AnAnswerNamesItsTicketAndEndsSilently) {
  Post answer = post(Post::To::ticket);
  answer.dst_addr = 7;  // number of the READ, no address
  answer.rkey = 3;
  const TxResult submitted = submit(answer);
  ASSERT_EQ(submitted.outcome, Outcome::submit);
  EXPECT_EQ(submitted.emitted->header.flags, static_cast<uint8_t>(TransferFlag::read));
  EXPECT_EQ(submitted.emitted->header.cid, 3);
  EXPECT_EQ(submitted.emitted->header.arg, 7u);
  EXPECT_EQ(sender.answers(), 1u);
  const TxResult refused = take(rsp(Refusal::not_wanted, true));
  EXPECT_EQ(refused.outcome, Outcome::refused);
  EXPECT_FALSE(refused.completion);
  EXPECT_EQ(sender.answers(), 0u);
  EXPECT_EQ(sender.free_contexts(), 4u);
  answer.bytes = 0;
  const TxResult rejected = submit(answer);
  EXPECT_EQ(rejected.outcome, Outcome::reject_length);
  EXPECT_FALSE(rejected.completion);
}

// Forged packets

TEST_F(Transfers, ForgedPacketsChangeNothingAndAreCounted) {
  EXPECT_PROPERTY("forged", [this] {
    inbox.reset();
    receiver.reset();
    inbox.open(0, queue_key);
    post(recv(0));
    post(recv(1));
    post(read(2));
    request(send(64, msgid), {true, cid, 0});
    const Everything before = everything();
    // By a node that knows neither keys nor numbers, everything else as it likes.
    const auto any = [](uint32_t limit) { return *rc::gen::inRange<uint32_t>(0, limit); };
    Header forged =
        to_receiver(any(2) == 0 ? Ptype::rqt : Ptype::read, static_cast<uint16_t>(any(16)), any(16));
    forged.src = static_cast<uint16_t>(10 + any(100));
    forged.flags = static_cast<uint8_t>(any(128));
    forged.pidx = any(300);
    forged.arg = any(2) == 0 ? 32u * any(0x600) : any(4);
    forged.gen = static_cast<uint8_t>(any(6));
    forged.cid = static_cast<uint16_t>(0x1000 + any(100));
    if (any(4) == 0) forged.cid = static_cast<uint16_t>(any(6));  // number of a ticket, perhaps
    const bool open_write = forged.ptype == static_cast<uint8_t>(Ptype::rqt) && forged.cid == 0 &&
                            (forged.gen == 0 || forged.gen == 3);
    RC_PRE(!open_write);  // key 0 is that of the regions open to writes
    const RxResult result = request(forged, {true, 2, 0});
    const std::string outcome(formats::name(result.outcome));
    RC_ASSERT(outcome.starts_with("REFUSE") || outcome.starts_with("DROP"));
    RC_ASSERT(!result.read && !result.write);
    RC_ASSERT(everything() == before);
  });
}

}  // namespace
}  // namespace weft::rdma::test

// SPDX-License-Identifier: Apache-2.0
// What the fault campaign checks by itself, apart from the golden model: everything that may go wrong is
// told.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>

#include "soak_ledger.hpp"
#include "soak_memory.hpp"

namespace weft::sim {
namespace {

using rdma::formats::Status;

class Checks : public testing::Test {
 protected:
  /// Exactly one finding since the last look, with this text in it.
  void expect_finding(const std::string& text) {
    const tb::Findings found = std::exchange(findings_, tb::Findings());
    ASSERT_EQ(found.count(), 1u) << "expected: " << text << "\ngot: " << found.summary();
    EXPECT_NE(found.summary().find(text), std::string::npos) << found.summary() << "\n  lacks: " << text;
  }
  void expect_clean() { EXPECT_FALSE(findings_.any()) << findings_.summary(); }

  tb::Findings findings_;
};

class SoakLedgerTest : public Checks {
 protected:
  /// From node 0 to node 1, in cycle 100.
  void give(uint16_t tag, Status deserved = Status::ok, uint64_t cycle = 100) {
    PlannedPost post;
    post.request.node = 1;
    post.request.bytes = 10;
    post.request.tag = tag;
    post.deserved = deserved;
    ledger_.give(post, cycle);
    ledger_.accepted(0, tag);
  }
  void complete(uint16_t tag, Status status, uint64_t cycle = 200) {
    ledger_.completed(0, tag, status, cycle);
  }

  SoakLedger ledger_{2, findings_};
};

TEST_F(SoakLedgerTest, TakesWhatIsDeserved) {
  give(1);
  give(2, Status::bad_length);
  EXPECT_FALSE(ledger_.all_ended());
  complete(2, Status::bad_length);
  complete(1, Status::ok);
  EXPECT_TRUE(ledger_.all_ended());
  ledger_.expect_all_ended(300);
  expect_clean();
}

TEST_F(SoakLedgerTest, TellsEveryOtherStatus) {
  give(1);
  complete(1, Status::dead_peer);
  expect_finding("ends with DEAD_PEER, expected OK");
  give(2, Status::bad_region);
  complete(2, Status::ok);
  expect_finding("ends with OK, expected BAD_REGION");
  give(3, Status::no_answer);
  complete(3, Status::dead_peer);
  expect_finding("ends with DEAD_PEER, expected NO_ANSWER");
}

TEST_F(SoakLedgerTest, TellsCompletionsThatAreTooMany) {
  give(1);
  complete(1, Status::ok);
  complete(1, Status::ok);
  expect_finding("a second time");
  complete(9, Status::ok);
  expect_finding("that was never posted");
  give(2);
  ledger_.lose(0);
  complete(2, Status::ok);
  expect_finding("of an earlier life");
}

TEST_F(SoakLedgerTest, TellsPostsThatNeverEnd) {
  give(1);
  ledger_.expect_all_ended(300);
  expect_finding("never ended");
}

TEST_F(SoakLedgerTest, TellsAcceptanceOfWhatNobodyPosted) {
  ledger_.accepted(0, 4);
  expect_finding("that nobody made");
}

TEST_F(SoakLedgerTest, PostsOfALostNodeAreGoneAndOthersAreNot) {
  give(1);
  ledger_.lose(1);
  EXPECT_FALSE(ledger_.all_ended());
  ledger_.lose(0);
  EXPECT_TRUE(ledger_.all_ended());
  EXPECT_EQ(ledger_.lost(), 1u);
}

TEST_F(SoakLedgerTest, AnIncidentExcusesSilenceBetweenItsNodes) {
  for (uint16_t tag = 1; tag <= 4; ++tag) give(tag);
  ledger_.excuse(0, 1, 150);
  complete(1, Status::dead_peer);
  complete(2, Status::no_answer);
  expect_clean();
  EXPECT_EQ(ledger_.excused(), 2u);
  complete(3, Status::remote_error);
  expect_finding("REMOTE_ERROR");
  complete(4, Status::ok);
  expect_clean();
}

TEST_F(SoakLedgerTest, AnIncidentExcusesNothingElse) {
  give(1);
  ledger_.excuse(1, 0, 150);
  ledger_.excuse(1, 1, 150);
  complete(1, Status::dead_peer);
  expect_finding("DEAD_PEER");  // the other direction, and another sender
  give(2);
  ledger_.excuse(0, 1, 150);
  complete(2, Status::dead_peer, 149);
  expect_finding("DEAD_PEER");  // before
  ledger_.end_excuses(250);
  give(3, Status::ok, 251);
  complete(3, Status::dead_peer, 300);
  expect_finding("DEAD_PEER");  // given afterwards
  give(4, Status::bad_length);
  complete(4, Status::no_answer);
  expect_finding("NO_ANSWER");  // never sent
}

TEST_F(SoakLedgerTest, TheDeadDoNotSayOk) {
  give(1);
  give(2);
  ledger_.silent_from(1, 150);
  complete(1, Status::ok, 150);
  expect_clean();
  complete(2, Status::ok, 151);
  expect_finding("after the receiver's death");
}

TEST_F(SoakLedgerTest, ALongCutEndsWhatTheEngineHadTaken) {
  for (uint16_t tag = 1; tag <= 3; ++tag) give(tag);
  complete(1, Status::ok);
  const auto keys = ledger_.open_among_first(2, 0, 1);
  EXPECT_EQ(keys, (std::vector<SoakLedger::Key>{{0, 2}}));
  EXPECT_TRUE(ledger_.open_among_first(2, 0, 0).empty());
  ledger_.expect_ended(keys, 300, "in time");
  expect_finding("transfer 2 of 10 bytes to node 1: has not ended in time");
  complete(2, Status::ok);
  ledger_.expect_ended(keys, 300, "in time");
  expect_clean();
}

class SoakLedgerOfNicsTest : public SoakLedgerTest {
 protected:
  void give_entry(uint16_t tag, rdma_queues::formats::Opcode opcode) {
    PlannedPost post;
    post.request.tag = tag;
    post.request.node = 1;
    post.ring.emplace().queue = 2;
    post.ring->entry.opcode = static_cast<uint8_t>(opcode);
    ledger_.give(post, 100);
    ledger_.accepted(0, tag);
  }
};

TEST_F(SoakLedgerOfNicsTest, ABufferWaitsUntilSomethingComesOrItsQueueIsOff) {
  using rdma_queues::formats::Opcode;
  give_entry(1, Opcode::recv);
  give_entry(2, Opcode::recv);
  give_entry(3, Opcode::send);
  EXPECT_FALSE(ledger_.requests_ended());
  complete(3, Status::ok);
  EXPECT_TRUE(ledger_.requests_ended());
  EXPECT_FALSE(ledger_.all_ended());
  EXPECT_EQ(ledger_.waiting_buffers(0, 2), (std::vector<uint16_t>{1, 2}));
  EXPECT_TRUE(ledger_.waiting_buffers(0, 1).empty());
  complete(1, Status::ok);
  ledger_.withdraw(0, 2);
  EXPECT_TRUE(ledger_.all_ended());
  ledger_.expect_all_ended(300);
  expect_clean();
  complete(2, Status::ok);
  expect_finding("of a queue that was off");
}

TEST_F(SoakLedgerOfNicsTest, QueuesThatAreNotOpenYetExcuseMessagesOnly) {
  using rdma_queues::formats::Opcode;
  give_entry(1, Opcode::send);
  give_entry(2, Opcode::read);
  give_entry(3, Opcode::send);
  ledger_.excuse(0, 1, 150, true);
  complete(1, Status::bad_key);
  expect_clean();
  complete(2, Status::bad_key);
  expect_finding("READ of queue 2, transfer 2 of 0 bytes to node 1: ends with BAD_KEY, expected OK");
  complete(3, static_cast<Status>(rdma_queues::formats::QueueStatus::local_key));
  expect_finding("LOCAL_KEY");
}

class SoakMemoryTest : public Checks {
 protected:
  SoakMemoryTest() {
    std::vector<uint8_t> background(3 * tb::HostMemory::page_bytes, 0xcc);
    memory_.fill(0, 0, background);
    std::iota(bytes_.begin(), bytes_.end(), uint8_t{1});
    memory_.expect_transfer(0, place, bytes_);
  }
  void write(uint64_t address, std::vector<uint8_t> bytes) { host_.write(address, bytes); }

  static constexpr uint64_t place = tb::HostMemory::page_bytes - 50;  // across a border of pages
  std::vector<uint8_t> bytes_ = std::vector<uint8_t>(100);
  tb::HostMemory host_;
  SoakMemory memory_{{&host_}, findings_};
};

TEST_F(SoakMemoryTest, TakesTransfersThatCameWholeInPartOrNotAtAll) {
  memory_.check(1);
  write(place + 60, {61, 62, 63});
  memory_.check(2);
  write(place, bytes_);
  memory_.arrived(0, place, 3);
  memory_.check(4);
  expect_clean();
}

TEST_F(SoakMemoryTest, TellsTheByteThatIsMissingWhenOkIsSaid) {
  write(place, std::vector<uint8_t>(bytes_.begin(), bytes_.end() - 1));
  memory_.arrived(0, place, 3);
  expect_finding("are not those of the transfer that ended with OK");
}

TEST_F(SoakMemoryTest, TellsWhatIsOverwrittenAfterOk) {
  write(place, bytes_);
  memory_.arrived(0, place, 3);
  expect_clean();
  write(place + 5, {0xcc});  // as it was before the transfer
  memory_.check(4);
  expect_finding("are not those of the transfer that ended with OK");
}

TEST_F(SoakMemoryTest, TellsWrongBytesAtTheRightPlace) {
  write(place + 60, {99});
  memory_.check(4);
  expect_finding("neither what was there before nor what was sent there");
}

TEST_F(SoakMemoryTest, TellsBytesBesideEveryPlace) {
  for (const uint64_t address : {place - 1, place + 100, uint64_t{0}}) {
    write(address, {1});
    memory_.check(4);
    expect_finding("neither what was there before nor what was sent there");
    write(address, {0xcc});
  }
  write(1ull << 40, {1});  // a page that nobody knew
  memory_.check(4);
  expect_finding("0x10000000000");
}

TEST_F(SoakMemoryTest, BuffersTakeMessagesOfTheirQueueOnly) {
  memory_.expect_message(0, 1, {1, 2, 3});
  memory_.expect_message(0, 2, {7, 8, 9});
  memory_.add_buffer(0, 1, 0x40, 4);
  write(0x41, {2});  // a part of a message
  memory_.check(1);
  expect_clean();
  write(0x42, {9});  // that of another queue
  memory_.check(2);
  expect_finding("0x42");
  write(0x42, {3});
  write(0x44, {2});  // behind the buffer
  memory_.check(3);
  expect_finding("0x44");
}

TEST_F(SoakMemoryTest, TellsABufferThatChangesAfterItsCompletion) {
  memory_.expect_message(0, 1, {1, 2, 3});
  memory_.add_buffer(0, 1, 0x40, 4);
  write(0x40, {1, 2});
  memory_.buffer_done(0, 0x40);
  memory_.check(1);
  expect_clean();
  write(0x42, {3});  // a right byte, too late
  memory_.check(2);
  expect_finding("the buffer at 0x40 has changed since its completion");
}

TEST_F(SoakMemoryTest, RingsMayChangeAndWhatIsBesideThemNot) {
  memory_.add_ring(0, 0x80, 0x20);
  write(0x80, std::vector<uint8_t>(0x20, 5));
  memory_.check(1);
  expect_clean();
  write(0xa0, {5});
  memory_.check(2);
  expect_finding("0xa0");
}

TEST_F(SoakMemoryTest, RefusesPlacesThatOverlap) {
  memory_.add_buffer(0, 1, 0x40, 4);
  EXPECT_THROW(memory_.add_buffer(0, 1, 0x43, 4), std::logic_error);

  EXPECT_THROW(memory_.expect_transfer(0, place + 99, {1}), std::logic_error);
  EXPECT_THROW(memory_.expect_transfer(0, place - 1, {1, 2}), std::logic_error);
  EXPECT_NO_THROW(memory_.expect_transfer(0, place + 100, {1}));
  EXPECT_NO_THROW(memory_.expect_transfer(0, place - 1, {1}));
}

}  // namespace
}  // namespace weft::sim

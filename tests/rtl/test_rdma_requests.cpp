// SPDX-License-Identifier: Apache-2.0
// Requests of the host queues on their way to engine and inbox and back: random ones against the golden
// model, and each rule by itself.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "rdma_requests_lockstep.hpp"

namespace weft::rtl_test {
namespace {

using queue_formats::Opcode;
using rdma::formats::Status;

constexpr uint8_t local_key_refused = 18, local_region_refused = 19, bad_key = 10;

// ------------------------------------------------------------------------------------------------- random
// use

class RdmaRequestsRandom : public RequestsTest {
 protected:
  void SetUp() override { start(); }

  /// Few owners, keys and places, so that all matches and mismatches are frequent.
  rdma::Region random_region() {
    rdma::Region region;
    region.base = (bench_.below(4) << 38) + payload * bench_.below(4);
    region.limit = region.base + payload * bench_.below(20);
    region.key = static_cast<uint16_t>(bench_.below(2));
    region.local_use = bench_.chance(80);
    region.owner = static_cast<uint8_t>(bench_.below(2));
    return region;
  }

  uint32_t random_bytes() {
    switch (bench_.below(4)) {
      case 0:
        return 0;
      case 1:
        return static_cast<uint32_t>(bench_.below(uint64_t{1} << 32));
      default:
        return static_cast<uint32_t>(payload * bench_.below(5) + bench_.below(3) - 1);
    }
  }

  rdma_queues::Request random_request() {
    rdma_queues::Request request;
    request.queue = static_cast<uint8_t>(bench_.below(queue_count));
    auto& entry = request.entry;
    entry.opcode = static_cast<uint8_t>(1 + bench_.below(5));
    entry.flags = static_cast<uint8_t>(bench_.below(2));
    if (entry.opcode == static_cast<uint8_t>(Opcode::send))
      entry.flags |= bench_.chance(50) ? queue_formats::flag_imm : uint8_t{0};
    entry.tag = bench_.below(uint64_t{1} << 62);
    const auto number = static_cast<uint8_t>(bench_.below(n_regions + 1));
    const rdma::Region region = number < n_regions ? config_.regions[number] : rdma::Region{};
    request.owner = bench_.chance(90) ? region.owner : static_cast<uint8_t>(bench_.below(2));
    entry.local_addr =
        region.base + payload * bench_.below(4) + (bench_.chance(30) ? bench_.below(3) - 1 : 0);
    if (bench_.chance(3)) entry.local_addr ^= uint64_t{1} << bench_.below(64);
    entry.bytes = random_bytes();
    entry.local_key =
        uint32_t{number} << 16 | (bench_.chance(90) ? region.key : static_cast<uint16_t>(bench_.below(2)));
    if (bench_.chance(5)) entry.local_key ^= 1u << bench_.below(32);
    entry.immediate = static_cast<uint32_t>(bench_.below(uint64_t{1} << 32));
    if (entry.opcode == static_cast<uint8_t>(Opcode::recv)) return request;
    entry.node = static_cast<uint32_t>(bench_.below(uint64_t{1} << 32));
    entry.remote_key = static_cast<uint32_t>(bench_.below(uint64_t{1} << (bench_.chance(10) ? 32 : 24)));
    if (entry.opcode != static_cast<uint8_t>(Opcode::send))
      entry.remote_addr = bench_.below(uint64_t{1} << 62);
    return request;
  }

  void run(unsigned clocks) {
    for (unsigned n = 0; n < clocks && !HasFatalFailure(); ++n) {
      if (n % 200 == 0) {
        paces_ = {bench_.pace(), bench_.pace(), bench_.pace(), bench_.pace(), bench_.pace()};
      }
      if (bench_.chance(10)) set_region(static_cast<uint8_t>(bench_.below(n_regions)), random_region());
      if (waiting_ < posted_count() + 4) {
        post(random_request());
        ++waiting_;
      }
      cycle();
    }
    paces_ = {};
    until([&] { return idle(); });
  }

  /// Requests that have left the queues.
  uint64_t posted_count() const {
    uint64_t sum = 0;
    for (const uint64_t count : statuses_) sum += count;
    return sum;
  }
  uint64_t waiting_ = 0;
};

TEST_F(RdmaRequestsRandom, EveryRequestAndCompletionAsInTheModel) {
  ASSERT_NO_FATAL_FAILURE(cycles(n_requests + n_regions + 4));
  ASSERT_NO_FATAL_FAILURE(run(600'000));
  EXPECT_EQ(outcomes_.size(), posted_count());
  EXPECT_GT(posts_.size(), 500u);
  EXPECT_GT(ticket_posts_.size(), 500u);
  EXPECT_GT(statuses_[local_key_refused], 500u);
  EXPECT_GT(statuses_[local_region_refused], 500u);
  EXPECT_GT(statuses_[bad_key], 50u);
  EXPECT_GT(full_, 100u) << "all tags under way";
}

// ------------------------------------------------------------------------------------------------- rule by
// rule

class RdmaRequests : public RequestsTest {
 protected:
  void SetUp() override {
    start();
    cycles(n_requests + n_regions + 4);
    rdma::Region region;
    region.base = 0x10000;
    region.limit = 0x20000;
    region.key = 0x77;
    region.owner = 4;
    region.local_use = true;
    set_region(1, region);
    cycle();
    region.local_use = false;
    set_region(2, region);
    cycles(3);
    paces_.complete = paces_.ticket = 0;
  }

  static rdma_queues::Request request(Opcode opcode, uint8_t region = 1, uint8_t owner = 4) {
    rdma_queues::Request request;
    request.queue = 9;
    request.owner = owner;
    request.entry.opcode = static_cast<uint8_t>(opcode);
    request.entry.tag = 0x1122334455667788;
    request.entry.local_addr = 0x10100;
    request.entry.bytes = 0x300;
    request.entry.local_key = uint32_t{region} << 16 | 0x77;
    request.entry.immediate = 0xabcd1234;
    if (opcode == Opcode::recv) return request;
    request.entry.node = 3;
    request.entry.remote_key = 0x52468;
    if (opcode != Opcode::send) request.entry.remote_addr = 0x900;
    return request;
  }

  /// Status of the completion that a request ends in here; 0 if it is posted.
  uint8_t refusal(const rdma_queues::Request& wanted) {
    const size_t refused = outcomes_.size(), posted = posts_.size() + ticket_posts_.size();
    post(wanted);
    until([&] { return outcomes_.size() > refused || posts_.size() + ticket_posts_.size() > posted; });
    return outcomes_.size() > refused ? outcomes_.back().fields.status : uint8_t{0};
  }

  rdma::TicketCompletion end_ticket(uint16_t tag, const rdma_queues::Request& wanted) override {
    rdma::TicketCompletion end = ending_;
    end.tag = tag;
    end.queue = wanted.queue;
    return end;
  }
  rdma::TicketCompletion ending_;

  /// The completion of this request, after the inbox has said so.
  queue_formats::Completion ended(Opcode opcode, const rdma::TicketCompletion& ending) {
    ending_ = ending;
    paces_.ticket = 100;
    const size_t before = outcomes_.size();
    post(request(opcode));
    until([&] { return outcomes_.size() > before; });
    paces_.ticket = 0;
    return outcomes_.empty() ? queue_formats::Completion{} : outcomes_.back().fields;
  }
};

TEST_F(RdmaRequests, WritesAndSendsGoToTheEngine) {
  auto flagged = request(Opcode::send);
  flagged.entry.flags = queue_formats::flag_imm;
  for (const auto& wanted :
       {request(Opcode::write), request(Opcode::write_imm), request(Opcode::send), flagged}) {
    EXPECT_EQ(refusal(wanted), 0);
  }
  ASSERT_EQ(posts_.size(), 4u);
  using To = rdma::Post::To;
  EXPECT_EQ(posts_[0], (rdma::Post{0x10100, 0x900, 0x300, 3, posts_[0].tag, 0x52468, To::region, {}}));
  EXPECT_EQ(posts_[1],
            (rdma::Post{0x10100, 0x900, 0x300, 3, posts_[1].tag, 0x52468, To::region, 0xabcd1234}));
  EXPECT_EQ(posts_[2], (rdma::Post{0x10100, 0, 0x300, 3, posts_[2].tag, 0x52468, To::queue, {}}));
  EXPECT_EQ(posts_[3], (rdma::Post{0x10100, 0, 0x300, 3, posts_[3].tag, 0x52468, To::queue, 0xabcd1234}));
}

TEST_F(RdmaRequests, ReadsAndRecvsGoToTheInbox) {
  EXPECT_EQ(refusal(request(Opcode::read)), 0);
  EXPECT_EQ(refusal(request(Opcode::recv)), 0);
  ASSERT_EQ(ticket_posts_.size(), 2u);
  EXPECT_TRUE(posts_.empty());
  const rdma::TicketPost& read = ticket_posts_[0];
  EXPECT_EQ(read,
            (rdma::TicketPost{
                rdma::TicketKind::read, 9, read.tag, 0x10100, 0x300, {1, 0x77}, 3, 0x900, {5, 0x2468}}));
  const rdma::TicketPost& recv = ticket_posts_[1];
  EXPECT_EQ(recv,
            (rdma::TicketPost{rdma::TicketKind::recv, 9, recv.tag, 0x10100, 0x300, {1, 0x77}, 0, 0, {}}));
}

TEST_F(RdmaRequests, BuffersNeedTheirOwnerButNoRightOfLocalUse) {
  for (const Opcode opcode : {Opcode::write, Opcode::write_imm, Opcode::send}) {
    EXPECT_EQ(refusal(request(opcode, 2)), local_key_refused) << "no right of local use";
    EXPECT_EQ(refusal(request(opcode, 1, 5)), local_key_refused) << "another owner";
  }
  for (const Opcode opcode : {Opcode::read, Opcode::recv}) {
    EXPECT_EQ(refusal(request(opcode, 2)), 0);
    EXPECT_EQ(refusal(request(opcode, 2, 5)), local_key_refused) << "another owner";
    auto outside = request(opcode);
    outside.entry.bytes = 0x10000;
    EXPECT_EQ(refusal(outside), local_region_refused);
  }
  auto wide = request(Opcode::read);
  wide.entry.remote_key |= 1u << 24;
  EXPECT_EQ(refusal(wide), bad_key);
}

TEST_F(RdmaRequests, NothingIsCheckedOfABufferOfNoBytes) {
  for (const Opcode opcode : {Opcode::write, Opcode::read, Opcode::recv}) {
    auto empty = request(opcode, 7, 200);
    empty.entry.bytes = 0;
    EXPECT_EQ(refusal(empty), opcode == Opcode::write ? local_key_refused : 0);
  }
}

/// As many RECVs as there are tickets wait for ever; what comes besides completes: that is why there are more
/// tags than tickets.
TEST_F(RdmaRequests, RecvsThatWaitLeaveTagsForWrites) {
  for (unsigned n = 0; n < n_tickets; ++n) post(request(Opcode::recv));
  until([&] { return inbox_.size() == n_tickets; });
  paces_.complete = 100;
  for (unsigned n = 0; n < 100; ++n) {
    post(request(Opcode::write));
    post(request(Opcode::send));
  }
  until([&] { return outcomes_.size() == 200; });
  EXPECT_EQ(inbox_.size(), n_tickets);
}

TEST_F(RdmaRequests, RecvTellsWhatCame) {
  rdma::TicketCompletion came;
  came.status = Status::ok;
  came.node = 77;
  came.bytes = 0x123;
  auto entry = ended(Opcode::recv, came);
  EXPECT_EQ(entry.opcode, 16);
  EXPECT_EQ(entry.node, 77u);
  EXPECT_EQ(entry.bytes, 0x123u);
  EXPECT_EQ(entry.has_immediate, 0);
  EXPECT_EQ(entry.tag, 0x1122334455667788u);
  came.imm = 0x55aa;
  entry = ended(Opcode::recv, came);
  EXPECT_EQ(entry.opcode, 16);
  EXPECT_EQ(entry.has_immediate, 1);
  EXPECT_EQ(entry.immediate, 0x55aau);
  came.form = rdma::Form::immediate;
  came.status = Status::local_error;
  entry = ended(Opcode::recv, came);
  EXPECT_EQ(entry.opcode, 17);
  EXPECT_EQ(entry.status, 36);
  EXPECT_EQ(entry.bytes, 0x123u);
}

TEST_F(RdmaRequests, RecvThatNothingCameForSaysSo) {
  rdma::TicketCompletion nothing;
  for (const Status status : {Status::cancelled, Status::bad_buffer, Status::no_ticket}) {
    nothing.status = status;
    const auto entry = ended(Opcode::recv, nothing);
    EXPECT_EQ(entry.opcode, 5);
    EXPECT_EQ(entry.status, static_cast<uint8_t>(status));
    EXPECT_EQ(entry.bytes, 0u);
    EXPECT_EQ(entry.node, 0u);
  }
}

TEST_F(RdmaRequests, ReadTellsBytesAndTarget) {
  rdma::TicketCompletion came;
  came.kind = rdma::TicketKind::read;
  came.node = 3;
  came.bytes = 0x300;
  came.imm = 0x99;  // a peer may set the flag in DATA: no matter of the READ
  const auto entry = ended(Opcode::read, came);
  EXPECT_EQ(entry.opcode, 4);
  EXPECT_EQ(entry.node, 3u);
  EXPECT_EQ(entry.bytes, 0x300u);
  EXPECT_EQ(entry.has_immediate, 0);
  EXPECT_EQ(entry.immediate, 0u);
}

/// Both have a completion in every clock: they take turns, without a bubble.
TEST_F(RdmaRequests, EngineAndInboxCompleteInTurn) {
  ending_.status = Status::cancelled;
  for (unsigned n = 0; n < n_requests / 2; ++n) {
    post(request(Opcode::recv));
    post(request(Opcode::write));
  }
  until([&] { return engine_.size() + inbox_.size() == n_requests; });
  paces_.complete = paces_.ticket = 100;
  const uint64_t begin = bench_.cycle();
  until([&] { return idle(); });
  EXPECT_LE(bench_.cycle() - begin, n_requests + 4u);
  ASSERT_EQ(taken_from_inbox_.size(), n_requests);
  for (size_t n = 1; n < taken_from_inbox_.size(); ++n) {
    EXPECT_NE(taken_from_inbox_[n], taken_from_inbox_[n - 1]) << "completion " << n;
  }
}

TEST_F(RdmaRequests, ResetForgetsWhatIsUnderWay) {
  for (unsigned n = 0; n < n_requests; ++n) post(request(n % 2 ? Opcode::recv : Opcode::write));
  until([&] { return engine_.size() + inbox_.size() == n_requests; });
  bench_.reset();
  bench_->post_ready_i = 0;
  for (unsigned n = 0; n < n_requests + n_regions + 8; ++n) {
    bench_->cpl_valid_i = bench_->ticket_cpl_valid_i = bench_->req_valid_i = 0;
    bench_.settle();
    EXPECT_FALSE(bench_->post_valid_o || bench_->ticket_post_valid_o || bench_->out_valid_o);
    bench_.step();
  }
}

}  // namespace
}  // namespace weft::rtl_test

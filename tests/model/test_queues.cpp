// SPDX-License-Identifier: Apache-2.0
// Golden model of the host queues: what it must refuse, and that whatever may happen leaves nothing promised
// and not kept.
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "property.hpp"
#include "rdma/queue_requests.hpp"
#include "rdma/queues.hpp"

namespace weft::rdma_queues {
namespace {

namespace reg = formats::reg;
using formats::QueueState;

/// Two queues in a memory that holds one good entry everywhere.
class QueuesModel : public testing::Test {
 protected:
  static constexpr uint32_t sq_base = 0x10000, cq_base = 0x20000;

  static void write(Queues& queues, uint32_t address, uint32_t data) {
    queues.apply_write(address, data, queues.judge_write(address, data, 0xf));
  }
  static uint32_t of(uint32_t queue, uint32_t reg) { return reg + queue * 4096; }

  static void enable(Queues& queues, uint32_t number) {
    write(queues, reg::QUEUE, number);
    write(queues, reg::Q_SQ_BASE_LO, sq_base + number * 0x100000);
    write(queues, reg::Q_CQ_BASE_LO, cq_base + number * 0x100000);
    write(queues, reg::Q_SIZE, 4 | 4 << 4);
    write(queues, reg::Q_IRQ, static_cast<uint32_t>(formats::IrqKind::level));
    write(queues, reg::Q_CTL, 1);
  }

  static std::array<uint8_t, 64> good_entry(uint64_t) {
    formats::Submission entry;
    entry.opcode = static_cast<uint8_t>(formats::Opcode::write);
    return formats::pack(entry);
  }

  /// An entry goes from its order to the engine.
  static bool take_entry(Queues& queues) {
    bool error = false;
    if (!queues.entry_read(false, error)) return false;
    queues.judged(*queues.next_verdict(good_entry));
    return true;
  }

  /// A request of the engine, or an arrival, ends.
  static std::string complete(Queues& queues, uint8_t number,
                              formats::Opcode opcode = formats::Opcode::write) {
    Outcome outcome;
    outcome.queue = number;
    outcome.fields.opcode = static_cast<uint8_t>(opcode);
    Queues::Placed placed;
    std::string fault = queues.place(outcome, placed);
    if (!fault.empty()) return fault;
    queues.placed(outcome, placed);
    return queues.retire(number, placed.discard, false, false);
  }

  Queues queues_{{2, 4, 48, 1u << 1}};
};

TEST_F(QueuesModel, RefusesToFetchBeyondTailOrRoom) {
  EXPECT_NE(queues_.order(0, 0, 1), "") << "OFF";
  enable(queues_, 0);
  ASSERT_EQ(queues_.queue(0).state, QueueState::run);
  EXPECT_NE(queues_.order(0, 0, 1), "") << "beyond the tail";
  write(queues_, of(0, reg::SQ_TAIL), 16);
  EXPECT_NE(queues_.order(0, 1, 1), "") << "out of order";
  EXPECT_NE(queues_.order(0, 0, 5), "") << "more than a burst";
  for (uint16_t index = 0; index < 16; index += 4) EXPECT_EQ(queues_.order(0, index, 4), "");
  for (int n = 0; n < 16; ++n) EXPECT_TRUE(take_entry(queues_));
  write(queues_, of(0, reg::SQ_TAIL), 20);
  EXPECT_NE(queues_.order(0, 16, 1), "") << "no room for its completion";
  EXPECT_NE(queues_.claim(0, true), "");
  EXPECT_EQ(complete(queues_, 0), "");
  write(queues_, of(0, reg::CQ_HEAD), 1);
  EXPECT_EQ(queues_.order(0, 16, 1), "");
}

TEST_F(QueuesModel, RefusesToFetchBeyondItsQuota) {
  write(queues_, reg::Q_QUOTA, 3);
  enable(queues_, 0);
  write(queues_, reg::Q_QUOTA, 0);  // of the next queue that is enabled
  write(queues_, of(0, reg::SQ_TAIL), 16);
  EXPECT_NE(queues_.order(0, 0, 4), "");
  EXPECT_EQ(queues_.order(0, 0, 3), "");
  EXPECT_FALSE(queues_.queue(0).must_fetch());
  for (int n = 0; n < 3; ++n) EXPECT_TRUE(take_entry(queues_));
  EXPECT_NE(queues_.order(0, 3, 1), "") << "they are under way";
  EXPECT_EQ(complete(queues_, 0), "");
  EXPECT_TRUE(queues_.queue(0).must_fetch());
  EXPECT_EQ(queues_.order(0, 3, 1), "");
  EXPECT_NE(queues_.order(0, 4, 1), "");
  enable(queues_, 1);
  write(queues_, of(1, reg::SQ_TAIL), 4);
  EXPECT_EQ(queues_.order(1, 0, 4), "") << "no limit";
}

TEST_F(QueuesModel, OnlyWhatGoesToTheSenderCountsInAQuota) {
  Queues queues({2, 4, 48, 0b111110});
  write(queues, reg::Q_QUOTA, 4);
  enable(queues, 0);
  uint16_t index = 0;
  const auto held_by = [&](uint8_t opcode) {
    const uint16_t before = queues.queue(0).held();
    write(queues, of(0, reg::SQ_TAIL), index + 1u);
    EXPECT_EQ(queues.order(0, index++, 1), "");
    EXPECT_EQ(queues.queue(0).held(), before + 1) << "may be the sender's until it has come";
    bool error = false;
    EXPECT_TRUE(queues.entry_read(false, error));
    formats::Submission entry;
    entry.opcode = opcode;
    queues.judged(*queues.next_verdict([&](uint64_t) { return formats::pack(entry); }));
    return queues.queue(0).held() - before;
  };
  using formats::Opcode;
  for (const Opcode opcode : {Opcode::write, Opcode::write_imm, Opcode::send}) {
    EXPECT_EQ(held_by(static_cast<uint8_t>(opcode)), 1);
  }
  for (const Opcode opcode : {Opcode::read, Opcode::recv}) {
    EXPECT_EQ(held_by(static_cast<uint8_t>(opcode)), 0);
  }
  EXPECT_EQ(held_by(99), 0) << "an error completion";
}

TEST_F(QueuesModel, RefusesACompletionThatIsNotOwed) {
  enable(queues_, 1);
  EXPECT_NE(complete(queues_, 1), "");
  EXPECT_EQ(queues_.claim(1, true), "");
  EXPECT_EQ(complete(queues_, 1, formats::Opcode::receive), "");
  EXPECT_NE(complete(queues_, 1), "");
}

TEST_F(QueuesModel, RefusesOffWithSomethingUnderWay) {
  enable(queues_, 0);
  EXPECT_NE(queues_.off(0), "") << "not disabled";
  write(queues_, of(0, reg::SQ_TAIL), 1);
  EXPECT_EQ(queues_.order(0, 0, 1), "");
  EXPECT_TRUE(take_entry(queues_));
  write(queues_, reg::Q_CTL, 0);
  EXPECT_NE(queues_.off(0), "");
  EXPECT_EQ(complete(queues_, 0), "");
  EXPECT_EQ(queues_.read(reg::DISCARDED), 1u);
  EXPECT_EQ(queues_.off(0), "");
}

TEST_F(QueuesModel, FiresOnlyArmedAndForWhatIsUnseen) {
  enable(queues_, 0);
  EXPECT_EQ(queues_.claim(0, true), "");
  EXPECT_EQ(complete(queues_, 0, formats::Opcode::receive), "");
  EXPECT_NE(queues_.fire(0, true), "") << "not armed";
  write(queues_, of(0, reg::CQ_HEAD), 1u << 31);
  EXPECT_TRUE(queues_.must_fire(0));
  EXPECT_EQ(queues_.fire(0, false), "");
  EXPECT_TRUE(queues_.level());
  EXPECT_NE(queues_.fire(0, true), "") << "once an arming";
  write(queues_, of(0, reg::CQ_HEAD), 1u | 1u << 31);
  EXPECT_FALSE(queues_.level());
  EXPECT_FALSE(queues_.must_fire(0));
  EXPECT_NE(queues_.fire(0, true), "") << "nothing unseen";
}

TEST_F(QueuesModel, ADoorbellInOnePageChangesOnlyItsQueue) {
  EXPECT_PROPERTY("isolation", [](uint32_t data, uint8_t which, uint8_t strobes) {
    Queues queues({2, 4, 48, 1u << 1});
    enable(queues, 0);
    enable(queues, 1);
    write(queues, of(1, reg::SQ_TAIL), 3);
    const auto page = [&] {
      std::vector<uint32_t> values;
      for (const uint32_t r : {reg::STATE, reg::SQ_HEAD, reg::CQ_TAIL})
        values.push_back(*queues.read(of(1, r)));
      return values;
    };
    const auto before = page();
    const uint32_t address = of(0, reg::SQ_TAIL) + 4 * (which % 8u);
    queues.apply_write(address, data, queues.judge_write(address, data, strobes % 16));
    RC_ASSERT(page() == before);
  });
}

TEST_F(QueuesModel, JudgesWhatMustBeZero) {
  Queues queues({2, 4, 48, 0b111110});
  enable(queues, 0);
  const auto verdict = [&](formats::Opcode opcode, auto change) {
    formats::Submission entry;
    entry.opcode = static_cast<uint8_t>(opcode);
    change(entry);
    const uint16_t index = queues.queue(0).tail;
    write(queues, of(0, reg::SQ_TAIL), index + 1u);
    EXPECT_EQ(queues.order(0, index, 1), "");
    bool error = false;
    EXPECT_TRUE(queues.entry_read(false, error));
    const auto judged = *queues.next_verdict([&](uint64_t) { return formats::pack(entry); });
    queues.judged(judged);
    return judged.verdict;
  };
  using formats::Opcode;
  using formats::Verdict;
  using Entry = formats::Submission;
  const auto nothing = [](Entry&) {};
  const auto imm = [](Entry& e) { e.flags = formats::flag_imm; };
  const auto remote_addr = [](Entry& e) { e.remote_addr = 1; };
  for (const Opcode opcode : {Opcode::write, Opcode::write_imm, Opcode::send, Opcode::read, Opcode::recv}) {
    EXPECT_EQ(verdict(opcode, nothing), Verdict::accepted);
    EXPECT_EQ(verdict(opcode, imm) == Verdict::accepted, opcode == Opcode::send);
    EXPECT_EQ(verdict(opcode, remote_addr) == Verdict::rejected,
              opcode == Opcode::send || opcode == Opcode::recv);
  }
}

TEST_F(QueuesModel, RecvNamesNoPeer) {
  Queues queues({2, 4, 48, 0b111110});
  enable(queues, 0);
  const auto accepted = [&](uint32_t node, uint32_t key) {
    formats::Submission entry;
    entry.opcode = static_cast<uint8_t>(formats::Opcode::recv);
    entry.node = node;
    entry.remote_key = key;
    const uint16_t index = queues.queue(0).tail;
    write(queues, of(0, reg::SQ_TAIL), index + 1u);
    EXPECT_EQ(queues.order(0, index, 1), "");
    bool error = false;
    EXPECT_TRUE(queues.entry_read(false, error));
    const auto judged = *queues.next_verdict([&](uint64_t) { return formats::pack(entry); });
    queues.judged(judged);
    return judged.verdict == formats::Verdict::accepted;
  };
  EXPECT_TRUE(accepted(0, 0));
  EXPECT_FALSE(accepted(1, 0));
  EXPECT_FALSE(accepted(0, 1u << 31));
}

TEST_F(QueuesModel, TellsTheInboxOnceAndTheTruth) {
  write(queues_, reg::Q_KEY, 0x1234);
  EXPECT_NE(queues_.tell(0, true, 0x1234), "") << "OFF";
  enable(queues_, 0);
  EXPECT_TRUE(queues_.untold(0));
  EXPECT_NE(queues_.tell(0, true, 0x1235), "") << "another key";
  EXPECT_NE(queues_.tell(0, false, 0), "") << "not known as open";
  EXPECT_EQ(queues_.tell(0, true, 0x1234), "");
  EXPECT_FALSE(queues_.untold(0));
  EXPECT_NE(queues_.tell(0, true, 0x1234), "") << "twice";
  EXPECT_NE(queues_.tell(0, false, 0), "") << "in RUN";
  write(queues_, reg::Q_CTL, 0);
  EXPECT_TRUE(queues_.untold(0));
  EXPECT_NE(queues_.off(0), "") << "known as open";
  EXPECT_EQ(queues_.tell(0, false, 0), "");
  EXPECT_EQ(queues_.off(0), "");
}

// --- requests on their way to engine and inbox

class QueueRequests : public testing::Test {
 protected:
  static Request request(formats::Opcode opcode) {
    Request request{3, 7, {}};
    request.entry.opcode = static_cast<uint8_t>(opcode);
    request.entry.tag = 99;
    request.entry.local_addr = 0x1000;
    request.entry.bytes = 0x100;
    request.entry.local_key = 0x5;
    return request;
  }
  static rdma::Config config(bool local_use) {
    rdma::Config config;
    rdma::Region region;
    region.base = 0x1000;
    region.limit = 0x2000;
    region.key = 5;
    region.owner = 7;
    region.local_use = local_use;
    config.regions.push_back(region);
    return config;
  }
};

TEST_F(QueueRequests, OnlySendingNeedsLocalUse) {
  using formats::Opcode;
  for (const Opcode opcode : {Opcode::write, Opcode::write_imm, Opcode::send, Opcode::read, Opcode::recv}) {
    const bool buffer = opcode == Opcode::read || opcode == Opcode::recv;
    EXPECT_EQ(is_ticket(request(opcode)), buffer);
    EXPECT_EQ(refusal(config(true), request(opcode)), 0);
    EXPECT_EQ(refusal(config(false), request(opcode)), buffer ? 0 : 18);
    auto other = request(opcode);
    other.owner = 8;
    EXPECT_EQ(refusal(config(true), other), 18);
    auto outside = request(opcode);
    outside.entry.bytes = 0x1001;
    EXPECT_EQ(refusal(config(true), outside), 19);
    auto empty = other;
    empty.entry.bytes = 0;
    EXPECT_EQ(refusal(config(true), empty), buffer ? 0 : 18);
    auto wide = request(opcode);
    wide.entry.remote_key = 1u << 24;
    EXPECT_EQ(refusal(config(true), wide), 10);
  }
}

TEST_F(QueueRequests, CompletionOfARecvSaysWhatCame) {
  const Request recv = request(formats::Opcode::recv);
  rdma::TicketCompletion end;
  end.status = rdma::formats::Status::ok;
  end.node = 4;
  end.bytes = 17;
  end.imm = 8;
  EXPECT_EQ(outcome_of(recv, end).fields.opcode, 16);
  EXPECT_EQ(outcome_of(recv, end).fields.has_immediate, 1);
  end.form = rdma::Form::immediate;
  EXPECT_EQ(outcome_of(recv, end).fields.opcode, 17);
  end = {};
  end.status = rdma::formats::Status::cancelled;
  EXPECT_EQ(outcome_of(recv, end).fields.opcode, 5);
  EXPECT_EQ(outcome_of(recv, end).fields.has_immediate, 0);
}

/// Any course of doorbells, entries, completions, disabling: every slot promised is dropped or retired in the
/// end, no ring is overrun.
TEST_F(QueuesModel, EverythingPromisedEnds) {
  EXPECT_PROPERTY("promises are kept", [](const std::vector<uint8_t>& course) {
    Queues queues({2, 4, 48, 1u << 1});
    std::deque<std::pair<uint8_t, formats::Opcode>> engine;
    unsigned reads = 0;
    enable(queues, 0);
    write(queues, reg::Q_QUOTA, 3);
    enable(queues, 1);
    const auto enter = [&] {
      bool error = false;
      if (reads == 0 || !queues.entry_read(false, error)) return;
      --reads;
      const auto judged = *queues.next_verdict(good_entry);
      queues.judged(judged);
      if (judged.verdict == formats::Verdict::accepted)
        engine.emplace_back(judged.queue, formats::Opcode::write);
    };
    const auto finish_one = [&] {
      if (engine.empty()) return;
      RC_ASSERT(complete(queues, engine.front().first, engine.front().second).empty());
      engine.pop_front();
    };
    for (const uint8_t step : course) {
      const uint32_t q = step & 1;
      const Queue& queue = queues.queue(q);
      switch (step >> 1 & 7) {
        case 0:
          write(queues, of(q, reg::SQ_TAIL), static_cast<uint16_t>(queue.tail + (step >> 4)));
          break;
        case 1:
        case 2:
          if (queues.order(q, queue.asked, 1).empty()) ++reads;
          break;
        case 3:
          enter();
          break;
        case 4:
          finish_one();
          break;
        case 5:
          write(queues, of(q, reg::CQ_HEAD), queue.retired);
          break;
        case 6:
          if (queue.live() && queue.room() > 0 && queues.claim(q, true).empty())
            engine.emplace_back(static_cast<uint8_t>(q), formats::Opcode::receive);
          break;
        default:
          if (step >> 4 == 0) {
            write(queues, reg::QUEUE, q);
            write(queues, reg::Q_CTL, 0);
          }
      }
      RC_ASSERT(static_cast<uint16_t>(queue.promised - queue.cq_head) <= queue.cq_size());
      RC_ASSERT(queue.config.quota == 0 || queue.held() <= queue.config.quota);
    }
    while (reads > 0) enter();
    while (!engine.empty()) finish_one();
    for (uint32_t q = 0; q < 2; ++q) {
      const Queue& queue = queues.queue(q);
      RC_ASSERT(queue.promised == static_cast<uint16_t>(queue.dropped + queue.retired));
      RC_ASSERT(queue.held() == 0);
      if (queues.untold(q)) RC_ASSERT(queues.tell(q, !queue.known_open, queue.config.key).empty());
      if (queue.state == QueueState::drain) RC_ASSERT(queues.off(q).empty());
    }
  });
}

}  // namespace
}  // namespace weft::rdma_queues

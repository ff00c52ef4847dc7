// SPDX-License-Identifier: Apache-2.0
// Quotas of queues in a NIC (docs/rdma_queues.md, Quotas): an owner whose peers do not answer does not slow
// down another one's transfers. Quotas of answers (docs/rdma_transfers.md, Receiver): a node that reads all
// the time does not keep others from reading. Without quotas the same traffic stops them, so the test sees
// what it is there for.
#include <algorithm>
#include <iostream>
#include <utility>

#include "nic_bench.hpp"

namespace weft::tb {
namespace {

using queue_formats::Opcode;

constexpr uint64_t warm_up = 3'000, measured = 60'000;  // clocks
constexpr uint32_t flooder = 0, other = 1;              // owners, and their queues, of node 0
constexpr uint32_t alive = 1, dead = 2;                 // nodes

enum class Flood { none, writes_to_dead, sends_without_buffer, reads_of_dead };

struct Quotas {
  uint16_t flooder = 0, other = 0;
};

/// Node 0 with a queue for each of two owners. Both are kept full: the flooder's with requests that nobody
/// answers, the other's with good ones to a node that does.
class Contest {
 public:
  Contest(const std::string& build, Flood flood, Quotas quotas, uint8_t tickets = 0)
      : flood_(flood),
        transfers_(find_rdma_build(build)->params.transfers),
        bench_(config(build), setup(tickets)) {
    for (uint32_t node = 0; node < 2; ++node) {
      for (uint32_t owner = 0; owner < NicBench::owners; ++owner) {
        bench_.fill(node, NicBench::source_of(owner), NicBench::region_bytes);
        bench_.fill(node, NicBench::target_of(owner), NicBench::region_bytes);
        auto ring = bench_.ring_setup(owner, static_cast<uint8_t>(owner));
        ring.sq_log2 = ring.cq_log2 = ring_log2;
        if (node == 0) ring.quota = owner == flooder ? quotas.flooder : quotas.other;
        bench_.enable(node, owner, ring);
      }
    }
    bench_.system.halt_node(dead);
  }

  /// Completions of the other owner while the flooder's queue is kept full.
  size_t pace() {
    run(warm_up);
    const size_t before = done();
    run(measured);
    return done() - before;
  }
  /// Nobody posts any more: each request that was ever posted completes, and once.
  void end() { bench_.expect_settled(20'000'000); }
  size_t flooded() const { return flooded_; }
  static constexpr size_t ring_size() { return 1u << ring_log2; }

 private:
  static constexpr uint8_t ring_log2 = 5;
  static constexpr size_t max_reads = 3;

  static SystemConfig config(const std::string& build) { return NicBench::usual_config(3, build); }
  static driver::RdmaSetup setup(uint8_t tickets) {
    auto setup = NicBench::usual_setup();
    setup.max_busy = 6;  // or a SEND without a buffer would never end
    setup.ticket_quota = tickets;
    return setup;
  }

  size_t done() { return bench_.hosts[0].rings[other].completions.size(); }

  void run(uint64_t clocks) {
    bench_.system.run_until(
        [this] {
          bench_.collect_all();
          if (flood_ != Flood::none) keep_full(flooder, [this] { return flood_entry(); });
          keep_full(other, [this] { return good_entry(); });
          return bench_.failed();
        },
        clocks);
  }

  template <typename Make>
  void keep_full(uint32_t queue, Make make) {
    driver::RingQueue& ring = *bench_.hosts[0].rings[queue].queue;
    if (ring.room() == 0) return;
    while (ring.room() != 0) {
      const auto [entry, status] = make();
      bench_.put(0, queue, entry, static_cast<uint8_t>(status), queue == flooder);
    }
    ring.ring();
  }

  using Made = std::pair<queue_formats::Submission, EngineStatus>;

  Made flood_entry() {
    ++flooded_;
    const uint32_t at = 64 * static_cast<uint32_t>(flooded_ % 512);
    switch (flood_) {
      case Flood::sends_without_buffer:
        return {bench_.send_entry(flooder, alive, 0, at, 64), EngineStatus::not_ready};
      case Flood::reads_of_dead:  // those beyond the share in the tickets end at once, the others unheard
        return {bench_.read_entry(flooder, dead, at, at, 64), EngineStatus::no_ticket};
      default:
        return {bench_.write_entry(flooder, dead, at, at, 64), EngineStatus::no_answer};
    }
  }

  /// Of a NIC with transfers also READs, of bytes that no WRITE changes, as many at once as tickets are sure.
  Made good_entry() {
    const uint32_t at = 512 * (good_++ % 32);
    if (transfers_ && open_reads() < max_reads)
      return {bench_.read_entry(other, alive, NicBench::region_bytes / 2 + at, at, 512), EngineStatus::ok};
    return {bench_.write_entry(other, alive, at, at, 512), EngineStatus::ok};
  }
  size_t open_reads() {
    const auto& wanted = bench_.hosts[0].rings[other].wanted;
    return static_cast<size_t>(std::count_if(wanted.begin(), wanted.end(), [](const auto& one) {
      return one.second.entry.opcode == static_cast<uint8_t>(Opcode::read);
    }));
  }

  Flood flood_;
  bool transfers_;
  NicBench bench_;
  size_t flooded_ = 0;
  uint32_t good_ = 0;
};

/// The other owner's completions; then all that was posted completes.
size_t pace(const std::string& build, Flood flood, Quotas quotas, uint8_t tickets) {
  Contest contest(build, flood, quotas, tickets);
  const size_t completions = contest.pace();
  contest.end();
  if (flood != Flood::none) {
    EXPECT_GT(contest.flooded(), contest.ring_size()) << "the flooder's ring was never full";
  }
  return completions;
}

/// The other owner's pace beside the flooder, as a part of that without.
double pace_beside(const std::string& build, Flood flood, Quotas quotas, uint8_t tickets = 0) {
  const size_t alone = pace(build, Flood::none, quotas, tickets);
  const size_t beside = pace(build, flood, quotas, tickets);
  EXPECT_GT(alone, 200u);
  const double ratio = static_cast<double>(beside) / static_cast<double>(alone);
  std::cout << build << ", quotas " << quotas.flooder << " and " << quotas.other << ": " << beside
            << " beside the flooder, " << alone << " alone, completions in " << measured << " clocks, ratio "
            << ratio << "\n";
  return ratio;
}

constexpr double full_pace = 0.9, late = 0.75, fair_share = 0.5, starved = 0.2;

TEST(NicQuota, WritesToADeadPeerStarveNobody) {
  EXPECT_GE(pace_beside("nic", Flood::writes_to_dead, {4, 4}), full_pace);
}
TEST(NicQuota, WritesToADeadPeerStarveOthersWithoutQuota) {
  EXPECT_LE(pace_beside("nic", Flood::writes_to_dead, {0, 0}), starved);
}

/// Two of the eight contexts are kept for answers.
TEST(NicQuota, SendsWithoutABufferStarveNobody) {
  EXPECT_GE(pace_beside("nic_full", Flood::sends_without_buffer, {3, 3}), full_pace);
}
TEST(NicQuota, SendsWithoutABufferStarveOthersWithoutQuota) {
  EXPECT_LE(pace_beside("nic_full", Flood::sends_without_buffer, {0, 0}), starved);
}

/// READs of a dead peer hold tickets instead, of which TICKET_QUOTA gives each queue its half. What is beyond
/// ends at once, so this flooder never has to wait: it takes its turns of the path that both share, and no
/// more than those.
TEST(NicQuota, ReadsOfADeadPeerTakeNoMoreThanTheirTurns) {
  EXPECT_GE(pace_beside("nic_full", Flood::reads_of_dead, {3, 3}, 4), fair_share);
}

/// Node 0, which is read by two others: by one as much as it can, by the other one READ after the other.
class Readers {
 public:
  Readers(bool flood, uint16_t quota)
      : flood_(flood), bench_(NicBench::usual_config(3, "nic_full"), setup(quota)) {
    bench_.fill(target, NicBench::target_of(owner), NicBench::region_bytes);
    for (const uint32_t node : {greedy, modest}) bench_.enable(node, queue, owner);
  }

  /// READs of the modest one that complete.
  size_t pace() {
    run(warm_up);
    const size_t before = done(modest);
    run(measured);
    const size_t pace = done(modest) - before;
    bench_.expect_settled(20'000'000);
    return pace;
  }

 private:
  static constexpr uint32_t target = 0, greedy = 1, modest = 2;  // nodes
  static constexpr uint32_t owner = 0, queue = 0;
  static constexpr size_t most_reads = 8;  // as many tickets as there are

  static driver::RdmaSetup setup(uint16_t quota) {
    auto setup = NicBench::usual_setup();
    setup.max_busy = 0;  // nobody gives up
    setup.answer_quota = quota;
    return setup;
  }

  NicBench::Ring& ring(uint32_t node) { return bench_.hosts[node].rings[queue]; }
  size_t done(uint32_t node) { return ring(node).completions.size(); }

  void run(uint64_t clocks) {
    bench_.system.run_until(
        [this] {
          bench_.collect_all();
          if (flood_ && ring(greedy).wanted.size() < most_reads) read(greedy, 32768);
          if (ring(modest).wanted.empty()) read(modest, 512);
          return bench_.failed();
        },
        clocks);
  }
  void read(uint32_t node, uint32_t bytes) {
    bench_.post(node, queue, bench_.read_entry(owner, target, 0, 0, bytes));
  }

  bool flood_;
  NicBench bench_;
};

double readers_pace_beside(uint16_t quota) {
  const size_t alone = Readers(false, quota).pace();
  const size_t beside = Readers(true, quota).pace();
  EXPECT_GT(alone, 50u);
  const double ratio = static_cast<double>(beside) / static_cast<double>(alone);
  std::cout << "ANSWER_QUOTA " << quota << " of two answers: " << beside << " READs beside the greedy one, "
            << alone << " alone, in " << measured << " clocks, ratio " << ratio << "\n";
  return ratio;
}

TEST(NicQuota, AGreedyReaderLeavesAnswersToOthers) { EXPECT_GE(readers_pace_beside(1), full_pace); }
TEST(NicQuota, AGreedyReaderLeavesNoAnswersToOthersWithoutQuota) { EXPECT_LT(readers_pace_beside(0), late); }

}  // namespace
}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// The NIC, rule by rule: transfers through rings, protection of local memory, errors, drain, reset.
#include "nic_bench.hpp"

namespace weft::tb {
namespace {

namespace engine_reg = rdma::formats::reg;
namespace queue_reg = queue_formats::reg;

constexpr uint8_t status_of(QueueStatus status) { return static_cast<uint8_t>(status); }
constexpr uint8_t status_of(EngineStatus status) { return static_cast<uint8_t>(status); }

std::optional<uint32_t> read_register(NicBench& bench, uint32_t node, uint32_t address) {
  std::optional<uint32_t> value;
  bool answered = false;
  bench.system.node(node).registers().read(address, [&](bool ok, uint32_t data) {
    answered = true;
    if (ok) value = data;
  });
  bench.system.run_until([&] { return answered; }, 1000);
  EXPECT_TRUE(answered) << "register " << address << " is not answered";
  return value;
}

bool write_register(NicBench& bench, uint32_t node, uint32_t address, uint32_t data) {
  std::optional<bool> answer;
  bench.system.node(node).registers().write(address, data, [&](bool ok) { answer = ok; });
  bench.system.run_until([&] { return answer.has_value(); }, 1000);
  EXPECT_TRUE(answer.has_value()) << "register " << address << " is not answered";
  return answer.value_or(false);
}

uint32_t queue_state(NicBench& bench, uint32_t node, uint32_t queue) {
  return read_register(bench, node, driver::ring_register(queue_reg::STATE, queue)).value_or(0xff) & 3;
}

/// Both nodes with queue 0 of owner 0 and queue 1 of owner 1, so that whatever one owner does can be seen not
/// to touch the other.
class Nic : public testing::Test {
 protected:
  void build(const SystemConfig& config = NicBench::usual_config()) {
    bench_.emplace(config);
    for (uint32_t node = 0; node < config.nodes; ++node) {
      for (uint8_t owner = 0; owner < NicBench::owners; ++owner) {
        sources_[node][owner] = bench_->fill(node, NicBench::source_of(owner), NicBench::region_bytes);
        bench_->fill(node, NicBench::target_of(owner), NicBench::region_bytes);
        bench_->enable(node, owner, owner);
      }
    }
  }
  NicBench& bench() { return *bench_; }

  /// One entry that ends so, and nothing is sent for it.
  void expect_refused(const queue_formats::Submission& entry, uint8_t status, uint32_t queue = 0) {
    const uint64_t beats = bench().system.node(0).beats_out();
    bench().post(0, queue, entry, status);
    bench().expect_settled();
    EXPECT_EQ(bench().system.node(0).queues().outcomes(status), ++refusals_[status]);
    EXPECT_EQ(bench().system.node(0).beats_out(), beats) << "something was sent";
  }

  queue_formats::Submission good(uint32_t owner = 0) { return bench().write_entry(owner, 1, 0, 0, 256); }

  std::optional<NicBench> bench_;
  std::vector<uint8_t> sources_[8][NicBench::owners];
  std::map<uint8_t, uint64_t> refusals_;
};

TEST_F(Nic, WriteThroughARing) {
  build();
  bench().post(0, 1, bench().write_entry(1, 1, 0, 256, 1000));
  bench().expect_settled();
  EXPECT_EQ(bench().hosts[0].rings[1].completions.size(), 1u);
  const auto data = bench().memory(0).read(NicBench::source_of(1), 1000);
  EXPECT_TRUE(bench().memory(1).equals(NicBench::target_of(1) + 256, data));
}

/// As many packets as PIDX can number, twice: host writes, counted in 16 bits, go round on the way.
TEST_F(Nic, CountsGoRoundInLongTransfers) {
  const auto config = NicBench::usual_config();
  const auto& params = config.node.build.params;
  const uint32_t bytes = ((1u << params.pidx_bits) - 1) * params.payload;
  auto setup = NicBench::usual_setup();
  const auto number = static_cast<uint8_t>(setup.regions.size());
  constexpr uint64_t from = 0x8000'0000, to = 0xc000'0000, size = 1 << 23;
  setup.regions.push_back({from, from + size, NicBench::key(0), false, true, 0});
  setup.regions.push_back({to, to + size, NicBench::key(1)});
  bench_.emplace(config, setup);
  bench().enable(0, 0, 0);
  for (const uint64_t offset : {0u, 1u << 22}) {
    const auto data = bench().fill(0, from + offset, bytes);
    auto entry = bench().write_entry(0, 1, 0, 0, bytes);
    entry.local_addr = from + offset;
    entry.remote_addr = to + offset;
    entry.local_key = driver::rdma_rkey(number, NicBench::key(0));
    entry.remote_key = driver::rdma_rkey(number + 1, NicBench::key(1));
    bench().post(0, 0, entry);
    bench().expect_settled(4'000'000);
    EXPECT_TRUE(bench().memory(1).equals(to + offset, data));
  }
}

// --- the register space

TEST_F(Nic, OneRegisterSpaceOfPages) {
  build();
  const uint32_t queues = find_rdma_build("nic")->queues;
  EXPECT_EQ(read_register(bench(), 0, engine_reg::ID), rdma::formats::reset::ID);
  EXPECT_EQ(read_register(bench(), 0, driver::ring_register(queue_reg::CAPS)).value_or(0) & 0xff, queues);
  EXPECT_EQ(queue_state(bench(), 0, 1), static_cast<uint32_t>(queue_formats::QueueState::run));
  EXPECT_EQ(queue_state(bench(), 0, queues - 1), static_cast<uint32_t>(queue_formats::QueueState::off));
  // The page behind the last queue's, and a hole in each of the two first ones.
  EXPECT_EQ(read_register(bench(), 0, driver::ring_register(queue_reg::STATE, queues)), std::nullopt);
  EXPECT_EQ(read_register(bench(), 0, 0xffc), std::nullopt);
  EXPECT_EQ(read_register(bench(), 0, 0x1ffc), std::nullopt);
  EXPECT_FALSE(write_register(bench(), 0, 0xffc, 0));
  EXPECT_FALSE(write_register(bench(), 0, 0x1ffc, 0));
  EXPECT_TRUE(write_register(bench(), 0, driver::ring_register(queue_reg::TICK_CYCLES), 77));
  EXPECT_EQ(read_register(bench(), 0, driver::ring_register(queue_reg::TICK_CYCLES)), 77u);
  // Each part counts its own.
  EXPECT_EQ(read_register(bench(), 0, engine_reg::BAD_ACCESS), 2u);
  EXPECT_EQ(read_register(bench(), 0, driver::ring_register(queue_reg::BAD_ACCESS)), 3u);
  bench().expect_settled();
}

// --- local memory

TEST_F(Nic, LocalKeyMustBeRight) {
  build();
  const uint8_t status = status_of(QueueStatus::local_key);
  for (const uint32_t wrong : {1u, 0x8000u, 1u << 24, 1u << 31}) {  // key, upper bits
    auto entry = good();
    entry.local_key ^= wrong;
    expect_refused(entry, status);
  }
  auto entry = good();
  entry.local_key = driver::rdma_rkey(9, 0);  // never opened
  expect_refused(entry, status);
  entry = good();
  entry.local_key = driver::rdma_rkey(200, 0);  // does not exist
  expect_refused(entry, status);
}

TEST_F(Nic, RegionOfAnotherOwnerIsOutOfReach) {
  build();
  auto entry = good(0);
  entry.local_addr = NicBench::source_of(1);
  entry.local_key = NicBench::local_key(1);
  expect_refused(entry, status_of(QueueStatus::local_key), 0);
  entry.local_key = NicBench::local_key(0);  // its own key, the other's bytes
  expect_refused(entry, status_of(QueueStatus::local_region), 0);
  bench().post(0, 1, good(1));  // their owner may
  bench().expect_settled();
}

TEST_F(Nic, RightOfRemoteWritesIsNoRightOfLocalUse) {
  build();
  auto entry = good();
  entry.local_addr = NicBench::target_of(0);
  entry.local_key = NicBench::remote_key(0);
  expect_refused(entry, status_of(QueueStatus::local_key));
  // And the other way round: the peer's region for local use takes no writes.
  entry = good();
  entry.remote_addr = NicBench::source_of(0);
  entry.remote_key = NicBench::local_key(0);
  bench().post(0, 0, entry, status_of(EngineStatus::bad_key));
  bench().expect_settled();
}

TEST_F(Nic, LocalBytesMustLieInside) {
  build();
  const uint64_t base = NicBench::source_of(0), end = base + NicBench::region_bytes;
  struct Range {
    uint64_t address;
    uint32_t bytes;
  };
  for (const auto& [address, bytes] :
       {Range{base - 64, 64}, Range{base - 64, 128}, Range{end - 64, 65}, Range{end, 64},
        Range{end - 64, 0xffffffff}, Range{base, NicBench::region_bytes + 1}, Range{base + (1ull << 48), 64},
        Range{base + (1ull << 63), 64}, Range{0, 64}}) {
    auto entry = good();
    entry.local_addr = address;
    entry.bytes = bytes;
    expect_refused(entry, status_of(QueueStatus::local_region));
  }
  for (const auto& [address, bytes] :
       {Range{base, 64}, Range{end - 64, 64}, Range{end - 64, 1}, Range{base, 4096}}) {
    auto entry = good();
    entry.local_addr = address;
    entry.bytes = bytes;
    bench().post(0, 0, entry);
  }
  bench().expect_settled();
}

TEST_F(Nic, ClosedOrMovedRegionCountsFromItsSet) {
  build();
  auto set = [&](uint64_t base, bool local_use, uint8_t owner) {
    bench().system.node(0).driver().set_region(
        0, {base, base + NicBench::region_bytes, NicBench::key(0), false, local_use, owner});
    bench().system.run_until([&] { return bench().system.node(0).registers().idle(); }, 10'000);
  };
  bench().post(0, 0, good());
  bench().expect_settled();
  set(NicBench::source_of(0), false, 0);
  expect_refused(good(), status_of(QueueStatus::local_key));
  set(NicBench::source_of(0), true, 1);
  expect_refused(good(), status_of(QueueStatus::local_key));
  set(NicBench::source_of(0) + 4096, true, 0);
  expect_refused(good(), status_of(QueueStatus::local_region));
  set(NicBench::source_of(0), true, 0);
  bench().post(0, 0, good());
  bench().expect_settled();
}

// --- what the engine itself refuses, and malformed entries

TEST_F(Nic, ErrorsOfTheEngineComeThroughTheRing) {
  build();
  auto entry = good();
  entry.bytes = 0;
  expect_refused(entry, status_of(EngineStatus::bad_length));
  entry = good();
  entry.local_addr += 1;
  entry.bytes = 64;
  expect_refused(entry, status_of(EngineStatus::misaligned));
  entry = good();
  entry.node = 1u << 20;
  expect_refused(entry, status_of(EngineStatus::bad_node));
  entry = good();
  entry.remote_addr = 1ull << 60;
  expect_refused(entry, status_of(EngineStatus::bad_address));
  entry = good();
  entry.remote_key |= 1u << 24;  // wider than any key
  expect_refused(entry, status_of(EngineStatus::bad_key));
  entry = good();
  entry.remote_addr += NicBench::region_bytes;
  bench().post(0, 0, entry, status_of(EngineStatus::bad_region));
  bench().expect_settled();
}

TEST_F(Nic, MalformedEntryEndsInTheQueues) {
  build();
  auto entry = good();
  entry.opcode = static_cast<uint8_t>(queue_formats::Opcode::read);
  expect_refused(entry, status_of(QueueStatus::bad_opcode));
  entry = good();
  entry.reserved1 = 1;
  expect_refused(entry, status_of(QueueStatus::bad_entry));
  entry = good();
  entry.flags = 0x80;
  expect_refused(entry, status_of(QueueStatus::bad_entry));
}

TEST_F(Nic, PostsOfTheRegistersAreNotChecked) {
  build();
  // From memory that is in no region at all.
  const auto data = bench().fill(0, 0x5000'0000, 512);
  bench().system.node(0).driver().post(
      {0x5000'0000, NicBench::target_of(0), 512, 1, 0xbeef, NicBench::remote_key(0)});
  bench().post(0, 1, good(1));
  bench().expect_settled();
  ASSERT_EQ(bench().hosts[0].register_completions.count(0xbeef), 1u);
  EXPECT_EQ(bench().hosts[0].register_completions[0xbeef], EngineStatus::ok);
  EXPECT_TRUE(bench().memory(1).equals(NicBench::target_of(0), data));
}

TEST_F(Nic, RegisterCompletionsLeftUnreadDoNotStopTheQueues) {
  build();
  bench().system.node(0).serve_interrupts(false);
  const uint32_t contexts = find_rdma_build("nic")->params.n_tx_ctx;
  for (uint32_t i = 0; i < contexts + 2; ++i) {  // two more than can complete
    bench().system.node(0).driver().post({NicBench::source_of(0), NicBench::target_of(0), 64, 1,
                                          static_cast<uint16_t>(i), NicBench::remote_key(0)});
  }
  bench().run(5000);
  EXPECT_EQ(read_register(bench(), 0, engine_reg::CPL_COUNT), contexts);
  for (uint32_t i = 0; i < 10; ++i) bench().post(0, 0, good());
  EXPECT_TRUE(bench().system.run_until(
      [&] {
        bench().collect_all();
        return bench().all_completed();
      },
      100'000))
      << "queues wait for completions that nobody reads";
  bench().system.node(0).serve_interrupts(true);
  bench().expect_settled();
  EXPECT_EQ(bench().hosts[0].register_completions.size(), contexts + 2u);
}

// --- peers and buses that fail

TEST_F(Nic, DeadPeerEndsInACompletion) {
  build();
  bench().system.halt_node(1);
  for (auto& ring : bench().hosts[1].rings) ring.enabled = false;
  bench().post(0, 0, good(), status_of(EngineStatus::no_answer));
  bench().expect_settled();
}

/// A transfer to a node that is dead ends after two timeouts, of a tick, part of which is over, and of two.
TEST_F(Nic, TicksAreAsLongAsTheRegisterSays) {
  build();
  bench().system.halt_node(1);
  for (auto& ring : bench().hosts[1].rings) ring.enabled = false;
  for (const auto& [reg, value] : {std::pair{engine_reg::TX_RETRY, 1u}, {engine_reg::MAX_RETRY, 1u}}) {
    EXPECT_TRUE(write_register(bench(), 0, reg, value));
  }
  for (const uint32_t tick : {0xffffu, 0xaaaau, 0x5555u, 3000u}) {
    EXPECT_TRUE(write_register(bench(), 0, engine_reg::TICK_CYCLES, tick));
    const uint64_t begin = bench().system.cycle();
    bench().post(0, 0, good(), status_of(EngineStatus::no_answer));
    bench().expect_settled();
    const uint64_t cycles = bench().system.cycle() - begin;
    EXPECT_GT(cycles, 2 * tick) << tick;
    EXPECT_LT(cycles, 3 * tick + 2000) << tick;
  }
}

TEST_F(Nic, RegistersKeepEachBit) {
  build();
  for (const uint32_t value : {0xffff'ffffu, 0xa5a5'a5a5u, 0x5a5a'5a5au, 0u, 0xffff'ffffu, 0u}) {
    for (const uint32_t reg :
         {engine_reg::POST_SRC_HI, engine_reg::REGION_BASE_LO, driver::ring_register(queue_reg::Q_MSI_DATA),
          driver::ring_register(queue_reg::Q_SQ_BASE_HI)}) {
      EXPECT_TRUE(write_register(bench(), 0, reg, value));
      EXPECT_EQ(read_register(bench(), 0, reg), value) << reg;
    }
  }
  bench().expect_settled();
}

/// Unaligned addresses are none of any register, and a register is written as a whole.
TEST_F(Nic, RegistersAreWholeWords) {
  build();
  for (const uint32_t page : {0u, 0x1000u}) {
    const uint32_t reg = page + (page == 0 ? engine_reg::TICK_CYCLES : queue_reg::TICK_CYCLES);
    const auto before = read_register(bench(), 0, reg);
    for (uint32_t low = 1; low < 4; ++low) {
      EXPECT_EQ(read_register(bench(), 0, reg + low), std::nullopt);
      EXPECT_FALSE(write_register(bench(), 0, reg + low, 1));
    }
    for (uint8_t strobes = 0; strobes < 15; ++strobes) {
      std::optional<bool> answer;
      bench().system.node(0).registers().write_strobed(reg, 1, strobes, [&](bool ok) { answer = ok; });
      bench().system.run_until([&] { return answer.has_value(); }, 1000);
      EXPECT_EQ(answer, false) << int{strobes};
    }
    EXPECT_EQ(read_register(bench(), 0, reg), before);
    const uint32_t count = page == 0 ? engine_reg::BAD_ACCESS : driver::ring_register(queue_reg::BAD_ACCESS);
    EXPECT_EQ(read_register(bench(), 0, count), 3u + 3u + 15u);
  }
  bench().expect_settled();
}

TEST_F(Nic, PeerThatDiesInTheMiddleEndsInACompletion) {
  build();
  auto entry = bench().write_entry(0, 1, 0, 0, 32'768);
  bench().post(0, 0, entry, status_of(EngineStatus::dead_peer));
  using rdma::formats::Outcome;
  bench().system.run_until([&] { return bench().system.node(0).scoreboard().outcomes(Outcome::send) > 20; },
                           10'000);
  bench().system.halt_node(1);
  for (auto& ring : bench().hosts[1].rings) ring.enabled = false;
  bench().expect_settled(5'000'000);
}

TEST_F(Nic, FailedWriteAtThePeerIsARemoteError) {
  build();
  bench().system.node(1).memory().inject_errors(NicBench::target_of(0), NicBench::target_of(0) + 64);
  bench().post(0, 0, good(), status_of(EngineStatus::remote_error));
  bench().post(0, 1, good(1));
  bench().expect_settled();
}

TEST_F(Nic, BusErrorOnACompletionStopsOnlyItsQueue) {
  build();
  const auto setup = bench().ring_setup(0, 0);
  bench().system.node(0).memory().inject_errors(setup.cq_base + 32, setup.cq_base + 64);  // the second one
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(bench().put(0, 0, good(), 0));
  }
  auto& ring = bench().hosts[0].rings[0];
  ring.queue->ring();
  bench().post(0, 1, good(1));
  EXPECT_TRUE(bench().system.run_until(
      [&] {
        bench().collect(0, 1);
        return bench().system.settled() && bench().hosts[0].rings[1].wanted.empty();
      },
      100'000))
      << bench().problems();
  EXPECT_EQ(queue_state(bench(), 0, 0), static_cast<uint32_t>(queue_formats::QueueState::error));
  EXPECT_EQ(queue_state(bench(), 0, 1), static_cast<uint32_t>(queue_formats::QueueState::run));
  EXPECT_EQ(read_register(bench(), 0, driver::ring_register(queue_reg::WRITE_ERRORS)), 1u);
  bench().collect(0, 0);
  EXPECT_EQ(ring.completions.size(), 1u);  // the second never came into the ring, so software stops before it
  EXPECT_EQ(ring.wanted.size(), 2u);
  bench().system.node(0).memory().inject_errors(0, 0);
  bench().disable(0, 0);
  bench().enable(0, 0, 0);  // with a new ring all goes on
  bench().post(0, 0, good());
  bench().expect_settled();
}

TEST_F(Nic, BusErrorOnAFetchStopsOnlyItsQueue) {
  build();
  const auto setup = bench().ring_setup(0, 0);
  bench().system.node(0).memory().inject_errors(setup.sq_base, setup.sq_base + 64);
  ASSERT_TRUE(bench().put(0, 0, good(), 0));
  bench().hosts[0].rings[0].queue->acknowledge(true);
  bench().hosts[0].rings[0].queue->ring();
  bench().post(0, 1, good(1));
  bench().hosts[0].rings[0].enabled = false;  // its entry never completes
  bench().expect_settled();
  EXPECT_NE(bench().memory(0).read(setup.msi_addr, 4), std::vector<uint8_t>(4)) << "nobody is told";
  EXPECT_EQ(queue_state(bench(), 0, 0), static_cast<uint32_t>(queue_formats::QueueState::error));
  EXPECT_EQ(bench().system.node(0).queues().fetch_errors(), 1u);
  bench().system.node(0).memory().inject_errors(0, 0);
  bench().disable(0, 0);
  bench().enable(0, 0, 0);
  bench().post(0, 0, good());
  bench().expect_settled();
}

// --- drain, reset, interrupts

TEST_F(Nic, DisabledWithRequestsInTheEngineDrains) {
  build();
  for (uint32_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(bench().put(0, 0, bench().write_entry(0, 1, 4096 * i, 4096 * i, 4096), 0));
  }
  bench().hosts[0].rings[0].queue->ring();
  bench().post(0, 1, good(1));
  EXPECT_TRUE(
      bench().system.run_until([&] { return bench().system.node(0).queues().under_way() >= 5; }, 10'000));
  const auto& node = bench().system.node(0).queues();
  const uint64_t before = node.model().queue(0).retired;
  const size_t in_engine = bench().system.node(0).queues().under_way();
  ASSERT_GE(in_engine, 5u);
  bench().disable(0, 0);
  // What the engine had ran to its end, and its completions were thrown away.
  EXPECT_GE(bench().system.node(0).queues().discarded() + before, in_engine - 1);
  EXPECT_EQ(read_register(bench(), 0, driver::ring_register(queue_reg::DISCARDED)),
            bench().system.node(0).queues().discarded());
  bench().expect_settled();
  bench().enable(0, 0, 1);  // another owner gets it
  bench().post(0, 0, good(1));
  auto entry = good(0);
  bench().post(0, 0, entry, status_of(QueueStatus::local_key));
  bench().expect_settled();
}

TEST_F(Nic, ResetTakesEngineAndQueuesTogether) {
  build();
  for (uint32_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(bench().put(0, 0, bench().write_entry(0, 1, 4096 * i, 4096 * i, 4096), 0));
  }
  bench().hosts[0].rings[0].queue->ring();
  EXPECT_TRUE(
      bench().system.run_until([&] { return bench().system.node(0).queues().under_way() >= 3; }, 10'000));
  bench().system.reset();
  for (auto& host : bench().hosts) {
    for (auto& ring : host.rings) ring.enabled = false;
  }
  bench().start();
  EXPECT_EQ(queue_state(bench(), 0, 0), static_cast<uint32_t>(queue_formats::QueueState::off));
  bench().enable(0, 0, 0);
  for (uint32_t i = 0; i < 20; ++i) {  // more than there are tags
    ASSERT_TRUE(bench().system.run_until(
        [&] {
          bench().collect_all();
          return bench().hosts[0].rings[0].queue->room() > 0;
        },
        100'000));
    bench().post(0, 0, good());
  }
  bench().expect_settled();
}

TEST_F(Nic, ArmedQueueSendsOneMessageAndLevelQueueRaisesItsLine) {
  build();
  auto level = bench().ring_setup(2, 0);
  level.irq = queue_formats::IrqKind::level;
  bench().enable(0, 2, level);
  bench().collect(0, 0, true);
  bench().hosts[0].rings[2].queue->acknowledge(true);
  bench().run(200);
  EXPECT_EQ(bench().system.node(0).queues().messages(), 0u);
  EXPECT_FALSE(bench().system.node(0).queue_irq());
  bench().post(0, 0, good());
  bench().post(0, 2, good());
  EXPECT_TRUE(bench().system.run_until([&] { return bench().system.node(0).queue_irq(); }, 10'000));
  EXPECT_FALSE(bench().system.node(0).irq()) << "the engine's line is another one";
  bench().run(2000);
  EXPECT_EQ(bench().system.node(0).queues().messages(), 1u);
  EXPECT_EQ(bench().memory(0).read(NicBench::message_base, 4), (std::vector<uint8_t>{0, 0, 0xcd, 0xab}));
  bench().expect_settled();
  EXPECT_TRUE(bench().system.run_until([&] { return !bench().system.node(0).queue_irq(); }, 1000));
}

// --- many requests

/// While memory takes nothing, completions of the engine wait, and none is lost.
TEST_F(Nic, StalledMemoryLosesNoCompletion) {
  build();
  auto setup = bench().ring_setup(2, 0);
  setup.sq_log2 = setup.cq_log2 = 6;
  bench().enable(0, 2, setup);
  auto& node = bench().system.node(0);
  const auto judged = [&] { return node.queues().model().queue(2).head; };
  for (uint32_t i = 0; i < 64; ++i) {
    auto entry = good();
    entry.node = 1u << 20;  // rejected by the engine at once
    ASSERT_TRUE(bench().put(0, 2, entry, status_of(EngineStatus::bad_node)));
  }
  bench().hosts[0].rings[2].queue->ring();
  while (!bench().hosts[0].rings[2].wanted.empty() && !bench().failed()) {
    // As many entries as can be read ahead, then nothing for long enough that all of them have completed.
    const uint16_t before = judged();
    bench().system.run_until([&] { return judged() != before || judged() == 64; }, 10'000);
    bench().run(40);
    node.memory().stall(true);
    bench().run(300);
    node.memory().stall(false);
    bench().run(20);
    bench().collect(0, 2);
  }
  bench().expect_settled();
}

TEST_F(Nic, MoreRequestsThanTagsWaitTheirTurn) {
  build();
  uint32_t posted = 0;
  EXPECT_TRUE(bench().system.run_until(
      [&] {
        bench().collect_all();
        for (uint32_t queue = 0; queue < 2; ++queue) {
          bool any = false;
          while (posted < 200 &&
                 bench().put(0, queue, bench().write_entry(queue, 1, 0, 64 * (posted % 1000), 64), 0)) {
            ++posted;
            any = true;
          }
          if (any) bench().hosts[0].rings[queue].queue->ring();
        }
        return posted == 200 && bench().all_completed();
      },
      500'000))
      << bench().problems();
  bench().expect_settled();
  EXPECT_EQ(bench().system.node(0).queues().outcomes(0), 200u);
}

}  // namespace
}  // namespace weft::tb

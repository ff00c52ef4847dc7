// SPDX-License-Identifier: Apache-2.0
// The engine seen from its host: posts, completions, registers, interrupts, memory that answers with errors.
#include "common/signals.hpp"
#include "engine_bench.hpp"
#include "made_packets.hpp"

namespace weft::tb {
namespace {

namespace formats = rdma::formats;
namespace reg = rdma::formats::reg;
using formats::Header;
using formats::Outcome;
using formats::Ptype;
using formats::Status;

class Posts : public testing::Test {
 protected:
  Posts() : bench_(EngineBench::alone()) {}

  void expect_status(const driver::RdmaRequest& request, Status status, Outcome outcome) {
    const uint64_t before = bench_.count(outcome);
    bench_.completions[0].clear();
    bench_.system.node(0).driver().post(request);
    EXPECT_TRUE(
        bench_.system.run_until([&] { return bench_.completions[0].contains(request.tag); }, 500'000));
    EXPECT_EQ(formats::name(bench_.completions[0][request.tag]), formats::name(status));
    EXPECT_EQ(bench_.count(outcome), before + 1);
  }

  EngineBench bench_;

  /// Four packets to a node that the test plays.
  void post_to_silent_node() {
    bench_.system.node(0).driver().post({source_base, destination_base, 1000, 7, 1});
    bench_.run(500);
  }

  /// Of the transfer that this node has under way.
  Header from_peer(Ptype type) {
    Header header = header_to_zero(type);
    header.msgid = 0;
    header.cid = 9;
    header.gen = 4;
    const rdma::Sender& sender = bench_.system.node(0).scoreboard().sender();
    for (uint16_t sid = 0; sid < 1024; ++sid) {
      if (sender.context(sid).state != rdma::TxContext::State::free) header.sid = sid;
    }
    return header;
  }
};

TEST_F(Posts, Rejected) {
  const uint64_t d = destination_base;
  const uint64_t s = source_base;
  expect_status({s, d, 256, 0x10000, 1}, Status::bad_node, Outcome::reject_node);
  expect_status({s, d, 256, 0xffffffff, 2}, Status::bad_node, Outcome::reject_node);
  expect_status({s, d, 0, 0, 3}, Status::bad_length, Outcome::reject_length);
  expect_status({s, d, 0xffffffff, 0, 4}, Status::bad_length, Outcome::reject_length);
  expect_status({s + 1, d, 256, 0, 5}, Status::misaligned, Outcome::reject_align);
  expect_status({s, d + 128, 256, 0, 6}, Status::misaligned, Outcome::reject_align);
  expect_status({1ull << 48, d, 256, 0, 7}, Status::bad_address, Outcome::reject_address);
  expect_status({(1ull << 48) - 256, d, 257, 0, 8}, Status::bad_address, Outcome::reject_address);
  expect_status({s, (1ull << 48) - 256, 512, 0, 9}, Status::bad_address, Outcome::reject_address);
  expect_status({s, 0xffff'ffff'ffff'ff00, 512, 0, 10}, Status::bad_address, Outcome::reject_address);
  EXPECT_EQ(bench_.system.node(0).scoreboard().packets().packets(), 0u);
  bench_.expect_settled();
}

TEST_F(Posts, RefusedByTheReceiver) {
  expect_status({source_base, destination_base + region_bytes, 256, 0, 1}, Status::bad_region,
                Outcome::refused);
  expect_status({source_base, destination_base - 256, 512, 0, 2}, Status::bad_region, Outcome::refused);
  expect_status({source_base, destination_base, 256, 0, 3, driver::rdma_rkey(0, 1)}, Status::bad_key,
                Outcome::refused);
  expect_status({source_base, destination_base, 256, 0, 4, driver::rdma_rkey(1, 0)}, Status::bad_key,
                Outcome::refused);
  EXPECT_EQ(bench_.written(), 0u);
  bench_.expect_settled();
}

// Software closes a region while a transfer to it is under way: not a byte more is written, and the sender is
// told.
TEST_F(Posts, EndWithoutSuccessWhenTheirRegionIsClosed) {
  bench_.system.node(0).memory().memory().write(source_base, std::vector<uint8_t>(100'000, 0x3c));
  bench_.system.node(0).driver().post({source_base, destination_base, 100'000, 0, 1});
  EXPECT_TRUE(bench_.system.run_until([&] { return bench_.written() > 10'000; }, 100'000));
  bench_.system.node(0).driver().set_region(0, {});
  EXPECT_TRUE(bench_.system.run_until([&] { return bench_.count(Outcome::drop_key) > 0; }, 10'000));
  const uint64_t written = bench_.written();
  EXPECT_TRUE(bench_.system.run_until([&] { return bench_.completions[0].contains(1); }, 5'000'000));
  EXPECT_EQ(formats::name(bench_.completions[0][1]), "DEAD_PEER");
  EXPECT_LE(bench_.written(), written + 2048) << "what was decided before";
  EXPECT_LT(bench_.written(), 100'000u);
  bench_.expect_settled();
}

TEST(ClosedRegion, IsNotWrittenOnceTheReceiverIsIdle) {
  SystemConfig config = EngineBench::alone();
  config.nodes = 2;
  config.node.memory_latency = 5000;
  EngineBench bench(config);
  bench.system.node(1).memory().memory().write(source_base, std::vector<uint8_t>(100'000, 0x3c));
  bench.system.node(1).driver().post({source_base, destination_base, 100'000, 0, 1});
  EXPECT_TRUE(bench.system.run_until([&] { return bench.count(Outcome::advance) >= 10; }, 100'000));
  bench.system.halt_node(1);  // packets that are dropped would keep the receiver busy as well
  bench.system.node(0).driver().set_region(0, {});
  bench.run(300);
  const AxiMemory& memory = bench.system.node(0).memory();
  EXPECT_FALSE(memory.idle()) << "no write is under way that could still come";
  unsigned polls = 0;
  while ((bench.read(reg::STATUS) & 1u << 4) == 0 && polls < 5000) ++polls;
  EXPECT_GT(polls, 0u);
  EXPECT_LT(polls, 5000u) << "never idle";
  EXPECT_TRUE(memory.idle());
  bench.expect_settled();
}

TEST_F(Posts, ToItself) {
  const std::vector<uint8_t> bytes(1000, 0x3c);
  bench_.system.node(0).memory().memory().write(source_base, bytes);
  expect_status({source_base, destination_base, 1000, 0, 1}, Status::ok, Outcome::complete);
  EXPECT_TRUE(bench_.system.node(0).memory().memory().equals(destination_base, bytes));
  bench_.expect_settled();
}

TEST_F(Posts, NobodyAnswers) {
  EXPECT_TRUE(bench_.write(reg::TX_RETRY, 20));
  EXPECT_TRUE(bench_.write(reg::MAX_RETRY, 2));
  expect_status({source_base, destination_base, 1000, 7, 1}, Status::no_answer, Outcome::give_up);
  EXPECT_EQ(bench_.count(Outcome::retry_rqt), 2u);
  bench_.expect_settled();
}

TEST_F(Posts, PeerFallsSilent) {
  EXPECT_TRUE(bench_.write(reg::TX_DEAD, 50));
  post_to_silent_node();
  bench_.system.node(0).receive(flits_of(from_peer(Ptype::rsp)));
  EXPECT_TRUE(bench_.system.run_until([&] { return bench_.completions[0].contains(1); }, 100'000));
  EXPECT_EQ(formats::name(bench_.completions[0][1]), "DEAD_PEER");
  EXPECT_EQ(bench_.count(Outcome::send), 4u);
  bench_.expect_settled();
}

TEST_F(Posts, PeerThatTellsNoWindowAsksForTheSameAgainAndAgain) {
  EXPECT_TRUE(bench_.write(reg::TX_DEAD, 4));
  post_to_silent_node();
  bench_.system.node(0).receive(flits_of(from_peer(Ptype::rsp)));
  const auto ended = [&] { return bench_.completions[0].contains(1); };
  for (unsigned asked = 0; asked < 10'000 && !ended(); ++asked) {
    bench_.system.node(0).receive(flits_of(from_peer(asked % 2 == 0 ? Ptype::resend : Ptype::ack)));
    bench_.run(64);  // four times in a TX_DEAD
  }
  ASSERT_TRUE(ended()) << "it keeps the context";
  EXPECT_EQ(formats::name(bench_.completions[0][1]), "DEAD_PEER");
  EXPECT_EQ(bench_.count(Outcome::still_asked), 255u);
  bench_.expect_settled();
}

TEST_F(Posts, SourceThatCannotBeReadIsTold) {
  AxiMemory& memory = bench_.system.node(0).memory();
  const std::vector<uint8_t> bytes(2000, 0x77);
  memory.memory().write(source_base, bytes);
  memory.inject_errors(source_base + 512, source_base + 513);
  expect_status({source_base, destination_base, 2000, 0, 1}, Status::source_error, Outcome::source_failed);
  EXPECT_GT(bench_.read(reg::BUS_ERRORS), 0u);
  EXPECT_EQ(bench_.read(reg::BUS_ERRORS), memory.errors());
  EXPECT_EQ(bench_.read(reg::IRQ_STATUS) & 2u, 2u);
  EXPECT_FALSE(bench_.system.node(0).irq()) << "not enabled";
  EXPECT_TRUE(bench_.write(reg::IRQ_ENABLE, 3));
  EXPECT_TRUE(bench_.system.node(0).irq());
  memory.inject_errors(0, 0);
  expect_status({source_base, destination_base, 2000, 0, 2}, Status::ok, Outcome::complete);
  EXPECT_TRUE(memory.memory().equals(destination_base, bytes));
  bench_.expect_settled();
}

/// A node played by the test says DONE at any moment around that at which a read fails: each transfer ends
/// once, by what comes first.
TEST_F(Posts, FaultOfATransferThatIsOverChangesNothing) {
  AxiMemory& memory = bench_.system.node(0).memory();
  memory.inject_errors(source_base, source_base + 1);
  unsigned failed = 0;
  unsigned fault_too_late = 0;
  for (uint16_t delay = 0; delay < 80; ++delay) {
    const uint64_t errors = memory.errors();
    bench_.completions[0].clear();
    bench_.system.node(0).driver().post({source_base, destination_base, 256, 7, delay});
    EXPECT_TRUE(bench_.system.run_until([&] { return bench_.count(Outcome::submit) == delay + 1u; }, 1000));
    Header header = from_peer(Ptype::rsp);
    header.msgid = delay;
    bench_.system.node(0).receive(flits_of(header));
    bench_.run(delay);
    header.ptype = static_cast<uint8_t>(Ptype::done);
    bench_.system.node(0).receive(flits_of(header));
    bench_.run(300);
    ASSERT_EQ(bench_.completions[0].count(delay), 1u) << "clock " << delay;
    const Status status = bench_.completions[0][delay];
    EXPECT_TRUE(status == Status::ok || status == Status::source_error) << formats::name(status);
    failed += status == Status::source_error;
    fault_too_late += status == Status::ok && memory.errors() > errors;
  }
  EXPECT_EQ(bench_.count(Outcome::source_failed), failed);
  EXPECT_EQ(bench_.count(Outcome::complete), 80u - failed);
  EXPECT_GT(failed, 10u);
  EXPECT_GT(fault_too_late, 3u) << "the read has failed before the end, or its answer was on its way";
  bench_.expect_settled();
}

/// The same with a transfer that is given up at that moment.
TEST(GivenUp, WhileAFaultIsOnItsWayEndsOnce) {
  unsigned failed = 0;
  for (uint32_t latency = 30; latency < 120; ++latency) {
    SystemConfig config = EngineBench::alone();
    config.node.memory_latency = latency;
    driver::RdmaSetup setup = EngineBench::usual_setup();
    setup.tick_cycles = 1;
    setup.rx_timeout = setup.tx_retry = 2000;
    setup.tx_dead = 60;
    setup.max_retry = 0;
    EngineBench bench(config, setup);
    bench.system.node(0).memory().inject_errors(source_base, source_base + 1);
    bench.system.node(0).driver().post({source_base, destination_base, 256, 0, 1});
    EXPECT_TRUE(bench.system.run_until([&] { return bench.completions[0].contains(1); }, 5000));
    const bool by_fault = bench.completions[0][1] == Status::source_error;
    EXPECT_TRUE(by_fault || bench.completions[0][1] == Status::dead_peer);
    bench.expect_settled();
    EXPECT_EQ(bench.count(Outcome::source_failed), by_fault ? 1u : 0u);
    EXPECT_EQ(bench.count(Outcome::give_up), by_fault ? 0u : 1u);
    failed += by_fault;
  }
  EXPECT_GT(failed, 10u);
  EXPECT_LT(failed, 80u);
}

/// Source packets that cannot be read, by their PIDX in a transfer of eight packets.
class UnreadableSource : public testing::TestWithParam<uint32_t> {
 protected:
  static constexpr uint64_t soon = 2000;  // clocks, far less than any timeout

  static driver::RdmaSetup setup(bool weft_mode) {
    driver::RdmaSetup setup = EngineBench::usual_setup();
    setup.tick_cycles = 64;
    setup.rx_timeout = setup.tx_retry = 60;
    setup.tx_dead = 8000;
    setup.weft_mode = weft_mode;
    return setup;
  }
  static void fail(EngineBench& bench, const SystemConfig& config) {
    const uint64_t bad = source_base + 256 * GetParam();
    bench.system.node(0).memory().inject_errors(bad, bad + 1);
    bench.system.node(0).driver().post({source_base, destination_base, 2000, config.nodes - 1, 1});
    EXPECT_TRUE(bench.system.run_until([&] { return bench.completions[0].contains(1); }, soon))
        << "no completion";
    EXPECT_EQ(formats::name(bench.completions[0][1]), "SOURCE_ERROR");
  }
};

TEST_P(UnreadableSource, EndsTheTransferAtOnceAndFreesTheReceiver) {
  for (const bool weft_mode : {true, false}) {
    const SystemConfig config = EngineBench::alone();
    EngineBench bench(config, setup(weft_mode));
    fail(bench, config);
    bench.expect_settled(soon);
    EXPECT_EQ(bench.count(Outcome::source_failed), 1u);
    EXPECT_EQ(bench.count(Outcome::released_failed), 1u);
    EXPECT_EQ(bench.count(Outcome::released), 0u);
    EXPECT_EQ(bench.count(Outcome::reclaim), 0u);
  }
}

TEST_P(UnreadableSource, FreesTheReceiverAlsoIfItsReleaseIsLost) {
  for (const bool weft_mode : {true, false}) {
    SystemConfig config = EngineBench::alone();
    config.nodes = 2;
    EngineBench bench(config, setup(weft_mode));
    unsigned lost = 0;
    bench.system.tamper_with([&](Bytes& packet) {
      if (packet[0] == static_cast<uint8_t>(Ptype::release) && lost++ == 0) packet[31] ^= 1;
    });
    fail(bench, config);
    bench.expect_settled();
    EXPECT_EQ(bench.count(Outcome::drop_crc, 1), 1u);
    EXPECT_EQ(bench.count(Outcome::stale), 1u) << "the receiver asks, and is told again";
    EXPECT_EQ(bench.count(Outcome::released, 1), 1u);
    EXPECT_EQ(bench.count(Outcome::reclaim, 1), 0u);
  }
}

TEST_P(UnreadableSource, ResetInTheMiddleForgetsTheFault) {
  const SystemConfig config = EngineBench::alone();
  EngineBench bench(config, setup(true));
  AxiMemory& memory = bench.system.node(0).memory();
  memory.memory().write(source_base, std::vector<uint8_t>(2000, 0x5a));
  const uint64_t bad = source_base + 256 * GetParam();
  for (unsigned after = 0; after < 20; ++after) {
    memory.inject_errors(bad, bad + 1);
    const uint64_t errors = memory.errors();
    bench.system.node(0).driver().post({source_base, destination_base, 2000, 0, 1});
    EXPECT_TRUE(bench.system.run_until([&] { return memory.errors() > errors; }, soon));
    bench.run(after);
    bench.completions[0].clear();
    bench.system.reset();
    bench.start();
    memory.inject_errors(0, 0);
    bench.system.node(0).driver().post({source_base, destination_base, 2000, 0, 2});
    EXPECT_TRUE(bench.system.run_until([&] { return bench.completions[0].contains(2); }, soon));
    EXPECT_EQ(formats::name(bench.completions[0][2]), "OK");
    bench.expect_settled();
  }
}

INSTANTIATE_TEST_SUITE_P(Packets, UnreadableSource, testing::Values(0u, 1u, 4u, 7u));

/// Reads of many transfers fail in consecutive clocks while packets keep the sender busy: it is told of one
/// at a time, of the others when their receivers have asked again.
TEST(UnreadableSources, AllEndWithTheirError) {
  SystemConfig config = EngineBench::alone();
  config.node.memory_latency = 300;
  driver::RdmaSetup setup = EngineBench::usual_setup();
  setup.rx_timeout = setup.tx_retry = 20;
  EngineBench bench(config, setup);
  RdmaNode& node = bench.system.node(0);
  node.memory().inject_errors(source_base, source_base + 4096);
  constexpr uint16_t transfers = 12;
  for (uint16_t tag = 0; tag < transfers; ++tag) {
    node.driver().post({source_base, destination_base + 256u * tag, 1, 0, tag});
  }
  EXPECT_TRUE(bench.system.run_until([&] { return bench.count(Outcome::granted) == transfers; }, 5000));
  Header stale = header_to_zero(Ptype::rsp);
  stale.arg = 1;
  stale.msgid = 0xfffff;
  for (unsigned n = 0; n < 600; ++n) node.receive(flits_of(stale));
  EXPECT_TRUE(bench.system.run_until([&] { return bench.completions[0].size() == transfers; }, 50'000));
  for (const auto& [tag, status] : bench.completions[0]) {
    EXPECT_EQ(formats::name(status), "SOURCE_ERROR") << tag;
  }
  bench.expect_settled();
  EXPECT_EQ(bench.count(Outcome::source_failed), transfers);
  EXPECT_GT(node.memory().errors(), transfers) << "none had to be told again";
}

// A write that memory refuses must not end as a success, and the next transfer must not pay for it.
TEST_F(Posts, DestinationThatCannotBeWrittenEndsWithAnError) {
  AxiMemory& memory = bench_.system.node(0).memory();
  const std::vector<uint8_t> bytes(2000, 0x77);
  memory.memory().write(source_base, bytes);
  memory.inject_errors(destination_base + 1024, destination_base + 1025);
  expect_status({source_base, destination_base, 2000, 0, 1}, Status::remote_error, Outcome::complete_error);
  EXPECT_EQ(memory.errors(), 1u);
  EXPECT_EQ(bench_.read(reg::BUS_ERRORS), 1u);
  for (uint16_t tag = 2; tag < 6; ++tag) {
    expect_status({source_base, destination_base + 4096, 2000, 0, tag}, Status::ok, Outcome::complete);
  }
  memory.inject_errors(0, 0);
  expect_status({source_base, destination_base, 2000, 0, 9}, Status::ok, Outcome::complete);
  EXPECT_TRUE(memory.memory().equals(destination_base, bytes));
  bench_.expect_settled();
}

TEST_F(Posts, BusErrorInterruptStaysUntilItIsCleared) {
  AxiMemory& memory = bench_.system.node(0).memory();
  memory.inject_errors(destination_base, destination_base + 1);
  EXPECT_TRUE(bench_.write(reg::IRQ_ENABLE, 2));
  bench_.system.node(0).serve_interrupts(false);
  EXPECT_FALSE(bench_.system.node(0).irq());
  bench_.system.node(0).driver().post({source_base, destination_base, 10, 0, 1});
  EXPECT_TRUE(bench_.system.run_until([&] { return bench_.system.node(0).irq(); }, 10'000));
  EXPECT_TRUE(bench_.write(reg::IRQ_STATUS, 1)) << "bit 0 follows the completion queue";
  EXPECT_EQ(bench_.read(reg::IRQ_STATUS) & 2u, 2u);
  EXPECT_TRUE(bench_.write(reg::IRQ_STATUS, 2));
  EXPECT_EQ(bench_.read(reg::IRQ_STATUS) & 2u, 0u);
  EXPECT_FALSE(bench_.system.node(0).irq());
  bench_.system.node(0).serve_interrupts(true);
  EXPECT_TRUE(bench_.write(reg::IRQ_ENABLE, 1));
  bench_.expect_settled();
}

// Who forges DATA of a context whose RSP waits at the exit is told rightly whether memory took it.
TEST(ForgedData, OfAContextWhoseResponseHasNotLeft) {
  for (const bool fails : {false, true}) {
    EngineBench bench(EngineBench::alone());
    RdmaNode& node = bench.system.node(0);
    const uint64_t there = request(3, 32).arg;
    if (fails) node.memory().inject_errors(there, there + 1);
    node.stall_output(true);
    bench.run(10);
    node.receive(flits_of(request(3, 32)));
    bench.run(100);
    ASSERT_EQ(bench.count(Outcome::grant), 1u);
    Header data = header_to_zero(Ptype::data);
    data.cid = 0;
    data.gen = 1;
    data.len = 32;
    data.flags = formats::flag_last;
    node.receive(flits_of(data));
    bench.run(200);
    EXPECT_EQ(bench.count(Outcome::finish), 1u);
    node.stall_output(false);
    bench.run(200);
    data.ptype = static_cast<uint8_t>(Ptype::release);
    data.len = data.flags = 0;
    node.receive(flits_of(data));
    bench.expect_settled();
  }
}

// The same, and the context is granted to somebody else before the first response has left.
TEST(ForgedData, OfAContextThatIsGrantedAgainBeforeItsResponseHasLeft) {
  for (const bool fails : {false, true}) {
    EngineBench bench(EngineBench::alone("small"));
    RdmaNode& node = bench.system.node(0);
    const auto contexts = static_cast<uint16_t>(find_rdma_build("small")->params.n_rx_ctx);
    const uint64_t there = request(0, 32).arg;
    if (fails) node.memory().inject_errors(there, there + 1);
    node.stall_output(true);
    bench.run(10);
    for (uint16_t sid = 0; sid < contexts; ++sid) node.receive(flits_of(request(sid, 32)));
    bench.run(100);
    ASSERT_EQ(bench.count(Outcome::grant), contexts);
    Header data = header_to_zero(Ptype::data);
    data.sid = 0;
    data.gen = 1;
    data.len = 32;
    data.flags = formats::flag_last;
    Header release = header_to_zero(Ptype::release);
    release.sid = 0;
    release.gen = 1;
    node.receive(flits_of(data));
    bench.run(200);
    node.receive(flits_of(release));
    bench.run(50);
    node.receive(flits_of(request(contexts, 32)));
    bench.run(100);
    ASSERT_EQ(bench.count(Outcome::finish), 1u);
    ASSERT_EQ(bench.count(Outcome::grant), contexts + 1u);
    node.stall_output(false);
    bench.run(200);
    bench.expect_no_findings();
  }
}

class Registers : public testing::Test {
 protected:
  Registers() : bench_(EngineBench::alone()) {}
  ~Registers() override { bench_.expect_no_findings(); }
  EngineBench bench_;
};

TEST_F(Registers, Identity) {
  EXPECT_EQ(bench_.read(reg::ID), formats::reset::ID);
  EXPECT_EQ(bench_.read(reg::VERSION), formats::reset::VERSION);
  EXPECT_EQ(bench_.read(reg::CAPS0), 32u << 16 | 256u);
  EXPECT_EQ(bench_.read(reg::CAPS1), 1024u << 16 | 1024u);
  EXPECT_EQ(bench_.read(reg::STATUS) & 1u, 1u);
}

TEST_F(Registers, HoldWhatIsWrittenWithinTheirWidth) {
  const std::vector<std::pair<uint32_t, int>> writable = {
      {reg::IRQ_ENABLE, formats::width::IRQ_ENABLE},
      {reg::REGION_BASE_LO, 32},
      {reg::REGION_BASE_HI, 32},
      {reg::REGION_LIMIT_LO, 32},
      {reg::REGION_LIMIT_HI, 32},
      {reg::REGION_KEY, formats::width::REGION_KEY},
      {reg::REGION_RIGHTS, formats::width::REGION_RIGHTS},
      {reg::POST_KEY, formats::width::POST_KEY},
      {reg::RX_QUOTA, formats::width::RX_QUOTA},
      {reg::BACKOFF, formats::width::BACKOFF},
      {reg::MAX_BUSY, formats::width::MAX_BUSY},
      {reg::RX_AHEAD, formats::width::RX_AHEAD},
      {reg::ADAPT, formats::width::ADAPT},
      {reg::TIMEOUT_FLOOR, formats::width::TIMEOUT_FLOOR},
      {reg::TICK_CYCLES, formats::width::TICK_CYCLES},
      {reg::RX_TIMEOUT, formats::width::RX_TIMEOUT},
      {reg::TX_RETRY, formats::width::TX_RETRY},
      {reg::TX_DEAD, formats::width::TX_DEAD},
      {reg::ASK_FROM_AFTER, formats::width::ASK_FROM_AFTER},
      {reg::MAX_SILENT, formats::width::MAX_SILENT},
      {reg::MAX_RETRY, formats::width::MAX_RETRY},
      {reg::MODE, formats::width::MODE},
      {reg::POST_SRC_LO, 32},
      {reg::POST_SRC_HI, 32},
      {reg::POST_DST_LO, 32},
      {reg::POST_DST_HI, 32},
      {reg::POST_BYTES, 32},
      {reg::POST_NODE, 32},
      {reg::NODE_ID, formats::width::NODE_ID},
  };
  for (const auto& [address, width] : writable) {
    for (const uint32_t value : {0xffffffffu, 0xa5a5a5a5u, 0u}) {
      EXPECT_TRUE(bench_.write(address, value)) << address;
      EXPECT_EQ(bench_.read(address), masked(value, static_cast<uint32_t>(width))) << address;
    }
  }
}

TEST_F(Registers, RegionChangesWithRegionSetAtOnce) {
  Header request = header_to_zero(Ptype::rqt);
  request.pidx = 256;
  request.arg = destination_base;
  const auto expect = [&](Outcome outcome) {
    bench_.expect_outcome(flits_of(request), outcome);
    ++request.msgid;
  };
  EXPECT_TRUE(bench_.write(reg::REGION_BASE_LO, 0));
  EXPECT_TRUE(bench_.write(reg::REGION_BASE_HI, 0x20));
  EXPECT_TRUE(bench_.write(reg::REGION_LIMIT_LO, 0x1000));
  EXPECT_TRUE(bench_.write(reg::REGION_LIMIT_HI, 0x20));
  EXPECT_TRUE(bench_.write(reg::REGION_KEY, 0xbeef));
  expect(Outcome::grant);  // the old region is in force
  EXPECT_TRUE(bench_.write(reg::REGION_SET, 0));
  expect(Outcome::refuse_key);
  request.cid = 0xbeef;
  expect(Outcome::refuse_region);
  request.arg = 0x20'0000'0000;
  expect(Outcome::grant);
  request.gen = 1;
  expect(Outcome::refuse_key);
  EXPECT_TRUE(bench_.write(reg::REGION_SET, 1));
  expect(Outcome::grant);
  EXPECT_TRUE(bench_.write(reg::REGION_RIGHTS, 0));
  EXPECT_TRUE(bench_.write(reg::REGION_SET, 1));
  expect(Outcome::refuse_key);
  EXPECT_FALSE(bench_.write(reg::REGION_SET, find_rdma_build("w32")->params.n_regions));
  EXPECT_TRUE(bench_.write(reg::REGION_BASE_LO, 1));
  EXPECT_FALSE(bench_.write(reg::REGION_SET, 0)) << "misaligned";
  request.gen = 0;
  expect(Outcome::grant);
}

TEST_F(Registers, NumberOfTheNextTransferCanBeSetWhileTheSenderIsIdle) {
  EXPECT_TRUE(bench_.write(reg::MSGID, 0xabcde));
  EXPECT_EQ(bench_.read(reg::MSGID), 0xabcdeu);
  EXPECT_TRUE(bench_.write(reg::POST_NODE, 7));
  EXPECT_TRUE(bench_.write(reg::POST_BYTES, 10));
  EXPECT_TRUE(bench_.write(reg::POST, 1));  // its number is compared with the golden model's
  bench_.run(100);
  EXPECT_FALSE(bench_.write(reg::MSGID, 5)) << "a transfer is under way";
  EXPECT_EQ(bench_.read(reg::MSGID), 0xabcdeu);
}

TEST_F(Registers, BadAccessesAnswerAnErrorAndChangeNothing) {
  uint32_t bad = 0;
  EXPECT_EQ(bench_.read(reg::BAD_ACCESS), bad);
  for (const uint32_t hole : {0x0a4u, 0x0a8u, 0x3fcu, 0x580u, 0xffcu}) {
    EXPECT_FALSE(bench_.write(hole, 1)) << hole;
    bench_.read(hole, false);
    bad += 2;
  }
  for (const uint32_t read_only :
       {reg::ID, reg::VERSION, reg::STATUS, reg::CPL, reg::OUTCOME, reg::OUTCOME + 252}) {
    EXPECT_FALSE(bench_.write(read_only, 1)) << read_only;
    bad++;
  }
  bench_.read(reg::POST, false);
  bad++;
  const uint32_t before = bench_.read(reg::RX_TIMEOUT);
  for (const uint8_t strobes : {0x0, 0x1, 0x7, 0xe}) {
    EXPECT_FALSE(bench_.write(reg::RX_TIMEOUT, before ^ 0xff, strobes));
    EXPECT_FALSE(bench_.write(reg::POST, 1, strobes));
    bad += 2;
  }
  EXPECT_EQ(bench_.read(reg::RX_TIMEOUT), before);
  EXPECT_EQ(bench_.read(reg::BAD_ACCESS), bad);
  bench_.expect_settled();  // and nothing was posted
}

TEST(PostQueue, RefusesWhenFull) {
  EngineBench bench(EngineBench::alone("small"));
  bench.system.node(0).serve_interrupts(false);
  EXPECT_TRUE(bench.write(reg::POST_NODE, 0x10000));  // each post completes with an error
  uint32_t accepted = 0;
  while (accepted < 1000 && bench.write(reg::POST, accepted)) accepted++;
  EXPECT_LT(accepted, 1000u) << "completions are not served, so posts must stop at some point";
  EXPECT_GE(accepted, find_rdma_build("small")->post_depth);
  EXPECT_EQ(bench.read(reg::STATUS) & 6u, 6u);
  EXPECT_TRUE(bench.system.node(0).irq());
  EXPECT_EQ(bench.read(reg::BAD_ACCESS), 1u);
  bench.system.node(0).serve_interrupts(true);
  EXPECT_TRUE(bench.system.run_until([&] { return bench.completions[0].size() == accepted; }, 100'000));
  bench.expect_settled();
  EXPECT_FALSE(bench.system.node(0).irq());
}

}  // namespace
}  // namespace weft::tb

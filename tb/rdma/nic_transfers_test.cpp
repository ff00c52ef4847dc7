// SPDX-License-Identifier: Apache-2.0
// SEND, READ and write with immediate through the rings of several NICs, rule by rule
// (docs/rdma_transfers.md); the golden models of queues, inbox and engine agree at every event.
#include "made_packets.hpp"
#include "nic_transfer_test.hpp"

namespace weft::tb {
namespace {

using NicTransfers = TransferTest;

// --- SEND

TEST_F(NicTransfers, SendArrivesInAPostedBuffer) {
  build();
  bench().post(1, 0, bench().recv_entry(0, 4096, 2048));
  run_until(1, Outcome::wait);
  bench().post(0, 1, bench().send_entry(1, 1, 0, 256, 1000));
  bench().expect_settled();
  const auto& got = completion(1, 0);
  EXPECT_EQ(got.opcode, code_of(Opcode::receive));
  EXPECT_EQ(got.bytes, 1000u);
  EXPECT_EQ(got.node, 0u);
  EXPECT_EQ(got.has_immediate, 0u);
  expect_bytes(0, NicBench::source_of(1) + 256, 1, NicBench::buffers_of(0) + 4096, 1000);
  expect_untouched(1, NicBench::buffers_of(0) + 4096 + 1000, 1048);
}

TEST_F(NicTransfers, SendMayHaveAnImmediate) {
  build();
  bench().post(1, 0, bench().recv_entry(0, 0, 64));
  run_until(1, Outcome::wait);
  auto entry = bench().send_entry(0, 1, 0, 0, 64);
  entry.flags = queue_formats::flag_imm;
  entry.immediate = 0xdeadbeef;
  bench().post(0, 0, entry);
  bench().expect_settled();
  EXPECT_EQ(completion(1, 0).has_immediate, 1u);
  EXPECT_EQ(completion(1, 0).immediate, 0xdeadbeefu);
}

TEST_F(NicTransfers, BuffersAreTakenInTheOrderPosted) {
  build();
  for (uint32_t i = 0; i < 4; ++i) bench().post(1, 0, bench().recv_entry(0, 4096 * i, 4096));
  run_until(1, Outcome::wait, 4);
  for (uint32_t i = 0; i < 4; ++i) {
    bench().post(0, 0, bench().send_entry(0, 1, 0, 4096 * i, 4096 - 64 * i));
    run_until(1, Outcome::arrived, i + 1);
  }
  bench().expect_settled();
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(completion(1, 0, i).bytes, 4096 - 64 * i);
    expect_bytes(0, NicBench::source_of(0) + 4096 * i, 1, NicBench::buffers_of(0) + 4096 * i, 4096 - 64 * i);
  }
}

TEST_F(NicTransfers, SendWaitsForABuffer) {
  build();
  bench().post(0, 0, bench().send_entry(0, 1, 0, 0, 500));
  run_until(0, Outcome::backoff, 3);
  EXPECT_GE(outcomes(1, Outcome::refuse_not_ready), 3u);
  bench().post(1, 0, bench().recv_entry(0, 0, 500));
  bench().expect_settled();
  EXPECT_EQ(completion(1, 0).bytes, 500u);
}

TEST_F(NicTransfers, SendWithoutABufferEnds) {
  auto setup = NicBench::usual_setup();
  setup.max_busy = 4;
  build(NicBench::usual_config(2, "nic_full"), setup);
  bench().post(0, 0, bench().send_entry(0, 1, 0, 0, 500), status_of(EngineStatus::not_ready));
  bench().expect_settled();
  EXPECT_EQ(outcomes(1, Outcome::refuse_not_ready), 5u);
}

TEST_F(NicTransfers, SendLongerThanTheBufferLeavesItToTheNext) {
  build();
  bench().post(1, 0, bench().recv_entry(0, 0, 512));
  run_until(1, Outcome::wait);
  bench().post(0, 0, bench().send_entry(0, 1, 0, 0, 513), status_of(EngineStatus::too_long));
  run_until(1, Outcome::refuse_too_long);
  bench().post(0, 0, bench().send_entry(0, 1, 0, 1024, 512));
  bench().expect_settled();
  EXPECT_EQ(completion(1, 0).bytes, 512u);
  expect_bytes(0, NicBench::source_of(0) + 1024, 1, NicBench::buffers_of(0), 512);
}

TEST_F(NicTransfers, SendMustNameAnOpenQueueByItsKey) {
  build();
  bench().post(1, 0, bench().recv_entry(0, 0, 512));
  run_until(1, Outcome::wait);
  auto wrong = bench().send_entry(0, 1, 0, 0, 100);
  wrong.remote_key ^= 1;
  bench().post(0, 0, wrong, status_of(EngineStatus::bad_key));
  bench().post(0, 0, bench().send_entry(0, 1, 2, 0, 100), status_of(EngineStatus::bad_key));   // closed
  bench().post(0, 0, bench().send_entry(0, 1, 77, 0, 100), status_of(EngineStatus::bad_key));  // none
  run_until(1, Outcome::refuse_queue, 3);
  bench().post(0, 0, bench().send_entry(0, 1, 0, 0, 100));
  bench().expect_settled();
}

TEST_F(NicTransfers, FailedWriteIsToldOnBothSides) {
  build();
  bench().system.node(1).memory().inject_errors(NicBench::buffers_of(0), NicBench::buffers_of(0) + 64);
  bench().post(1, 0, bench().recv_entry(0, 0, 512), status_of(EngineStatus::local_error));
  run_until(1, Outcome::wait);
  bench().post(0, 0, bench().send_entry(0, 1, 0, 0, 512), status_of(EngineStatus::remote_error));
  bench().expect_settled();
  EXPECT_EQ(completion(1, 0).opcode, code_of(Opcode::receive));
}

/// With timeouts longer than the network holds packets back, and nothing else known of it (RX_AHEAD 0).
TEST_F(NicTransfers, ReorderingAloneResendsNothing) {
  auto config = NicBench::usual_config(2, "nic_full");
  config.faults.reorder_degree = 24;
  config.faults.hold_limit = 5'000;
  auto setup = NicBench::usual_setup();
  setup.rx_timeout = setup.tx_retry = 200;  // ticks of 64 clocks: two ways, each held back
  setup.tx_dead = 8'000;
  build(config, setup);
  const uint32_t bytes = 15'000;
  for (uint32_t i = 0; i < 4; ++i) {
    bench().post(1, 0, bench().recv_entry(0, 16'384 * i, bytes));
    bench().post(1, 1, bench().recv_entry(1, 0, 64));  // told of the immediate
    run_until(1, Outcome::wait, 2 * (i + 1));
    bench().post(0, 0, bench().send_entry(0, 1, 0, 1024 * i, bytes));
    auto with_immediate = bench().write_entry(1, 1, 1024 * i, 16'384 * i, bytes);
    with_immediate.opcode = code_of(Opcode::write_imm);
    bench().post(0, 1, with_immediate);
    bench().post(1, 1, bench().read_entry(1, 0, 2048 * i, 16'384 * i + 64, bytes));
    bench().expect_settled();
  }
  for (uint32_t node = 0; node < 2; ++node) {
    EXPECT_EQ(bench().system.node(node).counts().resent_packets, 0u) << "node " << node;
  }
  EXPECT_GE(bench().system.node(0).counts().data_packets, 12 * bytes / 64) << "of each message";
}

// --- RECV that cannot be

TEST_F(NicTransfers, BufferNeedsTheRightToReceive) {
  build();
  auto entry = bench().recv_entry(0, 0, 512);
  entry.local_addr = NicBench::source_of(0);  // the owner's, but to send from
  entry.local_key = NicBench::local_key(0);
  bench().post(1, 0, entry, status_of(EngineStatus::bad_buffer));
  entry = bench().recv_entry(1, 0, 512);  // another owner's
  bench().post(1, 0, entry, static_cast<uint8_t>(QueueStatus::local_key));
  entry = bench().recv_entry(0, 32, 512);
  bench().post(1, 0, entry, status_of(EngineStatus::misaligned));
  bench().expect_settled();
  EXPECT_EQ(completion(1, 0).opcode, code_of(Opcode::recv));
}

TEST_F(NicTransfers, MoreBuffersThanTicketsEndAtOnce) {
  build();
  const uint32_t tickets = find_rdma_build("nic_full")->params.n_tickets;
  for (uint32_t i = 0; i < tickets; ++i) bench().post(1, 0, bench().recv_entry(0, 512 * i, 512));
  run_until(1, Outcome::wait, tickets);
  bench().post(1, 1, bench().recv_entry(1, 0, 512), status_of(EngineStatus::no_ticket));
  run_until(1, Outcome::reject_ticket);
  for (uint32_t i = 0; i < tickets; ++i) bench().post(0, 0, bench().send_entry(0, 1, 0, 512 * i, 512));
  bench().expect_settled();
  bench().post(1, 1, bench().recv_entry(1, 0, 512));  // there are tickets again
  bench().post(0, 0, bench().send_entry(0, 1, 1, 0, 512));
  bench().expect_settled();
}

TEST_F(NicTransfers, DisabledQueueGivesItsBuffersBack) {
  build();
  for (uint32_t i = 0; i < 3; ++i) bench().post(1, 0, bench().recv_entry(0, 512 * i, 512));
  run_until(1, Outcome::wait, 3);
  bench().disable(1, 0);
  EXPECT_EQ(outcomes(1, Outcome::cancel), 3u);
  EXPECT_EQ(bench().system.node(1).queues().discarded(), 3u);
  bench().post(0, 0, bench().send_entry(0, 1, 0, 0, 100), status_of(EngineStatus::bad_key));
  bench().expect_settled();
  bench().enable(1, 0, 0);
  bench().post(1, 0, bench().recv_entry(0, 0, 512));
  bench().post(0, 0, bench().send_entry(0, 1, 0, 0, 100));
  bench().expect_settled();
}

// --- write with immediate

TEST_F(NicTransfers, WriteWithImmediateTellsTheRegionsQueue) {
  build();
  bench().post(1, 1, bench().recv_entry(1, 0, 0));  // no buffer is needed
  run_until(1, Outcome::wait);
  auto entry = bench().write_entry(1, 1, 0, 256, 5000);
  entry.opcode = code_of(Opcode::write_imm);
  entry.immediate = 0x01020304;
  bench().post(0, 0, entry, static_cast<uint8_t>(QueueStatus::local_key));  // of owner 1, in owner 0's queue
  entry.tag += 1;
  bench().post(0, 1, entry);
  bench().expect_settled();
  const auto& got = completion(1, 1);
  EXPECT_EQ(got.opcode, code_of(Opcode::receive_imm));
  EXPECT_EQ(got.immediate, 0x01020304u);
  EXPECT_EQ(got.bytes, 5000u);
  expect_bytes(0, NicBench::source_of(1), 1, NicBench::target_of(1) + 256, 5000);
}

// --- READ

TEST_F(NicTransfers, ReadBringsBytes) {
  build();
  bench().post(0, 1, bench().read_entry(1, 1, 512, 1024, 3000));
  bench().expect_settled();
  EXPECT_EQ(completion(0, 1).bytes, 3000u);
  expect_bytes(1, NicBench::target_of(1) + 512, 0, NicBench::buffers_of(1) + 1024, 3000);
  EXPECT_EQ(outcomes(1, Outcome::read_taken), 1u);
}

TEST_F(NicTransfers, ReadOfItselfWorks) {
  build();
  bench().post(0, 0, bench().read_entry(0, 0, 0, 0, 4096));
  bench().expect_settled();
  expect_bytes(0, NicBench::target_of(0), 0, NicBench::buffers_of(0), 4096);
}

TEST_F(NicTransfers, ReadNeedsARegionThatMayBeRead) {
  build();
  auto entry = bench().read_entry(0, 1, 0, 0, 512);
  entry.remote_key ^= 4;
  bench().post(0, 0, entry, status_of(EngineStatus::bad_key));
  entry = bench().read_entry(0, 1, 0, 0, 512);
  entry.remote_addr = NicBench::source_of(0);
  entry.remote_key = NicBench::local_key(0);  // no right
  bench().post(0, 0, entry, status_of(EngineStatus::bad_key));
  bench().post(0, 0, bench().read_entry(0, 1, NicBench::region_bytes, 0, 512),
               status_of(EngineStatus::bad_region));
  bench().post(0, 0, bench().read_entry(0, 1, 32, 0, 512), status_of(EngineStatus::misaligned));
  auto far = bench().read_entry(0, 1, 0, 0, 512);
  far.remote_addr = (1ull << 48) - 64;
  bench().post(0, 0, far, status_of(EngineStatus::bad_address));
  auto nobody = bench().read_entry(0, 1, 0, 0, 512);
  nobody.node = 0x10000;
  bench().post(0, 0, nobody, status_of(EngineStatus::bad_node));
  bench().post(0, 0, bench().read_entry(0, 1, 0, 0, 0), status_of(EngineStatus::bad_length));
  bench().expect_settled();
  expect_untouched(0, NicBench::buffers_of(0), 512);
}

TEST_F(NicTransfers, MoreReadsThanAnswersAllComeInTheEnd) {
  build();
  for (uint32_t node = 0; node < 2; ++node) {
    for (uint32_t i = 0; i < 8; ++i) {
      ASSERT_TRUE(bench().put(node, 0, bench().read_entry(0, 1 - node, 4096 * i, 4096 * i, 4096), 0));
    }
    bench().hosts[node].rings[0].queue->ring();
  }
  bench().expect_settled();
  EXPECT_GE(outcomes(0, Outcome::refuse_answers) + outcomes(1, Outcome::refuse_answers), 1u);
  for (uint32_t node = 0; node < 2; ++node) {
    expect_bytes(1 - node, NicBench::target_of(0), node, NicBench::buffers_of(0), 8 * 4096);
  }
}

/// The second one comes while the first one is being answered.
TEST_F(NicTransfers, AReadThatComesTwiceIsAnsweredOnce) {
  auto config = NicBench::usual_config(2, "nic_full");
  config.faults.duplicate = 1;
  build(config);
  constexpr uint32_t reads = 6, bytes = 8192;
  for (uint32_t i = 0; i < reads; ++i)
    bench().post(0, 0, bench().read_entry(0, 1, bytes * i, bytes * i, bytes));
  bench().expect_settled();
  expect_bytes(1, NicBench::target_of(0), 0, NicBench::buffers_of(0), reads * bytes);
  EXPECT_EQ(outcomes(1, Outcome::read_taken), reads);
  EXPECT_GE(outcomes(1, Outcome::drop_asked), reads);
}

/// What the inbox has no room for is dropped and counted; packets behind do not wait.
TEST_F(NicTransfers, RefusalsOfReadsHoldNothingUp) {
  build();
  rdma::formats::Header refusal = header_to_zero(rdma::formats::Ptype::rsp);
  rdma::set_flag(refusal, rdma::formats::TransferFlag::read);
  rdma::formats::Header behind = header_to_zero(rdma::formats::Ptype::release);
  for (rdma::formats::Header* header : {&refusal, &behind}) header->src = 1;
  constexpr uint32_t refusals = 400;
  for (uint32_t n = 0; n < refusals; ++n) bench().system.node(0).receive(flits_of(refusal));
  bench().system.node(0).receive(flits_of(behind));
  const uint64_t begin = bench().system.cycle();
  run_until(0, Outcome::drop_unknown_cid);
  const uint64_t clocks = bench().system.cycle() - begin;
  std::cout << "clocks for " << refusals << " refusals of READs and a packet behind: " << clocks << '\n';
  EXPECT_LE(clocks, refusals + 100);
  bench().expect_settled();
  EXPECT_GE(outcomes(0, Outcome::drop_busy), 1u);
  EXPECT_GE(outcomes(0, Outcome::drop_old_read), 8u);
  EXPECT_EQ(outcomes(0, Outcome::drop_busy) + outcomes(0, Outcome::drop_old_read), refusals);
}

TEST_F(NicTransfers, ReadsAreAnsweredWhileSendsWaitForBuffers) {
  build(NicBench::usual_config(3, "nic_full"));
  constexpr uint32_t kept = 2;  // as many as may be answered at once
  const uint32_t sends = find_rdma_build("nic_full")->params.n_tx_ctx - kept;
  for (uint32_t node = 0; node < 2; ++node) {  // to each other, all that can have a context
    for (uint32_t i = 0; i < sends; ++i) bench().post(node, 0, bench().send_entry(0, 1 - node, 1, 0, 64));
    run_until(node, Outcome::submit, sends);
    EXPECT_EQ(bench().system.node(node).scoreboard().sender().free_contexts(), kept);
  }
  for (uint32_t node = 0; node < 2; ++node)
    bench().post(2, 0, bench().read_entry(0, node, 0, 4096 * node, 2048));
  run_until(2, Outcome::arrived, 2);
  for (uint32_t node = 0; node < 2; ++node) {
    expect_bytes(node, NicBench::target_of(0), 2, NicBench::buffers_of(0) + 4096 * node, 2048);
    run_until(node, Outcome::complete);
    EXPECT_EQ(outcomes(node, Outcome::complete), 1u) << "only the answer";
    for (uint32_t i = 0; i < sends; ++i) bench().post(node, 1, bench().recv_entry(1, 64 * i, 64));
  }
  bench().expect_settled();
}

TEST_F(NicTransfers, ReadOfADeadNodeEnds) {
  build();
  bench().system.halt_node(1);
  for (auto& ring : bench().hosts[1].rings) ring.enabled = false;
  bench().post(0, 0, bench().read_entry(0, 1, 0, 0, 512), status_of(EngineStatus::no_answer));
  bench().post(0, 1, bench().send_entry(1, 1, 0, 0, 512), status_of(EngineStatus::no_answer));
  bench().expect_settled(5'000'000);
}

TEST_F(NicTransfers, ReadWhoseTargetDiesEnds) {
  build();
  bench().post(0, 0, bench().read_entry(0, 1, 0, 0, 32768), status_of(EngineStatus::no_answer));
  run_until(0, Outcome::advance, 20);
  bench().system.halt_node(1);
  for (auto& ring : bench().hosts[1].rings) ring.enabled = false;
  bench().expect_settled(20'000'000);
  EXPECT_GE(outcomes(0, Outcome::returned), 1u);
}

TEST_F(NicTransfers, ReadWhoseTargetIsResetIsAskedAgain) {
  build();
  bench().post(0, 0, bench().read_entry(0, 1, 0, 0, 32768));
  run_until(0, Outcome::advance, 20);
  for (auto& ring : bench().hosts[1].rings) ring.enabled = false;
  bench().system.reset_node(1);
  auto setup = NicBench::usual_setup();
  setup.first_msgid = 0x800;
  setup.node_id = 1;
  bench().system.node(1).driver().start(setup);
  bench().expect_settled(20'000'000);
  expect_bytes(1, NicBench::target_of(0), 0, NicBench::buffers_of(0), 32768);
}

TEST_F(NicTransfers, FailedWriteOfAnAnswerIsALocalError) {
  build();
  bench().system.node(0).memory().inject_errors(NicBench::buffers_of(0) + 128, NicBench::buffers_of(0) + 192);
  bench().post(0, 0, bench().read_entry(0, 1, 0, 0, 512), status_of(EngineStatus::local_error));
  bench().expect_settled();
}

/// With ADAPT the register is an upper bound only.
TEST_F(NicTransfers, ReadThatIsLostIsRepeatedAfterTheTimeMeasured) {
  auto setup = NicBench::usual_setup();
  setup.adapt = true;
  setup.tx_retry = 8191;
  build(NicBench::usual_config(2, "nic_full"), setup);
  for (unsigned i = 0; i < 4; ++i) bench().post(0, 0, bench().write_entry(0, 1, 1024 * i, 0, 256));
  bench().expect_settled();
  bench().system.network().cut(0, 1);
  bench().post(0, 0, bench().read_entry(0, 1, 0, 0, 512));
  run_until(0, Outcome::ask);
  bench().system.run_until([] { return false; }, 200);
  bench().system.network().heal(0, 1);
  EXPECT_TRUE(bench().system.run_until([&] { return outcomes(0, Outcome::retry_read) == 1; }, 4000));
  bench().expect_settled();
}

// --- sources that cannot be read

/// Errors for 64 bytes at `address`, until one has come of it.
void fail_once(NicBench& bench, uint32_t node, uint64_t address) {
  AxiMemory& memory = bench.system.node(node).memory();
  memory.inject_errors(address, address + 64);
  EXPECT_TRUE(bench.system.run_until([&] { return memory.errors() > 0; }, 100'000));
  memory.inject_errors(0, 0);
}

TEST_F(NicTransfers, MessageThatCannotBeReadLeavesItsRecv) {
  build();
  bench().post(1, 0, bench().recv_entry(0, 8192, 2048));
  run_until(1, Outcome::wait);
  bench().post(0, 0, bench().send_entry(0, 1, 0, 0, 2048), status_of(EngineStatus::source_error));
  fail_once(bench(), 0, NicBench::source_of(0) + 512);
  run_until(1, Outcome::returned);
  bench().post(0, 0, bench().send_entry(0, 1, 0, 4096, 2048));
  bench().expect_settled();
  expect_bytes(0, NicBench::source_of(0) + 4096, 1, NicBench::buffers_of(0) + 8192, 2048);
}

/// Its target says so at once: one answer, none of the repeats that a lost one would have.
TEST_F(NicTransfers, ReadWhoseSourceCannotBeReadEndsWithARemoteError) {
  build();
  bench().system.node(1).memory().inject_errors(NicBench::target_of(0) + 512, NicBench::target_of(0) + 576);
  bench().post(0, 0, bench().read_entry(0, 1, 0, 0, 2048), status_of(EngineStatus::remote_error));
  bench().post(0, 1, bench().read_entry(1, 1, 0, 0, 2048));  // others go on
  bench().expect_settled();
  expect_bytes(1, NicBench::target_of(1), 0, NicBench::buffers_of(1), 2048);
  EXPECT_EQ(outcomes(1, Outcome::source_failed), 1u);
  EXPECT_EQ(outcomes(0, Outcome::released_failed), 1u);
  EXPECT_EQ(outcomes(0, Outcome::returned), 1u);
  EXPECT_EQ(outcomes(0, Outcome::retry_read), 0u);
}

/// The news is lost: the READ is asked again, which fails again. Each failed answer counts as a repeat of the
/// READ, and so does each READ that is sent again.
TEST_F(NicTransfers, ReadWhoseSourceCannotBeReadAndNoNewsOfItEndsAfterItsRepeats) {
  for (const auto& [max_retry, status] : {std::pair{uint8_t{0}, EngineStatus::dead_peer},
                                          {uint8_t{3}, EngineStatus::no_answer},
                                          {uint8_t{4}, EngineStatus::dead_peer}}) {
    auto setup = NicBench::usual_setup();
    setup.max_retry = max_retry;
    build(NicBench::usual_config(2, "nic_full"), setup);
    bench().system.node(1).memory().inject_errors(NicBench::target_of(0) + 512, NicBench::target_of(0) + 576);
    bench().post(0, 0, bench().read_entry(0, 1, 0, 0, 2048), status_of(status));
    bench().post(0, 1, bench().read_entry(1, 1, 0, 0, 2048));  // others go on
    for (unsigned answer = 1; answer <= max_retry / 2u + 1u; ++answer) {
      run_until(1, Outcome::source_failed, answer);
      bench().system.network().cut(1, 0);
      bench().system.run_until([] { return false; }, 200);
      bench().system.network().heal(1, 0);
    }
    bench().expect_settled();
    expect_bytes(1, NicBench::target_of(1), 0, NicBench::buffers_of(1), 2048);
    EXPECT_EQ(outcomes(1, Outcome::source_failed), max_retry / 2u + 1u);
    EXPECT_EQ(outcomes(0, Outcome::released_failed), 0u);
  }
}

/// By what a transfer is posted with.
class NicUnreadableSource : public NicTransfers, public testing::WithParamInterface<Opcode> {};

TEST_P(NicUnreadableSource, EndsItsTransferSoonAndNoOther) {
  auto setup = NicBench::usual_setup();
  setup.tx_dead = 8000;
  build(NicBench::usual_config(2, "nic_full"), setup);
  bench().system.node(0).memory().inject_errors(NicBench::source_of(0) + 512, NicBench::source_of(0) + 576);
  auto entry = GetParam() == Opcode::send ? bench().send_entry(0, 1, 0, 0, 2048)
                                          : bench().write_entry(0, 1, 0, 0, 2048);
  entry.opcode = code_of(GetParam());
  bench().post(1, 0, bench().recv_entry(0, 0, 2048), status_of(EngineStatus::cancelled));
  run_until(1, Outcome::wait);
  bench().post(0, 0, entry, status_of(EngineStatus::source_error));
  bench().post(0, 1, bench().write_entry(1, 1, 0, 0, 2048));
  const auto ended = [&] {
    bench().collect_all();
    return bench().hosts[0].rings[0].wanted.empty();
  };
  EXPECT_TRUE(bench().system.run_until(ended, 4000)) << bench().problems();
  EXPECT_TRUE(bench().system.run_until(
      [&] { return outcomes(1, Outcome::released) == 1 || outcomes(1, Outcome::released) == 2; }, 4000));
  if (GetParam() != Opcode::write) run_until(1, Outcome::returned);
  bench().hosts[1].rings[0].wanted.clear();  // its RECV waits again
  bench().disable(1, 0);
  bench().expect_settled();
  expect_bytes(0, NicBench::source_of(1), 1, NicBench::target_of(1), 2048);
  EXPECT_EQ(outcomes(0, Outcome::source_failed), 1u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, NicUnreadableSource,
                         testing::Values(Opcode::write, Opcode::write_imm, Opcode::send));

// --- a NIC without transfers

TEST_F(NicTransfers, PlainNicTakesNoneOfIt) {
  build(NicBench::usual_config(2, "nic"));
  const auto bad_opcode = static_cast<uint8_t>(QueueStatus::bad_opcode);
  bench().post(0, 0, bench().send_entry(0, 1, 0, 0, 64), bad_opcode);
  bench().post(0, 0, bench().read_entry(0, 1, 0, 0, 64), bad_opcode);
  bench().post(0, 0, bench().recv_entry(0, 0, 64), bad_opcode);
  bench().expect_settled();
}

}  // namespace
}  // namespace weft::tb

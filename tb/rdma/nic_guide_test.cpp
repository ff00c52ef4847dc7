// SPDX-License-Identifier: Apache-2.0
// The examples of docs/nic_guide.md, on two NICs with default parameters: each block of code there stands
// here as it is (tests/flow/test_guide.py), and does what the guide says of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/rdma_driver.hpp"
#include "driver/ring_driver.hpp"
#include "node_ring_memory.hpp"
#include "rdma_system.hpp"

namespace weft::tb {
namespace {

using driver::LocalBytes;
using driver::rdma_rkey;
using driver::RdmaRegion;
using driver::RemoteBytes;
using driver::RemoteQueue;
using rdma::formats::Status;
using rdma_queues::formats::Completion;
using rdma_queues::formats::IrqKind;
using rdma_queues::formats::Opcode;
namespace reg = rdma_queues::formats::reg;

/// Notes what software writes.
class NotedBus : public driver::RegisterBus {
 public:
  explicit NotedBus(driver::RegisterBus& bus) : bus_(bus) {}
  void write(uint32_t address, uint32_t data, driver::OnWritten done) override {
    notes_ += fmt::format("write 0x{:04x} 0x{:08x}\n", address, data);
    bus_.write(address, data, std::move(done));
  }
  void read(uint32_t address, driver::OnRead done) override { bus_.read(address, std::move(done)); }
  std::string notes() { return std::exchange(notes_, {}); }

 private:
  driver::RegisterBus& bus_;
  std::string notes_;
};

// guide: set-up
constexpr uint8_t owner = 5;
constexpr uint64_t sources = 0x1000'0000, shared = 0x2000'0000, buffers = 0x3000'0000;

driver::RdmaSetup engine_setup(uint16_t node) {
  driver::RdmaSetup setup;
  setup.node_id = node;  // by which it goes in the network
  setup.regions.resize(3);

  RdmaRegion& source = setup.regions[0];  // to send from
  source.base = sources;
  source.limit = sources + 0x10000;
  source.key = 0x1111;
  source.owner = owner;
  source.local_use = true;
  source.remote_write = false;

  RdmaRegion& open = setup.regions[1];  // peers may write and read here
  open.base = shared;
  open.limit = shared + 0x10000;
  open.key = 0x2222;
  open.owner = owner;
  open.remote_read = true;
  open.queue = 0;  // is told of writes with immediate

  RdmaRegion& buffer = setup.regions[2];  // buffers of RECV and READ
  buffer.base = buffers;
  buffer.limit = buffers + 0x10000;
  buffer.key = 0x3333;
  buffer.owner = owner;
  buffer.receive = true;
  buffer.remote_write = false;

  setup.tick_cycles = 64;
  setup.rx_timeout = setup.tx_retry = 73;  // timeouts of 4,672 clocks at the most,
  setup.adapt = true;                      // otherwise as measured,
  setup.timeout_floor = 4;                 // and 256 at the least
  setup.rx_ahead = 1;                      // this network keeps the order of a transfer's packets

  setup.rx_quota = 256;
  setup.ticket_quota = 8;
  setup.answer_quota = 1;
  return setup;
}

driver::RingSetup ring_setup() {
  driver::RingSetup setup;
  setup.sq_base = 0x4000'0000;
  setup.cq_base = 0x4001'0000;
  setup.sq_log2 = setup.cq_log2 = 8;  // 256 entries each
  setup.owner = owner;
  setup.irq = IrqKind::message;
  setup.msi_addr = 0x5000'0000;
  setup.msi_data = 0xabcd;
  setup.key = 0x4444;
  setup.quota = 64;
  return setup;
}
// guide: end

class NicGuide : public testing::Test {
 protected:
  struct Host {
    explicit Host(RdmaNode& node)
        : bus(node.registers()),
          memory(node.memory().memory()),
          administrator(bus, memory),
          queue(bus, memory, 0, ring_setup()) {}
    NotedBus bus;
    NodeRingMemory memory;
    driver::RingAdministrator administrator;
    driver::RingQueue queue;
  };

  NicGuide() : system(config()) {
    for (uint32_t node = 0; node < system.size(); ++node)
      system.node(node).driver().start(engine_setup(static_cast<uint16_t>(node)));
    until([this] { return system.all_ready(); });
    for (uint32_t node = 0; node < system.size(); ++node) hosts[node].emplace(system.node(node));
    for (auto& host : hosts) enable(*host);
    message_bytes.resize(1000);
    for (size_t i = 0; i < message_bytes.size(); ++i) message_bytes[i] = static_cast<uint8_t>(i * 7);
    memory(0).write(sources, message_bytes);
    memory(0).write(shared, message_bytes);
  }
  ~NicGuide() override {
    until([this] { return system.settled(); });
    system.check_at_end();
    EXPECT_FALSE(system.findings().any()) << system.findings().summary();
  }

  static SystemConfig config() {
    SystemConfig config;
    config.node.build = *find_rdma_build("nic_default");
    return config;
  }

  void until(const std::function<bool()>& done) {
    ASSERT_TRUE(system.run_until(done, 200'000)) << "does not come\n" << system.findings().summary();
  }
  /// So long that what was announced has been taken, and idle queues have been looked at.
  void a_while() {
    system.run_until([] { return false; }, 2'000);
  }
  void enable(Host& host) {
    std::optional<bool> done;
    host.administrator.enable(0, ring_setup(), [&](bool ok) { done = ok; });
    until([&] { return done.has_value(); });
    EXPECT_TRUE(done.value_or(false));
    host.bus.notes();
  }
  HostMemory& memory(uint32_t node) { return system.node(node).memory().memory(); }
  Host& host(uint32_t node) { return *hosts[node]; }

  uint32_t read(uint32_t node, uint32_t address) {
    std::optional<uint32_t> got;
    system.node(node).registers().read(address, [&](bool ok, uint32_t data) {
      EXPECT_TRUE(ok);
      got = data;
    });
    until([&] { return got.has_value(); });
    return got.value_or(0);
  }

  /// The next completion of a queue, polled for.
  Completion next(driver::RingQueue& queue) {
    std::optional<Completion> got;
    until([&] { return (got = queue.take()).has_value(); });
    return got.value_or(Completion{});
  }
  void expect_next(driver::RingQueue& queue, Opcode opcode, uint64_t tag, uint32_t bytes, uint32_t node) {
    const Completion got = next(queue);
    queue.acknowledge();
    EXPECT_EQ(got.opcode, static_cast<uint8_t>(opcode));
    EXPECT_EQ(got.status, static_cast<uint8_t>(Status::ok));
    EXPECT_EQ(got.tag, tag);
    EXPECT_EQ(got.bytes, bytes);
    EXPECT_EQ(got.node, node);
  }

  RdmaSystem system;
  std::array<std::optional<Host>, 2> hosts;
  std::vector<uint8_t> message_bytes;
};

TEST_F(NicGuide, Write) {
  driver::RingQueue& queue = host(0).queue;
  {
    // guide: write
    LocalBytes local{.address = sources, .bytes = 1000, .key = rdma_rkey(0, 0x1111)};
    RemoteBytes remote{.node = 1, .address = shared, .key = rdma_rkey(1, 0x2222)};
    queue.post_write(/*tag=*/7, local, remote);
    queue.ring();
  }
  const std::vector<uint8_t> expected = {
      // guide: entry
      0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,  // opcode WRITE, flags; node 1
      0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,  // tag
      0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00,  // local_addr
      0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00,  // remote_addr
      0xe8, 0x03, 0x00, 0x00, 0x11, 0x11, 0x00, 0x00,  // bytes; local_key: region 0, key 0x1111
      0x22, 0x22, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,  // remote_key: region 1, key 0x2222; immediate
  };
  std::vector<uint8_t> entry = memory(0).read(ring_setup().sq_base, 64);
  EXPECT_TRUE(std::all_of(entry.begin() + 48, entry.end(), [](uint8_t byte) { return byte == 0; }));
  entry.resize(48);
  EXPECT_EQ(entry, expected);
  EXPECT_EQ(host(0).bus.notes(), "write 0x2000 0x00000001\n");
  expect_next(queue, Opcode::write, 7, 1000, 1);
  EXPECT_EQ(host(0).bus.notes(), "write 0x2004 0x00000001\n");
  EXPECT_TRUE(memory(1).equals(shared, message_bytes));
}

TEST_F(NicGuide, SendAndReceive) {
  {
    driver::RingQueue& queue = host(1).queue;
    // guide: recv
    queue.post_recv(/*tag=*/1, {.address = buffers, .bytes = 4096, .key = rdma_rkey(2, 0x3333)});
    queue.ring();
  }
  {
    driver::RingQueue& queue = host(0).queue;
    // guide: send
    LocalBytes message{.address = sources, .bytes = 1000, .key = rdma_rkey(0, 0x1111)};
    RemoteQueue to{.node = 1, .queue = 0, .key = 0x4444};
    queue.post_send(/*tag=*/8, message, to);
    queue.ring();
  }
  expect_next(host(1).queue, Opcode::receive, 1, 1000, 0);
  EXPECT_TRUE(memory(1).equals(buffers, message_bytes));
  expect_next(host(0).queue, Opcode::send, 8, 1000, 1);
}

TEST_F(NicGuide, Read) {
  driver::RingQueue& queue = host(1).queue;
  {
    // guide: read
    LocalBytes buffer{.address = buffers, .bytes = 1000, .key = rdma_rkey(2, 0x3333)};
    RemoteBytes remote{.node = 0, .address = shared, .key = rdma_rkey(1, 0x2222)};
    queue.post_read(/*tag=*/9, buffer, remote);
    queue.ring();
  }
  expect_next(queue, Opcode::read, 9, 1000, 0);
  EXPECT_TRUE(memory(1).equals(buffers, message_bytes));
}

TEST_F(NicGuide, WriteWithImmediate) {
  {
    driver::RingQueue& queue = host(1).queue;
    // guide: recv of nothing
    queue.post_recv(/*tag=*/2, {});
    queue.ring();
  }
  a_while();
  {
    driver::RingQueue& queue = host(0).queue;
    LocalBytes local{.address = sources, .bytes = 1000, .key = rdma_rkey(0, 0x1111)};
    RemoteBytes remote{.node = 1, .address = shared, .key = rdma_rkey(1, 0x2222)};
    // guide: write with immediate
    queue.post_write_imm(/*tag=*/10, local, remote, /*immediate=*/0xcafe);
    queue.ring();
  }
  const Completion got = next(host(1).queue);
  host(1).queue.acknowledge();
  EXPECT_EQ(got.opcode, static_cast<uint8_t>(Opcode::receive_imm));
  EXPECT_EQ(got.tag, 2u);
  EXPECT_EQ(got.has_immediate, 1u);
  EXPECT_EQ(got.immediate, 0xcafeu);
  EXPECT_TRUE(memory(1).equals(shared, message_bytes));
  expect_next(host(0).queue, Opcode::write_imm, 10, 1000, 1);
}

TEST_F(NicGuide, Sleep) {
  driver::RingQueue& queue = host(0).queue;
  const auto message = [&] { return memory(0).read(ring_setup().msi_addr, 1)[0] == 0xcd; };
  {
    // guide: moderation
    queue.moderate(/*count=*/8, /*ticks=*/40);
  }
  uint32_t handled = 0;
  const auto handle = [&](const Completion&) { ++handled; };
  const auto work = [&] {
    // guide: work
    while (const auto completion = queue.take()) handle(*completion);
    queue.acknowledge(/*arm=*/true);
  };
  work();  // nothing yet; armed
  a_while();
  EXPECT_FALSE(message());
  LocalBytes local{.address = sources, .bytes = 1000, .key = rdma_rkey(0, 0x1111)};
  RemoteBytes remote{.node = 1, .address = shared, .key = rdma_rkey(1, 0x2222)};
  queue.post_write(7, local, remote);
  queue.ring();
  const uint64_t began = system.cycle();
  until(message);
  EXPECT_GT(system.cycle() - began, 40u * 250) << "one completion is fewer than 8";
  work();
  EXPECT_EQ(handled, 1u);
}

TEST_F(NicGuide, DoorbellThatWasNotTaken) {
  driver::RingQueue& queue = host(0).queue;
  const uint32_t announced = driver::ring_register(reg::SQ_HEAD, 0);
  const uint32_t taken = driver::ring_register(reg::CQ_TAIL, 0);
  EXPECT_EQ(read(0, announced) >> 16, 0u);
  queue.post_write(7, {sources, 1000, rdma_rkey(0, 0x1111)}, {1, shared, rdma_rkey(1, 0x2222)});
  queue.ring();
  EXPECT_EQ(read(0, announced) >> 16, 1u);
  next(queue);
  a_while();
  EXPECT_EQ(read(0, taken), 0x0000'0001u) << "in memory, but not taken";
  queue.acknowledge();
  EXPECT_EQ(read(0, taken), 0x0001'0001u);
  // Refused: more than the ring has.
  host(0).bus.write(driver::ring_register(reg::SQ_TAIL, 0), 300, nullptr);
  EXPECT_EQ(read(0, announced) >> 16, 1u);
}

TEST_F(NicGuide, QueueIsTakenBack) {
  host(1).queue.post_recv(1, {buffers, 4096, rdma_rkey(2, 0x3333)});
  host(1).queue.ring();
  a_while();
  std::optional<bool> off;
  host(1).administrator.disable(0, [&](bool ok) { off = ok; });
  until([&] { return off.has_value(); });
  EXPECT_TRUE(off.value_or(false));
  EXPECT_EQ(host(1).bus.notes(),
            "write 0x2000 0x00000001\nwrite 0x1040 0x00000000\nwrite 0x106c 0x00000000\n");
  EXPECT_EQ(read(1, driver::ring_register(reg::STATE, 0)) & 3, 0u);
}

}  // namespace
}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// Latency of messages through the rings of two NICs.
#include "bench_latency.hpp"

#include <deque>
#include <optional>

#include "bench_system.hpp"
#include "driver/ring_driver.hpp"
#include "fabric/random.hpp"
#include "node_ring_memory.hpp"

namespace weft::sim {

namespace {

using rdma_queues::formats::Opcode;

constexpr uint64_t memory_base = uint64_t{1} << 32;  // of what is sent and received
constexpr uint64_t memory_bytes = uint64_t{1} << 30;
constexpr uint64_t rings_base = 1 << 24;
constexpr uint16_t region_key = 0x51;
constexpr uint16_t queue_key = 0x77;

tb::SystemConfig system_config(uint32_t delay, double loss) {
  tb::SystemConfig config;
  config.node.build = *tb::find_rdma_build(latency_build);
  config.faults.delay = delay;
  config.faults.loss = loss;
  return config;
}

bool is_told(const Latency& latency) {
  return latency.opcode == Opcode::send || latency.opcode == Opcode::write_imm;
}

/// One region for everything, of the owner of queue 0.
driver::RdmaSetup engine_setup() {
  driver::RdmaRegion region{memory_base, memory_base + memory_bytes, region_key};
  region.local_use = region.remote_read = region.receive = true;
  region.queue = 0;
  driver::RdmaSetup setup;
  setup.regions = {region};
  return setup;
}

driver::RingSetup ring_setup() {
  driver::RingSetup setup;
  setup.sq_base = rings_base;
  setup.cq_base = rings_base + (1 << 16);
  setup.key = queue_key;
  return setup;
}

class NicPair {
 public:
  explicit NicPair(uint32_t delay, double loss = 0) : bench_(system_config(delay, loss), engine_setup()) {
    for (uint32_t node = 0; node < bench_.system.size(); ++node)
      hosts_.emplace_back(bench_.system.node(node));
    for (Host& host : hosts_) enable(host);
  }

  /// A message of node 0 to node 1.
  void measure(Latency& latency, uint32_t bytes) {
    Host& sender = hosts_[0];
    Host& receiver = hosts_[1];
    if (is_told(latency)) post_buffer(receiver, bytes);
    put(sender.queue, latency.opcode, bytes);
    const uint64_t began = bench_.system.cycle();
    sender.queue.ring();
    std::optional<uint64_t> completed, arrived;
    const auto watch = [&](Host& host, std::optional<uint64_t>& when) {
      if (!when && take(host, latency)) when = bench_.system.cycle();
    };
    bench_.reach(
        [&] {
          watch(sender, completed);
          if (is_told(latency)) watch(receiver, arrived);
          return completed && (arrived || !is_told(latency));
        },
        many_clocks + bytes, "a message does not arrive");
    latency.clocks.push_back(completed.value_or(began) - began);
    if (is_told(latency)) latency.arrival.push_back(arrived.value_or(began) - began);
    rest();
  }

  /// Likewise, of random bytes.
  void transfer(Latency& latency, uint32_t bytes) {
    const bool read = latency.opcode == Opcode::read;
    std::vector<uint8_t> message(bytes);
    RandomStream random(static_cast<uint64_t>(latency.opcode));
    for (uint8_t& byte : message) byte = static_cast<uint8_t>(random.next());
    bench_.system.node(read ? 1 : 0).memory().memory().write(memory_base, message);
    measure(latency, bytes);
    if (latency.finding.empty() &&
        !bench_.system.node(read ? 0 : 1).memory().memory().equals(memory_base, message))
      latency.finding = "other bytes arrived than were sent";
  }

  std::string finding() { return bench_.finding(); }

 private:
  struct Host {
    explicit Host(tb::RdmaNode& node)
        : memory(node.memory().memory()),
          administrator(node.registers(), memory),
          queue(node.registers(), memory, 0, ring_setup()) {}
    tb::NodeRingMemory memory;
    driver::RingAdministrator administrator;
    driver::RingQueue queue;
  };

  void enable(Host& host) {
    bool enabled = false;
    host.administrator.enable(0, ring_setup(), [&](bool ok) { enabled = ok; });
    bench_.reach([&] { return enabled; }, many_clocks, "a queue is not enabled");
  }

  /// A RECV, and so long that the NIC has it.
  void post_buffer(Host& host, uint32_t bytes) {
    host.queue.post_recv(0, {memory_base, bytes, driver::rdma_rkey(0, region_key)});
    host.queue.ring();
    rest();
  }

  void put(driver::RingQueue& queue, Opcode opcode, uint32_t bytes) {
    const driver::LocalBytes local{memory_base, bytes, driver::rdma_rkey(0, region_key)};
    const driver::RemoteBytes remote{1, memory_base, driver::rdma_rkey(0, region_key)};
    if (opcode == Opcode::write) queue.post_write(0, local, remote);
    if (opcode == Opcode::write_imm) queue.post_write_imm(0, local, remote, 1);
    if (opcode == Opcode::send) queue.post_send(0, local, {1, 0, queue_key});
    if (opcode == Opcode::read) queue.post_read(0, local, remote);
  }

  bool take(Host& host, Latency& latency) {
    const auto completion = host.queue.take();
    if (!completion) return false;
    host.queue.acknowledge();
    if (completion->status != 0) latency.finding = "a message ended with an error";
    return true;
  }

  /// So long that nothing of before is under way.
  void rest() {
    constexpr uint64_t rest_clocks = 5'000;
    bench_.system.run_until([] { return false; }, rest_clocks);
  }

  BenchSystem bench_;
  std::deque<Host> hosts_;
};

/// `send(latency)` for every kind of message.
std::vector<Latency> of_every_kind(NicPair& nics, uint32_t delay, const auto& send) {
  std::vector<Latency> results;
  for (const Opcode opcode : {Opcode::write, Opcode::write_imm, Opcode::send, Opcode::read}) {
    Latency& latency = results.emplace_back();
    latency.opcode = opcode;
    latency.delay = delay;
    send(latency);
  }
  const std::string finding = nics.finding();
  for (Latency& latency : results) {
    if (latency.finding.empty()) latency.finding = finding;
  }
  return results;
}

}  // namespace

std::vector<Latency> latencies(uint32_t delay) {
  NicPair nics(delay);
  return of_every_kind(nics, delay, [&](Latency& latency) {
    for (const uint32_t bytes : latency_bytes) nics.measure(latency, bytes);
  });
}

std::vector<Latency> long_messages(uint32_t bytes, uint32_t delay, double loss) {
  NicPair nics(delay, loss);
  return of_every_kind(nics, delay, [&](Latency& latency) { nics.transfer(latency, bytes); });
}

}  // namespace weft::sim

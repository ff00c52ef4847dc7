// SPDX-License-Identifier: Apache-2.0
// Verilated NICs, the network between them and their administrators.
#include "node_system.hpp"

#include "barrier_tap.hpp"
#include "common/fault.hpp"

namespace weft::tb {

namespace {

constexpr uint64_t start_cycles = 200'000;  // more than enough

SystemConfig system_config(size_t nodes, const fabric::Faults& faults, uint64_t seed,
                           const RdmaBuild& build) {
  SystemConfig config;
  config.nodes = static_cast<uint32_t>(nodes);
  config.node.build = build;
  config.node.checked = false;
  config.faults = faults;
  config.seed = seed;
  return config;
}

driver::NodeSize node_size(uint64_t memory_bytes, const RdmaBuild& build) {
  driver::NodeSize size;
  size.queues = build.queues;
  size.regions = build.params.n_regions;
  size.payload = build.params.payload;
  size.memory_bytes = memory_bytes;
  return size;
}

}  // namespace

NodeSystem::NodeSystem(const std::vector<std::span<uint8_t>>& memories, const fabric::Faults& faults,
                       uint64_t seed, const std::string& build_name)
    : memories_(memories),
      directory_{.nodes = static_cast<uint32_t>(memories.size()), .notices = {}, .peers = {}},
      system_(system_config(memories.size(), faults, seed, *find_rdma_build(build_name))) {
  const RdmaBuild& build = *find_rdma_build(build_name);
  for (uint32_t node = 0; node < memories_.size(); ++node)
    system_.node(node).memory().memory().share(memories_[node]);
  system_.start(node_setup());
  if (!system_.run_until([this] { return system_.all_ready(); }, start_cycles))
    throw Fault("the NICs do not become ready");
  for (uint32_t node = 0; node < memories_.size(); ++node) {
    RdmaNode& nic = system_.node(node);
    Host& host = hosts_.emplace_back();
    const driver::NodeSize size = node_size(memories_[node].size(), build);
    host.memory = std::make_unique<NodeRingMemory>(nic.memory().memory());
    const auto* tap = dynamic_cast<const BarrierTap*>(&nic.model());
    if (tap && tap->has_barrier()) {
      host.barriers = std::make_unique<driver::BarrierDriver>(nic.registers(), *host.memory,
                                                              driver::barrier_window(build.queues));
      start_barriers(node, *host.barriers, size);
    }
    host.server = std::make_unique<driver::NodeServer>(node, nic.registers(), *host.memory, nic.driver(),
                                                       size, directory_, host.barriers.get());
    host.server->tick(system_.cycle());  // it knows the time
  }
}

void NodeSystem::start_barriers(uint32_t node, driver::BarrierDriver& barriers,
                                const driver::NodeSize& size) {
  driver::BarrierSetup setup;
  setup.node = static_cast<uint16_t>(node);
  setup.ring_base = size.barrier_ring();
  setup.ring_log2 = driver::NodeSize::barrier_ring_log2;
  std::optional<bool> started;
  barriers.start(setup, [&started](bool ok) { started = ok; });
  if (!system_.run_until([&started] { return started.has_value(); }, start_cycles) || !*started)
    throw Fault("the barrier engine of a NIC does not start");
}

void NodeSystem::step() {
  system_.step();
  for (Host& host : hosts_) host.server->tick(system_.cycle());
}

}  // namespace weft::tb

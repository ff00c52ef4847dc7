// SPDX-License-Identifier: Apache-2.0
// Verilated NICs on a mesh of routers that copies multicast packets, ready for barriers by their engines and
// for software over their RDMA engines.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "barrier/copies.hpp"
#include "barrier/judge.hpp"
#include "barrier/mesh.hpp"
#include "barrier/tree.hpp"
#include "common/fault.hpp"
#include "driver/barrier_driver.hpp"
#include "driver/ring_driver.hpp"
#include "node_ring_memory.hpp"
#include "rdma_system.hpp"

namespace weft::tb {

inline constexpr uint32_t payload = 64;
inline constexpr uint16_t key = 0x1234;
inline constexpr uint8_t owner = 1;
inline constexpr uint64_t sources = 0x1000'0000, flags = 0x2000'0000, region_bytes = 1 << 18;
inline constexpr uint64_t rings = 0x4000'0000, completions = 0x4001'0000, barrier_entries = 0x5000'0000;
inline constexpr uint32_t recvs = 8;  // posted at a time, as many as the NIC has tickets
inline constexpr uint8_t the_group = 0;
inline constexpr uint16_t multicast = 0xc000;  // address of all nodes
inline constexpr uint64_t patience = 200'000;
inline constexpr uint64_t pause = 300;  // between barriers, until nothing is under way any more

/// How far things are.
struct Distances {
  uint32_t link_clocks = 1;      ///< from router to router
  uint32_t memory_latency = 10;  ///< clocks until host memory answers
};

/// How Release comes to all, in barriers of the engines.
enum class Telling : uint8_t { along_tree, multicast };
inline constexpr std::array tellings{Telling::along_tree, Telling::multicast};

/// Clocks of one packet from each node to all along the tree that MR4LMS gives them, through routers as those
/// of the other packets, nothing else being under way.
inline fabric::MulticastClocks clocks_along_tree(const barrier::Mesh& mesh, uint32_t link_clocks) {
  const barrier::Copies tree = barrier::mr4lms_copies(mesh);
  fabric::MulticastClocks clocks(mesh.nodes(), fabric::Distances(mesh.nodes()));
  for (barrier::Node from = 0; from < mesh.nodes(); ++from) {
    const auto hops = barrier::hops_of_copies(mesh, tree, from);
    for (barrier::Node to = 0; to < mesh.nodes(); ++to)
      clocks[from][to] = fabric::copy_clocks(hops[to], link_clocks);
  }
  return clocks;
}

/// NICs that are ready for both kinds of barriers.
class Nics {
 public:
  Nics(const barrier::Mesh& mesh, const Distances& distances)
      : mesh_(mesh), system(config(mesh, distances)), window_(driver::barrier_window(queues())) {
    system.network().set_multicast(multicast, clocks_along_tree(mesh, distances.link_clocks));
    system.start(setup());
    if (!system.run_until([this] { return system.all_ready(); }, patience))
      throw Fault("the NICs do not become ready");
    for (uint32_t node = 0; node < system.size(); ++node) add_host(node);
    uint32_t ready = 0;
    for (uint32_t node = 0; node < system.size(); ++node) start(node, ready);
    wait([&] { return ready == 2 * system.size(); }, "queues and barrier engines do not start");
  }

  /// Throws if it does not happen.
  void wait(const std::function<bool()>& done, const std::string& what) {
    if (!system.run_until(done, patience)) throw Fault(what + " " + system.findings().summary());
  }
  void idle() {
    system.run_until([] { return false; }, pause);
  }

  /// A group of all nodes, in place of the last one.
  void open(barrier::Shape shape, Telling telling) {
    driver::BarrierGroup group;
    group.instance = ++instance_;
    group.shape = static_cast<barrier::formats::Shape>(shape);
    for (const barrier::Node member : barrier::numbered(mesh_, barrier::Numbering::centre))
      group.members.push_back(static_cast<uint16_t>(member));
    if (telling == Telling::multicast) group.multicast = multicast;
    group.stride = static_cast<uint16_t>(barrier::default_stride(mesh_.nodes()));
    group.good = 0xffff;  // nothing is broken: no search
    everywhere(
        [&](driver::BarrierDriver& barriers, const auto& done) { barriers.open(the_group, group, done); },
        "a group is refused");
  }
  void close() {
    everywhere([&](driver::BarrierDriver& barriers, const auto& done) { barriers.close(the_group, done); },
               "a group cannot be closed");
  }

  driver::RingQueue& queue(uint32_t node) { return *hosts_[node].queue; }
  driver::BarrierDriver& barriers(uint32_t node) { return *hosts_[node].barriers; }
  /// RECVs that nothing has come for yet.
  uint32_t& posted(uint32_t node) { return hosts_[node].posted; }
  HostMemory& memory(uint32_t node) { return system.node(node).memory().memory(); }

 private:
  struct Host {
    std::unique_ptr<NodeRingMemory> memory;
    std::unique_ptr<driver::RingAdministrator> administrator;
    std::unique_ptr<driver::RingQueue> queue;
    std::unique_ptr<driver::BarrierDriver> barriers;
    uint32_t posted = 0;
  };

  static SystemConfig config(const barrier::Mesh& mesh, const Distances& distances) {
    SystemConfig config;
    config.nodes = mesh.nodes();
    config.node.build = *find_rdma_build("weft");
    config.node.checked = false;
    config.node.memory_latency = distances.memory_latency;
    fabric::Routers routers;
    routers.torus.sizes = {mesh.size().height, mesh.size().width, 1};  // nodes are numbered likewise
    routers.torus.joined = false;
    routers.torus.link_clocks = distances.link_clocks;
    config.routers = routers;
    config.faults.delay = 1;
    return config;
  }
  static uint32_t queues() { return find_rdma_build("weft")->queues; }

  static driver::RdmaSetup setup() {
    driver::RdmaSetup setup;
    setup.regions = {{.base = sources, .limit = sources + region_bytes, .key = key, .remote_write = false},
                     {.base = flags, .limit = flags + region_bytes, .key = key, .owner = owner}};
    setup.regions[0].local_use = true;
    setup.regions[0].owner = owner;
    setup.regions[1].queue = uint8_t{0};
    return setup;
  }

  void add_host(uint32_t node) {
    Host& host = hosts_.emplace_back();
    RdmaNode& nic = system.node(node);
    host.memory = std::make_unique<NodeRingMemory>(nic.memory().memory());
    host.administrator = std::make_unique<driver::RingAdministrator>(nic.registers(), *host.memory);
    host.queue = std::make_unique<driver::RingQueue>(nic.registers(), *host.memory, 0, ring_setup());
    host.barriers = std::make_unique<driver::BarrierDriver>(nic.registers(), *host.memory, window_);
  }

  static driver::RingSetup ring_setup() {
    driver::RingSetup setup;
    setup.sq_base = rings;
    setup.cq_base = completions;
    setup.sq_log2 = setup.cq_log2 = 8;
    setup.owner = owner;
    return setup;
  }

  void start(uint32_t node, uint32_t& ready) {
    const auto count = [&ready](bool ok) { ready += ok ? 1 : 0; };
    hosts_[node].administrator->enable(0, ring_setup(), count);
    driver::BarrierSetup engine;
    engine.node = static_cast<uint16_t>(node);
    engine.ring_base = barrier_entries;
    hosts_[node].barriers->start(engine, count);
  }

  using Outcome = std::optional<driver::BarrierDriver::Refusal>;
  void everywhere(
      const std::function<void(driver::BarrierDriver&, const driver::BarrierDriver::OnOutcome&)>& ask,
      const std::string& fault) {
    uint32_t ready = 0;
    const auto count = [&](Outcome refusal) {
      ready += refusal == driver::BarrierDriver::Refusal::none ? 1 : 0;
    };
    for (Host& host : hosts_) ask(*host.barriers, count);
    wait([&] { return ready == hosts_.size(); }, fault);
  }

  const barrier::Mesh& mesh_;

 public:
  RdmaSystem system;

 private:
  uint32_t window_;
  uint16_t instance_ = 0;
  std::vector<Host> hosts_;
};

}  // namespace weft::tb

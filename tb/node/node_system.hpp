// SPDX-License-Identifier: Apache-2.0
// Verilated NICs and the network between them, each with its administrator.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/node_server.hpp"
#include "node_ring_memory.hpp"
#include "nodes.hpp"
#include "rdma_system.hpp"

namespace weft::tb {

class NodeSystem : public Nodes {
 public:
  /// @param memories of the nodes, one each, of the same length; they outlive this
  /// @param build of the NICs, one that the program is linked with
  NodeSystem(const std::vector<std::span<uint8_t>>& memories, const fabric::Faults& faults, uint64_t seed,
             const std::string& build = "weft_default");

  uint32_t size() const override { return system_.size(); }
  driver::NodeServer& server(uint32_t node) override { return *hosts_.at(node).server; }
  uint64_t cycle() const override { return system_.cycle(); }
  std::span<uint8_t> memory(uint32_t node) override { return memories_.at(node); }
  void step() override;
  fabric::NetworkCounters network_counters() { return system_.network().counters(); }

 private:
  void start_barriers(uint32_t node, driver::BarrierDriver& barriers, const driver::NodeSize& size);

  struct Host {
    std::unique_ptr<NodeRingMemory> memory;
    std::unique_ptr<driver::BarrierDriver> barriers;  ///< if the NIC has a barrier engine
    std::unique_ptr<driver::NodeServer> server;
  };

  std::vector<std::span<uint8_t>> memories_;
  driver::Directory directory_;
  RdmaSystem system_;
  std::vector<Host> hosts_;
};

}  // namespace weft::tb

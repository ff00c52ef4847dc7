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
#include "rdma_system.hpp"

namespace weft::tb {

class NodeSystem {
 public:
  /// @param memories of the nodes, one each, of the same length; they outlive this
  /// @param build of the NICs, one that the program is linked with
  NodeSystem(const std::vector<std::span<uint8_t>>& memories, const fabric::Faults& faults, uint64_t seed,
             const std::string& build = "nic_default");

  uint32_t size() const { return system_.size(); }
  driver::NodeServer& server(uint32_t node) { return *hosts_.at(node).server; }
  uint64_t cycle() const { return system_.cycle(); }
  std::span<uint8_t> memory(uint32_t node) { return memories_.at(node); }

  void step();
  /// An application's place is being cleared.
  bool clearing() const;

 private:
  struct Host {
    std::unique_ptr<NodeRingMemory> memory;
    std::unique_ptr<driver::NodeServer> server;
  };

  std::vector<std::span<uint8_t>> memories_;
  driver::Directory directory_;
  RdmaSystem system_;
  std::vector<Host> hosts_;
};

/// An application's way to a node of a system in the same thread, which is clocked while it waits.
class InProcessPort : public driver::Port {
 public:
  /// Throws Fault if there is no such node, or no place on it.
  InProcessPort(NodeSystem& nodes, uint32_t node);
  InProcessPort(const InProcessPort&) = delete;
  InProcessPort& operator=(const InProcessPort&) = delete;
  ~InProcessPort() override;

  driver::Reply ask(const driver::Request& request) override;
  std::span<uint8_t> memory() override { return nodes_.memory(node_); }

 private:
  NodeSystem& nodes_;
  uint32_t node_;
  uint32_t place_;
};

/// The place of one more application on a node; throws Fault if there is none.
uint32_t take_place(NodeSystem& nodes, uint32_t node);

}  // namespace weft::tb

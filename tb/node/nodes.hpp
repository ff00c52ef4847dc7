// SPDX-License-Identifier: Apache-2.0
// Simulated NICs, each with its administrator, whatever simulates them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "driver/node_server.hpp"

namespace weft::tb {

class Nodes {
 public:
  Nodes() = default;
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;
  virtual ~Nodes() = default;

  virtual uint32_t size() const = 0;
  virtual driver::NodeServer& server(uint32_t node) = 0;
  virtual std::span<uint8_t> memory(uint32_t node) = 0;
  virtual uint64_t cycle() const = 0;
  /// One clock.
  virtual void step() = 0;

  /// An application's place is being cleared.
  bool clearing();
};

/// Timers and quotas as docs/nic_guide.md has them; nobody is waited for as long as after a reset.
driver::RdmaSetup node_setup();

/// The place of one more application on a node; throws Fault if there is none.
uint32_t take_place(Nodes& nodes, uint32_t node);

/// An application's way to a node in the same thread, which is clocked while it waits.
class InProcessPort : public driver::Port {
 public:
  /// Throws Fault if there is no such node, or no place on it.
  InProcessPort(Nodes& nodes, uint32_t node);
  InProcessPort(const InProcessPort&) = delete;
  InProcessPort& operator=(const InProcessPort&) = delete;
  ~InProcessPort() override;

  driver::Reply ask(const driver::Request& request) override;
  std::span<uint8_t> memory() override { return nodes_.memory(node_); }

 private:
  Nodes& nodes_;
  uint32_t node_;
  uint32_t place_;
};

}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// A link of two NICs that loses, duplicates, delays and reorders their packets.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "fabric/network.hpp"
#include "systemc/weft_nic.hpp"

namespace weft::systemc {

/// A flit a clock each way. What befalls packets is the network model of the plain C++ harness.
class Link : public sc_core::sc_module {
 public:
  sc_core::sc_in<bool> clk{"clk"};
  /// By end: from its NIC, and to it.
  std::array<sc_core::sc_fifo_in<Flit>, 2> from;
  std::array<sc_core::sc_fifo_out<Flit>, 2> to;

  Link(const sc_core::sc_module_name& name, const fabric::Faults& faults, uint64_t seed);
  fabric::NetworkCounters counters() const { return network_.counters(); }

 private:
  void move();
  void take(uint32_t end);
  void give(uint32_t end);

  fabric::Network network_;
  std::array<fabric::Bytes, 2> gathered_;    // of a packet that has not come whole
  std::array<std::deque<Flit>, 2> leaving_;  // of packets that have crossed
};

}  // namespace weft::systemc

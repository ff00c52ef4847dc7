// SPDX-License-Identifier: Apache-2.0
// What generators share: GUIDs, and switches, hosts and links added one by one. Not for use outside this
// folder.
#pragma once

#include <cstdint>
#include <string>

#include "topology/graph.hpp"

namespace weft::topology {

/// GUIDs of what is generated; those of a host's ports follow its own.
inline constexpr uint64_t first_switch_guid = 0x1000000000;
inline constexpr uint64_t first_host_guid = 0x2000000000;
inline constexpr uint64_t host_guid_step = 16;

/// Throws std::invalid_argument, "WHAT is VALUE, must be LEAST to MOST", unless it is.
void check_range(const char* what, uint64_t value, uint64_t least, uint64_t most);
/// Throws std::invalid_argument if a fabric becomes larger than a Graph can be.
void check_size(uint64_t switches, uint64_t hosts, uint64_t ports);

class Maker {
 public:
  uint32_t add_switch(std::string name, uint32_t ports);
  /// The next host, with one port, named host-N.
  uint32_t add_host(uint32_t sw, uint32_t port);
  /// `count` hosts on ports 1 .. count of a switch.
  void add_hosts(uint32_t sw, uint32_t count);
  void connect(uint32_t a, uint32_t a_port, uint32_t b, uint32_t b_port);

  Graph finish() && { return Graph(std::move(parts_)); }

 private:
  Parts parts_;
};

}  // namespace weft::topology

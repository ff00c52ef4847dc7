// SPDX-License-Identifier: Apache-2.0
// Which server each node fetches its image from, and from which one if that dies.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "boot/machine.hpp"

namespace weft::boot {

enum class Algorithm : uint8_t {
  scda,      ///< supernode i from server i mod servers (2.1)
  bcda,      ///< board j from server j mod servers (2.2)
  balanced,  ///< each node from the server where the slowest of those that share its links stays fastest
};

std::optional<Algorithm> algorithm_named(std::string_view name);

struct Plan {
  std::vector<uint32_t> servers;  ///< of each node of the list
  /// Likewise, if that dies alone: no other places for its nodes leave the slowest of all nodes faster, while
  /// those of other servers stay where they are. Its server if there is no other.
  std::vector<uint32_t> backups;
};

/// Only servers that have not failed are counted and named. No mapping gives the slowest node more than
/// `balanced` does, as long as each node has one server (docs/boot.md).
/// @param cpus nodes that boot, each of the machine
Plan plan(const Machine& machine, const std::vector<uint32_t>& cpus, Algorithm algorithm);

}  // namespace weft::boot

// SPDX-License-Identifier: Apache-2.0
// Hosts by all that they can be called.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/fault.hpp"
#include "topology/graph.hpp"

namespace weft::topology {

class HostNames {
 public:
  explicit HostNames(const Graph& graph);

  /// The host of this number, GUID of host or port (0x...) or name. Throws Fault without place if there is
  /// none, or several.
  uint32_t find(std::string_view word) const;

 private:
  static constexpr uint32_t several = most_hosts;

  uint32_t hosts_;
  std::unordered_map<std::string, uint32_t> by_name_;
  std::unordered_map<uint64_t, uint32_t> by_guid_;
};

}  // namespace weft::topology

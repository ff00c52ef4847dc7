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
  explicit HostNames(const Graph& graph);  ///< which must outlive it

  /// The host of this number, GUID of host or of its first connected port (0x...) or name. Throws Fault
  /// without place if there is none, or several.
  uint32_t find(std::string_view word) const;
  /// The host of this name, whatever it looks like; likewise.
  uint32_t find_name(std::string_view name) const;

 private:
  static constexpr uint32_t several = most_hosts;

  /// Whose GUID it is.
  struct Owner {
    uint32_t host;
    uint16_t port;  ///< a port by which the host does not take part; 0: the host itself, or its first port
  };

  void add_guid(uint64_t guid, const Owner& owner);
  uint32_t find_guid(uint64_t guid, std::string_view word) const;

  const Graph& graph_;
  std::unordered_map<std::string, uint32_t> by_name_;
  std::unordered_map<uint64_t, Owner> by_guid_;
};

}  // namespace weft::topology

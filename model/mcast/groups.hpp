// SPDX-License-Identifier: Apache-2.0
// Multicast groups: which hosts shall hear each other (MR4LMS paper, definition 2; patterns: 4.2.2).
//
// A member is a host, however many of its processes take part. A group of one host is local: its processes
// reach each other without the fabric, so it has neither tree nor colour.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/fault.hpp"
#include "topology/graph.hpp"

namespace weft::mcast {

inline constexpr uint32_t most_groups = 1u << 24;
inline constexpr uint64_t most_memberships = 1u << 28;

/// Members of each group, one group after the other.
class Groups {
 public:
  /// Members in any order, also several times. Throws std::length_error for too many groups or members.
  void add(std::vector<uint32_t> hosts);

  uint32_t count() const { return static_cast<uint32_t>(start_.size() - 1); }
  /// Ascending, each once.
  std::span<const uint32_t> members(uint32_t group) const {
    return {hosts_.data() + start_[group], hosts_.data() + start_[group + 1]};
  }
  bool is_local(uint32_t group) const { return members(group).size() < 2; }
  uint32_t local() const;

  bool operator==(const Groups&) const = default;

 private:
  std::vector<uint64_t> start_{0};
  std::vector<uint32_t> hosts_;
};

/// grid:AxB[xC][@P], random:COUNT:SIZE:SEED or file:PATH (docs/mcast.md). Throws Fault.
Groups load_groups(const std::string& spec, const topology::Graph& graph);

/// One group a line: hosts by number, by name or by GUID. Throws Fault, "NAME:LINE: fault" or "NAME: fault".
/// @param name of the file, for messages
Groups read_groups(std::string_view text, const std::string& name, const topology::Graph& graph);
Groups read_groups_file(const std::filesystem::path& file, const topology::Graph& graph);

/// For --help: all forms of a SPEC.
inline constexpr const char* group_forms = "grid:AxB[xC][@PROCESSES], random:COUNT:SIZE:SEED or file:PATH";

}  // namespace weft::mcast

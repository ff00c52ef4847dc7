// SPDX-License-Identifier: Apache-2.0
// Trees of which some links are dead.
#include "switch/tree_parts.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace weft::tb {

using switchtables::Fabric;

namespace {

/// Switches and hosts of the whole fabric, joined by and by.
class Joined {
 public:
  uint64_t find(uint64_t node) {
    while (true) {
      const auto parent = parents_.try_emplace(node, node).first->second;
      if (parent == node) return node;
      node = parent;
    }
  }
  void join(uint64_t one, uint64_t other) { parents_[find(one)] = find(other); }

 private:
  std::unordered_map<uint64_t, uint64_t> parents_;
};

constexpr uint64_t host_mark = uint64_t{1} << 32;

}  // namespace

std::vector<std::pair<uint32_t, uint16_t>> ends_of(const mcast::Tree& tree, const Fabric& fabric) {
  std::vector<std::pair<uint32_t, uint16_t>> ends;
  for (const uint32_t id : tree.links) {
    const topology::Link& link = fabric.graph().link(id);
    ends.emplace_back(fabric.whole_switch(link.b), link.b_port);
    if (!fabric.graph().is_host_link(id)) ends.emplace_back(fabric.whole_switch(link.a), link.a_port);
  }
  std::sort(ends.begin(), ends.end());
  return ends;
}

std::vector<uint32_t> parts_of(const mcast::Tree& tree, const Fabric& made, const Fabric& now,
                               std::span<const uint32_t> hosts) {
  std::unordered_map<uint32_t, switch_lookup::Ports> alive;  // of switches of the whole fabric
  for (uint32_t sw = 0; sw < now.graph().switches(); ++sw) alive[now.whole_switch(sw)] = now.alive(sw);
  const auto works = [&](uint32_t sw, uint16_t port) {
    const auto ports = alive.find(made.whole_switch(sw));
    return ports != alive.end() && (ports->second & switch_lookup::port_bit(port)) != 0;
  };
  Joined joined;
  for (const uint32_t id : tree.links) {
    const topology::Link& link = made.graph().link(id);
    const bool host = made.graph().is_host_link(id);
    if (!works(link.b, link.b_port) || (!host && !works(link.a, link.a_port))) continue;
    joined.join(host ? host_mark | made.whole_host(link.a) : made.whole_switch(link.a),
                made.whole_switch(link.b));
  }
  std::vector<uint32_t> parts;
  std::vector<uint64_t> roots;
  for (const uint32_t host : hosts) {
    const uint64_t root = joined.find(host_mark | now.whole_host(host));
    const auto known = std::find(roots.begin(), roots.end(), root);
    parts.push_back(static_cast<uint32_t>(known - roots.begin()));
    if (known == roots.end()) roots.push_back(root);
  }
  return parts;
}

}  // namespace weft::tb

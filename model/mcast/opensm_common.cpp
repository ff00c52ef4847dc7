// SPDX-License-Identifier: Apache-2.0
// What OpenSM's engines share.
#include "mcast/opensm_common.hpp"

#include <algorithm>
#include <numeric>

#include "mcast/opensm_engines.hpp"

namespace weft::mcast {

uint64_t opensm_key(uint64_t guid) {
  uint64_t key = 0;
  for (int byte = 0; byte < 8; ++byte) key = key << 8 | (guid >> 8 * byte & 0xff);
  return key;
}

std::vector<uint32_t> opensm_switches(const topology::Graph& graph) {
  std::vector<uint32_t> switches(graph.switches());
  std::iota(switches.begin(), switches.end(), 0);
  std::sort(switches.begin(), switches.end(), [&graph](uint32_t a, uint32_t b) {
    return opensm_key(graph.switch_info(a).guid) < opensm_key(graph.switch_info(b).guid);
  });
  return switches;
}

const topology::Arc& opensm_port(const topology::Graph& graph, uint32_t host) {
  return graph.attachments(host).front();
}

std::vector<uint32_t> member_switches(const topology::Graph& graph, std::span<const uint32_t> hosts) {
  std::vector<uint32_t> switches;
  std::set<uint32_t> seen;
  for (const uint32_t host : hosts)
    if (const uint32_t sw = opensm_port(graph, host).node; seen.insert(sw).second) switches.push_back(sw);
  return switches;
}

uint32_t opensm_root(const std::vector<uint32_t>& order, std::span<const uint32_t> member_switches,
                     const HopMatrix& hops) {
  uint32_t root = order.front(), least = HopMatrix::unknown + 1u;
  for (const uint32_t sw : order) {
    uint32_t farthest = 0;
    for (const uint32_t member : member_switches)
      farthest = std::max<uint32_t>(farthest, hops.get(sw, member));
    if (farthest >= least) continue;
    least = farthest;
    root = sw;
  }
  return root;
}

void add_tree(ForwardingTables& tables, uint16_t mlid, const OpenSmTree& tree, const topology::Graph& graph) {
  for (const uint32_t id : tree.links) {
    const topology::Link& link = graph.link(id);
    tables[graph.switch_info(link.b).guid][mlid].set(link.b_port);
    if (!graph.is_host_link(id)) tables[graph.switch_info(link.a).guid][mlid].set(link.a_port);
  }
}

}  // namespace weft::mcast

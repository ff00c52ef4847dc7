// SPDX-License-Identifier: Apache-2.0
// Multicast trees as OpenSM's engine minhop computes them.
#include <algorithm>

#include "mcast/fault.hpp"
#include "mcast/opensm_common.hpp"
#include "mcast/opensm_engines.hpp"
#include "topology/distances.hpp"

namespace weft::mcast {

namespace {

class MinHop : public OpenSmEngine {
 public:
  explicit MinHop(const topology::Graph& graph)
      : graph_(graph), order_(opensm_switches(graph)), hops_(graph.switches()) {
    for (uint32_t to = 0; to < graph.switches(); ++to) {
      const std::vector<uint32_t> row = topology::hops_from(graph, to);
      for (uint32_t from = 0; from < graph.switches(); ++from) {
        if (row[from] >= HopMatrix::unknown) throw Fault("switches are more than 254 links apart");
        hops_.set(from, to, static_cast<uint8_t>(row[from]));
      }
    }
  }

  OpenSmTree build(std::span<const uint32_t> hosts) override {
    const std::vector<uint32_t> members = member_switches(graph_, hosts);
    OpenSmTree tree;
    tree.root = opensm_root(order_, members, hops_);
    std::set<uint32_t> links;
    for (const uint32_t member : members)
      for (uint32_t sw = tree.root; sw != member;) {
        const topology::Arc& arc = first_towards(sw, member);
        links.insert(arc.link);
        sw = arc.node;
      }
    for (const uint32_t host : hosts) links.insert(opensm_port(graph_, host).link);
    tree.links.assign(links.begin(), links.end());
    return tree;
  }

 private:
  /// By the first port on a shortest way.
  const topology::Arc& first_towards(uint32_t sw, uint32_t to) const {
    const auto arcs = graph_.neighbours(sw);
    const uint8_t left = hops_.get(sw, to);
    return *std::find_if(arcs.begin(), arcs.end(),
                         [&](const topology::Arc& arc) { return hops_.get(arc.node, to) + 1 == left; });
  }

  const topology::Graph& graph_;
  std::vector<uint32_t> order_;
  HopMatrix hops_;
};

}  // namespace

std::unique_ptr<OpenSmEngine> opensm_minhop(const topology::Graph& graph) {
  return std::make_unique<MinHop>(graph);
}

}  // namespace weft::mcast

// SPDX-License-Identifier: Apache-2.0
// Trees of shortest ways, and those of multicast routing on the mesh as a fabric of switches with a host
// each.
#include "barrier/copies.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "mcast/hops.hpp"
#include "mcast/router.hpp"
#include "topology/graph.hpp"

namespace weft::barrier {
namespace {

constexpr uint32_t host_port = 1;  // of a switch; its links to others have the ports behind it

/// Where a link is among those of its end.
uint16_t port_of(const Mesh& mesh, Node node, uint32_t link) {
  const auto neighbours = mesh.neighbours(node);
  const auto at = std::ranges::find(neighbours, link, &Mesh::Neighbour::link);
  return static_cast<uint16_t>(host_port + 1 + (at - neighbours.begin()));
}

uint32_t link_between(const Mesh& mesh, Node a, Node b) {
  return std::ranges::find(mesh.neighbours(a), b, &Mesh::Neighbour::node)->link;
}

/// Links that work only.
topology::Graph fabric_of(const Mesh& mesh) {
  topology::Parts parts;
  for (Node node = 0; node < mesh.nodes(); node++) {
    const auto neighbours = mesh.neighbours(node);
    const auto ports = host_port + static_cast<uint32_t>(neighbours.size());
    parts.switches.push_back(
        {.guid = 2 * uint64_t{node} + 1, .name = "router" + std::to_string(node), .ports = ports});
    parts.hosts.push_back(
        {.guid = 2 * uint64_t{node} + 2, .name = "node" + std::to_string(node), .ports = 1});
    parts.host_links.push_back({.host = node, .at = node, .host_port = 1, .switch_port = host_port});
    for (const auto& [other, link] : neighbours) {
      if (node > other) continue;
      parts.switch_links.push_back(
          {.a = node, .b = other, .a_port = port_of(mesh, node, link), .b_port = port_of(mesh, other, link)});
    }
  }
  return topology::Graph(std::move(parts));
}

}  // namespace

Copies shortest_copies(const Mesh& mesh, const Routes& routes, Node from) {
  Copies copies(mesh.links());
  for (Node node = 0; node < mesh.nodes(); node++) {
    if (node != from) copies[routes.next(node, from).link] = true;
  }
  return copies;
}

Copies mr4lms_copies(const Mesh& mesh) {
  Copies copies(mesh.links());
  if (mesh.nodes() < 2) return copies;
  const topology::Graph fabric = fabric_of(mesh);
  const mcast::Hops hops(fabric);
  mcast::Router router(hops, {});
  std::vector<uint32_t> everyone(mesh.nodes());
  std::iota(everyone.begin(), everyone.end(), 0);
  const uint32_t group = router.create(std::move(everyone));
  const mcast::Forest& forest = router.forest();
  for (const uint32_t link : forest.tree(forest.tree_of(group)).links) {
    if (!fabric.is_host_link(link))
      copies[link_between(mesh, fabric.link(link).a, fabric.link(link).b)] = true;
  }
  return copies;
}

std::vector<std::vector<Node>> passes_on(const Mesh& mesh, const Copies& copies, Node from) {
  std::vector<std::vector<Node>> onward(mesh.nodes());
  struct Step {
    Node at, came;
  };
  std::vector<Step> open{{from, from}};
  while (!open.empty()) {
    const Step step = open.back();
    open.pop_back();
    for (const auto& [next, link] : mesh.neighbours(step.at)) {
      if (!copies[link] || next == step.came) continue;
      onward[step.at].push_back(next);
      open.push_back({next, step.at});
    }
  }
  return onward;
}

std::vector<uint32_t> hops_of_copies(const Mesh& mesh, const Copies& copies, Node from) {
  const auto onward = passes_on(mesh, copies, from);
  std::vector<uint32_t> hops(mesh.nodes());
  std::vector<Node> reached{from};
  for (size_t at = 0; at < reached.size(); at++) {
    for (const Node next : onward[reached[at]]) {
      hops[next] = hops[reached[at]] + 1;
      reached.push_back(next);
    }
  }
  return hops;
}

}  // namespace weft::barrier

// SPDX-License-Identifier: Apache-2.0
// Fabrics as graphs: every link is seen from both ends, numbers do not depend on the order of links,
// distances are those of a plain search, what is no fabric is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "drawn_graph.hpp"
#include "property.hpp"
#include "topology/distances.hpp"
#include "topology/generate.hpp"
#include "topology/graph.hpp"

namespace weft::topology {
namespace {

using test::drawn_graph;

/// Two switches with two links, a host with two ports at them, one with one.
Parts small() {
  Parts parts;
  parts.switches = {{0x10, "left", 4}, {0x11, "right", 5}};
  parts.hosts = {{0x20, "two", 2}, {0x30, "one", 1}};
  parts.switch_links = {{1, 0, 5, 2}, {0, 1, 1, 2}};
  parts.host_links = {{1, 0, 1, 3}, {0, 1, 2, 1, 0x99}, {0, 0, 1, 4}};
  return parts;
}

TEST(Graph, LinksAndArcsOfASmallFabric) {
  const Graph graph{small()};
  ASSERT_EQ(graph.links(), 5u);
  EXPECT_EQ(graph.switch_links(), 2u);
  EXPECT_EQ(graph.link(0), (Link{0, 1, 1, 2}));
  EXPECT_EQ(graph.link(1), (Link{0, 1, 2, 5}));
  EXPECT_EQ(graph.link(2), (Link{0, 0, 1, 4}));
  EXPECT_EQ(graph.link(3), (Link{0, 1, 2, 1}));
  EXPECT_EQ(graph.link(4), (Link{1, 0, 1, 3}));
  const auto arcs = [](std::span<const Arc> span) { return std::vector<Arc>(span.begin(), span.end()); };
  EXPECT_EQ(arcs(graph.neighbours(0)), (std::vector<Arc>{{1, 0, 1, 2}, {1, 1, 2, 5}}));
  EXPECT_EQ(arcs(graph.neighbours(1)), (std::vector<Arc>{{0, 0, 2, 1}, {0, 1, 5, 2}}));
  EXPECT_EQ(arcs(graph.hosts_at(0)), (std::vector<Arc>{{1, 4, 3, 1}, {0, 2, 4, 1}}));
  EXPECT_EQ(arcs(graph.attachments(0)), (std::vector<Arc>{{0, 2, 1, 4}, {1, 3, 2, 1}}));
  EXPECT_EQ(graph.link_at(1, 5), 1u);
  EXPECT_EQ(graph.link_at(1, 4), no_link);
  EXPECT_EQ(graph.port_guid(2), 0x21u);
  EXPECT_EQ(graph.port_guid(3), 0x99u);
}

TEST(Graph, EachLinkIsSeenFromBothEnds) {
  EXPECT_PROPERTY("both ends", [] {
    const Graph graph = drawn_graph();
    std::vector<uint32_t> seen(graph.links());
    const auto look = [&](uint32_t from, std::span<const Arc> arcs, bool from_host) {
      for (std::size_t i = 0; i < arcs.size(); ++i) {
        const Arc& arc = arcs[i];
        const Link& link = graph.link(arc.link);
        const bool at_a = from_host || (!graph.is_host_link(arc.link) && link.a == from);
        RC_ASSERT(link == (at_a ? Link{from, arc.node, arc.port, arc.peer_port, link.mbps}
                                : Link{arc.node, from, arc.peer_port, arc.port, link.mbps}));
        if (i > 0) RC_ASSERT(arcs[i - 1].port < arc.port);
        if (!from_host) RC_ASSERT(graph.link_at(from, arc.port) == arc.link);
        seen[arc.link]++;
      }
    };
    for (uint32_t sw = 0; sw < graph.switches(); ++sw) {
      look(sw, graph.neighbours(sw), false);
      look(sw, graph.hosts_at(sw), false);
    }
    for (uint32_t host = 0; host < graph.hosts(); ++host) look(host, graph.attachments(host), true);
    for (const uint32_t count : seen) RC_ASSERT(count == 2u);
  });
}

TEST(Graph, OrderAndDirectionOfLinksDoNotMatter) {
  EXPECT_PROPERTY("same graph", [] {
    Parts parts = test::Drawing().draw();
    const Graph graph{Parts(parts)};
    std::reverse(parts.switch_links.begin(), parts.switch_links.end());
    std::reverse(parts.host_links.begin(), parts.host_links.end());
    for (Link& link : parts.switch_links) link = {link.b, link.a, link.b_port, link.a_port, link.mbps};
    RC_ASSERT(Graph(std::move(parts)) == graph);
  });
}

/// The same fabric, nodes in opposite order.
Graph turned_round(const Parts& from) {
  Parts parts = from;
  std::reverse(parts.switches.begin(), parts.switches.end());
  std::reverse(parts.hosts.begin(), parts.hosts.end());
  const auto last_switch = static_cast<uint32_t>(parts.switches.size() - 1);
  for (Link& link : parts.switch_links)
    link = {last_switch - link.a, last_switch - link.b, link.a_port, link.b_port, link.mbps};
  for (auto& link : parts.host_links) {
    link.host = static_cast<uint32_t>(parts.hosts.size() - 1) - link.host;
    link.at = last_switch - link.at;
  }
  return Graph(std::move(parts));
}

TEST(Graph, ByGuidOrderOfNodesDoesNotMatter) {
  EXPECT_PROPERTY("same graph", [] {
    const Parts parts = test::Drawing().draw();
    const Graph sorted = by_guid(Graph{Parts(parts)});
    RC_ASSERT(by_guid(turned_round(parts)) == sorted);
    for (uint32_t sw = 1; sw < sorted.switches(); ++sw)
      RC_ASSERT(sorted.switch_info(sw - 1).guid < sorted.switch_info(sw).guid);
  });
}

template <typename Change>
std::string refused(Change change) {
  Parts parts = small();
  change(parts);
  try {
    const Graph graph(std::move(parts));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Graph, WhatIsNoFabricIsRefused) {
  EXPECT_EQ(refused([](Parts&) {}), "accepted");
  EXPECT_EQ(refused([](Parts& p) { p.switches.clear(); }), "there is no switch in it");
  EXPECT_EQ(refused([](Parts& p) { p.hosts.clear(); }), "there is no host in it");
  EXPECT_EQ(refused([](Parts& p) { p.switches[1].guid = 0x30; }), "GUID 0x30 is there twice");
  EXPECT_EQ(refused([](Parts& p) { p.hosts[0].guid = 0; }), "\"two\" has GUID 0");
  EXPECT_EQ(refused([](Parts& p) { p.host_links[1].port_guid = 0x31; }), "GUID 0x31 is there twice");
  EXPECT_EQ(refused([](Parts& p) { p.hosts[0].name = "a\nb"; }),
            "the name of GUID 0x20 has control characters");
  EXPECT_EQ(refused([](Parts& p) { p.hosts[0].ports = 65536; }),
            "\"two\" has 65536 ports, at most 65535 are possible");
  EXPECT_EQ(refused([](Parts& p) { p.switch_links[0].a_port = 6; }), "port 6 of \"right\", which has 5");
  EXPECT_EQ(refused([](Parts& p) { p.switch_links[0].b_port = 0; }), "port 0 of \"left\", which has 4");
  EXPECT_EQ(refused([](Parts& p) { p.switch_links[0].a = 2; }), "a link to switch 2, which is not there");
  EXPECT_EQ(refused([](Parts& p) { p.host_links[0].host = 2; }), "a link to host 2, which is not there");
  EXPECT_EQ(refused([](Parts& p) { p.switch_links[0] = {0, 0, 1, 2}; }), "a link from \"left\" to itself");
  EXPECT_EQ(refused([](Parts& p) { p.switch_links[0].b_port = 1; }), "port 1 of \"left\" has two links");
  EXPECT_EQ(refused([](Parts& p) { p.host_links[0].switch_port = 1; }), "port 1 of \"left\" has two links");
  EXPECT_EQ(refused([](Parts& p) { p.host_links[1].host_port = 1; }), "port 1 of \"two\" has two links");
}

TEST(Distances, DiameterIsTheLongestOfAllSearches) {
  const auto longest = [](const Graph& graph) {
    uint32_t most = 0;
    for (uint32_t sw = 0; sw < graph.switches(); ++sw)
      for (const uint32_t hops : hops_from(graph, sw)) most = std::max(most, hops);
    return most;
  };
  EXPECT_PROPERTY("diameter", [&] {
    const Graph graph = drawn_graph();
    RC_ASSERT(diameter(graph) == longest(graph));
  });
  for (const uint32_t size : {1u, 2u, 9u, 65u, 130u}) {
    const Graph ring = torus({size, 1, 1}, 1);
    EXPECT_EQ(diameter(ring), size / 2);
    EXPECT_EQ(longest(ring), size / 2);
  }
}

TEST(Distances, WhatIsCutOffIsFound) {
  EXPECT_FALSE(first_cut_off(Graph(small())));
  Parts parts = small();
  parts.switch_links.clear();  // a host with a port at each does not join them
  const Graph apart{Parts(parts)};
  const auto cut = first_cut_off(apart);
  ASSERT_TRUE(cut);
  EXPECT_FALSE(cut->host);
  EXPECT_EQ(cut->node, 1u);
  EXPECT_EQ(diameter(apart), unreachable);
  EXPECT_EQ(hops_from(apart, 1), (std::vector<uint32_t>{unreachable, 0}));
  parts = small();
  parts.host_links.erase(parts.host_links.begin());
  const auto lonely = first_cut_off(Graph(std::move(parts)));
  ASSERT_TRUE(lonely);
  EXPECT_TRUE(lonely->host);
  EXPECT_EQ(lonely->node, 1u);
}

}  // namespace
}  // namespace weft::topology

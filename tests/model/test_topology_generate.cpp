// SPDX-License-Identifier: Apache-2.0
// Generated fabrics: sizes of the papers, shape, numbers of paths, the same for the same seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/fault.hpp"
#include "property.hpp"
#include "topology/distances.hpp"
#include "topology/generate.hpp"
#include "topology/spec.hpp"

namespace weft::topology {
namespace {

struct Size {
  const char* spec;
  uint32_t switches, hosts, switch_links, diameter;
};

TEST(Generate, SizesOfThePapers) {
  for (const Size& size :
       {Size{"fattree3:40", 2000, 16000, 32000, 4}, Size{"torus3d:30x20x20:2", 12000, 24000, 36000, 35},
        Size{"dragonfly:18,9,9", 2934, 26406, 38142, 3}, Size{"random:2048,40,20,1", 2048, 40960, 20480, 4},
        Size{"bluelight", 1664, 8704, 18240, 6}, Size{"taihulight", 6272, 40960, 61568, 6},
        Size{"kfat2d:16x16:16", 288, 4096, 512, 4}, Size{"kfat2d:16x16:16:4x4", 512, 4096, 1024, 8}}) {
    const Graph graph = load(size.spec);
    EXPECT_EQ(graph.switches(), size.switches) << size.spec;
    EXPECT_EQ(graph.hosts(), size.hosts) << size.spec;
    EXPECT_EQ(graph.switch_links(), size.switch_links) << size.spec;
    EXPECT_EQ(graph.links(), size.switch_links + size.hosts) << size.spec;
    EXPECT_EQ(diameter(graph), size.diameter) << size.spec;
    EXPECT_FALSE(first_cut_off(graph)) << size.spec;
  }
}

/// How many shortest ways lead from this switch to each other one; several links count each.
std::vector<uint64_t> shortest_ways(const Graph& graph, uint32_t from) {
  const auto hops = hops_from(graph, from);
  std::vector<uint32_t> order(graph.switches());
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) order[sw] = sw;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return hops[a] < hops[b]; });
  std::vector<uint64_t> ways(graph.switches());
  ways[from] = 1;
  for (const uint32_t sw : order)
    for (const Arc& arc : graph.neighbours(sw))
      if (hops[arc.node] == hops[sw] + 1) ways[arc.node] += ways[sw];
  return ways;
}

std::size_t count_port(const Graph& graph, uint32_t a, uint32_t b) {
  const auto arcs = graph.neighbours(a);
  return static_cast<std::size_t>(
      std::count_if(arcs.begin(), arcs.end(), [b](const Arc& arc) { return arc.node == b; }));
}

uint32_t neighbour_at(const Graph& graph, uint32_t sw, uint32_t port) {
  for (const Arc& arc : graph.neighbours(sw))
    if (arc.port == port) return arc.node;
  return no_link;
}

TEST(Generate, FatTreeHasAllItsPaths) {
  constexpr uint32_t k = 6, half = k / 2, edges = k * half;
  const Graph graph = fat_tree(k);
  for (uint32_t edge = 0; edge < edges; ++edge) {
    ASSERT_EQ(graph.hosts_at(edge).size(), half);
    for (const Arc& arc : graph.hosts_at(edge)) EXPECT_EQ(arc.node, edge * half + arc.port - 1);
    const auto ways = shortest_ways(graph, edge);
    for (uint32_t other = 0; other < edges; ++other) {
      if (other == edge) continue;
      EXPECT_EQ(ways[other], other / half == edge / half ? half : half * half);
    }
    for (uint32_t core = 2 * edges; core < graph.switches(); ++core) EXPECT_EQ(ways[core], 1u);
  }
  for (uint32_t core = 2 * edges; core < graph.switches(); ++core)
    for (uint32_t pod = 0; pod < k; ++pod)
      EXPECT_EQ(neighbour_at(graph, core, pod + 1), edges + pod * half + (core - 2 * edges) / half);
}

TEST(Generate, TorusLeadsToTheNextInEachDirection) {
  const std::array<uint32_t, 3> sizes{4, 3, 5};
  const Graph graph = torus(sizes, 2);
  const auto number = [&](uint32_t x, uint32_t y, uint32_t z) { return x % 4 + 4 * (y % 3 + 3 * (z % 5)); };
  for (uint32_t z = 0; z < 5; ++z)
    for (uint32_t y = 0; y < 3; ++y)
      for (uint32_t x = 0; x < 4; ++x) {
        const uint32_t sw = number(x, y, z);
        const std::array<uint32_t, 6> expected{number(x + 1, y, z), number(x + 3, y, z), number(x, y + 1, z),
                                               number(x, y + 2, z), number(x, y, z + 1), number(x, y, z + 4)};
        for (uint32_t port = 1; port <= 6; ++port)
          EXPECT_EQ(neighbour_at(graph, sw, port), expected[port - 1]);
        ASSERT_EQ(graph.hosts_at(sw).size(), 2u);
        EXPECT_EQ(graph.hosts_at(sw)[1].node, 2 * sw + 1);
        EXPECT_EQ(graph.hosts_at(sw)[1].port, 8);
      }
}

TEST(Generate, TorusOfTwoHasTwoLinksOfOneNone) {
  const Graph graph = torus({2, 1, 1}, 1);
  EXPECT_EQ(graph.switch_links(), 2u);
  EXPECT_EQ(neighbour_at(graph, 0, 1), 1u);
  EXPECT_EQ(neighbour_at(graph, 0, 2), 1u);
}

TEST(Generate, DragonflyJoinsEachTwoGroupsOnce) {
  for (const auto& [a, p, h] : {std::array<uint32_t, 3>{4, 2, 2}, {3, 1, 5}, {1, 2, 3}, {6, 3, 1}}) {
    const Graph graph = dragonfly(a, p, h);
    const uint32_t groups = a * h + 1;
    ASSERT_EQ(graph.switches(), groups * a);
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> joined;
    for (uint32_t sw = 0; sw < graph.switches(); ++sw) {
      ASSERT_EQ(graph.hosts_at(sw).size(), p);
      ASSERT_EQ(graph.neighbours(sw).size(), a - 1 + h) << "all ports used";
      for (const Arc& arc : graph.neighbours(sw)) {
        joined[{sw / a, arc.node / a}]++;
        EXPECT_EQ(arc.port > p + a - 1, sw / a != arc.node / a) << "global ports come last";
      }
    }
    for (uint32_t one = 0; one < groups; ++one)
      for (uint32_t other = 0; other < groups; ++other)
        EXPECT_EQ((joined[{one, other}]), one == other ? a * (a - 1) : 1);
    for (uint32_t one = 0; one < a; ++one)
      for (uint32_t other = 0; other < a; ++other)
        EXPECT_EQ(count_port(graph, one, other), one == other ? 0u : 1u);
  }
}

TEST(Generate, DragonflyIsArrangedAsThePageSays) {
  constexpr uint32_t a = 4, p = 2, h = 3, links = a * h;
  const Graph graph = dragonfly(a, p, h);
  for (uint32_t group = 0; group <= links; ++group)
    for (uint32_t link = 0; link < links; ++link) {
      const uint32_t other = (group + link + 1) % (links + 1), back = links - 1 - link;
      EXPECT_EQ(neighbour_at(graph, group * a + link / h, p + a + link % h), other * a + back / h);
    }
  for (uint32_t port = 3; port <= 5; ++port) EXPECT_EQ(neighbour_at(graph, 6, port), port < 5 ? port + 1 : 7);
}

/// From leaves up to the spines, which are `paths` ways and no more, through as many lines.
void expect_paths(const TrimmedFatTree& shape) {
  const Graph graph = trimmed_fat_tree(shape);
  const uint32_t first_director = shape.modules * 32;
  ASSERT_EQ(graph.switches(), first_director + shape.directors * 36);
  for (uint32_t sw = 0; sw < first_director; ++sw)
    EXPECT_EQ(graph.hosts_at(sw).size(), sw % 32 < 16 ? 16u : 0u);
  for (const uint32_t leaf : {0u, 15u, 32 * (shape.modules / 2) + 7, 32 * (shape.modules - 1)}) {
    const auto hops = hops_from(graph, leaf);
    const auto ways = shortest_ways(graph, leaf);
    for (uint32_t sw = first_director; sw < graph.switches(); ++sw) {
      if ((sw - first_director) % 36 < 18) continue;
      ASSERT_EQ(hops[sw], 3u);
      ASSERT_EQ(ways[sw], shape.paths) << "from " << leaf << " to " << graph.switch_info(sw).name;
    }
  }
  for (uint32_t sw = first_director; sw < graph.switches(); ++sw) EXPECT_TRUE(graph.hosts_at(sw).empty());
}

TEST(Generate, BlueLightHasEightPathsToEachTopSwitch) { expect_paths(bluelight); }
TEST(Generate, TaihuLightHasTwoPathsToEachTopSwitch) { expect_paths(taihulight); }

/// Link k of module m and director d, as docs/topology.md has it.
TEST(Generate, ModulesAreJoinedToDirectorsAsThePageSays) {
  for (const TrimmedFatTree& shape : {bluelight, taihulight}) {
    const Graph graph = trimmed_fat_tree(shape);
    for (uint32_t m = 0; m < shape.modules; ++m)
      for (uint32_t d = 0; d < shape.directors; ++d)
        for (uint32_t k = 0; k < shape.paths; ++k) {
          const uint32_t middle = 32 * m + 16 + (d + 16 * k / shape.paths) % 16, outer = m * shape.paths + k;
          const Link& link = graph.link(graph.link_at(middle, 17 + k * (shape.directors / 16) + d / 16));
          ASSERT_EQ(link.a, middle);
          ASSERT_EQ(link.b, shape.modules * 32 + 36 * d + outer % 18);
          ASSERT_EQ(link.b_port, 1 + outer / 18);
        }
  }
}

TEST(Generate, KFat2dHangsLeavesOnTheirRowAndColumn) {
  constexpr uint32_t rows = 3, columns = 4, hosts = 2;
  const Graph graph = kfat2d(rows, columns, hosts);
  for (uint32_t y = 0; y < rows; ++y)
    for (uint32_t x = 0; x < columns; ++x) {
      const uint32_t leaf = y * columns + x, row = rows * columns + y, column = rows * columns + rows + x;
      EXPECT_EQ(neighbour_at(graph, leaf, hosts + 1), row);
      EXPECT_EQ(neighbour_at(graph, leaf, hosts + 2), column);
      EXPECT_EQ(neighbour_at(graph, row, x + 1), leaf);
      EXPECT_EQ(neighbour_at(graph, column, y + 1), leaf);
      EXPECT_EQ(graph.hosts_at(leaf).size(), hosts);
    }
}

// --- random fabrics

TEST(RandomFabric, ConnectedWithoutLoopsAndAllPortsUsed) {
  EXPECT_PROPERTY("regular", [] {
    const auto switches = *rc::gen::inRange<uint32_t>(1, 60), hosts = *rc::gen::inRange<uint32_t>(1, 4);
    const uint32_t degree = *rc::gen::inRange<uint32_t>(switches > 2 ? 2 : 1, 12);
    const auto seed = *rc::gen::arbitrary<uint64_t>();
    const Graph graph = random_fabric(switches, hosts + degree, hosts, seed);  // a Graph has no loops
    RC_ASSERT(!first_cut_off(graph));
    RC_ASSERT(graph.hosts() == switches * hosts);
    RC_ASSERT(graph.switch_links() == (switches == 1 ? 0 : switches * degree / 2));
    RC_ASSERT(random_fabric(switches, hosts + degree, hosts, seed) == graph);
  });
}

TEST(RandomFabric, OneLinkAtMostBetweenTwoSwitches) {
  for (const uint64_t seed : {1, 2, 3}) {
    const Graph graph = random_fabric(2048, 40, 20, seed);
    std::set<std::pair<uint32_t, uint32_t>> pairs;
    for (uint32_t link = 0; link < graph.switch_links(); ++link)
      EXPECT_TRUE(pairs.insert({graph.link(link).a, graph.link(link).b}).second);
  }
}

/// Rings come in several parts, which must be joined.
TEST(RandomFabric, SparseOnesAreJoined) {
  for (uint64_t seed = 0; seed < 200; ++seed) EXPECT_FALSE(first_cut_off(random_fabric(64, 3, 1, seed)));
}

/// Not by chance: these are the links that this seed gives on every machine.
TEST(RandomFabric, SameLinksForASeedForEver) {
  const Graph graph = random_fabric(6, 5, 2, 42);
  std::string links;
  for (uint32_t id = 0; id < graph.switch_links(); ++id) {
    const Link& link = graph.link(id);
    links += std::to_string(link.a) + '[' + std::to_string(link.a_port) + "]-" + std::to_string(link.b) +
             '[' + std::to_string(link.b_port) + "] ";
  }
  EXPECT_EQ(links,
            "0[3]-5[4] 0[4]-4[3] 0[5]-2[5] 1[3]-2[3] 1[4]-4[4] 1[5]-3[5] 2[4]-5[5] 3[3]-5[3] 3[4]-4[5] ");
  EXPECT_FALSE(random_fabric(6, 5, 2, 43) == graph);
}

// --- SPECs

std::string refused(const std::string& spec) {
  try {
    load(spec);
  } catch (const Fault& fault) {
    return fault.what();
  }
  return "accepted";
}

TEST(Spec, WhatCannotBeBuiltIsRefused) {
  const std::string forms = std::string(": is no topology, which is ") + spec_forms;
  EXPECT_EQ(refused(""), "an empty text" + forms.substr(1));
  EXPECT_EQ(refused("fattree:4"), "fattree:4" + forms);
  EXPECT_EQ(refused("file"), "file" + forms);
  EXPECT_EQ(refused("fattree3:7"), "fattree3:7: K is 7, must be even");
  EXPECT_EQ(refused("fattree3:0"), "fattree3:0: K is 0, must be 2 to 160");
  EXPECT_EQ(refused("fattree3:162"), "fattree3:162: K is 162, must be 2 to 160");
  EXPECT_EQ(refused("fattree3:99999999999"), "fattree3:99999999999: 99999999999 is too large");
  for (const char* spec : {"fattree3", "fattree3:", "fattree3:4x", "fattree3:-4", "fattree3:4:4",
                           "fattree3:4.0", "fattree3:99999999999999999999"})
    EXPECT_EQ(refused(spec), std::string(spec) + ": must be fattree3:K with whole numbers");
  EXPECT_EQ(refused("torus3d:4x4:1"), "torus3d:4x4:1: must be torus3d:XxYxZ:H with whole numbers");
  EXPECT_EQ(refused("torus3d:4x0x4:1"), "torus3d:4x0x4:1: a dimension is 0, must be 1 to 1024");
  EXPECT_EQ(refused("torus3d:4x4x4:0"), "torus3d:4x4x4:0: H is 0, must be 1 to 65529");
  EXPECT_EQ(refused("torus3d:1024x1024x1:1"),
            "torus3d:1024x1024x1:1: 1048576 switches, at most 262144 are possible");
  EXPECT_EQ(refused("torus3d:64x64x64:5"), "torus3d:64x64x64:5: 1310720 hosts, at most 1048576 are possible");
  EXPECT_EQ(refused("dragonfly:4,0,2"), "dragonfly:4,0,2: P is 0, must be 1 to 4096");
  EXPECT_EQ(refused("dragonfly:4096,1,4096"),
            "dragonfly:4096,1,4096: 68719480832 switches, at most 262144 are possible");
  EXPECT_EQ(refused("random:8,4,4,1"),
            "random:8,4,4,1: 0 ports of each switch remain to join 8 switches: too few");
  EXPECT_EQ(refused("random:8,4,5,1"), "random:8,4,5,1: HOSTS_PER_SWITCH is 5, must be 1 to 4");
  EXPECT_EQ(refused("random:8,4,3,1"),
            "random:8,4,3,1: 1 ports of each switch remain to join 8 switches: too few");
  EXPECT_EQ(refused("random:8,4,3"),
            "random:8,4,3: must be random:SWITCHES,PORTS,HOSTS_PER_SWITCH,SEED with whole numbers");
  EXPECT_EQ(refused("bluelight:2"), "bluelight:2: must be bluelight with whole numbers");
  EXPECT_EQ(refused("kfat2d:0x3:1"), "kfat2d:0x3:1: R is 0, must be 1 to 4096");
  EXPECT_EQ(refused("kfat2d:4x6:1:3x2"), "kfat2d:4x6:1:3x2: E must divide R and C");
  EXPECT_EQ(refused("kfat2d:4x6:1:2x0"), "kfat2d:4x6:1:2x0: S is 0, must be 1 or more");
  EXPECT_EQ(refused("kfat2d:4x6:1:2"), "kfat2d:4x6:1:2: must be kfat2d:RxC:H[:ExS] with whole numbers");
  EXPECT_EQ(refused("file:no/such"), "no/such: no such file");
  EXPECT_EQ(refused("file:/"), "/: is a folder");
}

TEST(Spec, SmallestOfEach) {
  for (const char* spec : {"fattree3:2", "torus3d:1x1x1:1", "dragonfly:1,1,1", "random:1,1,1,0",
                           "random:2,2,1,0", "random:3,3,1,18446744073709551615", "kfat2d:1x1:1"})
    EXPECT_EQ(refused(spec), "accepted") << spec;
}

}  // namespace
}  // namespace weft::topology

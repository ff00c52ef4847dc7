// SPDX-License-Identifier: Apache-2.0
// Tables of whole fabrics: what is dead, what PLAIN tables promise then, other trees.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>

#include "mcast/checker.hpp"
#include "mcast/images.hpp"
#include "switch/lookup.hpp"
#include "switchtables/plain_check.hpp"
#include "switchtables/plan.hpp"

namespace weft::switchtables {
namespace {

constexpr switch_lookup::Sizes sizes{20, 256, 2048, false};

Images plain_images(const Fabric& fabric, uint32_t choice) {
  Images images = heads_of(fabric, 1);
  add_minimal_hops(images, fabric, choice, sizes);
  return images;
}

// --- what is dead

TEST(Faults, AreNamedByNumberGuidOrName) {
  const Fabric fabric("fattree3:4");
  const topology::Node& third = fabric.graph().switch_info(3);
  for (const std::string& name : {std::string("3"), third.name, "0x" + fmt::format("{:x}", third.guid)}) {
    Faults faults(fabric.graph());
    fail_switch(faults, fabric.graph(), name);
    EXPECT_EQ(std::ranges::count(faults.switches, true), 1) << name;
    EXPECT_TRUE(faults.switches[3]) << name;
  }
}

TEST(Faults, OfALinkAreThoseOfBothEnds) {
  const Fabric fabric("torus3d:3x3x3:1");
  const topology::Link link = fabric.graph().link(5);
  Faults one(fabric.graph()), other(fabric.graph());
  fail_link(one, fabric.graph(), fmt::format("{},{}", link.a, link.a_port));
  fail_link(other, fabric.graph(), fmt::format("{},{}", link.b, link.b_port));
  EXPECT_EQ(one, other);
  EXPECT_TRUE(one.links[5]);
  const Fabric left = fabric.alive_of(one);
  EXPECT_EQ(left.graph().switch_links(), fabric.graph().switch_links() - 1);
  EXPECT_EQ(left.behind(link.a, link.a_port).kind, Far::Kind::nothing);
}

TEST(Faults, ThatAreNotThereAreRefused) {
  const Fabric fabric("fattree3:4");
  Faults faults(fabric.graph());
  EXPECT_THROW(fail_switch(faults, fabric.graph(), "20"), Fault);
  EXPECT_THROW(fail_switch(faults, fabric.graph(), "0x1"), Fault);
  EXPECT_THROW(fail_link(faults, fabric.graph(), "3"), Fault);
  EXPECT_THROW(fail_link(faults, fabric.graph(), "3,99"), Fault);
  const topology::Arc host = fabric.attachment(0);
  EXPECT_THROW(fail_link(faults, fabric.graph(), fmt::format("{},{}", host.node, host.peer_port)), Fault);
  EXPECT_EQ(faults, Faults(fabric.graph()));
}

TEST(Faults, OfAGridAreTheSameBothWays) {
  const Fabric fabric("kfat2d:3x4:2");
  const route::Grid& grid = *fabric.grid();
  route::Health health(grid);
  health.fail_leaf({1, 2});
  health.fail_switch({route::Dimension::column, 3});
  health.fail_link({0, 1}, route::Dimension::row);
  Faults faults(fabric.graph());
  add_faults(faults, fabric.graph(), health);
  const route::Health back = health_of(grid, fabric.graph(), faults);
  for (uint32_t leaf = 0; leaf < grid.leaves(); ++leaf)
    for (const auto dimension : {route::Dimension::row, route::Dimension::column}) {
      EXPECT_EQ(back.alive(grid.leaf(leaf)), health.alive(grid.leaf(leaf)));
      EXPECT_EQ(back.attached(grid.leaf(leaf), dimension), health.attached(grid.leaf(leaf), dimension));
    }
  const Fabric left = fabric.alive_of(faults);
  EXPECT_EQ(left.graph().switches(), fabric.graph().switches() - 2);
  EXPECT_EQ(left.graph().hosts(), fabric.graph().hosts() - 2);
}

// --- what PLAIN tables promise

class PlainPromise : public testing::TestWithParam<const char*> {};

TEST_P(PlainPromise, IsTheLeastHopsWithoutFaults) {
  const Fabric fabric(GetParam());
  const Images one = plain_images(fabric, 0), other = plain_images(fabric, 1);
  const mcast::Hops hops(fabric.graph());
  mcast::Hops::Room room;
  const std::vector<const Images*> mixture{&one, &other};
  for (uint32_t host = 0; host < fabric.graph().hosts(); ++host) {
    const auto most = most_hops_to(host, fabric, mixture, sizes);
    for (uint32_t sw = 0; sw < most.size(); ++sw)
      if (most[sw] != no_promise || !fabric.graph().hosts_at(sw).empty()) {
        EXPECT_EQ(most[sw], hops.from(sw, room)[fabric.attachment(host).node]);
      }
  }
}

/// Packets at random, each switch with old or new tables: none is lost or late of which something is
/// promised.
TEST_P(PlainPromise, HoldsForPacketsAmongDeadSwitchesAndMixedTables) {
  const Fabric whole(GetParam());
  Faults faults(whole.graph());
  fail_link(faults, whole.graph(), fmt::format("0,{}", whole.graph().neighbours(0).front().port));
  const uint32_t dead = whole.graph().switches() / 2;
  fail_switch(faults, whole.graph(), std::to_string(dead));
  const Fabric alive = whole.alive_of(faults);
  Images before = plain_images(whole, 0);
  before.erase(before.begin() + dead);
  const Images after = plain_images(alive, 1);
  const std::vector<const Images*> mixture{&before, &after};
  uint64_t lost = 0, promised = 0;
  for (uint32_t to = 0; to < alive.graph().hosts(); ++to) {
    const auto most = most_hops_to(to, alive, mixture, sizes);
    for (uint32_t from = 0; from < alive.graph().hosts(); ++from) {
      uint32_t sw = alive.attachment(from).node, port = alive.attachment(from).peer_port, hops = 0;
      const uint32_t limit = most[sw];
      promised += limit != no_promise;
      while (true) {
        const Images& images = (from * 7 + sw * 3 + to) % 2 == 0 ? before : after;
        switch_lookup::Lookup lookup(sizes);
        lookup.seed(from + 64 * to + 4096 * hops + 1);
        lookup.set_tables(images[sw]);
        auto request = unicast_to(alive, to);
        request.in_port = static_cast<uint8_t>(port);
        const auto result = lookup.look(request, alive.alive(sw));
        if (result.outcome != switch_lookup::formats::Outcome::forward || hops > 100) {
          EXPECT_EQ(limit, no_promise) << from << " to " << to;
          ++lost;
          break;
        }
        const Far& far = alive.behind(sw, static_cast<uint32_t>(std::countr_zero(result.ports)) + 1);
        if (far.kind == Far::Kind::host) {
          EXPECT_EQ(far.node, to);
          EXPECT_LE(hops, limit);
          break;
        }
        sw = far.node;
        port = far.port;
        ++hops;
      }
    }
  }
  EXPECT_GT(promised, 0u);
  RecordProperty("lost", std::to_string(lost));
}

INSTANTIATE_TEST_SUITE_P(Topologies, PlainPromise,
                         testing::Values("torus3d:3x3x3:2", "torus3d:4x4x1:1", "fattree3:4",
                                         "dragonfly:4,2,2"));

TEST(PlainPromiseOfARing, IsNone) {
  const Fabric fabric("torus3d:3x1x1:1");
  Images one = plain_images(fabric, 0), other = one;
  // To host 2: switch 0 leads to 1, by other tables 1 to 0.
  const auto port_to = [&](uint32_t from, uint32_t to) {
    for (const topology::Arc& arc : fabric.graph().neighbours(from))
      if (arc.node == to) return static_cast<uint8_t>(arc.port);
    return uint8_t{0};
  };
  one[0].unicast[2].primary = port_to(0, 1);
  other[1].unicast[2].primary = port_to(1, 0);
  const std::vector<const Images*> mixture{&one, &other};
  EXPECT_EQ(most_hops_to(2, fabric, mixture, sizes), (std::vector<uint32_t>{no_promise, no_promise, 0}));
  const std::vector<const Images*> alone{&one};
  EXPECT_EQ(most_hops_to(2, fabric, alone, sizes), (std::vector<uint32_t>{2, 1, 0}));
}

// --- trees

class OtherTrees : public testing::TestWithParam<const char*> {};

TEST_P(OtherTrees, AreRightAndMostlyOthers) {
  const Fabric fabric(GetParam());
  const auto groups = mcast::load_groups("random:12:6:3", fabric.graph());
  const mcast::Hops hops(fabric.graph());
  PlanOptions options;
  options.sizes = sizes;
  options.colours = 128;
  const Plan plan = make_plan(fabric, hops, groups, {}, options);
  options.choice = 1;
  options.first_colour = 128;
  const Plan other = make_plan(fabric, hops, groups, {}, options);
  EXPECT_EQ(mcast::check(fabric.graph(), groups, plan.tables), std::vector<std::string>());
  auto tables = other.tables;
  tables.limit = mcast::no_limit;
  EXPECT_EQ(mcast::check(fabric.graph(), groups, tables), std::vector<std::string>());
  uint32_t same = 0;
  for (uint32_t group = 0; group < groups.count(); ++group) {
    const auto links = [group](const Plan& of) {
      const auto& all = of.trees[of.tables.groups[group].tree].links;
      return std::set<uint32_t>(all.begin(), all.end());
    };
    EXPECT_GE(other.tables.groups[group].colour, 128u);
    same += links(plan) == links(other);
  }
  EXPECT_LE(same, groups.count() / 2);
  Images both = plan.images;
  add_trees(both, other.images);
  for (std::size_t sw = 0; sw < both.size(); ++sw)
    EXPECT_EQ(both[sw].multicast.size(),
              plan.images[sw].multicast.size() + other.images[sw].multicast.size());
  EXPECT_THROW(add_trees(both, plan.images), Fault);
}

INSTANTIATE_TEST_SUITE_P(Topologies, OtherTrees,
                         testing::Values("kfat2d:6x6:4", "torus3d:4x4x4:1", "fattree3:8"));

TEST(FabricOfBlocks, LeavesOutHostsBehindPortsThatBlocksCannotHave) {
  const Fabric fabric(std::string("file:") + WEFT_TEST_DATA + "/topology/ndr_cluster.ibnetdiscover");
  EXPECT_EQ(fabric.graph().switches(), 40u);
  EXPECT_EQ(fabric.left_out(), 40u);
  EXPECT_EQ(fabric.graph().hosts(), 542u);
  EXPECT_EQ(fabric.most_ports(), 64u);
}

}  // namespace
}  // namespace weft::switchtables

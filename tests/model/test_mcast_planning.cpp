// SPDX-License-Identifier: Apache-2.0
// What planning of many groups is made of: colours by members, roots in a colour, threads that wait for work.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "drawn_groups.hpp"
#include "expect_trees.hpp"
#include "mcast/colour_first.hpp"
#include "mcast/free_roots.hpp"
#include "property.hpp"

namespace weft::mcast {
namespace {

using topology::Graph;

/// A fabric in which some groups have trees, by a plain router.
Occupancy drawn_occupancy(const Graph& graph, const Hops& hops) {
  Router router(hops, {});
  for (uint32_t left = test::number(0, 12); left > 0; --left) router.create(test::drawn_hosts(graph));
  return router.forest().occupancy();
}

/// Links from a switch to all others through what is free, by a plain search; 255 if there is no way.
std::vector<uint32_t> free_distances(const Graph& graph, const Occupancy& occupancy, uint32_t from,
                                     uint32_t colour, uint32_t ceiling) {
  std::vector<uint32_t> distance(graph.switches(), 255);
  if (!occupancy.is_free_in_switch(from, colour)) return distance;
  std::vector<uint32_t> queue{from};
  distance[from] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const topology::Arc& arc : graph.neighbours(queue[i])) {
      if (distance[arc.node] != 255 || occupancy.load(arc.link) >= ceiling ||
          !occupancy.is_free_in_switch(arc.node, colour))
        continue;
      distance[arc.node] = distance[queue[i]] + 1;
      queue.push_back(arc.node);
    }
  return distance;
}

TEST(McastFreeRoots, AreThoseOfPlainSearches) {
  EXPECT_PROPERTY("roots, and distances from them", [] {
    const Graph graph = test::drawn_fabric();
    const Hops hops(graph);
    const Occupancy occupancy = drawn_occupancy(graph, hops);
    FreeRoots free_roots(graph);
    for (uint32_t again = 0; again < 3; ++again) {
      const uint32_t colour = test::number(0, 4), ceiling = test::number(1, 5), height = test::number(1, 5);
      Ends ends = ends_of(test::drawn_hosts(graph), graph);
      std::erase_if(ends.switches, [&](uint32_t sw) { return !occupancy.is_free_in_switch(sw, colour); });
      if (ends.switches.empty()) continue;
      std::set<uint32_t> drawn;
      for (uint32_t left = test::number(1, 70); left > 0; --left)
        drawn.insert(test::number(0, graph.switches()));
      std::vector<uint32_t> roots(drawn.begin(), drawn.end());
      if (roots.size() > FreeRoots::most) roots.resize(FreeRoots::most);
      const uint64_t found = free_roots.find(occupancy, ends, roots, height, colour, ceiling);
      for (uint32_t i = 0; i < 64; ++i) {
        if (i >= roots.size()) {
          RC_ASSERT((found >> i & 1) == 0);
          continue;
        }
        const auto distance = free_distances(graph, occupancy, roots[i], colour, ceiling);
        const bool all = std::all_of(ends.switches.begin(), ends.switches.end(),
                                     [&](uint32_t sw) { return distance[sw] <= height; });
        RC_ASSERT((found >> i & 1) == (all ? 1u : 0u));
        if (!all) continue;
        const uint8_t* row = free_roots.row(roots[i], ends);
        for (const uint32_t sw : ends.switches) RC_ASSERT(row[sw] == distance[sw]);
        for (uint32_t sw = 0; sw < graph.switches(); ++sw)
          if (distance[sw] < height) RC_ASSERT(row[sw] == distance[sw]);
      }
    }
  });
}

TEST(McastColouring, NeighboursDiffer) {
  EXPECT_PROPERTY("each group a colour, none that is taken or was refused", [] {
    const Graph graph = test::drawn_fabric();
    const Hops hops(graph);
    const Occupancy occupancy = drawn_occupancy(graph, hops);
    std::vector<Ends> ends;
    for (uint32_t left = test::number(1, 80); left > 0; --left)
      ends.push_back(ends_of(test::drawn_hosts(graph), graph));
    std::vector<Colouring::Item> items;
    items.reserve(ends.size());
    for (const Ends& end : ends) items.push_back({&end, static_cast<uint32_t>(end.switches.size())});
    const uint32_t room = test::number(1, 30);
    Colouring colouring(items, occupancy, std::vector<uint32_t>(6), room);
    std::map<uint32_t, uint32_t> colour_of;
    std::set<std::pair<uint32_t, uint32_t>> refused;
    for (uint32_t refusals = test::number(0, 20);;) {
      const auto pick = colouring.next();
      if (!pick) break;
      RC_ASSERT(!colour_of.contains(pick->item));
      RC_ASSERT(!refused.contains({pick->item, pick->colour}));
      uint32_t taken = items[pick->item].switches;
      for (const auto& [other, colour] : colour_of) {
        if (colour != pick->colour) continue;
        taken += items[other].switches;
        std::vector<uint32_t> shared;
        std::set_intersection(ends[other].switches.begin(), ends[other].switches.end(),
                              ends[pick->item].switches.begin(), ends[pick->item].switches.end(),
                              std::back_inserter(shared));
        RC_ASSERT(shared.empty());
      }
      RC_ASSERT(taken <= room || taken == items[pick->item].switches);
      for (const uint32_t sw : ends[pick->item].switches)
        RC_ASSERT(pick->colour >= 6 || occupancy.is_free_in_switch(sw, pick->colour));
      colour_of[pick->item] = pick->colour;
      if (refusals == 0 || test::number(0, 3) > 0) continue;
      refusals--;
      const auto victim =
          std::next(colour_of.begin(), test::number(0, static_cast<uint32_t>(colour_of.size())));
      refused.insert(*victim);
      colouring.refuse({victim->first, victim->second}, occupancy);
      colour_of.erase(victim);
    }
    RC_ASSERT(colour_of.size() == items.size());
  });
}

/// In first fit by size the second and third pair of groups below would need a third colour.
TEST(McastColouring, MostUrgentFirst) {
  const Graph graph = topology::torus({8, 1, 1}, 1);
  const std::vector<Ends> ends{ends_of(std::vector{0u, 1u}, graph), ends_of(std::vector{6u, 7u}, graph),
                               ends_of(std::vector{1u, 2u}, graph), ends_of(std::vector{2u, 3u}, graph),
                               ends_of(std::vector{5u, 6u}, graph), ends_of(std::vector{3u, 4u, 5u}, graph)};
  std::vector<Colouring::Item> items;
  items.reserve(ends.size());
  for (const Ends& end : ends) items.push_back({&end, 2});
  Colouring colouring(items, Occupancy(graph, no_limit, Tables::of_switch), {}, no_limit);
  std::set<uint32_t> colours;
  while (const auto pick = colouring.next()) colours.insert(pick->colour);
  EXPECT_EQ(colours, (std::set<uint32_t>{0, 1}));
}

TEST(McastColourFirst, IsForFabricsInWhichTreesCanBeLedAround) {
  const auto suits = [](const Graph& graph, const char* pattern) {
    const Hops hops(graph);
    Forest forest(graph, no_limit, Tables::of_switch);
    const Groups groups = load_groups(pattern, graph);
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < groups.count(); ++i)
      all.push_back(forest.add_group({groups.members(i).begin(), groups.members(i).end()}));
    Search search;
    Crew crew(1);
    std::vector<Worker> workers(1, Worker(hops));
    return ColourFirst(hops, forest, search, crew, workers).suits(all);
  };
  EXPECT_TRUE(suits(topology::random_fabric(100, 24, 6, 1), "grid:20x30"));
  EXPECT_FALSE(suits(topology::fat_tree(8), "grid:8x16"));
  EXPECT_FALSE(suits(topology::dragonfly(6, 3, 3), "grid:18x19"));
  EXPECT_FALSE(suits(topology::torus({12, 12, 4}, 1), "grid:24x24"));
}

TEST(McastColourFirst, TakesNothingButItsTrees) {
  EXPECT_PROPERTY("random fabrics, some trees there before", [] {
    const Graph graph = topology::random_fabric(test::number(12, 60), 6, 3, test::number(0, 1000));
    const Hops hops(graph);
    Router router(hops, {});
    for (uint32_t left = test::number(0, 10); left > 0; --left) router.create(test::drawn_hosts(graph));
    Forest forest = std::move(router).forest();
    std::vector<uint32_t> routed;
    for (uint32_t left = test::number(1, 40); left > 0; --left) {
      std::set<uint32_t> hosts;
      for (const uint32_t host : test::drawn_hosts(graph)) hosts.insert(host);
      if (hosts.size() > 1) routed.push_back(forest.add_group({hosts.begin(), hosts.end()}));
    }
    Search search;
    Crew crew(test::number(1, 3));
    std::vector<Worker> workers(crew.threads(), Worker(hops));
    const auto left = ColourFirst(hops, forest, search, crew, workers).route(routed, {});
    for (const uint32_t group : routed)
      RC_ASSERT((forest.tree_of(group) == none) ==
                (std::find(left.begin(), left.end(), group) != left.end()));
    Occupancy plain(graph, no_limit, Tables::of_switch);
    for (uint32_t tree = 0; tree < forest.trees(); ++tree)
      if (forest.stands(tree))
        plain.take(forest.tree(tree).switches, forest.tree(tree).links, forest.tree(tree).colour);
    for (uint32_t sw = 0; sw < graph.switches(); ++sw)
      for (uint32_t colour = 0; colour < forest.colours(); ++colour)
        RC_ASSERT(plain.is_free_in_switch(sw, colour) == forest.occupancy().is_free_in_switch(sw, colour));
  });
}

TEST(McastColourFirst, NeedsFewerColoursThanOneByOne) {
  const Graph graph = topology::random_fabric(100, 24, 6, 1);
  const Hops hops(graph);
  const Groups groups = load_groups("grid:6x7x8", graph);
  Router together(hops, {}), one_by_one(hops, {});
  together.create_all(groups);
  for (uint32_t i = 0; i < groups.count(); ++i)
    one_by_one.create({groups.members(i).begin(), groups.members(i).end()});
  EXPECT_TRUE(check(graph, groups, tables_of(together.forest())).empty());
  EXPECT_LT(10 * together.forest().colours(), 8 * one_by_one.forest().colours());
}

TEST(McastCrew, DoesAllOfEachRoundOnce) {
  for (const uint32_t threads : {1u, 2u, 5u}) {
    Crew crew(threads);
    EXPECT_EQ(crew.threads(), threads);
    for (uint32_t round = 0; round < 40; ++round) {
      const uint32_t count = round % 7;
      std::vector<std::atomic<uint32_t>> done(count);
      std::atomic<uint32_t> strangers = 0;
      crew.share(count, [&](uint32_t thread, uint32_t i) {
        if (thread >= threads) strangers++;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        done[i]++;
      });
      for (const auto& times : done) EXPECT_EQ(times, 1u);
      EXPECT_EQ(strangers, 0u);
    }
  }
}

}  // namespace
}  // namespace weft::mcast

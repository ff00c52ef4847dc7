// SPDX-License-Identifier: Apache-2.0
// Trees, numberings, update quantity, judge and plans of barriers.
#include <algorithm>
#include <map>
#include <set>

#include "barrier/comparison.hpp"
#include "barrier/copies.hpp"
#include "barrier/plan.hpp"
#include "barrier/update_quantity.hpp"
#include "property.hpp"

namespace weft::barrier {
namespace {

TEST(BarrierTree, IsThePapers) {
  EXPECT_EQ(parent_of(Shape::lct, 6), 4u);
  EXPECT_EQ(parent_of(Shape::bst, 6), 2u);
  EXPECT_EQ(children_of(Shape::lct, 12, 16), (std::vector<uint32_t>{13, 14}));
  EXPECT_EQ(children_of(Shape::bst, 3, 16), (std::vector<uint32_t>{7, 11}));
  EXPECT_EQ(children_of(Shape::lct, 0, 5), (std::vector<uint32_t>{1, 2, 4}));
  EXPECT_EQ(parent_of(Shape::lct4, 0x1b0), 0x180U);
  EXPECT_EQ(children_of(Shape::lct4, 16, 64), (std::vector<uint32_t>{17, 18, 19, 20, 24, 28}));
  EXPECT_EQ(parent_of(Shape::lct8, 0x1b0), 0x180U);
  EXPECT_EQ(parent_of(Shape::lct8, 0x207), 0x200U);
  EXPECT_EQ(children_of(Shape::lct8, 64, 128),
            (std::vector<uint32_t>{65, 66, 67, 68, 69, 70, 71, 72, 80, 88, 96, 104, 112, 120}));
  EXPECT_EQ(children_of(Shape::lct8, 0, 25), (std::vector<uint32_t>{1, 2, 3, 4, 5, 6, 7, 8, 16, 24}));
  EXPECT_EQ(children_of(Shape::lct4, 0, 25), (std::vector<uint32_t>{1, 2, 3, 4, 8, 12, 16}));
}

TEST(BarrierTree, ChildrenAreThoseWhoseParentItIs) {
  EXPECT_PROPERTY("children and parents agree", [] {
    const auto members = *rc::gen::inRange<uint32_t>(1, 300);
    for (const auto& [shape, name] : shapes) {
      std::vector<uint32_t> seen;
      for (uint32_t id = 0; id < members; id++) {
        for (const uint32_t child : children_of(shape, id, members)) {
          RC_ASSERT(parent_of(shape, child) == id);
          seen.push_back(child);
        }
      }
      std::sort(seen.begin(), seen.end());
      RC_ASSERT(seen.size() == members - 1);
      for (uint32_t i = 0; i + 1 < members; i++) RC_ASSERT(seen[i] == i + 1);
    }
  });
}

TEST(BarrierTree, MovesOnWithinBlocks) {
  for (const uint32_t span : {1u, 2u, 4u, 6u, 12u})
    for (uint32_t offset = 0; offset < span; offset++) {
      std::set<uint32_t> seen;
      for (uint32_t number = 0; number < 12; number++) {
        const uint32_t id = shifted(number, offset, span);
        EXPECT_EQ(id / span, number / span);
        EXPECT_EQ(unshifted(id, offset, span), number);
        seen.insert(id);
      }
      EXPECT_EQ(seen.size(), 12u);
    }
}

TEST(BarrierNumbering, IsThePapersCurve) {
  const Mesh mesh({4, 4}, Links::four);
  const auto nodes = numbered(mesh, Numbering::s_curve);
  for (uint32_t x = 0; x < 4; x++) {
    for (uint32_t y = 0; y < 4; y++)
      EXPECT_EQ(nodes[x * 4 + y + x % 2 * (4 - 1 - 2 * y)], mesh.at(x, y)) << x << ' ' << y;
  }
}

TEST(BarrierNumbering, HasEveryNodeOnceOnAnyMesh) {
  for (const Size size : {Size{1, 1}, Size{5, 3}, Size{4, 4}, Size{1, 7}, Size{6, 9}}) {
    const Mesh mesh(size, Links::four);
    for (const auto numbering : {Numbering::s_curve, Numbering::morton, Numbering::centre}) {
      const auto nodes = numbered(mesh, numbering);
      EXPECT_EQ(std::set<Node>(nodes.begin(), nodes.end()).size(), size.nodes());
    }
  }
}

// With numbers from the centre on, the way to the root through the tree is nowhere longer than straight
// there.
TEST(BarrierNumbering, FromTheCentreHasNoDetours) {
  for (const uint32_t side : {4u, 8u, 16u}) {
    const Mesh mesh({side, side}, Links::four);
    const Routes routes(mesh);
    const auto nodes = numbered(mesh, Numbering::centre);
    for (const Shape shape : {Shape::lct, Shape::lct4, Shape::lct8})
      EXPECT_EQ(gather_length(tree_parents(shape, nodes, 0), routes), routes.centre().radius) << side;
  }
}

TEST(BarrierUpdate, IsTheWorkedExamples) {
  const Mesh mesh({4, 4}, Links::eight);
  const auto nodes = numbered(mesh, Numbering::s_curve);
  const auto update = [&](Shape shape) {
    return update_between(used_links(mesh, nodes, shape, 0), used_links(mesh, nodes, shape, 1));
  };
  EXPECT_EQ(update(Shape::lct).common, 7u);
  EXPECT_EQ(update(Shape::lct).all, 26u);
  EXPECT_EQ(update(Shape::bst).common, 18u);
  EXPECT_EQ(update(Shape::bst).all, 22u);
  EXPECT_NEAR(mean_update(all_updates(mesh, nodes, Shape::lct)), 0.5623, 5e-5);
  EXPECT_NEAR(mean_update(all_updates(mesh, nodes, Shape::bst)), 0.4082, 5e-5);
}

TEST(BarrierUpdate, TellsHowMuchIsDone) {
  const Mesh mesh({2, 3}, Links::four);
  std::vector<uint64_t> steps;
  all_updates(mesh, numbered(mesh, Numbering::s_curve), Shape::lct, [&](uint64_t done, uint64_t of) {
    EXPECT_EQ(of, 12u);
    steps.push_back(done);
  });
  EXPECT_EQ(steps, (std::vector<uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

/// Links of a mesh of side x side, ways y first, that the trees of all offsets use.
uint32_t unavoidable(uint32_t side, Numbering numbering, Shape shape) {
  const Mesh mesh({side, side}, Links::four);
  const Routes routes(mesh);
  const auto nodes = numbered(mesh, numbering);
  std::vector<bool> avoidable(mesh.links());
  for (uint32_t offset = 0; offset < mesh.nodes(); offset++) {
    std::vector<bool> used(mesh.links());
    const auto parents = tree_parents(shape, nodes, offset);
    for (Node node = 0; node < mesh.nodes(); node++) {
      for (Node at = node; at != parents[node]; at = routes.next(at, parents[node]).node)
        used[routes.next(at, parents[node]).link] = true;
    }
    for (uint32_t link = 0; link < mesh.links(); link++) avoidable[link] = avoidable[link] || !used[link];
  }
  return static_cast<uint32_t>(std::count(avoidable.begin(), avoidable.end(), false));
}

// Of the paper's tree and curve, not of others: of 24 and of 112 links.
TEST(BarrierUpdate, EveryLinkCanBeAvoidedWithYFirst) {
  for (const uint32_t side : {4u, 8u})
    EXPECT_EQ(unavoidable(side, Numbering::s_curve, Shape::lct), 0u) << side;
  EXPECT_EQ(unavoidable(4, Numbering::s_curve, Shape::lct4), 4u);
  EXPECT_EQ(unavoidable(8, Numbering::s_curve, Shape::lct4), 40u);
  for (const Shape shape : {Shape::lct, Shape::lct4}) {
    EXPECT_EQ(unavoidable(4, Numbering::centre, shape), 10u);
    EXPECT_EQ(unavoidable(8, Numbering::centre, shape), 42u);
  }
  EXPECT_EQ(unavoidable(4, Numbering::centre, Shape::lct8), 12u);
  EXPECT_EQ(unavoidable(8, Numbering::centre, Shape::lct8), 50u);
}

TEST(BarrierMesh, StaysConnectedWhateverBreaks) {
  for (uint64_t seed = 1; seed <= 10; seed++) {
    for (const auto links : {Links::four, Links::eight}) {
      Mesh mesh({5, 4}, links);
      const uint32_t before = mesh.links();
      const uint32_t broken = mesh.break_links(0.5, seed);
      EXPECT_EQ(broken, std::min((before + 1) / 2, before - (mesh.nodes() - 1)));
      EXPECT_LT(Routes(mesh).centre().radius, UINT32_MAX);
    }
  }
}

TEST(BarrierJudge, KeepsAGoodOffset) {
  const JudgeSettings settings{16, 7, 10, 8};
  const auto memory = judge(settings, judge_start(settings), 10);
  EXPECT_TRUE(memory.holding);
  EXPECT_EQ(memory.offset, 0u);
}

TEST(BarrierJudge, SearchesAndComesBackToTheBest) {
  const JudgeSettings settings{16, 7, 10, 3};
  auto memory = judge_start(settings);
  for (const uint32_t length : {20u, 15u, 30u, 18u}) {
    EXPECT_FALSE(memory.holding);
    memory = judge(settings, memory, length);
  }
  EXPECT_TRUE(memory.holding);
  EXPECT_EQ(memory.offset, 7u);
  EXPECT_EQ(memory.best_length, 15u);
  EXPECT_EQ(judge(settings, memory, 15), memory) << "nothing has changed";
  const auto again = judge(settings, memory, 16);
  EXPECT_FALSE(again.holding) << "a link has broken";
  EXPECT_EQ(again.best_length, 16u);
}

TEST(BarrierJudge, StrideVisitsAllOffsets) {
  for (uint32_t members = 2; members <= 70; members++) {
    std::set<uint32_t> seen;
    for (uint32_t i = 0, at = 0; i < members; i++, at = (at + default_stride(members)) % members)
      seen.insert(at);
    EXPECT_EQ(seen.size(), members) << members;
  }
}

/// Whether no node leaves before it has heard, through messages, of every other's arrival.
bool is_barrier(const Plan& plan) {
  const auto nodes = static_cast<uint32_t>(plan.leaves.size());
  std::vector<std::set<Node>> tells(plan.messages.size());
  for (uint32_t message = 0; message < tells.size(); message++) {
    const auto& what = plan.messages[message];
    tells[message].insert(what.from);
    for (const uint32_t need : what.needs) {
      if (plan.messages[need].to != what.from) return false;
      tells[message].insert(tells[need].begin(), tells[need].end());
    }
  }
  for (Node node = 0; node < nodes; node++) {
    std::set<Node> known = {node};
    for (const uint32_t leave : plan.leaves[node]) known.insert(tells[leave].begin(), tells[leave].end());
    if (known.size() != nodes) return false;
  }
  return true;
}

TEST(BarrierPlan, EveryAlgorithmWaitsForAll) {
  for (const Size size : {Size{1, 1}, Size{2, 1}, Size{3, 3}, Size{4, 4}, Size{5, 7}}) {
    const Mesh mesh(size, Links::four);
    const auto nodes = numbered(mesh, Numbering::s_curve);
    const auto lct = tree_parents(Shape::lct, nodes, 3 % mesh.nodes());
    EXPECT_TRUE(is_barrier(tree_plan(lct, Release::along_tree)));
    EXPECT_TRUE(is_barrier(tree_plan(lct, Release::from_root)));
    EXPECT_TRUE(is_barrier(tree_plan(lct, Release::multicast)));
    EXPECT_TRUE(is_barrier(tree_plan(spanning_parents(mesh, 0), Release::along_tree)));
    EXPECT_TRUE(is_barrier(tree_plan(star_parents(mesh.nodes(), 0), Release::along_tree)));
    for (const uint32_t base : {2u, 3u, 4u}) {
      EXPECT_TRUE(is_barrier(dissemination_plan(nodes, base)));
      EXPECT_TRUE(is_barrier(butterfly_plan(nodes, base)));
    }
    EXPECT_TRUE(is_barrier(all_to_all_plan(mesh.nodes())));
  }
  const std::vector<std::vector<Node>> blocks = {{0, 1, 2}, {3, 4}, {5}};
  EXPECT_TRUE(is_barrier(dissemination_tree_plan(blocks, {1, 1, 1})));
  EXPECT_TRUE(is_barrier(tree_plan(two_level_parents(blocks, {1, 0, 0}, {1, 1, 1}), Release::along_tree)));
}

TEST(BarrierPlan, TheTestOfPlansFindsOneThatLeavesEarly) {
  Plan plan = all_to_all_plan(4);
  plan.leaves[2].pop_back();
  EXPECT_FALSE(is_barrier(plan));
}

TEST(BarrierTiming, IsAsCountedByHand) {
  // Two nodes: the child's Gather takes a hop and an engine, the Release another of each.
  const Mesh mesh({1, 2}, Links::four);
  const Timing timing{
      .hop = 5, .packet = 1, .engine = 6, .engine_next = 4, .send = 2, .load = 0, .load_packet = 9};
  EXPECT_EQ(cycles_of(tree_plan({0, 0}, Release::along_tree), mesh, Routes(mesh), timing, 1), 22u);
  // Three in a row, the master at one end: the packets share its link, and its engine takes one after the
  // other.
  const Mesh row({1, 3}, Links::four);
  EXPECT_EQ(cycles_of(tree_plan({0, 0, 0}, Release::along_tree), row, Routes(row), timing, 1),
            16u + 2 + 10 + 6);
  // An engine that takes the next one later has the second Gather wait a cycle.
  Timing slower = timing;
  slower.engine_next = 6;
  EXPECT_EQ(cycles_of(tree_plan({0, 0, 0}, Release::along_tree), row, Routes(row), slower, 1),
            17u + 2 + 10 + 6);
  // The same with Release as one packet, which node 1 takes while it goes on to node 2.
  Plan multicast = tree_plan({0, 0, 0}, Release::multicast);
  multicast.copies = shortest_copies(row, Routes(row), 0);
  EXPECT_EQ(cycles_of(multicast, row, Routes(row), timing, 1), 16u + 10 + 6);
}

/// Nodes by their distance from one along the links of a tree; nodes that are not reached are missing.
std::map<Node, uint32_t> reached(const Mesh& mesh, const Copies& copies, Node from) {
  std::map<Node, uint32_t> distance = {{from, 0}};
  std::vector<Node> order = {from};
  for (size_t i = 0; i < order.size(); i++) {
    for (const auto& [node, link] : mesh.neighbours(order[i])) {
      if (copies[link] && distance.emplace(node, distance[order[i]] + 1).second) order.push_back(node);
    }
  }
  return distance;
}

uint32_t height(const std::map<Node, uint32_t>& distances) {
  return std::ranges::max_element(distances, {}, [](const auto& each) { return each.second; })->second;
}

TEST(BarrierCopies, ReachAllNodesOnceAlongLowTrees) {
  for (const Size size : {Size{1, 1}, Size{2, 1}, Size{3, 5}, Size{8, 8}}) {
    for (const double broken : {0.0, 0.3}) {
      Mesh mesh(size, Links::four);
      mesh.break_links(broken, 5);
      const Routes routes(mesh);
      const Copies shortest = shortest_copies(mesh, routes, mesh.nodes() - 1), mr4lms = mr4lms_copies(mesh);
      uint32_t lowest = UINT32_MAX;
      for (Node node = 0; node < mesh.nodes(); node++) {
        EXPECT_EQ(reached(mesh, mr4lms, node).size(), mesh.nodes());
        lowest = std::min(lowest, height(reached(mesh, mr4lms, node)));
      }
      EXPECT_EQ(lowest, routes.centre().radius) << "from its root all have shortest ways";
      for (const auto& [node, distance] : reached(mesh, shortest, mesh.nodes() - 1))
        EXPECT_EQ(distance, routes.hops(node, mesh.nodes() - 1));
      for (const Copies& copies : {shortest, mr4lms}) {
        EXPECT_EQ(std::ranges::count(copies, true), mesh.nodes() - 1) << "a tree: nobody gets it twice";
        const auto onward = passes_on(mesh, copies, 0);
        std::vector<uint32_t> got(mesh.nodes());
        got[0] = 1;
        for (Node node = 0; node < mesh.nodes(); node++)
          for (const Node next : onward[node]) {
            EXPECT_EQ(routes.hops(node, next), 1u);
            got[next]++;
          }
        EXPECT_EQ(got, std::vector<uint32_t>(mesh.nodes(), 1));
      }
    }
  }
}

TEST(BarrierComparison, StridesAndBlocksAsEnginesTakeThem) {
  const auto refused = [](Algorithm algorithm, Shape shape, uint32_t stride) {
    barrier::Setup setup;
    setup.size = {8, 4};
    setup.algorithm = algorithm;
    setup.shape = shape;
    setup.stride = stride;
    try {
      compare(setup);
      return false;
    } catch (const std::invalid_argument&) {
      return true;
    }
  };
  for (const auto& [algorithm, offsets] :
       {std::pair(Algorithm::dlct, 32u), std::pair(Algorithm::dlct_blocks, 16u),
        std::pair(Algorithm::id2, 16u)}) {
    EXPECT_FALSE(refused(algorithm, Shape::lct, offsets));
    EXPECT_TRUE(refused(algorithm, Shape::lct, offsets + 1));
  }
  EXPECT_FALSE(refused(Algorithm::ms, Shape::lct, 99));
  EXPECT_TRUE(refused(Algorithm::dlct_blocks, Shape::bst, 0));
  EXPECT_FALSE(refused(Algorithm::dlct4_blocks, Shape::bst, 0));
}

TEST(BarrierComparison, SearchingEndsBetweenOracleAndFixed) {
  double searching = 0, oracle = 0, fixed = 0;
  for (uint64_t seed = 1; seed <= 10; seed++) {
    const auto last = [&](Judging judging) {
      barrier::Setup setup;
      setup.size = {4, 4};
      setup.broken = 0.3;
      setup.seed = seed;
      setup.rounds = 12;
      setup.judging = judging;
      return compare(setup).rounds.back().length;
    };
    searching += last(Judging::searching);
    oracle += last(Judging::oracle);
    fixed += last(Judging::fixed);
  }
  EXPECT_LE(oracle, searching);
  EXPECT_LT(searching, fixed);
}

}  // namespace
}  // namespace weft::barrier

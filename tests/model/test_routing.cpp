// SPDX-License-Identifier: Apache-2.0
// Where the nodes of a torus or mesh lie, and ways through it without cycles.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "fabric/geometry.hpp"
#include "fabric/routing.hpp"

namespace weft::fabric {
namespace {

// --- where nodes lie

TEST(Geometry, NeighboursAreMutual) {
  for (const bool joined : {true, false}) {
    const Geometry geometry({3, 4, 2}, joined);
    ASSERT_EQ(geometry.nodes(), 24u);
    for (uint32_t node = 0; node < geometry.nodes(); ++node) {
      EXPECT_EQ(geometry.node(geometry.place(node)), node);
      for (uint32_t port = 0; port < local_port; ++port) {
        if (!geometry.has_link(node, port)) continue;
        const uint32_t other = geometry.neighbour(node, port);
        EXPECT_TRUE(geometry.has_link(other, opposite(port)));
        EXPECT_EQ(geometry.neighbour(other, opposite(port)), node);
        EXPECT_EQ(geometry.hops(node, other), 1u);
      }
    }
  }
}

/// Hops are what a search through the links finds, and going a way that is said to be shortest makes them
/// fewer.
TEST(Geometry, WaysAreShortest) {
  for (const bool joined : {true, false}) {
    const Geometry geometry({5, 4, 3}, joined);
    for (uint32_t from = 0; from < geometry.nodes(); ++from) {
      std::vector<uint32_t> distance(geometry.nodes(), UINT32_MAX);
      std::vector<uint32_t> reached{from};
      distance[from] = 0;
      for (size_t i = 0; i < reached.size(); ++i) {
        for (uint32_t port = 0; port < local_port; ++port) {
          if (!geometry.has_link(reached[i], port)) continue;
          const uint32_t other = geometry.neighbour(reached[i], port);
          if (distance[other] != UINT32_MAX) continue;
          distance[other] = distance[reached[i]] + 1;
          reached.push_back(other);
        }
      }
      for (uint32_t to = 0; to < geometry.nodes(); ++to) {
        EXPECT_EQ(geometry.hops(from, to), distance[to]);
        for (uint32_t port = 0; port < local_port; ++port) {
          const Geometry::Way way = geometry.way(from, to, port / 2);
          const bool is_shorter = geometry.has_link(from, port) &&
                                  geometry.hops(geometry.neighbour(from, port), to) < distance[to];
          EXPECT_EQ(port % 2 == 0 ? way.up : way.down, is_shorter);
        }
      }
    }
  }
}

TEST(Geometry, RefusesWhatThereIsNot) {
  EXPECT_THROW(Geometry({0, 1, 1}, true), std::invalid_argument);
  EXPECT_THROW(Geometry({1025, 1, 1}, true), std::invalid_argument);
  EXPECT_THROW(Geometry({1024, 1024, 2}, true), std::invalid_argument);
}

// --- ways without cycles

/// Follows every packet through all lanes that it may take, and notes which lane it may wait for while it has
/// which.
class Dependencies {
 public:
  using Lane = std::pair<uint32_t, uint32_t>;  // router at whose output it is, lane

  Dependencies(const Geometry& geometry, const Routing& routing, Lanes of_interest)
      : geometry_(geometry), routing_(routing), of_interest_(of_interest) {
    for (uint32_t from = 0; from < geometry.nodes(); ++from) {
      for (uint32_t to = 0; to < geometry.nodes(); ++to) {
        visited_.clear();
        visit(from, lane(local_port, 0), to, std::nullopt);
      }
    }
  }

  /// Every lane can be given up in some order.
  bool acyclic() {
    std::map<Lane, size_t> waited_for;
    for (const auto& [from, all] : next_) {
      waited_for[from];
      for (const Lane& to : all) waited_for[to]++;
    }
    std::vector<Lane> last;
    for (const auto& [each, count] : waited_for) {
      if (count == 0) last.push_back(each);
    }
    size_t removed = 0;
    for (; removed < last.size(); ++removed) {
      for (const Lane& to : next_[last[removed]]) {
        if (--waited_for[to] == 0) last.push_back(to);
      }
    }
    return removed == waited_for.size();
  }
  size_t lanes() const { return next_.size(); }

 private:
  /// @param has the last lane of interest that it has taken: it may still have it, also behind others
  void visit(uint32_t here, uint32_t in, uint32_t to, std::optional<Lane> has) {
    if (here == to || !visited_.insert({here, in, has}).second) return;
    for (int draw = 0; draw < 8; ++draw) {  // both ways round half a ring
      Lanes lanes = routing_.next(here, in, to, random_);
      ASSERT_NE(lanes, 0u);
      while (lanes != 0) {
        const uint32_t out = take_first(lanes);
        ASSERT_LT(geometry_.hops(geometry_.neighbour(here, port_of(out)), to), geometry_.hops(here, to));
        std::optional<Lane> now = has;
        if ((of_interest_ & only(out)) != 0) {
          if (has) next_[*has].insert({here, out});
          now = {here, out};
          next_[*now];
        }
        visit(geometry_.neighbour(here, port_of(out)), lane(opposite(port_of(out)), channel_of(out)), to,
              now);
      }
    }
  }

  const Geometry& geometry_;
  const Routing& routing_;
  Lanes of_interest_;
  RandomStream random_{1};
  std::set<std::tuple<uint32_t, uint32_t, std::optional<Lane>>> visited_;
  std::map<Lane, std::set<Lane>> next_;
};

class Ways : public testing::TestWithParam<std::tuple<Sizes, bool>> {
 protected:
  Geometry geometry_{std::get<0>(GetParam()), std::get<1>(GetParam())};
};

TEST_P(Ways, InDimensionOrderHaveNoCycle) {
  const Routing routing(geometry_, Algorithm::dimension_order, 2);
  Dependencies dependencies(geometry_, routing, ~Lanes{0});
  EXPECT_GT(dependencies.lanes(), 0u);
  EXPECT_TRUE(dependencies.acyclic());
}

/// Duato: no cycle among the escape channels, counting also those who wait for one while they have an earlier
/// one and adaptive ones between; and an escape is always among what a packet may take.
TEST_P(Ways, OfEscapeHaveNoCycle) {
  const Routing routing(geometry_, Algorithm::minimal_adaptive, 3);
  Dependencies dependencies(geometry_, routing, routing.escapes());
  EXPECT_GT(dependencies.lanes(), 0u);
  EXPECT_TRUE(dependencies.acyclic());
  RandomStream random(1);
  for (uint32_t from = 0; from < geometry_.nodes(); ++from) {
    for (uint32_t to = 0; to < geometry_.nodes(); ++to) {
      if (from != to) {
        EXPECT_NE(routing.next(from, lane(local_port, 0), to, random) & routing.escapes(), 0u);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Ways,
                         testing::Combine(testing::Values(Sizes{5, 1, 1}, Sizes{6, 1, 1}, Sizes{4, 3, 1},
                                                          Sizes{3, 3, 3}, Sizes{2, 4, 1}),
                                          testing::Bool()));

TEST(Ways, CycleIsFound) {
  const Geometry ring({5, 1, 1}, true);
  const Routing routing(ring, Algorithm::minimal_adaptive, 3);
  EXPECT_FALSE(Dependencies(ring, routing, ~routing.escapes()).acyclic())
      << "the adaptive channels of a ring";
}

TEST(Ways, RefuseTooFewChannels) {
  const Geometry torus({4, 4, 4}, true), mesh({4, 4, 4}, false);
  EXPECT_THROW(Routing(torus, Algorithm::dimension_order, 1), std::invalid_argument);
  EXPECT_THROW(Routing(torus, Algorithm::minimal_adaptive, 2), std::invalid_argument);
  EXPECT_THROW(Routing(torus, Algorithm::minimal_adaptive, max_channels + 1), std::invalid_argument);
  EXPECT_NO_THROW(Routing(mesh, Algorithm::dimension_order, 1));
  EXPECT_THROW(Routing(mesh, Algorithm::minimal_adaptive, 1), std::invalid_argument);
}

}  // namespace
}  // namespace weft::fabric

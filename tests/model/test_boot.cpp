// SPDX-License-Identifier: Apache-2.0
// Boot plans: the paper's tables, and what holds for any machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <queue>
#include <set>

#include "boot/bandwidth.hpp"
#include "boot/nodes.hpp"
#include "boot/plan.hpp"
#include "drawn_machine.hpp"
#include "property.hpp"

namespace weft::boot {
namespace {

/// As printed: N1 to N5 in hundredths of Mb/s, full-path minimum, seconds in hundredths.
struct Printed {
  const char* nodes;
  Algorithm algorithm;
  std::array<double, segments> mbps;
  double least, seconds;
  const char* limiting;
};

class PaperTables : public ::testing::TestWithParam<Printed> {};

TEST_P(PaperTables, AreMetToTheDigit) {
  const Printed& printed = GetParam();
  const Machine machine;
  const auto cpus = nodes_of(printed.nodes, machine).cpus;
  const auto found = bandwidth_of(machine, cpus, plan(machine, cpus, printed.algorithm).servers);
  for (uint32_t segment = 0; segment < segments; ++segment)
    EXPECT_DOUBLE_EQ(hundredths(found.mbps[segment]), printed.mbps[segment]) << "N" << segment + 1;
  EXPECT_DOUBLE_EQ(hundredths(found.least_mbps), printed.least);
  EXPECT_DOUBLE_EQ(hundredths(found.boot_seconds), printed.seconds);
  EXPECT_EQ(found.limiting, printed.limiting);
}

constexpr auto scda = Algorithm::scda, bcda = Algorithm::bcda;
INSTANTIATE_TEST_SUITE_P(
    All, PaperTables,
    ::testing::Values(Printed{"cpus:1", scda, {1000, 1000, 20000, 20000, 1000}, 1000, 0.4, "N1,N2,N5"},
                      Printed{"cpus:1", bcda, {1000, 1000, 20000, 20000, 1000}, 1000, 0.4, "N1,N2,N5"},
                      Printed{"boards:1", scda, {1000, 125, 2500, 2500, 125}, 125, 3.2, "N2,N5"},
                      Printed{"boards:1", bcda, {1000, 125, 2500, 2500, 125}, 125, 3.2, "N2,N5"},
                      Printed{"boards:10", scda, {1000, 125, 250, 250, 12.5}, 12.5, 32, "N5"},
                      Printed{"boards:10", bcda, {1000, 125, 250, 250, 125}, 125, 3.2, "N2,N5"},
                      Printed{"boards:20", scda, {1000, 125, 125, 125, 6.25}, 6.25, 64, "N5"},
                      Printed{"boards:20", bcda, {1000, 125, 125, 125, 125}, 125, 3.2, "N2,N3,N4,N5"},
                      Printed{"boards:21", scda, {1000, 125, 119.05, 119.05, 5.95}, 5.95, 67.2, "N5"},
                      Printed{"boards:21", bcda, {1000, 125, 119.05, 125, 125}, 119.05, 3.36, "N3"},
                      Printed{"supernodes:1", scda, {1000, 125, 78.13, 78.13, 3.91}, 3.91, 102.4, "N5"},
                      Printed{"supernodes:1", bcda, {1000, 125, 78.13, 125, 125}, 78.13, 5.12, "N3"},
                      Printed{"supernodes:5", scda, {1000, 125, 78.13, 15.63, 3.91}, 3.91, 102.4, "N5"},
                      Printed{"supernodes:5", bcda, {1000, 125, 78.13, 125, 125}, 78.13, 5.12, "N3"},
                      Printed{"boards:161", bcda, {1000, 125, 78.13, 119.05, 62.5}, 62.5, 6.4, "N5"},
                      Printed{"supernodes:10", scda, {1000, 125, 78.13, 7.81, 3.91}, 3.91, 102.4, "N5"},
                      Printed{"supernodes:10", bcda, {1000, 125, 78.13, 62.5, 62.5}, 62.5, 6.4, "N4,N5"},
                      Printed{"supernodes:20", scda, {1000, 125, 78.13, 3.91, 3.91}, 3.91, 102.4, "N4,N5"},
                      Printed{"supernodes:20", bcda, {1000, 125, 78.13, 31.25, 31.25}, 31.25, 12.8, "N4,N5"},
                      Printed{"supernodes:40", bcda, {1000, 125, 78.13, 15.63, 15.63}, 15.63, 25.6, "N4,N5"},
                      Printed{"supernodes:80", bcda, {1000, 125, 78.13, 7.81, 7.81}, 7.81, 51.2, "N4,N5"},
                      Printed{"supernodes:160", scda, {1000, 125, 78.13, 3.91, 3.91}, 3.91, 102.4, "N4,N5"},
                      Printed{"supernodes:160", bcda, {1000, 125, 78.13, 3.91, 3.91}, 3.91, 102.4, "N4,N5"}));

TEST(BootPlan, TheRatioOfThePaperIsFrom1To20) {
  const Machine machine;
  for (uint32_t boards = 1; boards <= machine.boards(); boards += boards < 200 ? 1 : 123) {
    const auto cpus = nodes_of("boards:" + std::to_string(boards), machine).cpus;
    const double slow = bandwidth_of(machine, cpus, plan(machine, cpus, scda).servers).least_mbps;
    const double fast = bandwidth_of(machine, cpus, plan(machine, cpus, bcda).servers).least_mbps;
    EXPECT_GE(fast / slow, 1) << boards;
    EXPECT_LE(fast / slow, 20 * (1 + 1e-12)) << boards;
    EXPECT_EQ(fast / slow > 20 * (1 - 1e-12), boards >= 20 && boards <= 160) << boards;
  }
}

TEST(BootPlan, EveryNodeHasOneServerThatIsAliveAndAnotherAsItsBackup) {
  EXPECT_PROPERTY("servers are alive", [] {
    const Machine machine = drawn_machine();
    const auto cpus = drawn_cpus(machine);
    const bool alone = machine.failed_servers.size() + 1 == machine.servers;
    for (const Algorithm algorithm : {scda, bcda, Algorithm::balanced}) {
      const Plan made = plan(machine, cpus, algorithm);
      RC_ASSERT(made.servers.size() == cpus.size());
      RC_ASSERT(made.backups.size() == cpus.size());
      for (std::size_t i = 0; i < cpus.size(); ++i) {
        for (const uint32_t server : {made.servers[i], made.backups[i]}) {
          RC_ASSERT(server < machine.servers);
          RC_ASSERT(!machine.failed_servers.contains(server));
        }
        RC_ASSERT((made.servers[i] == made.backups[i]) == alone);
      }
    }
  });
}

TEST(BootPlan, NoPlanIsWorseThanOthersOrAboveTheBound) {
  EXPECT_PROPERTY("balanced is best, the bound above", [] {
    const Machine machine = drawn_machine();
    const auto cpus = drawn_cpus(machine);
    const auto mbps = [&](Algorithm algorithm) {
      return bandwidth_of(machine, cpus, plan(machine, cpus, algorithm).servers).least_mbps;
    };
    const double best = mbps(Algorithm::balanced);
    RC_ASSERT(best >= mbps(bcda));
    RC_ASSERT(best >= mbps(scda));
    RC_ASSERT(best <= flow_bound(machine, cpus) * (1 + 1e-9));
  });
}

/// The best of all ways to give some nodes of a small machine one server each; the others keep theirs.
/// @param movable places in the list of nodes; @param dead none of these
double best_of_all(const Machine& machine, const std::vector<uint32_t>& cpus, std::vector<uint32_t> servers,
                   const std::vector<std::size_t>& movable, std::set<uint32_t> dead) {
  dead.insert(machine.failed_servers.begin(), machine.failed_servers.end());
  for (const std::size_t i : movable) servers[i] = 0;
  double best = 0;
  while (true) {
    const bool alive = std::none_of(movable.begin(), movable.end(),
                                    [&](std::size_t i) { return dead.contains(servers[i]); });
    if (alive) best = std::max(best, bandwidth_of(machine, cpus, servers).least_mbps);
    std::size_t turn = 0;
    while (turn < movable.size() && ++servers[movable[turn]] == machine.servers) servers[movable[turn++]] = 0;
    if (turn == movable.size()) return best;
  }
}

Machine drawn_machine_with_few_servers() {
  Machine machine = drawn_machine();
  machine.servers = std::min(machine.servers, 4u);
  machine.failed_servers.clear();
  std::erase_if(machine.unequal_servers, [&](const auto& own) { return own.first >= machine.servers; });
  return machine;
}

TEST(BootPlan, BalancedIsTheBestOfAllMappings) {
  EXPECT_PROPERTY("no mapping is better", [] {
    const Machine machine = drawn_machine_with_few_servers();
    auto cpus = drawn_cpus(machine);
    cpus.resize(std::min<std::size_t>(cpus.size(), 5));
    std::vector<std::size_t> all(cpus.size());
    std::iota(all.begin(), all.end(), 0);
    const auto servers = plan(machine, cpus, Algorithm::balanced).servers;
    RC_ASSERT(bandwidth_of(machine, cpus, servers).least_mbps ==
              best_of_all(machine, cpus, servers, all, {}));
  });
}

/// Nodes that servers and edge switches have room for, if each shall get so much.
uint64_t room(const Machine& machine, double mbps) {
  const auto most = [&](double link) { return static_cast<uint64_t>(link / mbps * (1 + 1e-12)); };
  std::vector<uint64_t> edges(machine.edges(), 0);
  for (uint32_t server = 0; server < machine.servers; ++server)
    if (!machine.failed_servers.contains(server))
      edges[machine.edge_of(server)] += most(machine.server_mbps(server));
  uint64_t all = 0;
  for (const uint64_t nodes : edges) all += std::min(nodes, most(machine.links[3].total()));
  return all;
}

/// Many servers and failures; what is best follows from the rates that can be: a link by a number of nodes.
TEST(BootPlan, BalancedIsTheBestForManyServers) {
  EXPECT_PROPERTY("there is no room for more", [] {
    Machine machine;
    machine.servers = *rc::gen::inRange(1u, 200u);
    machine.servers_per_edge = *rc::gen::inRange(1u, 40u);
    const auto failed = *rc::gen::container<std::set<uint32_t>>(rc::gen::inRange(0u, machine.servers));
    machine.failed_servers = failed;
    if (failed.size() == machine.servers) machine.failed_servers.erase(machine.failed_servers.begin());
    const auto cpus = nodes_of("cpus:" + std::to_string(*rc::gen::inRange(1, 3000)), machine).cpus;
    const Plan made = plan(machine, cpus, Algorithm::balanced);
    const Bandwidth found = bandwidth_of(machine, cpus, made.servers);
    double best = 0;
    for (uint32_t nodes = 1; nodes <= cpus.size(); ++nodes) {
      for (const double link : {machine.links[4].total(), machine.links[3].total()})
        if (room(machine, link / nodes) >= cpus.size()) best = std::max(best, link / nodes);
    }
    RC_ASSERT(std::abs(std::min(found.mbps[3], found.mbps[4]) - best) <= 1e-9 * best);
  });
}

TEST(BootPlan, BackupsAreTheBestForTheDeathOfEachServer) {
  EXPECT_PROPERTY("its nodes could not go to better servers", [] {
    const Machine machine = drawn_machine_with_few_servers();
    if (machine.servers == 1) return;
    const auto cpus = drawn_cpus(machine);
    const Plan made = plan(machine, cpus, *rc::gen::element(scda, bcda, Algorithm::balanced));
    for (uint32_t dead = 0; dead < machine.servers; ++dead) {
      std::vector<std::size_t> movable;
      auto servers = made.servers;
      for (std::size_t i = 0; i < cpus.size(); ++i) {
        if (servers[i] != dead) continue;
        servers[i] = made.backups[i];
        movable.push_back(i);
      }
      if (movable.size() > 5) continue;
      const double found = bandwidth_of(machine, cpus, servers).least_mbps;
      RC_ASSERT(found == best_of_all(machine, cpus, made.servers, movable, {dead}));
    }
  });
}

/// As many backups as nodes that have lost their server, spread over all that are alike.
TEST(BootPlan, BackupsSpreadOverAllOtherServers) {
  const Machine machine;
  const auto cpus = nodes_of("all", machine).cpus;
  for (const Algorithm algorithm : {scda, bcda, Algorithm::balanced}) {
    const Plan made = plan(machine, cpus, algorithm);
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> nodes;
    for (std::size_t i = 0; i < cpus.size(); ++i) ++nodes[{made.servers[i], made.backups[i]}];
    for (const auto& [pair, count] : nodes) EXPECT_LE(count, 2u) << pair.first << ' ' << pair.second;
    for (uint32_t dead : {0u, 77u, 159u}) {
      auto servers = made.servers;
      for (std::size_t i = 0; i < cpus.size(); ++i)
        if (servers[i] == dead) servers[i] = made.backups[i];
      EXPECT_DOUBLE_EQ(bandwidth_of(machine, cpus, servers).least_mbps, 1000.0 / 258);
    }
  }
}

/// Maximum flow by shortest augmenting paths.
class FlowNetwork {
 public:
  explicit FlowNetwork(uint32_t vertices) : arcs_of_(vertices) {}

  void add(uint32_t from, uint32_t to, double mbps) {
    arcs_of_[from].push_back(static_cast<uint32_t>(arcs_.size()));
    arcs_.push_back({to, mbps});
    arcs_of_[to].push_back(static_cast<uint32_t>(arcs_.size()));
    arcs_.push_back({from, 0});
  }

  double most(uint32_t source, uint32_t sink) {
    double flow = 0;
    for (auto path = shortest(source, sink); !path.empty(); path = shortest(source, sink)) {
      double more = arcs_[path.front()].mbps;
      for (const uint32_t arc : path) more = std::min(more, arcs_[arc].mbps);
      for (const uint32_t arc : path) {
        arcs_[arc].mbps -= more;
        arcs_[arc ^ 1].mbps += more;
      }
      flow += more;
    }
    return flow;
  }

 private:
  struct Arc {
    uint32_t to;
    double mbps;
  };

  std::vector<uint32_t> shortest(uint32_t source, uint32_t sink) const {
    constexpr uint32_t none = ~0u;
    std::vector<uint32_t> by(arcs_of_.size(), none), path;
    std::queue<uint32_t> next({source});
    while (!next.empty() && by[sink] == none) {
      for (const uint32_t arc : arcs_of_[next.front()]) {
        const uint32_t to = arcs_[arc].to;
        if (arcs_[arc].mbps < 1e-7 || by[to] != none || to == source) continue;
        by[to] = arc;
        next.push(to);
      }
      next.pop();
    }
    for (uint32_t at = sink; by[sink] != none && at != source; at = arcs_[by[at] ^ 1].to)
      path.push_back(by[at]);
    return path;
  }

  std::vector<Arc> arcs_;
  std::vector<std::vector<uint32_t>> arcs_of_;
};

/// Can every CPU get so much at the same time, each from any servers?
bool fits(const Machine& machine, const std::vector<uint32_t>& cpus, double mbps) {
  const uint32_t source = 0, sink = 1, core = 2, servers = 3, edges = servers + machine.servers,
                 supernodes = edges + machine.edges(), boards = supernodes + machine.supernodes,
                 nodes = boards + static_cast<uint32_t>(machine.boards());
  FlowNetwork network(nodes + static_cast<uint32_t>(cpus.size()));
  for (uint32_t server = 0; server < machine.servers; ++server) {
    if (machine.failed_servers.contains(server)) continue;
    network.add(source, servers + server, machine.server_mbps(server));
    network.add(servers + server, edges + machine.edge_of(server), machine.links[4].total() * 1e6);
  }
  for (uint32_t edge = 0; edge < machine.edges(); ++edge)
    network.add(edges + edge, core, machine.link_mbps(3, edge));
  for (uint32_t supernode = 0; supernode < machine.supernodes; ++supernode)
    network.add(core, supernodes + supernode, machine.link_mbps(2, supernode));
  for (uint32_t board = 0; board < machine.boards(); ++board)
    network.add(supernodes + board / machine.boards_per_supernode, boards + board,
                machine.link_mbps(1, board));
  for (uint32_t i = 0; i < cpus.size(); ++i) {
    network.add(boards + machine.board_of(cpus[i]), nodes + i, machine.link_mbps(0, cpus[i]));
    network.add(nodes + i, sink, mbps);
  }
  const double wanted = mbps * static_cast<double>(cpus.size());
  return network.most(source, sink) >= wanted - 1e-4;
}

TEST(BootBound, IsWhatMaximumFlowFinds) {
  EXPECT_PROPERTY("the bound fits, more does not", [] {
    const Machine machine = drawn_machine();
    const auto cpus = drawn_cpus(machine);
    const double bound = flow_bound(machine, cpus);
    RC_ASSERT(fits(machine, cpus, bound));
    RC_ASSERT(!fits(machine, cpus, bound * 1.01 + 0.001));
  });
}

}  // namespace
}  // namespace weft::boot

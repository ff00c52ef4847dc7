// SPDX-License-Identifier: Apache-2.0
// Boots as flows: the closed forms, and a simulation of each node by itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "boot/bandwidth.hpp"
#include "boot/flows.hpp"
#include "boot/packets.hpp"
#include "drawn_machine.hpp"
#include "property.hpp"

namespace weft::boot {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

Machine small_machine() {
  Machine machine;
  machine.cpus_per_board = machine.boards_per_supernode = 1;
  machine.supernodes = machine.servers = 2;
  machine.servers_per_edge = 1;
  machine.links[4].mbps = 100;
  machine.image_megabits = 100;
  return machine;
}

double last(const Boots& boots) { return *std::max_element(boots.seconds.begin(), boots.seconds.end()); }

bool near(double found, double wanted) { return std::abs(found - wanted) <= 1e-6 * wanted; }

/// The nodes of the link with the least share have the least rate and are done together.
TEST(BootFlows, LastAsLongAsThePlanSaysWhenAllBeginAtOnce) {
  EXPECT_PROPERTY("the last node is done after image / full-path minimum", [] {
    const Machine machine = drawn_machine();
    const auto cpus = drawn_cpus(machine);
    for (const Algorithm algorithm : {Algorithm::scda, Algorithm::bcda, Algorithm::balanced}) {
      const Plan made = plan(machine, cpus, algorithm);
      RC_ASSERT(near(last(simulate(machine, cpus, made, {})),
                     bandwidth_of(machine, cpus, made.servers).boot_seconds));
    }
  });
}

/// Every node by itself: rates found by filling all links step by step at every change.
class EachNode {
 public:
  EachNode(const Machine& machine, const std::vector<uint32_t>& cpus, const Plan& plan, const Course& course)
      : machine_(machine), most_mbps_(course.protocol.most_mbps) {
    for (std::size_t i = 0; i < cpus.size(); ++i)
      nodes_.push_back({cpus[i], plan.servers[i], machine.image_megabits, course.begins[i], 0, infinite});
  }

  std::vector<double> run() {
    for (double now = 0; now < infinite;) {
      find_rates(now);
      double next = infinite;
      for (const Node& node : nodes_) {
        if (node.done < infinite) continue;
        next = std::min(next, node.begins > now ? node.begins : now + node.left / node.mbps);
      }
      for (Node& node : nodes_) {
        if (node.begins > now || node.done < infinite) continue;
        node.left -= node.mbps * (next - now);
        if (node.left <= 1e-9 * machine_.image_megabits) node.done = next;
      }
      now = next;
    }
    std::vector<double> seconds;
    for (const Node& node : nodes_) seconds.push_back(node.done);
    return seconds;
  }

 private:
  struct Node {
    uint32_t cpu, server;
    double left, begins, mbps, done;
    bool fixed = true;
  };

  bool shares(const Node& one, const Node& other, uint32_t segment) const {
    switch (segment) {
      case 0:
        return one.cpu == other.cpu;
      case 1:
        return machine_.board_of(one.cpu) == machine_.board_of(other.cpu);
      case 2:
        return machine_.supernode_of(one.cpu) == machine_.supernode_of(other.cpu);
      case 3:
        return machine_.edge_of(one.server) == machine_.edge_of(other.server);
      default:
        return one.server == other.server;
    }
  }

  /// What each node that is not fixed can get on a link.
  double share(const Node& node, uint32_t segment) const {
    const std::array<uint32_t, segments> place = {node.cpu, machine_.board_of(node.cpu),
                                                  machine_.supernode_of(node.cpu),
                                                  machine_.edge_of(node.server), node.server};
    double left = machine_.link_mbps(segment, place[segment]);
    double count = 0;
    for (const Node& other : nodes_) {
      if (!shares(node, other, segment)) continue;
      left -= other.fixed ? other.mbps : 0;
      count += other.fixed ? 0 : 1;
    }
    return left / count;
  }

  double most(const Node& node) const {
    double mbps = most_mbps_;
    for (uint32_t segment = 0; segment < segments; ++segment) mbps = std::min(mbps, share(node, segment));
    return mbps;
  }

  void find_rates(double now) {
    for (Node& node : nodes_) {
      node.fixed = node.begins > now || node.done < infinite;
      node.mbps = 0;
    }
    while (true) {
      Node* least = nullptr;
      double mbps = infinite;
      for (Node& node : nodes_) {
        if (node.fixed || most(node) >= mbps) continue;
        least = &node;
        mbps = most(node);
      }
      if (least == nullptr) return;
      least->fixed = true;
      least->mbps = mbps;
    }
  }

  const Machine& machine_;
  double most_mbps_;
  std::vector<Node> nodes_;
};

TEST(BootFlows, AreThoseOfEachNodeByItself) {
  EXPECT_PROPERTY("groups have the rates of their nodes", [] {
    const Machine machine = drawn_machine();
    auto cpus = drawn_cpus(machine);
    cpus.resize(std::min<std::size_t>(cpus.size(), 16));
    const Plan made =
        plan(machine, cpus, *rc::gen::element(Algorithm::scda, Algorithm::bcda, Algorithm::balanced));
    Course course;
    for (std::size_t i = 0; i < cpus.size(); ++i) course.begins.push_back(*rc::gen::inRange(0, 12) * 0.75);
    if (*rc::gen::arbitrary<bool>()) course.protocol.most_mbps = *rc::gen::inRange(5, 300);
    const auto found = simulate(machine, cpus, made, course).seconds;
    const auto wanted = EachNode(machine, cpus, made, course).run();
    for (std::size_t i = 0; i < cpus.size(); ++i) RC_ASSERT(near(found[i], wanted[i]));
  });
}

TEST(BootFlows, WithAResolutionAreLateByLittle) {
  EXPECT_PROPERTY("a node is not later than by the resolution for each change", [] {
    const Machine machine = drawn_machine();
    const auto cpus = drawn_cpus(machine);
    const Plan made = plan(machine, cpus, Algorithm::balanced);
    Course course;
    for (std::size_t i = 0; i < cpus.size(); ++i) course.begins.push_back(*rc::gen::inRange(0, 1000) * 0.01);
    const Boots exact = simulate(machine, cpus, made, course);
    course.resolution = 0.01;
    const Boots coarse = simulate(machine, cpus, made, course);
    // What ends together in the exact run may end apart in the coarse one: it may need one more here and
    // there.
    const double changes = 2 * static_cast<double>(cpus.size());
    RC_ASSERT(static_cast<double>(coarse.allocations) <= changes);
    RC_ASSERT(last(coarse) <= last(exact) + course.resolution * changes);
    RC_ASSERT(last(coarse) >= last(exact) - course.resolution * changes);
  });
}

TEST(BootFlows, WaitForTheProtocol) {
  const Machine machine = small_machine();
  const Plan alone{{0}, {1}};
  const double http_seconds = 2 * 0.01 + 1538.0 / 1448;
  EXPECT_NEAR(last(simulate(machine, {0}, alone, {http(0.01), {}, {}, 0})), http_seconds, 1e-9);
  // a block of 1432 bytes each 10 ms
  const double tftp_seconds = 0.01 + 100e6 / 8 / 1432 * 0.01;
  EXPECT_NEAR(last(simulate(machine, {0}, alone, {tftp(0.01, 1), {}, {}, 0})), tftp_seconds, 1e-6);
  EXPECT_NEAR(last(simulate(machine, {0}, alone, {tftp(0.01, 4), {}, {}, 0})),
              0.01 + (tftp_seconds - 0.01) / 4, 1e-6);
  // with a window that is wide enough, the link is full
  EXPECT_NEAR(last(simulate(machine, {0}, alone, {tftp(0.01, 1000), {}, {}, 0})), 0.01 + 1502.0 / 1432, 1e-9);
}

TEST(BootFlows, GoOnAtTheBackupWhenAServerDies) {
  const Machine machine = small_machine();
  Course course;
  course.death = {1, 0.5, 0.25};
  const Boots boots = simulate(machine, {0, 1}, {{0, 1}, {1, 0}}, course);
  EXPECT_EQ(boots.begun_again, 1u);
  EXPECT_NEAR(boots.seconds[0], 1.25, 1e-9);  // alone until 0.75, then half of the server
  EXPECT_NEAR(boots.seconds[1], 2, 1e-9);     // 25 Mb until 1.25, then alone
  course.begins = {0, 3};                     // the second begins when its server is long dead
  EXPECT_NEAR(simulate(machine, {0, 1}, {{0, 1}, {1, 0}}, course).seconds[1], 4.25, 1e-9);
  course = {};
  course.death = {1, 2, 0};  // all are done
  EXPECT_EQ(simulate(machine, {0, 1}, {{0, 1}, {1, 0}}, course).begun_again, 0u);
  course.death = {0, 0.5, 0};
  EXPECT_THROW(simulate(machine, {0}, {{0}, {0}}, course), Fault);
}

TEST(BootFlows, LeaveToOthersWhatADeadNodeHad) {
  const Machine machine = small_machine();
  Course course;
  course.death = {std::nullopt, 0.5, 0, {1}};
  Boots boots = simulate(machine, {0, 1}, {{0, 0}, {1, 1}}, course);
  EXPECT_NEAR(boots.seconds[0], 1.25, 1e-9);  // half of the server until 0.5, then all of it
  EXPECT_EQ(boots.seconds[1], infinite);
  course.begins = {0, 2};  // it never begins
  boots = simulate(machine, {0, 1}, {{0, 0}, {1, 1}}, course);
  EXPECT_NEAR(boots.seconds[0], 1, 1e-9);
  EXPECT_EQ(boots.seconds[1], infinite);
}

TEST(BootFlows, FetchPartsOfTheImage) {
  Machine machine = small_machine();
  machine.cpus_per_board = 2;  // both nodes on one board
  Course course;
  course.parts = {1, 0.25};
  course.begins = {0, 0.25};
  const Boots boots = simulate(machine, {0, 1}, {{0, 0}, {1, 1}}, course);
  EXPECT_NEAR(boots.seconds[1], 0.75, 1e-9);  // 25 Mb at 50 Mb/s; it is done before the one that began first
  EXPECT_NEAR(boots.seconds[0], 1.25, 1e-9);
}

TEST(BootPackets, GoOnAtTheBackupWhenAServerDies) {
  const Machine machine = small_machine();
  Course course;
  course.protocol = http(0);
  course.death = {1, 0.5, 0.25};
  Packets packets;
  packets.death = course.death;
  const Boots flows = simulate(machine, {0, 1}, {{0, 1}, {1, 0}}, course);
  const Boots boots = simulate_packets(machine, {0, 1}, Plan{{0, 1}, {1, 0}}, packets);
  EXPECT_EQ(boots.begun_again, 1u);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(boots.seconds[i], flows.seconds[i], 0.01);
  EXPECT_THROW(simulate_packets(machine, {1}, Plan{{1}, {1}}, packets), Fault);
}

/// Queues are not as fair as flows: who has to wait elsewhere, too, gets less of a link.
TEST(BootPackets, AreNotFasterThanFlowsAndLittleSlower) {
  EXPECT_PROPERTY("the last node is done not much later than the flows say", [] {
    Machine machine = drawn_machine();
    const auto cpus = drawn_cpus(machine);
    machine.image_megabits = 500 * 1448 * 8 / 1e6;
    const Plan made =
        plan(machine, cpus, *rc::gen::element(Algorithm::scda, Algorithm::bcda, Algorithm::balanced));
    const double flows = last(simulate(machine, cpus, made, {http(0), {}, {}, 0}));
    const double packets = last(simulate_packets(machine, cpus, made, {}));
    RC_ASSERT(packets >= flows * (1 - 1e-9));
    RC_ASSERT(packets <= flows * 1.3);
  });
}

TEST(BootPackets, TakeAsLongAsFlowsOnThePapersMachine) {
  Machine machine;
  machine.image_megabits = 1000 * 1448 * 8 / 1e6;
  std::vector<uint32_t> cpus(256);
  std::iota(cpus.begin(), cpus.end(), 0);
  for (const Algorithm algorithm : {Algorithm::scda, Algorithm::bcda, Algorithm::balanced}) {
    const Plan made = plan(machine, cpus, algorithm);
    const double flows = last(simulate(machine, cpus, made, {http(0), {}, {}, 0}));
    const double packets = last(simulate_packets(machine, cpus, made, {}));
    EXPECT_GE(packets, flows);
    EXPECT_LE(packets, flows * 1.02);
  }
}

TEST(BootPackets, TakeATimeThatIsFoundByHand) {
  const Machine machine = small_machine();  // 100 Mb through 20,000, 20,000, 1,000, 1,000 and 100 Mb/s
  const double packet = 1538 * 8 / 1e6, count = std::ceil(100e6 / 8 / 1448);
  const double last_way = packet / 20000 * 2 + packet / 1000 * 2;
  EXPECT_NEAR(last(simulate_packets(machine, {0}, Plan{{0}, {1}}, {})), count * packet / 100 + last_way,
              1e-9);
  // a window of one: each packet goes all the way alone
  EXPECT_NEAR(last(simulate_packets(machine, {0}, Plan{{0}, {1}}, {1448, 90, 1, 0.001})),
              count * (packet / 100 + last_way + 0.001) - 0.001, 1e-9);
  Machine large = machine;
  large.image_megabits = 1e9;
  EXPECT_THROW(simulate_packets(large, {0, 1}, Plan{{0, 1}, {1, 0}}, {}), Fault);
}

}  // namespace
}  // namespace weft::boot

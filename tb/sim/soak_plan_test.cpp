// SPDX-License-Identifier: Apache-2.0
// Plans of the fault campaign: they keep what docs/rdma.md asks of software, and leave no fault out.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "rdma_run.hpp"
#include "soak_plan.hpp"

namespace weft::sim {
namespace {

using rdma::formats::Status;

constexpr uint64_t plans = 500;

template <typename Action>
void for_all_plans(Action action) {
  for (uint64_t seed = 1; seed <= plans; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    action(make_plan(seed));
  }
}

/// Ticks for which a receiver keeps a context whose sender is gone.
uint32_t asked_in_vain(const driver::RdmaSetup& setup) {
  uint32_t ticks = 0;
  for (uint32_t silent = 0; silent <= setup.max_silent; ++silent) {
    ticks += setup.rx_timeout << std::min<uint32_t>(silent, setup.backoff);
  }
  return ticks;
}

/// Of engines without queues.
template <typename Action>
void for_plans(Action action) {
  for_all_plans([&](const Plan& plan) {
    if (!plan.nic) action(plan);
  });
}

template <typename Action>
void for_nic_plans(Action action) {
  for_all_plans([&](const Plan& plan) {
    if (plan.nic) action(plan);
  });
}

TEST(SoakPlan, SameSeedSamePlanOtherSeedOtherPlan) {
  const auto posts = [](uint64_t seed) {
    std::vector<uint64_t> numbers;
    for (const auto& round : make_plan(seed).rounds) {
      for (const PlannedPost& post : round) {
        numbers.insert(numbers.end(),
                       {post.after_cycles, post.node, post.request.bytes, post.request.dst_addr});
      }
    }
    return numbers;
  };
  EXPECT_EQ(posts(7), posts(7));
  EXPECT_NE(posts(7), posts(8));
}

TEST(SoakPlan, AnotherEngineLeavesTheNetworkAsItIs) {
  const Plan drawn = make_plan(3), other = make_plan(3, "w64");
  EXPECT_EQ(other.system.node.build.name, "w64");
  EXPECT_NE(drawn.system.node.build.name, "w64");
  EXPECT_EQ(drawn.system.faults.loss, other.system.faults.loss);
  EXPECT_EQ(drawn.incident.kind, other.incident.kind);
  EXPECT_THROW(make_plan(3, "w33"), BadInput);
}

TEST(SoakPlan, OlderEnginesAreDrawnWhenAskedFor) {
  std::map<rdma::Scheme, double> most_faults;
  std::set<std::string> engines;
  for (uint64_t seed = 1; seed <= plans; ++seed) {
    const Plan plan = make_plan(seed, std::string(older_engines));
    const fabric::Faults& faults = plan.system.faults;
    double& most = most_faults[plan.system.node.build.params.scheme];
    most = std::max(most, faults.loss + faults.corrupt + faults.duplicate + plan.header_errors.rate);
    engines.insert(plan.system.node.build.name);
  }
  EXPECT_EQ(engines, (std::set<std::string>{"rxcounter", "rxcounter_small", "txwindow", "txwindow_small"}));
  ASSERT_EQ(most_faults.size(), 2u);
  EXPECT_LT(most_faults[rdma::Scheme::receiver_counter], 0.01) << "each costs a whole transfer";
  EXPECT_GT(most_faults[rdma::Scheme::receiver_counter], 0.001);
  EXPECT_GT(most_faults[rdma::Scheme::sender_window], 0.2);
}

TEST(SoakPlan, ASenderThatWaitsForRoomHasMoreTime) {
  const Plan window = make_plan(3, "rxcounter_small"), sender = make_plan(3, "txwindow_small");
  const auto& setup = sender.setups[0];
  const uint64_t dead = uint64_t{setup.tx_dead + 1u} * setup.tick_cycles;
  EXPECT_GE(sender.bounds.give_up, (setup.max_retry + 1) * dead);
  EXPECT_LT(window.bounds.give_up, 4 * dead);
}

TEST(SoakPlan, EveryIncidentFieldEngineAndKindOfPostIsDrawn) {
  std::set<IncidentKind> incidents;
  std::map<bool, std::set<std::string_view>> fields;  // by "CRC mended"
  std::set<std::string> engines;
  std::set<Status> deserved;
  std::set<uint32_t> nodes;
  std::set<bool> modes;
  double least_loss = 1, most_loss = 0;
  for_plans([&](const Plan& plan) {
    incidents.insert(plan.incident.kind);
    if (plan.header_errors.rate > 0)
      fields[plan.header_errors.crc_mended].insert(plan.header_errors.field.name);
    engines.insert(plan.system.node.build.name);
    nodes.insert(plan.nodes());
    for (const auto& setup : plan.setups) modes.insert(setup.weft_mode);
    for (const auto& post : plan.rounds[0]) deserved.insert(post.deserved);
    least_loss = std::min(least_loss, plan.system.faults.loss);
    most_loss = std::max(most_loss, plan.system.faults.loss);
  });
  EXPECT_EQ(incidents.size(), incident_names.size());
  EXPECT_EQ(fields[false].size(), rdma::formats::fields.size());
  EXPECT_EQ(fields[true].size(), rdma::formats::fields.size() - 1) << "all but the CRC itself";
  EXPECT_GE(engines.size(), 3u);
  EXPECT_EQ(nodes, (std::set<uint32_t>{2, 3, 4}));
  EXPECT_EQ(modes.size(), 2u);
  EXPECT_EQ(deserved,
            (std::set<Status>{Status::ok, Status::bad_length, Status::misaligned, Status::bad_region,
                              Status::bad_key, Status::bad_node, Status::no_answer, Status::bad_address}));
  EXPECT_EQ(least_loss, 0);
  EXPECT_GT(most_loss, 0.15);
}

TEST(SoakPlan, TimersAreAsTheProgrammersGuideAsks) {
  for_all_plans([](const Plan& plan) {
    for (const auto& setup : plan.setups) {
      EXPECT_LT(setup.tx_dead, 1u << 13);
      EXPECT_GT(setup.tx_dead, asked_in_vain(setup));
      EXPECT_LT(setup.rx_timeout << setup.backoff, 1u << 13) << "else it doubles less often";
    }
    const uint64_t give_up = uint64_t{plan.setups[0].tx_dead} * plan.setups[0].tick_cycles;
    if (plan.incident.kind == IncidentKind::long_cut) {
      EXPECT_GT(plan.incident.cycles, give_up);
    } else if (plan.incident.kind == IncidentKind::short_cut || plan.incident.kind == IncidentKind::stall) {
      EXPECT_LT(plan.incident.cycles * 3, give_up);
    }
  });
}

TEST(SoakPlan, ANodeThatIsResetNumbersAnewOrWaits) {
  std::set<bool> both;
  for_all_plans([&](const Plan& plan) {
    const auto& incident = plan.incident;
    if (incident.kind != IncidentKind::reset) return;
    both.insert(incident.msgid_step > 0);
    const uint64_t contexts_life = uint64_t{asked_in_vain(plan.setups[0])} * plan.setups[0].tick_cycles;
    EXPECT_TRUE(incident.msgid_step > plan.rounds[0].size() || incident.cycles > contexts_life);
    EXPECT_FALSE(plan.header_errors.crc_mended && plan.header_errors.rate > 0);
  });
  EXPECT_EQ(both.size(), 2u);
}

TEST(SoakPlan, PacketsThatDoNotArriveStayBelowAFifth) {
  for_all_plans([](const Plan& plan) {
    EXPECT_LE(plan.system.faults.loss + plan.system.faults.corrupt + plan.header_errors.rate, 0.2 + 1e-9);
  });
}

TEST(SoakPlan, PlacesOfTransfersDoNotTouchAndTagsAreUnique) {
  for_plans([](const Plan& plan) {
    std::map<uint32_t, std::map<uint64_t, uint64_t>> sources, destinations;
    std::set<std::pair<uint32_t, uint16_t>> tags;
    for (const auto& round : plan.rounds) {
      for (const PlannedPost& post : round) {
        EXPECT_TRUE(tags.emplace(post.node, post.request.tag).second);
        if (post.deserved != Status::ok) continue;
        const auto& request = post.request;
        EXPECT_GE(request.dst_addr, plan.setups[0].regions.back().base);
        EXPECT_LE(request.dst_addr + request.bytes, plan.setups[0].regions.back().limit);
        EXPECT_TRUE(sources[post.node].emplace(request.src_addr, request.bytes).second);
        EXPECT_TRUE(destinations[request.node].emplace(request.dst_addr, request.bytes).second);
      }
    }
    for (const auto* memories : {&sources, &destinations}) {
      for (const auto& [node, places] : *memories) {
        uint64_t free_from = 0;
        for (const auto& [address, bytes] : places) {
          EXPECT_GT(address, free_from) << "no room in between";
          free_from = address + bytes;
        }
      }
    }
  });
}

TEST(SoakPlan, TheDeadPostNothingAfterwardsAndAnswerNobody) {
  uint64_t to_the_dead = 0;
  for_all_plans([&](const Plan& plan) {
    if (plan.incident.kind != IncidentKind::death) return;
    for (const PlannedPost& post : plan.rounds[1]) {
      EXPECT_NE(post.node, plan.incident.node);
      if (post.request.node != plan.incident.node) continue;
      EXPECT_NE(post.deserved, Status::ok);
      to_the_dead += post.deserved == Status::no_answer;
    }
  });
  EXPECT_GT(to_the_dead, 0u);
}

TEST(SoakPlan, AThirdIsOfNicsThatDrawEveryIncidentRequestAndFault) {
  uint64_t count = 0;
  std::set<IncidentKind> incidents;
  std::set<std::string> builds;
  std::set<uint8_t> opcodes;
  std::set<std::string> deserved;
  bool by_registers = false, sleeps = false;
  for_nic_plans([&](const Plan& plan) {
    ++count;
    incidents.insert(plan.incident.kind);
    builds.insert(plan.system.node.build.name);
    sleeps = sleeps || plan.nic->queues[0][0].sleeps;
    for (const PlannedPost& post : plan.rounds[0]) {
      by_registers = by_registers || !post.ring;
      if (post.ring) opcodes.insert(post.ring->entry.opcode);
      deserved.insert(status_name(post.deserved));
    }
    EXPECT_FALSE(plan.header_errors.crc_mended);
  });
  EXPECT_NEAR(static_cast<double>(count) / plans, 1.0 / 3, 0.1);
  EXPECT_EQ(incidents.size(), incident_names.size());
  EXPECT_EQ(builds, (std::set<std::string>{"nic_full", "nic_wide"}));
  EXPECT_TRUE(by_registers && sleeps);
  for (const uint8_t opcode : {1, 2, 3, 4}) EXPECT_TRUE(opcodes.contains(opcode)) << int{opcode};
  EXPECT_EQ(deserved, (std::set<std::string>{"OK", "BAD_OPCODE", "BAD_ENTRY", "LOCAL_KEY", "LOCAL_REGION",
                                             "BAD_LENGTH", "MISALIGNED", "BAD_NODE", "NO_ANSWER", "BAD_KEY",
                                             "TOO_LONG", "BAD_REGION", "BAD_ADDRESS", "BAD_BUFFER"}));
}

/// So that neither buffers nor READs can want for a ticket.
TEST(SoakPlan, BuffersOfNicsLeaveATicketForReads) {
  for_nic_plans([](const Plan& plan) {
    const auto queues = static_cast<uint32_t>(plan.nic->queues[0].size());
    EXPECT_LT(plan.nic->buffers * queues, plan.system.node.build.params.n_tickets);
    EXPECT_LE(plan.setups[0].regions.size(), plan.system.node.build.params.n_regions);
  });
}

TEST(SoakPlan, PlacesOfNicsDoNotTouchAndLieInTheirRegions) {
  for_nic_plans([](const Plan& plan) {
    std::map<std::pair<uint32_t, uint64_t>, uint64_t> places;  // by node and address
    for (const auto& round : plan.rounds) {
      for (const PlannedPost& post : round) {
        if (!post.ring || post.deserved != Status::ok) continue;
        const auto& entry = post.ring->entry;
        const auto& region = plan.setups[post.node].regions.at(entry.local_key >> 16);
        EXPECT_EQ(region.owner, plan.nic->queues[post.node][post.ring->queue].setup.owner);
        EXPECT_GE(entry.local_addr, region.base);
        EXPECT_LE(entry.local_addr + entry.bytes, region.limit);
        EXPECT_TRUE(places.insert({{post.node, entry.local_addr}, entry.bytes}).second);
        if (entry.remote_addr != 0) {
          EXPECT_TRUE(places.insert({{entry.node, entry.remote_addr}, entry.bytes}).second);
        }
      }
    }
    for (auto place = places.begin(); place != places.end(); ++place) {
      const auto next = std::next(place);
      if (next == places.end() || next->first.first != place->first.first) continue;
      EXPECT_GT(next->first.second, place->first.second + place->second) << "no room in between";
    }
  });
}

}  // namespace
}  // namespace weft::sim

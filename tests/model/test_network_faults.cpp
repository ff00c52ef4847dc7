// SPDX-License-Identifier: Apache-2.0
// Each fault of the network model alone: how often it strikes, what it does to the packet, and that it does
// nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "network_traffic.hpp"

namespace weft::fabric::test {
namespace {

constexpr uint64_t packets = 20'000;
constexpr std::array<uint64_t, 3> seeds{1, 0x5eed, 0xffff'ffff'ffff'ffff};

/// Whether `hits` of `packets` fit the probability: six standard deviations never fail by chance.
void expect_rate(uint64_t hits, double probability) {
  const double expected = probability * packets;
  const double deviation = std::sqrt(expected * (1 - probability));
  EXPECT_NEAR(static_cast<double>(hits), expected, 6 * deviation + 1e-9);
}

void expect_only(const NetworkCounters& counters, uint64_t NetworkCounters::*the_one) {
  for (const auto fault :
       {&NetworkCounters::lost, &NetworkCounters::duplicated, &NetworkCounters::corrupted,
        &NetworkCounters::reordered, &NetworkCounters::misrouted, &NetworkCounters::cut_off}) {
    if (fault == the_one) continue;
    EXPECT_EQ(counters.*fault, 0u);
  }
}

/// Who sends is told what the counters count.
TEST(NetworkFates, AreThoseThatAreCounted) {
  Faults faults;
  faults.loss = faults.duplicate = faults.corrupt = faults.reorder = 0.3;
  faults.reorder_degree = 3;
  Network network(2, faults, 7);
  NetworkCounters told;
  network.cut(1, 0);
  for (uint64_t n = 0; n < 1000; ++n) {
    const Fate fate = network.send(n % 5 == 0, n % 5 == 0 ? 0 : 1, 0, Bytes(32));
    (n % 5 == 0 ? told.cut_off : told.lost) += fate.lost;
    told.duplicated += fate.duplicated;
    told.corrupted += fate.corrupted;
    told.reordered += fate.held_back;
    network.tick();
  }
  const NetworkCounters counted = network.counters();
  EXPECT_EQ(told.cut_off, 200u);
  for (const auto fault : {&NetworkCounters::lost, &NetworkCounters::duplicated, &NetworkCounters::corrupted,
                           &NetworkCounters::reordered, &NetworkCounters::cut_off}) {
    EXPECT_GT(counted.*fault, 0u);
    EXPECT_EQ(told.*fault, counted.*fault);
  }
}

class NetworkFault : public testing::TestWithParam<uint64_t> {
 protected:
  std::vector<Arrival> send_one_flow(const Faults& faults, uint64_t count = packets) {
    Network network(2, faults, GetParam());
    auto arrivals = run(one_flow(count), 2, faults, network);
    counters_ = network.counters();
    return arrivals;
  }

  NetworkCounters counters_;
  testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(GetParam())};
};

TEST_P(NetworkFault, LossTakesPacketsAndLeavesTheOthersInOrder) {
  for (const double probability : {0.0, 0.01, 0.3, 1.0}) {
    const auto arrivals = send_one_flow({.loss = probability});
    expect_rate(counters_.lost, probability);
    expect_only(counters_, &NetworkCounters::lost);
    EXPECT_EQ(arrivals.size(), packets - counters_.lost);
    uint64_t next = 0;
    for (const Arrival& arrival : arrivals) {
      const Label label = arrival.label();
      ASSERT_GE(label.number, next);
      ASSERT_EQ(arrival.packet, to_packet(label));
      next = label.number + 1;
    }
  }
}

TEST_P(NetworkFault, DuplicatesAreEqualAndComeAfterTheirOriginals) {
  const Faults faults{.duplicate = 0.2, .duplicate_lag = 50};
  uint64_t next = 0;
  uint64_t most_lag = 0;
  std::map<uint64_t, uint64_t> first;  // cycle of the original, by number
  std::set<uint64_t> twice;
  for (const Arrival& arrival : send_one_flow(faults)) {
    const Label label = arrival.label();
    ASSERT_EQ(arrival.packet, to_packet(label));
    if (first.try_emplace(label.number, arrival.cycle).second) {
      EXPECT_EQ(label.number, next++) << "originals stay in order";
      continue;
    }
    EXPECT_TRUE(twice.insert(label.number).second) << "packet " << label.number << " came three times";
    const uint64_t lag = arrival.cycle - first[label.number];
    EXPECT_GE(lag, 1u);
    EXPECT_LE(lag, faults.duplicate_lag);
    most_lag = std::max(most_lag, lag);
  }
  EXPECT_EQ(next, packets);
  EXPECT_EQ(twice.size(), counters_.duplicated);
  EXPECT_EQ(most_lag, faults.duplicate_lag);
  expect_rate(counters_.duplicated, faults.duplicate);
  expect_only(counters_, &NetworkCounters::duplicated);
}

TEST_P(NetworkFault, CopyOfALostPacketStillComes) {
  EXPECT_EQ(send_one_flow({.loss = 1, .duplicate = 1}, 100).size(), 100u);
  EXPECT_EQ(counters_.lost, 100u);
}

TEST_P(NetworkFault, CorruptionFlipsOneToThreeBitsAnywhere) {
  const Faults faults{.corrupt = 0.5};
  const auto arrivals = send_one_flow(faults);
  ASSERT_EQ(arrivals.size(), packets);
  std::array<uint64_t, 4> with_flips{};
  std::array<uint64_t, packet_bytes * 8> flips_at{};
  for (uint64_t i = 0; i < packets; ++i) {  // in order, so that the number need not be read
    const Bytes original = to_packet({i, 7, 0, 1});
    ASSERT_EQ(arrivals[i].packet.size(), original.size());
    uint32_t flips = 0;
    for (uint64_t bit = 0; bit < packet_bytes * 8; ++bit) {
      const bool differs = ((original[bit / 8] ^ arrivals[i].packet[bit / 8]) >> (bit % 8) & 1) != 0;
      flips += differs;
      flips_at[bit] += differs;
    }
    ASSERT_LE(flips, 3u);
    with_flips[flips]++;
  }
  EXPECT_EQ(packets - with_flips[0], counters_.corrupted) << "a corrupted packet always differs";
  expect_rate(counters_.corrupted, faults.corrupt);
  for (uint32_t flips = 1; flips <= 3; ++flips) expect_rate(with_flips[flips], faults.corrupt / 3);
  EXPECT_GT(*std::ranges::min_element(flips_at), 0u) << "a bit that is never hit";
  expect_only(counters_, &NetworkCounters::corrupted);
}

TEST_P(NetworkFault, CorruptionSparesTheCopy) {
  uint64_t unharmed = 0;
  for (const Arrival& arrival : send_one_flow({.duplicate = 1, .corrupt = 1}, 1000)) {
    const uint64_t number = arrival.label().number;
    unharmed += number < 1000 && arrival.packet == to_packet({number, 7, 0, 1});
  }
  EXPECT_EQ(unharmed, 1000u);
  EXPECT_EQ(counters_.corrupted, 1000u);
}

TEST_P(NetworkFault, CorruptionOfShortPackets) {
  Network network(1, {.corrupt = 1, .delay = 1}, GetParam());
  for (uint32_t i = 0; i < 500; ++i) {
    network.send(0, 0, 0, {0xa5});
    network.send(0, 0, 1, {});
    network.tick();
    const int flips = std::popcount(static_cast<uint32_t>(network.receive(0).value().at(0) ^ 0xa5));
    EXPECT_GE(flips, 1);
    EXPECT_LE(flips, 3);
    EXPECT_EQ(network.receive(0), Bytes{}) << "nothing in it that could be wrong";
  }
  EXPECT_EQ(network.counters().corrupted, 500u);
}

/// Number of packets sent later that arrived earlier, by packet; 0 for those that never arrive.
std::vector<uint64_t> overtakers(const std::vector<Arrival>& arrivals) {
  std::vector<uint64_t> result(packets, 0);
  std::set<uint64_t> missing;
  for (const Arrival& arrival : arrivals) missing.insert(arrival.label().number);
  for (const Arrival& arrival : arrivals) {
    const uint64_t number = arrival.label().number;
    missing.erase(number);
    for (auto older = missing.begin(); older != missing.end() && *older < number; ++older) result[*older]++;
  }
  return result;
}

TEST_P(NetworkFault, ReorderingReachesItsDegreeAndNeverPassesIt) {
  for (const uint32_t degree : {1u, 2u, 8u, 100u}) {
    for (const double probability : {0.02, 0.1, 0.5}) {
      // A limit that is never reached, so that only the degree lets packets go.
      const Faults faults{.reorder_degree = degree, .reorder = probability, .hold_limit = 2 * packets};
      const auto arrivals = send_one_flow(faults);
      ASSERT_EQ(arrivals.size(), packets);
      const auto distances = overtakers(arrivals);
      EXPECT_EQ(*std::ranges::max_element(distances), degree) << "probability " << probability;
      EXPECT_LE(std::ranges::count_if(distances, [](uint64_t distance) { return distance > 0; }),
                counters_.reordered)
          << "only those held back are overtaken";
      expect_rate(counters_.reordered, probability);
      expect_only(counters_, &NetworkCounters::reordered);
      for (const Arrival& arrival : arrivals) ASSERT_EQ(arrival.packet, to_packet(arrival.label()));
    }
  }
}

TEST_P(NetworkFault, ReorderingNeverPassesItsDegreeWhateverElseHappens) {
  const Faults faults{.loss = 0.1, .reorder_degree = 12, .reorder = 0.4, .jitter = 30, .hold_limit = 18};
  const auto distances = overtakers(send_one_flow(faults));
  EXPECT_LE(*std::ranges::max_element(distances), faults.reorder_degree);
  EXPECT_GT(*std::ranges::max_element(distances), faults.reorder_degree / 2);
}

/// Each for a time of its own, whoever passes it meanwhile; all others stay in order.
TEST_P(NetworkFault, DetoursTakeUpToSoManyCyclesMore) {
  const Faults faults{.detour = 50, .reorder = 0.1, .delay = 7};
  const auto arrivals = send_one_flow(faults);
  ASSERT_EQ(arrivals.size(), packets);
  std::map<uint64_t, unsigned> extra;
  for (const Arrival& arrival : arrivals) extra[arrival.cycle - arrival.label().number - faults.delay]++;
  EXPECT_EQ(packets - extra[0], counters_.reordered);
  EXPECT_EQ(extra.size(), faults.detour + 1u) << "any number of cycles";
  EXPECT_EQ(extra.rbegin()->first, faults.detour);
  expect_rate(counters_.reordered, faults.reorder);
  expect_only(counters_, &NetworkCounters::reordered);
}

TEST_P(NetworkFault, JitterSpreadsTheDelayButKeepsAFlowInOrder) {
  const Faults faults{.delay = 30, .jitter = 9};
  std::set<uint64_t> times;
  uint64_t next = 0;
  for (const Arrival& arrival : send_one_flow(faults)) {
    EXPECT_EQ(arrival.label().number, next++);
    times.insert(arrival.cycle - arrival.label().number);
  }
  EXPECT_EQ(*times.begin(), faults.delay);
  EXPECT_EQ(*times.rbegin(), faults.delay + faults.jitter);
  expect_only(counters_, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Seeds, NetworkFault, testing::ValuesIn(seeds));

TEST(NetworkHold, EndsAfterTheLimitWhenNothingFollows) {
  const Faults faults{.reorder_degree = 3, .reorder = 1, .delay = 5, .hold_limit = 40};
  Network network(2, faults, 1);
  const auto arrivals = run(one_flow(1), 2, faults, network);
  ASSERT_EQ(arrivals.size(), 1u);
  EXPECT_EQ(arrivals[0].cycle, faults.hold_limit + 1u);
}

// A packet that was held back has come no shorter a way than the others.
TEST(NetworkHold, NeverShortensTheDelay) {
  const Faults faults{.reorder_degree = 1, .reorder = 1, .delay = 100, .hold_limit = 3};
  Network network(2, faults, 1);
  const auto arrivals = run(one_flow(1), 2, faults, network);
  ASSERT_EQ(arrivals.size(), 1u);
  EXPECT_EQ(arrivals[0].cycle, faults.delay);
}

TEST(NetworkHold, EndsWhenTheNextPacketIsLost) {
  const Faults faults{.reorder_degree = 1, .reorder = 1, .delay = 100, .hold_limit = 1000};
  Network network(2, faults, 1);
  network.send(0, 1, 7, {1});
  network.set_faults({.loss = 1});
  network.send(0, 1, 7, {2});
  std::vector<Arrival> arrivals;
  drain(network, 2, faults, arrivals);
  EXPECT_EQ(arrivals, (std::vector<Arrival>{{faults.delay, 1, {1}}}));
}

/// Numbers of the packets that have come out.
std::set<uint64_t> numbers(const std::vector<Arrival>& arrivals) {
  std::set<uint64_t> found;
  for (const Arrival& arrival : arrivals) found.insert(arrival.label().number);
  return found;
}

TEST(NetworkCut, StopsOneDirectionAndNothingElse) {
  const Faults faults;
  Network network(3, faults, 1);
  network.cut(0, 1);
  const auto labels = many_flows(3000, 3, 3);
  const auto arrivals = run(labels, 3, faults, network);
  const auto found = numbers(arrivals);
  uint64_t crossing = 0;
  for (const Label& label : labels) {
    const bool crosses = label.from == 0 && label.to == 1;
    EXPECT_EQ(found.contains(label.number), !crosses) << "from " << label.from << " to " << label.to;
    crossing += crosses;
  }
  EXPECT_GT(crossing, 0u);
  EXPECT_EQ(network.counters().cut_off, crossing);
  expect_only(network.counters(), &NetworkCounters::cut_off);
}

TEST(NetworkCut, LetsArriveWhatIsUnderWayAndWhatIsSentAfterHealing) {
  const Faults faults{.delay = 50};
  Network network(2, faults, 1);
  std::vector<Arrival> arrivals;
  for (const Label& label : one_flow(3)) {
    if (label.number == 1) network.cut(0, 1);
    if (label.number == 2) network.heal(0, 1);
    network.send(0, 1, 7, to_packet(label));
    collect(network, 2, arrivals);
  }
  drain(network, 2, faults, arrivals);
  EXPECT_EQ(numbers(arrivals), (std::set<uint64_t>{0, 2}));
}

TEST(NetworkCut, NoCopyGetsThrough) {
  const Faults faults{.duplicate = 1};
  Network network(2, faults, 1);
  network.cut(0, 1);
  EXPECT_TRUE(run(one_flow(100), 2, faults, network).empty());
  EXPECT_EQ(network.counters().duplicated, 0u);
}

TEST(NetworkCut, LeavesTheFatesOfOtherPacketsWhereTheyWere) {
  const Faults faults{.loss = 0.2, .duplicate = 0.2, .reorder_degree = 4, .jitter = 30};
  const auto labels = many_flows(3000, 3, 3);
  const auto of_others = [&](bool with_cut) {
    Network network(3, faults, 1);
    if (with_cut) network.cut(0, 1);
    auto arrivals = run(labels, 3, faults, network);
    std::erase_if(arrivals,
                  [](const Arrival& each) { return each.label().from == 0 && each.label().to == 1; });
    return arrivals;
  };
  EXPECT_EQ(of_others(true), of_others(false));
}

TEST(NetworkCut, PassesWhatIsHeldBack) {
  const Faults faults{.reorder_degree = 1, .reorder = 1, .hold_limit = 10'000};
  Network network(2, faults, 1);
  network.send(0, 1, 7, to_packet({0, 7, 0, 1}));
  network.cut(0, 1);
  network.send(0, 1, 7, to_packet({1, 7, 0, 1}));
  std::vector<Arrival> arrivals;
  drain(network, 2, faults, arrivals);
  ASSERT_EQ(numbers(arrivals), (std::set<uint64_t>{0}));
  EXPECT_LT(arrivals.front().cycle, 1000u);
}

TEST(NetworkCut, OfALinkThatDoesNotExistIsRefused) {
  Network network(2, {}, 1);
  EXPECT_THROW(network.cut(0, 2), std::invalid_argument);
  EXPECT_THROW(network.heal(2, 0), std::invalid_argument);
}

}  // namespace
}  // namespace weft::fabric::test

// SPDX-License-Identifier: Apache-2.0
// The network model cut into parts: the same result for any cut, any order of steps and any number of
// threads, as parts exchange nothing but mail of at least a clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "fabric/mail.hpp"
#include "network_cuts.hpp"

namespace weft::fabric::test {
namespace {

class NetworkInParts : public testing::TestWithParam<Kind> {};

/// Of one node to all of them, in any order and with any numbers.
std::vector<Part> any_cut(RandomStream& random) {
  std::vector<Part> parts;
  for (uint32_t first = 0; first < cut_nodes;) {
    const auto behind = static_cast<uint32_t>(first + 1 + random.below(cut_nodes - first));
    parts.push_back({0, first, behind});
    first = behind;
  }
  const auto shuffle = [&] {
    for (size_t left = parts.size(); left > 1; --left) std::swap(parts[left - 1], parts[random.below(left)]);
  };
  shuffle();
  for (uint32_t number = 0; number < parts.size(); ++number) parts[number].number = number;
  shuffle();
  return parts;
}

TEST_P(NetworkInParts, AnyCutInAnyOrderIsAsWhole) {
  const auto whole = run_whole(GetParam());
  ASSERT_GT(std::get<NetworkCounters>(whole).delivered, 5'000u);
  for (const uint64_t seed : {1, 2, 3}) {
    RandomStream random(seed);
    CutTraffic traffic(GetParam());
    std::vector<Part> parts = any_cut(random);
    while (traffic.goes_on()) {
      if (random.chance(0.1)) parts = any_cut(random);
      for (const Part& part : parts) {
        for (uint32_t node = part.behind; node-- > part.first;) traffic.act(node);
        traffic.network().step(part);
      }
      traffic.network().advance();
      traffic.change();
    }
    EXPECT_EQ(traffic.seen(), whole) << "seed " << seed;
  }
}

TEST_P(NetworkInParts, AnyThreadsAreAsWhole) {
  const auto whole = run_whole(GetParam());
  for (const uint32_t threads : {1u, 2u, 3u, 4u}) {
    CutTraffic traffic(GetParam());
    const auto step = [&](const Part& part) {
      for (uint32_t node = part.first; node < part.behind; ++node) traffic.act(node);
      traffic.network().step(part);
    };
    run_in_parts(cut_nodes, threads, step, [&] {
      traffic.network().advance();
      traffic.change();
      return traffic.goes_on();
    });
    EXPECT_EQ(traffic.seen(), whole) << threads << " threads";
  }
}

std::string name_of(const testing::TestParamInfo<Kind>& kind) {
  constexpr std::array names{"Ideal", "Detours", "Order", "Adaptive", "Carrier"};
  return names.at(static_cast<size_t>(kind.param));
}

INSTANTIATE_TEST_SUITE_P(Kinds, NetworkInParts,
                         testing::Values(Kind::ideal, Kind::detours, Kind::dimension_order, Kind::adaptive,
                                         Kind::carrier),
                         name_of);

/// With a delay of one clock and whichever part is stepped first: nothing is there in the clock in which it
/// was sent, all in the next.
TEST(NetworkParts, WhatIsSentIsNowhereInTheSameClock) {
  const std::array<Part, 2> parts{Part{0, 0, 1}, Part{1, 1, 2}};
  for (const uint32_t first : {0u, 1u}) {
    const uint32_t second = 1 - first;
    Network network(2, {.delay = 1}, 1);
    for (uint8_t clock = 0; clock < 10; ++clock) {
      const auto sent = [&](uint32_t from) { return Bytes{static_cast<uint8_t>(from), clock}; };
      network.send(first, second, 0, sent(first));
      network.step(parts[first]);
      EXPECT_EQ(network.receive(second), std::nullopt) << "of a part that is still to be stepped";
      network.send(second, first, 0, sent(second));
      network.step(parts[second]);
      for (const uint32_t node : {0u, 1u}) EXPECT_EQ(network.receive(node), std::nullopt);
      network.advance();
      for (const uint32_t node : {0u, 1u}) EXPECT_EQ(network.receive(node), sent(1 - node));
    }
  }
}

/// Packets that are due in the same clock come by the clock in which they took off, those that were held back
/// until then behind those that were sent in it, then by sender.
TEST(NetworkParts, OverduePacketsComeBehindThoseSentInTheSameClock) {
  Network network(3, {.reorder_degree = 5, .reorder = 1, .delay = 1, .hold_limit = 10}, 1);
  const auto send_both = [&](uint8_t what) {
    for (uint8_t from : {1, 0}) network.send(from, 2, what, {what, from});
  };
  send_both('h');
  while (network.now() < 9) network.tick();
  network.set_faults({.delay = 2});
  send_both('a');
  network.tick();
  network.set_faults({.delay = 1});
  send_both('b');
  network.tick();
  std::vector<Bytes> came;
  while (const auto packet = network.receive(2)) came.push_back(*packet);
  const std::vector<Bytes> expected{{'a', 0}, {'a', 1}, {'h', 0}, {'h', 1}, {'b', 0}, {'b', 1}};
  EXPECT_EQ(came, expected);
}

TEST(NetworkParts, PartBeyondTheLastIsRefused) {
  Network network(2, {.delay = 1}, 1);
  network.send(0, 1, 0, {1});
  EXPECT_THROW(network.step({2, 0, 2}), std::out_of_range);
}

std::vector<int> taken(Mail<int>& mail, uint32_t receiver) {
  std::vector<int> all;
  mail.take(receiver, [&](int message) { all.push_back(message); });
  std::ranges::sort(all);
  return all;
}

TEST(Mail, IsTakenOnceInTheNextClockByItsReceiver) {
  Mail<int> mail(3, 4);
  for (int clock = 0; clock < 10; ++clock) {
    mail.post(3, 1, clock);
    mail.post(0, 1, 100 + clock);
    mail.post(3, 2, 200 + clock);
    for (const uint32_t receiver : {0u, 1u, 2u}) EXPECT_EQ(taken(mail, receiver), std::vector<int>{});
    mail.advance();
    EXPECT_EQ(taken(mail, 0), std::vector<int>{});
    EXPECT_EQ(taken(mail, 1), (std::vector<int>{clock, 100 + clock}));
    EXPECT_EQ(taken(mail, 1), std::vector<int>{});
    EXPECT_EQ(taken(mail, 2), (std::vector<int>{200 + clock}));
  }
  EXPECT_THROW(mail.post(4, 0, 1), std::out_of_range);
}

TEST(Mail, ClearForgetsAll) {
  Mail<int> mail(1, 1);
  mail.post(0, 0, 1);
  mail.advance();
  mail.post(0, 0, 2);
  mail.clear();
  EXPECT_EQ(taken(mail, 0), std::vector<int>{});
  mail.advance();
  EXPECT_EQ(taken(mail, 0), std::vector<int>{});
}

}  // namespace
}  // namespace weft::fabric::test

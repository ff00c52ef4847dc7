// SPDX-License-Identifier: Apache-2.0
// Network of routers: latencies to the clock, nothing lost under any load.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "fabric/torus.hpp"
#include "fabric/traffic.hpp"

namespace weft::fabric {
namespace {

/// Clocks from the one in which a lone packet is handed over to its last flit.
uint64_t latency_of_one(const TorusConfig& config, uint32_t from, uint32_t to, uint32_t flits) {
  Torus torus(config, 1);
  torus.send(from, to, flits, 77);
  while (!torus.arrived(to) && torus.now() < 100'000) torus.tick();
  EXPECT_EQ(torus.arrived(to), 77u);
  EXPECT_EQ(torus.flit_hops(), uint64_t{flits} * torus.geometry().hops(from, to));
  return torus.now() - 1;
}

/// Two to the router, two until it has the switch there, three to the node; 4 + link for each router more
/// (docs/fabric.md).
TEST(Torus, LonePacketTakesWhatThePageSays) {
  for (const auto algorithm : {Algorithm::dimension_order, Algorithm::minimal_adaptive}) {
    for (const uint32_t link : {1u, 2u, 7u, 100u}) {
      TorusConfig config;
      config.algorithm = algorithm;
      config.link_clocks = link;
      config.buffer_flits = 255;
      const Geometry geometry(config.sizes, true);
      for (const uint32_t to : {0u, 1u, 2u, 21u, 42u, 63u}) {
        for (const uint32_t flits : {1u, 2u, 9u, 64u}) {
          EXPECT_EQ(latency_of_one(config, 0, to, flits), 7 + geometry.hops(0, to) * (4 + link) + flits - 1);
        }
      }
    }
  }
}

/// A buffer of fewer flits than a round of credit takes lets so many pass in a round: 3 + 2 link clocks.
TEST(Torus, CreditsBoundALongLink) {
  TorusConfig config;
  config.sizes = {4, 1, 1};
  config.link_clocks = 30;
  config.buffer_flits = 9;
  const uint64_t one = latency_of_one(config, 0, 1, 9), ten = latency_of_one(config, 0, 1, 90);
  EXPECT_EQ(ten - one, 9u * 63);
}

class Loaded : public testing::TestWithParam<std::tuple<bool, Algorithm, uint32_t>> {
 protected:
  TorusConfig config() const {
    TorusConfig config;
    config.sizes = {4, 3, 2};
    config.joined = std::get<0>(GetParam());
    config.algorithm = std::get<1>(GetParam());
    config.channels = 3 + std::get<2>(GetParam()) % 3;
    config.buffer_flits = 1 + std::get<2>(GetParam());
    return config;
  }
};

/// More than it can carry, in packets of all lengths, and what became of each.
class Overload {
 public:
  explicit Overload(Torus& torus) : torus_(torus) {}

  void run(int clocks) {
    for (int clock = 0; clock < clocks; ++clock) {
      for (uint32_t node = 0; node < torus_.geometry().nodes(); ++node) {
        if (random_.chance(0.2)) send(node);
      }
      tick();
    }
  }
  void run_until_empty() {
    for (int clock = 0; clock < 200'000 && !torus_.empty(); ++clock) tick();
    EXPECT_TRUE(torus_.empty()) << "deadlock";
  }
  size_t sent() const { return to_.size(); }
  size_t arrived() const { return sent() - lost_; }
  size_t lost() const { return lost_; }
  void expect_each_once() const { EXPECT_EQ(ends_, std::vector<int>(sent(), 1)); }

 private:
  void send(uint32_t node) {
    const auto target = static_cast<uint32_t>(random_.below(torus_.geometry().nodes()));
    torus_.send(node, target, 1 + static_cast<uint32_t>(random_.below(random_.chance(0.1) ? 40 : 4)),
                static_cast<uint32_t>(sent()));
    to_.push_back(target);
    ends_.push_back(0);
  }
  void tick() {
    torus_.tick();
    for (uint32_t node = 0; node < torus_.geometry().nodes(); ++node) {
      if (const auto handle = torus_.arrived(node)) {
        ends_[*handle]++;
        EXPECT_EQ(node, to_[*handle]);
      }
      for (const Flit& flit : torus_.lost(node)) {
        ends_[flit.handle]++;
        ++lost_;
      }
    }
  }

  Torus& torus_;
  RandomStream random_{4};
  std::vector<uint32_t> to_;
  std::vector<int> ends_;
  size_t lost_ = 0;
};

/// With small buffers as well: everything arrives where it shall, once, and the network is empty then.
TEST_P(Loaded, EverythingArrivesOnce) {
  Torus torus(config(), 3);
  Overload load(torus);
  load.run(4'000);
  load.run_until_empty();
  load.expect_each_once();
  EXPECT_EQ(load.lost(), 0u);
}

/// Links lose packets, are cut and healed: each packet arrives or is lost, whole, and what is not lost of its
/// flits comes out.
TEST_P(Loaded, FaultsOfLinksStrikeWholePackets) {
  TorusConfig lossy = config();
  lossy.link_loss = 0.02;
  Torus torus(lossy, 3);
  Overload load(torus);
  RandomStream random(5);
  for (int round = 0; round < 40; ++round) {
    for (uint32_t node = 0; node < torus.geometry().nodes(); ++node) {
      for (uint32_t port = 0; port < local_port; ++port) {
        if (torus.geometry().has_link(node, port)) torus.set_cut(node, port, random.chance(0.1));
      }
    }
    load.run(100);
  }
  load.run_until_empty();
  load.expect_each_once();
  EXPECT_GT(load.lost(), load.sent() / 100);
  EXPECT_GT(load.arrived(), load.sent() / 2);
}

INSTANTIATE_TEST_SUITE_P(Networks, Loaded,
                         testing::Combine(testing::Bool(),
                                          testing::Values(Algorithm::dimension_order,
                                                          Algorithm::minimal_adaptive),
                                          testing::Values(0u, 1u, 2u, 7u)));

/// Where streams meet each gets its share.
TEST(Torus, InputsShareAnOutput) {
  TorusConfig config;
  config.sizes = {3, 3, 1};
  config.joined = false;
  Torus torus(config, 1);
  std::vector<uint32_t> arrived(9);
  for (const uint32_t from : {1u, 3u, 5u, 7u}) {  // around the middle, node 4
    for (int i = 0; i < 4'000; ++i) torus.send(from, 4, 1, from);
  }
  for (int clock = 0; clock < 4'000; ++clock) {
    torus.tick();
    if (const auto handle = torus.arrived(4)) arrived[*handle]++;
  }
  for (const uint32_t from : {1u, 3u, 5u, 7u}) EXPECT_NEAR(arrived[from], 1000, 50);
}

/// A mesh in which one packet after the other goes from one end of a row to the other.
class Row {
 public:
  explicit Row(const TorusConfig& config) : torus_(config, 7) {}
  Torus& torus() { return torus_; }
  /// Which of these arrive; the others are lost.
  std::vector<uint32_t> arrive_of(uint32_t packets) {
    std::vector<uint32_t> arrived;
    size_t lost = 0;
    for (uint32_t i = 0; i < packets; ++i) torus_.send(0, 3, 2, i);
    for (int clock = 0; clock < 1'000'000 && !torus_.empty(); ++clock) {
      torus_.tick();
      if (const auto handle = torus_.arrived(3)) arrived.push_back(*handle);
      for (uint32_t node = 0; node < torus_.geometry().nodes(); ++node) lost += torus_.lost(node).size();
    }
    EXPECT_EQ(arrived.size() + lost, packets);
    return arrived;
  }

 private:
  Torus torus_;
};

/// Three links, each of which loses a tenth.
TEST(Torus, LossIsThatOfEachLink) {
  Row row({.sizes = {4, 1, 1}, .joined = false, .link_loss = 0.1});
  EXPECT_NEAR(static_cast<double>(row.arrive_of(20'000).size()) / 20'000, 0.9 * 0.9 * 0.9, 0.01);
}

TEST(Torus, CutLinkLosesAllUntilItHeals) {
  Row row({.sizes = {4, 1, 1}, .joined = false});
  EXPECT_EQ(row.arrive_of(100).size(), 100u);
  row.torus().set_cut(1, 0, true);
  EXPECT_EQ(row.arrive_of(100).size(), 0u);
  row.torus().set_cut(1, 0, false);
  row.torus().set_cut(1, 1, true);  // not on this way
  EXPECT_EQ(row.arrive_of(100).size(), 100u);
}

/// Behind a cut the link loses those that it would have lost without.
TEST(Torus, CutLinkDrawsItsLossesAllTheSame) {
  const TorusConfig config{.sizes = {4, 1, 1}, .joined = false, .link_loss = 0.1};
  Row whole(config), cut(config);
  EXPECT_EQ(whole.arrive_of(100), cut.arrive_of(100));
  cut.torus().set_cut(2, 0, true);
  EXPECT_GT(whole.arrive_of(100).size(), cut.arrive_of(100).size());
  cut.torus().set_cut(2, 0, false);
  EXPECT_EQ(whole.arrive_of(1'000), cut.arrive_of(1'000));
}

/// There is another shortest way, and it is taken.
TEST(Torus, AdaptiveWaysGoRoundACutLink) {
  TorusConfig config{.sizes = {4, 4, 1}, .joined = false, .algorithm = Algorithm::minimal_adaptive};
  Torus torus(config, 7);
  torus.set_cut(0, 0, true);  // from 0 to 1
  uint32_t arrived = 0;
  for (uint32_t i = 0; i < 100; ++i) torus.send(0, 15, 3, i);
  for (int clock = 0; clock < 10'000; ++clock) {
    torus.tick();
    arrived += torus.arrived(15).has_value();
  }
  EXPECT_EQ(arrived, 100u) << "packets wait for a way that is not cut";
}

using Summary = std::tuple<double, uint64_t, uint64_t, uint64_t, uint64_t, double>;

Summary summary_of(uint64_t seed, Algorithm algorithm, uint32_t threads) {
  Torus torus({.sizes = {4, 3, 5}, .algorithm = algorithm, .link_loss = 0.001}, seed);
  const Measured measured = measure(torus, {.flits = 0.5, .packet_flits = 5, .clocks = 2'000}, seed, threads);
  return {measured.latency,     measured.packets,    measured.flit_hops,
          measured.latency_max, measured.lost_flits, measured.accepted_flits};
}

TEST(Torus, SameSeedSameResultWithAnyNumberOfThreads) {
  for (const auto algorithm : {Algorithm::dimension_order, Algorithm::minimal_adaptive}) {
    const Summary one = summary_of(1, algorithm, 1);
    EXPECT_NE(one, summary_of(2, algorithm, 1));
    for (const uint32_t threads : {1u, 2u, 3u, 7u}) EXPECT_EQ(one, summary_of(1, algorithm, threads));
  }
}

/// Parts of any sizes, one after the other in any order.
TEST(Torus, OrderOfPartsChangesNothing) {
  const auto run = [](const std::vector<std::pair<uint32_t, uint32_t>>& parts) {
    Torus torus({.sizes = {4, 2, 2}, .algorithm = Algorithm::minimal_adaptive, .link_loss = 0.01}, 3);
    RandomStream random(8);
    std::vector<std::tuple<uint64_t, uint32_t, uint32_t>> arrivals;
    for (uint32_t clock = 0; clock < 3'000; ++clock) {
      for (uint32_t node = 0; node < 16; ++node) {
        if (random.chance(0.3)) torus.send(node, static_cast<uint32_t>(random.below(16)), 3, clock);
      }
      for (const auto& [first, behind] : parts) torus.step(first, behind);
      torus.advance();
      for (uint32_t node = 0; node < 16; ++node) {
        if (const auto handle = torus.arrived(node)) arrivals.emplace_back(torus.now(), node, *handle);
      }
    }
    return arrivals;
  };
  const auto whole = run({{0, 16}});
  EXPECT_GT(whole.size(), 1'000u);
  EXPECT_EQ(whole, run({{9, 16}, {3, 9}, {0, 3}}));
  EXPECT_EQ(whole, run({{15, 16}, {0, 1}, {8, 15}, {1, 8}}));
  // Each router by itself, in an order as any parts of routers that are no neighbours would step them.
  std::vector<std::pair<uint32_t, uint32_t>> alone;
  for (uint32_t node = 0; node < 16; ++node) alone.emplace_back(node * 7 % 16, node * 7 % 16 + 1);
  EXPECT_EQ(whole, run(alone));
}

/// Mean latencies of BookSim 2, of longer runs than those of docs/results/booksim.md: 64 nodes, four channels
/// of eight flits, dimension order.
TEST(Torus, LatenciesAreThoseOfBookSim) {
  const auto expect_latency = [](double flits, uint32_t packet, bool joined, double booksim) {
    TorusConfig config;
    config.joined = joined;
    Torus torus(config, 1);
    const Measured measured = measure(torus, {.flits = flits, .packet_flits = packet, .clocks = 10'000}, 1);
    EXPECT_NEAR(measured.latency / booksim, 1, 0.02) << flits;
    EXPECT_NEAR(measured.accepted_flits, flits, 0.02);
  };
  expect_latency(0.1, 1, true, 22.18);
  expect_latency(0.5, 1, true, 23.94);
  expect_latency(0.7, 1, true, 27.47);
  expect_latency(0.4, 9, true, 40.43);
  expect_latency(0.4, 1, false, 27.92);
}

/// A network of which nothing comes out any more.
TEST(Standstill, IsNoticedOnceNothingMovesForSoLong) {
  Standstill standstill;
  const auto at = [&](uint64_t now, uint64_t under_way, uint64_t moves) {
    return standstill.look(now, [&] { return Standstill::Seen{under_way, moves}; });
  };
  constexpr uint64_t every = Standstill::every;
  EXPECT_FALSE(at(every, 5, 0)) << "it has only begun";
  EXPECT_FALSE(at(2 * every, 5, 1));
  EXPECT_FALSE(at(3 * every - 1, 5, 1)) << "not yet";
  EXPECT_TRUE(at(3 * every, 5, 1));
  EXPECT_FALSE(at(4 * every, 5, 2)) << "it goes on";
  EXPECT_FALSE(at(5 * every, 0, 2)) << "all have arrived";
  EXPECT_FALSE(at(6 * every, 1, 2)) << "what was sent meanwhile has had no time";
  EXPECT_TRUE(at(7 * every, 1, 2));
}

/// The slowest that there is moves.
TEST(Standstill, IsNotThatOfLongLinks) {
  Torus torus({.sizes = {4, 1, 1}, .buffer_flits = 1, .link_clocks = 1000}, 1);
  const Measured measured = measure(torus, {.flits = 0.5, .packet_flits = 100, .clocks = 30'000}, 1);
  EXPECT_EQ(measured.clocks, 33'000u);
  EXPECT_FALSE(measured.stands_still);
}

TEST(Torus, RefusesWhatItIsNotMadeFor) {
  const auto refuses = [](auto change) {
    TorusConfig config;
    change(config);
    EXPECT_THROW(Torus(config, 1), std::invalid_argument);
  };
  refuses([](TorusConfig& config) { config.buffer_flits = 0; });
  refuses([](TorusConfig& config) { config.buffer_flits = 256; });
  refuses([](TorusConfig& config) { config.link_clocks = 0; });
  refuses([](TorusConfig& config) { config.link_clocks = 1001; });
  refuses([](TorusConfig& config) { config.link_loss = -0.1; });
  refuses([](TorusConfig& config) { config.link_loss = std::nan(""); });
  Torus torus({}, 1);
  EXPECT_THROW(torus.send(0, 64, 1, 0), std::invalid_argument);
  EXPECT_THROW(torus.send(64, 0, 1, 0), std::out_of_range);
  EXPECT_THROW(torus.send(0, 1, 0, 0), std::invalid_argument);
  EXPECT_THROW(measure(torus, {.flits = 1.5}, 1), std::invalid_argument);
  EXPECT_THROW(measure(torus, {}, 1, 0), std::invalid_argument);
  EXPECT_THROW(torus.set_cut(0, local_port, true), std::invalid_argument);
  EXPECT_THROW(torus.set_cut(64, 0, true), std::invalid_argument);
}

}  // namespace
}  // namespace weft::fabric

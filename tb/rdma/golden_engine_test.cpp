// SPDX-License-Identifier: Apache-2.0
// Golden engines in the place of RTL engines: all of one kind and all of the other retire the same events,
// and together they get on like one kind.
#include "golden_engine.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "random_traffic.hpp"

namespace weft::tb {
namespace {

using rdma::Scheme;
using rdma::formats::Outcome;

/// What retired in one context of one half, in order: kind, outcome, WBASE or NEXT.
using Events = std::vector<std::tuple<int, std::string, uint32_t>>;
/// By node, half (receiver 0, sender 1) and context or buffer.
using Log = std::map<std::tuple<uint32_t, int, uint16_t>, Events>;

std::string name(uint8_t outcome) { return std::string(rdma::formats::name(static_cast<Outcome>(outcome))); }

void record(Log& log, uint32_t node, const RdmaPins& pins) {
  if (pins.rx.valid)
    log[{node, 0, pins.rx.cid}].emplace_back(pins.rx.timeout, name(pins.rx.outcome), pins.rx.wbase);
  if (pins.tx.valid)
    log[{node, 1, pins.tx.sid}].emplace_back(static_cast<int>(pins.tx.kind), name(pins.tx.outcome),
                                             pins.tx.next);
}

SystemConfig config_of(const std::string& build, uint32_t nodes) {
  SystemConfig config;
  config.nodes = nodes;
  config.node.build = *find_rdma_build(build);
  config.faults.delay = 50;
  return config;
}

driver::RdmaSetup setup_of(bool weft_mode) {
  driver::RdmaSetup setup = EngineBench::usual_setup();
  setup.weft_mode = weft_mode;
  setup.tick_cycles = 100;
  setup.rx_timeout = setup.tx_retry = 60;
  return setup;
}

void expect_equal(const Log& rtl, const Log& golden) {
  ASSERT_EQ(rtl.size(), golden.size());
  for (const auto& [context, events] : rtl) {
    SCOPED_TRACE("node " + std::to_string(std::get<0>(context)) + " half " +
                 std::to_string(std::get<1>(context)) + " context " + std::to_string(std::get<2>(context)));
    ASSERT_TRUE(golden.contains(context));
    const Events& others = golden.at(context);
    const auto [here, there] = std::ranges::mismatch(events, others);
    ASSERT_TRUE(here == events.end() && there == others.end())
        << "event " << here - events.begin() << " of " << events.size() << ": expected "
        << (here == events.end() ? "none" : std::get<1>(*here)) << ", got "
        << (there == others.end() ? "none" : std::get<1>(*there));
  }
}

struct Case {
  std::string build;
  bool weft_mode = true;
};

class GoldenEngines : public testing::TestWithParam<Case> {
 protected:
  /// Six transfers of each node to the next one, one after the other or all at once, in an ideal network or a
  /// torus.
  Log run(bool golden, bool at_once, const std::optional<fabric::TorusConfig>& torus = {},
          const std::optional<fabric::Faults>& faults = {}, uint64_t seed = 1) {
    driver::RdmaSetup setup = setup_of(GetParam().weft_mode);
    if (faults) setup.tx_retry = 5 * setup.rx_timeout / 2;  // not at once
    SystemConfig config = config_of(GetParam().build, 3);
    config.seed = seed;
    if (faults) config.faults = *faults;
    if (torus) {
      config.routers = fabric::Routers{.torus = *torus};
      config.nodes = torus->sizes[0] * torus->sizes[1] * torus->sizes[2];
    }
    if (golden) {
      for (uint32_t node = 0; node < config.nodes; ++node) config.golden.insert(node);
    }
    Log log;
    EngineBench bench(config, setup);
    for (uint32_t i = 0; i < bench.system.size(); ++i)
      bench.system.node(i).on_clock([&log, i](const RdmaPins& pins) { record(log, i, pins); });
    for (uint32_t i = 0; i < bench.system.size(); ++i) {
      for (uint16_t tag = 0; tag < 6; ++tag) {
        const uint32_t bytes = 1 + 1000u * tag * tag;
        post(bench, i, tag, bytes);
        if (at_once) continue;
        EXPECT_TRUE(bench.system.run_until([&] { return bench.completions[i].contains(tag); }, 200'000));
      }
    }
    EXPECT_TRUE(bench.system.run_until([&] { return bench.system.settled(); }, 200'000));
    bench.run(faults ? 25'000 : 200);  // the last RELEASE, and what timers do for transfers that are over
    return log;
  }

  static void post(EngineBench& bench, uint32_t node, uint16_t tag, uint32_t bytes) {
    const uint64_t place = (node * 8ull + tag) * 32768;
    Draw draw(node * 100 + tag);
    bench.system.node(node).memory().memory().write(source_base + place, random_bytes(draw, bytes));
    bench.system.node(node).driver().post(
        {source_base + place, destination_base + place, bytes, (node + 1) % bench.system.size(), tag, 0});
  }
};

TEST_P(GoldenEngines, RetireTheEventsOfTheRtlInEachContext) {
  expect_equal(run(false, false), run(true, false));
}

/// Of the events of a context those that come with an ACK, or all others. With several transfers at once it
/// is a matter of a few clocks which packet of which transfer is sent before an ACK comes.
Log part_of(const Log& log, bool acks) {
  Log part;
  for (const auto& [context, events] : log) {
    for (const auto& event : events) {
      if ((std::get<1>(event) == "ACKED") == acks) part[context].push_back(event);
    }
  }
  for (auto& [context, events] : part) {
    for (auto& [kind, outcome, next] : events) next = acks ? 0 : next;
  }
  return part;
}

TEST_P(GoldenEngines, RetireThemAlsoWithSeveralTransfersAtOnce) {
  const Log rtl = run(false, true), golden = run(true, true);
  for (const bool acks : {false, true}) expect_equal(part_of(rtl, acks), part_of(golden, acks));
}

class FarGoldenEngines : public GoldenEngines {
 protected:
  /// One transfer of each of two nodes, of many windows, over links so long that its window is full first.
  Log run_far(bool golden) {
    constexpr uint32_t packets = 400;
    driver::RdmaSetup setup = setup_of(GetParam().weft_mode);
    setup.rx_ahead = GetParam().weft_mode ? 1 : 0;
    SystemConfig config = config_of(GetParam().build, 2);
    config.faults.delay = 900;
    if (golden) config.golden = {0, 1};
    Log log;
    EngineBench bench(config, setup);
    for (uint32_t i = 0; i < 2; ++i) {
      bench.system.node(i).on_clock([&log, i](const RdmaPins& pins) { record(log, i, pins); });
      post(bench, i, 0, packets * config.node.build.params.payload);
    }
    const auto all_there = [&] {
      return bench.completions[0].contains(0) && bench.completions[1].contains(0);
    };
    EXPECT_TRUE(bench.system.run_until(all_there, 200'000));
    EXPECT_TRUE(bench.system.run_until([&] { return bench.system.settled(); }, 200'000));
    bench.run(2'000);  // the last RELEASE
    return log;
  }
};

/// Turns that find no room in the sender's window are not compared: in the RTL who waits for room has no turn
/// until there is some (docs/rdma_baseline.md, Buffers), a clock or two after the ACK that makes it.
Log without_lapses(Log log) {
  for (auto& [context, events] : log)
    std::erase_if(events, [](const auto& event) { return std::get<1>(event) == "LAPSE"; });
  return log;
}

/// Most of a window or more is under way: senders stop at its end, go on in a second one (weft mode), or
/// beyond it (paper mode).
TEST_P(FarGoldenEngines, RetireThemAlsoWhereTheWindowIsFull) {
  const Log rtl = run_far(false), golden = run_far(true);
  if (GetParam().build == "txwindow") {
    for (const bool acks : {false, true})
      expect_equal(part_of(without_lapses(rtl), acks), part_of(without_lapses(golden), acks));
  } else {
    expect_equal(rtl, golden);
  }
}

fabric::TorusConfig small_torus(fabric::Algorithm algorithm) {
  return {.sizes = {3, 2, 1}, .algorithm = algorithm, .buffer_flits = 16};
}

/// One transfer after the other: with several at once a few clocks decide which packet overtakes which.
TEST_P(GoldenEngines, RetireThemAlsoInATorus) {
  for (const auto algorithm : {fabric::Algorithm::dimension_order, fabric::Algorithm::minimal_adaptive}) {
    SCOPED_TRACE(algorithm == fabric::Algorithm::minimal_adaptive ? "adaptive" : "dimension order");
    expect_equal(run(false, false, small_torus(algorithm)), run(true, false, small_torus(algorithm)));
  }
}

/// What a packet meets is drawn for the how-manieth it is that its node sends: one transfer after the other,
/// so that both kinds send the same packets in the same order.
TEST_P(GoldenEngines, RetireThemAlsoThroughABadNetwork) {
  const bool counts = find_rdma_build(GetParam().build)->params.scheme == Scheme::receiver_counter;
  const double share = counts ? 0.1 : 1;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    fabric::Faults faults;
    faults.delay = 50;
    faults.loss = 0.02 * share;
    if (!counts && GetParam().build != "txwindow") faults.duplicate = 0.02;
    faults.corrupt = 0.02 * share;
    expect_equal(run(false, false, {}, faults, seed), run(true, false, {}, faults, seed));
  }
}

TEST_P(GoldenEngines, AmongRtlBringEveryByteThroughABadNetwork) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Draw draw(seed);
    SystemConfig config = config_of(GetParam().build, 3);
    config.seed = seed;
    config.golden = {static_cast<uint32_t>(seed % 3)};
    const bool counts = config.node.build.params.scheme == Scheme::receiver_counter;
    config.faults.loss = counts ? 0.002 : 0.03;
    config.faults.duplicate = counts ? 0.002 : 0.1;
    config.faults.corrupt = counts ? 0.001 : 0.02;
    config.faults.jitter = 100;
    EngineBench bench(config, setup_of(GetParam().weft_mode));
    RandomTraffic traffic(bench, draw, 8);
    traffic.post();
    EXPECT_TRUE(bench.system.run_until([&] { return traffic.complete(); }, 5'000'000)) << "seed " << seed;
    bench.expect_settled();
    traffic.expect_bytes();
  }
}

std::string name_of(const testing::TestParamInfo<Case>& test) {
  return test.param.build + (test.param.weft_mode ? "_weft" : "_paper");
}

const auto cases = testing::Values(Case{"w128", true}, Case{"w128", false}, Case{"w32", true},
                                   Case{"rxcounter"}, Case{"txwindow"});
INSTANTIATE_TEST_SUITE_P(Builds, GoldenEngines, cases, name_of);
INSTANTIATE_TEST_SUITE_P(Builds, FarGoldenEngines, cases, name_of);
INSTANTIATE_TEST_SUITE_P(ShortWindow, FarGoldenEngines, testing::Values(Case{"w32", false}), name_of);

TEST(GoldenEngine, HasNoHostQueues) {
  RdmaBuild build;
  build.queues = 2;
  EXPECT_THROW(GoldenEngine{build}, std::invalid_argument);
}

}  // namespace
}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// How long parts of planning take, by Google Benchmark: weft-mcast-bench [--benchmark_filter=REGEX].
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "mcast/bounds.hpp"
#include "mcast/checker.hpp"
#include "mcast/router.hpp"
#include "mcast/tables.hpp"
#include "topology/spec.hpp"

namespace weft::mcast {
namespace {

struct Case {
  const char* topology;
  const char* groups;
};
constexpr Case cases[] = {
    {"fattree3:40", "grid:40x40x40@4"},      {"fattree3:40", "grid:25x25x25"},
    {"torus3d:30x20x20:2", "grid:28x28x28"}, {"dragonfly:18,9,9", "grid:29x29x31"},
    {"random:2048,40,20,1", "grid:256x160"}, {"random:2048,40,20,1", "grid:32x32x40"},
};

/// What a benchmark works on; made once for each case.
struct Setting {
  explicit Setting(const Case& which)
      : graph(topology::load(which.topology)), hops(graph), groups(load_groups(which.groups, graph)) {}
  topology::Graph graph;
  Hops hops;
  Groups groups;
};

void count_groups(benchmark::State& state, uint32_t groups) {
  state.counters["group"] =
      benchmark::Counter(groups, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void start(benchmark::State& state, const std::shared_ptr<Setting>& setting) {
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(Hops(setting->graph));
}

void route(benchmark::State& state, const std::shared_ptr<Setting>& setting, uint32_t colours) {
  RouterOptions options;
  options.colours = colours;
  options.threads = static_cast<uint32_t>(state.range(0));
  for ([[maybe_unused]] auto _ : state) {
    Router router(setting->hops, options);
    router.create_all(setting->groups);
    benchmark::DoNotOptimize(router.forest().colours());
  }
  count_groups(state, setting->groups.count());
}

/// One group comes and goes while all others are there.
void create_and_remove(benchmark::State& state, const std::shared_ptr<Setting>& setting) {
  Router router(setting->hops, {});
  router.create_all(setting->groups);
  uint32_t next = 0;
  for ([[maybe_unused]] auto _ : state) {
    const auto members = setting->groups.members(next++ % setting->groups.count());
    router.remove(router.create({members.begin(), members.end()}));
  }
}

void check_tables(benchmark::State& state, const std::shared_ptr<Setting>& setting) {
  Router router(setting->hops, {});
  router.create_all(setting->groups);
  const FabricTables tables = tables_of(router.forest());
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(check(setting->graph, setting->groups, tables).size());
  count_groups(state, setting->groups.count());
}

void bound(benchmark::State& state, const std::shared_ptr<Setting>& setting) {
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(colour_bounds(setting->hops, setting->groups, Tables::of_switch).value());
  count_groups(state, setting->groups.count());
}

void register_all() {
  for (const Case& which : cases) {
    const auto setting = std::make_shared<Setting>(which);
    const std::string name = std::string("/") + which.topology + '/' + which.groups;
    const auto add = [&](const std::string& what, auto&&... arguments) {
      return benchmark::RegisterBenchmark((what + name).c_str(), arguments...)
          ->Unit(benchmark::kMillisecond)
          ->MeasureProcessCPUTime()
          ->UseRealTime();
    };
    add("start", start, setting);
    add("route", route, setting, no_limit)->ArgName("threads")->Arg(1)->Arg(2);
    add("merge", route, setting, 32)->ArgName("threads")->Arg(1);
    add("create_and_remove", create_and_remove, setting);
    add("check", check_tables, setting);
    add("bound", bound, setting);
  }
}

}  // namespace
}  // namespace weft::mcast

int main(int count, char** arguments) {
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
  weft::mcast::register_all();
  benchmark::RunSpecifiedBenchmarks();
}

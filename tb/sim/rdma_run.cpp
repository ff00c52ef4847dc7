// SPDX-License-Identifier: Apache-2.0
// One simulation of the RDMA engine.
#include "rdma_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <span>
#include <string_view>

#include "event_traces.hpp"
#include "rdma_system.hpp"
#include "traffic_plan.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::sim {

namespace formats = rdma::formats;

namespace {

constexpr uint16_t region_key = 0x5eed;
constexpr uint32_t timeout_ticks = 64;  // at the most, so that TX_DEAD can outlast MAX_SILENT of them
constexpr uint64_t start_cycles = 200'000;
constexpr uint64_t progress_check_cycles = 16384;
constexpr uint64_t stall_cycles = 4'000'000;  // without a byte or a completion: more than any timer

using Clock = std::chrono::steady_clock;

bool is_usual(const tb::RdmaBuild& build) {
  const tb::RdmaBuild usual;
  return build.queues == 0 && build.data_bytes == usual.data_bytes &&
         build.params.n_rx_ctx == usual.params.n_rx_ctx && build.params.n_tx_ctx == usual.params.n_tx_ctx;
}

const tb::RdmaBuild* find_build(const RunConfig& config) {
  const auto fits = [&](const tb::RdmaBuild& build) {
    const rdma::Params& params = build.params;
    const bool windowed = config.scheme != rdma::Scheme::receiver_counter;
    return is_usual(build) && params.scheme == config.scheme && params.payload == config.payload &&
           (!windowed || params.window == config.window);
  };
  const auto found = std::ranges::find_if(tb::rdma_builds(), fits);
  return found == tb::rdma_builds().end() ? nullptr : &*found;
}

const tb::RdmaBuild& build_for(const RunConfig& config) {
  if (const tb::RdmaBuild* build = find_build(config)) return *build;
  const bool windowed = config.scheme != rdma::Scheme::receiver_counter;
  std::set<std::string> known;
  for (const tb::RdmaBuild& each : tb::rdma_builds()) {
    if (!is_usual(each) || each.params.scheme != config.scheme) continue;
    known.insert(windowed ? fmt::format("{} with {}", each.params.window, each.params.payload)
                          : fmt::format("{}", each.params.payload));
  }
  const bool all = tb::find_rdma_build("w256") != nullptr;
  throw BadInput(fmt::format("{}--payload {}: compiled in are {}{}",
                             windowed ? fmt::format("--window {}, ", config.window) : "", config.payload,
                             fmt::join(known, ", "), all ? "" : "; weft-sim-experiments has more"));
}

uint64_t beats_per_packet(const tb::RdmaBuild& build) { return 1 + build.params.payload / build.data_bytes; }

/// Cycles that the link takes for a full packet of each transfer, `reorder_degree` times, or the longest
/// detour: no packet is overtaken for longer.
uint32_t longest_hold(const RunConfig& config, const tb::RdmaBuild& build) {
  const uint64_t cycles = config.faults.detour > 0
                              ? config.faults.detour
                              : beats_per_packet(build) * config.faults.reorder_degree * config.transfers;
  return static_cast<uint32_t>(std::clamp<uint64_t>(cycles, 1, fabric::Faults{}.hold_limit));
}

/// Longest way through the routers, and as much again for waiting there.
uint64_t in_routers(const RunConfig& config) {
  if (!config.torus) return 0;
  uint64_t hops = 0;
  for (const uint32_t size : config.torus->sizes) hops += config.torus->joined ? size / 2 : size - 1;
  return 2 * (fabric::entry_clocks + hops * (fabric::router_clocks + config.torus->link_clocks));
}

/// With some time in the engines.
uint64_t round_trip(const RunConfig& config) {
  constexpr uint64_t in_engines = 90;
  return 2 * (config.faults.delay + config.faults.jitter + in_routers(config) + config.memory_latency +
              in_engines);
}

bool reorders(const RunConfig& config) {
  return config.faults.reorder_degree > 0 || config.faults.detour > 0;
}

/// Twice as long as reordering may hold a packet back.
uint64_t held_back(const RunConfig& config, const tb::RdmaBuild& build) {
  return reorders(config) ? 2 * longest_hold(config, build) : 0;
}

constexpr uint64_t longest_timeout = 1'000'000;

/// So many round trips, two turns of a transfer in the round robin, and as long as a packet is held back.
uint64_t usual_timeout(const RunConfig& config, const tb::RdmaBuild& build, uint64_t round_trips) {
  const uint64_t turn = beats_per_packet(build) * config.transfers;
  return std::min(round_trips * round_trip(config) + 2 * turn + held_back(config, build), longest_timeout);
}

/// Whether packets of one transfer may take different ways.
bool several_ways(const fabric::TorusConfig& torus) {
  const auto half_a_ring = [&](uint32_t size) {
    return torus.joined && size % 2 == 0;
  };  // either way is the shortest
  return torus.algorithm != fabric::Algorithm::dimension_order ||
         std::ranges::any_of(torus.sizes, half_a_ring);
}

/// By how much a packet of this network may get ahead of another of its transfer. One that is held back is
/// passed by no more than the degree, but others that are held back meanwhile widen the gap; if that comes
/// near the window: not known.
uint8_t usual_ahead(const RunConfig& config, const tb::RdmaBuild& build) {
  if (config.torus && several_ways(*config.torus)) return 0;
  if (!reorders(config)) return 1;
  const uint64_t degree =
      std::max<uint64_t>(config.faults.reorder_degree, config.faults.detour / beats_per_packet(build));
  const uint64_t ahead = 2 * degree + 16;
  return ahead <= config.window / 2 ? static_cast<uint8_t>(ahead) : uint8_t{0};
}

tb::SystemConfig system_config(const RunConfig& config) {
  tb::SystemConfig system;
  system.nodes = config.nodes;
  system.node.build = build_for(config);
  system.node.pause = config.pause;
  system.node.checked = !config.bare;
  system.golden = config.golden;
  system.node.memory_latency = config.memory_latency;
  system.node.memory_jitter = config.pause > 0 ? 20 : 0;
  if (config.torus) system.routers = {*config.torus, system.node.build.data_bytes};
  system.threads = config.threads;
  system.faults = config.faults;
  system.faults.hold_limit = longest_hold(config, system.node.build);
  system.seed = config.seed;
  system.waves = config.waves;
  return system;
}

/// Runs the posts of all nodes and keeps book of them.
class Traffic {
 public:
  Traffic(const RunConfig& config, const std::vector<uint8_t>& bytes)
      : config_(config),
        bytes_(bytes),
        build_(build_for(config)),
        plan_(plan_traffic(config, bytes.size(), build_.params.payload)),
        system_(system_config(config)),
        nodes_(config.nodes) {}

  RunResult run(const OnProgress& on_progress);

 private:
  uint64_t completions() const;
  uint64_t expected_completions() const { return plan_.transfers(); }
  void fill_memories();
  void watch_node(uint32_t index);
  void start();
  void post_all();
  bool transfer_all(const OnProgress& on_progress);
  bool stalled(uint64_t written);
  uint64_t written_bytes();
  uint64_t default_max_cycles() const;
  void tell_hang();
  void compare_memories();
  void cut_and_heal(uint64_t first);
  uint64_t next_cut(uint64_t first) const;
  void collect();

  /// What is told of a node, in the thread that steps it.
  struct Node {
    std::vector<bool> delivered;      // by tag
    std::vector<uint64_t> posted_at;  // by tag
    std::vector<uint64_t> latencies;
    uint64_t completions = 0;
    uint64_t last_completion = 0;
    std::map<std::string, uint64_t> failures;  // by status
  };

  const RunConfig& config_;
  const std::vector<uint8_t>& bytes_;
  const tb::RdmaBuild& build_;
  TrafficPlan plan_;
  tb::RdmaSystem system_;
  std::vector<Node> nodes_;
  uint64_t last_progress_cycle_ = 0;
  uint64_t last_progress_ = 0;
  RunResult result_;
};

void Traffic::fill_memories() {
  for (uint32_t index = 0; index < system_.size(); ++index) {
    system_.node(index).memory().memory().write(source_base, bytes_);
  }
}

void Traffic::watch_node(uint32_t index) {
  Node& seen = nodes_[index];
  seen.posted_at.assign(plan_.nodes[index].size(), 0);
  seen.delivered.assign(plan_.nodes[index].size(), false);
  tb::RdmaNode& node = system_.node(index);
  node.on_posted([this, &seen](uint16_t tag) { seen.posted_at.at(tag) = system_.cycle(); });
  node.on_completion([this, &seen](const driver::RdmaCompletion& completion) {
    seen.completions++;
    seen.last_completion = system_.cycle();
    if (completion.status != formats::Status::ok)
      seen.failures[std::string(formats::name(completion.status))]++;
    if (completion.tag < seen.posted_at.size()) {
      seen.latencies.push_back(system_.cycle() - seen.posted_at[completion.tag]);
      seen.delivered[completion.tag] = completion.status == formats::Status::ok;
    }
  });
}

uint64_t Traffic::completions() const {
  uint64_t all = 0;
  for (const Node& node : nodes_) all += node.completions;
  return all;
}

void Traffic::start() {
  driver::RdmaSetup setup;
  setup.regions = {{plan_.destination_base, plan_.destination_base + plan_.destination_bytes, region_key}};
  const uint64_t timeout = config_.timeout ? config_.timeout : usual_timeout(config_, build_, 4);
  setup.tick_cycles = static_cast<uint16_t>(std::max<uint64_t>(16, timeout / timeout_ticks));
  const auto ticks = [&](uint64_t cycles) {
    return static_cast<uint16_t>((cycles + setup.tick_cycles - 1) / setup.tick_cycles);
  };
  setup.rx_timeout = setup.tx_retry = ticks(timeout);
  setup.timeout_floor = ticks(config_.floor ? config_.floor : usual_timeout(config_, build_, 2));
  setup.rx_ahead = config_.ahead.value_or(usual_ahead(config_, build_));
  setup.adapt = config_.adapt;
  setup.weft_mode = config_.weft_mode;
  system_.start(setup);
  const uint64_t limit = config_.max_cycles ? std::min(config_.max_cycles, start_cycles) : start_cycles;
  const uint64_t left = limit - std::min(limit, system_.cycle());
  if (system_.run_until([this] { return system_.all_ready(); }, left)) return;
  result_.hang = true;
  if (limit < start_cycles) return tell_hang();
  std::string why = "the engine does not get ready";
  for (uint32_t index = 0; index < system_.size(); ++index) {
    if (!system_.node(index).driver().fault().empty()) why = system_.node(index).driver().fault();
  }
  system_.findings().add(0, system_.cycle(), why);
}

void Traffic::post_all() {
  for (uint32_t index = 0; index < system_.size(); ++index) {
    uint16_t tag = 0;
    for (const PlannedTransfer& each : plan_.nodes[index]) {
      system_.node(index).driver().post(
          {each.source, each.destination, each.bytes, each.to, tag++, driver::rdma_rkey(0, region_key)});
    }
  }
}

uint64_t Traffic::written_bytes() {
  uint64_t bytes = 0;
  for (uint32_t index = 0; index < system_.size(); ++index) {
    bytes += system_.node(index).counts().written_bytes;
  }
  return bytes;
}

bool Traffic::stalled(uint64_t written) {
  const uint64_t progress = written + completions();
  if (progress != last_progress_) {
    last_progress_ = progress;
    last_progress_cycle_ = system_.cycle();
  }
  return system_.cycle() - last_progress_cycle_ > stall_cycles;
}

void Traffic::tell_hang() {
  const bool at_limit = config_.max_cycles > 0 && system_.cycle() >= config_.max_cycles;
  const std::string why = at_limit ? fmt::format("stopped by --max-cycles {}", config_.max_cycles)
                                   : fmt::format("no progress since cycle {}", last_progress_cycle_);
  result_.finding = fmt::format("{} with {} of {} transfers complete in cycle {}", why, completions(),
                                expected_completions(), system_.cycle());
}

uint64_t Traffic::default_max_cycles() const {
  const uint64_t packets = plan_.most_received / build_.params.payload + plan_.transfers() * 16;
  return 20'000'000 + packets * 5000;
}

bool Traffic::transfer_all(const OnProgress& on_progress) {
  const uint64_t limit = config_.max_cycles ? config_.max_cycles : default_max_cycles();
  const auto done = [this] { return completions() >= expected_completions() && system_.settled(); };
  const uint64_t first = system_.cycle();
  auto told = Clock::now();
  while (system_.cycle() < limit) {
    cut_and_heal(first);
    const uint64_t until = std::min({limit, next_cut(first), system_.cycle() + progress_check_cycles});
    if (system_.run_until(done, until - system_.cycle())) return true;
    const uint64_t written = written_bytes();
    if (system_.stopped() || stalled(written)) return false;
    if (on_progress && Clock::now() - told > std::chrono::milliseconds(500)) {
      told = Clock::now();
      const auto all = static_cast<double>(plan_.bytes());
      on_progress(
          {system_.cycle(), completions(), expected_completions(), static_cast<double>(written) / all});
    }
  }
  return false;
}

/// Counts wrong bytes of transfers that are said to have arrived, and reports a source that has changed.
void Traffic::compare_memories() {
  constexpr uint64_t block = 1 << 20;
  for (uint32_t index = 0; index < system_.size(); ++index) {
    const tb::HostMemory& own = system_.node(index).memory().memory();
    for (size_t tag = 0; tag < plan_.nodes[index].size(); ++tag) {
      const PlannedTransfer& each = plan_.nodes[index][tag];
      const bool delivered = nodes_[index].delivered[tag];
      const tb::HostMemory& other = system_.node(each.to).memory().memory();
      for (uint64_t at = 0; at < each.bytes; at += block) {
        const uint64_t count = std::min<uint64_t>(block, each.bytes - at);
        const std::span<const uint8_t> expected(bytes_.data() + each.offset + at, count);
        const std::vector<uint8_t> got = other.read(each.destination + at, count);
        for (uint64_t i = 0; delivered && i < count; ++i) result_.wrong_bytes += got[i] != expected[i];
        if (!own.equals(each.source + at, expected)) {
          system_.findings().add(index, system_.cycle(), "the source bytes changed");
        }
      }
    }
  }
}

/// Cuts the link, or mends it, whenever it is time for that.
void Traffic::cut_and_heal(uint64_t first) {
  if (!config_.cut) return;
  const auto set = [&](bool cut) {
    if (config_.torus) {
      system_.network().set_link_cut(0, 0, cut);
    } else if (cut) {
      system_.network().cut(0, 1);
    } else {
      system_.network().heal(0, 1);
    }
  };
  if (system_.cycle() == first + config_.cut->from) set(true);
  if (system_.cycle() == first + config_.cut->until) set(false);
}

/// The next cycle in which that is to be looked at.
uint64_t Traffic::next_cut(uint64_t first) const {
  if (config_.cut) {
    for (const uint64_t at : {config_.cut->from, config_.cut->until}) {
      if (system_.cycle() < first + at) return first + at;
    }
  }
  return std::numeric_limits<uint64_t>::max();
}

bool is_drop(formats::Outcome outcome) { return formats::name(outcome).starts_with("DROP_"); }

void Traffic::collect() {
  result_.bytes = bytes_.size();
  result_.transfers = expected_completions();
  result_.senders = static_cast<uint32_t>(
      std::ranges::count_if(plan_.nodes, [](const auto& node) { return !node.empty(); }));
  for (uint32_t index = 0; index < system_.size(); ++index) {
    const tb::NodeCounts& counts = system_.node(index).counts();
    result_.packets_sent += counts.packets;
    result_.data_packets += counts.data_packets;
    result_.packets_resent += counts.resent_packets;
    result_.largest_gap = std::max(result_.largest_gap, counts.largest_gap());
    result_.events += counts.events;
    if (system_.node(index).checked()) result_.events_compared += counts.events;
    for (uint32_t code = 0; code < tb::outcome_codes; ++code) {
      const auto outcome = static_cast<formats::Outcome>(code);
      const uint64_t count = counts.outcomes[code];
      if (count == 0 || !is_drop(outcome)) continue;
      result_.packets_dropped += count;
      result_.drops[std::string(formats::name(outcome))] += count;
    }
  }
  result_.network = system_.network().counters();
  if (const fabric::Torus* torus = system_.network().torus()) {
    result_.mean_hops = static_cast<double>(torus->flit_hops()) /
                        static_cast<double>(std::max<uint64_t>(1, torus->sent_flits()));
  }
  std::vector<uint64_t> latencies;
  for (const Node& node : nodes_) {
    latencies.insert(latencies.end(), node.latencies.begin(), node.latencies.end());
    for (const auto& [status, count] : node.failures) {
      result_.failed_transfers += count;
      result_.failures[status] += count;
    }
  }
  if (!latencies.empty()) {
    std::sort(latencies.begin(), latencies.end());
    const size_t middle = latencies.size() / 2;
    const bool odd = latencies.size() % 2;
    result_.latency_median = odd ? static_cast<double>(latencies[middle])
                                 : static_cast<double>(latencies[middle - 1] + latencies[middle]) / 2;
    result_.latency_max = latencies.back();
  }
  if (result_.cycles > 0) {
    const double payload = build_.params.payload;
    const double link = build_.data_bytes * payload / (payload + rdma::flit_bytes);
    result_.goodput_bytes_per_cycle =
        static_cast<double>(plan_.most_received) / static_cast<double>(result_.cycles);
    result_.goodput_fraction = result_.goodput_bytes_per_cycle / link;
  }
}

RunResult Traffic::run(const OnProgress& on_progress) {
  const auto began = Clock::now();
  if (!config_.trace_dir.empty()) open_traces(system_, config_.trace_dir);
  fill_memories();
  for (uint32_t index = 0; index < system_.size(); ++index) watch_node(index);
  start();
  const uint64_t first = system_.cycle();
  if (!result_.hang) {
    post_all();
    result_.hang = !transfer_all(on_progress) && !system_.stopped();
    if (result_.hang) {
      tell_hang();  // what is under way then is no difference from the golden model
    } else {
      system_.check_at_end();
    }
    compare_memories();
  }
  uint64_t last = first;
  for (const Node& node : nodes_) last = std::max(last, node.last_completion);
  result_.cycles = last - first;
  close_traces(system_);
  collect();
  result_.total_cycles = system_.cycle();
  result_.trace_mismatches = system_.findings().count();
  if (system_.findings().any()) result_.finding = system_.findings().summary();
  const std::chrono::duration<double> seconds = Clock::now() - began;
  result_.cycles_per_second = static_cast<double>(system_.cycle()) / std::max(1e-9, seconds.count());
  return result_;
}

}  // namespace

const char* scheme_name(rdma::Scheme scheme) {
  switch (scheme) {
    case rdma::Scheme::receiver_window:
      return "rxwindow";
    case rdma::Scheme::receiver_counter:
      return "rxcounter";
    case rdma::Scheme::sender_window:
      return "txwindow";
  }
  return "?";
}

bool window_available(uint32_t window) {
  RunConfig config;
  config.window = window;
  return find_build(config) != nullptr;
}

RunResult run_rdma(const RunConfig& config, const std::vector<uint8_t>& bytes,
                   const OnProgress& on_progress) {
  return Traffic(config, bytes).run(on_progress);
}

}  // namespace weft::sim

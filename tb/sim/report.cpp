// SPDX-License-Identifier: Apache-2.0
// Results of a simulation for people and machines.
#include "report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/output_file.hpp"
#include "traffic_plan.hpp"

namespace weft::sim {

namespace {

std::string row(const std::string& name, const std::string& value) {
  return fmt::format("  {:<26} {}\n", name, value);
}

std::string verdict(const RunResult& result) {
  if (result.hang) return "NOT FINISHED";
  return result.ok() ? "ok" : "FAILED";
}

/// A number, and what it is made of.
std::string counted(uint64_t total, const std::map<std::string, uint64_t>& parts) {
  std::string text = fmt::format("{}", total);
  for (const auto& [name, count] : parts) text += fmt::format("  {} {}", name, count);
  return text;
}

std::string network(const fabric::NetworkCounters& counters) {
  return fmt::format("{} sent, {} lost, {} duplicated, {} corrupted, {} held back", counters.sent,
                     counters.lost, counters.duplicated, counters.corrupted, counters.reordered);
}

/// The routers between the nodes.
std::string topology(const fabric::TorusConfig& torus, double hops) {
  return fmt::format(
      "{} {}, {}, {} channels of {} flits, links of {} cycles, {:.2f} of them a packet",
      torus.joined ? "torus" : "mesh", fmt::join(torus.sizes, "x"),
      torus.algorithm == fabric::Algorithm::dimension_order ? "dimension order" : "minimal adaptive",
      torus.channels, torus.buffer_flits, torus.link_clocks, hops);
}

nlohmann::json topology_json(const std::optional<fabric::TorusConfig>& torus, double hops) {
  if (!torus) return "ideal";
  return {{"topology", torus->joined ? "torus" : "mesh"},
          {"sizes", torus->sizes},
          {"adaptive", torus->algorithm == fabric::Algorithm::minimal_adaptive},
          {"channels", torus->channels},
          {"buffer_flits", torus->buffer_flits},
          {"link_cycles", torus->link_clocks},
          {"link_loss", torus->link_loss},
          {"mean_hops", hops}};
}

std::string mode(const RunConfig& config) { return config.weft_mode ? "weft" : "paper"; }

/// What the engines are; the older schemes have no modes.
std::string scheme(const RunConfig& config) {
  if (config.scheme != rdma::Scheme::receiver_window) return scheme_name(config.scheme);
  return fmt::format("window {}, {} mode", config.window, mode(config));
}

std::string quoted(const std::string& argument) {
  if (argument.find_first_of(" \t'\"$\\*?&;|<>()") == std::string::npos && !argument.empty()) return argument;
  std::string text;
  text.push_back('\'');
  for (const char c : argument) {
    if (c == '\'') text.append("'\\'");  // ends the quotes, a quote by itself, and they begin again
    text.push_back(c);
  }
  text.push_back('\'');
  return text;
}

}  // namespace

std::string table(const RunConfig& config, const RunResult& result) {
  std::string text =
      fmt::format("{} nodes, {} bytes each in {} transfers, {}: {}\n", config.nodes, result.bytes,
                  result.senders ? result.transfers / result.senders : 0, scheme(config), verdict(result));
  text += row("goodput", fmt::format("{:.3f} bytes/cycle a node, {:.1f} % of a link's payload share",
                                     result.goodput_bytes_per_cycle, 100 * result.goodput_fraction));
  text += row("cycles", fmt::format("{} (with start and checks {})", result.cycles, result.total_cycles));
  text += row("latency in cycles",
              fmt::format("median {:.1f}, max {}", result.latency_median, result.latency_max));
  text += row("packets sent", fmt::format("{}, DATA {}, resent {}", result.packets_sent, result.data_packets,
                                          result.packets_resent));
  text += row("packets dropped", counted(result.packets_dropped, result.drops));
  text += row("network", network(result.network));
  if (config.torus) text += row("routers", topology(*config.torus, result.mean_hops));
  if (config.cut) {
    text += row("link cut", result.cycles > config.cut->from
                                ? fmt::format("in cycles {} to {}", config.cut->from, config.cut->until)
                                : fmt::format("never: all was over before cycle {}", config.cut->from));
  }
  if (!config.golden.empty())
    text += row("golden nodes", fmt::format("{} of {}", config.golden.size(), config.nodes));
  if (config.bare) {
    text += row("events", fmt::format("{}, not compared (--bare)", result.events));
  } else {
    text += row("events compared", config.golden.empty()
                                       ? fmt::format("{}", result.events)
                                       : fmt::format("{} of {}", result.events_compared, result.events));
    text += row("trace mismatches", fmt::format("{}", result.trace_mismatches));
  }
  text += row("wrong bytes", fmt::format("{}", result.wrong_bytes));
  text += row("failed transfers", counted(result.failed_transfers, result.failures));
  text += row("simulated cycles/s", fmt::format("{:.0f}", result.cycles_per_second));
  text += row("seed", fmt::format("{}", config.seed));
  return text;
}

nlohmann::json to_json(const RunConfig& config, const RunResult& result) {
  return {
      {"scheme", scheme_name(config.scheme)},
      {"nodes", config.nodes},
      {"golden", config.golden},
      {"network", topology_json(config.torus, result.mean_hops)},
      {"bytes", result.bytes},
      {"transfers", result.senders ? result.transfers / result.senders : 0},
      {"pattern", pattern_name(config.pattern)},
      {"payload", config.payload},
      {"largest_gap", result.largest_gap},
      {"loss", config.faults.loss},
      {"duplicate", config.faults.duplicate},
      {"corrupt", config.faults.corrupt},
      {"reorder", config.faults.reorder_degree},
      {"held", config.faults.reorder},
      {"delay", config.faults.delay},
      {"pause", config.pause},
      {"jitter", config.faults.jitter},
      {"timeout", config.timeout},
      {"adapt", config.adapt},
      {"window", config.window},
      {"mode", mode(config)},
      {"cycles", result.cycles},
      {"latency_cycles", result.latency_median},
      {"latency_max_cycles", result.latency_max},
      {"packets_sent", result.packets_sent},
      {"packets_resent", result.packets_resent},
      {"packets_dropped", result.packets_dropped},
      {"drops", result.drops},
      {"packets_lost", result.network.lost},
      {"packets_duplicated", result.network.duplicated},
      {"packets_corrupted", result.network.corrupted},
      {"packets_held_back", result.network.reordered},
      {"goodput_bytes_per_cycle", result.goodput_bytes_per_cycle},
      {"goodput_fraction", result.goodput_fraction},
      {"events", result.events},
      {"events_compared", result.events_compared},
      {"trace_mismatches", result.trace_mismatches},
      {"wrong_bytes", result.wrong_bytes},
      {"failed_transfers", result.failed_transfers},
      {"failures", result.failures},
      {"hang", result.hang},
      {"ok", result.ok()},
      {"cycles_per_second", result.cycles_per_second},
      {"seed", config.seed},
      {"compared", !config.bare},
  };
}

void write_text(const std::string& file, const std::string& text) {
  try {
    write_whole(file, text);
  } catch (const std::runtime_error& error) {
    throw BadInput(error.what());
  }
}

void write_json(const std::string& file, const nlohmann::json& json) {
  write_text(file, json.dump(2) + '\n');
}

std::string quoted(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text.append(text.empty() ? "" : " ").append(quoted(argument));
  return text;
}

std::string reproduction(const std::vector<std::string>& arguments) {
  return "to see it again: " + quoted(arguments);
}

}  // namespace weft::sim

// SPDX-License-Identifier: Apache-2.0
// Traffic through a two-dimensional fat tree as command lines ask for it.
#include "switchfabric/traffic_options.hpp"

#include <fmt/format.h>

#include <array>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/command_line.hpp"
#include "common/progress.hpp"

namespace weft::switchfabric {

namespace {

using nlohmann::json;

constexpr double least_load = 1e-6;
constexpr double unsaturated = 0.98;  // of what is offered
constexpr std::array<const char*, phases> phase_names{"before", "news", "rewriting", "after"};

double share(uint64_t part, uint64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

json share_if_any(uint64_t part, uint64_t whole) {
  return whole > 0 ? json(share(part, whole)) : json(nullptr);
}

/// Clocks from the first strike on; nothing if it never came to it.
json since_strike(const LiveReport& live, uint64_t clock) {
  return clock > 0 ? json(clock - live.first_strike) : json(nullptr);
}

json ring_of(const LiveReport& live, const route::Grid& grid) {
  json ring = json::array();
  for (const route::Channel& channel : live.deadlock) ring.push_back(route::name_of(grid, channel));
  return ring;
}

json phases_of(const LiveReport& live) {
  json found = json::object();
  for (std::size_t phase = 0; phase < phases; ++phase) {
    const PhaseFlow& flow = live.flows[phase];
    found[phase_names[phase]] = {{"clocks", flow.clocks},
                                 {"accepted", share_if_any(flow.arrived, flow.host_clocks)},
                                 {"mean_latency_clocks", share_if_any(flow.latency, flow.arrived)}};
  }
  return found;
}

json to_json(const LiveReport& live, const route::Grid& grid) {
  json dropped = json::object();
  for (std::size_t why = 0; why < live.dropped.size(); ++why)
    if (live.dropped[why] > 0)
      dropped[std::string(switch_lookup::formats::name(static_cast<route::Outcome>(why)))] =
          live.dropped[why];
  return {{"sent", live.sent},
          {"arrived", live.arrived},
          {"detoured", live.detoured},
          {"twice", live.twice},
          {"struck", live.struck},
          {"to_dead", live.to_dead},
          {"dropped", dropped},
          {"left", live.left},
          {"last_loss_clocks", since_strike(live, live.last_loss)},
          {"last_loss_to_dead_clocks", since_strike(live, live.last_loss_to_dead)},
          {"tables_done_clocks", since_strike(live, live.tables_done)},
          {"rewritten_switches", live.rewritten},
          {"phases", phases_of(live)},
          {"deadlock", ring_of(live, grid)},
          {"deadlock_clocks", since_strike(live, live.deadlock_clock)}};
}

const json& ring_in(const json& traffic) {
  return (traffic.contains("live") ? traffic["live"] : traffic)["deadlock"];
}

std::string live_lines(const json& live) {
  uint64_t dropped = 0;
  std::string reasons;
  for (const auto& [why, packets] : live["dropped"].items()) {
    dropped += packets.get<uint64_t>();
    reasons += fmt::format("{}{} {}", reasons.empty() ? " (" : ", ", packets.get<uint64_t>(), why);
  }
  std::string text = fmt::format(
      "live         {} sent, {} arrived ({} aside, {} twice), lost: {} with what died, {} to the dead, {} "
      "others{}{}; {} left\n",
      live["sent"].get<uint64_t>(), live["arrived"].get<uint64_t>(), live["detoured"].get<uint64_t>(),
      live["twice"].get<uint64_t>(), live["struck"].get<uint64_t>(), live["to_dead"].get<uint64_t>(), dropped,
      reasons, reasons.empty() ? "" : ")", live["left"].get<uint64_t>());
  for (const char* phase : phase_names) {
    const json& flow = live["phases"][phase];
    if (!flow["mean_latency_clocks"].is_null())
      text += fmt::format("{:<12} {:.3f} packets a clock and host, latency {:.1f}, in {} clocks\n", phase,
                          flow["accepted"].get<double>(), flow["mean_latency_clocks"].get<double>(),
                          flow["clocks"].get<uint64_t>());
  }
  if (live["phases"]["after"]["accepted"].is_null())
    text += "             traffic ended before all tables were rewritten (--clocks)\n";
  if (const json& done = live["tables_done_clocks"]; !done.is_null())
    text += fmt::format("rewritten    {} switches, the last one {} clocks after the strike\n",
                        live["rewritten_switches"].get<uint64_t>(), done.get<uint64_t>());
  return text;
}

/// Why the run ended badly, if it did.
std::string standstill_lines(const json& traffic) {
  const json& ring = ring_in(traffic);
  if (!ring.empty()) {
    std::string text =
        fmt::format("standstill   deadlock in a ring of {} channels, for ever:\n", ring.size());
    for (std::size_t i = 0; i < ring.size() && i < 10; ++i)
      text += fmt::format("             {}\n", ring[i].get<std::string>());
    return text;
  }
  if (!stands_still(traffic)) return "";
  return fmt::format("standstill   {} packets go round for ever\n", traffic["live"]["left"].get<uint64_t>());
}

}  // namespace

void add_traffic_options(CLI::App& command, TrafficArguments& traffic) {
  RunConfig& run = traffic.run;
  auto* load = command.add_option("--load", run.load, "send traffic: packets a clock and host, more than 0")
                   ->type_name("LOAD")
                   ->check(command_line::within(least_load, 1));
  const auto number = [&command, load](const char* name, uint32_t& value, uint64_t most, const char* text,
                                       uint64_t least = 1) {
    return command.add_option(name, value, text)
        ->type_name("N")
        ->check(command_line::whole_number(least, most))
        ->needs(load)
        ->capture_default_str();
  };
  command.add_option("--pattern", traffic.pattern, "who sends to whom")
      ->check(CLI::IsMember({"uniform", "transpose", "hotspot", "all-to-all"}))
      ->needs(load)
      ->capture_default_str();
  number("--clocks", run.clocks, 100'000'000, "of traffic, the second half of which is measured");
  number("--planes", run.fabric.planes, 128, "parallel row and column switches");
  number("--buffer", run.fabric.buffer, 65536, "packets that an input has room for, each virtual channel");
  number("--speedup", run.fabric.speedup, 16, "turns of a switch a clock");
  number("--credit-clocks", run.fabric.credit_clocks, 100000, "until a sender knows of room");
  command
      .add_flag("--any-channel", run.fabric.any_channel,
                "packets take any virtual channel, of which none is kept for faults; only without faults")
      ->needs(load);
  number("--switch-clocks", run.fabric.switch_clocks, 100000, "from a switch to the next one");
  number("--end-clocks", run.fabric.end_clocks, 100000, "of the hosts at both ends");
  auto* strike =
      number("--strike", run.strike_clock, 100'000'000, "clock in which the first new fault strikes", 0);
  strike->each([&traffic](const std::string&) { traffic.live = true; });
  number("--strike-gap", run.strike_gap, 100'000'000, "clocks from one new fault to the next", 0)
      ->needs(strike);
  number("--notice-clocks", run.manager.notice_clocks, 100'000'000,
         "from a fault until the first switch has new tables", 0)
      ->needs(strike);
  number("--rewrite-clocks", run.manager.rewrite_clocks, 100'000'000,
         "from one switch with new tables to the next", 0)
      ->needs(strike);
}

RunConfig run_config(const TrafficArguments& traffic, const route::Health& known,
                     const route::FaultTexts& news, uint64_t seed) {
  RunConfig config = traffic.run;
  config.pattern = pattern_of(traffic.pattern);
  config.seed = seed;
  if (config.fabric.any_channel && (route::any(news) || !(known == route::Health(known.grid()))))
    throw Fault("--any-channel: with faults packets could wait for each other for ever");
  if (!traffic.live) return config;
  route::Health alive = known;
  for (std::size_t what = 0; what < news.size(); ++what)
    for (const std::string& where : news[what]) {
      route::fail(alive, static_cast<route::What>(what), where);
      config.strikes.push_back(alive);
    }
  if (config.strikes.empty()) throw Fault("--strike: there is no new fault (--new-fail)");
  if (alive.live_leaves() == 0) throw Fault("no leaf is alive");
  const uint64_t last = config.strike_clock + (config.strikes.size() - 1) * uint64_t{config.strike_gap};
  if (last >= config.clocks)
    throw Fault(
        fmt::format("--strike: the last strike is in clock {}, traffic ends before {}", last, config.clocks));
  return config;
}

json run_traffic(const RunConfig& config, const route::Tables& tables, const route::Health& alive) {
  Progress progress("traffic");
  const std::clock_t start = std::clock();
  const auto [flow, live] =
      run(tables, alive, config, [&](uint64_t clock, uint64_t total) { progress.show(clock, total); });
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  json results = {{"load", config.load},
                  {"planes", config.fabric.planes},
                  {"senders", flow.senders},
                  {"accepted", share(flow.arrived, flow.host_clocks)},
                  {"mean_latency_clocks", share(flow.latency, flow.arrived)},
                  {"mean_switches", share(flow.switches, flow.arrived)},
                  {"detoured", share(flow.detoured, flow.arrived)},
                  {"dropped", flow.dropped},
                  {"clocks", config.clocks},
                  {"clocks_per_cpu_second", seconds > 0 ? config.clocks / seconds : 0}};
  results["host_link_limit"] = config.fabric.most_a_host_sends();
  if (config.unit) results["lookups"] = flow.lookups;
  if (config.strikes.empty())
    results["deadlock"] = ring_of(live, alive.grid());
  else
    results["live"] = to_json(live, alive.grid());
  return results;
}

bool stands_still(const json& traffic) {
  return !ring_in(traffic).empty() || (traffic.contains("live") && traffic["live"]["left"] > 0);
}

std::string to_lines(const json& traffic) {
  std::string text =
      fmt::format("traffic      {:.3f} packets a clock and host arrive, {:.1f} clocks after they were sent\n",
                  traffic["accepted"].get<double>(), traffic["mean_latency_clocks"].get<double>());
  if (const double most = traffic["host_link_limit"].get<double>(); most < traffic["load"].get<double>())
    text +=
        fmt::format("hosts        cannot send as much: {:.3f} at most with such --buffer, --speedup\n", most);
  if (traffic["accepted"].get<double>() < unsaturated * traffic["load"].get<double>())
    text += "saturated    packets wait in hosts ever longer: latency is that of these --clocks\n";
  if (traffic.contains("live")) text += live_lines(traffic["live"]);
  text += standstill_lines(traffic);
  return text;
}

}  // namespace weft::switchfabric

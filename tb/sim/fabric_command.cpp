// SPDX-License-Identifier: Apache-2.0
// weft-sim fabric: the network of routers by itself, under random traffic.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "commands.hpp"
#include "common/command_line.hpp"
#include "fabric/torus.hpp"
#include "fabric/traffic.hpp"
#include "rdma_run.hpp"
#include "report.hpp"

namespace weft::sim {

namespace {

struct Options {
  std::string nodes = "4x4x4";
  bool mesh = false;
  bool adaptive = false;
  fabric::TorusConfig network;
  fabric::Load load;
  uint64_t seed = 1;
  uint32_t threads = 1;
  std::string json;
};

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

nlohmann::json to_json(const Options& options, const fabric::Measured& measured, double seconds) {
  const auto clocks = static_cast<double>(measured.clocks);
  const auto of_packets = [&](auto value) {
    return measured.packets == 0 ? nlohmann::json() : nlohmann::json(value);
  };
  return {{"nodes", options.nodes},
          {"mesh", options.mesh},
          {"adaptive", options.adaptive},
          {"channels", options.network.channels},
          {"buffer_flits", options.network.buffer_flits},
          {"link_clocks", options.network.link_clocks},
          {"entry_patience", options.network.entry_patience},
          {"link_loss", options.network.link_loss},
          {"load", options.load.flits},
          {"packet_flits", options.load.packet_flits},
          {"seed", options.seed},
          {"packets", measured.packets},
          {"latency", of_packets(measured.latency)},
          {"latency_median", of_packets(measured.latency_median)},
          {"latency_p99", of_packets(measured.latency_p99)},
          {"latency_max", of_packets(measured.latency_max)},
          {"accepted_flits", measured.accepted_flits},
          {"hops", measured.hops},
          {"lost_flits", measured.lost_flits},
          {"stands_still", measured.stands_still},
          {"clocks_per_processor_second", clocks / seconds},
          {"flit_hops_per_processor_second", static_cast<double>(measured.flit_hops) / seconds}};
}

int run(Options& options) {
  options.network.sizes = parse_sizes(options.nodes, fabric::max_nodes);
  options.network.joined = !options.mesh;
  if (options.adaptive) options.network.algorithm = fabric::Algorithm::minimal_adaptive;
  check_routers(options.network);
  const double before = processor_seconds();
  fabric::Torus torus(options.network, options.seed);
  const fabric::Measured measured = fabric::measure(torus, options.load, options.seed, options.threads);
  const nlohmann::json json = to_json(options, measured, std::max(1e-6, processor_seconds() - before));
  for (const auto& [key, value] : json.items()) fmt::print("  {:<32} {}\n", key, value.dump());
  if (!options.json.empty()) write_json(options.json, json);
  if (!measured.stands_still) return exit_ok;
  fmt::print(stderr,
             "weft-sim fabric: flits are under way at clock {} and none has moved for {}: a deadlock\n",
             measured.clocks, fabric::Standstill::every);
  return exit_failed;
}

}  // namespace

void add_router_options(CLI::App& command, bool& adaptive, fabric::TorusConfig& torus) {
  using command_line::whole_number;
  CLI::Option* flag =
      command.add_flag("--adaptive", adaptive, "torus or mesh: any shortest path, else in dimension order");
  command.add_option("--channels", torus.channels, "virtual channels of a link from router to router")
      ->check(whole_number(1, fabric::max_channels))
      ->capture_default_str();
  command.add_option("--buffer", torus.buffer_flits, "flits of buffer for each")
      ->check(whole_number(1, 255))
      ->capture_default_str();
  command.add_option("--link", torus.link_clocks, "clocks from router to router")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  command
      .add_option(
          "--patience", torus.entry_patience,
          "with --adaptive: clocks for which a node's packet waits at most until its ways are quiet; 0: "
          "what enters is not limited")
      ->needs(flag)
      ->check(whole_number(0, 1'000'000))
      ->capture_default_str();
}

void check_routers(const fabric::TorusConfig& torus) {
  std::string option = "--nodes";
  try {
    const fabric::Geometry geometry(torus.sizes, torus.joined);
    option = "--channels";
    const fabric::Routing routing(geometry, torus.algorithm, torus.channels);
  } catch (const std::invalid_argument& error) {
    throw BadInput(fmt::format("{}: {}", option, error.what()));
  }
}

Command add_fabric_command(CLI::App& app) {
  using command_line::whole_number;
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("fabric", "A torus or mesh of routers under random traffic");
  command->add_option("--nodes", options->nodes, "XxYxZ")->capture_default_str();
  command->add_flag("--mesh", options->mesh, "ends are not joined");
  add_router_options(*command, options->adaptive, options->network);
  command->add_option("--loss", options->network.link_loss, "probability that a packet is lost on a link")
      ->check(command_line::within(0, 1))
      ->capture_default_str();
  command->add_option("--load", options->load.flits, "flits that a node begins in a clock")
      ->check(command_line::within(0, 1))
      ->capture_default_str();
  command->add_option("--packet", options->load.packet_flits, "flits of a packet")
      ->check(whole_number(1, 65535))
      ->capture_default_str();
  constexpr uint64_t most_clocks = uint64_t{1}
                                   << 31;  // of each, so that both fit into what a part counts with
  command->add_option("--warmup", options->load.warmup, "clocks that are not measured")
      ->check(whole_number(0, most_clocks - 1))
      ->capture_default_str();
  command->add_option("--clocks", options->load.clocks, "clocks that are")
      ->check(whole_number(1, most_clocks))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "same seed, same run")
      ->check(whole_number())
      ->capture_default_str();
  command->add_option("--threads", options->threads, "that step parts of the network; same result")
      ->check(whole_number(1, 1024))
      ->capture_default_str();
  command->add_option("--json", options->json, "result as JSON")->check(command_line::result_file());
  return [options](const std::vector<std::string>&) { return run(*options); };
}

}  // namespace weft::sim

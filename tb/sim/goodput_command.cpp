// SPDX-License-Identifier: Apache-2.0
// weft-sim goodput: what loss costs in weft mode, by number of transfers, with and without what the receiver
// has against it.
#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "commands.hpp"
#include "common/command_line.hpp"
#include "rdma_run.hpp"
#include "report.hpp"

namespace weft::sim {

namespace {

constexpr uint64_t usual_bytes = 4 << 20;

struct Options {
  uint64_t bytes = usual_bytes;
  uint64_t seed = 1;
  std::vector<double> losses = {0, 1e-3, 1e-2, 5e-2};
  std::vector<uint32_t> transfers = {1, 16, 64, 256};
  std::vector<std::string> with;  // names of means; none: all
  double at_least = 0;            // of goodput, a share
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  std::string json;
  std::string markdown;
};

/// What a row of the table is measured with.
struct Means {
  const char* name;
  bool adapt;
  std::optional<uint8_t> ahead;
  uint32_t timeout = 0;  ///< cycles; 0: from the network
};

constexpr uint32_t timeout_after_reset = 4096;  // 64 ticks of 64 cycles (spec/rdma.json)
constexpr Means all_means[] = {{"as after reset", false, 0, timeout_after_reset},
                               {"timeouts as set", false, 0},
                               {"timeouts as measured", true, 0},
                               {"RX_AHEAD", false, std::nullopt},
                               {"both", true, std::nullopt}};

struct Case {
  const Means* means;
  RunConfig config;
};

std::vector<Case> all_cases(const Options& options) {
  std::vector<Case> cases;
  for (const double loss : options.losses) {
    for (const Means& means : all_means) {
      if (!options.with.empty() && !std::ranges::count(options.with, means.name)) continue;
      for (const uint32_t transfers : options.transfers) {
        RunConfig config;
        config.faults.loss = loss;
        config.transfers = transfers;
        config.adapt = means.adapt;
        config.ahead = means.ahead;
        config.timeout = means.timeout;
        config.seed = options.seed;
        cases.push_back({&means, config});
      }
    }
  }
  return cases;
}

std::vector<RunResult> run_cases(const std::vector<Case>& cases, const std::vector<uint8_t>& bytes,
                                 unsigned jobs) {
  std::vector<std::future<RunResult>> running(cases.size());
  const auto begin = [&](size_t index) {
    if (index >= cases.size()) return;
    running[index] =
        std::async(std::launch::async, [&, index] { return run_rdma(cases[index].config, bytes); });
  };
  for (size_t index = 0; index < jobs; ++index) begin(index);
  std::vector<RunResult> results;
  for (size_t index = 0; index < cases.size(); ++index) {
    results.push_back(running[index].get());
    begin(index + jobs);
  }
  return results;
}

/// A row of the table for each loss and means, a column for each number of transfers.
std::string table(const std::vector<Case>& cases, const std::vector<RunResult>& results,
                  const std::vector<uint32_t>& transfer_counts) {
  std::string text = "| lost | with |";
  for (const uint32_t transfers : transfer_counts) text += fmt::format(" {} |", transfers);
  text += "\n|---|---|";
  for (size_t column = 0; column < transfer_counts.size(); ++column) text += "---:|";
  for (size_t index = 0; index < cases.size(); ++index) {
    const Case& each = cases[index];
    if (index % transfer_counts.size() == 0) {
      text += fmt::format("\n| {:g} % | {} |", 100 * each.config.faults.loss, each.means->name);
    }
    text +=
        fmt::format(" {:.1f} %, {} |", 100 * results[index].goodput_fraction, results[index].packets_resent);
  }
  return text + "\n";
}

std::string page(const Options& options, const std::string& table) {
  return fmt::format(
      "# Goodput under loss\n\n"
      "Written by `weft-sim goodput --markdown`: two nodes that send {} bytes to each other at the same "
      "time, in weft mode, cut into so many\n"
      "transfers that are all posted at once; seed {}. Goodput as a share of what the link carries of "
      "payload, from the first post to the last\n"
      "completion, and packets sent again. Nothing but the packets lost leaves their order. These are clock "
      "cycles of a simulation, the same on every machine.\n\n"
      "*As after reset*: `ADAPT` 0, `RX_AHEAD` 0, timeouts of {} clocks, whatever the network is. "
      "*Timeouts as set*: `ADAPT` 0, four round trips and two turns of all transfers; *as measured*: `ADAPT` "
      "1, from two round trips and two turns to that.\n"
      "*RX_AHEAD*: 1 ([rdma.md](../rdma.md), Missing packets noticed without a timeout); else 0.\n\n{}",
      options.bytes, options.seed, timeout_after_reset, table);
}

int run(const Options& options) {
  const std::vector<Case> cases = all_cases(options);
  const std::vector<RunResult> results =
      run_cases(cases, random_bytes(options.bytes, options.seed), options.jobs);
  const std::string rows = table(cases, results, options.transfers);
  fmt::print("{}", rows);
  bool ok = true;
  nlohmann::json json = nlohmann::json::array();
  for (size_t index = 0; index < cases.size(); ++index) {
    const bool enough = results[index].goodput_fraction >= options.at_least;
    ok = ok && results[index].ok() && enough;
    json.push_back(to_json(cases[index].config, results[index]));
    json.back()["with"] = cases[index].means->name;
    if (!results[index].finding.empty()) fmt::print(stderr, "{}\n", results[index].finding);
    if (!enough)
      fmt::print(stderr, "goodput of {:.4f} is below --at-least\n", results[index].goodput_fraction);
  }
  fmt::print("{}\n", ok ? "every byte and every event as in the golden model" : "FAILED");
  if (!options.json.empty()) write_json(options.json, {{"ok", ok}, {"cases", json}});
  if (!options.markdown.empty()) write_text(options.markdown, page(options, rows));
  return ok ? exit_ok : exit_failed;
}

}  // namespace

Command add_goodput_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("goodput", "What loss costs, with and without the means against it");
  command->add_option("--bytes", options->bytes, "so many random bytes a node")
      ->check(command_line::whole_number(1, 1ull << 30))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "same seed, same runs")
      ->check(command_line::whole_number())
      ->capture_default_str();
  command
      ->add_option("--loss", options->losses, "shares of packets that are lost, a part of the table for each")
      ->check(command_line::within(0, 1))
      ->capture_default_str();
  command->add_option("--transfers", options->transfers, "numbers of transfers, a column for each")
      ->check(command_line::whole_number(1, 1024))
      ->capture_default_str();
  std::vector<std::string> names;
  for (const Means& means : all_means) names.emplace_back(means.name);
  command->add_option("--with", options->with, "rows of the table (default: all)")
      ->check(CLI::IsMember(names));
  command
      ->add_option("--at-least", options->at_least,
                   "fail if the goodput of a run is a smaller share of the link")
      ->check(command_line::within(0, 1));
  command->add_option("--jobs", options->jobs, "runs at a time; does not change any result")
      ->check(command_line::whole_number(1, 256));
  command->add_option("--json", options->json, "results as JSON")->check(command_line::result_file());
  command->add_option("--markdown", options->markdown, "results as a page")
      ->check(command_line::result_file());
  return [options](const std::vector<std::string>&) { return run(*options); };
}

}  // namespace weft::sim

// SPDX-License-Identifier: Apache-2.0
// weft-sim matrix: the same file through many kinds of bad network, one row each.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <thread>

#include "commands.hpp"
#include "common/command_line.hpp"
#include "rdma_run.hpp"
#include "report.hpp"

namespace weft::sim {

namespace {

constexpr uint64_t quick_bytes = 98'304;
constexpr uint64_t full_bytes = 1'048'576;  // of larger files the first so many
constexpr uint64_t big_bytes = 16 * full_bytes;

struct Options {
  std::string file;
  bool quick = false;
  uint64_t seed = 1;
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  std::string json;
};

struct Case {
  std::string name;
  RunConfig config;
  uint64_t bytes = 0;  ///< 0: as many as the other cases
};

std::string counted(uint32_t transfers) {
  return fmt::format("{} transfer{}", transfers, transfers == 1 ? "" : "s");
}

std::vector<Case> all_cases(uint64_t seed, bool quick) {
  std::vector<Case> cases;
  const auto add = [&](std::string name, const std::function<void(RunConfig&)>& set) {
    RunConfig config;
    config.transfers = 8;
    config.seed = seed + cases.size();
    set(config);
    cases.push_back({std::move(name), config});
  };
  const auto add_both = [&](const std::string& name, const std::function<void(RunConfig&)>& set) {
    add(name, set);
    add(name + ", paper", [&](RunConfig& config) {
      set(config);
      config.weft_mode = false;
    });
  };
  for (const double loss : {0.0, 1e-3, 5e-3, 1e-2, 5e-2}) {
    for (const uint32_t transfers : {1u, 64u}) {
      add_both(fmt::format("loss {:g}, {}", loss, counted(transfers)), [&](RunConfig& config) {
        config.faults.loss = loss;
        config.transfers = transfers;
      });
    }
  }
  for (const uint32_t degree : {8u, 128u, 1000u}) {
    for (const uint32_t transfers : {1u, 64u}) {
      add_both(fmt::format("reorder {}, {}", degree, counted(transfers)), [&](RunConfig& config) {
        config.faults.reorder_degree = degree;
        config.transfers = transfers;
      });
    }
    add_both(fmt::format("reorder {}, loss 5e-3", degree), [&](RunConfig& config) {
      config.faults.reorder_degree = degree;
      config.faults.loss = 5e-3;
    });
  }
  add("reorder 128, window 32", [](RunConfig& config) {
    config.faults.reorder_degree = 128;
    config.window = 32;
    config.transfers = 1;
  });
  add("reorder 16, window 64, 4 nodes", [](RunConfig& config) {
    config.faults.reorder_degree = 16;
    config.window = 64;
    config.nodes = 4;
  });
  add("duplicate 5e-2", [](RunConfig& config) { config.faults.duplicate = 5e-2; });
  add("corrupt 5e-3", [](RunConfig& config) { config.faults.corrupt = 5e-3; });
  add("pause 0.3, 64 transfers", [](RunConfig& config) {
    config.pause = 0.3;
    config.transfers = 64;
  });
  add("long delay, loss 1e-3", [](RunConfig& config) {
    config.faults.delay = 2000;
    config.faults.jitter = 500;
    config.faults.loss = 1e-3;
  });
  for (int i = 0; i < (quick ? 1 : 4); ++i) {
    add(fmt::format("all at once, #{}", i + 1), [](RunConfig& config) {
      config.faults = {};
      config.faults.loss = 2e-2;
      config.faults.duplicate = 2e-2;
      config.faults.corrupt = 1e-2;
      config.faults.reorder_degree = 64;
      config.faults.jitter = 100;
      config.faults.delay = 200;
      config.pause = 0.1;
      config.transfers = 16;
      config.nodes = 3;
    });
  }
  if (!quick) {
    add_both("16 MiB, reorder 512, loss 5e-3", [](RunConfig& config) {
      config.faults.reorder_degree = 512;
      config.faults.loss = 5e-3;
      config.transfers = 1;
    });
    add_both("16 MiB, loss 1e-2, 256 transfers", [](RunConfig& config) {
      config.faults.loss = 1e-2;
      config.transfers = 256;
    });
    for (size_t last = cases.size() - 4; last < cases.size(); ++last) cases[last].bytes = big_bytes;
  }
  return cases;
}

/// The file over and over, up to so many bytes.
std::vector<uint8_t> repeated(const std::vector<uint8_t>& bytes, uint64_t count) {
  std::vector<uint8_t> result;
  result.reserve(count);
  while (result.size() < count && !bytes.empty()) {
    const auto part = static_cast<std::ptrdiff_t>(std::min<uint64_t>(bytes.size(), count - result.size()));
    result.insert(result.end(), bytes.begin(), bytes.begin() + part);
  }
  return result;
}

/// A fault that was asked for, should have happened ten times or more by its probability, and never did; or
/// what should never have happened.
std::string surprise(const RunConfig& config, const RunResult& result) {
  const auto expected = [&](double probability) {
    return probability * static_cast<double>(result.packets_sent) >= 10;
  };
  if (expected(config.faults.loss) && result.network.lost == 0) return "no packet was lost";
  if (expected(config.faults.duplicate) && result.network.duplicated == 0) return "no packet was duplicated";
  if (expected(config.faults.corrupt) && result.network.corrupted == 0) return "no packet was corrupted";
  const uint64_t packets_per_transfer = result.data_packets / std::max<uint64_t>(1, result.transfers);
  const bool far = !config.weft_mode && config.faults.reorder_degree > config.window &&
                   packets_per_transfer > 10 * config.window;
  if (far && !result.drops.contains("DROP_WINDOW")) return "no packet came from beyond the window";
  const bool all_arrives = result.network.lost == 0 && result.network.corrupted == 0;
  if (config.weft_mode && all_arrives && result.packets_resent > 0)
    return "packets were sent again although all arrive";
  return {};
}

std::string row(const Case& each, const RunResult& result) {
  return fmt::format("{:<40} {:>10} {:>8.1f} {:>9} {:>8} {:>8} {:>9} {:>10}  {}\n", each.name, result.cycles,
                     100 * result.goodput_fraction, result.packets_sent, result.packets_resent,
                     result.packets_dropped, result.events, result.trace_mismatches + result.wrong_bytes,
                     result.ok()   ? "ok"
                     : result.hang ? "NOT FINISHED"
                                   : "FAILED");
}

std::string own_command(const std::vector<std::string>& arguments, const std::string& file, uint64_t bytes,
                        const Case& each) {
  const RunConfig& config = each.config;
  std::vector<std::string> words = {arguments.front(), "rdma",
                                    "--file",          file,
                                    "--bytes",         fmt::format("{}", bytes),
                                    "--nodes",         fmt::format("{}x1x1", config.nodes)};
  const auto add = [&](const char* name, auto value, auto usual) {
    if (value == usual) return;
    words.push_back(name);
    words.push_back(fmt::format("{}", value));
  };
  const RunConfig usual;
  add("--transfers", config.transfers, usual.transfers);
  add("--loss", config.faults.loss, usual.faults.loss);
  add("--duplicate", config.faults.duplicate, usual.faults.duplicate);
  add("--corrupt", config.faults.corrupt, usual.faults.corrupt);
  add("--reorder", config.faults.reorder_degree, usual.faults.reorder_degree);
  add("--delay", config.faults.delay, usual.faults.delay);
  add("--jitter", config.faults.jitter, usual.faults.jitter);
  add("--pause", config.pause, usual.pause);
  add("--window", config.window, usual.window);
  add("--mode", config.weft_mode ? "weft" : "paper", "weft");
  add("--seed", config.seed, ~0ull);
  return reproduction(words);
}

/// Runs the cases side by side and tells each in its turn.
bool run_cases(const Options& options, const std::vector<std::string>& arguments,
               const std::vector<Case>& cases, const std::vector<uint8_t>& bytes, nlohmann::json& rows) {
  std::vector<std::future<RunResult>> running(cases.size());
  const auto begin = [&](size_t index) {
    if (index >= cases.size()) return;
    running[index] = std::async(std::launch::async, [&, index] {
      const Case& each = cases[index];
      return run_rdma(each.config, each.bytes == 0 ? bytes : repeated(bytes, each.bytes));
    });
  };
  for (size_t index = 0; index < options.jobs; ++index) begin(index);
  bool ok = true;
  for (size_t index = 0; index < cases.size(); ++index) {
    const RunResult result = running[index].get();
    begin(index + options.jobs);
    fmt::print("{}", row(cases[index], result));
    std::fflush(stdout);
    rows.push_back(to_json(cases[index].config, result));
    rows.back()["case"] = cases[index].name;
    const std::string odd = surprise(cases[index].config, result);
    if (!odd.empty()) fmt::print(stderr, "{}: {}\n", cases[index].name, odd);
    if (result.ok() && odd.empty()) continue;
    ok = false;
    if (!result.finding.empty()) fmt::print(stderr, "{}\n", result.finding);
    fmt::print(stderr, "{}\n", own_command(arguments, options.file, bytes.size(), cases[index]));
  }
  return ok;
}

int run(const Options& given, const std::vector<std::string>& arguments) {
  Options options = given;
  if (options.file.empty()) options.file = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<uint8_t> bytes = read_file(options.file);
  const uint64_t most = options.quick ? quick_bytes : full_bytes;
  if (bytes.size() > most) bytes.resize(most);
  std::vector<Case> cases = all_cases(options.seed, options.quick);
  std::erase_if(cases, [](const Case& each) { return !window_available(each.config.window); });
  fmt::print("{} bytes of {} per node, seed {}\n", bytes.size(), options.file, options.seed);
  fmt::print("{:<32} {:>10} {:>8} {:>9} {:>8} {:>8} {:>9} {:>10}\n", "case", "cycles", "goodput%", "packets",
             "resent", "dropped", "events", "differ");
  nlohmann::json rows = nlohmann::json::array();
  const auto began = std::chrono::steady_clock::now();
  const bool ok = run_cases(options, arguments, cases, bytes, rows);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  fmt::print("{} cases in {:.1f} s: {}\n", cases.size(), seconds.count(),
             ok ? "every byte and every event as in the golden model" : "FAILED");
  if (!options.json.empty()) {
    write_json(options.json, {{"ok", ok}, {"seed", options.seed}, {"bytes", bytes.size()}, {"cases", rows}});
  }
  return ok ? exit_ok : exit_failed;
}

}  // namespace

Command add_matrix_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("matrix", "One file through many kinds of bad network");
  command->add_option("--file", options->file, "file to send; default: this program")
      ->check(command_line::file_name());
  command->add_flag("--quick", options->quick, "fewer bytes and cases");
  command->add_option("--seed", options->seed, "same seed, same runs")
      ->check(command_line::whole_number())
      ->capture_default_str();
  command->add_option("--jobs", options->jobs, "cases at a time")->check(command_line::whole_number(1, 256));
  command->add_option("--json", options->json, "results as JSON")->check(command_line::result_file());
  return [options](const std::vector<std::string>& arguments) { return run(*options, arguments); };
}

}  // namespace weft::sim

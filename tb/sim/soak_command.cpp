// SPDX-License-Identifier: Apache-2.0
// weft-sim soak: the fault campaign, many seeded runs side by side, or one of them again.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "commands.hpp"
#include "common/command_line.hpp"
#include "other_program.hpp"
#include "report.hpp"
#include "soak_report.hpp"

namespace weft::sim {

namespace {

constexpr uint64_t failures_told = 5;  // in full, on the terminal

struct Options {
  uint64_t runs = 1000;
  uint64_t seed = 1;
  std::optional<uint64_t> run;
  double minutes = 0;  ///< 0: as long as it takes
  unsigned threads = 2;
  std::string build;
  bool every_fault = false;
  std::string json;
  std::string markdown;
  SoakOptions one;
};

struct Done {
  Plan plan;
  SoakResult result;
};

Done run_seed(uint64_t seed, const Options& options) {
  Done done{make_plan(seed, options.build), {}};
  try {
    done.result = run_soak(done.plan, options.one);
  } catch (const BadInput&) {
    throw;
  } catch (const std::exception& error) {
    done.result.finding = error.what();
  }
  return done;
}

/// Runs seeds on several threads and hands the results over in the order of the seeds.
class Campaign {
 public:
  explicit Campaign(const Options& options) : options_(options), runs_(options.runs), done_(options.runs) {
    if (options.minutes > 0) end_ = Clock::now() + std::chrono::seconds(std::lround(60 * options.minutes));
  }

  template <typename OnDone>
  void run(OnDone on_done) {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < options_.threads; ++i) threads.emplace_back([this] { work(); });
    for (uint64_t index = 0; wait_for(index); ++index) on_done(*std::exchange(done_[index], nullptr));
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Seeds are taken in order, so that what is done when time is up has no gaps.
  std::optional<uint64_t> take() {
    const std::lock_guard lock(mutex_);
    if (end_ && Clock::now() > *end_ && next_ > 0) runs_ = std::min(runs_, next_);
    if (next_ >= runs_) return std::nullopt;
    return next_++;
  }

  void work() {
    while (const auto index = take()) {
      std::unique_ptr<Done> done;
      std::exception_ptr error;
      try {
        done = std::make_unique<Done>(run_seed(options_.seed + *index, options_));
      } catch (...) {
        error = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      done_[*index] = std::move(done);
      if (error) {
        runs_ = 0;
        error_ = error;
      }
      changed_.notify_all();
    }
    changed_.notify_all();
  }

  /// Until that run is done; false if there is none such.
  bool wait_for(uint64_t index) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return index >= runs_ || done_[index]; });
    if (error_) std::rethrow_exception(error_);
    return index < runs_;
  }

  const Options& options_;
  std::optional<Clock::time_point> end_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t next_ = 0;
  uint64_t runs_;
  std::vector<std::unique_ptr<Done>> done_;
  std::exception_ptr error_;
};

/// The command of this program for one run, without its seed.
std::string command_for_one(const std::string& program, const Options& options) {
  std::string command = program + " soak";
  if (!options.build.empty()) command += " --build " + options.build;
  return command + " --run";
}

int run(Options& options, const std::vector<std::string>& arguments) {
  const bool one_run_only = !options.one.trace_dir.empty() || !options.one.waves.empty();
  if (one_run_only && !options.run) throw BadInput("--trace and --waves are for one run: add --run SEED");
  if (options.run) {
    options.seed = *options.run;
    options.runs = 1;
  }
  if (options.one.waves.empty()) {
    prepare_soak(options.build, arguments);
  } else {
    prepare_waves(options.one.waves, arguments);
  }
  options.threads = static_cast<unsigned>(std::min<uint64_t>(options.threads, options.runs));

  SoakReport report(options.seed, command_for_one(arguments.front(), options),
                    options.build == older_engines);
  const bool terminal = isatty(STDERR_FILENO);
  const auto began = std::chrono::steady_clock::now();
  uint64_t done_runs = 0, failed = 0;
  Campaign(options).run([&](const Done& done) {
    report.add(done.plan, done.result);
    done_runs++;
    if (terminal) fmt::print(stderr, "\r{:79}\r", "");
    if (!done.result.ok() && failed++ < failures_told) {
      fmt::print(stderr, "seed {}: {}\n{}\n", done.plan.seed, done.result.finding,
                 "to see it again: " + report.reproduction(done.plan.seed));
    }
    if (terminal) fmt::print(stderr, "  {}/{} runs, {} failed", done_runs, options.runs, failed);
    std::fflush(stderr);
  });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  if (terminal) fmt::print(stderr, "\r{:79}\r", "");
  if (!options.json.empty()) write_json(options.json, report.json());
  if (!options.markdown.empty()) write_text(options.markdown, report.markdown());
  fmt::print("{}  {:<26} {:.1f} s\n", report.table(), "time", seconds.count());
  const bool enough = !options.every_fault || report.faults_never_seen().empty();
  if (!enough) fmt::print(stderr, "--every-fault: some packets never met a fault (above)\n");
  return report.ok() && enough ? exit_ok : exit_failed;
}

}  // namespace

Command add_soak_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("soak", "Fault campaign: seeded runs with random faults, all checked");
  command->add_option("--runs", options->runs, "so many, with seeds from --seed on")
      ->check(command_line::whole_number(1, 10'000'000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of the first run; same seed, same run")
      ->check(command_line::whole_number())
      ->capture_default_str();
  command->add_option("--minutes", options->minutes, "no run begins after so many; 0: all do")
      ->check(command_line::within(0, 1e6))
      ->capture_default_str();
  CLI::Option* one = command->add_option("--run", options->run, "only the run with this seed")
                         ->check(command_line::whole_number());
  one->excludes("--runs")->excludes("--seed");
  command->add_option("--threads", options->threads, "runs at a time; does not change any result")
      ->check(command_line::whole_number(1, 256))
      ->capture_default_str();
  command->add_option(
      "--build", options->build,
      "engine for all runs, instead of those that the seeds draw; older: those of older schemes");
  command->add_flag("--every-fault", options->every_fault,
                    "fail unless packets of every type were lost, duplicated, overtaken and corrupted");
  command->add_option("--json", options->json, "results as JSON")->check(command_line::result_file());
  command->add_option("--markdown", options->markdown, "results as a page")
      ->check(command_line::result_file());
  command->add_option("--trace", options->one.trace_dir, "with --run: folder for the event traces")
      ->check(command_line::file_name());
  command->add_option("--waves", options->one.waves, "with --run: FST wave file")
      ->check(command_line::file_name());
  return [options](const std::vector<std::string>& arguments) { return run(*options, arguments); };
}

}  // namespace weft::sim

// SPDX-License-Identifier: Apache-2.0
// weft-sim switch-bench: lookups a clock, and how many clocks each takes.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "commands.hpp"
#include "common/command_line.hpp"
#include "report.hpp"
#include "switch/lookup_block.hpp"
#include "switch/lookup_rate.hpp"

namespace weft::sim {

namespace {

constexpr uint64_t latency_clocks = 4;  // docs/switch.md, Pipeline
constexpr uint64_t most_in_block = 4;   // lookups: so many more or less may come out while one counts

struct Options {
  uint64_t clocks = 200'000, seed = 1;
  std::string json, markdown;
};

struct Measured {
  tb::RateCase what;
  tb::LookupRate rate;

  bool ok() const {
    const bool latency = rate.least_latency == latency_clocks && rate.most_latency == latency_clocks;
    const bool images = !what.updates || rate.images > 0;
    const bool fast =
        static_cast<double>(rate.lookups + most_in_block) >= what.wanted * static_cast<double>(rate.usable);
    return fast && images && (!what.wants_latency || latency);
  }
};

struct Results {
  std::vector<Measured> cases;
  double golden_per_second = 0;

  bool ok() const { return std::ranges::all_of(cases, &Measured::ok); }
};

tb::RateCase full_rate(std::string what, uint32_t inputs, double multicast) {
  tb::RateCase rate_case;
  rate_case.what = std::move(what);
  rate_case.inputs = inputs;
  rate_case.multicast = multicast;
  rate_case.wanted = 1;
  rate_case.wants_latency = true;
  return rate_case;
}

std::vector<tb::RateCase> all_cases() {
  std::vector<tb::RateCase> cases = {
      full_rate("unicast, one input", 1, 0), full_rate("multicast, one input", 1, 1),
      full_rate("both, one input", 1, 0.5), full_rate("both, four inputs", 4, 0.5)};
  cases.push_back(full_rate("the same, images by management packets", 4, 0.5));
  cases.back().updates = true;
  cases.push_back(full_rate("the same, an entry scrubbed every 1,024 clocks", 4, 0.5));
  cases.back().scrub_period = 1024;
  cases.back().wanted = 1023.0 / 1024;
  cases.back().wants_latency = false;
  for (const double pauses : {0.1, 0.25, 0.5}) {
    const std::string share = fmt::format("{:.0f} % pauses", 100 * pauses);
    cases.push_back(full_rate("one input, " + share, 1, 0.5));
    cases.back().input_pauses = pauses;
    cases.push_back(full_rate("four inputs, results: " + share, 4, 0.5));
    cases.back().output_pauses = pauses;
    cases.back().wants_latency = false;
    cases.push_back(full_rate("one input and results, " + share, 1, 0.5));
    cases.back().input_pauses = cases.back().output_pauses = pauses;
    cases.back().wants_latency = false;
    cases.back().wanted = 0;
  }
  cases.push_back(full_rate("both, four inputs, nothing compared", 4, 0.5));
  cases.back().compared = false;
  return cases;
}

Results measure_all(const Options& options) {
  Results results;
  fmt::print("{:<48} {:>10} {:>10} {:>10} {:>14}\n", "lookups", "a clock", "of usable", "latency",
             "a second");
  for (const tb::RateCase& each : all_cases()) {
    results.cases.push_back({each, tb::measure(each, options.clocks, options.seed)});
    const Measured& measured = results.cases.back();
    fmt::print("{:<48} {:>10.4f} {:>10.4f} {:>10.2f} {:>14.0f}{}\n", each.what, measured.rate.per_clock(),
               measured.rate.per_usable(), measured.rate.latency(), measured.rate.per_second(),
               measured.ok() ? "" : "  NOT AS WANTED");
  }
  results.golden_per_second = tb::golden_lookups_per_second(options.clocks, options.seed);
  fmt::print("{:<48} {:>46.0f}\n", "golden model alone", results.golden_per_second);
  return results;
}

nlohmann::json to_json(const Options& options, const Results& results) {
  nlohmann::json json = {{"ok", results.ok()},
                         {"seed", options.seed},
                         {"golden_lookups_per_second", results.golden_per_second},
                         {"cases", nlohmann::json::array()}};
  for (const auto& [what, rate] : results.cases)
    json["cases"].push_back({{"what", what.what},
                             {"inputs", what.inputs},
                             {"multicast", what.multicast},
                             {"input_pauses", what.input_pauses},
                             {"output_pauses", what.output_pauses},
                             {"compared", what.compared},
                             {"lookups", rate.lookups},
                             {"clocks", rate.clocks},
                             {"usable_clocks", rate.usable},
                             {"lookups_per_clock", rate.per_clock()},
                             {"lookups_per_usable_clock", rate.per_usable()},
                             {"wanted", what.wanted},
                             {"least_latency", rate.least_latency},
                             {"mean_latency", rate.latency()},
                             {"most_latency", rate.most_latency},
                             {"images", rate.images},
                             {"lookups_per_second", rate.per_second()}});
  return json;
}

std::string markdown(const Options& options, const Results& results) {
  const auto sizes = tb::rate_sizes();
  std::string text = fmt::format(
      "# Speed of the switch lookup block\n\nWritten by `make switch-bench` (`weft-sim switch-bench`, seed "
      "{}): clocks counted at the pins of `switch_lookup` in simulation, {} ports, {} multicast and {} "
      "unicast entries, four inputs; {} clocks each, every result compared with the golden model unless said "
      "otherwise. Clock rates that hardware reaches: [switch_area.md](switch_area.md).\n\n*Usable*: clocks "
      "in which an input had a request and results "
      "were taken; where neither side pauses, or one of them, every such clock has to bring a result, but "
      "for the four that are in the block at the end. "
      "*Latency*: clocks of a lookup, from the one in which the request is taken to the one in which its "
      "result is, both included; wanted are four of each where results are "
      "always taken and nothing is scrubbed; else requests wait. Where both sides pause, a request that came "
      "in an unusable clock may go on in a later one, so nothing is wanted of usable clocks there. *Beside "
      "the golden model*: lookups a "
      "second of processor time, as share of what the golden model alone does in the same process; the test "
      "bench, which draws the requests, counts for both.\n\n"
      "| what | lookups | lookups a clock | of usable clocks | wanted | latency: least / mean / most | "
      "images "
      "in use meanwhile | beside the golden model |\n|---|---:|---:|---:|---:|---:|---:|---:|\n",
      options.seed, sizes.ports, sizes.colours, sizes.unicast_entries, options.clocks);
  for (const auto& [what, rate] : results.cases)
    text += fmt::format(
        "| {} | {} | {:.4f} | {} | {} | {} / {:.2f} / {} | {} | {:.3f} |\n", what.what, rate.lookups,
        rate.per_clock(), what.wanted > 0 ? fmt::format("{:.4f}", rate.per_usable()) : "–",
        what.wanted > 0 ? fmt::format("{:.4f}", what.wanted) : "–", rate.least_latency, rate.latency(),
        rate.most_latency, rate.images, rate.per_second() / results.golden_per_second);
  return text + fmt::format(
                    "\nThe golden model alone: {:.1f} million lookups a second on the machine that "
                    "wrote this page, beside whatever else it did.\n",
                    results.golden_per_second / 1e6);
}

int run(const Options& options) {
  const Results results = measure_all(options);
  if (!options.json.empty()) write_json(options.json, to_json(options, results));
  if (!options.markdown.empty()) write_text(options.markdown, markdown(options, results));
  fmt::print("{}\n", results.ok() ? "everything as fast as wanted" : "NOT everything as fast as wanted");
  return results.ok() ? exit_ok : exit_failed;
}

}  // namespace

Command add_switch_bench_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("switch-bench", "Speed of the switch lookup block: lookups a clock, their latency");
  command
      ->add_option("--clocks", options->clocks,
                   "that are counted of each kind of traffic; in fewer no image would come in by packets")
      ->check(CLI::Range(uint64_t{5000}, uint64_t{1} << 32))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "same seed, same run")
      ->check(command_line::whole_number())
      ->capture_default_str();
  command->add_option("--json", options->json, "results as JSON")->check(command_line::result_file());
  command->add_option("--markdown", options->markdown, "results as a page")
      ->check(command_line::result_file());
  return [options](const std::vector<std::string>&) { return run(*options); };
}

}  // namespace weft::sim

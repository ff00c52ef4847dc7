// SPDX-License-Identifier: Apache-2.0
// weft-sim bench: the table of speeds.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "bench_latency.hpp"
#include "bench_run.hpp"
#include "commands.hpp"
#include "common/command_line.hpp"
#include "other_program.hpp"
#include "report.hpp"

namespace weft::sim {

namespace {

struct Options {
  bool quick = false;
  uint32_t message_bytes = 0;  // 0: the table of speeds
  std::string json;
  std::string markdown;
};

constexpr uint32_t transfer_bytes = 256 << 10;
constexpr double wanted_goodput = 0.99;

std::vector<std::function<Rate()>> all_rates() {
  return {headers_of_one_context, headers_of_many_contexts, new_data_of_many_contexts, responses,
          data_of_one_beat,       data_of_many_transfers};
}

std::vector<Goodput> all_goodputs(bool quick) {
  const auto one = [](std::string what, uint32_t transfers, uint32_t bytes, bool both_ways, uint32_t delay) {
    Goodput goodput;
    goodput.what = std::move(what);
    goodput.build = "w128";
    goodput.transfers = transfers;
    goodput.bytes = bytes;
    goodput.both_ways = both_ways;
    goodput.delay = delay;
    goodput.wanted = wanted_goodput;
    return goodput;
  };
  std::vector<Goodput> cases = {one("one transfer of 256 KiB", 1, transfer_bytes, false, 1)};
  cases.push_back(one("eight at once, memory answers after 250 clocks", 8, transfer_bytes, false, 1));
  cases.back().memory_latency = 250;
  if (quick) return cases;
  cases.push_back(one("one transfer, links of 100 clocks", 1, transfer_bytes, false, 100));
  cases.push_back(one("one transfer, both nodes send", 1, transfer_bytes, true, 1));
  cases.push_back(one("eight transfers of 256 KiB at once", 8, transfer_bytes, false, 1));
  cases.push_back(one("the same, both nodes send", 8, transfer_bytes, true, 1));
  cases.push_back(one("eight transfers of 256 KiB, links of 1,000 clocks", 8, transfer_bytes, false, 1000));
  cases.push_back(
      one("packets of two beats (`line`), one transfer of 64 KiB", 1, transfer_bytes / 4, false, 1));
  cases.back().build = "line";
  cases.back().wanted = 0;  // its turn comes round in five clocks
  cases.push_back(one("packets of two beats (`line`), eight at once", 8, transfer_bytes / 4, false, 1));
  cases.back().build = "line";
  return cases;
}

constexpr uint32_t latency_delays[] = {1, 100};

struct Results {
  std::vector<Rate> rates;
  std::vector<Goodput> goodputs;
  std::vector<Latency> latencies;

  bool ok() const {
    for (const Rate& rate : rates) {
      if (!rate.ok()) return false;
    }
    for (const Goodput& goodput : goodputs) {
      if (!goodput.ok()) return false;
    }
    return std::ranges::all_of(latencies, &Latency::ok);
  }
};

std::string name(const Latency& latency) { return std::string(rdma_queues::formats::name(latency.opcode)); }

template <typename Numbers>
std::string columns(const Numbers& numbers) {
  std::string text;
  for (const auto& number : numbers) text += fmt::format("{:>8} ", number);
  return text;
}

template <typename Figure>
void tell(const Figure& figure, const std::string& what, const std::string& line) {
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r{:60}\r", "");
  fmt::print("{}{}\n", line, figure.ok() ? "" : "  NOT AS WANTED");
  std::fflush(stdout);
  if (!figure.finding.empty()) fmt::print(stderr, "{}: {}\n", what, figure.finding);
}

Results run_all(bool quick) {
  const bool terminal = isatty(STDERR_FILENO);
  Results results;
  fmt::print("{:<52} {:>8} {:>8} {:>8}\n", "packets one after the other", "packets", "clocks", "a clock");
  for (const auto& run : all_rates()) {
    if (terminal) fmt::print(stderr, "  {} of {} rates", results.rates.size(), all_rates().size());
    const Rate rate = run();
    tell(rate, rate.what,
         fmt::format("{:<52} {:>8} {:>8} {:>8.4f}", rate.what, rate.packets, rate.clocks, rate.per_clock()));
    results.rates.push_back(rate);
  }
  const std::vector<Goodput> cases = all_goodputs(quick);
  fmt::print("{:<52} {:>8} {:>8} {:>8} {:>8}\n", "transfers without loss", "on link", "%", "in all", "%");
  for (const Goodput& each : cases) {
    if (terminal) fmt::print(stderr, "  {} of {} transfers", results.goodputs.size(), cases.size());
    const Goodput goodput = measure(each);
    tell(goodput, goodput.what,
         fmt::format("{:<52} {:>8} {:>8.2f} {:>8} {:>8.2f}", goodput.what, goodput.link_clocks,
                     100 * goodput.on_link(), goodput.total_clocks, 100 * goodput.in_all()));
    results.goodputs.push_back(goodput);
  }
  for (const uint32_t delay : latency_delays) {
    fmt::print("{:<52} {}\n", fmt::format("clocks of a message of so many bytes, links of {}", delay),
               columns(latency_bytes));
    if (terminal) fmt::print(stderr, "  latencies");
    for (const Latency& latency : latencies(delay)) {
      tell(latency, name(latency), fmt::format("{:<52} {}", name(latency), columns(latency.clocks)));
      results.latencies.push_back(latency);
    }
    if (quick) break;
  }
  return results;
}

nlohmann::json to_json(const Results& results) {
  nlohmann::json json = {{"ok", results.ok()},
                         {"rates", nlohmann::json::array()},
                         {"goodput", nlohmann::json::array()},
                         {"latency", nlohmann::json::array()}};
  for (const Rate& rate : results.rates) {
    json["rates"].push_back({{"what", rate.what},
                             {"build", rate.build},
                             {"packets", rate.packets},
                             {"clocks", rate.clocks},
                             {"packets_per_clock", rate.per_clock()},
                             {"wanted", rate.wanted},
                             {"ok", rate.ok()}});
  }
  for (const Goodput& goodput : results.goodputs) {
    json["goodput"].push_back({{"what", goodput.what},
                               {"build", goodput.build},
                               {"transfers", goodput.transfers},
                               {"bytes", goodput.bytes},
                               {"both_ways", goodput.both_ways},
                               {"delay", goodput.delay},
                               {"memory_latency", goodput.memory_latency},
                               {"ideal_clocks", goodput.ideal_clocks},
                               {"link_clocks", goodput.link_clocks},
                               {"total_clocks", goodput.total_clocks},
                               {"goodput_on_link", goodput.on_link()},
                               {"goodput_in_all", goodput.in_all()},
                               {"wanted_on_link", goodput.wanted},
                               {"ok", goodput.ok()}});
  }
  for (const Latency& latency : results.latencies) {
    json["latency"].push_back({{"opcode", name(latency)},
                               {"build", latency_build},
                               {"delay", latency.delay},
                               {"bytes", latency_bytes},
                               {"clocks_to_completion", latency.clocks},
                               {"clocks_to_arrival", latency.arrival},
                               {"ok", latency.ok()}});
  }
  return json;
}

std::string table_cells(const std::vector<uint64_t>& clocks) {
  std::string text;
  for (const uint64_t each : clocks) text += fmt::format(" {} |", each);
  return text + "\n";
}

std::string latency_markdown(const Results& results) {
  std::string text =
      "\n## One message between idle NICs\n\n"
      "Engine `nic_default`, the defaults of `rdma_nic`. Clocks from the doorbell in the driver's hands to "
      "the "
      "entry in the completion ring, polled in each clock: fetch of the request,\n"
      "its checks, request and response over the network, payload, DONE, completion. Each of the reads and "
      "writes of memory that follow one another is answered after 10 clocks. *Arrival*:\n"
      "the completion of the RECV at the peer.\n\n"
      "| message, links |";
  for (const uint32_t bytes : latency_bytes) text += fmt::format(" {} bytes |", bytes);
  text += "\n|---|";
  for (size_t i = 0; i < std::size(latency_bytes); ++i) text += "---:|";
  text += "\n";
  for (const Latency& latency : results.latencies) {
    const std::string links = latency.delay == 1 ? "1 clock" : fmt::format("{} clocks", latency.delay);
    text += fmt::format("| {}, {} |", name(latency), links) + table_cells(latency.clocks);
    if (!latency.arrival.empty())
      text += fmt::format("| {}, {}: arrival |", name(latency), links) + table_cells(latency.arrival);
  }
  return text;
}

std::string markdown(const Results& results) {
  std::string text =
      "# Speed\n\nWritten by `make bench`: clocks counted at the pins of the engine in simulation, every "
      "event compared with the golden\n"
      "model meanwhile. Clock rates that hardware reaches: [area.md](area.md).\n\n"
      "## Packets one after the other\n\n"
      "Engine `line`: beats of 64 bytes, so that a header and 32 bytes of payload are one beat. Clocks from "
      "the first to the last.\n\n"
      "| what | packets | clocks | packets a clock | wanted |\n|---|---:|---:|---:|---:|\n";
  for (const Rate& rate : results.rates) {
    text += fmt::format("| {} | {} | {} | {:.4f} | {:.0f} |\n", rate.what, rate.packets, rate.clocks,
                        rate.per_clock(), rate.wanted);
  }
  text +=
      "\n## Transfers without loss\n\n"
      "Engine `w128`, the defaults: beats of 32 bytes, 256 bytes in a packet of nine beats. Goodput is the "
      "share of what a link can carry in full DATA packets, which is 8/9 of\n"
      "its bits. *On the link*: from the first to the last beat of DATA. *In all*: from the first request in "
      "the driver's hands to the last completion, with the posts through\n"
      "registers, request, response, the way there, memory, and DONE. Memory answers after 10 clocks unless "
      "said otherwise. A transfer has a turn in five clocks at the most: where packets are shorter than five "
      "beats, as in engine `line`, one alone does not fill the link.\n\n"
      "| what | clocks of the DATA alone | on the link | goodput | wanted | in all | goodput "
      "|\n|---|---:|---:|---:|---:|---:|---:|\n";
  for (const Goodput& goodput : results.goodputs) {
    const std::string wanted = goodput.wanted > 0 ? fmt::format("{:.0f} %", 100 * goodput.wanted) : "–";
    text += fmt::format("| {} | {} | {} | {:.2f} % | {} | {} | {:.2f} % |\n", goodput.what,
                        goodput.ideal_clocks, goodput.link_clocks, 100 * goodput.on_link(), wanted,
                        goodput.total_clocks, 100 * goodput.in_all());
  }
  return text + latency_markdown(results);
}

constexpr uint32_t long_delay = 20;  // clocks, as weft-sim rdma has
constexpr double long_loss = 1e-5;

/// One message of each kind, and nothing else.
int run_messages(const Options& options) {
  fmt::print("{:<52} {:>8} {:>12}\n", "one message of each kind between two NICs", "MiB", "clocks");
  bool ok = true;
  for (const Latency& latency : long_messages(options.message_bytes, long_delay, long_loss)) {
    tell(latency, name(latency),
         fmt::format("{:<52} {:>8.1f} {:>12}", name(latency), options.message_bytes / double{1 << 20},
                     latency.clocks.front()));
    ok = ok && latency.ok();
  }
  fmt::print("{}\n", ok ? "every message arrived whole" : "NOT every message arrived whole");
  return ok ? exit_ok : exit_failed;
}

int run(const Options& options, const std::vector<std::string>& arguments) {
  prepare_bench(arguments);
  if (options.message_bytes > 0) return run_messages(options);
  const Results results = run_all(options.quick);
  if (!options.json.empty()) write_json(options.json, to_json(results));
  if (!options.markdown.empty()) write_text(options.markdown, markdown(results));
  fmt::print("{}\n", results.ok() ? "everything as fast as wanted" : "NOT everything as fast as wanted");
  return results.ok() ? exit_ok : exit_failed;
}

}  // namespace

Command add_bench_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("bench", "Speed in clocks: packets a clock, goodput without loss");
  command->add_flag("--quick", options->quick, "fewer transfers");
  command
      ->add_option(
          "--messages", options->message_bytes,
          "instead: one WRITE, WRITE with immediate, SEND and READ of so many bytes between two NICs, over a "
          "network that loses packets")
      ->check(CLI::Range(uint32_t{1}, uint32_t{1} << 30));
  command->add_option("--json", options->json, "results as JSON")->check(command_line::result_file());
  command->add_option("--markdown", options->markdown, "results as a page")
      ->check(command_line::result_file());
  return [options](const std::vector<std::string>& arguments) { return run(*options, arguments); };
}

}  // namespace weft::sim

// SPDX-License-Identifier: Apache-2.0
// weft-sim barrier: barrier engines on the nodes of a mesh; one run as asked for, or a campaign of drawn
// ones.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "barrier/engine_node.hpp"
#include "barrier/mesh_run.hpp"
#include "commands.hpp"
#include "common/command_line.hpp"
#include "common/fault.hpp"
#include "rdma_run.hpp"
#include "report.hpp"

namespace weft::sim {

namespace {

/// How many false deaths are to be expected of a run whose false deaths are no fault of the engines.
constexpr double feared = 0.001;

struct Options {
  tb::BarrierRun run;
  std::string mesh = "4x4", engines = "rtl", numbering = "centre", shape = "lct", json, markdown;
  uint32_t runs = 0;
};

const std::map<std::string, tb::BarrierRun::Engines> engine_names{{"rtl", tb::BarrierRun::Engines::rtl},
                                                                  {"golden", tb::BarrierRun::Engines::golden},
                                                                  {"mixed", tb::BarrierRun::Engines::mixed}};
const std::map<std::string, barrier::Numbering> numbering_names{{"s-curve", barrier::Numbering::s_curve},
                                                                {"morton", barrier::Numbering::morton},
                                                                {"centre", barrier::Numbering::centre}};

nlohmann::json to_json(const Options& options, const tb::BarrierRunResult& result) {
  const tb::BarrierRun& run = options.run;
  const barrier::Waiting waiting = tb::waiting_of(run);
  const auto or_null = [](const auto& value) { return value ? nlohmann::json(*value) : nlohmann::json(); };
  return {{"mesh", options.mesh},
          {"engines", options.engines},
          {"numbering", options.numbering},
          {"tree", options.shape},
          {"block_log2", run.block_log2},
          {"multicast", run.multicast},
          {"groups", run.groups},
          {"barriers_wanted", run.barriers},
          {"think", run.think},
          {"together", run.together},
          {"killed", or_null(run.dies)},
          {"broken", run.broken},
          {"broken_later", or_null(run.later)},
          {"hop", run.faults.delay},
          {"loss", run.faults.loss},
          {"duplicate", run.faults.duplicate},
          {"corrupt", run.faults.corrupt},
          {"reorder", run.faults.reorder_degree},
          {"jitter", run.faults.jitter},
          {"load", run.background.load},
          {"tick_clocks", tb::engine_tick},
          {"first_ticks", waiting.first},
          {"largest_ticks", waiting.largest},
          {"tries", waiting.tries},
          {"late_ticks", waiting.late},
          {"seed", run.seed},
          {"nodes", run.size.nodes()},
          {"links", result.links},
          {"broken_links", result.broken_links},
          {"barriers", result.barriers},
          {"broken_links_later", result.broken_later},
          {"cycles", or_null(result.cycles)},
          {"cycles_later", or_null(result.cycles_later)},
          {"lower_bound", result.lower_bound},
          {"clocks", result.clocks},
          {"messages", result.packets},
          {"hops", result.hops},
          {"packets_lost", result.network.lost},
          {"packets_duplicated", result.network.duplicated},
          {"packets_corrupted", result.network.corrupted},
          {"packets_reordered", result.network.reordered},
          {"packets_repeated", result.repeated},
          {"named_dead", result.named_dead},
          {"named_late", result.named_late},
          {"named_living", result.named_living},
          {"clocks_to_name", result.clocks_to_name},
          {"clocks_to_name_met", result.clocks_to_name_met},
          {"late_promised", result.late_promised},
          {"findings", result.findings},
          {"more_findings", result.more_findings},
          {"ok", result.ok()}};
}

std::string completed(const tb::BarrierRunResult& result) {
  if (result.barriers == 0) return "none was completed";
  if (!result.cycles) return fmt::format("{}, none of all nodes was completed", result.barriers);
  return fmt::format("{}, {:.1f} cycles each", result.barriers, *result.cycles);
}

void print(const Options& options, const tb::BarrierRunResult& result) {
  const barrier::Waiting waiting = tb::waiting_of(options.run);
  fmt::print("Barrier engines ({}) on a mesh {}, {} of {} links broken\n", options.engines, options.mesh,
             result.broken_links, result.links);
  fmt::print("  barriers                   {}{}, {} cycles there and back to the best root without engines\n",
             completed(result), options.run.later ? " until links change" : "", result.lower_bound);
  if (options.run.later)
    fmt::print("  after links changed        {} of {} broken, {}\n", result.broken_later, result.links,
               result.cycles_later ? fmt::format("{:.1f} cycles each", *result.cycles_later)
                                   : "no barrier of all nodes was completed");
  fmt::print("  packets                    {} sent, {} of them again, {} links crossed\n", result.packets,
             result.repeated, result.hops);
  fmt::print("  on links                   {} lost, {} duplicated, {} corrupted, {} reordered\n",
             result.network.lost, result.network.duplicated, result.network.corrupted,
             result.network.reordered);
  fmt::print(
      "  timers                     again after {} ticks of {} clocks, later {}; dead after {} tries, late "
      "after {} ticks\n",
      waiting.first, tb::engine_tick, waiting.largest, waiting.tries, waiting.late);
  if (options.run.dies)
    fmt::print("  node {:<22}died: named to {} members, to the last after {} clocks\n", *options.run.dies,
               result.named_dead, result.clocks_to_name);
  if (result.named_late > 0)
    fmt::print("  late                       {} times a member was told who was\n", result.named_late);
  fmt::print("  wrong                      {}\n", result.findings.size() + result.more_findings);
}

/// What is wrong, and whether it had to be feared. @param where before each line
void complain(const tb::BarrierRun& run, const tb::BarrierRunResult& result, const std::string& where) {
  for (const std::string& finding : result.findings) fmt::print(stderr, "{}: {}\n", where, finding);
  if (result.more_findings > 0)
    fmt::print(stderr, "{}: and {} more until the run was stopped\n", where, result.more_findings);
  if (result.named_living > 0 && result.false_deaths >= feared)
    fmt::print(
        stderr,
        "{}: to be expected with a loss of {:.3g} and {} tries: over {} links and back, one wait in {:.3g} "
        "has no answer, and then a living member is taken for dead\n",
        where, tb::lost_on_a_link(run), run.tries, result.farthest_parent,
        1 / tb::false_death(run, result.farthest_parent));
}

int run_one(Options& options, const std::vector<std::string>& arguments) {
  const tb::BarrierRunResult result = tb::run_barriers(options.run);
  print(options, result);
  if (!options.json.empty()) write_json(options.json, to_json(options, result));
  complain(options.run, result, "weft-sim");
  if (!result.ok()) fmt::print(stderr, "{}\n", reproduction(arguments));
  return result.ok() ? exit_ok : exit_failed;
}

/// Sums over the runs of a campaign.
struct Campaign {
  uint64_t runs = 0, failed = 0, with_breaks = 0, with_changes = 0, with_multicast = 0, with_death = 0,
           barriers = 0, named_dead = 0, named_late = 0, late_promised = 0, slowest_naming = 0,
           slowest_naming_met = 0, with_few_tries = 0;
  uint64_t packets = 0, repeated = 0, lost = 0, duplicated = 0, corrupted = 0, reordered = 0, clocks = 0;

  void add(const tb::BarrierRun& run, const tb::BarrierRunResult& result) {
    runs++;
    failed += result.ok() ? 0 : 1;
    with_breaks += result.broken_links > 0 ? 1 : 0;
    with_changes += run.later ? 1 : 0;
    with_multicast += run.multicast ? 1 : 0;
    with_death += run.dies ? 1 : 0;
    barriers += result.barriers;
    named_dead += result.named_dead;
    named_late += result.named_late;
    late_promised += result.late_promised;
    slowest_naming = std::max(slowest_naming, result.clocks_to_name);
    slowest_naming_met = std::max(slowest_naming_met, result.clocks_to_name_met);
    with_few_tries += run.tries < tb::BarrierRun{}.tries ? 1 : 0;
    packets += result.packets;
    repeated += result.repeated;
    lost += result.network.lost;
    duplicated += result.network.duplicated;
    corrupted += result.network.corrupted;
    reordered += result.network.reordered;
    clocks += result.clocks;
  }

  struct Row {
    const char *key, *text;
    uint64_t value;
  };
  std::vector<Row> rows() const {
    return {{"runs", "runs", runs},
            {"runs_with_broken_links", "runs with broken links", with_breaks},
            {"runs_with_changed_links", "runs in which links break and heal between barriers", with_changes},
            {"runs_with_multicast", "runs with multicast Release", with_multicast},
            {"runs_with_a_death", "runs in which a member dies", with_death},
            {"runs_with_few_tries", "runs in which a member is dead after 8 tries, not 40", with_few_tries},
            {"barriers", "barriers that all members left", barriers},
            {"named_dead", "members told who is dead", named_dead},
            {"named_late", "members told who was late", named_late},
            {"late_promised", "late members that had to be named, and were", late_promised},
            {"most_clocks_to_name", "clocks from a death to the last of them, at most", slowest_naming},
            {"most_clocks_to_name_met", "... once all that live had come", slowest_naming_met},
            {"messages", "packets sent", packets},
            {"packets_repeated", "of them again", repeated},
            {"packets_lost", "lost on links", lost},
            {"packets_duplicated", "duplicated on links", duplicated},
            {"packets_corrupted", "corrupted on links", corrupted},
            {"packets_reordered", "reordered on links", reordered},
            {"clocks", "clocks", clocks},
            {"failed", "runs that failed", failed}};
  }
};

void write_markdown(const std::string& file, const Campaign& campaign, uint64_t first,
                    std::vector<std::string> arguments) {
  arguments.front() = "weft-sim";  // wherever it is
  std::string text = fmt::format(
      "# Fault campaign of the barrier engines\n\nWritten by `{}` ([how](../barrier.md#engines-on-a-mesh)). "
      "{} runs from seed {} on, each drawn: mesh of 2 to 25 nodes, "
      "broken links, others later, 1 to 4 groups, loss, corruption, duplication, reordering, delay on every "
      "link, pauses, "
      "late software, Release along trees or multicast, the death of a member; RTL in lockstep with the "
      "golden model on all nodes or on every other one. A run fails if a member leaves before all have "
      "arrived, if one never leaves, if a living one "
      "is called dead or a dead one is not named to all others, or later than [the "
      "bound](../barrier.md#protocol), if one is named late who came in time, if "
      "(where "
      "nothing is lost and no stream pauses) nobody is who was by far, or if RTL and golden model "
      "differ.\n\n| | "
      "|\n|---|---:|\n",
      quoted(arguments), campaign.runs, first);
  for (const auto& [key, name, value] : campaign.rows()) text += fmt::format("| {} | {} |\n", name, value);
  write_text(file, text);
}

int run_campaign(const Options& options, const std::vector<std::string>& arguments) {
  Campaign campaign;
  for (uint64_t seed = options.run.seed; seed < options.run.seed + options.runs; seed++) {
    const tb::BarrierRun run = tb::drawn_run(seed);
    const tb::BarrierRunResult result = tb::run_barriers(run);
    campaign.add(run, result);
    complain(run, result, fmt::format("weft-sim: run {}", seed));
    if (!result.ok()) fmt::print(stderr, "reproduce: weft-sim barrier --runs 1 --seed {}\n", seed);
  }
  nlohmann::json json{{"seed", options.run.seed}, {"ok", campaign.failed == 0}};
  for (const auto& [key, name, value] : campaign.rows()) {
    fmt::print("{:<52} {}\n", name, value);
    json[key] = value;
  }
  if (!options.json.empty()) write_json(options.json, json);
  if (!options.markdown.empty()) write_markdown(options.markdown, campaign, options.run.seed, arguments);
  return campaign.failed == 0 ? exit_ok : exit_failed;
}

/// Throws BadInput or Fault for what does not fit together.
void settle(Options& options) {
  tb::BarrierRun& run = options.run;
  run.size = barrier::read_size(options.mesh, 1, tb::engine_nodes);
  run.engines = engine_names.at(options.engines);
  run.numbering = numbering_names.at(options.numbering);
  run.shape = barrier::shape_named(options.shape);
  barrier::GroupSettings all;
  all.shape = run.shape;
  all.block_log2 = run.block_log2;
  all.members.resize(run.size.nodes());
  if (!has_whole_blocks(all))
    throw BadInput(fmt::format("--block-log2 {}: a tree {} of {} nodes has no whole blocks of {}",
                               all.block_log2, options.shape, all.members.size(), 1u << all.block_log2));
  if (run.dies && *run.dies >= run.size.nodes())
    throw BadInput(fmt::format("--kill {}: must be a node from 0 to {}", *run.dies, run.size.nodes() - 1));
}

int run(Options& options, const std::vector<std::string>& arguments) {
  try {
    settle(options);
    return options.runs > 0 ? run_campaign(options, arguments) : run_one(options, arguments);
  } catch (const Fault& fault) {
    throw BadInput(fault.what());
  }
}

/// What is drawn with --runs, or is not of a campaign, goes with none.
void separate(CLI::App& command) {
  const std::set<std::string> of_both{"--help", "--runs", "--seed", "--json", "--markdown"};
  CLI::Option* runs = command.get_option("--runs");
  for (CLI::Option* option : command.get_options())
    if (!of_both.contains(option->get_name())) runs->excludes(option);
  command.get_option("--markdown")->needs(runs);
}

std::vector<std::string> names(const auto& map) {
  std::vector<std::string> result;
  result.reserve(map.size());
  for (const auto& [name, value] : map) result.push_back(name);
  return result;
}

}  // namespace

Command add_barrier_command(CLI::App& app) {
  using command_line::whole_number;
  using command_line::within;
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("barrier", "Barrier engines on the nodes of a mesh with faulty links");
  tb::BarrierRun& run_options = options->run;
  fabric::Faults& faults = run_options.faults;
  command->add_option("--mesh", options->mesh, "XxY nodes, at most 64")->capture_default_str();
  command
      ->add_option("--broken", run_options.broken, "fraction of links that are broken; the mesh stays whole")
      ->check(within(0, 1))
      ->capture_default_str();
  command
      ->add_option(
          "--later", run_options.later,
          "from half of the barriers on: so many, and others, while those from before are whole again")
      ->check(within(0, 1));
  command
      ->add_option("--engines", options->engines,
                   "rtl: beside the golden model; golden: that alone; mixed: every other node")
      ->check(CLI::IsMember(names(engine_names)))
      ->capture_default_str();
  command->add_option("--numbering", options->numbering, "of the nodes")
      ->check(CLI::IsMember(names(numbering_names)))
      ->capture_default_str();
  command->add_option("--tree", options->shape, "of the barriers")
      ->check(CLI::IsMember(barrier::shape_names()))
      ->capture_default_str();
  command
      ->add_option("--block-log2", run_options.block_log2,
                   "two levels: blocks of 2^B nodes, within which offsets move; 0: one level")
      ->type_name("B")
      ->check(whole_number(0, 6))
      ->capture_default_str();
  command->add_flag("--multicast", run_options.multicast,
                    "Release is one packet, copied in the network along the tree of MR4LMS");
  command->add_option("--barriers", run_options.barriers, "one after the other")
      ->check(whole_number(1, 100'000))
      ->capture_default_str();
  command->add_option("--groups", run_options.groups, "at once: one of all nodes, the others of some")
      ->check(whole_number(1, tb::engine_groups))
      ->capture_default_str();
  command->add_option("--think", run_options.think, "clocks after which software comes back, at most")
      ->check(whole_number(0, 1'000'000))
      ->capture_default_str();
  command
      ->add_flag("--together", run_options.together,
                 "software comes to the next barrier everywhere in one clock, once all have left")
      ->excludes("--think");
  command->add_option("--hop", faults.delay, "clocks of a link and its router")
      ->check(whole_number(1, 10'000))
      ->capture_default_str();
  command
      ->add_option(
          "--load", run_options.background.load,
          "background traffic to random nodes: fraction of a node's injection; packets wait for each "
          "other on links")
      ->check(command_line::within(0, 0.9))
      ->capture_default_str();
  command->add_option("--loss", faults.loss, "probability, of every link")
      ->check(within(0, 0.5))
      ->capture_default_str();
  command->add_option("--duplicate", faults.duplicate, "probability, of every link")
      ->check(within(0, 0.2))
      ->capture_default_str();
  command->add_option("--corrupt", faults.corrupt, "probability, of every link")
      ->check(within(0, 0.5))
      ->capture_default_str();
  command->add_option("--reorder", faults.reorder_degree, "packets that may overtake one on a link")
      ->check(whole_number(0, 1000))
      ->capture_default_str();
  command->add_option("--jitter", faults.jitter, "up to so many clocks more, on every link")
      ->check(whole_number(0, 10'000))
      ->capture_default_str();
  command
      ->add_option("--tries", run_options.tries, "questions without an answer after which a member is dead")
      ->check(whole_number(1, 255))
      ->capture_default_str();
  command->add_option("--late", run_options.late, "ticks after which who has not come is named late")
      ->check(whole_number(0, 1'000'000))
      ->capture_default_str();
  command->add_option("--kill", run_options.dies, "node whose engine dies after half of the barriers")
      ->check(whole_number());
  command->add_option("--runs", options->runs, "instead: so many runs in which all is drawn, from --seed on")
      ->check(whole_number(1, 1'000'000));
  command->add_option("--seed", run_options.seed, "same seed, same run")
      ->check(whole_number())
      ->capture_default_str();
  command->add_option("--json", options->json, "result as JSON")->check(command_line::result_file());
  command->add_option("--markdown", options->markdown, "results of --runs as a page")
      ->check(command_line::result_file());
  separate(*command);
  return [options](const std::vector<std::string>& arguments) { return run(*options, arguments); };
}

}  // namespace weft::sim

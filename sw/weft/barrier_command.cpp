// SPDX-License-Identifier: Apache-2.0
// weft barrier: barrier algorithms compared on meshes with broken links.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "barrier/comparison.hpp"
#include "barrier/update_quantity.hpp"
#include "common/command_line.hpp"
#include "common/fault.hpp"
#include "common/progress.hpp"
#include "weft/command.hpp"

namespace weft::cli {
namespace {

using namespace weft::barrier;
using nlohmann::json;

constexpr uint32_t most_nodes = 4096;
constexpr uint32_t most_nodes_of_uq =
    1024;  // beyond, only if it is asked for: the changes are as many as nodes squared

struct BarrierArguments {
  CommonOptions common;
  std::vector<std::string> meshes = {"4x4"}, algorithms = {"dlct"}, broken = {"0"};
  std::string links = "4", tree = "lct", numbering = "s-curve", judge = "searching";
  uint32_t rounds = 3, seeds = 1, block = 4, stride = 0;
  std::optional<uint32_t> tries;
  bool updates = false, settings = false, tree_given = false;
  Timing timing;
};

std::vector<AlgorithmName> algorithms_of(const std::vector<std::string>& wanted) {
  std::vector<AlgorithmName> found;
  for (const auto& name : command_line::items_of(wanted)) {
    for (const AlgorithmName& known : algorithms()) {
      if (name == known.name || name == "all") found.push_back(known);
    }
  }
  return found;
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names = {"all"};
  for (const AlgorithmName& known : algorithms()) names.emplace_back(known.name);
  return names;
}

std::string text_of(const Size& size) { return fmt::format("{}x{}", size.width, size.height); }

Setup setup_of(const BarrierArguments& arguments) {
  Setup setup;
  setup.links = arguments.links == "8" ? Links::eight : Links::four;
  setup.shape = shape_named(arguments.tree);
  setup.numbering = arguments.numbering == "morton"   ? Numbering::morton
                    : arguments.numbering == "centre" ? Numbering::centre
                                                      : Numbering::s_curve;
  setup.judging = arguments.judge == "fixed"    ? Judging::fixed
                  : arguments.judge == "oracle" ? Judging::oracle
                                                : Judging::searching;
  setup.rounds = arguments.rounds;
  setup.block = arguments.block;
  setup.tries = arguments.tries.value_or(usual_tries(setup.numbering));
  setup.stride = arguments.stride;
  setup.timing = arguments.timing;
  return setup;
}

/// What is compared on one mesh.
struct Point {
  Setup setup;
  std::string_view name;
};

/// Throws BadInput for what an engine would refuse.
void check_engine(const Point& point) {
  const std::optional<uint32_t> offsets = offsets_of(point.setup);
  if (point.setup.stride > offsets.value_or(point.setup.stride))
    throw BadInput(fmt::format("--stride {}: {} on {} has {} offsets", point.setup.stride, point.name,
                               text_of(point.setup.size), *offsets));
}

/// Throws BadInput if blocks are asked for by name, and the tree has none; if a tree is, and the algorithm
/// has its own.
void check_trees(const BarrierArguments& arguments, Setup setup) {
  const std::vector<std::string> wanted = command_line::items_of(arguments.algorithms);
  for (const std::string& name : wanted)
    if (arguments.tree_given && (name.starts_with("dlct4") || name.starts_with("dlct8")))
      throw BadInput(fmt::format("--tree {}: --algorithm {} has a tree of its own", arguments.tree, name));
  for (const AlgorithmName& known : algorithms()) {
    setup.algorithm = known.algorithm;
    if (has_no_blocks(setup) && std::ranges::find(wanted, known.name) != wanted.end())
      throw BadInput(fmt::format("--algorithm {}: --tree {} has no blocks", known.name, arguments.tree));
  }
}

std::vector<Point> points_of(const BarrierArguments& arguments) {
  Setup setup = setup_of(arguments);
  check_trees(arguments, setup);
  std::vector<Point> points;
  for (const std::string& mesh : command_line::items_of(arguments.meshes)) {
    setup.size = read_size(mesh, 1, most_nodes);
    for (const std::string& broken : command_line::items_of(arguments.broken)) {
      setup.broken = std::stod(broken);
      for (const AlgorithmName& algorithm : algorithms_of(arguments.algorithms)) {
        setup.algorithm = algorithm.algorithm;
        if (!fits(setup)) continue;
        points.push_back({setup, algorithm.name});
        check_engine(points.back());
      }
    }
  }
  return points;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// One algorithm on one mesh with so many broken links, over all seeds.
/// @param done is told how much of it is
json run_seeds(const Point& point, const BarrierArguments& arguments, const Done& done) {
  Setup setup = point.setup;
  std::vector<double> cycles, messages, hops, first, last, bound, broken, length, of_seeds;
  for (uint32_t seed = 0; seed < arguments.seeds; seed++) {
    setup.seed = arguments.common.seed + seed;
    const Outcome outcome = compare(setup);
    for (const Round& round : outcome.rounds) {
      cycles.push_back(round.cycles);
      messages.push_back(round.messages);
      hops.push_back(round.hops);
    }
    of_seeds.push_back(mean({cycles.end() - static_cast<ptrdiff_t>(outcome.rounds.size()), cycles.end()}));
    first.push_back(outcome.rounds.front().cycles);
    last.push_back(outcome.rounds.back().cycles);
    length.push_back(outcome.rounds.back().length);
    bound.push_back(static_cast<double>(outcome.lower_bound));
    broken.push_back(outcome.broken_links);
    done(seed + 1, 2 * arguments.seeds);
  }
  const bool countable = arguments.updates || setup.size.nodes() <= most_nodes_of_uq;
  const auto updates = !countable
                           ? std::nullopt
                           : updates_of(setup, [&](uint64_t some, uint64_t of) { done(of + some, 2 * of); });
  json result{{"algorithm", point.name},
              {"mesh", text_of(setup.size)},
              {"nodes", setup.size.nodes()},
              {"broken_fraction", setup.broken},
              {"broken_links", mean(broken)},
              {"links", Mesh(setup.size, setup.links).links()},
              {"cycles", mean(cycles)},
              {"cycles_of_seeds", of_seeds},
              {"cycles_first", mean(first)},
              {"cycles_last", mean(last)},
              {"cycles_largest", *std::max_element(cycles.begin(), cycles.end())},
              {"lower_bound", mean(bound)},
              {"messages", mean(messages)},
              {"hops", mean(hops)},
              {"gather_length_last", mean(length)},
              {"uq_mean", updates ? json(mean_update(*updates)) : json(nullptr)}};
  if (arguments.updates && updates) result["uq"] = *updates;
  return result;
}

void print(const json& runs) {
  fmt::print("{:>7} {:>12} {:>6}  {:<19} {:>9} {:>9} {:>9} {:>11} {:>9} {:>9} {:>7}\n", "mesh",
             "broken links", "links", "algorithm", "cycles", "first", "last", "lower bound", "messages",
             "hops", "UQ");
  for (const json& run : runs) {
    fmt::print("{:>7} {:>12.1f} {:>6}  {:<19} {:>9.1f} {:>9.1f} {:>9.1f} {:>11.1f} {:>9.1f} {:>9.1f} {:>7}\n",
               run["mesh"].get<std::string>(), run["broken_links"].get<double>(),
               run["links"].get<uint32_t>(), run["algorithm"].get<std::string>(), run["cycles"].get<double>(),
               run["cycles_first"].get<double>(), run["cycles_last"].get<double>(),
               run["lower_bound"].get<double>(), run["messages"].get<double>(), run["hops"].get<double>(),
               run["uq_mean"].is_null() ? "-" : fmt::format("{:.4f}", run["uq_mean"].get<double>()));
  }
}

json run_all(const BarrierArguments& arguments) {
  json runs = json::array();
  const std::vector<Point> points = points_of(arguments);
  Progress progress("barriers");
  for (const Point& point : points) {
    const auto show = [&](uint64_t done, uint64_t of) {
      progress.show(runs.size() * 100 + 100 * done / of, points.size() * 100);
    };
    runs.push_back(run_seeds(point, arguments, show));
  }
  return runs;
}

/// What software tells the engines, in place of a comparison.
int say_settings(const BarrierArguments& arguments) {
  const std::vector<Point> points = points_of(arguments);
  if (points.size() != 1) throw BadInput("--settings: of one mesh and one algorithm");
  const auto& [setup, name] = points[0];
  const std::optional<GroupOfAll> group = group_of_all(setup);
  if (!group) throw BadInput(fmt::format("--settings: {} is no algorithm of the engine", name));
  fmt::print("Group of all nodes of a mesh {}: {}, numbering {}\n", text_of(setup.size), name,
             arguments.numbering);
  fmt::print("  SHAPE {}, MEMBERS {}, BLOCK_LOG2 {}\n", static_cast<uint32_t>(group->shape),
             group->members.size(), group->block_log2);
  fmt::print("  STRIDE {}, GOOD {}, JUDGE_TRIES {}\n", group->judge.stride, group->judge.good,
             group->judge.tries);
  fmt::print("  MEMBER, by number; node x + {} y:\n", setup.size.width);
  for (size_t at = 0; at < group->members.size(); at++)
    fmt::print("{}{:>5}{}", at % 16 == 0 ? "  " : "", group->members[at],
               at % 16 == 15 || at + 1 == group->members.size() ? "\n" : "");
  write_json(arguments.common, {{"mesh", text_of(setup.size)},
                                {"algorithm", name},
                                {"numbering", arguments.numbering},
                                {"shape", static_cast<uint32_t>(group->shape)},
                                {"members", group->members},
                                {"block_log2", group->block_log2},
                                {"stride", group->judge.stride},
                                {"good", group->judge.good},
                                {"judge_tries", group->judge.tries}});
  return ok;
}

int run_barrier(const BarrierArguments& arguments) {
  if (arguments.settings) return say_settings(arguments);
  const json runs = run_all(arguments);
  if (runs.empty())
    throw Fault(fmt::format("--block {}: no mesh here has two whole blocks of a power of two nodes",
                            arguments.block));
  print(runs);
  json results = runs.size() == 1 ? runs[0] : json{{"runs", runs}};
  results["seed"] = arguments.common.seed;
  results["seeds"] = arguments.seeds;
  results["rounds"] = arguments.rounds;
  results["load"] = arguments.timing.load;
  write_json(arguments.common, results);
  return ok;
}

void add_timing(CLI::App& command, Timing& timing) {
  const auto cycles = command_line::whole_number(1, 1000);
  command.add_option("--hop-cycles", timing.hop, "from router to router")
      ->check(cycles)
      ->capture_default_str();
  command.add_option("--engine-cycles", timing.engine, "of an engine for a packet that comes")
      ->check(cycles)
      ->capture_default_str();
  command
      .add_option("--engine-next-cycles", timing.engine_next,
                  "of an engine from such a packet to the next one")
      ->check(cycles)
      ->capture_default_str();
  command.add_option("--send-cycles", timing.send, "between two packets of an engine")
      ->check(cycles)
      ->capture_default_str();
  command.add_option("--load", timing.load, "background traffic: fraction of a node's injection")
      ->check(command_line::within(0, 0.9))
      ->capture_default_str();
}

}  // namespace

void add_barrier(CLI::App& weft, int& exit_code) {
  auto* command =
      weft.add_subcommand("barrier", "barrier algorithms on meshes with broken links (docs/barrier.md)");
  auto arguments = std::make_shared<BarrierArguments>();
  const auto few = command_line::whole_number(1, 10000);
  command->add_option("--mesh", arguments->meshes, "XxY nodes; several with commas")
      ->check(command_line::list_of({}))
      ->capture_default_str();
  command->add_option("--algorithm", arguments->algorithms, "which one; several with commas, or all")
      ->check(command_line::list_of(CLI::IsMember(algorithm_names())))
      ->capture_default_str();
  command->add_option("--broken", arguments->broken, "fraction of links that are broken; several with commas")
      ->check(command_line::list_of(command_line::within(0, 1)))
      ->capture_default_str();
  command->add_option("--links", arguments->links, "of a node: 4, or 8 with diagonal ones")
      ->check(CLI::IsMember({"4", "8"}))
      ->capture_default_str();
  CLI::Option* tree = command->add_option("--tree", arguments->tree, "shape of DLCT's tree");
  tree->check(CLI::IsMember(shape_names()))->capture_default_str();
  command->add_option("--numbering", arguments->numbering, "of nodes in DLCT's tree")
      ->check(CLI::IsMember({"s-curve", "morton", "centre"}))
      ->capture_default_str();
  command->add_option("--judge", arguments->judge, "how K is chosen")
      ->check(CLI::IsMember({"searching", "fixed", "oracle"}))
      ->capture_default_str();
  command
      ->add_option("--tries", arguments->tries,
                   "offsets that judge tries in a search (default: 8; 3 with numbers from the centre)")
      ->check(command_line::whole_number(0, 255));
  command
      ->add_option(
          "--stride", arguments->stride,
          "from one of them to the next; 0: near 0.382 of the nodes, a quarter with numbers from the centre")
      ->check(command_line::whole_number(0, most_nodes))
      ->capture_default_str();
  command->add_option("--rounds", arguments->rounds, "barriers one after the other")
      ->check(few)
      ->capture_default_str();
  command->add_option("--seeds", arguments->seeds, "runs with seeds from --seed on")
      ->check(few)
      ->capture_default_str();
  command
      ->add_option("--block", arguments->block,
                   "side of a block of two-level algorithms; meshes without two whole ones are left out by "
                   "dlct-blocks")
      ->check(command_line::whole_number(1, 64))
      ->capture_default_str();
  CLI::Option* updates = command->add_flag("--updates", arguments->updates,
                                           "JSON: UQ of the change from each offset (row) to each");
  command->add_flag("--settings", arguments->settings,
                    "instead: what software tells the engines of a group of all nodes");
  add_timing(*command, arguments->timing);
  add_common(*command, arguments->common);
  updates->needs("--json");
  command->callback([arguments, tree, &exit_code] {
    arguments->tree_given = tree->count() > 0;
    exit_code = run_barrier(*arguments);
  });
}

}  // namespace weft::cli

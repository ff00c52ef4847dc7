// SPDX-License-Identifier: Apache-2.0
// weft topology: build or read a fabric, say what it is, write it down.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/command_line.hpp"
#include "common/output_file.hpp"
#include "topology/ibnet.hpp"
#include "topology/spec.hpp"
#include "weft/command.hpp"
#include "weft/topology_text.hpp"

namespace weft::cli {
namespace {

using nlohmann::json;
using topology::Graph;

struct TopologyArguments {
  CommonOptions common;
  std::string spec, format, output;
};

std::string formatted(const Graph& graph, const TopologyArguments& arguments) {
  if (arguments.format == "json")
    return to_json(graph).dump(1, ' ', false, json::error_handler_t::replace) + '\n';
  if (arguments.format == "dot") return to_dot(graph);
  try {
    return topology::write_ibnet(graph);
  } catch (const std::invalid_argument& error) {
    throw BadInput(arguments.spec + ": " + error.what());
  }
}

/// To the file, or to standard output.
void put(const std::string& text, const std::string& file) {
  if (!file.empty()) return write_whole(file, text);
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) throw BadInput("standard output cannot be written");
}

int run_topology(const TopologyArguments& arguments) {
  if (!arguments.output.empty() && arguments.format.empty())
    throw BadInput("-o needs --format: ibnet, json or dot");
  const Graph graph = topology::load(arguments.spec);
  if (!arguments.format.empty()) put(formatted(graph, arguments), arguments.output);
  if (!arguments.format.empty() && arguments.common.json_file.empty()) return ok;
  json summary = summary_of(graph);
  if (arguments.format.empty()) put(to_table(summary), {});
  summary["topology"] = arguments.spec;
  summary["seed"] = arguments.common.seed;
  write_json(arguments.common, summary);
  return ok;
}

}  // namespace

void add_topology(CLI::App& weft, int& exit_code) {
  auto* command =
      weft.add_subcommand("topology", "what a fabric is, or the fabric itself (docs/topology.md)");
  auto arguments = std::make_shared<TopologyArguments>();
  command->add_option("SPEC", arguments->spec, topology::spec_forms)->required();
  command
      ->add_option("--format", arguments->format,
                   "write the fabric itself: as ibnetdiscover would, as JSON, for Graphviz")
      ->check(CLI::IsMember({"ibnet", "json", "dot"}));
  command->add_option("-o", arguments->output, "to this file, not to standard output")
      ->type_name("FILE")
      ->check(command_line::result_file());
  add_common(*command, arguments->common);
  command->callback([arguments, &exit_code] { exit_code = run_topology(*arguments); });
}

}  // namespace weft::cli

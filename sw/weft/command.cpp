// SPDX-License-Identifier: Apache-2.0
// What all subcommands share.
#include "weft/command.hpp"

#include <nlohmann/json.hpp>

#include "common/command_line.hpp"
#include "common/output_file.hpp"

namespace weft::cli {

void add_common(CLI::App& command, CommonOptions& options) {
  command.add_option("--json", options.json_file, "write the results to FILE as JSON")
      ->type_name("FILE")
      ->check(command_line::result_file());
  command.add_option("--seed", options.seed, "seed of everything random in this command")
      ->type_name("N")
      ->check(command_line::whole_number())
      ->capture_default_str();
}

std::string text_of(const nlohmann::json& results) { return results.dump(2) + '\n'; }

void write_json(const CommonOptions& options, const nlohmann::json& results) {
  if (options.json_file.empty()) return;
  try {
    write_whole(options.json_file, text_of(results));
  } catch (const std::runtime_error& error) {
    throw BadInput(error.what());
  }
}

}  // namespace weft::cli

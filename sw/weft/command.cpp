// SPDX-License-Identifier: Apache-2.0
// What all subcommands share.
#include "weft/command.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace weft::cli {

void add_common(CLI::App& command, CommonOptions& options) {
  command.add_option("--json", options.json_file, "write the results to FILE as JSON")->type_name("FILE");
  command.add_option("--seed", options.seed, "seed of everything random in this command")
      ->type_name("N")
      ->capture_default_str();
}

void write_json(const CommonOptions& options, const nlohmann::json& results) {
  if (options.json_file.empty()) return;
  const std::string part = options.json_file + ".part";
  std::ofstream out(part, std::ios::trunc);
  out << results.dump(2) << '\n';
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(part, options.json_file, error);
  if (!out || error) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    throw BadInput(options.json_file + ": cannot be written");
  }
}

}  // namespace weft::cli

// SPDX-License-Identifier: Apache-2.0
// What all subcommands of `weft` share: exit codes, --json and --seed.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>

namespace weft::cli {

enum ExitCode { ok = 0, check_failed = 1, bad_input = 2 };

/// Input that cannot be worked with; what() is the one line that the user sees.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct CommonOptions {
  std::string json_file;  // empty: no JSON wanted
  uint64_t seed = 1;
};

/// Give a command --json and --seed.
void add_common(CLI::App& command, CommonOptions& options);

/// Results as their file has them.
std::string text_of(const nlohmann::json& results);

/// Write the results of a command for machines, if wanted; the file is complete or not there. Throws
/// BadInput.
void write_json(const CommonOptions& options, const nlohmann::json& results);

/// Each subcommand adds itself and, when chosen, sets `exit_code`.
void add_barrier(CLI::App& weft, int& exit_code);
void add_boot(CLI::App& weft, int& exit_code);
void add_image(CLI::App& weft, int& exit_code);
void add_images(CLI::App& weft, int& exit_code);
void add_mcast(CLI::App& weft, int& exit_code);
void add_push(CLI::App& weft, int& exit_code);
void add_route(CLI::App& weft, int& exit_code);
void add_topology(CLI::App& weft, int& exit_code);
void add_trace(CLI::App& weft, int& exit_code);

}  // namespace weft::cli

// SPDX-License-Identifier: Apache-2.0
// Results of a simulation for people (tables) and machines (JSON).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rdma_run.hpp"

namespace weft::sim {

/// The table that `weft-sim rdma` prints.
std::string table(const RunConfig& config, const RunResult& result);

/// Stable keys, documented with the command line.
nlohmann::json to_json(const RunConfig& config, const RunResult& result);

/// Writes to FILE.part, then renames. Throws BadInput with the name of the file and the fault.
void write_text(const std::string& file, const std::string& text);
void write_json(const std::string& file, const nlohmann::json& json);

/// A command line as a shell takes it.
std::string quoted(const std::vector<std::string>& arguments);

/// The last line of a failed run: how to see it again.
std::string reproduction(const std::vector<std::string>& arguments);

}  // namespace weft::sim

// SPDX-License-Identifier: Apache-2.0
// Results of weft mcast, for machines and for people.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "mcast/bounds.hpp"
#include "mcast/figures.hpp"

namespace weft::cli {

nlohmann::json results_of(const mcast::Figures& figures, const mcast::ColourBounds& bounds);

/// Lines of a table.
std::string to_lines(const nlohmann::json& results);

}  // namespace weft::cli

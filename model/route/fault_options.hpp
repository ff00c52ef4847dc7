// SPDX-License-Identifier: Apache-2.0
// Options of command lines for what is dead in a two-dimensional fat tree.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "route/grid.hpp"

namespace weft::route {

/// As told, by kind (What).
using FaultTexts = std::array<std::vector<std::string>, 5>;

inline bool any(const FaultTexts& faults) {
  return !std::ranges::all_of(faults, [](const auto& of_kind) { return of_kind.empty(); });
}

/// Throws Fault for what is no such thing or outside the fabric.
inline void apply(Health& health, const FaultTexts& faults) {
  for (std::size_t what = 0; what < faults.size(); ++what)
    for (const std::string& where : faults[what]) fail(health, static_cast<What>(what), where);
}

/// --PREFIX, --PREFIX-row, --PREFIX-column, --PREFIX-row-link, --PREFIX-column-link.
/// @param when is said of them besides
inline void add_fault_options(CLI::App& command, const std::string& prefix, const std::string& when,
                              FaultTexts& faults) {
  const auto add = [&](What what, const std::string& name, const std::string& text, const char* form) {
    command.add_option("--" + prefix + name, faults[static_cast<std::size_t>(what)], text + when)
        ->type_name(form);
  };
  add(What::leaf, "", "leaf switches in row R and column C that are dead", "R,C ...");
  add(What::row_switch, "-row", "row switches that are dead (of fat trees R,N)", "R ...");
  add(What::column_switch, "-column", "column switches that are dead (of fat trees C,N)", "C ...");
  add(What::row_link, "-row-link", "leaves whose link to the row switch is dead (in fat trees R,E,S)",
      "R,C ...");
  add(What::column_link, "-column-link",
      "leaves whose link to the column switch is dead (in fat trees C,E,S)", "R,C ...");
}

}  // namespace weft::route

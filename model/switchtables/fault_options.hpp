// SPDX-License-Identifier: Apache-2.0
// Options of command lines for what is dead in any fabric.
#pragma once

#include <string>
#include <vector>

#include "route/fault_options.hpp"
#include "switchtables/fabric.hpp"

namespace weft::switchtables {

/// As told; `grid`: of a two-dimensional fat tree.
struct FaultTexts {
  route::FaultTexts grid;
  std::vector<std::string> switches, links;
};

inline bool any(const FaultTexts& faults) {
  return route::any(faults.grid) || !faults.switches.empty() || !faults.links.empty();
}

/// @param whole the fabric of this topology. Throws Fault for what is no such thing or outside the fabric.
inline void apply(Faults& faults, const Fabric& whole, const std::string& topology, const FaultTexts& texts) {
  if (route::any(texts.grid)) {
    route::Health health(route::grid_of(topology));
    route::apply(health, texts.grid);
    add_faults(faults, whole.graph(), health);
  }
  for (const std::string& name : texts.switches) fail_switch(faults, whole.graph(), name);
  for (const std::string& name : texts.links) fail_link(faults, whole.graph(), name);
}

/// --PREFIX-switch, --PREFIX-link, and those of route/fault_options.hpp. @param when is said of them besides
inline void add_fault_options(CLI::App& command, const std::string& prefix, const std::string& when,
                              FaultTexts& faults) {
  route::add_fault_options(command, prefix, when + " (kfat2d)", faults.grid);
  command
      .add_option("--" + prefix + "-switch", faults.switches,
                  "switches, by number, GUID or name, that are dead" + when)
      ->type_name("SWITCH ...");
  command
      .add_option("--" + prefix + "-link", faults.links,
                  "links to other switches, by a switch and its port, that are dead" + when)
      ->type_name("SWITCH,PORT ...");
}

}  // namespace weft::switchtables

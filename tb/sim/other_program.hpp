// SPDX-License-Identifier: Apache-2.0
// weft-sim has few engines, so that it is soon built. For others it goes on as a program beside it:
// weft-sim-waves, weft-sim-soak, weft-sim-bench or weft-sim-bare.
#pragma once

#include <string>
#include <vector>

namespace weft::sim {

/// Goes on as weft-sim-waves if waves are asked for and this program cannot write them. Throws BadInput if
/// the file cannot be written.
/// @param file empty: no waves; @param arguments of this program
void prepare_waves(const std::string& file, const std::vector<std::string>& arguments);

/// Goes on as weft-sim-soak if this program lacks engines that the fault campaign needs.
/// @param build the only engine needed; empty: any
void prepare_soak(const std::string& build, const std::vector<std::string>& arguments);

/// Goes on as weft-sim-bench if this program lacks engines whose speed is measured.
void prepare_bench(const std::vector<std::string>& arguments);

/// Goes on as weft-sim-bare if engines are to have no assertions.
void prepare_bare(const std::vector<std::string>& arguments);

}  // namespace weft::sim

// SPDX-License-Identifier: Apache-2.0
// Wave files need the program weft-sim-waves, which sits beside weft-sim.
#pragma once

#include <string>
#include <vector>

namespace weft::sim {

/// Goes on as weft-sim-waves if waves are asked for and this program cannot write them. Throws BadInput if
/// the file cannot be written.
/// @param file empty: no waves; @param arguments of this program
void prepare_waves(const std::string& file, const std::vector<std::string>& arguments);

}  // namespace weft::sim

// SPDX-License-Identifier: Apache-2.0
// Fabrics by their SPEC, as command lines take it: fattree3:K, torus3d:XxYxZ:H, dragonfly:A,P,H,
// random:SWITCHES,PORTS,HOSTS_PER_SWITCH,SEED, bluelight, taihulight, kfat2d:RxC:H[:ExS] or file:PATH
// (docs/topology.md).
#pragma once

#include <string>

#include "common/fault.hpp"
#include "topology/graph.hpp"

namespace weft::topology {

/// The fabric, connected. Throws Fault: "SPEC: why not", or what is wrong with the file.
Graph load(const std::string& spec);

/// For --help: all forms of a SPEC.
inline constexpr const char* spec_forms =
    "fattree3:K, torus3d:XxYxZ:H, dragonfly:A,P,H, random:SWITCHES,PORTS,HOSTS,SEED, bluelight, taihulight, "
    "kfat2d:RxC:H[:ExS] or file:PATH";

}  // namespace weft::topology

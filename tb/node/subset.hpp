// SPDX-License-Identifier: Apache-2.0
// The part of the RDMA regression that runs on every simulation of two NICs (docs/systemc.md, The regression
// on it). Each is a program of its own, as SystemC has one platform a process.
#pragma once

#include <functional>
#include <memory>

#include "fabric/network.hpp"
#include "nodes.hpp"

namespace weft::tb {

struct FaultyNodes {
  std::unique_ptr<Nodes> nodes;
  std::function<fabric::NetworkCounters()> counters;
};
/// Of the simulation that the program is linked with.
FaultyNodes make_faulty_nodes(uint64_t memory_bytes, const fabric::Faults& faults, uint64_t seed);

/// Of a program PROGRAM LINK, where LINK is clean, lost, duplicated, reordered, corrupted or all: prints how
/// each request ended and what is in memory then, which does not depend on the simulation. Exit code 1: bytes
/// are wrong, or a fault that was wanted did not strike; 2: no such link.
int run_subset(int argc, char** argv);

}  // namespace weft::tb

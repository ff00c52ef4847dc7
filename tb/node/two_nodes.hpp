// SPDX-License-Identifier: Apache-2.0
// Two nodes for tests of the host library, of the simulation that the test is linked with.
#pragma once

#include <cstdint>
#include <memory>

#include "nodes.hpp"

namespace weft::tb {

/// Joined by a network without faults.
std::unique_ptr<Nodes> make_two_nodes(uint64_t memory_bytes);

}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// Multicast tables as the switches of a simulated subnet hold them, by infiniband-diags.
#pragma once

#include <cstdint>
#include <string>

#include "ibsim.hpp"
#include "mcast/forwarding_tables.hpp"

namespace weft::test {

/// What dump_mfts or ibroute -M have printed, for one switch or several. Throws std::runtime_error for lines
/// that are not understood.
mcast::ForwardingTables parse_diags(const std::string& text);

/// dump_mfts of the whole subnet.
mcast::ForwardingTables read_back(const Ibsim& ibsim);
/// ibroute -M of one switch, by its GUID (needs a subnet manager).
mcast::ForwardingTables read_back(const Ibsim& ibsim, uint64_t guid);

}  // namespace weft::test

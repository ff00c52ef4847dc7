// SPDX-License-Identifier: Apache-2.0
// Multicast forwarding tables of a subnet: per switch, per MLID, the ports that a packet leaves by.
#pragma once

#include <cstdint>
#include <map>

#include "mcast/port_mask.hpp"

namespace weft::mcast {

inline constexpr uint32_t first_mlid = 0xc000;
inline constexpr uint32_t last_mlid = 0xfffe;  ///< 0xffff is the permissive LID

/// Entries of one switch by MLID, first_mlid to last_mlid. A mask has all ports of the tree, also that
/// towards the root (a switch does not send back where a packet came from). None is empty.
using Entries = std::map<uint16_t, PortMask>;

/// By GUID of the switch; those without entries may be missing.
using ForwardingTables = std::map<uint64_t, Entries>;

}  // namespace weft::mcast

// SPDX-License-Identifier: Apache-2.0
// The format in which OpenSM dumps multicast forwarding tables, opensm.mcfdbs (docs/mcast_opensm.md).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/fault.hpp"
#include "mcast/forwarding_tables.hpp"

namespace weft::mcast {

/// Throws Fault, "NAME:LINE: fault" or "NAME: fault", for whatever OpenSM would not write: unknown lines,
/// switches, MLIDs or ports that are there twice or out of range, entries without ports.
/// @param name of the file, for messages
ForwardingTables read_mcfdbs(std::string_view text, const std::string& name);
ForwardingTables read_mcfdbs_file(const std::filesystem::path& file);

/// Byte by byte what OpenSM 3.3.23 writes on a little-endian machine: switches sorted by the last byte of
/// their GUID, then by the one before it and so on; those without entries are left out.
std::string write_mcfdbs(const ForwardingTables& tables);

}  // namespace weft::mcast

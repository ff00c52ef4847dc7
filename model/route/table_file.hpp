// SPDX-License-Identifier: Apache-2.0
// Tables as files (docs/route.md): route.json, from which they can be read again, and opensm.lfts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/output_file.hpp"
#include "route/tables.hpp"

namespace weft::route {

/// InfiniBand can have this fabric: 254 ports, 49,151 LIDs.
bool fits_opensm(const Grid& grid);

/// Both files, in this folder; opensm.lfts only if it fits. Throws Fault if it does not, but is there.
/// @param known what the tables were made for: plain tables lead to no dead port
std::vector<OutputFile> table_files(const std::filesystem::path& folder, const Tables& tables,
                                    const Health& known);

/// Throws Fault, "FILE: why not": no such tables, or for another fabric, rules, masks or channels.
Tables read_tables(const std::filesystem::path& folder, const Grid& grid, const Options& options);

/// Linear forwarding tables as OpenSM's `file` routing engine reads them: what can be said without virtual
/// channels and inputs, first backup where there are several. LIDs: hosts from 1 on, then switches; OpenSM
/// finds hosts by the GUID of their port whatever LIDs it gives them.
std::string to_lfts(const Tables& tables, const Health& known);

}  // namespace weft::route

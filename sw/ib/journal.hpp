// SPDX-License-Identifier: Apache-2.0
// A plan as a file, written before the first switch is changed, so that the push can be resumed or undone.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/fault.hpp"
#include "ib/plan.hpp"

namespace weft::ib {

/// JSON (docs/mcast_opensm.md).
std::string write_journal(const Plan& plan);

/// Throws Fault, "NAME:LINE: is no journal of weft push: fault".
/// @param name of the file, for messages
Plan read_journal(std::string_view text, const std::string& name);
Plan read_journal_file(const std::filesystem::path& file);

}  // namespace weft::ib

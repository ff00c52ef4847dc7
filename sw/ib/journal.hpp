// SPDX-License-Identifier: Apache-2.0
// A plan as a file, written before the first switch is changed, so that the push can be resumed or undone.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include "ib/plan.hpp"

namespace weft::ib {

/// A file that is no journal; what() is the one line that the user sees: "FILE: fault".
class BadJournal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// JSON (docs/mcast_opensm.md).
std::string write_journal(const Plan& plan);

/// Throws BadJournal.
/// @param name of the file, for messages
Plan read_journal(const std::string& text, const std::string& name);
Plan read_journal_file(const std::filesystem::path& file);

}  // namespace weft::ib

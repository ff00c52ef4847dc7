// SPDX-License-Identifier: Apache-2.0
// What the command lines of all programs check, and how they say that something is wrong: one line that names
// it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace weft::command_line {

/// Give a program --version: its name and weft's version.
void add_version(CLI::App& program);

/// A number without sign, point or exponent, from `least` to `most`.
CLI::Validator whole_number(uint64_t least = 0, uint64_t most = std::numeric_limits<uint64_t>::max());

/// The same, written as 0x and hexadecimal digits.
CLI::Validator hexadecimal_number(uint64_t least, uint64_t most);

/// A number from `least` to `most`. NaN is not within anything.
CLI::Validator within(double least, double most);

/// A name of a file or folder; only what has one is a name.
CLI::Validator file_name();

/// The same of a file to be written, no folder, in a folder that can be written to: so that this is not found
/// out only when there is a result.
CLI::Validator result_file();

/// Items with commas between them, each as `item` checks it.
CLI::Validator list_of(const CLI::Validator& item);

/// The items of some such lists.
std::vector<std::string> items_of(const std::vector<std::string>& lists);

/// What the user sees if the arguments cannot be parsed.
std::string complaint(const CLI::App& app, const CLI::ParseError& error);

}  // namespace weft::command_line

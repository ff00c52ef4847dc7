// SPDX-License-Identifier: Apache-2.0
// The text of traces, shared by reader and writer; not for use outside this folder.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "trace/record.hpp"

namespace weft::trace {

inline constexpr std::string_view first_words = "# weft-trace 1";
inline constexpr std::string_view end_words = "# end records=";

/// What a record can be of.
inline constexpr std::array<std::string_view, 7> units{"rx",      "tx",     "inbox",  "queues",
                                                       "network", "lookup", "barrier"};

/// A fault in some text, without the place where it is.
class BadText : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The start of some text, fit for an error message.
std::string quotable(std::string_view text);

Fields parse_fields(std::string_view text);
Record parse_record(std::string_view line);
uint64_t parse_number(std::string_view text, const std::string& what);

void check_fields(const Fields& fields);
void check_unit(const std::string& unit);

}  // namespace weft::trace

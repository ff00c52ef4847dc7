// SPDX-License-Identifier: Apache-2.0
// Courses to start the search from: each leads to one corner of the protocol.
#pragma once

#include <string_view>
#include <vector>

#include "course.hpp"

namespace weft::fuzz {

struct Seed {
  std::string_view name;
  Course course;
};

std::vector<Seed> seeds();

}  // namespace weft::fuzz

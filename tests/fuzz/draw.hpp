// SPDX-License-Identifier: Apache-2.0
// Courses drawn from a number, without any search.
#pragma once

#include <cstdint>

#include "course.hpp"

namespace weft::fuzz {

/// Uniform bytes would hardly ever do two related things one after the other. So each byte of a step has a
/// few favourites in a course, which come as often as the course likes: between never and nearly always.
Course draw_course(uint64_t seed);

}  // namespace weft::fuzz

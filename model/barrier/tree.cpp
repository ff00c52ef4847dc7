// SPDX-License-Identifier: Apache-2.0
// Trees as arithmetic on member numbers.
#include "barrier/tree.hpp"

#include <algorithm>
#include <bit>

namespace weft::barrier {
namespace {

/// What the lowest digit that is not 0 counts: 1, 4, 16, ...
uint32_t lowest_unit(uint32_t id) { return 1u << (std::countr_zero(id) / 2 * 2); }

/// What has one digit more than `id`, at a place from `first` on below `end`.
std::vector<uint32_t> with_a_digit(uint32_t id, uint64_t first, uint64_t end, uint32_t base,
                                   uint32_t members) {
  std::vector<uint32_t> numbers;
  for (uint64_t unit = first; unit < end; unit *= base) {
    for (uint32_t digit = 1; digit < base && id + digit * unit < members; ++digit)
      numbers.push_back(static_cast<uint32_t>(id + digit * unit));
  }
  return numbers;
}

}  // namespace

Shape shape_named(std::string_view name) {
  return std::find_if(shapes.begin(), shapes.end(), [&](const ShapeName& each) { return each.name == name; })
      ->shape;
}

std::vector<std::string> shape_names() {
  std::vector<std::string> names;
  names.reserve(shapes.size());
  for (const ShapeName& each : shapes) names.emplace_back(each.name);
  return names;
}

uint32_t parent_of(Shape shape, uint32_t id) {
  if (id == 0) return 0;
  if (shape == Shape::lct4) return id & ~(3 * lowest_unit(id));
  return shape == Shape::lct ? id & (id - 1) : id ^ std::bit_floor(id);
}

std::vector<uint32_t> children_of(Shape shape, uint32_t id, uint32_t members) {
  switch (shape) {
    case Shape::bst:
      return with_a_digit(id, id == 0 ? 1 : uint64_t{std::bit_floor(id)} << 1, members, 2, members);
    case Shape::lct:
      return with_a_digit(id, 1, id == 0 ? members : id & (~id + 1), 2, members);
    case Shape::lct4:
      return with_a_digit(id, 1, id == 0 ? members : lowest_unit(id), 4, members);
  }
  return {};
}

}  // namespace weft::barrier

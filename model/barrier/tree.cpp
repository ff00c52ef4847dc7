// SPDX-License-Identifier: Apache-2.0
// Trees as arithmetic on member numbers.
#include "barrier/tree.hpp"

#include <algorithm>
#include <bit>

namespace weft::barrier {
namespace {

/// What the lowest digit that is not 0 counts: powers of the base.
uint32_t lowest_unit(uint32_t id, uint32_t bits) { return 1u << (std::countr_zero(id) / bits * bits); }

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
  const uint32_t bits = digit_bits(shape);
  return bits == 0 ? id ^ std::bit_floor(id) : id & ~(((1u << bits) - 1) * lowest_unit(id, bits));
}

std::vector<uint32_t> children_of(Shape shape, uint32_t id, uint32_t members) {
  const uint32_t bits = digit_bits(shape);
  if (bits == 0)
    return with_a_digit(id, id == 0 ? 1 : uint64_t{std::bit_floor(id)} << 1, members, 2, members);
  return with_a_digit(id, 1, id == 0 ? members : lowest_unit(id, bits), 1u << bits, members);
}

}  // namespace weft::barrier

// SPDX-License-Identifier: Apache-2.0
// Trees as arithmetic on member numbers.
#include "barrier/tree.hpp"

#include <bit>

namespace weft::barrier {

uint32_t parent_of(Shape shape, uint32_t id) {
  if (id == 0) return 0;
  return shape == Shape::lct ? id & (id - 1) : id ^ std::bit_floor(id);
}

std::vector<uint32_t> children_of(Shape shape, uint32_t id, uint32_t members) {
  std::vector<uint32_t> children;
  // LCT: one of the zeros below the lowest one; BST: one above the highest one.
  const uint64_t first = shape == Shape::lct || id == 0 ? 1 : uint64_t{std::bit_floor(id)} << 1;
  const uint64_t end = shape == Shape::bst || id == 0 ? members : id & (~id + 1);
  for (uint64_t bit = first; bit < end; bit <<= 1) {
    if ((id | bit) < members) children.push_back(id | static_cast<uint32_t>(bit));
  }
  return children;
}

}  // namespace weft::barrier

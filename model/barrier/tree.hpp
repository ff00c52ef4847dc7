// SPDX-License-Identifier: Apache-2.0
// Shapes of the tree along which a barrier gathers and releases, as arithmetic on member numbers.
//
// Source: DLCT paper, sections 3.1 (LCT, algorithm 1) and 4 (BST). Numbers are 0 .. members - 1, 0 is the
// root.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::barrier {

enum class Shape {
  lct,  ///< local continuous tree: the parent's number is this one without its lowest one
  bst   ///< binomial tree: ... without its highest one
};

/// Parent of a number. The root's is itself.
uint32_t parent_of(Shape shape, uint32_t id);

/// Children of a number among `members` numbers, smallest first. Bounded: at most 32.
std::vector<uint32_t> children_of(Shape shape, uint32_t id, uint32_t members);

/// round(K): a number after all have moved on by `offset` (modulo `members`), and back.
constexpr uint32_t shifted(uint32_t num, uint32_t offset, uint32_t members) {
  return (num + offset) % members;
}
constexpr uint32_t unshifted(uint32_t id, uint32_t offset, uint32_t members) {
  return (id + members - offset % members) % members;
}

}  // namespace weft::barrier

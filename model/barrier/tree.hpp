// SPDX-License-Identifier: Apache-2.0
// Shapes of the tree along which a barrier gathers and releases, as arithmetic on member numbers.
//
// Source: DLCT paper, sections 3.1 (LCT, algorithm 1) and 4 (BST); LCT4 and LCT8 are weft's own. Numbers are
// 0 .. members - 1, 0 is the root.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::barrier {

enum class Shape {
  lct,   ///< local continuous tree: the parent's number is this one without its lowest one
  bst,   ///< binomial tree: ... without its highest one
  lct4,  ///< as lct, with digits of base 4: half as many levels, three children where lct has two
  lct8   ///< ... of base 8: a third as many, seven where it has three
};

/// Bits of a digit of a local continuous tree; 0: it is none.
constexpr uint32_t digit_bits(Shape shape) {
  switch (shape) {
    case Shape::lct:
      return 1;
    case Shape::lct4:
      return 2;
    case Shape::lct8:
      return 3;
    case Shape::bst:
      break;
  }
  return 0;
}

struct ShapeName {
  Shape shape;
  std::string_view name;
};
/// All of them, by the names that command lines use.
inline constexpr std::array<ShapeName, 4> shapes{
    {{Shape::lct, "lct"}, {Shape::bst, "bst"}, {Shape::lct4, "lct4"}, {Shape::lct8, "lct8"}}};
/// By its name, which is one of them.
Shape shape_named(std::string_view name);
std::vector<std::string> shape_names();

/// Parent of a number. The root's is itself.
uint32_t parent_of(Shape shape, uint32_t id);

/// Children of a number among `members` numbers, smallest first. Bounded: at most 32.
std::vector<uint32_t> children_of(Shape shape, uint32_t id, uint32_t members);

/// round(K): a number after all have moved on by `offset`, each within its block of `span` numbers (all are
/// one block, or there are whole ones only), and back.
constexpr uint32_t shifted(uint32_t num, uint32_t offset, uint32_t span) {
  return num - num % span + (num + offset) % span;
}
constexpr uint32_t unshifted(uint32_t id, uint32_t offset, uint32_t span) {
  return id - id % span + (id + span - offset % span) % span;
}

}  // namespace weft::barrier

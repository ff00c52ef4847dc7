// SPDX-License-Identifier: Apache-2.0
// The two-dimensional fat tree and what of it is alive.
//
// Leaf (x, y) is in column x and row y; row switch y joins the leaves of a row, column switch x those of a
// column (VTFTR, 1.2). Leaves are numbered x + columns * y, as in topology::kfat2d.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "common/fault.hpp"

namespace weft::route {

inline constexpr uint32_t most_lines =
    64;  ///< rows or columns: ports of a row or column switch, as the lookup block has them

/// Ports of a row or column switch: bit i is the leaf in column i, or in row i.
using PortSet = std::bitset<most_lines>;

/// The two kinds of links and switches above a leaf.
enum class Dimension : uint8_t { row, column };
constexpr Dimension other(Dimension dimension) {
  return dimension == Dimension::row ? Dimension::column : Dimension::row;
}

struct Leaf {
  uint32_t x = 0, y = 0;
  bool operator==(const Leaf&) const = default;
  /// Its port at the row switch (x) or column switch (y).
  uint32_t port(Dimension dimension) const { return dimension == Dimension::row ? x : y; }
  /// The number of its row switch (y) or column switch (x).
  uint32_t line(Dimension dimension) const { return dimension == Dimension::row ? y : x; }
};

/// The leaf at port `port` of a row or column switch.
constexpr Leaf leaf_at(Dimension dimension, uint32_t line, uint32_t port) {
  return dimension == Dimension::row ? Leaf{port, line} : Leaf{line, port};
}

struct Grid {
  uint32_t rows = 0, columns = 0, hosts = 0;  ///< hosts at each leaf

  bool operator==(const Grid&) const = default;
  uint32_t leaves() const { return rows * columns; }
  uint32_t number(Leaf leaf) const { return leaf.x + columns * leaf.y; }
  Leaf leaf(uint32_t number) const { return {number % columns, number / columns}; }
  /// Row or column switches, and the ports of each.
  uint32_t lines(Dimension dimension) const { return dimension == Dimension::row ? rows : columns; }
  uint32_t ports(Dimension dimension) const { return dimension == Dimension::row ? columns : rows; }
};

/// From "kfat2d:RxC:H". Throws Fault.
Grid grid_of(const std::string& spec);

/// What is alive. Marks are kept as told; attached() says what a leaf can use.
class Health {
 public:
  explicit Health(const Grid& grid);

  const Grid& grid() const { return grid_; }
  void fail_leaf(Leaf leaf) { leaf_[at(leaf)] = false; }
  void fail_switch(Dimension dimension, uint32_t line) { lines_[index(dimension)][line] = false; }
  void fail_link(Leaf leaf, Dimension dimension) { links_[index(dimension)][at(leaf)] = false; }

  bool alive(Leaf leaf) const { return leaf_[at(leaf)]; }
  bool alive(Dimension dimension, uint32_t line) const { return lines_[index(dimension)][line]; }
  /// Leaf, link and row or column switch are alive.
  bool attached(Leaf leaf, Dimension dimension) const {
    return alive(leaf) && links_[index(dimension)][at(leaf)] &&
           lines_[index(dimension)][leaf.line(dimension)];
  }
  /// Attached to row and column switch: packets can turn here.
  bool turns(Leaf leaf) const { return attached(leaf, Dimension::row) && attached(leaf, Dimension::column); }
  /// Ports of a row or column switch behind which a leaf answers.
  PortSet ports(Dimension dimension, uint32_t line) const;
  uint32_t live_leaves() const;
  bool operator==(const Health&) const = default;

 private:
  static uint32_t index(Dimension dimension) { return static_cast<uint32_t>(dimension); }
  uint32_t at(Leaf leaf) const { return grid_.number(leaf); }

  Grid grid_;
  std::vector<bool> leaf_;
  std::array<std::vector<bool>, 2> links_, lines_;
};

/// One fault as command lines have it: "R,C" of a leaf or link, "R" of a row switch, "C" of a column switch.
enum class What : uint8_t { leaf, row_switch, column_switch, row_link, column_link };
/// Throws Fault for what is no such thing or outside the fabric.
void fail(Health& health, What what, const std::string& where);

}  // namespace weft::route

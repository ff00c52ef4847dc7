// SPDX-License-Identifier: Apache-2.0
// The two-dimensional fat tree and what of it is alive.
//
// Leaf (x, y) is in column x and row y; row switch y joins the leaves of a row, column switch x those of a
// column (VTFTR, 1.2). In the place of each there may be a fat tree of two levels: `edges` edge switches,
// each with as many of the leaves, and `spines` spine switches, each with a link to every edge switch.
// Switches, ports and leaves (x + columns * y) are numbered as in topology::kfat2d.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "common/fault.hpp"

namespace weft::route {

inline constexpr uint32_t most_ports = 64;  ///< of a row or column switch, as the lookup block has them
inline constexpr uint32_t most_lines = 64;  ///< rows or columns

/// Ports of a row or column switch, from 0 on: the leaf in column i, or in row i; of an edge switch its
/// leaves in this order, then spines; of a spine switch the edge switches.
using PortSet = std::bitset<most_ports>;

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

/// A row or column switch; of a fat tree an edge switch, or behind all of these a spine switch.
struct Root {
  Dimension dimension = Dimension::row;
  uint32_t line = 0;    ///< its y or x
  uint32_t number = 0;  ///< in the fat tree
  bool operator==(const Root&) const = default;
};

struct Grid {
  uint32_t rows = 0, columns = 0, hosts = 0;  ///< hosts at each leaf
  uint32_t edges = 1, spines = 0;             ///< of each row's and column's fat tree; one switch: no spines

  bool operator==(const Grid&) const = default;
  uint32_t leaves() const { return rows * columns; }
  uint32_t number(Leaf leaf) const { return leaf.x + columns * leaf.y; }
  Leaf leaf(uint32_t number) const { return {number % columns, number / columns}; }
  /// Rows or columns, and the leaves of each.
  uint32_t lines(Dimension dimension) const { return dimension == Dimension::row ? rows : columns; }
  uint32_t ports(Dimension dimension) const { return dimension == Dimension::row ? columns : rows; }

  bool trees() const { return spines != 0; }
  /// Switches of one row or column, and of all.
  uint32_t roots_of_line() const { return trees() ? edges + spines : 1; }
  uint32_t roots() const { return (rows + columns) * roots_of_line(); }
  /// From 0 on: rows, then columns.
  uint32_t number(const Root& root) const {
    const uint32_t before = root.dimension == Dimension::row ? 0 : rows;
    return (before + root.line) * roots_of_line() + root.number;
  }
  Root root(uint32_t number) const;
  bool is_spine(const Root& root) const { return root.number >= edges; }
  uint32_t root_ports(const Root& root) const {
    return is_spine(root) ? edges : leaves_at_edge(root.dimension) + spines;
  }
  uint32_t leaves_at_edge(Dimension dimension) const { return ports(dimension) / edges; }
  /// The edge switch that a leaf hangs on, and its port there.
  Root edge_of(Leaf leaf, Dimension dimension) const {
    return {dimension, leaf.line(dimension), leaf.port(dimension) / leaves_at_edge(dimension)};
  }
  uint32_t edge_port(Leaf leaf, Dimension dimension) const {
    return leaf.port(dimension) % leaves_at_edge(dimension);
  }
  /// The leaf at a port of an edge switch.
  Leaf leaf_below(const Root& edge, uint32_t port) const {
    return leaf_at(edge.dimension, edge.line, edge.number * leaves_at_edge(edge.dimension) + port);
  }
  /// Switches on a shortest way without faults, both leaves too.
  uint32_t fewest_switches(Leaf from, Leaf to) const;
};

/// From "kfat2d:RxC:H" or "kfat2d:RxC:H:ExS", with fat trees of E edge and S spine switches. Throws Fault.
Grid grid_of(const std::string& spec);
std::string spec_of(const Grid& grid);

/// What is alive. Marks are kept as told; attached() says what a leaf can use.
class Health {
 public:
  explicit Health(const Grid& grid);

  const Grid& grid() const { return grid_; }
  void fail_leaf(Leaf leaf) { leaf_[at(leaf)] = false; }
  void fail_switch(const Root& root) { roots_[grid_.number(root)] = false; }
  void fail_link(Leaf leaf, Dimension dimension) { links_[index(dimension)][at(leaf)] = false; }
  /// Of a fat tree.
  void fail_link(const Root& edge, uint32_t spine) { spine_links_[at(edge, spine)] = false; }

  bool alive(Leaf leaf) const { return leaf_[at(leaf)]; }
  bool alive(const Root& root) const { return roots_[grid_.number(root)]; }
  /// Leaves by number, then roots.
  bool alive_switch(uint32_t number) const {
    return number < grid_.leaves() ? leaf_[number] : roots_[number - grid_.leaves()];
  }
  /// Leaf, link and row or column (edge) switch are alive.
  bool attached(Leaf leaf, Dimension dimension) const {
    return alive(leaf) && links_[index(dimension)][at(leaf)] && alive(grid_.edge_of(leaf, dimension));
  }
  /// Attached to row and column switch: packets can turn here.
  bool turns(Leaf leaf) const { return attached(leaf, Dimension::row) && attached(leaf, Dimension::column); }
  /// Edge switch, spine switch and the link between them are alive.
  bool attached(const Root& edge, uint32_t spine) const {
    return spine_links_[at(edge, spine)] && alive(edge) &&
           alive(Root{edge.dimension, edge.line, grid_.edges + spine});
  }
  /// Whether packets find from one of these edge switches of a line to the other: by spine switches in
  /// common.
  bool joined(const Root& edge, const Root& other) const;
  /// For leaves of one line that are attached.
  bool joined(Leaf one, Leaf other, Dimension dimension) const {
    return joined(grid_.edge_of(one, dimension), grid_.edge_of(other, dimension));
  }
  /// Ports of a row or column switch behind which a leaf, or switch, answers.
  PortSet ports(const Root& root) const;
  uint32_t live_leaves() const;
  /// All is alike but for leaves and their links.
  bool same_roots(const Health& other) const {
    return roots_ == other.roots_ && spine_links_ == other.spine_links_;
  }
  bool operator==(const Health&) const = default;

 private:
  static uint32_t index(Dimension dimension) { return static_cast<uint32_t>(dimension); }
  uint32_t at(Leaf leaf) const { return grid_.number(leaf); }
  std::size_t at(const Root& edge, uint32_t spine) const {
    return std::size_t{grid_.number(edge)} * grid_.spines + spine;
  }

  Grid grid_;
  std::vector<bool> leaf_;
  std::array<std::vector<bool>, 2> links_;
  std::vector<bool> roots_, spine_links_;  // by number; by number of the edge switch and spine
};

/// One fault as command lines have it: "R,C" of a leaf or its link, "R" of a row switch, "C" of a column
/// switch. Of fat trees "R,N" is switch N of row R, edge switches first, and "R,E,S" the link of edge switch
/// E to spine switch S; likewise with C.
enum class What : uint8_t { leaf, row_switch, column_switch, row_link, column_link };
/// Throws Fault for what is no such thing or outside the fabric.
void fail(Health& health, What what, const std::string& where);

}  // namespace weft::route

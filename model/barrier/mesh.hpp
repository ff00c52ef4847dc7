// SPDX-License-Identifier: Apache-2.0
// A mesh of nodes with links that break, ways through what is left, and numberings of its nodes.
//
// Node (x, y) has index x * height + y. Source: DLCT paper, sections 3.1 (numbering) and 4 (mesh, broken
// links).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::barrier {

using Node = uint32_t;

struct Size {
  uint32_t width = 0, height = 0;  ///< along x, along y
  uint32_t nodes() const { return width * height; }
};

/// "XxY" with sides of at least 1 and so many nodes, `least_nodes` 1 or more.
/// @throws Fault, as of option --mesh, if it is anything else
Size read_size(const std::string& text, uint32_t least_nodes, uint32_t most_nodes);

enum class Links { four, eight };  ///< neighbours along both axes; or diagonal ones, too

/// How nodes are numbered.
enum class Numbering {
  s_curve,  ///< the paper's: column by column, every other one downwards
  morton,   ///< Z-order: bits of x and y in turn; the root is a corner
  centre    ///< Z-order in each quadrant, mirrored so that all begin at the centre
};

class Mesh {
 public:
  /// @throws std::invalid_argument if a side is 0 or there are more than 2^16 nodes
  Mesh(Size size, Links links);

  Size size() const { return size_; }
  uint32_t nodes() const { return size_.nodes(); }
  uint32_t links() const { return static_cast<uint32_t>(ends_.size()); }
  Node at(uint32_t x, uint32_t y) const { return x * size_.height + y; }
  uint32_t x_of(Node node) const { return node / size_.height; }
  uint32_t y_of(Node node) const { return node % size_.height; }

  struct Neighbour {
    Node node;
    uint32_t link;
  };
  /// Those behind links that work: along y first, then x, then diagonally.
  std::span<const Neighbour> neighbours(Node node) const { return neighbours_[node]; }

  /// Breaks round(fraction * links) links drawn at random, but none without which the mesh would fall apart.
  /// @return how many broke: fewer than wanted if all others are needed
  uint32_t break_links(double fraction, uint64_t seed);

 private:
  bool connected() const;
  void drop(uint32_t link);
  void restore(uint32_t link);
  void add_link(Node a, uint32_t x, uint32_t y);

  Size size_;
  std::vector<std::pair<Node, Node>> ends_;
  std::vector<std::vector<Neighbour>> neighbours_;
};

/// Nodes by number: result[number] is the node. Every numbering is of all nodes, whatever the sides.
std::vector<Node> numbered(const Mesh& mesh, Numbering numbering);

/// Shortest ways through a mesh; of several next nodes the first in the order of Mesh::neighbours.
class Routes {
 public:
  explicit Routes(const Mesh& mesh);

  uint32_t hops(Node from, Node to) const { return hops_[size_t{to} * nodes_ + from]; }
  Mesh::Neighbour next(Node from, Node to) const { return next_[size_t{to} * nodes_ + from]; }

  /// Node with the smallest largest distance to another (first of them), and that distance.
  struct Centre {
    Node node;
    uint32_t radius;
  };
  Centre centre() const;

 private:
  void reach(const Mesh& mesh, Node to);

  uint32_t nodes_;
  std::vector<uint32_t> hops_;
  std::vector<Mesh::Neighbour> next_;
};

}  // namespace weft::barrier

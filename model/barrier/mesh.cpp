// SPDX-License-Identifier: Apache-2.0
// Meshes with broken links, and ways through them.
#include "barrier/mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "common/fault.hpp"
#include "fabric/random.hpp"

namespace weft::barrier {
namespace {

uint32_t interleaved(uint32_t x, uint32_t y) {
  uint32_t code = 0;
  for (uint32_t bit = 0; bit < 16; bit++) {
    code |= (y >> bit & 1) << (2 * bit) | (x >> bit & 1) << (2 * bit + 1);
  }
  return code;
}

/// What nodes are sorted by, smallest first.
uint64_t key_of(Numbering numbering, Size size, uint32_t x, uint32_t y) {
  if (numbering == Numbering::s_curve) return uint64_t{x} * size.height + (x % 2 ? size.height - 1 - y : y);
  if (numbering == Numbering::morton) return interleaved(x, y);
  const uint32_t mid_x = size.width / 2, mid_y = size.height / 2;
  const bool right = x >= mid_x, upper = y >= mid_y;
  const uint32_t quadrant = (right ? 2u : 0u) + (upper ? 1u : 0u);
  const uint64_t local = interleaved(right ? x - mid_x : mid_x - 1 - x, upper ? y - mid_y : mid_y - 1 - y);
  return uint64_t{quadrant} << 32 | local;
}

}  // namespace

Size read_size(const std::string& text, uint32_t least_nodes, uint32_t most_nodes) {
  const auto side = [](const std::string& digits) {
    const bool good =
        !digits.empty() && digits.size() <= 4 && digits.find_first_not_of("0123456789") == std::string::npos;
    return good ? static_cast<uint32_t>(std::stoul(digits)) : 0;
  };
  const size_t cross = std::min(text.find('x'), text.size());
  const Size size{side(text.substr(0, cross)), side(text.substr(std::min(cross + 1, text.size())))};
  if (size.nodes() < least_nodes || size.nodes() > most_nodes)
    throw Fault(fmt::format("--mesh {}: must be XxY with sides of at least 1 and {} to {} nodes", text,
                            least_nodes, most_nodes));
  return size;
}

Mesh::Mesh(Size size, Links links) : size_(size) {
  if (size.width == 0 || size.height == 0 || uint64_t{size.width} * size.height > 1u << 16)
    throw std::invalid_argument("a mesh has from 1 to 65536 nodes");
  neighbours_.resize(nodes());
  for (Node node = 0; node < nodes(); node++) {
    const uint32_t x = x_of(node), y = y_of(node);
    add_link(node, x, y + 1);
    add_link(node, x + 1, y);
    if (links == Links::eight) {
      add_link(node, x + 1, y + 1);
      if (y > 0) add_link(node, x + 1, y - 1);
    }
  }
}

void Mesh::add_link(Node a, uint32_t x, uint32_t y) {
  if (x >= size_.width || y >= size_.height) return;
  ends_.emplace_back(a, at(x, y));
  restore(links() - 1);
}

void Mesh::restore(uint32_t link) {
  const auto [a, b] = ends_[link];
  neighbours_[a].push_back({b, link});
  neighbours_[b].push_back({a, link});
  for (const Node node : {a, b}) {
    const auto rank = [&](const Neighbour& other) {
      const bool along_y = x_of(other.node) == x_of(node), along_x = y_of(other.node) == y_of(node);
      return std::tuple(along_y ? 0 : along_x ? 1 : 2, other.node);
    };
    std::sort(neighbours_[node].begin(), neighbours_[node].end(),
              [&](const Neighbour& one, const Neighbour& two) { return rank(one) < rank(two); });
  }
}

void Mesh::drop(uint32_t link) {
  for (const Node node : {ends_[link].first, ends_[link].second})
    std::erase_if(neighbours_[node], [link](const Neighbour& other) { return other.link == link; });
}

bool Mesh::connected() const {
  std::vector<bool> seen(nodes());
  std::vector<Node> todo = {0};
  seen[0] = true;
  for (size_t at = 0; at < todo.size(); at++) {
    for (const Neighbour& other : neighbours_[todo[at]]) {
      if (!seen[other.node]) todo.push_back(other.node);
      seen[other.node] = true;
    }
  }
  return todo.size() == nodes();
}

uint32_t Mesh::break_links(double fraction, uint64_t seed) {
  const auto wanted = static_cast<uint32_t>(std::lround(fraction * links()));
  std::vector<uint32_t> order(links());
  std::iota(order.begin(), order.end(), 0);
  RandomStream random(seed, 0x6272656b);
  for (size_t left = order.size(); left > 1; left--) std::swap(order[left - 1], order[random.below(left)]);
  uint32_t broken = 0;
  for (const uint32_t link : order) {
    if (broken == wanted) break;
    drop(link);
    if (connected()) {
      broken++;
    } else {
      restore(link);
    }
  }
  return broken;
}

std::vector<Node> numbered(const Mesh& mesh, Numbering numbering) {
  std::vector<Node> nodes(mesh.nodes());
  std::iota(nodes.begin(), nodes.end(), 0);
  const auto key = [&](Node node) {
    return key_of(numbering, mesh.size(), mesh.x_of(node), mesh.y_of(node));
  };
  std::sort(nodes.begin(), nodes.end(), [&](Node a, Node b) { return key(a) < key(b); });
  return nodes;
}

Routes::Routes(const Mesh& mesh)
    : nodes_(mesh.nodes()),
      hops_(size_t{nodes_} * nodes_, UINT32_MAX),
      next_(size_t{nodes_} * nodes_, Mesh::Neighbour{0, 0}) {
  for (Node to = 0; to < nodes_; to++) reach(mesh, to);
}

void Routes::reach(const Mesh& mesh, Node to) {
  uint32_t* const hops = &hops_[size_t{to} * nodes_];
  std::vector<Node> todo = {to};
  hops[to] = 0;
  for (size_t at = 0; at < todo.size(); at++) {
    const Node node = todo[at];
    for (const auto& other : mesh.neighbours(node)) {
      if (hops[other.node] != UINT32_MAX) continue;
      hops[other.node] = hops[node] + 1;
      todo.push_back(other.node);
    }
  }
  for (const Node from : todo) {
    for (const auto& other : mesh.neighbours(from)) {
      if (hops[other.node] + 1 != hops[from]) continue;
      next_[size_t{to} * nodes_ + from] = other;
      break;
    }
  }
}

Routes::Centre Routes::centre() const {
  Centre best{0, UINT32_MAX};
  for (Node node = 0; node < nodes_; node++) {
    const auto first = hops_.begin() + static_cast<std::ptrdiff_t>(size_t{node} * nodes_);
    const uint32_t radius = *std::max_element(first, first + nodes_);
    if (radius < best.radius) best = {node, radius};
  }
  return best;
}

}  // namespace weft::barrier

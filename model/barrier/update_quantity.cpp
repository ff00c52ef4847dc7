// SPDX-License-Identifier: Apache-2.0
// Update quantity of trees on a mesh.
#include "barrier/update_quantity.hpp"

#include <bit>

namespace weft::barrier {
namespace {

/// Distance on a mesh without broken links; one step of the paper's greedy routing is to whoever is nearest.
uint32_t squared_distance(const Mesh& mesh, Node a, Node b) {
  const uint32_t dx = mesh.x_of(a) - mesh.x_of(b),
                 dy = mesh.y_of(a) - mesh.y_of(b);  // squares are right modulo 2^32
  return dx * dx + dy * dy;
}

Mesh::Neighbour nearest(const Mesh& mesh, Node from, Node to) {
  Mesh::Neighbour best = mesh.neighbours(from)[0];
  for (const auto& other : mesh.neighbours(from)) {
    if (squared_distance(mesh, other.node, to) < squared_distance(mesh, best.node, to)) best = other;
  }
  return best;
}

}  // namespace

LinkSet used_links(const Mesh& mesh, const std::vector<Node>& by_number, Shape shape, uint32_t offset) {
  LinkSet used((mesh.links() + 63) / 64);
  const uint32_t members = mesh.nodes();
  for (uint32_t id = 1; id < members; id++) {
    Node at = by_number[unshifted(id, offset, members)];
    const Node to = by_number[unshifted(parent_of(shape, id), offset, members)];
    for (uint32_t hops = 0; at != to && hops < members; hops++) {
      const auto next = nearest(mesh, at, to);
      used[next.link / 64] |= uint64_t{1} << next.link % 64;
      at = next.node;
    }
  }
  return used;
}

Update update_between(const LinkSet& before, const LinkSet& after) {
  Update update;
  for (size_t word = 0; word < before.size(); word++) {
    update.common += static_cast<uint32_t>(std::popcount(before[word] & after[word]));
    update.all += static_cast<uint32_t>(std::popcount(before[word] | after[word]));
  }
  return update;
}

std::vector<std::vector<double>> all_updates(const Mesh& mesh, const std::vector<Node>& by_number,
                                             Shape shape, const Done& done) {
  const auto tell = [&](uint64_t steps) {
    if (done) done(steps, uint64_t{2} * mesh.nodes());
  };
  std::vector<LinkSet> used;
  for (uint32_t offset = 0; offset < mesh.nodes(); offset++) {
    used.push_back(used_links(mesh, by_number, shape, offset));
    tell(used.size());
  }
  std::vector<std::vector<double>> updates;
  for (const auto& before : used) {
    auto& row = updates.emplace_back();
    for (const auto& after : used) row.push_back(update_between(before, after).quantity());
    tell(used.size() + updates.size());
  }
  return updates;
}

double mean_update(const std::vector<std::vector<double>>& updates) {
  double sum = 0;
  for (const auto& row : updates) {
    for (const double quantity : row) sum += quantity;
  }
  return updates.empty() ? 0 : sum / static_cast<double>(updates.size() * updates.size());
}

}  // namespace weft::barrier

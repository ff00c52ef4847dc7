// SPDX-License-Identifier: Apache-2.0
// Barrier algorithms as plans of messages.
#include "barrier/plan.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <stdexcept>

namespace weft::barrier {
namespace {

/// Nodes with the root first and every node behind its parent; of a node's children those with most nodes
/// below them first, so that they are told first.
std::vector<Node> top_down(const Parents& parents) {
  std::vector<std::vector<Node>> children(parents.size());
  std::vector<Node> order;
  for (Node node = 0; node < parents.size(); node++) {
    if (parents[node] == node) order.push_back(node);
    if (parents[node] != node) children[parents[node]].push_back(node);
  }
  const std::vector<Node> roots = order;
  const auto list = [&] {
    order = roots;
    for (size_t at = 0; at < order.size(); at++)
      order.insert(order.end(), children[order[at]].begin(), children[order[at]].end());
  };
  list();
  if (order.size() != parents.size()) throw std::logic_error("these parents make no tree");
  std::vector<uint32_t> below(parents.size(), 1);
  for (auto node = order.rbegin(); node != order.rend(); ++node)
    if (parents[*node] != *node) below[parents[*node]] += below[*node];
  for (auto& each : children)
    std::ranges::stable_sort(each, std::greater<>(), [&](Node node) { return below[node]; });
  list();
  return order;
}

using Got = std::vector<std::vector<uint32_t>>;  // by node: messages

/// Gather of a tree, where nodes need what is in `got` before; what each node has got is added.
void add_gather(Plan& plan, const Parents& parents, const std::vector<Node>& order, Got& got) {
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    if (parents[*node] == *node) continue;
    got[parents[*node]].push_back(plan.add({*node, parents[*node], false, false, got[*node]}));
  }
}

void add_release(Plan& plan, const Parents& parents, const std::vector<Node>& order, Got& got) {
  for (const Node node : order) {
    if (parents[node] == node) continue;
    const uint32_t release = plan.add({parents[node], node, true, false, got[parents[node]]});
    got[node] = {release};
    plan.leaves[node] = {release};
  }
}

/// The largest power of `base` that is at most `limit`.
uint32_t power_within(uint32_t base, uint32_t limit) {
  uint32_t power = 1;
  while (power <= limit / base) power *= base;
  return std::max(power, 1u);
}

/// One round after the other: in each, every node sends to those a digit of `base` ahead of it.
void add_dissemination(Plan& plan, const std::vector<Node>& nodes, Got& got, uint32_t base = 2) {
  const auto count = static_cast<uint32_t>(nodes.size());
  for (uint32_t unit = 1; unit < count; unit *= base) {
    Got next = got;
    for (uint32_t ahead = unit; ahead < std::min(base * unit, count); ahead += unit) {
      for (uint32_t i = 0; i < count; i++) {
        const Node to = nodes[(i + ahead) % count];
        next[to].push_back(plan.add({nodes[i], to, false, false, got[nodes[i]]}));
      }
    }
    for (const Node node : nodes) got[node] = next[node];
  }
}

}  // namespace

Parents tree_parents(Shape shape, const std::vector<Node>& by_number, uint32_t offset, uint32_t span) {
  const auto members = static_cast<uint32_t>(by_number.size());
  if (span == 0) span = members;
  Parents parents(members);
  for (uint32_t id = 0; id < members; id++)
    parents[by_number[unshifted(id, offset, span)]] =
        by_number[unshifted(parent_of(shape, id), offset, span)];
  return parents;
}

Parents star_parents(uint32_t nodes, Node master) { return Parents(nodes, master); }

Parents spanning_parents(const Mesh& mesh, Node root) {
  Parents parents(mesh.nodes(), UINT32_MAX);
  std::vector<Node> todo = {root};
  parents[root] = root;
  for (size_t at = 0; at < todo.size(); at++) {
    for (const auto& other : mesh.neighbours(todo[at])) {
      if (parents[other.node] != UINT32_MAX) continue;
      parents[other.node] = todo[at];
      todo.push_back(other.node);
    }
  }
  return parents;
}

Plan tree_plan(const Parents& parents, Release release) {
  const auto nodes = static_cast<uint32_t>(parents.size());
  Plan plan(nodes);
  Got got(nodes);
  const auto order = top_down(parents);
  add_gather(plan, parents, order, got);
  const Node root = order[0];
  plan.leaves[root] = got[root];
  if (release == Release::along_tree) {
    add_release(plan, parents, order, got);
  } else if (release == Release::from_root) {
    add_release(plan, star_parents(nodes, root), order, got);
  } else if (nodes > 1) {
    const uint32_t all = plan.add({root, root, false, true, got[root]});
    for (Node node = 0; node < nodes; node++) {
      if (node != root) plan.leaves[node] = {all};
    }
  }
  return plan;
}

Plan dissemination_plan(const std::vector<Node>& by_number, uint32_t base) {
  const auto nodes = static_cast<uint32_t>(by_number.size());
  Plan plan(nodes);
  Got got(nodes);
  add_dissemination(plan, by_number, got, base);
  plan.leaves = got;
  return plan;
}

Plan butterfly_plan(const std::vector<Node>& by_number, uint32_t base) {
  const auto nodes = static_cast<uint32_t>(by_number.size());
  const uint32_t power = power_within(base, nodes);
  Plan plan(nodes);
  Got got(nodes);
  const auto partner = [&](uint32_t i) { return by_number[i % power]; };
  for (uint32_t i = power; i < nodes; i++)  // those beyond the power report to a partner
    got[partner(i)].push_back(plan.add({by_number[i], partner(i), false, false, {}}));
  for (uint32_t unit = 1; unit < power; unit *= base) {
    Got next = got;
    for (uint32_t ahead = 1; ahead < base; ahead++) {
      for (uint32_t i = 0; i < power; i++) {
        const uint32_t digit = i / unit % base;
        const Node to = by_number[i - digit * unit + (digit + ahead) % base * unit];
        next[to].push_back(plan.add({by_number[i], to, false, false, got[by_number[i]]}));
      }
    }
    got = std::move(next);
  }
  plan.leaves = got;
  for (uint32_t i = power; i < nodes; i++)
    plan.leaves[by_number[i]] = {plan.add({partner(i), by_number[i], true, false, got[partner(i)]})};
  return plan;
}

Plan all_to_all_plan(uint32_t nodes) {
  Plan plan(nodes);
  for (uint32_t ahead = 1; ahead < nodes; ahead++) {
    for (Node node = 0; node < nodes; node++) {
      const Node to = (node + ahead) % nodes;
      plan.leaves[to].push_back(plan.add({node, to, false, false, {}}));
    }
  }
  return plan;
}

Plan dissemination_tree_plan(const std::vector<std::vector<Node>>& blocks,
                             const std::vector<uint32_t>& between) {
  uint32_t nodes = 0;
  for (const auto& block : blocks) nodes += static_cast<uint32_t>(block.size());
  Plan plan(nodes);
  Got got(nodes);
  for (const auto& block : blocks) add_dissemination(plan, block, got);
  const auto order = top_down(between);
  const auto first_of = [&](uint32_t block) { return blocks[block][0]; };
  for (auto block = order.rbegin(); block != order.rend(); ++block) {
    const Node from = first_of(*block), to = first_of(between[*block]);
    if (from != to) got[to].push_back(plan.add({from, to, false, false, got[from]}));
  }
  plan.leaves[first_of(order[0])] = got[first_of(order[0])];
  Parents parents(nodes);
  const auto empty = std::vector<uint32_t>(blocks.size(), 0);
  parents = two_level_parents(blocks, empty, between);
  add_release(plan, parents, top_down(parents), got);
  return plan;
}

Parents two_level_parents(const std::vector<std::vector<Node>>& blocks, const std::vector<uint32_t>& offsets,
                          const std::vector<uint32_t>& between) {
  uint32_t nodes = 0;
  for (const auto& block : blocks) nodes += static_cast<uint32_t>(block.size());
  const auto root_of = [&](uint32_t block) {
    const auto members = static_cast<uint32_t>(blocks[block].size());
    return blocks[block][unshifted(0, offsets[block], members)];
  };
  Parents parents(nodes);
  for (uint32_t block = 0; block < blocks.size(); block++) {
    const auto members = static_cast<uint32_t>(blocks[block].size());
    for (uint32_t id = 1; id < members; id++)
      parents[blocks[block][unshifted(id, offsets[block], members)]] =
          blocks[block][unshifted(parent_of(Shape::lct, id), offsets[block], members)];
    parents[root_of(block)] = root_of(between[block]);
  }
  return parents;
}

uint64_t hops_of(const Plan& plan, const Routes& routes) {
  uint64_t hops = 0;
  for (const Message& message : plan.messages)
    hops += message.to_all    ? plan.leaves.size() - 1
            : message.retrace ? routes.hops(message.to, message.from)
                              : routes.hops(message.from, message.to);
  return hops;
}

uint32_t gather_length(const Parents& parents, const Routes& routes) {
  std::vector<uint32_t> length(parents.size());
  uint32_t longest = 0;
  for (const Node node : top_down(parents)) {
    if (parents[node] != node) length[node] = length[parents[node]] + routes.hops(node, parents[node]);
    longest = std::max(longest, length[node]);
  }
  return longest;
}

}  // namespace weft::barrier

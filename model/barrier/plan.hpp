// SPDX-License-Identifier: Apache-2.0
// A barrier as messages between nodes that wait for each other, and the algorithms that make such plans.
//
// Source: DLCT paper, sections 2 and 4, for the algorithms; where it is silent docs/barrier.md says what is
// done.
#pragma once

#include <cstdint>
#include <vector>

#include "barrier/copies.hpp"
#include "barrier/mesh.hpp"
#include "barrier/tree.hpp"

namespace weft::barrier {

struct Message {
  Node from = 0, to = 0;
  bool retrace = false;         ///< takes the way from `to` to `from` backwards
  bool to_all = false;          ///< one packet to all nodes along the plan's tree, copied in the network
  std::vector<uint32_t> needs;  ///< messages that `from` must have before it sends this
};

/// A message is sent when its sender has arrived and has what the message needs; a node may leave when it has
/// arrived and has all messages for it that are `releases`.
struct Plan {
  std::vector<Message> messages;              ///< needs point to earlier ones
  std::vector<std::vector<uint32_t>> leaves;  ///< by node: messages it must have to leave
  Copies copies;                              ///< of messages to all: a tree over all nodes

  explicit Plan(uint32_t nodes) : leaves(nodes) {}
  uint32_t add(Message message) {
    messages.push_back(std::move(message));
    return static_cast<uint32_t>(messages.size() - 1);
  }
};

/// Parents by node; the root's is itself.
using Parents = std::vector<Node>;

/// @param span numbers that move on together, see shifted(); 0: all
Parents tree_parents(Shape shape, const std::vector<Node>& by_number, uint32_t offset, uint32_t span = 0);
Parents star_parents(uint32_t nodes, Node master);
/// Minimum spanning tree: of all those the one with shortest ways to the root.
Parents spanning_parents(const Mesh& mesh, Node root);

enum class Release { along_tree, from_root, multicast };

/// Gather along a tree, then release. `copies` of a multicast are left open.
Plan tree_plan(const Parents& parents, Release release);
/// @param base  each node sends to base - 1 others a round, and the rounds are as many as a number of `base`
/// has digits
Plan dissemination_plan(const std::vector<Node>& by_number, uint32_t base = 2);
Plan butterfly_plan(const std::vector<Node>& by_number, uint32_t base = 2);
Plan all_to_all_plan(uint32_t nodes);
/// Dissemination in each block, a tree over the blocks' first nodes, release along a tree in each block.
/// @param between  parents of blocks
Plan dissemination_tree_plan(const std::vector<std::vector<Node>>& blocks,
                             const std::vector<uint32_t>& between);
/// Two levels as one tree: in each block of nodes by number a tree, moved on by its own offset, then a tree
/// over the blocks' roots.
Parents two_level_parents(const std::vector<std::vector<Node>>& blocks, const std::vector<uint32_t>& offsets,
                          const std::vector<uint32_t>& between);

/// Sum over the ways of all messages, in hops; those to all count one for each link.
uint64_t hops_of(const Plan& plan, const Routes& routes);

/// Longest way from a node to the root along Gather, in hops: what the root learns.
uint32_t gather_length(const Parents& parents, const Routes& routes);

}  // namespace weft::barrier

// SPDX-License-Identifier: Apache-2.0
// Runs of one barrier algorithm on one mesh: several barriers, one after the other, over the same broken
// links.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "barrier/judge.hpp"
#include "barrier/mesh.hpp"
#include "barrier/timing.hpp"
#include "barrier/tree.hpp"
#include "barrier/update_quantity.hpp"

namespace weft::barrier {

enum class Algorithm {
  dlct,            ///< local continuous tree over all nodes, moved on by judge
  dlct_multicast,  ///< ... whose Release is one packet copied in the network, along shortest ways
  dlct_mr4lms,     ///< ... along the tree that MR4LMS gives the group
  dlct4,           ///< dlct, dlct_mr4lms with the tree of base 4
  dlct4_mr4lms,
  dlct8,  ///< ... of base 8
  dlct8_mr4lms,
  dlct_blocks,   ///< two levels as the engine has them: one tree, moved on within each block by the same
                 ///< offset
  dlct4_blocks,  ///< ... the tree of base 4
  ms,            ///< all to a master at the centre, which answers each
  tree,          ///< minimum spanning tree of the mesh as it was before links broke
  tree_rebuilt,  ///< ... rebuilt after the first barrier, which pays for it, with its root at the centre of
                 ///< what is left
  tree_mr4lms,   ///< tree and tree_rebuilt with Release as dlct_mr4lms
  tree_rebuilt_mr4lms,
  tournament,  ///< binomial tree, release from the champion to each
  dissemination,
  dissemination_tree,  ///< dissemination in blocks, tree over the blocks
  id1,                 ///< DLCT in blocks, MS over the blocks
  id2,                 ///< DLCT in blocks, tree over the blocks
  butterfly,
  dissemination4,  ///< three others in each round, half as many rounds
  butterfly4,
  all_to_all
};

struct AlgorithmName {
  Algorithm algorithm;
  std::string_view name;
};
/// All of them, by the names that command lines use.
std::span<const AlgorithmName> algorithms();

enum class Judging {
  searching,
  fixed,
  oracle
};  ///< see judge.hpp; offset 0 for ever; the best offset at once

/// Offsets that judge tries in a search: with numbers from the centre the other three nodes there as roots.
constexpr uint32_t usual_tries(Numbering numbering) { return numbering == Numbering::centre ? 3 : 8; }

/// And how far apart: numbers from the centre have the four nodes there a quarter apart, so that ways stay
/// short.
uint32_t usual_stride(Numbering numbering, uint32_t offsets);

struct Setup {
  Size size{4, 4};
  Links links = Links::four;
  Algorithm algorithm = Algorithm::dlct;
  Shape shape = Shape::lct;  ///< of DLCT's tree over all nodes
  Numbering numbering = Numbering::s_curve;
  Judging judging = Judging::searching;
  double broken = 0;  ///< fraction of links
  uint64_t seed = 1;
  uint32_t rounds = 3;  ///< barriers one after the other, as in the paper's program
  uint32_t block = 4;   ///< side of a block of the algorithms of two levels; those of dlct_blocks are as many
                        ///< nodes that follow each other
  uint32_t tries = 8;   ///< offsets that judge tries in a search
  uint32_t stride =
      0;  ///< from one to the next; 0: a quarter with numbers from the centre, else default_stride()
  Timing timing;
};

/// What software tells the engines of a group of all nodes (docs/barrier.md, "Setting up a group").
struct GroupOfAll {
  std::vector<Node> members;  ///< by number
  Shape shape = Shape::lct;
  uint32_t block_log2 = 0;
  JudgeSettings judge;
};

/// As the algorithm has it on the mesh without broken links; nothing if it is none of one group of an engine.
std::optional<GroupOfAll> group_of_all(const Setup& setup);

struct Round {
  double cycles = 0, messages = 0, hops = 0;
  uint32_t length = 0;  ///< longest way of Gather to the root, in hops; 0 where nothing gathers along a tree
};

struct Outcome {
  uint32_t broken_links = 0;
  uint32_t links = 0;
  uint64_t lower_bound =
      0;  ///< cycles: there and back between the best root and the node farthest from it, links only
  std::vector<Round> rounds;
};

/// Whether the algorithm is one of blocks that engines move on by one offset, and not of this tree:
/// dlct_blocks of a BST.
bool has_no_blocks(const Setup& setup);

/// Whether the mesh has what the algorithm needs: dlct_blocks two or more whole blocks of a power of two
/// nodes, of a tree that has blocks.
bool fits(const Setup& setup);

/// How many offsets the tree has that the algorithm moves on (the smallest one, where each block has its
/// own), which no stride may be beyond; nothing if it moves none.
std::optional<uint32_t> offsets_of(const Setup& setup);

/// @throws std::invalid_argument if blocks or rounds are 0, not fits(), or the stride is beyond the offsets
Outcome compare(const Setup& setup);

/// UQ of each change of the tree that the algorithm moves on (of a block for ID1 and ID2), see all_updates();
/// nothing if it moves none.
std::optional<std::vector<std::vector<double>>> updates_of(const Setup& setup, const Done& done = {});

}  // namespace weft::barrier

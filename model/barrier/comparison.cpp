// SPDX-License-Identifier: Apache-2.0
// Barriers one after the other on a mesh with broken links.
#include "barrier/comparison.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>

#include "barrier/copies.hpp"
#include "barrier/plan.hpp"
#include "barrier/update_quantity.hpp"

namespace weft::barrier {
namespace {

constexpr std::array names = {
    AlgorithmName{Algorithm::dlct, "dlct"},
    AlgorithmName{Algorithm::dlct_multicast, "dlct-multicast"},
    AlgorithmName{Algorithm::dlct_mr4lms, "dlct-mr4lms"},
    AlgorithmName{Algorithm::dlct4, "dlct4"},
    AlgorithmName{Algorithm::dlct4_mr4lms, "dlct4-mr4lms"},
    AlgorithmName{Algorithm::dlct8, "dlct8"},
    AlgorithmName{Algorithm::dlct8_mr4lms, "dlct8-mr4lms"},
    AlgorithmName{Algorithm::dlct_blocks, "dlct-blocks"},
    AlgorithmName{Algorithm::dlct4_blocks, "dlct4-blocks"},
    AlgorithmName{Algorithm::ms, "ms"},
    AlgorithmName{Algorithm::tree, "tree"},
    AlgorithmName{Algorithm::tree_rebuilt, "tree-rebuilt"},
    AlgorithmName{Algorithm::tree_mr4lms, "tree-mr4lms"},
    AlgorithmName{Algorithm::tree_rebuilt_mr4lms, "tree-rebuilt-mr4lms"},
    AlgorithmName{Algorithm::tournament, "tournament"},
    AlgorithmName{Algorithm::dissemination, "dissemination"},
    AlgorithmName{Algorithm::dissemination_tree, "dissemination-tree"},
    AlgorithmName{Algorithm::id1, "id1"},
    AlgorithmName{Algorithm::id2, "id2"},
    AlgorithmName{Algorithm::butterfly, "butterfly"},
    AlgorithmName{Algorithm::dissemination4, "dissemination4"},
    AlgorithmName{Algorithm::butterfly4, "butterfly4"},
    AlgorithmName{Algorithm::all_to_all, "all-to-all"},
};

/// dlct4 and dlct8 are dlct with other trees.
Setup plain(Setup setup) {
  const auto is = [&](Algorithm algorithm, Algorithm of_bits, Shape shape) {
    if (setup.algorithm != algorithm) return;
    setup.algorithm = of_bits;
    setup.shape = shape;
  };
  is(Algorithm::dlct4, Algorithm::dlct, Shape::lct4);
  is(Algorithm::dlct4_mr4lms, Algorithm::dlct_mr4lms, Shape::lct4);
  is(Algorithm::dlct8, Algorithm::dlct, Shape::lct8);
  is(Algorithm::dlct8_mr4lms, Algorithm::dlct_mr4lms, Shape::lct8);
  is(Algorithm::dlct4_blocks, Algorithm::dlct_blocks, Shape::lct4);
  return setup;
}

/// One tree over all nodes moves on, or one in each block.
bool moves_all(Algorithm algorithm) {
  return algorithm == Algorithm::dlct || algorithm == Algorithm::dlct_multicast ||
         algorithm == Algorithm::dlct_mr4lms;
}
bool moves_each_block(Algorithm algorithm) {
  return algorithm == Algorithm::id1 || algorithm == Algorithm::id2;
}

/// Members that are numbered together and move on together: all nodes, or those of a block.
struct Part {
  std::vector<Node> by_number;
  JudgeSettings settings;
  JudgeMemory memory;
};

/// Longest way to the root of a part whose numbers have moved on by `offset`.
uint32_t part_length(const Part& part, Shape shape, uint32_t offset, const Routes& routes) {
  const auto members = static_cast<uint32_t>(part.by_number.size());
  std::vector<uint32_t> length(members);
  const auto node = [&](uint32_t id) { return part.by_number[unshifted(id, offset, part.settings.offsets)]; };
  for (uint32_t id = 1; id < members; id++) {
    const uint32_t parent = parent_of(shape, id);
    length[id] = length[parent] + routes.hops(node(id), node(parent));
  }
  return *std::max_element(length.begin(), length.end());
}

void decide(Part& part, const Setup& setup, const Routes& routes) {
  if (setup.judging == Judging::fixed) return;
  if (setup.judging == Judging::searching) {
    part.memory =
        judge(part.settings, part.memory, part_length(part, setup.shape, part.memory.offset, routes));
    return;
  }
  uint32_t best = UINT32_MAX;
  for (uint32_t offset = 0; offset < part.settings.offsets; offset++) {
    const uint32_t length = part_length(part, setup.shape, offset, routes);
    if (length < best) part.memory.offset = offset;
    best = std::min(best, length);
  }
}

/// @param span members that move on together; 0: all
Part part_of(std::vector<Node> by_number, const Setup& setup, const Routes& whole, uint32_t span = 0) {
  Part part;
  part.by_number = std::move(by_number);
  part.settings.offsets = span != 0 ? span : static_cast<uint32_t>(part.by_number.size());
  part.settings.stride = setup.stride > 0 ? setup.stride % part.settings.offsets
                                          : usual_stride(setup.numbering, part.settings.offsets);
  part.settings.tries = setup.tries;
  part.settings.good = part_length(part, setup.shape, 0, whole);
  part.memory = judge_start(part.settings);
  return part;
}

std::vector<Part> blocks_of(const Setup& setup, const Mesh& mesh, const Routes& whole) {
  std::vector<Part> parts;
  const uint32_t side = setup.block;
  for (uint32_t x = 0; x < setup.size.width; x += side) {
    for (uint32_t y = 0; y < setup.size.height; y += side) {
      const Mesh block({std::min(side, setup.size.width - x), std::min(side, setup.size.height - y)},
                       setup.links);
      std::vector<Node> nodes;
      for (const Node node : numbered(block, setup.numbering))
        nodes.push_back(mesh.at(x + block.x_of(node), y + block.y_of(node)));
      parts.push_back(part_of(std::move(nodes), setup, whole));
    }
  }
  return parts;
}

/// Parents of blocks: all at the block in the middle, or a spanning tree from there.
std::vector<uint32_t> between_blocks(const Setup& setup) {
  const auto blocks = [&](uint32_t side) { return (side + setup.block - 1) / setup.block; };
  const Mesh coarse({blocks(setup.size.width), blocks(setup.size.height)}, setup.links);
  const Node middle = Routes(coarse).centre().node;
  return setup.algorithm == Algorithm::id1 ? star_parents(coarse.nodes(), middle)
                                           : spanning_parents(coarse, middle);
}

class Comparison {
 public:
  explicit Comparison(const Setup& setup)
      : setup_(setup), intact_(setup.size, setup.links), mesh_(intact_), whole_(intact_) {
    outcome_.links = mesh_.links();
    outcome_.broken_links = mesh_.break_links(setup.broken, setup.seed);
  }

  Outcome run() {
    const Routes routes(mesh_);
    outcome_.lower_bound = uint64_t{2} * routes.centre().radius * setup_.timing.hop;
    prepare();
    for (uint32_t round = 0; round < setup_.rounds; round++) {
      const Plan plan = plan_of(routes);
      Round& done = outcome_.rounds.emplace_back();
      done.cycles = static_cast<double>(
          cycles_of(plan, mesh_, routes, setup_.timing, setup_.seed + (uint64_t{round} << 32)));
      done.messages = static_cast<double>(plan.messages.size());
      done.hops = static_cast<double>(hops_of(plan, routes));
      done.length = parents_.empty() ? 0 : gather_length(parents_, routes);
      if (rebuilt() && round == 0 && outcome_.broken_links > 0) rebuild(done);
      for (Part& part : parts_) decide(part, setup_, routes);
    }
    return outcome_;
  }

 private:
  bool two_levels() const {
    return setup_.algorithm == Algorithm::id1 || setup_.algorithm == Algorithm::id2 ||
           setup_.algorithm == Algorithm::dissemination_tree;
  }

  bool rebuilt() const {
    return setup_.algorithm == Algorithm::tree_rebuilt || setup_.algorithm == Algorithm::tree_rebuilt_mr4lms;
  }
  bool along_mr4lms() const {
    return setup_.algorithm == Algorithm::dlct_mr4lms || setup_.algorithm == Algorithm::tree_mr4lms ||
           setup_.algorithm == Algorithm::tree_rebuilt_mr4lms;
  }

  void prepare() {
    const Node middle = whole_.centre().node;
    switch (setup_.algorithm) {
      case Algorithm::dlct:
      case Algorithm::dlct_multicast:
      case Algorithm::dlct_mr4lms:
        parts_ = {part_of(numbered(mesh_, setup_.numbering), setup_, whole_)};
        break;
      case Algorithm::dlct_blocks:
        parts_ = {part_of(numbered(mesh_, setup_.numbering), setup_, whole_, setup_.block * setup_.block)};
        break;
      case Algorithm::ms:
        parents_ = star_parents(mesh_.nodes(), middle);
        break;
      case Algorithm::tree:
      case Algorithm::tree_rebuilt:
      case Algorithm::tree_mr4lms:
      case Algorithm::tree_rebuilt_mr4lms:
        parents_ = spanning_parents(intact_, middle);
        break;
      case Algorithm::tournament:
        parents_ = tree_parents(Shape::lct, by_index(), 0);
        break;
      default:
        break;
    }
    if (along_mr4lms()) copies_ = mr4lms_copies(mesh_);
    if (two_levels()) {
      parts_ = blocks_of(setup_, mesh_, whole_);
      between_ = between_blocks(setup_);
    }
    if (setup_.judging == Judging::oracle) {
      const Routes routes(mesh_);
      for (Part& part : parts_) decide(part, setup_, routes);
    }
  }

  std::vector<Node> by_index() const {
    std::vector<Node> nodes(mesh_.nodes());
    for (Node node = 0; node < nodes.size(); node++) nodes[node] = node;
    return nodes;
  }

  std::vector<std::vector<Node>> block_nodes() const {
    std::vector<std::vector<Node>> blocks;
    for (const Part& part : parts_) blocks.push_back(part.by_number);
    return blocks;
  }

  Plan plan_of(const Routes& routes) {
    switch (setup_.algorithm) {
      case Algorithm::dlct:
      case Algorithm::dlct_blocks:
        parents_ = tree_parents(setup_.shape, parts_[0].by_number, parts_[0].memory.offset,
                                parts_[0].settings.offsets);
        break;
      case Algorithm::dlct_multicast:
      case Algorithm::dlct_mr4lms:
        parents_ = tree_parents(setup_.shape, parts_[0].by_number, parts_[0].memory.offset);
        return multicast_plan(routes);
      case Algorithm::tree_mr4lms:
      case Algorithm::tree_rebuilt_mr4lms:
        return multicast_plan(routes);
      case Algorithm::tournament:
        return tree_plan(parents_, Release::from_root);
      case Algorithm::dissemination:
        return dissemination_plan(by_index());
      case Algorithm::dissemination_tree:
        return dissemination_tree_plan(block_nodes(), between_);
      case Algorithm::butterfly:
        return butterfly_plan(by_index());
      case Algorithm::dissemination4:
        return dissemination_plan(by_index(), 4);
      case Algorithm::butterfly4:
        return butterfly_plan(by_index(), 4);
      case Algorithm::all_to_all:
        return all_to_all_plan(mesh_.nodes());
      case Algorithm::id1:
      case Algorithm::id2: {
        std::vector<uint32_t> offsets;
        for (const Part& part : parts_) offsets.push_back(part.memory.offset);
        parents_ = two_level_parents(block_nodes(), offsets, between_);
        break;
      }
      default:
        break;
    }
    return tree_plan(parents_, Release::along_tree);
  }

  Plan multicast_plan(const Routes& routes) {
    Plan plan = tree_plan(parents_, Release::multicast);
    Node root = 0;
    while (parents_[root] != root) root++;
    plan.copies = along_mr4lms() ? copies_ : shortest_copies(mesh_, routes, root);
    return plan;
  }

  /// Flood from the root over all links that work and an echo from every node: what a distributed rebuilding
  /// needs at least.
  void rebuild(Round& round) {
    const auto [root, depth] = Routes(mesh_).centre();
    round.cycles += 2.0 * depth * (setup_.timing.hop + setup_.timing.engine);
    const double messages = 2.0 * (outcome_.links - outcome_.broken_links);
    round.messages += messages;
    round.hops += messages;
    parents_ = spanning_parents(mesh_, root);
  }

  const Setup& setup_;
  Mesh intact_, mesh_;
  Routes whole_;
  Outcome outcome_;
  std::vector<Part> parts_;
  std::vector<uint32_t> between_;
  Parents parents_;
  Copies copies_;  ///< MR4LMS: the same for any sender
};

}  // namespace

std::span<const AlgorithmName> algorithms() { return names; }

uint32_t usual_stride(Numbering numbering, uint32_t offsets) {
  return numbering == Numbering::centre && offsets % 4 == 0 ? offsets / 4 : default_stride(offsets);
}

bool has_no_blocks(const Setup& setup) {
  const Setup two_levels = plain(setup);
  return two_levels.algorithm == Algorithm::dlct_blocks && two_levels.shape == Shape::bst;
}

bool fits(const Setup& setup) {
  if (plain(setup).algorithm != Algorithm::dlct_blocks) return true;
  const uint32_t members = setup.block * setup.block;
  return !has_no_blocks(setup) && std::has_single_bit(members) && setup.size.nodes() % members == 0 &&
         setup.size.nodes() >= 2 * members;
}

std::optional<uint32_t> offsets_of(const Setup& setup) {
  const Algorithm algorithm = plain(setup).algorithm;
  if (moves_all(algorithm)) return setup.size.nodes();
  if (algorithm == Algorithm::dlct_blocks) return setup.block * setup.block;
  if (!moves_each_block(algorithm)) return std::nullopt;
  const auto smallest = [&](uint32_t side) {
    return side % setup.block != 0 ? side % setup.block : setup.block;
  };
  return smallest(setup.size.width) * smallest(setup.size.height);
}

std::optional<GroupOfAll> group_of_all(const Setup& wanted) {
  const Setup setup = plain(wanted);
  const bool blocks = setup.algorithm == Algorithm::dlct_blocks;
  if ((!blocks && !moves_all(setup.algorithm)) || !fits(wanted)) return std::nullopt;
  const Mesh mesh(setup.size, setup.links);
  const uint32_t block = setup.block * setup.block;
  const Part all = part_of(numbered(mesh, setup.numbering), setup, Routes(mesh), blocks ? block : 0);
  return GroupOfAll{all.by_number, setup.shape, blocks ? static_cast<uint32_t>(std::countr_zero(block)) : 0,
                    all.settings};
}

Outcome compare(const Setup& setup) {
  if (!fits(setup)) throw std::invalid_argument("the mesh has no two whole blocks of a power of two nodes");
  if (setup.block == 0 || setup.rounds == 0) throw std::invalid_argument("blocks and rounds are at least 1");
  if (setup.stride > offsets_of(setup).value_or(setup.stride))
    throw std::invalid_argument("the stride is beyond the offsets");
  return Comparison(plain(setup)).run();
}

std::optional<std::vector<std::vector<double>>> updates_of(const Setup& wanted, const Done& done) {
  const Setup setup = plain(wanted);
  const bool whole = moves_all(setup.algorithm);
  if (!whole && !moves_each_block(setup.algorithm)) return std::nullopt;
  const Size block{std::min(setup.block, setup.size.width), std::min(setup.block, setup.size.height)};
  const Mesh mesh(whole ? setup.size : block, setup.links);
  return all_updates(mesh, numbered(mesh, setup.numbering), setup.shape, done);
}

}  // namespace weft::barrier

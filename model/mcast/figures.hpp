// SPDX-License-Identifier: Apache-2.0
// How good a set of trees is, in the paper's terms (MR4LMS paper, definitions 5 to 7).
#pragma once

#include <cstdint>

#include "mcast/forest.hpp"

namespace weft::mcast {

struct Figures {
  uint32_t groups = 0, local_groups = 0;
  uint32_t trees = 0, merged_groups = 0;  ///< groups that share a tree with others
  uint32_t colours_used = 0;
  uint32_t most_trees = 0;  ///< through one switch: no colouring of these trees has fewer colours
  /// EFI of a link: groups whose tree uses it. Means are over links that trees use, as TFI's is over trees.
  uint32_t max_efi = 0, max_efi_switch = 0, max_tfi = 0;
  double mean_efi = 0, mean_tfi = 0;
  uint32_t max_tree_height = 0;
  uint64_t entries = 0;  ///< of all switches: trees, each once for each switch that it passes
};

Figures figures_of(const Forest& forest);

}  // namespace weft::mcast

// SPDX-License-Identifier: Apache-2.0
// Update quantity (UQ): how many of the links that a tree uses change when all numbers move on.
//
// Source: DLCT paper, definition 1. Links are undirected, those of the ways of all Gather messages; each
// message goes to the neighbour nearest to its destination.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "barrier/mesh.hpp"
#include "barrier/tree.hpp"

namespace weft::barrier {

using LinkSet = std::vector<uint64_t>;  ///< bit link % 64 of word link / 64

/// Links that Gather uses when all numbers have moved on by `offset`, on a mesh without breaks. by_number:
/// see numbered().
LinkSet used_links(const Mesh& mesh, const std::vector<Node>& by_number, Shape shape, uint32_t offset);

struct Update {
  uint32_t common = 0;  ///< |A and B|
  uint32_t all = 0;     ///< |A or B|
  double quantity() const { return all == 0 ? 0 : 1 - static_cast<double>(common) / all; }
};
Update update_between(const LinkSet& before, const LinkSet& after);

/// Is told how much of something long is done.
using Done = std::function<void(uint64_t done, uint64_t of)>;

/// UQ of a change from each offset (row) to each (column).
std::vector<std::vector<double>> all_updates(const Mesh& mesh, const std::vector<Node>& by_number,
                                             Shape shape, const Done& done = {});

/// Mean of all_updates, in which no change counts as 0.
double mean_update(const std::vector<std::vector<double>>& updates);

}  // namespace weft::barrier

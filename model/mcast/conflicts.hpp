// SPDX-License-Identifier: Apache-2.0
// Which groups share a place, as bits, and many of them that do so pairwise: each needs a colour of its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weft::mcast {

/// What a search may still do: words looked at, so that it ends after the same steps on any machine.
class Work {
 public:
  explicit Work(uint64_t words) : left_(words) {}
  void spend(uint64_t words) { left_ -= words < left_ ? words : left_; }
  bool is_left() const { return left_ > 0; }
  bool is_left(uint64_t words) const { return left_ >= words; }

 private:
  uint64_t left_;
};

/// Up to most_items items, each with its places; two that share one are neighbours.
class Conflicts {
 public:
  static constexpr std::size_t most_items = 8192;

  /// Nobody is anybody's neighbour.
  explicit Conflicts(std::size_t items);
  explicit Conflicts(std::span<const std::span<const uint32_t>> places);

  std::size_t items() const { return items_; }
  std::size_t words() const { return words_; }
  /// A bit for each item, its own not set.
  std::span<const uint64_t> neighbours(std::size_t item) const {
    return {rows_.data() + item * words_, words_};
  }
  bool are_neighbours(std::size_t a, std::size_t b) const { return neighbours(a)[b / 64] >> b % 64 & 1; }
  uint32_t degree(std::size_t item) const;

  /// Neighbours are those that are neighbours here and there, or here or there.
  void keep_common(const Conflicts& other);
  void add(const Conflicts& other);

 private:
  std::size_t items_, words_;
  std::vector<uint64_t> rows_;
};

/// Items that are neighbours pairwise, of much weight: from each of several beginnings the one is taken again
/// and again that leaves most to choose from. Those without weight are left out.
/// @param first these, which are neighbours pairwise, are one of the beginnings
std::vector<uint32_t> heavy_clique(const Conflicts& conflicts, std::span<const uint32_t> weights,
                                   std::span<const uint32_t> first, Work& work);

}  // namespace weft::mcast

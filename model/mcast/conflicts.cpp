// SPDX-License-Identifier: Apache-2.0
// Rows of bits.
#include "mcast/conflicts.hpp"

#include <algorithm>
#include <bit>

namespace weft::mcast {

namespace {

constexpr uint32_t most_compared = 64;  // items that could be next

using Bits = std::vector<uint64_t>;

void set(std::span<uint64_t> bits, std::size_t i) { bits[i / 64] |= uint64_t{1} << i % 64; }
void clear(std::span<uint64_t> bits, std::size_t i) { bits[i / 64] &= ~(uint64_t{1} << i % 64); }

class CliqueSearch {
 public:
  CliqueSearch(const Conflicts& conflicts, std::span<const uint32_t> weights, Work& work)
      : conflicts_(conflicts), weights_(weights), work_(work), heavy_(conflicts.words()) {
    for (std::size_t item = 0; item < conflicts_.items(); ++item)
      if (weights_[item] > 0) set(heavy_, item);
  }

  std::vector<uint32_t> run(std::span<const uint32_t> first) {
    grow({first.begin(), first.end()});
    for (uint32_t item = 0; item < conflicts_.items() && work_.is_left(); ++item)
      if (weights_[item] > 0) grow({item});
    return std::move(best_);
  }

 private:
  void grow(std::vector<uint32_t> clique) {
    Bits open = heavy_;
    uint64_t weight = 0;
    for (const uint32_t item : clique) {
      narrow(open, item);
      weight += weights_[item];
    }
    for (int64_t next = pick(open); next >= 0; next = pick(open)) {
      clique.push_back(static_cast<uint32_t>(next));
      narrow(open, clique.back());
      weight += weights_[clique.back()];
    }
    if (weight <= best_weight_) return;
    best_weight_ = weight;
    best_ = std::move(clique);
  }

  void narrow(Bits& open, uint32_t item) const {
    const auto row = conflicts_.neighbours(item);
    for (std::size_t w = 0; w < open.size(); ++w) open[w] &= row[w];
  }

  /// Of the first that are open; -1 if none is.
  int64_t pick(const Bits& open) {
    int64_t best = -1;
    uint64_t most = 0;
    uint32_t compared = 0;
    for (std::size_t w = 0; w < open.size(); ++w)
      for (uint64_t word = open[w]; word != 0 && compared < most_compared; word &= word - 1, ++compared) {
        const std::size_t item = 64 * w + static_cast<std::size_t>(std::countr_zero(word));
        const uint64_t value = weights_[item] * (1 + common(open, item));
        if (value <= most) continue;
        most = value;
        best = static_cast<int64_t>(item);
      }
    return best;
  }

  uint64_t common(const Bits& open, std::size_t item) {
    const auto row = conflicts_.neighbours(item);
    uint64_t count = 0;
    for (std::size_t w = 0; w < open.size(); ++w)
      count += static_cast<uint64_t>(std::popcount(row[w] & open[w]));
    work_.spend(open.size());
    return count;
  }

  const Conflicts& conflicts_;
  std::span<const uint32_t> weights_;
  Work& work_;
  Bits heavy_;
  std::vector<uint32_t> best_;
  uint64_t best_weight_ = 0;
};

}  // namespace

Conflicts::Conflicts(std::size_t items) : items_(items), words_((items + 63) / 64), rows_(items * words_) {}

Conflicts::Conflicts(std::span<const std::span<const uint32_t>> places) : Conflicts(places.size()) {
  std::vector<Bits> at;  // items at each place
  for (std::size_t item = 0; item < items_; ++item)
    for (const uint32_t place : places[item]) {
      if (place >= at.size()) at.resize(place + 1);
      at[place].resize(words_);
      set(at[place], item);
    }
  for (std::size_t item = 0; item < items_; ++item) {
    uint64_t* const row = rows_.data() + item * words_;
    for (const uint32_t place : places[item])
      for (std::size_t w = 0; w < words_; ++w) row[w] |= at[place][w];
    clear({row, words_}, item);
  }
}

uint32_t Conflicts::degree(std::size_t item) const {
  uint32_t count = 0;
  for (const uint64_t word : neighbours(item)) count += static_cast<uint32_t>(std::popcount(word));
  return count;
}

void Conflicts::keep_common(const Conflicts& other) {
  for (std::size_t w = 0; w < rows_.size(); ++w) rows_[w] &= other.rows_[w];
}

void Conflicts::add(const Conflicts& other) {
  for (std::size_t w = 0; w < rows_.size(); ++w) rows_[w] |= other.rows_[w];
}

std::vector<uint32_t> heavy_clique(const Conflicts& conflicts, std::span<const uint32_t> weights,
                                   std::span<const uint32_t> first, Work& work) {
  return CliqueSearch(conflicts, weights, work).run(first);
}

}  // namespace weft::mcast

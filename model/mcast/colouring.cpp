// SPDX-License-Identifier: Apache-2.0
// Sets of groups as bits.
#include "mcast/colouring.hpp"

#include <algorithm>
#include <bit>

namespace weft::mcast {

namespace {

constexpr int32_t per_colour = Colouring::most_items;  // urgency of a closed colour: more than any degree
constexpr uint32_t most_compared = 64;                 // colours
constexpr std::size_t stretch = 8;                     // words between two looks at the clock, so to say

bool has(const std::vector<uint64_t>& bits, uint32_t i) { return bits[i / 64] >> i % 64 & 1; }
void set(std::vector<uint64_t>& bits, uint32_t i) { bits[i / 64] |= uint64_t{1} << i % 64; }
void clear(std::vector<uint64_t>& bits, uint32_t i) { bits[i / 64] &= ~(uint64_t{1} << i % 64); }

template <typename Visit>
void for_each(uint64_t word, std::size_t index, Visit&& visit) {
  for (; word != 0; word &= word - 1)
    visit(static_cast<uint32_t>(64 * index + static_cast<unsigned>(std::countr_zero(word))));
}

std::vector<std::span<const uint32_t>> places_of(std::span<const Colouring::Item> items) {
  std::vector<std::span<const uint32_t>> places;
  places.reserve(items.size());
  for (const Colouring::Item& item : items) places.emplace_back(item.ends->switches);
  return places;
}

}  // namespace

Colouring::Colouring(std::span<const Item> items, const Occupancy& occupancy, std::span<const uint32_t> taken,
                     uint32_t room)
    : items_(items),
      room_(room),
      conflicts_(places_of(items)),
      words_(conflicts_.words()),
      degree_(items.size()),
      urgency_(items.size()),
      all_(words_) {
  for (uint32_t item = 0; item < items_.size(); ++item) {
    set(all_, item);
    urgency_[item] = degree_[item] = static_cast<int32_t>(conflicts_.degree(item));
  }
  uncoloured_ = all_;
  for (const uint32_t colour : taken) add_colour(colour);
  if (!taken.empty())
    for (uint32_t item = 0; item < items_.size(); ++item) rule_out(item, occupancy);
}

/// Colours that are not free where its members are.
void Colouring::rule_out(uint32_t item, const Occupancy& occupancy) {
  for (std::size_t w = 0; w < occupancy.words() && 64 * w < colours_.size(); ++w) {
    uint64_t free = ~uint64_t{0};
    for (const uint32_t sw : items_[item].ends->switches) free &= occupancy.free_in_switch(sw)[w];
    for_each(~free, w, [&](uint32_t colour) {
      if (colour >= colours_.size()) return;
      set(colours_[colour].never, item);
      close(item, colour);
    });
  }
}

bool Colouring::has_neighbour_in(uint32_t item, const Bits& groups) const {
  const auto row = conflicts_.neighbours(item);
  for (std::size_t w = 0; w < words_; ++w)
    if ((row[w] & groups[w]) != 0) return true;
  return false;
}

void Colouring::add_colour(uint32_t taken) {
  colours_.push_back({uncoloured_, Bits(words_), Bits(words_), taken});
}

void Colouring::open(uint32_t item, uint32_t colour) {
  if (has(colours_[colour].open, item)) return;
  set(colours_[colour].open, item);
  urgency_[item] -= per_colour;
}

void Colouring::close(uint32_t item, uint32_t colour) {
  if (!has(colours_[colour].open, item)) return;
  clear(colours_[colour].open, item);
  urgency_[item] += per_colour;
}

/// Of several, the first.
std::optional<uint32_t> Colouring::most_urgent() const {
  int32_t most = -1;
  for (const int32_t urgency : urgency_) most = std::max(most, urgency);
  if (most < 0) return std::nullopt;
  return static_cast<uint32_t>(std::find(urgency_.begin(), urgency_.end(), most) - urgency_.begin());
}

/// In which it closes the colour for the fewest others.
uint32_t Colouring::best_colour(uint32_t item) const {
  const auto row = conflicts_.neighbours(item);
  uint32_t best = none, compared = 0;
  int fewest = 0;
  for (uint32_t colour = 0; colour < colours_.size() && compared < most_compared; ++colour) {
    const Colour& entry = colours_[colour];
    if (!has(entry.open, item)) continue;
    if (entry.taken > 0 && entry.taken + items_[item].switches > room_) continue;
    compared++;
    int closes = 0;
    for (std::size_t first = 0; first < words_ && (best == none || closes < fewest); first += stretch)
      for (std::size_t w = first; w < std::min(first + stretch, words_); ++w)
        closes += std::popcount(row[w] & entry.open[w]);
    if (best != none && closes >= fewest) continue;
    best = colour;
    fewest = closes;
  }
  return best;
}

void Colouring::give(uint32_t item, uint32_t colour) {
  for (Colour& other : colours_) clear(other.open, item);
  clear(uncoloured_, item);
  urgency_[item] = -1;
  set(colours_[colour].with, item);
  colours_[colour].taken += items_[item].switches;
  const auto row = conflicts_.neighbours(item);
  for (std::size_t w = 0; w < words_; ++w)
    for_each(row[w] & colours_[colour].open[w], w, [&](uint32_t other) { close(other, colour); });
}

std::optional<Colouring::Pick> Colouring::next() {
  const auto item = most_urgent();
  if (!item) return std::nullopt;
  uint32_t colour = best_colour(*item);
  if (colour == none) {
    colour = static_cast<uint32_t>(colours_.size());
    add_colour(0);
  }
  give(*item, colour);
  return Pick{*item, colour};
}

void Colouring::refuse(const Pick& pick, const Occupancy& occupancy) {
  Colour& refused = colours_[pick.colour];
  clear(refused.with, pick.item);
  set(refused.never, pick.item);
  refused.taken -= items_[pick.item].switches;
  set(uncoloured_, pick.item);
  urgency_[pick.item] = degree_[pick.item] + per_colour * static_cast<int32_t>(colours_.size());
  const auto row = conflicts_.neighbours(pick.item);
  for (std::size_t w = 0; w < words_; ++w)
    for_each(row[w] & uncoloured_[w] & ~refused.never[w], w, [&](uint32_t other) {
      if (!has_neighbour_in(other, refused.with)) open(other, pick.colour);
    });
  for (uint32_t colour = 0; colour < colours_.size(); ++colour)
    if (!has(colours_[colour].never, pick.item) && !has_neighbour_in(pick.item, colours_[colour].with))
      open(pick.item, colour);
  rule_out(pick.item, occupancy);
}

}  // namespace weft::mcast

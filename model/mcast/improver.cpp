// SPDX-License-Identifier: Apache-2.0
// A group finds room in a colour where no other group has a member at its switches: trees that only pass
// there are led around, or go to another colour.
#include "mcast/improver.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "mcast/figures.hpp"

namespace weft::mcast {

namespace {

constexpr std::size_t most_in_the_way = 2;
constexpr std::size_t most_colours_tried = 32;

}  // namespace

Improver::Improver(Forest& forest, const Hops& hops, uint64_t seed)
    : forest_(forest),
      random_(seed),
      root_search_(hops),
      planner_(hops),
      ends_(forest.groups()),
      roots_(forest.groups()),
      owner_(forest.colours()) {
  search_.roots = 24;
  search_.switches = 20000;
  search_.ceiling = figures_of(forest).max_efi;
  for (auto& owners : owner_) owners.assign(forest.graph().switches(), none);
  for (uint32_t group = 0; group < forest.groups(); ++group) {
    if (forest.tree_of(group) == none) continue;
    ends_[group] = ends_of(forest.hosts(group), forest.graph());
    note(forest.tree(forest.tree_of(group)), group);
  }
}

void Improver::note(const Tree& tree, uint32_t owner) {
  for (const uint32_t sw : tree.switches) owner_[tree.colour][sw] = owner;
}

void Improver::plant(Tree tree, uint32_t group) {
  note(tree, group);
  forest_.plant(std::move(tree), {group});
}

Tree Improver::fell(uint32_t group) {
  Tree tree = forest_.fell(forest_.tree_of(group)).tree;
  note(tree, none);
  return tree;
}

void Improver::take_out(uint32_t group) { log_.push_back({group, fell(group)}); }

/// Trees of the last moves are again what they were.
void Improver::undo(std::size_t moves) {
  for (std::size_t i = moves; i < log_.size(); ++i)
    if (forest_.tree_of(log_[i].group) != none) fell(log_[i].group);
  for (; log_.size() > moves; log_.pop_back()) plant(std::move(log_.back().tree), log_.back().group);
}

const Roots& Improver::roots_of(uint32_t group) {
  if (roots_[group].roots.empty()) roots_[group] = root_search_.find(ends_[group].switches);
  return roots_[group];
}

bool Improver::place(uint32_t group, uint32_t colour) {
  auto tree = planner_.in_colour(forest_.occupancy(), ends_[group], roots_of(group), group, search_, colour);
  if (tree) plant(std::move(*tree), group);
  return tree.has_value();
}

bool Improver::place_anywhere(uint32_t group) {
  auto tree = planner_.lowest_colour(forest_.occupancy(), ends_[group], roots_of(group), group, search_);
  if (!tree || tree->colour >= cap_) return false;
  plant(std::move(*tree), group);
  return true;
}

bool Improver::has_member(uint32_t group, uint32_t sw) const {
  return std::binary_search(ends_[group].switches.begin(), ends_[group].switches.end(), sw);
}

std::vector<uint32_t> Improver::in_the_way(uint32_t group, uint32_t colour) const {
  std::vector<uint32_t> groups;
  for (const uint32_t sw : ends_[group].switches)
    if (const uint32_t owner = owner_[colour][sw]; owner != none) groups.push_back(owner);
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return groups;
}

/// In which nobody else has a member at its switches, those with the fewest trees in the way first.
std::vector<uint32_t> Improver::colours_for(uint32_t group) {
  struct Entry {
    std::size_t in_the_way;
    uint64_t order;
    uint32_t colour;
  };
  std::vector<Entry> entries;
  for (uint32_t colour = 0; colour < cap_; ++colour) {
    const auto& owners = owner_[colour];
    const bool taken =
        std::any_of(ends_[group].switches.begin(), ends_[group].switches.end(),
                    [&](uint32_t sw) { return owners[sw] != none && has_member(owners[sw], sw); });
    if (taken) continue;
    const std::size_t count = in_the_way(group, colour).size();
    if (count <= most_in_the_way) entries.push_back({count, random_.next(), colour});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.in_the_way, a.order) < std::tie(b.in_the_way, b.order);
  });
  std::vector<uint32_t> colours;
  for (const Entry& entry : entries)
    if (colours.size() < most_colours_tried) colours.push_back(entry.colour);
  return colours;
}

/// Their colours are held for the groups at their members.
bool Improver::place_again(const std::vector<uint32_t>& groups, uint32_t colour) {
  bool placed = true;
  for (const uint32_t group : groups) {
    forest_.release(ends_[group].switches, colour);
    placed = placed && (place(group, colour) || place_anywhere(group));
  }
  return placed;
}

bool Improver::insert_beside(uint32_t group, uint32_t colour) {
  const std::size_t before = log_.size();
  const auto others = in_the_way(group, colour);
  for (const uint32_t other : others) take_out(other);
  for (const uint32_t other : others) forest_.hold(ends_[other].switches, colour);
  const bool placed = place(group, colour);
  if (!placed)
    for (const uint32_t other : others) forest_.release(ends_[other].switches, colour);
  if (placed && place_again(others, colour)) return true;
  if (placed) fell(group);
  undo(before);
  return false;
}

/// Another colour below the cap for a group; if there is none all stays as it is.
bool Improver::insert(uint32_t group) {
  log_.clear();
  take_out(group);
  if (place_anywhere(group)) return true;
  for (const uint32_t colour : colours_for(group)) {
    if (!go_on_()) break;
    if (insert_beside(group, colour)) return true;
  }
  undo(0);
  return false;
}

std::size_t Improver::size_of(uint32_t colour) const {
  std::size_t size = 0;
  for (const uint32_t tree : forest_.trees_in(colour)) size += forest_.tree(tree).switches.size();
  return size;
}

void Improver::swap_colours(uint32_t a, uint32_t b) {
  if (a == b) return;
  std::vector<Forest::Felled> felled;
  for (const uint32_t colour : {a, b}) {
    const std::vector<uint32_t> trees = forest_.trees_in(colour);
    for (const uint32_t tree : trees) felled.push_back(forest_.fell(tree));
  }
  std::swap(owner_[a], owner_[b]);
  for (auto& [tree, groups] : felled) {
    tree.colour = tree.colour == a ? b : a;
    forest_.plant(std::move(tree), std::move(groups));
  }
}

bool Improver::empty_last() {
  cap_ = forest_.colours() - 1;
  std::vector<uint32_t> groups;
  for (const uint32_t tree : forest_.trees_in(cap_)) groups.push_back(forest_.groups_on(tree).front());
  std::sort(groups.begin(), groups.end(), [this](uint32_t a, uint32_t b) {
    return std::pair(ends_[b].switches.size(), a) < std::pair(ends_[a].switches.size(), b);
  });
  bool emptied = true;
  for (const uint32_t group : groups) emptied = go_on_() && insert(group) && emptied;
  return emptied;
}

/// The colours with the least trees first.
bool Improver::empty_one() {
  const uint32_t last = forest_.colours() - 1;
  std::vector<std::pair<std::size_t, uint32_t>> sizes;
  for (uint32_t colour = 0; colour <= last; ++colour) sizes.emplace_back(size_of(colour), colour);
  std::sort(sizes.begin(), sizes.end());
  for (const auto& [size, colour] : sizes) {
    if (!go_on_()) return false;
    swap_colours(colour, last);
    if (empty_last()) return true;
    swap_colours(colour, last);
  }
  return false;
}

/// Some groups change their colour, so that others may find room.
void Improver::stir() {
  cap_ = forest_.colours();
  for (uint32_t moves = 0; moves < forest_.colours() && go_on_(); ++moves) {
    const auto group = static_cast<uint32_t>(random_.below(forest_.groups()));
    if (forest_.tree_of(group) == none) continue;
    const auto colours = colours_for(group);
    if (colours.empty()) continue;
    log_.clear();
    take_out(group);
    if (!insert_beside(group, colours[random_.below(colours.size())])) undo(0);
  }
}

void Improver::run(const std::function<bool()>& go_on, uint32_t enough) {
  go_on_ = go_on;
  while (forest_.colours() > enough && go_on())
    if (!empty_one()) stir();
}

}  // namespace weft::mcast

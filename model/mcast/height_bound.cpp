// SPDX-License-Identifier: Apache-2.0
// Kinds of switches, a crowd, and what else shares its colours.
#include "mcast/height_bound.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "mcast/roots.hpp"
#include "mcast/tree.hpp"

namespace weft::mcast {

namespace {

constexpr uint64_t few = 10;  // a crowd is found at once, or hardly

using Places = std::vector<std::vector<uint32_t>>;

std::vector<uint32_t> near(const topology::Graph& graph, uint32_t sw) {
  std::vector<uint32_t> found;
  for (const topology::Arc& arc : graph.neighbours(sw)) found.push_back(arc.node);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

/// Switches with the same neighbours.
class Kinds {
 public:
  explicit Kinds(const topology::Graph& graph) : of_(graph.switches()) {
    std::map<std::vector<uint32_t>, uint32_t> numbers;
    for (uint32_t sw = 0; sw < graph.switches(); ++sw)
      of_[sw] = numbers.try_emplace(near(graph, sw), static_cast<uint32_t>(numbers.size())).first->second;
    count_ = numbers.size();
  }

  std::size_t count() const { return count_; }

  /// One switch of each kind that is among these; none if a member is at one of the kinds.
  std::vector<uint32_t> among(const std::vector<Roots::Root>& roots, std::span<const uint32_t> ends) const {
    std::vector<uint32_t> seen, found;
    for (const uint32_t end : ends) seen.push_back(of_[end]);
    std::sort(seen.begin(), seen.end());
    std::map<uint32_t, uint32_t> first;
    for (const Roots::Root& root : roots) {
      if (std::binary_search(seen.begin(), seen.end(), of_[root.sw])) return {};
      first.try_emplace(of_[root.sw], root.sw);
    }
    for (const auto& [kind, sw] : first) found.push_back(sw);
    return found;
  }

 private:
  std::vector<uint32_t> of_;
  std::size_t count_ = 0;
};

class HeightBound {
 public:
  HeightBound(const Hops& hops, std::span<const std::span<const uint32_t>> ends, const Conflicts& conflicts,
              uint64_t words)
      : hops_(hops),
        ends_(ends),
        conflicts_(conflicts),
        words_(words),
        work_(words),
        left_at_(hops.graph().switches()) {}

  uint32_t value() {
    find_candidates();
    if (candidates_.empty() || candidates_.size() < 2 * roots_.size() || !can_afford_crowd()) return 0;
    find_crowd();
    work_ = Work(words_);
    std::vector<uint32_t> empty(ends_.size());
    for (uint32_t group = 0; group < ends_.size(); ++group) empty[group] = places_left_empty(group);
    work_ = Work(words_);
    const auto clique = heavy_clique(conflicts_, empty, {}, work_);
    std::size_t places = crowd_.size();
    for (const uint32_t group : clique) places += empty[group];
    return static_cast<uint32_t>((places + roots_.size() - 1) / roots_.size());
  }

 private:
  /// Groups that begin at the same kinds, as many as possible.
  void find_candidates() {
    const Kinds kinds(hops_.graph());
    if (kinds.count() == hops_.graph().switches()) return;
    RootSearch search(hops_);
    std::map<std::vector<uint32_t>, std::vector<uint32_t>> by_roots;
    for (uint32_t group = 0; group < ends_.size() && work_.is_left(); ++group) {
      work_.spend(ends_[group].size() * hops_.graph().switches() / 16);
      auto roots = kinds.among(search.find(ends_[group]).roots, ends_[group]);
      if (!roots.empty()) by_roots[std::move(roots)].push_back(group);
    }
    for (auto& [roots, groups] : by_roots) {
      if (groups.size() <= candidates_.size()) continue;
      roots_ = roots;
      candidates_ = std::move(groups);
    }
  }

  bool can_afford_crowd() const {
    uint64_t members = 0;
    for (const uint32_t group : candidates_) members += ends_[group].size();
    const auto degree = hops_.graph().neighbours(roots_.front()).size();
    const uint64_t words = degree * hops_.graph().switches() / 8 + members * (candidates_.size() / 64 + 1);
    return work_.is_left(roots_.size() * words);
  }

  void find_crowd() {
    Conflicts meet(candidates_.size());
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      const Places places = must_pass(roots_[i]);
      if (i == 0) meet.add(conflicts_of(places));
      if (i > 0) meet.keep_common(conflicts_of(places));
    }
    meet.add(conflicts_of_members());
    const std::vector<uint32_t> ones(candidates_.size(), 1);
    in_crowd_.assign(ends_.size(), false);
    work_ = Work(words_ / few);
    for (const uint32_t item : heavy_clique(meet, ones, {}, work_)) {
      crowd_.push_back(candidates_[item]);
      in_crowd_[candidates_[item]] = true;
    }
  }

  static Conflicts conflicts_of(const Places& places) {
    return Conflicts(std::vector<std::span<const uint32_t>>(places.begin(), places.end()));
  }

  Conflicts conflicts_of_members() const {
    std::vector<std::span<const uint32_t>> places;
    places.reserve(candidates_.size());
    for (const uint32_t group : candidates_) places.push_back(ends_[group]);
    return Conflicts(places);
  }

  /// Of each candidate, by number, the neighbours of this root that its tree cannot do without.
  Places must_pass(uint32_t root) {
    const std::vector<uint32_t> next = near(hops_.graph(), root);
    std::vector<uint32_t> only(hops_.graph().switches(), none), ways(hops_.graph().switches());
    const uint8_t* row = hops_.from(root, root_room_);
    for (uint32_t i = 0; i < next.size(); ++i) {
      const uint8_t* const from_next = hops_.from(next[i], room_);
      for (uint32_t sw = 0; sw < ways.size(); ++sw) {
        if (from_next[sw] + 1 != row[sw]) continue;
        only[sw] = i;
        ways[sw]++;
      }
    }
    work_.spend(next.size() * ways.size() / 8);
    Places places;
    for (const uint32_t group : candidates_) {
      uint8_t height = 0;
      for (const uint32_t end : ends_[group]) height = std::max(height, row[end]);
      std::vector<uint32_t>& passes = places.emplace_back();
      for (const uint32_t end : ends_[group])
        if (row[end] == height && ways[end] == 1) passes.push_back(only[end]);
      std::sort(passes.begin(), passes.end());
      passes.erase(std::unique(passes.begin(), passes.end()), passes.end());
      work_.spend(passes.size() * (candidates_.size() / 64 + 1));
    }
    return places;
  }

  /// In a colour that this group has: as many of the crowd fewer than there are kinds.
  uint32_t places_left_empty(uint32_t group) {
    const auto kinds = static_cast<uint32_t>(roots_.size());
    const uint32_t own = in_crowd_[group] ? 1 : 0;
    std::vector<uint32_t> others;
    for (const uint32_t other : crowd_)
      if (other != group && !conflicts_.are_neighbours(group, other)) others.push_back(other);
    const uint32_t most = kinds - own;
    return most - std::min(most, switches_of_all(std::move(others), most));
  }

  /// How many switches it takes until each of these groups has a member at one; `enough` at most.
  uint32_t switches_of_all(std::vector<uint32_t> groups, uint32_t enough) {
    std::vector<uint32_t> at;
    for (const uint32_t group : groups)
      for (const uint32_t sw : ends_[group])
        if (left_at_[sw]++ == 0) at.push_back(sw);
    uint32_t taken = 0;
    for (; !groups.empty() && taken < enough && work_.is_left(); ++taken) {
      const uint32_t most = *std::max_element(
          at.begin(), at.end(), [&](uint32_t a, uint32_t b) { return left_at_[a] < left_at_[b]; });
      work_.spend(at.size() + groups.size());
      if (groups.size() > std::size_t{left_at_[most]} * (enough - taken)) break;
      std::erase_if(groups, [&](uint32_t group) {
        const auto ends = ends_[group];
        if (!std::binary_search(ends.begin(), ends.end(), most)) return false;
        for (const uint32_t sw : ends) left_at_[sw]--;
        return true;
      });
    }
    for (const uint32_t sw : at) left_at_[sw] = 0;
    return groups.empty() ? taken : enough;
  }

  const Hops& hops_;
  std::span<const std::span<const uint32_t>> ends_;
  const Conflicts& conflicts_;
  uint64_t words_;  // for each of the steps
  Work work_;
  Hops::Room room_, root_room_;
  std::vector<uint32_t> candidates_, roots_, crowd_;
  std::vector<bool> in_crowd_;
  std::vector<uint32_t> left_at_;  // of each switch, 0 between calls
};

}  // namespace

uint32_t height_bound(const Hops& hops, std::span<const std::span<const uint32_t>> ends,
                      const Conflicts& conflicts, uint64_t words) {
  return HeightBound(hops, ends, conflicts, words).value();
}

}  // namespace weft::mcast

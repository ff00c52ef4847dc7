// SPDX-License-Identifier: Apache-2.0
// Rounds: trees of different colours are planned at a time, each as if it were the next one; then they are
// planted in turn. So the result does not depend on threads.
#include "mcast/colour_first.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::mcast {

namespace {

constexpr std::size_t most_sampled = 32;  // groups
constexpr double ways_of_many = 1.42;     // for each switch on them, if there is more than one
constexpr std::size_t most_at_a_time = 64;
constexpr uint32_t most_refused = 8;
constexpr uint64_t ceiling_of_mean = 2;  // of what links carry; it may rise

/// Part of all switches that trees of one colour may have together. With more members at more than two links
/// from the root it is less likely that there is a free way to all of them. As measured on random fabrics.
double room_of_a_colour(std::size_t members, uint32_t height) {
  return height < 3 ? 1 : std::min(1.0, 2 / std::pow(static_cast<double>(members), 0.375));
}

bool hosts_are_apart(const topology::Graph& graph) {
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) {
    if (graph.hosts_at(sw).empty()) continue;
    for (const topology::Arc& arc : graph.neighbours(sw))
      if (!graph.hosts_at(arc.node).empty()) return false;
  }
  return true;
}

const Roots::Root& nearest(const Roots& roots) {
  return *std::min_element(roots.roots.begin(), roots.roots.end(),
                           [](const Roots::Root& a, const Roots::Root& b) { return a.sum < b.sum; });
}

}  // namespace

ColourFirst::ColourFirst(const Hops& hops, Forest& forest, Search& search, Crew& crew,
                         std::vector<Worker>& workers)
    : hops_(hops), forest_(forest), search_(search), crew_(crew), workers_(workers) {}

bool ColourFirst::suits(std::span<const uint32_t> groups) {
  if (hosts_are_apart(hops_.graph())) return false;
  std::size_t switches = 0, ways = 0;
  Ways all(hops_.graph());
  Hops::Room room;
  const std::size_t step = std::max<std::size_t>(1, groups.size() / most_sampled);
  for (std::size_t i = 0; i < groups.size(); i += step) {
    const Ends ends = ends_of(forest_.hosts(groups[i]), hops_.graph());
    const Roots roots = workers_.front().roots.find(ends.switches);
    if (roots.height > low_height) return false;
    const uint32_t root = nearest(roots).sw;
    all.find(root, hops_.from(root, room), ends);
    switches += all.size() - 1;
    ways += all.ways();
  }
  return static_cast<double>(ways) > ways_of_many * static_cast<double>(switches);
}

std::vector<uint32_t> ColourFirst::route(std::span<const uint32_t> groups,
                                         const std::function<void(uint32_t)>& progress) {
  const std::size_t windows = (groups.size() + Colouring::most_items - 1) / Colouring::most_items;
  std::vector<uint32_t> left;
  for (std::size_t i = 0; i < windows; ++i) {
    const std::size_t first = groups.size() * i / windows, end = groups.size() * (i + 1) / windows;
    std::vector<uint32_t> window(groups.begin() + static_cast<std::ptrdiff_t>(first),
                                 groups.begin() + static_cast<std::ptrdiff_t>(end));
    std::sort(window.begin(), window.end());
    route_window(window, left);
    if (progress) progress(planted_);
  }
  empty_last_colours();
  return left;
}

/// Trees of the last colour go to others, as long as all of them find one.
void ColourFirst::empty_last_colours() {
  for (bool emptied = true; emptied && forest_.colours() > 1;) {
    const uint32_t last = forest_.colours() - 1;
    std::vector<Move> moves;
    for (const uint32_t tree : forest_.trees_in(last)) moves.push_back({forest_.groups_on(tree).front(), {}});
    crew_.share(static_cast<uint32_t>(moves.size()), [&](uint32_t thread, uint32_t i) {
      Worker& worker = workers_[thread];
      const Ends ends = ends_of(forest_.hosts(moves[i].group), hops_.graph());
      moves[i].tree = worker.planner.lowest_colour(forest_.occupancy(), ends,
                                                   worker.roots.find(ends.switches), moves[i].group, search_);
    });
    for (Move& move : moves) {
      emptied = emptied && move.tree && move.tree->colour < last;
      if (!move.tree || move.tree->colour >= last || !is_free(*move.tree)) continue;
      forest_.fell(forest_.tree_of(move.group));
      forest_.plant(std::move(*move.tree), {move.group});
    }
  }
}

void ColourFirst::route_window(std::span<const uint32_t> groups, std::vector<uint32_t>& left) {
  plans_.assign(groups.size(), {});
  crew_.share(static_cast<uint32_t>(groups.size()), [&](uint32_t thread, uint32_t i) {
    plans_[i].group = groups[i];
    plans_[i].ends = ends_of(forest_.hosts(groups[i]), hops_.graph());
    plans_[i].roots = workers_[thread].roots.find(plans_[i].ends.switches);
  });
  std::vector<Colouring::Item> items;
  uint64_t links = 0;  // that all trees have, about
  std::size_t members = 1;
  uint32_t height = 0;
  for (const Plan& plan : plans_) {
    const std::size_t most = nearest(plan.roots).sum;
    items.push_back({&plan.ends, static_cast<uint32_t>((plan.ends.switches.size() + most) / 2 + 1)});
    links += items.back().switches;
    members = std::max(members, plan.ends.switches.size());
    height = std::max(height, plan.roots.height);
  }
  const uint64_t mean = links / std::max(hops_.graph().switch_links(), 1u);
  search_.ceiling = std::max(search_.ceiling, static_cast<uint32_t>(ceiling_of_mean * mean));
  std::vector<uint32_t> taken(forest_.colours());
  for (uint32_t colour = 0; colour < forest_.colours(); ++colour)
    for (const uint32_t tree : forest_.trees_in(colour))
      taken[colour] += static_cast<uint32_t>(forest_.tree(tree).switches.size());
  const auto room = static_cast<uint32_t>(room_of_a_colour(members, height) * hops_.graph().switches());
  Colouring colouring(items, forest_.occupancy(), taken, room);
  while (pick(colouring, left)) {
    std::vector<Try> batch = next_batch();
    crew_.share(static_cast<uint32_t>(batch.size()),
                [&](uint32_t thread, uint32_t i) { plan(batch[i], workers_[thread]); });
    raised_ = false;
    for (Try& trial : batch) commit(trial, colouring, left);
  }
}

/// Colours for all that have none; held for them unless a tree of the colour is there meanwhile.
/// @return whether there is something to plan
bool ColourFirst::pick(Colouring& colouring, std::vector<uint32_t>& left) {
  while (const auto pick = colouring.next()) {
    const auto& switches = plans_[pick->item].ends.switches;
    if (std::all_of(switches.begin(), switches.end(),
                    [&](uint32_t sw) { return forest_.occupancy().is_free_in_switch(sw, pick->colour); })) {
      forest_.hold(switches, pick->colour);
      ready_.push_back(*pick);
    } else {
      refuse(*pick, colouring, left);
    }
  }
  return !ready_.empty();
}

/// Of each colour one, as trees of different colours are in each other's way only at the ceiling. What is
/// held for them is theirs now.
std::vector<ColourFirst::Try> ColourFirst::next_batch() {
  std::vector<Try> batch;
  std::vector<uint8_t> used;
  std::deque<Colouring::Pick> later;
  for (; !ready_.empty() && batch.size() < most_at_a_time; ready_.pop_front()) {
    const Colouring::Pick pick = ready_.front();
    if (used.size() <= pick.colour) used.resize(pick.colour + 1);
    if (std::exchange(used[pick.colour], 1) != 0) {
      later.push_back(pick);
      continue;
    }
    forest_.release(plans_[pick.item].ends.switches, pick.colour);
    batch.push_back({pick, {}, false});
  }
  ready_.insert(ready_.begin(), later.begin(), later.end());
  return batch;
}

void ColourFirst::plan(Try& trial, Worker& worker) {
  const Plan& plan = plans_[trial.pick.item];
  const auto planned = [&](const Search& search) {
    return worker.planner.in_colour(forest_.occupancy(), plan.ends, plan.roots, plan.group, search,
                                    trial.pick.colour);
  };
  trial.tree = planned(search_);
  if (trial.tree || !worker.planner.stopped_by_ceiling()) return;
  Search open = search_;
  open.ceiling = no_limit;
  trial.tree = planned(open);
  trial.above_ceiling = trial.tree.has_value();
}

bool ColourFirst::is_free(const Tree& tree) const {
  return is_below_ceiling(tree) && std::all_of(tree.switches.begin(), tree.switches.end(), [&](uint32_t sw) {
           return forest_.occupancy().is_free_in_switch(sw, tree.colour);
         });
}

bool ColourFirst::is_below_ceiling(const Tree& tree) const {
  return std::all_of(tree.links.begin(), tree.links.end(), [this](uint32_t link) {
    return hops_.graph().is_host_link(link) || forest_.occupancy().load(link) < search_.ceiling;
  });
}

void ColourFirst::commit(Try& trial, Colouring& colouring, std::vector<uint32_t>& left) {
  if (!trial.tree) return refuse(trial.pick, colouring, left);
  Plan& plan = plans_[trial.pick.item];
  if (is_below_ceiling(*trial.tree) || (trial.above_ceiling && plan.above)) {
    forest_.plant(std::move(*trial.tree), {plan.group});
    planted_++;
    return;
  }
  if (trial.above_ceiling && !std::exchange(raised_, true)) search_.ceiling += 1 + search_.ceiling / 8;
  plan.above = plan.above || trial.above_ceiling;
  forest_.hold(plan.ends.switches, trial.pick.colour);
  ready_.push_front(trial.pick);
}

void ColourFirst::refuse(const Colouring::Pick& pick, Colouring& colouring, std::vector<uint32_t>& left) {
  if (++plans_[pick.item].refused == most_refused)
    left.push_back(plans_[pick.item].group);
  else
    colouring.refuse(pick, forest_.occupancy());
}

}  // namespace weft::mcast

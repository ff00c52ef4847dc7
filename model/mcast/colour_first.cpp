// SPDX-License-Identifier: Apache-2.0
// Rounds: trees of different colours are planned at a time, each as if it were the next one; then they are
// planted in turn. Meanwhile the groups of the next round get their colours. So the result does not depend on
// threads.
#include "mcast/colour_first.hpp"

#include <algorithm>
#include <utility>

namespace weft::mcast {

namespace {

constexpr std::size_t most_sampled = 32;  // groups
constexpr uint32_t most_height = 4;       // of trees that are low
constexpr double ways_of_many = 1.5;      // for each switch on them, if there is more than one
constexpr std::size_t most_at_a_time = 64;
constexpr uint32_t most_refused = 8;
constexpr double room_of_a_colour = 0.3;  // of all switches, where trees are led around each other

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
    : hops_(hops),
      forest_(forest),
      search_(search),
      crew_(crew),
      workers_(workers),
      apart_(hosts_are_apart(hops.graph())) {}

bool ColourFirst::suits(std::span<const uint32_t> groups) {
  std::size_t switches = 0, ways = 0;
  Ways all(hops_.graph());
  Hops::Room room;
  const std::size_t step = std::max<std::size_t>(1, groups.size() / most_sampled);
  for (std::size_t i = 0; i < groups.size(); i += step) {
    const Ends ends = ends_of(forest_.hosts(groups[i]), hops_.graph());
    const Roots roots = workers_.front().roots.find(ends.switches);
    if (roots.height > most_height) return false;
    const uint32_t root = nearest(roots).sw;
    all.find(root, hops_.from(root, room), ends);
    switches += all.size() - 1;
    ways += all.ways();
  }
  return apart_ || static_cast<double>(ways) > ways_of_many * static_cast<double>(switches);
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
  return left;
}

void ColourFirst::route_window(std::span<const uint32_t> groups, std::vector<uint32_t>& left) {
  plans_.assign(groups.size(), {});
  crew_.share(static_cast<uint32_t>(groups.size()), [&](uint32_t thread, uint32_t i) {
    plans_[i].group = groups[i];
    plans_[i].ends = ends_of(forest_.hosts(groups[i]), hops_.graph());
    plans_[i].roots = workers_[thread].roots.find(plans_[i].ends.switches);
  });
  std::vector<Colouring::Item> items;
  for (const Plan& plan : plans_)
    items.push_back({&plan.ends, static_cast<uint32_t>(
                                     (plan.ends.switches.size() + nearest(plan.roots).sum) / 2 + 1)});
  std::vector<uint32_t> taken(forest_.colours());
  for (uint32_t colour = 0; colour < forest_.colours(); ++colour)
    for (const uint32_t tree : forest_.trees_in(colour))
      taken[colour] += static_cast<uint32_t>(forest_.tree(tree).switches.size());
  const auto room = apart_ ? no_limit : static_cast<uint32_t>(room_of_a_colour * hops_.graph().switches());
  Colouring colouring(items, forest_.occupancy(), taken, room);
  const std::size_t ahead = apart_ ? most_at_a_time : items.size();
  pick_ahead(colouring, ahead);
  for (;;) {
    hold_picks(colouring, left);
    std::vector<Try> batch = next_batch();
    if (batch.empty() && picked_.empty()) {
      pick_ahead(colouring, ahead);
      if (picked_.empty()) return;
      continue;
    }
    crew_.share(static_cast<uint32_t>(batch.size()) + 1, [&](uint32_t thread, uint32_t i) {
      if (i == 0)
        pick_ahead(colouring, ahead);
      else
        plan(batch[i - 1], workers_[thread]);
    });
    raised_ = false;
    for (Try& trial : batch) commit(trial, colouring, left);
  }
}

void ColourFirst::pick_ahead(Colouring& colouring, std::size_t most) {
  while (ready_.size() + picked_.size() < most) {
    const auto pick = colouring.next();
    if (!pick) return;
    picked_.push_back(*pick);
  }
}

/// Unless a tree of their colour is there meanwhile.
void ColourFirst::hold_picks(Colouring& colouring, std::vector<uint32_t>& left) {
  for (const Colouring::Pick& pick : picked_) {
    const auto& switches = plans_[pick.item].ends.switches;
    if (std::all_of(switches.begin(), switches.end(), [&](uint32_t sw) {
          return forest_.occupancy().is_free_in_switch(sw, pick.colour);
        })) {
      forest_.hold(switches, pick.colour);
      ready_.push_back(pick);
    } else {
      refuse(pick, colouring, left);
    }
  }
  picked_.clear();
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
    return worker.planner.best_fit(forest_.occupancy(), plan.ends, plan.roots, plan.group, search,
                                   trial.pick.colour);
  };
  trial.tree = planned(search_);
  if (trial.tree) return;
  Search open = search_;
  open.ceiling = no_limit;
  trial.tree = planned(open);
  trial.above_ceiling = trial.tree.has_value();
}

bool ColourFirst::is_below_ceiling(const Tree& tree) const {
  return std::all_of(tree.links.begin(), tree.links.end(), [this](uint32_t link) {
    return hops_.graph().is_host_link(link) || forest_.occupancy().load(link) < search_.ceiling;
  });
}

void ColourFirst::commit(Try& trial, Colouring& colouring, std::vector<uint32_t>& left) {
  if (!trial.tree) return refuse(trial.pick, colouring, left);
  if (is_below_ceiling(*trial.tree)) {
    forest_.plant(std::move(*trial.tree), {plans_[trial.pick.item].group});
    planted_++;
    return;
  }
  if (trial.above_ceiling && !std::exchange(raised_, true)) search_.ceiling += 1 + search_.ceiling / 8;
  forest_.hold(plans_[trial.pick.item].ends.switches, trial.pick.colour);
  ready_.push_front(trial.pick);
}

void ColourFirst::refuse(const Colouring::Pick& pick, Colouring& colouring, std::vector<uint32_t>& left) {
  if (++plans_[pick.item].refused == most_refused)
    left.push_back(plans_[pick.item].group);
  else
    colouring.refuse(pick, forest_.occupancy());
}

}  // namespace weft::mcast

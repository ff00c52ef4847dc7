// SPDX-License-Identifier: Apache-2.0
// When a tree is planned, grafted, merged or cut back.
#include "mcast/router.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "mcast/order.hpp"

namespace weft::mcast {

namespace {

constexpr uint32_t fctb_successes = 20;  // until FBTC is tried again (3.4)

std::vector<uint32_t> distinct(std::vector<uint32_t> hosts) {
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

}  // namespace

Router::Router(const Hops& hops, const RouterOptions& options)
    : hops_(hops),
      options_(options),
      forest_(hops.graph(), options.colours, options.tables),
      crew_(std::max(options.threads, 1u)),
      workers_(std::max(options.threads, 1u), Worker(hops)),
      merger_(hops, options.merging),
      pruner_(hops.graph()) {}

std::optional<Tree> Router::plan_by_alg_7(const Ends& ends, const Roots& roots) {
  Planner& planner = workers_.front().planner;
  if (!by_colour_) {
    auto tree = planner.build_then_colour(forest_.occupancy(), ends, roots);
    by_colour_ = !tree;
    in_a_row_ = 0;
    return tree;
  }
  auto tree = planner.colour_then_build(forest_.occupancy(), ends, roots);
  in_a_row_ = tree ? in_a_row_ + 1 : 0;
  by_colour_ = in_a_row_ < fctb_successes;
  return tree;
}

std::optional<Tree> Router::plan(uint32_t group, const Ends& ends, const Roots& roots) {
  Planner& planner = workers_.front().planner;
  switch (options_.algorithm) {
    case Algorithm::paper:
      return plan_by_alg_7(ends, roots);
    case Algorithm::fbtc:
      return planner.build_then_colour(forest_.occupancy(), ends, roots);
    case Algorithm::fctb:
      return planner.colour_then_build(forest_.occupancy(), ends, roots);
    case Algorithm::weft:
      break;
  }
  return plan_below_ceiling(group, ends, roots);
}

/// The ceiling of links' loads rises where it alone stands in the way.
std::optional<Tree> Router::plan_below_ceiling(uint32_t group, const Ends& ends, const Roots& roots) {
  Planner& planner = workers_.front().planner;
  const auto plan = [&](const Search& search) {
    return planner.lowest_colour(forest_.occupancy(), ends, roots, group, search);
  };
  if (auto tree = plan(search_)) return tree;
  Search open = search_;
  open.ceiling = no_limit;
  auto without = plan(open);
  if (!without) return without;
  search_.ceiling += 1 + search_.ceiling / 8;
  auto tree = plan(search_);
  return tree ? std::move(tree) : std::move(without);
}

void Router::place(uint32_t group, const Ends& ends, const Roots& roots) {
  if (auto tree = plan(group, ends, roots)) {
    forest_.plant(std::move(*tree), {group});
    return;
  }
  merger_.merge(forest_, group, workers_.front().roots);
  merges_++;
}

void Router::route(uint32_t group) {
  if (forest_.hosts(group).size() < 2) return;
  const Ends ends = ends_of(forest_.hosts(group), hops_.graph());
  place(group, ends, workers_.front().roots.find(ends.switches));
}

uint32_t Router::create(std::vector<uint32_t> hosts) {
  const uint32_t group = forest_.add_group(distinct(std::move(hosts)));
  route(group);
  return group;
}

bool Router::is_free(const Tree& tree) const {
  const Occupancy& occupancy = forest_.occupancy();
  return std::all_of(tree.switches.begin(), tree.switches.end(),
                     [&](uint32_t sw) { return occupancy.is_free_in_switch(sw, tree.colour); }) &&
         std::all_of(tree.links.begin(), tree.links.end(), [&](uint32_t link) {
           const bool low = hops_.graph().is_host_link(link) || occupancy.load(link) < search_.ceiling;
           return low && occupancy.is_free_in_link(link, tree.colour);
         });
}

/// Each as if it were the next one.
void Router::plan_round(std::span<Planned> round) {
  crew_.share(static_cast<uint32_t>(round.size()), [&](uint32_t thread, uint32_t i) {
    Planned& plan = round[i];
    Worker& worker = workers_[thread];
    plan.ends = ends_of(forest_.hosts(plan.group), hops_.graph());
    plan.roots = worker.roots.find(plan.ends.switches);
    plan.tree.reset();
    if (options_.algorithm != Algorithm::weft) return;
    plan.tree = worker.planner.lowest_colour(forest_.occupancy(), plan.ends, plan.roots, plan.group, search_);
    if (plan.tree) worker.planner.take_ways(plan.ways);
  });
}

/// Some are planned at a time, then planted in turn. Where another one has taken what was planned, they take
/// another colour along the ways that were found; if that is a new one, all is planned again.
void Router::route_in_rounds(std::span<const uint32_t> groups,
                             const std::function<void(uint32_t)>& progress) {
  std::vector<Planned> plans(std::min<std::size_t>(std::max(options_.block, 1u), groups.size()),
                             {none, {}, {}, {}, Ways(hops_.graph())});
  for (std::size_t next = 0; next < groups.size();) {
    const auto round = std::span(plans).first(std::min(plans.size(), groups.size() - next));
    for (Planned& plan : round) plan.group = groups[next++];
    plan_round(round);
    for (Planned& plan : round) {
      if (plan.tree && !is_free(*plan.tree)) {
        plan.tree = Planner::along(plan.ways, *plan.tree, forest_.occupancy(), plan.ends, search_);
        if (plan.tree && plan.tree->colour >= forest_.colours()) plan.tree.reset();
      }
      if (plan.tree)
        forest_.plant(std::move(*plan.tree), {plan.group});
      else
        place(plan.group, plan.ends, plan.roots);
    }
    if (progress) progress(static_cast<uint32_t>(next));
  }
}

void Router::create_all(const Groups& groups, const std::function<void(uint32_t, uint32_t)>& progress) {
  std::vector<uint32_t> todo;
  for (uint32_t i = 0; i < groups.count(); ++i) {
    const auto members = groups.members(i);
    const uint32_t group = forest_.add_group({members.begin(), members.end()});
    if (!groups.is_local(i)) todo.push_back(group);
  }
  const auto count = static_cast<uint32_t>(todo.size());
  const auto tell = [&](uint32_t done) {
    if (progress) progress(done, count);
  };
  if (options_.algorithm == Algorithm::weft) sort_by_size(todo, forest_, hops_, options_.apart);
  if (options_.algorithm == Algorithm::weft && options_.tables == Tables::of_switch &&
      options_.colours == no_limit && !todo.empty()) {
    ColourFirst colour_first(hops_, forest_, search_, crew_, workers_);
    if (colour_first.suits(todo)) todo = colour_first.route(todo, tell);
  }
  const uint32_t before = count - static_cast<uint32_t>(todo.size());
  route_in_rounds(todo, [&](uint32_t done) { tell(before + done); });
}

void Router::adopt(const Forest& other) {
  for (uint32_t group = 0; group < other.groups(); ++group) forest_.add_group(other.hosts(group));
  std::vector<std::size_t> groups_in(other.colours());
  for (uint32_t colour = 0; colour < other.colours(); ++colour)
    for (const uint32_t tree : other.trees_in(colour)) groups_in[colour] += other.groups_on(tree).size();
  std::vector<uint32_t> colours(other.colours());
  std::iota(colours.begin(), colours.end(), 0);
  if (colours.size() > options_.colours) {
    std::stable_sort(colours.begin(), colours.end(),
                     [&](uint32_t a, uint32_t b) { return groups_in[a] > groups_in[b]; });
    colours.resize(options_.colours);
  }
  for (uint32_t i = 0; i < colours.size(); ++i)
    for (const uint32_t number : other.trees_in(colours[i])) {
      Tree tree = other.tree(number);
      tree.colour = i;
      forest_.plant(std::move(tree), other.groups_on(number));
    }
  std::vector<uint32_t> left;
  for (uint32_t group = 0; group < forest_.groups(); ++group)
    if (forest_.tree_of(group) == none && forest_.hosts(group).size() > 1) left.push_back(group);
  sort_by_size(left, forest_, hops_, 1);
  for (const uint32_t group : left) route(group);
}

/// Takes its group off a tree; the tree keeps what its other groups need.
void Router::set_hosts(uint32_t group, std::vector<uint32_t> hosts) {
  const uint32_t number = forest_.tree_of(group);
  if (number == none) {
    forest_.set_hosts(group, std::move(hosts));
    return;
  }
  auto [tree, groups] = forest_.fell(number);
  forest_.set_hosts(group, std::move(hosts));
  std::erase_if(groups, [this](uint32_t other) { return forest_.hosts(other).size() < 2; });
  if (groups.empty()) return;
  std::erase_if(tree.links, [this](uint32_t link) { return hops_.graph().is_host_link(link); });
  pruner_.settle(tree, ends_of(forest_.hosts_of(groups), hops_.graph()));
  forest_.plant(std::move(tree), std::move(groups));
}

void Router::leave(uint32_t group, uint32_t host) {
  std::vector<uint32_t> hosts = forest_.hosts(group);
  std::erase(hosts, host);
  set_hosts(group, std::move(hosts));
}

void Router::remove(uint32_t group) { set_hosts(group, {}); }

/// A branch to the new host in the colour that the tree has.
bool Router::try_graft(uint32_t group, uint32_t host) {
  const uint32_t number = forest_.tree_of(group);
  const topology::Arc& arc = hops_.graph().attachments(host).front();
  const Tree& there = forest_.tree(number);
  const auto known = std::find(there.links.begin(), there.links.end(), arc.link);
  const bool port_is_free =
      known != there.links.end() || forest_.occupancy().is_free_in_link(arc.link, there.colour);
  std::vector<uint8_t> marked(hops_.graph().switches());
  for (const uint32_t sw : there.switches) marked[sw] = 1;
  std::vector<uint32_t> way;
  if (marked[arc.node] == 0) {
    if (!forest_.occupancy().is_free_in_switch(arc.node, there.colour)) return false;
    way = merger_.free_way(forest_, there.colour, std::vector{arc.node}, marked);
    if (way.empty()) return false;
  }
  if (!port_is_free) return false;
  auto [tree, groups] = forest_.fell(number);
  std::vector<uint32_t> hosts = forest_.hosts(group);
  hosts.push_back(host);
  forest_.set_hosts(group, distinct(std::move(hosts)));
  std::erase_if(tree.links, [this](uint32_t link) { return hops_.graph().is_host_link(link); });
  for (const uint32_t link : way) {
    tree.links.push_back(link);
    for (const uint32_t sw : {hops_.graph().link(link).a, hops_.graph().link(link).b})
      if (std::exchange(marked[sw], 1) == 0) tree.switches.push_back(sw);
  }
  pruner_.settle(tree, ends_of(forest_.hosts_of(groups), hops_.graph()));
  forest_.plant(std::move(tree), std::move(groups));
  return true;
}

void Router::join(uint32_t group, uint32_t host) {
  std::vector<uint32_t> hosts = forest_.hosts(group);
  if (std::binary_search(hosts.begin(), hosts.end(), host)) return;
  if (forest_.tree_of(group) != none && try_graft(group, host)) return;
  set_hosts(group, {});
  hosts.push_back(host);
  forest_.set_hosts(group, distinct(std::move(hosts)));
  route(group);
}

}  // namespace weft::mcast

// SPDX-License-Identifier: Apache-2.0
// All tables of a fabric at once.
#include "switchtables/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <random>
#include <utility>

#include "common/fault.hpp"
#include "mcast/batch.hpp"
#include "topology/spec.hpp"

namespace weft::switchtables {

namespace {

/// A graph with other numbers of switches: of trees that are as good, the generators take others then.
struct Renumbered {
  std::vector<uint32_t> old_of;  ///< number there, of each switch
  topology::Graph graph;

  Renumbered(const topology::Graph& original, uint64_t seed)
      : old_of(shuffled(original.switches(), seed)), graph(parts_of(original, old_of)) {}

 private:
  static std::vector<uint32_t> shuffled(uint32_t count, uint64_t seed) {
    std::vector<uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    std::mt19937_64 random(seed);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    return order;
  }
  static topology::Parts parts_of(const topology::Graph& original, const std::vector<uint32_t>& old_of) {
    std::vector<uint32_t> new_of(old_of.size());
    topology::Parts parts;
    for (const uint32_t sw : old_of) {
      new_of[sw] = static_cast<uint32_t>(parts.switches.size());
      parts.switches.push_back(original.switch_info(sw));
    }
    for (uint32_t host = 0; host < original.hosts(); ++host) parts.hosts.push_back(original.host_info(host));
    for (uint32_t i = 0; i < original.links(); ++i) {
      const auto& [a, b, a_port, b_port, mbps] = original.link(i);
      if (original.is_host_link(i))
        parts.host_links.push_back(
            {a, new_of[b], a_port, b_port, original.port_guid(i), mbps, original.lids(i)});
      else
        parts.switch_links.push_back({new_of[a], new_of[b], a_port, b_port, mbps});
    }
    return parts;
  }
};

mcast::Forest plant(const mcast::Hops& hops, const mcast::Groups& groups, const PlanOptions& options) {
  mcast::BatchOptions batch;
  batch.router.colours = options.colours;
  if (options.sizes.per_port) batch.router.tables = mcast::Tables::of_port;
  batch.router.threads = options.threads;
  batch.seed = options.seed;
  if (options.choice != 0) batch.router.algorithm = mcast::Algorithm::fctb;
  return mcast::route_together(hops, groups, batch);
}

/// A tree of the renumbered graph in the original one.
mcast::Tree original_tree(mcast::Tree tree, const Renumbered& renumbered, const topology::Graph& original) {
  for (uint32_t& link : tree.links) {
    const topology::Link& there = renumbered.graph.link(link);
    link = original.link_at(renumbered.old_of[there.b], there.b_port);
  }
  for (uint32_t& sw : tree.switches) sw = renumbered.old_of[sw];
  if (tree.root != mcast::none) tree.root = renumbered.old_of[tree.root];
  return tree;
}

void take_forest(Plan& plan, const mcast::Forest& forest) {
  plan.tables = mcast::tables_of(forest);
  plan.colours = forest.colours();
  for (uint32_t tree = 0; tree < forest.trees(); ++tree) {
    plan.trees.push_back(forest.stands(tree) ? forest.tree(tree) : mcast::Tree());
    plan.groups_on.push_back(forest.groups_on(tree));
  }
}

void take_renumbered_forest(Plan& plan, const topology::Graph& original, const mcast::Groups& groups,
                            const PlanOptions& options) {
  const Renumbered renumbered(original, options.seed + options.choice);
  take_forest(plan, plant(mcast::Hops(renumbered.graph, options.threads), groups, options));
  for (mcast::Tree& tree : plan.trees) tree = original_tree(std::move(tree), renumbered, original);
  auto switches = std::move(plan.tables.switches);
  plan.tables.switches.resize(switches.size());
  for (std::size_t sw = 0; sw < switches.size(); ++sw)
    plan.tables.switches[renumbered.old_of[sw]] = std::move(switches[sw]);
}

void shift_colours(mcast::FabricTables& tables, uint32_t first) {
  for (auto& entries : tables.switches)
    for (mcast::TableEntry& entry : entries) entry.colour += first;
  for (auto& group : tables.groups)
    if (group.colour != mcast::none) group.colour += first;
}

}  // namespace

Plan make_plan(const Fabric& fabric, const mcast::Hops& hops, const mcast::Groups& groups,
               const std::optional<route::Health>& health, const PlanOptions& options) {
  Plan plan;
  plan.images = heads_of(fabric, options.version);
  if (options.choice == 0)
    take_forest(plan, plant(hops, groups, options));
  else
    take_renumbered_forest(plan, fabric.graph(), groups, options);
  shift_colours(plan.tables, options.first_colour);
  add_multicast(plan.images, fabric, plan.tables, options.sizes);
  if (!fabric.grid()) {
    add_minimal_hops(plan.images, fabric, options.choice, options.sizes);
    return plan;
  }
  plan.routes = route::make_tables(health ? *health : route::Health(*fabric.grid()), options.routes);
  add_routes(plan.images, fabric, *plan.routes, options.sizes);
  return plan;
}

uint32_t merged_groups(const Plan& plan) {
  uint32_t merged = 0;
  for (const auto& groups : plan.groups_on)
    if (groups.size() > 1) merged += static_cast<uint32_t>(groups.size());
  return merged;
}

void add_trees(Images& images, const Images& others) {
  using switch_lookup::formats::Entry;
  const auto before = [](const Entry& one, const Entry& other) { return one.index < other.index; };
  for (std::size_t sw = 0; sw < images.size(); ++sw) {
    std::vector<Entry> both;
    std::ranges::merge(images[sw].multicast, others[sw].multicast, std::back_inserter(both), before);
    const auto twice = std::ranges::adjacent_find(both, {}, &Entry::index);
    if (twice != both.end())
      throw Fault(fmt::format("color {} of switch {:#018x} is one of an old and of a new tree",
                              twice->index & 0xffff, images[sw].head.switch_id));
    images[sw].multicast = std::move(both);
  }
}

mcast::Groups load_groups(const std::string& spec, const std::string& topology, const Fabric& whole) {
  if (whole.left_out() == 0 || !spec.starts_with("file:")) return mcast::load_groups(spec, whole.graph());
  const topology::Graph dump = topology::load(topology);
  const mcast::Groups read = mcast::load_groups(spec, dump);
  mcast::Groups groups;
  for (uint32_t group = 0; group < read.count(); ++group) {
    std::vector<uint32_t> members;
    for (const uint32_t host : read.members(group)) {
      const auto at = std::ranges::lower_bound(whole.kept(), host);
      if (at == whole.kept().end() || *at != host)
        throw Fault(fmt::format("{}: group {}: host {}, \"{}\", is behind a port beyond 64", spec, group,
                                host, dump.host_info(host).name));
      members.push_back(static_cast<uint32_t>(at - whole.kept().begin()));
    }
    groups.add(std::move(members));
  }
  return groups;
}

mcast::Groups live_groups(const mcast::Groups& groups, const Fabric& alive) {
  std::vector<uint32_t> numbers;
  for (uint32_t host = 0; host < alive.graph().hosts(); ++host) {
    numbers.resize(alive.whole_host(host) + 1, mcast::none);
    numbers.back() = host;
  }
  mcast::Groups live;
  for (uint32_t group = 0; group < groups.count(); ++group) {
    std::vector<uint32_t> members;
    for (const uint32_t host : groups.members(group))
      if (host < numbers.size() && numbers[host] != mcast::none) members.push_back(numbers[host]);
    live.add(std::move(members));
  }
  return live;
}

}  // namespace weft::switchtables

// SPDX-License-Identifier: Apache-2.0
// All groups and trees of a fabric, and what they occupy. Says what is, not what should be: that is the
// router's to decide.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mcast/occupancy.hpp"
#include "mcast/tree.hpp"
#include "topology/graph.hpp"

namespace weft::mcast {

class Forest {
 public:
  Forest(const topology::Graph& graph, uint32_t colours, Tables tables);

  const topology::Graph& graph() const { return graph_; }
  const Occupancy& occupancy() const { return occupancy_; }

  /// A group without a tree; its number. Hosts ascending, each once.
  uint32_t add_group(std::vector<uint32_t> hosts);
  /// Only for a group without a tree.
  void set_hosts(uint32_t group, std::vector<uint32_t> hosts) { groups_[group].hosts = std::move(hosts); }

  /// Groups are never forgotten: those that were removed have no hosts.
  uint32_t groups() const { return static_cast<uint32_t>(groups_.size()); }
  const std::vector<uint32_t>& hosts(uint32_t group) const { return groups_[group].hosts; }
  /// The number of its tree; `none` for a group of less than two hosts, or not yet routed.
  uint32_t tree_of(uint32_t group) const { return groups_[group].tree; }

  /// Trees have numbers below trees(); those that were felled have none of their groups left.
  uint32_t trees() const { return static_cast<uint32_t>(trees_.size()); }
  bool stands(uint32_t tree) const { return !trees_[tree].groups.empty(); }
  const Tree& tree(uint32_t tree) const { return trees_[tree].tree; }
  const std::vector<uint32_t>& groups_on(uint32_t tree) const { return trees_[tree].groups; }

  /// Another one for each tree that ever had this number.
  uint64_t planting(uint32_t tree) const { return planting_[tree]; }

  uint32_t colours() const { return static_cast<uint32_t>(by_colour_.size()); }  ///< up to the last one used
  const std::vector<uint32_t>& trees_in(uint32_t colour) const { return by_colour_[colour]; }

  /// The number of a tree for these groups, none of which may have one. What it takes must be free.
  uint32_t plant(Tree tree, std::vector<uint32_t> groups);
  struct Felled {
    Tree tree;
    std::vector<uint32_t> groups;
  };
  Felled fell(uint32_t tree);

  /// A colour is as good as taken in these switches, in which it must be free, until it is released.
  void hold(std::span<const uint32_t> switches, uint32_t colour) { occupancy_.take(switches, {}, colour); }
  void release(std::span<const uint32_t> switches, uint32_t colour) {
    occupancy_.give_back(switches, {}, colour);
  }

  /// Hosts of all these groups, ascending, each once.
  std::vector<uint32_t> hosts_of(std::span<const uint32_t> groups) const;

 private:
  struct Group {
    std::vector<uint32_t> hosts;
    uint32_t tree = none;
  };

  const topology::Graph& graph_;
  Occupancy occupancy_;
  std::vector<Group> groups_;
  std::vector<Felled> trees_;
  std::vector<uint64_t> planting_;  // of each tree
  uint64_t plantings_ = 0;
  std::vector<uint32_t> free_numbers_;  // of trees
  std::vector<std::vector<uint32_t>> by_colour_;
};

}  // namespace weft::mcast

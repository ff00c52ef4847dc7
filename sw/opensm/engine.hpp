// SPDX-License-Identifier: Apache-2.0
// A routing engine of OpenSM: unicast as a stock engine does it, multicast by weft's trees.
#pragma once

#include <memory>
#include <string>

#include "opensm/group_trees.hpp"
#include "opensm/opensm_headers.hpp"
#include "opensm/subnet_graph.hpp"

namespace weft::opensm {

class Engine {
 public:
  explicit Engine(osm_opensm_t& osm) : osm_(osm) {}
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// OpenSM knows it as "weft" from now on.
  bool register_with_opensm();

  /// The subnet is about to be swept: what is known of it will be wrong.
  void forget() { trees_.reset(), subnet_.reset(); }

 private:
  int set_up(osm_routing_engine_t& engine);
  ib_api_status_t build(osm_mgrp_box_t& box);
  void learn();
  void drop_dead_groups();
  Members members_of(osm_mgrp_box_t& box) const;
  void add(const osm_port_t& port, Members& members) const;
  void log(osm_log_level_t level, const std::string& text) const;

  osm_opensm_t& osm_;
  osm_routing_engine_t unicast_{};  // a stock engine; all empty: min-hop
  std::unique_ptr<SubnetGraph> subnet_;
  std::unique_ptr<GroupTrees> trees_;
};

}  // namespace weft::opensm

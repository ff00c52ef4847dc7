// SPDX-License-Identifier: Apache-2.0
// Groups drawn by rapidcheck, and fabrics for them.
#pragma once

#include <rapidcheck.h>

#include <vector>

#include "drawn_graph.hpp"
#include "mcast/forest.hpp"
#include "mcast/groups.hpp"
#include "mcast/router.hpp"
#include "topology/generate.hpp"

namespace weft::mcast::test {

/// Anywhere in the range from the first case on, not only near its begin.
inline uint32_t number(uint32_t least, uint32_t behind) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(least, behind));
}

/// Odd graphs, and small ones of all kinds that the paper has.
inline topology::Graph drawn_fabric() {
  switch (number(0, 6)) {
    case 0:
      return topology::fat_tree(2 * number(1, 4));
    case 1:
      return topology::torus({number(1, 6), number(1, 5), number(1, 4)}, number(1, 4));
    case 2:
      return topology::dragonfly(number(1, 5), number(1, 3), number(1, 3));
    case 3:
      return topology::random_fabric(number(3, 30), 6, number(1, 4), number(0, 1000));
    default:
      return topology::test::drawn_graph();
  }
}

/// One host up to twelve, in any order, some several times.
inline std::vector<uint32_t> drawn_hosts(const topology::Graph& graph) {
  std::vector<uint32_t> hosts;
  for (uint32_t left = number(1, 13); left > 0; --left) hosts.push_back(number(0, graph.hosts()));
  return hosts;
}

inline Groups drawn_groups(const topology::Graph& graph) {
  Groups groups;
  for (uint32_t left = number(1, 25); left > 0; --left) groups.add(drawn_hosts(graph));
  return groups;
}

inline RouterOptions drawn_options() {
  RouterOptions options;
  options.algorithm = *rc::gen::element(Algorithm::weft, Algorithm::paper, Algorithm::fbtc, Algorithm::fctb);
  options.colours = *rc::gen::element(1u, 2u, 3u, 5u, 64u, 65u, no_limit, no_limit);
  options.tables = *rc::gen::element(Tables::of_switch, Tables::of_switch, Tables::of_port);
  options.merging.how = *rc::gen::element(Merging::How::rebuild, Merging::How::graft);
  options.merging.with = *rc::gen::element(Merging::With::similar, Merging::With::least_loaded);
  options.threads = number(1, 4);
  options.block = number(1, 9);
  options.apart = number(1, 9);
  return options;
}

/// As the checker wants them.
inline Groups groups_of(const Forest& forest) {
  Groups groups;
  for (uint32_t group = 0; group < forest.groups(); ++group) groups.add(forest.hosts(group));
  return groups;
}

}  // namespace weft::mcast::test

// SPDX-License-Identifier: Apache-2.0
// The two-dimensional fat tree of VTFTR.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "topology/generate.hpp"
#include "topology/maker.hpp"

namespace weft::topology {

namespace {

/// Row or column switches, or fat trees in their place.
class Lines {
 public:
  Lines(Maker& maker, uint32_t leaves, uint32_t edges, uint32_t spines)
      : maker_(maker), at_edge_(leaves / edges), edges_(edges), spines_(spines) {}

  void add(const std::string& name) {
    if (spines_ == 0) {
      first_.push_back(maker_.add_switch(name, at_edge_));
      return;
    }
    for (uint32_t edge = 0; edge < edges_; ++edge) {
      const uint32_t sw = maker_.add_switch(fmt::format("{}-edge-{}", name, edge), at_edge_ + spines_);
      if (edge == 0) first_.push_back(sw);
    }
    for (uint32_t spine = 0; spine < spines_; ++spine)
      maker_.add_switch(fmt::format("{}-spine-{}", name, spine), edges_);
  }
  /// @param place of the leaf in its row or column
  void connect_leaf(uint32_t leaf, uint32_t port, uint32_t line, uint32_t place) {
    maker_.connect(leaf, port, first_[line] + place / at_edge_, 1 + place % at_edge_);
  }
  void connect_spines() {
    for (const uint32_t first : first_)
      for (uint32_t edge = 0; edge < edges_; ++edge)
        for (uint32_t spine = 0; spine < spines_; ++spine)
          maker_.connect(first + edge, 1 + at_edge_ + spine, first + edges_ + spine, 1 + edge);
  }

 private:
  Maker& maker_;
  uint32_t at_edge_, edges_, spines_;
  std::vector<uint32_t> first_;  // switch of each
};

}  // namespace

Graph kfat2d(uint32_t rows, uint32_t columns, uint32_t hosts, uint32_t edges, uint32_t spines) {
  check_range("R", rows, 1, 4096);
  check_range("C", columns, 1, 4096);
  check_range("H", hosts, 1, most_ports - 2);
  check_range("E", edges, 1, std::min(rows, columns));
  if (rows % edges != 0 || columns % edges != 0) throw std::invalid_argument("E must divide R and C");
  if (spines != 0) check_range("S", spines, 1, most_ports - 1 - std::max(rows, columns) / edges);
  const uint64_t leaves = uint64_t{rows} * columns;
  const uint32_t of_line = spines == 0 ? 1 : edges + spines;
  check_size(leaves + uint64_t{rows + columns} * of_line, leaves * hosts, hosts + 2);
  Maker maker;
  Lines row_switches(maker, columns, edges, spines), column_switches(maker, rows, edges, spines);
  for (uint32_t y = 0; y < rows; ++y)
    for (uint32_t x = 0; x < columns; ++x) maker.add_switch(fmt::format("leaf-{}-{}", x, y), hosts + 2);
  for (uint32_t y = 0; y < rows; ++y) row_switches.add(fmt::format("row-{}", y));
  for (uint32_t x = 0; x < columns; ++x) column_switches.add(fmt::format("column-{}", x));
  for (uint32_t leaf = 0; leaf < leaves; ++leaf) {
    const uint32_t x = leaf % columns, y = leaf / columns;
    maker.add_hosts(leaf, hosts);
    row_switches.connect_leaf(leaf, hosts + 1, y, x);
    column_switches.connect_leaf(leaf, hosts + 2, x, y);
  }
  row_switches.connect_spines();
  column_switches.connect_spines();
  return std::move(maker).finish();
}

}  // namespace weft::topology

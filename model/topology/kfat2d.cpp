// SPDX-License-Identifier: Apache-2.0
// The two-dimensional fat tree of VTFTR.
#include <fmt/format.h>

#include "topology/generate.hpp"
#include "topology/maker.hpp"

namespace weft::topology {

Graph kfat2d(uint32_t rows, uint32_t columns, uint32_t hosts) {
  check_range("R", rows, 1, 4096);
  check_range("C", columns, 1, 4096);
  check_range("H", hosts, 1, most_ports - 2);
  const uint64_t leaves = uint64_t{rows} * columns;
  check_size(leaves + rows + columns, leaves * hosts, hosts + 2);
  Maker maker;
  for (uint32_t y = 0; y < rows; ++y)
    for (uint32_t x = 0; x < columns; ++x) maker.add_switch(fmt::format("leaf-{}-{}", x, y), hosts + 2);
  for (uint32_t y = 0; y < rows; ++y) maker.add_switch(fmt::format("row-{}", y), columns);
  for (uint32_t x = 0; x < columns; ++x) maker.add_switch(fmt::format("column-{}", x), rows);
  for (uint32_t leaf = 0; leaf < leaves; ++leaf) {
    const uint32_t x = leaf % columns, y = leaf / columns;
    const auto first_row = static_cast<uint32_t>(leaves);
    maker.add_hosts(leaf, hosts);
    maker.connect(leaf, hosts + 1, first_row + y, 1 + x);
    maker.connect(leaf, hosts + 2, first_row + rows + x, 1 + y);
  }
  return std::move(maker).finish();
}

}  // namespace weft::topology

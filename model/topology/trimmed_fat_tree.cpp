// SPDX-License-Identifier: Apache-2.0
// Trimmed fat trees of the size and shape of Sunway BlueLight and TaihuLight; their exact wiring is not
// public.
#include <fmt/format.h>

#include <stdexcept>

#include "topology/generate.hpp"
#include "topology/maker.hpp"

namespace weft::topology {

namespace {

constexpr uint32_t chip_ports = 36;
constexpr uint32_t leaves = 16;  // of a module, and as many middle switches, and hosts at a leaf
constexpr uint32_t lines = 18;   // of a director, and as many spines, and ports to the outside of a line
constexpr uint32_t module_switches = 2 * leaves;
constexpr uint32_t director_switches = 2 * lines;

void add_module(Maker& maker, uint32_t module) {
  const uint32_t first = module * module_switches;
  for (const char* level : {"leaf", "middle"})
    for (uint32_t i = 0; i < leaves; ++i)
      maker.add_switch(fmt::format("{}-{}-{}", level, module, i), chip_ports);
  for (uint32_t leaf = 0; leaf < leaves; ++leaf) {
    maker.add_hosts(first + leaf, leaves);
    for (uint32_t middle = 0; middle < leaves; ++middle)
      maker.connect(first + leaf, leaves + 1 + middle, first + leaves + middle, 1 + leaf);
  }
}

void add_director(Maker& maker, uint32_t director, uint32_t first) {
  for (const char* level : {"line", "spine"})
    for (uint32_t i = 0; i < lines; ++i)
      maker.add_switch(fmt::format("{}-{}-{}", level, director, i), chip_ports);
  for (uint32_t line = 0; line < lines; ++line)
    for (uint32_t spine = 0; spine < lines; ++spine)
      maker.connect(first + line, lines + 1 + spine, first + lines + spine, 1 + line);
}

/// The links of one module to one director. They go out of middle switches that lie evenly apart, others for
/// the next director, and into lines in turn.
void connect_module(Maker& maker, const TrimmedFatTree& shape, uint32_t module, uint32_t director,
                    uint32_t first_line) {
  for (uint32_t path = 0; path < shape.paths; ++path) {
    const uint32_t middle = (director + path * (leaves / shape.paths)) % leaves;
    const uint32_t uplink = path * (shape.directors / leaves) + director / leaves;
    const uint32_t outside = module * shape.paths + path;  // port of the director
    maker.connect(module * module_switches + leaves + middle, leaves + 1 + uplink,
                  first_line + outside % lines, 1 + outside / lines);
  }
}

}  // namespace

Graph trimmed_fat_tree(const TrimmedFatTree& shape) {
  if (shape.modules == 0 || shape.paths == 0 || leaves % shape.paths != 0 || shape.directors == 0 ||
      shape.directors % leaves != 0 || shape.modules * shape.paths > lines * lines ||
      shape.paths * shape.directors / leaves > chip_ports - leaves)
    throw std::invalid_argument("modules and directors do not fit together");
  Maker maker;
  for (uint32_t module = 0; module < shape.modules; ++module) add_module(maker, module);
  for (uint32_t director = 0; director < shape.directors; ++director) {
    const uint32_t first = shape.modules * module_switches + director * director_switches;
    add_director(maker, director, first);
    for (uint32_t module = 0; module < shape.modules; ++module)
      connect_module(maker, shape, module, director, first);
  }
  return std::move(maker).finish();
}

}  // namespace weft::topology

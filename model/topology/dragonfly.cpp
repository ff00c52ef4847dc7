// SPDX-License-Identifier: Apache-2.0
// The balanced dragonfly.
#include <fmt/format.h>

#include "topology/generate.hpp"
#include "topology/maker.hpp"

namespace weft::topology {

namespace {

struct Shape {
  uint32_t a, p, h;
  uint32_t groups() const { return a * h + 1; }
  uint32_t ports() const { return p + a - 1 + h; }
  /// Port of switch `from` of a group that leads to switch `to` of it.
  uint32_t local_port(uint32_t from, uint32_t to) const { return p + 1 + to - (to > from ? 1 : 0); }
  /// Port of its switch for link 0 .. a h - 1 of a group.
  uint32_t global_port(uint32_t link) const { return p + a + link % h; }
};

void connect_group(Maker& maker, const Shape& shape, uint32_t group) {
  const uint32_t first = group * shape.a;
  for (uint32_t i = 0; i < shape.a; ++i)
    for (uint32_t j = i + 1; j < shape.a; ++j)
      maker.connect(first + i, shape.local_port(i, j), first + j, shape.local_port(j, i));
}

/// Link l of a group leads l + 1 groups onwards, where it is link a h - 1 - l.
void connect_groups(Maker& maker, const Shape& shape, uint32_t group) {
  const uint32_t links = shape.a * shape.h;
  for (uint32_t link = 0; link < links; ++link) {
    const uint32_t other = (group + link + 1) % shape.groups();
    const uint32_t back = links - 1 - link;
    if (group < other)
      maker.connect(group * shape.a + link / shape.h, shape.global_port(link),
                    other * shape.a + back / shape.h, shape.global_port(back));
  }
}

}  // namespace

Graph dragonfly(uint32_t a, uint32_t p, uint32_t h) {
  check_range("A", a, 1, 4096);
  check_range("P", p, 1, 4096);
  check_range("H", h, 1, 4096);
  const Shape shape{a, p, h};
  const uint64_t count = uint64_t{shape.groups()} * a;
  check_size(count, count * p, shape.ports());
  Maker maker;
  for (uint32_t sw = 0; sw < count; ++sw) {
    maker.add_switch(fmt::format("switch-{}-{}", sw / a, sw % a), shape.ports());
    maker.add_hosts(sw, p);
  }
  for (uint32_t group = 0; group < shape.groups(); ++group) {
    connect_group(maker, shape, group);
    connect_groups(maker, shape, group);
  }
  return std::move(maker).finish();
}

}  // namespace weft::topology

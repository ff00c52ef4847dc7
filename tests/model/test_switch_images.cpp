// SPDX-License-Identifier: Apache-2.0
// Images for the switch lookup block, read back: packets go from switch to switch by lookups alone.
#include <gtest/gtest.h>

#include <bit>

#include "route/switch_images.hpp"
#include "switch/lookup.hpp"

namespace weft::route {
namespace {

using switch_lookup::Lookup;
using switch_lookup::Ports;
using switch_lookup::Result;
using switch_lookup::formats::Request;

class Fabric {
 public:
  Fabric(const Tables& tables, const Health& alive) : grid_(alive.grid()), alive_(alive) {
    for (const SwitchImage& made : switch_images(tables)) {
      const std::string bytes = switch_lookup::write_image_bytes(made.image);
      lookups_.emplace_back(made.sizes);
      lookups_.back().set_tables(
          switch_lookup::read_image_bytes(bytes, made.image.head.switch_id, made.sizes));
    }
  }

  /// Steps of a packet to a leaf's last host; nothing if it is dropped or comes to another one.
  std::optional<uint32_t> steps(Leaf from, Leaf to) {
    Request request;
    request.row = static_cast<uint16_t>(to.y);
    request.column = static_cast<uint16_t>(to.x);
    request.host = static_cast<uint8_t>(grid_.hosts);
    request.in_port = 1;
    Leaf at = from;
    for (uint32_t steps = 0; steps < 10; ++steps) {
      const auto out = forward(grid_.number(at), request, leaf_ports(at));
      if (!out) return {};
      if (*out <= grid_.hosts) return at == to && *out == request.host ? std::optional(steps) : std::nullopt;
      const Dimension dimension = *out == grid_.hosts + 1 ? Dimension::row : Dimension::column;
      const uint32_t line = at.line(dimension);
      request.in_port = static_cast<uint8_t>(1 + at.port(dimension));
      const uint32_t root = grid_.leaves() + (dimension == Dimension::row ? 0 : grid_.rows) + line;
      const auto down = forward(root, request, alive_.ports({dimension, line}).to_ullong());
      if (!down) return {};
      at = leaf_at(dimension, line, *down - 1);
      request.in_port = static_cast<uint8_t>(grid_.hosts + (dimension == Dimension::row ? 1 : 2));
    }
    return {};
  }

 private:
  Ports leaf_ports(Leaf at) const {
    Ports ports = switch_lookup::all_ports(grid_.hosts);
    if (alive_.attached(at, Dimension::row)) ports |= switch_lookup::port_bit(grid_.hosts + 1);
    if (alive_.attached(at, Dimension::column)) ports |= switch_lookup::port_bit(grid_.hosts + 2);
    return ports;
  }
  std::optional<uint32_t> forward(uint32_t sw, Request& request, Ports alive) {
    const Result result = lookups_[sw].look(request, alive);
    if (result.outcome != Outcome::forward) return {};
    request.vc = result.vc;
    return 1 + static_cast<uint32_t>(std::countr_zero(result.ports));
  }

  Grid grid_;
  const Health& alive_;
  std::vector<Lookup> lookups_;
};

void every_pair_is_joined(const Health& health, const Options& options) {
  const Grid& grid = health.grid();
  Fabric fabric(make_tables(health, options), health);
  for (uint32_t from = 0; from < grid.leaves(); ++from)
    for (uint32_t to = 0; to < grid.leaves(); ++to) {
      if (!health.alive(grid.leaf(from)) || !health.alive(grid.leaf(to))) continue;
      const auto steps = fabric.steps(grid.leaf(from), grid.leaf(to));
      ASSERT_TRUE(steps) << from << " > " << to;
      ASSERT_LE(*steps, 3u);
    }
}

TEST(SwitchImages, RouteEveryPairWithUpToTwoFaults) {
  const Grid grid{4, 4, 2};
  for (const Masks masks : {Masks::destination, Masks::line})
    for (uint32_t one = 0; one <= 16; ++one)  // 16: none
      for (uint32_t two = one; two <= 16; ++two) {
        Health health(grid);
        for (const uint32_t leaf : {one, two})
          if (leaf < 16) health.fail_leaf(grid.leaf(leaf));
        every_pair_is_joined(health, {RuleSet::vtftr, masks, 2});
      }
}

TEST(SwitchImages, RoundDeadLinksAndSwitches) {
  Health health(Grid{3, 5, 2});
  health.fail_link({1, 1}, Dimension::column);
  health.fail_link({4, 0}, Dimension::row);
  every_pair_is_joined(health, {});
}

TEST(SwitchImages, OnlyOfWhatTheBlockHas) {
  EXPECT_THROW(switch_images(make_tables(Health(Grid{4, 4, 1}), {RuleSet::literal, Masks::line, 2})), Fault);
  EXPECT_THROW(switch_images(make_tables(Health(Grid{4, 4, 1}), {RuleSet::vtftr, Masks::line, 4})), Fault);
  EXPECT_THROW(switch_images(make_tables(Health(Grid{4, 4, 63}), {})), Fault);
}

}  // namespace
}  // namespace weft::route

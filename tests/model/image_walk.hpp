// SPDX-License-Identifier: Apache-2.0
// Images for the switch lookup block, read back: packets go from switch to switch by lookups alone.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "route/switch_images.hpp"
#include "switch/lookup.hpp"

namespace weft::route {

/// Packets that go from switch to switch of the topology by lookups alone.
class ImageWalk {
 public:
  ImageWalk(const Tables& tables, const Health& alive) : grid_(alive.grid()), alive_(alive) {
    for (const SwitchImage& made : switch_images(tables)) {
      const std::string bytes = switch_lookup::write_image_bytes(made.image);
      blocks_.emplace_back(made.sizes);
      blocks_.back().set_tables(
          switch_lookup::read_image_bytes(bytes, made.image.head.switch_id, made.sizes));
    }
  }

  /// Links of a packet from a leaf's first host to a leaf's last one; nothing if it is dropped or does not
  /// end.
  std::optional<uint32_t> links(Leaf from, Leaf to) {
    request_ = {};
    request_.row = static_cast<uint16_t>(to.y);
    request_.column = static_cast<uint16_t>(to.x);
    request_.host = static_cast<uint8_t>(grid_.hosts);
    request_.in_port = 1;
    Leaf at = from;
    uint32_t links = 0;
    while (links < 20) {
      const auto out = forward(grid_.number(at), ports_of(at));
      if (!out) return {};
      if (*out <= grid_.hosts) return at == to && *out == request_.host ? std::optional(links) : std::nullopt;
      const Dimension dimension = dimensions[*out - grid_.hosts - 1];
      Channel channel{at, dimension, false, 0};
      for (++links; !(channel.down && channel.at_leaf()); ++links) {
        const RootPort in = end_of(grid_, channel);
        request_.in_port = static_cast<uint8_t>(in.port + 1);
        const auto next = forward(grid_.leaves() + grid_.number(in.root), alive_.ports(in.root).to_ullong());
        if (!next) return {};
        channel = channel_out(grid_, {in.root, *next - 1}, 0);
      }
      at = channel.leaf;
      request_.in_port = static_cast<uint8_t>(*out);
    }
    return {};
  }

 private:
  static constexpr std::array dimensions{Dimension::row, Dimension::column};

  switch_lookup::Ports ports_of(Leaf at) const {
    switch_lookup::Ports ports = switch_lookup::all_ports(grid_.hosts);
    for (uint32_t i = 0; i < 2; ++i)
      if (alive_.attached(at, dimensions[i])) ports |= switch_lookup::port_bit(grid_.hosts + 1 + i);
    return ports;
  }
  std::optional<uint32_t> forward(uint32_t sw, switch_lookup::Ports alive) {
    const auto result = blocks_[sw].look(request_, alive);
    if (result.outcome != Outcome::forward) return {};
    request_.vc = result.vc;
    return 1 + static_cast<uint32_t>(std::countr_zero(result.ports));
  }

  Grid grid_;
  const Health& alive_;
  switch_lookup::formats::Request request_;
  std::vector<switch_lookup::Lookup> blocks_;
};

}  // namespace weft::route

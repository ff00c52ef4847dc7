// SPDX-License-Identifier: Apache-2.0
// Table images of all switches of a fabric.
#include "switchtables/images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "mcast/images.hpp"
#include "route/switch_images.hpp"
#include "topology/distances.hpp"

namespace weft::switchtables {

using switch_lookup::Image;
using switch_lookup::port_bit;
using switch_lookup::Ports;
using switch_lookup::Sizes;
using switch_lookup::formats::Kind;
using switch_lookup::formats::Request;

namespace {

/// Bits of a column in the index of a destination.
uint8_t column_bits(const route::Grid& grid) {
  return static_cast<uint8_t>(std::bit_width(grid.columns - 1));
}

/// Ports of all switches on shortest ways to one of them.
std::vector<Ports> shortest_ways(const topology::Graph& graph, uint32_t to) {
  const auto hops = topology::hops_from(graph, to);
  std::vector<Ports> ways(graph.switches(), 0);
  for (uint32_t sw = 0; sw < graph.switches(); ++sw)
    for (const topology::Arc& arc : graph.neighbours(sw))
      if (hops[arc.node] + 1 == hops[sw]) ways[sw] |= port_bit(arc.port);
  return ways;
}

Ports nth_port(Ports ports, uint32_t rank) {
  for (; rank > 0; --rank) ports &= ports - 1;
  return ports & (~ports + 1);
}

struct Way {
  Ports primary = 0, backups = 0;
};

/// Of ports that are as good.
Way nth_way(Ports ports, uint32_t rank) {
  const Ports primary = nth_port(ports, rank % static_cast<uint32_t>(std::popcount(ports)));
  return {primary, ports & ~primary};
}

}  // namespace

uint32_t unicast_entries(const Fabric& fabric) {
  if (fabric.grid()) return fabric.grid()->rows << column_bits(*fabric.grid());
  uint32_t end = 0;
  for (uint32_t host = 0; host < fabric.graph().hosts(); ++host)
    for (const topology::Arc& at : fabric.graph().attachments(host))
      end = std::max(end, fabric.lids(host, at).end());
  return end;
}

Images heads_of(const Fabric& fabric, uint32_t version) {
  Images images(fabric.graph().switches());
  for (uint32_t sw = 0; sw < images.size(); ++sw) {
    auto& head = images[sw].head;
    head.switch_id = fabric.graph().switch_info(sw).guid;
    head.vc_max = 1;
    head.table_version = version;
  }
  return images;
}

void add_multicast(Images& images, const Fabric& fabric, const mcast::FabricTables& tables,
                   const Sizes& sizes) {
  Images made = mcast::images_of(tables, fabric.graph());
  for (uint32_t sw = 0; sw < images.size(); ++sw) {
    images[sw].multicast = std::move(made[sw].multicast);
    images[sw].head.per_port = made[sw].head.per_port;
    for (const auto& entry : images[sw].multicast)
      if (const uint32_t colour = entry.index & 0xffff; colour >= sizes.colours)
        throw Fault(fmt::format("color {}: the lookup blocks have {} entries", colour, sizes.colours));
  }
}

void add_minimal_hops(Images& images, const Fabric& fabric, uint32_t choice, const Sizes& sizes) {
  if (unicast_entries(fabric) > sizes.unicast_entries)
    throw Fault(fmt::format("LID {} of a host: the lookup blocks have {} unicast entries, from LID 0 on",
                            unicast_entries(fabric) - 1, sizes.unicast_entries));
  std::vector<Ports> ways;
  uint32_t ways_to = ~0u;
  for (uint32_t host = 0; host < fabric.graph().hosts(); ++host)
    for (const topology::Arc& at : fabric.graph().attachments(host)) {
      const topology::Lids lids = fabric.lids(host, at);
      if (lids.first == 0) continue;
      if (at.node != ways_to) ways = shortest_ways(fabric.graph(), at.node);
      ways_to = at.node;
      for (uint32_t sw = 0; sw < images.size(); ++sw)
        for (uint32_t lid = lids.first; lid < lids.end(); ++lid) {
          const Way way =
              sw == at.node ? Way{port_bit(at.peer_port), 0} : nth_way(ways[sw], lid + sw + choice);
          images[sw].unicast.push_back(
              {lid, static_cast<uint8_t>(std::countr_zero(way.primary) + 1), way.backups});
        }
    }
  for (Image& image : images) std::ranges::sort(image.unicast, {}, &switch_lookup::formats::Entry::index);
}

void add_routes(Images& images, const Fabric& fabric, const route::Tables& tables, const Sizes& sizes) {
  if (unicast_entries(fabric) > sizes.unicast_entries)
    throw Fault(fmt::format("{} entries for leaf switches: the lookup blocks have {}",
                            unicast_entries(fabric), sizes.unicast_entries));
  const std::vector<route::SwitchImage> made = route::switch_images(tables);
  for (uint32_t sw = 0; sw < images.size(); ++sw) {
    Image image = made[fabric.whole_switch(sw)].image;
    image.head.switch_id = images[sw].head.switch_id;
    image.head.table_version = images[sw].head.table_version;
    image.head.per_port = images[sw].head.per_port;
    image.multicast = std::move(images[sw].multicast);
    images[sw] = std::move(image);
  }
}

Request unicast_to(const Fabric& fabric, uint32_t host) {
  Request request;
  request.kind = static_cast<uint8_t>(Kind::unicast);
  if (!fabric.grid()) {
    request.index = fabric.lids(host, fabric.attachment(host)).first;
    return request;
  }
  const route::Leaf leaf = fabric.grid()->leaf(fabric.whole_switch(fabric.attachment(host).node));
  request.row = static_cast<uint16_t>(leaf.y);
  request.column = static_cast<uint16_t>(leaf.x);
  request.host = static_cast<uint8_t>(fabric.attachment(host).peer_port);
  return request;
}

Request multicast_in(uint32_t colour) {
  Request request;
  request.kind = static_cast<uint8_t>(Kind::multicast);
  request.index = static_cast<uint16_t>(colour);
  return request;
}

}  // namespace weft::switchtables

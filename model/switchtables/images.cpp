// SPDX-License-Identifier: Apache-2.0
// Table images of all switches of a fabric.
#include "switchtables/images.hpp"

#include <fmt/format.h>

#include <bit>

#include "topology/distances.hpp"

namespace weft::switchtables {

using route::Dimension;
using switch_lookup::Image;
using switch_lookup::port_bit;
using switch_lookup::Ports;
using switch_lookup::Sizes;
using switch_lookup::formats::Entry;
using switch_lookup::formats::Kind;
using switch_lookup::formats::Request;
using switch_lookup::formats::Role;

namespace {

/// Bits of a column in the index of a destination.
uint8_t column_bits(const route::Grid& grid) {
  return static_cast<uint8_t>(std::bit_width(grid.columns - 1));
}

uint32_t index_of(const route::Grid& grid, route::Leaf leaf) { return leaf.y << column_bits(grid) | leaf.x; }

struct Place {
  Role role = Role::plain;
  route::Leaf leaf;   // of a leaf
  uint32_t line = 0;  // of a row or column switch
};

/// Switches are numbered leaves, row switches, column switches.
Place place_of(const route::Grid& grid, uint32_t sw) {
  if (sw < grid.leaves()) return {Role::leaf, grid.leaf(sw), 0};
  sw -= grid.leaves();
  if (sw < grid.rows) return {Role::row, {}, sw};
  return {Role::column, {}, sw - grid.rows};
}

void set_place(switch_lookup::formats::Image& head, const route::Grid& grid, uint32_t sw) {
  const Place place = place_of(grid, sw);
  head.role = static_cast<uint8_t>(place.role);
  head.column_bits = column_bits(grid);
  switch (place.role) {
    case Role::leaf:
      head.row_port = static_cast<uint8_t>(grid.hosts + 1);
      head.column_port = static_cast<uint8_t>(grid.hosts + 2);
      head.row = static_cast<uint16_t>(place.leaf.y);
      head.column = static_cast<uint16_t>(place.leaf.x);
      break;
    case Role::row:
      head.fine = 1;
      head.row = static_cast<uint16_t>(place.line);
      break;
    default:
      head.fine = 1;
      head.column = static_cast<uint16_t>(place.line);
      break;
  }
}

void add_leaf_entries(Image& image, route::Leaf at, const route::Tables& tables) {
  const route::Grid& grid = tables.grid();
  for (uint32_t number = 0; number < grid.leaves(); ++number) {
    const route::Leaf to = grid.leaf(number);
    const route::First first = tables.first(at, to);
    if (first == route::First::none) continue;
    const uint8_t port = first == route::First::row ? image.head.row_port : image.head.column_port;
    image.unicast.push_back({index_of(grid, to), port, 0});
  }
}

Ports ports_of(const route::PortSet& set) {
  Ports ports = 0;
  for (uint32_t i = 0; i < 64; ++i)
    if (set[i]) ports |= port_bit(i + 1);
  return ports;
}

void add_root_entries(Image& image, Dimension dimension, uint32_t line, const route::Tables& tables) {
  const route::Grid& grid = tables.grid();
  for (uint32_t number = 0; number < grid.leaves(); ++number) {
    const route::Leaf to = grid.leaf(number);
    const route::RootEntry& entry = tables.entry(dimension, line, to);
    const bool direct = entry.direct || to.line(dimension) == line;
    const auto primary = static_cast<uint8_t>(direct ? to.port(dimension) + 1 : 0);
    image.unicast.push_back({index_of(grid, to), primary, ports_of(entry.backups)});
  }
}

/// Ports of all switches on shortest ways to the switch that a host is at.
std::vector<Ports> shortest_ways(const Fabric& fabric, uint32_t host) {
  const topology::Graph& graph = fabric.graph();
  const uint32_t at = fabric.attachment(host).node;
  const auto hops = topology::hops_from(graph, at);
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

}  // namespace

uint32_t unicast_entries(const Fabric& fabric) {
  if (fabric.grid()) return fabric.grid()->rows << column_bits(*fabric.grid());
  return fabric.graph().hosts() + 1;  // LID 0 is none
}

Images heads_of(const Fabric& fabric, uint32_t version) {
  Images images(fabric.graph().switches());
  for (uint32_t sw = 0; sw < images.size(); ++sw) {
    auto& head = images[sw].head;
    head.switch_id = fabric.graph().switch_info(sw).guid;
    head.vc_max = 1;
    head.table_version = version;
    if (fabric.grid()) set_place(head, *fabric.grid(), fabric.whole_switch(sw));
  }
  return images;
}

void add_multicast(Images& images, const mcast::FabricTables& tables, const Sizes& sizes) {
  for (uint32_t sw = 0; sw < images.size(); ++sw)
    for (const mcast::TableEntry& entry : tables.switches[sw]) {
      if (entry.colour >= sizes.colours)
        throw Fault(fmt::format("color {}: the lookup blocks have {} entries", entry.colour, sizes.colours));
      Ports ports = 0;
      for (const uint16_t port : entry.ports) ports |= port_bit(port);
      images[sw].multicast.push_back({entry.colour, 0, ports});
    }
}

void add_minimal_hops(Images& images, const Fabric& fabric, uint32_t choice, const Sizes& sizes) {
  if (unicast_entries(fabric) > sizes.unicast_entries)
    throw Fault(fmt::format("{} hosts: the lookup blocks have {} entries, of which LID 0 is none",
                            fabric.graph().hosts(), sizes.unicast_entries));
  std::vector<Ports> ways;
  uint32_t ways_to = ~0u;
  for (uint32_t host = 0; host < fabric.graph().hosts(); ++host) {
    const topology::Arc& at = fabric.attachment(host);
    if (at.node != ways_to) ways = shortest_ways(fabric, host);
    ways_to = at.node;
    for (uint32_t sw = 0; sw < images.size(); ++sw) {
      Ports primary = port_bit(at.peer_port), backups = 0;
      if (sw != at.node) {
        const auto count = static_cast<uint32_t>(std::popcount(ways[sw]));
        primary = nth_port(ways[sw], (host + sw + choice) % count);
        backups = ways[sw] & ~primary;
      }
      images[sw].unicast.push_back({host + 1, static_cast<uint8_t>(std::countr_zero(primary) + 1), backups});
    }
  }
}

void add_routes(Images& images, const Fabric& fabric, const route::Tables& tables, const Sizes& sizes) {
  const route::Options& options = tables.options();
  if (options.rules != route::RuleSet::vtftr || options.masks != route::Masks::destination ||
      options.channels < 2 || options.channels > 3)
    throw Fault(
        "lookup blocks follow rules vtftr, with masks for each destination and 2 or 3 virtual channels");
  if (unicast_entries(fabric) > sizes.unicast_entries)
    throw Fault(fmt::format("{} entries for leaf switches: the lookup blocks have {}",
                            unicast_entries(fabric), sizes.unicast_entries));
  for (uint32_t sw = 0; sw < images.size(); ++sw) {
    Image& image = images[sw];
    image.head.vc_max = static_cast<uint8_t>(options.channels - 1);
    const Place place = place_of(tables.grid(), fabric.whole_switch(sw));
    if (place.role == Role::leaf) add_leaf_entries(image, place.leaf, tables);
    if (place.role == Role::row) add_root_entries(image, Dimension::row, place.line, tables);
    if (place.role == Role::column) add_root_entries(image, Dimension::column, place.line, tables);
  }
}

Request unicast_to(const Fabric& fabric, uint32_t host) {
  Request request;
  request.kind = static_cast<uint8_t>(Kind::unicast);
  if (!fabric.grid()) {
    request.index = static_cast<uint16_t>(host + 1);
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

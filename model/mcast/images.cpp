// SPDX-License-Identifier: Apache-2.0
// Tables as images.
#include "mcast/images.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/fault.hpp"

namespace weft::mcast {

namespace {

using switch_lookup::formats::Entry;

constexpr uint32_t most_ports = 64;
constexpr uint32_t colours_end = 1u << 16;
constexpr uint32_t first_version = 1;

switch_lookup::Ports mask_of(const TableEntry& entry) {
  switch_lookup::Ports mask = 0;
  for (const uint16_t port : entry.ports) mask |= switch_lookup::port_bit(port);
  return mask;
}

Entry entry_at(uint32_t table, const TableEntry& entry) {
  if (entry.colour >= colours_end)
    throw Fault(
        fmt::format("color {} is beyond those of lookup blocks, 0 to {}", entry.colour, colours_end - 1));
  Entry packed;
  packed.index = table << 16 | entry.colour;
  packed.ports = mask_of(entry);
  return packed;
}

std::vector<Entry> entries_of(const std::vector<TableEntry>& entries, Tables kind) {
  std::vector<Entry> packed;
  for (const TableEntry& entry : entries) {
    if (kind == Tables::of_switch)
      packed.push_back(entry_at(0, entry));
    else
      for (const uint16_t port : entry.ports) packed.push_back(entry_at(port - 1u, entry));
  }
  std::sort(packed.begin(), packed.end(), [](const Entry& a, const Entry& b) { return a.index < b.index; });
  const auto twice = std::adjacent_find(packed.begin(), packed.end(),
                                        [](const Entry& a, const Entry& b) { return a.index == b.index; });
  if (twice != packed.end())
    throw Fault(fmt::format("color {} stands twice in a table", twice->index & 0xffff));
  return packed;
}

}  // namespace

std::vector<switch_lookup::Image> images_of(const FabricTables& tables, const topology::Graph& graph) {
  std::vector<switch_lookup::Image> images(graph.switches());
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) {
    const topology::Node& info = graph.switch_info(sw);
    if (info.ports > most_ports)
      throw Fault(fmt::format("switch {:#018x} has {} ports, lookup blocks have at most {}", info.guid,
                              info.ports, most_ports));
    switch_lookup::formats::Image& head = images[sw].head;
    head.switch_id = info.guid;
    head.role = static_cast<uint8_t>(switch_lookup::formats::Role::plain);
    head.vc_max = 1;
    head.per_port = tables.kind == Tables::of_port;
    head.table_version = first_version;
    images[sw].multicast = entries_of(tables.switches[sw], tables.kind);
  }
  return images;
}

std::string image_file_name(const switch_lookup::Image& image) {
  return fmt::format("{:#018x}.image", image.head.switch_id);
}

}  // namespace weft::mcast

// SPDX-License-Identifier: Apache-2.0
// Tables as text.
#include <fmt/format.h>

#include <iterator>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/fault.hpp"
#include "common/json_text.hpp"
#include "mcast/mcfdbs.hpp"
#include "mcast/tables.hpp"

namespace weft::mcast {

namespace {

using nlohmann::json;

constexpr const char* kind_names[] = {"switch", "port"};

/// Of a number in JSON that must be below `end`.
uint32_t number(const json& value, uint32_t end, const char* what) {
  const bool fits = value.is_number_unsigned() && value.get<uint64_t>() < end;
  if (!fits)
    throw std::runtime_error(
        fmt::format("{} is {}, must be below {}", what, json_text::quotable(value), end));
  return value.get<uint32_t>();
}

json optional(uint32_t value) { return value == none ? json() : json(value); }

const json& list(const json& parent, const char* key) {
  const json& found = parent.at(key);
  if (!found.is_array()) throw std::runtime_error(fmt::format("{} is no list", key));
  return found;
}

const json& list_of_objects(const json& parent, const char* key) {
  const json& found = list(parent, key);
  for (const json& element : found)
    if (!element.is_object())
      throw std::runtime_error(fmt::format("{} has {} in it", key, element.type_name()));
  return found;
}

TableEntry entry_of(const json& value, uint32_t ports) {
  TableEntry entry{number(value.at("color"), no_limit, "color"), {}};
  for (const json& port : list(value, "ports")) {
    const auto next = static_cast<uint16_t>(number(port, ports + 1, "port"));
    if (next <= (entry.ports.empty() ? 0 : entry.ports.back()))
      throw std::runtime_error(fmt::format("port {} is not above the one before it", next));
    entry.ports.push_back(next);
  }
  return entry;
}

std::string guid_text(uint64_t guid) { return fmt::format("{:#018x}", guid); }

/// Finds switches by what a file says: a dump of the same fabric may have them in another order.
class SwitchesByGuid {
 public:
  explicit SwitchesByGuid(const topology::Graph& graph) : given_(graph.switches()) {
    for (uint32_t sw = 0; sw < graph.switches(); ++sw) numbers_[guid_text(graph.switch_info(sw).guid)] = sw;
  }

  uint32_t take(const json& sw) {
    const json& guid = sw.at("guid");
    const auto found = guid.is_string() ? numbers_.find(guid.get<std::string>()) : numbers_.end();
    if (found == numbers_.end())
      throw std::runtime_error(
          fmt::format("no switch of this fabric has GUID {}", json_text::quotable(guid)));
    if (given_[found->second]) throw std::runtime_error(fmt::format("GUID {} is there twice", found->first));
    given_[found->second] = true;
    return found->second;
  }

 private:
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<bool> given_;
};

std::vector<TableEntry> entries_of(const json& sw, const topology::Node& info) {
  std::vector<TableEntry> entries;
  for (const json& entry : list_of_objects(sw, "entries")) entries.push_back(entry_of(entry, info.ports));
  return entries;
}

FabricTables::Use use_of(const json& group) {
  if (group.at("color").is_null()) return {};
  return {number(group.at("color"), no_limit, "color"), number(group.at("tree"), none, "tree")};
}

FabricTables tables_in(const json& text, const std::string& name, const topology::Graph& graph) {
  FabricTables tables;
  if (!text.is_object()) throw std::runtime_error("tables are an object: {...}, as --mft writes it");
  const json& kind = text.at("tables_of");
  if (kind != kind_names[0] && kind != kind_names[1])
    throw std::runtime_error(
        fmt::format("tables_of is {}, must be switch or port", json_text::quotable(kind)));
  tables.kind = kind == kind_names[0] ? Tables::of_switch : Tables::of_port;
  if (!text.at("colors").is_null()) tables.limit = number(text.at("colors"), most_colours + 1, "colors");
  SwitchesByGuid by_guid(graph);
  tables.switches.resize(graph.switches());
  std::size_t place = 0;
  for (const json& own : list_of_objects(text, "switches"))
    json_text::within(
        own, name,
        [&] {
          const uint32_t sw = by_guid.take(own);
          tables.switches[sw] = entries_of(own, graph.switch_info(sw));
        },
        fmt::format("switch {}: ", place++));
  for (const json& group : list_of_objects(text, "groups"))
    json_text::within(
        group, name, [&] { tables.groups.push_back(use_of(group)); },
        fmt::format("group {}: ", tables.groups.size()));
  return tables;
}

}  // namespace

std::string write_tables(const FabricTables& tables, const topology::Graph& graph) {
  std::string text =
      fmt::format("{{\"tables_of\": \"{}\", \"colors\": {},\n\"switches\": [",
                  kind_names[tables.kind == Tables::of_port ? 1 : 0], optional(tables.limit).dump());
  const auto out = std::back_inserter(text);
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) {
    fmt::format_to(out, "{}\n{{\"guid\": \"{}\", \"entries\": [", sw == 0 ? "" : ",",
                   guid_text(graph.switch_info(sw).guid));
    const char* comma = "";
    for (const TableEntry& entry : tables.switches[sw]) {
      fmt::format_to(out, "{}{{\"color\": {}, \"ports\": [{}]}}", comma, entry.colour,
                     fmt::join(entry.ports, ", "));
      comma = ", ";
    }
    text += "]}";
  }
  text += "],\n\"groups\": [";
  for (std::size_t group = 0; group < tables.groups.size(); ++group)
    fmt::format_to(out, "{}\n{{\"color\": {}, \"tree\": {}}}", group == 0 ? "" : ",",
                   optional(tables.groups[group].colour).dump(), optional(tables.groups[group].tree).dump());
  return text + "]}\n";
}

FabricTables read_tables(std::string_view text, const std::string& name, const topology::Graph& graph) {
  const json file = json_text::parse(text, name);
  FabricTables tables;
  json_text::within(file, name, [&] { tables = tables_in(file, name, graph); });
  return tables;
}

std::string write_mcfdbs(const FabricTables& tables, const topology::Graph& graph, uint32_t first) {
  if (tables.kind == Tables::of_port) throw Fault("mcfdbs has no tables of ports");
  ForwardingTables forwarding;
  for (uint32_t sw = 0; sw < graph.switches(); ++sw)
    for (const TableEntry& entry : tables.switches[sw]) {
      if (entry.colour > last_mlid - first)
        throw Fault(fmt::format("color {} has no MLID, from 0x{:04X} on InfiniBand has {}", entry.colour,
                                first, last_mlid - first + 1));
      PortMask& mask = forwarding[graph.switch_info(sw).guid][static_cast<uint16_t>(first + entry.colour)];
      for (const uint16_t port : entry.ports) {
        if (port >= PortMask::ports) throw Fault(fmt::format("port {} is beyond those of InfiniBand", port));
        mask.set(port);
      }
    }
  return write_mcfdbs(forwarding);
}

}  // namespace weft::mcast

// SPDX-License-Identifier: Apache-2.0
// Tables as text.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/fault.hpp"
#include "mcast/mcfdbs.hpp"
#include "mcast/tables.hpp"

namespace weft::mcast {

using nlohmann::json;

namespace {

constexpr const char* kind_names[] = {"switch", "port"};

/// Of a number in JSON that must be below `end`.
uint32_t number(const json& value, uint32_t end, const char* what) {
  const bool fits = value.is_number_unsigned() && value.get<uint64_t>() < end;
  if (!fits) throw std::runtime_error(fmt::format("{} is {}, must be below {}", what, value.dump(), end));
  return value.get<uint32_t>();
}

json optional(uint32_t value) { return value == none ? json() : json(value); }

TableEntry entry_of(const json& value, uint32_t ports) {
  if (!value.is_object()) throw std::runtime_error("an entry is no object");
  TableEntry entry{number(value.at("color"), no_limit, "color"), {}};
  for (const json& port : value.at("ports")) {
    const auto next = static_cast<uint16_t>(number(port, ports + 1, "port"));
    if (next <= (entry.ports.empty() ? 0 : entry.ports.back()))
      throw std::runtime_error(fmt::format("port {} is not above the one before it", next));
    entry.ports.push_back(next);
  }
  return entry;
}

FabricTables tables_in(const json& text, const topology::Graph& graph) {
  FabricTables tables;
  const auto kind = text.at("tables_of").get<std::string>();
  if (kind != kind_names[0] && kind != kind_names[1])
    throw std::runtime_error(fmt::format("tables_of is '{}', must be switch or port", kind.substr(0, 60)));
  tables.kind = kind == kind_names[0] ? Tables::of_switch : Tables::of_port;
  if (!text.at("colors").is_null()) tables.limit = number(text.at("colors"), most_colours + 1, "colors");
  const json& switches = text.at("switches");
  if (!switches.is_array() || switches.size() != graph.switches())
    throw std::runtime_error(
        fmt::format("tables of {} switches, the fabric has {}", switches.size(), graph.switches()));
  tables.switches.resize(graph.switches());
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) {
    const std::string guid = fmt::format("{:#018x}", graph.switch_info(sw).guid);
    if (switches[sw].at("guid") != guid)
      throw std::runtime_error(fmt::format("switch {} is not the one with GUID {}", sw, guid));
    for (const json& entry : switches[sw].at("entries"))
      tables.switches[sw].push_back(entry_of(entry, graph.switch_info(sw).ports));
  }
  for (const json& group : text.at("groups")) {
    const bool local = group.at("color").is_null();
    tables.groups.push_back({local ? none : number(group.at("color"), no_limit, "color"),
                             local ? none : number(group.at("tree"), none, "tree")});
  }
  return tables;
}

}  // namespace

std::string write_tables(const FabricTables& tables, const topology::Graph& graph) {
  std::string text =
      fmt::format("{{\"tables_of\": \"{}\", \"colors\": {},\n\"switches\": [",
                  kind_names[tables.kind == Tables::of_port ? 1 : 0], optional(tables.limit).dump());
  const auto out = std::back_inserter(text);
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) {
    fmt::format_to(out, "{}\n{{\"guid\": \"{:#018x}\", \"entries\": [", sw == 0 ? "" : ",",
                   graph.switch_info(sw).guid);
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
  try {
    return tables_in(json::parse(text), graph);
  } catch (const json::parse_error& error) {
    const auto line = std::count(text.begin(), text.begin() + std::min(error.byte, text.size()), '\n') + 1;
    throw Fault(fmt::format("{}:{}: is no JSON", name, line));
  } catch (const std::exception& error) {
    throw Fault(fmt::format("{}: {}", name, error.what()));
  }
}

std::string write_mcfdbs(const FabricTables& tables, const topology::Graph& graph) {
  if (tables.kind == Tables::of_port) throw Fault("mcfdbs has no tables of ports");
  ForwardingTables forwarding;
  for (uint32_t sw = 0; sw < graph.switches(); ++sw)
    for (const TableEntry& entry : tables.switches[sw]) {
      if (entry.colour > last_mlid - first_mlid)
        throw Fault(
            fmt::format("color {} has no MLID, InfiniBand has {}", entry.colour, last_mlid - first_mlid + 1));
      PortMask& mask =
          forwarding[graph.switch_info(sw).guid][static_cast<uint16_t>(first_mlid + entry.colour)];
      for (const uint16_t port : entry.ports) {
        if (port >= PortMask::ports) throw Fault(fmt::format("port {} is beyond those of InfiniBand", port));
        mask.set(port);
      }
    }
  return write_mcfdbs(forwarding);
}

}  // namespace weft::mcast

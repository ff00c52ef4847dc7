// SPDX-License-Identifier: Apache-2.0
// Fabrics from JSON.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "common/json_text.hpp"
#include "topology/distances.hpp"
#include "topology/json.hpp"

namespace weft::topology {

namespace {

using nlohmann::json;

uint32_t whole(const json& object, const char* key, uint64_t behind) {
  const json& value = object.at(key);
  if (!value.is_number_unsigned() || value.get<uint64_t>() >= behind)
    throw Fault(
        fmt::format("{}: {} is not a whole number below {}", key, json_text::quotable(value), behind));
  return value.get<uint32_t>();
}

uint16_t port(const json& object, const char* key) {
  return static_cast<uint16_t>(whole(object, key, most_ports + 1));
}

uint64_t guid(const json& object, const char* key) {
  const auto text = object.at(key).get<std::string>();
  uint64_t value = 0;
  const auto parsed = std::from_chars(text.data() + std::min<std::size_t>(2, text.size()),
                                      text.data() + text.size(), value, 16);
  if (!text.starts_with("0x") || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
    throw Fault(
        fmt::format("{}: {} is not 0x and a hexadecimal number", key, json_text::quotable(object.at(key))));
  return value;
}

Node node(const json& object) {
  return {guid(object, "guid"), object.at("name").get<std::string>(), whole(object, "ports", most_ports + 1),
          object.value("router", false)};
}

/// Mb/s of a link, if the file says so.
uint32_t rate(const json& link) { return link.contains("mbps") ? whole(link, "mbps", uint64_t{1} << 32) : 0; }

/// Of a host's port, likewise.
Lids lids(const json& link) {
  Lids lids;
  if (!link.contains("lid")) return lids;
  lids.first = static_cast<uint16_t>(whole(link, "lid", most_unicast_lid + 1));
  if (lids.first != 0 && link.contains("lmc")) lids.lmc = static_cast<uint8_t>(whole(link, "lmc", 8));
  return lids;
}

/// Does something with each object of a list; what goes wrong gets its line.
template <typename Take>
void for_each(const json& fabric, const char* key, const std::string& name, Take take) {
  if (!fabric.contains(key) || !fabric.at(key).is_array())
    throw Fault(
        fmt::format("{}:{}: no list '{}'", name, fabric.at(json_text::line_key).get<uint64_t>(), key));
  for (const json& each : fabric.at(key)) {
    if (!each.is_object()) throw Fault(fmt::format("{}: {}: not all are objects", name, key));
    try {
      take(each);
    } catch (const Fault& fault) {
      throw Fault(fmt::format("{}:{}: {}", name, each.at(json_text::line_key).get<uint64_t>(), fault.what()));
    } catch (const json::exception& error) {
      throw Fault(fmt::format("{}:{}: {}", name, each.at(json_text::line_key).get<uint64_t>(),
                              json_text::words_of(error)));
    }
  }
}

}  // namespace

Graph read_json(std::string_view text, const std::string& name) {
  const json fabric = json_text::parse(text, name);
  if (!fabric.is_object()) throw Fault(name + ":1: a fabric is an object: {...}");
  Parts parts;
  std::vector<uint64_t> switch_lines, host_lines;
  for_each(fabric, "switches", name, [&](const json& each) {
    parts.switches.push_back(node(each));
    switch_lines.push_back(each.at(json_text::line_key).get<uint64_t>());
  });
  for_each(fabric, "hosts", name, [&](const json& each) {
    parts.hosts.push_back(node(each));
    host_lines.push_back(each.at(json_text::line_key).get<uint64_t>());
  });
  const uint64_t switches = parts.switches.size(), hosts = parts.hosts.size();
  for_each(fabric, "switch_links", name, [&](const json& each) {
    parts.switch_links.push_back({whole(each, "a", switches), whole(each, "b", switches),
                                  port(each, "a_port"), port(each, "b_port"), rate(each)});
  });
  for_each(fabric, "host_links", name, [&](const json& each) {
    parts.host_links.push_back({whole(each, "host", hosts), whole(each, "switch", switches),
                                port(each, "host_port"), port(each, "switch_port"),
                                each.contains("port_guid") ? guid(each, "port_guid") : 0, rate(each),
                                lids(each)});
  });
  try {
    Graph graph(std::move(parts));
    if (const auto cut = first_cut_off(graph))
      throw Fault(fmt::format("{}:{}: is not connected with the first switch", name,
                              (cut->host ? host_lines : switch_lines)[cut->node]));
    return graph;
  } catch (const std::invalid_argument& error) {
    throw Fault(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace weft::topology

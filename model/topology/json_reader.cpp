// SPDX-License-Identifier: Apache-2.0
// Fabrics from JSON.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

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

void refuse_if(const std::string& fault) {
  if (!fault.empty()) throw Fault(fault);
}

class Reader {
 public:
  Reader(const json& fabric, const std::string& name) : fabric_(fabric), name_(name) {}

  Graph read() {
    for_each("switches", [this](const json& each) { take_node(each, parts_.switches, switch_lines_); });
    for_each("hosts", [this](const json& each) { take_node(each, parts_.hosts, host_lines_); });
    for_each("switch_links", [this](const json& each) { take_switch_link(each); });
    for_each("host_links", [this](const json& each) { take_host_link(each); });
    return finish();
  }

 private:
  /// In which line something stands that may be there once.
  using Lines = std::unordered_map<uint64_t, uint64_t>;

  [[noreturn]] void fail(uint64_t line, std::string_view fault) const {
    throw Fault(fmt::format("{}:{}: {}", name_, line, fault));
  }

  /// Does something with each object of a list; what goes wrong gets its line.
  template <typename Take>
  void for_each(const char* key, Take take) {
    const auto line = fabric_.at(json_text::line_key).get<uint64_t>();
    if (!fabric_.contains(key) || !fabric_.at(key).is_array()) fail(line, fmt::format("no list '{}'", key));
    for (const json& each : fabric_.at(key)) {
      if (!each.is_object()) fail(line, fmt::format("{}: not all are objects", key));
      line_ = each.at(json_text::line_key).get<uint64_t>();
      try {
        take(each);
      } catch (const Fault& fault) {
        fail(line_, fault.what());
      } catch (const json::exception& error) {
        fail(line_, json_text::words_of(error));
      }
    }
  }

  /// The line where it stands already; nothing if this one is the first.
  std::optional<uint64_t> earlier(Lines& lines, uint64_t what) const {
    const auto [known, is_new] = lines.emplace(what, line_);
    return is_new ? std::nullopt : std::optional(known->second);
  }

  void take_node(const json& each, std::vector<Node>& nodes, std::vector<uint64_t>& lines) {
    nodes.push_back(node(each));
    lines.push_back(line_);
    refuse_if(fault_of_node(nodes.back()));
    if (const auto line = earlier(guids_, nodes.back().guid))
      throw Fault(fmt::format("GUID {:#x} is also that of the node in line {}", nodes.back().guid, *line));
  }

  void take_port(Lines& ports, const std::vector<Node>& nodes, uint32_t number, uint16_t port) {
    refuse_if(fault_of_port(nodes[number], port));
    if (const auto line = earlier(ports, uint64_t{number} << 16 | port))
      throw Fault(
          fmt::format("port {} of \"{}\" has a link already, in line {}", port, nodes[number].name, *line));
  }

  void take_switch_link(const json& each) {
    const uint64_t switches = parts_.switches.size();
    const Link link{whole(each, "a", switches), whole(each, "b", switches), port(each, "a_port"),
                    port(each, "b_port"), rate(each)};
    if (link.a == link.b)
      throw Fault(fmt::format("a link from \"{}\" to itself", parts_.switches[link.a].name));
    take_port(switch_ports_, parts_.switches, link.a, link.a_port);
    take_port(switch_ports_, parts_.switches, link.b, link.b_port);
    parts_.switch_links.push_back(link);
  }

  void take_host_link(const json& each) {
    Parts::HostLink link{whole(each, "host", parts_.hosts.size()),
                         whole(each, "switch", parts_.switches.size()),
                         port(each, "host_port"),
                         port(each, "switch_port"),
                         each.contains("port_guid") ? guid(each, "port_guid") : 0,
                         rate(each),
                         lids(each)};
    take_port(host_ports_, parts_.hosts, link.host, link.host_port);
    take_port(switch_ports_, parts_.switches, link.at, link.switch_port);
    if (link.port_guid == 0) link.port_guid = parts_.hosts[link.host].guid + link.host_port;
    if (const auto line = earlier(port_guids_, link.port_guid))
      throw Fault(fmt::format("port GUID {:#x} is also that of the port in line {}", link.port_guid, *line));
    take_lids(link.lids);
    parts_.host_links.push_back(link);
  }

  void take_lids(const Lids& lids) {
    if (lids.first == 0) return;
    refuse_if(fault_of_lids(lids.first, lids.lmc));
    for (uint32_t lid = lids.first; lid < lids.end(); ++lid)
      if (const auto line = earlier(lids_, lid))
        throw Fault(fmt::format("LID {} is also that of the port in line {}", lid, *line));
  }

  Graph finish() {
    try {
      Graph graph(std::move(parts_));
      if (const auto cut = first_cut_off(graph))
        fail((cut->host ? host_lines_ : switch_lines_)[cut->node], "is not connected with the first switch");
      return graph;
    } catch (const std::invalid_argument& error) {
      throw Fault(fmt::format("{}: {}", name_, error.what()));
    }
  }

  const json& fabric_;
  const std::string& name_;
  uint64_t line_ = 0;
  Parts parts_;
  std::vector<uint64_t> switch_lines_, host_lines_;
  Lines guids_, switch_ports_, host_ports_, port_guids_, lids_;
};

}  // namespace

Graph read_json(std::string_view text, const std::string& name) {
  const json fabric = json_text::parse(text, name);
  if (!fabric.is_object()) throw Fault(name + ":1: a fabric is an object: {...}");
  return Reader(fabric, name).read();
}

}  // namespace weft::topology

// SPDX-License-Identifier: Apache-2.0
// Fabrics as text.
#include "weft/topology_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/progress.hpp"
#include "topology/distances.hpp"

namespace weft::cli {

using nlohmann::json;
using topology::Graph;
using topology::Link;
using topology::Node;

namespace {

std::string hex(uint64_t guid) { return fmt::format("{:#018x}", guid); }

/// What the text would be without the quotation marks around it.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '"' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

json node_json(const Node& node) {
  return {{"guid", hex(node.guid)}, {"name", node.name}, {"ports", node.ports}};
}

}  // namespace

json summary_of(const Graph& graph) {
  Progress progress("diameter");
  const uint32_t diameter =
      topology::diameter(graph, [&progress](uint32_t done, uint32_t of) { progress.show(done, of); });
  uint64_t ports = 0, connected = 0;
  uint32_t least = topology::most_ports, most = 0;
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) {
    const uint32_t own = graph.switch_info(sw).ports;
    ports += own;
    connected += graph.neighbours(sw).size() + graph.hosts_at(sw).size();
    least = std::min(least, own);
    most = std::max(most, own);
  }
  return {{"switches", graph.switches()},
          {"hosts", graph.hosts()},
          {"links", graph.links()},
          {"switch_links", graph.switch_links()},
          {"host_links", graph.links() - graph.switch_links()},
          {"diameter", diameter},
          {"least_ports", least},
          {"most_ports", most},
          {"unused_ports", ports - connected}};
}

std::string to_table(const json& summary) {
  const auto number = [&summary](const char* key) { return summary.at(key).get<uint64_t>(); };
  const uint64_t least = number("least_ports"), most = number("most_ports");
  return fmt::format(
      "switches  {}, of {} ports\n"
      "hosts     {}\n"
      "links     {}: {} between switches, {} to hosts\n"
      "diameter  {} links between switches\n"
      "unused    {} ports of switches\n",
      number("switches"), least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most),
      number("hosts"), number("links"), number("switch_links"), number("host_links"), number("diameter"),
      number("unused_ports"));
}

json to_json(const Graph& graph) {
  json switches = json::array(), hosts = json::array(), switch_links = json::array(),
       host_links = json::array();
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) switches.push_back(node_json(graph.switch_info(sw)));
  for (uint32_t host = 0; host < graph.hosts(); ++host) {
    hosts.push_back(node_json(graph.host_info(host)));
    if (graph.host_info(host).router) hosts.back()["router"] = true;
  }
  for (uint32_t id = 0; id < graph.links(); ++id) {
    const Link& link = graph.link(id);
    json& links = graph.is_host_link(id) ? host_links : switch_links;
    if (graph.is_host_link(id))
      host_links.push_back({{"host", link.a},
                            {"host_port", link.a_port},
                            {"switch", link.b},
                            {"switch_port", link.b_port},
                            {"port_guid", hex(graph.port_guid(id))}});
    else
      switch_links.push_back(
          {{"a", link.a}, {"a_port", link.a_port}, {"b", link.b}, {"b_port", link.b_port}});
    if (link.mbps != 0) links.back()["mbps"] = link.mbps;
    if (!graph.is_host_link(id) || graph.lids(id).first == 0) continue;
    links.back()["lid"] = graph.lids(id).first;
    links.back()["lmc"] = graph.lids(id).lmc;
  }
  return {
      {"switches", switches}, {"hosts", hosts}, {"switch_links", switch_links}, {"host_links", host_links}};
}

std::string to_dot(const Graph& graph) {
  std::string text = "graph fabric {\n";
  const auto out = std::back_inserter(text);
  for (uint32_t sw = 0; sw < graph.switches(); ++sw)
    fmt::format_to(out, "  s{} [shape=box, label=\"{}\"];\n", sw, escaped(graph.switch_info(sw).name));
  for (uint32_t host = 0; host < graph.hosts(); ++host)
    fmt::format_to(out, "  h{} [label=\"{}\"];\n", host, escaped(graph.host_info(host).name));
  for (uint32_t id = 0; id < graph.links(); ++id) {
    const Link& link = graph.link(id);
    fmt::format_to(out, "  {}{} -- s{} [taillabel={}, headlabel={}];\n", graph.is_host_link(id) ? 'h' : 's',
                   link.a, link.b, link.a_port, link.b_port);
  }
  return text + "}\n";
}

}  // namespace weft::cli

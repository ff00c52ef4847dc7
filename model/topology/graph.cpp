// SPDX-License-Identifier: Apache-2.0
// Checks parts and lays them out as a graph.
#include "topology/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>

namespace weft::topology {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw std::invalid_argument(why); }

void check_count(const char* what, std::size_t count, std::size_t least, std::size_t most) {
  if (count < least) refuse(fmt::format("there is no {} in it", what));
  if (count > most) refuse(fmt::format("{} {}s, at most {} are possible", count, what, most));
}

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

void refuse_if(const std::string& fault) {
  if (!fault.empty()) refuse(fault);
}

void check_unique(std::vector<uint64_t> guids) {
  std::sort(guids.begin(), guids.end());
  const auto twice = std::adjacent_find(guids.begin(), guids.end());
  if (twice != guids.end()) refuse(fmt::format("GUID {:#x} is there twice", *twice));
}

void check_nodes(const Parts& parts) {
  check_count("switch", parts.switches.size(), 1, most_switches);
  check_count("host", parts.hosts.size(), 1, most_hosts);
  check_count("link", parts.switch_links.size() + parts.host_links.size(), 0, most_links);
  std::vector<uint64_t> guids;
  guids.reserve(parts.switches.size() + parts.hosts.size());
  for (const auto* nodes : {&parts.switches, &parts.hosts}) {
    for (const Node& node : *nodes) {
      refuse_if(fault_of_node(node));
      guids.push_back(node.guid);
    }
  }
  check_unique(std::move(guids));
}

void check_port(const std::vector<Node>& nodes, const char* what, uint32_t node, uint32_t port) {
  if (node >= nodes.size()) refuse(fmt::format("a link to {} {}, which is not there", what, node));
  refuse_if(fault_of_port(nodes[node], port));
}

Link to_link(const Parts::HostLink& link) {
  return {link.host, link.at, link.host_port, link.switch_port, link.mbps};
}

/// The lower switch first.
Link ordered(const Link& link) {
  return link.a < link.b ? link : Link{link.b, link.a, link.b_port, link.a_port, link.mbps};
}

bool before(const Link& one, const Link& other) {
  return std::tie(one.a, one.a_port) < std::tie(other.a, other.a_port);
}

}  // namespace

std::string fault_of_node(const Node& node) {
  if (node.guid == 0) return fmt::format("\"{}\" has GUID 0", node.name);
  if (node.ports > most_ports)
    return fmt::format("\"{}\" has {} ports, at most {} are possible", node.name, node.ports, most_ports);
  if (std::any_of(node.name.begin(), node.name.end(), is_control))
    return fmt::format("the name of GUID {:#x} has control characters", node.guid);
  return {};
}

std::string fault_of_port(const Node& node, uint32_t port) {
  if (port != 0 && port <= node.ports) return {};
  return fmt::format("port {} of \"{}\", which has {}", port, node.name, node.ports);
}

Graph::Graph(Parts parts) {
  check_nodes(parts);
  for (const Link& link : parts.switch_links) {
    check_port(parts.switches, "switch", link.a, link.a_port);
    check_port(parts.switches, "switch", link.b, link.b_port);
    if (link.a == link.b) refuse(fmt::format("a link from \"{}\" to itself", parts.switches[link.a].name));
  }
  for (const Parts::HostLink& link : parts.host_links) {
    check_port(parts.hosts, "host", link.host, link.host_port);
    check_port(parts.switches, "switch", link.at, link.switch_port);
  }
  switch_info_ = std::move(parts.switches);
  host_info_ = std::move(parts.hosts);
  take_links(parts);
  fill_ports();
  fill_arcs();
}

void Graph::take_links(Parts& parts) {
  switch_links_ = static_cast<uint32_t>(parts.switch_links.size());
  std::transform(parts.switch_links.begin(), parts.switch_links.end(), parts.switch_links.begin(), ordered);
  std::sort(parts.switch_links.begin(), parts.switch_links.end(), before);
  std::sort(parts.host_links.begin(), parts.host_links.end(),
            [](const auto& one, const auto& other) { return before(to_link(one), to_link(other)); });
  links_ = std::move(parts.switch_links);
  links_.reserve(links_.size() + parts.host_links.size());
  port_guids_.reserve(parts.host_links.size());
  const auto same_port = [](const Parts::HostLink& one, const Parts::HostLink& other) {
    return one.host == other.host && one.host_port == other.host_port;
  };
  const auto twice = std::adjacent_find(parts.host_links.begin(), parts.host_links.end(), same_port);
  if (twice != parts.host_links.end())
    refuse(fmt::format("port {} of \"{}\" has two links", twice->host_port, host_info_[twice->host].name));
  for (const Parts::HostLink& link : parts.host_links) {
    links_.push_back(to_link(link));
    port_guids_.push_back(link.port_guid ? link.port_guid : host_info_[link.host].guid + link.host_port);
  }
  check_unique(port_guids_);
  take_lids(parts.host_links);
}

std::string fault_of_lids(uint32_t first, uint32_t lmc) {
  constexpr uint32_t most_lmc = 7;
  if (lmc > most_lmc) return fmt::format("LMC {}, must be at most {}", lmc, most_lmc);
  if (first % (1u << lmc) != 0) return fmt::format("LID {} is no multiple of 2^{}, its LMC", first, lmc);
  if (first + (1u << lmc) > most_unicast_lid + 1)
    return fmt::format("LID {} is beyond {}, the last one of a port", first + (1u << lmc) - 1,
                       most_unicast_lid);
  return {};
}

void Graph::take_lids(const std::vector<Parts::HostLink>& links) {
  const auto told = [](const Parts::HostLink& link) { return link.lids.first != 0; };
  if (std::none_of(links.begin(), links.end(), told)) return;
  lids_.reserve(links.size());
  for (const Parts::HostLink& link : links) lids_.push_back(told(link) ? link.lids : Lids());
  std::vector<const Parts::HostLink*> sorted;
  for (const Parts::HostLink& link : links)
    if (told(link)) sorted.push_back(&link);
  std::ranges::sort(sorted, {}, [](const Parts::HostLink* link) { return link->lids.first; });
  const auto name = [this](const Parts::HostLink* link) {
    return fmt::format("port {} of \"{}\"", link->host_port, host_info_[link->host].name);
  };
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const Lids lids = sorted[i]->lids;
    if (const std::string fault = fault_of_lids(lids.first, lids.lmc); !fault.empty())
      refuse(name(sorted[i]) + ": " + fault);
    if (i > 0 && lids.first < sorted[i - 1]->lids.end())
      refuse(fmt::format("LID {} is that of {} and of {}", lids.first, name(sorted[i - 1]), name(sorted[i])));
  }
}

void Graph::fill_ports() {
  port_start_.reserve(switches() + 1);
  port_start_.push_back(0);
  for (const Node& node : switch_info_) port_start_.push_back(port_start_.back() + node.ports);
  port_links_.assign(port_start_.back(), no_link);
  const auto plug = [this](uint32_t sw, uint32_t port, uint32_t link) {
    uint32_t& place = port_links_[port_start_[sw] + port - 1];
    if (place != no_link) refuse(fmt::format("port {} of \"{}\" has two links", port, switch_info_[sw].name));
    place = link;
  };
  for (uint32_t id = 0; id < links(); ++id) {
    const Link& link = links_[id];
    plug(link.b, link.b_port, id);
    if (!is_host_link(id)) plug(link.a, link.a_port, id);
  }
}

void Graph::fill_arcs() {
  for (Arcs* arcs : {&between_, &down_}) {
    arcs->start.reserve(switches() + 1);
    arcs->start.push_back(0);
  }
  for (uint32_t sw = 0; sw < switches(); ++sw) {
    for (uint32_t port = 1; port <= switch_info_[sw].ports; ++port) {
      const uint32_t id = link_at(sw, port);
      if (id == no_link) continue;
      const Link& link = links_[id];
      const bool at_a = !is_host_link(id) && link.a == sw;
      const Arc arc{at_a ? link.b : link.a, id, static_cast<uint16_t>(port),
                    at_a ? link.b_port : link.a_port};
      (is_host_link(id) ? down_ : between_).arcs.push_back(arc);
    }
    for (Arcs* arcs : {&between_, &down_}) arcs->start.push_back(static_cast<uint32_t>(arcs->arcs.size()));
  }
  up_.start.assign(hosts() + 1, 0);
  for (uint32_t id = switch_links_; id < links(); ++id) {
    const Link& link = links_[id];
    up_.start[link.a + 1]++;
    up_.arcs.push_back({link.b, id, link.a_port, link.b_port});
  }
  std::partial_sum(up_.start.begin(), up_.start.end(), up_.start.begin());
}

// --- numbered by GUID

namespace {

/// The nodes by GUID; and for each old number the new one.
std::vector<uint32_t> sort_by_guid(std::vector<Node>& nodes) {
  std::vector<uint32_t> order(nodes.size()), place(nodes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return nodes[a].guid < nodes[b].guid; });
  std::vector<Node> sorted;
  sorted.reserve(nodes.size());
  for (const uint32_t old : order) {
    place[old] = static_cast<uint32_t>(sorted.size());
    sorted.push_back(std::move(nodes[old]));
  }
  nodes = std::move(sorted);
  return place;
}

}  // namespace

Graph by_guid(const Graph& graph) {
  Parts parts;
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) parts.switches.push_back(graph.switch_info(sw));
  for (uint32_t host = 0; host < graph.hosts(); ++host) parts.hosts.push_back(graph.host_info(host));
  const auto switch_place = sort_by_guid(parts.switches);
  const auto host_place = sort_by_guid(parts.hosts);
  for (uint32_t id = 0; id < graph.links(); ++id) {
    const Link& link = graph.link(id);
    if (graph.is_host_link(id)) {
      parts.host_links.push_back({host_place[link.a], switch_place[link.b], link.a_port, link.b_port,
                                  graph.port_guid(id), link.mbps, graph.lids(id)});
    } else {
      parts.switch_links.push_back(
          {switch_place[link.a], switch_place[link.b], link.a_port, link.b_port, link.mbps});
    }
  }
  return Graph(std::move(parts));
}

}  // namespace weft::topology

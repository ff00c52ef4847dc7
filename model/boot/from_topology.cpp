// SPDX-License-Identifier: Apache-2.0
// Boards, supernodes and edge switches of a fabric.
#include "boot/from_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <utility>

#include "boot/words.hpp"
#include "common/input_file.hpp"
#include "topology/host_names.hpp"

namespace weft::boot {

namespace {

using topology::Graph;

constexpr uint32_t none = ~0u;

/// Up to the first blank: what stands behind it in a dump is the card.
std::string first_word(const std::string& name) { return name.substr(0, name.find(' ')); }

uint32_t switch_of(const Graph& graph, uint32_t host) { return graph.attachments(host)[0].node; }

/// The links of each place of a segment.
class Bundles {
 public:
  explicit Bundles(std::size_t places) : counts_(places, 0), mbps_(places, 0) {}

  void add(std::size_t place, double mbps, uint32_t count = 1) {
    counts_[place] += count;
    mbps_[place] += mbps * count;
    least_mbps_ = std::min(least_mbps_, mbps);
  }

  /// @param own of each place, where not all are as `link` says
  void put(Link& link, std::vector<double>& own) const {
    link = {least_mbps_, none};
    for (const uint32_t count : counts_)
      if (count != 0) link.count = std::min(link.count, count);
    own = mbps_;
    for (double& mbps : own)
      if (mbps == 0) mbps = link.total();
    const auto is_alike = [&](double mbps) { return std::abs(mbps / link.total() - 1) < 1e-12; };
    if (std::all_of(own.begin(), own.end(), is_alike)) own.clear();
  }

 private:
  std::vector<uint32_t> counts_;
  std::vector<double> mbps_;  ///< all together
  double least_mbps_ = std::numeric_limits<double>::infinity();
};

class Survey {
 public:
  Survey(const Graph& graph, std::string name, const std::vector<uint32_t>& servers,
         const std::array<std::optional<double>, segments>& told_mbps)
      : graph_(graph), name_(std::move(name)), servers_(servers), told_mbps_(told_mbps) {
    const std::set<uint32_t> is_server(servers.begin(), servers.end());
    for (uint32_t host = 0; host < graph.hosts(); ++host)
      if (!is_server.contains(host) && !graph.host_info(host).router) nodes_.push_back(host);
    if (nodes_.empty()) throw Fault(name_ + ": no host is left that could boot");
  }

  void take_into(Machine& machine) {
    find_levels();
    find_supernodes();
    place_nodes(machine);
    place_servers(machine);
    expect_ways();
    measure_links(machine);
    if (const auto fault = impossible(machine))
      throw Fault(fmt::format("{}: {}: {}", name_, fault->field, fault->fault));
  }

 private:
  const std::string& name_of(uint32_t sw) const { return graph_.switch_info(sw).name; }

  [[noreturn]] void throw_no_tree(const std::string& why) const {
    throw Fault(fmt::format("{}: {}: only trees of switches and fat trees can be planned", name_, why));
  }

  /// Links from the nearest board.
  void find_levels() {
    levels_.assign(graph_.switches(), none);
    std::queue<uint32_t> next;
    for (const uint32_t host : nodes_) {
      const uint32_t sw = switch_of(graph_, host);
      if (levels_[sw] == 0) continue;
      levels_[sw] = 0;
      boards_.push_back(sw);
      next.push(sw);
    }
    for (; !next.empty(); next.pop()) {
      for (const auto& arc : graph_.neighbours(next.front())) {
        if (levels_[arc.node] == 0 && levels_[next.front()] == 0)
          throw_no_tree(fmt::format("{} and {}, which both have nodes, are joined",
                                    in_quotes(name_of(next.front())), in_quotes(name_of(arc.node))));
        if (levels_[arc.node] != none) continue;
        levels_[arc.node] = levels_[next.front()] + 1;
        next.push(arc.node);
      }
    }
  }

  /// Switches below the core that hang together are one; boards in the order of their first nodes.
  void find_supernodes() {
    std::set<uint32_t> with_servers;
    for (const uint32_t server : servers_) with_servers.insert(switch_of(graph_, server));
    core_level_ = 1;
    for (uint32_t sw = 0; sw < graph_.switches(); ++sw)
      if (levels_[sw] == 2 && !with_servers.contains(sw)) core_level_ = 2;
    supernode_of_.assign(graph_.switches(), none);
    for (const uint32_t board : boards_) {
      if (supernode_of_[board] != none) continue;
      std::queue<uint32_t> next({board});
      supernode_of_[board] = supernodes_;
      for (; !next.empty(); next.pop()) {
        for (const auto& arc : graph_.neighbours(next.front())) {
          if (levels_[arc.node] >= core_level_ || supernode_of_[arc.node] != none) continue;
          if (levels_[arc.node] != 0 && with_servers.contains(arc.node)) continue;
          supernode_of_[arc.node] = supernodes_;
          next.push(arc.node);
        }
      }
      ++supernodes_;
    }
  }

  void place_nodes(Machine& machine) {
    std::vector<std::vector<uint32_t>> boards_in(supernodes_);
    std::map<uint32_t, std::vector<uint32_t>> nodes_on;
    for (const uint32_t board : boards_) boards_in[supernode_of_[board]].push_back(board);
    for (const uint32_t host : nodes_) nodes_on[switch_of(graph_, host)].push_back(host);
    machine.supernodes = supernodes_;
    machine.boards_per_supernode = machine.cpus_per_board = 1;
    for (const auto& boards : boards_in)
      machine.boards_per_supernode =
          std::max(machine.boards_per_supernode, static_cast<uint32_t>(boards.size()));
    for (const auto& [board, hosts] : nodes_on)
      machine.cpus_per_board = std::max(machine.cpus_per_board, static_cast<uint32_t>(hosts.size()));
    if (machine.boards() > most_nodes || machine.nodes() > most_nodes)
      throw Fault(fmt::format("{}: as a machine it has more than {} places for nodes", name_, most_nodes));
    machine.node_names.assign(machine.nodes(), "");
    for (uint32_t supernode = 0; supernode < supernodes_; ++supernode) {
      for (uint32_t i = 0; i < boards_in[supernode].size(); ++i) {
        uint64_t place = (uint64_t{supernode} * machine.boards_per_supernode + i) * machine.cpus_per_board;
        board_places_[boards_in[supernode][i]] = place / machine.cpus_per_board;
        for (const uint32_t host : nodes_on[boards_in[supernode][i]]) {
          machine.node_names[place] = first_word(graph_.host_info(host).name);
          node_places_[host] = place++;
        }
      }
    }
  }

  void place_servers(Machine& machine) {
    std::map<uint32_t, std::vector<uint32_t>> servers_on;
    for (const uint32_t host : servers_) {
      const uint32_t sw = switch_of(graph_, host);
      if (servers_on[sw].empty()) edges_.push_back(sw);
      servers_on[sw].push_back(host);
    }
    machine.servers_per_edge = 1;
    for (const auto& [edge, hosts] : servers_on)
      machine.servers_per_edge = std::max(machine.servers_per_edge, static_cast<uint32_t>(hosts.size()));
    machine.servers = static_cast<uint32_t>(edges_.size()) * machine.servers_per_edge;
    machine.server_names.assign(machine.servers, "");
    for (uint32_t edge = 0; edge < edges_.size(); ++edge) {
      const auto& hosts = servers_on[edges_[edge]];
      for (uint32_t i = 0; i < machine.servers_per_edge; ++i) {
        const uint32_t server = edge * machine.servers_per_edge + i;
        if (i < hosts.size()) {
          machine.server_names[server] = first_word(graph_.host_info(hosts[i]).name);
          server_places_[hosts[i]] = server;
        } else {
          machine.failed_servers.insert(server);
        }
      }
    }
  }

  /// What hangs together once supernodes are taken away; `none` for switches of supernodes.
  std::vector<uint32_t> parts_of_core() const {
    std::vector<uint32_t> parts(graph_.switches(), none);
    uint32_t part = 0;
    for (uint32_t first = 0; first < graph_.switches(); ++first) {
      if (supernode_of_[first] != none || parts[first] != none) continue;
      std::queue<uint32_t> next({first});
      parts[first] = part;
      for (; !next.empty(); next.pop()) {
        for (const auto& arc : graph_.neighbours(next.front())) {
          if (supernode_of_[arc.node] != none || parts[arc.node] != none) continue;
          parts[arc.node] = part;
          next.push(arc.node);
        }
      }
      ++part;
    }
    return parts;
  }

  /// From each supernode to each edge switch over the core alone; and nothing across within a supernode.
  void expect_ways() const {
    const auto parts = parts_of_core();
    std::vector<std::set<uint32_t>> parts_at(supernodes_);
    for (uint32_t sw = 0; sw < graph_.switches(); ++sw) {
      if (supernode_of_[sw] == none) continue;
      for (const auto& arc : graph_.neighbours(sw)) {
        if (parts[arc.node] != none) parts_at[supernode_of_[sw]].insert(parts[arc.node]);
        if (supernode_of_[arc.node] != none && levels_[arc.node] == levels_[sw])
          throw_no_tree(fmt::format("{} and {}, which are as far from nodes, are joined",
                                    in_quotes(name_of(sw)), in_quotes(name_of(arc.node))));
      }
    }
    for (const uint32_t edge : edges_) {
      const uint32_t own = supernode_of_[edge];
      const std::set<uint32_t> there = own == none ? std::set{parts[edge]} : parts_at[own];
      for (const uint32_t board : boards_) {
        if (supernode_of_[board] == own) continue;
        const auto& here = parts_at[supernode_of_[board]];
        if (std::none_of(here.begin(), here.end(), [&](uint32_t part) { return there.contains(part); }))
          throw_no_tree(fmt::format("from {} to {} all ways lead over switches that have nodes",
                                    in_quotes(name_of(board)), in_quotes(name_of(edge))));
      }
    }
  }

  double mbps(uint32_t segment, uint32_t link, const Machine& machine) const {
    const uint32_t known = graph_.link(link).mbps;
    return told_mbps_[segment].value_or(known != 0 ? known : machine.links[segment].mbps);
  }

  double host_mbps(uint32_t segment, uint32_t host, const Machine& machine) const {
    return mbps(segment, graph_.attachments(host)[0].link, machine);
  }

  void measure_links(Machine& machine) const {
    Bundles nodes(machine.nodes()), boards(machine.boards()), supernodes(machine.supernodes),
        edges(machine.edges());
    for (const auto& [host, place] : node_places_) nodes.add(place, host_mbps(0, host, machine));
    for (const auto& [sw, place] : board_places_) {
      add_links_up(boards, place, 1, sw, machine);
      if (core_level_ == 1) add_links_up(supernodes, supernode_of_[sw], 2, sw, machine);
    }
    for (uint32_t sw = 0; core_level_ != 1 && sw < graph_.switches(); ++sw) {
      if (supernode_of_[sw] == none) continue;
      for (const auto& arc : graph_.neighbours(sw))
        if (supernode_of_[arc.node] == none) supernodes.add(supernode_of_[sw], mbps(2, arc.link, machine));
    }
    for (uint32_t edge = 0; edge < edges_.size(); ++edge) add_links_up(edges, edge, 3, edges_[edge], machine);
    measure_servers(machine);
    nodes.put(machine.links[0], machine.own_mbps[0]);
    boards.put(machine.links[1], machine.own_mbps[1]);
    supernodes.put(machine.links[2], machine.own_mbps[2]);
    edges.put(machine.links[3], machine.own_mbps[3]);
  }

  /// Where there is one switch only, nothing is above it: as much as all its ports.
  void add_links_up(Bundles& bundles, std::size_t place, uint32_t segment, uint32_t sw,
                    const Machine& machine) const {
    for (const auto& arc : graph_.neighbours(sw)) bundles.add(place, mbps(segment, arc.link, machine));
    if (!graph_.neighbours(sw).empty()) return;
    double most = 0;
    for (const auto& arc : graph_.hosts_at(sw)) most = std::max(most, mbps(segment, arc.link, machine));
    bundles.add(place, most, graph_.switch_info(sw).ports);
  }

  /// Where they are not alike, each is told by itself, with its disk.
  void measure_servers(Machine& machine) const {
    Bundles servers(machine.servers);
    std::vector<double> own;
    for (const auto& [host, server] : server_places_) servers.add(server, host_mbps(4, host, machine));
    servers.put(machine.links[4], own);
    for (const auto& [host, server] : server_places_)
      if (!own.empty()) machine.unequal_servers[server].mbps = own[server];
  }

  const Graph& graph_;
  std::string name_;
  const std::vector<uint32_t>& servers_;
  const std::array<std::optional<double>, segments>& told_mbps_;
  std::vector<uint32_t> nodes_, boards_, edges_;             ///< hosts, switches
  std::vector<uint32_t> levels_, supernode_of_;              ///< of switches
  std::map<uint32_t, uint64_t> node_places_, board_places_;  ///< in the machine, of hosts, of switches
  std::map<uint32_t, uint32_t> server_places_;               ///< of hosts
  uint32_t supernodes_ = 0, core_level_ = 1;
};

std::vector<std::string_view> hosts_in(std::string_view line) {
  std::vector<std::string_view> found;
  for (const std::string_view part : split(line.substr(0, line.find('#')), ','))
    for (const std::string_view word : words(part)) found.push_back(word);
  return found;
}

}  // namespace

std::vector<uint32_t> hosts_of(const std::string& spec, const Graph& graph) {
  const bool is_file = spec.starts_with("file:");
  const std::string file = is_file ? spec.substr(5) : "";
  const std::string text = is_file ? read_whole<Fault>(file) : spec;
  const topology::HostNames names(graph);
  std::vector<uint32_t> hosts;
  uint32_t line = 0;
  for (const std::string_view each : split(text, '\n')) {
    ++line;
    try {
      for (const std::string_view word : hosts_in(each)) {
        hosts.push_back(names.find(word));
        if (std::find(hosts.begin(), hosts.end() - 1, hosts.back()) != hosts.end() - 1)
          throw Fault(fmt::format("host {} is there twice", in_quotes(word)));
      }
    } catch (const Fault& fault) {
      throw Fault(is_file ? fmt::format("{}:{}: {}", file, line, fault.what())
                          : fmt::format("--boot-servers {}: {}", spec.substr(0, 60), fault.what()));
    }
  }
  if (hosts.empty()) throw Fault((is_file ? file : "--boot-servers") + ": no server");
  return hosts;
}

void take_topology(const Graph& graph, const std::string& name, const std::vector<uint32_t>& servers,
                   Machine& machine, const std::array<std::optional<double>, segments>& told_mbps) {
  Survey(graph, name, servers, told_mbps).take_into(machine);
}

}  // namespace weft::boot

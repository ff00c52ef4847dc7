// SPDX-License-Identifier: Apache-2.0
// Boards, supernodes and edge switches of a fabric.
#include "boot/from_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
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

class Survey {
 public:
  Survey(const Graph& graph, std::string name, const std::vector<uint32_t>& servers)
      : graph_(graph), name_(std::move(name)), servers_(servers) {
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
    machine.links[0].count = 1;
    machine.links[1].count = least_links_up(boards_);
    machine.links[2].count = least_links_of_supernodes();
    machine.links[3].count = least_links_up(edges_);
    if (const auto fault = impossible(machine))
      throw Fault(fmt::format("{}: {}: {}", name_, fault->field, fault->fault));
  }

 private:
  const std::string& name_of(uint32_t sw) const { return graph_.switch_info(sw).name; }

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
          throw Fault(
              fmt::format("{}: {} and {}, which both have nodes, are joined: only trees of switches "
                          "and fat trees can be planned",
                          name_, in_quotes(name_of(next.front())), in_quotes(name_of(arc.node))));
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
        for (const uint32_t host : nodes_on[boards_in[supernode][i]])
          machine.node_names[place++] = first_word(graph_.host_info(host).name);
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
        if (i < hosts.size())
          machine.server_names[server] = first_word(graph_.host_info(hosts[i]).name);
        else
          machine.failed_servers.insert(server);
      }
    }
  }

  /// Where there is one switch only, nothing is above it: as many as it has ports.
  uint32_t least_links_up(const std::vector<uint32_t>& switches) const {
    uint32_t least = none;
    for (const uint32_t sw : switches) {
      const auto links = static_cast<uint32_t>(graph_.neighbours(sw).size());
      least = std::min(least, links != 0 ? links : graph_.switch_info(sw).ports);
    }
    return least;
  }

  uint32_t least_links_of_supernodes() const {
    if (core_level_ == 1) return least_links_up(boards_);
    std::vector<uint32_t> links(supernodes_, 0);
    for (uint32_t sw = 0; sw < graph_.switches(); ++sw) {
      if (supernode_of_[sw] == none) continue;
      for (const auto& arc : graph_.neighbours(sw))
        links[supernode_of_[sw]] += supernode_of_[arc.node] == none ? 1 : 0;
    }
    return *std::min_element(links.begin(), links.end());
  }

  const Graph& graph_;
  std::string name_;
  const std::vector<uint32_t>& servers_;
  std::vector<uint32_t> nodes_, boards_, edges_;  ///< hosts, switches
  std::vector<uint32_t> levels_, supernode_of_;   ///< of switches
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
                   Machine& machine) {
  Survey(graph, name, servers).take_into(machine);
}

}  // namespace weft::boot

// SPDX-License-Identifier: Apache-2.0
// From a graph to what ibnetdiscover would print, without LIDs of switches.
#include <fmt/format.h>

#include <iterator>
#include <stdexcept>

#include "topology/ib_rates.hpp"
#include "topology/ibnet.hpp"
#include "topology/ibnet_lines.hpp"

namespace weft::topology {

namespace {

constexpr std::size_t most_name = 200;  // bytes; with them a line has less than the 255 that ibsim reads

class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph) {}

  std::string write() {
    text_ += "#\n# Topology file: written by weft\n#\n";
    for (uint32_t sw = 0; sw < graph_.switches(); ++sw) write_switch(sw);
    for (uint32_t host = 0; host < graph_.hosts(); ++host) write_host(host);
    return std::move(text_);
  }

 private:
  template <typename... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }

  static void check(const Node& node) {
    if (node.ports > most_ib_ports)
      throw std::invalid_argument(fmt::format("\"{}\" has {} ports, more than the {} of InfiniBand",
                                              node.name, node.ports, most_ib_ports));
    if (node.name.size() > most_name)
      throw std::invalid_argument(
          fmt::format("the name \"{}\" is longer than {} bytes", quotable(node.name), most_name));
  }

  void write_switch(uint32_t sw) {
    const Node& node = graph_.switch_info(sw);
    check(node);
    put("\nswitchguid={0:#x}({0:x})\nSwitch\t{1} \"S-{0:016x}\"\t\t# \"{2}\" base port 0 lid 0 lmc 0\n",
        node.guid, node.ports, node.name);
    for (uint32_t port = 1; port <= node.ports; ++port) {
      const uint32_t id = graph_.link_at(sw, port);
      if (id == no_link) continue;
      const Link& link = graph_.link(id);
      if (graph_.is_host_link(id)) {
        const Node& host = graph_.host_info(link.a);
        put("[{}]\t\"{}-{:016x}\"[{}]({:x}){}\n", port, letter(host), host.guid, link.a_port,
            graph_.port_guid(id), rate(link));
      } else {
        const bool at_a = link.a == sw;
        put("[{}]\t\"S-{:016x}\"[{}]{}\n", port, graph_.switch_info(at_a ? link.b : link.a).guid,
            at_a ? link.b_port : link.a_port, rate(link));
      }
    }
  }

  void write_host(uint32_t host) {
    const Node& node = graph_.host_info(host);
    check(node);
    put("\n{0}guid={1:#x}\n{2}\t{3} \"{4}-{1:016x}\"\t\t# \"{5}\"\n", node.router ? "rt" : "ca", node.guid,
        node.router ? "Rt" : "Ca", node.ports, letter(node), node.name);
    for (const Arc& arc : graph_.attachments(host))
      put("[{}]({:x})\t\"S-{:016x}\"[{}]{}\n", arc.port, graph_.port_guid(arc.link),
          graph_.switch_info(arc.node).guid, arc.peer_port, comment(arc.link));
  }

  static std::string rate(const Link& link) { return link.mbps == 0 ? "" : "\t\t# " + rate_name(link); }
  static std::string rate_name(const Link& link) {
    const std::string name = ib_rate_of_mbps(link.mbps);
    return name.empty() ? fmt::format("{} Mb/s", link.mbps) : name;
  }
  /// Behind a host's port.
  std::string comment(uint32_t id) const {
    const Lids lids = graph_.lids(id);
    if (lids.first == 0) return rate(graph_.link(id));
    const std::string text = fmt::format("\t\t# lid {} lmc {}", lids.first, lids.lmc);
    return graph_.link(id).mbps == 0 ? text : text + " " + rate_name(graph_.link(id));
  }

  static char letter(const Node& host) { return host.router ? 'R' : 'H'; }

  const Graph& graph_;
  std::string text_;
};

}  // namespace

std::string write_ibnet(const Graph& graph) { return Writer(graph).write(); }

}  // namespace weft::topology

// SPDX-License-Identifier: Apache-2.0
// The subnet as OpenSM has found it.
#include "opensm/subnet_graph.hpp"

#include <algorithm>
#include <map>

namespace weft::opensm {

namespace {

using topology::Parts;

uint64_t guid_of(const osm_node_t* node) { return cl_ntoh64(osm_node_get_node_guid(node)); }

std::string name_of(const osm_node_t* node) {
  std::string name = node->print_desc;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c >= 0 && c < ' '; }, '?');
  return name;
}

topology::Node node_of(const osm_node_t* node) {
  return {guid_of(node), name_of(node), osm_node_get_num_physp(node) - 1u,
          osm_node_get_type(node) == IB_NODE_TYPE_ROUTER};
}

std::vector<osm_switch_t*> switches_of(const osm_subn_t& subnet) {
  std::vector<osm_switch_t*> switches;
  for (cl_map_item_t* item = cl_qmap_head(&subnet.sw_guid_tbl); item != cl_qmap_end(&subnet.sw_guid_tbl);
       item = cl_qmap_next(item)) {
    auto* sw = reinterpret_cast<osm_switch_t*>(item);  // its first member
    if (osm_switch_supports_mcast(sw)) switches.push_back(sw);
  }
  std::sort(switches.begin(), switches.end(), [](const osm_switch_t* a, const osm_switch_t* b) {
    return guid_of(a->p_node) < guid_of(b->p_node);
  });
  return switches;
}

/// Goes over the cables of all switches.
class Cables {
 public:
  explicit Cables(const std::vector<osm_switch_t*>& switches) : switches_(switches) {
    for (uint32_t i = 0; i < switches.size(); ++i) index_[switches[i]] = i;
  }

  Parts parts() {
    for (const osm_switch_t* sw : switches_) parts_.switches.push_back(node_of(sw->p_node));
    for_each([this](uint32_t, uint8_t, const osm_physp_t* far) { note_host(far); });
    for (auto& [guid, host] : hosts_) {
      host.number = static_cast<uint32_t>(parts_.hosts.size());
      parts_.hosts.push_back(node_of(host.node));
    }
    for_each([this](uint32_t sw, uint8_t port, const osm_physp_t* far) { add_cable(sw, port, far); });
    return std::move(parts_);
  }

 private:
  struct Host {
    const osm_node_t* node = nullptr;
    uint32_t number = 0;
  };

  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (uint32_t sw = 0; sw < switches_.size(); ++sw)
      for (uint32_t port = 1; port < osm_node_get_num_physp(switches_[sw]->p_node); ++port) {
        osm_physp_t* near = osm_node_get_physp_ptr(switches_[sw]->p_node, port);
        if (near == nullptr || !osm_link_is_healthy(near)) continue;
        const osm_physp_t* far = osm_physp_get_remote(near);
        if (far != nullptr && osm_physp_get_node_ptr(far) != nullptr)
          visit(sw, static_cast<uint8_t>(port), far);
      }
  }

  void note_host(const osm_physp_t* far) {
    const osm_node_t* node = osm_physp_get_node_ptr(far);
    if (osm_node_get_type(node) != IB_NODE_TYPE_SWITCH) hosts_[guid_of(node)].node = node;
  }

  void add_cable(uint32_t sw, uint8_t port, const osm_physp_t* far) {
    const osm_node_t* node = osm_physp_get_node_ptr(far);
    const uint8_t far_port = osm_physp_get_port_num(far);
    if (osm_node_get_type(node) != IB_NODE_TYPE_SWITCH) {
      parts_.host_links.push_back(
          {hosts_.at(guid_of(node)).number, sw, far_port, port, cl_ntoh64(osm_physp_get_port_guid(far))});
      return;
    }
    const auto other = index_.find(node->sw);
    if (other == index_.end() || other->second <= sw) return;  // each cable once, none to the switch itself
    parts_.switch_links.push_back({sw, other->second, port, far_port});
  }

  const std::vector<osm_switch_t*>& switches_;
  std::unordered_map<const osm_switch_t*, uint32_t> index_;
  std::map<uint64_t, Host> hosts_;
  Parts parts_;
};

}  // namespace

SubnetGraph::SubnetGraph(const osm_subn_t& subnet)
    : switches(switches_of(subnet)), graph(Cables(switches).parts()) {
  for (uint32_t i = 0; i < switches.size(); ++i) index[switches[i]] = i;
  for (uint32_t link = graph.switch_links(); link < graph.links(); ++link)
    link_of_port[graph.port_guid(link)] = link;
}

}  // namespace weft::opensm

// SPDX-License-Identifier: Apache-2.0
// A routing engine of OpenSM. All functions that OpenSM calls hold its lock.
#include "opensm/engine.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <exception>

namespace weft::opensm {

namespace {

constexpr const char* name = "weft";
constexpr const char* unicast_option = "unicast=";

/// The stock engine that event_plugin_options asks for: "unicast=updn"; "" for min-hop.
std::string wanted_unicast(const char* options) {
  const std::string text = options == nullptr ? "" : options;
  const auto at = text.find(unicast_option);
  if (at == std::string::npos) return "";
  const auto start = at + std::string(unicast_option).size();
  return text.substr(start, text.find_first_of(" ,;", start) - start);
}

}  // namespace

Engine::~Engine() {
  if (unicast_.destroy != nullptr) unicast_.destroy(unicast_.context);
}

bool Engine::register_with_opensm() {
  external_routing_engine_module_t module{};
  module.name = name;
  module.setup = [](osm_routing_engine_t* engine, osm_opensm_t*) {
    return static_cast<Engine*>(engine->context)->set_up(*engine);
  };
  return osm_register_external_routing_engine(&osm_, &module, this) == CL_SUCCESS;
}

/// 0: fine. Unicast goes on to the stock engine; what that leaves out, OpenSM does itself, by min-hop.
int Engine::set_up(osm_routing_engine_t& engine) {
  using SetUp = int (*)(osm_routing_engine_t*, osm_opensm_t*);
  if (const std::string unicast = wanted_unicast(osm_.subn.opt.event_plugin_options); !unicast.empty()) {
    const auto set_up_unicast =
        reinterpret_cast<SetUp>(dlsym(RTLD_DEFAULT, ("osm_ucast_" + unicast + "_setup").c_str()));
    if (set_up_unicast == nullptr || set_up_unicast(&unicast_, &osm_) != 0) {
      log(OSM_LOG_ERROR, fmt::format("there is no unicast engine '{}'", unicast));
      return 1;
    }
    if (unicast_.path_sl != nullptr || unicast_.update_sl2vl != nullptr || unicast_.update_vlarb != nullptr) {
      log(OSM_LOG_ERROR,
          fmt::format("unicast engine '{}' needs service levels of its own, which weft has not", unicast));
      return 1;
    }
  }
  if (unicast_.build_lid_matrices != nullptr)
    engine.build_lid_matrices = [](void* context) {
      const auto& unicast = static_cast<Engine*>(context)->unicast_;
      return unicast.build_lid_matrices(unicast.context);
    };
  if (unicast_.ucast_build_fwd_tables != nullptr)
    engine.ucast_build_fwd_tables = [](void* context) {
      const auto& unicast = static_cast<Engine*>(context)->unicast_;
      return unicast.ucast_build_fwd_tables(unicast.context);
    };
  if (unicast_.ucast_dump_tables != nullptr)
    engine.ucast_dump_tables = [](void* context) {
      const auto& unicast = static_cast<Engine*>(context)->unicast_;
      unicast.ucast_dump_tables(unicast.context);
    };
  engine.mcast_build_stree = [](void* context, osm_mgrp_box_t* box) {
    return static_cast<Engine*>(context)->build(*box);
  };
  return 0;
}

ib_api_status_t Engine::build(osm_mgrp_box_t& box) {
  try {
    if (trees_ == nullptr) learn();
    drop_dead_groups();
    for (const auto& [sw, mask] : trees_->build(box.mlid, members_of(box)))
      mask.for_each([&, table = &subnet_->switches[sw]->mcast_tbl](uint32_t port) {
        osm_mcast_tbl_set(table, box.mlid, static_cast<uint8_t>(port));
      });
    return IB_SUCCESS;
  } catch (const std::exception& error) {
    log(OSM_LOG_ERROR, fmt::format("MLID 0x{:04X} has no tree: {}", box.mlid, error.what()));
    return IB_ERROR;
  }
}

void Engine::learn() {
  subnet_ = std::make_unique<SubnetGraph>(osm_.subn);
  trees_ = std::make_unique<GroupTrees>(subnet_->graph);
  log(OSM_LOG_INFO, fmt::format("multicast trees on {} switches with {} hosts", subnet_->graph.switches(),
                                subnet_->graph.hosts()));
}

/// Nobody tells us of groups that have gone.
void Engine::drop_dead_groups() {
  for (const uint32_t mlid : trees_->groups())
    if (osm_get_mbox_by_mlid(&osm_.subn, cl_hton16(static_cast<uint16_t>(mlid))) == nullptr)
      trees_->remove(mlid);
}

Members Engine::members_of(osm_mgrp_box_t& box) const {
  cl_qlist_t list;
  cl_qmap_t map;
  if (osm_mcast_make_port_list_and_map(&list, &map, &box) != 0) throw std::bad_alloc();
  Members members;
  for (cl_list_item_t* item = cl_qlist_head(&list); item != cl_qlist_end(&list); item = cl_qlist_next(item))
    add(*reinterpret_cast<osm_mcast_work_obj_t*>(item)->p_port, members);  // its first member
  osm_mcast_drop_port_list(&list);
  return members;
}

void Engine::add(const osm_port_t& port, Members& members) const {
  const uint64_t guid = cl_ntoh64(port.guid);
  if (port.p_node->sw != nullptr) {
    if (const auto sw = subnet_->index.find(port.p_node->sw); sw != subnet_->index.end())
      return members.switches.push_back(sw->second);
  } else if (const auto link = subnet_->link_of_port.find(guid); link != subnet_->link_of_port.end()) {
    return members.host_links.push_back(link->second);
  }
  log(OSM_LOG_ERROR, fmt::format("port {:#018x} cannot be reached by multicast", guid));
}

void Engine::log(osm_log_level_t level, const std::string& text) const {
  osm_log(&osm_.log, level, "weftmcast: %s\n", text.c_str());
}

}  // namespace weft::opensm

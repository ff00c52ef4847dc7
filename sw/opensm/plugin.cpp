// SPDX-License-Identifier: Apache-2.0
// libweftmcast.so: what OpenSM finds when it loads the plugin (docs/mcast_opensm.md).
#include <exception>
#include <memory>

#include "opensm/engine.hpp"
#include "opensm/opensm_headers.hpp"

namespace {

using weft::opensm::Engine;

/// Null: OpenSM goes on without the plugin.
void* create(osm_opensm* osm) {
  try {
    auto engine = std::make_unique<Engine>(*osm);
    return engine->register_with_opensm() ? engine.release() : nullptr;
  } catch (const std::exception&) {
    return nullptr;
  }
}

void destroy(void* plugin) { delete static_cast<Engine*>(plugin); }

void report(void* plugin, osm_epi_event_id_t event, void*) {
  if (event == OSM_EVENT_ID_HEAVY_SWEEP_START || event == OSM_EVENT_ID_UCAST_ROUTING_DONE)
    static_cast<Engine*>(plugin)->forget();
}

}  // namespace

extern "C" {
extern osm_event_plugin_t osm_event_plugin;
__attribute__((visibility("default")))
osm_event_plugin_t osm_event_plugin = {OSM_VERSION, create, destroy, report};
}

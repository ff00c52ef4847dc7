// SPDX-License-Identifier: Apache-2.0
// OpenSM's headers (Debian: libopensm-dev), which are for C, fit for C++.
//
// osm_config.h comes first: without it structures have other layouts than in the program. The others stand in
// the order in which they need each other.
#pragma once

#define delete delete_plugin  // a member of osm_event_plugin_t
// clang-format off
#include <infiniband/opensm/osm_config.h>
#include <infiniband/opensm/osm_opensm.h>
#include <infiniband/opensm/osm_event_plugin.h>
#include <infiniband/opensm/osm_multicast.h>
#include <infiniband/opensm/osm_sm.h>
#include <infiniband/opensm/osm_mcast_mgr.h>
#include <infiniband/opensm/osm_switch.h>
#include <infiniband/opensm/osm_version.h>
// clang-format on
#undef delete

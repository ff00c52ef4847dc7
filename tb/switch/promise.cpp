// SPDX-License-Identifier: Apache-2.0
// Links that a unicast packet may go over, for each pair.
#include "switch/promise.hpp"

#include "common/fault.hpp"
#include "route/checker.hpp"

namespace weft::tb {

using switchtables::Fabric;
using switchtables::Images;
using switchtables::no_promise;

uint64_t Promise::lossy(const Fabric& fabric) const {
  uint64_t pairs = 0;
  for (uint32_t sw = 0; sw < fabric.graph().switches(); ++sw)
    if (!fabric.graph().hosts_at(sw).empty())
      for (uint32_t host = 0; host < hosts_; ++host) pairs += hops(sw, host) == no_promise;
  return pairs;
}

void Promise::spoil(const Fabric& fabric, RandomStream& random) {
  std::vector<uint32_t> places;  // hosts, for whose switches a promise is there
  for (uint32_t host = 0; host < hosts_; ++host)
    if (fabric.attachment(host).node != fabric.attachment(0).node) places.push_back(host);
  if (places.empty()) throw Fault("no promise that could be spoilt: all hosts are at one switch");
  const uint32_t one = fabric.attachment(0).node, to = places[random.below(places.size())];
  const uint32_t other = fabric.attachment(to).node;
  for (uint32_t host = 0; host < hosts_; ++host) {
    const bool there = fabric.attachment(host).node == other;
    if (there && hops(one, host) != no_promise) set(one, host, hops(one, host) - 1);
  }
}

Promise least_hops(const Fabric& fabric, const mcast::Hops& hops) {
  Promise promise(fabric);
  mcast::Hops::Room room;
  for (uint32_t sw = 0; sw < fabric.graph().switches(); ++sw) {
    const uint8_t* row = hops.from(sw, room);
    for (uint32_t host = 0; host < fabric.graph().hosts(); ++host)
      promise.set(sw, host, row[fabric.attachment(host).node]);
  }
  return promise;
}

Promise promise_of(const Fabric& fabric, std::span<const route::Tables* const> mixture,
                   const route::Health& health) {
  const route::Grid& grid = *fabric.grid();
  std::vector<uint32_t> switch_of(grid.leaves());
  for (uint32_t sw = 0; sw < fabric.graph().switches(); ++sw)
    if (const uint32_t leaf = fabric.whole_switch(sw); leaf < grid.leaves()) switch_of[leaf] = sw;
  Promise promise(fabric);
  const auto set = [&](uint32_t from, uint32_t to, uint32_t hops) {
    for (const topology::Arc& arc : fabric.graph().hosts_at(to)) promise.set(from, arc.node, hops);
  };
  const route::Report report =
      route::check(mixture, health, false, [&](const route::Pair& pair, uint32_t links) {
        set(switch_of[grid.number(pair.from)], switch_of[grid.number(pair.to)], links);
      });
  if (!report.cycle.empty()) throw Fault("packets can wait for each other in a ring");
  for (uint32_t host = 0; host < fabric.graph().hosts(); ++host)
    set(fabric.attachment(host).node, fabric.attachment(host).node, 0);
  return promise;
}

Promise promise_of(const Fabric& fabric, std::span<const Images* const> mixture,
                   const switch_lookup::Sizes& sizes) {
  Promise promise(fabric);
  for (uint32_t host = 0; host < fabric.graph().hosts(); ++host) {
    const auto most = switchtables::most_hops_to(host, fabric, mixture, sizes);
    for (uint32_t sw = 0; sw < most.size(); ++sw) promise.set(sw, host, most[sw]);
  }
  return promise;
}

}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// Over how many links between switches a unicast packet may go at most, for each pair of a switch where it is
// sent and a host that it is sent to; or that it may be lost.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/random.hpp"
#include "mcast/hops.hpp"
#include "route/tables.hpp"
#include "switchtables/plain_check.hpp"

namespace weft::tb {

class Promise {
 public:
  Promise() = default;
  explicit Promise(const switchtables::Fabric& fabric)
      : hosts_(fabric.graph().hosts()),
        hops_(std::size_t{fabric.graph().switches()} * hosts_, switchtables::no_promise) {}

  /// `no_promise`: it may be lost.
  uint32_t hops(uint32_t from_switch, uint32_t to_host) const { return hops_[at(from_switch, to_host)]; }
  void set(uint32_t from_switch, uint32_t to_host, uint32_t hops) { hops_[at(from_switch, to_host)] = hops; }
  /// Pairs of a switch with hosts and a host of which packets may be lost.
  uint64_t lossy(const switchtables::Fabric& fabric) const;
  /// One hop less for a pair of switches that are not the same.
  void spoil(const switchtables::Fabric& fabric, RandomStream& random);

 private:
  std::size_t at(uint32_t from_switch, uint32_t to_host) const {
    return std::size_t{from_switch} * hosts_ + to_host;
  }

  uint32_t hosts_ = 0;
  std::vector<uint32_t> hops_;
};

/// The least hops that there are.
Promise least_hops(const switchtables::Fabric& fabric, const mcast::Hops& hops);

/// What these tables of a two-dimensional fat tree promise, each switch having those of any one; of pairs of
/// leaves, as route::check says. Throws Fault if packets can wait for each other in a ring.
Promise promise_of(const switchtables::Fabric& fabric, std::span<const route::Tables* const> mixture,
                   const route::Health& health);

/// The same of PLAIN tables.
Promise promise_of(const switchtables::Fabric& fabric, std::span<const switchtables::Images* const> mixture,
                   const switch_lookup::Sizes& sizes);

}  // namespace weft::tb

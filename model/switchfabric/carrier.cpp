// SPDX-License-Identifier: Apache-2.0
// A two-dimensional fat tree below a network.
#include "switchfabric/carrier.hpp"

#include <utility>

namespace weft::switchfabric {

FatTreeCarrier::FatTreeCarrier(const route::Health& alive, const route::Options& options,
                               const Config& config, const ManagerConfig& manager)
    : grid_(alive.grid()),
      tables_(make_tables(alive, options)),
      fabric_(tables_, alive, config),
      manager_(fabric_, tables_, manager),
      waiting_(std::size_t{grid_.leaves()} * grid_.hosts) {}

void FatTreeCarrier::inject(uint32_t host) {
  if (waiting_[host].empty()) return;
  const auto [to, handle] = waiting_[host].front();
  waiting_[host].pop_front();
  if (!fabric_.alive().alive(leaf_of(host))) {
    lost_.push_back(handle);
    return;
  }
  handles_.emplace(Name{host, fabric_.now()}, handle);
  fabric_.send(host, to);
}

bool FatTreeCarrier::detoured(const Delivered& delivered) const {
  return delivered.switches >
         grid_.fewest_switches(leaf_of(delivered.packet.from), leaf_of(delivered.packet.to));
}

void FatTreeCarrier::step() {
  arrived_.clear();
  lost_ = std::exchange(silenced_, {});
  for (uint32_t host = 0; host < nodes(); ++host) inject(host);
  manager_.step();
  fabric_.step();
  for (const Delivered& delivered : fabric_.delivered()) {
    const auto found = handles_.extract({delivered.packet.from, delivered.packet.sent});
    if (found.empty()) continue;  // flushed
    arrived_.push_back({delivered.packet.to, found.mapped()});
    detoured_ += detoured(delivered);
  }
  for (const Lost& lost : fabric_.lost())
    if (const auto found = handles_.extract({lost.packet.from, lost.packet.sent}); !found.empty())
      lost_.push_back(found.mapped());
}

void FatTreeCarrier::flush() {
  for (auto& packets : waiting_) packets.clear();
  silenced_.clear();
  handles_.clear();
}

void FatTreeCarrier::strike(const route::Health& alive) {
  for (uint32_t host = 0; host < nodes(); ++host) {
    if (alive.alive(leaf_of(host))) continue;
    for (const Packet& packet : fabric_.waiting_in(host))  // goes without a word
      if (const auto found = handles_.extract({host, packet.sent}); !found.empty())
        silenced_.push_back(found.mapped());
  }
  fabric_.strike(alive);
  manager_.fault();
}

}  // namespace weft::switchfabric

// SPDX-License-Identifier: Apache-2.0
// A two-dimensional fat tree as what carries the packets of a fabric::Network, with faults that strike and a
// subnet manager that hears of them: so that whole engines talk over it. A packet takes a slot and a clock of
// a link, whatever its length.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "fabric/carrier.hpp"
#include "switchfabric/manager.hpp"

namespace weft::switchfabric {

class FatTreeCarrier : public fabric::Carrier {
 public:
  /// @param alive at the start; node i is host i
  FatTreeCarrier(const route::Health& alive, const route::Options& options, const Config& config,
                 const ManagerConfig& manager);

  uint32_t nodes() const override { return static_cast<uint32_t>(waiting_.size()); }
  void send(uint32_t from, uint32_t to, uint32_t handle) override { waiting_[from].emplace_back(to, handle); }
  void step() override;
  const std::vector<Arrival>& arrived() const override { return arrived_; }
  const std::vector<uint32_t>& lost() const override { return lost_; }
  void flush() override;

  /// Before the next clock, as SwitchFabric::strike; the manager hears of it. What a host of a dead leaf
  /// sends is lost.
  void strike(const route::Health& alive);
  const SubnetManager& manager() const { return manager_; }
  /// Of packets that arrived: through more switches than a shortest way has.
  uint64_t detoured() const { return detoured_; }

 private:
  using Name = std::pair<uint32_t, uint64_t>;  // host and clock in which it sent

  route::Leaf leaf_of(uint32_t host) const { return grid_.leaf(host / grid_.hosts); }
  void inject(uint32_t host);
  bool detoured(const Delivered& delivered) const;

  route::Grid grid_;
  route::Tables tables_;
  SwitchFabric fabric_;
  SubnetManager manager_;
  std::vector<std::deque<std::pair<uint32_t, uint32_t>>> waiting_;  // by host: to, handle
  std::map<Name, uint32_t> handles_;                                // of those in the fabric
  std::vector<Arrival> arrived_;
  std::vector<uint32_t> lost_, silenced_;  // silenced: lost in hosts that died, told in the next clock
  uint64_t detoured_ = 0;
};

}  // namespace weft::switchfabric

// SPDX-License-Identifier: Apache-2.0
// Did packets of a fabric come to where they should, and by ways as short as promised?
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mcast/groups.hpp"
#include "mcast/hops.hpp"
#include "switch/fabric_run.hpp"
#include "switch/packets.hpp"
#include "switch/promise.hpp"
#include "switchtables/plan.hpp"

namespace weft::tb {

/// A fabric as it is at some time.
struct Site {
  switchtables::Fabric fabric;
  mcast::Hops hops;

  Site(switchtables::Fabric alive, uint32_t threads)
      : fabric(std::move(alive)), hops(fabric.graph(), threads) {}
};

/// Tables, and what they were made for.
struct Generation {
  std::shared_ptr<const Site> site;
  switchtables::Plan plan;

  const mcast::FabricTables::Use& use(uint32_t group) const { return plan.tables.groups[group]; }
  const mcast::Tree& tree(uint32_t group) const { return plan.trees[use(group).tree]; }
};

struct Sent {
  bool multicast = false, by_old_tree = false;
  uint32_t from = 0, to = 0;  // hosts; of multicast: to is the group
};

/// What tables are in use, and what follows from them. References to what the run keeps.
struct Wanted {
  const switchtables::Fabric& fabric;
  const mcast::Groups& groups;  ///< live members
  const Promise& promise;
  const Generation& fresh;
  const Generation* old;  ///< while its trees are in use
  /// Of old trees in which something died, for each group: a number that members have in common who still
  /// hear each other. Empty: all do.
  const std::vector<std::vector<uint32_t>>& parts;
  bool merged;  ///< hosts of groups that share a tree may get what is sent to any of them
};

class Judge {
 public:
  /// @param findings gets the first things that are wrong
  explicit Judge(std::vector<std::string>& findings) : findings_(findings) {}

  /// @param sent by tag; counts go to `pass`
  void judge(const Wanted& wanted, const std::vector<Sent>& sent, const Packets& packets, FabricPass& pass);
  void say(const std::string& finding);

 private:
  void judge_loss(const Wanted& wanted, const Sent& sent, const Loss& loss, FabricPass& pass);
  bool copies_are_right(const Wanted& wanted, const Sent& sent, std::span<const Arrival> arrivals,
                        FabricPass& pass);
  bool foreign_is_right(const Wanted& wanted, const Sent& sent, uint32_t host, FabricPass& pass);
  bool packet_is_right(const Wanted& wanted, const Sent& sent, bool excused,
                       std::span<const Arrival> arrivals, FabricPass& pass);

  std::vector<std::string>& findings_;
  std::vector<uint8_t> excused_, failed_;  // of packets that were sent
  std::vector<uint32_t> copies_;           // at each member
};

}  // namespace weft::tb

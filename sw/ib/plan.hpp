// SPDX-License-Identifier: Apache-2.0
// What has to change in the switches so that they hold given multicast tables.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "ib/switches.hpp"
#include "mcast/forwarding_tables.hpp"

namespace weft::ib {

struct BlockChange {
  BlockPlace place;
  Block from{}, to{};

  bool operator==(const BlockChange&) const = default;
};

/// Last MLID that a switch forwards.
struct TopChange {
  uint16_t from = 0, to = 0;

  bool operator==(const TopChange&) const = default;
};

struct SwitchChange {
  uint64_t guid = 0;
  std::optional<TopChange> top;
  std::vector<BlockChange> blocks;  ///< by place

  bool operator==(const SwitchChange&) const = default;
};

/// By GUID; switches in which nothing changes are left out.
using Plan = std::vector<SwitchChange>;

/// Tables that these switches cannot hold, or a journal that does not fit them; what() is one line.
class Misfit : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Is told how many of all switches are done.
using Done = std::function<void(std::size_t, std::size_t)>;

/// Reads what the switches hold and compares. MLIDs that stand somewhere in `tables` get, in every switch,
/// what stands there, or nothing; all others stay as they are. Throws Misfit, Unanswered.
/// @param clear_others these MLIDs get nothing, too
Plan make_plan(Switches& switches, const mcast::ForwardingTables& tables, bool clear_others,
               const Done& done = {});

/// Where a plan that was made before shall lead.
enum class Direction { forward, back };

/// What remains of a plan that was carried out in part, or what undoes it. Throws Misfit if a switch is gone
/// or holds what the plan cannot have left; Unanswered.
Plan make_plan(Switches& switches, const Plan& before, Direction direction, const Done& done = {});

/// All entries of a block that change, for people: "  0xC001 : -0x004 +0x005".
std::vector<std::string> describe(const BlockChange& change);

}  // namespace weft::ib

// SPDX-License-Identifier: Apache-2.0
// What has to change in the switches.
#include "ib/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace weft::ib {

using mcast::first_mlid;
using mcast::PortMask;

namespace {

/// MLIDs that a plan may change, by their distance from the first.
using Owned = std::set<uint32_t>;

Owned named_in(const mcast::ForwardingTables& tables) {
  Owned owned;
  for (const auto& [guid, entries] : tables)
    for (const auto& [mlid, mask] : entries) owned.insert(mlid - first_mlid);
  return owned;
}

void check_fits(const Switch& sw, const mcast::Entries& entries) {
  for (const auto& [mlid, mask] : entries) {
    if (mlid - first_mlid >= sw.capacity)
      throw Misfit(fmt::format("switch {:#018x}: MLID 0x{:04X} is out of its range: it has {} from 0xC000 on",
                               sw.guid, mlid, sw.capacity));
    if (mask.highest() > sw.ports)
      throw Misfit(fmt::format("switch {:#018x}: MLID 0x{:04X} has port {}, of {}", sw.guid, mlid,
                               mask.highest(), sw.ports));
  }
}

std::size_t find(const Switches& switches, uint64_t guid) {
  const auto& all = switches.all();
  const auto at = std::lower_bound(all.begin(), all.end(), guid,
                                   [](const Switch& sw, uint64_t wanted) { return sw.guid < wanted; });
  if (at == all.end() || at->guid != guid)
    throw Misfit(fmt::format("switch {:#018x} is not in this subnet", guid));
  return static_cast<std::size_t>(at - all.begin());
}

uint32_t parts_of(const Switch& sw) { return sw.ports / PortMask::part_ports + 1; }

/// Plans one switch.
class Planner {
 public:
  Planner(Switches& switches, std::size_t index, const mcast::Entries& wanted, const Owned& named)
      : switches_(switches), index_(index), sw_(switches.all()[index]), wanted_(wanted), named_(named) {}

  SwitchChange plan(bool clear_others) {
    change_.guid = sw_.guid;
    plan_top();
    owns_all_from_ = clear_others ? 0 : dark_from_;
    const uint32_t lit_to = change_.top ? change_.top->to - first_mlid + 1 : 0;
    const uint32_t end = clear_others ? sw_.capacity : std::min(lit_to, sw_.capacity);
    std::set<uint32_t> blocks;
    for (const uint32_t mlid : named_)
      if (mlid < sw_.capacity) blocks.insert(mlid / block_mlids);
    for (uint32_t mlid = owns_all_from_; mlid < end; mlid += 1) blocks.insert(mlid / block_mlids);
    for (const uint32_t block : blocks)
      for (uint32_t position = 0; position < parts_of(sw_); ++position) plan_block({block, position});
    return std::move(change_);
  }

 private:
  /// A switch that does not forward all of its MLIDs must, up to the last one in use. What stands above its
  /// old end would come to light, so all of that is owned.
  void plan_top() {
    dark_from_ = sw_.capacity;
    if (!sw_.has_top || sw_.top == 0 || wanted_.empty()) return;
    const uint32_t last = wanted_.rbegin()->first - first_mlid;
    const auto needed = static_cast<uint16_t>(
        std::min(first_mlid + (last / block_mlids + 1) * block_mlids - 1, first_mlid + sw_.capacity - 1));
    if (needed <= sw_.top) return;
    change_.top = TopChange{sw_.top, needed};
    dark_from_ = sw_.top < first_mlid ? 0 : sw_.top - first_mlid + 1;
  }

  void plan_block(BlockPlace place) {
    BlockChange change{place, switches_.read(index_, place), {}};
    for (uint32_t i = 0; i < block_mlids; ++i) {
      const uint32_t mlid = place.number * block_mlids + i;
      const bool owned = mlid >= owns_all_from_ || named_.contains(mlid);
      change.to[i] = owned ? wanted_part(mlid, place.position) : change.from[i];
    }
    if (change.from != change.to) change_.blocks.push_back(change);
  }

  uint16_t wanted_part(uint32_t mlid, uint32_t position) const {
    const auto entry = wanted_.find(static_cast<uint16_t>(first_mlid + mlid));
    return entry == wanted_.end() ? 0 : entry->second.part(position);
  }

  Switches& switches_;
  std::size_t index_;
  const Switch& sw_;
  const mcast::Entries& wanted_;
  const Owned& named_;
  SwitchChange change_;
  uint32_t dark_from_ = 0, owns_all_from_ = 0;
};

bool may_be_left(const Block& now, const BlockChange& change) {
  Block between{};
  for (uint32_t i = 0; i < block_mlids; ++i) between[i] = change.from[i] & change.to[i];
  return now == change.from || now == change.to || now == between;
}

[[noreturn]] void was_changed(const SwitchChange& change, const std::string& what) {
  throw Misfit(
      fmt::format("switch {:#018x}: {} is neither as before nor as after the push: somebody else has "
                  "changed it",
                  change.guid, what));
}

SwitchChange towards(Switches& switches, std::size_t index, const SwitchChange& before, Direction direction) {
  const bool back = direction == Direction::back;
  SwitchChange change;
  change.guid = before.guid;
  if (before.top) {
    const uint16_t now = switches.read_top(index), to = back ? before.top->from : before.top->to;
    if (now != before.top->from && now != before.top->to) was_changed(before, "the last MLID");
    if (now != to) change.top = TopChange{now, to};
  }
  for (const BlockChange& block : before.blocks) {
    const Block now = switches.read(index, block.place), &to = back ? block.from : block.to;
    if (!may_be_left(now, block))
      was_changed(before, fmt::format("block {} position {}", block.place.number, block.place.position));
    if (now != to) change.blocks.push_back({block.place, now, to});
  }
  return change;
}

void add(Plan& plan, SwitchChange change) {
  if (change.top || !change.blocks.empty()) plan.push_back(std::move(change));
}

}  // namespace

Plan make_plan(Switches& switches, const mcast::ForwardingTables& tables, bool clear_others,
               const Done& done) {
  const auto& all = switches.all();
  for (const auto& [guid, entries] : tables) check_fits(all[find(switches, guid)], entries);
  const Owned owned = named_in(tables);
  Plan plan;
  for (std::size_t index = 0; index < all.size(); ++index) {
    const auto entries = tables.find(all[index].guid);
    const mcast::Entries nothing;
    const mcast::Entries& wanted = entries == tables.end() ? nothing : entries->second;
    add(plan, Planner(switches, index, wanted, owned).plan(clear_others));
    if (done) done(index + 1, all.size());
  }
  return plan;
}

Plan make_plan(Switches& switches, const Plan& before, Direction direction, const Done& done) {
  Plan plan;
  for (std::size_t i = 0; i < before.size(); ++i) {
    add(plan, towards(switches, find(switches, before[i].guid), before[i], direction));
    if (done) done(i + 1, before.size());
  }
  return plan;
}

std::vector<std::string> describe(const BlockChange& change) {
  std::vector<std::string> lines;
  for (uint32_t i = 0; i < block_mlids; ++i) {
    if (change.from[i] == change.to[i]) continue;
    std::string line = fmt::format("  0x{:04X} :", first_mlid + change.place.number * block_mlids + i);
    for (uint32_t bit = 0; bit < PortMask::part_ports; ++bit) {
      const bool before = (change.from[i] >> bit & 1) != 0, after = (change.to[i] >> bit & 1) != 0;
      const uint32_t port = change.place.position * PortMask::part_ports + bit;
      if (before != after) line += fmt::format(" {}0x{:03X}", after ? '+' : '-', port);
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace weft::ib

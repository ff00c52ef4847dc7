// SPDX-License-Identifier: Apache-2.0
// Questions to the switch lookup block.
#include "route/rules.hpp"

#include <algorithm>

namespace weft::route {

namespace {

using switch_lookup::Fetched;
using switch_lookup::port_bit;
using switch_lookup::Ports;
using switch_lookup::Result;
using switch_lookup::Sizes;
using switch_lookup::formats::Kind;
using switch_lookup::formats::Role;

// A leaf's ports as these questions number them: where they are in a switch does not matter to the rules.
constexpr uint8_t host_port = 1, row_port = 2, column_port = 3;
constexpr uint8_t highest_vc = 3;  // of the block's two bits

Fetched question(uint8_t in_port, uint8_t vc, Leaf to, Role role) {
  Fetched fetched;
  fetched.loaded = true;
  fetched.request.kind = static_cast<uint8_t>(Kind::unicast);
  fetched.request.vc = vc;
  fetched.request.in_port = in_port;
  fetched.request.row = static_cast<uint16_t>(to.y);
  fetched.request.column = static_cast<uint16_t>(to.x);
  fetched.request.host = host_port;
  fetched.head.role = static_cast<uint8_t>(role);
  return fetched;
}

/// The result with all ports that can be drawn. Only a backup is drawn, the lowest for the least number.
Result all_results(const Fetched& fetched, const Sizes& sizes, Ports alive) {
  Result all = decide(fetched, sizes, alive, 0);
  const Ports last = decide(fetched, sizes, alive, ~uint32_t{0}).ports;
  if (last == all.ports) return all;
  for (uint32_t sixty_fourth = 1; sixty_fourth < 64; ++sixty_fourth)
    all.ports |= decide(fetched, sizes, alive, sixty_fourth << 26).ports;
  return all;
}

Decision dropped(Outcome why) {
  Decision decision;
  decision.outcome = why;
  return decision;
}

}  // namespace

std::optional<switch_lookup::Slot> slot_of(const RootEntry& entry) {
  if (entry.primary == RootEntry::none) return std::nullopt;
  return switch_lookup::Slot{true, false, static_cast<uint8_t>(entry.primary + 1), entry.backups.to_ullong()};
}

std::optional<switch_lookup::Slot> slot_of(First first, uint8_t row_port, uint8_t column_port) {
  if (first == First::none) return std::nullopt;
  return switch_lookup::Slot{true, false, first == First::row ? row_port : column_port, 0};
}

Decision leaf_rule(const LeafView& view, From from, uint8_t vc, Leaf to, First first) {
  const bool as_built = view.rules == RuleSet::vtftr;
  const uint8_t last_vc = view.channels - 1;
  const uint8_t in_port = !from ? host_port : *from == Dimension::row ? row_port : column_port;
  // As printed there is no drop: packets stay on the last channel.
  const bool turns = in_port == column_port && !as_built;
  Fetched fetched = question(in_port, turns ? std::min<uint8_t>(vc, highest_vc - 1) : vc, to, Role::leaf);
  fetched.head.row = static_cast<uint16_t>(view.self.y);
  fetched.head.column = static_cast<uint16_t>(view.self.x);
  fetched.head.row_port = row_port;
  fetched.head.column_port = column_port;
  fetched.head.vc_max = as_built ? last_vc : highest_vc;
  fetched.slot = slot_of(first, row_port, column_port);
  const Ports alive = port_bit(host_port) | (view.row_alive ? port_bit(row_port) : 0) |
                      (view.column_alive ? port_bit(column_port) : 0);
  const Result result = decide(fetched, {3, 0, 0, false}, alive, 0);
  Decision decision;
  decision.outcome = result.outcome;
  decision.vc = std::min(result.vc, last_vc);
  decision.deliver = result.ports == port_bit(host_port);
  if (result.ports == port_bit(row_port)) decision.up = Dimension::row;
  if (result.ports == port_bit(column_port)) decision.up = Dimension::column;
  return decision;
}

Decision root_rule(const RootView& view, uint32_t input, uint8_t vc, Leaf to, const RootEntry& entry) {
  const bool row = view.dimension == Dimension::row || view.rules == RuleSet::literal;
  Fetched fetched = question(static_cast<uint8_t>(input + 1), vc, to, row ? Role::row : Role::column);
  const bool placed = view.rules != RuleSet::literal && !view.in_tree;
  const auto place = placed ? static_cast<uint16_t>(view.line) : nowhere;
  (row ? fetched.head.row : fetched.head.column) = place;
  fetched.slot = slot_of(entry);
  const Result result = all_results(fetched, {most_ports, 0, 0, false}, view.alive.to_ullong());
  return {PortSet(result.ports), std::nullopt, false, result.vc, result.outcome};
}

Decision detour_rule(const RootView& view, uint32_t input, uint8_t vc, Leaf to, const PortSet& backups,
                     bool direct) {
  const uint32_t port = to.port(view.dimension);
  Decision decision;
  decision.vc = vc;
  if (view.alive[port] && direct) {
    decision.ports.set(port);
    return decision;
  }
  if (to.line(view.dimension) == view.line) return dropped(Outcome::dead);
  for (uint32_t i = 1; i < most_ports && decision.ports.none(); ++i) {
    const uint32_t next = (port + i) % most_ports;
    decision.ports[next] = backups[next] && view.alive[next] && next != input;
  }
  return decision.ports.any() ? decision : dropped(Outcome::no_backup);
}

}  // namespace weft::route

// SPDX-License-Identifier: Apache-2.0
// Rules of the switch lookup block.
#include "switch/lookup.hpp"

#include <bit>

namespace weft::switch_lookup {
namespace {

using formats::Kind;
using formats::Outcome;
using formats::Role;

Result drop(Outcome why) { return {why, 0, 0}; }

bool is_alive(Ports alive, uint32_t port, const Sizes& sizes) {
  return port >= 1 && port <= sizes.ports && (alive & port_bit(port)) != 0;
}

Result to_port(uint32_t port, uint8_t vc, Ports alive, const Sizes& sizes) {
  return is_alive(alive, port, sizes) ? Result{Outcome::forward, port_bit(port), vc} : drop(Outcome::dead);
}

/// The bit number `rank` of those set, from the lowest.
Ports nth(Ports ports, uint32_t rank) {
  for (; rank > 0; --rank) ports &= ports - 1;
  return ports & (~ports + 1);
}

Result backup(Ports candidates, uint8_t vc, uint32_t number) {
  const auto count = static_cast<uint32_t>(std::popcount(candidates));
  if (count == 0) return drop(Outcome::no_backup);
  return {Outcome::forward, nth(candidates, BackupDice::below(number, count)), vc};
}

/// By the entry: primary port if alive, else one of the live backups, but not back to where it came from.
Result by_entry(const Fetched& fetched, const Sizes& sizes, Ports alive, uint32_t number, bool ends_here) {
  if (!fetched.slot) return drop(Outcome::no_entry);
  const Slot& slot = *fetched.slot;
  if (slot.corrupt) return drop(Outcome::table_error);
  if (!slot.valid) return drop(Outcome::no_entry);
  const uint8_t vc = fetched.request.vc;
  if (is_alive(alive, slot.primary, sizes)) return {Outcome::forward, port_bit(slot.primary), vc};
  if (ends_here) return drop(Outcome::dead);
  return backup(slot.ports & alive & ~port_bit(fetched.request.in_port), vc, number);
}

Result at_leaf(const Fetched& fetched, const Sizes& sizes, Ports alive, uint32_t number) {
  const auto& [request, loaded, head, slot] = fetched;
  if (request.row == head.row && request.column == head.column)
    return to_port(request.host, request.vc, alive, sizes);
  if (request.in_port == head.row_port) return to_port(head.column_port, request.vc, alive, sizes);
  if (request.in_port == head.column_port) {
    if (request.vc >= head.vc_max) return drop(Outcome::second_turn);
    return to_port(head.row_port, static_cast<uint8_t>(request.vc + 1), alive, sizes);
  }
  return by_entry(fetched, sizes, alive, number, false);
}

Result unicast(const Fetched& fetched, const Sizes& sizes, Ports alive, uint32_t number) {
  const auto& [request, loaded, head, slot] = fetched;
  switch (static_cast<Role>(head.role)) {
    case Role::leaf:
      return at_leaf(fetched, sizes, alive, number);
    case Role::row:
      return by_entry(fetched, sizes, alive, number, request.row == head.row);
    case Role::column:
      return by_entry(fetched, sizes, alive, number, request.column == head.column);
    case Role::plain:
      break;
  }
  return by_entry(fetched, sizes, alive, number, false);
}

Result multicast(const Fetched& fetched, Ports alive) {
  if (!fetched.slot) return drop(Outcome::no_entry);
  if (fetched.slot->corrupt) return drop(Outcome::table_error);
  if (!fetched.slot->valid) return drop(Outcome::no_entry);
  const Ports ports = fetched.slot->ports & alive & ~port_bit(fetched.request.in_port);
  if (ports == 0) return drop(Outcome::no_member);
  return {Outcome::forward, ports, fetched.request.vc};
}

}  // namespace

uint32_t BackupDice::next() {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 17;
  state_ ^= state_ << 5;
  return state_;
}

Tables::Tables(const Sizes& sizes, const Image& image)
    : sizes_(sizes),
      head_(image.head),
      multicast_(std::size_t{sizes.colours} * (sizes.per_port ? sizes.ports : 1)),
      unicast_(sizes.unicast_entries) {
  for (const formats::Entry& entry : image.multicast)
    multicast_[std::size_t{entry.index >> 16} * sizes.colours + (entry.index & 0xffff)] = {true, false, 0,
                                                                                           entry.ports};
  for (const formats::Entry& entry : image.unicast)
    unicast_[entry.index] = {true, false, entry.primary, entry.ports};
}

std::optional<uint32_t> Tables::place_of(const formats::Request& request) const {
  if (request.kind == static_cast<uint8_t>(Kind::multicast)) {
    if (request.index >= sizes_.colours) return std::nullopt;
    return (sizes_.per_port ? (request.in_port - 1u) * sizes_.colours : 0) + request.index;
  }
  const auto role = static_cast<Role>(head_.role);
  const uint32_t both = uint32_t{request.row} << head_.column_bits | request.column;
  const bool fits = request.column >> head_.column_bits == 0;  // otherwise it would run into the row
  uint32_t place = request.index;
  if (role == Role::leaf || (role != Role::plain && head_.fine)) {
    if (!fits) return std::nullopt;
    place = both;
  } else if (role == Role::row) {
    place = request.column;
  } else if (role == Role::column) {
    place = request.row;
  }
  if (place >= sizes_.unicast_entries) return std::nullopt;
  return place;
}

Result decide(const Fetched& fetched, const Sizes& sizes, Ports alive, uint32_t number) {
  const formats::Request& request = fetched.request;
  const bool is_multicast = request.kind == static_cast<uint8_t>(Kind::multicast);
  if (!fetched.loaded) return drop(Outcome::no_table);
  if (request.kind > static_cast<uint8_t>(Kind::multicast) || request.in_port < 1 ||
      request.in_port > sizes.ports)
    return drop(Outcome::bad_request);
  alive &= all_ports(sizes.ports);
  return is_multicast ? multicast(fetched, alive) : unicast(fetched, sizes, alive, number);
}

Fetched Lookup::fetch(const formats::Request& request) const {
  Fetched fetched{request, tables_.has_value(), {}, {}};
  if (!tables_) return fetched;
  fetched.head = tables_->head();
  const bool known = request.kind <= static_cast<uint8_t>(Kind::multicast) && request.in_port >= 1 &&
                     request.in_port <= sizes_.ports;
  const bool is_multicast = request.kind == static_cast<uint8_t>(Kind::multicast);
  if (const auto place = known ? tables_->place_of(request) : std::nullopt)
    fetched.slot = tables_->slot(is_multicast, *place);
  return fetched;
}

}  // namespace weft::switch_lookup

// SPDX-License-Identifier: Apache-2.0
// One clock of a router.
#include "fabric/router.hpp"

#include <cstring>

namespace weft::fabric {

namespace {

uint64_t as_word(const std::array<uint8_t, 8>& bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}

constexpr uint64_t first_link_stream = 1ull << 34;

constexpr uint8_t behind(uint32_t number, uint32_t count) {
  return static_cast<uint8_t>(number + 1 == count ? 0 : number + 1);
}

}  // namespace

Router::Router(uint32_t node, const Routing& routing, uint32_t channels, uint32_t buffer_flits,
               uint32_t longest_link, uint32_t entry_patience, uint64_t seed)
    : routing_(routing),
      node_(node),
      buffer_flits_(buffer_flits),
      entry_patience_(entry_patience),
      calendar_(switch_clocks + longest_link),
      flits_(size_t{lane_count} * buffer_flits),
      random_(seed, node) {
  for (uint32_t port = 0; port < port_count; ++port) {
    link_random_.emplace_back(seed, first_link_stream + uint64_t{node} * port_count + port);
    for (uint32_t channel = 0; channel < channels; ++channel) {
      free_ |= only(lane(port, channel));
      credits_[lane(port, channel)] = static_cast<uint8_t>(buffer_flits);
    }
  }
  has_credit_ = free_;
}

void Router::set_loss(uint32_t port, double loss) {
  loss_[port] = loss;
  note_faults(port);
}

void Router::set_cut(uint32_t port, bool cut) {
  cut_[port] = cut;
  note_faults(port);
}

void Router::note_faults(uint32_t port) {
  const Lanes lanes = lanes_of(port);
  faulty_ = cut_[port] || loss_[port] > 0 ? faulty_ | lanes : faulty_ & ~lanes;
  cut_lanes_ = cut_[port] ? cut_lanes_ | lanes : cut_lanes_ & ~lanes;
}

void Router::step(uint64_t now) {
  lost_.clear();
  Slot& slot = calendar_.at(now);
  const uint64_t comes = as_word(slot.came) | as_word(slot.credits);
  if ((comes | to_route_ | waiting_ | ready_) == 0) return;
  if (comes != 0) take(slot);
  const Lanes ready =
      ready_ & ~waiting_;  // those who get a virtual channel now try for the switch in the next clock
  if (waiting_ != 0) allocate_channels();
  if (to_route_ != 0) route();
  if (ready != 0) allocate_switch(ready, now);
}

void Router::take(Slot& slot) {
  for (uint32_t port = 0; port < port_count; ++port) {
    if (slot.credits[port] != 0) take_credits(port, slot.credits[port]);
    if (slot.came[port] != 0) take_flit(port, slot.flits[port]);
  }
  slot.credits = {};
  slot.came = {};
}

void Router::take_credits(uint32_t port, uint8_t channels) {
  uint64_t left = channels;
  while (left != 0) {
    const uint32_t out = lane(port, take_first(left));
    credits_[out]++;
    has_credit_ |= only(out);
  }
}

void Router::take_flit(uint32_t port, const Flit& flit) {
  const uint32_t in = lane(port, flit.channel);
  Buffer& buffer = buffers_[in];
  uint32_t place = buffer.first + buffer.count;
  if (place >= buffer_flits_) place -= buffer_flits_;
  flits_[in * buffer_flits_ + place] = flit;
  if (buffer.count++ != 0) return;
  if ((active_ & only(in)) != 0) {
    ready_ |= only(in);
  } else {
    to_route_ |= only(in);
  }
}

void Router::route() {
  while (to_route_ != 0) {
    const uint32_t in = take_first(to_route_);
    may_take_[in] = routing_.next(node_, in, front(in).to, random_);
    if (port_of(in) == local_port) refused_[channel_of(in)] = 0;
    waiting_ |= only(in);
  }
}

/// Places that this packet takes in a buffer, all of them if its length is not told.
uint32_t Router::places_of(const Flit& head) const {
  return head.flits < most_told_flits ? std::min<uint32_t>(head.flits, buffer_flits_) : buffer_flits_;
}

/// Of these, those whose buffer behind the link has at least so many places free.
Lanes Router::with_room(Lanes lanes, uint32_t least) const {
  Lanes room = 0;
  while (lanes != 0) {
    const uint32_t out = take_first(lanes);
    if (credits_[out] >= least) room |= only(out);
  }
  return room;
}

/// Each port on the ways has a free channel whose buffer behind the link has so many places free, or all
/// channels of one port have.
bool Router::are_quiet(Lanes ways, uint32_t least) const {
  const Lanes quiet = with_room(ways & free_, least);
  bool each = true;
  for (uint32_t port = 0; port < port_count; ++port) {
    const Lanes way = ways & lanes_of(port);
    if (way == 0) continue;
    if ((way & ~quiet) == 0) return true;
    each = each && (way & quiet) != 0;
  }
  return each;
}

/// Refuses a node's packet while its ways are not quiet, for so many clocks at most.
bool Router::keeps_out(uint32_t in) {
  uint32_t& refused = refused_[channel_of(in)];
  const uint32_t least = std::min(places_of(front(in)), (buffer_flits_ + 1) / 2);
  if (refused == entry_patience_ || are_quiet(may_take_[in] & ~cut_lanes_, least)) return false;
  ++refused;
  return true;
}

/// Output lanes that this packet asks for: an adaptive one those of the port with most credits.
Lanes Router::wanted(uint32_t in) {
  const Lanes lanes = may_take_[in] & free_;
  if (!routing_.adaptive() || (may_take_[in] & lanes_of(local_port)) != 0) return lanes;
  if (port_of(in) == local_port && keeps_out(in)) return 0;
  const Lanes escapes = lanes & routing_.escapes();
  const Lanes others = with_room(lanes & ~escapes & ~cut_lanes_, places_of(front(in)));
  if (others == 0) return (escapes & ~cut_lanes_) != 0 ? escapes & ~cut_lanes_ : lanes & cut_lanes_;
  std::array<uint32_t, port_count> credits{};
  Lanes left = others;
  while (left != 0) {
    const uint32_t out = take_first(left);
    credits[port_of(out)] += 1 + credits_[out];
  }
  uint32_t best = 0;
  for (uint32_t port = 1; port < port_count; ++port) {
    if (credits[port] > credits[best]) best = port;
  }
  return others & lanes_of(best);
}

void Router::allocate_channels() {
  std::array<Lanes, lane_count> requests;  // by output lane; those not in `asked` mean nothing
  std::array<Lanes, lane_count> grants;    // by input lane; likewise `granted`
  Lanes asked = 0, granted = 0;
  Lanes left = waiting_;
  while (left != 0) {
    const uint32_t in = take_first(left);
    Lanes lanes = wanted(in);
    while (lanes != 0) {
      const uint32_t out = take_first(lanes);
      requests[out] = ((asked & only(out)) != 0 ? requests[out] : 0) | only(in);
      asked |= only(out);
    }
  }
  while (asked != 0) {
    const uint32_t out = take_first(asked);
    const uint32_t in = next_of(requests[out], first_of_output_lane_[out]);
    grants[in] = ((granted & only(in)) != 0 ? grants[in] : 0) | only(out);
    granted |= only(in);
  }
  while (granted != 0) {
    const uint32_t in = take_first(granted);
    const uint32_t out = next_of(grants[in], first_of_input_lane_[in]);
    first_of_output_lane_[out] = behind(in, lane_count);
    first_of_input_lane_[in] = behind(out, lane_count);
    buffers_[in].out = static_cast<uint8_t>(out);
    free_ &= ~only(out);
    waiting_ &= ~only(in);
    active_ |= only(in);
    ready_ |= only(in);
  }
}

void Router::allocate_switch(Lanes ready, uint64_t now) {
  std::array<uint8_t, port_count> requests{};                      // by output: inputs
  std::array<uint8_t, port_count> grants{};                        // by input: outputs
  std::array<std::array<uint8_t, port_count>, port_count> chosen;  // by input and output: channel
  for (uint32_t input = 0; input < port_count; ++input) {
    auto channels = static_cast<uint8_t>(ready >> lane(input, 0));
    uint32_t outputs = 0;
    while (channels != 0) {
      const uint32_t channel = next_of(channels, first_channel_[input]);
      channels &= static_cast<uint8_t>(~only(channel));
      const uint32_t out = buffers_[lane(input, channel)].out;
      if ((has_credit_ & only(out)) == 0) continue;
      const uint32_t output = port_of(out);
      if ((outputs & only(output)) != 0) continue;
      outputs |= static_cast<uint32_t>(only(output));
      chosen[input][output] = static_cast<uint8_t>(channel);
      requests[output] |= static_cast<uint8_t>(only(input));
    }
  }
  for (uint32_t output = 0; output < port_count; ++output) {
    if (requests[output] == 0) continue;
    grants[next_of(requests[output], first_of_output_[output])] |= static_cast<uint8_t>(only(output));
  }
  for (uint32_t input = 0; input < port_count; ++input) {
    if (grants[input] == 0) continue;
    const uint32_t output = next_of(grants[input], first_of_input_[input]);
    const uint32_t channel = chosen[input][output];
    first_of_output_[output] = behind(input, port_count);
    first_of_input_[input] = behind(output, port_count);
    first_channel_[input] = behind(channel, max_channels);
    pass(lane(input, channel), now);
  }
}

/// The flit in front gets the switch.
void Router::pass(uint32_t in, uint64_t now) {
  Buffer& buffer = buffers_[in];
  const Flit flit = front(in);
  buffer.first = static_cast<uint16_t>(buffer.first + 1u == buffer_flits_ ? 0 : buffer.first + 1);
  buffer.count--;
  const uint32_t out = buffer.out;
  const Far& before = far_[port_of(in)];
  deliver(out, flit, now);
  before.calendar->at(now + credit_clocks + before.clocks).credits[before.port] |=
      static_cast<uint8_t>(only(channel_of(in)));
  if (flit.tail) {
    free_ |= only(out);
    active_ &= ~only(in);
    ready_ &= ~only(in);
    if (buffer.count != 0) to_route_ |= only(in);
  } else if (buffer.count == 0) {
    ready_ &= ~only(in);
  }
}

void Router::deliver(uint32_t out, Flit flit, uint64_t now) {
  if (flit.head && (faulty_ & only(out)) != 0 && vanishes(port_of(out))) vanishing_ |= only(out);
  if ((vanishing_ & only(out)) != 0) {
    lost_flits_++;
    if (!flit.tail) return;
    vanishing_ &= ~only(out);
    lost_.push_back(flit);
    return;
  }
  const Far& next = far_[port_of(out)];
  flit.channel = channel_of(out) & (max_channels - 1);
  Slot& there = next.calendar->at(now + switch_clocks + next.clocks);
  there.flits[next.port] = flit;
  there.came[next.port] = 1;
  if (--credits_[out] == 0) has_credit_ &= ~only(out);
  if (port_of(out) != local_port) flit_hops_++;
}

}  // namespace weft::fabric

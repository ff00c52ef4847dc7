// SPDX-License-Identifier: Apache-2.0
// A turn of a switch: channels of outputs and the crossbar are given, packets pass.
#include <algorithm>

#include "switchfabric/switch_fabric.hpp"

namespace weft::switchfabric {

/// iSLIP over virtual channels of outputs: free ones grant, then those who asked for them accept.
void SwitchFabric::ask_for_lanes(Switch& sw) {
  const uint32_t first = sw.first * vcs_, count = sw.ports * vcs_;
  asked_lanes_.clear();
  for (const uint32_t number : sw.asking) {
    const Lane& lane = lanes_[number];
    if (lane.routed > turn_) continue;
    for (uint32_t vc = config_.any_channel ? 0 : lane.output_vc; vc < vcs_; ++vc) {
      const uint32_t output_lane = lane.output * vcs_ + vc;
      if (output_lanes_[output_lane].owner == nobody) {
        if (lane_grants_[output_lane].to == nobody) asked_lanes_.push_back(output_lane);
        const uint32_t mine = number - first, pointer = output_lanes_[output_lane].grant;
        lane_grants_[output_lane].offer(number, mine >= pointer ? mine - pointer : mine + count - pointer);
      }
      if (!config_.any_channel) break;
    }
  }
  taking_.clear();
  for (const uint32_t output_lane : asked_lanes_) {
    const uint32_t number = lane_grants_[output_lane].to;
    Lane& lane = lanes_[number];
    if (lane.output_lane == nobody) taking_.push_back(number);
    const auto behind_accept = [&](uint32_t lane_of_output) {
      const uint32_t vc = lane_of_output - lane.output * vcs_;
      return vc >= lane.accept ? vc - lane.accept : vc + vcs_ - lane.accept;
    };
    if (lane.output_lane == nobody || behind_accept(output_lane) < behind_accept(lane.output_lane))
      lane.output_lane = output_lane;
    lane_grants_[output_lane] = {};
  }
}

/// What `ask_for_lanes` found, once the crossbar has been matched without it.
void SwitchFabric::take_lanes(Switch& sw) {
  if (taking_.empty()) return;
  const uint32_t first = sw.first * vcs_, count = sw.ports * vcs_;
  for (const uint32_t number : taking_) {
    Lane& lane = lanes_[number];
    OutputLane& taken = output_lanes_[lane.output_lane];
    taken.owner = number;
    taken.grant = number - first + 1 < count ? number - first + 1 : 0;
    const uint32_t vc = lane.output_lane - lane.output * vcs_;
    lane.accept = static_cast<uint8_t>(vc + 1 < vcs_ ? vc + 1 : 0);
  }
  std::erase_if(sw.asking, [this](uint32_t number) { return lanes_[number].output_lane != nobody; });
  sw.holding.insert(sw.holding.end(), taking_.begin(), taking_.end());
}

/// iSLIP over the crossbar: outputs grant inputs, inputs accept.
void SwitchFabric::match_crossbar(const Switch& sw) {
  asked_ports_.clear();
  granted_inputs_.clear();
  crossing_.clear();
  const auto behind_pointer = [&sw](uint32_t port, uint32_t pointer) {
    return port >= pointer ? port - pointer : port + sw.ports - pointer;
  };
  const auto behind_port = [&sw](uint32_t port) { return port + 1 < sw.ports ? port + 1 : 0; };
  for (const uint32_t number : sw.holding) {
    const Lane& lane = lanes_[number];
    if (output_lanes_[lane.output_lane].credits == 0) continue;
    Grant& grant = port_grants_[lane.output];
    if (grant.to == nobody) asked_ports_.push_back(lane.output);
    // Channels of one input are told apart last, each in its turn.
    const uint32_t own = lane.vc, next = ports_[lane.input].next_vc,
                   vc = own >= next ? own - next : own + vcs_ - next;
    grant.offer(number, behind_pointer(lane.input - sw.first, ports_[lane.output].grant) * vcs_ + vc);
  }
  for (const uint32_t output : asked_ports_) {
    const uint32_t input = lanes_[port_grants_[output].to].input;
    if (accepts_[input].to == nobody) granted_inputs_.push_back(input);
    accepts_[input].offer(port_grants_[output].to, behind_pointer(output - sw.first, ports_[input].accept));
    port_grants_[output] = {};
  }
  for (const uint32_t input : granted_inputs_) {
    const uint32_t number = accepts_[input].to;
    const Lane& lane = lanes_[number];
    ports_[lane.output].grant = behind_port(input - sw.first);
    ports_[input].accept = behind_port(lane.output - sw.first);
    ports_[input].next_vc = lane.vc + 1U < vcs_ ? lane.vc + 1U : 0;
    crossing_.push_back(number);
    __builtin_prefetch(&slots_[lane.head]);  // for pass
    accepts_[input] = {};
  }
}

/// Through the crossbar in the next turn, which may be of the next clock; then to wait for the link.
void SwitchFabric::pass(Switch& sw, uint32_t number) {
  Lane& lane = lanes_[number];
  const uint32_t output_lane = lane.output_lane;
  Port& output = ports_[lane.output];
  const uint64_t leaves = std::max((turn_ + 1) / config_.speedup, output.link_free);
  output.link_free = leaves + 1;
  const Queued packet = slots_[lane.head];
  schedule(leaves - now_ + config_.switch_clocks - pipeline_clocks_,
           {packet.packet, output.next, static_cast<uint8_t>(output_lane - lane.output * vcs_),
            packet.switches, output_lane});
  --output_lanes_[output_lane].credits;
  output_lanes_[output_lane].owner = nobody;
  lane.output_lane = nobody;
  lane.routed = turn_ + 2;
  remove_first(sw, lane);
  if (lane.count > 0) sw.asking.push_back(number);
  return_credit(lane.feeder);
}

/// All that was free and asked for at its begin.
void SwitchFabric::turn(Switch& sw) {
  match_crossbar(sw);
  ask_for_lanes(sw);
  for (const uint32_t number : crossing_) {  // into the processor's cache: the lane's next first packet
    const Lane& lane = lanes_[number];
    if (lane.count > 1) __builtin_prefetch(&slots_[slots_[lane.head].behind]);
  }
  for (const uint32_t number : crossing_) pass(sw, number);
  if (!crossing_.empty())
    std::erase_if(sw.holding, [this](uint32_t number) { return lanes_[number].output_lane == nobody; });
  take_lanes(sw);
}

}  // namespace weft::switchfabric

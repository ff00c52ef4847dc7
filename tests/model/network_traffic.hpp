// SPDX-License-Identifier: Apache-2.0
// Numbered packets through the network model: sent one a cycle, collected until the network is empty.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "fabric/network.hpp"

namespace weft::fabric::test {

/// What a packet carries besides its filling: enough to judge it wherever it comes out.
struct Label {
  uint64_t number = 0;  ///< place among all packets sent, also the cycle in which it is sent
  uint64_t flow = 0;
  uint32_t from = 0;
  uint32_t to = 0;
  bool operator==(const Label&) const = default;
};

struct Arrival {
  uint64_t cycle;
  uint32_t node;
  Bytes packet;
  bool operator==(const Arrival&) const = default;

  /// Only for packets that no bit error can have hit.
  Label label() const {
    Label label;
    std::memcpy(&label, packet.data(), sizeof label);
    return label;
  }
};

inline constexpr uint64_t packet_bytes = 40;  // no power of two, longer than the label

inline Bytes to_packet(const Label& label) {
  Bytes packet(packet_bytes);
  RandomStream filling(label.number);  // two packets differ in more bits than corruption flips
  for (uint8_t& byte : packet) byte = static_cast<uint8_t>(filling.next());
  std::memcpy(packet.data(), &label, sizeof label);
  return packet;
}

/// `count` packets of one flow, from node 0 to node 1.
inline std::vector<Label> one_flow(uint64_t count) {
  std::vector<Label> labels(count);
  for (uint64_t i = 0; i < count; ++i) labels[i] = {i, 7, 0, 1};
  return labels;
}

/// `count` packets between all pairs of `nodes` nodes, also from a node to itself, in three flows a pair.
/// With more destinations than nodes, some go nowhere.
inline std::vector<Label> many_flows(uint64_t count, uint32_t nodes, uint32_t destinations) {
  std::vector<Label> labels(count);
  RandomStream random(count, nodes);
  for (uint64_t i = 0; i < count; ++i) {
    labels[i] = {i, random.below(3), static_cast<uint32_t>(random.below(nodes)),
                 static_cast<uint32_t>(random.below(destinations))};
  }
  return labels;
}

inline void collect(Network& network, uint32_t nodes, std::vector<Arrival>& arrivals) {
  network.tick();
  for (uint32_t node = 0; node < nodes; ++node) {
    while (auto packet = network.receive(node)) {
      arrivals.push_back({network.now(), node, std::move(*packet)});
    }
  }
}

/// No packet may stay longer than this after the last was sent.
inline uint64_t longest_stay(const Faults& faults) {
  return faults.hold_limit + faults.delay + faults.jitter + faults.duplicate_lag + 2ull;
}

/// Until nothing is under way. Fails if something stays for ever.
inline void drain(Network& network, uint32_t nodes, const Faults& faults, std::vector<Arrival>& arrivals) {
  const uint64_t limit = network.now() + longest_stay(faults);
  while (!network.empty() && network.now() < limit) collect(network, nodes, arrivals);
  EXPECT_TRUE(network.empty()) << "packets stay in the network";
}

/// Everything that arrives, in order of arrival.
inline std::vector<Arrival> run(const std::vector<Label>& labels, uint32_t nodes, const Faults& faults,
                                Network& network) {
  std::vector<Arrival> arrivals;
  for (const Label& label : labels) {
    network.send(label.from, label.to, label.flow, to_packet(label));
    collect(network, nodes, arrivals);
  }
  drain(network, nodes, faults, arrivals);
  return arrivals;
}

}  // namespace weft::fabric::test

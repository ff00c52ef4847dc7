// SPDX-License-Identifier: Apache-2.0
// Who sends which bytes to whom in a simulation.
#include "traffic_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "fabric/random.hpp"

namespace weft::sim {

namespace {

constexpr uint64_t destination_base = 0x10'0000'0000;  // beyond 32 bits, to use the upper halves of registers
constexpr uint64_t destination_end = uint64_t{1} << 47;
constexpr uint64_t target_stream = 1ull
                                   << 35;  // random streams of nodes; those of tops and RdmaNode are below

/// Piece of the bytes that one transfer carries.
struct Piece {
  uint64_t offset;
  uint32_t bytes;
};

std::vector<Piece> cut_bytes(uint64_t bytes, uint32_t transfers, uint32_t payload) {
  const uint64_t packets = (bytes + payload - 1) / payload;
  const uint64_t packets_each = (packets + transfers - 1) / transfers;
  const uint64_t piece = std::max<uint64_t>(1, packets_each) * payload;
  if (piece > std::numeric_limits<uint32_t>::max()) {
    throw BadInput("a transfer cannot carry 4 GiB or more: use more --transfers");
  }
  std::vector<Piece> pieces;
  for (uint64_t offset = 0; offset < bytes; offset += piece) {
    pieces.push_back({offset, static_cast<uint32_t>(std::min(piece, bytes - offset))});
  }
  return pieces;
}

uint32_t target_of(Pattern pattern, uint32_t node, uint32_t nodes, RandomStream& random) {
  switch (pattern) {
    case Pattern::incast:
      return 0;
    case Pattern::uniform:
      return (node + 1 + static_cast<uint32_t>(random.below(nodes - 1))) % nodes;
    default:
      return (node + 1) % nodes;
  }
}

}  // namespace

uint64_t TrafficPlan::transfers() const {
  uint64_t all = 0;
  for (const auto& each : nodes) all += each.size();
  return all;
}

uint64_t TrafficPlan::bytes() const {
  uint64_t all = 0;
  for (const auto& node : nodes) {
    for (const PlannedTransfer& each : node) all += each.bytes;
  }
  return all;
}

const char* pattern_name(Pattern pattern) {
  constexpr const char* names[] = {"neighbour", "incast", "uniform"};
  return names[static_cast<size_t>(pattern)];
}

TrafficPlan plan_traffic(const RunConfig& config, uint64_t bytes, uint32_t payload) {
  const std::vector<Piece> pieces = cut_bytes(bytes, config.transfers, payload);
  if (pieces.size() > 65536) throw BadInput("more than 65536 transfers a node");
  if (config.pattern != Pattern::neighbour && config.nodes < 2) {
    throw BadInput(fmt::format("--pattern {}: needs two nodes or more", pattern_name(config.pattern)));
  }
  const uint64_t stride = std::max<uint64_t>(1, (bytes + payload - 1) / payload) * payload;
  const bool one_source = config.pattern == Pattern::neighbour;
  TrafficPlan plan;
  plan.destination_base = destination_base;
  plan.destination_bytes = one_source ? stride : stride * config.nodes;
  if (bytes > destination_base - source_base || plan.destination_bytes > destination_end - destination_base) {
    throw BadInput("too many bytes");
  }
  plan.nodes.resize(config.nodes);
  std::vector<uint64_t> received(config.nodes);
  for (uint32_t node = 0; node < config.nodes; ++node) {
    if (config.pattern == Pattern::incast && node == 0) continue;
    RandomStream random(config.seed, target_stream + node);
    const uint64_t place = destination_base + (one_source ? 0 : node * stride);
    for (const Piece& piece : pieces) {
      const uint32_t to = target_of(config.pattern, node, config.nodes, random);
      plan.nodes[node].push_back(
          {to, piece.offset, source_base + piece.offset, place + piece.offset, piece.bytes});
      received[to] += piece.bytes;
    }
  }
  plan.most_received = *std::ranges::max_element(received);
  return plan;
}

}  // namespace weft::sim

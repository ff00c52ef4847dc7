// SPDX-License-Identifier: Apache-2.0
// Transfers drawn from a seed, for tests of the whole engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine_bench.hpp"
#include "fabric/random.hpp"

namespace weft::tb {

/// Draws a configuration from a seed.
class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed, 99) {}
  uint64_t below(uint64_t bound) { return random_.below(bound); }
  double sometimes(double most) {
    return random_.chance(0.5) ? 0 : most * static_cast<double>(below(1000)) / 1000;
  }

 private:
  RandomStream random_;
};

inline std::vector<uint8_t> random_bytes(Draw& draw, uint64_t count) {
  std::vector<uint8_t> bytes(count);
  for (auto& byte : bytes) byte = static_cast<uint8_t>(draw.below(256));
  return bytes;
}

/// Transfers of random lengths from every node to random nodes, each to a place of its own.
class RandomTraffic {
 public:
  /// @param rkey of the region on every node
  /// @param least bytes of a transfer, if all shall be long; at most a slot
  RandomTraffic(EngineBench& bench, Draw& draw, uint32_t transfers_per_node, uint32_t rkey = 0,
                uint64_t least = 1)
      : bench_(bench), rkey_(rkey) {
    constexpr uint64_t slot = 16384;
    for (uint32_t node = 0; node < bench.system.size(); ++node) {
      for (uint32_t tag = 0; tag < transfers_per_node; ++tag) {
        const auto target = static_cast<uint32_t>(draw.below(bench.system.size()));
        const uint64_t place = (node * transfers_per_node + tag) * slot;
        const uint64_t most = draw.below(4) == 0 ? slot : 2000;
        transfers_.push_back({node, target, static_cast<uint16_t>(tag), source_base + place,
                              destination_base + place,
                              random_bytes(draw, std::max(least, 1 + draw.below(most)))});
      }
    }
  }

  void post() {
    for (const Transfer& each : transfers_) {
      RdmaNode& node = bench_.system.node(each.node);
      node.memory().memory().write(each.source, each.bytes);
      node.driver().post({each.source, each.destination, static_cast<uint32_t>(each.bytes.size()),
                          each.target, each.tag, rkey_});
    }
  }

  bool complete() const {
    for (const Transfer& each : transfers_) {
      if (!bench_.completions[each.node].contains(each.tag)) return false;
    }
    return true;
  }

  /// Every transfer that is reported as done must be there to the last byte.
  void expect_bytes() const {
    for (const Transfer& each : transfers_) {
      const auto& done = bench_.completions[each.node];
      ASSERT_TRUE(done.contains(each.tag)) << "transfer " << each.tag << " of node " << each.node;
      EXPECT_EQ(rdma::formats::name(done.at(each.tag)), "OK");
      const HostMemory& memory = bench_.system.node(each.target).memory().memory();
      EXPECT_TRUE(memory.equals(each.destination, each.bytes))
          << "transfer " << each.tag << " of node " << each.node;
    }
  }

 private:
  struct Transfer {
    uint32_t node, target;
    uint16_t tag;
    uint64_t source, destination;
    std::vector<uint8_t> bytes;
  };
  EngineBench& bench_;
  uint32_t rkey_;
  std::vector<Transfer> transfers_;
};

}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// A network between golden models that loses, duplicates, reorders, delays and corrupts packets.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "rdma/packet.hpp"
#include "rdma/params.hpp"

namespace weft::rdma::test {

struct Weather {
  uint64_t seed = 0;
  double loss = 0, duplication = 0, corruption = 0;
  double no_room = 0;      // that a queue has no room at an event
  uint64_t max_delay = 1;  // ticks
  bool weft_mode = false;  // of the receiver
  uint8_t rx_ahead = 0;    // likewise
  double forgets = 0;      // that a receiver does not know a request again
  Scheme scheme = Scheme::receiver_window;
};

class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  bool hit(double probability) { return std::bernoulli_distribution(probability)(engine_); }
  uint64_t below(uint64_t limit) { return std::uniform_int_distribution<uint64_t>(0, limit - 1)(engine_); }

 private:
  std::mt19937_64 engine_;
};

/// Packets on their way to one node, by the tick of their arrival.
class Network {
 public:
  Network(const Weather& weather, Dice& dice) : weather_(weather), dice_(dice) {}

  void send(const Packet& packet, uint64_t now) {
    if (dice_.hit(weather_.loss)) return;
    const int copies = dice_.hit(weather_.duplication) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      auto flits = encode(packet);
      if (dice_.hit(weather_.corruption)) flits[dice_.below(flits.size())] ^= 0x10;
      flying_.emplace(now + 1 + dice_.below(weather_.max_delay), std::move(flits));
    }
  }

  std::vector<std::vector<uint8_t>> arrivals(uint64_t now) {
    std::vector<std::vector<uint8_t>> result;
    const auto end = flying_.upper_bound(now);
    for (auto it = flying_.begin(); it != end; ++it) result.push_back(std::move(it->second));
    flying_.erase(flying_.begin(), end);
    return result;
  }

  bool empty() const { return flying_.empty(); }

 private:
  const Weather& weather_;
  Dice& dice_;
  std::multimap<uint64_t, std::vector<uint8_t>> flying_;
};

}  // namespace weft::rdma::test

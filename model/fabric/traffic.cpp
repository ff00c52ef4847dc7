// SPDX-License-Identifier: Apache-2.0
// Uniform random traffic.
#include "fabric/traffic.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "fabric/parts.hpp"

namespace weft::fabric {

namespace {

class Uniform {
 public:
  Uniform(Torus& torus, const Load& load, uint64_t seed) : torus_(torus), load_(load) {
    if (!(load.flits >= 0 && load.flits <= 1))
      throw std::invalid_argument("a load of " + std::to_string(load.flits) +
                                  " flits a clock, must be 0 to 1");
    if (load.clocks == 0 || load.packet_flits == 0)
      throw std::invalid_argument("clocks and packet_flits must not be 0");
    if (load.warmup > UINT32_MAX || load.clocks > UINT32_MAX - load.warmup)
      throw std::invalid_argument("more than 2^32 clocks");
    for (uint32_t node = 0; node < torus.geometry().nodes(); ++node)
      nodes_.push_back({RandomStream(seed, first_stream + node), {}});
  }

  Measured run(uint32_t threads) {
    uint64_t arrived = 0, hops = 0;
    const auto between = [&] {
      torus_.advance();
      if (torus_.now() == load_.warmup) {
        arrived = torus_.arrived_flits();
        hops = torus_.flit_hops();
      }
      stands_still_ = standstill_.look(torus_.now(), [this] { return seen(); });
      return !stands_still_ && torus_.now() < load_.warmup + load_.clocks;
    };
    run_in_parts(
        static_cast<uint32_t>(nodes_.size()), threads, [this](const Part& part) { step(part); }, between);
    return summary(torus_.arrived_flits() - arrived, torus_.flit_hops() - hops);
  }

 private:
  static constexpr uint64_t first_stream = 1ull << 32;  // those of the routers are below

  struct Node {
    RandomStream random;
    std::vector<uint64_t> latencies;  ///< of packets that arrived here
  };

  /// The handle of a packet is the clock in which it was made.
  void step(const Part& part) {
    const auto now = static_cast<uint32_t>(torus_.now());
    for (uint32_t node = part.first; node < part.behind; ++node) {
      if (!nodes_[node].random.chance(load_.flits / load_.packet_flits)) continue;
      const auto to = static_cast<uint32_t>(nodes_[node].random.below(nodes_.size()));
      torus_.send(node, to, load_.packet_flits, now);
    }
    torus_.step(part.first, part.behind);
    for (uint32_t node = part.first; node < part.behind; ++node) {
      const auto began = torus_.arrived(node);
      if (began && *began >= load_.warmup) nodes_[node].latencies.push_back(now - *began);
    }
  }

  Standstill::Seen seen() const {
    const uint64_t out = torus_.arrived_flits() + torus_.lost_flits();
    return {torus_.sent_flits() - out, torus_.flit_hops() + out};
  }

  Measured summary(uint64_t arrived, uint64_t hops) {
    std::vector<uint64_t> latencies;
    for (const Node& node : nodes_)
      latencies.insert(latencies.end(), node.latencies.begin(), node.latencies.end());
    Measured measured;
    measured.packets = latencies.size();
    measured.flit_hops = torus_.flit_hops();
    measured.lost_flits = torus_.lost_flits();
    measured.clocks = torus_.now();
    measured.stands_still = stands_still_;
    measured.accepted_flits =
        static_cast<double>(arrived) / static_cast<double>(load_.clocks) / static_cast<double>(nodes_.size());
    if (arrived != 0) measured.hops = static_cast<double>(hops) / static_cast<double>(arrived);
    if (latencies.empty()) return measured;
    std::sort(latencies.begin(), latencies.end());
    double sum = 0;
    for (const uint64_t latency : latencies) sum += static_cast<double>(latency);
    measured.latency = sum / static_cast<double>(latencies.size());
    measured.latency_median = latencies[latencies.size() / 2];
    measured.latency_p99 = latencies[latencies.size() * 99 / 100];
    measured.latency_max = latencies.back();
    return measured;
  }

  Torus& torus_;
  const Load& load_;
  std::vector<Node> nodes_;
  Standstill standstill_;
  bool stands_still_ = false;
};

}  // namespace

Measured measure(Torus& torus, const Load& load, uint64_t seed, uint32_t threads) {
  return Uniform(torus, load, seed).run(threads);
}

}  // namespace weft::fabric

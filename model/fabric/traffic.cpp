// SPDX-License-Identifier: Apache-2.0
// Uniform random traffic.
#include "fabric/traffic.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

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
    for (uint32_t node = 0; node < torus.geometry().nodes(); ++node)
      nodes_.emplace_back(seed, first_stream + node);
  }

  Measured run() {
    while (torus_.now() < load_.warmup) tick();
    const uint64_t arrived = torus_.arrived_flits();
    const uint64_t hops = torus_.flit_hops();
    while (torus_.now() < load_.warmup + load_.clocks) tick();
    return summary(torus_.arrived_flits() - arrived, torus_.flit_hops() - hops);
  }

 private:
  static constexpr uint64_t first_stream = 1ull << 32;  // those of the routers are below

  void tick() {
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
      if (nodes_[node].chance(load_.flits / load_.packet_flits)) send(node);
    }
    torus_.tick();
    for (const Torus::Arrival& arrival : torus_.arrivals()) {
      if (began_[arrival.handle] >= load_.warmup)
        latencies_.push_back(torus_.now() - 1 - began_[arrival.handle]);
      free_.push_back(arrival.handle);
    }
  }

  void send(uint32_t from) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(began_.size()));
      began_.push_back(0);
    }
    const uint32_t handle = free_.back();
    free_.pop_back();
    began_[handle] = torus_.now();
    torus_.send(from, static_cast<uint32_t>(nodes_[from].below(nodes_.size())), load_.packet_flits, handle);
  }

  Measured summary(uint64_t arrived, uint64_t hops) {
    Measured measured;
    measured.packets = latencies_.size();
    measured.flit_hops = torus_.flit_hops();
    measured.accepted_flits =
        static_cast<double>(arrived) / static_cast<double>(load_.clocks) / static_cast<double>(nodes_.size());
    if (arrived != 0) measured.hops = static_cast<double>(hops) / static_cast<double>(arrived);
    if (latencies_.empty()) return measured;
    std::sort(latencies_.begin(), latencies_.end());
    double sum = 0;
    for (const uint64_t latency : latencies_) sum += static_cast<double>(latency);
    measured.latency = sum / static_cast<double>(latencies_.size());
    measured.latency_median = latencies_[latencies_.size() / 2];
    measured.latency_p99 = latencies_[latencies_.size() * 99 / 100];
    measured.latency_max = latencies_.back();
    return measured;
  }

  Torus& torus_;
  const Load& load_;
  std::vector<RandomStream> nodes_;
  std::vector<uint64_t> began_;  // by handle
  std::vector<uint32_t> free_;
  std::vector<uint64_t> latencies_;
};

}  // namespace

Measured measure(Torus& torus, const Load& load, uint64_t seed) { return Uniform(torus, load, seed).run(); }

}  // namespace weft::fabric

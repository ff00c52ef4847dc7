// SPDX-License-Identifier: Apache-2.0
// Who sends to whom in a two-dimensional fat tree, and how often.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/random.hpp"
#include "route/grid.hpp"

namespace weft::switchfabric {

enum class Pattern : uint8_t {
  uniform,    ///< any live host, the sender too
  transpose,  ///< leaf (x, y) to leaf (y, x), host by host; nothing if that is dead. Square fabrics only
  hotspot,  ///< as uniform, but one packet in four goes to the hosts of an eighth of the leaves, drawn at the
            ///< start
  all_to_all,  ///< phases of `phase_clocks`, all hosts at the same distance, drawn for each phase
};
inline constexpr uint64_t phase_clocks = 64;

/// Draws the packets of a clock. Hosts that die are left out by `see`.
class Traffic {
 public:
  /// @param load packets a clock and host
  /// Throws Fault for a transpose that is not square, or if nobody can send.
  Traffic(Pattern pattern, double load, const route::Health& alive, uint64_t seed);

  /// Hosts that send: alive, and the pattern has somebody for them.
  uint64_t senders() const { return senders_.size(); }
  /// Calls send(from, to) for each packet of this clock.
  template <typename Send>
  void draw(uint64_t clock, const Send& send) {
    if (pattern_ == Pattern::all_to_all && clock % phase_clocks == 0)
      distance_ = 1 + random_.below(live_.size() - 1);
    for (uint32_t i = 0; i < senders_.size(); ++i)
      if (random_.chance(load_)) send(senders_[i], partner(i));
  }
  /// These hosts of dead leaves send no more; others still send to them.
  void silence(const route::Health& alive);
  /// As from the start with what is alive now: nobody sends to the dead any more.
  void see(const route::Health& alive);

 private:
  uint32_t partner(uint32_t sender);
  uint32_t any(const std::vector<uint32_t>& hosts) { return hosts[random_.below(hosts.size())]; }
  uint32_t transposed(uint32_t host) const;

  Pattern pattern_;
  double load_;
  route::Grid grid_;
  RandomStream random_;
  uint64_t distance_ = 1;
  std::vector<uint32_t> live_, senders_, hot_;
};

/// "uniform", "transpose", "hotspot", "all-to-all".
Pattern pattern_of(const std::string& name);

}  // namespace weft::switchfabric

// SPDX-License-Identifier: Apache-2.0
// Speed of the engine, counted in clocks at its pins. Every run is checked against the golden model as well.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::sim {

/// Packets in a row, and the clocks from the first to the last of them, both counted.
struct Rate {
  std::string what;
  std::string build;  ///< parameterisation of the engine
  uint64_t packets = 0;
  uint64_t clocks = 0;
  double wanted = 0;    ///< packets a clock
  std::string finding;  ///< what differed from the golden model, or did not come; empty: nothing

  double per_clock() const { return clocks ? static_cast<double>(packets) / static_cast<double>(clocks) : 0; }
  bool ok() const { return finding.empty() && per_clock() >= wanted; }
};

/// Transfers posted one after the other, without loss, over links that carry nothing else.
struct Goodput {
  std::string what;
  std::string build;
  uint32_t transfers = 0;
  uint32_t bytes = 0;            ///< of each
  bool both_ways = false;        ///< node 1 does the same
  uint32_t delay = 1;            ///< of the network, clocks
  uint32_t memory_latency = 10;  ///< clocks until memory answers
  uint64_t link_clocks = 0;      ///< from the first to the last beat of DATA on the link
  uint64_t total_clocks = 0;     ///< from the first request in the driver's hands to the last completion
  uint64_t ideal_clocks = 0;     ///< that the DATA packets alone take on the link
  double wanted = 0;             ///< of the link's payload share, on the link
  std::string finding;

  double on_link() const { return ratio(link_clocks); }
  double in_all() const { return ratio(total_clocks); }
  bool ok() const { return finding.empty() && on_link() >= wanted; }

 private:
  double ratio(uint64_t clocks) const {
    return clocks ? static_cast<double>(ideal_clocks) / static_cast<double>(clocks) : 0;
  }
};

/// Whether this program has the engines that are measured.
bool has_bench_engines();

Rate headers_of_one_context();
Rate headers_of_many_contexts();
Rate new_data_of_many_contexts();
Rate responses();
Rate data_of_one_beat();
Rate data_of_many_transfers();

/// Measures the case that `goodput` describes, and fills in the rest.
Goodput measure(Goodput goodput);

}  // namespace weft::sim

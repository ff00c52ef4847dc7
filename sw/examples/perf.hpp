// SPDX-License-Identifier: Apache-2.0
// What weft_write_bw and weft_write_lat share: options of ib_write_bw and ib_write_lat, and sizes. Times are
// clocks of the simulated NIC at a frequency that is given; software takes none of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "program.hpp"

namespace weft::examples {

struct PerfOptions {
  Place place;
  std::optional<uint32_t> peer;  ///< none: the server
  uint32_t bytes;
  uint32_t iterations;
  bool all = false;
  double mhz = 250;

  static constexpr uint32_t largest = 1 << 20;

  void add_to(CLI::App& app) {
    place.add_to(app);
    app.add_option("server", peer, "Node of the server; without it this is the server")
        ->check(command_line::whole_number(0, 65535));
    app.add_option("-s,--size", bytes, "Bytes of a message")
        ->check(command_line::whole_number(1, largest))
        ->capture_default_str();
    app.add_option("-n,--iters", iterations, "Messages of a size")
        ->check(command_line::whole_number(5, 1'000'000))
        ->capture_default_str();
    app.add_flag("-a,--all", all, "Sizes from 2 bytes to 1 MiB");
    app.add_option("--clock", mhz, "MHz at which the NIC is taken to run")
        ->check(command_line::within(1, 100'000))
        ->capture_default_str();
  }
  std::vector<uint32_t> sizes() const {
    if (!all) return {bytes};
    std::vector<uint32_t> sizes;
    for (uint32_t size = 2; size <= largest; size *= 2) sizes.push_back(size);
    return sizes;
  }
  double microseconds(double clocks) const { return clocks / mhz; }
};

/// When requests were posted and completed, in clocks, by their order.
struct Times {
  std::vector<uint64_t> posted, completed;
};

/// The fewest clocks a request that any run of consecutive requests took, from the first one's post to the
/// last one's completion: what ib_write_bw takes its peak from.
inline double fewest_clocks(const Times& times) {
  double fewest = std::numeric_limits<double>::infinity();
  for (size_t first = 0; first < times.posted.size(); ++first) {
    for (size_t last = first; last < times.completed.size(); ++last) {
      const auto clocks = static_cast<double>(times.completed[last] - times.posted[first]);
      fewest = std::min(fewest, clocks / static_cast<double>(last - first + 1));
    }
  }
  return fewest;
}

constexpr const char* rule =
    "---------------------------------------------------------------------------------------\n";

}  // namespace weft::examples

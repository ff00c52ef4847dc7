// SPDX-License-Identifier: Apache-2.0
// What a plan gives to each CPU: least share of every path segment, full-path minimum, boot time, bound.
//
// SCDA/BCDA, 1.3: nodes that share a link share it evenly, and a CPU gets the least share on its path.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "boot/machine.hpp"

namespace weft::boot {

struct Bandwidth {
  std::array<double, segments> mbps{};  ///< least share of a CPU in N1 to N5
  double least_mbps = 0;                ///< full-path minimum
  double boot_seconds = 0;
  std::string limiting;  ///< "N5", or "N2,N5" where several are equal
};

/// @param cpus at least one; @param servers of each CPU, none that failed
Bandwidth bandwidth_of(const Machine& machine, const std::vector<uint32_t>& cpus,
                       const std::vector<uint32_t>& servers);

/// Maximum concurrent flow: the most that all CPUs can get at the same time from any servers, even if each
/// may use several at once. No plan is above it.
double flow_bound(const Machine& machine, const std::vector<uint32_t>& cpus);

/// The slowest of the links of N1 to N3 that these nodes use.
std::array<double, 3> least_links(const Machine& machine, const std::vector<uint32_t>& cpus);

/// The same if nodes or switches pass on what they have, so that each link needs to carry the image only
/// once. No way of booting is above it.
double replication_bound(const Machine& machine, const std::vector<uint32_t>& cpus);

/// Segments whose share is the least, as "N2,N5".
std::string limiting_of(const std::array<double, segments>& mbps);

/// With half up, as the paper prints it: 78.125 as 78.13.
double hundredths(double value);

}  // namespace weft::boot

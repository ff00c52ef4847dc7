// SPDX-License-Identifier: Apache-2.0
// Which CPUs boot now, and their MAC addresses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "boot/machine.hpp"

namespace weft::boot {

struct Nodes {
  std::vector<uint32_t> cpus;  ///< each at most once
  std::vector<uint64_t> macs;  ///< of each, or empty
};

/// From "all", "supernodes:N", "boards:N", "cpus:N" (the first N), "0-7,12" or "file:PATH" (docs/boot.md).
/// Throws Fault, "PLACE SPEC: fault", "PLACE: FILE: fault" or "FILE:LINE: fault".
/// @param place where the spec stands
Nodes nodes_of(const std::string& spec, const Machine& machine, const std::string& place = "--nodes");

/// Six bytes in hexadecimal, of a single network card. Throws Fault.
uint64_t mac_of(std::string_view text);

/// "02:00:00:00:00:0a".
std::string mac_text(uint64_t mac);

}  // namespace weft::boot

// SPDX-License-Identifier: Apache-2.0
// Widths times speeds.
#include "topology/ib_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace weft::topology {

namespace {

/// Of several ways to the same rate the first is written.
constexpr std::array<uint32_t, 5> widths = {4, 1, 2, 8, 12};
/// Mb/s of a lane.
constexpr std::array<std::pair<std::string_view, uint32_t>, 9> speeds = {{{"SDR", 2000},
                                                                          {"DDR", 4000},
                                                                          {"QDR", 8000},
                                                                          {"FDR10", 10000},
                                                                          {"FDR", 13636},
                                                                          {"EDR", 25000},
                                                                          {"HDR", 50000},
                                                                          {"NDR", 100000},
                                                                          {"XDR", 200000}}};

}  // namespace

std::optional<uint32_t> mbps_of_ib_rate(std::string_view rate) {
  uint32_t width = 0;
  const auto parsed = std::from_chars(rate.data(), rate.data() + rate.size(), width);
  const auto behind = static_cast<std::size_t>(parsed.ptr - rate.data());
  if (parsed.ec != std::errc() || rate.substr(behind, 1) != "x") return std::nullopt;
  if (std::find(widths.begin(), widths.end(), width) == widths.end()) return std::nullopt;
  for (const auto& [speed, mbps] : speeds)
    if (rate.substr(behind + 1) == speed) return width * mbps;
  return std::nullopt;
}

std::string ib_rate_of_mbps(uint32_t mbps) {
  for (const uint32_t width : widths) {
    for (const auto& [speed, lane] : speeds)
      if (width * lane == mbps) return fmt::format("{}x{}", width, speed);
  }
  return "";
}

}  // namespace weft::topology

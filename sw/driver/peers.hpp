// SPDX-License-Identifier: Apache-2.0
// Applications that know each other, and the deaths that they have to be told of (docs/driver.md, Peers that
// die).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace weft::driver {

/// Of all nodes of a fabric. Two applications know each other when one has looked up what the other
/// published.
class Peers {
 public:
  struct Application {
    uint32_t node = 0, place = 0;
    auto operator<=>(const Application&) const =
        default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 sees a 0
  };
  /// Clocks from its end until its peers are told: in these, transfers that were under way with it mostly
  /// end, and say so themselves.
  static constexpr uint64_t grace = 150'000;

  void meet(const Application& one, const Application& other);
  /// From now on it knows nobody.
  /// @param died its peers are told of it
  void go(const Application& who, bool died, uint64_t cycle);
  /// The node of a peer that has died, once for each; nothing: of none `who` has to be told now.
  std::optional<uint32_t> take_death(const Application& who, uint64_t cycle);

 private:
  struct Death {
    Application told;
    uint32_t node;
    uint64_t from;  ///< cycle
  };
  std::set<std::pair<Application, Application>> known_;  // both ways
  std::vector<Death> deaths_;
};

}  // namespace weft::driver

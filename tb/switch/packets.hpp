// SPDX-License-Identifier: Apache-2.0
// Packets on their way from switch to switch: in each round every switch looks up what has come in, one
// packet after the other, and copies go to what is behind the ports. Links take no time and lose nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "switch/lookup_block.hpp"
#include "switchtables/fabric.hpp"

namespace weft::tb {

/// Blocks of all switches, by their numbers in the whole fabric.
using LookupBlocks = std::vector<std::unique_ptr<LookupBlock>>;

struct Arrival {
  uint32_t tag = 0, host = 0;
  uint32_t hops = 0;  ///< links between switches that it took

  auto operator<=>(const Arrival&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 sees a 0
};

struct Loss {
  uint32_t tag = 0, sw = 0;
  switch_lookup::formats::Outcome why =
      switch_lookup::formats::Outcome::forward;  ///< forward: it went on for too long

  bool operator==(const Loss&) const = default;
};

class Packets {
 public:
  /// Fabric and blocks must outlive it. @param threads that look up; same result
  Packets(const switchtables::Fabric& fabric, LookupBlocks& blocks, uint32_t threads);

  void inject(uint32_t host, switch_lookup::formats::Request request, uint32_t tag);
  /// Until none flies any more. @param between is called before each round
  void run(const std::function<void()>& between = {});

  /// Of the last run, in no order that means something.
  const std::vector<Arrival>& arrivals() const { return arrivals_; }
  const std::vector<Loss>& losses() const { return losses_; }
  uint64_t lookups() const { return lookups_; }  ///< since construction

 private:
  struct Flight {
    uint32_t tag = 0, hops = 0;
  };
  /// What is at a switch.
  struct Inbox {
    std::vector<Flight> flights;
    std::vector<switch_lookup::formats::Request> requests;
    std::vector<switch_lookup::Result> results;
  };

  void look();
  void forward(uint32_t sw);
  void arrive(uint32_t sw, uint32_t port, const Flight& flight,
              const switch_lookup::formats::Request& request, uint8_t vc);

  const switchtables::Fabric& fabric_;
  LookupBlocks& blocks_;
  uint32_t threads_;
  std::vector<Inbox> now_, next_;  // of each switch
  uint64_t flying_ = 0, lookups_ = 0;
  std::vector<Arrival> arrivals_;
  std::vector<Loss> losses_;
};

}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// What the memories of all nodes must hold: only destinations of transfers change, and only to what was sent.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "common/findings.hpp"
#include "common/host_memory.hpp"

namespace weft::sim {

class SoakMemory {
 public:
  /// @param memories of the nodes, still empty
  SoakMemory(std::vector<tb::HostMemory*> memories, tb::Findings& findings)
      : memories_(std::move(memories)),
        before_(memories_.size()),
        transfers_(memories_.size()),
        findings_(findings) {}

  /// Bytes that are there from the beginning.
  void fill(uint32_t node, uint64_t address, std::span<const uint8_t> bytes);

  /// A transfer of these bytes to that place may come, once or in part. No two may overlap.
  void expect_transfer(uint32_t node, uint64_t address, std::vector<uint8_t> bytes);

  /// The transfer to that place is said to be complete: it must be there to the last byte, now and at the
  /// end.
  void arrived(uint32_t node, uint64_t address, uint64_t cycle);

  /// At the end: compares every byte of every node.
  void check(uint64_t cycle);

 private:
  struct Transfer {
    std::vector<uint8_t> bytes;
    bool arrived = false;
  };
  using Transfers = std::map<uint64_t, Transfer>;  // by address

  void check_page(uint32_t node, uint64_t page, uint64_t cycle);
  bool explained(uint32_t node, uint64_t address, uint8_t byte) const;
  void check_complete(uint32_t node, uint64_t address, const Transfer& transfer, uint64_t cycle);

  std::vector<tb::HostMemory*> memories_;
  std::vector<tb::HostMemory> before_;
  std::vector<Transfers> transfers_;
  tb::Findings& findings_;
};

}  // namespace weft::sim

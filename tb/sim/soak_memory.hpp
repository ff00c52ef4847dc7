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
        buffers_(memories_.size()),
        messages_(memories_.size()),
        rings_(memories_.size()),
        findings_(findings) {}

  /// Bytes that are there from the beginning, or that software writes.
  void fill(uint32_t node, uint64_t address, std::span<const uint8_t> bytes);

  /// A transfer of these bytes to that place may come, once or in part. No two may overlap.
  void expect_transfer(uint32_t node, uint64_t address, std::vector<uint8_t> bytes);

  /// The transfer to that place is said to be complete: it must be there to the last byte, now and at the
  /// end.
  void arrived(uint32_t node, uint64_t address, uint64_t cycle);

  // Of NICs.

  /// A message of these bytes may come into any buffer of that queue.
  void expect_message(uint32_t node, uint32_t queue, std::vector<uint8_t> bytes) {
    messages_.at(node)[queue].push_back(std::move(bytes));
  }
  /// This buffer is posted in that queue.
  void add_buffer(uint32_t node, uint32_t queue, uint64_t address, uint64_t bytes);
  /// That buffer's completion has come: from now on it stays as it is.
  void buffer_done(uint32_t node, uint64_t address);
  /// Completions are written here.
  void add_ring(uint32_t node, uint64_t address, uint64_t bytes) { rings_.at(node)[address] = bytes; }

  /// At the end: compares every byte of every node.
  void check(uint64_t cycle);

 private:
  struct Transfer {
    std::vector<uint8_t> bytes;
    bool arrived = false;
  };
  using Transfers = std::map<uint64_t, Transfer>;  // by address
  struct Buffer {
    uint32_t queue;
    uint64_t bytes;
    std::vector<uint8_t> final;  ///< empty: may still change
  };

  void check_page(uint32_t node, uint64_t page, uint64_t cycle);
  bool explained(uint32_t node, uint64_t address, uint8_t byte) const;
  bool may_be_message(uint32_t node, uint64_t address, uint8_t byte) const;
  bool in_ring(uint32_t node, uint64_t address) const;
  void check_complete(uint32_t node, uint64_t address, const Transfer& transfer, uint64_t cycle);

  std::vector<tb::HostMemory*> memories_;
  std::vector<tb::HostMemory> before_;
  std::vector<Transfers> transfers_;
  std::vector<std::map<uint64_t, Buffer>> buffers_;                              // by address
  std::vector<std::map<uint32_t, std::vector<std::vector<uint8_t>>>> messages_;  // by queue
  std::vector<std::map<uint64_t, uint64_t>> rings_;                              // bytes, by address
  tb::Findings& findings_;
};

}  // namespace weft::sim

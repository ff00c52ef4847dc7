// SPDX-License-Identifier: Apache-2.0
// What the memories of all nodes must hold.
#include "soak_memory.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace weft::sim {

void SoakMemory::fill(uint32_t node, uint64_t address, std::span<const uint8_t> bytes) {
  memories_.at(node)->write(address, bytes);
  before_.at(node).write(address, bytes);
}

void SoakMemory::expect_transfer(uint32_t node, uint64_t address, std::vector<uint8_t> bytes) {
  Transfers& transfers = transfers_.at(node);
  const auto next = transfers.lower_bound(address);
  const bool hits_next = next != transfers.end() && next->first < address + bytes.size();
  const bool hits_last =
      next != transfers.begin() && std::prev(next)->first + std::prev(next)->second.bytes.size() > address;
  if (hits_next || hits_last) throw std::logic_error("destinations of two transfers overlap");
  transfers.emplace(address, Transfer{std::move(bytes)});
}

void SoakMemory::check_complete(uint32_t node, uint64_t address, const Transfer& transfer, uint64_t cycle) {
  if (memories_[node]->equals(address, transfer.bytes)) return;
  findings_.add(node, cycle,
                fmt::format("the {} bytes at {:#x} are not those of the transfer that ended with OK",
                            transfer.bytes.size(), address));
}

void SoakMemory::arrived(uint32_t node, uint64_t address, uint64_t cycle) {
  Transfer& transfer = transfers_.at(node).at(address);
  transfer.arrived = true;
  check_complete(node, address, transfer, cycle);
}

bool SoakMemory::explained(uint32_t node, uint64_t address, uint8_t byte) const {
  const Transfers& transfers = transfers_[node];
  const auto next = transfers.upper_bound(address);
  if (next == transfers.begin()) return false;
  const auto& [start, transfer] = *std::prev(next);
  const uint64_t offset = address - start;
  return offset < transfer.bytes.size() && transfer.bytes[offset] == byte;
}

/// Tells the first wrong byte of the page.
void SoakMemory::check_page(uint32_t node, uint64_t page, uint64_t cycle) {
  const std::vector<uint8_t> before = before_[node].read(page, tb::HostMemory::page_bytes);
  const std::vector<uint8_t> now = memories_[node]->read(page, tb::HostMemory::page_bytes);
  for (uint64_t i = 0; i < now.size(); ++i) {
    if (now[i] == before[i] || explained(node, page + i, now[i])) continue;
    findings_.add(
        node, cycle,
        fmt::format("memory at {:#x}: {:#04x} is neither what was there before nor what was sent there",
                    page + i, now[i]));
    return;
  }
}

void SoakMemory::check(uint64_t cycle) {
  for (uint32_t node = 0; node < memories_.size(); ++node) {
    for (const uint64_t page : memories_[node]->pages()) check_page(node, page, cycle);
    for (const auto& [address, transfer] : transfers_[node]) {
      if (transfer.arrived) check_complete(node, address, transfer, cycle);
    }
  }
}

}  // namespace weft::sim

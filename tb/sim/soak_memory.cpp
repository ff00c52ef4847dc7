// SPDX-License-Identifier: Apache-2.0
// What the memories of all nodes must hold.
#include "soak_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
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

namespace {

/// The last piece that begins at or before the address; nullptr if there is none.
template <typename Pieces>
auto piece_at(const Pieces& pieces, uint64_t address) {
  const auto next = pieces.upper_bound(address);
  return next == pieces.begin() ? nullptr : &*std::prev(next);
}

}  // namespace

void SoakMemory::add_buffer(uint32_t node, uint32_t queue, uint64_t address, uint64_t bytes) {
  const auto* last = piece_at(buffers_.at(node), address);
  if (last && address < last->first + last->second.bytes) throw std::logic_error("two buffers overlap");
  buffers_[node].emplace(address, Buffer{queue, bytes, {}});
}

void SoakMemory::buffer_done(uint32_t node, uint64_t address) {
  Buffer& buffer = buffers_.at(node).at(address);
  buffer.final = memories_[node]->read(address, buffer.bytes);
}

bool SoakMemory::in_ring(uint32_t node, uint64_t address) const {
  const auto* ring = piece_at(rings_[node], address);
  return ring && address - ring->first < ring->second;
}

bool SoakMemory::may_be_message(uint32_t node, uint64_t address, uint8_t byte) const {
  const auto* piece = piece_at(buffers_[node], address);
  if (!piece || address - piece->first >= piece->second.bytes) return false;
  const uint64_t offset = address - piece->first;
  const auto messages = messages_[node].find(piece->second.queue);
  if (messages == messages_[node].end()) return false;
  return std::ranges::any_of(messages->second, [&](const std::vector<uint8_t>& message) {
    return offset < message.size() && message[offset] == byte;
  });
}

bool SoakMemory::explained(uint32_t node, uint64_t address, uint8_t byte) const {
  if (in_ring(node, address) || may_be_message(node, address, byte)) return true;
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
    for (const auto& [address, buffer] : buffers_[node]) {
      if (memories_[node]->equals(address, buffer.final)) continue;
      findings_.add(node, cycle,
                    fmt::format("the buffer at {:#x} has changed since its completion", address));
    }
  }
}

}  // namespace weft::sim

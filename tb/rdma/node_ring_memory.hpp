// SPDX-License-Identifier: Apache-2.0
// The testbench's memory as the driver of a NIC's queues sees it.
#pragma once

#include <cstdint>
#include <span>

#include "common/host_memory.hpp"
#include "driver/ring_driver.hpp"

namespace weft::tb {

class NodeRingMemory : public driver::RingMemory {
 public:
  explicit NodeRingMemory(HostMemory& memory) : memory_(memory) {}
  void write(uint64_t address, std::span<const uint8_t> bytes) override { memory_.write(address, bytes); }
  void read(uint64_t address, std::span<uint8_t> bytes) const override { memory_.read(address, bytes); }

 private:
  HostMemory& memory_;
};

}  // namespace weft::tb

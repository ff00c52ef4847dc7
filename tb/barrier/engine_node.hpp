// SPDX-License-Identifier: Apache-2.0
// The barrier engine of one node, as a simulation of many uses it: the golden model, or Verilated RTL with
// the golden model beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "barrier/engine.hpp"
#include "barrier/packet.hpp"

namespace weft::tb {

/// RTL and golden model differ, or the RTL does not answer; what() says where.
class BarrierMismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class EngineNode {
 public:
  virtual ~EngineNode() = default;

  /// Commands wait for each other.
  virtual void open(uint32_t group, const barrier::GroupSettings& settings) = 0;
  virtual void arrive(uint32_t group) = 0;
  virtual bool busy() const = 0;  ///< commands wait, or are under way
  virtual void receive(const barrier::PacketBytes& bytes) = 0;
  /// One clock. @param pauses percent of clocks in which each stream pauses
  virtual void clock(uint32_t pauses) = 0;
  virtual std::vector<barrier::PacketBytes> take_packets() = 0;
  /// Software takes them.
  virtual std::vector<barrier::Completion> take_completions() = 0;
  virtual uint64_t repeated() const = 0;
};

inline constexpr uint32_t engine_groups = 4, engine_nodes = 64;                ///< of both, as compiled in
inline constexpr uint32_t engine_tick = barrier::formats::reset::TICK_PERIOD;  ///< clocks

std::unique_ptr<EngineNode> golden_node(barrier::Node self);
std::unique_ptr<EngineNode> verilated_node(barrier::Node self, uint64_t seed);

}  // namespace weft::tb

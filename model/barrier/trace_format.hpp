// SPDX-License-Identifier: Apache-2.0
// Events of a barrier engine as trace records, as the golden model sees them (docs/trace.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "barrier/engine.hpp"
#include "trace/record.hpp"

namespace weft::barrier {

/// What an engine was given, and what it said.
struct Event {
  std::string name;  ///< open, close, arrive, packet, tick
  uint32_t group = 0;
  std::optional<Refusal> refusal = {};  ///< of a command
  std::optional<Packet> packet = {};
  std::optional<Drop> drop = {};  ///< of a packet
};

/// @param before, after what there was to see of its group
trace::Record event_record(uint64_t cycle, const Event& event, const GroupView& before,
                           const GroupView& after, const Outputs& out);

/// A packet is dropped before the protocol sees it.
trace::Record dropped_record(uint64_t cycle, Drop reason);

/// All groups are closed.
trace::Record reset_record(uint64_t cycle);

}  // namespace weft::barrier

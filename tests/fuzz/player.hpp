// SPDX-License-Identifier: Apache-2.0
// Plays a course on one Verilated engine beside the golden model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "course.hpp"
#include "scoreboard.hpp"

namespace weft::fuzz {

struct PlayOptions {
  std::string build;   ///< of the engine, instead of the course's own; see build_of()
  std::string traces;  ///< folder for the traces of both sides; empty: none
  /// Told of each step and packet before it takes place; null: nobody.
  std::function<void(uint64_t cycle, const std::string& text)> on_step;
  tb::Scoreboard::OnReceiverEvent on_receiver_event;
  tb::Scoreboard::OnSenderEvent on_sender_event;
};

struct Played {
  std::string finding;  ///< the first difference, empty if there is none
  uint64_t cycles = 0;
  uint64_t events = 0;
};

/// Every event, packet, host write, completion and counter is compared. In the end all that holds up or keeps
/// alive is taken away, and the engine must come to rest with all contexts free.
Played play(const Course& course, const PlayOptions& options);

}  // namespace weft::fuzz

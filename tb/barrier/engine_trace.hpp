// SPDX-License-Identifier: Apache-2.0
// A golden engine that leaves a trace of its events (docs/trace.md), if the environment asks for traces.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "barrier/packet.hpp"
#include "barrier/trace_format.hpp"
#include "trace/folder.hpp"
#include "trace/record.hpp"

namespace weft::tb {

class EngineTrace {
 public:
  /// @param nodes of the fabric
  EngineTrace(barrier::Node self, uint32_t groups, uint32_t members, uint32_t nodes) {
    const auto folder = trace::next_folder();
    if (!folder) return;
    const std::string node = std::to_string(self);
    writer_.emplace(*folder / ("golden.node" + node + ".trace"),
                    trace::Fields{{"unit", "barrier"},
                                  {"node", node},
                                  {"groups", std::to_string(groups)},
                                  {"members", std::to_string(members)},
                                  {"nodes", std::to_string(nodes)}});
  }
  ~EngineTrace() {
    if (writer_) writer_->close();
  }
  EngineTrace(const EngineTrace&) = delete;
  EngineTrace& operator=(const EngineTrace&) = delete;

  /// Has the engine do something with a group. @return what that sent and told
  /// @param act gives the refusal, if it is a command, else nothing
  template <typename Act>
  barrier::Outputs follow(uint64_t cycle, barrier::Engine& engine, barrier::Event event, Act act) {
    if (!writer_) {
      act();
      return engine.take();
    }
    const barrier::GroupView before = engine.view(event.group);
    const auto drops = drops_of(engine);
    if constexpr (std::is_void_v<decltype(act())>) {
      act();
    } else {
      event.refusal = act();
    }
    barrier::Outputs out = engine.take();
    event.drop = first_risen(drops, drops_of(engine));
    writer_->write(event_record(cycle, event, before, engine.view(event.group), out));
    return out;
  }
  void dropped(uint64_t cycle, barrier::Drop reason) {
    if (writer_) writer_->write(barrier::dropped_record(cycle, reason));
  }
  void reset(uint64_t cycle) {
    if (writer_) writer_->write(barrier::reset_record(cycle));
  }

 private:
  using Drops = std::array<uint64_t, barrier::formats::count::DROP>;

  static Drops drops_of(const barrier::Engine& engine) {
    Drops drops{};
    for (size_t reason = 0; reason < drops.size(); ++reason)
      drops[reason] = engine.dropped(static_cast<barrier::Drop>(reason));
    return drops;
  }
  static std::optional<barrier::Drop> first_risen(const Drops& before, const Drops& after) {
    for (size_t reason = 0; reason < before.size(); ++reason) {
      if (before[reason] != after[reason]) return static_cast<barrier::Drop>(reason);
    }
    return std::nullopt;
  }

  std::optional<trace::Writer> writer_;
};

}  // namespace weft::tb

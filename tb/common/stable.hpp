// SPDX-License-Identifier: Apache-2.0
// Checks the rule of every AXI channel: once valid, nothing changes until ready.
#pragma once

#include <string>
#include <utility>

#include "common/findings.hpp"

namespace weft::tb {

template <typename Payload>
class StableCheck {
 public:
  explicit StableCheck(std::string channel) : channel_(std::move(channel)) {}

  /// Once a cycle, with the settled signals.
  void sample(bool valid, bool ready, const Payload& payload, const Reporter& reporter) {
    if (waiting_) {
      if (!valid) {
        reporter.add(channel_ + ": valid fell before ready");
      } else if (!(payload == kept_)) {
        reporter.add(channel_ + ": payload changed while valid waited for ready");
      }
    }
    waiting_ = valid && !ready;
    if (waiting_) kept_ = payload;
  }

  void reset() { waiting_ = false; }

 private:
  std::string channel_;
  Payload kept_{};
  bool waiting_ = false;
};

}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// Abstract bus to an engine's 32-bit registers; answers come by callback, at once or some time later.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace weft::driver {

using OnWritten = std::function<void(bool ok)>;
using OnRead = std::function<void(bool ok, uint32_t data)>;

/// Accesses are carried out in the order of the calls. `ok` is false for a bus error (SLVERR): a bridge that
/// posts writes and does not hear of it has to find out by reading (docs/nic_guide.md, A bus that does not
/// tell) before it answers.
class RegisterBus {
 public:
  virtual ~RegisterBus() = default;
  virtual void write(uint32_t address, uint32_t data, OnWritten done) = 0;
  virtual void read(uint32_t address, OnRead done) = 0;
};

/// Accesses of which each one's answer leads to the next, for ever so often. The stack does not grow, also if
/// the bus answers within the call.
class Repetition {
 public:
  /// @param once makes one access, whose answer calls again() to go on
  void start(std::function<void()> once) {
    once_ = std::move(once);
    again();
  }
  void again() {
    wanted_ = true;
    if (inside_) return;
    inside_ = true;
    while (std::exchange(wanted_, false)) once_();
    inside_ = false;
  }

 private:
  std::function<void()> once_;
  bool wanted_ = false;
  bool inside_ = false;
};

}  // namespace weft::driver

// SPDX-License-Identifier: Apache-2.0
// Abstract bus to an engine's 32-bit registers; answers come by callback, at once or some time later.
#pragma once

#include <cstdint>
#include <functional>

namespace weft::driver {

using OnWritten = std::function<void(bool ok)>;
using OnRead = std::function<void(bool ok, uint32_t data)>;

/// Accesses are carried out in the order of the calls. `ok` is false for a bus error (SLVERR).
class RegisterBus {
 public:
  virtual ~RegisterBus() = default;
  virtual void write(uint32_t address, uint32_t data, OnWritten done) = 0;
  virtual void read(uint32_t address, OnRead done) = 0;
};

}  // namespace weft::driver

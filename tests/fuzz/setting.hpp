// SPDX-License-Identifier: Apache-2.0
// What the first record of a course stands for: how the engine and its surroundings are set.
#pragma once

#include <cstdint>
#include <string>

#include "course.hpp"
#include "driver/rdma_driver.hpp"
#include "rdma_system.hpp"

namespace weft::fuzz {

inline constexpr uint64_t source_base = 0x1000'0000;
inline constexpr uint64_t source_bytes = 16'384;
inline constexpr uint64_t region_base = 0x10'0000'0000;
inline constexpr uint64_t region_bytes = 1 << 20;
/// Of the regions that are open at the start, all of the same memory; by number.
inline constexpr uint16_t region_keys[] = {0, 0x5eed};

struct Setting {
  tb::SystemConfig system;  ///< one engine; what it sends to itself comes back over a network with faults
  driver::RdmaSetup driver;
  bool wait_until_ready = true;       ///< else packets come while software still sets the engine up
  uint64_t error_base = 0;            ///< memory answers with errors from here
  uint64_t error_limit = error_base;  ///< ... to here
};

/// The engine that the course is for: "small" (beats of 32 bytes), or "line" (beats of 64 bytes, so that
/// packets follow one another sooner). @param instead name of another one, empty: none; std::invalid_argument
/// if it is not compiled in
const tb::RdmaBuild& build_of(const Record& record, const std::string& instead);

/// @param build see build_of()
Setting read_setting(const Record& record, const tb::RdmaBuild& build);

}  // namespace weft::fuzz

// SPDX-License-Identifier: Apache-2.0
// What happens to a packet on its way to the packet port: nothing, or one fault of bits, flits or beats.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/axis.hpp"
#include "packets.hpp"

namespace weft::fuzz {

enum class WireFault : uint8_t {
  none,
  bit,           ///< one bit is wrong
  cut,           ///< the last flit is missing, the CRC is of all
  cut_sealed,    ///< the same, with a CRC that fits
  longer,        ///< one flit more, with a CRC that fits
  too_long,      ///< more flits than any packet has, with a CRC that fits
  padding,       ///< the padding is not zero, with a CRC that fits
  keep_hole,     ///< tkeep of a beat without its first flit
  keep_part,     ///< tkeep of a beat with a part of a flit
  empty_before,  ///< a beat with an empty tkeep in front
  empty_last,    ///< the last beat has an empty tkeep
  merged,        ///< tlast is missing, so that the next packet is part of this one
  split,         ///< tlast on every beat
  headless,      ///< the first beat is missing
  zero_crc,      ///< the crc field is zero
  swapped,       ///< two flits have changed places
  endless,       ///< more beats than the engine can buffer, then the packet
  count
};

std::string_view name(WireFault fault);

/// From `wire` of a step; most values are none.
WireFault wire_fault(const Step& step);

/// The beats of the packet, with the fault. @param value where exactly
std::vector<tb::AxisBeat> to_beats(Flits flits, WireFault fault, uint8_t value, uint32_t data_bytes);

}  // namespace weft::fuzz

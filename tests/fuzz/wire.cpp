// SPDX-License-Identifier: Apache-2.0
// What happens to a packet on its way to the packet port.
#include "wire.hpp"

#include <algorithm>
#include <array>

namespace weft::fuzz {

namespace {

constexpr uint8_t first_fault = 200;  // in `wire`
constexpr auto faults = static_cast<unsigned>(WireFault::count);
constexpr std::array<std::string_view, faults> names{
    "none",    "bit",       "cut",       "cut_sealed",   "longer",     "too_long",
    "padding", "keep_hole", "keep_part", "empty_before", "empty_last", "merged",
    "split",   "headless",  "zero_crc",  "swapped",      "endless"};
constexpr std::size_t flit = rdma::flit_bytes;

void spoil_flits(Flits& flits, WireFault fault, uint8_t value) {
  const auto resize_sealed = [&](std::size_t count) {
    flits.resize(count * flit, value);
    seal(flits);
  };
  const std::size_t count = flits.size() / flit;
  switch (fault) {
    case WireFault::bit:
      flits[value * flits.size() / 256] ^= static_cast<uint8_t>(1u << value % 8);
      break;
    case WireFault::cut:
      if (count > 1) flits.resize(flits.size() - flit);
      break;
    case WireFault::cut_sealed:
      if (count > 1) resize_sealed(count - 1);
      break;
    case WireFault::longer:
      resize_sealed(count + 1);
      break;
    case WireFault::too_long:
      resize_sealed(count + 2 + value % 32);
      break;
    case WireFault::padding:
      flits.back() ^= static_cast<uint8_t>(value | 1);
      seal(flits);
      break;
    case WireFault::zero_crc:
      edit_header(flits, [](rdma::formats::Header& header) { header.crc = 0; });
      break;
    case WireFault::swapped:
      if (count > 1) std::swap_ranges(flits.begin(), flits.begin() + flit, flits.end() - flit);
      break;
    default:
      break;
  }
}

void spoil_beats(std::vector<tb::AxisBeat>& beats, WireFault fault, uint8_t value, uint32_t data_bytes) {
  tb::AxisBeat& some = beats[value % beats.size()];
  switch (fault) {
    case WireFault::keep_hole:
      some.keep &= ~((uint64_t{1} << flit) - 1);
      break;
    case WireFault::keep_part:
      some.keep ^= uint64_t{1} << value / 4 % data_bytes;
      break;
    case WireFault::empty_before:
      beats.insert(beats.begin(), 1 + value % 4, tb::AxisBeat{});
      break;
    case WireFault::empty_last:
      beats.back().last = false;
      beats.push_back(tb::AxisBeat{.last = true});
      break;
    case WireFault::merged:
      beats.back().last = false;
      break;
    case WireFault::split:
      for (tb::AxisBeat& beat : beats) beat.last = true;
      break;
    case WireFault::headless:
      if (beats.size() > 1) beats.erase(beats.begin());
      break;
    case WireFault::endless: {
      tb::AxisBeat full = beats.front();
      full.keep = data_bytes >= 64 ? ~uint64_t{0} : (uint64_t{1} << data_bytes) - 1;
      full.last = false;
      beats.insert(beats.begin(), 70 + value % 32, full);
      break;
    }
    default:
      break;
  }
}

}  // namespace

std::string_view name(WireFault fault) { return names.at(static_cast<std::size_t>(fault)); }

WireFault wire_fault(const Step& step) {
  if (step.wire < first_fault) return WireFault::none;
  return static_cast<WireFault>(1 + (step.wire - first_fault) % (faults - 1));
}

std::vector<tb::AxisBeat> to_beats(Flits flits, WireFault fault, uint8_t value, uint32_t data_bytes) {
  spoil_flits(flits, fault, value);
  auto beats = tb::beats_of(flits, data_bytes);
  spoil_beats(beats, fault, value, data_bytes);
  return beats;
}

}  // namespace weft::fuzz

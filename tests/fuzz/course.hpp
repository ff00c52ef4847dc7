// SPDX-License-Identifier: Apache-2.0
// The bytes that a fuzzer makes, read as a course of things that happen at the ports of one engine.
//
// Bytes are cut into records of eight: the first one is the setting, each further one a step. A step says
// what happens in terms of what the golden model holds at that moment ("the packet at WBASE of the second
// context in use"), so that a record keeps its sense when others are put in or taken out before it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace weft::fuzz {

inline constexpr std::size_t record_bytes = 8;
inline constexpr std::size_t max_steps = 128;  ///< what comes after is not looked at
inline constexpr std::size_t max_bytes = (1 + max_steps) * record_bytes;

using Record = std::array<uint8_t, record_bytes>;

enum class Act : uint8_t {
  data,     ///< one DATA packet
  burst,    ///< many of one transfer, without a gap
  request,  ///< RQT
  release,  ///< RELEASE
  rsp,      ///< RSP
  resend,   ///< RESEND
  ack,      ///< ACK
  done,     ///< DONE
  noise,    ///< a packet with all fields at random within their widths
  again,    ///< a packet of before once more
  post,     ///< software wants to send something
  setting,  ///< software accesses a register
  stall,    ///< the network or memory take nothing, or go on
  wait,     ///< nothing, for some clocks
  reset,    ///< of the engine
  count
};

std::string_view name(Act act);

/// Meaning of the bytes of a step; see packets.cpp, wire.cpp and player.cpp for what becomes of each value.
struct Step {
  Act act = Act::wait;
  uint8_t who = 0;     ///< which context, peer or register
  uint8_t fault = 0;   ///< field that is wrong; most values: none
  uint8_t where = 0;   ///< which PIDX, which length, which value
  uint8_t amount = 0;  ///< how many, how long
  uint8_t wire = 0;    ///< what happens to the beats on their way; most values: nothing
  uint8_t gap = 0;     ///< clocks until the next step
  uint8_t extra = 0;   ///< everything else; seed of what is drawn at random

  bool operator==(const Step&) const = default;
};

struct Course {
  Record setting{};
  std::vector<Step> steps;
};

/// Any bytes are a course; a last record that is not whole does not count.
Course parse(std::span<const uint8_t> bytes);

/// parse(encode(course)) is the course.
std::vector<uint8_t> encode(const Course& course);

}  // namespace weft::fuzz

// SPDX-License-Identifier: Apache-2.0
// What passes between an application and the node it is attached to: one request, one reply, and the memory
// that both see (docs/driver.md, Requests to the node).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weft::driver {

enum class Ask : uint32_t {
  attach,          ///< a: node. Values: node, base and bytes of the application's memory, bytes of the node's
  open_region,     ///< x: base, y: bytes, a: access, b: queue told + 1, or 0; domain. Values: key with number
  close_region,    ///< a: key with number
  claim_queue,     ///< a: number, or any_queue; domain. Values: number, sq_base, cq_base, key
  release_queue,   ///< a: number
  write_register,  ///< a: address, b: data
  read_register,   ///< a: address. Values: data
  wait,            ///< x: address of a byte, a: its value, y: clocks. Values: 1 if it changed
  publish,         ///< name, values
  look_up,         ///< a: node, name. Values: as published; if refused 1: there may be something later
  open_barrier,    ///< a: group, b: instance, x: members, a bit a node
  close_barrier,   ///< a: group
  arrive,          ///< a: group
  await_barrier,   ///< a: group, y: clocks. Values: 1 if it has ended, 1 if a member is dead, its node; 1 +
                   ///< node of who was, or is, late, or 0
  clock,           ///< at once, so no clock passes. Values: clock
  attributes,      ///< Values: queues, regions, payload, bytes of the node's memory
  leave,           ///< all is well: who goes without this has died
  not_waited,      ///< Values: how often the clock went on without an application that computes
};

constexpr uint32_t any_queue = ~0u;
constexpr size_t name_bytes = 32;

struct Request {
  Ask ask = Ask::wait;
  uint32_t a = 0, b = 0;
  uint64_t x = 0, y = 0;
  std::array<char, name_bytes> name{};  ///< padded with zeros
  std::array<uint64_t, 4> values{};

  /// Of a region or queue: protection domain of the application, from 0 on.
  uint64_t& domain() { return values[0]; }
  uint64_t domain() const { return values[0]; }
};

struct Reply {
  uint32_t ok = 0;
  std::array<uint64_t, 4> values{};
  std::array<char, 160> why{};  ///< if not ok, one line

  static Reply of(std::array<uint64_t, 4> values = {}) { return {1, values, {}}; }
  static Reply refused(std::string_view why) {
    Reply reply;
    std::copy_n(why.begin(), std::min(why.size(), reply.why.size() - 1), reply.why.begin());
    return reply;
  }
  std::string text() const { return why.data(); }
};

/// An application's way to its node.
class Port {
 public:
  virtual ~Port() = default;
  /// Returns with the reply. Throws Fault if the node is gone.
  virtual Reply ask(const Request& request) = 0;
  /// The node's memory; what the NIC calls an address is an offset in here.
  virtual std::span<uint8_t> memory() = 0;
};

}  // namespace weft::driver

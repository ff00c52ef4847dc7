// SPDX-License-Identifier: Apache-2.0
// Subnet management datagrams, directed, by libibumad. Not for use outside this folder.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ib/subnet.hpp"

namespace weft::ib {

/// The ports that a datagram leaves by, one after the other, the first that of this machine.
using Path = std::vector<uint8_t>;

inline constexpr std::size_t most_hops = 63;  ///< of a path

/// The 64 bytes of an attribute.
using Attribute = std::array<uint8_t, 64>;

struct Request {
  const Path* path = nullptr;
  uint16_t attribute = 0;
  uint32_t modifier = 0;
  std::optional<Attribute> data;  ///< to be set; none: to be asked for
};

/// A port of this machine.
class SmpPort {
 public:
  /// Throws NoSubnet if there is no such port, or it leads nowhere.
  explicit SmpPort(const SubnetOptions& options);
  ~SmpPort();
  SmpPort(const SmpPort&) = delete;
  SmpPort& operator=(const SmpPort&) = delete;

  /// The answer; nothing if there is none, or it says no: see failure().
  std::optional<Attribute> get(const Path& path, uint16_t attribute, uint32_t modifier);
  std::optional<Attribute> set(const Path& path, uint16_t attribute, uint32_t modifier,
                               const Attribute& data);
  /// Several at a time, answered in any order. If one is not, or with no, no more are begun, those under way
  /// are waited for, and the first that failed is returned.
  std::optional<std::size_t> ask_all(std::span<const Request> requests,
                                     const std::function<void(std::size_t)>& sent,
                                     const std::function<void(std::size_t, const Attribute&)>& answered);
  const std::string& failure() const { return failure_; }

 private:
  class Asking;
  std::optional<Attribute> ask(const Request& request);
  bool send(const Request& request, uint32_t transaction);

  SubnetOptions options_;
  int port_ = -1, agent_ = -1;
  uint32_t transaction_ = 0;
  std::vector<uint8_t> umad_;  // header of libibumad, and datagram
  std::string failure_;
};

}  // namespace weft::ib

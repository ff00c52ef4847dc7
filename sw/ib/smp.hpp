// SPDX-License-Identifier: Apache-2.0
// Subnet management datagrams, directed, by libibumad. Not for use outside this folder.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ib/subnet.hpp"

namespace weft::ib {

/// The ports that a datagram leaves by, one after the other, the first that of this machine.
using Path = std::vector<uint8_t>;

inline constexpr std::size_t most_hops = 63;  ///< of a path

/// The 64 bytes of an attribute.
using Attribute = std::array<uint8_t, 64>;

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
  const std::string& failure() const { return failure_; }

 private:
  std::optional<Attribute> ask(uint8_t method, const Path& path, uint16_t attribute, uint32_t modifier,
                               const Attribute& data);
  bool send(uint8_t method, const Path& path, uint16_t attribute, uint32_t modifier, const Attribute& data);
  bool receive();

  SubnetOptions options_;
  int port_ = -1, agent_ = -1;
  uint32_t transaction_ = 0;
  std::vector<uint8_t> umad_;  // header of libibumad, and datagram
  std::string failure_;
};

}  // namespace weft::ib

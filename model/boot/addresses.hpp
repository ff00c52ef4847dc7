// SPDX-License-Identifier: Apache-2.0
// IPv4 addresses of boot servers and nodes: each kind in the order of its numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::boot {

/// Of "10.0.0.1". Throws Fault.
uint32_t address_of(std::string_view text);
std::string address_text(uint32_t address);

/// All in one subnet; what a machine file does not name is this.
struct Addresses {
  uint32_t subnet = 0x0a000000;
  uint32_t prefix = 8;  ///< bits, 1 to 30
  uint32_t first_server = 0x0a000001;
  uint32_t first_node = 0x0a400000;

  uint32_t host_mask() const { return 0xffffffffu >> prefix; }
  uint32_t server(uint32_t number) const { return first_server + number; }
  uint32_t node(uint32_t number) const { return first_node + number; }
  /// Within the subnet, neither its own nor its broadcast address.
  bool is_host(uint64_t address) const;
  std::string subnet_text() const;
  /// From "10.0.0.0/8". Throws Fault.
  void set_subnet(std::string_view text);
  bool operator==(const Addresses&) const = default;
};

}  // namespace weft::boot

// SPDX-License-Identifier: Apache-2.0
// IPv4 addresses as text.
#include "boot/addresses.hpp"

#include <fmt/format.h>

#include "boot/words.hpp"
#include "common/fault.hpp"

namespace weft::boot {

uint32_t address_of(std::string_view text) {
  const auto parts = split(text, '.');
  uint32_t address = 0;
  for (const std::string_view part : parts) {
    const auto value = number(part);
    if (parts.size() != 4 || !value || *value > 255) throw Fault(in_quotes(text) + " is not an IPv4 address");
    address = address << 8 | static_cast<uint32_t>(*value);
  }
  return address;
}

std::string address_text(uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 0xff, address >> 8 & 0xff, address & 0xff);
}

bool Addresses::is_host(uint64_t address) const {
  return address > subnet && address < uint64_t{subnet} + host_mask();
}

std::string Addresses::subnet_text() const { return fmt::format("{}/{}", address_text(subnet), prefix); }

void Addresses::set_subnet(std::string_view text) {
  const auto parts = split(text, '/');
  const auto bits = number(parts.back());
  if (parts.size() != 2 || !bits || *bits == 0 || *bits > 30)
    throw Fault(in_quotes(text) + " is not a subnet such as 10.0.0.0/8 (prefix 1 to 30)");
  subnet = address_of(parts[0]);
  prefix = static_cast<uint32_t>(*bits);
}

}  // namespace weft::boot

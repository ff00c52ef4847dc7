// SPDX-License-Identifier: Apache-2.0
// What generators share.
#include "topology/maker.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace weft::topology {

void check_range(const char* what, uint64_t value, uint64_t least, uint64_t most) {
  if (value >= least && value <= most) return;
  throw std::invalid_argument(fmt::format("{} is {}, must be {} to {}", what, value, least, most));
}

void check_size(uint64_t switches, uint64_t hosts, uint64_t ports) {
  const auto check = [](const char* what, uint64_t count, uint64_t most) {
    if (count > most)
      throw std::invalid_argument(fmt::format("{} {}, at most {} are possible", count, what, most));
  };
  check("switches", switches, most_switches);
  check("hosts", hosts, most_hosts);
  check("ports of a switch", ports, most_ports);
}

uint32_t Maker::add_switch(std::string name, uint32_t ports) {
  const auto number = static_cast<uint32_t>(parts_.switches.size());
  parts_.switches.push_back({first_switch_guid + number, std::move(name), ports});
  return number;
}

uint32_t Maker::add_host(uint32_t sw, uint32_t port) {
  const auto number = static_cast<uint32_t>(parts_.hosts.size());
  parts_.hosts.push_back({first_host_guid + host_guid_step * number, fmt::format("host-{}", number), 1});
  parts_.host_links.push_back({number, sw, 1, static_cast<uint16_t>(port)});
  return number;
}

void Maker::add_hosts(uint32_t sw, uint32_t count) {
  for (uint32_t port = 1; port <= count; ++port) add_host(sw, port);
}

void Maker::connect(uint32_t a, uint32_t a_port, uint32_t b, uint32_t b_port) {
  parts_.switch_links.push_back({a, b, static_cast<uint16_t>(a_port), static_cast<uint16_t>(b_port)});
}

}  // namespace weft::topology

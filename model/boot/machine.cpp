// SPDX-License-Identifier: Apache-2.0
// What a machine is and cannot be.
#include "boot/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boot/words.hpp"

namespace weft::boot {

namespace {

std::optional<Impossible> bad_rate(const std::string& field, double mbps) {
  if (mbps > 0 && std::isfinite(mbps)) return std::nullopt;
  return Impossible{field, "a bandwidth must be more than 0 Mb/s"};
}

std::optional<Impossible> bad_size(const Machine& machine) {
  const std::array<std::pair<const char*, uint32_t>, 6> counts = {
      {{"cpus_per_board", machine.cpus_per_board},
       {"boards_per_supernode", machine.boards_per_supernode},
       {"supernodes_per_cabinet", machine.supernodes_per_cabinet},
       {"supernodes", machine.supernodes},
       {"servers", machine.servers},
       {"servers_per_edge", machine.servers_per_edge}}};
  for (const auto& [field, count] : counts) {
    if (count == 0) return Impossible{field, "must be at least 1"};
    if (count > most_servers) return Impossible{field, fmt::format("must be at most {}", most_servers)};
  }
  // each factor is at most 2^20, so that only the product of all three can overflow
  if (machine.boards() > most_nodes || machine.nodes() > most_nodes)
    return Impossible{"supernodes", fmt::format("the machine has more than {} CPUs", most_nodes)};
  return std::nullopt;
}

std::optional<Impossible> bad_server(const Machine& machine) {
  for (const auto& [server, own] : machine.unequal_servers) {
    if (server >= machine.servers)
      return Impossible{"unequal_servers",
                        fmt::format("there is no server {}, only 0 to {}", server, machine.servers - 1)};
    if (auto fault = bad_rate("unequal_servers", own.mbps.value_or(1))) return fault;
    if (!(own.disk_mbps > 0)) return Impossible{"unequal_servers", "a bandwidth must be more than 0 Mb/s"};
  }
  for (const uint32_t server : machine.failed_servers) {
    if (server >= machine.servers)
      return Impossible{"failed_servers",
                        fmt::format("there is no server {}, only 0 to {}", server, machine.servers - 1)};
  }
  if (machine.failed_servers.size() == machine.servers)
    return Impossible{"failed_servers", "no server is left"};
  return std::nullopt;
}

}  // namespace

double Machine::server_mbps(uint32_t server) const {
  const auto own = unequal_servers.find(server);
  if (own == unequal_servers.end()) return links[4].total();
  return std::min(own->second.mbps.value_or(links[4].total()), own->second.disk_mbps);
}

std::optional<Impossible> impossible(const Machine& machine) {
  if (auto fault = bad_size(machine)) return fault;
  for (uint32_t segment = 0; segment < segments; ++segment) {
    const Link& link = machine.links[segment];
    const std::string field = fmt::format("links.n{}", segment + 1);
    if (auto fault = bad_rate(field + ".mbps", link.mbps)) return fault;
    if (link.count == 0) return Impossible{field + ".count", "must be at least 1"};
  }
  if (!(machine.image_megabits > 0) || !std::isfinite(machine.image_megabits))
    return Impossible{"image_size", "an image must have at least a byte"};
  return bad_server(machine);
}

std::optional<Impossible> impossible_addresses(const Machine& machine) {
  const Addresses& addresses = machine.addresses;
  if ((addresses.subnet & addresses.host_mask()) != 0)
    return Impossible{"addresses.subnet",
                      fmt::format("{} has bits beyond its prefix", addresses.subnet_text())};
  const std::array<std::tuple<const char*, uint32_t, uint64_t>, 2> ranges = {
      {{"addresses.first_server", addresses.first_server, machine.servers},
       {"addresses.first_node", addresses.first_node, machine.nodes()}}};
  for (const auto& [field, first, count] : ranges) {
    const uint64_t last = first + count - 1;
    if (!addresses.is_host(first) || !addresses.is_host(last))
      return Impossible{field, fmt::format("{} addresses from {} on do not fit into {}", count,
                                           address_text(first), addresses.subnet_text())};
  }
  const uint64_t servers = addresses.first_server, nodes = addresses.first_node;
  if (servers < nodes + machine.nodes() && nodes < servers + machine.servers)
    return Impossible{"addresses.first_node", "nodes and servers would have the same addresses"};
  return std::nullopt;
}

double megabits_of_size(std::string_view size) {
  constexpr std::array<std::pair<std::string_view, double>, 7> units = {
      {{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}}};
  const std::size_t digits = std::min(size.find_first_not_of("0123456789"), size.size());
  const auto count = number(size.substr(0, digits));
  const auto* unit = std::find_if(units.begin(), units.end(),
                                  [&](const auto& known) { return known.first == size.substr(digits); });
  if (!count || *count == 0 || unit == units.end())
    throw Fault(in_quotes(size) + " is not a size such as 50MB (B, kB, MB, GB, KiB, MiB, GiB)");
  return static_cast<double>(*count) * unit->second * 8 / 1e6;
}

double image_megabits(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) throw Fault(file.string() + ": no such image");
  if (!std::filesystem::is_regular_file(file, error)) throw Fault(file.string() + ": is not an image");
  const auto bytes = std::filesystem::file_size(file, error);
  if (error) throw Fault(file.string() + ": cannot be read");
  if (bytes == 0) throw Fault(file.string() + ": the image is empty");
  return static_cast<double>(bytes) * 8 / 1e6;
}

void measure_files(Machine& machine) {
  const double initrd = machine.initrd.empty() ? 0 : image_megabits(machine.initrd);
  machine.image_megabits = image_megabits(machine.image);
  if (machine.kernel.empty())
    machine.image_megabits += initrd;
  else
    machine.kernel_megabits = image_megabits(machine.kernel) + initrd;
}

}  // namespace weft::boot

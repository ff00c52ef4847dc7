// SPDX-License-Identifier: Apache-2.0
// Groups by formula: lines of a grid of processes, random hosts.
#include <fmt/format.h>

#include <charconv>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "fabric/random.hpp"
#include "mcast/groups.hpp"

namespace weft::mcast {

namespace {

using Numbers = std::vector<uint64_t>;

/// Whole numbers with `separator` between them; nothing if it is anything else.
std::optional<Numbers> numbers_in(std::string_view text, char separator) {
  Numbers numbers;
  for (;;) {
    uint64_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc()) return std::nullopt;
    numbers.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
    if (text.empty()) return numbers;
    if (text.front() != separator) return std::nullopt;
    text.remove_prefix(1);
  }
}

[[noreturn]] void fail(const std::string& spec, const std::string& why) {
  throw Fault(fmt::format("{}: {}", spec, why));
}

/// Process r runs on host r / `per_host`; the first index of a process runs fastest.
struct Grid {
  Numbers sizes;
  uint64_t per_host = 1;
};

Grid parse_grid(const std::string& spec, std::string_view shape) {
  Grid grid;
  const std::size_t at = shape.find('@');
  const auto sizes = numbers_in(shape.substr(0, at), 'x');
  const auto per_host = at == shape.npos ? Numbers{1} : numbers_in(shape.substr(at + 1), '@');
  if (!sizes || sizes->size() < 2 || sizes->size() > 3 || !per_host || per_host->size() != 1)
    fail(spec, "must be grid:AxB[xC][@PROCESSES_PER_HOST] with whole numbers");
  grid.sizes = *sizes;
  grid.per_host = per_host->front();
  return grid;
}

/// Throws Fault if it is more than the fabric, or nothing.
uint64_t processes_of(const Grid& grid, const std::string& spec, const topology::Graph& graph) {
  if (grid.per_host < 1 || grid.per_host > most_groups)
    fail(spec, fmt::format("{} processes on a host, must be 1 to {}", grid.per_host, most_groups));
  const uint64_t room = graph.hosts() * grid.per_host;
  uint64_t processes = 1;
  for (const uint64_t size : grid.sizes) {
    if (size < 1) fail(spec, "a side of the grid is 0");
    if (size > room / processes)
      fail(spec, fmt::format("more processes than the {} that {} hosts have", room, graph.hosts()));
    processes *= size;
  }
  return processes;
}

Groups grid_groups(const std::string& spec, std::string_view shape, const topology::Graph& graph) {
  const Grid grid = parse_grid(spec, shape);
  const uint64_t processes = processes_of(grid, spec, graph);
  Groups groups;
  uint64_t stride = 1;
  for (const uint64_t size : grid.sizes) {
    for (uint64_t first = 0; size > 1 && first < processes; ++first) {
      if (first / stride % size != 0) continue;
      std::vector<uint32_t> hosts;
      for (uint64_t i = 0; i < size; ++i)
        hosts.push_back(static_cast<uint32_t>((first + i * stride) / grid.per_host));
      groups.add(std::move(hosts));
    }
    stride *= size;
  }
  if (groups.count() == 0) fail(spec, "a grid of one process has no groups");
  return groups;
}

Groups random_groups(const std::string& spec, std::string_view shape, const topology::Graph& graph) {
  const auto numbers = numbers_in(shape, ':');
  if (!numbers || numbers->size() != 3) fail(spec, "must be random:COUNT:SIZE:SEED with whole numbers");
  const uint64_t count = (*numbers)[0], size = (*numbers)[1];
  if (count < 1 || count > most_groups)
    fail(spec, fmt::format("COUNT is {}, must be 1 to {}", count, most_groups));
  if (graph.hosts() < 2) fail(spec, "the fabric has one host, a group needs two");
  if (size < 2 || size > graph.hosts())
    fail(spec, fmt::format("SIZE is {}, must be 2 to {}, the number of hosts", size, graph.hosts()));
  if (count > most_memberships / size) fail(spec, "too many members");
  RandomStream random((*numbers)[2]);
  std::vector<uint32_t> hosts(graph.hosts());
  std::iota(hosts.begin(), hosts.end(), 0);
  Groups groups;
  for (uint64_t group = 0; group < count; ++group) {
    for (uint64_t i = 0; i < size; ++i) std::swap(hosts[i], hosts[i + random.below(hosts.size() - i)]);
    groups.add({hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(size)});
  }
  return groups;
}

Groups make(const std::string& spec, const topology::Graph& graph) {
  const std::size_t colon = spec.find(':');
  const std::string kind = spec.substr(0, colon);
  const std::string_view rest =
      colon == spec.npos ? std::string_view() : std::string_view(spec).substr(colon + 1);
  if (kind == "grid") return grid_groups(spec, rest, graph);
  if (kind == "random") return random_groups(spec, rest, graph);
  if (spec == "file:") fail(spec, "must be file:PATH, the path is missing");
  if (kind == "file" && colon != spec.npos) return read_groups_file(rest, graph);
  if (spec.empty()) throw Fault(fmt::format("an empty text is no set of groups, which is {}", group_forms));
  fail(spec, fmt::format("is no set of groups, which is {}", group_forms));
}

}  // namespace

Groups load_groups(const std::string& spec, const topology::Graph& graph) {
  try {
    return make(spec, graph);
  } catch (const std::length_error& error) {
    fail(spec, error.what());
  }
}

}  // namespace weft::mcast

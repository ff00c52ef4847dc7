// SPDX-License-Identifier: Apache-2.0
// Sizes of groups, roughly.
#include "mcast/order.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "mcast/tree.hpp"

namespace weft::mcast {

namespace {

constexpr double classes_of_a_doubling = 2;

/// Switches on ways from the first member to all others, on a logarithmic scale.
int size_class(const std::vector<uint32_t>& hosts, const Hops& hops, Hops::Room& room) {
  const auto place = [&](uint32_t host) { return hops.graph().attachments(host).front().node; };
  const uint8_t* row = hops.from(place(hosts.front()), room);
  uint64_t sum = 1;
  uint32_t before = none;
  for (const uint32_t host : hosts) {
    const uint32_t sw = place(host);
    if (sw != before) sum += row[sw];
    before = sw;
  }
  return static_cast<int>(classes_of_a_doubling * std::log2(static_cast<double>(sum)));
}

}  // namespace

void sort_by_size(std::vector<uint32_t>& groups, const Forest& forest, const Hops& hops, uint32_t block) {
  struct Entry {
    int size;
    uint32_t group;
  };
  Hops::Room room;
  std::vector<Entry> entries;
  entries.reserve(groups.size());
  for (const uint32_t group : groups) entries.push_back({size_class(forest.hosts(group), hops, room), group});
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.size > b.size; });
  groups.clear();
  if (block < 2) {
    for (const Entry& entry : entries) groups.push_back(entry.group);
    return;
  }
  for (std::size_t first = 0; first < entries.size();) {
    std::size_t end = first;
    while (end < entries.size() && entries[end].size == entries[first].size) ++end;
    const std::size_t step = (end - first + block - 1) / block;
    for (std::size_t offset = 0; offset < step; ++offset)
      for (std::size_t i = first + offset; i < end; i += step) groups.push_back(entries[i].group);
    first = end;
  }
}

}  // namespace weft::mcast

// SPDX-License-Identifier: Apache-2.0
// Sets of groups.
#include "mcast/groups.hpp"

#include <algorithm>
#include <stdexcept>

namespace weft::mcast {

void Groups::add(std::vector<uint32_t> hosts) {
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  if (count() == most_groups) throw std::length_error("too many groups");
  if (hosts_.size() + hosts.size() > most_memberships) throw std::length_error("too many members");
  hosts_.insert(hosts_.end(), hosts.begin(), hosts.end());
  start_.push_back(hosts_.size());
}

uint32_t Groups::local() const {
  uint32_t local = 0;
  for (uint32_t group = 0; group < count(); ++group) local += is_local(group) ? 1 : 0;
  return local;
}

}  // namespace weft::mcast

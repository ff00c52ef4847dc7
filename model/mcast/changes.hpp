// SPDX-License-Identifier: Apache-2.0
// Groups that have changed since their tables were made: what is still asked for keeps its tree.
#pragma once

#include "mcast/forest.hpp"
#include "mcast/groups.hpp"
#include "mcast/hops.hpp"
#include "mcast/router.hpp"
#include "mcast/tables.hpp"

namespace weft::mcast {

/// The trees of tables that are right for these groups, as the checker says.
Forest forest_of(const topology::Graph& graph, const Groups& groups, const FabricTables& tables);

/// What became of the groups that were there.
struct Changes {
  uint32_t same = 0;  ///< a group now has the same members
  uint32_t changed =
      0;  ///< of a group now at least half of the members of both were in it: they join and leave
  uint32_t gone = 0;
  uint32_t fresh = 0;  ///< groups now that were not there
};

/// Trees for `now`, from those for `before`: groups that are the same keep theirs, others change, go and
/// come, in this order. Trees are moved only where Router says so. @param before numbered as `old`
Forest with_changes(const Hops& hops, const RouterOptions& options, const Forest& before, const Groups& old,
                    const Groups& now, Changes& changes);

}  // namespace weft::mcast

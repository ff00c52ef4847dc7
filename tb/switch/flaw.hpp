// SPDX-License-Identifier: Apache-2.0
// One mistake in the tables of a fabric, made on purpose: the run has to find it.
#pragma once

#include <string>

#include "fabric/random.hpp"
#include "switch/image.hpp"
#include "switchtables/images.hpp"

namespace weft::tb {

enum class Flaw {
  none,
  bit,      ///< one port more or less in a multicast entry
  entry,    ///< a multicast entry is missing
  unicast,  ///< a unicast entry is missing, of a host's switch for a host of another one
  promise,  ///< one hop less is promised, of one pair of switches; tables are right
  hasty,    ///< senders go over to new trees before all switches of these have them
  model,    ///< as bit, but in the golden model of a block alone, beside right RTL
};

/// Names of them, as of the command line.
Flaw flaw_of(const std::string& name);

/// @param images of all switches of the fabric, whose entries stay in order
/// Throws Fault if there is nothing to spoil: no multicast entry, or one switch only.
void spoil(switchtables::Images& images, const switchtables::Fabric& fabric,
           const switch_lookup::Sizes& sizes, Flaw flaw, RandomStream& random);

}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// Event traces of RTL and golden model of every node, for `weft trace diff`, and of what the network does
// with their packets.
#pragma once

#include <string>

namespace weft::tb {
class RdmaSystem;
}

namespace weft::sim {

/// Makes the folder if need be. Throws BadInput if it cannot be written to.
void open_traces(tb::RdmaSystem& system, const std::string& folder);
void close_traces(tb::RdmaSystem& system);

}  // namespace weft::sim

// SPDX-License-Identifier: Apache-2.0
// Retired events of the switch lookup block as trace records; RTL monitor and golden model both go through
// here (docs/trace.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "switch/lookup.hpp"
#include "switch/management.hpp"
#include "trace/record.hpp"

namespace weft::switch_lookup {

/// A result that was taken.
/// @param request as it comes with the result
/// @param fetched what the golden model has read for it
trace::Record lookup_record(uint64_t cycle, const formats::Request& request, const Fetched& fetched,
                            Ports alive, const Result& result);

/// An image comes into use.
/// @param by_packets the last word came in a management packet, not by a register
trace::Record tables_record(uint64_t cycle, const Image& image, bool by_packets);

/// An image is refused. @param words taken, the bad one included
trace::Record refused_record(uint64_t cycle, formats::LoadFault fault, uint32_t words);

/// The scrubber has read an entry with wrong bits, of which one was mended and more stay.
/// @param meanwhile what else the block did
trace::Record scrubbed_record(uint64_t cycle, bool multicast, uint32_t entry, bool mended,
                              const std::string& meanwhile);

/// A management packet was taken, or dropped for a reason.
trace::Record management_record(uint64_t cycle, const ManagementPacket& packet,
                                std::optional<formats::ManagementDrop> drop);

}  // namespace weft::switch_lookup

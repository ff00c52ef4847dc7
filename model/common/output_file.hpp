// SPDX-License-Identifier: Apache-2.0
// Results are there as a whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace weft {

/// Writes `text` to a file beside `file` and renames it, so that a reader never sees half of it. What is
/// there and is not a regular file (a device, a pipe, a link) is written to as it is. Throws
/// std::runtime_error, "FILE: cannot be written: why".
void write_whole(const std::filesystem::path& file, std::string_view text);

}  // namespace weft

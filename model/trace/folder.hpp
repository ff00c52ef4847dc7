// SPDX-License-Identifier: Apache-2.0
// Where traces go if the environment asks for them (docs/trace.md).
#pragma once

#include <filesystem>
#include <optional>

namespace weft::trace {

/// A new folder, for one simulation of this process, below that of WEFT_TRACES; nothing if that is not set.
/// It is called after WEFT_TRACE_NAME, which tests set to their own name, or after the program and its
/// process. Throws std::filesystem::filesystem_error if it cannot be made.
std::optional<std::filesystem::path> next_folder();

}  // namespace weft::trace

// SPDX-License-Identifier: Apache-2.0
// Where traces go if the environment asks for them.
#include "trace/folder.hpp"

#include <errno.h>  // program_invocation_short_name, of glibc
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>

namespace weft::trace {

std::optional<std::filesystem::path> next_folder() {
  const char* const all = std::getenv("WEFT_TRACES");
  if (!all) return std::nullopt;
  static std::atomic<uint32_t> simulations = 0;
  const char* const name = std::getenv("WEFT_TRACE_NAME");
  std::string own_name = name ? name : fmt::format("{}.{}", program_invocation_short_name, getpid());
  std::ranges::replace(own_name, '/', ',');
  const std::filesystem::path own = fmt::format("{}/{}.{}", all, own_name, ++simulations);
  std::filesystem::create_directories(own);
  return own;
}

}  // namespace weft::trace

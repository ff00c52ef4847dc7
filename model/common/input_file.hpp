// SPDX-License-Identifier: Apache-2.0
// A file that is read as a whole.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace weft {

/// Its bytes. Throws Fault, "FILE: why not".
template <typename Fault>
std::string read_whole(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) throw Fault(file.string() + ": no such file");
  if (std::filesystem::is_directory(file, error)) throw Fault(file.string() + ": is a folder");
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Fault(file.string() + ": cannot be read");
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) throw Fault(file.string() + ": cannot be read");
  return bytes;
}

}  // namespace weft

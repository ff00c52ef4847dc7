// SPDX-License-Identifier: Apache-2.0
// A file that is read as a whole.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>

namespace weft {

/// Its bytes. Throws Fault, "FILE: why not", also if there are more than `most`, without reading on: a device
/// may have no end.
template <typename Fault>
std::string read_whole(const std::filesystem::path& file,
                       std::size_t most = std::numeric_limits<std::size_t>::max()) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) throw Fault(file.string() + ": no such file");
  if (std::filesystem::is_directory(file, error)) throw Fault(file.string() + ": is a folder");
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Fault(file.string() + ": cannot be read");
  std::string bytes;
  std::array<char, 65536> part;
  do {
    in.read(part.data(), part.size());
    bytes.append(part.data(), static_cast<std::size_t>(in.gcount()));
    if (bytes.size() > most)
      throw Fault(file.string() + ": has more than " + std::to_string(most) + " bytes");
  } while (in);
  if (in.bad()) throw Fault(file.string() + ": cannot be read");
  return bytes;
}

}  // namespace weft

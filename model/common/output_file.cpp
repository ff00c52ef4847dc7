// SPDX-License-Identifier: Apache-2.0
// Results are there as a whole or not at all.
#include "common/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>

namespace weft {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& file, const std::string& why) {
  throw std::runtime_error(file.string() + ": cannot be written: " + why);
}

bool write_all(const fs::path& file, std::string_view text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  return static_cast<bool>(out);
}

}  // namespace

void write_whole(const fs::path& file, std::string_view text) {
  std::error_code error;
  const bool plain =
      !fs::is_symlink(file, error) && (fs::is_regular_file(file, error) || !fs::exists(file, error));
  if (!plain) {
    if (!write_all(file, text)) fail(file, std::strerror(errno));
    return;
  }
  const fs::path part = file.string() + ".part";
  if (!write_all(part, text)) {
    const std::string why = std::strerror(errno);
    fs::remove(part, error);
    fail(file, why);
  }
  fs::rename(part, file, error);
  if (!error) return;
  const std::string why = error.message();
  fs::remove(part, error);
  fail(file, why);
}

}  // namespace weft

// SPDX-License-Identifier: Apache-2.0
// Results are there as a whole or not at all.
#include "common/output_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace weft {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& file, const std::string& why) {
  throw std::runtime_error(file.string() + ": cannot be written: " + why);
}

bool is_plain(const fs::path& file) {
  std::error_code error;
  return !fs::is_symlink(file, error) && (fs::is_regular_file(file, error) || !fs::exists(file, error));
}

void expect_different(std::span<const OutputFile> files) {
  std::vector<fs::path> paths;
  for (const OutputFile& file : files) paths.push_back(file.path);
  std::sort(paths.begin(), paths.end());
  const auto twice = std::adjacent_find(paths.begin(), paths.end());
  if (twice != paths.end()) fail(*twice, "two results are to go there");
}

/// Files that are not yet where they shall be; those left are removed.
class Parts {
 public:
  Parts() = default;
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() {
    std::error_code error;
    for (const fs::path& file : files_) fs::remove(part_of(file), error);
  }

  void write(const OutputFile& file) {
    files_.push_back(file.path);
    write_all(part_of(file.path), file);
  }

  void put_in_place() {
    for (; !files_.empty(); files_.pop_back()) {
      std::error_code error;
      fs::rename(part_of(files_.back()), files_.back(), error);
      if (error) fail(files_.back(), error.message());
    }
  }

  static void write_all(const fs::path& to, const OutputFile& file) {
    std::ofstream out(to, std::ios::binary | std::ios::trunc);
    out << file.text;
    out.close();
    if (!out) fail(file.path, std::strerror(errno));
  }

 private:
  static fs::path part_of(const fs::path& file) { return file.string() + ".part"; }

  std::vector<fs::path> files_;
};

}  // namespace

void write_whole(std::span<const OutputFile> files) {
  expect_different(files);
  Parts parts;
  for (const OutputFile& file : files)
    if (is_plain(file.path)) parts.write(file);
  for (const OutputFile& file : files)
    if (!is_plain(file.path)) Parts::write_all(file.path, file);
  parts.put_in_place();
}

void write_whole(const fs::path& file, std::string text) {
  const OutputFile one{file, std::move(text)};
  write_whole({&one, 1});
}

NewFolder::NewFolder(fs::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  made_ = fs::create_directory(folder_, error);
  if (!error && !fs::is_directory(folder_, error)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) throw std::runtime_error(folder_.string() + ": cannot be made: " + error.message());
}

NewFolder::~NewFolder() {
  std::error_code error;
  if (made_) fs::remove(folder_, error);
}

}  // namespace weft

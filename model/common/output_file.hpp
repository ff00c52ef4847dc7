// SPDX-License-Identifier: Apache-2.0
// Results are there as a whole or not at all.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace weft {

struct OutputFile {
  std::filesystem::path path;
  std::string text;
};

/// Writes each text to a file beside its own and then renames them, so that a reader never sees half of one,
/// and none is there if one cannot be written. What is there and is not a regular file (a device, a pipe, a
/// link) is written to as it is, before. Throws std::runtime_error, "FILE: cannot be written: why".
void write_whole(std::span<const OutputFile> files);
void write_whole(const std::filesystem::path& file, std::string text);

/// A folder for results: made if it is not there, and then removed again, if still empty, unless kept.
class NewFolder {
 public:
  /// Throws std::runtime_error, "FOLDER: cannot be made: why".
  explicit NewFolder(std::filesystem::path folder);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();
  void keep() { made_ = false; }

 private:
  std::filesystem::path folder_;
  bool made_ = false;
};

}  // namespace weft

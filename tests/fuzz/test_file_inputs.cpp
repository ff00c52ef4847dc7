// SPDX-License-Identifier: Apache-2.0
// Texts that fuzzing begins with, and those that it has found faults with: each reader takes those of its own
// and, as anything else, those of others.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "file_inputs.hpp"

namespace weft::fuzz {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void play(const Reader& reader, const std::filesystem::path& file, const std::string& text) {
  try {
    reader.play(text);
  } catch (const std::exception& error) {
    ADD_FAILURE() << reader.name << ", " << file << ": " << error.what();
  }
}

TEST(FileInputs, AreReadOrRefusedInOneLine) {
  for (const Reader& of : readers) {
    std::size_t files = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(WEFT_TEST_DATA) / of.name)) {
      const std::string text = text_of(entry.path());
      ++files;
      for (const Reader& reader : readers) play(reader, entry.path(), text);
      // as far as each line, and without each line
      for (std::size_t end = text.find('\n'); end < text.size() && end < 4096;
           end = text.find('\n', end + 1)) {
        play(of, entry.path(), text.substr(0, end));
        play(of, entry.path(), text.substr(end + 1));
      }
    }
    EXPECT_GT(files, 1u) << of.name;
  }
}

}  // namespace
}  // namespace weft::fuzz

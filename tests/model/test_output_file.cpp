// SPDX-License-Identifier: Apache-2.0
// Result files are there as a whole or not at all, and what is not a plain file stays what it is.
#include "common/output_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace weft {
namespace {

namespace fs = std::filesystem;

class OutputFile : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string contents(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  fs::path folder_ =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(OutputFile, IsWrittenAndReplaced) {
  write_whole(folder_ / "a", "first");
  write_whole(folder_ / "a", "2nd");
  EXPECT_EQ(contents(folder_ / "a"), "2nd");
  EXPECT_FALSE(fs::exists(folder_ / "a.part"));
}

TEST_F(OutputFile, LinkStaysALink) {
  fs::create_symlink("target", folder_ / "link");  // to nothing yet
  write_whole(folder_ / "link", "once");
  write_whole(folder_ / "link", "twice");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(contents(folder_ / "target"), "twice");
}

TEST_F(OutputFile, FolderIsNoFile) {
  fs::create_directory(folder_ / "b");
  EXPECT_THROW(write_whole(folder_ / "b", "x"), std::runtime_error);
  EXPECT_TRUE(fs::is_directory(folder_ / "b"));
}

TEST_F(OutputFile, FolderThatIsMissingIsNamed) {
  try {
    write_whole(folder_ / "no" / "c", "x");
    FAIL() << "written into a folder that is not there";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("no/c: cannot be written: No such file"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace weft

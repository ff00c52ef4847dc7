// SPDX-License-Identifier: Apache-2.0
// Result files are there as a whole or not at all, and what is not a plain file stays what it is.
#include "common/output_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

namespace fs = std::filesystem;

class OutputFiles : public testing::Test {
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

TEST_F(OutputFiles, IsWrittenAndReplaced) {
  write_whole(folder_ / "a", "first");
  write_whole(folder_ / "a", "2nd");
  EXPECT_EQ(contents(folder_ / "a"), "2nd");
  EXPECT_FALSE(fs::exists(folder_ / "a.part"));
}

TEST_F(OutputFiles, LinkStaysALink) {
  fs::create_symlink("target", folder_ / "link");  // to nothing yet
  write_whole(folder_ / "link", "once");
  write_whole(folder_ / "link", "twice");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(contents(folder_ / "target"), "twice");
}

TEST_F(OutputFiles, FolderIsNoFile) {
  fs::create_directory(folder_ / "b");
  EXPECT_THROW(write_whole(folder_ / "b", "x"), std::runtime_error);
  EXPECT_TRUE(fs::is_directory(folder_ / "b"));
}

TEST_F(OutputFiles, FolderThatIsMissingIsNamed) {
  try {
    write_whole(folder_ / "no" / "c", "x");
    FAIL() << "written into a folder that is not there";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("no/c: cannot be written: No such file"), std::string::npos)
        << error.what();
  }
}

std::string refused(std::span<const OutputFile> files) {
  try {
    write_whole(files);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "written";
}

TEST_F(OutputFiles, AllOrNone) {
  const OutputFile good{folder_ / "a", "new"}, device{"/dev/full", "x"}, nowhere{folder_ / "no" / "c", "x"};
  write_whole(folder_ / "a", "old");
  for (const auto& [bad, why] :
       {std::pair(device, "No space left on device"), {nowhere, "No such file or directory"}}) {
    EXPECT_EQ(refused(std::vector{good, bad}), bad.path.string() + ": cannot be written: " + why);
    EXPECT_EQ(refused(std::vector{bad, good}), bad.path.string() + ": cannot be written: " + why);
    EXPECT_EQ(contents(folder_ / "a"), "old");
    EXPECT_FALSE(fs::exists(folder_ / "a.part"));
  }
  EXPECT_EQ(refused(std::vector{good, good}),
            good.path.string() + ": cannot be written: two results are to go there");
  EXPECT_EQ(refused(std::vector{good, OutputFile{folder_ / "b", "B"}}), "written");
  EXPECT_EQ(contents(folder_ / "a") + contents(folder_ / "b"), "newB");
}

TEST_F(OutputFiles, NewFolderGoesUnlessKept) {
  const fs::path made = folder_ / "made";
  { const NewFolder folder(made); }
  EXPECT_FALSE(fs::exists(made));
  { NewFolder(made).keep(); }
  EXPECT_TRUE(fs::is_directory(made));
  { const NewFolder folder(made); }
  EXPECT_TRUE(fs::is_directory(made)) << "was there before";
  write_whole(folder_ / "file", "x");
  EXPECT_THROW(NewFolder(folder_ / "file"), std::runtime_error);
  EXPECT_THROW(NewFolder(folder_ / "no" / "folder"), std::runtime_error);
}

}  // namespace
}  // namespace weft

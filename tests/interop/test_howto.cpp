// SPDX-License-Identifier: Apache-2.0
// Every command of a how-to page, in order, prints what the page says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "ibsim.hpp"
#include "opensm.hpp"
#include "temporary_folder.hpp"
#include "topology/spec.hpp"

namespace weft::test {
namespace {

struct Step {
  uint32_t line = 0;  ///< of the page
  std::string commands, output;
};

/// Blocks of commands (```sh) with what follows them as a block of its own.
std::vector<Step> steps_of(const std::filesystem::path& page) {
  std::vector<Step> steps;
  std::string* block = nullptr;
  std::ifstream in(page);
  std::string line;
  for (uint32_t number = 1; std::getline(in, line); ++number) {
    if (line == "```sh") {
      steps.push_back({number, "", ""});
      block = &steps.back().commands;
    } else if (line.starts_with("```")) {
      block = block == nullptr ? &steps.back().output : nullptr;
    } else if (block != nullptr) {
      *block += line + '\n';
    }
  }
  return steps;
}

/// Whether a text is what the page has: "..." stands for any text within a line, or any lines if alone.
bool matches(const std::string& text, const std::string& pattern) {
  static const std::regex special(R"([.^$|()\[\]{}*+?\\])");
  std::string expression;
  std::istringstream lines(pattern);
  for (std::string line; std::getline(lines, line);) {
    if (line == "...") {
      expression += "(?:[^\n]*\n)*?";
      continue;
    }
    for (std::size_t at = 0, gap = 0; gap != line.npos; at = gap + 3) {
      gap = line.find("...", at);
      expression += std::regex_replace(line.substr(at, gap - at), special, R"(\$&)");
      if (gap != line.npos) expression += "[^\n]*";
    }
    expression += '\n';
  }
  return std::regex_match(text, std::regex(expression));
}

class Howto : public TemporaryFolder {
 protected:
  /// Writes all steps into one script, from the folder in which it has to run.
  void prepare(const std::filesystem::path& page) {
    steps_ = steps_of(page);
    std::filesystem::create_directory_symlink(WEFT_BUILD, path("build"));
    std::string script;
    for (std::size_t i = 0; i < steps_.size(); ++i)
      script += fmt::format("exec > {0}.out 2>&1\nset -e\n{1}set +e\necho done > {0}.done\n", i,
                            steps_[i].commands);
    write("page.sh", script);
  }

  void expect_outputs() const {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const std::string output = read(path(std::to_string(i) + ".out"));
      ASSERT_TRUE(std::filesystem::exists(path(std::to_string(i) + ".done")))
          << "line " << steps_[i].line << " of the page fails: " << steps_[i].commands << output;
      EXPECT_TRUE(matches(output, steps_[i].output))
          << "line " << steps_[i].line << " of the page: " << steps_[i].commands << "prints\n"
          << output << "not\n"
          << steps_[i].output;
    }
  }

  std::vector<Step> steps_;
};

TEST_F(Howto, PatternsAreWholeTexts) {
  EXPECT_TRUE(matches("a\nb (1.5)\nc\n", "a\nb (1.5)\nc\n"));
  EXPECT_TRUE(matches("a\nb\nc\n", "a\n...\nc\n"));
  EXPECT_TRUE(matches("a\nc\n", "a\n...\nc\n"));
  EXPECT_TRUE(matches("time 3 s\n", "time ...\n"));
  EXPECT_TRUE(matches("14 of 20: 7\n", "... of 20: ...\n"));
  EXPECT_FALSE(matches("14 of 21: 7\n", "... of 20: ...\n"));
  EXPECT_FALSE(matches("a\nb\nc\nd\n", "a\n...\nc\n"));
  EXPECT_FALSE(matches("time\n", "time ...\n"));
  EXPECT_FALSE(matches("1x5\n", "1.5\n"));
  EXPECT_FALSE(matches("", "a\n"));
}

TEST_F(Howto, FabricInTenMinutes) {
  if (const std::string unfit = unfit_inside(); !unfit.empty()) GTEST_SKIP() << unfit;
  for (const std::string& missing : {Ibsim::missing(), OpenSm::missing()})
    if (!missing.empty()) FAIL() << missing;
  prepare(WEFT_HOWTO);
  ASSERT_GE(steps_.size(), 10u);
  Ibsim ibsim(topology::load("fattree3:4"), path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  ibsim.run_inside("bash page.sh");
  expect_outputs();
}

TEST_F(Howto, BootPlanForYourCluster) {
  prepare(WEFT_HOWTO_BOOT);
  ASSERT_GE(steps_.size(), 8u);
  run_command("cd " + path("").string() + " && bash page.sh");
  expect_outputs();
}

#ifdef WEFT_HOWTO_MISMATCH
TEST_F(Howto, DebugAMismatch) {
  prepare(WEFT_HOWTO_MISMATCH);
  ASSERT_GE(steps_.size(), 3u);
  run_command("cd " + path("").string() + " && bash page.sh");
  expect_outputs();
}
#endif

}  // namespace
}  // namespace weft::test

// SPDX-License-Identifier: Apache-2.0
// One subcommand of the program `weft` as its users call it.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "run_weft.hpp"
#include "temporary_folder.hpp"

namespace weft::test {

class WeftCommand : public TemporaryFolder {
 protected:
  explicit WeftCommand(std::string name) : name_(std::move(name)) {}

  Finished run(const std::string& arguments) const { return weft(name_ + " " + arguments); }

  /// What it writes with --json.
  nlohmann::json results(const std::string& arguments, int exit_code = 0) const {
    const auto file = path("results.json");
    const auto finished = run(arguments + " --json " + file.string());
    EXPECT_EQ(finished.exit_code, exit_code) << finished.output;
    return nlohmann::json::parse(read(file));
  }

  void expect_bad(const std::string& arguments, const std::string& message) const {
    const auto finished = run(arguments);
    EXPECT_EQ(finished.exit_code, 2) << arguments;
    EXPECT_EQ(finished.output, "weft: " + message + "\n");
  }

 private:
  std::string name_;
};

}  // namespace weft::test

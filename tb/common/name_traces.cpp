// SPDX-License-Identifier: Apache-2.0
// Linked into a program of tests: the traces that a test leaves bear its name (trace/folder.hpp).
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace weft::tb {
namespace {

class NameTraces : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override {
    const std::string name = std::string(test.test_suite_name()) + "." + test.name();
    setenv("WEFT_TRACE_NAME", name.c_str(), 1);
  }
};

[[maybe_unused]] const bool listens = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new NameTraces);  // which owns it
  return true;
}();

}  // namespace
}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// What a monitor under test reports: a violation has to give exactly the one finding that names it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "common/findings.hpp"

namespace weft::tb::test {

class MonitorTest : public testing::Test {
 protected:
  static constexpr uint32_t node = 3;

  /// Exactly one finding since the last look, of this cycle, with this text in it.
  void expect_finding(const std::string& text) {
    const Findings found = std::exchange(findings_, Findings());
    ASSERT_EQ(found.count(), 1u) << "expected: " << text << "\ngot: " << found.summary();
    const Finding& finding = found.list().front();
    EXPECT_NE(finding.text.find(text), std::string::npos) << finding.text << "\n  lacks: " << text;
    EXPECT_EQ(finding.node, node);
    EXPECT_EQ(finding.cycle, reporter_.cycle());
  }

  void expect_clean() { EXPECT_FALSE(findings_.any()) << findings_.summary(); }

  void next_cycle() { reporter_.set_cycle(reporter_.cycle() + 1); }

  Findings findings_;
  Reporter reporter_{findings_, node};
};

}  // namespace weft::tb::test

// SPDX-License-Identifier: Apache-2.0
// What is said of an engine that answers a READ twice, beyond a bound, or not although it could.
#include "expected_answers.hpp"

#include <gtest/gtest.h>

namespace weft::tb {
namespace {

using rdma::formats::Outcome;

constexpr uint16_t node = 3;
constexpr uint64_t now = 1000;

ReadId read(uint32_t number, uint16_t from = node) { return {from, 1, number}; }

class ExpectedAnswersTest : public testing::Test {
 protected:
  bool fault(const ReadId& of, Outcome outcome, uint64_t cycle = now) const {
    return answers_.fault(of, outcome, bounds_, cycle).has_value();
  }
  /// Is over in the cycle `now`.
  void answered(const ReadId& of) {
    answers_.take(of);
    answers_.start(of, 5);
    answers_.end(5, now);
  }

  AnswerBounds bounds_{4, 2, 2};
  ExpectedAnswers answers_;
};

TEST_F(ExpectedAnswersTest, OneAnswerARead) {
  EXPECT_FALSE(fault(read(1), Outcome::read_taken));
  EXPECT_TRUE(fault(read(1), Outcome::drop_asked));
  answers_.take(read(1));
  for (const ReadId& other : {read(2), read(1, node + 1), ReadId{node, 2, 1}}) {
    EXPECT_FALSE(fault(other, Outcome::read_taken));
    EXPECT_TRUE(fault(other, Outcome::drop_asked));
  }
  EXPECT_TRUE(fault(read(1), Outcome::read_taken));
  EXPECT_FALSE(fault(read(1), Outcome::drop_asked));
  answers_.start(read(1), 5);
  answers_.end(4, now);
  EXPECT_TRUE(fault(read(1), Outcome::read_taken)) << "another context's end";
}

TEST_F(ExpectedAnswersTest, WhatIsOverMayBeSeenForSomeClocks) {
  answered(read(1));
  EXPECT_FALSE(fault(read(1), Outcome::read_taken));
  EXPECT_FALSE(fault(read(1), Outcome::drop_asked, now + hidden_answer_clocks));
  EXPECT_TRUE(fault(read(1), Outcome::drop_asked, now + hidden_answer_clocks + 1));
}

TEST_F(ExpectedAnswersTest, NoMoreThanTheQuotaOfAGroupAndNoFewer) {
  answered(read(1));
  answers_.take(read(2));
  EXPECT_FALSE(fault(read(3), Outcome::read_taken));
  EXPECT_FALSE(fault(read(3), Outcome::refuse_answers)) << "the first may still count";
  EXPECT_TRUE(fault(read(3), Outcome::refuse_answers, now + hidden_answer_clocks + 1));
  answers_.take(read(3, node + 2));
  EXPECT_TRUE(fault(read(4), Outcome::read_taken)) << "another source of its group has one";
  EXPECT_FALSE(fault(read(4), Outcome::refuse_answers, now + hidden_answer_clocks + 1));
  EXPECT_FALSE(fault(read(4, node + 1), Outcome::read_taken));
  bounds_.quota = 0;
  EXPECT_FALSE(fault(read(4), Outcome::read_taken));
  EXPECT_TRUE(fault(read(4), Outcome::refuse_answers, now + hidden_answer_clocks + 1));
}

TEST_F(ExpectedAnswersTest, NoMoreThanInAllAndNoFewer) {
  bounds_.quota = 0;
  for (uint32_t number = 1; number <= 3; ++number) answers_.take(read(number));
  EXPECT_FALSE(fault(read(4), Outcome::read_taken));
  EXPECT_TRUE(fault(read(4), Outcome::refuse_answers));
  answers_.take(read(4));
  EXPECT_TRUE(fault(read(5), Outcome::read_taken));
  EXPECT_FALSE(fault(read(5), Outcome::refuse_answers));
  EXPECT_FALSE(fault(read(5), Outcome::refuse_key)) << "no matter how many";
}

}  // namespace
}  // namespace weft::tb

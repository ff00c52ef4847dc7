// SPDX-License-Identifier: Apache-2.0
// Timeouts as measured: RFC 6298 by numbers worked out by hand and against the formulas in floating point,
// and which events are measured.
#include "rdma/timeouts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "property.hpp"
#include "rdma/timer.hpp"

namespace weft::rdma::test {
namespace {

using formats::Outcome;

TEST(RoundTrip, FirstSamplesByHand) {
  RoundTrip trip;
  EXPECT_FALSE(trip.timeout());
  trip.sample(100);
  EXPECT_EQ(trip.timeout(), 300) << "100 + 4 * 50";
  trip.sample(100);
  EXPECT_EQ(trip.timeout(), 250) << "100 + 4 * 37.5";
  trip.sample(180);
  EXPECT_EQ(trip.timeout(), 110 + 193) << "off by 80: 4 rttvar = 150 - 37 + 80; srtt = 110";
}

TEST(RoundTrip, NeverLessThanATick) {
  RoundTrip trip;
  for (int n = 0; n < 100; ++n) trip.sample(0);
  EXPECT_EQ(trip.timeout(), 1);
}

TEST(RoundTrip, NeverLessThanTwiceTheMean) {
  RoundTrip trip;
  for (int n = 0; n < 100; ++n) trip.sample(50);
  EXPECT_EQ(trip.timeout(), 100);
}

TEST(RoundTrip, EndsAtTheLongestTimeout) {
  RoundTrip trip;
  trip.sample(60000);
  EXPECT_EQ(trip.timeout(), longest_timeout);
  for (int n = 0; n < 100; ++n) trip.sample(longest_timeout);
  EXPECT_EQ(trip.timeout(), longest_timeout);
}

/// Each whole number keeps the integer part of a mean: srtt is less than one tick below that of the RFC, and
/// 4 rttvar four ticks for its own rounding and as many for that of srtt; the other way only the latter.
TEST(RoundTrip, FollowsTheFormulasOfTheRfc) {
  EXPECT_PROPERTY("within the rounding", [] {
    const auto samples =
        *rc::gen::nonEmpty(rc::gen::container<std::vector<uint16_t>>(rc::gen::inRange<uint16_t>(0, 2000)));
    RoundTrip trip;
    double srtt = samples.front();
    double rttvar = srtt / 2;
    trip.sample(samples.front());
    for (auto s = samples.begin() + 1; s != samples.end(); ++s) {
      rttvar += (std::abs(srtt - *s) - rttvar) / 4;
      srtt += (*s - srtt) / 8;
      trip.sample(*s);
    }
    const double exact = std::min<double>(srtt + std::max({1.0, srtt, 4 * rttvar}), longest_timeout);
    RC_ASSERT(std::abs(*trip.timeout() - exact) <= 10.0);
  });
}

class Measured : public ::testing::Test {
 protected:
  ReceiverTimes receiver;
  SenderTimes sender;
};

TEST_F(Measured, GrantToFirstPacketOfTheSameContext) {
  receiver.see(Outcome::grant, 3, 65500);
  receiver.see(Outcome::accept, 4, 65510);
  EXPECT_FALSE(receiver.timeout());
  receiver.see(Outcome::accept, 3, 4);  // the ticks have wrapped
  EXPECT_EQ(receiver.timeout(), 3 * 40);
  receiver.see(Outcome::accept, 3, 400);
  EXPECT_EQ(receiver.timeout(), 3 * 40) << "not the first packet";
}

TEST_F(Measured, OneAtATime) {
  receiver.see(Outcome::grant, 3, 10);
  receiver.see(Outcome::grant, 4, 15);
  receiver.see(Outcome::accept, 4, 16);
  EXPECT_FALSE(receiver.timeout());
  receiver.see(Outcome::advance, 3, 20);
  EXPECT_EQ(receiver.timeout(), 30);
}

TEST_F(Measured, NothingThatMayHaveBeenRepeated) {
  for (const auto asked : {Outcome::ask_map, Outcome::ask_one, Outcome::ask_from, Outcome::reclaim,
                           Outcome::released, Outcome::released_failed}) {
    receiver.see(Outcome::grant, 3, 10);
    receiver.see(asked, 3, 60);
    receiver.see(Outcome::advance, 3, 70);
    EXPECT_FALSE(receiver.timeout()) << formats::name(asked);
  }
  sender.see(Outcome::submit, 1, 0);
  sender.see(Outcome::retry_rqt, 1, 50);
  sender.see(Outcome::granted, 1, 51);
  EXPECT_FALSE(sender.timeout());
}

TEST_F(Measured, PaceCountsIfItIsSlowerThanTheAnswer) {
  receiver.see(Outcome::grant, 3, 0);
  receiver.see(Outcome::advance, 3, 10);
  ASSERT_EQ(receiver.timeout(), 30);
  receiver.see(Outcome::advance, 5, 15);  // of another one
  receiver.see(Outcome::advance, 3, 30);
  EXPECT_EQ(receiver.timeout(), 60) << "20 + 4 * 10";
  receiver.see(Outcome::advance, 3, 1000);
  receiver.see(Outcome::advance, 3, 1001);
  EXPECT_EQ(receiver.timeout(), 17 + 49) << "the packet that ended a measurement did not begin one";
}

TEST_F(Measured, NoPaceWhileSomethingIsMissing) {
  receiver.see(Outcome::grant, 3, 0);
  receiver.see(Outcome::advance, 3, 10);
  receiver.see(Outcome::accept, 3, 15);
  receiver.see(Outcome::advance, 3, 500);
  EXPECT_EQ(receiver.timeout(), 30);
}

TEST_F(Measured, RequestToItsAnswer) {
  for (const auto answer : {Outcome::granted, Outcome::backoff, Outcome::refused}) {
    SenderTimes times;
    times.see(Outcome::submit, 7, 100);
    times.see(answer, 6, 120);
    EXPECT_FALSE(times.timeout());
    times.see(answer, 7, 150);
    EXPECT_EQ(times.timeout(), 150) << formats::name(answer);
  }
}

TEST(TimeoutInUse, FromTheFloorToWhatIsSet) {
  Config config;
  config.adapt = true;
  config.timeout_floor = 20;
  EXPECT_EQ(timeout_in_use(config, std::nullopt, 64), 64) << "nothing is known";
  EXPECT_EQ(timeout_in_use(config, 5, 64), 20);
  EXPECT_EQ(timeout_in_use(config, 30, 64), 30);
  EXPECT_EQ(timeout_in_use(config, 65, 64), 64);
  EXPECT_EQ(timeout_in_use(config, 5, 10), 10) << "what is set counts more than the floor";
  config.adapt = false;
  EXPECT_EQ(timeout_in_use(config, 30, 64), 64);
}

TEST(TimeoutInUse, PaperModeHasTimersAsSet) {
  Config config;
  config.adapt = true;
  config.backoff = 2;
  EXPECT_EQ(timeout_in_use(config, 30, 64), 30);
  EXPECT_EQ(doublings(config, 1), 1);
  EXPECT_EQ(doublings(config, 5), 2);
  config.weft_mode = false;
  EXPECT_EQ(timeout_in_use(config, 30, 64), 64);
  EXPECT_EQ(doublings(config, 5), 0);
}

}  // namespace
}  // namespace weft::rdma::test

// SPDX-License-Identifier: Apache-2.0
// What the fuzzer is made of, with any compiler: random bytes are courses without a difference, the courses
// to start from reach what they are for, and a fault in the engine is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "draw.hpp"
#include "fabric/random.hpp"
#include "player.hpp"
#include "rdma_baseline/outcomes.hpp"
#include "seeds.hpp"
#include "wire.hpp"

namespace weft::fuzz {
namespace {

using rdma::formats::Outcome;

std::vector<uint8_t> random_bytes(uint64_t seed) {
  RandomStream random(seed, 1);
  std::vector<uint8_t> bytes(random.below(max_bytes + record_bytes));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next());
  return bytes;
}

/// Every event of a course, on a line each.
std::string events_of(const Course& course) {
  std::string text;
  PlayOptions options;
  options.on_receiver_event = [&](uint64_t cycle, const rdma::RxEventView& view) {
    text += std::to_string(cycle) + ' ' + std::string(rdma::formats::name(view.outcome)) + '\n';
  };
  EXPECT_EQ(play(course, options).finding, "");
  return text;
}

TEST(FuzzCourse, BytesAndCourseAreTheSame) {
  for (const Seed& seed : seeds()) {
    const Course again = parse(encode(seed.course));
    EXPECT_EQ(again.setting, seed.course.setting) << seed.name;
    EXPECT_EQ(again.steps, seed.course.steps) << seed.name;
  }
}

TEST(FuzzCourse, AnyNumberOfBytesIsOne) {
  for (std::size_t size = 0; size < 3 * record_bytes; ++size) {
    const std::size_t records = size / record_bytes;
    EXPECT_EQ(parse(std::vector<uint8_t>(size, 7)).steps.size(), records > 0 ? records - 1 : 0) << size;
  }
  EXPECT_EQ(parse(std::vector<uint8_t>(2 * max_bytes)).steps.size(), max_steps);
}

TEST(FuzzCourse, DrawnOnesAreTheSameEachTimeAndWithoutADifference) {
  constexpr uint64_t courses = 20;
  for (uint64_t seed = 0; seed < courses; ++seed) {
    const Course course = draw_course(seed);
    EXPECT_EQ(encode(draw_course(seed)), encode(course)) << seed;
    EXPECT_NE(encode(draw_course(seed + 1)), encode(course)) << seed;
    EXPECT_EQ(play(course, {}).finding, "") << "seed " << seed;
  }
}

TEST(FuzzCourse, PlaysTheSameEachTime) {
  const Course course = parse(random_bytes(4));
  const std::string events = events_of(course);
  EXPECT_GT(std::ranges::count(events, '\n'), 20);
  EXPECT_EQ(events_of(course), events);
}

TEST(FuzzWire, EveryFaultChangesTheBeats) {
  Flits packet(3 * rdma::flit_bytes, 0x5a);
  seal(packet);
  const auto sound = to_beats(packet, WireFault::none, 9, 32);
  ASSERT_EQ(sound.size(), 3u);
  for (unsigned fault = 1; fault < static_cast<unsigned>(WireFault::count); ++fault) {
    const auto which = static_cast<WireFault>(fault);
    if (which == WireFault::swapped) continue;  // below: these flits are all alike
    EXPECT_NE(to_beats(packet, which, 9, 32), sound) << name(which);
  }
  packet.back() = 0;
  EXPECT_NE(to_beats(packet, WireFault::swapped, 9, 32), to_beats(packet, WireFault::none, 9, 32));
}

TEST(FuzzSeeds, AreWithoutADifferenceAndReachEveryOutcome) {
  std::set<Outcome> seen;
  for (const Seed& seed : seeds()) {
    PlayOptions options;
    options.on_receiver_event = [&](uint64_t, const rdma::RxEventView& view) { seen.insert(view.outcome); };
    options.on_sender_event = [&](uint64_t, const rdma::TxEventView& view) { seen.insert(view.outcome); };
    EXPECT_EQ(play(seed.course, options).finding, "") << seed.name;
  }
  for (uint8_t code = 1; code < tb::outcome_codes; ++code) {
    const auto outcome = static_cast<Outcome>(code);
    const bool of_transfers = code >= 64 || outcome == Outcome::drop_no_key;  // not of this engine
    const bool of_others = of_transfers || rdma::is_of_older_schemes(outcome);
    if (rdma::formats::name(outcome) == "?" || of_others) continue;
    EXPECT_TRUE(seen.contains(outcome)) << rdma::formats::name(outcome);
  }
}

// Of the seeds alone, without any search.
TEST(FuzzSeeds, FindTheWrongWindow) {
  PlayOptions options;
  options.build = "broken";
  std::string found;
  for (const Seed& seed : seeds()) found += play(seed.course, options).finding;
  EXPECT_NE(found.find("wbase: expected"), std::string::npos) << found;
}

/// Some seconds of other bytes each day would not be repeatable; so always the same number of courses.
class FuzzRandom : public testing::TestWithParam<uint64_t> {};

TEST_P(FuzzRandom, BytesAreWithoutADifference) {
  constexpr uint64_t courses = 25;
  for (uint64_t n = 0; n < courses; ++n) {
    const uint64_t seed = GetParam() * courses + n;
    EXPECT_EQ(play(parse(random_bytes(seed)), {}).finding, "") << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, FuzzRandom, testing::Range<uint64_t>(0, 20));

/// Engines of the older schemes: the same courses, whose packets are then theirs.
struct OlderEngine {
  const char* build;
  std::set<Outcome> own;  ///< that the courses must reach, those of its scheme alone among them
};

std::ostream& operator<<(std::ostream& out, const OlderEngine& engine) { return out << engine.build; }

class FuzzOlder : public testing::TestWithParam<OlderEngine> {
 protected:
  /// Plays it, and notes what it reaches.
  void expect_no_difference(const Course& course, const std::string& name) {
    PlayOptions options;
    options.build = GetParam().build;
    options.on_receiver_event = [&](uint64_t, const rdma::RxEventView& view) { seen_.insert(view.outcome); };
    options.on_sender_event = [&](uint64_t, const rdma::TxEventView& view) { seen_.insert(view.outcome); };
    EXPECT_EQ(play(course, options).finding, "") << name;
  }

  std::set<Outcome> seen_;
};

TEST_P(FuzzOlder, CoursesAreWithoutADifferenceAndReachItsOutcomes) {
  constexpr uint64_t drawn = 200;
  for (const Seed& seed : seeds()) expect_no_difference(seed.course, std::string(seed.name));
  for (uint64_t seed = 0; seed < drawn; ++seed)
    expect_no_difference(draw_course(seed), "drawn " + std::to_string(seed));
  for (const Outcome outcome : GetParam().own)
    EXPECT_TRUE(seen_.contains(outcome)) << rdma::formats::name(outcome);
}

TEST_P(FuzzOlder, BytesAreWithoutADifference) {
  constexpr uint64_t courses = 200;
  for (uint64_t seed = 0; seed < courses; ++seed)
    expect_no_difference(parse(random_bytes(seed)), "random bytes of seed " + std::to_string(seed));
}

INSTANTIATE_TEST_SUITE_P(
    Schemes, FuzzOlder,
    testing::Values(OlderEngine{"rxcounter_small",
                                {Outcome::advance, Outcome::finish, Outcome::ask_from, Outcome::drop_early,
                                 Outcome::drop_duplicate, Outcome::resend_from, Outcome::drop_not_yet,
                                 Outcome::complete}},
                    OlderEngine{"txwindow_small",
                                {Outcome::accept, Outcome::ask_one, Outcome::kept, Outcome::acked,
                                 Outcome::drop_old_ack, Outcome::resend_from, Outcome::resend_one,
                                 Outcome::lapse, Outcome::complete, Outcome::complete_error}}),
    [](const auto& engine) { return std::string(engine.param.build); });

}  // namespace
}  // namespace weft::fuzz

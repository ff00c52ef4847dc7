// SPDX-License-Identifier: Apache-2.0
// weft-fuzzer: what libFuzzer calls. Plays each course, tells libFuzzer which kinds of events it led to, and
// changes courses by whole steps. Takes one option of its own: --build=NAME.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "fabric/random.hpp"
#include "player.hpp"
#include "setting.hpp"

// NOLINTBEGIN(readability-identifier-naming): names that libFuzzer gives
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using namespace weft;
using namespace weft::fuzz;

// libFuzzer's interface is made of free functions that share nothing but what is global.
std::string build_name;  // empty: each course's own

/// libFuzzer takes each of these for an edge of the program: kinds of events that the code alone does not
/// tell apart.
constexpr std::size_t features = 1 << 14;
__attribute__((section("__libfuzzer_extra_counters"))) uint8_t feature_counters[features];

void count_feature(uint64_t key) {
  feature_counters[RandomStream(key).below(features)] = 1;  // how often does not matter
}

/// What came right before: which outcome, how many clocks ago, whether of the same context.
struct Before {
  unsigned outcome = 0;
  unsigned context = ~0u;
  uint64_t cycle = 0;
};

constexpr uint64_t far = 6;  // clocks from which on it does not matter how many

uint64_t pair_key(Before& before, uint64_t cycle, unsigned outcome, unsigned context) {
  const uint64_t distance = std::min(cycle - before.cycle, far);
  const uint64_t key =
      before.outcome | outcome << 6 | distance << 12 | uint64_t{context == before.context} << 16;
  before = {outcome, context, cycle};
  return key;
}

/// Where WBASE is in its lap of the window: at its ends or within.
uint64_t lap_place(uint32_t wbase, uint32_t window) {
  const uint32_t place = wbase % window;
  return place < 2 ? place : place + 2 >= window ? 3 - (window - place - 1) : 4;
}

PlayOptions counting(const Course& course) {
  PlayOptions options;
  options.build = build_name;
  const uint32_t window = build_of(course.setting, build_name).params.window;
  options.on_receiver_event = [before = Before{}, window](uint64_t cycle,
                                                          const rdma::RxEventView& view) mutable {
    const auto outcome = static_cast<unsigned>(view.outcome);
    count_feature(pair_key(before, cycle, outcome, view.cid) | uint64_t{view.inputs.room} << 17);
    const auto marks = std::min(view.wvec.empty() ? 0 : std::popcount(view.wvec[0]), 3);
    count_feature(1ull << 32 | outcome | static_cast<uint64_t>(marks) << 8 |
                  lap_place(view.wbase, window) << 16 | uint64_t{view.wbase / window % 4} << 24);
  };
  options.on_sender_event = [before = Before{}](uint64_t cycle, const rdma::TxEventView& view) mutable {
    const auto outcome = static_cast<unsigned>(view.outcome);
    count_feature(2ull << 32 | pair_key(before, cycle, outcome, view.sid) | uint64_t{view.inputs.room} << 17 |
                  uint64_t{view.inputs.resend_room} << 18);
  };
  return options;
}

/// Some whole records at a random place.
struct Range {
  std::size_t at, count;
};
Range random_records(RandomStream& random, std::size_t size, std::size_t most) {
  const std::size_t records = size / record_bytes;
  const std::size_t at = random.below(records);
  return {at * record_bytes, (1 + random.below(std::min(most, records - at))) * record_bytes};
}

constexpr std::size_t most_moved = 12;  // records at a time

/// Steps from elsewhere in `from` are put in at some place behind the setting.
std::size_t insert_steps(uint8_t* data, std::size_t size, std::size_t max_size, const uint8_t* from,
                         std::size_t from_size, RandomStream& random) {
  const Range range = random_records(random, from_size, most_moved);
  if (size + range.count > max_size) return size;
  std::array<uint8_t, most_moved * record_bytes> steps;
  std::copy_n(from + range.at, range.count, steps.begin());
  const std::size_t at = (1 + random.below(size / record_bytes)) * record_bytes;
  std::memmove(data + at + range.count, data + at, size - at);
  std::copy_n(steps.begin(), range.count, data + at);
  return size + range.count;
}

std::size_t remove_steps(uint8_t* data, std::size_t size, RandomStream& random) {
  const Range range = random_records(random, size, most_moved);
  if (range.at == 0) return size;
  std::memmove(data + range.at, data + range.at + range.count, size - range.at - range.count);
  return size - range.count;
}

/// libFuzzer's own changes, within one record.
void change_record(uint8_t* data, std::size_t size, RandomStream& random) {
  const Range range = random_records(random, size, 1);
  std::array<uint8_t, record_bytes> record;
  std::copy_n(data + range.at, record_bytes, record.begin());
  LLVMFuzzerMutate(record.data(), record.size(), record.size());
  std::copy(record.begin(), record.end(), data + range.at);
}

void change_byte(uint8_t* data, std::size_t size, RandomStream& random) {
  data[random.below(size)] = static_cast<uint8_t>(random.next());
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view option = "--build=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view word = (*argv)[i];
    if (word.starts_with(option)) build_name = word.substr(option.size());
  }
  if (!build_name.empty() && !tb::find_rdma_build(build_name)) {
    std::fprintf(stderr, "weft-fuzzer: --build=%s: not in this program\n", build_name.c_str());
    std::exit(2);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Course course = parse({data, size});
  const Played played = play(course, counting(course));
  if (played.finding.empty()) return 0;
  std::fprintf(stderr, "weft-fuzzer: first difference:\n%s\n", played.finding.c_str());
  std::abort();  // libFuzzer writes the course to a file
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  RandomStream random(seed);
  size -= size % record_bytes;
  if (size < 2 * record_bytes) {  // not yet a course
    size = std::min(max_size / record_bytes, std::size_t{4}) * record_bytes;
    for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<uint8_t>(random.next());
    return size;
  }
  const uint64_t changes = 1 + random.below(4);
  for (uint64_t i = 0; i < changes; ++i) {
    switch (random.below(8)) {
      case 0:
      case 1:
        size = insert_steps(data, size, max_size, data, size, random);
        break;
      case 2:
        size = remove_steps(data, size, random);
        break;
      case 3:
      case 4:
        change_record(data, size, random);
        break;
      default:
        change_byte(data, size, random);
    }
  }
  return size;
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* left, size_t left_size, const uint8_t* right,
                                            size_t right_size, uint8_t* out, size_t max_out_size,
                                            unsigned seed) {
  const std::size_t size = std::min(left_size, max_out_size) / record_bytes * record_bytes;
  if (size < record_bytes || right_size < record_bytes) return 0;
  RandomStream random(seed);
  std::copy_n(left, size, out);
  return insert_steps(out, size, max_out_size, right, right_size, random);
}
// NOLINTEND(readability-identifier-naming)

// SPDX-License-Identifier: Apache-2.0
// Bytes to course and back.
#include "course.hpp"

#include <algorithm>

namespace weft::fuzz {

namespace {

/// How often each act is chosen by a random byte, in 32nds; they add up to 32.
struct Share {
  Act act;
  uint8_t share;
  std::string_view name;
};
constexpr std::array<Share, static_cast<std::size_t>(Act::count)> shares{{
    {Act::data, 9, "data"},
    {Act::burst, 3, "burst"},
    {Act::request, 4, "request"},
    {Act::release, 2, "release"},
    {Act::rsp, 2, "rsp"},
    {Act::resend, 1, "resend"},
    {Act::ack, 1, "ack"},
    {Act::done, 1, "done"},
    {Act::noise, 1, "noise"},
    {Act::again, 1, "again"},
    {Act::post, 1, "post"},
    {Act::setting, 2, "setting"},
    {Act::stall, 1, "stall"},
    {Act::wait, 2, "wait"},
    {Act::reset, 1, "reset"},
}};

constexpr unsigned act_codes = 32;

constexpr std::array<Act, act_codes> make_acts() {
  std::array<Act, act_codes> acts{};
  std::size_t at = 0;
  for (const Share& each : shares) {
    for (unsigned i = 0; i < each.share; ++i) acts.at(at++) = each.act;
  }
  if (at != act_codes) throw "the shares do not add up";  // at compile time
  return acts;
}
constexpr std::array<Act, act_codes> acts = make_acts();

Step step_of(const Record& record) {
  return {acts[record[0] % act_codes],
          record[1],
          record[2],
          record[3],
          record[4],
          record[5],
          record[6],
          record[7]};
}

Record record_of(const Step& step) {
  const auto code = static_cast<uint8_t>(std::ranges::find(acts, step.act) - acts.begin());
  return {code, step.who, step.fault, step.where, step.amount, step.wire, step.gap, step.extra};
}

}  // namespace

std::string_view name(Act act) {
  const auto found = std::ranges::find(shares, act, &Share::act);
  return found == shares.end() ? "?" : found->name;
}

Course parse(std::span<const uint8_t> bytes) {
  Course course;
  const std::size_t records = std::min(bytes.size(), max_bytes) / record_bytes;
  for (std::size_t i = 0; i < records; ++i) {
    Record record;
    std::ranges::copy(bytes.subspan(i * record_bytes, record_bytes), record.begin());
    if (i == 0) {
      course.setting = record;
    } else {
      course.steps.push_back(step_of(record));
    }
  }
  return course;
}

std::vector<uint8_t> encode(const Course& course) {
  std::vector<uint8_t> bytes(course.setting.begin(), course.setting.end());
  for (const Step& step : course.steps) {
    const Record record = record_of(step);
    bytes.insert(bytes.end(), record.begin(), record.end());
  }
  return bytes;
}

}  // namespace weft::fuzz

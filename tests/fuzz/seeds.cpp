// SPDX-License-Identifier: Apache-2.0
// Courses to start the search from.
#include "seeds.hpp"

#include <utility>

namespace weft::fuzz {

namespace {

using Steps = std::vector<Step>;

constexpr Record usual{1, 0, 4, 0, 30, 0x13, 0x11, 0};
constexpr uint8_t at_base = 128;  // `where` of a DATA packet
constexpr uint8_t full = 63;      // `amount`: the last packet is full

Record with(Record record, std::size_t byte, uint8_t value) {
  record.at(byte) = value;
  return record;
}
constexpr std::size_t pauses = 1, mode = 3, time_out = 4, silent = 5, sender_times = 6, network = 7;
constexpr std::size_t build = 5;
constexpr uint8_t line = 0x80;

/// @param size index into the lengths of transfer_bytes()
Step request(uint8_t size, uint8_t number = 3) {
  return {.act = Act::request,
          .who = static_cast<uint8_t>(0x10 | number),
          .where = size,
          .amount = full,
          .extra = number};
}
Step wait(uint8_t pairs) { return {.act = Act::wait, .who = pairs}; }
Step data(uint8_t where, uint8_t who = 0) { return {.act = Act::data, .who = who, .where = where}; }
/// @param order 0 up, 1 down, 2 odd ones first, 3 at random; + 0x20 with a hole, + 0x40 two contexts in turn
Step burst(uint8_t count, uint8_t order, uint8_t where = at_base) {
  return {.act = Act::burst, .where = where, .amount = static_cast<uint8_t>(count - 1), .extra = order};
}

Steps operator+(Steps left, const Steps& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Steps in_order() { return {request(6), wait(8), burst(9, 0), wait(20)}; }

Steps two_windows(uint8_t order) {
  Steps steps{request(14), wait(8)};
  for (int i = 0; i < 6; ++i) steps = std::move(steps) + Steps{burst(16, order), wait(12)};
  return steps;
}

/// Every wrong field, each on a packet that would have been taken.
Steps wrong_fields(Act act) {
  Steps steps{request(14), wait(8)};
  for (unsigned fault = 176; fault < 220; fault += 2) {
    steps.push_back({.act = act, .fault = static_cast<uint8_t>(fault), .where = at_base, .extra = 1});
  }
  return steps + Steps{burst(4, 0), wait(20)};
}

Steps wrong_requests() {
  Steps steps;
  for (unsigned fault = 177; fault < 197; fault += 2) {
    steps.push_back({.act = Act::request, .fault = static_cast<uint8_t>(fault), .where = 2});
  }
  return steps + Steps{wait(20)};
}

/// Every fault, in the last beat of a packet and in the first.
Steps wrong_wires() {
  Steps steps{request(14), wait(8)};
  for (const uint8_t beat : {5, 6}) {
    for (unsigned wire = 200; wire < 217; ++wire) {
      steps.push_back({.act = Act::data,
                       .where = at_base,
                       .wire = static_cast<uint8_t>(wire),
                       .gap = 131,
                       .extra = beat});
      steps.push_back(data(at_base));
    }
  }
  return steps + Steps{wait(20)};
}

/// The number of the context stays, its generation does not.
Steps zombies() {
  return Steps{request(4),    wait(8),
               data(at_base), {.act = Act::release},
               wait(8),       request(4),
               wait(8),       {.act = Act::data, .fault = 182, .where = at_base},
               data(1),       {.act = Act::again, .who = 2},
               wait(20)};
}

Steps full_house() {
  Steps steps;
  for (uint8_t number = 0; number < 6; ++number) steps.push_back(request(3, number));
  return steps + Steps{wait(10),
                       burst(4, 0x40),
                       {.act = Act::burst, .who = 2, .where = at_base, .amount = 7, .extra = 0x41},
                       wait(60)};
}

Steps sends_to_itself(uint8_t size) {
  Steps steps;
  for (uint8_t number = 0; number < 3; ++number) {
    steps.push_back({.act = Act::post, .where = size, .amount = full, .extra = number});
  }
  return steps + Steps{wait(255), wait(255), wait(255), wait(255)};
}

/// A peer that the course plays: grants, then asks, then is done.
Steps sends_to_peer(Act asks) {
  return {{.act = Act::post, .who = 131, .where = 6, .amount = full},
          wait(30),
          {.act = Act::rsp, .extra = 1},
          wait(10),
          {.act = asks, .where = 3, .amount = 5},
          wait(10),
          {.act = asks, .where = 1, .amount = 0x45},
          wait(10),
          {.act = Act::done},
          wait(20)};
}

/// An ACK that a newer one has overtaken; DONE while a turn to send is still in the queue.
Steps ends_early_for_peer() {
  return {{.act = Act::post, .who = 131, .where = 6, .amount = full},
          wait(30),
          {.act = Act::rsp},
          wait(20),
          {.act = Act::ack, .where = 3},
          wait(10),
          {.act = Act::ack, .where = 193},
          {.act = Act::done},
          wait(10),
          {.act = Act::post, .who = 131, .where = 15, .amount = full},
          wait(30),
          {.act = Act::rsp, .extra = 0x80},
          wait(4),
          {.act = Act::done},
          wait(20)};
}

Steps refused_by_peer() {
  Steps steps;
  for (uint8_t code = 1; code < 6; ++code) {
    steps.push_back({.act = Act::post, .who = 131, .where = 2});
    steps.push_back(wait(30));
    steps.push_back({.act = Act::rsp, .where = static_cast<uint8_t>(160 + code)});
  }
  return steps + Steps{wait(40)};
}

Steps wrong_posts() {
  Steps steps;
  for (uint8_t fault = 192; fault < 200; ++fault) {
    steps.push_back({.act = Act::post, .who = 131, .fault = fault, .where = 2});
  }
  return steps + Steps{wait(200)};
}

/// Answers pile up while the network takes nothing.
Steps held_up(uint8_t what) {
  Steps steps{{.act = Act::stall, .where = what}};
  for (uint8_t i = 0; i < 40; ++i) steps.push_back(request(0, i));
  return steps + Steps{wait(40), {.act = Act::stall}, wait(60)};
}

/// The peer asks again and again while the network takes nothing.
Steps resends_pile_up() {
  Steps steps{{.act = Act::post, .who = 131, .where = 6, .amount = full},
              wait(30),
              {.act = Act::rsp, .extra = 0x80},
              wait(60),
              {.act = Act::stall, .where = 1}};
  for (uint8_t i = 0; i < 60; ++i) steps.push_back({.act = Act::resend, .where = i});
  return steps + Steps{wait(60), {.act = Act::stall}, wait(60)};
}

/// The sender's timer ends while it still has packets that the network does not take.
Steps sends_for_long() {
  return {{.act = Act::post, .who = 131, .where = 15, .amount = full},
          wait(30),
          {.act = Act::stall, .where = 1},
          {.act = Act::rsp, .extra = 0x80},
          wait(255),
          wait(255)};
}

Steps reset_in_the_middle() {
  return Steps{request(14), wait(8), burst(20, 2), {.act = Act::reset}, data(at_base), request(4), wait(8)} +
         in_order();
}

Steps settings() {
  Steps steps{request(14), wait(8)};
  for (uint8_t which = 0; which < 13; ++which) {
    steps.push_back({.act = Act::setting, .who = which, .where = 5});
    steps.push_back(data(at_base));
    steps.push_back(wait(10));
  }
  return steps;
}

Steps region(uint8_t form, uint8_t amount = 0) {
  return {{.act = Act::setting, .who = 9, .where = form, .amount = amount}, wait(60)};
}

/// Its region is closed, gets another key, shrinks and moves while a transfer is under way.
Steps regions_change() {
  Steps steps{request(6), wait(8), data(at_base)};
  for (uint8_t form = 1; form < 4; ++form) {
    steps =
        std::move(steps) + region(form) + Steps{data(at_base), request(2)} + region(0) + Steps{data(at_base)};
  }
  return std::move(steps) + region(4, 7) + Steps{burst(5, 0), wait(20)} + region(5, 1) +
         Steps{burst(5, 0), wait(20)};
}

Steps quota() {
  return {{.act = Act::setting, .who = 10, .where = 1}, wait(8), request(2, 1), request(2, 2), wait(30)};
}

Steps times_out() {
  return {request(14), wait(8), burst(6, 0x20), wait(250), burst(8, 1), wait(250), wait(250)};
}

}  // namespace

std::vector<Seed> seeds() {
  const Record paper = with(usual, mode, 1);
  const Record hasty = with(with(usual, time_out, 0), silent, 0x78);
  const Record wide = with(usual, build, line | usual[build]);
  const Record lossy = with(with(usual, network, 0x5a), time_out, 20);
  return {
      {"in_order", {usual, in_order()}},
      {"windows_up", {usual, two_windows(0)}},
      {"windows_down", {usual, two_windows(1)}},
      {"windows_odd_first", {usual, two_windows(2)}},
      {"windows_at_random", {paper, two_windows(3)}},
      {"wide_windows_up", {wide, two_windows(0)}},
      {"wide_windows_down", {wide, two_windows(1)}},
      {"wide_windows_at_random", {with(wide, mode, 1), two_windows(3)}},
      {"wide_to_itself", {with(wide, network, 0x40), sends_to_itself(6)}},
      {"wide_wires", {wide, wrong_wires()}},
      {"beyond_window",
       {paper, {request(14), wait(8), burst(10, 0, 110), data(at_base), burst(40, 0), wait(30)}}},
      {"wrong_data", {usual, wrong_fields(Act::data)}},
      {"wrong_release", {usual, wrong_fields(Act::release)}},
      {"wrong_requests", {usual, wrong_requests()}},
      {"wrong_wires", {usual, wrong_wires()}},
      {"zombies", {usual, zombies()}},
      {"full_house", {usual, full_house()}},
      {"to_itself", {usual, sends_to_itself(11)}},
      {"to_itself_lossy", {lossy, sends_to_itself(14)}},
      {"to_itself_paper", {with(lossy, mode, 1), sends_to_itself(14)}},
      {"to_peer_acks", {with(usual, sender_times, 0xcf), sends_to_peer(Act::ack)}},
      {"to_peer_resends", {with(usual, sender_times, 0xcf), sends_to_peer(Act::resend)}},
      {"ends_early_for_peer", {with(usual, sender_times, 0xcf), ends_early_for_peer()}},
      {"refused_by_peer", {with(usual, sender_times, 0x34), refused_by_peer()}},
      {"resends_pile_up", {with(usual, sender_times, 0xcf), resends_pile_up()}},
      {"sends_for_long", {with(usual, sender_times, 0x1f), sends_for_long()}},
      {"wrong_posts", {usual, wrong_posts()}},
      {"network_held_up", {usual, held_up(1)}},
      {"memory_held_up", {with(usual, pauses, 6), held_up(2)}},
      {"reset_in_the_middle", {usual, reset_in_the_middle()}},
      {"settings", {usual, settings()}},
      {"regions_change", {with(usual, time_out, 63), regions_change()}},
      {"quota", {usual, quota()}},
      {"times_out", {hasty, times_out()}},
      {"times_out_paper", {with(hasty, mode, 3), times_out()}},
      {"memory_errors", {with(usual, mode, 6 << 5), in_order()}},
      {"failed_to_itself", {with(usual, mode, 6 << 5), sends_to_itself(6)}},
      {"source_errors", {with(usual, mode, 7 << 5), sends_to_itself(6)}},
      {"not_ready", {with(usual, mode, 3 << 3), in_order()}},
      {"noise",
       {usual,
        {{.act = Act::noise}, {.act = Act::noise, .extra = 1}, {.act = Act::noise, .extra = 2}, wait(20)}}},
  };
}

}  // namespace weft::fuzz

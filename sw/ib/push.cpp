// SPDX-License-Identifier: Apache-2.0
// Carries a plan out.
#include "ib/push.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weft::ib {

namespace {

Block between(const BlockChange& change) {
  Block block{};
  for (uint32_t i = 0; i < block_mlids; ++i) block[i] = change.from[i] & change.to[i];
  return block;
}

class Pusher {
 public:
  Pusher(Switches& switches, const Plan& plan, const Done& done)
      : switches_(switches), plan_(plan), done_(done) {
    const auto& all = switches.all();
    for (const SwitchChange& change : plan) {
      const auto at =
          std::find_if(all.begin(), all.end(), [&](const Switch& sw) { return sw.guid == change.guid; });
      if (at == all.end()) throw Misfit(fmt::format("switch {:#018x} is not in this subnet", change.guid));
      indices_.push_back(static_cast<std::size_t>(at - all.begin()));
    }
    report_.states.assign(plan.size(), State::unchanged);
    under_way_.resize(plan.size());
    for (std::size_t i = 0; i < plan.size(); ++i) {
      left_.push_back(plan[i].top ? 1 : 0);
      for (const BlockChange& change : plan[i].blocks) count(change, i);
      all_steps_ += left_[i] + plan[i].blocks.size();
    }
  }

  Report run() {
    try {
      take_away();
      for (std::size_t i = 0; i < plan_.size(); ++i) move_top(i);
      add();
      verify();
    } catch (const Unanswered& error) {
      report_.failure = error.what();
    }
    return std::move(report_);
  }

 private:
  /// A block that is to be written or read, of the switch `i` of the plan.
  struct Step {
    std::size_t i = 0;
    const BlockChange* change = nullptr;
    const Block* block = nullptr;
  };

  void count(const BlockChange& change, std::size_t i) {
    const Block& kept = between_.emplace_back(between(change));
    left_[i] += (kept != change.from ? 1 : 0) + (kept != change.to ? 1 : 0);
  }

  void take_away() {
    std::vector<Step> steps;
    for_each_block([&](std::size_t i, const BlockChange& change, const Block& kept) {
      if (kept != change.from) steps.push_back({i, &change, &kept});
    });
    write(steps);
  }

  void add() {
    std::vector<Step> steps;
    for_each_block([&](std::size_t i, const BlockChange& change, const Block& kept) {
      if (kept != change.to) steps.push_back({i, &change, &change.to});
    });
    write(steps);
  }

  template <typename Visit>
  void for_each_block(Visit&& visit) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < plan_.size(); ++i)
      for (const BlockChange& change : plan_[i].blocks) visit(i, change, between_[at++]);
  }

  /// What comes to light now is a part of the new trees, and nothing of the old ones that was in the dark is
  /// written before its switch has gone dark again.
  void move_top(std::size_t i) {
    if (!plan_[i].top) return;
    report_.states[i] = State::uncertain;
    switches_.write_top(indices_[i], plan_[i].top->to);
    is_done(i);
  }

  void verify() {
    std::vector<Step> steps;
    std::vector<BlockRead> reads;
    for_each_block([&](std::size_t i, const BlockChange& change, const Block&) {
      steps.push_back({i, &change, &change.to});
      reads.push_back({indices_[i], change.place});
    });
    switches_.read_all(reads, [&](std::size_t at, const Block& block) {
      const auto& [i, change, wanted] = steps[at];
      if (block != *wanted)
        differs(i, fmt::format("block {} position {}", change->place.number, change->place.position));
      ++report_.blocks_verified;
      show();
    });
    for (std::size_t i = 0; i < plan_.size(); ++i)
      if (plan_[i].top && switches_.read_top(indices_[i]) != plan_[i].top->to) differs(i, "the last MLID");
  }

  /// The first difference is told.
  void differs(std::size_t i, const std::string& what) {
    report_.states[i] = State::partly;
    if (!report_.ok()) return;
    report_.failure =
        fmt::format("switch {:#018x}: {} reads back differently than it was written", plan_[i].guid, what);
  }

  /// In any order, several at a time: whichever of them are done, what the switches hold is a part of the old
  /// trees, or of the new ones. While one is under way nobody knows.
  void write(const std::vector<Step>& steps) {
    std::vector<BlockWrite> writes;
    writes.reserve(steps.size());
    for (const auto& [i, change, block] : steps) writes.push_back({indices_[i], change->place, block});
    WriteEvents events;
    events.sent = [&](std::size_t at) {
      under_way_[steps[at].i]++;
      report_.states[steps[at].i] = State::uncertain;
    };
    events.written = [&](std::size_t at) {
      ++report_.blocks_written;
      --under_way_[steps[at].i];
      is_done(steps[at].i);
    };
    switches_.write_all(writes, events);
  }

  void is_done(std::size_t i) {
    --left_[i];
    if (under_way_[i] == 0) report_.states[i] = left_[i] == 0 ? State::changed : State::partly;
    show();
  }

  void show() {
    if (done_) done_(++steps_, all_steps_);
  }

  Switches& switches_;
  const Plan& plan_;
  const Done& done_;
  std::vector<std::size_t> indices_;
  std::vector<Block> between_;          // of each block of the plan: what stays all the time
  std::vector<std::size_t> left_;       // writes for each switch of the plan
  std::vector<std::size_t> under_way_;  // those that were sent and are not done
  std::size_t steps_ = 0, all_steps_ = 0;
  Report report_;
};

}  // namespace

Report push(Switches& switches, const Plan& plan, const Done& done) {
  return Pusher(switches, plan, done).run();
}

}  // namespace weft::ib

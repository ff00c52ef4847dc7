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
  }

  Report run() {
    try {
      for_each(&Pusher::take_away);
      for_each(&Pusher::move_top);
      for_each(&Pusher::add);
      for_each(&Pusher::verify);
    } catch (const Unanswered& error) {
      report_.failure = error.what();
    }
    return std::move(report_);
  }

 private:
  void for_each(void (Pusher::*step)(std::size_t)) {
    for (std::size_t i = 0; i < plan_.size() && report_.ok(); ++i) {
      (this->*step)(i);
      if (done_) done_(++steps_, 4 * plan_.size());
    }
  }

  void take_away(std::size_t i) {
    bool more = plan_[i].top.has_value();
    for (const BlockChange& change : plan_[i].blocks) {
      const Block block = between(change);
      more |= block != change.to;
      if (block != change.from) write(i, change, block);
    }
    if (!more) report_.states[i] = State::changed;
  }

  void add(std::size_t i) {
    for (const BlockChange& change : plan_[i].blocks)
      if (between(change) != change.to) write(i, change, change.to);
    report_.states[i] = State::changed;
  }

  /// What comes to light now is a part of the new trees, and nothing of the old ones that was in the dark is
  /// written before its switch has gone dark again.
  void move_top(std::size_t i) {
    if (!plan_[i].top) return;
    report_.states[i] = State::uncertain;
    switches_.write_top(indices_[i], plan_[i].top->to);
    report_.states[i] = State::partly;
  }

  void verify(std::size_t i) {
    for (const BlockChange& change : plan_[i].blocks) {
      if (switches_.read(indices_[i], change.place) != change.to)
        differs(i, fmt::format("block {} position {}", change.place.number, change.place.position));
      ++report_.blocks_verified;
    }
    if (plan_[i].top && switches_.read_top(indices_[i]) != plan_[i].top->to) differs(i, "the last MLID");
  }

  void differs(std::size_t i, const std::string& what) {
    report_.states[i] = State::partly;
    report_.failure =
        fmt::format("switch {:#018x}: {} reads back differently than it was written", plan_[i].guid, what);
  }

  /// While it is under way nobody knows.
  void write(std::size_t i, const BlockChange& change, const Block& block) {
    report_.states[i] = State::uncertain;
    switches_.write(indices_[i], change.place, block);
    report_.states[i] = State::partly;
    ++report_.blocks_written;
  }

  Switches& switches_;
  const Plan& plan_;
  const Done& done_;
  std::vector<std::size_t> indices_;
  std::size_t steps_ = 0;
  Report report_;
};

}  // namespace

Report push(Switches& switches, const Plan& plan, const Done& done) {
  return Pusher(switches, plan, done).run();
}

}  // namespace weft::ib

// SPDX-License-Identifier: Apache-2.0
// Rounds of work.
#include "mcast/crew.hpp"

namespace weft::mcast {

namespace {

constexpr uint32_t looks = 100'000;  // before a thread sleeps, since the next round is mostly near

/// Until the value is another one.
uint32_t await_change(const std::atomic<uint32_t>& value, uint32_t from) {
  for (uint32_t look = 0; look < looks; ++look)
    if (value != from) return value;
  value.wait(from);
  return value;
}

}  // namespace

Crew::Crew(uint32_t threads) {
  for (uint32_t thread = 1; thread < threads; ++thread)
    others_.emplace_back([this, thread] { wait_for_work(thread); });
}

Crew::~Crew() {
  stop_ = true;
  round_++;
  round_.notify_all();
}

void Crew::work(uint32_t thread) {
  for (uint32_t i = next_++; i < count_; i = next_++) (*work_)(thread, i);
}

void Crew::wait_for_work(uint32_t thread) {
  for (uint32_t seen = 0;;) {
    seen = await_change(round_, seen);
    if (stop_) return;
    work(thread);
    if (--busy_ == 0) busy_.notify_one();
  }
}

void Crew::share(uint32_t count, const std::function<void(uint32_t, uint32_t)>& work_of) {
  work_ = &work_of;
  count_ = count;
  next_ = 0;
  if (others_.empty() || count < 2) return work(0);
  busy_ = static_cast<uint32_t>(others_.size());
  round_++;
  round_.notify_all();
  work(0);
  for (uint32_t busy = busy_; busy != 0;) busy = await_change(busy_, busy);
}

}  // namespace weft::mcast

// SPDX-License-Identifier: Apache-2.0
// Rounds of work.
#include "mcast/crew.hpp"

namespace weft::mcast {

Crew::Crew(uint32_t threads) {
  for (uint32_t thread = 1; thread < threads; ++thread)
    others_.emplace_back([this, thread] { wait_for_work(thread); });
}

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begin_.notify_all();
}

void Crew::work(uint32_t thread) {
  for (uint32_t i = next_++; i < count_; i = next_++) (*work_)(thread, i);
}

void Crew::wait_for_work(uint32_t thread) {
  for (uint64_t seen = 0;;) {
    {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
    }
    work(thread);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) end_.notify_one();
  }
}

void Crew::share(uint32_t count, const std::function<void(uint32_t, uint32_t)>& work_of) {
  work_ = &work_of;
  count_ = count;
  next_ = 0;
  if (!others_.empty() && count > 1) {
    {
      const std::lock_guard lock(mutex_);
      busy_ = static_cast<uint32_t>(others_.size());
      round_++;
    }
    begin_.notify_all();
    work(0);
    std::unique_lock lock(mutex_);
    end_.wait(lock, [this] { return busy_ == 0; });
  } else {
    work(0);
  }
}

}  // namespace weft::mcast

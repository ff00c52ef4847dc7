// SPDX-License-Identifier: Apache-2.0
// The lanes of fifo_bench.sv and a reference that says what each of their outputs has to be in every cycle.
#pragma once

#include <cstdint>
#include <deque>
#include <ostream>
#include <string>
#include <vector>

#include "Vfifo_bench.h"
#include "bench.hpp"

namespace weft::rtl_test {

using FifoBench = Bench<Vfifo_bench>;

struct Lane {
  uint8_t index;     // in fifo_bench.sv
  unsigned depth;    // words
  unsigned latency;  // clocks from write (or commit) to output
  bool counts;       // has count_o and free_o
  bool commits;      // has commit_i and rollback_i
};

inline std::ostream& operator<<(std::ostream& out, const Lane& lane) {
  return out << "lane " << int{lane.index} << ", depth " << lane.depth;
}

/// "depth16", for the names of parameterised tests.
inline std::string lane_name(const testing::TestParamInfo<Lane>& info) {
  return "depth" + std::to_string(info.param.depth);
}

/// What is inside a FIFO.
class FifoReference {
 public:
  explicit FifoReference(const Lane& lane) : lane_(lane) {}

  bool ready() const { return size() < lane_.depth; }
  bool valid(uint64_t cycle) const { return !committed_.empty() && cycle >= committed_.front().visible; }
  uint16_t data() const { return committed_.front().data; }
  std::size_t count() const { return committed_.size(); }
  std::size_t free() const { return lane_.depth - size(); }

  void pop() { committed_.pop_front(); }
  void push(uint16_t word) { pending_.push_back(word); }
  void commit(uint64_t cycle) {
    for (const uint16_t word : pending_) committed_.push_back({word, cycle + lane_.latency});
    pending_.clear();
  }
  void rollback() { pending_.clear(); }
  void clear() {
    committed_.clear();
    pending_.clear();
  }

 private:
  struct Word {
    uint16_t data;
    uint64_t visible;  // first cycle at the output, if nothing is in front of it
  };

  std::size_t size() const { return committed_.size() + pending_.size(); }

  Lane lane_;
  std::deque<Word> committed_;
  std::vector<uint16_t> pending_;
};

/// Probabilities in percent.
struct Traffic {
  unsigned write;
  unsigned read;
  unsigned commit = 0;
  unsigned rollback = 0;
  unsigned reset = 0;
};

/// One FIFO under test beside its reference.
class FifoTest : public testing::TestWithParam<Lane> {
 protected:
  void SetUp() override {
    bench_->lane_i = lane_.index;
    bench_->valid_i = 0;
    bench_->ready_i = 0;
    bench_->commit_i = 0;
    bench_->rollback_i = 0;
    bench_.reset();
  }

  /// One cycle of random stimulus, all outputs checked.
  void cycle(const Traffic& traffic) {
    Vfifo_bench& top = bench_.top();
    top.rst_ni = !bench_.chance(traffic.reset);
    top.valid_i = bench_.chance(traffic.write);
    top.data_i = static_cast<uint16_t>(bench_.below(1 << 16));
    top.ready_i = bench_.chance(traffic.read);
    top.commit_i = lane_.commits && bench_.chance(traffic.commit);
    top.rollback_i = lane_.commits && !top.commit_i && bench_.chance(traffic.rollback);
    check_that_outputs_are_registered();
    check_outputs();
    if (HasFatalFailure()) return;
    follow();
    bench_.step();
  }

  /// No output depends on an input of the same cycle.
  void check_that_outputs_are_registered() {
    Vfifo_bench& top = bench_.top();
    invert_handshakes();
    bench_.settle();
    const int ready = top.ready_o;
    const int valid = top.valid_o;
    const int count = top.count_o;
    const int free = top.free_o;
    invert_handshakes();
    bench_.settle();
    ASSERT_EQ(ready, top.ready_o) << "ready_o depends on an input of the same cycle";
    ASSERT_EQ(valid, top.valid_o) << "valid_o depends on an input of the same cycle";
    ASSERT_EQ(count, top.count_o) << "count_o depends on an input of the same cycle";
    ASSERT_EQ(free, top.free_o) << "free_o depends on an input of the same cycle";
  }

  void check_outputs() {
    Vfifo_bench& top = bench_.top();
    ASSERT_EQ(top.ready_o, reference_.ready()) << "cycle " << bench_.cycle();
    ASSERT_EQ(top.valid_o, reference_.valid(bench_.cycle())) << "cycle " << bench_.cycle();
    if (top.valid_o) {
      ASSERT_EQ(top.data_o, reference_.data()) << "cycle " << bench_.cycle();
    }
    if (lane_.counts) {
      ASSERT_EQ(top.count_o, reference_.count()) << "cycle " << bench_.cycle();
      ASSERT_EQ(top.free_o, reference_.free()) << "cycle " << bench_.cycle();
    }
  }

  FifoBench bench_;
  const Lane lane_ = GetParam();
  FifoReference reference_{lane_};
  uint64_t written_ = 0;
  uint64_t read_ = 0;

 private:
  void invert_handshakes() {
    Vfifo_bench& top = bench_.top();
    top.valid_i = !top.valid_i;
    top.ready_i = !top.ready_i;
  }

  /// The reference does what the clock edge is going to do.
  void follow() {
    const Vfifo_bench& top = bench_.top();
    if (!top.rst_ni) return reference_.clear();
    if (top.valid_o && top.ready_i) {
      reference_.pop();
      ++read_;
    }
    if (top.valid_i && top.ready_o) {
      reference_.push(top.data_i);
      ++written_;
    }
    if (top.rollback_i) reference_.rollback();
    if (top.commit_i || !lane_.commits) reference_.commit(bench_.cycle());
  }
};

/// Random traffic in phases of every pace, with a rare reset.
inline void run_random_traffic(FifoBench& bench, const auto& cycle, unsigned cycles) {
  Traffic traffic{};
  for (unsigned left = 0, n = 0; n < cycles && !testing::Test::HasFatalFailure(); ++n, --left) {
    if (left == 0) {
      traffic = {bench.pace(), bench.pace(), bench.pace(), bench.pace() / 5, bench.chance(5) ? 5u : 0u};
      left = 1 + static_cast<unsigned>(bench.below(64));
    }
    cycle(traffic);
  }
}

}  // namespace weft::rtl_test

// SPDX-License-Identifier: Apache-2.0
// AXI4 slave in front of a host memory: random latency and pauses, several reads under way, injected bus
// errors, and a check of the rules for the master: offers stay, burst type, size, length and 4 KiB, wlast,
// strobes without gaps.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "common/findings.hpp"
#include "common/host_memory.hpp"
#include "common/pause.hpp"
#include "common/pins.hpp"
#include "common/stable.hpp"

namespace weft::tb {

struct AxiMemoryConfig {
  uint32_t data_bytes = 32;
  uint32_t latency = 10;     ///< cycles from request to answer, at least
  uint32_t jitter = 0;       ///< up to so many cycles more
  uint32_t max_reads = 16;   ///< read bursts under way
  uint32_t max_writes = 16;  ///< write bursts not yet answered
  uint32_t max_burst_bytes = 256;
  double pause = 0;
  uint64_t seed = 0;
};

/// A write burst, gathered: the bytes whose strobe was set.
struct WrittenBurst {
  uint64_t address;
  std::vector<uint8_t> bytes;
};

class AxiMemory {
 public:
  using OnWrite = std::function<void(WrittenBurst)>;                // when its last beat has come
  using OnAnswered = std::function<void(uint64_t bytes, bool ok)>;  // when its response is taken

  AxiMemory(const AxiMemoryConfig& config, OnWrite on_write, OnAnswered on_answered);

  HostMemory& memory() { return memory_; }
  const HostMemory& memory() const { return memory_; }

  /// Accesses that touch [base, limit) answer SLVERR or DECERR, in turn, and change nothing; base = limit:
  /// none do.
  void inject_errors(uint64_t base, uint64_t limit);
  uint64_t errors() const { return errors_; }

  /// Nothing is taken and nothing new is answered from now on, or it goes on.
  void stall(bool on) { stalled_ = on; }
  bool stalled() const { return stalled_; }

  bool idle() const { return reads_.empty() && addresses_.empty() && beats_.empty() && answers_.empty(); }
  /// Forgets what is under way, keeps the memory.
  void reset();

  void drive(AxiPins& pins);
  void sample(const AxiPins& pins, const Reporter& reporter);

  /// At the end of a run: reports write bursts of which only a part has come. Data may come before its
  /// address, so that only then data nobody announced can be told from data that is early.
  void check_quiet(const Reporter& reporter) const;

 private:
  struct Read {
    AxiAddress request;
    uint32_t beat;
    uint64_t due;
  };
  struct Answer {
    WrittenBurst burst;
    uint64_t due;
  };

  bool faulty(uint64_t address, uint64_t bytes) const;
  bool pauses() { return stalled_ || pause_.pause(); }
  uint64_t answer_time();
  uint8_t error_response() const { return errors_ % 2 == 0 ? resp_slverr : resp_decerr; }
  void check_address(const char* channel, const AxiAddress& address, const Reporter& reporter) const;
  void load_read_beat(AxiPins& pins) const;
  uint8_t perform_write(const WrittenBurst& burst);
  void finish_answers(const AxiPins& pins);
  void take_burst(const Reporter& reporter);
  WrittenBurst gather(const AxiAddress& address, uint32_t beats, const Reporter& reporter) const;
  void check_overrun(const Reporter& reporter);

  AxiMemoryConfig config_;
  OnWrite on_write_;
  OnAnswered on_answered_;
  HostMemory memory_;
  PauseGenerator pause_;
  RandomStream random_;
  uint64_t now_ = 0;
  std::deque<Read> reads_;
  std::deque<AxiAddress> addresses_;  // of write bursts
  std::deque<AxiWriteBeat> beats_;  // of the burst that is coming in, and of those whose address has not come
  uint32_t whole_bursts_ = 0;       // in beats_
  bool overrun_told_ = false;       // of the first burst
  std::deque<Answer> answers_;
  bool r_offered_ = false;
  bool b_offered_ = false;
  bool stalled_ = false;
  uint64_t error_base_ = 0;
  uint64_t error_limit_ = 0;
  uint64_t errors_ = 0;
  StableCheck<AxiAddress> stable_aw_{"m_axi aw"};
  StableCheck<AxiAddress> stable_ar_{"m_axi ar"};
  StableCheck<AxiWriteBeat> stable_w_{"m_axi w"};
};

}  // namespace weft::tb

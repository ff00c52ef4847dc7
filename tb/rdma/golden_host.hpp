// SPDX-License-Identifier: Apache-2.0
// Memory port of a golden engine (golden_engine.hpp): an AXI4 master that writes and reads payloads, one
// burst each, and is answered in order.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "common/pins.hpp"
#include "rdma/receiver.hpp"

namespace weft::tb {

class GoldenHost {
 public:
  struct Read {
    uint64_t tag = 0;
    std::vector<uint8_t> bytes;
    bool failed = false;
  };
  struct Written {
    uint16_t cid = 0;
    bool failed = false;
  };

  /// @param data_bytes bus width  @param bursts that memory may owe an answer for, of reads and of writes
  GoldenHost(uint32_t data_bytes, uint32_t bursts) : data_bytes_(data_bytes), bursts_(bursts) {}

  void reset();
  void drive(AxiPins& pins) const;
  /// The clock edge, with the pins as they were before it.
  void step(const AxiPins& pins);

  void write(const rdma::HostWrite& write, uint16_t cid);
  void read(uint64_t address, uint32_t bytes, uint64_t tag);

  /// Answers since the last look.
  std::vector<Read> take_reads() { return std::exchange(reads_done_, {}); }
  std::vector<Written> take_written() { return std::exchange(written_, {}); }

  bool idle() const { return addresses_.empty() && beats_.empty() && unanswered_.empty() && reads_.empty(); }
  size_t reads_waiting() const { return reads_.size(); }

 private:
  AxiAddress burst(uint64_t address, uint32_t bytes) const;

  struct PendingRead {
    AxiAddress address;
    uint32_t bytes = 0;
    Read read;
  };

  uint32_t data_bytes_, bursts_;
  std::deque<AxiAddress> addresses_;  // of writes, not yet taken
  std::deque<AxiWriteBeat> beats_;    // likewise
  std::deque<uint16_t> unanswered_;   // contexts of writes, taken or not
  std::deque<PendingRead> reads_;     // whose data has not come
  size_t asked_ = 0;                  // of these: addresses taken
  std::vector<Read> reads_done_;
  std::vector<Written> written_;
};

}  // namespace weft::tb

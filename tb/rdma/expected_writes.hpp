// SPDX-License-Identifier: Apache-2.0
// Checks every write burst to host memory against the writes that the golden model decided on, in order, byte
// by byte.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "common/axi_memory.hpp"
#include "common/findings.hpp"
#include "rdma/receiver.hpp"

namespace weft::tb {

class ExpectedWrites {
 public:
  void expect(rdma::HostWrite write);
  /// A burst came; it is judged some cycles later, when its cause has surely been traced.
  void wrote(WrittenBurst burst, uint64_t cycle) { bursts_.push_back({std::move(burst), cycle}); }
  void answered(uint64_t bytes) { answered_bytes_ += bytes; }
  void judge(const Reporter& reporter);

  uint64_t expected_bytes() const { return expected_bytes_; }  ///< of all writes decided on
  uint64_t answered_bytes() const { return answered_bytes_; }  ///< of all bursts that memory has answered
  bool empty() const { return writes_.empty() && bursts_.empty() && expected_bytes_ == answered_bytes_; }
  void reset();

 private:
  struct Burst {
    WrittenBurst burst;
    uint64_t cycle;
  };

  void judge_one(const Burst& burst, const Reporter& reporter);

  std::deque<rdma::HostWrite> writes_;
  uint64_t begun_ = 0;  // bytes of the first write that earlier bursts have written
  std::deque<Burst> bursts_;
  uint64_t expected_bytes_ = 0;
  uint64_t answered_bytes_ = 0;
};

}  // namespace weft::tb

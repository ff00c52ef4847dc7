// SPDX-License-Identifier: Apache-2.0
// Checks every write burst to host memory against the writes that the golden model decided on, in order, byte
// by byte.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/axi_memory.hpp"
#include "common/findings.hpp"
#include "rdma/receiver.hpp"

namespace weft::tb {

class ExpectedWrites {
 public:
  /// @param cid the context whose write it is
  void expect(rdma::HostWrite write, uint16_t cid);
  /// A burst came; it is judged some cycles later, when its cause has surely been traced.
  void wrote(WrittenBurst burst, uint64_t cycle) { bursts_.push_back({std::move(burst), cycle}); }
  /// The context whose write failed, if one did.
  std::optional<uint16_t> answered(uint64_t bytes, bool ok);
  void judge(const Reporter& reporter);

  uint64_t expected_bytes() const { return expected_bytes_; }  ///< of all writes decided on
  uint64_t answered_bytes() const { return answered_bytes_; }  ///< of all bursts that memory has answered

  /// Whether memory answered a write of this context with an error since its RSP went to the exit; nothing if
  /// it did so while the RSP was on its way there, as can only be if DATA came before the RSP left. The pins
  /// show when the RSP left, not when it went.
  std::optional<bool> failed(uint16_t cid) const;
  void granted(uint16_t cid) { grants_[cid].push_back(false); }
  void grant_left(uint16_t cid);

  bool empty() const { return writes_.empty() && bursts_.empty() && expected_bytes_ == answered_bytes_; }
  void reset();

 private:
  struct Burst {
    WrittenBurst burst;
    uint64_t cycle;
  };

  struct Unanswered {
    uint64_t end;  // expected_bytes() with this write
    uint16_t cid;
  };

  void judge_one(const Burst& burst, const Reporter& reporter);

  std::deque<rdma::HostWrite> writes_;
  uint64_t begun_ = 0;  // bytes of the first write that earlier bursts have written
  std::deque<Burst> bursts_;
  std::deque<Unanswered> unanswered_;
  std::set<uint16_t> failed_, perhaps_failed_;   // contexts
  std::map<uint16_t, std::deque<bool>> grants_;  // whose RSPs have not left: whether a write failed since
  uint64_t expected_bytes_ = 0;
  uint64_t answered_bytes_ = 0;
};

}  // namespace weft::tb

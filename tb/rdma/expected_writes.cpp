// SPDX-License-Identifier: Apache-2.0
// Checks every write burst to host memory.
#include "expected_writes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "expected_packets.hpp"

namespace weft::tb {

void ExpectedWrites::reset() {
  writes_.clear();
  bursts_.clear();
  unanswered_.clear();
  failed_.clear();
  grants_.clear();
  perhaps_failed_.clear();
  begun_ = expected_bytes_ = answered_bytes_ = 0;
}

void ExpectedWrites::expect(rdma::HostWrite write, uint16_t cid) {
  expected_bytes_ += write.bytes.size();
  unanswered_.push_back({expected_bytes_, cid});
  writes_.push_back(std::move(write));
}

std::optional<uint16_t> ExpectedWrites::answered(uint64_t bytes, bool ok) {
  answered_bytes_ += bytes;
  std::optional<uint16_t> failed;
  if (!ok && !unanswered_.empty()) failed = unanswered_.front().cid;
  if (failed) {
    failed_.insert(*failed);
    std::ranges::fill(grants_[*failed], true);
  }
  while (!unanswered_.empty() && unanswered_.front().end <= answered_bytes_) unanswered_.pop_front();
  return failed;
}

void ExpectedWrites::grant_left(uint16_t cid) {
  failed_.erase(cid);
  perhaps_failed_.erase(cid);
  std::deque<bool>& grants = grants_[cid];
  if (grants.empty()) return;
  if (grants.front()) perhaps_failed_.insert(cid);
  grants.pop_front();
}

std::optional<bool> ExpectedWrites::failed(uint16_t cid) const {
  if (failed_.contains(cid)) return true;
  if (perhaps_failed_.contains(cid)) return std::nullopt;
  return false;
}

void ExpectedWrites::judge(const Reporter& reporter) {
  while (!bursts_.empty() && bursts_.front().cycle + trace_lag <= reporter.cycle()) {
    judge_one(bursts_.front(), reporter);
    bursts_.pop_front();
  }
}

void ExpectedWrites::judge_one(const Burst& observed, const Reporter& reporter) {
  const auto& [burst, cycle] = observed;
  if (writes_.empty()) {
    reporter.add(fmt::format("m_axi: write of {} bytes to {:#x} in cycle {} that nothing asked for",
                             burst.bytes.size(), burst.address, cycle));
    return;
  }
  const rdma::HostWrite& write = writes_.front();
  const uint64_t left = write.bytes.size() - begun_;
  const bool fits =
      burst.address == write.addr + begun_ && burst.bytes.size() <= left && !burst.bytes.empty();
  if (!fits) {
    reporter.add(
        fmt::format("m_axi: write in cycle {}\n  expected {} bytes to {:#x}\n  got      {} bytes to {:#x}",
                    cycle, left, write.addr + begun_, burst.bytes.size(), burst.address));
    writes_.pop_front();
    begun_ = 0;
    return;
  }
  const auto expected = write.bytes.begin() + static_cast<ptrdiff_t>(begun_);
  const auto differ = std::mismatch(burst.bytes.begin(), burst.bytes.end(), expected);
  if (differ.first != burst.bytes.end()) {
    const uint64_t at = burst.address + static_cast<uint64_t>(differ.first - burst.bytes.begin());
    reporter.add(
        fmt::format("m_axi: write in cycle {}, byte at {:#x}\n  expected {:#04x}\n  got      {:#04x}", cycle,
                    at, *differ.second, *differ.first));
  }
  begun_ += burst.bytes.size();
  if (begun_ < write.bytes.size()) return;
  writes_.pop_front();
  begun_ = 0;
}

}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// Random packets, timeouts, pauses, answers of memory and settings for rdma_receiver, from settings and sizes
// of the fixture.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <vector>

#include "rdma_receiver_fixture.hpp"

namespace weft::rtl_test {

template <typename Lockstep>
class RandomReceiverTest : public BasicReceiverTest<Lockstep> {
 protected:
  using Base = BasicReceiverTest<Lockstep>;
  using Input = typename Lockstep::Input;
  using Header = rdma::formats::Header;
  using Outcome = rdma::formats::Outcome;
  using RxContext = rdma::RxContext;
  using Base::bench_;
  using Base::config;
  using Base::context;
  using Base::data;
  using Base::free_contexts;
  using Base::out_;
  using Base::receiver_;
  using Base::release;

  void random_paces();
  void random_settings();
  virtual std::vector<rdma::Region> random_regions();
  virtual void random_clock();
  void end_all();

  virtual Input random_packet();
  Input random_bad_packet();
  Header random_request();
  Header random_or_repeated_request();
  Header random_data(uint16_t cid);
  void spoil(Header& header);
  void answer_writes();
  uint32_t any(uint64_t limit) { return static_cast<uint32_t>(bench_.below(limit)); }

  struct {
    unsigned packets, requests, commands, control, answers;  // percent
    unsigned tick;                                           // clocks, 0: time stands still
  } paces_{};
  std::deque<Header> asked_;  // requests, the last ones
};

template <typename Lockstep>
rdma::formats::Header RandomReceiverTest<Lockstep>::random_request() {
  const rdma::Params params = receiver_params();
  Header header = transfer(1 + any(bench_.chance(70) ? 6 : 60));
  header.src = static_cast<uint16_t>(any(16));
  header.sid = static_cast<uint16_t>(any(16));
  header.msgid = any(64);
  header.pidx -= any(10);  // 1 to 10 bytes in the last packet
  header.cid = 0;          // the key of region 0
  header.arg = (8 + bench_.below((1 << 18) - 8 - 16 - 60)) * params.payload;
  if (bench_.chance(3)) header.pidx = any(2) * 256 * params.payload;
  if (bench_.chance(3)) header.arg |= 1 + bench_.below(params.payload - 1);
  if (bench_.chance(3)) header.arg = (bench_.chance(50) ? 7 : (1 << 18) - 16) * uint64_t{params.payload};
  if (bench_.chance(3)) header.arg |= uint64_t{1} << (24 + bench_.below(40));
  if (bench_.chance(30)) {  // region 1, or one that does not exist
    header.gen = bench_.chance(95) ? 1 : static_cast<uint8_t>(1 << any(8));
    header.cid = test_key;
    header.arg = 0x4000 + bench_.below(128) * params.payload;
  }
  if (bench_.chance(3)) header.cid ^= static_cast<uint16_t>(1 << any(16));
  return header;
}

template <typename Lockstep>
rdma::formats::Header RandomReceiverTest<Lockstep>::random_or_repeated_request() {
  if (!asked_.empty() && bench_.chance(40)) return asked_[bench_.below(asked_.size())];
  asked_.push_back(random_request());
  if (asked_.size() > 6) asked_.pop_front();
  return asked_.back();
}

/// Mostly the packet at WBASE, or one in the window; every edge is likely.
template <typename Lockstep>
rdma::formats::Header RandomReceiverTest<Lockstep>::random_data(uint16_t cid) {
  const RxContext& receiving = context(cid);
  const uint32_t base = receiving.window.base;
  const uint32_t window = receiver_params().window;
  const std::array<uint32_t, 8> places{base,
                                       base,
                                       base,
                                       base + 1,
                                       base + 1 + any(window),
                                       base + window + any(4),
                                       receiving.cut.last + any(2),
                                       any(base + 1)};
  Header header = data(cid, places[bench_.below(places.size())]);
  if (bench_.chance(20)) header.flags |= rdma::formats::flag_retry;
  return header;
}

/// One bit wrong in a field that counts.
template <typename Lockstep>
void RandomReceiverTest<Lockstep>::spoil(Header& header) {
  switch (bench_.below(10)) {
    case 0:
      header.src ^= static_cast<uint16_t>(1 << any(16));
      break;
    case 1:
      header.sid ^= static_cast<uint16_t>(1 << any(16));
      break;
    case 2:
      header.msgid ^= 1 << any(24);
      break;
    case 3:
      header.gen ^= static_cast<uint8_t>(1 << any(8));
      break;
    case 4:
      header.cid ^= static_cast<uint16_t>(1 << any(16));
      break;
    case 5:
      header.len ^= static_cast<uint16_t>(1 << any(16));
      break;
    case 6:
      header.pidx ^= uint32_t{1} << any(32);
      break;
    case 7:
      header.arg ^= 1u << any(24);
      break;
    case 8:
      header.arg ^= 1u << 16;  // the other region
      break;
    default:
      header.flags ^= rdma::formats::flag_last;
  }
}

/// Nothing in it may be believed, not even its type.
template <typename Lockstep>
typename Lockstep::Input RandomReceiverTest<Lockstep>::random_bad_packet() {
  const std::array verdicts{Outcome::drop_crc, Outcome::drop_malformed, Outcome::drop_not_mine};
  Header header = random_header(bench_);
  header.ptype = static_cast<uint8_t>(any(10));
  return {header, verdicts[bench_.below(verdicts.size())]};
}

template <typename Lockstep>
typename Lockstep::Input RandomReceiverTest<Lockstep>::random_packet() {
  if (bench_.chance(4)) return random_bad_packet();
  if (bench_.chance(paces_.requests)) return {random_or_repeated_request()};
  const auto cid = static_cast<uint16_t>(any(rx_contexts));
  const bool ends = bench_.chance(context(cid).state == RxContext::State::done ? 30 : 1);
  Header header = ends ? release(cid) : random_data(cid);
  if (ends && bench_.chance(30)) header.flags |= rdma::formats::flag_failed;
  if (bench_.chance(5)) spoil(header);
  return {header};
}

/// Memory answers only what it was given.
template <typename Lockstep>
void RandomReceiverTest<Lockstep>::answer_writes() {
  if (!bench_.chance(paces_.answers)) return;
  out_.answered += static_cast<int64_t>(bench_.below(static_cast<uint64_t>(out_.writes - out_.answered) + 1));
}

template <typename Lockstep>
void RandomReceiverTest<Lockstep>::random_clock() {
  answer_writes();
  if (!receiver_.packet && bench_.chance(paces_.packets)) receiver_.packet = random_packet();
  out_.cmd_ready = bench_.chance(paces_.commands);
  out_.ctl_ready = bench_.chance(paces_.control);
  if (paces_.tick && bench_.cycle() % paces_.tick == 0) ++receiver_.now;
  receiver_.clock();
}

template <typename Lockstep>
void RandomReceiverTest<Lockstep>::random_paces() {
  paces_ = {bench_.pace(), std::array{1u, 5u, 50u}[bench_.below(3)],   bench_.pace(), bench_.pace(),
            bench_.pace(), std::array{0u, 1u, 3u, 8u}[bench_.below(4)]};
}

/// Registers that software may write while transfers are under way.
template <typename Lockstep>
void RandomReceiverTest<Lockstep>::random_settings() {
  receiver_.config.weft_mode = bench_.chance(50);
  receiver_.config.rx_timeout = std::array<uint16_t, 4>{0, 5, 20, 100}[bench_.below(4)];
  receiver_.config.ask_from_after = static_cast<uint8_t>(bench_.below(4));
  receiver_.config.max_silent = static_cast<uint8_t>(bench_.below(4));
  receiver_.config.backoff = static_cast<uint8_t>(bench_.below(4));
  const auto beside_window = static_cast<uint8_t>(receiver_params().window + bench_.below(4));
  receiver_.config.rx_ahead =
      std::array<uint8_t, 8>{0, 1, 2, 5, 20, 255, beside_window, beside_window}[bench_.below(8)];
  receiver_.config.rx_quota = std::array<uint16_t, 6>{0, 0, 1, 3, 5, 300}[bench_.below(6)];
  receiver_.config.regions = random_regions();
}

/// As at the start, moved, shrunk, closed or with another key: while transfers to them are under way.
template <typename Lockstep>
std::vector<rdma::Region> RandomReceiverTest<Lockstep>::random_regions() {
  std::vector<rdma::Region> regions = config().regions;
  const uint64_t payload = receiver_params().payload;
  for (rdma::Region& region : regions) {
    if (bench_.chance(70)) continue;
    const uint64_t moved = bench_.below(100) * payload;
    switch (bench_.below(5)) {
      case 0:
        region.base += moved;
        break;
      case 1:
        region.limit = region.base + moved;
        break;
      case 2:
        region.key ^= static_cast<uint16_t>(1 << any(16));
        break;
      case 3:
        region.remote_write = false;
        break;
      default:
        region.limit -= moved;
    }
  }
  return regions;
}

/// Without any packet every context comes back by its timer.
template <typename Lockstep>
void RandomReceiverTest<Lockstep>::end_all() {
  receiver_.packet.reset();
  receiver_.config = config();
  paces_ = {0, 0, 100, 100, 100, 8};
  for (unsigned n = 0; n < 3000 && !testing::Test::HasFatalFailure(); ++n) random_clock();
  this->expect_idle();
  EXPECT_EQ(free_contexts(), rx_contexts);
  EXPECT_EQ(out_.writes, out_.writes_decided());
}

}  // namespace weft::rtl_test

// SPDX-License-Identifier: Apache-2.0
// Retired events of the RDMA engine as trace records; RTL monitor and golden model both go through here
// (docs/trace.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "rdma/receiver.hpp"
#include "rdma/sender.hpp"
#include "trace/record.hpp"

namespace weft::rdma {

/// Bytes of host memory, without their contents.
struct HostRange {
  uint64_t addr = 0;
  uint32_t bytes = 0;
};

/// One receiver event in plain values. Nothing in `header`: none was there (timeouts) or none could be
/// trusted.
struct RxEventView {
  std::string_view event = "packet";  // packet, timeout
  std::optional<formats::Header> header;
  RxInputs inputs;
  formats::Outcome outcome = formats::Outcome::none;
  uint16_t cid = 0;
  uint32_t wbase = 0;
  WindowBits wvec;                         // words beyond the window, or missing ones, count as zero
  std::optional<formats::Header> emitted;  // its crc is not shown
  std::optional<HostRange> write;
  uint16_t limit = 0;  // timeout in use when it retires, ticks
};

/// One sender event in plain values; `post` for events of that kind.
struct TxEventView {
  std::string_view event = "packet";  // packet, timeout, post, turn
  std::optional<formats::Header> header;
  std::optional<Post> post;
  TxInputs inputs;
  formats::Outcome outcome = formats::Outcome::none;
  uint16_t sid = 0;
  uint32_t next = 0;
  std::optional<formats::Header> emitted;
  std::optional<DataOrder> data;
  std::optional<Completion> completion;
  uint16_t limit = 0;  // as of RxEventView
};

RxEventView view(std::string_view event, std::optional<formats::Header> header, const RxInputs& inputs,
                 const RxResult& result);
TxEventView view(std::string_view event, std::optional<formats::Header> header, std::optional<Post> post,
                 const TxInputs& inputs, const TxResult& result);

trace::Record rx_record(uint64_t cycle, const RxEventView& view);
trace::Record tx_record(uint64_t cycle, const TxEventView& view);

}  // namespace weft::rdma

// SPDX-License-Identifier: Apache-2.0
// Packets sent to some nodes that have not been answered (docs/rdma_baseline.md, Sender window).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rdma/timer.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::rdma {

/// A window of slots that slides: slots are given away in turn, and come back in the same order.
class SendBuffer {
 public:
  struct Slot {
    bool open = false;  // not answered
    formats::Header header;

    bool operator==(const Slot&) const = default;
  };

  explicit SendBuffer(uint32_t slots) : slots_(slots) {}

  bool full() const { return newest_ - oldest_ == slots_.size(); }
  bool empty() const { return newest_ == oldest_; }

  /// The slot that the next packet gets. Not of a full buffer.
  uint32_t next_slot() const { return newest_ % size(); }
  void add(const formats::Header& data);

  /// The packet in this slot, if it waits for an answer.
  const formats::Header* waits(uint32_t slot) const;

  /// It waits no longer. Returns whether the window slides.
  bool close(uint32_t slot);

  /// All that wait now are to be sent once more, the oldest first.
  void begin_again();
  /// The slot of the oldest of these that still waits, if there is one.
  std::optional<uint32_t> next_again() const;
  /// It is sent.
  void again_done(uint32_t slot);

  Timer timer;          // of a buffer that is not empty
  uint8_t retries = 0;  // timeouts since the window slid

  bool operator==(const SendBuffer&) const = default;

 private:
  uint32_t size() const { return static_cast<uint32_t>(slots_.size()); }

  std::vector<Slot> slots_;           // a power of two
  uint32_t oldest_ = 0, newest_ = 0;  // counts modulo 2^32 of slots that came back, were given away
  uint32_t again_ = 0,
           again_end_ = 0;  // likewise, of the packet that is sent again next, behind the last one
};

// DATA: arg has the slot above the RKEY. ACK: arg is the slot of the DATA that it answers.
uint32_t slot_of_data(const formats::Header& data);
void set_slot(formats::Header& data, uint32_t slot);

}  // namespace weft::rdma

// SPDX-License-Identifier: Apache-2.0
// The switches of a subnet as one who programs their multicast tables sees them.
//
// Tables are moved in blocks (InfiniBand Architecture Specification 1.4, volume 1, 14.2.5.12): block B at
// position P holds, for MLIDs 0xC000 + 32 B to 0xC000 + 32 B + 31, the ports 16 P to 16 P + 15.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace weft::ib {

inline constexpr uint32_t block_mlids = 32;

/// Masks of 16 ports, the lowest as bit 0, for 32 MLIDs.
using Block = std::array<uint16_t, block_mlids>;

/// Where a block stands in a table.
struct BlockPlace {
  uint32_t number = 0;    ///< 0 to 511
  uint32_t position = 0;  ///< 0 to 15

  bool operator==(const BlockPlace&) const = default;
  friend bool operator<(const BlockPlace& a, const BlockPlace& b) {
    return std::pair(a.number, a.position) < std::pair(b.number, b.position);
  }
};

struct Switch {
  uint64_t guid = 0;
  std::string name;
  uint32_t ports = 0;     ///< besides port 0
  uint32_t capacity = 0;  ///< MLIDs from 0xC000 on (MulticastFDBCap)
  bool has_top = false;   ///< heeds `top` (IsMulticastFDBTopSupported)
  uint16_t top = 0;       ///< last MLID that it forwards (MulticastFDBTop); 0: all
};

/// A switch that does not answer, or says no; what() says which, and to what.
class Unanswered : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A block that is to be written. `sw` counts in Switches::all().
struct BlockWrite {
  std::size_t sw = 0;
  BlockPlace place;
  const Block* block = nullptr;
};

/// A block that is to be read.
struct BlockRead {
  std::size_t sw = 0;
  BlockPlace place;
};

/// Are told which of many is about to be sent, and which has been done.
struct WriteEvents {
  std::function<void(std::size_t)> sent, written;
};
using HasRead = std::function<void(std::size_t, const Block&)>;

class Switches {
 public:
  virtual ~Switches() = default;

  /// By GUID, ascending.
  virtual const std::vector<Switch>& all() const = 0;

  /// `sw` counts in all(). These throw Unanswered; what was to be written may then be there or not.
  virtual Block read(std::size_t sw, BlockPlace place) = 0;
  virtual void write(std::size_t sw, BlockPlace place, const Block& block) = 0;
  virtual uint16_t read_top(std::size_t sw) = 0;
  virtual void write_top(std::size_t sw, uint16_t top) = 0;

  /// Many of them, maybe several at a time and in another order. If one is not answered, no more are sent,
  /// and Unanswered is thrown once each that is under way is done or given up: what was sent and is not done
  /// may be there or not.
  virtual void write_all(std::span<const BlockWrite> writes, const WriteEvents& events) {
    for (std::size_t i = 0; i < writes.size(); ++i) {
      events.sent(i);
      write(writes[i].sw, writes[i].place, *writes[i].block);
      events.written(i);
    }
  }
  virtual void read_all(std::span<const BlockRead> reads, const HasRead& has_read) {
    for (std::size_t i = 0; i < reads.size(); ++i) has_read(i, read(reads[i].sw, reads[i].place));
  }
};

}  // namespace weft::ib

// SPDX-License-Identifier: Apache-2.0
// Golden model of the switch lookup block: what becomes of a packet, by the tables of its switch
// (docs/switch.md; rules of leaf, row and column switches: VTFTR paper, 3; multicast: MR4LMS paper, 2).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "switch/image.hpp"

namespace weft::switch_lookup {

/// Where a packet goes. No ports unless the outcome is `forward`.
struct Result {
  formats::Outcome outcome = formats::Outcome::no_table;
  Ports ports = 0;
  uint8_t vc = 0;

  bool operator==(const Result&) const = default;
};

/// An entry as it is in memory; `corrected`: with one wrong bit, `corrupt`: more than can be corrected.
struct Slot {
  bool valid = false, corrupt = false;
  uint8_t primary = 0;
  Ports ports = 0;
  bool corrected = false;

  bool operator==(const Slot&) const = default;
};

/// Random numbers of 32 bits: a linear feedback register, each number steps it by shifts of 13, 17 and 5
/// (Marsaglia, Xorshift RNGs, 2003).
class BackupDice {
 public:
  void seed(uint32_t seed) { state_ = seed != 0 ? seed : 1; }
  uint32_t next();
  /// 0 .. count - 1 of a number's upper 16 bits; count: at most 64.
  static uint32_t below(uint32_t number, uint32_t count) { return ((number >> 16) * count) >> 16; }

 private:
  uint32_t state_ = 1;
};

/// Tables of one image, ready to be looked up.
class Tables {
 public:
  Tables(const Sizes& sizes, const Image& image);

  const formats::Image& head() const { return head_; }
  /// Place of a request's entry in its table; nothing if it is beyond the table.
  std::optional<uint32_t> place_of(const formats::Request& request) const;
  std::vector<Slot>& multicast() { return multicast_; }
  std::vector<Slot>& unicast() { return unicast_; }
  const Slot& slot(bool multicast, uint32_t place) const {
    return multicast ? multicast_[place] : unicast_[place];
  }

 private:
  Sizes sizes_;
  formats::Image head_;
  std::vector<Slot> multicast_, unicast_;
};

/// What a lookup takes from the tables when it reads them.
struct Fetched {
  formats::Request request;
  bool loaded = false;  ///< there are tables
  formats::Image head;
  std::optional<Slot> slot;  ///< nothing: beyond the table
};

/// The rules alone.
/// @param number random, for choosing among backups
Result decide(const Fetched& fetched, const Sizes& sizes, Ports alive, uint32_t number);

class Lookup {
 public:
  explicit Lookup(const Sizes& sizes) : sizes_(sizes) {}

  void set_tables(const Image& image) { tables_.emplace(sizes_, image); }
  std::optional<Tables>& tables() { return tables_; }
  void seed(uint32_t seed) { dice_.seed(seed); }

  /// A lookup in two steps, as the pipeline does it: tables may change between them, live ports too.
  Fetched fetch(const formats::Request& request) const;
  Result retire(const Fetched& fetched, Ports alive) { return decide(fetched, sizes_, alive, dice_.next()); }
  Result look(const formats::Request& request, Ports alive) { return retire(fetch(request), alive); }

 private:
  Sizes sizes_;
  std::optional<Tables> tables_;
  BackupDice dice_;
};

}  // namespace weft::switch_lookup

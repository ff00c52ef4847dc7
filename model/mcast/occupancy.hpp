// SPDX-License-Identifier: Apache-2.0
// What trees have taken: colours in switches and room on links. Trees are planned against it.
//
// A colour is an entry of a switch's table, so two trees may have the same only where they share no switch
// (MR4LMS paper, definition 5). With a table for each port (4.7, last remark) they may share switches, but no
// port: then colours are taken in links instead.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "topology/graph.hpp"

namespace weft::mcast {

inline constexpr uint32_t no_limit = std::numeric_limits<uint32_t>::max();
inline constexpr uint32_t most_colours = 16384;  ///< of InfiniBand

/// Where a colour is taken.
enum class Tables : uint8_t { of_switch, of_port };

class Occupancy {
 public:
  /// @param colours 1 to most_colours, or no_limit
  Occupancy(const topology::Graph& graph, uint32_t colours, Tables tables);

  Tables tables() const { return tables_; }
  uint32_t limit() const { return limit_; }

  /// Colours that are free, a bit each: words() words, beyond which no tree has a colour. Those that the
  /// limit forbids are never free; a colour that is free everywhere is among these words, unless the limit
  /// forbids it.
  std::size_t words() const { return words_; }
  const uint64_t* free_in_switch(uint32_t sw) const {
    return free_.data() + (of_port() ? 0 : sw + 1) * stride_;
  }
  const uint64_t* free_in_link(uint32_t link) const {
    return free_.data() + (of_port() ? link + 1 : 0) * stride_;
  }
  bool is_free_in_switch(uint32_t sw, uint32_t colour) const { return is_set(free_in_switch(sw), colour); }
  bool is_free_in_link(uint32_t link, uint32_t colour) const { return is_set(free_in_link(link), colour); }

  void take(std::span<const uint32_t> switches, std::span<const uint32_t> links, uint32_t colour);
  void give_back(std::span<const uint32_t> switches, std::span<const uint32_t> links, uint32_t colour);

  /// Groups whose tree uses a link (definition 6), and whose tree passes a switch.
  uint32_t load(uint32_t link) const { return load_[link]; }
  uint32_t switch_load(uint32_t sw) const { return switch_load_[sw]; }
  void add_load(std::span<const uint32_t> switches, std::span<const uint32_t> links, int32_t groups);

 private:
  bool of_port() const { return tables_ == Tables::of_port; }
  static bool is_set(const uint64_t* bits, uint32_t colour) { return bits[colour / 64] >> colour % 64 & 1; }
  void set(uint32_t resource, uint32_t colour, bool free);
  void widen();

  Tables tables_;
  uint32_t limit_;
  std::size_t rows_;
  std::size_t stride_ = 1;  // words of a row, of which the first words_ are in use
  std::size_t words_ = 1;
  std::vector<uint64_t> free_;  // first a row in which all colours are free, then one for each switch or link
  std::vector<uint32_t> load_, switch_load_;
};

}  // namespace weft::mcast

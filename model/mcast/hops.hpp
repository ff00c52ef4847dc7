// SPDX-License-Identifier: Apache-2.0
// Minimal hops between all switches (MR4LMS paper, definition 8): a table made once, or searches on demand
// where it would be too large.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/graph.hpp"

namespace weft::mcast {

inline constexpr uint32_t most_hops = 254;
inline constexpr uint64_t most_hops_bytes = uint64_t{1} << 30;  ///< of a table

class Hops {
 public:
  /// Throws Fault if two switches are more than `most_hops` links apart, or not connected.
  /// @param threads that make the table
  /// @param table_bytes a larger table is not made
  explicit Hops(const topology::Graph& graph, uint32_t threads = 1, uint64_t table_bytes = most_hops_bytes);

  /// Room for a row where there is no table; one for each row that is in use at a time.
  using Room = std::vector<uint8_t>;

  /// Links on the shortest way from this switch to each switch, then 255 up to a multiple of 64. Good until
  /// `room` is used again.
  const uint8_t* from(uint32_t sw, Room& room) const;

  /// Whether from() needs no search.
  bool has_table() const { return stride_ != 0; }

  const topology::Graph& graph() const { return graph_; }

 private:
  void fill_rows(uint32_t first, uint32_t count);
  void search(uint32_t sw, Room& room) const;

  const topology::Graph& graph_;
  std::size_t stride_ = 0;  // of a row; 0: no table
  std::vector<uint8_t> table_;
};

}  // namespace weft::mcast

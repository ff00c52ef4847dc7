// SPDX-License-Identifier: Apache-2.0
// The lookup block of one switch, as the simulation of a fabric uses it: the golden model, or Verilated RTL
// with the golden model beside it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "switch/lookup.hpp"

namespace weft::tb {

/// RTL and golden model differ, or the RTL does not answer; what() says where.
class LookupMismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class LookupBlock {
 public:
  virtual ~LookupBlock() = default;

  virtual const switch_lookup::Sizes& sizes() const = 0;
  /// By registers; in use afterwards. @param switch_id as in the image
  virtual void load(uint64_t switch_id, const std::vector<uint32_t>& image) = 0;
  /// By management packets, beside the lookups that follow; in use at some time from then on.
  virtual void begin_update(const std::vector<uint32_t>& image) = 0;
  /// Until such an image is in use.
  virtual void finish_update() = 0;
  virtual bool updating() const = 0;
  /// Clocks without lookups, at most so many, for as long as an update is under way; nothing without RTL.
  virtual void idle(uint32_t clocks) = 0;
  virtual uint64_t lookups() const = 0;         ///< so far
  virtual uint64_t lookups_before() const = 0;  ///< the tables in use came into use
  /// Of the choice among backup ports; before lookups.
  virtual void seed(uint32_t seed) = 0;
  /// Acts at once.
  virtual void set_alive(switch_lookup::Ports alive) = 0;
  /// One request after the other. @param results in the same order
  virtual void look(std::span<const switch_lookup::formats::Request> requests,
                    std::vector<switch_lookup::Result>& results) = 0;
  virtual uint64_t clocks() const = 0;  ///< 0 without RTL
  /// Other tables for the golden model beside the RTL; nothing without RTL.
  virtual void spoil_model(const switch_lookup::Image& image) = 0;
  /// What follows goes to traces of RTL and golden model; nothing without RTL. Throws trace::Fault.
  virtual void open_traces(const std::filesystem::path& folder, uint32_t node) = 0;
};

/// Sizes of a block that is compiled in and has at least so many ports: at most 64, with a multicast table
/// for each input port 20; Fault for more.
switch_lookup::Sizes block_sizes(uint32_t ports, bool per_port = false);

std::unique_ptr<LookupBlock> golden_block(const switch_lookup::Sizes& sizes);
/// @param sizes of block_sizes()
std::unique_ptr<LookupBlock> verilated_block(const switch_lookup::Sizes& sizes, uint64_t seed);

}  // namespace weft::tb

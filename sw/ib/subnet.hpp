// SPDX-License-Identifier: Apache-2.0
// A real InfiniBand subnet, seen from a port of this machine by management datagrams (libibumad, libibmad).
//
// All datagrams are directed: they name each port on their way, so that neither LIDs nor a subnet manager are
// needed.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "ib/switches.hpp"

namespace weft::ib {

/// There is no subnet to be seen; what() is one line.
class NoSubnet : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct SubnetOptions {
  std::string device;  ///< "": the first that is active
  uint32_t port = 0;   ///< 0: the first that is active
  uint64_t m_key = 0;  ///< of the subnet manager, if switches are protected
  std::chrono::milliseconds timeout{500};
  uint32_t retries = 3;
  uint32_t in_flight = 8;  ///< datagrams under way at a time, where many blocks are read or written
};

class Subnet : public Switches {
 public:
  /// Finds all switches, from port to port. Throws NoSubnet; ports behind which nobody answers are passed
  /// over.
  explicit Subnet(const SubnetOptions& options);
  ~Subnet() override;

  const std::vector<Switch>& all() const override;
  Block read(std::size_t sw, BlockPlace place) override;
  void write(std::size_t sw, BlockPlace place, const Block& block) override;
  uint16_t read_top(std::size_t sw) override;
  void write_top(std::size_t sw, uint16_t top) override;
  void write_all(std::span<const BlockWrite> writes, const WriteEvents& events) override;
  void read_all(std::span<const BlockRead> reads, const HasRead& has_read) override;

 private:
  class Wire;
  std::unique_ptr<Wire> wire_;
};

}  // namespace weft::ib

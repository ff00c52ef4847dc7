// SPDX-License-Identifier: Apache-2.0
// What one node hands to the network, and what befalls it there, as a trace (docs/trace.md).
#pragma once

#include <cstdint>
#include <string>

#include "fabric/network.hpp"
#include "trace/record.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::tb {

class NetworkTrace {
 public:
  /// DIR/network.nodeN.trace. Throws trace::Fault.
  NetworkTrace(const std::string& directory, uint32_t node);

  /// @param cycle in which its last beat has left the engine
  void write(uint64_t cycle, const rdma::formats::Header& header, const fabric::Fate& fate);
  void close() { writer_.close(); }

 private:
  trace::Writer writer_;
};

}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// The traces of one node (docs/trace.md): what its RTL did, and what the golden models say.
#pragma once

#include <memory>
#include <string>

#include "rdma_model.hpp"
#include "trace/record.hpp"

namespace weft::tb {

class NodeTraces {
 public:
  /// DIR/rtl.nodeN.trace and DIR/golden.nodeN.trace, or the latter alone. Throws trace::Fault.
  void open(const std::string& directory, uint32_t node, const RdmaBuild& build, bool with_rtl);
  void close();

  bool wanted() const { return golden_ != nullptr; }
  /// An event that both sides have.
  void write(const trace::Record& rtl, const trace::Record& golden);
  /// One that the golden model does not have at all.
  void write_alone(const trace::Record& rtl);

 private:
  std::unique_ptr<trace::Writer> rtl_, golden_;
};

}  // namespace weft::tb

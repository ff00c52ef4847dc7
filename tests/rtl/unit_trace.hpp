// SPDX-License-Identifier: Apache-2.0
// What the golden model says in a test of one half of the engine, as the trace of a node (docs/trace.md), if
// the environment asks for traces.
#pragma once

#include <optional>
#include <string>

#include "rdma/params.hpp"
#include "rdma/trace_format.hpp"
#include "trace/folder.hpp"
#include "trace/record.hpp"

namespace weft::rtl_test {

class UnitTrace {
 public:
  explicit UnitTrace(const rdma::Params& params) {
    const auto folder = trace::next_folder();
    if (!folder) return;
    writer_.emplace(*folder / "golden.node0.trace",
                    trace::Fields{{"unit", "rdma"},
                                  {"node", "0"},
                                  {"build", "unit"},
                                  {"scheme", std::to_string(static_cast<int>(params.scheme))},
                                  {"window", std::to_string(params.window)},
                                  {"payload", std::to_string(params.payload)},
                                  {"contexts", std::to_string(params.n_rx_ctx)}});
  }
  ~UnitTrace() {
    if (writer_) writer_->close();
  }
  UnitTrace(const UnitTrace&) = delete;
  UnitTrace& operator=(const UnitTrace&) = delete;

  bool wanted() const { return writer_.has_value(); }
  void write(const trace::Record& record) { writer_->write(record); }

 private:
  std::optional<trace::Writer> writer_;
};

}  // namespace weft::rtl_test

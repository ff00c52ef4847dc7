// SPDX-License-Identifier: Apache-2.0
// The traces of one lookup block (docs/trace.md): what its RTL did, and what the golden model says.
#pragma once

#include <filesystem>
#include <optional>

#include "switch/trace_format.hpp"
#include "trace/record.hpp"

namespace weft::tb {

class LookupTraces {
 public:
  /// FOLDER/rtl.nodeN.trace and FOLDER/golden.nodeN.trace, whole once closed. Throws trace::Fault.
  void open(const std::filesystem::path& folder, uint32_t node, const switch_lookup::Sizes& sizes) {
    const trace::Fields about{{"unit", "switch"},
                              {"node", std::to_string(node)},
                              {"ports", std::to_string(sizes.ports)},
                              {"colours", std::to_string(sizes.colours)},
                              {"unicast", std::to_string(sizes.unicast_entries)},
                              {"per_port", std::to_string(static_cast<int>(sizes.per_port))}};
    const auto name = ".node" + std::to_string(node) + ".trace";
    rtl_.emplace(folder / ("rtl" + name), about);
    golden_.emplace(folder / ("golden" + name), about);
  }
  LookupTraces() = default;
  ~LookupTraces() { close(); }
  LookupTraces(const LookupTraces&) = delete;
  LookupTraces& operator=(const LookupTraces&) = delete;

  void close() {
    if (!wanted()) return;
    rtl_->close();
    golden_->close();
    rtl_.reset();
    golden_.reset();
  }

  bool wanted() const { return golden_.has_value(); }

  /// @param request as the RTL says with its result
  void lookup(uint64_t cycle, const switch_lookup::formats::Request& request,
              const switch_lookup::Result& rtl, const switch_lookup::Fetched& fetched,
              switch_lookup::Ports alive, const switch_lookup::Result& golden) {
    if (!wanted()) return;
    rtl_->write(lookup_record(cycle, request, fetched, alive, rtl));
    golden_->write(lookup_record(cycle, fetched.request, fetched, alive, golden));
  }
  /// What both say alike: of the RTL it is compared elsewhere.
  void both(const trace::Record& record) {
    if (!wanted()) return;
    rtl_->write(record);
    golden_->write(record);
  }

 private:
  std::optional<trace::Writer> rtl_, golden_;
};

}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// The traces of one node.
#include "node_traces.hpp"

#include <filesystem>

namespace weft::tb {

void NodeTraces::open(const std::string& directory, uint32_t node, const RdmaBuild& build, bool with_rtl) {
  const auto writer = [&](const std::string& side) {
    const auto file = std::filesystem::path(directory) / (side + ".node" + std::to_string(node) + ".trace");
    return std::make_unique<trace::Writer>(
        file, trace::Fields{{"unit", "rdma"},
                            {"node", std::to_string(node)},
                            {"build", build.name},
                            {"scheme", std::to_string(static_cast<int>(build.params.scheme))},
                            {"window", std::to_string(build.params.window)},
                            {"payload", std::to_string(build.params.payload)},
                            {"contexts", std::to_string(build.params.n_rx_ctx)}});
  };
  if (with_rtl) rtl_ = writer("rtl");
  golden_ = writer("golden");
}

void NodeTraces::close() {
  if (rtl_) rtl_->close();
  if (golden_) golden_->close();
  rtl_.reset();
  golden_.reset();
}

void NodeTraces::write(const trace::Record& rtl, const trace::Record& golden) {
  if (rtl_) rtl_->write(rtl);
  if (golden_) golden_->write(golden);
}

void NodeTraces::write_alone(const trace::Record& rtl) {
  if (rtl_) rtl_->write(rtl);
}

}  // namespace weft::tb

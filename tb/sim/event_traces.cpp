// SPDX-License-Identifier: Apache-2.0
// Event traces of RTL and golden model of every node, and of what the network does with their packets.
#include "event_traces.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "rdma_run.hpp"
#include "rdma_system.hpp"

namespace weft::sim {

void open_traces(tb::RdmaSystem& system, const std::string& folder) {
  try {
    std::filesystem::create_directories(folder);
    for (uint32_t index = 0; index < system.size(); ++index)
      if (system.node(index).checked()) system.node(index).scoreboard().write_traces(folder);
    system.trace_network(folder);
  } catch (const std::filesystem::filesystem_error& error) {
    throw BadInput(fmt::format("--trace {}: {}", folder, error.code().message()));
  } catch (const trace::Fault& fault) {
    throw BadInput(fault.what());
  }
}

void close_traces(tb::RdmaSystem& system) {
  for (uint32_t index = 0; index < system.size(); ++index)
    if (system.node(index).checked()) system.node(index).scoreboard().close_traces();
  system.close_network_traces();
}

}  // namespace weft::sim

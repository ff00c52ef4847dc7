// SPDX-License-Identifier: Apache-2.0
// A system whose speed is measured: what it waits for has to come, and all of it is as in the golden model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "rdma_system.hpp"

namespace weft::sim {

constexpr uint64_t many_clocks = 2'000'000;

class BenchSystem {
 public:
  /// Ready to be used.
  BenchSystem(const tb::SystemConfig& config, const driver::RdmaSetup& setup) : system(config) {
    constexpr uint64_t start_clocks = 200'000;
    system.start(setup);
    reach([this] { return system.all_ready(); }, start_clocks, "the engine does not get ready");
  }

  /// Steps until `done` says so. False if that takes more than `clocks`; finding() then says `otherwise`.
  bool reach(const std::function<bool()>& done, uint64_t clocks, const char* otherwise) {
    if (system.run_until(done, clocks)) return true;
    if (finding_.empty()) finding_ = otherwise;
    return false;
  }

  /// What was found wrong, compared with the golden model to the end; empty: nothing.
  std::string finding() {
    reach([this] { return system.settled(); }, many_clocks, "the engine does not come to rest");
    system.check_at_end();
    if (finding_.empty() && system.findings().any()) finding_ = system.findings().summary();
    return finding_;
  }

  tb::RdmaSystem system;

 private:
  std::string finding_;
};

}  // namespace weft::sim

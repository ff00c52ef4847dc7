// SPDX-License-Identifier: Apache-2.0
// Two nodes for tests of the host library, in one process, whatever simulates them (two_nodes.hpp).
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/fault.hpp"
#include "driver/verbs.hpp"
#include "two_nodes.hpp"

namespace weft::tb {

inline constexpr uint64_t memory_bytes = 8 << 20;

class Verbs : public testing::Test {
 protected:
  std::unique_ptr<driver::Port> attach(uint32_t node) {
    return std::make_unique<InProcessPort>(*nodes, node);
  }

  void run_until_clear() {
    for (int cycle = 0; cycle < 1'000'000 && nodes->clearing(); ++cycle) nodes->step();
    EXPECT_FALSE(nodes->clearing());
  }
  void expect_nothing_in_use(uint32_t node) {
    EXPECT_EQ(nodes->server(node).queues_in_use(), 0u);
    EXPECT_EQ(nodes->server(node).regions_in_use(), 0u);
  }

  static std::string fault_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Fault& fault) {
      return fault.what();
    }
    return "no fault";
  }
  uint32_t queues() const { return nodes->server(0).size().queues; }

  const std::unique_ptr<Nodes> nodes = make_two_nodes(memory_bytes);
};

}  // namespace weft::tb

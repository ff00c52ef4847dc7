// SPDX-License-Identifier: Apache-2.0
// Two nodes on the SystemC platform, for the tests of the host library that the plain C++ harness has.
#include "two_nodes.hpp"

#include <gtest/gtest.h>

#include "platform_nodes.hpp"

namespace weft::tb {

std::unique_ptr<Nodes> make_two_nodes(uint64_t memory_bytes) {
  return std::make_unique<systemc::TwoNodes>(memory_bytes);
}

}  // namespace weft::tb

int sc_main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

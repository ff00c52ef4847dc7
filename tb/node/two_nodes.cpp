// SPDX-License-Identifier: Apache-2.0
// Two nodes in the plain C++ harness.
#include "two_nodes.hpp"

#include <vector>

#include "node_system.hpp"

namespace weft::tb {

namespace {

struct Memories {
  explicit Memories(uint64_t bytes) : all(2, std::vector<uint8_t>(bytes)) {}
  std::vector<std::vector<uint8_t>> all;
};

class TwoNodes : private Memories, public NodeSystem {
 public:
  explicit TwoNodes(uint64_t memory_bytes)
      : Memories(memory_bytes), NodeSystem({all.begin(), all.end()}, fabric::Faults{}, 1) {}
};

}  // namespace

std::unique_ptr<Nodes> make_two_nodes(uint64_t memory_bytes) {
  return std::make_unique<TwoNodes>(memory_bytes);
}

}  // namespace weft::tb

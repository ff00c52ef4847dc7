// SPDX-License-Identifier: Apache-2.0
// The memory socket of the SystemC module when accesses take unlike times: several are under way, and the NIC
// gets each answer for what it asked.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "driver/verbs.hpp"
#include "platform_nodes.hpp"

namespace weft::systemc {
namespace {

using namespace verbs;

TEST(SystemcMemory, AnswersComeInTheOrderOfRequests) {
  constexpr uint32_t bytes = 65'536;
  std::mt19937 random(1);
  TwoNodes nodes(8 << 20, [&] { return Platform::clocks(static_cast<unsigned>(random() % 40)); });
  Context here(std::make_unique<tb::InProcessPort>(nodes, 0)),
      there(std::make_unique<tb::InProcessPort>(nodes, 1));
  const ProtectionDomain domain_here(here), domain_there(there);
  MemoryRegion source(domain_here, bytes, access_source), target(domain_there, bytes, access_remote_write);
  Queue queue(domain_here);
  std::ranges::generate(source.bytes(), [&] { return static_cast<uint8_t>(random()); });
  queue.post_write(1, source.local(0, bytes), target.remote());
  EXPECT_EQ(queue.expect().tag, 1u);
  EXPECT_TRUE(std::ranges::equal(source.bytes(), target.bytes()));
  EXPECT_GT(nodes.platform().node(0).memory.most_reads(), 3u);
}

}  // namespace
}  // namespace weft::systemc

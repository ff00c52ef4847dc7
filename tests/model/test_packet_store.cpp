// SPDX-License-Identifier: Apache-2.0
// Packets by handle: against a map, with handles that come round as a node's do.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <vector>

#include "fabric/packet_store.hpp"
#include "fabric/random.hpp"

namespace weft::fabric {
namespace {

using Bytes = std::vector<uint8_t>;

TEST(PacketStore, HasWhatWasPutUntilItIsTaken) {
  for (const uint64_t most : {1, 3, 4, 5, 50, 700}) {
    PacketStore store;
    std::map<uint32_t, Bytes> expected;
    RandomStream random(most);
    for (uint32_t number = 0; number < 20'000; ++number) {
      if (expected.size() < most && random.chance(0.6)) {
        const auto handle = static_cast<uint32_t>(random.below(64) + 64 * number);
        const Bytes packet(random.below(9), static_cast<uint8_t>(number));
        store.put(handle, packet);
        expected.emplace(handle, packet);
        EXPECT_THROW(store.put(handle, packet), std::logic_error);
      } else if (!expected.empty()) {
        auto which = expected.begin();
        std::advance(which, random.below(expected.size()));
        ASSERT_EQ(store.take(which->first), which->second);
        EXPECT_THROW(store.take(which->first), std::logic_error);
        expected.erase(which);
      }
    }
  }
}

TEST(PacketStore, ClearForgetsAll) {
  PacketStore store;
  EXPECT_THROW(store.take(1), std::logic_error);
  store.put(1, {1});
  store.clear();
  EXPECT_THROW(store.take(1), std::logic_error);
  store.put(1, {2});
  EXPECT_EQ(store.take(1), Bytes{2});
}

}  // namespace
}  // namespace weft::fabric

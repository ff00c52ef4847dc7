// SPDX-License-Identifier: Apache-2.0
// ram_sdp: registered read that holds; what happens when a read meets a write is not defined and not tested.
#include "ram_reference.hpp"

namespace weft::rtl_test {
namespace {

class RamSdp : public RamTest {};

TEST_P(RamSdp, EqualsArrayWhenReadsAndWritesDoNotMeet) { random_accesses(Collisions::avoided, 50'000); }

INSTANTIATE_TEST_SUITE_P(Sizes, RamSdp, testing::Values(Store{0, 5}), store_name);

}  // namespace
}  // namespace weft::rtl_test

// SPDX-License-Identifier: Apache-2.0
// Counters of the switch lookup block far beyond what other tests come to.
#include "switch_bench.hpp"

namespace weft::rtl_test {
namespace {

template <typename Top>
class SwitchCounters : public SwitchLookup<Top> {
 protected:
  /// So many lookups of one request, not compared one by one.
  void count(uint32_t lookups, const formats::Request& request, formats::Outcome outcome) {
    ASSERT_TRUE(this->load(write_image(this->loading_)));
    ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0));
    const uint32_t address = reg::OUTCOME + 4 * static_cast<uint32_t>(outcome);
    for (uint32_t input = 0; input < this->inputs; ++input) this->put(input, request);
    for (uint32_t i = 0; i < lookups; ++i) this->bench_.step();
    this->bench_->s_req_valid_i = 0;
    for (int i = 0; i < 10; ++i) this->bench_.step();
    const uint32_t counted = this->read(address).value_or(0);
    EXPECT_NEAR(counted, lookups, 4);  // and what is taken ahead
    for (int i = 0; i < 4; ++i, this->clock()) EXPECT_EQ(this->read(address), counted);
  }
};
TYPED_TEST_SUITE(SwitchCounters, SwitchTops);

TYPED_TEST(SwitchCounters, MoreThanHalfAMillionLookupsAreCounted) {
  formats::Request request;
  request.kind = 2;
  this->loading_ = this->any_image();
  this->count((1u << 19) + 2000, request, formats::Outcome::bad_request);
}

TYPED_TEST(SwitchCounters, FourMillionLookupsAreCounted) {
  formats::Request request;
  request.in_port = 1;
  this->loading_.head.switch_id = identity;
  this->loading_.head.vc_max = 1;
  this->loading_.head.per_port = this->sizes.per_port;
  this->loading_.unicast = {{0, 0, 0}};  // no port at all
  this->count((1u << (this->sizes.per_port ? 16 : 22)) + 2000, request, formats::Outcome::no_backup);
}

TYPED_TEST(SwitchCounters, ThousandsOfPacketsAreDroppedAndCounted) {
  const ManagementPacket nothing{0};
  for (uint32_t i = 0; i < 4200 && !this->HasFailure(); ++i) this->send(nothing);
  EXPECT_EQ(this->read(reg::MANAGEMENT_DROP), 4200u);
}

}  // namespace
}  // namespace weft::rtl_test

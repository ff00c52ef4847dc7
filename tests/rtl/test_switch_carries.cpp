// SPDX-License-Identifier: Apache-2.0
// Counters of the switch lookup block count with all of their 32 bits: each is set to just below a carry,
// since no test counts so far, and a wrong upper bit would show after months.
#include <bit>
#include <functional>

#include "switch_memory_bench.hpp"

namespace weft::rtl_test {
namespace {

using formats::Outcome;

class SwitchCarries : public SwitchMemory<Vswitch_lookup> {
 protected:
  auto* root() { return bench_.top().rootp; }

  void SetUp() override {
    SwitchMemory::SetUp();
    ASSERT_TRUE(write(reg::SCRUB_PERIOD, 0));
  }

  /// @param event counts one
  void expect_all_carries(uint32_t& counter, uint32_t address, const std::function<void()>& event) {
    for (uint32_t bit = 0; bit <= 32 && !HasFailure(); ++bit) {
      counter = static_cast<uint32_t>((uint64_t{1} << bit) - 1);
      event();
      EXPECT_EQ(read(address), static_cast<uint32_t>(uint64_t{1} << bit)) << "of bit " << bit;
    }
  }

  /// An entry is read while these of its bits are wrong.
  void look_with_wrong(uint64_t bits) {
    Slot& slot = golden_.tables()->unicast()[3];
    const Slot before = slot;
    (std::has_single_bit(bits) ? slot.corrected : slot.corrupt) = true;
    flip(false, place(false, 3), bits);
    look(*reader_of(false, 3));
    flip(false, place(false, 3), bits);
    slot = before;
  }

  void mend_one() {
    flip(true, place(true, 3), 2);
    EXPECT_TRUE(write(reg::SCRUB_PERIOD, 2));
    for (uint32_t i = 0; i < 2 * entries(false) + 8; ++i) clock();
    EXPECT_TRUE(write(reg::SCRUB_PERIOD, 0));
  }

  /// Lookups with every outcome that there is once tables are loaded.
  void look_for_every_outcome() {
    const auto before = retired_;
    const auto all_seen = [&] {
      for (uint32_t outcome = 0; outcome < formats::count::OUTCOME; ++outcome)
        if (outcome != static_cast<uint32_t>(Outcome::no_table) && retired_[outcome] == before[outcome])
          return false;
      return true;
    };
    for (uint8_t round = 0; round < 40 && !all_seen() && !HasFailure(); ++round) {
      loading_ = any_image_of(round % 4);
      ASSERT_TRUE(load(write_image(loading_)));
      bank_ ^= 1;
      for (uint32_t entry = 0; entry < entries(true); entry += 3) {
        flip(true, place(true, entry), 3);
        golden_.tables()->multicast()[entry].corrupt = true;
      }
      traffic_ = true;
      for (int i = 0; i < 200; ++i) clock();
      traffic_ = false;
      bench_->s_req_valid_i = 0;
      bench_->m_res_ready_i = 1;
      for (int i = 0; i < 20; ++i) clock();
    }
    EXPECT_TRUE(all_seen());
  }
};

TEST_F(SwitchCarries, OfEntriesCorrectedAndBad) {
  load_plain();
  expect_all_carries(root()->switch_lookup__DOT__i_regs__DOT__corrected_q, reg::CORRECTED,
                     [this] { look_with_wrong(1); });
  expect_all_carries(root()->switch_lookup__DOT__i_regs__DOT__bad_q, reg::UNCORRECTABLE,
                     [this] { look_with_wrong(3); });
}

TEST_F(SwitchCarries, OfEntriesMended) {
  load_plain();
  expect_all_carries(root()->switch_lookup__DOT__i_regs__DOT__mended_q, reg::SCRUBBED,
                     [this] { mend_one(); });
}

TEST_F(SwitchCarries, OfImagesTakenAndRefused) {
  loading_.head.switch_id = identity;
  loading_.head.vc_max = 1;
  const auto image = write_image(loading_);
  expect_all_carries(root()->switch_lookup__DOT__i_regs__DOT__taken_q, reg::IMAGES_TAKEN,
                     [&] { EXPECT_TRUE(load(image)); });
  expect_all_carries(root()->switch_lookup__DOT__i_regs__DOT__refused_q, reg::IMAGES_REFUSED, [&] {
    EXPECT_FALSE(load({0, 0}));
  });
}

TEST_F(SwitchCarries, OfManagementPacketsDropped) {
  const uint64_t key = 0x123456789;
  ASSERT_TRUE(write(reg::KEY_LO, static_cast<uint32_t>(key)));
  ASSERT_TRUE(write(reg::KEY_HI, static_cast<uint32_t>(key >> 32)));
  const auto image = write_image(plain_image());
  const std::array<ManagementPacket, formats::count::MANAGEMENT_DROP> packets{
      ManagementPacket{0},                         // malformed
      management_packets(image, key + 1).front(),  // without the key
      management_packets(image, key).back()};      // of an image that nobody has begun
  for (uint32_t why = 0; why < packets.size(); ++why)
    expect_all_carries(root()->switch_lookup__DOT__i_regs__DOT__drops_q[why], reg::MANAGEMENT_DROP + 4 * why,
                       [&] { send(packets[why]); });
}

TEST_F(SwitchCarries, OfLookupsWithoutATable) {
  const auto outcome = static_cast<uint32_t>(Outcome::no_table);
  expect_all_carries(root()->switch_lookup__DOT__i_regs__DOT__outcomes_q[outcome], reg::OUTCOME + 4 * outcome,
                     [this] { look(any_request()); });
}

TEST_F(SwitchCarries, OfLookupsWithEachOutcome) {
  auto& counters = root()->switch_lookup__DOT__i_regs__DOT__outcomes_q;
  for (uint32_t bit = 0; bit <= 32 && !HasFailure(); ++bit) {
    const auto start = static_cast<uint32_t>((uint64_t{1} << bit) - 1);
    for (uint32_t outcome = 0; outcome < formats::count::OUTCOME; ++outcome) counters[outcome] = start;
    const auto before = retired_;
    look_for_every_outcome();
    for (uint32_t outcome = 0; outcome < formats::count::OUTCOME; ++outcome)
      EXPECT_EQ(read(reg::OUTCOME + 4 * outcome),
                start + static_cast<uint32_t>(retired_[outcome] - before[outcome]))
          << "of bit " << bit << ", outcome " << outcome;
  }
}

}  // namespace
}  // namespace weft::rtl_test

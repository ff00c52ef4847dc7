// SPDX-License-Identifier: Apache-2.0
// The host driver of the switch lookup block on its RTL.
#include "driver/switch_driver.hpp"

#include <functional>
#include <map>
#include <utility>

#include "switch_bench.hpp"

namespace weft::rtl_test {
namespace {

using driver::SwitchEvents;
using driver::SwitchLoad;
using formats::LoadFault;

class SwitchDriver : public SwitchLookup<Vswitch_lookup>, private driver::RegisterBus {
 protected:
  static constexpr uint64_t own = 0xfedcba9876543210;

  bool start(const driver::SwitchSetup& setup) {
    bool all_well = false;
    driver_.start(setup, [&](bool ok) { all_well = ok; });
    return all_well;
  }
  std::optional<SwitchLoad> load_by_driver(const std::vector<uint32_t>& words) {
    std::optional<SwitchLoad> result;
    driver_.load(words, [&](std::optional<SwitchLoad> loaded) { result = loaded; });
    return result;
  }
  std::optional<SwitchEvents> events() {
    std::optional<SwitchEvents> result;
    driver_.take_events([&](std::optional<SwitchEvents> taken) { result = taken; });
    return result;
  }
  Image own_image() {
    Image image = any_image();
    image.head.switch_id = own;
    return image;
  }

  int good_accesses_ = -1;  // then one is answered with an error; -1: none is
  std::map<uint32_t, uint32_t> written_;
  driver::SwitchDriver driver_{*this};

 private:
  bool fails() { return good_accesses_ >= 0 && good_accesses_-- == 0; }
  void write(uint32_t address, uint32_t data, driver::OnWritten done) override {
    written_[address] = data;
    done(!fails() && SwitchLookup::write(address, data));
  }
  void read(uint32_t address, driver::OnRead done) override {
    const auto data = fails() ? std::nullopt : SwitchLookup::read(address);
    done(data.has_value(), data.value_or(0));
  }
};

TEST_F(SwitchDriver, SetsWhatItIsToldTo) {
  ASSERT_TRUE(start({own, 0x0123456789abcdef, 77, 500, 0b101}));
  const auto value = [this](uint32_t address) { return SwitchLookup::read(address); };
  EXPECT_EQ(value(reg::SWITCH_ID_LO), static_cast<uint32_t>(own));
  EXPECT_EQ(value(reg::SWITCH_ID_HI), static_cast<uint32_t>(own >> 32));
  EXPECT_EQ(value(reg::SEED), 77u);
  EXPECT_EQ(value(reg::SCRUB_PERIOD), 500u);
  EXPECT_EQ(value(reg::IRQ_ENABLE), 0b101u);
  EXPECT_EQ(written_.at(reg::KEY_LO), 0x89abcdefu);
  EXPECT_EQ(written_.at(reg::KEY_HI), 0x01234567u);
  EXPECT_FALSE(start({.switch_id = own, .interrupts = 8})) << "the block has three";
}

TEST_F(SwitchDriver, LoadsImagesBesideLookups) {
  ASSERT_TRUE(start({.switch_id = own}));
  golden_.seed(1);
  for (int round = 0; round < 4; ++round) {
    traffic_ = true;
    loading_ = own_image();
    const auto words = write_image(loading_);
    const uint64_t looked_up = total_;
    const auto loaded = load_by_driver(words);
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->fault, LoadFault::none);
    EXPECT_EQ(loaded->words, words.size());
    EXPECT_EQ(SwitchLookup::read(reg::TABLE_VERSION), loading_.head.table_version);
    const auto seen = events();
    ASSERT_TRUE(seen);
    EXPECT_TRUE(seen->in_use);
    EXPECT_FALSE(seen->refused);
    EXPECT_FALSE(events()->in_use) << "they are cleared";
    EXPECT_GT(total_, looked_up + words.size() / 4) << "lookups go on";
  }
}

TEST_F(SwitchDriver, SaysWhyAnImageIsRefused) {
  ASSERT_TRUE(start({.switch_id = own}));
  loading_ = own_image();
  const auto good = write_image(loading_);
  const auto refused = [&](const std::vector<uint32_t>& words, LoadFault fault, std::size_t taken) {
    const auto loaded = load_by_driver(words);
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->fault, fault);
    EXPECT_EQ(loaded->words, taken);
  };
  auto wrong = good;
  wrong[0] ^= 1;
  refused(wrong, LoadFault::magic, 1);
  wrong = good;
  wrong[3] ^= 1;
  refused(wrong, LoadFault::identity, 4);
  wrong = good;
  wrong.back() ^= 1;
  refused(wrong, LoadFault::check, good.size());
  refused({good.begin(), good.end() - 1}, LoadFault::truncated, good.size() - 1);
  refused({}, LoadFault::truncated, 0);
  EXPECT_EQ(load_by_driver(good)->fault, LoadFault::none);
  EXPECT_TRUE(events()->refused);
  EXPECT_EQ(SwitchLookup::read(reg::IMAGES_REFUSED), 5u);
}

TEST_F(SwitchDriver, SaysThatTheBusDoesNotAnswer) {
  for (good_accesses_ = 0; good_accesses_ < 7;) {
    const int at = good_accesses_;
    EXPECT_FALSE(start({.switch_id = own})) << at;
    good_accesses_ = at + 1;
  }
  good_accesses_ = -1;
  ASSERT_TRUE(start({.switch_id = own}));
  loading_ = own_image();
  const auto words = write_image(loading_);
  const auto accesses = static_cast<int>(words.size()) + 3;
  for (const int at : {0, 1, 40, accesses - 2, accesses - 1}) {
    good_accesses_ = at;
    EXPECT_FALSE(load_by_driver(words)) << at;
  }
  for (const int at : {0, 1}) {
    good_accesses_ = at;
    EXPECT_FALSE(events()) << at;
  }
  good_accesses_ = -1;
  EXPECT_EQ(load_by_driver(words)->fault, LoadFault::none);
}

/// The next image at once, from where it is told of the one before.
TEST_F(SwitchDriver, LoadsOneAfterTheOther) {
  ASSERT_TRUE(start({.switch_id = own}));
  loading_ = own_image();
  const auto words = write_image(loading_);
  int loaded = 0;
  const std::function<void(std::optional<SwitchLoad>)> next = [&](std::optional<SwitchLoad> before) {
    ASSERT_TRUE(before);
    EXPECT_EQ(before->fault, LoadFault::none);
    if (++loaded < 3) driver_.load(words, next);
  };
  driver_.load(words, next);
  EXPECT_EQ(loaded, 3);
  EXPECT_EQ(SwitchLookup::read(reg::IMAGES_TAKEN), 3u);
}

}  // namespace
}  // namespace weft::rtl_test

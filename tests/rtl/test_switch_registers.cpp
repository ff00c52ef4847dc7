// SPDX-License-Identifier: Apache-2.0
// Registers of the switch lookup block: what is written is read, what must not be written changes nothing,
// counters say what has happened, interrupts, seed, resets in the middle of everything.
#include "switch_bench.hpp"

namespace weft::rtl_test {
namespace {

template <typename Top>
class SwitchRegisters : public SwitchLookup<Top> {
 protected:
  struct Writable {
    uint32_t address, mask;
  };
  static constexpr std::array<Writable, 5> writable{{{reg::SWITCH_ID_LO, ~0u},
                                                     {reg::SWITCH_ID_HI, ~0u},
                                                     {reg::SEED, ~0u},
                                                     {reg::SCRUB_PERIOD, 0xffff},
                                                     {reg::IRQ_ENABLE, 7}}};

  void load_any() {
    this->loading_ = this->any_image();
    ASSERT_TRUE(this->load(write_image(this->loading_)));
  }
  /// Everything at once, golden model too.
  void reset() {
    this->traffic_ = false;
    this->bench_->s_req_valid_i = 0;
    this->bench_->m_res_ready_i = 1;
    this->bench_.reset();
    this->golden_ = Lookup(this->sizes);
    this->pending_.clear();
    this->taken_.clear();
    this->retired_.fill(0);
    this->traces_.both({this->bench_.cycle(), "lookup", {{"event", "reset"}}});
  }
  void set_identity() {
    EXPECT_TRUE(this->write(reg::SWITCH_ID_LO, static_cast<uint32_t>(identity)));
    EXPECT_TRUE(this->write(reg::SWITCH_ID_HI, static_cast<uint32_t>(identity >> 32)));
  }
  void drain() {
    this->traffic_ = false;
    this->bench_->s_req_valid_i = 0;
    this->bench_->m_res_ready_i = 1;
    for (int i = 0; i < 10; ++i) this->clock();
  }
};
TYPED_TEST_SUITE(SwitchRegisters, SwitchTopsOfAllWidths);

TYPED_TEST(SwitchRegisters, WhatIsWrittenIsRead) {
  for (const auto& [address, mask] : this->writable)
    for (const uint32_t value : {~0u, 0u, 0x55555555u, 0xaaaaaaaau, this->draw(~0u), 0u}) {
      ASSERT_TRUE(this->write(address, value & mask));
      EXPECT_EQ(this->read(address), value & mask) << address;
    }
}

TYPED_TEST(SwitchRegisters, ValuesOfMoreBitsChangeNothing) {
  for (const auto& [address, bits] : {std::pair{reg::SCRUB_PERIOD, 16}, std::pair{reg::IRQ_ENABLE, 3}}) {
    ASSERT_TRUE(this->write(address, 5));
    for (int bit = bits; bit < 32; ++bit)
      EXPECT_FALSE(this->write(address, 2 | 1u << bit)) << address << ' ' << bit;
    EXPECT_EQ(this->read(address), 5u) << address;
  }
  this->load_any();  // raises bit 2
  for (int bit = 3; bit < 32; ++bit) EXPECT_FALSE(this->write(reg::IRQ_STATUS, 4 | 1u << bit)) << bit;
  EXPECT_EQ(this->read(reg::IRQ_STATUS), 4u);
}

TYPED_TEST(SwitchRegisters, WritesInPartsAndOffWordsChangeNothing) {
  for (const auto& [address, mask] : this->writable) {
    ASSERT_TRUE(this->write(address, 5));
    for (uint8_t strobes = 0; strobes < 15; ++strobes) EXPECT_FALSE(this->write(address, ~0u, strobes));
    for (uint32_t beside = 1; beside < 4; ++beside) {
      EXPECT_FALSE(this->write(address + beside, ~0u));
      EXPECT_FALSE(this->read(address + beside));
    }
    EXPECT_EQ(this->read(address), 5u);
  }
  EXPECT_FALSE(this->write(reg::LOAD_BEGIN, 0, 7));
  EXPECT_EQ(this->read(reg::LOAD_STATUS), static_cast<uint32_t>(formats::LoadState::idle));
}

TYPED_TEST(SwitchRegisters, SayWhatTheBlockIs) {
  EXPECT_EQ(this->read(reg::VERSION), formats::reset::VERSION);
  EXPECT_EQ(this->read(reg::CAPS),
            this->sizes.unicast_entries << 16 | uint32_t{this->sizes.per_port} << 8 | this->sizes.ports);
  EXPECT_EQ(this->read(reg::COLOURS), this->sizes.colours);
  for (const uint64_t alive :
       {~uint64_t{0}, uint64_t{0}, uint64_t{0x5a5a5a5a12345678}, uint64_t{0xa5a5a5a5edcba987}}) {
    this->set_alive(alive);
    const Ports seen = alive & all_ports(this->sizes.ports);
    EXPECT_EQ(this->read(reg::ALIVE_LO), static_cast<uint32_t>(seen));
    EXPECT_EQ(this->read(reg::ALIVE_HI), seen >> 32);
  }
}

TYPED_TEST(SwitchRegisters, OutcomesAreCounted) {
  for (int round = 0; round < 6; ++round) {
    this->load_any();
    this->traffic_ = true;
    for (int i = 0; i < 500 && !this->HasFailure(); ++i) this->clock();
    this->drain();
    for (uint32_t outcome = 0; outcome < formats::count::OUTCOME; ++outcome)
      EXPECT_EQ(this->read(reg::OUTCOME + 4 * outcome), this->retired_[outcome]) << outcome;
  }
  EXPECT_EQ(this->read(reg::IMAGES_TAKEN), 6u);
}

TYPED_TEST(SwitchRegisters, AnswersWaitForTheMaster) {
  for (int i = 0; i < 50; ++i) {
    const uint32_t value = this->draw(~0u);
    const uint32_t first = this->draw(2), pause = this->draw(4), held = this->draw(6);
    this->bench_->s_axil_bready_i = 0;
    this->bench_->s_axil_awaddr_i = reg::SEED;
    this->bench_->s_axil_wdata_i = value;
    this->bench_->s_axil_wstrb_i = 15;
    for (uint32_t half = 0; half < 2; ++half) {  // address and data in either order
      (half == first ? this->bench_->s_axil_awvalid_i : this->bench_->s_axil_wvalid_i) = 1;
      this->clock();
      this->bench_->s_axil_awvalid_i = this->bench_->s_axil_wvalid_i = 0;
      for (uint32_t k = 0; k < pause; ++k) {
        EXPECT_FALSE(half == 0 && this->bench_->s_axil_bvalid_o);
        this->clock();
      }
    }
    for (int k = 0; k < 4; ++k) this->clock();
    for (uint32_t k = 0; k < held; ++k) {
      EXPECT_TRUE(this->bench_->s_axil_bvalid_o);
      this->clock();
    }
    this->bench_->s_axil_bready_i = 1;
    this->clock();
    this->bench_->s_axil_rready_i = 0;
    this->bench_->s_axil_araddr_i = reg::SEED;
    this->bench_->s_axil_arvalid_i = 1;
    this->clock();
    this->bench_->s_axil_arvalid_i = 0;
    for (uint32_t k = 0; k < 4 + held; ++k) this->clock();
    EXPECT_TRUE(this->bench_->s_axil_rvalid_o);
    EXPECT_EQ(this->bench_->s_axil_rdata_o, value);
    this->bench_->s_axil_rready_i = 1;
    this->clock();
  }
}

TYPED_TEST(SwitchRegisters, InterruptsAreRaisedIfEnabledAndCleared) {
  constexpr uint32_t refused = 2, taken = 4;
  this->loading_ = this->any_image();
  const auto good = write_image(this->loading_);
  auto bad = good;
  bad.back() ^= 1;
  for (int round = 0; round < 2; ++round)
    for (const uint32_t enable : {0u, refused, taken, refused | taken, 1u}) {
      ASSERT_TRUE(this->write(reg::IRQ_ENABLE, enable));
      for (const uint32_t event : {refused, taken}) {
        this->load(event == taken ? good : bad);
        EXPECT_EQ(this->read(reg::IRQ_STATUS), event);
        EXPECT_EQ(this->bench_->irq_o, (enable & event) != 0);
        ASSERT_TRUE(this->write(reg::IRQ_STATUS, 7 ^ event));
        EXPECT_EQ(this->read(reg::IRQ_STATUS), event) << "clearing others";
        ASSERT_TRUE(this->write(reg::IRQ_STATUS, event));
        EXPECT_EQ(this->read(reg::IRQ_STATUS), 0u);
        EXPECT_FALSE(this->bench_->irq_o);
      }
    }
}

TYPED_TEST(SwitchRegisters, TheSeedStartsTheRandomNumbersAnew) {
  Image image;
  image.head.switch_id = identity;
  image.head.vc_max = 1;
  image.head.per_port = this->sizes.per_port;
  image.unicast.push_back({1, 0, all_ports(this->sizes.ports)});  // backups only
  this->loading_ = image;
  ASSERT_TRUE(this->load(write_image(image)));
  this->set_alive(all_ports(this->sizes.ports));
  formats::Request request;
  request.in_port = 1;
  request.index = 1;
  Ports all = 0;
  for (const uint32_t seed : {7u, 0u, 0x80000000u, ~0u, 7u}) {
    ASSERT_TRUE(this->write(reg::SEED, seed));
    this->golden_.seed(seed);
    for (uint32_t i = 0; i < 8 * this->sizes.ports && !this->HasFailure(); ++i)
      all |= this->look(request).ports;
  }
  EXPECT_EQ(all, all_ports(this->sizes.ports) & ~port_bit(1));
}

// Address and data have room for one each, in whichever order they come.
TYPED_TEST(SwitchRegisters, ASecondAddressOrWordWaitsForTheFirstWrite) {
  this->bench_->s_axil_wstrb_i = 15;
  for (const bool address_first : {true, false}) {
    const uint32_t value = this->draw(~0u);
    this->bench_->s_axil_awaddr_i = reg::SEED;
    this->bench_->s_axil_wdata_i = value;
    (address_first ? this->bench_->s_axil_awvalid_i : this->bench_->s_axil_wvalid_i) = 1;
    this->clock();
    this->bench_->s_axil_awaddr_i = address_first ? reg::SCRUB_PERIOD : reg::SEED;
    this->bench_->s_axil_wdata_i = address_first ? value : ~value;
    for (int i = 0; i < 3; ++i) {
      this->bench_.settle();
      EXPECT_FALSE(address_first ? this->bench_->s_axil_awready_o : this->bench_->s_axil_wready_o);
      this->clock();
    }
    this->bench_->s_axil_awvalid_i = !address_first;
    this->bench_->s_axil_wvalid_i = address_first;
    this->clock();
    this->bench_->s_axil_awvalid_i = this->bench_->s_axil_wvalid_i = 0;
    for (int i = 0; i < 4; ++i) this->clock();
    EXPECT_EQ(this->read(reg::SEED), value);
  }
}

// The scrubber does not wait for the end of a long period once a shorter one is wanted.
TYPED_TEST(SwitchRegisters, AShorterScrubPeriodCountsAtOnce) {
  this->load_any();
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 2));
    for (int i = 0; i < 20; ++i) this->clock();
    ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0xffff));
    for (int i = 0; i < 20; ++i) this->clock();
    ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 2));
    this->traffic_ = true;
    for (int i = 0; i < 20; ++i) this->clock();
    const uint64_t before = this->total_;
    for (int i = 0; i < 100; ++i) this->clock();
    EXPECT_EQ(this->total_ - before, 50u) << "a lookup every second clock";
    this->drain();
  }
}

TYPED_TEST(SwitchRegisters, CountersStandStillWhileNothingHappens) {
  const auto all = [&] {
    std::vector<std::optional<uint32_t>> values;
    for (const uint32_t address : {reg::CORRECTED, reg::UNCORRECTABLE, reg::SCRUBBED, reg::IMAGES_TAKEN,
                                   reg::IMAGES_REFUSED, reg::LOAD_WORDS})
      values.push_back(this->read(address));
    for (uint32_t i = 0; i < formats::count::OUTCOME; ++i) values.push_back(this->read(reg::OUTCOME + 4 * i));
    for (uint32_t i = 0; i < formats::count::MANAGEMENT_DROP; ++i)
      values.push_back(this->read(reg::MANAGEMENT_DROP + 4 * i));
    return values;
  };
  this->load_any();
  this->traffic_ = true;
  for (int i = 0; i < 100; ++i) this->clock();
  this->drain();
  const auto before = all();
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < i; ++k) this->clock();
    EXPECT_EQ(all(), before);
  }
}

TYPED_TEST(SwitchRegisters, AResetForgetsEverything) {
  for (int round = 0; round < 8 && !this->HasFailure(); ++round) {
    this->set_identity();
    for (const auto& [address, mask] : this->writable) {
      if (address != reg::SWITCH_ID_LO && address != reg::SWITCH_ID_HI) {
        ASSERT_TRUE(this->write(address, mask));
      }
    }
    ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 3));
    this->golden_.seed(~0u);
    this->loading_ = this->any_image_of(static_cast<uint8_t>(round % 4));
    ASSERT_TRUE(this->load(write_image(this->loading_)));
    this->traffic_ = this->pauses_ = true;
    for (uint32_t i = 0; i < 30 + this->draw(100); ++i) this->clock();
    if (round % 2 == 0) {
      this->write(reg::LOAD_BEGIN, 0);
      for (uint32_t i = 0; i < this->draw(20); ++i) this->write(reg::LOAD_DATA, image_magic);
    }
    if (round % 2 != 0) this->put_words({management_magic, 0, 0}, false);  // and a packet that never ends
    this->reset();
    EXPECT_EQ(this->read(reg::SWITCH_ID_LO), formats::reset::SWITCH_ID_LO);
    EXPECT_EQ(this->read(reg::SWITCH_ID_HI), formats::reset::SWITCH_ID_HI);
    EXPECT_EQ(this->read(reg::SEED), formats::reset::SEED);
    EXPECT_EQ(this->read(reg::SCRUB_PERIOD), formats::reset::SCRUB_PERIOD);
    EXPECT_EQ(this->read(reg::IRQ_ENABLE), formats::reset::IRQ_ENABLE);
    for (const uint32_t zero :
         {reg::LOAD_STATUS, reg::LOAD_WORDS, reg::TABLE_VERSION, reg::IRQ_STATUS, reg::CORRECTED,
          reg::UNCORRECTABLE, reg::SCRUBBED, reg::IMAGES_TAKEN, reg::IMAGES_REFUSED})
      EXPECT_EQ(this->read(zero), 0u) << zero;
    for (uint32_t i = 0; i < formats::count::OUTCOME; ++i) EXPECT_EQ(this->read(reg::OUTCOME + 4 * i), 0u);
    for (uint32_t i = 0; i < formats::count::MANAGEMENT_DROP; ++i)
      EXPECT_EQ(this->read(reg::MANAGEMENT_DROP + 4 * i), 0u);
    EXPECT_EQ(this->look(this->any_request()).outcome, formats::Outcome::no_table);
    EXPECT_FALSE(this->write(reg::LOAD_DATA, image_magic)) << "nothing begun";
    ASSERT_TRUE(this->write(reg::KEY_LO, 7));
    ASSERT_TRUE(this->write(reg::KEY_HI, 0));
    this->send(management_packets({}, 7)[0]);
    EXPECT_NE(this->read(reg::LOAD_STATUS), static_cast<uint32_t>(formats::LoadState::idle))
        << "START is taken whole";
  }
}

}  // namespace
}  // namespace weft::rtl_test

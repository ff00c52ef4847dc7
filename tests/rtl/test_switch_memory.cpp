// SPDX-License-Identifier: Apache-2.0
// Wrong bits in the tables of the switch lookup block: one is corrected, and mended by the scrubber; two drop
// the packets of the entry.
#include <algorithm>
#include <array>

#include "switch_memory_bench.hpp"

namespace weft::rtl_test {
namespace {

using formats::Outcome;

TYPED_TEST_SUITE(SwitchMemory, SwitchTops);

/// Also of entries of more than 64 bits.
template <typename Top>
class SwitchMemoryOfAllWidths : public SwitchMemory<Top> {
 protected:
  /// What the golden model has of an entry.
  auto& slot(bool multicast, uint32_t entry) {
    auto& tables = *this->golden_.tables();
    return (multicast ? tables.multicast() : tables.unicast())[entry];
  }
};
TYPED_TEST_SUITE(SwitchMemoryOfAllWidths, SwitchTopsOfAllWidths);

TYPED_TEST(SwitchMemoryOfAllWidths, EverySingleWrongBitOfEitherBankIsCorrected) {
  ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0));
  uint32_t flips = 0;
  for (int bank = 0; bank < 2; ++bank) {
    this->load_plain();
    for (const bool multicast : {true, false})
      for (uint32_t entry = 0; entry < this->entries(multicast); ++entry)
        for (uint32_t bit = 0; bit < this->code_bits(multicast) && !this->HasFailure(); ++bit) {
          const auto request = this->reader_of(multicast, entry);
          if (!request) continue;
          this->flip_bit(multicast, this->place(multicast, entry), bit);
          this->slot(multicast, entry).corrected = true;
          this->look(*request);  // as if nothing were wrong
          this->flip_bit(multicast, this->place(multicast, entry), bit);
          this->slot(multicast, entry).corrected = false;
          ++flips;
        }
  }
  EXPECT_GE(flips, 2u * this->sizes.colours * this->code_bits(true) +
                       2u * this->sizes.unicast_entries * this->code_bits(false));
  EXPECT_EQ(this->count_of(reg::CORRECTED), flips);
  EXPECT_EQ(this->count_of(reg::UNCORRECTABLE), 0u);
  EXPECT_EQ(this->count_of(reg::IRQ_STATUS) & 1, 0u);
  EXPECT_EQ(this->retired_[static_cast<size_t>(Outcome::table_error)], 0u);
}

TYPED_TEST(SwitchMemoryOfAllWidths, TwoWrongBitsOfNeighbouringPlacesDropThePacket) {
  ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0));
  this->load_plain();
  uint32_t dropped = 0;
  for (const bool multicast : {true, false})
    for (uint32_t bit = 0; bit < this->code_bits(multicast) && !this->HasFailure(); ++bit, ++dropped) {
      const uint32_t entry = this->draw(multicast ? this->sizes.colours : this->sizes.unicast_entries);
      const uint32_t place = this->place(multicast, entry);
      const uint32_t next = (bit + 1) % this->code_bits(multicast);
      for (const uint32_t wrong : {bit, next}) this->flip_bit(multicast, place, wrong);
      this->slot(multicast, entry).corrupt = true;
      EXPECT_EQ(this->look(*this->reader_of(multicast, entry)).outcome, Outcome::table_error);
      this->slot(multicast, entry).corrupt = false;
      for (const uint32_t wrong : {bit, next}) this->flip_bit(multicast, place, wrong);
    }
  EXPECT_EQ(this->count_of(reg::CORRECTED), 0u);
  EXPECT_EQ(this->count_of(reg::UNCORRECTABLE), dropped);
}

TYPED_TEST(SwitchMemory, TwoWrongBitsDropThePacketsOfTheEntry) {
  ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0));
  ASSERT_TRUE(this->write(reg::IRQ_ENABLE, 1));
  this->load_plain();
  uint32_t flips = 0;
  for (const bool multicast : {true, false})
    for (uint32_t entry = 0; entry < this->entries(multicast); ++entry)
      for (uint32_t a = 0; a < this->code_bits(multicast); ++a)
        for (uint32_t b = 0; b < a && !this->HasFailure(); ++b) {
          const auto request = this->reader_of(multicast, entry);
          if (!request || (entry % 16 != 3 && this->draw(32) != 0)) continue;
          const uint64_t bits = uint64_t{1} << a | uint64_t{1} << b;
          auto& tables = *this->golden_.tables();
          auto& slot = (multicast ? tables.multicast() : tables.unicast())[entry];
          this->flip(multicast, this->place(multicast, entry), bits);
          slot.corrupt = true;
          EXPECT_EQ(this->look(*request).outcome, Outcome::table_error);
          this->flip(multicast, this->place(multicast, entry), bits);
          slot.corrupt = false;
          EXPECT_TRUE(this->bench_->irq_o);
          EXPECT_TRUE(this->write(reg::IRQ_STATUS, 1));
          EXPECT_FALSE(this->bench_->irq_o);
          ++flips;
        }
  EXPECT_GT(flips, 500u);
  EXPECT_EQ(this->count_of(reg::UNCORRECTABLE), flips);
  EXPECT_EQ(this->count_of(reg::CORRECTED), 0u);
  EXPECT_EQ(this->count_of(reg::OUTCOME + 4 * static_cast<uint32_t>(Outcome::table_error)), flips);
}

// Of packets to which no entry applies nothing is said, whatever its bits.
TYPED_TEST(SwitchMemory, TwoWrongBitsDropThePacketsOfTheEntryInSwitchesOfEachRole) {
  ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0));
  for (uint8_t kind = 0; kind < 8; ++kind) {
    const auto role = static_cast<uint8_t>(kind / 2);
    this->loading_ = this->any_image_of(role);
    this->loading_.head.fine = kind % 2;
    ASSERT_TRUE(this->load(write_image(this->loading_)));
    this->bank_ ^= 1;
    auto& tables = *this->golden_.tables();
    std::array<uint32_t, 2> dropped{};
    for (int i = 0; i < 400 && !this->HasFailure(); ++i) {
      const formats::Request request = this->any_request();
      const bool multicast = request.kind == static_cast<uint8_t>(formats::Kind::multicast);
      const auto place = tables.place_of(request);
      if (!place || request.kind > 1 || request.in_port < 1 || request.in_port > this->sizes.ports) continue;
      auto& slot = (multicast ? tables.multicast() : tables.unicast())[*place];
      const uint32_t bit = this->draw(this->code_bits(multicast));
      const uint64_t bits = uint64_t{1} << bit | uint64_t{1} << (bit + 1) % this->code_bits(multicast);
      this->flip(multicast, this->place(multicast, *place), bits);
      slot.corrupt = true;
      dropped[multicast] += this->look(request).outcome == Outcome::table_error;
      this->flip(multicast, this->place(multicast, *place), bits);
      slot.corrupt = false;
      EXPECT_NE(this->look(request).outcome, Outcome::table_error);
    }
    EXPECT_GT(dropped[false], 5u) << int{role};
    EXPECT_GT(dropped[true], 5u) << int{role};
  }
}

TYPED_TEST(SwitchMemory, TheScrubberMendsEveryEntryWhilePacketsFly) {
  this->load_plain();
  this->traffic_ = true;
  uint32_t wrong = 0;
  for (int round = 0; round < 10 && !this->HasFailure(); ++round) {
    this->pauses_ = round % 2 != 0;
    ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0));
    for (int i = 0; i < 10; ++i) this->clock();
    const auto multicast = this->table(true), unicast = this->table(false);
    for (const bool kind : {true, false})
      for (uint32_t entry = 0; entry < this->entries(kind); ++entry, ++wrong)
        this->flip(kind, this->place(kind, entry), uint64_t{1} << this->draw(this->code_bits(kind)));
    ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 1 + this->draw(5)));
    for (int i = 0; i < 2000; ++i) this->clock();
    EXPECT_EQ(this->table(true), multicast);
    EXPECT_EQ(this->table(false), unicast);
    EXPECT_EQ(this->count_of(reg::SCRUBBED), wrong);
    this->note_all_mended(this->pauses_ ? "pauses" : "lookups");
  }
  EXPECT_EQ(this->count_of(reg::UNCORRECTABLE), 0u);
  EXPECT_GE(this->count_of(reg::CORRECTED), wrong);
}

// Of such bits the code says nothing; here their places add up to one that no bit has.
TYPED_TEST(SwitchMemory, ThreeWrongBitsThatLookLikeNoSingleOneDropThePacket) {
  ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0));
  this->load_plain();
  for (const bool multicast : {true, false}) {
    const uint32_t data = this->sizes.ports + (multicast ? 1 : 9);
    const uint64_t bits = uint64_t{7} << (this->code_bits(multicast) - 4);  // the three highest check bits
    EXPECT_EQ(this->code_bits(multicast) - 1 - data, multicast ? 4u : 5u);
    const uint32_t entry = this->draw(this->sizes.colours);
    auto& slot = (multicast ? this->golden_.tables()->multicast() : this->golden_.tables()->unicast())[entry];
    this->flip(multicast, this->place(multicast, entry), bits);
    slot.corrupt = true;
    EXPECT_EQ(this->look(*this->reader_of(multicast, entry)).outcome, Outcome::table_error);
  }
  EXPECT_EQ(this->count_of(reg::UNCORRECTABLE), 2u);
}

// A lookup that reads an entry in the clock in which it is mended gets it as it is written, whatever was read
// before.
TYPED_TEST(SwitchMemory, AnEntryIsRightFromTheClockOnInWhichItIsMended) {
  for (const bool multicast : {true, false})
    for (uint32_t bit = 0; bit < 3 * this->code_bits(multicast); ++bit) {
      ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0));
      this->load_plain();
      const uint32_t entry = this->draw(this->sizes.colours), place = this->place(multicast, entry);
      const uint32_t others = bit % 3, other = this->draw(this->sizes.colours);
      for (uint32_t input = 0; input < this->inputs; ++input)
        this->put(input, *this->reader_of(multicast, input < others ? other : entry));
      const uint32_t before = this->count_of(reg::CORRECTED);
      const uint64_t right = this->word(multicast, place);
      ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 2));
      this->flip_unread(multicast, place, uint64_t{1} << bit % this->code_bits(multicast));
      uint32_t reads = 1;  // the scrubber's
      for (int i = 0; i < 400 && this->word(multicast, place) != right; ++i) {
        this->bench_.settle();
        const bool fetch =
            this->bench_->trace_fetch_o &&
            this->golden_.tables()->place_of(this->request_of(this->bench_->trace_request_o)) == entry;
        this->clock();
        reads += fetch && this->word(multicast, place) != right;
      }
      for (int i = 0; i < 20; ++i) this->clock();
      this->bench_->s_req_valid_i = 0;
      for (int i = 0; i < 10; ++i) this->clock();
      EXPECT_EQ(this->word(multicast, place), right);
      EXPECT_EQ(this->count_of(reg::CORRECTED) - before, reads) << bit;
    }
}

TYPED_TEST(SwitchMemory, WhatTheScrubberMendsIsCountedOnceWhileAnImageIsLoaded) {
  for (int round = 0; round < 4; ++round) {
    ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0));
    this->load_plain();
    const Image next = this->plain_image();
    const auto image = write_image(next);
    ASSERT_TRUE(this->write(reg::LOAD_BEGIN, 0));
    ASSERT_TRUE(this->write(reg::LOAD_DATA, image[0]));
    const uint32_t before = this->count_of(reg::SCRUBBED);
    uint32_t flips = 0;
    const auto spoil = [&](bool kind) {
      for (uint32_t entry = 0; entry < this->entries(kind); ++entry, ++flips)
        this->flip(kind, this->place(kind, entry), uint64_t{1} << this->draw(this->code_bits(kind)));
    };
    ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 2));
    const std::size_t unicast = head_words + entry_words * next.multicast.size();
    for (std::size_t i = 1; i + 1 < image.size(); ++i) {
      if (i == head_words || i == unicast) spoil(i == head_words);  // while entries of its kind come
      ASSERT_TRUE(this->write(reg::LOAD_DATA, image[i]));
    }
    for (int i = 0; i < 400; ++i) this->clock();
    EXPECT_EQ(this->count_of(reg::SCRUBBED) - before, flips);
    this->note_all_mended("loading");
  }
}

// A bad entry is not written, so the scrubber can write in its clock: all is mended in one round.
TYPED_TEST(SwitchMemory, ABadEntryOfAnImageDoesNotKeepTheScrubberFromMending) {
  for (uint32_t offset = 0; offset < 4; ++offset) {
    ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0));
    this->load_plain();
    const auto multicast = this->table(true);
    Image next = this->plain_image();
    next.multicast = {{~0u >> 8, 0, 1}};
    const auto image = write_image(next);
    ASSERT_TRUE(this->write(reg::LOAD_BEGIN, 0));
    for (std::size_t i = 0; i < head_words + 2; ++i) ASSERT_TRUE(this->write(reg::LOAD_DATA, image[i]));
    ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 2));
    for (uint32_t entry = 0; entry < this->entries(true); ++entry)
      this->flip(true, this->place(true, entry), uint64_t{1} << this->draw(this->code_bits(true)));
    for (uint32_t i = 0; i < 4 + offset; ++i) this->clock();
    this->post_write(reg::LOAD_DATA, image[head_words + 2]);
    for (uint32_t i = 5 + offset; i < 2 * this->entries(true) + 4; ++i) this->clock();
    EXPECT_EQ(this->table(true), multicast) << "offset " << offset;
    EXPECT_EQ(this->count_of(reg::LOAD_STATUS) & 7, static_cast<uint32_t>(formats::LoadState::refused));
  }
}

// Tables are emptied in as many clocks as the larger one has entries; then the scrubber writes again.
TYPED_TEST(SwitchMemory, TheScrubberMendsOnceTablesAreEmpty) {
  const uint32_t most = std::max(this->entries(true), this->entries(false));
  ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0));
  this->load_plain();
  const auto multicast = this->table(true);
  ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 2));
  this->post_write(reg::LOAD_BEGIN, 0);
  for (uint32_t i = 0; i < most + 8; ++i) this->clock();
  EXPECT_EQ(this->count_of(reg::LOAD_STATUS), static_cast<uint32_t>(formats::LoadState::load));
  for (uint32_t entry = 0; entry < this->entries(true); ++entry)
    this->flip(true, this->place(true, entry), uint64_t{1} << this->draw(this->code_bits(true)));
  for (uint32_t i = 0; i < most - 24; ++i) this->clock();
  uint32_t mended = 0;
  for (uint32_t entry = 0; entry < this->entries(true); ++entry) {
    if (this->word(true, this->place(true, entry)) != multicast[entry]) continue;
    this->note_scrubbed(true, entry, true, "clearing");
    ++mended;
  }
  EXPECT_GE(mended, 8u);
}

TYPED_TEST(SwitchMemory, WhatCannotBeCorrectedStaysUntilTheNextImage) {
  this->load_plain();
  const uint32_t entry = this->draw(this->entries(false));
  const uint64_t before = this->word(false, this->place(false, entry));
  this->flip(false, this->place(false, entry), 3);
  ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 2));
  for (int i = 0; i < 1000; ++i) this->clock();
  EXPECT_EQ(this->word(false, this->place(false, entry)), before ^ 3);
  this->note_scrubbed(false, entry, false, "nothing");
  EXPECT_GT(this->count_of(reg::UNCORRECTABLE), 3u);
  EXPECT_EQ(this->count_of(reg::SCRUBBED), 0u);
  EXPECT_EQ(this->count_of(reg::IRQ_STATUS) & 1, 1u);
  for (int image = 0; image < 2; ++image) this->load_plain();
  ASSERT_TRUE(this->write(reg::IRQ_STATUS, 1));
  for (int i = 0; i < 1000; ++i) this->clock();
  EXPECT_EQ(this->count_of(reg::IRQ_STATUS) & 1, 0u);
}

TYPED_TEST(SwitchMemory, TheScrubberCountsBothTables) {
  ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0));
  this->load_plain();
  const uint32_t entry = this->draw(std::min(this->entries(true), this->entries(false)));
  for (const bool kind : {true, false}) this->flip(kind, this->place(kind, entry), 3);
  // Alike in each table: addresses of both run modulo their sizes.
  const uint32_t rounds = 3, most = std::max(this->entries(true), this->entries(false));
  ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 2));
  for (uint32_t i = 0; i < 2 * rounds * most; ++i) this->clock();
  ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0));
  for (int i = 0; i < 8; ++i) this->clock();
  const uint32_t once = most / this->entries(true) + most / this->entries(false);
  EXPECT_NEAR(this->count_of(reg::UNCORRECTABLE), rounds * once, once);
  EXPECT_EQ(this->count_of(reg::SCRUBBED), 0u);
  EXPECT_EQ(this->count_of(reg::CORRECTED), 0u);
}

// An entry that the scrubber has read waits behind results that nobody takes, while two images come into use:
// it must not be written into the second one, which is in the same bank.
TYPED_TEST(SwitchMemory, NothingOfAnOldImageIsWrittenBack) {
  ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 2));
  for (int round = 0; round < 60 && !this->HasFailure(); ++round) {
    this->load_plain();
    for (const bool kind : {true, false})
      for (uint32_t entry = 0; entry < this->entries(kind); ++entry)
        this->flip(kind, this->place(kind, entry), uint64_t{1} << this->draw(this->code_bits(kind)));
    for (uint32_t i = 0; i < 4; ++i) this->put(i % 3, *this->reader_of(false, 0));
    this->bench_->m_res_ready_i = 0;
    for (uint32_t i = 0; i < 20 + this->draw(4); ++i) this->clock();
    for (int image = 0; image < 2; ++image) this->load_plain();
    const auto multicast = this->table(true), unicast = this->table(false);
    this->bench_->m_res_ready_i = 1;
    this->bench_->s_req_valid_i = 0;
    for (int i = 0; i < 40; ++i) this->clock();
    EXPECT_EQ(this->table(true), multicast);
    EXPECT_EQ(this->table(false), unicast);
  }
}

}  // namespace
}  // namespace weft::rtl_test

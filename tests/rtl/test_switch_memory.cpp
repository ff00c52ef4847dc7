// SPDX-License-Identifier: Apache-2.0
// Wrong bits in the tables of the switch lookup block: one is corrected, and mended by the scrubber; two drop
// the packets of the entry.
#include <algorithm>
#include <array>

#include "Vswitch_lookup___024root.h"
#ifndef WEFT_SWITCH_NETLIST
#include "Vswitch_per_port___024root.h"
#endif
#ifdef WEFT_SWITCH_WIDE
#include "Vswitch_wide___024root.h"
#endif
#include "switch_bench.hpp"

namespace weft::rtl_test {
namespace {

using formats::Outcome;

// Names that Verilator gives them: of modules; flattened by Yosys; of RAMs in a netlist of gates.
template <typename Root>
auto& multicast_words(Root* root) {
  if constexpr (requires { root->switch_lookup__DOT__i_multicast__DOT__i_ram__DOT__u_ram__DOT__mem; })
    return root->switch_lookup__DOT__i_multicast__DOT__i_ram__DOT__u_ram__DOT__mem;
  else if constexpr (requires { root->switch_lookup__DOT__i_multicast__02ei_ram__02eu_ram__02emem; })
    return root->switch_lookup__DOT__i_multicast__02ei_ram__02eu_ram__02emem;
  else
    return root->switch_lookup__DOT__i_multicast__02ei_ram__02eu_ram__DOT__mem;
}
template <typename Root>
auto& unicast_words(Root* root) {
  if constexpr (requires { root->switch_lookup__DOT__i_unicast__DOT__i_ram__DOT__u_ram__DOT__mem; })
    return root->switch_lookup__DOT__i_unicast__DOT__i_ram__DOT__u_ram__DOT__mem;
  else if constexpr (requires { root->switch_lookup__DOT__i_unicast__02ei_ram__02eu_ram__02emem; })
    return root->switch_lookup__DOT__i_unicast__02ei_ram__02eu_ram__02emem;
  else
    return root->switch_lookup__DOT__i_unicast__02ei_ram__02eu_ram__DOT__mem;
}

/// Both tables of a block, as they are in memory: two banks, each of as many words as the table has entries.
template <typename Top>
class SwitchMemory : public SwitchLookup<Top> {
 protected:
  static constexpr uint32_t entries(bool multicast) {
    const Sizes& sizes = SwitchLookup<Top>::sizes;
    uint32_t tables = 1;  // as addresses count them
    while (sizes.per_port && tables < sizes.ports) tables *= 2;
    return multicast ? sizes.colours * tables : sizes.unicast_entries;
  }
  static constexpr uint32_t code_bits(bool multicast) {
    const uint32_t data = SwitchLookup<Top>::sizes.ports + (multicast ? 1 : 9);
    uint32_t checks = 2;
    while ((1u << checks) < data + checks + 1) ++checks;
    return data + checks + 1;
  }

  uint64_t word(bool multicast, uint32_t place) {
    auto* root = this->bench_.top().rootp;
    return multicast ? multicast_words(root)[place] : unicast_words(root)[place];
  }
  void flip(bool multicast, uint32_t place, uint64_t bits) {
    auto* root = this->bench_.top().rootp;
    if (multicast)
      multicast_words(root)[place] ^= static_cast<uint16_t>(bits);
    else
      unicast_words(root)[place] ^= static_cast<uint32_t>(bits);
  }
  /// In a clock in which no packet reads: a netlist has evaluated the read of that clock already.
  void flip_unread(bool multicast, uint32_t place, uint64_t bits) {
    const auto inputs = this->bench_->s_req_valid_i;
    this->bench_->s_req_valid_i = 0;
    for (int i = 0; i < 10; ++i) this->clock();
    flip(multicast, place, bits);
    this->clock();
    this->bench_->s_req_valid_i = inputs;
  }
  /// Word of an entry of the bank in use. The first image comes into bank 1.
  uint32_t place(bool multicast, uint32_t entry) { return bank_ * entries(multicast) + entry; }
  std::vector<uint64_t> table(bool multicast) {
    std::vector<uint64_t> words;
    for (uint32_t i = 0; i < entries(multicast); ++i) words.push_back(word(multicast, place(multicast, i)));
    return words;
  }

  void load_plain() {
    this->loading_ = plain_image();
    ASSERT_TRUE(this->load(write_image(this->loading_)));
    bank_ ^= 1;
  }
  Image plain_image() { return this->any_image_of(static_cast<uint8_t>(formats::Role::plain)); }

  /// A request that reads this entry; nothing if none does.
  std::optional<formats::Request> reader_of(bool multicast, uint32_t entry) {
    formats::Request request;
    request.kind = multicast;
    request.in_port = static_cast<uint8_t>(1 + this->draw(this->sizes.ports));
    request.index = static_cast<uint16_t>(entry);
    if (multicast && this->sizes.per_port) {
      request.index = static_cast<uint16_t>(entry % this->sizes.colours);
      request.in_port = static_cast<uint8_t>(1 + entry / this->sizes.colours);
      if (request.in_port > this->sizes.ports) return std::nullopt;
    }
    return request;
  }

  /// What the test has seen of the scrubber, for the points of the testplan.
  void note_scrubbed(bool multicast, uint32_t entry, bool mended, const char* meanwhile) {
    this->traces_.both(scrubbed_record(this->bench_.cycle(), multicast, entry, mended, meanwhile));
  }
  void note_all_mended(const char* meanwhile) {
    for (const bool multicast : {true, false})
      for (uint32_t entry = 0; entry < entries(multicast); ++entry)
        note_scrubbed(multicast, entry, true, meanwhile);
  }

  uint32_t count_of(uint32_t address) { return this->read(address).value_or(~0u); }

  uint32_t bank_ = 0;
};
TYPED_TEST_SUITE(SwitchMemory, SwitchTops);

TYPED_TEST(SwitchMemory, EverySingleWrongBitIsCorrected) {
  ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0));
  this->load_plain();
  uint32_t flips = 0;
  for (const bool multicast : {true, false})
    for (uint32_t entry = 0; entry < this->entries(multicast); ++entry)
      for (uint32_t bit = 0; bit < this->code_bits(multicast) && !this->HasFailure(); ++bit) {
        const auto request = this->reader_of(multicast, entry);
        if (!request) continue;
        auto& tables = *this->golden_.tables();
        auto& slot = (multicast ? tables.multicast() : tables.unicast())[entry];
        this->flip(multicast, this->place(multicast, entry), uint64_t{1} << bit);
        slot.corrected = true;
        this->look(*request);  // as if nothing were wrong
        this->flip(multicast, this->place(multicast, entry), uint64_t{1} << bit);
        slot.corrected = false;
        ++flips;
      }
  EXPECT_EQ(this->count_of(reg::CORRECTED), flips);
  EXPECT_EQ(this->count_of(reg::UNCORRECTABLE), 0u);
  EXPECT_EQ(this->count_of(reg::IRQ_STATUS) & 1, 0u);
  EXPECT_EQ(this->retired_[static_cast<size_t>(Outcome::table_error)], 0u);
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

#ifdef WEFT_SWITCH_WIDE
/// Words of entries of 64 ports: every bit, every two bits of neighbouring places.
using SwitchWide = SwitchLookup<Vswitch_wide>;

TEST_F(SwitchWide, OneWrongBitIsCorrectedTwoDropThePacket) {
  ASSERT_TRUE(write(reg::SCRUB_PERIOD, 0));
  do loading_ = any_image();
  while (loading_.head.role != static_cast<uint8_t>(formats::Role::plain));
  ASSERT_TRUE(load(write_image(loading_)));  // into bank 1
  auto* root = bench_.top().rootp;
  uint32_t corrected = 0, dropped = 0;
  const auto flip = [&](bool multicast, uint32_t entry, uint32_t bit) {
    const uint32_t place = (multicast ? sizes.colours : sizes.unicast_entries) + entry;
    auto& word = multicast ? multicast_words(root)[place] : unicast_words(root)[place];
    word[bit / 32] ^= 1u << bit % 32;
  };
  for (const bool multicast : {true, false}) {
    const uint32_t bits = multicast ? 64 + 1 + 8 : 64 + 9 + 8,
                   entries = multicast ? sizes.colours : sizes.unicast_entries;
    for (uint32_t bit = 0; bit < bits && !HasFailure(); ++bit) {
      formats::Request request;
      request.kind = multicast;
      request.in_port = static_cast<uint8_t>(1 + draw(sizes.ports));
      const uint32_t entry = draw(entries);
      request.index = static_cast<uint16_t>(entry);
      auto& tables = *golden_.tables();
      auto& slot = (multicast ? tables.multicast() : tables.unicast())[entry];
      flip(multicast, entry, bit);
      slot.corrected = true;
      look(request);
      ++corrected;
      flip(multicast, entry, (bit + 1) % bits);
      slot.corrected = false;
      slot.corrupt = true;
      EXPECT_EQ(look(request).outcome, Outcome::table_error);
      ++dropped;
      slot.corrupt = false;
      flip(multicast, entry, bit);
      flip(multicast, entry, (bit + 1) % bits);
    }
  }
  EXPECT_EQ(read(reg::CORRECTED), corrected);
  EXPECT_EQ(read(reg::UNCORRECTABLE), dropped);
}
#endif

}  // namespace
}  // namespace weft::rtl_test

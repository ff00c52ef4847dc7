// SPDX-License-Identifier: Apache-2.0
// The switch lookup block with its tables' memories, of which tests turn over bits.
#pragma once

#include <type_traits>

#include "Vswitch_lookup___024root.h"
#ifndef WEFT_SWITCH_NETLIST
#include "Vswitch_per_port___024root.h"
#endif
#ifdef WEFT_SWITCH_WIDE
#include "Vswitch_36___024root.h"
#include "Vswitch_default___024root.h"
#include "Vswitch_wide___024root.h"
#endif
#include "switch_bench.hpp"

namespace weft::rtl_test {

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
    for (uint32_t bit = 0; bits >> bit != 0; ++bit)
      if ((bits >> bit & 1) != 0) flip_bit(multicast, place, bit);
  }
  void flip_bit(bool multicast, uint32_t place, uint32_t bit) {
    auto* root = this->bench_.top().rootp;
    if (multicast)
      flip_bit_of(multicast_words(root)[place], bit);
    else
      flip_bit_of(unicast_words(root)[place], bit);
  }
  template <typename Word>
  static void flip_bit_of(Word& word, uint32_t bit) {
    if constexpr (std::is_integral_v<Word>)
      word = static_cast<Word>(word ^ static_cast<Word>(1) << bit);
    else
      word[bit / 32] ^= 1u << bit % 32;
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

}  // namespace weft::rtl_test

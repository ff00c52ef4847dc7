// SPDX-License-Identifier: Apache-2.0
// The switch lookup block beside its golden model: random tables, requests, pauses, live ports, images while
// packets fly; bad images; registers.
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "switch_bench.hpp"

namespace weft::rtl_test {
namespace {

TYPED_TEST_SUITE(SwitchLookup, SwitchTopsOfAllWidths);

TYPED_TEST(SwitchLookup, EqualsTheGoldenModelWhileImagesComeIntoUse) {
  this->traffic_ = true;
  for (int round = 0; round < 24 && !this->HasFailure(); ++round) {
    this->pauses_ = round % 2 == 0;
    this->loading_ = this->any_image();
    if (round % 8 < 2) {  // leaf switches whose ports to row and column are the outermost ones
      auto& head = this->loading_.head;
      head.role = static_cast<uint8_t>(formats::Role::leaf);
      head.row_port = static_cast<uint8_t>(round % 8 == 0 ? this->sizes.ports : 1);
      head.column_port = static_cast<uint8_t>(round % 8 == 0 ? 1 : this->sizes.ports);
    }
    if (round % 8 == 2 || round % 8 == 4) this->loading_.multicast.clear();
    if (round % 8 == 3 || round % 8 == 4) this->loading_.unicast.clear();
    ASSERT_TRUE(this->load(write_image(this->loading_)));
    EXPECT_EQ(this->read(reg::TABLE_VERSION), this->loading_.head.table_version);
    for (int i = 0; i < 1000 && !this->HasFailure(); ++i) this->clock();
  }
  for (uint32_t outcome = 0; outcome < formats::count::OUTCOME; ++outcome) {
    if (outcome == static_cast<uint32_t>(formats::Outcome::table_error)) continue;
    EXPECT_GT(this->retired_[outcome], 0u) << formats::name(static_cast<formats::Outcome>(outcome));
  }
}

TYPED_TEST(SwitchLookup, AColumnOfMoreBitsHasNoEntry) {
  this->loading_ = {};
  this->loading_.head.switch_id = identity;
  this->loading_.head.vc_max = 1;
  this->loading_.head.per_port = this->sizes.per_port;
  this->loading_.head.row = 0xfff;
  for (uint32_t index = 0; index < this->sizes.unicast_entries; ++index)
    this->loading_.unicast.push_back({index, 1, 0});
  formats::Request request;
  request.in_port = 2;
  for (const auto role : {formats::Role::leaf, formats::Role::row, formats::Role::column})
    for (uint8_t bits = 0; bits <= 5; ++bits) {
      auto& head = this->loading_.head;
      head.role = static_cast<uint8_t>(role);
      head.fine = role != formats::Role::leaf;
      head.row_port = role == formats::Role::leaf ? 3 : 0;
      head.column_port = role == formats::Role::leaf ? 4 : 0;
      head.column_bits = bits;
      ASSERT_TRUE(this->load(write_image(this->loading_)));
      for (uint32_t bit = 0; bit < 12; ++bit) {
        request.column = static_cast<uint16_t>(1u << bit);
        const auto outcome = this->look(request).outcome;
        EXPECT_EQ(outcome, bit < bits ? formats::Outcome::forward : formats::Outcome::no_entry) << bit;
      }
    }
}

// Also in what waits behind a result that is not taken.
TYPED_TEST(SwitchLookup, EachBitOfItsOwnPlaceCounts) {
  for (uint32_t bit = 0; bit < 24; ++bit) {
    this->loading_ = {};
    auto& head = this->loading_.head;
    head.switch_id = identity;
    head.vc_max = 1;
    head.per_port = this->sizes.per_port;
    head.role = static_cast<uint8_t>(formats::Role::leaf);
    head.row_port = 1;
    head.column_port = 2;
    (bit < 12 ? head.row : head.column) = static_cast<uint16_t>(1u << bit % 12);
    ASSERT_TRUE(this->load(write_image(this->loading_)));
    formats::Request home;
    home.in_port = home.host = 3;
    home.row = head.row;
    home.column = head.column;
    formats::Request elsewhere = home;
    elsewhere.row = elsewhere.column = 0;
    this->bench_->m_res_ready_i = 0;
    for (uint32_t input = 0; input < this->inputs; ++input) this->put(input, input == 1 ? elsewhere : home);
    for (int i = 0; i < 12; ++i) this->clock();
    this->bench_->m_res_ready_i = 1;
    for (int i = 0; i < 12; ++i) this->clock();
    this->bench_->s_req_valid_i = 0;
    for (int i = 0; i < 12; ++i) this->clock();
  }
  EXPECT_GT(this->retired_[static_cast<size_t>(formats::Outcome::forward)], 0u);
  EXPECT_GT(this->retired_[static_cast<size_t>(formats::Outcome::no_entry)], 0u);
}

// A lookup that waits keeps the settings of its clock, however soon after it an image comes into use.
TYPED_TEST(SwitchLookup, ResultsThatStopAroundAnUpdateAreOfTheirImage) {
  for (uint32_t round = 0; round < 160 && !this->HasFailure(); ++round) {
    const uint32_t stop = round / 2 % 8;
    const bool turns = round < 64;  // leaves that turn packets from the column once or twice
    this->loading_ =
        turns ? this->any_image_of(static_cast<uint8_t>(formats::Role::leaf)) : this->any_image();
    auto& head = this->loading_.head;
    head.vc_max = static_cast<uint8_t>(1 + round % 2);
    if (turns) {
      head.row_port = 1;
      head.column_port = 2;
      head.row = 0;
      head.column_bits = 3;
    }
    this->loading_.multicast.clear();
    this->loading_.unicast.resize(std::min<size_t>(this->loading_.unicast.size(), 12));
    if (turns) this->loading_.unicast = {{8, 3, 0}};
    auto words = write_image(this->loading_);
    const uint32_t last = words.back();
    words.pop_back();
    ASSERT_TRUE(this->load(words));
    for (uint32_t input = 0; input < this->inputs; ++input) {
      formats::Request request = this->any_request();
      if (turns) {
        request.in_port = head.column_port;
        request.row = 1;
        request.column = 0;
        request.kind = 0;
        request.vc = 1;
      }
      this->put(input, request);
    }
    for (int i = 0; i < 10; ++i) this->clock();
    this->post_write(reg::LOAD_DATA, last);
    std::optional<uint32_t> since;  // clocks since it came into use
    for (int i = 0; i < 40; ++i) {
      if (since) ++*since;
      if (this->bench_.settle(), this->bench_->trace_taken_o) since = 0;
      this->bench_->m_res_ready_i = !since || *since < stop || *since > stop + 3;
      this->clock();
    }
    EXPECT_TRUE(since.has_value());
    this->bench_->s_req_valid_i = 0;
    for (int i = 0; i < 12; ++i) this->clock();
  }
}

TYPED_TEST(SwitchLookup, RefusesImagesAsTheReaderDoes) {
  this->loading_ = this->any_image();
  const auto good = write_image(this->loading_);
  ASSERT_TRUE(this->load(good));
  uint32_t refused = 0;
  // Every bit of the head, of the first entry of each kind and of the check word; any bits of all others.
  const auto bits_of = [&](std::size_t word) { return static_cast<uint32_t>(32 * word); };
  const uint32_t first_unicast = bits_of(head_words + entry_words * this->loading_.multicast.size());
  std::vector<uint32_t> bits;
  for (uint32_t bit = 0; bit < bits_of(head_words + entry_words); ++bit) bits.push_back(bit);
  for (uint32_t bit = 0; bit < bits_of(entry_words); ++bit) bits.push_back(first_unicast + bit);
  for (uint32_t bit = 0; bit < 32; ++bit) bits.push_back(bits_of(good.size() - 1) + bit);
  for (int i = 0; i < 100; ++i) bits.push_back(this->draw(bits_of(good.size())));
  for (const uint32_t bit : bits) {
    if (this->HasFailure()) break;
    auto words = good;
    const uint32_t place = bit / 32;
    words[place] ^= 1u << bit % 32;
    if (bit == bits.back()) words[head_words] |= 0xffffff;  // the highest index there is
    this->load_as_the_reader(words);
    ++refused;
    EXPECT_EQ(this->read(reg::TABLE_VERSION), this->loading_.head.table_version);
    EXPECT_EQ(this->read(reg::IMAGES_TAKEN), 1u);
  }
  this->write(reg::LOAD_BEGIN, 0);
  EXPECT_EQ(this->read(reg::IMAGES_REFUSED), refused);
}

TYPED_TEST(SwitchLookup, EveryBitOfTheIdentityIsLookedAt) {
  for (const uint64_t own : {~uint64_t{0}, uint64_t{0}, this->random_()}) {
    ASSERT_TRUE(this->write(reg::SWITCH_ID_LO, static_cast<uint32_t>(own)));
    ASSERT_TRUE(this->write(reg::SWITCH_ID_HI, static_cast<uint32_t>(own >> 32)));
    Image image = this->any_image();
    for (uint32_t bit = 0; bit < 64; ++bit) {
      image.head.switch_id = own ^ uint64_t { 1 } << bit;
      this->load_as_the_reader(write_image(image), own);
    }
    image.head.switch_id = own;
    this->load_as_the_reader(write_image(image), own);
  }
}

TYPED_TEST(SwitchLookup, PortsOfALeafAreThoseThatThereAre) {
  Image image;
  image.head.switch_id = identity;
  image.head.role = static_cast<uint8_t>(formats::Role::leaf);
  image.head.vc_max = 1;
  image.head.per_port = this->sizes.per_port;
  for (uint32_t port = 0; port < 256; ++port) {
    image.head.row_port = static_cast<uint8_t>(port);
    image.head.column_port = 2;
    this->load_as_the_reader(write_image(image));
    std::swap(image.head.row_port, image.head.column_port);
    this->load_as_the_reader(write_image(image));
  }
}

TYPED_TEST(SwitchLookup, MoreEntriesThanThereAreAreRefused) {
  const auto head = write_image(this->any_image_of(static_cast<uint8_t>(formats::Role::plain)));
  const uint32_t tables = this->sizes.per_port ? this->sizes.ports : 1;
  for (const bool multicast : {true, false}) {
    const uint32_t most = multicast ? this->sizes.colours * tables : this->sizes.unicast_entries;
    std::vector<uint32_t> counts;
    for (uint32_t count = most; count <= 2 * most; ++count) counts.push_back(count);
    for (uint32_t bit = 0; bit < 32; ++bit) counts.push_back(1u << bit | 1);
    for (const uint32_t count : counts) {
      std::vector<uint32_t> words(head.begin(), head.begin() + head_words);
      words[multicast ? 7 : 8] = count;
      this->load_as_the_reader(words);
    }
  }
}

TYPED_TEST(SwitchLookup, AWrongResultIsTheFirstDifferenceOfTheTraces) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("switch_traces_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  this->traces_.open(folder, 7, this->sizes);
  this->loading_ = this->any_image();
  this->loading_.multicast = {{3, 0, 7}};
  ASSERT_TRUE(this->load(write_image(this->loading_)));
  formats::Request request;
  request.kind = static_cast<uint8_t>(formats::Kind::multicast);
  request.in_port = 1;
  this->compares_ = false;
  for (const uint16_t colour : std::array<uint16_t, 4>{2, 3, 3, 2}) {
    request.index = colour;
    this->look(request);
    this->golden_.tables()->multicast()[3].ports ^= 4;  // wrong for the second one
  }
  this->traces_.close();
  const auto difference = trace::diff(folder / "rtl.node7.trace", folder / "golden.node7.trace");
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->unit, "lookup");
  EXPECT_EQ(difference->index, 2u);  // behind the tables and a lookup
  EXPECT_EQ(difference->keys, std::vector<std::string>{"ports"});
  EXPECT_EQ(value_of(difference->a.value(), "ports"), "0x6");
  EXPECT_EQ(value_of(difference->b.value(), "ports"), "0x2");
}

TYPED_TEST(SwitchLookup, RetiresALookupAClock) {
  this->loading_ = this->any_image();
  ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0));
  ASSERT_TRUE(this->load(write_image(this->loading_)));
  this->traffic_ = true;
  for (int i = 0; i < 20; ++i) this->clock();
  const uint64_t before = this->total_;
  for (int i = 0; i < 1000; ++i) this->clock();
  EXPECT_EQ(this->total_ - before, 1000u);
}

TYPED_TEST(SwitchLookup, InputsTakeTurns) {
  this->loading_ = this->any_image();
  ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0));
  ASSERT_TRUE(this->load(write_image(this->loading_)));
  this->traffic_ = true;
  for (int i = 0; i < 20; ++i) this->clock();
  this->taken_from_.fill(0);
  for (uint32_t i = 0; i < 100 * this->inputs; ++i) this->clock();
  for (const uint32_t taken : this->taken_from_) EXPECT_NEAR(taken, 100, 1);
}

// Taken in the first one, at the output in the fourth one, whether or not it is taken there at once.
TYPED_TEST(SwitchLookup, EachLookupTakesFourClocks) {
  this->loading_ = this->any_image();
  ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0));
  ASSERT_TRUE(this->load(write_image(this->loading_)));
  for (int i = 0; i < 200; ++i) {
    this->put(this->draw(this->inputs), this->any_request());
    uint32_t clocks = 0;
    this->bench_->m_res_ready_i = i % 2 == 0;
    for (bool valid = false; !valid && clocks < 10; ++clocks) {
      this->bench_.settle();
      valid = this->bench_->m_res_valid_o;
      const uint32_t taken = this->bench_->s_req_valid_i & this->bench_->s_req_ready_o;
      ASSERT_EQ(taken != 0, clocks == 0);
      this->clock();
      this->bench_->s_req_valid_i = 0;
    }
    EXPECT_EQ(clocks, 4u);
    this->bench_->m_res_ready_i = 1;
    this->clock();
  }
}

TYPED_TEST(SwitchLookup, ScrubbingLeavesEverySecondClockToLookups) {
  this->loading_ = this->any_image();
  ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 1));
  ASSERT_TRUE(this->load(write_image(this->loading_)));
  this->traffic_ = true;
  for (int i = 0; i < 20; ++i) this->clock();
  const uint64_t before = this->total_;
  for (int i = 0; i < 1000; ++i) this->clock();
  EXPECT_EQ(this->total_ - before, 500u);
}

TYPED_TEST(SwitchLookup, ResultsThatWaitFollowTheLivePorts) {
  this->loading_ = this->any_image();
  ASSERT_TRUE(this->load(write_image(this->loading_)));
  this->bench_->m_res_ready_i = 0;
  for (int i = 0; i < 200 && !this->HasFailure(); ++i) {
    this->put(0, this->any_request());
    for (int waited = 0; waited < 8; ++waited) {
      this->set_alive(this->random_());
      this->bench_.settle();
      const Ports ports = this->bench_->m_res_ports_o, alive = this->bench_->alive_i;
      ASSERT_TRUE(!this->bench_->m_res_valid_o || (ports & ~alive) == 0);
      this->clock();
    }
    this->bench_->m_res_ready_i = 1;
    this->clock();
    this->bench_->m_res_ready_i = 0;
  }
  EXPECT_GT(this->total_, 100u);
}

/// Every word of the map: what is no register, is not to be read or not to be written is answered with an
/// error, and a write that is has no effect on anything that can be read.
TYPED_TEST(SwitchLookup, AnswersWhatIsNoRegisterWithAnError) {
  std::set<uint32_t> readable{reg::ID,           reg::VERSION,       reg::CAPS,         reg::COLOURS,
                              reg::SWITCH_ID_LO, reg::SWITCH_ID_HI,  reg::LOAD_STATUS,  reg::LOAD_WORDS,
                              reg::SEED,         reg::TABLE_VERSION, reg::SCRUB_PERIOD, reg::IRQ_STATUS,
                              reg::IRQ_ENABLE,   reg::ALIVE_LO,      reg::ALIVE_HI,     reg::CORRECTED,
                              reg::SCRUBBED,     reg::UNCORRECTABLE, reg::IMAGES_TAKEN, reg::IMAGES_REFUSED};
  for (uint32_t i = 0; i < formats::count::OUTCOME; ++i) readable.insert(reg::OUTCOME + 4 * i);
  for (uint32_t i = 0; i < formats::count::MANAGEMENT_DROP; ++i)
    readable.insert(reg::MANAGEMENT_DROP + 4 * i);
  const std::set<uint32_t> writable{reg::SWITCH_ID_LO, reg::SWITCH_ID_HI, reg::KEY_LO,       reg::KEY_HI,
                                    reg::LOAD_BEGIN,   reg::SEED,         reg::SCRUB_PERIOD, reg::IRQ_STATUS,
                                    reg::IRQ_ENABLE};  // and LOAD_DATA while an image is under way
  ASSERT_TRUE(this->load(write_image(this->loading_ = this->any_image())));
  ASSERT_TRUE(this->write(reg::SCRUB_PERIOD, 0));
  const auto all = [&] {
    std::vector<std::optional<uint32_t>> values;
    values.reserve(readable.size());
    for (const uint32_t address : readable) values.push_back(this->read(address));
    return values;
  };
  const auto before = all();
  for (uint32_t address = 0; address < 1024 && !this->HasFailure(); address += 4) {
    EXPECT_EQ(this->read(address).has_value(), readable.contains(address)) << address;
    if (writable.contains(address)) continue;
    EXPECT_FALSE(this->write(address, this->draw(~0u))) << address;
    EXPECT_EQ(all(), before) << address;
  }
}

/// Of images quite unlike the one in use, refused for each reason, while packets fly.
TYPED_TEST(SwitchLookup, NothingOfARefusedImageIsSeen) {
  this->traffic_ = true;
  this->loading_ = this->any_image();
  const uint64_t before = this->total_;
  ASSERT_TRUE(this->load(write_image(this->loading_)));
  std::set<formats::LoadFault> seen;
  for (int round = 0; round < 40 && !this->HasFailure(); ++round) {
    this->pauses_ = round % 3 == 0;
    auto words = write_image(this->any_image());
    const std::size_t entries = words.size() - head_words - 1;
    switch (round % 4) {
      case 0:
        words.back() ^= 1u << this->draw(32);
        break;
      case 1:
        words[head_words + entries - 3] = ~0u;  // the last entry's index
        break;
      case 2:
        words[this->draw(4)] ^= 1u << this->draw(32);
        break;
      default:
        words.resize(words.size() - 1 - this->draw(static_cast<uint32_t>(entries)));  // begun, not ended
    }
    this->load_as_the_reader(words);
    seen.insert(static_cast<formats::LoadFault>(this->read(reg::LOAD_STATUS).value_or(0) >> 4));
    for (int i = 0; i < 300 && !this->HasFailure(); ++i) this->clock();
    EXPECT_EQ(this->read(reg::TABLE_VERSION), this->loading_.head.table_version);
  }
  EXPECT_EQ(this->read(reg::IMAGES_TAKEN), 1u);
  EXPECT_GE(seen.size(), 5u);  // check, entry, two of the head's, none
  EXPECT_GT(this->total_ - before, 4000u);
}

}  // namespace
}  // namespace weft::rtl_test

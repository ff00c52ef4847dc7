// SPDX-License-Identifier: Apache-2.0
// Tables loaded by management packets, beside the golden model: whole images under traffic; packets lost,
// doubled, out of order, malformed, with a wrong key, between writes of registers.
#include "switch_bench.hpp"

namespace weft::rtl_test {
namespace {

using formats::ManagementDrop;

constexpr uint64_t key = 0x0123456789abcdef;

template <typename Top>
class SwitchManagement : public SwitchLookup<Top> {
 protected:
  void SetUp() override {
    SwitchLookup<Top>::SetUp();
    set_key(key);
  }

  void set_key(uint64_t value) {
    EXPECT_TRUE(this->write(reg::KEY_LO, static_cast<uint32_t>(value)));
    EXPECT_TRUE(this->write(reg::KEY_HI, static_cast<uint32_t>(value >> 32)));
    port_.set_key(value);
  }

  /// To block and golden model; both are in the same state afterwards.
  std::optional<ManagementDrop> give(const ManagementPacket& packet) {
    const uint32_t before = loader_.images_taken(), refused = loader_.images_refused();
    const uint32_t words = loader_.words();
    const auto fate = port_.take(packet);
    if (loader_.images_taken() != before) this->loading_ = *loader_.in_use();
    this->send(packet);
    this->traces_.both(management_record(this->bench_.cycle(), packet, fate));
    if (loader_.images_refused() != refused) write_refused(words);
    return fate;
  }

  /// @param before words that had been taken: START refuses an image under way
  void write_refused(uint32_t before) {
    const bool bad = loader_.state() == formats::LoadState::refused;
    this->traces_.both(refused_record(this->bench_.cycle(),
                                      bad ? loader_.fault() : formats::LoadFault::truncated,
                                      bad ? loader_.words() : before));
  }

  void begin() {
    loader_.begin();
    EXPECT_TRUE(this->write(reg::LOAD_BEGIN, 0));
  }

  void compare_state() {
    const uint32_t status = this->read(reg::LOAD_STATUS).value_or(~0u);
    if ((status & 7) != static_cast<uint32_t>(formats::LoadState::clear)) {
      EXPECT_EQ(status & 7, static_cast<uint32_t>(loader_.state()));
    }
    EXPECT_EQ(status >> 4, static_cast<uint32_t>(loader_.fault()));
    EXPECT_EQ(this->read(reg::LOAD_WORDS), loader_.words());
    EXPECT_EQ(this->read(reg::IMAGES_TAKEN), loader_.images_taken());
    EXPECT_EQ(this->read(reg::IMAGES_REFUSED), loader_.images_refused());
    if (loader_.in_use()) {
      EXPECT_EQ(this->read(reg::TABLE_VERSION), loader_.in_use()->head.table_version);
    }
    for (uint32_t why = 0; why < formats::count::MANAGEMENT_DROP; ++why)
      EXPECT_EQ(this->read(reg::MANAGEMENT_DROP + 4 * why), port_.dropped(static_cast<ManagementDrop>(why)))
          << formats::name(static_cast<ManagementDrop>(why));
  }

  /// Something small is wrong with it, or nothing.
  ManagementPacket spoilt(ManagementPacket packet) {
    switch (this->draw(8)) {
      case 0:
        packet.pop_back();
        break;
      case 1:
        packet.resize(packet.size() + 1 + this->draw(200), this->draw(~0u));
        break;
      case 2:
        packet.resize(1 + this->draw(management_head_words));
        break;
      case 3:
        packet.assign(1 + this->draw(80), this->draw(~0u));
        break;
      default:
        packet[this->draw(management_head_words)] ^= 1u << this->draw(32);
        break;
    }
    if (packet.empty()) packet.push_back(0);
    return packet;
  }

  std::vector<ManagementPacket> packets(const Image& image) {
    return management_packets(write_image(image), key, 1 + this->draw(most_management_words));
  }

  uint32_t count_of(ManagementDrop why) {
    return this->read(reg::MANAGEMENT_DROP + 4 * static_cast<uint32_t>(why)).value_or(~0u);
  }
  void offer_write(bool valid, uint32_t data) {
    this->bench_->s_axil_awaddr_i = reg::LOAD_DATA;
    this->bench_->s_axil_wdata_i = data;
    this->bench_->s_axil_wstrb_i = 15;
    this->bench_->s_axil_awvalid_i = this->bench_->s_axil_wvalid_i = valid;
  }
  void offer_last(bool valid, uint32_t word) {
    this->bench_->s_mgmt_data_i = word;
    this->bench_->s_mgmt_last_i = this->bench_->s_mgmt_valid_i = valid;
  }

  Loader loader_{this->sizes, identity};
  ManagementPort port_{loader_};
};
TYPED_TEST_SUITE(SwitchManagement, SwitchTopsOfAllWidths);

TYPED_TEST(SwitchManagement, LoadsImagesWhilePacketsFly) {
  this->traffic_ = true;
  for (int round = 0; round < 8 && !this->HasFailure(); ++round) {
    this->pauses_ = round % 2 == 0;
    const auto image = write_image(this->any_image());
    const uint32_t words = round == 0 ? most_management_words : round == 1 ? 1 : 1 + this->draw(64);
    for (const ManagementPacket& packet : management_packets(image, key, words)) {
      EXPECT_EQ(this->give(packet), std::nullopt);
    }
    this->compare_state();
    EXPECT_EQ(this->loader_.images_taken(), static_cast<uint32_t>(round + 1));
    for (int i = 0; i < 300; ++i) this->clock();
  }
}

TYPED_TEST(SwitchManagement, PacketsOfAnyLengthMayPauseAfterEachWord) {
  for (const uint32_t words : {most_management_words, most_management_words - 1, 1u}) {
    for (const ManagementPacket& packet : management_packets(write_image(this->any_image()), key, words)) {
      const auto taken = this->loader_.images_taken();
      EXPECT_EQ(this->port_.take(packet), std::nullopt);
      if (this->loader_.images_taken() != taken) this->loading_ = *this->loader_.in_use();
      for (std::size_t i = 0; i < packet.size(); ++i) {
        this->put_words({packet[i]}, i + 1 == packet.size());
        this->clock();
      }
      this->wait_for_management();
    }
    this->compare_state();
  }
}

TYPED_TEST(SwitchManagement, ASenderThatSendsAgainGetsThroughALossyNetwork) {
  this->traffic_ = this->pauses_ = true;
  for (int round = 0; round < 4 && !this->HasFailure(); ++round) {
    const auto packets = this->packets(this->any_image());
    std::deque<ManagementPacket> behind;  // overtaken
    std::size_t next = 0;
    for (int tries = 0; tries < 5000 && next < packets.size() && !this->HasFailure(); ++tries) {
      const uint32_t luck = this->draw(10);
      if (luck == 0) continue;  // lost
      if (luck == 1 && next > 0) {
        behind.push_back(packets[1 + this->draw(static_cast<uint32_t>(packets.size() - 1))]);
        continue;
      }
      if (luck == 2 && !behind.empty()) {
        const uint32_t before = this->loader_.words();
        const auto fate = this->give(behind.front());
        behind.pop_front();
        if (!fate && this->loader_.words() > before) ++next;  // came in its turn after all
        continue;
      }
      if (luck == 3) {
        if (!this->give(this->spoilt(packets[next]))) next = 0;  // it was taken after all: from the start
        continue;
      }
      const auto fate = this->give(packets[next]);
      if (luck == 4 && next > 0) {
        EXPECT_EQ(this->give(packets[next]), ManagementDrop::order) << "a second time";
      }
      if (!fate) ++next;
      if (next % 8 == 0) this->compare_state();
    }
    EXPECT_EQ(next, packets.size());
    this->compare_state();
    EXPECT_EQ(this->loader_.images_taken(), static_cast<uint32_t>(round + 1));
  }
}

TYPED_TEST(SwitchManagement, DropsWhatIsMalformedAndSaysSo) {
  const auto packets = this->packets(this->any_image());
  for (int i = 0; i < 400 && !this->HasFailure(); ++i) {
    this->give(this->draw(4) == 0 ? packets[this->draw(2)] : this->spoilt(packets[this->draw(2)]));
    if (i % 10 == 0) this->compare_state();
  }
  this->compare_state();
  for (uint32_t why = 0; why < formats::count::MANAGEMENT_DROP; ++why) {
    EXPECT_GT(this->port_.dropped(static_cast<ManagementDrop>(why)), 0u);
  }
}

TYPED_TEST(SwitchManagement, EachFieldOfTheHeadIsLookedAt) {
  const auto image = write_image(this->any_image());
  const auto packets = management_packets(image, key, 8);
  EXPECT_EQ(this->give(packets[0]), std::nullopt);
  for (uint32_t bit = 0; bit < 32 * management_head_words; ++bit) {
    auto packet = packets[1];
    packet[bit / 32] ^= 1u << bit % 32;
    EXPECT_NE(this->give(packet), std::nullopt) << "bit " << bit;
  }
  this->compare_state();
  EXPECT_EQ(this->loader_.words(), 0u);
  EXPECT_EQ(this->give(packets[1]), std::nullopt);
  this->compare_state();
}

/// Images quite unlike the one in use, of which a word of a payload is wrong, while packets fly.
TYPED_TEST(SwitchManagement, NothingOfARefusedImageIsSeen) {
  this->traffic_ = true;
  for (const ManagementPacket& packet : this->packets(this->any_image())) this->give(packet);
  ASSERT_EQ(this->loader_.images_taken(), 1u);
  for (int round = 0; round < 24 && !this->HasFailure(); ++round) {
    this->pauses_ = round % 3 == 0;
    auto words = write_image(this->any_image());
    const uint32_t place = round % 3 == 0   ? static_cast<uint32_t>(words.size()) - 1
                           : round % 3 == 1 ? this->draw(head_words)
                                            : this->draw(static_cast<uint32_t>(words.size()));
    words[place] ^= 1u << this->draw(32);
    for (const ManagementPacket& packet :
         management_packets(words, key, 1 + this->draw(most_management_words)))
      this->give(packet);
    for (int i = 0; i < 300 && !this->HasFailure(); ++i) this->clock();
    this->compare_state();
  }
  EXPECT_EQ(this->loader_.images_taken(), 1u);
  EXPECT_GE(this->loader_.images_refused(), 20u);
}

TYPED_TEST(SwitchManagement, AKeyIsInUseOnceBothHalvesAreWritten) {
  const auto start = this->packets(this->any_image()).front();
  ASSERT_TRUE(this->write(reg::KEY_LO, 0x11111111));
  EXPECT_EQ(this->give(start), std::nullopt) << "the old key";
  this->compare_state();
  ASSERT_TRUE(this->write(reg::KEY_HI, 0x22222222));
  this->port_.set_key(0x2222222211111111);
  EXPECT_EQ(this->give(start), ManagementDrop::key);
  this->compare_state();
}

TYPED_TEST(SwitchManagement, EveryBitOfTheKeyIsLookedAt) {
  const auto image = write_image(this->any_image());
  for (const uint64_t own : {~uint64_t{0}, uint64_t{1}, uint64_t{1} << 63, this->random_()}) {
    this->set_key(own);
    EXPECT_EQ(this->give(management_packets(image, own, 8)[0]), std::nullopt);
    for (uint32_t bit = 0; bit < 64; ++bit)
      EXPECT_EQ(this->give(management_packets(image, own ^ uint64_t{1} << bit, 8)[0]), ManagementDrop::key);
  }
  this->compare_state();
}

TYPED_TEST(SwitchManagement, WithoutAKeyNothingIsTaken) {
  this->set_key(0);
  const auto image = write_image(this->any_image());
  for (const auto& packet : management_packets(image, 0)) EXPECT_EQ(this->give(packet), ManagementDrop::key);
  for (const auto& packet : management_packets(image, key))
    EXPECT_EQ(this->give(packet), ManagementDrop::key);
  this->compare_state();
}

TYPED_TEST(SwitchManagement, RegistersAndPacketsShareTheLoader) {
  const auto image = write_image(this->any_image());
  const auto packets = management_packets(image, key, 16);
  EXPECT_EQ(this->give(packets[0]), std::nullopt);
  EXPECT_EQ(this->give(packets[1]), std::nullopt);
  this->loader_.take(image[16]);  // a word by register, where DATA would go on
  EXPECT_TRUE(this->write(reg::LOAD_DATA, image[16]));
  EXPECT_EQ(this->give(packets[2]), ManagementDrop::order);
  this->compare_state();
  this->begin();
  EXPECT_EQ(this->give(packets[2]), ManagementDrop::order);
  EXPECT_EQ(this->give(packets[1]), std::nullopt);
  this->compare_state();
}

// A write to the loader while a packet's words go there waits, and comes behind them; one that comes first
// puts the packet out of order.
TYPED_TEST(SwitchManagement, NoWordOfARegisterComesBetweenThoseOfAPacket) {
  const auto image = write_image(this->any_image());
  const auto packet = management_packets(image, key, 20)[1];
  uint32_t behind = 0, before = 0;
  for (int offset = -6; offset < 25 && !this->HasFailure(); ++offset) {  // of the write from the last word
    EXPECT_TRUE(this->write(reg::LOAD_BEGIN, 0));
    for (int i = 0; i < 300; ++i) this->clock();
    this->put_words({packet.begin(), packet.end() - 1}, false);
    if (offset < 0) this->post_write(reg::LOAD_DATA, image[20]);
    for (int i = offset + 1; i < 0; ++i) this->clock();
    this->put_words({packet.back()});
    for (int i = 0; i < offset; ++i) this->clock();
    if (offset >= 0) this->post_write(reg::LOAD_DATA, image[20]);
    for (int i = 0; i < 100; ++i) this->clock();
    const uint32_t words = this->read(reg::LOAD_WORDS).value_or(0);
    EXPECT_TRUE(words == 21 || words == 1) << words << " words, offset " << offset;
    ++(words == 21 ? behind : before);
    EXPECT_EQ(this->read(reg::MANAGEMENT_DROP + 4 * static_cast<uint32_t>(ManagementDrop::order)), before);
  }
  EXPECT_GT(behind, 20u);
  EXPECT_GT(before, 2u);
}

// The write is carried out in the clock in which the packet would be judged, or in one next to it.
TYPED_TEST(SwitchManagement, AWriteToTheLoaderInTheClockOfAVerdictComesFirst) {
  const auto image = write_image(this->any_image());
  const auto packets = management_packets(image, key, 20);
  for (int offset = -2; offset <= 2 && !this->HasFailure(); ++offset) {
    EXPECT_TRUE(this->write(reg::LOAD_BEGIN, 0));
    for (int i = 0; i < 300; ++i) this->clock();
    this->put_words({packets[1].begin(), packets[1].end() - 1}, false);
    const uint32_t before = this->count_of(ManagementDrop::order);
    for (int i = -2; i <= 2; ++i) {
      this->offer_write(i == offset, image[0]);
      this->offer_last(i == 0, packets[1].back());
      this->clock();
    }
    this->offer_write(false, 0);
    for (int i = 0; i < 100; ++i) this->clock();
    const bool dropped = this->count_of(ManagementDrop::order) > before;
    EXPECT_EQ(this->read(reg::LOAD_WORDS), dropped ? 1u : 21u) << "offset " << offset;
    EXPECT_EQ(dropped, offset <= 0) << "offset " << offset;
    const bool any_mask = this->sizes.ports == 64;  // the word ends an entry, as its upper ports
    EXPECT_EQ(
        this->read(reg::LOAD_STATUS).value_or(0) & 7,
        static_cast<uint32_t>(dropped || any_mask ? formats::LoadState::load : formats::LoadState::refused));
  }
}

}  // namespace
}  // namespace weft::rtl_test

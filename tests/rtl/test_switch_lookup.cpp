// SPDX-License-Identifier: Apache-2.0
// The switch lookup block beside its golden model: random tables, requests, pauses, live ports, images while
// packets fly; bad images; registers.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "Vswitch_lookup.h"
#include "Vswitch_per_port.h"
#include "bench.hpp"
#include "switch/lookup.hpp"

namespace weft::rtl_test {
namespace {

using namespace switch_lookup;
namespace reg = formats::reg;

constexpr uint64_t identity = 0x1122334455667788;

template <typename Top>
struct SizesOf;
template <>
struct SizesOf<Vswitch_lookup> {
  static constexpr Sizes sizes{8, 16, 64, false};
};
template <>
struct SizesOf<Vswitch_per_port> {
  static constexpr Sizes sizes{6, 8, 64, true};
};

template <typename Top>
class SwitchLookup : public testing::Test {
 protected:
  static constexpr uint32_t inputs = 3;
  static constexpr Sizes sizes = SizesOf<Top>::sizes;

  void SetUp() override {
    bench_->s_axil_awvalid_i = bench_->s_axil_wvalid_i = bench_->s_axil_arvalid_i = 0;
    bench_->s_req_valid_i = 0;
    bench_->s_axil_bready_i = bench_->s_axil_rready_i = 1;
    bench_->m_res_ready_i = 1;
    bench_->alive_i = static_cast<uint8_t>(all_ports(sizes.ports));
    bench_.reset();
    EXPECT_TRUE(write(reg::SWITCH_ID_LO, static_cast<uint32_t>(identity)));
    EXPECT_TRUE(write(reg::SWITCH_ID_HI, static_cast<uint32_t>(identity >> 32)));
  }

  uint32_t draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  formats::Request any_request() {
    formats::Request request;
    request.kind = static_cast<uint8_t>(draw(16) == 0 ? 2 : draw(2));
    request.vc = static_cast<uint8_t>(draw(3));
    request.in_port = static_cast<uint8_t>(draw(24) == 0 ? draw(256) : 1 + draw(sizes.ports));
    request.index = static_cast<uint16_t>(draw(request.kind == 1 ? sizes.colours + 2 : 70));
    request.row = static_cast<uint16_t>(draw(9));
    request.column = static_cast<uint16_t>(draw(9));
    request.host = static_cast<uint8_t>(draw(sizes.ports + 2));
    return request;
  }

  Image any_image() {
    Image image;
    image.head.switch_id = identity;
    image.head.role = static_cast<uint8_t>(draw(4));
    image.head.fine = static_cast<uint8_t>(draw(2));
    image.head.vc_max = static_cast<uint8_t>(1 + draw(2));
    image.head.column_bits = 3;
    if (image.head.role == 1) {
      image.head.row_port = static_cast<uint8_t>(sizes.ports - 1);
      image.head.column_port = static_cast<uint8_t>(sizes.ports);
    }
    image.head.row = static_cast<uint16_t>(draw(8));
    image.head.column = static_cast<uint16_t>(draw(8));
    image.head.table_version = static_cast<uint32_t>(random_());
    const auto ports = [&] { return random_() & all_ports(sizes.ports); };
    for (uint32_t port = 0; port < (sizes.per_port ? sizes.ports : 1); ++port)
      for (uint32_t colour = 0; colour < sizes.colours; ++colour)
        if (draw(4) != 0) image.multicast.push_back({port << 16 | colour, 0, ports()});
    for (uint32_t index = 0; index < sizes.unicast_entries; ++index)
      if (draw(8) != 0)
        image.unicast.push_back({index, static_cast<uint8_t>(1 + draw(sizes.ports)), ports()});
    return image;
  }

  /// One clock: golden model first where the RTL's events say so, then results compared.
  void clock() {
    bench_.settle();
    if (bench_->trace_decide_o) {
      ASSERT_FALSE(pending_.empty());
      results_.push_back({pending_.front().request, golden_.retire(pending_.front(), bench_->alive_i)});
      pending_.pop_front();
    }
    if (bench_->trace_fetch_o) {
      std::array<uint8_t, 8> bytes{};
      for (int i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(bench_->trace_request_o >> (8 * i));
      pending_.push_back(golden_.fetch(formats::unpack_request(bytes)));
    }
    if (bench_->trace_taken_o) golden_.set_tables(loading_);
    if (bench_->m_res_valid_o && bench_->m_res_ready_i) {
      ASSERT_FALSE(results_.empty());
      const auto [request, result] = results_.front();
      results_.pop_front();
      ASSERT_EQ(bench_->m_res_outcome_o, static_cast<int>(result.outcome)) << "kind " << int{request.kind};
      ASSERT_EQ(bench_->m_res_ports_o, result.ports);
      ASSERT_EQ(bench_->m_res_vc_o, result.vc);
      ++retired_[static_cast<size_t>(result.outcome)];
      ++total_;
    }
    const uint32_t taken = bench_->s_req_valid_i & bench_->s_req_ready_o;
    bench_.step();
    if (traffic_) drive(taken);
  }

  void drive(uint32_t taken) {
    for (uint32_t i = 0; i < inputs; ++i) {
      const bool waits = (bench_->s_req_valid_i >> i & 1) != 0 && (taken >> i & 1) == 0;
      if (waits) continue;
      const auto bytes = formats::pack(any_request());
      std::memcpy(reinterpret_cast<uint8_t*>(&bench_->s_req_i) + 8 * i, bytes.data(), 8);
      bench_->s_req_valid_i = static_cast<uint8_t>((bench_->s_req_valid_i & ~(1u << i)) |
                                                   (pauses_ && draw(3) == 0 ? 0u : 1u << i));
    }
    bench_->m_res_ready_i = !pauses_ || draw(4) != 0;
    if (draw(4) == 0) bench_->alive_i = static_cast<uint8_t>(random_() & all_ports(sizes.ports));
  }

  bool write(uint32_t address, uint32_t data) {
    bench_->s_axil_awaddr_i = static_cast<uint16_t>(address);
    bench_->s_axil_wdata_i = data;
    bench_->s_axil_wstrb_i = 15;
    bench_->s_axil_awvalid_i = bench_->s_axil_wvalid_i = 1;
    clock();
    bench_->s_axil_awvalid_i = bench_->s_axil_wvalid_i = 0;
    for (int i = 0; i < 1000; ++i) {
      bench_.settle();
      const bool answered = bench_->s_axil_bvalid_o;
      const bool ok = bench_->s_axil_bresp_o == 0;
      clock();
      if (answered) return ok;
    }
    ADD_FAILURE() << "no answer";
    return false;
  }

  std::optional<uint32_t> read(uint32_t address) {
    bench_->s_axil_araddr_i = static_cast<uint16_t>(address);
    bench_->s_axil_arvalid_i = 1;
    clock();
    bench_->s_axil_arvalid_i = 0;
    for (int i = 0; i < 1000; ++i) {
      bench_.settle();
      const bool answered = bench_->s_axil_rvalid_o;
      const bool ok = bench_->s_axil_rresp_o == 0;
      const uint32_t data = bench_->s_axil_rdata_o;
      clock();
      if (answered) return ok ? std::optional(data) : std::nullopt;
    }
    ADD_FAILURE() << "no answer";
    return std::nullopt;
  }

  /// @return whether all words were taken
  bool load(const std::vector<uint32_t>& words) {
    write(reg::LOAD_BEGIN, 0);
    for (const uint32_t word : words)
      if (!write(reg::LOAD_DATA, word)) return false;
    return true;
  }

  Bench<Top> bench_;
  Lookup golden_{sizes};
  std::mt19937_64 random_{seed()};
  Image loading_;
  std::deque<Fetched> pending_;
  std::deque<std::pair<formats::Request, Result>> results_;
  std::array<uint64_t, 16> retired_{};
  uint64_t total_ = 0;
  bool traffic_ = false, pauses_ = false;
};

using Tops = testing::Types<Vswitch_lookup, Vswitch_per_port>;
TYPED_TEST_SUITE(SwitchLookup, Tops);

TYPED_TEST(SwitchLookup, EqualsTheGoldenModelWhileImagesComeIntoUse) {
  this->traffic_ = true;
  for (int round = 0; round < 24 && !this->HasFailure(); ++round) {
    this->pauses_ = round % 2 == 0;
    this->loading_ = this->any_image();
    ASSERT_TRUE(this->load(write_image(this->loading_)));
    EXPECT_EQ(this->read(reg::TABLE_VERSION), this->loading_.head.table_version);
    for (int i = 0; i < 1000 && !this->HasFailure(); ++i) this->clock();
  }
  for (uint32_t outcome = 0; outcome < formats::count::OUTCOME; ++outcome) {
    if (outcome == static_cast<uint32_t>(formats::Outcome::table_error)) continue;
    EXPECT_GT(this->retired_[outcome], 0u) << formats::name(static_cast<formats::Outcome>(outcome));
  }
}

TYPED_TEST(SwitchLookup, RefusesImagesAsTheReaderDoes) {
  this->loading_ = this->any_image();
  const auto good = write_image(this->loading_);
  ASSERT_TRUE(this->load(good));
  uint32_t refused = 0;
  for (int i = 0; i < 200 && !this->HasFailure(); ++i) {
    auto words = good;
    const uint32_t place = i < 40 ? this->draw(9) : this->draw(static_cast<uint32_t>(words.size()));
    words[place] ^= 1u << this->draw(32);
    ImageLoader reader(this->sizes, identity);
    for (std::size_t w = 0; w < words.size() && reader.state() == ImageLoader::State::more; ++w)
      reader.take(words[w]);
    this->load(words);
    ++refused;
    const uint32_t status = this->read(reg::LOAD_STATUS).value_or(0);
    if (reader.state() == ImageLoader::State::more) {
      EXPECT_EQ(status & 7, static_cast<uint32_t>(formats::LoadState::load));
    } else {
      EXPECT_EQ(status & 7, static_cast<uint32_t>(formats::LoadState::refused));
      EXPECT_EQ(status >> 4, static_cast<uint32_t>(reader.fault())) << "word " << place;
    }
    EXPECT_EQ(this->read(reg::TABLE_VERSION), this->loading_.head.table_version);
    EXPECT_EQ(this->read(reg::IMAGES_TAKEN), 1u);
  }
  this->write(reg::LOAD_BEGIN, 0);
  EXPECT_EQ(this->read(reg::IMAGES_REFUSED), refused);
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

TYPED_TEST(SwitchLookup, AnswersWhatIsNoRegisterWithAnError) {
  for (uint32_t address = 0; address < 1024; address += 4) {
    if (address < reg::MANAGEMENT_DROP && address != reg::KEY_LO && address != reg::KEY_HI) continue;
    EXPECT_FALSE(this->write(address, 1)) << address;
    EXPECT_FALSE(this->read(address)) << address;
  }
  EXPECT_FALSE(this->write(reg::ID, 1));
  EXPECT_FALSE(this->write(reg::LOAD_DATA, 1)) << "nothing begun";
  EXPECT_EQ(this->read(reg::ID), formats::reset::ID);
}

}  // namespace
}  // namespace weft::rtl_test

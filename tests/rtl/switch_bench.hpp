// SPDX-License-Identifier: Apache-2.0
// The switch lookup block beside its golden model: each lookup is compared in the clock in which it is taken;
// registers, images and management packets as software and network have them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include "Vswitch_lookup.h"
#ifndef WEFT_SWITCH_NETLIST
#include "Vswitch_per_port.h"
#endif
#ifdef WEFT_SWITCH_WIDE
#include "Vswitch_36.h"
#include "Vswitch_default.h"
#include "Vswitch_wide.h"
#endif
#include "bench.hpp"
#include "switch/lookup.hpp"
#include "switch/lookup_traces.hpp"
#include "switch/management.hpp"
#include "trace/folder.hpp"

namespace weft::rtl_test {

using namespace switch_lookup;  // NOLINT(google-global-names-in-headers): of tests
namespace reg = formats::reg;

inline constexpr uint64_t identity = 0x1122334455667788;

template <typename Top>
struct SizesOf;
template <>
struct SizesOf<Vswitch_lookup> {
#ifdef WEFT_SWITCH_NETLIST  // the only top: its sizes
  static constexpr Sizes sizes{WEFT_SWITCH_NETLIST};
};
#else
  static constexpr Sizes sizes{8, 16, 64, false};
};
template <>
struct SizesOf<Vswitch_per_port> {
  static constexpr Sizes sizes{6, 8, 64, true};
};
#endif

#ifdef WEFT_SWITCH_WIDE
template <>
struct SizesOf<Vswitch_wide> {
  static constexpr Sizes sizes{64, 128, 256, false};
};
template <>
struct SizesOf<Vswitch_36> {
  static constexpr Sizes sizes{36, 256, 256, false};
};
template <>
struct SizesOf<Vswitch_default> {
  static constexpr Sizes sizes{16, 128, 256, false};
};
#endif

template <typename Top>
class SwitchLookup : public testing::Test {
 protected:
  static constexpr uint32_t inputs = 3;
  static constexpr Sizes sizes = SizesOf<Top>::sizes;

  void SetUp() override {
    if (const auto folder = trace::next_folder()) traces_.open(*folder, 0, sizes);
    bench_->s_axil_awvalid_i = bench_->s_axil_wvalid_i = bench_->s_axil_arvalid_i = 0;
    bench_->s_req_valid_i = 0;
    bench_->s_axil_bready_i = bench_->s_axil_rready_i = 1;
    bench_->s_mgmt_valid_i = bench_->s_mgmt_last_i = 0;
    bench_->m_res_ready_i = 1;
    set_alive(all_ports(sizes.ports));
    bench_.reset();
    EXPECT_TRUE(write(reg::SWITCH_ID_LO, static_cast<uint32_t>(identity)));
    EXPECT_TRUE(write(reg::SWITCH_ID_HI, static_cast<uint32_t>(identity >> 32)));
  }

  void set_alive(Ports alive) {
    auto& pins = bench_->alive_i;
    pins = static_cast<std::remove_reference_t<decltype(pins)>>(alive & all_ports(sizes.ports));
  }

  uint32_t draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  /// Now and then all, or one.
  Ports some_ports() {
    const uint32_t how = draw(8);
    if (how == 1) return port_bit(1 + draw(sizes.ports));
    return (how == 0 ? ~Ports{0} : random_()) & all_ports(sizes.ports);
  }

  formats::Request any_request() {
    formats::Request request;
    request.kind = static_cast<uint8_t>(draw(16) == 0 ? 2 : draw(2));
    request.vc = static_cast<uint8_t>(draw(3));
    request.in_port = static_cast<uint8_t>(draw(24) == 0 ? draw(256) : 1 + draw(sizes.ports));
    request.index = static_cast<uint16_t>(draw(request.kind == 1 ? sizes.colours + 2 : 70));
    request.row = static_cast<uint16_t>(draw(9));
    request.column = static_cast<uint16_t>(draw(9));
    request.host = static_cast<uint8_t>(draw(draw(8) == 0 ? 256 : sizes.ports + 2));
    if (draw(16) == 0) widen(request);
    if (golden_.tables() && draw(6) == 0) send_home(request);
    return request;
  }

  /// To the switch's own place, or one that differs in a bit.
  void send_home(formats::Request& request) {
    const formats::Image& head = golden_.tables()->head();
    request.row = head.row;
    request.column = head.column;
    if (draw(3) != 0) return;
    (draw(2) != 0 ? request.row : request.column) ^= static_cast<uint16_t>(1u << draw(12));
  }

  /// All bits of its fields, most of it in no table.
  void widen(formats::Request& request) {
    request.vc = static_cast<uint8_t>(draw(4));
    request.reserved = static_cast<uint8_t>(draw(16));
    request.index = static_cast<uint16_t>(draw(1u << 16));
    request.row = static_cast<uint16_t>(draw(1u << 12));
    request.column = static_cast<uint16_t>(draw(1u << 12));
    request.host = static_cast<uint8_t>(draw(256));
  }

  void widen(formats::Image& head) {
    head.column_bits = static_cast<uint8_t>(draw(most_column_bits + 1));
    head.row = static_cast<uint16_t>(draw(1u << 12));
    head.column = static_cast<uint16_t>(draw(1u << 12));
  }

  Image any_image() {
    Image image;
    image.head.switch_id = identity;
    image.head.role = static_cast<uint8_t>(draw(4));
    image.head.fine = static_cast<uint8_t>(draw(2));
    image.head.vc_max = static_cast<uint8_t>(1 + draw(2));
    image.head.per_port = sizes.per_port;
    image.head.column_bits = 3;
    if (image.head.role == 1) {
      image.head.row_port = static_cast<uint8_t>(1 + draw(sizes.ports));
      image.head.column_port =
          static_cast<uint8_t>(1 + (image.head.row_port + draw(sizes.ports - 1)) % sizes.ports);
    }
    image.head.row = static_cast<uint16_t>(draw(8));
    image.head.column = static_cast<uint16_t>(draw(8));
    image.head.table_version = static_cast<uint32_t>(random_());
    if (draw(4) == 0) widen(image.head);
    for (uint32_t port = 0; port < (sizes.per_port ? sizes.ports : 1); ++port)
      for (uint32_t colour = 0; colour < sizes.colours; ++colour)
        if (draw(4) != 0) image.multicast.push_back({port << 16 | colour, 0, some_ports()});
    for (uint32_t index = 0; index < sizes.unicast_entries; ++index)
      if (draw(8) != 0)
        image.unicast.push_back({index, static_cast<uint8_t>(draw(sizes.ports + 1)), some_ports()});
    return image;
  }

  Image any_image_of(uint8_t role) {
    Image image;
    do image = any_image();
    while (image.head.role != role);
    return image;
  }

  /// One clock: golden model where the RTL's events say so.
  void clock() {
    bench_.settle();
    if (bench_->m_res_valid_o && bench_->m_res_ready_i) compare();
    if (bench_->trace_fetch_o) fetch();
    if (bench_->trace_taken_o) {
      golden_.set_tables(loading_);
      traces_.both(tables_record(bench_.cycle(), loading_, bench_->trace_mgmt_o));
    }
    const uint32_t taken = bench_->s_req_valid_i & bench_->s_req_ready_o;
    remember(taken);
    bench_.step();
    if (traffic_) drive(taken);
  }

  static formats::Request request_of(uint64_t bits) {
    std::array<uint8_t, formats::request_bytes> bytes{};
    for (uint32_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(bits >> (8 * i));
    return formats::unpack_request(bytes);
  }

  formats::Request offered(uint32_t input) {
    uint64_t bits = 0;
    std::memcpy(&bits, reinterpret_cast<const uint8_t*>(&bench_->s_req_i) + sizeof bits * input, sizeof bits);
    return request_of(bits);
  }

  /// Requests come to the tables in the order in which they are taken, one a clock.
  void remember(uint32_t taken) {
    EXPECT_EQ(taken & (taken - 1), 0u) << "several in one clock";
    for (uint32_t input = 0; input < inputs; ++input) {
      if ((taken >> input & 1) == 0) continue;
      taken_.push_back(offered(input));
      ++taken_from_[input];
    }
  }

  void fetch() {
    const formats::Request request = request_of(bench_->trace_request_o);
    ASSERT_FALSE(taken_.empty()) << "a request that nobody sent";
    EXPECT_EQ(request, taken_.front());
    taken_.pop_front();
    pending_.push_back(golden_.fetch(request));
  }

  void compare() {
    ASSERT_FALSE(pending_.empty());
    const Fetched fetched = pending_.front();
    pending_.pop_front();
    result_ = golden_.retire(fetched, bench_->alive_i);
    rtl_result_ = {static_cast<formats::Outcome>(bench_->m_res_outcome_o), bench_->m_res_ports_o,
                   bench_->m_res_vc_o};
    traces_.lookup(bench_.cycle(), request_of(bench_->m_res_request_o), rtl_result_, fetched, bench_->alive_i,
                   result_);
    if (compares_) {
      ASSERT_EQ(request_of(bench_->m_res_request_o), fetched.request);
      ASSERT_EQ(formats::name(rtl_result_.outcome), formats::name(result_.outcome))
          << "kind " << int{fetched.request.kind};
      ASSERT_EQ(rtl_result_.ports, result_.ports);
      ASSERT_EQ(rtl_result_.vc, result_.vc);
    }
    ++retired_[static_cast<size_t>(result_.outcome)];
    ++total_;
  }

  /// One request through the empty block, compared as ever. @return what became of it
  Result look(const formats::Request& request) {
    const uint64_t before = total_;
    put(0, request);
    bool sent = false;
    for (int i = 0; i < 100 && total_ == before && !HasFailure(); ++i) {
      bench_.settle();
      const bool goes = (bench_->s_req_valid_i & bench_->s_req_ready_o & 1) != 0;
      clock();
      sent = sent || goes;
      if (sent) bench_->s_req_valid_i = 0;
    }
    EXPECT_EQ(total_, before + 1);
    return result_;
  }

  void put(uint32_t input, const formats::Request& request) {
    const auto bytes = formats::pack(request);
    std::memcpy(reinterpret_cast<uint8_t*>(&bench_->s_req_i) + 8 * input, bytes.data(), 8);
    bench_->s_req_valid_i = static_cast<uint8_t>(bench_->s_req_valid_i | 1u << input);
  }

  void drive(uint32_t taken) {
    for (uint32_t i = 0; i < inputs; ++i) {
      const bool waits = (bench_->s_req_valid_i >> i & 1) != 0 && (taken >> i & 1) == 0;
      if (waits) continue;
      bench_->s_req_valid_i = static_cast<uint8_t>(bench_->s_req_valid_i & ~(1u << i));
      const formats::Request request = any_request();
      if (!pauses_ || draw(3) != 0) put(i, request);
    }
    bench_->m_res_ready_i = !pauses_ || draw(4) != 0;
    if (draw(4) == 0) set_alive(some_ports());
  }

  void post_write(uint32_t address, uint32_t data, uint8_t strobes = 15) {
    bench_->s_axil_awaddr_i = static_cast<uint16_t>(address);
    bench_->s_axil_wdata_i = data;
    bench_->s_axil_wstrb_i = strobes;
    bench_->s_axil_awvalid_i = bench_->s_axil_wvalid_i = 1;
    clock();
    bench_->s_axil_awvalid_i = bench_->s_axil_wvalid_i = 0;
  }

  bool write(uint32_t address, uint32_t data, uint8_t strobes = 15) {
    post_write(address, data, strobes);
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

  /// A load of a whole or bad image, of which the reader says what becomes of it.
  void load_as_the_reader(const std::vector<uint32_t>& words, uint64_t own_identity = identity) {
    ImageLoader reader(sizes, own_identity);
    for (std::size_t w = 0; w < words.size() && reader.state() == ImageLoader::State::more; ++w)
      reader.take(words[w]);
    if (reader.state() == ImageLoader::State::done) loading_ = reader.image();
    load(words);
    const uint32_t status = read(reg::LOAD_STATUS).value_or(0);
    EXPECT_EQ(read(reg::LOAD_WORDS), reader.words());
    EXPECT_EQ(status >> 4, static_cast<uint32_t>(reader.fault()));
    const auto expected = reader.state() == ImageLoader::State::more   ? formats::LoadState::load
                          : reader.state() == ImageLoader::State::done ? formats::LoadState::done
                                                                       : formats::LoadState::refused;
    EXPECT_EQ(status & 7, static_cast<uint32_t>(expected));
    if (reader.state() == ImageLoader::State::refused)
      traces_.both(refused_record(bench_.cycle(), reader.fault(), reader.words()));
  }

  /// @return whether all words were taken
  bool load(const std::vector<uint32_t>& words) {
    write(reg::LOAD_BEGIN, 0);
    for (const uint32_t word : words)
      if (!write(reg::LOAD_DATA, word)) return false;
    return true;
  }

  /// Words of a management packet, with pauses if there are any; whatever becomes of it has happened then.
  void send(const std::vector<uint32_t>& packet) {
    put_words(packet);
    wait_for_management();
  }

  /// @param ends whether the last of them is the packet's last
  void put_words(const std::vector<uint32_t>& packet, bool ends = true) {
    for (std::size_t i = 0; i < packet.size(); ++i) {
      while (pauses_ && draw(3) == 0) clock();
      bench_->s_mgmt_data_i = packet[i];
      bench_->s_mgmt_last_i = ends && i + 1 == packet.size();
      bench_->s_mgmt_valid_i = 1;
      wait_for_management();
      clock();
      bench_->s_mgmt_valid_i = 0;
    }
  }

  void wait_for_management() {
    bench_.settle();
    for (int i = 0; i < 5000 && bench_->trace_mgmt_o; ++i) {
      clock();
      bench_.settle();
    }
    ASSERT_FALSE(bench_->trace_mgmt_o) << "takes no packet any more";
  }

  Bench<Top> bench_;
  Lookup golden_{sizes};
  std::mt19937_64 random_{seed()};
  Image loading_;
  std::deque<formats::Request> taken_;  // not yet at the tables
  std::array<uint32_t, inputs> taken_from_{};
  std::deque<Fetched> pending_;
  Result result_, rtl_result_;  // the last one, of golden model and RTL
  tb::LookupTraces traces_;
  bool compares_ = true;  // a test that wants a difference says no
  std::array<uint64_t, 16> retired_{};
  uint64_t total_ = 0;
  bool traffic_ = false, pauses_ = false;
};

#ifdef WEFT_SWITCH_NETLIST  // of one of them
using SwitchTops = testing::Types<Vswitch_lookup>;
#else
using SwitchTops = testing::Types<Vswitch_lookup, Vswitch_per_port>;
#endif
/// Also the default block, 36 ports, and as many as there can be, where these are compiled in.
#ifdef WEFT_SWITCH_WIDE
using SwitchTopsOfAllWidths =
    testing::Types<Vswitch_lookup, Vswitch_per_port, Vswitch_wide, Vswitch_36, Vswitch_default>;
#else
using SwitchTopsOfAllWidths = SwitchTops;
#endif

}  // namespace weft::rtl_test

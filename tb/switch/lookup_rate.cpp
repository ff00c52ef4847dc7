// SPDX-License-Identifier: Apache-2.0
// Speed of the lookup block in clocks.
#include "switch/lookup_rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <deque>
#include <vector>

#include "Vswitch_rate.h"
#include "common/pause.hpp"
#include "common/verilated_clock.hpp"
#include "switch/lookup.hpp"
#include "switch/lookup_block.hpp"
#include "switch/management.hpp"

namespace weft::tb {

namespace {

using namespace switch_lookup;
namespace reg = formats::reg;

// As compiled in (CMakeLists.txt).
constexpr Sizes sizes{16, 128, 256, false};
constexpr uint32_t inputs = 4;
constexpr uint64_t identity = 0x77656674, key = 1;
constexpr int filling = 32;        // clocks
constexpr int most_clocks = 2000;  // of a write

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// PLAIN, all entries: any ports, so that each lookup has somewhere to go.
Image full_image(RandomStream& random) {
  Image image;
  image.head.switch_id = identity;
  image.head.vc_max = 1;
  const auto some_ports = [&] { return (random.next() & all_ports(sizes.ports)) | 3; };
  for (uint32_t colour = 0; colour < sizes.colours; ++colour)
    image.multicast.push_back({colour, 0, some_ports()});
  for (uint32_t index = 0; index < sizes.unicast_entries; ++index)
    image.unicast.push_back({index, static_cast<uint8_t>(random.below(sizes.ports + 1)), some_ports()});
  return image;
}

formats::Request any_request(RandomStream& random, double multicast) {
  formats::Request request;
  request.kind = random.chance(multicast);
  request.in_port = static_cast<uint8_t>(1 + random.below(sizes.ports));
  request.index =
      static_cast<uint16_t>(random.below(request.kind != 0 ? sizes.colours : sizes.unicast_entries));
  return request;
}

class Measurement {
 public:
  Measurement(const RateCase& rate_case, uint64_t seed)
      : case_(rate_case),
        random_(seed),
        output_pauses_(rate_case.output_pauses, seed, inputs + 1),
        context_(seed),
        clock_(context_, "lookup") {
    for (uint32_t i = 0; i < inputs; ++i) input_pauses_.emplace_back(rate_case.input_pauses, seed, i + 1);
    start();
  }

  LookupRate run(uint64_t clocks) {
    sends_ = true;
    for (int i = 0; i < filling; ++i) clock();
    rate_ = {};
    rate_.least_latency = ~uint64_t{0};
    const double before = processor_seconds();
    for (uint64_t i = 0; i < clocks; ++i) clock();
    rate_.seconds = processor_seconds() - before;
    rate_.clocks = clocks;
    return rate_;
  }

 private:
  Vswitch_rate& top() { return clock_.top(); }

  void start() {
    top().s_axil_awvalid_i = top().s_axil_wvalid_i = top().s_axil_arvalid_i = 0;
    top().s_axil_bready_i = top().s_axil_rready_i = 1;
    top().s_mgmt_valid_i = top().s_req_valid_i = 0;
    top().m_res_ready_i = 1;
    top().alive_i = static_cast<uint16_t>(all_ports(sizes.ports));
    top().rst_ni = 0;
    for (int i = 0; i < 2; ++i) clock();
    top().rst_ni = 1;
    write(reg::SWITCH_ID_LO, static_cast<uint32_t>(identity));
    write(reg::SWITCH_ID_HI, static_cast<uint32_t>(identity >> 32));
    write(reg::KEY_LO, static_cast<uint32_t>(key));
    write(reg::KEY_HI, static_cast<uint32_t>(key >> 32));
    write(reg::SCRUB_PERIOD, case_.scrub_period);
    image_ = full_image(random_);
    write(reg::LOAD_BEGIN, 0);
    for (const uint32_t word : write_image(image_)) write(reg::LOAD_DATA, word);
  }

  void clock() {
    if (sends_) drive();
    clock_.settle();
    if (top().rst_ni) observe();
    clock_.edge();
    context_.advance();
    ++now_;
    if (context_.failed()) throw LookupMismatch("an assertion in the RTL failed");
  }

  void drive() {
    top().m_res_ready_i = !output_pauses_.pause();
    for (uint32_t i = 0; i < case_.inputs; ++i) {
      if ((top().s_req_valid_i >> i & 1) != 0 && (taken_ >> i & 1) == 0) continue;
      top().s_req_valid_i = static_cast<uint8_t>(top().s_req_valid_i & ~(1u << i));
      if (input_pauses_[i].pause()) continue;
      top().s_req_valid_i = static_cast<uint8_t>(top().s_req_valid_i | 1u << i);
      const auto bytes = formats::pack(any_request(random_, case_.multicast));
      std::memcpy(reinterpret_cast<uint8_t*>(&top().s_req_i) + bytes.size() * i, bytes.data(), bytes.size());
    }
    if (case_.updates) drive_management();
  }

  /// One image after the other.
  void drive_management() {
    top().s_mgmt_valid_i = 0;
    if (packets_.empty()) {
      if (loading_) return;
      loading_ = true;
      image_ = full_image(random_);
      for (const ManagementPacket& packet : management_packets(write_image(image_), key))
        packets_.push_back(packet);
    }
    top().s_mgmt_valid_i = 1;
    top().s_mgmt_data_i = packets_.front()[word_];
    top().s_mgmt_last_i = word_ + 1 == packets_.front().size();
  }

  void observe() {
    const bool result = top().m_res_valid_o && top().m_res_ready_i;
    if (result) retire();
    taken_ = static_cast<uint8_t>(top().s_req_valid_i & top().s_req_ready_o);
    if (taken_ != 0) since_.push_back(now_);
    rate_.usable += top().s_req_valid_i != 0 && top().m_res_ready_i;
    if (case_.compared && top().trace_fetch_o)
      pending_.push_back(golden_.fetch(request_of(top().trace_request_o)));
    if (top().trace_taken_o) {
      golden_.set_tables(image_);
      loading_ = false;
      ++rate_.images;
    }
    if (top().s_mgmt_valid_i && top().s_mgmt_ready_o && ++word_ == packets_.front().size()) {
      packets_.pop_front();
      word_ = 0;
    }
  }

  static formats::Request request_of(uint64_t bits) {
    std::array<uint8_t, formats::request_bytes> bytes{};
    std::memcpy(bytes.data(), &bits, bytes.size());
    return formats::unpack_request(bytes);
  }

  void retire() {
    const uint64_t latency = now_ - since_.front() + 1;
    since_.pop_front();
    ++rate_.lookups;
    rate_.latency_sum += latency;
    rate_.least_latency = std::min(rate_.least_latency, latency);
    rate_.most_latency = std::max(rate_.most_latency, latency);
    if (!case_.compared) return;
    const Result expected = golden_.retire(pending_.front(), top().alive_i);
    pending_.pop_front();
    const Result result{static_cast<formats::Outcome>(top().m_res_outcome_o), top().m_res_ports_o,
                        static_cast<uint8_t>(top().m_res_vc_o)};
    if (result != expected)
      throw LookupMismatch(fmt::format("{}: RTL {} ports {:x}, golden model {} ports {:x}", case_.what,
                                       formats::name(result.outcome), result.ports,
                                       formats::name(expected.outcome), expected.ports));
  }

  void write(uint32_t address, uint32_t data) {
    top().s_axil_awaddr_i = static_cast<uint16_t>(address);
    top().s_axil_wdata_i = data;
    top().s_axil_wstrb_i = 0xf;
    top().s_axil_awvalid_i = top().s_axil_wvalid_i = 1;
    clock();
    top().s_axil_awvalid_i = top().s_axil_wvalid_i = 0;
    for (int i = 0; i < most_clocks; ++i) {
      clock_.settle();
      const bool answered = top().s_axil_bvalid_o, ok = top().s_axil_bresp_o == 0;
      clock();
      if (answered && ok) return;
      if (answered) break;
    }
    throw LookupMismatch(fmt::format("register {:#x} does not take {:#x}", address, data));
  }

  const RateCase& case_;
  RandomStream random_;
  std::vector<PauseGenerator> input_pauses_;
  PauseGenerator output_pauses_;
  SimulationContext context_;
  VerilatedClock<Vswitch_rate> clock_;
  Lookup golden_{sizes};
  Image image_;
  std::deque<Fetched> pending_;
  std::deque<uint64_t> since_;  // when those in the block were taken
  std::deque<ManagementPacket> packets_;
  std::size_t word_ = 0;  // of the first one
  uint8_t taken_ = 0;     // inputs, in the clock before
  bool sends_ = false, loading_ = false;
  uint64_t now_ = 0;
  LookupRate rate_;
};

}  // namespace

Sizes rate_sizes() { return sizes; }

LookupRate measure(const RateCase& rate_case, uint64_t clocks, uint64_t seed) {
  return Measurement(rate_case, seed).run(clocks);
}

double golden_lookups_per_second(uint64_t lookups, uint64_t seed) {
  RandomStream random(seed);
  Lookup golden(sizes);
  golden.set_tables(full_image(random));
  Ports ports = 0;
  const double before = processor_seconds();
  for (uint64_t i = 0; i < lookups; ++i)
    ports |= golden.look(any_request(random, 0.5), all_ports(sizes.ports)).ports;
  const double seconds = processor_seconds() - before;
  if (ports == 0) throw LookupMismatch("the golden model sends no packet anywhere");
  return static_cast<double>(lookups) / seconds;
}

}  // namespace weft::tb

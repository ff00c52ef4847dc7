// SPDX-License-Identifier: Apache-2.0
// The RTL as a lookup block: a request a clock, each result compared with the golden model.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <deque>
#include <type_traits>

#include "Vswitch20.h"
#include "Vswitch20_per_port.h"
#include "Vswitch64.h"
#include "common/fault.hpp"
#include "common/verilated_clock.hpp"
#include "switch/lookup_block.hpp"
#include "switch/lookup_traces.hpp"
#include "switch/management.hpp"

namespace weft::tb {

namespace {

using namespace switch_lookup;
namespace reg = formats::reg;

constexpr uint64_t key = 0x77656674;  // of management packets
constexpr uint32_t most_idle_clocks = 20'000;

template <typename Top>
class VerilatedBlock : public LookupBlock {
 public:
  VerilatedBlock(const Sizes& sizes, uint64_t seed)
      : sizes_(sizes), context_(seed), clock_(context_, "lookup"), golden_(sizes) {
    top().s_axil_awvalid_i = top().s_axil_wvalid_i = top().s_axil_arvalid_i = 0;
    top().s_axil_bready_i = top().s_axil_rready_i = 1;
    top().s_mgmt_valid_i = top().s_req_valid_i = 0;
    top().m_res_ready_i = 1;
    top().alive_i = 0;
    top().rst_ni = 0;
    for (int i = 0; i < 2; ++i) clock();
    top().rst_ni = 1;
    write(reg::KEY_LO, static_cast<uint32_t>(key));
    write(reg::KEY_HI, static_cast<uint32_t>(key >> 32));
  }

  ~VerilatedBlock() override {
    Verilated::threadContextp(&context_.verilated());
  }  // not one that is gone: a top leaves the thread's

  VerilatedBlock(const VerilatedBlock&) = delete;
  VerilatedBlock& operator=(const VerilatedBlock&) = delete;

  const Sizes& sizes() const override { return sizes_; }

  void load(uint64_t switch_id, const std::vector<uint32_t>& image) override {
    next_ = read_image(image, switch_id, sizes_);
    switch_id_ = switch_id;
    write(reg::SWITCH_ID_LO, static_cast<uint32_t>(switch_id));
    write(reg::SWITCH_ID_HI, static_cast<uint32_t>(switch_id >> 32));
    write(reg::LOAD_BEGIN, 0);
    for (const uint32_t word : image) write(reg::LOAD_DATA, word);
    if (next_) throw LookupMismatch("the RTL does not take an image that the golden model takes");
  }

  void begin_update(const std::vector<uint32_t>& image) override {
    next_ = read_image(image, switch_id_, sizes_);
    packets_.clear();
    for (const ManagementPacket& packet : management_packets(image, key)) packets_.push_back(packet);
    word_ = 0;
  }
  bool updating() const override { return next_.has_value(); }
  void finish_update() override {
    for (uint64_t since = clocks_; updating(); clock())
      if (clocks_ - since > 100 * most_idle_clocks) throw LookupMismatch("an update does not come into use");
  }

  void idle(uint32_t clocks) override {
    for (; clocks > 0 && updating(); --clocks) clock();
  }
  uint64_t lookups() const override { return lookups_; }
  uint64_t lookups_before() const override { return lookups_before_; }
  void seed(uint32_t seed) override {
    write(reg::SEED, seed);
    golden_.seed(seed);
  }

  void set_alive(Ports alive) override { top().alive_i = alive & all_ports(sizes_.ports); }

  void look(std::span<const formats::Request> requests, std::vector<Result>& results) override {
    results.clear();
    results_ = &results;
    std::size_t next = 0;
    uint32_t idle = 0;
    while (results.size() < requests.size()) {
      const std::size_t before = results.size();
      top().s_req_valid_i = next < requests.size();
      if (top().s_req_valid_i) {
        const auto bytes = formats::pack(requests[next]);
        std::memcpy(&top().s_req_i, bytes.data(), bytes.size());
      }
      clock();
      if (request_taken_) ++next;
      idle = results.size() == before ? idle + 1 : 0;
      if (idle > most_idle_clocks) throw LookupMismatch("a lookup has no result");
    }
    top().s_req_valid_i = 0;
  }

  uint64_t clocks() const override { return clocks_; }

  void spoil_model(const Image& image) override { golden_.set_tables(image); }
  void open_traces(const std::filesystem::path& folder, uint32_t node) override {
    traces_.open(folder, node, sizes_);
  }

 private:
  Top& top() { return clock_.top(); }

  void clock() {
    drive_management();
    clock_.settle();
    request_taken_ = top().s_req_valid_i && top().s_req_ready_o;
    if (top().rst_ni) observe();
    clock_.edge();
    context_.advance();
    ++clocks_;
    if (context_.failed()) throw LookupMismatch("an assertion in the RTL failed");
  }

  void observe() {
    if (top().m_res_valid_o && top().m_res_ready_i) compare();
    if (top().trace_fetch_o) pending_.push_back(golden_.fetch(request_of(top().trace_request_o)));
    if (top().trace_taken_o && next_) {
      golden_.set_tables(*next_);
      traces_.both(tables_record(clocks_, *next_, top().trace_mgmt_o));
      next_.reset();
      lookups_before_ = lookups_;
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

  void drive_management() {
    top().s_mgmt_valid_i = !packets_.empty();
    if (packets_.empty()) return;
    top().s_mgmt_data_i = packets_.front()[word_];
    top().s_mgmt_last_i = word_ + 1 == packets_.front().size();
  }

  void compare() {
    if (pending_.empty()) throw LookupMismatch("a result without a request");
    ++lookups_;
    const Fetched fetched = pending_.front();
    pending_.pop_front();
    const Result expected = golden_.retire(fetched, top().alive_i);
    const Result result{static_cast<formats::Outcome>(top().m_res_outcome_o), top().m_res_ports_o,
                        static_cast<uint8_t>(top().m_res_vc_o)};
    const formats::Request request = request_of(top().m_res_request_o);
    traces_.lookup(clocks_, request, result, fetched, top().alive_i, expected);
    if (request != fetched.request) throw LookupMismatch("a result with another request than its own");
    if (result != expected)
      throw LookupMismatch(fmt::format("RTL {} ports {:x} VC {}, golden model {} ports {:x} VC {}",
                                       formats::name(result.outcome), result.ports, result.vc,
                                       formats::name(expected.outcome), expected.ports, expected.vc));
    if (results_ != nullptr) results_->push_back(result);
  }

  void write(uint32_t address, uint32_t data) {
    top().s_axil_awaddr_i = static_cast<uint16_t>(address);
    top().s_axil_wdata_i = data;
    top().s_axil_wstrb_i = 0xf;
    top().s_axil_awvalid_i = top().s_axil_wvalid_i = 1;
    clock();
    top().s_axil_awvalid_i = top().s_axil_wvalid_i = 0;
    for (uint32_t i = 0; i < most_idle_clocks; ++i) {
      clock_.settle();
      const bool answered = top().s_axil_bvalid_o;
      const bool ok = top().s_axil_bresp_o == 0;
      clock();
      if (answered && !ok) throw LookupMismatch(fmt::format("a write to register {:#x} is refused", address));
      if (answered) return;
    }
    throw LookupMismatch("a write to a register has no answer");
  }

  Sizes sizes_;
  SimulationContext context_;
  VerilatedClock<Top> clock_;
  Lookup golden_;
  std::deque<Fetched> pending_;
  std::vector<Result>* results_ = nullptr;
  uint64_t switch_id_ = 0;
  std::optional<Image> next_;  // not yet in use
  std::deque<ManagementPacket> packets_;
  std::size_t word_ = 0;  // of the first one
  bool request_taken_ = false;
  uint64_t clocks_ = 0, lookups_ = 0, lookups_before_ = 0;
  LookupTraces traces_;
};

// As compiled in (CMakeLists.txt).
constexpr Sizes small_sizes{20, 256, 2048, false};
constexpr Sizes large_sizes{64, 256, 2048, false};
constexpr Sizes per_port_sizes{20, 256, 2048, true};

}  // namespace

Sizes block_sizes(uint32_t ports, bool per_port) {
  if (!per_port) return ports <= small_sizes.ports ? small_sizes : large_sizes;
  if (ports > per_port_sizes.ports)
    throw Fault(fmt::format("switches of {} ports: lookup blocks with a table for each input port have {}",
                            ports, per_port_sizes.ports));
  return per_port_sizes;
}

std::unique_ptr<LookupBlock> verilated_block(const Sizes& sizes, uint64_t seed) {
  if (sizes.per_port) return std::make_unique<VerilatedBlock<Vswitch20_per_port>>(sizes, seed);
  if (sizes == small_sizes) return std::make_unique<VerilatedBlock<Vswitch20>>(sizes, seed);
  return std::make_unique<VerilatedBlock<Vswitch64>>(sizes, seed);
}

}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// rdma_regs beside its reference: all outputs are compared in every clock, all accesses as they are answered.
//
// Writes and reads go at the same time, addresses and data of writes on their own, further writes before the
// first is answered: more than the AXI4-Lite master of tb/common does, which keeps to one access at a time.
#pragma once

#include <bit>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "Vrdma_regs.h"
#include "bench.hpp"
#include "common/pins.hpp"
#include "common/stable.hpp"
#include "rdma_ports.hpp"
#include "rdma_regs_reference.hpp"
#include "shown_queue.hpp"

namespace weft::rtl_test {

class RegsLockstep {
 public:
  struct Write {
    uint32_t address;
    uint32_t data;
    uint8_t strobes = 0xf;
  };

  // The surroundings in the next clock.
  bool engine_ready = true, tx_idle = false, rx_idle = false, post_ready = false;
  std::optional<uint8_t> rx_outcome, tx_outcome, inbox_outcome;
  uint8_t ctl_dropped = 0, bus_error = 0;
  std::deque<rdma::Completion> completions;
  unsigned pause = 0;  // of each channel, percent

  // What happened so far.
  unsigned ok_writes = 0, bad_writes = 0, ok_reads = 0, bad_reads = 0, posts_refused = 0, posts_out = 0,
           regions_set = 0, popped = 0;
  std::optional<uint32_t> last_read;  // nothing: SLVERR
  bool last_write = false;
  uint64_t last_write_cycle = 0;  // in which it took effect

  RegsLockstep() { reset(); }

  Bench<Vrdma_regs>& bench() { return bench_; }
  std::size_t writes_open() const { return writes_.size(); }
  std::size_t reads_open() const { return reads_.size() + (reading_ ? 1 : 0); }
  std::size_t posts_waiting() const { return posts_.size(); }

  /// In the middle of whatever is going on; ends when the counters are cleared.
  void reset() {
    addresses_.clear();
    data_.clear();
    reads_.clear();
    writes_.clear();
    posts_.clear();
    reading_.reset();
    write_open_ = read_open_ = false;
    held_ = {};
    reference_ = {};
    rx_outcome = tx_outcome = inbox_outcome = std::nullopt;
    ctl_dropped = bus_error = 0;
    drive();
    bench_.reset(1);
    stable_b_.reset();
    stable_r_.reset();
    unsigned clocks = 0;
    for (bench_.settle(); !bench_->ready_o && clocks < 100; bench_.settle(), ++clocks) {
      check_outputs();
      bench_.step();
    }
    EXPECT_EQ(clocks, 48u) << "counters are cleared one a clock";
  }

  void start_write(const Write& write) {
    addresses_.push_back(write.address);
    data_.push_back(write);
    writes_.push_back(write);
  }
  void start_read(uint32_t address) { reads_.push_back(address); }

  bool write(uint32_t address, uint32_t data, uint8_t strobes = 0xf) {
    start_write({address, data, strobes});
    finish();
    return last_write;
  }
  std::optional<uint32_t> read(uint32_t address) {
    start_read(address);
    finish();
    return last_read;
  }
  bool write(std::string_view name, uint32_t data) { return write(address_of(name), data); }
  uint32_t read(std::string_view name) { return read(address_of(name)).value_or(0xdeadbeef); }

  void finish() {
    for (unsigned n = 0; writes_open() + reads_open() > 0 && !testing::Test::HasFatalFailure(); ++n) {
      ASSERT_LT(n, 100'000u) << "clocks without an answer";
      clock();
    }
  }

  void clock() {
    drive();
    bench_.settle();
    if (bench_->s_axil_bvalid_o && !write_open_) end_write();
    if (bench_->s_axil_rvalid_o && !read_open_) end_read();
    check_outputs();
    check_channels();
    if (reading_) possible_.insert(reference_.read(*reading_, view()));
    take_accesses();
    take_queues();
    note_events();
    bench_.step();
  }

 private:
  std::string at() const { return "in cycle " + std::to_string(bench_.cycle()); }

  RegsView view() const {
    return {engine_ready, tx_idle, rx_idle, !completions.empty(), static_cast<uint16_t>(completions.size()),
            posts_.size()};
  }

  void drive() {
    const auto go = [&] { return !bench_.chance(pause); };
    held_.aw = !addresses_.empty() && (held_.aw || go());
    held_.w = !data_.empty() && (held_.w || go());
    held_.ar = !reads_.empty() && (held_.ar || go());
    bench_->s_axil_awvalid_i = held_.aw;
    bench_->s_axil_wvalid_i = held_.w;
    bench_->s_axil_arvalid_i = held_.ar;
    if (held_.aw) bench_->s_axil_awaddr_i = static_cast<uint16_t>(addresses_.front());
    if (held_.w) bench_->s_axil_wdata_i = data_.front().data;
    if (held_.w) bench_->s_axil_wstrb_i = data_.front().strobes;
    if (held_.ar) bench_->s_axil_araddr_i = static_cast<uint16_t>(reads_.front());
    bench_->s_axil_bready_i = go();
    bench_->s_axil_rready_i = go();
    drive_surroundings();
  }

  void drive_surroundings() {
    bench_->engine_ready_i = engine_ready;
    bench_->tx_idle_i = tx_idle;
    bench_->rx_idle_i = rx_idle;
    bench_->post_ready_i = post_ready;
    bench_->rx_event_i = rx_outcome.has_value();
    bench_->rx_outcome_i = rx_outcome.value_or(0);
    bench_->tx_event_i = tx_outcome.has_value();
    bench_->tx_outcome_i = tx_outcome.value_or(0);
    bench_->inbox_event_i = inbox_outcome.has_value();
    bench_->inbox_outcome_i = inbox_outcome.value_or(0);
    bench_->ctl_dropped_i = ctl_dropped;
    bench_->bus_error_i = bus_error;
    bench_->cpl_valid_i = !completions.empty();
    bench_->cpl_i = completions.empty() ? 0 : completion_bits(completions.front());
    bench_->cpl_count_i = static_cast<uint16_t>(completions.size());
  }

  /// The answer shows one clock after the write took effect.
  void end_write() {
    ASSERT_FALSE(writes_.empty()) << "an answer to no write, " << at();
    const Write write = writes_.front();
    writes_.pop_front();
    last_write_cycle = bench_.cycle() - 1;
    last_write = reference_.can_write(write.address, write.data, write.strobes, before_);
    ASSERT_EQ(bench_->s_axil_bresp_o, last_write ? tb::resp_okay : tb::resp_slverr)
        << "write of " << std::hex << write.address << ", strobes " << int{write.strobes} << std::dec << ' '
        << at();
    ++(last_write ? ok_writes : bad_writes);
    if (!last_write) {
      reference_.bad_access();
      posts_refused += write.address == address_of("POST") && write.strobes == 0xf;
      return;
    }
    reference_.write(write.address, write.data, error_before_);
    msgid_written_ = write.address == address_of("MSGID");
    number_written_ = write.address == address_of("READ_NUMBER");
    if (write.address == address_of("REGION_SET")) region_written_ = static_cast<uint8_t>(write.data);
    if (write.address == address_of("POST"))
      posts_.push(reference_.post(static_cast<uint16_t>(write.data)), last_write_cycle);
  }

  void end_read() {
    ASSERT_TRUE(reading_) << "an answer to no read, " << at();
    last_read.reset();
    if (bench_->s_axil_rresp_o == tb::resp_okay) last_read = bench_->s_axil_rdata_o;
    ASSERT_TRUE(last_read || bench_->s_axil_rresp_o == tb::resp_slverr) << at();
    if (*reading_ == address_of("CPL")) {
      ASSERT_EQ(takes_, 1u) << "clocks in which a read of CPL took completions, " << at();
      ASSERT_EQ(last_read, taken_ ? 0x80000000u | completion_bits(*taken_) : 0u) << at();
    } else {
      ASSERT_EQ(takes_, 0u) << at();
      ASSERT_TRUE(possible_.contains(last_read)) << "read of " << std::hex << *reading_ << " gave "
                                                 << last_read.value_or(0) << std::dec << ' ' << at();
    }
    ++(last_read ? ok_reads : bad_reads);
    if (!last_read) reference_.bad_access();
    reading_.reset();
  }

  void check_outputs() {
    const auto& out = bench_.top();
    ASSERT_EQ(out.node_known_o, reference_.node_known()) << at();
    ASSERT_EQ(out.node_id_o, reference_.value("NODE_ID")) << at();
    check_region();
    ASSERT_EQ(out.tick_cycles_o, reference_.value("TICK_CYCLES")) << at();
    ASSERT_EQ(out.rx_timeout_o, reference_.value("RX_TIMEOUT")) << at();
    ASSERT_EQ(out.tx_retry_o, reference_.value("TX_RETRY")) << at();
    ASSERT_EQ(out.tx_dead_o, reference_.value("TX_DEAD")) << at();
    ASSERT_EQ(out.ask_from_after_o, reference_.value("ASK_FROM_AFTER")) << at();
    ASSERT_EQ(out.max_silent_o, reference_.value("MAX_SILENT")) << at();
    ASSERT_EQ(out.max_retry_o, reference_.value("MAX_RETRY")) << at();
    ASSERT_EQ(out.max_busy_o, reference_.value("MAX_BUSY")) << at();
    ASSERT_EQ(out.backoff_o, reference_.value("BACKOFF")) << at();
    ASSERT_EQ(out.rx_quota_o, reference_.value("RX_QUOTA")) << at();
    ASSERT_EQ(out.ticket_quota_o, reference_.value("TICKET_QUOTA")) << at();
    ASSERT_EQ(out.answers_o, reference_.value("ANSWERS")) << at();
    ASSERT_EQ(out.answer_quota_o, reference_.value("ANSWER_QUOTA")) << at();
    ASSERT_EQ(out.read_number_o, reference_.value("READ_NUMBER")) << at();
    ASSERT_EQ(out.read_load_o, number_written_) << at();
    number_written_ = false;
    ASSERT_EQ(out.rx_ahead_o, reference_.value("RX_AHEAD")) << at();
    ASSERT_EQ(out.adapt_o, reference_.value("ADAPT")) << at();
    ASSERT_EQ(out.floor_o, reference_.value("TIMEOUT_FLOOR")) << at();
    ASSERT_EQ(out.weft_mode_o, reference_.value("MODE")) << at();
    ASSERT_EQ(out.msgid_o, reference_.value("MSGID")) << at();
    ASSERT_EQ(out.msgid_load_o, msgid_written_) << at();
    msgid_written_ = false;
    ASSERT_EQ(out.irq_o, reference_.interrupt(view())) << at();
    ASSERT_EQ(out.post_valid_o, posts_.shown(bench_.cycle())) << at();
    if (out.post_valid_o) {
      ASSERT_TRUE(get_post(out.post_o) == posts_.front()) << at();
    }
  }

  /// One clock for each REGION_SET, with what the other registers say then.
  void check_region() {
    const auto& out = bench_.top();
    ASSERT_EQ(out.region_set_o, region_written_.has_value()) << at();
    if (!region_written_) return;
    const rdma::Region wanted = reference_.region();
    const bool empty = wanted.limit <= wanted.base;
    ASSERT_EQ(out.region_idx_o, *region_written_) << at();
    ASSERT_EQ(out.region_valid_o, !empty) << at();
    ASSERT_EQ(out.region_write_o, wanted.remote_write && !empty) << at();
    ASSERT_EQ(out.region_read_o, wanted.remote_read && !empty) << at();
    ASSERT_EQ(out.region_receive_o, wanted.receive && !empty) << at();
    ASSERT_EQ(out.region_queue_o, reference_.value("REGION_QUEUE")) << at();
    ASSERT_EQ(out.region_local_o, wanted.local_use && !empty) << at();
    ASSERT_EQ(out.region_owner_o, wanted.owner) << at();
    ASSERT_EQ(out.region_key_o, wanted.key) << at();
    if (!empty) {
      ASSERT_EQ(out.region_base_o, wanted.base / payload) << at();
      ASSERT_EQ(out.region_last_o, (wanted.limit - wanted.base) / payload - 1) << at();
    }
    ++regions_set;
    region_written_.reset();
  }

  void check_channels() {
    const auto& out = bench_.top();
    stable_b_.sample(out.s_axil_bvalid_o, out.s_axil_bready_i, out.s_axil_bresp_o, reporter_);
    stable_r_.sample(out.s_axil_rvalid_o, out.s_axil_rready_i, {out.s_axil_rdata_o, out.s_axil_rresp_o},
                     reporter_);
    ASSERT_FALSE(findings_.any()) << findings_.summary() << ' ' << at();
    write_open_ = out.s_axil_bvalid_o && !out.s_axil_bready_i;
    read_open_ = out.s_axil_rvalid_o && !out.s_axil_rready_i;
  }

  void take_accesses() {
    const auto& top = bench_.top();
    if (top.s_axil_awvalid_i && top.s_axil_awready_o) {
      addresses_.pop_front();
      held_.aw = false;
    }
    if (top.s_axil_wvalid_i && top.s_axil_wready_o) {
      data_.pop_front();
      held_.w = false;
    }
    if (!top.s_axil_arvalid_i || !top.s_axil_arready_o) return;
    ASSERT_FALSE(reading_) << "a second read, " << at();
    held_.ar = false;
    reading_ = reads_.front();
    reads_.pop_front();
    possible_ = {reference_.read(*reading_, view())};
    takes_ = 0;
    taken_.reset();
  }

  void take_queues() {
    before_ = view();
    if (bench_->post_valid_o && post_ready) {
      posts_.pop();
      ++posts_out;
    }
    if (!bench_->cpl_ready_o) return;
    ASSERT_TRUE(reading_) << "cpl_ready_o without a read, " << at();
    ++takes_;
    if (completions.empty()) return;
    taken_ = completions.front();
    completions.pop_front();
    ++popped;
  }

  void note_events() {
    if (rx_outcome) reference_.outcome(*rx_outcome);
    if (tx_outcome) reference_.outcome(*tx_outcome);
    if (inbox_outcome) reference_.outcome(*inbox_outcome);
    reference_.control_dropped(static_cast<unsigned>(std::popcount(ctl_dropped)));
    reference_.bus_errors(static_cast<unsigned>(std::popcount(bus_error)));
    error_before_ = bus_error != 0;
  }

  Bench<Vrdma_regs> bench_;
  RegsReference reference_;
  std::deque<uint32_t> addresses_, reads_;  // not yet taken
  std::deque<Write> data_;
  std::deque<Write> writes_;  // not yet answered
  ShownQueue<rdma::Post> posts_{2};
  struct {
    bool aw, w, ar;
  } held_{};                                     // valid, which stays until ready
  bool write_open_ = false, read_open_ = false;  // an answer waits
  RegsView before_;                              // one clock ago
  bool error_before_ = false;
  std::optional<uint32_t> reading_;             // address taken, not yet answered
  std::set<std::optional<uint32_t>> possible_;  // what the register was since then
  std::optional<rdma::Completion> taken_;
  unsigned takes_ = 0;
  tb::Findings findings_;
  tb::Reporter reporter_{findings_, 0};
  tb::StableCheck<uint8_t> stable_b_{"s_axil b"};
  tb::StableCheck<std::pair<uint32_t, uint8_t>> stable_r_{"s_axil r"};
  bool msgid_written_ = false, number_written_ = false;  // in the clock before
  std::optional<uint8_t> region_written_;
};

}  // namespace weft::rtl_test

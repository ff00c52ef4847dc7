// SPDX-License-Identifier: Apache-2.0
// rdma_receiver beside the golden model: every retired event is one step of the model, and every output of
// every clock is compared with what the model's steps lead to.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rdma_receiver_queues.hpp"
#include "rdma_region_port.hpp"

namespace weft::rtl_test {

class ReceiverLockstep {
 public:
  using Outcome = rdma::formats::Outcome;
  using Header = rdma::formats::Header;
  using Ptype = rdma::formats::Ptype;

  static constexpr unsigned most_starved = 255;  // packets that may go before a timeout
  static constexpr unsigned latency = 12;        // clocks from a header to its retirement
  static constexpr unsigned room_age = 8;        // ... from where it finds room and a context
  static constexpr unsigned region_age = 11;     // ... from its last look at its region
  static constexpr unsigned quota_age = 9;       // ... from where it sees contexts that were freed before
  static constexpr unsigned timer_age = 6;       // ... from the last look at RX_TIMEOUT
  static constexpr unsigned ahead_age = 5;       // ... from the last look at RX_AHEAD
  static constexpr unsigned decision_age = 4;    // ... from its decision
  static constexpr unsigned time_age = 3;        // ... from the restart of its timer

  /// As the arrival checks hand it over.
  struct Input {
    Header header;
    Outcome verdict = Outcome::none;
  };

  // Inputs. A packet stays until it is taken.
  std::optional<Input> packet;
  rdma::Config config;  // the node number only changes by reset; regions follow, one a clock
  uint16_t now = 0;

  ReceiverQueues out;

  // What happened so far.
  std::map<Outcome, unsigned> outcomes;
  unsigned taken = 0;                      // packets
  unsigned timeouts = 0;                   // retired
  unsigned waits = 0;                      // clocks in which a packet was not taken
  unsigned dropped = 0;                    // control packets without room
  std::vector<uint64_t> stolen;            // clocks that timeouts took from packets
  uint64_t packet_at = 0, timeout_at = 0;  // clocks of the last ones retired

  Bench<Vsmall_receiver>& bench() { return bench_; }
  const rdma::Receiver& golden() const { return golden_; }

  /// In the middle of whatever is going on; ends when the receiver is ready.
  void reset(const rdma::Config& settings) {
    packet.reset();
    config = settings;
    out.reset();
    regions_.assign(receiver_params().n_regions, {});
    drive();
    bench_->region_set_i = 0;
    bench_.reset(1);
    golden_.configure(config);
    golden_.reset();
    forget();
    for (bench_.settle(); !bench_->ready_o; bench_.settle()) {
      ASSERT_FALSE(bench_->trace_valid_o || bench_->ctl_valid_o || bench_->cmd_valid_o ||
                   bench_->hdr_ready_o);
      ASSERT_LT(++waited_, 3 * rx_contexts) << "clocks after reset and still not ready";
      bench_.step();
    }
    while (regions_ != wanted_regions()) clock();
  }

  void clock() {
    drive();
    drive_regions();
    bench_.settle();
    remember();
    check_idle();
    out.check(bench_);
    follow();
    take_packet();
    check_patience();
    bench_.step();
  }

  void clocks(unsigned count) {
    for (unsigned n = 0; n < count && !testing::Test::HasFatalFailure(); ++n) clock();
  }

  /// Until it is taken.
  void give(const Input& input, unsigned most = 20) {
    packet = input;
    for (unsigned n = 0; packet && !testing::Test::HasFatalFailure(); ++n) {
      ASSERT_LT(n, most) << "clocks and a packet still waits, " << at();
      clock();
    }
  }

  /// Nothing waits or is under way, timeouts apart.
  bool nothing_waits() const { return packets_.empty() && out.empty(); }

 private:
  static bool is(const Header& header, Ptype type) { return header.ptype == static_cast<uint8_t>(type); }
  std::string at() const { return "in cycle " + std::to_string(bench_.cycle()); }

  void drive() {
    bench_->node_id_i = config.node_id;
    bench_->timeout_i = config.rx_timeout;
    bench_->ask_from_after_i = config.ask_from_after;
    bench_->max_silent_i = config.max_silent;
    bench_->backoff_i = config.backoff;
    bench_->ahead_i = config.rx_ahead;
    bench_->quota_i = config.rx_quota;
    bench_->weft_mode_i = config.weft_mode;
    bench_->now_i = now;
    bench_->hdr_valid_i = packet.has_value();
    if (packet) put_header(bench_->hdr_i, packet->header);
    bench_->verdict_i = packet ? static_cast<uint8_t>(packet->verdict) : 0;
    out.drive(bench_.top());
  }

  std::vector<rdma::Region> wanted_regions() const {
    std::vector<rdma::Region> all = config.regions;
    all.resize(regions_.size());
    return all;
  }

  void drive_regions() {
    const auto wanted = wanted_regions();
    const auto [changed, to] = std::ranges::mismatch(regions_, wanted);
    bench_->region_set_i = 0;
    if (changed == regions_.end()) return;
    *changed = *to;
    put_region(bench_.top(), static_cast<uint8_t>(changed - regions_.begin()), *to,
               receiver_params().payload);
  }

  /// The inputs of this clock and of those before, at which events under way have looked.
  void remember() {
    std::shift_right(nows_.begin(), nows_.end(), 1);
    std::shift_right(configs_.begin(), configs_.end(), 1);
    nows_[0] = now;
    configs_[0] = config;
    configs_[0].regions = regions_;
    rdma::Config seen = configs_[decision_age];
    seen.rx_timeout = configs_[timer_age].rx_timeout;
    seen.rx_ahead = configs_[ahead_age].rx_ahead;
    seen.rx_quota = configs_[quota_age].rx_quota;
    seen.regions = configs_[region_age].regions;
    golden_.configure(seen);
  }

  void forget() {
    configs_.fill(config);
    for (rdma::Config& each : configs_) each.regions = regions_;
    packets_.clear();
    freed_.clear();
    waited_ = since_stolen_ = overdue_ = quiet_ = 0;
  }

  /// A timeout under way is not seen before it retires, so that idle_o is certain only when no timer runs.
  void check_idle() {
    const bool over = nothing_waits() && golden_.free_contexts() == rx_contexts;
    quiet_ = over ? quiet_ + 1 : 0;
    if (bench_->idle_o) {
      ASSERT_TRUE(nothing_waits()) << "idle_o is 1 " << at();
    } else {
      ASSERT_LE(quiet_, 20u) << "idle_o is 0 " << at();
    }
  }

  /// Every packet retires, exactly so many clocks after it was taken.
  void follow() {
    const bool expected = !packets_.empty() && packets_.front().second + latency == bench_.cycle();
    ASSERT_EQ(bench_->trace_valid_o && !bench_->trace_timeout_o, expected) << at();
    dropped_now_ = false;
    if (bench_->trace_valid_o) {
      std::optional<Input> input;
      if (expected) {
        input = packets_.front().first;
        packets_.pop_front();
      }
      check_inputs();
      step(input);
    }
    ASSERT_EQ(bench_->ctl_dropped_o, dropped_now_) << at();
  }

  /// As the trace tells them.
  void check_inputs() {
    ASSERT_EQ(bench_->trace_now_o, nows_[time_age]) << at();
    const std::size_t waiting = out.controls_waited(room_age);
    ASSERT_EQ(bench_->trace_room_o, waiting < ReceiverQueues::control_full) << waiting << " wait " << at();
    if (!bench_->trace_offer_valid_o) return;
    ASSERT_EQ(golden_.context(bench_->trace_offer_cid_o).state, rdma::RxContext::State::free) << at();
  }

  void step(const std::optional<Input>& input) {
    rdma::RxInputs inputs{
        bench_->trace_room_o != 0, {}, bench_->trace_now_o, bench_->trace_over_quota_o != 0};
    if (bench_->trace_offer_valid_o) inputs.offer = bench_->trace_offer_cid_o;
    const unsigned free_before = golden_.free_contexts();
    const unsigned held = input ? golden_.held_by(input->header.src) : 0;
    rdma::RxResult result;
    ASSERT_NO_THROW(result = golden_step(input, inputs)) << at();
    const auto event = name(result.outcome);
    ASSERT_EQ(name(static_cast<Outcome>(bench_->trace_outcome_o)), event) << at();
    ASSERT_EQ(bench_->trace_cid_o, result.cid) << event << ' ' << at();
    ASSERT_EQ(bench_->trace_wbase_o, result.wbase) << event << ' ' << at();
    ASSERT_EQ(bench_->trace_wvec_o, result.wvec[0]) << event << ' ' << at();
    if (result.outcome == Outcome::refuse_no_context) {
      ASSERT_EQ(free_before, freed_lately(room_age + 2))
          << "contexts are free, but none is offered, " << at();
    }
    if (result.outcome == Outcome::refuse_quota) {
      ASSERT_GE(held + freed_lately(quota_age), golden_.config().rx_quota) << "within its quota, " << at();
    }
    if (golden_.free_contexts() > free_before) freed_.push_back(bench_.cycle());
    expect(input, result);
  }

  rdma::RxResult golden_step(const std::optional<Input>& input, const rdma::RxInputs& inputs) {
    if (!input) return golden_.timeout(bench_->trace_cid_o, inputs);
    if (input->verdict != Outcome::none) return golden_.drop(input->verdict);
    return golden_.packet({input->header, std::vector<uint8_t>(input->header.len)}, inputs);
  }

  /// Contexts that were freed in the last clocks: too late for the request that retires now to know.
  unsigned freed_lately(unsigned clocks) {
    while (!freed_.empty() && freed_.front() + room_age + 2 <= bench_.cycle()) freed_.pop_front();
    return static_cast<unsigned>(
        std::ranges::count_if(freed_, [&](uint64_t cycle) { return cycle + clocks > bench_.cycle(); }));
  }

  void expect(const std::optional<Input>& input, const rdma::RxResult& result) {
    ++outcomes[result.outcome];
    (input ? packet_at : timeout_at) = bench_.cycle();
    if (!input) ++timeouts;
    dropped_now_ = result.ctl_dropped;
    if (dropped_now_) ++dropped;
    const bool payload = input && input->verdict == Outcome::none && is(input->header, Ptype::data);
    if (payload) out.expect_payload(input->header, result.write, bench_.cycle());
    if (result.emitted) out.expect_control(result.emitted->header, bench_.cycle());
  }

  /// A packet waits for commands, or one clock for a timeout that has waited for long.
  void take_packet() {
    if (!packet) return;
    if (bench_->hdr_ready_o) {
      packets_.emplace_back(*packet, bench_.cycle());
      packet.reset();
      ++taken;
      ++since_stolen_;
      return;
    }
    ++waits;
    if (out.commands_waited() >= ReceiverQueues::commands_full) return;
    ASSERT_GE(since_stolen_, most_starved) << "packets since the last one that had to wait, " << at();
    since_stolen_ = 0;
    stolen.push_back(bench_.cycle());
  }

  /// While a timer is overdue and commands do not stop all, a timeout comes at the latest when each other
  /// context has had one, or was found expired and restarted before its turn, with all packets allowed in
  /// between. A look at all contexts takes about two clocks each.
  void check_patience() {
    const bool timeout = bench_->trace_valid_o && bench_->trace_timeout_o;
    if (timeout || golden_.longest_overdue(now) == 0)
      overdue_ = 0;
    else if (out.commands_waited() < ReceiverQueues::commands_full)
      ++overdue_;
    ASSERT_LE(overdue_, rx_contexts * (most_starved + 2 * rx_contexts + latency)) << at();
  }

  Bench<Vsmall_receiver> bench_;
  rdma::Receiver golden_{receiver_params(), {}};
  std::deque<std::pair<Input, uint64_t>> packets_;  // under way, with the cycle in which they were taken
  std::deque<uint64_t> freed_;                      // cycles
  bool dropped_now_ = false;
  std::array<uint16_t, 8> nows_{};  // this clock, one clock ago, ...
  std::array<rdma::Config, 12> configs_{};
  std::vector<rdma::Region> regions_;  // as the receiver knows them
  unsigned waited_ = 0;                // clocks after reset
  unsigned since_stolen_ = 0;          // packets
  unsigned overdue_ = 0, quiet_ = 0;   // clocks
};

}  // namespace weft::rtl_test

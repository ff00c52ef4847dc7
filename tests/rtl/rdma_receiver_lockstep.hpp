// SPDX-License-Identifier: Apache-2.0
// rdma_receiver beside the golden model: every retired event is one step of the model, and every output of
// every clock is compared with what the model's steps lead to. With transfers (docs/rdma_transfers.md) or
// without; who uses it names the Verilated class.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rdma/repeat_watch.hpp"
#include "rdma/timeouts.hpp"
#include "rdma_receiver_queues.hpp"
#include "rdma_region_port.hpp"
#include "unit_trace.hpp"

namespace weft::rtl_test {

/// As the receiver knows it: an enum of rdma_pkg.sv, in the same order.
inline uint8_t admit_code(const rdma::Admission& admission) { return static_cast<uint8_t>(admission.kind); }

/// The request as the inbox hands it on.
inline rdma::formats::Header admitted_header(rdma::formats::Header header, const rdma::Admission& admission) {
  if (admission.kind == rdma::Admission::Kind::buffer) {
    header.arg = admission.address;
    header.gen = admission.rkey.region;
    header.cid = admission.rkey.key;
  } else if (admission.kind == rdma::Admission::Kind::again) {
    header.arg = rdma::rkey(admission.rkey);
    header.cid = admission.cid;
  }
  return header;
}

template <typename Top, bool transfers>
class BasicReceiverLockstep {
 public:
  using Outcome = rdma::formats::Outcome;
  using Header = rdma::formats::Header;
  using Ptype = rdma::formats::Ptype;

  static constexpr bool has_transfers = transfers;
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
    bool busy = false;  // the inbox had no room for this RQT or RSP
  };

  /// A request from the network, and what the inbox says about it.
  struct Asked {
    Header header;
    rdma::Admission admission;
  };

  // Inputs. A packet or request stays until it is taken.
  std::optional<Input> packet;
  std::optional<Asked> request;  // with transfers only, as the next one
  bool answer_asked = false, answer_room = true;
  rdma::Config config;  // the node number only changes by reset; regions follow, one a clock
  uint16_t now = 0;

  ReceiverQueues out;

  // What happened so far.
  std::map<Outcome, unsigned> outcomes;
  unsigned taken = 0;                      // packets
  unsigned asked = 0;                      // requests from the inbox
  unsigned answers = 0;                    // taken
  unsigned timeouts = 0;                   // retired
  unsigned waits = 0;                      // clocks in which a packet was not taken
  unsigned dropped = 0;                    // control packets without room
  unsigned clearing = 0;                   // clocks from reset until it was ready
  std::vector<uint64_t> stolen;            // clocks that timeouts took from packets
  uint64_t packet_at = 0, timeout_at = 0;  // clocks of the last ones retired

  Bench<Top>& bench() { return bench_; }
  const rdma::Receiver& golden() const { return golden_; }

  /// In the middle of whatever is going on; ends when the receiver is ready.
  void reset(const rdma::Config& settings) {
    packet.reset();
    request.reset();
    config = settings;
    out.reset();
    regions_.assign(receiver_params().n_regions, {});
    drive();
    bench_->region_set_i = 0;
    bench_.reset(1);
    golden_.configure(config);
    golden_.reset();
    repeats_.reset();
    forget();
    for (bench_.settle(); !bench_->ready_o; bench_.settle()) {
      ASSERT_FALSE(bench_->trace_valid_o || bench_->ctl_valid_o || bench_->cmd_valid_o ||
                   bench_->hdr_ready_o);
      ASSERT_LT(++clearing, 3 * rx_contexts) << "clocks after reset and still not ready";
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
    wait_for(packet, most);
  }
  void ask(const Asked& asked_now, unsigned most = 20) {
    request = asked_now;
    wait_for(request, most);
  }

  /// Nothing waits or is under way, timeouts apart.
  bool nothing_waits() const { return events_.empty() && out.empty(); }

 private:
  struct Event {
    Input input;
    std::optional<rdma::Admission> admission;  // from the inbox
    uint64_t cycle;                            // in which it was taken
  };

  static rdma::Params params() {
    rdma::Params params = receiver_params();
    params.transfers = transfers;
    params.n_tickets = 1;  // of no meaning here
    return params;
  }

  void wait_for(const auto& waiting, unsigned most) {
    for (unsigned n = 0; waiting && !testing::Test::HasFatalFailure(); ++n) {
      ASSERT_LT(n, most) << "clocks and a packet still waits, " << at();
      clock();
    }
  }

  static bool is(const Header& header, Ptype type) { return header.ptype == static_cast<uint8_t>(type); }
  std::string at() const { return "in cycle " + std::to_string(bench_.cycle()); }

  void drive() {
    bench_->node_id_i = config.node_id;
    bench_->timeout_i = config.rx_timeout;
    bench_->ask_from_after_i = config.ask_from_after;
    bench_->max_silent_i = config.max_silent;
    bench_->backoff_i = rdma::doublings(config, 3);
    bench_->ahead_i = config.rx_ahead;
    bench_->quota_i = config.rx_quota;
    bench_->weft_mode_i = config.weft_mode;
    bench_->now_i = now;
    bench_->hdr_valid_i = packet.has_value();
    if (packet) put_header(bench_->hdr_i, sealed(packet->header));
    bench_->verdict_i = packet ? static_cast<uint8_t>(packet->verdict) : 0;
    drive_transfers();
    out.drive(bench_.top());
  }

  /// Without transfers these inputs look as harmful as they can.
  void drive_transfers() {
    bench_->hdr_busy_i = transfers ? packet && packet->busy : 1;
    bench_->req_valid_i = transfers ? request.has_value() : 1;
    bench_->answer_asked_i = answer_asked;
    bench_->answer_room_i = answer_room;
    if (!request) return;
    const rdma::Admission& admission = request->admission;
    const auto bytes = rdma::formats::pack(admitted_header(request->header, admission));
    std::memcpy(&bench_->req_i, bytes.data(), bytes.size());
    bench_->req_i[8] = static_cast<uint32_t>(admit_code(admission)) << 9 | uint32_t{admission.of_read} << 8 |
                       static_cast<uint32_t>(admission.refusal);
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
    std::shift_right(answers_.begin(), answers_.end(), 1);
    answers_[0] = {answer_asked, answer_room, bench_->answer_take_o != 0};
    answers += bench_->answer_take_o;
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
    answers_.fill({});
    events_.clear();
    freed_.clear();
    clearing = since_stolen_ = overdue_ = quiet_ = 0;
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
    const bool expected = !events_.empty() && events_.front().cycle + latency == bench_.cycle();
    ASSERT_EQ(bench_->trace_valid_o && !bench_->trace_timeout_o, expected) << at();
    ASSERT_EQ(bench_->ret_valid_o, transfers && bench_->trace_valid_o) << at();
    dropped_now_ = false;
    read_now_.reset();
    if (bench_->trace_valid_o) {
      std::optional<Event> event;
      if (expected) {
        event = events_.front();
        events_.pop_front();
      }
      check_inputs(event);
      step(event);
    }
    ASSERT_EQ(bench_->ctl_dropped_o, dropped_now_) << at();
    check_read();
  }

  /// An answer is taken where its room was found, its order comes at the end.
  void check_read() {
    ASSERT_EQ(bench_->read_valid_o, read_now_.has_value()) << at();
    ASSERT_EQ(answers_[room_age].taken, read_now_.has_value()) << at();
    if (!read_now_) return;
    const auto& post = bench_->read_o;
    ASSERT_EQ(post[0] | uint64_t{post[1]} << 32, read_now_->src_addr) << at();
    ASSERT_EQ(post[2] | uint64_t{post[3]} << 32, read_now_->number) << at();
    ASSERT_EQ(post[4], read_now_->bytes) << at();
    ASSERT_EQ(post[5], read_now_->node) << at();
    ASSERT_EQ(post[6], uint32_t{read_now_->ticket} << 16) << "ticket, and no tag, " << at();
    ASSERT_EQ(post[7], 0u) << "no immediate, " << at();
    ASSERT_EQ(post[8], 2u << 11 | 2u << 9) << "from the answers, to a ticket, " << at();
  }

  /// What the inbox is told.
  void check_retired(const std::optional<Event>& event, const rdma::RxResult& result) {
    if (!transfers) return;
    const auto& told = bench_->ret_o;
    const uint64_t low = told[0] | uint64_t{told[1]} << 32;
    const bool has_imm = event && is_payload(event->input) && (event->input.header.flags & imm_flag) != 0;
    ASSERT_EQ(low & 0xffff, static_cast<uint16_t>(out.writes_decided())) << at();
    ASSERT_EQ(low >> 48 & 1, has_imm) << at();
    if (has_imm) {
      ASSERT_EQ(low >> 16 & 0xffffffff, event->input.header.arg >> 32) << at();
    }
    ASSERT_EQ((low >> 49 | uint64_t{told[2]} << 15) & 0xffff, result.cid) << at();
    ASSERT_EQ(told[2] >> 1 & 1, event && event->admission) << at();
    ASSERT_EQ(told[2] >> 2, static_cast<uint32_t>(result.outcome)) << at();
  }

  /// As the trace tells them.
  void check_inputs(const std::optional<Event>& event) {
    ASSERT_EQ(bench_->trace_now_o, nows_[time_age]) << at();
    const std::size_t waiting = out.controls_waited(room_age + 1);
    const bool busy = event && event->input.verdict == Outcome::none && event->input.busy;
    ASSERT_EQ(bench_->trace_room_o, waiting < ReceiverQueues::control_full && !busy)
        << waiting << " wait " << at();
    const bool from_inbox = event && event->admission;
    ASSERT_EQ(bench_->trace_from_inbox_o, from_inbox) << at();
    if (from_inbox) {
      ASSERT_EQ(bench_->trace_admit_o, admit_code(*event->admission)) << at();
    } else if (known()) {
      ASSERT_TRUE(is_request(event)) << at();
    } else {
      ASSERT_EQ(bench_->trace_admit_o, 0) << at();
    }
    ASSERT_EQ(bench_->trace_answer_asked_o, transfers && answers_[room_age].asked) << at();
    ASSERT_EQ(bench_->trace_answer_room_o, transfers && answers_[room_age].room) << at();
    if (!bench_->trace_offer_valid_o) return;
    ASSERT_EQ(golden_.context(bench_->trace_offer_cid_o).state, rdma::RxContext::State::free) << at();
  }

  void step(const std::optional<Event>& event) {
    rdma::RxInputs inputs{
        bench_->trace_room_o != 0, {}, bench_->trace_now_o, bench_->trace_over_quota_o != 0};
    if (bench_->trace_offer_valid_o) inputs.offer = bench_->trace_offer_cid_o;
    const unsigned free_before = golden_.free_contexts();
    inputs.answer_asked = bench_->trace_answer_asked_o;
    inputs.answer_room = bench_->trace_answer_room_o;
    if (event && event->admission) inputs.admission = *event->admission;
    if (known()) {
      inputs.admission.kind = rdma::Admission::Kind::again;
      inputs.admission.cid = bench_->trace_cid_o;
    }
    const unsigned held = event ? golden_.held_by(event->input.header.src) : 0;
    rdma::RxResult result;
    ASSERT_NO_THROW(result = golden_step(event, inputs)) << at();
    if (is_request(event)) {
      const auto fault = repeats_.judge(sealed(event->input.header), known(), result, bench_.cycle());
      ASSERT_FALSE(fault) << *fault << ' ' << at();
    }
    const auto outcome = name(result.outcome);
    ASSERT_EQ(name(static_cast<Outcome>(bench_->trace_outcome_o)), outcome) << at();
    ASSERT_EQ(bench_->trace_cid_o, result.cid) << outcome << ' ' << at();
    ASSERT_EQ(bench_->trace_wbase_o, result.wbase) << outcome << ' ' << at();
    ASSERT_EQ(bench_->trace_wvec_o, result.wvec[0]) << outcome << ' ' << at();
    if (result.outcome == Outcome::refuse_no_context) {
      ASSERT_EQ(free_before, freed_lately(room_age + 2))
          << "contexts are free, but none is offered, " << at();
    }
    if (result.outcome == Outcome::refuse_quota) {
      ASSERT_GE(held + freed_lately(quota_age), golden_.config().rx_quota) << "within its quota, " << at();
    }
    if (golden_.free_contexts() > free_before) freed_.push_back(bench_.cycle());
    expect(event, result);
    check_retired(event, result);
    if (trace_.wanted()) trace(event, inputs, result);
  }

  /// The request that retires now was taken for one granted before.
  bool known() { return !bench_->trace_from_inbox_o && bench_->trace_admit_o == known_code; }

  /// A request that comes as a packet.
  static bool is_request(const std::optional<Event>& event) {
    return event && !event->admission && event->input.verdict == Outcome::none &&
           is(event->input.header, Ptype::rqt);
  }

  void trace(const std::optional<Event>& event, const rdma::RxInputs& inputs, const rdma::RxResult& result) {
    std::optional<Header> header;
    if (event && event->input.verdict == Outcome::none) header = event->input.header;
    rdma::RxEventView view = rdma::view(event ? "packet" : "timeout", header, inputs, result);
    view.from_inbox = event && event->admission;
    trace_.write(rdma::rx_record(bench_.cycle(), view));
  }

  rdma::RxResult golden_step(const std::optional<Event>& event, const rdma::RxInputs& inputs) {
    if (!event) return golden_.timeout(bench_->trace_cid_o, inputs);
    const Input& input = event->input;
    if (input.verdict != Outcome::none) return golden_.drop(input.verdict);
    return golden_.packet({input.header, std::vector<uint8_t>(input.header.len)}, inputs);
  }

  /// Contexts that were freed in the last clocks: too late for the request that retires now to know.
  unsigned freed_lately(unsigned clocks) {
    while (!freed_.empty() && freed_.front() + room_age + 2 <= bench_.cycle()) freed_.pop_front();
    return static_cast<unsigned>(
        std::ranges::count_if(freed_, [&](uint64_t cycle) { return cycle + clocks > bench_.cycle(); }));
  }

  static bool is_payload(const Input& input) {
    return input.verdict == Outcome::none && is(input.header, Ptype::data);
  }

  void expect(const std::optional<Event>& event, const rdma::RxResult& result) {
    ++outcomes[result.outcome];
    (event ? packet_at : timeout_at) = bench_.cycle();
    if (!event) ++timeouts;
    dropped_now_ = result.ctl_dropped;
    read_now_ = result.read;
    if (dropped_now_) ++dropped;
    if (event && is_payload(event->input)) {
      out.expect_payload(event->input.header, result.write, bench_.cycle());
    }
    if (!result.emitted) return;
    out.expect_control(result.emitted->header, bench_.cycle(), result.outcome == Outcome::grant);
  }

  /// A packet waits for commands, for a request from the inbox, or one clock for a timeout that has waited
  /// for long; so does a request, for a packet apart.
  void take_packet() {
    if (!packet && !request) return;
    if (request) {
      ASSERT_FALSE(bench_->hdr_ready_o) << "two events " << at();
      if (bench_->req_ready_o) return take_request();
    } else if (bench_->hdr_ready_o) {
      events_.push_back({*packet, {}, bench_.cycle()});
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

  void take_request() {
    events_.push_back({{request->header}, request->admission, bench_.cycle()});
    request.reset();
    ++asked;
    ++since_stolen_;
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

  static constexpr auto known_code = static_cast<uint8_t>(rdma::Admission::Kind::again);
  static constexpr auto imm_flag = static_cast<uint8_t>(rdma::formats::TransferFlag::imm);

  struct Answer {
    bool asked = false;
    bool room = false;
    bool taken = false;
  };

  Bench<Top> bench_;
  rdma::Receiver golden_{params(), {}};
  tb::RepeatWatch repeats_{params()};
  UnitTrace trace_{params()};
  std::deque<Event> events_;    // packets and requests under way
  std::deque<uint64_t> freed_;  // cycles
  bool dropped_now_ = false;
  std::optional<rdma::ReadOrder> read_now_;
  std::array<Answer, room_age + 1> answers_{};  // this clock, one clock ago, ...
  std::array<uint16_t, 8> nows_{};              // likewise
  std::array<rdma::Config, 12> configs_{};
  std::vector<rdma::Region> regions_;  // as the receiver knows them
  unsigned since_stolen_ = 0;          // packets
  unsigned overdue_ = 0, quiet_ = 0;   // clocks
};

}  // namespace weft::rtl_test

// SPDX-License-Identifier: Apache-2.0
// rdma_inbox beside the golden model: every trace record is one step of the model, what the receiver, memory
// and the settings say comes in between, in the order that the RTL promises; every output of every clock is
// compared with what these steps lead to.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "rdma/inbox.hpp"
#include "rdma/timeouts.hpp"
#include "rdma_inbox_ports.hpp"
#include "rdma_inbox_receiver.hpp"
#include "rdma_sizes.hpp"
#include "shown_queue.hpp"

namespace weft::rtl_test {

/// The sizes in CMakeLists.txt; of both builds: few tickets, with numbers as narrow as they may be, so that
/// all come back, or as wide.
inline constexpr unsigned inbox_tickets = 8;
inline constexpr unsigned inbox_queues = 5;
inline rdma::Params inbox_params() {
  rdma::Params params;
  params.transfers = true;
  params.n_tickets = inbox_tickets;
  params.n_queues = inbox_queues;
  params.n_regions = 4;
  params.payload = 64;
  params.pidx_bits = 8;
  params.msgid_bits = 6;
  params.node_bits = 4;
  params.addr_bits = 24;
  params.sid_bits = 4;
  params.cid_bits = 5;
  params.n_rx_ctx = 32;
  params.n_sources = 2;
  return params;
}

/// Of a queue that is opened or closed.
struct QueueSet {
  uint8_t queue = 0;
  bool open = false;
  uint16_t key = 0;
};

/// Top: rdma_inbox in one of its builds.
template <typename Top>
class InboxLockstep {
 public:
  using Outcome = rdma::formats::Outcome;
  using Status = rdma::formats::Status;
  using Header = rdma::formats::Header;
  using Kind = rdma::Admission::Kind;

  // How old what a trace record knows is, in clocks.
  static constexpr unsigned settings_age = 2;
  static constexpr unsigned receiver_age = 3;
  static constexpr unsigned region_age = 4;
  static constexpr unsigned control_depth = 16;
  static constexpr unsigned rqt_depth = 8, rsp_depth = 8;
  static constexpr unsigned undecided = 4;   // requests that the receiver may have
  static constexpr unsigned patience = 600;  // clocks that anything may wait which nothing else holds up

  explicit InboxLockstep(const rdma::Params& params) : params_(params) {}

  // Inputs. A post, RQT or RSP stays until it is taken, the others for a clock.
  std::optional<rdma::TicketPost> post;
  std::optional<Header> rqt, rsp;
  std::optional<QueueSet> queue_set;
  std::optional<uint32_t> number;
  std::optional<uint16_t> stray_error;  // of this context
  rdma::Config config;                  // the node number only changes by reset; regions follow, one a clock
  bool cpl_ready = true, ctl_ready = true, req_ready = true;
  bool turn_away = false;  // a RQT or RSP that finds no room goes elsewhere
  uint16_t now = 0;

  // What happened so far.
  std::map<Outcome, unsigned> outcomes;
  std::map<Outcome, unsigned> refusals;
  std::map<Kind, unsigned> admissions;
  std::map<Status, unsigned> statuses;
  std::map<Outcome, unsigned> decisions;  // of tickets taken
  unsigned posted = 0, completed = 0;
  unsigned dropped = 0;                            // READs without room
  unsigned turned_away = 0, rsps_turned_away = 0;  // RQT
  unsigned immediates = 0;                         // completions with one
  std::deque<rdma::TicketCompletion> completions;  // seen, for the test to look at

  Bench<Top>& bench() { return bench_; }
  const rdma::Params& params() const { return params_; }
  const rdma::Inbox& golden() const { return golden_; }
  InboxReceiver<Bench<Top>>& receiver() { return receiver_; }
  bool told_open(uint8_t queue) const { return told_open_.at(queue); }
  /// In the clock that comes.
  bool held(uint8_t queue) {
    bench_.settle();
    return bench_->queue_held_o >> queue & 1;
  }

  /// In the middle of whatever is going on; ends when the inbox is ready and knows its regions.
  void reset(const rdma::Config& settings) {
    post.reset();
    rqt.reset();
    rsp.reset();
    queue_set.reset();
    number.reset();
    stray_error.reset();
    config = settings;
    regions_.assign(params_.n_regions, {});
    forget();
    drive();
    bench_.reset(1);
    golden_.configure(with_regions(config));
    golden_.reset();
    for (bench_.settle(); !bench_->ready_o; bench_.settle()) {
      ASSERT_FALSE(bench_->trace_valid_o || bench_->ctl_valid_o || bench_->cpl_valid_o ||
                   bench_->req_valid_o);
      ASSERT_LT(++waited_, 3 * inbox_tickets) << "clocks after reset and still not ready";
      bench_.step();
    }
    while (regions_ != wanted_regions() && !testing::Test::HasFatalFailure()) clock();
  }

  void clock() {
    drive();
    drive_regions();
    drive_receiver();
    bench_.settle();
    remember();
    check_control();
    check_completions();
    catch_up(receiver_age);
    follow();
    check_request();
    ASSERT_EQ(bench_->ctl_dropped_o, dropped_now_) << at();
    check_queues();
    check_idle();
    take_inputs();
    check_patience();
    stray_error.reset();
    number.reset();
    queue_set.reset();
    bench_.step();
  }

  void clocks(unsigned count) {
    for (unsigned n = 0; n < count && !testing::Test::HasFatalFailure(); ++n) clock();
  }

  /// Until all inputs are taken.
  void give_inputs(unsigned most = 100) {
    for (unsigned n = 0; (post || rqt || rsp) && !testing::Test::HasFatalFailure(); ++n) {
      ASSERT_LT(n, most) << "clocks and an input still waits, " << at();
      clock();
    }
  }

  /// Nothing waits or is under way, and no tickets but RECVs that wait for a message.
  bool nothing_left() const {
    return !post && !rqt && !rsp && nothing_inside() &&
           std::ranges::all_of(numbers(), [&](uint16_t number) { return !golden_.cancelled(number); });
  }

 private:
  std::string at() const { return "in cycle " + std::to_string(bench_.cycle()); }

  static std::vector<uint16_t> numbers() {
    std::vector<uint16_t> all(inbox_tickets);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  bool nothing_inside() const {
    const bool queues_empty =
        posts_.empty() && rqts_.empty() && rsps_.empty() && control_.size() == 0 && completions_.size() == 0;
    return queues_empty && !request_ && undone_.empty() && std::ranges::none_of(handed_, has_ticket) &&
           std::ranges::all_of(numbers(), [&](uint16_t number) { return rests(golden_.ticket(number)); });
  }

  static bool has_ticket(const std::optional<uint16_t>& ticket) { return ticket.has_value(); }

  static bool rests(const rdma::Ticket& ticket) {
    if (ticket.state == rdma::Ticket::State::free) return true;
    return ticket.state == rdma::Ticket::State::waiting && ticket.post.kind == rdma::TicketKind::recv;
  }

  // Inputs

  /// Of a port whose type depends on its width.
  template <typename Port>
  static void assign(Port& port, uint64_t value) {
    port = static_cast<std::remove_reference_t<Port>>(value);
  }

  void drive() {
    bench_->node_id_i = config.node_id;
    bench_->retry_i = config.tx_retry;
    bench_->max_retry_i = config.max_retry;
    bench_->max_busy_i = config.max_busy;
    bench_->backoff_i = rdma::doublings(config, 3);
    bench_->ticket_quota_i = config.ticket_quota;
    bench_->number_load_i = number.has_value();
    assign(bench_->number_i, number.value_or(0));
    bench_->now_i = now;
    bench_->region_set_i = 0;
    bench_->queue_set_i = queue_set.has_value();
    bench_->queue_idx_i = queue_set ? queue_set->queue : 0;
    bench_->queue_open_i = queue_set && queue_set->open;
    bench_->queue_key_i = queue_set ? queue_set->key : 0;
    bench_->post_valid_i = post.has_value();
    if (post) put_ticket_post(bench_->post_i, *post);
    bench_->rqt_valid_i = rqt.has_value();
    if (rqt) put_header(bench_->rqt_i, *rqt);
    bench_->rsp_valid_i = rsp.has_value();
    if (rsp) put_header(bench_->rsp_i, *rsp);
    bench_->cpl_ready_i = cpl_ready;
    bench_->ctl_ready_i = ctl_ready;
    bench_->req_ready_i = req_ready && receiver_.can_take();
    bench_->ret_valid_i = 0;
    bench_->error_i = 0;
    bench_->error_cid_i = 0;
    bench_->writes_done_i = receiver_.answered();
  }

  std::vector<rdma::Region> wanted_regions() const {
    std::vector<rdma::Region> all = config.regions;
    all.resize(regions_.size());
    return all;
  }

  rdma::Config with_regions(rdma::Config of) const {
    of.regions = regions_;
    return of;
  }

  void drive_regions() {
    const auto wanted = wanted_regions();
    const auto [changed, to] = std::ranges::mismatch(regions_, wanted);
    if (changed == regions_.end()) return;
    *changed = *to;
    const bool empty = to->limit <= to->base;
    bench_->region_set_i = 1;
    bench_->region_idx_i = static_cast<uint8_t>(changed - regions_.begin());
    bench_->region_write_i = to->remote_write && !empty;
    bench_->region_receive_i = to->receive && !empty;
    bench_->region_queue_i = static_cast<uint16_t>(to->queue ? 0x100 | *to->queue : 0);
    bench_->region_key_i = to->key;
    assign(bench_->region_base_i, to->base / params_.payload);
    assign(bench_->region_last_i, empty ? 0 : (to->limit - 1 - to->base) / params_.payload);
  }

  /// Memory goes before the receiver, as the RTL charges errors to the contexts that it knows.
  void drive_receiver() {
    std::optional<uint16_t> failed = stray_error;
    if (!failed) {
      if (const auto answer = receiver_.answer(); answer && answer->second) failed = answer->first;
    }
    bench_->writes_done_i = receiver_.answered();
    if (failed) {
      bench_->error_i = 1;
      bench_->error_cid_i = *failed;
      later_.emplace_back(bench_.cycle(), [this, cid = *failed] { golden_.write_failed(cid); });
    }
    const auto retired = receiver_.event();
    if (!retired) return;
    bench_->ret_valid_i = 1;
    put_retired(bench_->ret_i, *retired);
    later_.emplace_back(bench_.cycle(), [this, event = *retired] { retire(event); });
  }

  /// The inputs of this clock and of those before, at which events under way have looked.
  void remember() {
    std::shift_right(nows_.begin(), nows_.end(), 1);
    std::shift_right(configs_.begin(), configs_.end(), 1);
    nows_[0] = now;
    configs_[0] = with_regions(config);
    rdma::Config seen = configs_[settings_age];
    seen.regions = configs_[region_age].regions;
    golden_.configure(seen);
    if (queue_set) {
      told_open_.at(queue_set->queue) = queue_set->open;
      settings_.emplace_back(bench_.cycle(), [this, set = *queue_set] {
        if (set.open)
          golden_.open(set.queue, set.key);
        else
          golden_.close(set.queue);
      });
    }
    if (number)
      settings_.emplace_back(bench_.cycle(), [this, first = *number] { golden_.number_from(first); });
  }

  using Steps = std::deque<std::pair<uint64_t, std::function<void()>>>;

  void catch_up(unsigned age) {
    const auto run = [&](Steps& steps, unsigned clocks) {
      while (!steps.empty() && steps.front().first + clocks <= bench_.cycle()) {
        ASSERT_NO_THROW(steps.front().second()) << at();
        steps.pop_front();
      }
    };
    run(later_, age);
    run(settings_, settings_age);
  }

  /// An event of the receiver.
  void retire(const Retired& event) {
    rdma::RxResult result;
    result.outcome = event.outcome;
    result.cid = event.cid;
    if (const auto ticket = event.decides ? next(handed_) : std::nullopt) {
      ++decisions[event.outcome];
      if (event.outcome == Outcome::grant) {
        golden_.decided(*ticket, result, nows_[settings_age]);
      } else {
        undone_.emplace_back(*ticket, result);
      }
      return;
    }
    Header header;
    if (event.imm) {
      rdma::set_flag(header, rdma::formats::TransferFlag::imm);
      header.arg = uint64_t{*event.imm} << 32;
    }
    const std::size_t leaving = golden_.leaving();
    golden_.retired(result, &header);
    if (golden_.leaving() != leaving) leaving_.push_back(event.writes);
  }

  // Outputs

  void check_control() {
    controls_before_ = std::exchange(controls_waiting_, control_.size());
    ASSERT_EQ(bench_->ctl_valid_o, control_.shown(bench_.cycle())) << at();
    if (!bench_->ctl_valid_o) return;
    const Header seen = get_header(bench_->ctl_o);
    ASSERT_TRUE(seen == control_.front())
        << "expected " << text(control_.front()) << "\ngot      " << text(seen) << '\n'
        << at();
    if (ctl_ready) control_.pop();
  }

  void check_completions() {
    ASSERT_EQ(bench_->cpl_valid_o, completions_.shown(bench_.cycle())) << at();
    if (!bench_->cpl_valid_o) return;
    const auto seen = get_ticket_completion(bench_->cpl_o);
    const auto& expected = completions_.front();
    ASSERT_TRUE(seen == expected) << name(expected.status) << " expected, got " << name(seen.status)
                                  << ", tags " << expected.tag << ' ' << seen.tag << ", bytes "
                                  << expected.bytes << ' ' << seen.bytes << ", nodes " << expected.node << ' '
                                  << seen.node << ' ' << at();
    if (!cpl_ready) return;
    ++completed;
    ++statuses[seen.status];
    if (seen.imm) ++immediates;
    completions.push_back(seen);
    if (completions.size() > 100) completions.pop_front();
    completions_.pop();
  }

  void follow() {
    dropped_now_ = false;
    request_shown_ = false;
    if (!bench_->trace_valid_o) return;
    rdma::InboxInputs inputs{bench_->trace_room_o != 0, {}, bench_->trace_now_o};
    ASSERT_EQ(inputs.now, nows_[settings_age]) << at();
    if (bench_->trace_offer_valid_o) inputs.offer = bench_->trace_offer_o;
    ASSERT_TRUE(inputs.room || controls_before_ >= control_depth - 1) << controls_before_ << " wait " << at();
    ASSERT_NO_THROW(step(inputs)) << "event of kind " << int{bench_->trace_kind_o} << ", outcome "
                                  << name(static_cast<Outcome>(bench_->trace_outcome_o)) << ", ticket "
                                  << bench_->trace_ticket_o << ' ' << at();
  }

  void step(const rdma::InboxInputs& inputs) {
    const uint16_t ticket = bench_->trace_ticket_o;
    switch (bench_->trace_kind_o) {
      case 0:
        ASSERT_EQ(inputs.offer.has_value(), golden_.free_tickets() != 0) << at();
        return expect(golden_.post(next(posts_), inputs));
      case 1:
        return admit();
      case 2:
        return expect(golden_.packet(next(rsps_), inputs.now));
      case 3:
        if (ticket < inbox_tickets) due_[ticket] = 0;  // it may be due again at once
        return expect(golden_.timeout(ticket, inputs));
      case 4:
        ASSERT_FALSE(receiver_.write_waits(next(leaving_)))
            << "memory has not answered all that was decided before, " << at();
        leave_waits_ = 0;
        return expect(golden_.leave(inputs.now));
      case 5:
        return expect(golden_.cancel(ticket));
      default:
        return decide(ticket, inputs.now);
    }
  }

  template <typename T>
  static T next(std::deque<T>& queue) {
    if (queue.empty()) throw rdma::Violation("an event that nothing led to");
    T front = std::move(queue.front());
    queue.pop_front();
    return front;
  }

  void expect(const rdma::InboxResult& result) {
    ++outcomes[result.outcome];
    ASSERT_EQ(name(static_cast<Outcome>(bench_->trace_outcome_o)), name(result.outcome)) << at();
    ASSERT_EQ(bench_->trace_ticket_o, result.ticket) << name(result.outcome) << ' ' << at();
    dropped_now_ = result.ctl_dropped;
    if (dropped_now_) ++dropped;
    if (result.emitted) control_.push(result.emitted->header, bench_.cycle());
    if (result.completion) completions_.push(*result.completion, bench_.cycle());
  }

  void admit() {
    const Header request = next(rqts_);
    const rdma::Admission admission = golden_.admit(request);
    ++admissions[admission.kind];
    ++refusals[admission.refusal];
    ASSERT_EQ(static_cast<int>(bench_->trace_admit_o), static_cast<int>(admission.kind))
        << text(request) << ' ' << at();
    ASSERT_EQ(bench_->trace_ticket_o, admission.ticket) << at();
    ASSERT_FALSE(request_) << "the request before is not taken, " << at();
    ASSERT_LT(handed_.size() + undone_.size(), undecided) << at();
    request_ = admitted(admission, request);
    request_shown_ = true;
    rqt_waits_ = 0;
    const bool takes = admission.kind == Kind::with_ticket || admission.kind == Kind::buffer;
    handed_.push_back(takes ? std::optional(admission.ticket) : std::nullopt);
  }

  /// A request was decided, and not granted.
  void decide(uint16_t ticket, uint16_t time) {
    const auto [of, result] = next(undone_);
    ASSERT_EQ(of, ticket) << at();
    const auto completion = golden_.decided(of, result, time);
    if (completion) completions_.push(*completion, bench_.cycle());
  }

  /// From its trace record on, until it is taken.
  void check_request() {
    ASSERT_EQ(bench_->req_valid_o, request_.has_value()) << at();
    if (!request_) return;
    const Admitted seen = get_admitted(bench_->req_o);
    ASSERT_TRUE(seen == *request_) << "expected " << text(request_->header) << " refusal "
                                   << name(request_->refusal) << "\ngot      " << text(seen.header)
                                   << " refusal " << name(seen.refusal) << '\n'
                                   << at();
    if (!bench_->req_ready_i) return;
    receiver_.take(*request_);
    request_.reset();
  }

  void check_queues() {
    for (uint8_t queue = 0; queue < inbox_queues; ++queue) {
      ASSERT_EQ(held(queue), golden_.held_by(queue) != 0) << "queue " << int{queue} << ' ' << at();
    }
  }

  void check_idle() {
    quiet_ = nothing_left() && receiver_.all_decided() ? quiet_ + 1 : 0;
    if (bench_->idle_o) {
      ASSERT_TRUE(nothing_inside()) << "idle_o is 1 " << at();
    } else {
      ASSERT_LE(quiet_, 20u) << "idle_o is 0 " << at();
    }
  }

  void take_inputs() {
    if (post && bench_->post_ready_o) {
      posts_.push_back(*post);
      post.reset();
      ++posted;
      ASSERT_LE(posted - completed_or_lost_ - completed, 3 * inbox_tickets)
          << "completions could have to wait, " << at();
    }
    if (rqt && bench_->rqt_ready_o) {
      rqts_.push_back(*rqt);
      rqt.reset();
    } else if (rqt) {
      ASSERT_GE(rqts_.size(), rqt_depth) << "there is room for a RQT, " << at();
      if (turn_away) {
        ++turned_away;
        rqt.reset();
      }
    }
    if (rsp && bench_->rsp_ready_o) {
      rsps_.push_back(*rsp);
      rsp.reset();
    } else if (rsp) {
      ASSERT_GE(rsps_.size(), rsp_depth) << "there is room for a RSP, " << at();
      if (turn_away) {
        ++rsps_turned_away;
        rsp.reset();
      }
    }
  }

  /// Nothing waits for ever that could go on.
  void check_patience() {
    ASSERT_LE(rsp_waits_ = rsp ? rsp_waits_ + 1 : 0, patience) << at();
    const bool place = completions_.size() == 0 && posted - completed_or_lost_ == completed + held_tickets();
    ASSERT_LE(post_waits_ = post && place ? post_waits_ + 1 : 0, patience) << at();
    const bool ready = !rqts_.empty() && !request_ && handed_.size() + undone_.size() < undecided;
    ASSERT_LE(rqt_waits_ = ready ? rqt_waits_ + 1 : 0, patience) << at();
    const bool left = !leaving_.empty() && !receiver_.write_waits(leaving_.front());
    ASSERT_LE(leave_waits_ = left ? leave_waits_ + 1 : 0, patience) << at();
    ASSERT_LE(undone_waits_ = undone_.empty() ? 0 : undone_waits_ + 1, patience) << at();
    for (uint16_t number = 0; number < inbox_tickets; ++number) {
      const bool due = golden_.due(number, now) || golden_.cancelled(number);
      due_[number] = due ? due_[number] + 1 : 0;
      ASSERT_LE(due_[number], patience) << "ticket " << number << ' ' << at();
    }
  }

  unsigned held_tickets() const { return inbox_tickets - golden_.free_tickets(); }

  void forget() {
    receiver_.reset();
    told_open_.fill(false);
    later_.clear();
    settings_.clear();
    configs_.fill(with_regions(config));
    nows_.fill(now);
    posts_.clear();
    rqts_.clear();
    rsps_.clear();
    leaving_.clear();
    control_.clear();
    completions_.clear();
    completed_or_lost_ = posted - completed;
    request_.reset();
    handed_.clear();
    undone_.clear();
    due_.fill(0);
    waited_ = quiet_ = rsp_waits_ = post_waits_ = rqt_waits_ = leave_waits_ = undone_waits_ = 0;
    controls_waiting_ = controls_before_ = 0;
  }

  rdma::Params params_;
  Bench<Top> bench_;
  rdma::Inbox golden_{params_, {}};
  InboxReceiver<Bench<Top>> receiver_{bench_};
  Steps later_, settings_;              // of the model, with the clocks in which the RTL was told
  std::deque<rdma::TicketPost> posts_;  // taken, not yet retired
  std::deque<Header> rqts_, rsps_;
  std::deque<uint16_t> leaving_;  // writes decided before
  ShownQueue<Header> control_{2};
  ShownQueue<rdma::TicketCompletion> completions_{2};
  std::optional<Admitted> request_;             // at the output
  std::deque<std::optional<uint16_t>> handed_;  // requests that are not decided, with their tickets
  std::deque<std::pair<uint16_t, rdma::RxResult>> undone_;  // tickets that were not granted
  std::vector<rdma::Region> regions_;                       // as the inbox knows them
  std::array<rdma::Config, 5> configs_{};                   // this clock, one clock ago, ...
  std::array<uint16_t, 5> nows_{};
  std::array<bool, inbox_queues> told_open_{};
  std::array<unsigned, inbox_tickets> due_{};
  bool dropped_now_ = false, request_shown_ = false;
  std::size_t controls_waiting_ = 0, controls_before_ = 0;
  unsigned completed_or_lost_ = 0;  // posts whose completion a reset has taken
  unsigned waited_ = 0, quiet_ = 0, rsp_waits_ = 0, post_waits_ = 0, rqt_waits_ = 0, leave_waits_ = 0,
           undone_waits_ = 0;
};

}  // namespace weft::rtl_test

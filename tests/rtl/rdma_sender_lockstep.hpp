// SPDX-License-Identifier: Apache-2.0
// rdma_sender beside the golden model: every retired event is one step of the model, and every output of
// every clock is compared with what the model's steps lead to.
#pragma once

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "rdma/sender.hpp"
#include "rdma/timeouts.hpp"
#include "rdma_ports.hpp"
#include "rdma_sizes.hpp"
#include "shown_queue.hpp"
#include "unit_trace.hpp"

namespace weft::rtl_test {

/// Short timeouts and few tries, so that what follows them comes often.
inline rdma::Config sender_config() {
  rdma::Config config;
  config.node_id = 3;
  config.tx_retry = 20;
  config.tx_dead = 30;
  config.max_retry = 2;
  config.max_busy = 3;
  return config;
}

/// The sizes in CMakeLists.txt; of both builds: few contexts, with numbers as narrow as they may be, so that
/// all come back, or as wide.
inline constexpr unsigned tx_contexts = 8;
inline constexpr unsigned resend_depth = 8;
inline rdma::Params sender_params(bool transfers = true) {
  rdma::Params params;
  params.n_tx_ctx = tx_contexts;
  params.payload = 64;
  params.pidx_bits = 8;
  params.msgid_bits = 6;
  params.node_bits = 4;
  params.addr_bits = 24;
  params.sid_bits = 4;
  params.cid_bits = 5;
  params.transfers = transfers;
  params.n_tickets = 16;
  return params;
}

/// Software posts from registers or queues, here as the tag says, so that it is known of a completion, too.
inline Origin software_with(uint16_t tag) {
  return std::popcount(tag) % 2 == 0 ? Origin::registers : Origin::queues;
}
inline bool is_answer(const rdma::Post& post) { return post.to == rdma::Post::To::ticket; }

/// Top: rdma_sender in one of its builds.
template <typename Top>
class SenderLockstep {
 public:
  explicit SenderLockstep(const rdma::Params& params) : golden_(params, {}), params_(params), trace_(params) {
    constexpr uint64_t summing = 2;  // clocks that DATA needs more with scheme receiver_counter
    if (params.scheme == rdma::Scheme::receiver_counter) sends_ = ShownQueue<rdma::DataOrder>{1 + summing};
  }

  using Outcome = rdma::formats::Outcome;
  using Header = rdma::formats::Header;

  struct Fault {
    uint16_t sid = 0;
    uint32_t msgid = 0;
  };

  // Inputs. A header, post or fault stays until it is taken.
  std::optional<Header> header;
  std::optional<Fault> fault;
  std::optional<rdma::Post> post;
  bool ctl_ready = true;
  bool data_ready = true;
  bool cpl_ready = true;
  uint16_t keep = 0;  // contexts to be left to answers
  uint16_t now = 0;
  uint32_t latest_overdue = 30;  // ticks that a timer may be late

  // What happened so far.
  std::map<Outcome, unsigned> outcomes;
  unsigned events = 0;
  unsigned dropped = 0;
  unsigned answers_done = 0;
  unsigned stale_faults = 0;  // of transfers that were over
  std::vector<bool> resent;   // of each DATA packet that left

  Bench<Top>& bench() { return bench_; }
  const rdma::Params& params() const { return params_; }
  const rdma::Sender& golden() const { return golden_; }
  unsigned owed() const { return owed_; }
  /// Has it sent a new packet in this clock or later?
  bool sent_since(uint16_t sid, uint64_t cycle) const {
    const auto last = sent_.find(sid);
    return last != sent_.end() && last->second >= cycle;
  }

  /// As if after reset.
  void compare_with(const rdma::Params& params, const rdma::Config& config) {
    params_ = params;
    golden_ = rdma::Sender(params, config);
  }

  /// In the middle of whatever is going on; ends when the sender is ready.
  void reset(const rdma::Config& config) {
    header.reset();
    post.reset();
    fault.reset();
    drive(config);
    bench_.reset(1);
    golden_.configure(config);
    golden_.reset();
    forget();
    for (bench_.settle(); !bench_->ready_o; bench_.settle()) {
      ASSERT_FALSE(bench_->trace_valid_o || bench_->ctl_valid_o || bench_->data_valid_o ||
                   bench_->cpl_valid_o);
      ASSERT_LT(++waited_, 3 * tx_contexts) << "clocks after reset and still not ready";
      bench_.step();
    }
  }

  void clock() {
    drive_inputs();
    bench_.settle();
    if (bench_->idle_o) {
      ASSERT_TRUE(nothing_left()) << "idle_o is 1 " << at();
    }
    check_control();
    check_data();
    check_completions();
    take_inputs();
    check_patience();
    if (bench_->trace_valid_o) follow();
    check_faults();
    ASSERT_EQ(bench_->ctl_dropped_o, dropped_now_) << at();
    ASSERT_LE(golden_.longest_overdue(now), latest_overdue) << at();
    ASSERT_EQ(bench_->answer_done_o, answer_done_now_) << at();
    if (answer_done_now_) {
      ASSERT_EQ(bench_->answer_tag_o, answer_tag_now_) << at();
    }
    check_query();
    dropped_now_ = answer_done_now_ = false;
    now_before_ = now;
    keep_before_ = keep;
    bench_.step();
  }

  void clocks(unsigned count) {
    for (unsigned n = 0; n < count && !testing::Test::HasFatalFailure(); ++n) clock();
  }

  /// The MSGID of the next post; while nothing is under way, as the model has no clocks.
  void number_from(uint32_t msgid) {
    using Port = std::remove_reference_t<decltype(bench_->msgid_i)>;
    bench_->msgid_i = static_cast<Port>(msgid % (1u << params_.msgid_bits));
    bench_->msgid_load_i = 1;
    clock();
    bench_->msgid_load_i = 0;
    golden_.number_from(msgid);
  }

  /// Until both inputs are taken.
  void give_inputs(unsigned most = 20) {
    for (unsigned n = 0; (header || post || fault) && !testing::Test::HasFatalFailure(); ++n) {
      ASSERT_LT(n, most) << "clocks and an input still waits, " << at();
      clock();
    }
  }

  /// Nothing waits, is under way, or owes an answer.
  bool nothing_left() const {
    return packets_.empty() && posts_.empty() && control_.size() == 0 && resends_.size() == 0 &&
           sends_.size() == 0 && completions_.size() == 0 && golden_.free_contexts() == tx_contexts &&
           buffers_empty();
  }

  bool buffers_empty() const {
    for (uint16_t i = 0; i < golden_.buffers(); ++i) {
      if (!golden_.buffer(i).empty()) return false;
    }
    return true;
  }

 private:
  std::string at() const { return "in cycle " + std::to_string(bench_.cycle()); }

  void drive(const rdma::Config& config) {
    bench_->node_id_i = config.node_id;
    bench_->msgid_load_i = 0;
    bench_->retry_i = config.tx_retry;
    bench_->dead_i = config.tx_dead;
    bench_->max_retry_i = config.max_retry;
    bench_->max_busy_i = config.max_busy;
    bench_->backoff_i = rdma::doublings(config, 3);
    drive_inputs();
  }

  void drive_inputs() {
    bench_->now_i = now;
    bench_->hdr_valid_i = header.has_value();
    if (header) put_header(bench_->hdr_i, *header);
    bench_->post_valid_i = post.has_value();
    if (post) put_post(bench_->post_i, *post, is_answer(*post) ? Origin::answers : software_with(post->tag));
    bench_->fault_valid_i = fault.has_value();
    bench_->fault_sid_i = fault ? fault->sid : 0;
    bench_->fault_msgid_i = fault ? fault->msgid : 0;
    bench_->keep_i = keep;
    bench_->ctl_ready_i = ctl_ready;
    bench_->data_ready_i = data_ready;
    bench_->cpl_ready_i = cpl_ready;
    drive_query();
  }

  /// Of a transfer as it is in its context, or of one that is not.
  void drive_query() {
    const auto sid = static_cast<uint16_t>(bench_.below(tx_contexts));
    bench_->query_i = bench_.chance(80);
    bench_->query_sid_i = sid;
    bench_->query_msgid_i = golden_.context(sid).msgid;
    if (bench_.chance(20)) bench_->query_msgid_i ^= 1u << bench_.below(params_.msgid_bits);
  }

  /// An answer tells of the clock before, with what retired in it.
  void check_query() {
    if (over_) {
      ASSERT_EQ(bench_->query_over_o, *over_) << at();
    }
    over_.reset();
    if (!bench_->query_i) return;
    const rdma::TxContext& context = golden_.context(bench_->query_sid_i);
    over_ = context.state == rdma::TxContext::State::free || context.msgid != bench_->query_msgid_i;
  }

  void forget() {
    packets_.clear();
    posts_.clear();
    faults_.clear();
    control_.clear();
    resends_.clear();
    sends_.clear();
    completions_.clear();
    controls_waiting_ = resends_waiting_ = 0;
    owed_ = waited_ = header_waits_ = post_waits_ = fault_waits_ = 0;
    resent_last_ = false;
    over_.reset();
    keep_before_ = keep;
  }

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

  /// Resent and new ones in turn when both wait, otherwise whichever does.
  void check_data() {
    resends_before_ = std::exchange(resends_waiting_, resends_.size());
    const bool resend = resends_.shown(bench_.cycle());
    const bool send = sends_.shown(bench_.cycle());
    ASSERT_EQ(bench_->data_valid_o, resend || send) << at();
    if (!bench_->data_valid_o) return;
    auto& queue = resend && !(send && resent_last_) ? resends_ : sends_;
    ASSERT_TRUE(get_header(bench_->data_hdr_o) == queue.front().header) << at();
    ASSERT_EQ(bench_->data_addr_o, queue.front().src_addr) << at();
    if (!data_ready) return;
    resent_last_ = queue.front().resend;
    resent.push_back(resent_last_);
    queue.pop();
  }

  void check_completions() {
    ASSERT_EQ(bench_->cpl_count_o, completions_.size()) << at();
    ASSERT_EQ(bench_->cpl_valid_o, completions_.shown(bench_.cycle())) << at();
    if (!bench_->cpl_valid_o) return;
    const rdma::Completion& front = completions_.front();
    ASSERT_EQ(bench_->cpl_o, completion_bits(front, software_with(front.tag))) << at();
    if (!cpl_ready) return;
    completions_.pop();
    --owed_;
  }

  void take_inputs() {
    if (header && bench_->hdr_ready_o) {
      packets_.push_back({*header, {}});
      header.reset();
    }
    if (post && bench_->post_ready_o) {
      if (!is_answer(*post)) {
        ASSERT_GT(free_contexts(), keep_before_) << "contexts kept for answers, " << at();
        ASSERT_LE(++owed_, tx_contexts) << "completions could have to wait, " << at();
      }
      posts_.push_back(*post);
      post.reset();
    }
    if (fault && bench_->fault_ready_o) {
      faults_.emplace_back(*fault, bench_.cycle());
      fault.reset();
    }
  }

  /// In the RTL, where a post has its context before it is decided.
  unsigned free_contexts() const { return golden_.free_contexts() - static_cast<unsigned>(posts_.size()); }

  /// Packets wait one clock at most, faults for a row of packets; posts wait for a context and a place, and a
  /// while for packets, faults and timeouts.
  void check_patience() {
    header_waits_ = header ? header_waits_ + 1 : 0;
    ASSERT_LE(header_waits_, 1u) << at();
    fault_waits_ = fault ? fault_waits_ + 1 : 0;
    ASSERT_LE(fault_waits_, 15u) << at();
    post_waits_ = post && welcome(*post) ? post_waits_ + 1 : 0;
    ASSERT_LE(post_waits_, 400u) << at();
  }

  bool welcome(const rdma::Post& post) const {
    if (is_answer(post)) return free_contexts() > 0;
    return owed_ < tx_contexts && free_contexts() > std::max(keep, keep_before_);
  }

  /// One that was taken three clocks ago has retired, or was of a transfer that is over: then there is no
  /// trace of it.
  void check_faults() {
    if (faults_.empty() || faults_.front().second + 3 > bench_.cycle()) return;
    const Fault over = faults_.front().first;
    faults_.pop_front();
    const rdma::TxContext& context = golden_.context(over.sid);
    ASSERT_FALSE(context.state == rdma::TxContext::State::active && context.msgid == over.msgid)
        << "a fault that had no effect " << at();
    ++stale_faults;
  }

  void follow() {
    rdma::TxInputs inputs{
        bench_->trace_room_o != 0, bench_->trace_resend_room_o != 0, {}, bench_->trace_now_o};
    if (bench_->trace_offer_valid_o) inputs.offer = bench_->trace_offer_sid_o;
    // As the event was decided, one clock ago.
    ASSERT_EQ(inputs.now, now_before_) << at();
    ASSERT_TRUE(inputs.room || controls_before_ >= 15) << controls_before_ << " wait " << at();
    ASSERT_TRUE(inputs.resend_room || resends_before_ >= resend_depth - 1)
        << resends_before_ << " wait " << at();
    const uint32_t answers = golden_.answers();
    const bool of_answer = bench_->trace_kind_o == 2 && !posts_.empty() && is_answer(posts_.front());
    const uint16_t tag_of_post = posts_.empty() ? uint16_t{0} : posts_.front().tag;
    rdma::TxResult result;
    ASSERT_NO_THROW(result = golden_step(inputs)) << at();
    ASSERT_EQ(name(static_cast<Outcome>(bench_->trace_outcome_o)), name(result.outcome)) << at();
    ASSERT_EQ(bench_->trace_sid_o, result.sid) << name(result.outcome) << ' ' << at();
    ASSERT_EQ(bench_->trace_next_o, result.next) << name(result.outcome) << ' ' << at();
    expect(result);
    if (bench_->trace_kind_o >= 5) return;  // of a buffer
    const bool rejected = of_answer && result.outcome != Outcome::submit;
    answer_done_now_ = rejected || golden_.answers() < answers;
    if (answer_done_now_) answer_tag_now_ = rejected ? tag_of_post : golden_.context(result.sid).tag;
    answers_done += answer_done_now_;
  }

  rdma::TxResult golden_step(const rdma::TxInputs& inputs) {
    switch (bench_->trace_kind_o) {
      case 0: {
        const rdma::Packet packet = next(packets_);
        return traced("packet", packet.header, {}, inputs, golden_.packet(packet, inputs));
      }
      case 1:
        return traced("timeout", {}, {}, inputs, golden_.timeout(bench_->trace_sid_o, inputs));
      case 2: {
        const rdma::Post post = next(posts_);
        return traced("post", {}, post, inputs, golden_.post(post, inputs));
      }
      case 4: {
        const Fault fault = next(faults_).first;
        return traced("fault", {}, {}, inputs, golden_.fault(fault.sid, fault.msgid, inputs));
      }
      case 5:
        return traced("buffer_timeout", {}, {}, inputs, golden_.buffer_timeout(bench_->trace_sid_o, inputs));
      case 6:
        return traced("buffer_turn", {}, {}, inputs, golden_.buffer_turn(bench_->trace_sid_o, inputs));
      default:
        if (static_cast<Outcome>(bench_->trace_outcome_o) == Outcome::send)
          sent_[bench_->trace_sid_o] = bench_.cycle();
        return traced("turn", {}, {}, inputs, golden_.turn(bench_->trace_sid_o, inputs));
    }
  }

  rdma::TxResult traced(std::string_view event, std::optional<Header> header, std::optional<rdma::Post> post,
                        const rdma::TxInputs& inputs, rdma::TxResult result) {
    if (trace_.wanted()) {
      trace_.write(rdma::tx_record(bench_.cycle(), rdma::view(event, header, post, inputs, result)));
    }
    return result;
  }

  template <typename T>
  static T next(std::deque<T>& queue) {
    if (queue.empty()) throw rdma::Violation("an event that nothing led to");
    T front = std::move(queue.front());
    queue.pop_front();
    return front;
  }

  void expect(const rdma::TxResult& result) {
    ++events;
    ++outcomes[result.outcome];
    if (result.ctl_dropped) ++dropped;
    dropped_now_ = result.ctl_dropped;
    if (result.emitted) control_.push(result.emitted->header, bench_.cycle());
    if (result.data) (result.data->resend ? resends_ : sends_).push(*result.data, bench_.cycle());
    if (result.completion) completions_.push(*result.completion, bench_.cycle());
  }

  Bench<Top> bench_;
  rdma::Sender golden_;
  rdma::Params params_;
  UnitTrace trace_;
  std::map<uint16_t, uint64_t> sent_;  // by SID: clock of its last new packet
  std::deque<rdma::Packet> packets_;   // taken, not yet retired
  std::deque<rdma::Post> posts_;
  std::deque<std::pair<Fault, uint64_t>> faults_;  // and when it was taken
  ShownQueue<Header> control_{2};
  ShownQueue<rdma::DataOrder> resends_{2};
  ShownQueue<rdma::DataOrder> sends_{1};
  ShownQueue<rdma::Completion> completions_{2};
  std::size_t controls_waiting_ = 0,
              controls_before_ = 0;  // at the start of this clock, and of the one before
  std::size_t resends_waiting_ = 0, resends_before_ = 0;
  bool resent_last_ = false;
  bool dropped_now_ = false, answer_done_now_ = false;
  uint16_t answer_tag_now_ = 0;
  uint16_t now_before_ = 0;   // one clock ago
  std::optional<bool> over_;  // answer due in this clock
  uint16_t keep_before_ = 0;
  unsigned owed_ = 0;    // posts of software taken whose completion was not read
  unsigned waited_ = 0;  // clocks after reset
  unsigned header_waits_ = 0, post_waits_ = 0, fault_waits_ = 0;  // clocks at the input
};

}  // namespace weft::rtl_test

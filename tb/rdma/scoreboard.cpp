// SPDX-License-Identifier: Apache-2.0
// Golden model in lockstep with one engine.
#include "scoreboard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace weft::tb {

namespace formats = rdma::formats;
using formats::Outcome;

namespace {

constexpr const char* event_name(TxKind kind) {
  switch (kind) {
    case TxKind::packet:
      return "packet";
    case TxKind::timeout:
      return "timeout";
    case TxKind::post:
      return "post";
    case TxKind::turn:
      return "turn";
    case TxKind::fault:
      return "fault";
    case TxKind::buffer_timeout:
      return "buffer_timeout";
    case TxKind::buffer_turn:
      return "buffer_turn";
  }
  return "?";
}

constexpr const char* origin_name(PostOrigin origin) {
  switch (origin) {
    case PostOrigin::registers:
      return "registers";
    case PostOrigin::queues:
      return "queues";
    case PostOrigin::answers:
      return "answers";
  }
  return "?";
}

/// Control packets that wait in a half whose queue has no room (docs/rdma.md), or had none when the event
/// came by; eight may have left the receiver since.
constexpr size_t control_margin = 16;  // of the receiver's queue, which has two places for each burst
constexpr size_t sender_full = 15;

/// RQT or RSP that only the inbox can decide, if it has room for it.
bool is_for_inbox(const formats::Header& header) {
  const bool request = header.ptype == static_cast<uint8_t>(formats::Ptype::rqt);
  return (request && !rdma::is_remembered(header)) || rdma::for_inbox(header);
}

/// Whether this is a RSP that grants a context.
bool grants(const formats::Header& header) {
  using formats::TransferFlag;
  if (header.ptype != static_cast<uint8_t>(formats::Ptype::rsp) || rdma::has_flag(header, TransferFlag::read))
    return false;
  const uint64_t code = rdma::has_flag(header, TransferFlag::send) ? header.arg & 0xffffffff : header.arg;
  return code == static_cast<uint64_t>(formats::Refusal::granted);
}

/// Whether the engine has taken this request for one that it has granted before.
bool takes_for_known(const formats::Header& header, const RxTracePins& rtl) {
  const auto outcome = static_cast<Outcome>(rtl.outcome);
  return rdma::is_remembered(header) && (outcome == Outcome::grant_again || outcome == Outcome::drop_asked);
}

rdma::Post answer_to(const rdma::ReadOrder& read) {
  rdma::Post post{read.src_addr, read.number, read.bytes, read.node, 0, read.ticket};
  post.to = rdma::Post::To::ticket;
  return post;
}

rdma::WindowBits window_bits(const RxTracePins& rtl, uint32_t window) {
  return {rtl.wvec.begin(), rtl.wvec.begin() + (window + 63) / 64};
}

/// Puts what the trace port says in place of what the golden model says.
void show_rtl(rdma::RxEventView& view, const RxTracePins& rtl, uint32_t window) {
  view.outcome = static_cast<Outcome>(rtl.outcome);
  view.limit = rtl.limit;
  view.cid = rtl.cid;
  view.wbase = rtl.wbase;
  view.wvec = window_bits(rtl, window);
}

void show_rtl(rdma::TxEventView& view, const TxTracePins& rtl) {
  view.outcome = static_cast<Outcome>(rtl.outcome);
  view.limit = rtl.limit;
  view.sid = rtl.sid;
  view.next = rtl.next;
}

}  // namespace

Scoreboard::Scoreboard(const RdmaBuild& build, Reporter& reporter, const AxiMemory& memory)
    : build_(build),
      reporter_(reporter),
      memory_(memory),
      receiver_(build.params, {}),
      repeats_(build.params),
      sender_(build.params, {}),
      packets_(build.params, memory.memory()),
      reads_(sender_, packets_, build.data_bytes),
      registers_([this](const rdma::Config& config) { note_settings(config); },
                 [this](const rdma::Post& post) { register_posts_.push_back(post); },
                 [this](uint32_t first) { sender_.number_from(first); },
                 [this](uint32_t first) {
                   if (inbox_) inbox_->number_from(first);
                 }) {
  if (!build.params.transfers) return;
  inbox_.emplace(build, reporter, packets_, traces_,
                 [this](Outcome outcome, bool dropped) { count(outcome, dropped); });
}

void Scoreboard::write_traces(const std::string& directory, bool with_rtl) {
  traces_.open(directory, reporter_.node(), build_, with_rtl);
}

void Scoreboard::reset() {
  receiver_.reset();
  repeats_.reset();
  sender_.reset();
  receiver_times_ = {};
  sender_times_ = {};
  receiver_measured_ = {};
  sender_measured_ = {};
  settings_.clear();
  registers_.reset();
  arrived_.clear();
  checked_.clear();
  for_receiver_.clear();
  for_sender_.clear();
  register_posts_.clear();
  queue_posts_.clear();
  answer_posts_.clear();
  posts_.clear();
  origins_.clear();
  answers_ = {};
  grants_.clear();
  if (inbox_) inbox_->reset();
  packets_.reset();
  reads_.reset();
  writes_.reset();
  expected_completions_.clear();
  completed_.clear();
  outcomes_.fill(0);
  ctl_dropped_ = 0;
  rx_timers_ = tx_timers_ = {reporter_.cycle(), 0};
  first_seen_ = {};
  last_seen_ = {0, reporter_.cycle(), 0};
}

/// What is long overdue by a new timeout was not so a cycle ago.
void Scoreboard::note_settings(const rdma::Config& config) {
  const auto timeouts = [](const rdma::Config& c) {
    return std::tie(c.rx_timeout, c.tx_retry, c.tx_dead, c.backoff, c.adapt, c.timeout_floor, c.weft_mode);
  };
  if (settings_.empty() || timeouts(settings_.back().second) != timeouts(config)) {
    rx_timers_ = tx_timers_ = {reporter_.cycle(), 0};
  }
  settings_.emplace_back(reporter_.cycle(), config);
}

/// The engine checks a packet in the cycle after its last beat, with the registers as they are then.
void Scoreboard::take_arrivals() {
  for (const auto& flits : checked_) {
    rdma::Arrival arrival{Outcome::drop_malformed, {}};
    if (flits) arrival = rdma::check_arrival(*flits, build_.params, registers_.node_id());
    const formats::Header& header = arrival.packet.header;
    const bool good = arrival.verdict == Outcome::none;
    const bool for_inbox = good && inbox_ && is_for_inbox(header);
    if (good && !for_inbox && rdma::for_sender(header)) {
      for_sender_.push_back(std::move(arrival.packet));
    } else {
      for_receiver_.push_back({std::move(arrival), for_inbox});
    }
  }
  checked_ = std::exchange(arrived_, {});
}

/// Where the oldest packet goes of which that was not known.
void Scoreboard::route(const RoutedTracePins& seen) {
  if (!seen.valid) return;
  const auto packet = std::ranges::find(for_receiver_, true, &ForReceiver::for_inbox);
  if (packet == for_receiver_.end()) return reporter_.add("a packet for the inbox that did not come in");
  if (!seen.to_inbox) {
    packet->for_inbox = false;
    packet->turned_away = true;
    return;
  }
  const formats::Header& header = packet->arrival.packet.header;
  if (rdma::for_inbox(header)) {
    inbox_->refusal_arrived(header);
  } else {
    inbox_->request_arrived(header);
  }
  for_receiver_.erase(packet);
}

void Scoreboard::answered(uint64_t bytes, bool ok) {
  const auto failed = writes_.answered(bytes, ok);
  if (failed && inbox_) inbox_->write_failed(*failed);
}

void Scoreboard::left(std::vector<uint8_t> flits) {
  if (flits.size() < rdma::flit_bytes) return;  // the monitor has told
  const auto header =
      formats::unpack(std::span<const uint8_t, rdma::flit_bytes>(flits.data(), rdma::flit_bytes));
  if (grants(header) && !grants_.empty()) {
    if (grants_.front()) writes_.grant_left(header.cid);
    grants_.pop_front();
  }
  packets_.left(std::move(flits), writes_.answered_bytes(), writes_.failed(header.cid), reporter_.cycle());
}

void Scoreboard::completed(const driver::RdmaCompletion& completion) {
  completed_.push_back({completion, reporter_.cycle()});
}

void Scoreboard::sample(const RdmaPins& pins) {
  registers_.sample(pins.axil);
  if (tick_cycles_ != registers_.tick_cycles()) {
    tick_cycles_ = registers_.tick_cycles();
    ticks_since_ = reporter_.cycle();
    first_seen_ = {};
  }
  take_arrivals();
  take_post(pins.post);
  route(pins.routed);
  if (inbox_) inbox_->catch_up();
  if (pins.inbox.valid) step_inbox(pins.inbox);
  if (pins.rx.valid) step_receiver(pins.rx);
  if (pins.tx.valid) step_sender(pins.tx);
  if (const auto missing = reads_.sample(pins.axi, reporter_.cycle())) reporter_.add("sender: " + *missing);
  forget_settings();
  packets_.judge(reporter_);
  writes_.judge(reporter_);
  judge_completions();
  // While memory takes nothing, the receiver takes no event once its queue of writes is full.
  if (memory_.stalled()) rx_timers_ = {reporter_.cycle(), 0};
  check_timers(rx_timers_, build_.params.n_rx_ctx, "receiver", [this](uint16_t now) {
    configure_receiver();
    return receiver_.longest_overdue(now);
  });
  check_timers(tx_timers_, build_.params.n_tx_ctx, "sender", [this](uint16_t now) {
    configure_sender();
    return sender_.longest_overdue(now);
  });
}

rdma::RxResult Scoreboard::golden_receiver(const RxTracePins& rtl, rdma::RxInputs& inputs,
                                           std::optional<formats::Header>& header) {
  if (rtl.timeout) {
    rdma::RxResult result = receiver_.timeout(rtl.cid, inputs);
    if (inbox_) inbox_->retired(result, nullptr, nullptr);
    return result;
  }
  if (rtl.from_inbox) {
    if (!inbox_) throw rdma::Violation("a request of an inbox that there is not");
    const InboxScoreboard::Admitted next = inbox_->next_admitted();
    header = next.header;
    inputs.admission = next.admission;
    rdma::RxResult result = golden_packet({next.header, {}}, inputs);
    inbox_->retired(result, &next.header, &next);
    return result;
  }
  if (for_receiver_.empty()) throw rdma::Violation("a packet event, but no packet has come in");
  if (for_receiver_.front().for_inbox)
    throw rdma::Violation("the receiver decides before the inbox has taken or turned away");
  const rdma::Arrival arrival = std::move(for_receiver_.front().arrival);
  for_receiver_.pop_front();
  if (arrival.verdict != Outcome::none) return receiver_.drop(arrival.verdict);
  header = arrival.packet.header;
  const bool known = takes_for_known(*header, rtl);
  if (known) {
    inputs.admission.kind = rdma::Admission::Kind::again;
    inputs.admission.cid = rtl.cid;
  }
  rdma::RxResult result = golden_packet(arrival.packet, inputs);
  if (const auto fault = repeats_.judge(*header, known, result, reporter_.cycle()))
    throw rdma::Violation(*fault);
  if (inbox_) inbox_->retired(result, &arrival.packet.header, nullptr);
  return result;
}

rdma::RxResult Scoreboard::golden_packet(const rdma::Packet& packet, const rdma::RxInputs& inputs) {
  const uint16_t source = packet.header.src;
  const uint32_t free_before = receiver_.free_contexts();
  const uint32_t held = receiver_.held_by(source);
  rdma::RxResult result = receiver_.packet(packet, inputs);
  if (result.outcome == Outcome::refuse_quota && held + hidden_free_contexts < receiver_.config().rx_quota) {
    throw rdma::Violation(fmt::format("RQT refused although source {} holds {} contexts", source, held));
  }
  if (packet.header.ptype == static_cast<uint8_t>(formats::Ptype::read)) check_read(packet.header, result);
  if (result.outcome == Outcome::refuse_no_context && free_before > hidden_free_contexts) {
    throw rdma::Violation(fmt::format("RQT refused for want of a context although {} are free", free_before));
  }
  return result;
}

/// As they were when the READ that retires now looked at them.
AnswerBounds Scoreboard::answer_bounds() const {
  const uint32_t answers = settings(ReceiverAge::answers).answers;
  return {std::min({answers, build_.max_answers, build_.params.n_tx_ctx - 1}),
          settings(ReceiverAge::quota).answer_quota, build_.params.n_sources};
}

/// Each READ has one answer at a time; as many are answered as may be, and no more.
void Scoreboard::check_read(const formats::Header& read, const rdma::RxResult& result) const {
  const auto fault = answers_.fault(ReadId(read), result.outcome, answer_bounds(), reporter_.cycle());
  if (fault) throw rdma::Violation(*fault);
}

void Scoreboard::step_inbox(const InboxTracePins& rtl) {
  if (!inbox_) return reporter_.add("an event of an inbox that there is not");
  rdma::Config config = settings(InboxAge::decision);
  config.regions = settings(InboxAge::region).regions;
  config.tx_retry = sender_limit(InboxAge::decision);
  inbox_->configure(config);
  inbox_->step(rtl);
}

void Scoreboard::step_receiver(const RxTracePins& rtl) {
  rx_events_++;
  rx_timers_.events++;
  observe_time("receiver", rtl.now, ReceiverAge::time);
  configure_receiver();
  rdma::RxInputs inputs{rtl.room, std::nullopt,     rtl.now,        rtl.over_quota,
                        {},       rtl.answer_asked, rtl.answer_room};
  if (rtl.offer_valid) inputs.offer = rtl.offer_cid;
  const char* event = rtl.timeout ? "timeout" : "packet";
  std::optional<formats::Header> header;
  try {
    check_room(rtl);
    const rdma::RxResult result = golden_receiver(rtl, inputs, header);
    rdma::RxEventView view = rdma::view(event, header, inputs, result);
    view.from_inbox = rtl.from_inbox;
    view.limit = receiver_limit(0);
    receiver_times_.see(result.outcome, result.cid, rtl.now);
    receiver_measured_.add(reporter_.cycle(), receiver_times_.timeout());
    compare(rtl, view);
    if (on_receiver_event_) on_receiver_event_(reporter_.cycle(), view);
    note(result);
  } catch (const rdma::Violation& violation) {
    reporter_.add(fmt::format("receiver: {} event with outcome {}, cid {}: {}", event,
                              formats::name(static_cast<Outcome>(rtl.outcome)), rtl.cid, violation.what()));
    rdma::RxEventView seen = rdma::view(event, header, inputs, {});
    show_rtl(seen, rtl, build_.params.window);
    traces_.write_alone(rdma::rx_record(reporter_.cycle(), seen));
  }
}

void Scoreboard::compare(const RxTracePins& rtl, rdma::RxEventView view) {
  const rdma::WindowBits wvec = window_bits(rtl, build_.params.window);
  const bool same = static_cast<Outcome>(rtl.outcome) == view.outcome && rtl.cid == view.cid &&
                    rtl.limit == view.limit && rtl.wbase == view.wbase && std::ranges::equal(wvec, view.wvec);
  if (same && !traces_.wanted()) return;
  const trace::Record golden = rdma::rx_record(reporter_.cycle(), view);
  // What the trace port does not carry is checked at the other ports and shown here as the golden model has
  // it.
  show_rtl(view, rtl, build_.params.window);
  const trace::Record seen = rdma::rx_record(reporter_.cycle(), view);
  if (!same) tell_difference("receiver", seen, golden);
  traces_.write(seen, golden);
}

void Scoreboard::note(const rdma::RxResult& result) {
  if (result.emitted)
    packets_.expect_receiver_control(
        *result.emitted, writes_.expected_bytes() + (result.write ? result.write->bytes.size() : 0));
  if (result.emitted && grants(result.emitted->header)) grants_.push_back(result.outcome == Outcome::grant);
  if (result.outcome == Outcome::grant) writes_.granted(result.cid);
  if (result.write) writes_.expect(*result.write, result.cid);
  if (result.read) {
    answer_posts_.push_back(answer_to(*result.read));
    answers_.take(ReadId(*result.read));
  }
  count(result.outcome, result.ctl_dropped);
}

rdma::TxResult Scoreboard::golden_sender(const TxTracePins& rtl, const rdma::TxInputs& inputs,
                                         std::optional<formats::Header>& header,
                                         std::optional<TakenPost>& post) {
  switch (rtl.kind) {
    case TxKind::timeout:
      return sender_.timeout(rtl.sid, inputs);
    case TxKind::turn:
      return sender_.turn(rtl.sid, inputs);
    case TxKind::post:
      return golden_post(inputs, post);
    case TxKind::fault:
      if (!reads_.take_fault(rtl.sid)) throw rdma::Violation("a fault, but no read of it has failed");
      return sender_.fault(rtl.sid, sender_.context(rtl.sid).msgid, inputs);
    case TxKind::buffer_timeout:
      return sender_.buffer_timeout(rtl.sid, inputs);
    case TxKind::buffer_turn:
      return sender_.buffer_turn(rtl.sid, inputs);
    case TxKind::packet:
      break;
  }
  if (for_sender_.empty()) throw rdma::Violation("a packet event, but no packet has come in");
  const rdma::Packet packet = std::move(for_sender_.front());
  for_sender_.pop_front();
  header = packet.header;
  return sender_.packet(packet, inputs);
}

/// Which of the two sources comes next is the hardware's choice.
void Scoreboard::take_post(const PostTracePins& taken) {
  if (!taken.valid) return;
  auto& source = taken.origin == PostOrigin::queues    ? queue_posts_
                 : taken.origin == PostOrigin::answers ? answer_posts_
                                                       : register_posts_;
  if (source.empty()) return reporter_.add("the sender takes a post that nobody has made");
  posts_.push_back({source.front(), taken.origin});
  source.pop_front();
}

rdma::TxResult Scoreboard::golden_post(const rdma::TxInputs& inputs, std::optional<TakenPost>& post) {
  if (posts_.empty()) throw rdma::Violation("a post event, but nothing was posted");
  post = posts_.front();
  posts_.pop_front();
  rdma::TxResult result = sender_.post(post->post, inputs);
  if (result.outcome == Outcome::submit) {
    origins_[result.sid] = post->origin;
    if (post->origin == PostOrigin::answers) answers_.start(ReadId(post->post), result.sid);
  }
  return result;
}

void Scoreboard::step_sender(const TxTracePins& rtl) {
  tx_events_++;
  tx_timers_.events++;
  observe_time("sender", rtl.now, 0);
  configure_sender();
  rdma::TxInputs inputs{rtl.room, rtl.resend_room, std::nullopt, rtl.now};
  if (rtl.offer_valid) inputs.offer = rtl.offer_sid;
  std::optional<formats::Header> header;
  std::optional<TakenPost> taken;
  std::optional<rdma::Post> post;
  try {
    check_room(rtl);
    const rdma::TxResult result = golden_sender(rtl, inputs, header, taken);
    if (taken) post = taken->post;
    rdma::TxEventView view = rdma::view(event_name(rtl.kind), header, post, inputs, result);
    if (taken) view.origin = origin_name(taken->origin);
    view.limit = sender_limit(0);
    sender_times_.see(result.outcome, result.sid, rtl.now);
    sender_measured_.add(reporter_.cycle(), sender_times_.timeout());
    compare(rtl, view);
    if (on_sender_event_) on_sender_event_(reporter_.cycle(), view);
    const auto known = origins_.find(result.sid);
    const PostOrigin origin = taken                     ? taken->origin
                              : known == origins_.end() ? PostOrigin::registers
                                                        : known->second;
    note(result, origin);
    const bool touched = result.sid < build_.params.n_tx_ctx;  // else a packet that fits no context
    if (touched && sender_.context(result.sid).state == rdma::TxContext::State::free) {
      answers_.end(result.sid, reporter_.cycle());
      packets_.transfer_over(result.sid);
    }
  } catch (const rdma::Violation& violation) {
    reporter_.add(fmt::format("sender: {} event with outcome {}, sid {}: {}", event_name(rtl.kind),
                              formats::name(static_cast<Outcome>(rtl.outcome)), rtl.sid, violation.what()));
    rdma::TxEventView seen = rdma::view(event_name(rtl.kind), header, post, inputs, {});
    show_rtl(seen, rtl);
    traces_.write_alone(rdma::tx_record(reporter_.cycle(), seen));
  }
}

void Scoreboard::compare(const TxTracePins& rtl, rdma::TxEventView view) {
  const bool same = static_cast<Outcome>(rtl.outcome) == view.outcome && rtl.limit == view.limit &&
                    rtl.sid == view.sid && rtl.next == view.next;
  if (same && !traces_.wanted()) return;
  const trace::Record golden = rdma::tx_record(reporter_.cycle(), view);
  show_rtl(view, rtl);
  const trace::Record seen = rdma::tx_record(reporter_.cycle(), view);
  if (!same) tell_difference("sender", seen, golden);
  traces_.write(seen, golden);
}

/// @param origin of the transfer that the event is about
void Scoreboard::note(const rdma::TxResult& result, PostOrigin origin) {
  if (result.emitted) packets_.expect_sender_control(*result.emitted);
  if (result.data) {
    const uint64_t number = packets_.expect_data(*result.data);
    if (!result.data->copy) reads_.expect(*result.data, number);
  }
  if (result.completion && origin == PostOrigin::queues) {
    on_queue_completion_(*result.completion);
  } else if (result.completion) {
    expected_completions_.push_back(*result.completion);
  }
  count(result.outcome, result.ctl_dropped);
}

void Scoreboard::count(Outcome outcome, bool ctl_dropped) {
  outcomes_[static_cast<size_t>(outcome) % outcome_codes]++;
  if (ctl_dropped) ctl_dropped_++;
}

void Scoreboard::tell_difference(const char* half, const trace::Record& rtl, const trace::Record& golden) {
  std::string keys;
  for (size_t i = 0; i < rtl.fields.size() && i < golden.fields.size(); ++i) {
    if (rtl.fields[i] == golden.fields[i]) continue;
    keys += fmt::format("\n  {}: expected {}, got {}", golden.fields[i].first, golden.fields[i].second,
                        rtl.fields[i].second);
  }
  reporter_.add(fmt::format("{}: event differs from the golden model{}\n  event    {}", half, keys,
                            trace::to_line(golden)));
}

void Scoreboard::judge_completions() {
  while (!completed_.empty() && completed_.front().cycle + trace_lag <= reporter_.cycle()) {
    const auto& got = completed_.front().completion;
    if (expected_completions_.empty()) {
      reporter_.add(fmt::format("completion {}:{} that nothing led to", got.tag, formats::name(got.status)));
    } else {
      const rdma::Completion expected = expected_completions_.front();
      expected_completions_.pop_front();
      if (got.tag != expected.tag || got.status != expected.status) {
        reporter_.add(fmt::format("completion\n  expected {}:{}\n  got      {}:{}", expected.tag,
                                  formats::name(expected.status), got.tag, formats::name(got.status)));
      }
    }
    completed_.pop_front();
  }
}

/// The tick counter of the trace moves on by one every TICK_CYCLES. Always compared with the first time seen,
/// so that a clock that is a little too fast is found out.
void Scoreboard::observe_time(const char* half, uint16_t now, uint64_t age) {
  const uint64_t cycle = reporter_.cycle() - age;
  if (cycle <= ticks_since_) return;  // looked at the time when its ticks were others
  if (first_seen_.tick_cycles == 0) first_seen_ = {registers_.tick_cycles(), cycle, now};
  if (cycle < first_seen_.cycle) return;  // of the receiver, which looks at the time earlier than the sender
  const auto expected = static_cast<uint16_t>(now_since(first_seen_, cycle));
  const auto late = static_cast<uint16_t>(now - expected) & rdma::tick_mask;
  if (late > 1) {
    reporter_.add(fmt::format("{}: time\n  expected {} or one more\n  got      {}", half, expected, now));
  }
  if (cycle >= last_seen_.cycle) last_seen_ = {registers_.tick_cycles(), cycle, now};
}

/// The registers so many clocks ago.
const rdma::Config& Scoreboard::settings(uint64_t age) const {
  const uint64_t since = std::max(reporter_.cycle(), age) - age;
  const auto later = std::ranges::find_if(settings_, [&](const auto& entry) { return entry.first > since; });
  return (later == settings_.begin() ? later : std::prev(later))->second;
}

std::optional<uint16_t> Scoreboard::Measured::at(uint64_t cycle) const {
  const auto later = std::ranges::find_if(timeouts, [&](const auto& entry) { return entry.first > cycle; });
  return (later == timeouts.begin() ? later : std::prev(later))->second;
}

void Scoreboard::Measured::forget_before(uint64_t cycle) {
  while (timeouts.size() > 1 && timeouts[1].first < cycle) timeouts.pop_front();
}

/// The timeouts that were in use so many clocks ago.
uint16_t Scoreboard::receiver_limit(uint64_t age) const {
  const rdma::Config& config = settings(age + LimitAge::registers);
  const uint64_t seen = age + LimitAge::events;
  const auto measured = receiver_measured_.at(std::max(reporter_.cycle(), seen) - seen);
  return rdma::timeout_in_use(config, measured, config.rx_timeout);
}

uint16_t Scoreboard::sender_limit(uint64_t age) const {
  const rdma::Config& config = settings(age + LimitAge::registers);
  const uint64_t seen = age + LimitAge::events;
  const auto measured = sender_measured_.at(std::max(reporter_.cycle(), seen) - seen);
  return rdma::timeout_in_use(config, measured, config.tx_retry);
}

/// As the registers were when the event that retires now looked at them.
void Scoreboard::configure_receiver() {
  rdma::Config config = settings(ReceiverAge::decision);
  config.node_id = settings(ReceiverAge::answer).node_id;
  config.rx_timeout = receiver_limit(ReceiverAge::timer);
  config.rx_ahead = settings(ReceiverAge::ahead).rx_ahead;
  config.rx_quota = settings(ReceiverAge::quota).rx_quota;
  config.regions = settings(ReceiverAge::region).regions;
  receiver_.configure(config);
}

void Scoreboard::configure_sender() {
  rdma::Config config = settings(SenderAge::decision);
  config.tx_retry = sender_limit(SenderAge::timer);
  config.tx_dead = settings(SenderAge::timer).tx_dead;
  sender_.configure(config);
}

/// Keeps those that an event can still have looked at.
void Scoreboard::forget_settings() {
  while (settings_.size() > 1 && settings_[1].first + ReceiverAge::region <= reporter_.cycle()) {
    settings_.pop_front();
  }
  const uint64_t seen = ReceiverAge::timer + LimitAge::events;
  const uint64_t needed = std::max(reporter_.cycle(), seen) - seen;
  receiver_measured_.forget_before(needed);
  sender_measured_.forget_before(needed);
}

/// An engine that says "no room" while its queue is not nearly full (docs/rdma.md) drops what it need not
/// drop.
void Scoreboard::check_room(const RxTracePins& rtl) const {
  const bool from_network = !rtl.timeout && !rtl.from_inbox;
  if (from_network && !for_receiver_.empty() && for_receiver_.front().turned_away) {
    if (rtl.room) throw rdma::Violation("a packet for which the inbox had no room finds room");
    return;
  }
  if (rtl.room || packets_.receiver_control_waiting() + control_margin >= 2 * build_.bursts) return;
  throw rdma::Violation(
      fmt::format("no room for control packets although {} wait", packets_.receiver_control_waiting()));
}

void Scoreboard::check_room(const TxTracePins& rtl) const {
  if (!rtl.room && packets_.sender_control_waiting() < sender_full) {
    throw rdma::Violation(
        fmt::format("no room for control packets although {} wait", packets_.sender_control_waiting()));
  }
  if (!rtl.resend_room && packets_.resends_waiting() + 1 < build_.resend_depth) {
    throw rdma::Violation(fmt::format("no room for resends although {} wait", packets_.resends_waiting()));
  }
}

/// The least that the tick counter can be in a cycle, from what was seen.
uint16_t Scoreboard::now_since(const SeenTime& seen, uint64_t cycle) const {
  const uint64_t ticks = (std::max(cycle, seen.cycle) - seen.cycle) / registers_.tick_cycles();
  return static_cast<uint16_t>(seen.now + ticks) & rdma::tick_mask;
}

/// A timer is looked at once in about every 4 cycles a context, unless other events come first. Limits are
/// those of now: the last event may have been long ago.
template <typename LongestOverdue>
void Scoreboard::check_timers(TimerWatch& watch, uint32_t contexts, const char* half,
                              LongestOverdue longest_overdue) {
  const uint64_t limit = contexts * 4ull + 1000;
  if (reporter_.cycle() < watch.window_start + limit) return;
  const bool idle = watch.events < limit / 8;
  watch = {reporter_.cycle(), 0};
  if (!idle) return;
  const uint32_t overdue = longest_overdue(now_since(last_seen_, reporter_.cycle()));
  const uint64_t cycles = overdue > 0 ? (overdue - 1ull) * registers_.tick_cycles() : 0;
  if (cycles > limit) reporter_.add(fmt::format("{}: a timer is {} cycles overdue", half, cycles));
}

bool Scoreboard::contexts_free() const {
  return receiver_.free_contexts() == build_.params.n_rx_ctx &&
         sender_.free_contexts() == build_.params.n_tx_ctx;
}

/// Of scheme sender_window: what is left of transfers that are over leaves its buffer at the next timeout.
bool Scoreboard::buffers_empty() const {
  for (uint16_t number = 0; number < sender_.buffers(); ++number) {
    if (!sender_.buffer(number).empty()) return false;
  }
  return true;
}

bool Scoreboard::quiet() const {
  return arrived_.empty() && checked_.empty() && for_receiver_.empty() && for_sender_.empty() &&
         register_posts_.empty() && queue_posts_.empty() && answer_posts_.empty() && posts_.empty() &&
         (!inbox_ || inbox_->quiet()) && packets_.empty() && writes_.empty() &&
         expected_completions_.empty() && completed_.empty() && contexts_free() && buffers_empty();
}

void Scoreboard::check_quiet() {
  if (!for_receiver_.empty() || !for_sender_.empty()) {
    reporter_.add(fmt::format("{} packets that came in never led to an event",
                              for_receiver_.size() + for_sender_.size()));
  }
  const size_t posts = register_posts_.size() + queue_posts_.size() + answer_posts_.size() + posts_.size();
  if (inbox_) inbox_->check_quiet();
  if (posts != 0) reporter_.add(fmt::format("{} posts never led to an event", posts));
  if (!packets_.empty()) reporter_.add("packet never left: " + packets_.describe_missing());
  if (!writes_.empty()) reporter_.add("host writes are missing");
  if (!expected_completions_.empty()) {
    reporter_.add(fmt::format("{} completions were never seen", expected_completions_.size()));
  }
  if (!contexts_free()) {
    reporter_.add(fmt::format("contexts in use at the end: receive {}, send {}",
                              build_.params.n_rx_ctx - receiver_.free_contexts(),
                              build_.params.n_tx_ctx - sender_.free_contexts()));
  }
}

void Scoreboard::check_counter(uint32_t code, uint32_t value) {
  if (value == static_cast<uint32_t>(outcomes_.at(code))) return;
  reporter_.add(fmt::format("register OUTCOME[{}] ({})\n  expected {}\n  got      {}", code,
                            formats::name(static_cast<Outcome>(code)), outcomes_.at(code), value));
}

void Scoreboard::check_ctl_dropped(uint32_t value) {
  if (value == static_cast<uint32_t>(ctl_dropped_)) return;
  reporter_.add(fmt::format("register CTL_DROPPED\n  expected {}\n  got      {}", ctl_dropped_, value));
}

}  // namespace weft::tb

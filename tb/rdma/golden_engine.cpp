// SPDX-License-Identifier: Apache-2.0
// The golden model in the place of an RTL engine.
#include "golden_engine.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "common/axis.hpp"
#include "rdma_baseline/send_buffer.hpp"

namespace weft::tb {

namespace formats = rdma::formats;
using formats::Header;
using formats::Ptype;

namespace {

// Clocks, as in the RTL.
constexpr uint64_t to_sender_clocks = 3;     // from the last beat of a packet to its event
constexpr uint64_t to_receiver_clocks = 12;  // likewise
constexpr uint64_t receiver_clocks = 6;      // from an event to its control packet at the exit
constexpr uint64_t write_clocks = 8;         // from an event to its write at the memory port
constexpr uint64_t control_clocks = 5;       // likewise, of the sender
constexpr uint64_t send_clocks = 4;          // from a turn to its packet at the fetcher
constexpr uint64_t turn_clocks = 5;          // from a turn to the next one of the same context
constexpr uint64_t fetched_clocks = 3;       // from the last beat of a payload to its packet at the exit
constexpr size_t control_depth = 16;         // of the sender
constexpr size_t send_enough = 4;            // new packets that wait: then no turn is taken
constexpr uint32_t long_beats = 5;           // nor behind one of so many beats
constexpr uint32_t least_ahead = 64;         // beats of payload, for a memory that answers soon
constexpr unsigned calm_packets = 16;        // after so many that find enough waiting, less is fetched ahead

std::deque<uint16_t> all_free(uint32_t contexts) {
  std::deque<uint16_t> numbers(contexts);
  std::iota(numbers.begin(), numbers.end(), uint16_t{0});
  return numbers;
}

/// Takes the first one out.
template <typename T>
T next(std::deque<T>& queue) {
  T front = std::move(queue.front());
  queue.pop_front();
  return front;
}

const RdmaBuild& supported(const RdmaBuild& build) {
  if (build.queues != 0 || build.params.transfers)
    throw std::invalid_argument("a golden engine has no host queues, SEND, READ or write with immediate");
  return build;
}

}  // namespace

GoldenEngine::GoldenEngine(const RdmaBuild& build)
    : build_(supported(build)),
      registers_([this](const rdma::Config& config) { config_ = config; },
                 [this](const rdma::Post& post) { posts_.push_back(post); },
                 [this](uint32_t first) { sender_.number_from(first); }),
      host_(build.data_bytes, build.bursts),
      receiver_(build.params, {}),
      granted_(build.params),
      sender_(build.params, {}) {
  reset();
}

void GoldenEngine::reset() {
  cycle_ = 0;
  now_ = 0;
  divider_ = 0;
  registers_.reset();
  host_.reset();
  rx_trace_ = {};
  tx_trace_ = {};
  arriving_.clear();
  for_receiver_.clear();
  for_sender_.clear();
  receiver_.reset();
  granted_.reset();
  receiver_times_ = {};
  free_cids_ = all_free(params_.n_rx_ctx);
  due_cids_.clear();
  answers_.clear();
  failed_.assign(params_.n_rx_ctx, false);
  for_memory_.clear();
  writes_ = writes_answered_ = 0;
  sender_.reset();
  sender_times_ = {};
  posts_.clear();
  free_sids_ = all_free(params_.n_tx_ctx);
  due_sids_.clear();
  due_buffers_.clear();
  turns_.clear();
  waiting_.assign(sender_.buffers(), {});
  queued_.assign(params_.n_tx_ctx, false);
  controls_.clear();
  sends_.clear();
  resends_.clear();
  faults_.clear();
  fetches_.clear();
  copies_.clear();
  next_read_ = 0;
  beats_ahead_ = payload_leaves_ = calm_ = 0;
  payload_came_ = false;
  fetch_beats_ = std::max(least_ahead, 4 * params_.payload / build_.data_bytes);
  fetched_.clear();
  leaving_.clear();
}

void GoldenEngine::settle(RdmaPins& pins) {
  registers_.drive(pins.axil);
  host_.drive(pins.axi);
  pins.irq = registers_.interrupt();
  pins.in.ready = true;
  pins.out.valid = !leaving_.empty();
  if (pins.out.valid) pins.out.beat = leaving_.front();
  pins.rx = rx_trace_;
  pins.tx = tx_trace_;
  pins_ = pins;
}

void GoldenEngine::edge() {
  if (!pins_.rst_n) return reset();
  ++cycle_;
  rx_trace_.valid = tx_trace_.valid = false;
  if (pins_.out.valid && pins_.out.ready) beat_left();
  registers_.step(pins_.axil);
  host_.step(pins_.axi);
  configure();
  take_beat(pins_.in);
  note_memory();
  count_ticks();
  step_receiver();
  step_sender();
  fetch();
  forward_fetched();
  leave();
  registers_.set_status(posts_.size() < build_.post_depth,
                        posts_.empty() && sender_.free_contexts() == params_.n_tx_ctx && fetches_.empty(),
                        receiver_.free_contexts() == params_.n_rx_ctx && for_memory_.empty() && host_.idle());
}

bool GoldenEngine::quiet() const {
  const bool nothing_arrives = arriving_.empty() && for_receiver_.empty() && for_sender_.empty();
  const bool nothing_waits = answers_.empty() && controls_.empty() && sends_.empty() && resends_.empty() &&
                             faults_.empty() && for_memory_.empty() && host_.idle();
  return nothing_arrives && nothing_waits && fetches_.empty() && fetched_.empty() && leaving_.empty();
}

/// The registers, with timeouts as measured.
void GoldenEngine::configure() {
  rdma::Config config = config_;
  config.rx_timeout = rdma::timeout_in_use(config_, receiver_times_.timeout(), config_.rx_timeout);
  config.tx_retry = rdma::timeout_in_use(config_, sender_times_.timeout(), config_.tx_retry);
  if (config == receiver_.config()) return;
  receiver_.configure(config);
  sender_.configure(config);
}

void GoldenEngine::count_ticks() {
  if (++divider_ < registers_.settings().tick_cycles()) return;
  divider_ = 0;
  now_ = static_cast<uint16_t>(now_ + 1);
  note_timeouts();
}

/// Contexts and buffers whose timers have ended, each once.
void GoldenEngine::note_timeouts() {
  if (due_cids_.empty()) {
    for (uint16_t cid = 0; cid < params_.n_rx_ctx; ++cid) {
      if (receiver_.due(cid, now_)) due_cids_.push_back(cid);
    }
  }
  if (due_sids_.empty()) {
    for (uint16_t sid = 0; sid < params_.n_tx_ctx; ++sid) {
      if (sender_.due(sid, now_)) due_sids_.push_back(sid);
    }
  }
  if (due_buffers_.empty()) {
    for (uint16_t i = 0; i < sender_.buffers(); ++i) {
      if (sender_.buffer_due(i, now_)) due_buffers_.push_back(i);
    }
  }
}

void GoldenEngine::take_beat(const AxisPins& in) {
  if (!in.valid) return;
  for (uint32_t i = 0; i < build_.data_bytes; ++i) {
    if (in.beat.keep >> i & 1) arriving_.push_back(in.beat.data[i]);
  }
  if (!in.beat.last) return;
  rdma::Arrival arrival = rdma::check_arrival(arriving_, params_, registers_.settings().node_id());
  arriving_.clear();
  if (arrival.verdict == Outcome::none && rdma::for_sender(arrival.packet.header)) {
    for_sender_.push_back({cycle_ + to_sender_clocks, std::move(arrival.packet)});
  } else {
    for_receiver_.push_back({cycle_ + to_receiver_clocks, std::move(arrival)});
  }
}

void GoldenEngine::note_memory() {
  while (!for_memory_.empty() && for_memory_.front().cycle <= cycle_) {
    const auto [write, cid] = next(for_memory_).what;
    host_.write(write, cid);
  }
  for (const GoldenHost::Written& write : host_.take_written()) {
    ++writes_answered_;
    if (write.failed) failed_[write.cid] = true;
  }
  if (std::exchange(payload_came_, false)) adapt_to_memory();
  for (GoldenHost::Read& read : host_.take_reads()) {
    Fetch& fetch = fetches_.at(read.tag - next_read_);
    fetch.payload = std::move(read.bytes);
    fetch.failed = read.failed;
    payload_came_ = true;
  }
}

/// As rdma_host_read does: no more is fetched ahead than memory takes to answer, which shows when nothing is
/// left to be sent, or much.
void GoldenEngine::adapt_to_memory() {
  const uint32_t beats = params_.payload / build_.data_bytes;
  const uint32_t least = std::max(least_ahead, 4 * beats), most = std::max(least, build_.bursts * beats);
  const Header* waits = next_order();
  const size_t others = fetched_.empty() ? 0 : fetched_.size() - 1;  // than the one that has just come
  if (waits && others == 0 && beats_ahead_ + beats_of_payload(*waits) > fetch_beats_) {
    fetch_beats_ = std::min(most, fetch_beats_ + 2 * beats);
  } else if (others >= least / beats && ++calm_ % calm_packets == 0) {
    fetch_beats_ = std::max(least, fetch_beats_ - beats);
  }
}

/// Of DATA that may be fetched now.
const Header* GoldenEngine::next_order() const {
  const auto ready = [this](const auto& queue) { return !queue.empty() && queue.front().cycle <= cycle_; };
  if (!ready(resends_) && !ready(sends_)) return nullptr;
  const bool resend = ready(resends_) && !(ready(sends_) && resent_last_);
  return &(resend ? resends_ : sends_).front().what.header;
}

// Receiver

rdma::RxInputs GoldenEngine::receiver_inputs(const Header* request) const {
  rdma::RxInputs inputs;
  inputs.room = answers_.size() + 2 < 2 * size_t{build_.bursts};
  if (!free_cids_.empty()) inputs.offer = free_cids_.front();
  inputs.now = now_;
  if (!request) return inputs;
  inputs.over_quota = config_.rx_quota != 0 && receiver_.held_by(request->src) >= config_.rx_quota;
  if (rdma::is_remembered(*request)) inputs.admission = granted_.admit(*request);
  return inputs;
}

void GoldenEngine::step_receiver() {
  if (!for_receiver_.empty() && for_receiver_.front().cycle <= cycle_) {
    const rdma::Arrival arrival = next(for_receiver_).what;
    if (arrival.verdict != Outcome::none) return retire(receiver_.drop(arrival.verdict), false);
    const Header& header = arrival.packet.header;
    const rdma::RxResult result = receiver_.packet(arrival.packet, receiver_inputs(&header));
    granted_.decided(header, result);
    return retire(result, false);
  }
  while (!due_cids_.empty()) {
    const uint16_t cid = next(due_cids_);
    if (receiver_.due(cid, now_)) return retire(receiver_.timeout(cid, receiver_inputs(nullptr)), true);
  }
}

void GoldenEngine::retire(const rdma::RxResult& result, bool timeout) {
  if (result.outcome == Outcome::grant) {
    free_cids_.pop_front();
    failed_[result.cid] = false;
  }
  if (result.outcome == Outcome::released || result.outcome == Outcome::released_failed ||
      result.outcome == Outcome::reclaim) {
    free_cids_.push_back(result.cid);
  }
  if (result.write) {
    for_memory_.push_back({cycle_ + write_clocks, {*result.write, result.cid}});
    ++writes_;
  }
  if (result.emitted) answers_.push_back({cycle_ + receiver_clocks, {*result.emitted, writes_}});
  receiver_times_.see(result.outcome, result.cid, now_);
  registers_.count(result.outcome, result.ctl_dropped);
  rx_trace_ = {};
  rx_trace_.valid = true;
  rx_trace_.timeout = timeout;
  rx_trace_.outcome = static_cast<uint8_t>(result.outcome);
  rx_trace_.cid = result.cid;
  rx_trace_.now = now_;
  rx_trace_.wbase = result.wbase;
  std::copy_n(result.wvec.begin(), std::min(result.wvec.size(), rx_trace_.wvec.size()),
              rx_trace_.wvec.begin());
}

// Sender

rdma::TxInputs GoldenEngine::sender_inputs() const {
  return {controls_.size() + 2 <= control_depth, resends_.size() + 2 <= build_.resend_depth, {}, now_};
}

bool GoldenEngine::send_room() const {
  const auto waits = [this](const auto& order) { return order.cycle <= cycle_; };
  const auto is_long = [this](const auto& order) {
    return order.what.header.len >= long_beats * build_.data_bytes;
  };
  return std::ranges::count_if(sends_, waits) <= static_cast<ptrdiff_t>(send_enough) &&
         std::ranges::none_of(sends_, [&](const auto& order) { return waits(order) && is_long(order); });
}

void GoldenEngine::step_sender() {
  if (!for_sender_.empty() && for_sender_.front().cycle <= cycle_) {
    return retire(sender_.packet(next(for_sender_).what, sender_inputs()), TxKind::packet);
  }
  while (!faults_.empty()) {
    const Fault fault = next(faults_);
    const rdma::TxContext& context = sender_.context(fault.sid);
    if (context.state != rdma::TxContext::State::active || context.msgid != fault.msgid) continue;
    return retire(sender_.fault(fault.sid, fault.msgid, sender_inputs()), TxKind::fault);
  }
  while (!due_buffers_.empty()) {
    const uint16_t buffer = next(due_buffers_);
    if (!sender_.buffer_due(buffer, now_)) continue;
    return retire(sender_.buffer_timeout(buffer, sender_inputs()), TxKind::buffer_timeout);
  }
  while (!due_sids_.empty()) {
    const uint16_t sid = next(due_sids_);
    if (sender_.due(sid, now_)) return retire(sender_.timeout(sid, sender_inputs()), TxKind::timeout);
  }
  if (!posts_.empty() && !free_sids_.empty()) {
    rdma::TxInputs inputs = sender_inputs();
    inputs.offer = free_sids_.front();
    return retire(sender_.post(next(posts_), inputs), TxKind::post);
  }
  if (!send_room() || step_of_waiting()) return;
  if (!turns_.empty() && turns_.front().cycle <= cycle_) take_turn(next(turns_).what);
}

/// Contexts that have waited for room, then packets to be sent again.
bool GoldenEngine::step_of_waiting() {
  for (uint16_t i = 0; i < sender_.buffers(); ++i) {
    if (waiting_[i].empty() || sender_.buffer(i).full()) continue;
    take_turn(next(waiting_[i]));
    return true;
  }
  for (uint16_t i = 0; i < sender_.buffers(); ++i) {
    if (!sender_.buffer(i).next_again()) continue;
    retire(sender_.buffer_turn(i, sender_inputs()), TxKind::buffer_turn);
    return true;
  }
  return false;
}

void GoldenEngine::take_turn(uint16_t sid) {
  queued_[sid] = false;
  const rdma::TxResult result = sender_.turn(sid, sender_inputs());
  const rdma::TxContext& context = sender_.context(sid);
  if (context.turn && result.outcome == Outcome::lapse && sender_.buffers() != 0) {
    waiting_[context.dst % sender_.buffers()].push_back(sid);
    queued_[sid] = true;
  }
  retire(result, TxKind::turn);
}

void GoldenEngine::retire(const rdma::TxResult& result, TxKind kind) {
  const bool of_buffer = kind == TxKind::buffer_timeout || kind == TxKind::buffer_turn;
  const bool known = !of_buffer && result.sid < params_.n_tx_ctx;
  if (result.outcome == Outcome::submit) free_sids_.pop_front();
  const bool was_used = kind != TxKind::post || result.outcome == Outcome::submit;
  if (result.completion) {
    registers_.complete(*result.completion);
    if (was_used) free_sids_.push_back(result.sid);
  }
  if (known && sender_.context(result.sid).turn && !queued_[result.sid]) {
    turns_.push_back({cycle_ + turn_clocks, result.sid});
    queued_[result.sid] = true;
  }
  if (result.emitted) controls_.push_back({cycle_ + control_clocks, *result.emitted});
  if (result.data) (result.data->resend ? resends_ : sends_).push_back({cycle_ + send_clocks, *result.data});
  sender_times_.see(result.outcome, result.sid, now_);
  registers_.count(result.outcome, result.ctl_dropped);
  tx_trace_ = {};
  tx_trace_.valid = true;
  tx_trace_.kind = kind;
  tx_trace_.outcome = static_cast<uint8_t>(result.outcome);
  tx_trace_.sid = result.sid;
  tx_trace_.now = now_;
  tx_trace_.next = result.next;
}

// Payloads

/// Resent and new packets in turn when both wait.
void GoldenEngine::fetch() {
  const Header* header = next_order();
  if (!header || fetches_.size() >= build_.bursts) return;
  const uint32_t beats = beats_of_payload(*header);
  if (beats_ahead_ + beats > fetch_beats_) return;
  beats_ahead_ += beats;
  const bool resend = !resends_.empty() && header == &resends_.front().what.header;
  resent_last_ = resend;
  Fetch fetch{next(resend ? resends_ : sends_).what, {}, false};
  if (!fetch.order.copy)
    host_.read(fetch.order.src_addr, fetch.order.header.len, next_read_ + fetches_.size());
  fetches_.push_back(std::move(fetch));
}

uint32_t GoldenEngine::beats_of_payload(const Header& data) const {
  return (data.len + build_.data_bytes - 1) / build_.data_bytes;
}

/// Its place is free for what is fetched next; that of a header never was one.
void GoldenEngine::beat_left() {
  leaving_.pop_front();
  const uint32_t left = std::min(payload_leaves_, static_cast<uint32_t>(leaving_.size()));
  beats_ahead_ -= payload_leaves_ - left;
  payload_leaves_ = left;
}

bool GoldenEngine::is_going(const Header& data) const {
  const rdma::TxContext& context = sender_.context(data.sid);
  return context.state == rdma::TxContext::State::active && context.msgid == data.msgid;
}

/// In order; what could not be read, or is of a transfer that is over, does not leave.
void GoldenEngine::forward_fetched() {
  while (!fetches_.empty()) {
    Fetch& oldest = fetches_.front();
    const Header& header = oldest.order.header;
    const uint64_t place = uint64_t{header.dst} << 8 | rdma::slot_of_data(header);
    if (oldest.order.copy) {
      const auto copy = copies_.find(place);
      oldest.failed = copy == copies_.end();
      if (!oldest.failed) oldest.payload = copy->second;
    } else if (!oldest.payload) {
      return;
    } else if (sender_.buffers() != 0) {
      if (oldest.failed) copies_.erase(place);
      if (!oldest.failed) copies_[place] = *oldest.payload;
    }
    if (is_going(header)) {
      if (oldest.failed) faults_.push_back({header.sid, header.msgid});
    }
    if (is_going(header) && !oldest.failed) {
      fetched_.push_back({cycle_ + fetched_clocks, {header, std::move(*oldest.payload)}});
    } else {
      beats_ahead_ -= beats_of_payload(header);
    }
    fetches_.pop_front();
    ++next_read_;
  }
}

/// The receiver's control packets first, then the sender's, then DATA; one is finished before the next.
void GoldenEngine::leave() {
  if (!leaving_.empty()) return;
  const auto send = [this](rdma::Packet packet) {
    for (const AxisBeat& beat : beats_of(rdma::encode(std::move(packet)), build_.data_bytes))
      leaving_.push_back(beat);
  };
  if (!answers_.empty() && answers_.front().cycle <= cycle_) {
    const Header& header = answers_.front().what.packet.header;
    const bool waits = header.ptype == static_cast<uint8_t>(Ptype::done) ||
                       (header.ptype == static_cast<uint8_t>(Ptype::ack) && sender_.buffers() != 0);
    if (!waits || answers_.front().what.writes_before <= writes_answered_) {
      Answer answer = next(answers_).what;
      if (waits && failed_[answer.packet.header.cid]) answer.packet.header.flags |= formats::flag_failed;
      return send(std::move(answer.packet));
    }
  }
  if (!controls_.empty() && controls_.front().cycle <= cycle_) return send(next(controls_).what);
  if (!fetched_.empty() && fetched_.front().cycle <= cycle_) {
    payload_leaves_ = beats_of_payload(fetched_.front().what.header);
    send(next(fetched_).what);
  }
}

}  // namespace weft::tb

// SPDX-License-Identifier: Apache-2.0
// Random posts, answers, pauses and resets for rdma_sender in lockstep with the golden model.
#pragma once

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "rdma_sender_lockstep.hpp"

namespace weft::rtl_test {

template <typename Top>
class SenderTraffic {
 public:
  using Header = rdma::formats::Header;
  using Outcome = rdma::formats::Outcome;

  /// config: after each reset.
  SenderTraffic(SenderLockstep<Top>& sender, const rdma::Config& config) : sender_(sender), config_(config) {
    if (!params_.transfers) never_.insert(Outcome::drop_no_key);
    if (params_.scheme != rdma::Scheme::receiver_window)
      never_.insert({Outcome::drop_full, Outcome::send_again});
    if (params_.scheme == rdma::Scheme::receiver_counter)
      never_.insert({Outcome::resend_one, Outcome::acked});
    if (params_.scheme == rdma::Scheme::sender_window) never_.insert(Outcome::still_asked);
  }

  /// Traffic with resets, then silence until nothing is left.
  void run(unsigned clocks) {
    for (unsigned n = 0; n < clocks; ++n) {
      if (n % 256 == 0) random_paces();
      if (bench_.below(10'000) == 0) sender_.reset(config_);
      random_clock();
      if (n % 20'000 == 0) expect_turns();
      if (testing::Test::HasFatalFailure()) FAIL() << "clock " << n;
    }
    expect_turns();
    if (turns_are_due()) {
      EXPECT_GT(turns_checked_, 5u);
    }
    end_all();
  }

  void run_with_any_settings(unsigned clocks) {
    for (unsigned n = 0; n < clocks; ++n) {
      if (n % 2000 == 0) sender_.reset(random_config());
      if (n % 256 == 0) random_paces();
      random_clock();
      if (testing::Test::HasFatalFailure()) FAIL() << "clock " << n;
    }
  }

  void expect_each_outcome(unsigned times) {
    for (auto code = static_cast<int>(Outcome::submit); code <= static_cast<int>(Outcome::source_failed);
         ++code) {
      if (never_.contains(static_cast<Outcome>(code))) continue;
      EXPECT_GT(sender_.outcomes[static_cast<Outcome>(code)], times) << name(static_cast<Outcome>(code));
    }
    EXPECT_GT(sender_.dropped, times);
    EXPECT_GT(sender_.stale_faults, times);
  }

 private:
  using State = rdma::TxContext::State;
  using To = rdma::Post::To;
  using Ptype = rdma::formats::Ptype;
  using TransferFlag = rdma::formats::TransferFlag;

  uint32_t any_bit(unsigned bits) { return 1u << bench_.below(bits); }

  /// Any settings: short timeouts, so that they end, or long ones.
  rdma::Config random_config() {
    rdma::Config config;
    config.node_id = static_cast<uint16_t>(bench_.any(params_.node_bits));
    config.tx_retry = static_cast<uint16_t>(8 + bench_.below(bench_.chance(70) ? 30 : 8000));
    config.tx_dead = static_cast<uint16_t>(8 + bench_.below(bench_.chance(70) ? 60 : 8000));
    config.max_retry = static_cast<uint8_t>(bench_.below(bench_.chance(70) ? 4 : 16));
    config.max_busy = static_cast<uint8_t>(bench_.below(bench_.chance(70) ? 4 : 256));
    config.backoff = static_cast<uint8_t>(bench_.below(4));
    return config;
  }

  Header random_answer() {
    const auto sid = static_cast<uint16_t>(bench_.below(tx_contexts));
    const rdma::TxContext& context = sender_.golden().context(sid);
    const bool requested = context.state == State::requested;
    const bool ended = context.next > context.cut.last;
    const unsigned kind = static_cast<unsigned>(bench_.below(100));
    const Ptype type = kind < (requested ? 85u : 5u) ? Ptype::rsp
                       : kind < (requested || !ended ? 97u : 60u)
                           ? (bench_.chance(50) ? Ptype::ack : Ptype::resend)
                           : Ptype::done;
    Header header = fitting_header(context, type);
    header.sid = sid;
    if (requested) {
      header.cid = static_cast<uint16_t>(bench_.any(params_.cid_bits));
      header.gen = static_cast<uint8_t>(bench_.any(8));
    }
    if (type == Ptype::rsp) random_response(context, header);
    if (type == Ptype::ack) {
      header.pidx = static_cast<uint32_t>(
          bench_.chance(90) ? context.acked + bench_.below(context.high - context.acked + 1u)
                            : bench_.any(bench_.chance(50) ? 5 : params_.pidx_bits));
      header.arg = bench_.below(bench_.chance(80) ? 4 : 7) << rdma::ack_map_bits |
                   (bench_.chance(50) ? 0 : bench_.any(bench_.chance(50) ? 16 : rdma::ack_map_bits));
      if (bench_.chance(50)) header.flags = rdma::formats::flag_order;
    }
    if (type == Ptype::resend) header.pidx = static_cast<uint32_t>(bench_.below(context.high + 2u));
    if (type == Ptype::ack && params_.scheme == rdma::Scheme::sender_window) random_slot(context, header);
    if (type == Ptype::resend && params_.scheme != rdma::Scheme::receiver_window) {
      if (bench_.chance(90)) header.pidx = 0;
      header.arg =
          (requested == bench_.chance(5) ? 1u << 8 : 0u) | ((context.attempt + bench_.below(3)) & 0xff);
    }
    if (type != Ptype::ack && type != Ptype::rsp && bench_.chance(20))
      header.flags = type == Ptype::done ? rdma::formats::flag_failed : rdma::formats::flag_from;
    if (bench_.chance(3)) header.src ^= any_bit(params_.node_bits);
    if (bench_.chance(3)) header.msgid ^= any_bit(params_.msgid_bits);
    if (bench_.chance(3)) header.gen ^= any_bit(8);
    if (bench_.chance(3)) header.cid ^= any_bit(params_.cid_bits);
    if (bench_.chance(2)) header.sid = static_cast<uint16_t>(header.sid + tx_contexts);
    return header;
  }

  /// What a slot of its buffer has, if it has any of this transfer, or nearly so.
  void random_slot(const rdma::TxContext& context, Header& header) {
    const auto& buffer = sender_.golden().buffer(context.dst % static_cast<uint16_t>(params_.n_send_buffers));
    const auto from = static_cast<uint32_t>(bench_.below(params_.window));
    for (uint32_t i = 0; i < params_.window; ++i) {
      const Header* sent = buffer.waits((from + i) % params_.window);
      if (!sent || sent->sid != header.sid || sent->msgid != header.msgid) continue;
      header.pidx = sent->pidx;
      header.arg = rdma::slot_of_data(*sent);
      break;
    }
    if (bench_.chance(3)) header.pidx ^= any_bit(params_.pidx_bits);
    if (bench_.chance(3)) header.arg = bench_.any(bench_.chance(50) ? 8 : 56);
    if (bench_.chance(10)) header.flags = rdma::formats::flag_failed;
  }

  /// With the key of a buffer if one is due, and forged now and then: with one that is not, with bits above
  /// the code.
  void random_response(const rdma::TxContext& context, Header& header) {
    if (bench_.chance(30))
      header.arg = std::array{bench_.below(6), bench_.below(36), uint64_t{32}}[bench_.below(3)];
    // Who has been put off once is so again, until the sender gives up.
    if (params_.scheme != rdma::Scheme::receiver_window && context.busy != 0 && bench_.chance(50))
      header.arg = static_cast<uint64_t>(rdma::formats::Refusal::no_context);
    if (header.arg == 0) header.pidx = static_cast<uint32_t>(bench_.below(4));
    if (!params_.transfers) return;
    if ((context.to != To::region) != bench_.chance(5)) rdma::set_flag(header, TransferFlag::send);
    if (rdma::has_flag(header, TransferFlag::send) || bench_.chance(3)) header.arg |= bench_.any(24) << 32;
    if (bench_.chance(3)) rdma::set_flag(header, TransferFlag::imm);
  }

  rdma::Post random_post() {
    const uint32_t payload = params_.payload;
    const uint64_t bus = uint64_t{1} << params_.addr_bits;
    rdma::Post post{bench_.below(1000) * payload, bus - 16'384 + bench_.below(3) * payload,
                    static_cast<uint32_t>(1 + bench_.below(20ull * payload)),
                    static_cast<uint32_t>(bench_.any(params_.node_bits)),
                    static_cast<uint16_t>(bench_.any(16))};
    if (bench_.chance(30)) {
      post.src_addr = bench_.below(bus / payload) * payload;
      post.dst_addr = bench_.below(bus / payload) * payload;
    }
    if (bench_.chance(10)) post.bytes = static_cast<uint32_t>(1 + bench_.any(params_.pidx_bits) * payload);
    if (bench_.chance(3)) post.bytes = static_cast<uint32_t>(bench_.below(2) * payload << params_.pidx_bits);
    if (params_.transfers) post.to = static_cast<To>(bench_.below(3));
    if (params_.transfers && bench_.chance(50)) post.imm = static_cast<uint32_t>(bench_.any(32));
    if (bench_.chance(3)) post.src_addr |= 1;
    if (bench_.chance(3)) post.dst_addr = bus - payload;
    if (bench_.chance(3)) post.node = 1u << params_.node_bits;
    post.rkey = static_cast<uint32_t>(bench_.any(24));
    if (post.to == To::queue) post.dst_addr = 0;
    if (post.to == To::ticket) post.dst_addr = bench_.any(params_.msgid_bits);
    return post;
  }

  /// Mostly of a transfer under way; one that is over meanwhile, or was never there, changes nothing.
  typename SenderLockstep<Top>::Fault random_fault() {
    const auto sid = static_cast<uint16_t>(bench_.below(tx_contexts));
    const uint32_t msgid = sender_.golden().context(sid).msgid;
    return {sid, bench_.chance(10) ? msgid ^ any_bit(params_.msgid_bits) : msgid};
  }

  void random_clock() {
    if (!sender_.fault && bench_.below(1000) < paces_.faults) sender_.fault = random_fault();
    if (!sender_.post && bench_.chance(paces_.posts)) sender_.post = random_post();
    if (!sender_.header && bench_.chance(paces_.answers)) sender_.header = random_answer();
    sender_.ctl_ready = bench_.chance(paces_.control);
    sender_.data_ready = bench_.chance(paces_.data);
    sender_.cpl_ready = bench_.chance(paces_.completions);
    if (bench_.chance(10)) sender_.keep = static_cast<uint16_t>(paces_.keep ? bench_.below(paces_.keep) : 0);
    if (paces_.tick && bench_.cycle() % paces_.tick == 0) ++sender_.now;
    sender_.clock();
  }

  bool turns_are_due() const {
    constexpr uint32_t narrow = 4;
    return params_.scheme == rdma::Scheme::receiver_counter ||
           (params_.scheme == rdma::Scheme::sender_window && params_.window <= narrow);
  }

  /// While time stands still, and what waits in a window is answered, everybody who has something left sends.
  /// Not of the engine's own scheme, where it may wait for an ACK, nor of wide windows: what they send again
  /// goes first.
  void expect_turns() {
    if (!turns_are_due()) return;
    const auto paces = std::exchange(paces_, {0, 0, 100, 100, 100, 0, 0, 0});
    sender_.header.reset();
    sender_.post.reset();
    sender_.fault.reset();
    for (unsigned n = 0; n < 50; ++n) random_clock();  // what is under way
    std::set<uint16_t> wanting;
    for (uint16_t sid = 0; sid < tx_contexts; ++sid) {
      const rdma::TxContext& context = sender_.golden().context(sid);
      if (context.state == State::active && context.turn && context.next <= context.cut.last)
        wanting.insert(sid);
    }
    const uint64_t start = bench_.cycle();
    for (unsigned n = 0; n < 300 && !testing::Test::HasFatalFailure(); ++n) {
      if (!sender_.header && params_.scheme == rdma::Scheme::sender_window) answer_one();
      random_clock();
    }
    sender_.header.reset();
    if (!windows_keep_what_is_over()) {
      ++turns_checked_;
      for (const uint16_t sid : wanting) EXPECT_TRUE(sender_.sent_since(sid, start)) << "SID " << sid;
    }
    paces_ = paces;
  }

  /// Windows have packets of transfers that are over: they leave when they would be sent again, and a context
  /// may still stand in the list of a window that its earlier transfer waited for.
  bool windows_keep_what_is_over() const {
    if (params_.scheme != rdma::Scheme::sender_window) return false;
    for (uint16_t number = 0; number < params_.n_send_buffers; ++number) {
      for (uint32_t slot = 0; slot < params_.window; ++slot) {
        const Header* sent = sender_.golden().buffer(number).waits(slot);
        if (sent && is_over(*sent)) return true;
      }
    }
    return false;
  }

  bool is_over(const Header& sent) const {
    const rdma::TxContext& context = sender_.golden().context(sent.sid);
    return context.state != State::active || context.msgid != sent.msgid;
  }

  /// ACK for a packet that waits in any window, if there is one.
  void answer_one() {
    const auto slots = static_cast<uint32_t>(params_.n_send_buffers * params_.window);
    const auto from = static_cast<uint32_t>(bench_.below(slots));
    for (uint32_t i = 0; i < slots; ++i) {
      const uint32_t slot = (from + i) % slots;
      const auto& buffer = sender_.golden().buffer(static_cast<uint16_t>(slot / params_.window));
      const Header* sent = buffer.waits(slot % params_.window);
      if (!sent || is_over(*sent)) continue;
      const rdma::TxContext& context = sender_.golden().context(sent->sid);
      Header header = fitting_header(context, Ptype::ack);
      header.sid = sent->sid;
      header.pidx = sent->pidx;
      header.arg = slot % params_.window;
      sender_.header = header;
      return;
    }
  }

  /// Without any answer every transfer ends by its timers, and every context and completion comes back.
  void end_all() {
    sender_.header.reset();
    sender_.post.reset();
    sender_.fault.reset();
    paces_ = {0, 0, 100, 100, 100, 8, 0, 0};
    for (unsigned n = 0; n < 8000 && !testing::Test::HasFatalFailure(); ++n) random_clock();
    end_endless();
    bench_.settle();
    EXPECT_TRUE(bench_->idle_o);
    EXPECT_TRUE(sender_.nothing_left());
  }

  /// Without a window a transfer goes on as long as it has packets, which may be millions.
  void end_endless() {
    for (uint16_t sid = 0; sid < tx_contexts && !testing::Test::HasFatalFailure(); ++sid) {
      const rdma::TxContext& context = sender_.golden().context(sid);
      if (context.state != State::active || context.span != 0 || context.next > context.cut.last) continue;
      sender_.fault = {sid, context.msgid};
      sender_.give_inputs();
    }
    sender_.clocks(100);
  }

  void random_paces() {
    paces_ = {bench_.pace(),
              bench_.pace(),
              bench_.pace(),
              bench_.pace(),
              bench_.pace(),
              bench_.chance(50) ? 8u : 0u,
              static_cast<unsigned>(bench_.chance(50) ? 0 : bench_.below(tx_contexts + 2)),
              std::array{0u, 1u, 5u, 20u}[bench_.below(4)]};
  }

  SenderLockstep<Top>& sender_;
  Bench<Top>& bench_ = sender_.bench();
  const rdma::Params& params_ = sender_.params();
  rdma::Config config_;
  unsigned turns_checked_ = 0;
  std::set<Outcome> never_;  // with these parameters
  struct {
    unsigned posts, answers, control, data, completions;  // percent
    unsigned tick;                                        // clocks, 0: time stands still
    unsigned keep;
    unsigned faults;  // per mille
  } paces_{};
};

}  // namespace weft::rtl_test

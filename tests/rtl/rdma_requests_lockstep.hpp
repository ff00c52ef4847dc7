// SPDX-License-Identifier: Apache-2.0
// rdma_requests between queues that post, an engine and an inbox that complete, in lockstep with the golden
// model: every request checked, posted or refused, and every completion.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "Vrdma_requests_bench.h"
#include "bench.hpp"
#include "common/findings.hpp"
#include "common/signals.hpp"
#include "common/stable.hpp"
#include "rdma/queue_requests.hpp"

namespace weft::rtl_test {

namespace queue_formats = rdma_queues::formats;

/// Probabilities in percent.
struct RequestPaces {
  unsigned request = 100;   ///< of a request offered
  unsigned take = 100;      ///< engine and inbox take a post
  unsigned complete = 100;  ///< the engine completes one of those that it has
  unsigned ticket = 100;    ///< the inbox completes one of those that it has
  unsigned out = 100;       ///< the queues take a completion
};

class RequestsTest : public testing::Test {
 protected:
  // as in the bench
  static constexpr uint32_t n_requests = 16, n_tickets = 8, n_regions = 8, payload = 256;
  static constexpr uint32_t queue_count = 64;

  void start() {
    config_.regions.assign(n_regions, {});
    settings_.assign(3, config_);
    quiet_ports();
    bench_.reset();
  }

  /// In the next cycle.
  void set_region(uint8_t number, const rdma::Region& region) { region_to_set_ = {number, region}; }

  void post(const rdma_queues::Request& request) { offered_.push_back(request); }

  void cycle() {
    if (HasFatalFailure()) return;
    drive();
    bench_.settle();
    reporter_.set_cycle(bench_.cycle());
    follow_region();
    check_trace();
    check_post();
    check_ticket_post();
    check_out();
    take_inputs();
    ASSERT_FALSE(findings_.any()) << findings_.summary();
    bench_.step();
  }
  void cycles(unsigned count) {
    for (unsigned n = 0; n < count && !HasFatalFailure(); ++n) cycle();
  }
  template <typename Condition>
  void until(Condition condition, unsigned limit = 5000) {
    for (unsigned n = 0; n < limit && !condition() && !HasFatalFailure(); ++n) cycle();
    EXPECT_TRUE(condition());
  }
  bool idle() const {
    return offered_.empty() && to_check_.empty() && to_post_.empty() && under_way_.empty() &&
           refused_.empty() && done_.empty();
  }

  /// What the inbox says at the end of a request: by default anything that it may say of one.
  virtual rdma::TicketCompletion end_ticket(uint16_t tag, const rdma_queues::Request& request) {
    using rdma::formats::Status;
    rdma::TicketCompletion end;
    end.queue = request.queue;
    end.tag = tag;
    const bool is_read = request.entry.opcode == static_cast<uint8_t>(queue_formats::Opcode::read);
    end.kind = is_read ? rdma::TicketKind::read : rdma::TicketKind::recv;
    constexpr std::array statuses{Status::ok,         Status::local_error, Status::cancelled,
                                  Status::bad_buffer, Status::no_ticket,   Status::misaligned,
                                  Status::no_answer};
    end.status = statuses[bench_.chance(50) ? 0 : bench_.below(statuses.size())];
    if (end.status != Status::ok && end.status != Status::local_error) return end;
    end.node = static_cast<uint16_t>(bench_.below(1u << 16));
    end.form = bench_.chance(50) ? rdma::Form::buffer : rdma::Form::immediate;
    end.bytes = static_cast<uint32_t>(bench_.below(uint64_t{1} << 32));
    if (bench_.chance(50)) end.imm = static_cast<uint32_t>(bench_.below(uint64_t{1} << 32));
    return end;
  }

  Bench<Vrdma_requests_bench> bench_;
  RequestPaces paces_;
  rdma::Config config_;                   // as set so far
  std::vector<uint16_t> engine_, inbox_;  // tags that they have
  std::vector<rdma::Post> posts_;
  std::vector<rdma::TicketPost> ticket_posts_;
  std::vector<rdma_queues::Outcome> outcomes_;
  std::vector<bool> taken_from_inbox_;    // completions in the order in which they are taken
  std::array<uint64_t, 256> statuses_{};  // requests checked, by what was found
  uint64_t full_ = 0;                     // clocks in which all tags are under way

 private:
  struct RegionSet {
    uint8_t number;
    rdma::Region region;
  };

  void quiet_ports() {
    bench_->region_set_i = bench_->req_valid_i = bench_->out_ready_i = bench_->post_ready_i = 0;
    bench_->cpl_valid_i = bench_->ticket_post_ready_i = bench_->ticket_cpl_valid_i = 0;
  }
  void expect(bool ok, const std::string& text) {
    if (!ok) reporter_.add(text);
  }

  // --- driving
  void drive() {
    drive_region();
    request_on_ = !offered_.empty() && (request_on_ || bench_.chance(paces_.request));
    bench_->req_valid_i = request_on_;
    const rdma_queues::Request request = offered_.empty() ? rdma_queues::Request{} : offered_.front();
    bench_->req_queue_i = request.queue;
    bench_->req_owner_i = request.owner;
    tb::put_bytes(bench_->req_entry_i, queue_formats::pack(request.entry).data(), 64);
    bench_->post_ready_i = bench_.chance(paces_.take);
    bench_->ticket_post_ready_i = bench_.chance(paces_.take);
    bench_->out_ready_i = bench_.chance(paces_.out);
    drive_engine();
    drive_inbox();
  }

  void drive_region() {
    bench_->region_set_i = region_to_set_.has_value();
    const RegionSet set = region_to_set_.value_or(RegionSet{});
    const rdma::Region& region = set.region;
    const bool empty = region.limit <= region.base;
    bench_->region_idx_i = set.number;
    bench_->region_valid_i = !empty;
    bench_->region_local_i = region.local_use && !empty;
    bench_->region_owner_i = region.owner;
    bench_->region_key_i = region.key;
    bench_->region_base_i = static_cast<uint32_t>(region.base / payload);
    bench_->region_last_i = static_cast<uint32_t>(empty ? 0 : (region.limit - 1 - region.base) / payload);
  }

  uint16_t take_any(std::vector<uint16_t>& from) {
    const size_t index = bench_.below(from.size());
    const uint16_t tag = from[index];
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(index));
    return tag;
  }

  void drive_engine() {
    if (!completion_ && !engine_.empty() && bench_.chance(paces_.complete)) {
      using rdma::formats::Status;
      completion_ = rdma::Completion{take_any(engine_), bench_.chance(70) ? Status::ok : Status::dead_peer};
    }
    const auto completion = completion_.value_or(rdma::Completion{});
    bench_->cpl_valid_i = completion_.has_value();
    bench_->cpl_tag_i = completion.tag;
    bench_->cpl_status_i = static_cast<uint8_t>(completion.status);
  }

  void drive_inbox() {
    if (!ticket_end_ && !inbox_.empty() && bench_.chance(paces_.ticket)) {
      const uint16_t tag = take_any(inbox_);
      ticket_end_ = end_ticket(tag, under_way_.at(tag));
    }
    const auto end = ticket_end_.value_or(rdma::TicketCompletion{});
    bench_->ticket_cpl_valid_i = ticket_end_.has_value();
    bench_->ticket_cpl_queue_i = end.queue;
    bench_->ticket_cpl_tag_i = end.tag;
    bench_->ticket_cpl_is_read_i = end.kind == rdma::TicketKind::read;
    bench_->ticket_cpl_status_i = static_cast<uint8_t>(end.status);
    bench_->ticket_cpl_node_i = end.node;
    bench_->ticket_cpl_imm_form_i = end.form == rdma::Form::immediate;
    bench_->ticket_cpl_bytes_i = end.bytes;
    bench_->ticket_cpl_has_imm_i = end.imm.has_value();
    bench_->ticket_cpl_imm_i = end.imm.value_or(0);
  }

  // --- checking
  /// settings_.front(): regions as set up to two clocks ago.
  void follow_region() {
    if (region_to_set_) config_.regions[region_to_set_->number] = region_to_set_->region;
    region_to_set_.reset();
    settings_.push_back(config_);
    settings_.pop_front();
  }

  void check_trace() {
    if (!bench_->trace_o) return;
    expect(!to_check_.empty(), "a request is checked that was not taken");
    if (to_check_.empty()) return;
    const rdma_queues::Request request = to_check_.front();
    to_check_.pop_front();
    const uint8_t status = rdma_queues::refusal(settings_.front(), request);
    expect(status == bench_->trace_status_o, "request checked with status " +
                                                 std::to_string(bench_->trace_status_o) + ", golden " +
                                                 std::to_string(status));
    ++statuses_[status];
    if (status != 0) {
      refused_.push_back(rdma_queues::outcome_of(request, status));
    } else {
      to_post_.push_back(request);
    }
  }

  /// The request that is posted under this tag.
  rdma_queues::Request posted(uint16_t tag) {
    const rdma_queues::Request request = to_post_.front();
    to_post_.pop_front();
    expect(tag < n_requests && under_way_.emplace(tag, request).second, "a tag is given out twice");
    return request;
  }

  void check_post() {
    if (!bench_->post_valid_o || !bench_->post_ready_i) return;
    const bool due = !to_post_.empty() && !rdma_queues::is_ticket(to_post_.front());
    expect(due, "a post that is not due");
    if (!due) return;
    rdma::Post post{bench_->post_src_o,  bench_->post_dst_o, bench_->post_bytes_o,
                    bench_->post_node_o, bench_->post_tag_o, bench_->post_rkey_o};
    post.to = rdma::Post::To{bench_->post_to_o};
    if (bench_->post_has_imm_o) post.imm = bench_->post_imm_o;
    expect(bench_->post_has_imm_o || bench_->post_imm_o == 0, "an immediate of none");
    expect(bench_->post_origin_o == 1, "a post not of the queues");
    expect(rdma_queues::post_of(posted(post.tag), post.tag) == post, "a wrong post");
    engine_.push_back(post.tag);
    posts_.push_back(post);
  }

  void check_ticket_post() {
    if (!bench_->ticket_post_valid_o || !bench_->ticket_post_ready_i) return;
    const bool due = !to_post_.empty() && rdma_queues::is_ticket(to_post_.front());
    expect(due, "a post to the inbox that is not due");
    if (!due) return;
    rdma::TicketPost post;
    post.kind = bench_->ticket_post_is_read_o ? rdma::TicketKind::read : rdma::TicketKind::recv;
    post.queue = bench_->ticket_post_queue_o;
    post.tag = bench_->ticket_post_tag_o;
    post.address = bench_->ticket_post_address_o;
    post.bytes = bench_->ticket_post_bytes_o;
    post.rkey = rdma::region_key(bench_->ticket_post_rkey_o);
    post.node = bench_->ticket_post_node_o;
    post.remote_addr = bench_->ticket_post_remote_addr_o;
    post.remote_rkey = rdma::region_key(bench_->ticket_post_remote_rkey_o);
    expect(rdma_queues::ticket_post_of(posted(post.tag), post.tag) == post, "a wrong post to the inbox");
    inbox_.push_back(post.tag);
    ticket_posts_.push_back(post);
  }

  void check_out() {
    std::array<uint8_t, 34> now{bench_->out_queue_o, bench_->out_signal_o};
    tb::get_bytes(bench_->out_fields_o, now.data() + 2, 32);
    stable_out_.sample(bench_->out_valid_o, bench_->out_ready_i, now, reporter_);
    if (!bench_->out_valid_o || !bench_->out_ready_i) return;
    rdma_queues::Outcome outcome;
    outcome.queue = now[0];
    outcome.signal = now[1] != 0;
    outcome.fields = queue_formats::unpack_completion(std::span<const uint8_t, 32>(now.data() + 2, 32));
    auto& from = !done_.empty() && done_.front() == outcome ? done_ : refused_;
    expect(!from.empty() && from.front() == outcome, "a completion that nobody has made");
    if (!from.empty()) from.pop_front();
    outcomes_.push_back(outcome);
  }

  void take_inputs() {
    if (bench_->req_valid_i && bench_->req_ready_o) {
      to_check_.push_back(offered_.front());
      offered_.pop_front();
      request_on_ = false;
    }
    full_ += under_way_.size() == n_requests;
    if (bench_->cpl_valid_i && bench_->cpl_ready_o) {
      done_.push_back(
          rdma_queues::outcome_of(ended(completion_->tag), static_cast<uint8_t>(completion_->status)));
      completion_.reset();
      taken_from_inbox_.push_back(false);
    }
    if (bench_->ticket_cpl_valid_i && bench_->ticket_cpl_ready_o) {
      done_.push_back(rdma_queues::outcome_of(ended(ticket_end_->tag), *ticket_end_));
      ticket_end_.reset();
      taken_from_inbox_.push_back(true);
    }
  }

  rdma_queues::Request ended(uint16_t tag) {
    const rdma_queues::Request request = under_way_.at(tag);
    under_way_.erase(tag);
    return request;
  }

  std::deque<rdma_queues::Request> offered_, to_check_, to_post_;
  std::map<uint16_t, rdma_queues::Request> under_way_;  // by tag
  std::deque<rdma_queues::Outcome> refused_, done_;     // to come out, each in order
  std::deque<rdma::Config> settings_;
  std::optional<RegionSet> region_to_set_;
  std::optional<rdma::Completion> completion_;
  std::optional<rdma::TicketCompletion> ticket_end_;
  bool request_on_ = false;
  tb::StableCheck<std::array<uint8_t, 34>> stable_out_{"out"};
  tb::Findings findings_;
  tb::Reporter reporter_{findings_, 0};
};

}  // namespace weft::rtl_test

// SPDX-License-Identifier: Apache-2.0
// rdma_rx_counter beside the golden model's Count, at every event: packets in any order, doubled, missing, of
// older and newer attempts, timeouts and grants, of few contexts, so that events of the same one follow each
// other at all distances.
#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <vector>

#include "Vrdma_rx_counter.h"
#include "bench.hpp"
#include "common/signals.hpp"
#include "rdma_baseline/count.hpp"
#include "rdma_header.hpp"

namespace weft::rtl_test {
namespace {

using rdma::Count;
using rdma::formats::Header;

constexpr unsigned contexts = 3;
constexpr unsigned stages = 5;  // F to J

class RdmaRxCounter : public testing::Test {
 protected:
  struct Event {
    bool valid = false;
    unsigned context = 0;
    bool request = false, receive = false, timeout = false;
    uint32_t packets = 1;  // of the transfer
    Header header;
  };

  /// As the model has it, in the order of the events.
  struct Context {
    Count count;
    uint32_t packets = 1;
    bool done = false;
  };

  struct Expected {
    bool advance = false, restart = false, complete_after = false;
    Count after;
  };

  Event random_event() {
    Event event;
    if (!bench_.chance(pace_)) return event;
    event.valid = true;
    event.context = static_cast<unsigned>(bench_.below(contexts));
    Transfer& transfer = transfers_[event.context];
    if (bench_.chance(requests_)) {
      event.request = true;
      transfer = {1 + static_cast<uint32_t>(bench_.below(bench_.chance(80) ? 4 : 255)), 0};
    } else if (bench_.chance(timeouts_)) {
      event.timeout = true;
    } else {
      event.receive = bench_.chance(90);
    }
    event.packets = transfer.packets;
    event.header = random_header(bench_);
    event.header.pidx = bench_.chance(60) ? transfer.next++ % transfer.packets
                                          : static_cast<uint32_t>(bench_.below(transfer.packets));
    event.header.flags = event.header.pidx + 1 == transfer.packets ? rdma::formats::flag_last : uint8_t{0};
    uint32_t sum = 0;
    for (uint32_t pidx = 0; pidx < transfer.packets; ++pidx) sum += rdma::mix(pidx);
    if (bench_.chance(2)) sum ^= uint32_t{1} << bench_.below(32);
    uint8_t attempt = newest_[event.context];
    if (bench_.chance(8)) attempt = static_cast<uint8_t>(attempt + bench_.below(7) - 3);
    event.header.arg = 0xa5'0001;  // an RKEY
    rdma::set_attempt(event.header, attempt, sum);
    return event;
  }

  /// One event of the model; what I and J must say.
  Expected step(const Event& event, Context& context) {
    Expected expected;
    const Count before = context.count;
    if (event.request) {
      context = {{}, event.packets, false};
    } else if (event.receive && !context.done && rdma::attempt_of(event.header) == before.attempt) {
      expected.advance = true;
      context.count = rdma::take(before, event.header);
      context.done = rdma::is_complete(context.count, context.packets);
      expected.restart = !context.done && context.count.packets == context.packets;
      if (expected.restart) context.count = rdma::next_attempt(context.count);
    } else if (event.timeout && !context.done) {
      context.count = rdma::next_attempt(before);
    }
    expected.complete_after = context.done;
    expected.after = context.count;
    return expected;
  }

  const Event& at(unsigned stage) const { return pipeline_[stage]; }
  bool same(unsigned one, unsigned other) const {
    return at(one).valid && at(other).valid && at(one).context == at(other).context;
  }

  void drive() {
    const Event &f = at(0), &h = at(2), &i = at(3);
    bench_->f_pidx_i = f.header.pidx;
    bench_->h_request_i = h.request;
    bench_->h_same_i = same(2, 3);
    bench_->h_same_as_j_i = same(2, 4);
    put_header(bench_->h_hdr_i, h.header);
    tb::put_bytes(bench_->h_kept_i, kept_[h.context].data(), kept_[h.context].size());
    bench_->i_receive_i = i.receive;
    bench_->i_asks_i = i.timeout;
    bench_->i_last_i = i.packets - 1;
    bench_->j_packets_i = at(4).packets;
  }

  void check() {
    const Event& i = at(3);
    if (i.valid) {
      Context& context = contexts_[i.context];
      const Context before = context;
      expected_ = step(i, context);
      const auto behind = static_cast<uint8_t>(before.count.attempt - rdma::attempt_of(i.header));
      if (!i.request) {
        ASSERT_EQ(bench_->i_complete_o, before.done);
        ASSERT_EQ(bench_->i_advance_o, expected_.advance);
        ASSERT_EQ(bench_->i_restart_o, expected_.restart);
        if (i.receive && !expected_.advance) {
          ASSERT_EQ(bench_->i_behind_o, before.done || (behind != 0 && behind < 128));
        }
      }
      if (i.request) begun_[i.context] = 0;
      if (context.count.attempt != before.count.attempt) attempts_ = std::max(attempts_, ++begun_[i.context]);
      newest_[i.context] = context.count.attempt;
      advances_ += expected_.advance;
      restarts_ += expected_.restart;
      completions_ += expected_.complete_after && !before.done;
    }
    const Event& j = at(4);
    if (!j.valid) return;
    ASSERT_EQ(bench_->j_complete_o, in_j_.complete_after);
    ASSERT_EQ(bench_->j_count_o, in_j_.after.packets);
    std::array<uint8_t, kept_bytes> kept{};
    tb::get_bytes(bench_->j_kept_o, kept.data(), kept.size());
    uint64_t low = 0;
    for (unsigned n = 0; n < 6; ++n) low |= uint64_t{kept[n]} << (8 * n);
    ASSERT_EQ(low & 0xffff'ffff, in_j_.after.residue);
    ASSERT_EQ(low >> 32 & 0xff, in_j_.after.packets);
    ASSERT_EQ(low >> 40, in_j_.after.attempt);
    written_ = kept;
  }

  void clock(const Event& event) {
    pipeline_.push_front(event);
    pipeline_.pop_back();
    drive();
    bench_.settle();
    check();
    if (at(4).valid) kept_[at(4).context] = written_;
    in_j_ = expected_;
    bench_.step();
  }

  struct Transfer {
    uint32_t packets = 1;
    uint32_t next = 0;
  };
  static constexpr unsigned kept_bytes = 8;

  Bench<Vrdma_rx_counter> bench_;
  std::deque<Event> pipeline_ = std::deque<Event>(stages);
  std::array<Context, contexts> contexts_{};
  std::array<Transfer, contexts> transfers_{};
  std::array<uint8_t, contexts> newest_{};  // attempt, as the model has it
  std::array<unsigned, contexts> begun_{};  // attempts since the grant
  std::array<std::array<uint8_t, kept_bytes>, contexts> kept_{};
  std::array<uint8_t, kept_bytes> written_{};
  Expected expected_, in_j_;
  unsigned pace_ = 100;
  unsigned requests_ = 3, timeouts_ = 4;  // percent of the events
  unsigned attempts_ = 0;                 // so many in a row in one transfer, at the most
  unsigned advances_ = 0, restarts_ = 0, completions_ = 0;
};

TEST_F(RdmaRxCounter, EqualsTheGoldenModelAtEveryEvent) {
  for (unsigned context = 0; context < contexts; ++context) {
    Event grant;
    grant.valid = grant.request = true;
    grant.context = context;
    clock(grant);
  }
  for (unsigned n = 0; n < 200'000 && !HasFatalFailure(); ++n) {
    if (n % 500 == 0) pace_ = std::array{20u, 60u, 100u}[bench_.below(3)];
    if (n % 4000 == 0) {  // then transfers of hundreds of attempts
      const bool lasting = n % 8000 == 0;
      requests_ = lasting ? 0 : 3;
      timeouts_ = lasting ? 40 : 4;
    }
    clock(random_event());
  }
  EXPECT_GT(advances_, 10'000u);
  EXPECT_GT(restarts_, 1'000u);
  EXPECT_GT(completions_, 500u);
  EXPECT_GT(attempts_, 256u) << "their numbers begin anew";
}

}  // namespace
}  // namespace weft::rtl_test

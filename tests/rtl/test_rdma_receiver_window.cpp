// SPDX-License-Identifier: Apache-2.0
// rdma_receiver's window as a part of it: full windows behind a missing packet at every slot and in both
// laps, for one context in consecutive clocks and for several in turn.
#include <algorithm>
#include <numeric>
#include <vector>

#include "small_receiver.hpp"

namespace weft::rtl_test {
namespace {

class RdmaReceiverWindow : public ReceiverTest {
 protected:
  static constexpr uint32_t packets = 250;  // of a transfer

  /// What to send of one window: the packet at WBASE and a few others are kept back until all else has come.
  struct Plan {
    std::vector<uint32_t> first, late;
  };

  Plan plan(uint16_t cid, unsigned missing_percent) {
    const uint32_t base = context(cid).window.base;
    const uint32_t end = std::min(base + receiver_params().window, packets - 1);
    Plan plan;
    for (uint32_t pidx = base + 1; pidx <= end; ++pidx) {
      (bench_.chance(missing_percent) ? plan.late : plan.first).push_back(pidx);
    }
    plan.late.push_back(base);
    shuffle(plan.first);
    shuffle(plan.late);
    return plan;
  }

  void shuffle(std::vector<uint32_t>& list) {
    for (std::size_t n = list.size(); n > 1; --n) std::swap(list[n - 1], list[bench_.below(n)]);
  }

  /// A header for each PIDX, made before the first leaves, so that nothing comes between them.
  void give_all(uint16_t cid, const std::vector<uint32_t>& list) {
    std::vector<Header> headers;
    headers.reserve(list.size());
    for (const uint32_t pidx : list) headers.push_back(data(cid, pidx));
    for (const Header& header : headers) give(header);
  }

  bool done(uint16_t cid) const { return context(cid).state != RxContext::State::active; }

  void finish_all(unsigned contexts) {
    receiver_.clocks(settled);
    EXPECT_EQ(receiver_.outcomes[Outcome::finish], contexts);
    EXPECT_EQ(out_.writes, int64_t{contexts} * packets);
  }
};

// Full windows begin one slot further each time, which is not once round in a transfer: so the first of them
// begins at any slot.
TEST_F(RdmaReceiverWindow, FullBehindAMissingPacketInConsecutiveClocks) {
  for (unsigned round = 0; round < 60 && !HasFatalFailure(); ++round) {
    receiver_.reset(config());
    receiver_.outcomes.clear();
    grant(1, packets);
    std::vector<uint32_t> in_order(round % receiver_params().window);
    std::iota(in_order.begin(), in_order.end(), 0);
    give_all(0, in_order);
    receiver_.clocks(settled);
    while (!done(0) && !HasFatalFailure()) {
      const Plan next = plan(0, round % 4 * 8);
      give_all(0, next.first);
      give_all(0, next.late);
      receiver_.clocks(settled);
    }
    finish_all(1);
  }
}

/// WBASE, the packet behind it and any other are missing, nothing else up to the end of the window: for each
/// slot of WBASE, in both laps.
TEST_F(RdmaReceiverWindow, ThreeHolesFilledInConsecutiveClocks) {
  const uint32_t window = receiver_params().window;
  for (uint32_t base = 0; base < 2 * window && !HasFatalFailure(); ++base) {
    for (uint32_t hole = 2; hole <= window && !HasFatalFailure(); ++hole) {
      receiver_.reset(config());
      grant(1, packets);
      std::vector<uint32_t> list;
      for (uint32_t pidx = 0; pidx < base; ++pidx) list.push_back(pidx);
      for (uint32_t ahead = 2; ahead <= window; ++ahead) {
        if (ahead != hole) list.push_back(base + ahead);
      }
      give_all(0, list);
      give_all(0, {base, base + 1, base + hole, base + window + 2, base + window + 1, base + window + 3});
      receiver_.clocks(settled);
      ASSERT_EQ(context(0).window.base, base + window + 4);
    }
  }
}

/// WBASE arrives and moves on by all of a window, and in the next clock the last packet of the window that it
/// has then.
TEST_F(RdmaReceiverWindow, FarthestPacketBehindAFullWindow) {
  const uint32_t window = receiver_params().window;
  for (uint32_t base = 0; base < 4 * window && !HasFatalFailure(); ++base) {
    receiver_.reset(config());
    receiver_.outcomes.clear();
    grant(1, packets);
    std::vector<uint32_t> list;
    for (uint32_t pidx = 0; pidx <= base + window; ++pidx) {
      if (pidx != base) list.push_back(pidx);
    }
    give_all(0, list);
    give_all(0, {base, base + 2 * window + 1, base + 2 * window + 2});
    receiver_.clocks(settled);
    ASSERT_EQ(context(0).window.base, base + window + 1);
    EXPECT_EQ(out_.writes, base + window + 2)
        << "written, the farthest one with them and the one beyond it not";
    out_.writes = 0;
  }
}

/// WBASE arrives and moves on by a window or not, and in the next clock a packet whose PIDX differs by whole
/// turns of the bitmap from one that lies in it.
TEST_F(RdmaReceiverWindow, WholeTurnsFromTheWindowRightBehindTheOneAtWbase) {
  const uint32_t window = receiver_params().window;
  for (uint32_t base = 0; base < 3 * window && !HasFatalFailure(); ++base) {
    for (const uint32_t arrived : {0u, window / 2, window}) {
      for (const uint32_t ahead : {1u, 2u, window / 2, window - 1, window}) {
        std::vector<uint32_t> list;
        for (uint32_t pidx = 0; pidx <= base + arrived; ++pidx) {
          if (pidx != base) list.push_back(pidx);
        }
        const uint32_t now = base + arrived + 1, in_it = now + ahead, turn = 2 * window;
        for (const uint32_t pidx : {in_it + turn, in_it + 2 * turn, in_it % turn, in_it + 3 * turn}) {
          if (pidx >= now && pidx <= now + window) continue;
          receiver_.reset(config());
          grant(1, packets);
          give_all(0, list);
          give_all(0, {base, std::min(pidx, packets - 1)});
          receiver_.clocks(settled);
          ASSERT_EQ(context(0).window.base, now) << "PIDX " << pidx << " behind " << base;
        }
      }
    }
  }
}

/// Each packet finds the window as it was read from memory.
TEST_F(RdmaReceiverWindow, FullBehindAMissingPacketOfSeveralContextsInTurn) {
  for (unsigned round = 0; round < 20 && !HasFatalFailure(); ++round) {
    receiver_.reset(config());
    receiver_.outcomes.clear();
    grant(rx_contexts, packets);
    std::vector<std::vector<Header>> waiting(rx_contexts);
    for (bool more = true; more && !HasFatalFailure();) {
      more = false;
      for (uint16_t cid = 0; cid < rx_contexts; ++cid) {
        if (waiting[cid].empty() && !done(cid)) {
          const Plan next = plan(cid, round % 4 * 8);
          for (const auto* list : {&next.first, &next.late}) {
            for (const uint32_t pidx : *list) waiting[cid].insert(waiting[cid].begin(), data(cid, pidx));
          }
        }
        if (waiting[cid].empty()) continue;
        more = true;
        give(waiting[cid].back());
        waiting[cid].pop_back();
        if (waiting[cid].empty()) receiver_.clocks(settled);
      }
    }
    finish_all(rx_contexts);
  }
}

}  // namespace
}  // namespace weft::rtl_test

// SPDX-License-Identifier: Apache-2.0
// rdma_receiver with every bit of every field in use: requests against any region, packets that differ in one
// bit from what fits, all limits of timers, counts that wrap.
#include <algorithm>

#include "small_receiver.hpp"

namespace weft::rtl_test {
namespace {

class RdmaReceiverFields : public ReceiverTest {
 protected:
  /// Of any magnitude.
  uint64_t any_number(unsigned bits) {
    return bench_.below(uint64_t{1} << 63) >> (63 - bits + bench_.below(bits));
  }

  Header any_request() {
    const uint32_t payload = receiver_params().payload;
    const uint64_t bus = uint64_t{1} << receiver_params().addr_bits;
    Header request = random_header(bench_);
    request.ptype = static_cast<uint8_t>(Ptype::rqt);
    // The arrival checks let no wider numbers through, and the queue of answers keeps no wider ones.
    request.src &= (1u << receiver_params().node_bits) - 1;
    request.sid &= (1u << receiver_params().sid_bits) - 1;
    request.msgid &= (1u << receiver_params().msgid_bits) - 1;
    request.pidx = static_cast<uint32_t>(any_number(bench_.chance(80) ? 14 : 32));
    if (bench_.chance(10)) request.pidx = 255 * payload - 1 + static_cast<uint32_t>(bench_.below(3));
    request.arg = any_number(bench_.chance(80) ? 24 : 63);
    if (bench_.chance(20)) request.arg = bus - request.pidx - payload + bench_.below(2 * payload);
    if (bench_.chance(90)) request.arg -= request.arg % payload;
    if (bench_.chance(5)) request.arg ^= uint64_t{1} << bench_.below(64);
    return request;
  }

  /// So that the request just fits or just does not; or the region is any other one, or one bit of its number
  /// or key is wrong.
  void choose_region(Header& request) {
    const uint64_t payload = receiver_params().payload;
    const uint64_t bus = uint64_t{1} << receiver_params().addr_bits;
    const auto place = [&](uint64_t address) { return std::min(address, bus) / payload * payload; };
    const uint64_t end = request.arg + request.pidx;
    rdma::Region region;
    region.base = place(bench_.chance(20) ? any_number(24)
                                          : request.arg - std::min(request.arg, payload * bench_.below(2)));
    region.limit = place(bench_.chance(20) ? any_number(24) : end + payload * bench_.below(2));
    region.key = static_cast<uint16_t>(any_number(16));
    region.remote_write = !bench_.chance(5);
    const auto number = static_cast<uint8_t>(bench_.below(receiver_params().n_regions));
    config_.regions.resize(receiver_params().n_regions);
    config_.regions[number] = region;
    receiver_.config = config_;
    receiver_.clocks(receiver_params().n_regions);
    request.gen = number;
    request.cid = region.key;
    if (bench_.chance(10)) request.gen ^= static_cast<uint8_t>(1 << bench_.below(8));
    if (bench_.chance(10)) request.cid ^= static_cast<uint16_t>(1 << bench_.below(16));
  }

  void give_data(Header header) {
    header.arg |= any_number(39) << 24;  // of no meaning in DATA
    give(header);
  }

  /// The first one.
  uint16_t context_in_use() const {
    uint16_t cid = 0;
    while (context(cid).state == RxContext::State::free) ++cid;
    return cid;
  }

  rdma::Config config_ = config();
};

TEST_F(RdmaReceiverFields, RequestsAgainstAnyRegion) {
  for (unsigned n = 0; n < 8000 && !HasFatalFailure(); ++n) {
    if (n % 1000 == 0) {
      config_.node_id = static_cast<uint16_t>(bench_.below(1 << 16));
      config_.weft_mode = bench_.chance(50);
      receiver_.reset(config_);  // all contexts free again; most requests find none
    }
    Header request = any_request();
    choose_region(request);
    give(request);
    receiver_.clocks(settled);
  }
  for (const auto outcome : {Outcome::grant, Outcome::refuse_no_context, Outcome::refuse_length,
                             Outcome::refuse_align, Outcome::refuse_region, Outcome::refuse_key}) {
    EXPECT_GT(receiver_.outcomes[outcome], 50u) << name(outcome);
  }
}

/// Some clocks around that of the look: the region named, which fitted or fits from now on, or another one.
TEST_F(RdmaReceiverFields, RegionsThatAreSetWhileRequestsLookAtThem) {
  for (unsigned n = 0; n < 8000 && !HasFatalFailure(); ++n) {
    if (n % 1000 == 0) receiver_.reset(config_);
    Header request = any_request();
    choose_region(request);
    rdma::Config later = config_;
    if (bench_.chance(50)) {  // so the request fits when the new one is there
      const auto named = request.gen % receiver_params().n_regions;
      std::swap(later.regions[named], config_.regions[named]);
      config_.regions[named].key = static_cast<uint16_t>(any_number(16));
      receiver_.config = config_;
      receiver_.clocks(receiver_params().n_regions);
    } else {
      const auto any = bench_.below(receiver_params().n_regions);
      later.regions[any] = {0,
                            static_cast<uint64_t>(bench_.below(1 << 12)) * receiver_params().payload,
                            static_cast<uint16_t>(any_number(16)),
                            bench_.chance(50),
                            false,
                            false};
    }
    config_ = later;
    const auto early = static_cast<unsigned>(bench_.below(4));  // clocks; 0: one too late
    if (early > 0) {
      receiver_.config = config_;
      receiver_.clocks(early - 1);
    }
    give(request);
    receiver_.config = config_;
    receiver_.clocks(settled);
  }
  for (const auto outcome : {Outcome::grant, Outcome::refuse_region, Outcome::refuse_key}) {
    EXPECT_GT(receiver_.outcomes[outcome], 50u) << name(outcome);
  }
}

/// The outcome names the key, as of all requests that are refused.
TEST_F(RdmaReceiverFields, RequestsBeyondAQuotaUnderAnyKey) {
  config_.rx_quota = 1;
  for (unsigned bit = 0; bit <= 16; ++bit) {
    config_.regions[0].key = static_cast<uint16_t>(bit == 16 ? 0xffff : 1 << bit);
    receiver_.reset(config_);
    receiver_.outcomes.clear();
    for (unsigned n = 0; n < 2; ++n) {
      Header request = another(3);
      request.cid = config_.regions[0].key;
      give(request);
    }
    receiver_.clocks(settled);
    EXPECT_EQ(receiver_.outcomes[Outcome::refuse_quota], 1u) << bit;
  }
}

TEST_F(RdmaReceiverFields, ResetClosesAllRegions) {
  rdma::Config open = config(), closed = config();
  open.regions.assign(receiver_params().n_regions, config().regions[0]);
  closed.regions.clear();
  receiver_.reset(open);
  receiver_.reset(closed);
  receiver_.outcomes.clear();
  for (uint8_t region = 0; region < receiver_params().n_regions; ++region) {
    Header request = another(1);
    request.gen = region;
    give(request);
  }
  receiver_.clocks(settled);
  EXPECT_EQ(receiver_.outcomes[Outcome::refuse_key], receiver_params().n_regions);
}

TEST_F(RdmaReceiverFields, PacketsOfEveryRegionFitTheirGrant) {
  rdma::Config open = config();
  open.regions.assign(receiver_params().n_regions, config().regions[0]);
  for (auto region = open.regions.begin() + 1; region != open.regions.end(); ++region) region->key = test_key;
  receiver_.reset(open);
  receiver_.outcomes.clear();
  for (uint8_t region = 0; region < receiver_params().n_regions; ++region) {
    Header request = another(1);
    request.gen = region;
    request.cid = open.regions[region].key;
    give(request);
    receiver_.clocks(settled);
    give_data(data(region, 0));
    receiver_.clocks(settled);
  }
  EXPECT_EQ(receiver_.outcomes[Outcome::grant], receiver_params().n_regions);
  EXPECT_EQ(receiver_.outcomes[Outcome::finish], receiver_params().n_regions);
}

TEST_F(RdmaReceiverFields, PacketWithOneWrongBitIsNotTakenForTheOneThatFits) {
  grant(1, 3);
  for (const uint32_t pidx : {1u, 2u, 0u}) {
    const Header good = data(0, pidx);
    for (unsigned bit = 0; bit < 32; ++bit) {
      const auto one = uint32_t{1} << bit;
      Header wrong = good;
      wrong.pidx ^= one;
      if (wrong.pidx > 2) give_data(wrong);
      if (bit >= 24) continue;
      wrong = good;
      wrong.msgid ^= one;
      give_data(wrong);
      wrong = good;
      wrong.arg ^= one;
      give_data(wrong);
      if (bit >= 16) continue;
      for (auto field : {&Header::src, &Header::sid, &Header::cid, &Header::len}) {
        wrong = good;
        wrong.*field = static_cast<uint16_t>(wrong.*field ^ one);
        give_data(wrong);
      }
      if (bit >= 8) continue;
      wrong = good;
      wrong.gen = static_cast<uint8_t>(wrong.gen ^ one);
      give_data(wrong);
    }
    receiver_.clocks(settled);
    EXPECT_EQ(out_.writes, pidx == 1 ? 0 : pidx == 2 ? 1 : 2) << "no wrong one";
    give_data(good);
    receiver_.clocks(settled);
  }
  EXPECT_EQ(out_.writes, 3);
}

TEST_F(RdmaReceiverFields, ForgedRightBehindTheLastPacketIsCountedByWhatIsWrong) {
  grant(4, 1);
  for (uint16_t cid = 0; cid < 4; ++cid) {
    const Header good = data(cid, 0);
    Header wrong = good;
    if (cid == 0) wrong.src ^= 1;
    if (cid == 1) wrong.sid ^= 1;
    if (cid == 2) wrong.msgid ^= 1;
    if (cid == 3) wrong.gen ^= 1;
    give_data(good);
    give_data(wrong);
  }
  receiver_.clocks(settled);
  EXPECT_EQ(receiver_.outcomes[Outcome::finish], 4u);
  for (const auto reason :
       {Outcome::drop_source, Outcome::drop_sid, Outcome::drop_msgid, Outcome::drop_zombie}) {
    EXPECT_EQ(receiver_.outcomes[reason], 1u) << name(reason);
  }
}

TEST_F(RdmaReceiverFields, LastPacketRightBehindAForgedOneFinishesAndReleaseRightBehindItReleases) {
  grant(3, 1);
  for (uint16_t cid = 0; cid < 3; ++cid) {
    const Header good = data(cid, 0);
    Header wrong = good;
    if (cid == 0) wrong.gen ^= 1;
    if (cid == 1) wrong.src ^= 1;
    if (cid == 2) wrong.pidx = 1;  // beyond the end
    give_data(wrong);
    give_data(good);
    give(release(cid));
  }
  receiver_.clocks(settled);
  EXPECT_EQ(receiver_.outcomes[Outcome::finish], 3u);
  EXPECT_EQ(receiver_.outcomes[Outcome::released], 3u);
  for (const auto reason : {Outcome::drop_zombie, Outcome::drop_source, Outcome::drop_beyond_end}) {
    EXPECT_EQ(receiver_.outcomes[reason], 1u) << name(reason);
  }
  EXPECT_EQ(free_contexts(), rx_contexts);
}

TEST_F(RdmaReceiverFields, ReleaseWithOneWrongBitReleasesNothing) {
  grant(1, 3);
  const Header good = release(0);
  for (unsigned bit = 0; bit < 24; ++bit) {
    Header wrong = good;
    wrong.msgid ^= uint32_t{1} << bit;
    give(wrong);
    if (bit >= 16) continue;
    for (auto field : {&Header::src, &Header::sid, &Header::cid}) {
      wrong = good;
      wrong.*field = static_cast<uint16_t>(wrong.*field ^ (1u << bit));
      give(wrong);
    }
    if (bit >= 8) continue;
    wrong = good;
    wrong.gen = static_cast<uint8_t>(wrong.gen ^ (1u << bit));
    give(wrong);
  }
  receiver_.clocks(settled);
  EXPECT_EQ(receiver_.outcomes[Outcome::released], 0u);
  EXPECT_EQ(free_contexts(), rx_contexts - 1);
  give(good);
  receiver_.clocks(settled);
  EXPECT_EQ(receiver_.outcomes[Outcome::released], 1u);
}

/// One tick before its time there is no timeout, then there is; the counter of ticks starts anywhere.
TEST_F(RdmaReceiverFields, TimeoutAfterExactlyAsManyTicksAsSet) {
  const unsigned look = 40;  // clocks until a timer that has ended is found and its timeout has retired
  for (uint32_t limit = 1; limit < 1 << 13 && !HasFatalFailure(); limit = 2 * limit + bench_.below(2)) {
    for (const uint32_t ticks : {limit, limit ^ (limit >> 1), limit | (limit >> 1)}) {
      rdma::Config settings = config();
      settings.rx_timeout = static_cast<uint16_t>(ticks);
      receiver_.now = static_cast<uint16_t>(bench_.below(1 << 16));
      receiver_.reset(settings);
      grant(1, 4);
      const unsigned before = receiver_.timeouts;
      receiver_.now = static_cast<uint16_t>(receiver_.now + ticks - 1);
      receiver_.clocks(look);
      EXPECT_EQ(receiver_.timeouts, before) << "early, of " << ticks;
      receiver_.now = static_cast<uint16_t>(receiver_.now + 1);
      receiver_.clocks(look);
      EXPECT_EQ(receiver_.timeouts, before + 1) << "of " << ticks;
    }
  }
}

/// A timer stays overdue up to half of what its stamp can tell, and each power of two there counts.
TEST_F(RdmaReceiverFields, TimeoutHoweverLateItIsSeen) {
  for (unsigned late = 1; late < 1 << 15 && !HasFatalFailure(); late *= 2) {
    rdma::Config settings = config();
    settings.rx_timeout = 1;
    receiver_.reset(settings);
    grant(1, 4);
    const unsigned before = receiver_.timeouts;
    receiver_.now = static_cast<uint16_t>(receiver_.now + late);
    receiver_.clocks(40);
    EXPECT_EQ(receiver_.timeouts, before + 1) << late << " ticks";
  }
}

TEST_F(RdmaReceiverFields, AsksAsOftenAsAllowedAndThenReclaims) {
  for (unsigned most = 0; most < 16; ++most) {
    rdma::Config settings = config();
    settings.max_silent = static_cast<uint8_t>(most);
    settings.weft_mode = most % 2 == 0;
    settings.ask_from_after = static_cast<uint8_t>(most % 4);
    receiver_.reset(settings);
    receiver_.outcomes.clear();
    grant(1, 4);
    for (unsigned n = 0; n <= most; ++n) {
      EXPECT_EQ(receiver_.outcomes[Outcome::reclaim], 0u) << n << " of " << most;
      receiver_.now = static_cast<uint16_t>(receiver_.now + settings.rx_timeout);
      receiver_.clocks(50);
    }
    EXPECT_EQ(receiver_.outcomes[Outcome::reclaim], 1u);
    const unsigned one_by_one = settings.weft_mode ? 0 : std::min<unsigned>(most, settings.ask_from_after);
    EXPECT_EQ(receiver_.outcomes[Outcome::ask_map], settings.weft_mode ? most : 0);
    EXPECT_EQ(receiver_.outcomes[Outcome::ask_one], one_by_one);
    EXPECT_EQ(receiver_.outcomes[Outcome::ask_from], settings.weft_mode ? 0 : most - one_by_one);
  }
}

/// 66,234 writes; memory answers each after a few more, so that DONE has to wait at every count. Of odd
/// length, so that DONEs come at even and odd counts.
TEST_F(RdmaReceiverFields, CountOfWritesWraps) {
  const uint32_t packets = 249;
  while (out_.writes <= 66'000 && !HasFatalFailure()) {
    grant(1, packets);
    const uint16_t used = context_in_use();
    for (uint32_t pidx = 0; pidx < packets && !HasFatalFailure(); ++pidx) {
      out_.answered = std::max<int64_t>(out_.writes - 5, 0);
      give(data(used, pidx));
    }
    receiver_.clocks(settled);
    EXPECT_FALSE(out_.empty()) << "DONE waits";
    out_.answered = out_.writes;
    receiver_.clocks(4);
    EXPECT_TRUE(out_.empty());
    give(release(used));
    receiver_.clocks(settled);
  }
  EXPECT_EQ(out_.writes, receiver_.outcomes[Outcome::grant] * packets);
}

}  // namespace
}  // namespace weft::rtl_test

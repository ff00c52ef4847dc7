// SPDX-License-Identifier: Apache-2.0
// What the tests of rdma_receiver share: its lockstep after reset, and packets that fit its contexts.
#pragma once

#include <array>
#include <bit>

#include "rdma/region.hpp"
#include "rdma_receiver_lockstep.hpp"

namespace weft::rtl_test {

inline constexpr uint16_t test_key = 0xa7c3;  // of region 1; that of region 0 is 0

/// A request for so many packets; the last one carries 10 bytes. Always the same one.
inline rdma::formats::Header transfer(uint32_t packets) {
  rdma::formats::Header header;
  header.ptype = static_cast<uint8_t>(rdma::formats::Ptype::rqt);
  header.src = 5;
  header.sid = 7;
  header.msgid = 33;
  header.pidx = (packets - 1) * receiver_params().payload + 10;
  header.arg = 64 * uint64_t{receiver_params().payload};
  return header;
}

/// A packet that belongs to the transfer of this context.
inline rdma::formats::Header fitting_header(const rdma::RxContext& context, uint16_t cid,
                                            rdma::formats::Ptype type) {
  rdma::formats::Header header;
  header.ptype = static_cast<uint8_t>(type);
  header.src = context.src;
  header.sid = context.sid;
  header.cid = cid;
  header.gen = context.gen;
  header.msgid = context.msgid;
  return header;
}

inline rdma::formats::Header fitting_data(const rdma::RxContext& context, uint16_t cid, uint32_t pidx) {
  rdma::formats::Header header = fitting_header(context, cid, rdma::formats::Ptype::data);
  const bool last = pidx == context.cut.last;
  header.flags = last ? rdma::formats::flag_last : 0;
  header.len = static_cast<uint16_t>(last ? context.cut.last_len : receiver_params().payload);
  header.pidx = pidx;
  header.arg = rdma::rkey({context.region, context.region == 0 ? uint16_t{0} : test_key});
  return header;
}

/// Bits of arg, from `lowest` on, that change the CRC of this header by just this much, as a CRC is linear.
inline uint64_t change_for_crc(const rdma::formats::Header& header, uint32_t wanted, unsigned lowest = 0) {
  struct Step {
    uint32_t crc = 0;  // its highest bit is that of no other step
    uint64_t arg = 0;
  };
  std::array<Step, 32> steps{};
  const auto reduce = [&](Step step) {
    for (int bit = 31; bit >= 0; --bit) {
      if ((step.crc >> bit & 1) == 0 || steps[bit].crc == 0) continue;
      step.crc ^= steps[bit].crc;
      step.arg ^= steps[bit].arg;
    }
    return step;
  };
  const uint32_t crc = sealed(header).crc;
  for (unsigned bit = lowest; bit < 64; ++bit) {
    rdma::formats::Header changed = header;
    changed.arg ^= uint64_t{1} << bit;
    const Step step = reduce({sealed(changed).crc ^ crc, uint64_t{1} << bit});
    if (step.crc != 0) steps[std::bit_width(step.crc) - 1] = step;
  }
  return reduce({wanted, 0}).arg;
}

/// Time stands still unless the test moves it.
template <typename Lockstep>
class BasicReceiverTest : public testing::Test {
 protected:
  static constexpr unsigned settled =
      Lockstep::latency + 8;  // clocks until what was given has had all its effects

  using RxContext = rdma::RxContext;
  using Header = rdma::formats::Header;
  using Outcome = rdma::formats::Outcome;
  using Ptype = rdma::formats::Ptype;

  static rdma::Config config() {
    rdma::Config config;
    config.node_id = 3;
    const uint64_t payload = receiver_params().payload;
    constexpr bool all = Lockstep::has_transfers;
    config.regions = {{8 * payload, (1u << 24) - 16 * payload, 0, true, all, all},
                      {0x4000, 0x6000, test_key, true, all, all}};
    config.rx_timeout = 20;
    config.ask_from_after = 1;
    config.max_silent = 2;
    config.backoff = 0;  // tests of it say so
    return config;
  }

  void SetUp() override { receiver_.reset(config()); }

  void give(const Header& header) { receiver_.give({header}); }
  Header release(uint16_t cid) const { return fitting_header(context(cid), cid, Ptype::release); }
  Header data(uint16_t cid, uint32_t pidx) const { return fitting_data(context(cid), cid, pidx); }
  const RxContext& context(uint16_t cid) const { return receiver_.golden().context(cid); }
  unsigned free_contexts() const { return receiver_.golden().free_contexts(); }

  /// A request like all others, of a transfer of its own.
  Header another(uint32_t packets) {
    Header header = transfer(packets);
    header.msgid = (header.msgid + others_++) % (1u << receiver_params().msgid_bits);
    return header;
  }

  /// So many grants have left.
  void grant(unsigned contexts, uint32_t packets) {
    const unsigned before = receiver_.outcomes[Outcome::grant];
    for (unsigned n = 0; n < contexts; ++n) give(another(packets));
    receiver_.clocks(settled);
    ASSERT_EQ(receiver_.outcomes[Outcome::grant] - before, contexts);
  }

  void expect_idle() {
    bench_.settle();
    EXPECT_TRUE(bench_->idle_o);
    EXPECT_TRUE(receiver_.nothing_waits());
  }

  uint32_t others_ = 0;
  Lockstep receiver_;
  ReceiverQueues& out_ = receiver_.out;
  decltype(receiver_.bench()) bench_ = receiver_.bench();
};

}  // namespace weft::rtl_test

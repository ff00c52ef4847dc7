// SPDX-License-Identifier: Apache-2.0
// rdma_regs at its ports: every register as docs/rdma_formats.md has it, holes, posts, completions, interrupt
// and counters; then all at once under random accesses, pauses and resets.
#include <bit>

#include "rdma_regs_lockstep.hpp"

namespace weft::rtl_test {
namespace {

using rdma::formats::Status;

class RdmaRegs : public testing::Test {
 protected:
  /// Fills the request registers and posts; whether the post was accepted.
  bool post(const rdma::Post& post) {
    regs_.write("POST_SRC_LO", static_cast<uint32_t>(post.src_addr));
    regs_.write("POST_SRC_HI", static_cast<uint32_t>(post.src_addr >> 32));
    regs_.write("POST_DST_LO", static_cast<uint32_t>(post.dst_addr));
    regs_.write("POST_DST_HI", static_cast<uint32_t>(post.dst_addr >> 32));
    regs_.write("POST_BYTES", post.bytes);
    regs_.write("POST_NODE", post.node);
    return regs_.write("POST", 0xabcd0000 | post.tag);
  }

  void clocks(unsigned count) {
    for (unsigned n = 0; n < count && !HasFatalFailure(); ++n) regs_.clock();
  }

  /// IRQ_STATUS after a write that clears the bus error, with one error `after` clocks from its start; the
  /// write took effect in clock `effect` from its start.
  uint32_t clear_with_error(uint64_t after, uint64_t& effect) {
    const uint64_t start = bench_.cycle();
    regs_.start_write({address_of("IRQ_STATUS"), 2});
    for (unsigned n = 0; n < 10; ++n) {
      regs_.bus_error = n == after ? 2 : 0;
      regs_.clock();
    }
    effect = regs_.last_write_cycle - start;
    return regs_.read("IRQ_STATUS");
  }

  /// Half of the time a register, otherwise a counter, a neighbour of a register, or anything.
  uint32_t random_address() {
    const uint32_t known = registers[bench_.below(registers.size())].address;
    const auto kind = bench_.below(10);
    if (kind < 6) return known;
    if (kind < 7) return outcome_base + 4 * static_cast<uint32_t>(bench_.below(outcome_count));
    if (kind < 8) return address_of(bench_.chance(50) ? "POST" : "REGION_SET");
    return static_cast<uint32_t>(kind < 9 ? known ^ 1u << bench_.below(12) : bench_.below(1 << 12));
  }

  /// The outcomes of the receiver, in order.
  static uint8_t receiver_outcome(uint64_t i) { return static_cast<uint8_t>(i < 32 ? i : 32 + i); }

  void expect_count(uint8_t code, uint32_t count) {
    EXPECT_EQ(regs_.read(outcome_base + 4u * code), count) << "code " << int{code};
  }

  void random_surroundings();
  void random_accesses();

  RegsLockstep regs_;
  Bench<Vrdma_regs>& bench_ = regs_.bench();
  struct {
    unsigned writes, reads, posts, completions, rx, tx, dropped, errors;
  } paces_{};
};

TEST_F(RdmaRegs, EveryRegisterHasItsResetValueWidthAndAccess) {
  regs_.tx_idle = true;  // else MSGID cannot be written
  for (const Register& r : registers) {
    SCOPED_TRACE(r.name);
    if (r.access == Access::wo) {
      EXPECT_FALSE(regs_.read(r.address));
      continue;
    }
    const uint32_t first = regs_.read(r.name);
    if (r.access == Access::rw || r.reset != 0) {
      EXPECT_EQ(first, r.reset);
    }
    EXPECT_EQ(regs_.write(r.name, 0xffffffff), r.access != Access::ro);
    if (r.access == Access::rw) {
      EXPECT_EQ(regs_.read(r.name), r.mask());
    }
    for (uint8_t strobes = 0; strobes < 0xf; ++strobes) EXPECT_FALSE(regs_.write(r.address, 0, strobes));
    if (r.access == Access::rw) {
      EXPECT_EQ(regs_.read(r.name), r.mask()) << "a write without all strobes changed it";
      EXPECT_TRUE(regs_.write(r.name, 0));
      EXPECT_EQ(regs_.read(r.name), 0u);
    }
  }
}

TEST_F(RdmaRegs, EveryOtherAddressIsAHoleThatCounts) {
  unsigned bad = 0;
  for (uint32_t address = 0; address < 0x1000; ++address) {
    const Register* r = find_register(address);
    const bool readable = counter_at(address) || (r && r->access != Access::wo);
    ASSERT_EQ(regs_.read(address).has_value(), readable) << address;
    bad += !readable;
    if (r && r->access != Access::ro) continue;
    ASSERT_FALSE(regs_.write(address, 0xffffffff)) << address;
    ++bad;
  }
  EXPECT_EQ(regs_.read("BAD_ACCESS"), bad);
  for (const Register& r : registers) {
    if (r.access == Access::rw) {
      EXPECT_EQ(regs_.read(r.name), r.reset) << r.name;
    }
  }
}

TEST_F(RdmaRegs, BadReadAndBadWriteInOneClockCountTwice) {
  uint32_t bad = 0;
  for (unsigned lead = 0; lead < 6; ++lead) {
    regs_.start_read(0xffc);
    clocks(lead);
    regs_.start_write({0xffc, 0});
    regs_.finish();
    bad += 2;
    EXPECT_EQ(regs_.read("BAD_ACCESS"), bad);
  }
}

TEST_F(RdmaRegs, PostNeedsTheNodeNumberAndAReadyEngine) {
  const rdma::Post request{0x1234567890abcdef, 0xfedcba0987654321, 0x89abcdef, 0x76543210, 0x5a5a};
  EXPECT_FALSE(post(request));
  regs_.engine_ready = false;
  EXPECT_TRUE(regs_.write("NODE_ID", 0)) << "also the number that it has after reset";
  EXPECT_FALSE(post(request));
  regs_.engine_ready = true;
  EXPECT_EQ(regs_.posts_waiting(), 0u);
  EXPECT_TRUE(post(request));
  EXPECT_EQ(regs_.posts_waiting(), 1u);
  EXPECT_EQ(regs_.posts_refused, 2u);
  EXPECT_EQ(regs_.read("BAD_ACCESS"), 2u);
}

TEST_F(RdmaRegs, PostsFillTheirQueueAndGoOnWhenItHasRoom) {
  regs_.write("NODE_ID", 1);
  for (uint16_t tag = 0; tag < post_depth; ++tag) {
    EXPECT_EQ(regs_.read("STATUS") & 2, 0u);
    EXPECT_TRUE(post({tag, 0, 1, 2, tag}));
  }
  EXPECT_EQ(regs_.read("STATUS") & 2, 2u);
  EXPECT_FALSE(post({99, 0, 1, 2, 99}));
  regs_.post_ready = true;
  regs_.clock();
  regs_.post_ready = false;
  EXPECT_TRUE(post({5, 0, 1, 2, 5}));
  regs_.post_ready = true;
  clocks(10);
  EXPECT_EQ(regs_.posts_out, post_depth + 1);
}

/// REGION_SET after the other registers.
TEST_F(RdmaRegs, RegionIsTakenOnlyIfItCanBe) {
  const auto set = [&](uint64_t base, uint64_t limit, uint32_t number = 3) {
    regs_.write("REGION_BASE_LO", static_cast<uint32_t>(base));
    regs_.write("REGION_BASE_HI", static_cast<uint32_t>(base >> 32));
    regs_.write("REGION_LIMIT_LO", static_cast<uint32_t>(limit));
    regs_.write("REGION_LIMIT_HI", static_cast<uint32_t>(limit >> 32));
    return regs_.write("REGION_SET", number);
  };
  constexpr uint64_t end = uint64_t{1} << address_bits, most = uint64_t{payload} << 32;
  regs_.write("REGION_KEY", 0x1234);
  for (const uint32_t rights : {0u, 1u}) {
    regs_.write("REGION_RIGHTS", rights);
    EXPECT_TRUE(set(0x1000, 0x1100));
    EXPECT_TRUE(set(0x1000, 0x1000)) << "empty";
    EXPECT_TRUE(set(0x1000, 0)) << "empty";
    EXPECT_TRUE(set(~uint64_t{0xff}, 0x100)) << "empty";
    EXPECT_TRUE(set(0, most));
    EXPECT_FALSE(set(0, most + payload));
    EXPECT_TRUE(set(end - most, end));
    EXPECT_FALSE(set(end - payload, end + payload));
    EXPECT_FALSE(set(end, end + payload));
    EXPECT_FALSE(set(~uint64_t{0x1ff}, ~uint64_t{0xff}));
    EXPECT_FALSE(set(0x1001, 0x2000));
    EXPECT_FALSE(set(0x1000, 0x2080));
    EXPECT_FALSE(set(0x1080, 0)) << "not even an empty one";
  }
  EXPECT_TRUE(set(0, 0x100, regions - 1));
  EXPECT_FALSE(set(0, 0x100, regions));
  EXPECT_TRUE(set(0, 0x100, 0xffffff00)) << "only the lowest byte counts";
  regs_.engine_ready = false;
  EXPECT_FALSE(set(0, 0x100));
  EXPECT_EQ(regs_.regions_set, 14u);
}

TEST_F(RdmaRegs, EachReadOfCplTakesOneCompletion) {
  regs_.completions = {{1, Status::ok}, {0xffff, Status::remote_error}};
  EXPECT_EQ(regs_.read("CPL_COUNT"), 2u);
  EXPECT_EQ(regs_.read("STATUS") & 4, 4u);
  EXPECT_FALSE(regs_.write("CPL", 0));
  EXPECT_EQ(regs_.popped, 0u) << "only CPL takes, and only when it is read";
  EXPECT_EQ(regs_.read("CPL"), 0x80000001u);
  EXPECT_EQ(regs_.read("CPL"), 0x8009ffffu);
  EXPECT_EQ(regs_.read("CPL"), 0u);
  EXPECT_EQ(regs_.popped, 2u);
}

TEST_F(RdmaRegs, InterruptFollowsItsEnabledCauses) {
  for (const uint32_t enable : {0u, 1u, 2u, 3u}) {
    regs_.write("IRQ_ENABLE", enable);
    regs_.completions = {{1, Status::ok}};
    clocks(1);
    EXPECT_EQ(bench_->irq_o, enable & 1);
    regs_.write("IRQ_STATUS", 3);
    EXPECT_EQ(regs_.read("IRQ_STATUS"), 1u) << "completions wait whatever is written";
    regs_.read("CPL");
    regs_.bus_error = 1;
    clocks(1);
    regs_.bus_error = 0;
    EXPECT_EQ(regs_.read("IRQ_STATUS"), 2u);
    EXPECT_EQ(bench_->irq_o, enable >> 1);
    regs_.write("IRQ_STATUS", 1);
    EXPECT_EQ(regs_.read("IRQ_STATUS"), 2u) << "writing 0 to its bit does not clear it";
    regs_.write("IRQ_STATUS", 2);
    EXPECT_EQ(bench_->irq_o, 0);
  }
}

TEST_F(RdmaRegs, BusErrorInTheClockOfTheClearIsNotLost) {
  unsigned together = 0;
  for (uint64_t after = 0; after < 8; ++after) {
    uint64_t effect = 0;
    const uint32_t status = clear_with_error(after, effect);
    EXPECT_EQ(status, after >= effect ? 2u : 0u) << "error in clock " << after << ", clear in " << effect;
    together += after == effect;
  }
  EXPECT_EQ(together, 1u);
}

TEST_F(RdmaRegs, EachSourceInOneClockCounts) {
  uint32_t dropped = 0, errors = 0;
  for (const uint8_t bits : {1, 2, 3, 3, 0, 7, 4, 6, 5, 1}) {
    regs_.ctl_dropped = bits;
    regs_.bus_error = bits & 3;
    clocks(1);
    dropped += static_cast<uint32_t>(std::popcount(bits));
    errors += static_cast<uint32_t>(std::popcount(regs_.bus_error));
  }
  regs_.ctl_dropped = regs_.bus_error = 0;
  EXPECT_EQ(regs_.read("CTL_DROPPED"), dropped);
  EXPECT_EQ(regs_.read("BUS_ERRORS"), errors);
}

TEST_F(RdmaRegs, EveryOutcomeHasItsCounter) {
  for (uint8_t i = 0; i < 48; ++i) {
    regs_.rx_outcome = receiver_outcome(i);
    regs_.tx_outcome = i < 32 ? std::optional<uint8_t>(63 - i) : std::nullopt;
    regs_.inbox_outcome = i < 16 ? std::optional<uint8_t>(80 + i) : std::nullopt;
    clocks(1u + i);
  }
  regs_.rx_outcome.reset();
  regs_.inbox_outcome = 36;  // rejects are the sender's and the inbox's
  clocks(3);
  regs_.inbox_outcome.reset();
  for (uint8_t i = 0; i < 48; ++i) expect_count(receiver_outcome(i), i + 1);
  for (uint8_t i = 0; i < 32; ++i) expect_count(static_cast<uint8_t>(63 - i), i + 1 + (63 - i == 36 ? 3 : 0));
  for (uint8_t i = 0; i < 16; ++i) expect_count(static_cast<uint8_t>(80 + i), i + 1);
}

TEST_F(RdmaRegs, ResetRestoresAll) {
  for (const Register& r : registers) regs_.write(r.name, 0xffffffff);
  post({1, 2, 3, 4, 5});
  regs_.rx_outcome = 3;
  regs_.bus_error = regs_.ctl_dropped = 3;
  clocks(5);
  regs_.rx_outcome.reset();
  regs_.bus_error = regs_.ctl_dropped = 0;
  regs_.start_write({address_of("NODE_ID"), 7});
  regs_.start_read(0xffc);
  clocks(2);
  regs_.reset();
  EXPECT_EQ(regs_.posts_waiting(), 0u);
  for (const Register& r : registers) {
    if (r.access != Access::wo && r.name != std::string_view("STATUS")) {
      EXPECT_EQ(regs_.read(r.name), r.reset) << r.name;
    }
  }
  EXPECT_EQ(regs_.read(outcome_base + 4 * 3), 0u);
  EXPECT_EQ(regs_.write("POST", 1), false) << "NODE_ID is unknown again";
}

// Random accesses

void RdmaRegs::random_surroundings() {
  regs_.engine_ready = bench_.chance(95);
  regs_.tx_idle = bench_.chance(50);
  regs_.rx_idle = bench_.chance(50);
  regs_.post_ready = bench_.chance(paces_.posts);
  regs_.rx_outcome.reset();
  regs_.tx_outcome.reset();
  regs_.inbox_outcome.reset();
  if (bench_.chance(paces_.rx)) regs_.rx_outcome = receiver_outcome(bench_.below(bench_.chance(50) ? 2 : 48));
  if (bench_.chance(paces_.rx))
    regs_.inbox_outcome =
        static_cast<uint8_t>((bench_.chance(50) ? 80 : 32) + bench_.below(bench_.chance(50) ? 2 : 16));
  if (bench_.chance(paces_.tx))
    regs_.tx_outcome = static_cast<uint8_t>(32 + bench_.below(bench_.chance(50) ? 2 : 32));
  regs_.ctl_dropped = bench_.chance(paces_.dropped) ? static_cast<uint8_t>(bench_.below(8)) : 0;
  regs_.bus_error = bench_.chance(paces_.errors) ? static_cast<uint8_t>(bench_.below(4)) : 0;
  if (regs_.completions.size() < 9 && bench_.chance(paces_.completions / 5))
    regs_.completions.push_back(
        {static_cast<uint16_t>(bench_.below(1 << 16)), static_cast<Status>(bench_.below(10))});
}

void RdmaRegs::random_accesses() {
  if (regs_.writes_open() < 3 && bench_.chance(paces_.writes)) {
    const uint32_t address = random_address();
    auto data = static_cast<uint32_t>(bench_.below(uint64_t{1} << 32));
    const bool region = address >= address_of("REGION_BASE_LO") && address <= address_of("REGION_LIMIT_HI");
    if (region && bench_.chance(90)) data &= address % 8 == 0 ? 0xffffff00 : 0xfff;
    if (address == address_of("REGION_SET") && bench_.chance(90)) data &= 0xf;
    regs_.start_write({address, data, static_cast<uint8_t>(bench_.chance(85) ? 0xf : bench_.below(16))});
  }
  if (regs_.reads_open() < 2 && bench_.chance(paces_.reads)) regs_.start_read(random_address());
}

TEST_F(RdmaRegs, EqualsItsReferenceUnderRandomAccessesAndResets) {
  for (unsigned n = 0; n < 300'000; ++n) {
    if (n % 512 == 0) {
      regs_.pause = bench_.pace() * 95 / 100;
      paces_ = {bench_.pace(), bench_.pace(), bench_.pace() / 10, bench_.pace(),
                bench_.pace(), bench_.pace(), bench_.pace(),      bench_.pace()};
    }
    if (bench_.below(5'000) == 0) regs_.reset();
    random_surroundings();
    random_accesses();
    regs_.clock();
    if (HasFatalFailure()) FAIL() << "clock " << n;
  }
  for (const unsigned count : {regs_.ok_writes, regs_.bad_writes, regs_.ok_reads, regs_.bad_reads}) {
    EXPECT_GT(count, 2000u);
  }
  EXPECT_GT(regs_.posts_refused, 200u);
  EXPECT_GT(regs_.regions_set, 200u);
  EXPECT_GT(regs_.posts_out, 200u);
  EXPECT_GT(regs_.popped, 200u);
}

}  // namespace
}  // namespace weft::rtl_test

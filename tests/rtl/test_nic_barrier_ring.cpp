// SPDX-License-Identifier: Apache-2.0
// nic_barrier_ring beside its reference in every clock: each entry in its place, each register, the
// interrupt; memory that pauses and fails, software that writes anything anywhere, rings of all sizes,
// resets.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

#include "Vbarrier_ring.h"
#include "Vbarrier_ring_wide.h"
#include "barrier_ring_reference.hpp"
#include "bench.hpp"
#include "common/signals.hpp"

namespace weft::rtl_test {
namespace {

struct Usual {  // as CMakeLists.txt says
  using Top = Vbarrier_ring;
  static constexpr unsigned data_bytes = 32, address_bits = 48, register_bits = 16;
};
struct Wide {
  using Top = Vbarrier_ring_wide;
  static constexpr unsigned data_bytes = 64, address_bits = 64, register_bits = 8;
};

/// Probabilities in percent, for a while.
struct Paces {
  unsigned completions = 100, addresses = 100, data = 100, answers = 100, errors = 0, software = 0;
};

template <typename Size>
class NicBarrierRing : public testing::Test {
 protected:
  NicBarrierRing() {
    top().s_axil_awvalid_i = top().s_axil_wvalid_i = top().s_axil_arvalid_i = top().cpl_valid_i = 0;
    top().m_axi_bvalid_i = top().m_axi_awready_i = top().m_axi_wready_i = 0;
    reset();
  }

  auto& top() { return bench_.top(); }

  void reset() {
    reference_ = BarrierRingReference(Size::address_bits);
    write_.reset();
    read_.reset();
    address_owed_ = data_owed_ = answer_owed_ = false;
    top().s_axil_awvalid_i = top().s_axil_wvalid_i = top().s_axil_arvalid_i = top().cpl_valid_i = 0;
    top().m_axi_bvalid_i = 0;
    bench_.reset();
  }

  void clock(const Paces& paces) {
    drive(paces);
    bench_.settle();
    const BarrierRingReference before = reference_;
    const bool told = top().cpl_valid_i && before.takes(), repeated = before.keeps() && before.begins();
    EXPECT_EQ(top().cpl_ready_o, told);
    if (told) reference_.take(top().cpl_data_i);
    if (repeated) reference_.repeat();
    if (told || repeated) address_owed_ = data_owed_ = answer_owed_ = true;  // in this clock
    compare();
    const bool write_answered = top().s_axil_bvalid_o, read_answered = top().s_axil_rvalid_o;
    const bool write_over = write_answered && top().s_axil_bready_i,
               read_over = read_answered && top().s_axil_rready_i;
    const bool address = top().m_axi_awvalid_o && top().m_axi_awready_i,
               data = top().m_axi_wvalid_o && top().m_axi_wready_i,
               answer = top().m_axi_bvalid_i && top().m_axi_bready_o;
    const Requests requests = requests_taken();
    bench_.step();
    forget(requests);
    bench_.settle();
    if (address) address_owed_ = false;
    if (data) data_owed_ = false;
    if (answer) {
      answer_owed_ = false;
      reference_.answer(top().m_axi_bresp_i < 2);
    }
    if (told) top().cpl_valid_i = 0;
    if (answer) top().m_axi_bvalid_i = 0;
    entries_ += answer && reference_.tail() != before.tail();
    if (write_over) write_.reset();
    if (read_over) read_.reset();
    if (!write_answered && top().s_axil_bvalid_o) written(before);
    if (!read_answered && top().s_axil_rvalid_o) was_read(before);
  }
  void clocks(unsigned count, const Paces& paces) {
    for (unsigned n = 0; n < count && !HasFailure(); ++n) clock(paces);
  }

  /// @return whether it was taken
  bool write(uint32_t address, uint32_t data, const Paces& paces = {}) {
    bool ok = false;
    write_ = Write{address, data, 15};
    for (unsigned n = 0; n < 1'000 && write_ && !HasFailure(); ++n) {
      clock(paces);
      if (write_ && write_->ok) ok = *write_->ok;
    }
    EXPECT_FALSE(write_) << "a write of register " << address << " has no answer";
    return ok;
  }
  void enable(uint64_t base, uint32_t log2) {
    EXPECT_TRUE(write(ring::reg::BASE_LO, static_cast<uint32_t>(base)));
    EXPECT_TRUE(write(ring::reg::BASE_HI, static_cast<uint32_t>(base >> 32)));
    EXPECT_TRUE(write(ring::reg::LOG2, log2));
    EXPECT_TRUE(write(ring::reg::IRQ_ENABLE, 1));
    EXPECT_TRUE(write(ring::reg::ENABLE, 1));
  }

  Bench<typename Size::Top> bench_;
  BarrierRingReference reference_{Size::address_bits};
  uint64_t entries_ = 0, taken_ = 0, refused_ = 0;

 private:
  struct Write {
    uint32_t address, data;
    uint8_t strobes;
    bool address_sent = false, data_sent = false;
    std::optional<bool> ok = {};
  };
  struct Read {
    uint32_t address;
    bool sent = false;
  };
  struct Requests {
    bool address, data, read;
  };

  void drive(const Paces& paces) {
    if (!top().cpl_valid_i && bench_.chance(paces.completions)) {
      top().cpl_valid_i = 1;
      top().cpl_data_i = bench_.any(32) << 32 | bench_.any(32);
    }
    top().m_axi_awready_i = bench_.chance(paces.addresses);
    top().m_axi_wready_i = bench_.chance(paces.data);
    if (!top().m_axi_bvalid_i && answer_owed_ && !address_owed_ && !data_owed_ &&
        bench_.chance(paces.answers)) {
      top().m_axi_bvalid_i = 1;
      top().m_axi_bresp_i = (bench_.chance(paces.errors) ? 2 : 0) + bench_.any(1);
    }
    if (bench_.chance(paces.software)) {
      if (!write_) write_ = any_write();
      if (!read_) read_ = Read{any_address()};
    }
    if (write_) {
      // Whichever comes first; offered until taken.
      if (!write_->address_sent && bench_.chance(50)) top().s_axil_awvalid_i = 1;
      if (!write_->data_sent && bench_.chance(50)) top().s_axil_wvalid_i = 1;
      top().s_axil_awaddr_i = write_->address;
      top().s_axil_wdata_i = write_->data;
      top().s_axil_wstrb_i = write_->strobes;
    }
    if (read_ && !read_->sent) {
      top().s_axil_arvalid_i = 1;
      top().s_axil_araddr_i = read_->address;
    }
    top().s_axil_bready_i = bench_.chance(70);
    top().s_axil_rready_i = bench_.chance(70);
  }

  uint32_t any_address() {
    return static_cast<uint32_t>(bench_.chance(90) ? 4 * bench_.below(12) : bench_.any(Size::register_bits));
  }

  /// Mostly what software may do in this state of the ring.
  Write any_write() {
    Write write{any_address(), static_cast<uint32_t>(bench_.any(32)), 15};
    if (bench_.chance(10)) {
      write.strobes = static_cast<uint8_t>(bench_.any(4));
      return write;
    }
    if (bench_.chance(20)) return write;
    switch (bench_.below(reference_.enabled() ? 30 : 6)) {
      case 0: {
        const unsigned zeros = static_cast<unsigned>(bench_.below(22));
        write.address = ring::reg::BASE_LO;
        write.data = write.data >> zeros << zeros;
        break;
      }
      case 1:
        write.address = ring::reg::BASE_HI;
        write.data &= static_cast<uint32_t>((uint64_t{1} << (Size::address_bits - 32)) - 1);
        break;
      case 2:
        write.address = ring::reg::LOG2;
        write.data = static_cast<uint32_t>(bench_.chance(70) ? 1 + bench_.below(3) : bench_.below(20));
        break;
      case 3:
        write.address = ring::reg::IRQ_ENABLE;
        write.data = static_cast<uint32_t>(bench_.below(3));
        break;
      case 4:
      case 5:
        write.address = ring::reg::ENABLE;
        write.data = static_cast<uint32_t>(reference_.enabled() ? bench_.below(3) : 1);
        break;
      default:
        write.address = ring::reg::HEAD;
        write.data = (reference_.head() + bench_.below(reference_.waiting() + 2u)) & 0xffff;
    }
    return write;
  }

  /// What is taken in this clock is not offered in the next one. To be called before its end; the changes are
  /// to be made after it.
  Requests requests_taken() {
    return {top().s_axil_awvalid_i && top().s_axil_awready_o, top().s_axil_wvalid_i && top().s_axil_wready_o,
            top().s_axil_arvalid_i && top().s_axil_arready_o};
  }
  void forget(const Requests& taken) {
    if (taken.address) top().s_axil_awvalid_i = 0;
    if (taken.data) top().s_axil_wvalid_i = 0;
    if (taken.read) top().s_axil_arvalid_i = 0;
    if (write_) {
      write_->address_sent |= taken.address;
      write_->data_sent |= taken.data;
    }
    if (read_) read_->sent |= taken.read;
  }

  void written(const BarrierRingReference& before) {
    write_->ok = top().s_axil_bresp_o == 0;
    EXPECT_EQ(*write_->ok, before.allows(write_->address, write_->data, write_->strobes))
        << "register " << write_->address << ", data " << write_->data << ", strobes "
        << unsigned{write_->strobes};
    if (!*write_->ok) {
      EXPECT_EQ(top().s_axil_bresp_o, 2);
      ++refused_;
      return;
    }
    reference_.write(write_->address, write_->data);
    ++taken_;
  }
  void was_read(const BarrierRingReference& before) {
    const std::optional<uint32_t> expected = before.read(read_->address);
    EXPECT_EQ(top().s_axil_rresp_o, expected ? 0 : 2) << "register " << read_->address;
    EXPECT_EQ(top().s_axil_rdata_o, expected.value_or(0)) << "register " << read_->address;
  }

  void compare() {
    EXPECT_EQ(top().irq_o, reference_.irq());
    ASSERT_EQ(top().m_axi_awvalid_o, address_owed_);
    ASSERT_EQ(top().m_axi_wvalid_o, data_owed_);
    if (!address_owed_ && !data_owed_) return;
    const BarrierRingReference::Entry entry = reference_.entry();
    if (address_owed_) {
      EXPECT_EQ(top().m_axi_awaddr_o, entry.address);
      EXPECT_EQ(top().m_axi_awlen_o, 0);
    }
    if (!data_owed_) return;
    std::array<uint8_t, Size::data_bytes> beat{};
    tb::get_bytes(top().m_axi_wdata_o, beat.data(), beat.size());
    const auto place = entry.address % Size::data_bytes;
    const auto expected = ring::pack(entry.fields);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), beat.begin() + static_cast<long>(place)));
    EXPECT_EQ(uint64_t{top().m_axi_wstrb_o}, uint64_t{0xffff'ffff} << place);
    EXPECT_EQ(top().m_axi_wlast_o, 1);
  }
  std::optional<Write> write_;
  std::optional<Read> read_;
  bool address_owed_ = false, data_owed_ = false, answer_owed_ = false;
};

using Sizes = testing::Types<Usual, Wide>;
TYPED_TEST_SUITE(NicBarrierRing, Sizes);

TYPED_TEST(NicBarrierRing, EqualsReferenceUnderRandomSoftwareMemoryAndResets) {
  uint64_t failed = 0;
  for (unsigned phase = 0; phase < 600 && !this->HasFailure(); ++phase) {
    auto& bench = this->bench_;
    Paces paces{bench.pace(), bench.pace(), bench.pace(), bench.pace(), bench.chance(30) ? 10u : 0u,
                bench.pace()};
    this->clocks(300, paces);
    failed += this->reference_.errors();
    if (bench.chance(5)) this->reset();
  }
  EXPECT_GT(this->entries_, 1000u);
  EXPECT_GT(this->taken_, 1000u);
  EXPECT_GT(this->refused_, 1000u);
  EXPECT_GT(failed, 10u);
}

/// Software takes entries as they come, until numbers have gone round twice.
TYPED_TEST(NicBarrierRing, LargestRingGoesRound) {
  constexpr uint32_t log2 = 15, laps = 5;
  const uint64_t entries = uint64_t{1} << log2;
  this->enable(uint64_t{0x5a} * entries * ring::entry_bytes, log2);
  this->clocks(20 * entries, {});
  EXPECT_EQ(this->entries_, entries) << "full";
  while (this->entries_ < laps * entries && !this->HasFailure()) {
    this->clocks(static_cast<unsigned>(this->bench_.below(20'000)), {});
    EXPECT_TRUE(this->write(ring::reg::HEAD, this->reference_.tail()));
  }
  EXPECT_EQ(this->reference_.errors(), 0u);
}

/// Every write fails: none is lost, each is told once it can be written.
TYPED_TEST(NicBarrierRing, CountsFailuresAndKeepsTheCompletion) {
  EXPECT_TRUE(this->write(ring::reg::LOG2, 1, {.completions = 0}));
  EXPECT_TRUE(this->write(ring::reg::ENABLE, 1, {.answers = 0}));
  const Paces failing{.errors = 100};
  for (unsigned n = 1; n < 5'000 && !this->HasFailure(); ++n) {
    this->clocks(10, failing);
    EXPECT_EQ(this->reference_.errors(), n);
    EXPECT_TRUE(this->write(ring::reg::ENABLE, 1, {.answers = 0, .errors = 100}));
  }
  EXPECT_EQ(this->entries_, 0u);
  this->clocks(20, {.completions = 0});
  EXPECT_EQ(this->entries_, 2u) << "the one that was kept, then the one that waited";
}

}  // namespace
}  // namespace weft::rtl_test

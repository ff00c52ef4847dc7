// SPDX-License-Identifier: Apache-2.0
// Three masters on each of axi_read_mux and axi_write_mux, with a memory behind both that answers in order,
// and a check that every master gets its own answers, in its own order.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <vector>

#include "Vaxi_mux_bench.h"
#include "bench.hpp"
#include "common/axi_memory.hpp"
#include "common/signals.hpp"
#include "common/stable.hpp"

namespace weft::rtl_test {

/// Probabilities in percent of an address, data and readiness of each master.
struct MuxPaces {
  std::array<unsigned, 3> address{100, 100, 100};
  std::array<unsigned, 3> data{100, 100, 100};
  std::array<unsigned, 3> answer{100, 100, 100};
};

class AxiMuxTest : public testing::Test {
 protected:
  static constexpr unsigned masters = 3;
  static constexpr uint32_t beat = 32;
  static constexpr uint64_t page_bytes = 4096, read_pages = 8;
  static constexpr uint64_t bad_page = 7;  // accesses there answer with an error

  struct Burst {
    uint64_t address;
    uint8_t len;  // beats - 1
    std::vector<uint8_t> bytes;
    bool bad() const { return address / page_bytes == base_of(bad_page) / page_bytes; }
  };

  struct Master {
    std::deque<Burst> to_read, reading;
    std::deque<Burst> to_write, writing, answering;  // address to come, data to come, answer to come
    uint8_t read_beat = 0, write_beat = 0;
    bool ar_offered = false, aw_offered = false, w_offered = false;
    uint64_t beats_read = 0, beats_written = 0, answers = 0, errors = 0;
  };

  void start(tb::AxiMemoryConfig config) {
    config.data_bytes = beat;
    config.max_burst_bytes = page_bytes;
    config.seed = bench_.below(uint64_t{1} << 32);
    memory_.emplace(
        config, [](const tb::WrittenBurst&) {}, [](uint64_t, bool) {});
    memory_->inject_errors(base_of(bad_page), base_of(bad_page) + page_bytes);
    for (uint64_t page = 0; page < read_pages; ++page)
      memory_->memory().write(base_of(page), any_bytes(page_bytes));
    masters_ = {};
    axi_ = {};
    axi_.ar.burst = axi_.aw.burst = 1;
    axi_.ar.size = axi_.aw.size = 5;
    bench_->s_arvalid_i = bench_->s_awvalid_i = bench_->s_wvalid_i = 0;
    bench_->rvalid_i = bench_->bvalid_i = 0;
    bench_.reset();
  }

  /// Pages lie all over the 64 bits, each elsewhere.
  static constexpr uint64_t base_of(uint64_t page) { return page * 0x9'e377'9b97'f4a7 * page_bytes; }

  /// Reads come from pages 0 to 7, written ones go to a page of the master's own, so that its order can be
  /// seen.
  Burst random_burst(uint64_t page, uint8_t max_len) {
    Burst burst{base_of(page) + bench_.below(128 - max_len) * beat,
                static_cast<uint8_t>(bench_.below(max_len + 1u)),
                {}};
    burst.bytes = any_bytes((burst.len + 1u) * beat);
    return burst;
  }

  std::vector<uint8_t> any_bytes(uint64_t count) {
    std::vector<uint8_t> bytes(count);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(bench_.below(256));
    return bytes;
  }

  uint8_t any_len() { return bench_.chance(5) ? 127 : 15; }
  void add_read(unsigned master) { add_read(master, any_len()); }
  void add_read(unsigned master, uint8_t max_len) {
    masters_[master].to_read.push_back(random_burst(bench_.below(read_pages), max_len));
  }
  void add_write(unsigned master) { add_write(master, any_len()); }
  void add_write(unsigned master, uint8_t max_len) {
    const uint64_t page = bench_.chance(10) ? bad_page : 16 + master;
    masters_[master].to_write.push_back(random_burst(page, max_len));
  }

  void cycle(const MuxPaces& paces) {
    drive(paces);
    bench_.settle();
    fetch();
    reporter_.set_cycle(bench_.cycle());
    memory_->sample(axi_, reporter_);
    for (unsigned m = 0; m < masters; ++m) {
      follow_read(m);
      follow_write(m);
    }
    ASSERT_FALSE(findings_.any()) << findings_.summary();
    if (HasFatalFailure()) return;
    bench_.step();
  }

  bool quiet() const {
    for (const Master& m : masters_) {
      if (!m.to_read.empty() || !m.reading.empty() || !m.to_write.empty() || !m.writing.empty() ||
          !m.answering.empty())
        return false;
    }
    return memory_->idle();
  }

  void finish() {
    for (unsigned n = 0; n < 50'000 && !quiet(); ++n) ASSERT_NO_FATAL_FAILURE(cycle({}));
    ASSERT_TRUE(quiet());
    memory_->check_quiet(reporter_);
    ASSERT_FALSE(findings_.any()) << findings_.summary();
  }

  Bench<Vaxi_mux_bench> bench_;
  std::array<Master, masters> masters_;
  std::optional<tb::AxiMemory> memory_;

 private:
  template <typename Port>
  static void put(Port& port, unsigned index, const void* bytes, size_t count) {
    std::memcpy(reinterpret_cast<uint8_t*>(&port) + index * count, bytes, count);
  }

  static void set_bit(uint8_t& port, unsigned index, bool value) {
    port = static_cast<uint8_t>((port & ~(1u << index)) | (value ? 1u : 0u) << index);
  }
  static bool bit(uint8_t port, unsigned index) { return port >> index & 1; }

  void drive(const MuxPaces& paces) {
    for (unsigned m = 0; m < masters; ++m) {
      Master& master = masters_[m];
      master.ar_offered = !master.to_read.empty() && (master.ar_offered || bench_.chance(paces.address[m]));
      master.aw_offered = !master.to_write.empty() && (master.aw_offered || bench_.chance(paces.address[m]));
      master.w_offered = !master.writing.empty() && (master.w_offered || bench_.chance(paces.data[m]));
      const Burst read = master.ar_offered ? master.to_read.front() : random_burst(bench_.below(99), 15);
      const Burst write = master.aw_offered ? master.to_write.front() : random_burst(bench_.below(99), 15);
      const Burst data = master.w_offered ? master.writing.front() : random_burst(bench_.below(99), 0);
      set_bit(bench_->s_arvalid_i, m, master.ar_offered);
      put(bench_->s_araddr_i, m, &read.address, 8);
      put(bench_->s_arlen_i, m, &read.len, 1);
      set_bit(bench_->s_rready_i, m, bench_.chance(paces.answer[m]));
      set_bit(bench_->s_awvalid_i, m, master.aw_offered);
      put(bench_->s_awaddr_i, m, &write.address, 8);
      put(bench_->s_awlen_i, m, &write.len, 1);
      set_bit(bench_->s_wvalid_i, m, master.w_offered);
      const uint32_t strobes = ~0u;
      const uint8_t at = master.w_offered ? master.write_beat : uint8_t{0};
      put(bench_->s_wdata_i, m, data.bytes.data() + at * beat, beat);
      put(bench_->s_wstrb_i, m, &strobes, 4);
      set_bit(bench_->s_wlast_i, m, at == data.len);
      set_bit(bench_->s_bready_i, m, bench_.chance(paces.answer[m]));
    }
    memory_->drive(axi_);
    bench_->arready_i = axi_.arready;
    bench_->rvalid_i = axi_.rvalid;
    bench_->rlast_i = axi_.rlast;
    bench_->rresp_i = axi_.rresp;
    tb::put_bytes(bench_->rdata_i, axi_.rdata.data(), beat);
    bench_->awready_i = axi_.awready;
    bench_->wready_i = axi_.wready;
    bench_->bvalid_i = axi_.bvalid;
    bench_->bresp_i = axi_.bresp;
  }

  void fetch() {
    axi_.arvalid = bench_->arvalid_o;
    axi_.ar.addr = bench_->araddr_o;
    axi_.ar.len = bench_->arlen_o;
    axi_.rready = bench_->rready_o;
    axi_.awvalid = bench_->awvalid_o;
    axi_.aw.addr = bench_->awaddr_o;
    axi_.aw.len = bench_->awlen_o;
    axi_.wvalid = bench_->wvalid_o;
    tb::get_bytes(bench_->wdata_o, axi_.w.data.data(), beat);
    axi_.w.strb = bench_->wstrb_o;
    axi_.w.last = bench_->wlast_o;
    axi_.bready = bench_->bready_o;
  }

  void follow_read(unsigned m) {
    Master& master = masters_[m];
    if (bit(bench_->s_rvalid_o, m)) {
      ASSERT_FALSE(master.reading.empty()) << "data for master " << m << ", which has asked for none";
      const Burst& burst = master.reading.front();
      ASSERT_EQ(bench_->s_rlast_o, master.read_beat == burst.len);
      ASSERT_EQ(bench_->s_rresp_o, axi_.rresp);
      ASSERT_EQ(axi_.rresp != tb::resp_okay, burst.bad());
      std::array<uint8_t, beat> data{};
      tb::get_bytes(bench_->s_rdata_o, data.data(), beat);
      ASSERT_TRUE(memory_->memory().equals(burst.address + master.read_beat * beat, data)) << "master " << m;
      if (bit(bench_->s_rready_i, m)) {
        ++master.beats_read;
        master.errors += burst.bad() && master.read_beat == burst.len;
        if (master.read_beat++ == burst.len) {
          master.reading.pop_front();
          master.read_beat = 0;
        }
      }
    }
    if (master.ar_offered && bit(bench_->s_arready_o, m)) {
      master.reading.push_back(master.to_read.front());
      master.to_read.pop_front();
      master.ar_offered = false;
    }
  }

  void follow_write(unsigned m) {
    Master& master = masters_[m];
    if (bit(bench_->s_bvalid_o, m)) {
      ASSERT_FALSE(master.answering.empty()) << "answer for master " << m << ", which has sent nothing";
      const Burst& burst = master.answering.front();
      ASSERT_EQ(bench_->s_bresp_o, axi_.bresp);
      ASSERT_EQ(axi_.bresp != tb::resp_okay, burst.bad());
      if (bit(bench_->s_bready_i, m)) {
        if (!burst.bad()) {
          ASSERT_TRUE(memory_->memory().equals(burst.address, burst.bytes)) << "master " << m;
        }
        master.errors += burst.bad();
        ++master.answers;
        master.answering.pop_front();
      }
    }
    if (master.w_offered && bit(bench_->s_wready_o, m)) {
      ++master.beats_written;
      master.w_offered = false;
      if (master.write_beat++ == master.writing.front().len) {
        master.answering.push_back(master.writing.front());
        master.writing.pop_front();
        master.write_beat = 0;
      }
    }
    if (master.aw_offered && bit(bench_->s_awready_o, m)) {
      master.writing.push_back(master.to_write.front());
      master.to_write.pop_front();
      master.aw_offered = false;
    }
  }

  tb::AxiPins axi_;
  tb::Findings findings_;
  tb::Reporter reporter_{findings_, 0};
};

}  // namespace weft::rtl_test

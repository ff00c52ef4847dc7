// SPDX-License-Identifier: Apache-2.0
// A virtual platform of two nodes, each a NIC, host memory and a processor on which software runs, and a link
// between them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/ring_driver.hpp"
#include "systemc/link.hpp"
#include "systemc/weft_nic.hpp"

namespace weft::systemc {

/// How long an access takes that begins now.
using Latency = std::function<sc_core::sc_time()>;

/// Addresses beyond its end: address error.
class Memory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Memory> socket{"socket"};

  Memory(const sc_core::sc_module_name& name, uint64_t bytes, Latency latency);
  std::span<uint8_t> bytes() { return bytes_; }
  /// Reads that were under way at the same time, at most.
  size_t most_reads() const { return most_reads_; }

 private:
  void access(tlm::tlm_generic_payload& access, sc_core::sc_time& delay);
  void count_read(const sc_core::sc_time& until);

  std::vector<uint8_t> bytes_;
  Latency latency_;
  std::vector<sc_core::sc_time> reads_;  // when they end
  size_t most_reads_ = 0;
};

/// Where software runs: a thread that reaches the NIC's registers over a bus and memory directly.
class Processor : public sc_core::sc_module, public driver::RegisterBus, public driver::RingMemory {
 public:
  tlm_utils::simple_initiator_socket<Processor> socket{"socket"};
  sc_core::sc_in<bool> clk{"clk"};

  Processor(const sc_core::sc_module_name& name, Memory& memory, std::function<void(Processor&)> program);

  void write(uint32_t address, uint32_t data, driver::OnWritten done) override;
  void read(uint32_t address, driver::OnRead done) override;
  void write(uint64_t address, std::span<const uint8_t> bytes) override;
  void read(uint64_t address, std::span<uint8_t> bytes) const override;
  /// Until then, looked at each clock; false: not within so many clocks.
  bool wait_until(const std::function<bool()>& done, uint64_t clocks = 1'000'000);

 private:
  void run() { program_(*this); }
  bool access(tlm::tlm_command command, uint32_t address, uint32_t& data);

  Memory& memory_;
  std::function<void(Processor&)> program_;
};

struct Node {
  Memory memory;
  weft_nic nic;
  Processor processor;
  sc_core::sc_signal<bool> irq, queue_irq, barrier_irq;

  Node(uint32_t number, uint64_t bytes, const Latency& latency, std::function<void(Processor&)> program);
};

/// Two of them, at 250 MHz.
class Platform {
 public:
  static constexpr unsigned clock_ns = 4;

  struct LinkFaults {
    fabric::Faults faults;
    uint64_t seed = 1;
  };

  /// @param latency of memories
  /// @param faults of the link; nothing: the NICs are joined by FIFOs
  Platform(uint64_t bytes, const std::function<void(Processor&)>& first,
           const std::function<void(Processor&)>& second, const Latency& latency = ten_clocks,
           const std::optional<LinkFaults>& faults = {});
  Node& node(uint32_t number) { return number == 0 ? first_ : second_; }
  /// If it has faults.
  const Link* link() const { return link_.get(); }
  /// Both NICs, from the next clock on for four.
  void reset() { reset_wanted_.notify(); }
  static uint64_t clock();
  static sc_core::sc_time clocks(unsigned number) {
    return number * sc_core::sc_time(clock_ns, sc_core::SC_NS);
  }
  static sc_core::sc_time ten_clocks() { return clocks(10); }

 private:
  void hold_reset();
  void join();
  void join(const LinkFaults& faults);

  sc_core::sc_clock clk_;
  sc_core::sc_signal<bool> rst_n_;
  sc_core::sc_event reset_wanted_;
  Node first_, second_;
  std::array<sc_core::sc_fifo<Flit>, 2> out_, in_;  // of packets, by node; without a link `out_` alone
  std::unique_ptr<Link> link_;
};

}  // namespace weft::systemc

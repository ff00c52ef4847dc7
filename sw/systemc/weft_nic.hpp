// SPDX-License-Identifier: Apache-2.0
// The NIC as a SystemC module (docs/systemc.md): the Verilated RTL, with TLM-2.0 sockets for its registers
// and for host memory, and FIFOs of flits for packets. Build of it: weft_nic_pins.sv.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <iosfwd>
#include <memory>
#include <systemc>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <tlm>

namespace weft::systemc {

inline constexpr unsigned flit_bytes = 32;

/// A beat of a packet. `keep`: bit i says that byte i counts; `last`: of its packet.
struct Flit {
  std::array<uint8_t, flit_bytes> data{};
  uint32_t keep = 0;
  bool last = false;

  bool operator==(const Flit&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Flit& flit);

// NOLINTNEXTLINE(readability-identifier-naming): named as modules of the RTL are
class weft_nic : public sc_core::sc_module {
 public:
  sc_core::sc_in<bool> clk{"clk"};
  sc_core::sc_in<bool> rst_n{"rst_n"};  ///< synchronous; a packet that it cuts is dropped by the receiver
  sc_core::sc_out<bool> irq{"irq"};     ///< of the engine
  sc_core::sc_out<bool> queue_irq{"queue_irq"};      ///< of the queues
  sc_core::sc_out<bool> barrier_irq{"barrier_irq"};  ///< of the barrier engine's ring
  /// Words of 32 bits; blocking, each lasts for the clocks that AXI4-Lite takes. Another length or place:
  /// TLM's errors for these; SLVERR, or a reset on the way: TLM_GENERIC_ERROR_RESPONSE. In reset they wait
  /// for its end.
  tlm_utils::simple_target_socket<weft_nic> registers{"registers"};
  /// Bursts of whole flits, up to 256 bytes, writes with byte enables; blocking, several reads and several
  /// writes at once, begun in the order in which the NIC asks. Any error becomes SLVERR.
  tlm_utils::simple_initiator_socket<weft_nic> memory{"memory"};
  sc_core::sc_fifo_in<Flit> packets_in{"packets_in"};
  sc_core::sc_fifo_out<Flit> packets_out{"packets_out"};

  /// @param at_once reads that may be under way in `memory`, and writes
  explicit weft_nic(const sc_core::sc_module_name& name, unsigned at_once = 8);
  ~weft_nic() override;

 private:
  struct Pins;
  struct Read {
    uint64_t address;
    uint32_t beats;
  };
  struct Write {
    uint64_t address = 0;
    std::vector<uint8_t> bytes, enables;
  };
  /// What memory says of a burst; the NIC is told in the order in which it asked.
  struct Answer {
    std::vector<uint8_t> bytes;  ///< of a read
    bool come = false, good = false;
  };
  using Answers = std::deque<std::shared_ptr<Answer>>;

  void access_register(tlm::tlm_generic_payload& access, sc_core::sc_time& delay);
  void write_register(tlm::tlm_generic_payload& access);
  void read_register(tlm::tlm_generic_payload& access);
  void move_packets();
  void take_bursts();
  void read_memory();
  void write_memory();
  void answer_reads();
  void answer_writes();
  void transport(tlm::tlm_command command, uint64_t address, std::vector<uint8_t>& bytes,
                 std::vector<uint8_t>* enables, Answer& answer);
  std::shared_ptr<Answer> next(Answers& answers);
  void forget_bursts();
  void next_clock();

  std::unique_ptr<Pins> pins_;
  sc_core::sc_mutex register_access_;
  std::deque<Read> reads_;
  std::deque<uint64_t> write_addresses_;
  std::deque<Write> writes_;  // whole ones
  Write gathered_;            // beats that have come
  std::deque<Write> gathered_whole_;
  Answers read_answers_, write_answers_;  // of bursts that are under way
  bool flit_offered_ = false;
  uint64_t resets_ = 0;
};

}  // namespace weft::systemc

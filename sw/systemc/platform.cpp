// SPDX-License-Identifier: Apache-2.0
#include "systemc/platform.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::systemc {

using sc_core::sc_time;
using tlm::tlm_generic_payload;

// --- memory
// ------------------------------------------------------------------------------------------------------------

Memory::Memory(const sc_core::sc_module_name& name, uint64_t bytes, Latency latency)
    : sc_module(name), bytes_(bytes), latency_(std::move(latency)) {
  socket.register_b_transport(this, &Memory::access);
}

void Memory::count_read(const sc_time& until) {
  const sc_time& now = sc_core::sc_time_stamp();
  std::erase_if(reads_, [&](const sc_time& end) { return end <= now; });
  reads_.push_back(until);
  most_reads_ = std::max(most_reads_, reads_.size());
}

void Memory::access(tlm_generic_payload& access, sc_time& delay) {
  delay += latency_();
  if (access.is_read()) count_read(sc_core::sc_time_stamp() + delay);
  const uint64_t address = access.get_address(), length = access.get_data_length();
  if (address > bytes_.size() || length > bytes_.size() - address) {
    access.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  uint8_t* const here = bytes_.data() + address;
  uint8_t* const there = access.get_data_ptr();
  const uint8_t* const enables = access.get_byte_enable_ptr();
  for (uint64_t i = 0; i < length; ++i) {
    if (enables != nullptr && enables[i % access.get_byte_enable_length()] != TLM_BYTE_ENABLED) continue;
    if (access.is_read()) there[i] = here[i];
    if (access.is_write()) here[i] = there[i];
  }
  access.set_response_status(tlm::TLM_OK_RESPONSE);
}

// --- processor
// ---------------------------------------------------------------------------------------------------------

Processor::Processor(const sc_core::sc_module_name& name, Memory& memory,
                     std::function<void(Processor&)> program)
    : sc_module(name), memory_(memory), program_(std::move(program)) {
  SC_HAS_PROCESS(Processor);
  SC_THREAD(run);
}

bool Processor::access(tlm::tlm_command command, uint32_t address, uint32_t& data) {
  tlm_generic_payload access;
  access.set_command(command);
  access.set_address(address);
  access.set_data_ptr(reinterpret_cast<unsigned char*>(&data));
  access.set_data_length(4);
  access.set_streaming_width(4);
  sc_time delay = sc_core::SC_ZERO_TIME;
  socket->b_transport(access, delay);
  wait(delay);
  return access.is_response_ok();
}

void Processor::write(uint32_t address, uint32_t data, driver::OnWritten done) {
  const bool ok = access(tlm::TLM_WRITE_COMMAND, address, data);
  if (done) done(ok);
}

void Processor::read(uint32_t address, driver::OnRead done) {
  uint32_t data = 0;
  const bool ok = access(tlm::TLM_READ_COMMAND, address, data);
  done(ok, data);
}

void Processor::write(uint64_t address, std::span<const uint8_t> bytes) {
  std::copy(bytes.begin(), bytes.end(), memory_.bytes().subspan(address, bytes.size()).begin());
}

void Processor::read(uint64_t address, std::span<uint8_t> bytes) const {
  const auto from = memory_.bytes().subspan(address, bytes.size());
  std::copy(from.begin(), from.end(), bytes.begin());
}

bool Processor::wait_until(const std::function<bool()>& done, uint64_t clocks) {
  for (; clocks > 0; --clocks) {
    if (done()) return true;
    wait(clk.posedge_event());
  }
  return false;
}

// --- platform
// ----------------------------------------------------------------------------------------------------------

Node::Node(uint32_t number, uint64_t bytes, const Latency& latency, std::function<void(Processor&)> program)
    : memory(("memory" + std::to_string(number)).c_str(), bytes, latency),
      nic(("nic" + std::to_string(number)).c_str()),
      processor(("processor" + std::to_string(number)).c_str(), memory, std::move(program)) {
  nic.memory.bind(memory.socket);
  processor.socket.bind(nic.registers);
  nic.irq(irq);
  nic.queue_irq(queue_irq);
  nic.barrier_irq(barrier_irq);
}

Platform::Platform(uint64_t bytes, const std::function<void(Processor&)>& first,
                   const std::function<void(Processor&)>& second, const Latency& latency,
                   const std::optional<LinkFaults>& faults)
    : clk_("clk", sc_time(clock_ns, sc_core::SC_NS)),
      rst_n_("rst_n"),
      first_(0, bytes, latency, first),
      second_(1, bytes, latency, second),
      out_{sc_core::sc_fifo<Flit>("out0", 16), sc_core::sc_fifo<Flit>("out1", 16)},
      in_{sc_core::sc_fifo<Flit>("in0", 16), sc_core::sc_fifo<Flit>("in1", 16)} {
  for (Node* node : {&first_, &second_}) {
    node->nic.clk(clk_);
    node->nic.rst_n(rst_n_);
    node->processor.clk(clk_);
  }
  for (const uint32_t number : {0, 1}) node(number).nic.packets_out(out_[number]);
  if (faults) {
    join(*faults);
  } else {
    join();
  }
  sc_core::sc_spawn([this] { hold_reset(); });
}

void Platform::join() {
  for (const uint32_t number : {0, 1}) node(number).nic.packets_in(out_[1 - number]);
}

void Platform::join(const LinkFaults& faults) {
  link_ = std::make_unique<Link>("link", faults.faults, faults.seed);
  link_->clk(clk_);
  for (const uint32_t number : {0, 1}) {
    link_->from[number](out_[number]);
    link_->to[number](in_[number]);
    node(number).nic.packets_in(in_[number]);
  }
}

/// At the start, and whenever it is wanted.
void Platform::hold_reset() {
  while (true) {
    rst_n_ = false;
    for (int clock = 0; clock < 4; ++clock) sc_core::wait(clk_.posedge_event());
    rst_n_ = true;
    sc_core::wait(reset_wanted_);
  }
}

uint64_t Platform::clock() {
  return static_cast<uint64_t>(sc_core::sc_time_stamp() / sc_time(clock_ns, sc_core::SC_NS));
}

}  // namespace weft::systemc

// SPDX-License-Identifier: Apache-2.0
#include "systemc/weft_nic.hpp"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <ostream>
#include <utility>

#include "Vweft_nic_pins.h"

namespace weft::systemc {

using sc_core::sc_signal;
using tlm::tlm_generic_payload;

namespace {

constexpr unsigned bursts_waiting = 16;  // reads or writes that wait for memory, at most
constexpr uint32_t okay = 0, slverr = 2;
constexpr uint64_t register_bytes = 1 << 16;  // address pins of weft_nic_pins.sv

/// Not a chain of assignments: a signal has its new value only later.
void set(std::initializer_list<sc_signal<bool>*> pins, bool level) {
  for (sc_signal<bool>* pin : pins) pin->write(level);
}

void put_flit(sc_dt::sc_bv<8 * flit_bytes>& pins, const uint8_t* bytes) {
  for (unsigned word = 0; word < flit_bytes / 4; ++word) {
    uint32_t value;
    std::memcpy(&value, bytes + 4 * word, 4);
    pins.set_word(static_cast<int>(word), value);
  }
}

void get_flit(const sc_dt::sc_bv<8 * flit_bytes>& pins, uint8_t* bytes) {
  for (unsigned word = 0; word < flit_bytes / 4; ++word) {
    const auto value = static_cast<uint32_t>(pins.get_word(static_cast<int>(word)));
    std::memcpy(bytes + 4 * word, &value, 4);
  }
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Flit& flit) {
  return out << "flit with bytes " << std::hex << flit.keep << std::dec << (flit.last ? ", last" : "");
}

struct weft_nic::Pins {
  Vweft_nic_pins nic{"nic"};
  sc_signal<bool> in_valid{"in_valid"}, in_ready{"in_ready"}, in_last{"in_last"};
  sc_signal<sc_dt::sc_bv<256>> in_data{"in_data"};
  sc_signal<uint32_t> in_keep{"in_keep"};
  sc_signal<bool> out_valid{"out_valid"}, out_ready{"out_ready"}, out_last{"out_last"};
  sc_signal<sc_dt::sc_bv<256>> out_data{"out_data"};
  sc_signal<uint32_t> out_keep{"out_keep"};
  sc_signal<uint32_t> reg_awaddr{"reg_awaddr"}, reg_wdata{"reg_wdata"}, reg_wstrb{"reg_wstrb"},
      reg_bresp{"reg_bresp"}, reg_araddr{"reg_araddr"}, reg_rdata{"reg_rdata"}, reg_rresp{"reg_rresp"};
  sc_signal<bool> reg_awvalid{"reg_awvalid"}, reg_awready{"reg_awready"}, reg_wvalid{"reg_wvalid"},
      reg_wready{"reg_wready"}, reg_bvalid{"reg_bvalid"}, reg_bready{"reg_bready"},
      reg_arvalid{"reg_arvalid"}, reg_arready{"reg_arready"}, reg_rvalid{"reg_rvalid"},
      reg_rready{"reg_rready"};
  sc_signal<uint64_t> mem_awaddr{"mem_awaddr"}, mem_araddr{"mem_araddr"};
  sc_signal<uint32_t> mem_awlen{"mem_awlen"}, mem_wstrb{"mem_wstrb"}, mem_bresp{"mem_bresp"},
      mem_arlen{"mem_arlen"}, mem_rresp{"mem_rresp"};
  sc_signal<sc_dt::sc_bv<256>> mem_wdata{"mem_wdata"}, mem_rdata{"mem_rdata"};
  sc_signal<bool> mem_awvalid{"mem_awvalid"}, mem_awready{"mem_awready"}, mem_wlast{"mem_wlast"},
      mem_wvalid{"mem_wvalid"}, mem_wready{"mem_wready"}, mem_bvalid{"mem_bvalid"}, mem_bready{"mem_bready"},
      mem_arvalid{"mem_arvalid"}, mem_arready{"mem_arready"}, mem_rlast{"mem_rlast"},
      mem_rvalid{"mem_rvalid"}, mem_rready{"mem_rready"};

  explicit Pins(weft_nic& module) {
    nic.clk_i(module.clk);
    nic.rst_ni(module.rst_n);
    nic.irq_o(module.irq);
    nic.queue_irq_o(module.queue_irq);
    nic.barrier_irq_o(module.barrier_irq);
    nic.s_axis_tvalid_i(in_valid), nic.s_axis_tready_o(in_ready), nic.s_axis_tdata_i(in_data),
        nic.s_axis_tkeep_i(in_keep), nic.s_axis_tlast_i(in_last);
    nic.m_axis_tvalid_o(out_valid), nic.m_axis_tready_i(out_ready), nic.m_axis_tdata_o(out_data),
        nic.m_axis_tkeep_o(out_keep), nic.m_axis_tlast_o(out_last);
    nic.s_axil_awaddr_i(reg_awaddr), nic.s_axil_awvalid_i(reg_awvalid), nic.s_axil_awready_o(reg_awready);
    nic.s_axil_wdata_i(reg_wdata), nic.s_axil_wstrb_i(reg_wstrb), nic.s_axil_wvalid_i(reg_wvalid),
        nic.s_axil_wready_o(reg_wready);
    nic.s_axil_bresp_o(reg_bresp), nic.s_axil_bvalid_o(reg_bvalid), nic.s_axil_bready_i(reg_bready);
    nic.s_axil_araddr_i(reg_araddr), nic.s_axil_arvalid_i(reg_arvalid), nic.s_axil_arready_o(reg_arready);
    nic.s_axil_rdata_o(reg_rdata), nic.s_axil_rresp_o(reg_rresp), nic.s_axil_rvalid_o(reg_rvalid),
        nic.s_axil_rready_i(reg_rready);
    nic.m_axi_awaddr_o(mem_awaddr), nic.m_axi_awlen_o(mem_awlen), nic.m_axi_awvalid_o(mem_awvalid),
        nic.m_axi_awready_i(mem_awready);
    nic.m_axi_wdata_o(mem_wdata), nic.m_axi_wstrb_o(mem_wstrb), nic.m_axi_wlast_o(mem_wlast),
        nic.m_axi_wvalid_o(mem_wvalid), nic.m_axi_wready_i(mem_wready);
    nic.m_axi_bresp_i(mem_bresp), nic.m_axi_bvalid_i(mem_bvalid), nic.m_axi_bready_o(mem_bready);
    nic.m_axi_araddr_o(mem_araddr), nic.m_axi_arlen_o(mem_arlen), nic.m_axi_arvalid_o(mem_arvalid),
        nic.m_axi_arready_i(mem_arready);
    nic.m_axi_rdata_i(mem_rdata), nic.m_axi_rresp_i(mem_rresp), nic.m_axi_rlast_i(mem_rlast),
        nic.m_axi_rvalid_i(mem_rvalid), nic.m_axi_rready_o(mem_rready);
  }
};

weft_nic::weft_nic(const sc_core::sc_module_name& name, unsigned at_once)
    : sc_module(name), pins_(std::make_unique<Pins>(*this)) {
  registers.register_b_transport(this, &weft_nic::access_register);
  SC_HAS_PROCESS(weft_nic);
  SC_METHOD(move_packets);
  sensitive << clk.pos();
  dont_initialize();
  SC_METHOD(take_bursts);
  sensitive << clk.pos();
  dont_initialize();
  for (unsigned burst = 0; burst < at_once; ++burst) {
    sc_spawn([this] { read_memory(); });
    sc_spawn([this] { write_memory(); });
  }
  SC_THREAD(answer_reads);
  SC_THREAD(answer_writes);
}

weft_nic::~weft_nic() { pins_->nic.final(); }

void weft_nic::next_clock() { wait(clk.posedge_event()); }

// --- registers
// ---------------------------------------------------------------------------------------------------------

void weft_nic::access_register(tlm_generic_payload& access, sc_core::sc_time& delay) {
  wait(delay);
  delay = sc_core::SC_ZERO_TIME;
  access.set_dmi_allowed(false);
  if (access.get_data_length() != 4 || access.get_streaming_width() < 4) {
    access.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  } else if (access.get_byte_enable_ptr() != nullptr) {
    access.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  } else if (access.get_address() % 4 != 0 || access.get_address() >= register_bytes) {
    access.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  } else {
    register_access_.lock();
    do next_clock();
    while (!rst_n.read());
    if (access.is_write()) write_register(access);
    if (access.is_read()) read_register(access);
    if (access.get_command() == tlm::TLM_IGNORE_COMMAND) access.set_response_status(tlm::TLM_OK_RESPONSE);
    register_access_.unlock();
  }
}

void weft_nic::write_register(tlm_generic_payload& access) {
  Pins& p = *pins_;
  uint32_t data;
  std::memcpy(&data, access.get_data_ptr(), 4);
  p.reg_awaddr = static_cast<uint32_t>(access.get_address());
  p.reg_wdata = data;
  p.reg_wstrb = 15;
  set({&p.reg_awvalid, &p.reg_wvalid, &p.reg_bready}, true);
  bool address = true, word = true;  // not taken yet
  do {
    next_clock();
    if (address && p.reg_awready.read()) p.reg_awvalid = address = false;
    if (word && p.reg_wready.read()) p.reg_wvalid = word = false;
  } while (rst_n.read() && !p.reg_bvalid.read());
  set({&p.reg_awvalid, &p.reg_wvalid, &p.reg_bready}, false);
  const bool good = rst_n.read() && p.reg_bresp.read() == okay;
  access.set_response_status(good ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
}

void weft_nic::read_register(tlm_generic_payload& access) {
  Pins& p = *pins_;
  p.reg_araddr = static_cast<uint32_t>(access.get_address());
  set({&p.reg_arvalid, &p.reg_rready}, true);
  bool address = true;
  do {
    next_clock();
    if (address && p.reg_arready.read()) p.reg_arvalid = address = false;
  } while (rst_n.read() && !p.reg_rvalid.read());
  set({&p.reg_arvalid, &p.reg_rready}, false);
  const uint32_t data = p.reg_rdata.read();
  std::memcpy(access.get_data_ptr(), &data, 4);
  const bool good = rst_n.read() && p.reg_rresp.read() == okay;
  access.set_response_status(good ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
}

// --- packets
// -----------------------------------------------------------------------------------------------------------

void weft_nic::move_packets() {
  Pins& p = *pins_;
  if (!rst_n.read()) {
    flit_offered_ = false;
    set({&p.in_valid, &p.out_ready}, false);
    return;
  }
  if (p.out_valid.read() && p.out_ready.read()) {
    Flit flit;
    get_flit(p.out_data.read(), flit.data.data());
    flit.keep = p.out_keep.read();
    flit.last = p.out_last.read();
    packets_out->nb_write(flit);  // there is room: it was ready
  }
  p.out_ready = packets_out->num_free() > 0;

  if (flit_offered_ && p.in_ready.read()) flit_offered_ = false;
  Flit flit;
  if (!flit_offered_ && packets_in->nb_read(flit)) {
    sc_dt::sc_bv<256> data;
    put_flit(data, flit.data.data());
    p.in_data = data;
    p.in_keep = flit.keep;
    p.in_last = flit.last;
    flit_offered_ = true;
  }
  p.in_valid = flit_offered_;
}

// --- host memory
// -------------------------------------------------------------------------------------------------------

void weft_nic::forget_bursts() {
  reads_.clear();
  write_addresses_.clear();
  writes_.clear();
  gathered_whole_.clear();
  gathered_ = {};
  read_answers_.clear();
  write_answers_.clear();
}

/// Requests, addresses and data of writes independent of each other.
void weft_nic::take_bursts() {
  Pins& p = *pins_;
  if (!rst_n.read()) {
    ++resets_;
    forget_bursts();
    set({&p.mem_arready, &p.mem_awready, &p.mem_wready}, false);
    return;
  }
  if (p.mem_arvalid.read() && p.mem_arready.read())
    reads_.push_back({p.mem_araddr.read(), p.mem_arlen.read() + 1});
  if (p.mem_awvalid.read() && p.mem_awready.read()) write_addresses_.push_back(p.mem_awaddr.read());
  if (p.mem_wvalid.read() && p.mem_wready.read()) {
    const size_t at = gathered_.bytes.size();
    gathered_.bytes.resize(at + flit_bytes);
    get_flit(p.mem_wdata.read(), gathered_.bytes.data() + at);
    for (unsigned i = 0; i < flit_bytes; ++i)
      gathered_.enables.push_back((p.mem_wstrb.read() >> i & 1) != 0 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED);
    if (p.mem_wlast.read()) gathered_whole_.push_back(std::exchange(gathered_, {}));
  }
  while (!write_addresses_.empty() && !gathered_whole_.empty()) {
    writes_.push_back(std::move(gathered_whole_.front()));
    writes_.back().address = write_addresses_.front();
    gathered_whole_.pop_front();
    write_addresses_.pop_front();
  }
  const size_t written = writes_.size() + write_answers_.size();
  p.mem_arready = reads_.size() + read_answers_.size() < bursts_waiting;
  p.mem_awready = write_addresses_.size() + written < bursts_waiting;
  p.mem_wready = gathered_whole_.size() + written < bursts_waiting;
}

void weft_nic::transport(tlm::tlm_command command, uint64_t address, std::vector<uint8_t>& bytes,
                         std::vector<uint8_t>* enables, Answer& answer) {
  tlm_generic_payload access;
  access.set_command(command);
  access.set_address(address);
  access.set_data_ptr(bytes.data());
  access.set_data_length(static_cast<unsigned>(bytes.size()));
  access.set_streaming_width(static_cast<unsigned>(bytes.size()));
  if (enables != nullptr) {
    access.set_byte_enable_ptr(enables->data());
    access.set_byte_enable_length(static_cast<unsigned>(enables->size()));
  }
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  memory->b_transport(access, delay);
  wait(delay);
  answer.good = access.is_response_ok();
  answer.come = true;
}

/// One of several threads: each has a read under way.
void weft_nic::read_memory() {
  while (true) {
    while (reads_.empty()) next_clock();
    const Read read = reads_.front();
    reads_.pop_front();
    const auto answer = read_answers_.emplace_back(std::make_shared<Answer>());
    answer->bytes.resize(size_t{read.beats} * flit_bytes);
    transport(tlm::TLM_READ_COMMAND, read.address, answer->bytes, nullptr, *answer);
  }
}

/// One of several threads: each has a write under way.
void weft_nic::write_memory() {
  while (true) {
    while (writes_.empty()) next_clock();
    Write write = std::move(writes_.front());
    writes_.pop_front();
    const auto answer = write_answers_.emplace_back(std::make_shared<Answer>());
    transport(tlm::TLM_WRITE_COMMAND, write.address, write.bytes, &write.enables, *answer);
  }
}

/// The oldest, when it has come.
std::shared_ptr<weft_nic::Answer> weft_nic::next(Answers& answers) {
  while (answers.empty() || !answers.front()->come) next_clock();
  auto answer = std::move(answers.front());
  answers.pop_front();
  return answer;
}

void weft_nic::answer_reads() {
  Pins& p = *pins_;
  while (true) {
    const auto answer = next(read_answers_);
    const uint64_t resets = resets_;
    const size_t beats = answer->bytes.size() / flit_bytes;
    for (size_t beat = 0; beat < beats && resets == resets_; ++beat) {
      sc_dt::sc_bv<256> data;
      put_flit(data, answer->bytes.data() + beat * flit_bytes);
      p.mem_rdata = data;
      p.mem_rresp = answer->good ? okay : slverr;
      p.mem_rlast = beat + 1 == beats;
      p.mem_rvalid = true;
      do next_clock();
      while (!p.mem_rready.read() && resets == resets_);
    }
    p.mem_rvalid = false;
  }
}

void weft_nic::answer_writes() {
  Pins& p = *pins_;
  while (true) {
    const auto answer = next(write_answers_);
    const uint64_t resets = resets_;
    p.mem_bresp = answer->good ? okay : slverr;
    p.mem_bvalid = true;
    do next_clock();
    while (!p.mem_bready.read() && resets == resets_);
    p.mem_bvalid = false;
  }
}

}  // namespace weft::systemc

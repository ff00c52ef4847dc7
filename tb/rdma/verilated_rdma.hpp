// SPDX-License-Identifier: Apache-2.0
// Adapter from any Verilated `rdma_top`, `rdma_nic` or `weft_nic` (any parameters, SystemVerilog or plain
// Verilog) to RdmaModel.
#pragma once

#include <string>

#include "barrier_tap.hpp"
#include "common/signals.hpp"
#include "common/verilated_clock.hpp"
#include "rdma_model.hpp"
#ifdef WEFT_WAVES
#include "fst_waves.hpp"
#endif

namespace weft::tb {

template <typename Top>
class VerilatedRdma : public RdmaModel, public BarrierTap {
 public:
  VerilatedRdma(const RdmaBuild& build, SimulationContext& context, const std::string& name)
      : data_bytes_(build.data_bytes),
        address_bits_(register_bits(build) + with_barrier),
        clock_(context, name) {
    if constexpr (!with_queues) {  // nothing is connected there
      clock_.top().queue_post_valid_i = 0;
      clock_.top().queue_cpl_ready_i = 1;
      clock_.top().ticket_valid_i = 0;
      clock_.top().ticket_cpl_ready_i = 1;
      clock_.top().queue_set_i = 0;
    }
    if constexpr (StepsOf<Top>::known) clock_.settle();  // start values; from here on steps
  }

  void settle(RdmaPins& pins) override {
    apply(pins);
    clock_.settle();
    fetch(pins);
  }

  void edge() override { clock_.edge(); }

  Steps steps() override {
    if constexpr (StepsOf<Top>::known)
      return {StepsOf<Top>::state(clock_.top()), StepsOf<Top>::settle, StepsOf<Top>::edge};
    return {};
  }

  void apply(const RdmaPins& pins) override {
    Top& top = clock_.top();
    top.rst_ni = pins.rst_n;
    top.s_axis_tvalid_i = pins.in.valid;
    put_bytes(top.s_axis_tdata_i, pins.in.beat.data.data(), data_bytes_);
    top.s_axis_tkeep_i = static_cast<std::decay_t<decltype(top.s_axis_tkeep_i)>>(pins.in.beat.keep);
    top.s_axis_tlast_i = pins.in.beat.last;
    top.m_axis_tready_i = pins.out.ready;
    apply_axil(top, pins.axil);
    apply_axi(top, pins.axi);
  }

  void fetch(RdmaPins& pins) override {
    const Top& top = clock_.top();
    if constexpr (with_barrier) {
      pins.irq = top.rdma_irq_o;
      fetch_barrier(top, barrier_);
    } else {
      pins.irq = top.irq_o;
    }
    pins.in.ready = top.s_axis_tready_o;
    pins.out.valid = top.m_axis_tvalid_o;
    if (pins.out.valid) {
      get_bytes(top.m_axis_tdata_o, pins.out.beat.data.data(), data_bytes_);
      pins.out.beat.keep = top.m_axis_tkeep_o;
      pins.out.beat.last = top.m_axis_tlast_o;
    }
    fetch_axil(top, pins.axil);
    fetch_axi(top, pins.axi);
    fetch_trace(top, pins);
    if constexpr (with_queues) fetch_queues(top, pins);
  }

  bool has_barrier() const override { return with_barrier; }
  const BarrierTrace& barrier() const override { return barrier_; }

  void attach([[maybe_unused]] WaveFile& waves) override {
#ifdef WEFT_WAVES
    static_cast<FstWaves&>(waves).attach(clock_.top());
#endif
  }

 private:
  static constexpr bool with_queues = requires(Top top) { top.queue_irq_o; };
  static constexpr bool with_barrier = requires(Top top) { top.barrier_irq_o; };

  void apply_axil(Top& top, const AxiLitePins& pins) {
    top.s_axil_awaddr_i = masked(pins.awaddr, address_bits_);
    top.s_axil_awvalid_i = pins.awvalid;
    top.s_axil_wdata_i = pins.wdata;
    top.s_axil_wstrb_i = masked(pins.wstrb, 4);
    top.s_axil_wvalid_i = pins.wvalid;
    top.s_axil_bready_i = pins.bready;
    top.s_axil_araddr_i = masked(pins.araddr, address_bits_);
    top.s_axil_arvalid_i = pins.arvalid;
    top.s_axil_rready_i = pins.rready;
  }

  void apply_axi(Top& top, const AxiPins& pins) {
    top.m_axi_awready_i = pins.awready;
    top.m_axi_wready_i = pins.wready;
    top.m_axi_bresp_i = masked(pins.bresp, 2);
    top.m_axi_bvalid_i = pins.bvalid;
    top.m_axi_arready_i = pins.arready;
    put_bytes(top.m_axi_rdata_i, pins.rdata.data(), data_bytes_);
    top.m_axi_rresp_i = masked(pins.rresp, 2);
    top.m_axi_rlast_i = pins.rlast;
    top.m_axi_rvalid_i = pins.rvalid;
  }

  static void fetch_axil(const Top& top, AxiLitePins& pins) {
    pins.awready = top.s_axil_awready_o;
    pins.wready = top.s_axil_wready_o;
    pins.bresp = top.s_axil_bresp_o;
    pins.bvalid = top.s_axil_bvalid_o;
    pins.arready = top.s_axil_arready_o;
    pins.rdata = top.s_axil_rdata_o;
    pins.rresp = top.s_axil_rresp_o;
    pins.rvalid = top.s_axil_rvalid_o;
  }

  void fetch_axi(const Top& top, AxiPins& pins) {
    pins.awvalid = top.m_axi_awvalid_o;
    pins.aw = {top.m_axi_awaddr_o, top.m_axi_awlen_o, top.m_axi_awsize_o, top.m_axi_awburst_o};
    pins.wvalid = top.m_axi_wvalid_o;
    if (pins.wvalid) {
      get_bytes(top.m_axi_wdata_o, pins.w.data.data(), data_bytes_);
      pins.w.strb = top.m_axi_wstrb_o;
      pins.w.last = top.m_axi_wlast_o;
    }
    pins.bready = top.m_axi_bready_o;
    pins.arvalid = top.m_axi_arvalid_o;
    pins.ar = {top.m_axi_araddr_o, top.m_axi_arlen_o, top.m_axi_arsize_o, top.m_axi_arburst_o};
    pins.rready = top.m_axi_rready_o;
  }

  static void fetch_trace(const Top& top, RdmaPins& pins) {
    RxTracePins& rx = pins.rx;
    rx.valid = top.trace_rx_valid_o;
    rx.now = top.trace_rx_now_o;
    if (rx.valid) {
      rx.timeout = top.trace_rx_timeout_o;
      rx.outcome = top.trace_rx_outcome_o;
      rx.room = top.trace_rx_room_o;
      rx.offer_valid = top.trace_rx_offer_valid_o;
      rx.offer_cid = top.trace_rx_offer_cid_o;
      rx.over_quota = top.trace_rx_over_quota_o;
      rx.from_inbox = top.trace_rx_from_inbox_o;
      rx.answer_asked = top.trace_rx_answer_asked_o;
      rx.answer_room = top.trace_rx_answer_room_o;
      rx.limit = top.trace_rx_limit_o;
      rx.cid = top.trace_rx_cid_o;
      rx.wbase = top.trace_rx_wbase_o;
      get_bytes(top.trace_rx_wvec_o, reinterpret_cast<uint8_t*>(rx.wvec.data()), sizeof(rx.wvec));
    }
    pins.post = {top.trace_post_valid_o != 0, static_cast<PostOrigin>(top.trace_post_origin_o)};
    pins.routed = {top.trace_routed_valid_o != 0, top.trace_routed_to_inbox_o != 0};
    fetch_inbox(top, pins.inbox);
    TxTracePins& tx = pins.tx;
    tx.valid = top.trace_tx_valid_o;
    tx.now = top.trace_tx_now_o;
    if (tx.valid) {
      tx.kind = static_cast<TxKind>(top.trace_tx_kind_o);
      tx.outcome = top.trace_tx_outcome_o;
      tx.room = top.trace_tx_room_o;
      tx.resend_room = top.trace_tx_resend_room_o;
      tx.offer_valid = top.trace_tx_offer_valid_o;
      tx.offer_sid = top.trace_tx_offer_sid_o;
      tx.limit = top.trace_tx_limit_o;
      tx.sid = top.trace_tx_sid_o;
      tx.next = top.trace_tx_next_o;
    }
  }

  static void fetch_inbox(const Top& top, InboxTracePins& inbox) {
    inbox.valid = top.trace_inbox_valid_o;
    if (!inbox.valid) return;
    inbox.kind = static_cast<InboxKind>(top.trace_inbox_kind_o);
    inbox.outcome = top.trace_inbox_outcome_o;
    inbox.ticket = top.trace_inbox_ticket_o;
    inbox.room = top.trace_inbox_room_o;
    inbox.offer_valid = top.trace_inbox_offer_valid_o;
    inbox.offer = top.trace_inbox_offer_o;
    inbox.admit = top.trace_inbox_admit_o;
    inbox.now = top.trace_inbox_now_o;
  }

  static void fetch_queues(const Top& top, RdmaPins& pins) {
    pins.queue_irq = top.queue_irq_o;
    QueueTracePins& queues = pins.queues;
    queues.look = top.trace_look_o;
    queues.apply = top.trace_apply_o;
    queues.write_ok = top.trace_write_ok_o;
    queues.order = top.trace_order_valid_o;
    queues.order_queue = top.trace_order_queue_o;
    queues.order_index = top.trace_order_index_o;
    queues.order_count = top.trace_order_count_o;
    queues.entry = top.trace_entry_valid_o;
    queues.entry_queue = top.trace_entry_queue_o;
    queues.entry_verdict = top.trace_entry_verdict_o;
    queues.error = top.trace_error_valid_o;
    queues.error_queue = top.trace_error_queue_o;
    queues.slot = top.trace_slot_valid_o;
    queues.slot_discard = top.trace_slot_discard_o;
    queues.slot_queue = top.trace_slot_queue_o;
    queues.slot_signal = top.trace_slot_signal_o;
    get_bytes(top.trace_slot_fields_o, queues.slot_fields.data(), queues.slot_fields.size());
    queues.retired = top.trace_retired_valid_o;
    queues.retired_queue = top.trace_retired_queue_o;
    queues.retired_discarded = top.trace_retired_discarded_o;
    queues.retired_failed = top.trace_retired_failed_o;
    queues.retired_urgent = top.trace_retired_urgent_o;
    queues.fire = top.trace_fire_valid_o;
    queues.fire_queue = top.trace_fire_queue_o;
    queues.request = top.trace_request_valid_o;
    queues.request_status = top.trace_request_status_o;
    queues.off = top.trace_off_o;
    queues.set = top.trace_queue_set_o;
    queues.set_queue = top.trace_queue_idx_o;
    queues.set_open = top.trace_queue_open_o;
    queues.set_key = top.trace_queue_key_o;
  }

  static void fetch_barrier(const Top& top, BarrierTrace& barrier) {
    barrier.event = top.trace_barrier_valid_o;
    barrier.what = top.trace_barrier_what_o;
    barrier.group = top.trace_barrier_group_o;
    barrier.overrun = top.trace_barrier_overrun_o;
    barrier.arrived = top.trace_barrier_arrived_o;
    barrier.told = top.trace_barrier_told_o;
    barrier.irq = top.barrier_irq_o;
    barrier.any_irq = top.irq_o;
    get_bytes(top.trace_barrier_packet_o, barrier.packet.data(), barrier.packet.size());
    get_bytes(top.trace_barrier_arrival_o, barrier.arrival.data(), barrier.arrival.size());
    get_bytes(top.trace_barrier_completion_o, barrier.completion.data(), barrier.completion.size());
  }

  uint32_t data_bytes_;
  uint32_t address_bits_;  // of the registers
  BarrierTrace barrier_;
  VerilatedClock<Top> clock_;
};

}  // namespace weft::tb

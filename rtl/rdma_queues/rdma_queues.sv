// SPDX-License-Identifier: Apache-2.0
// Host queues of the RDMA engine: rings in host memory, doorbells, completions, interrupts (docs/rdma_queues.md).
module rdma_queues
  import rdma_queues_pkg::*;
  import rdma_queues_formats_pkg::*;
#(
  parameter int unsigned       N_QUEUES = 8,
  parameter int unsigned       DATA_W   = 256,
  parameter int unsigned       ADDR_W   = 48,
  parameter int unsigned       FETCH    = 4,       // submission entries a burst, at most
  parameter int unsigned       READS    = 4,       // bursts under way
  parameter logic        [15:0] OPCODES  = opcodes_of(1'b0),  // bit i: opcode i is accepted
  localparam int unsigned      AXIL_W   = PAGE_SHIFT + 1 + $clog2(N_QUEUES)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // AXI4-Lite: page 0 the administrator's, page 1 + q that of queue q
  input  logic [  AXIL_W-1:0] s_axil_awaddr_i,
  input  logic                s_axil_awvalid_i,
  output logic                s_axil_awready_o,
  input  logic [        31:0] s_axil_wdata_i,
  input  logic [         3:0] s_axil_wstrb_i,
  input  logic                s_axil_wvalid_i,
  output logic                s_axil_wready_o,
  output logic [         1:0] s_axil_bresp_o,
  output logic                s_axil_bvalid_o,
  input  logic                s_axil_bready_i,
  input  logic [  AXIL_W-1:0] s_axil_araddr_i,
  input  logic                s_axil_arvalid_i,
  output logic                s_axil_arready_o,
  output logic [        31:0] s_axil_rdata_o,
  output logic [         1:0] s_axil_rresp_o,
  output logic                s_axil_rvalid_o,
  input  logic                s_axil_rready_i,
  // requests accepted
  output logic                req_valid_o,
  input  logic                req_ready_i,
  output request_t            req_o,
  // a completion slot for an arrival
  input  logic                claim_valid_i,
  output logic                claim_ready_o,
  input  queue_t              claim_queue_i,     // below N_QUEUES
  output logic                claim_ok_o,        // with ready: there is one
  // completions, one for each request taken and each claim granted
  input  logic                cpl_valid_i,
  output logic                cpl_ready_o,
  input  outcome_t            cpl_i,
  // inbox
  output logic                queue_set_o,       // one clock: this queue is open with this key, or closed
  output queue_t              queue_idx_o,
  output logic                queue_open_o,
  output logic [        15:0] queue_key_o,
  input  logic [N_QUEUES-1:0] queue_held_i,      // it has tickets of the queue
  // level interrupt
  output logic                irq_o,
  // AXI4 to host memory
  output logic [  ADDR_W-1:0] m_axi_araddr_o,
  output logic [         7:0] m_axi_arlen_o,
  output logic                m_axi_arvalid_o,
  input  logic                m_axi_arready_i,
  input  logic [  DATA_W-1:0] m_axi_rdata_i,
  input  logic [         1:0] m_axi_rresp_i,
  input  logic                m_axi_rlast_i,
  input  logic                m_axi_rvalid_i,
  output logic                m_axi_rready_o,
  output logic [  ADDR_W-1:0] m_axi_awaddr_o,
  output logic [         7:0] m_axi_awlen_o,
  output logic                m_axi_awvalid_o,
  input  logic                m_axi_awready_i,
  output logic [  DATA_W-1:0] m_axi_wdata_o,
  output logic [DATA_W/8-1:0] m_axi_wstrb_o,
  output logic                m_axi_wlast_o,
  output logic                m_axi_wvalid_o,
  input  logic                m_axi_wready_i,
  input  logic [         1:0] m_axi_bresp_i,
  input  logic                m_axi_bvalid_i,
  output logic                m_axi_bready_o,
  // one record an event
  output logic                trace_look_o,           // a register write is judged by the state of this clock
  output logic                trace_apply_o,          // and takes effect behind this clock
  output logic                trace_write_ok_o,
  output logic                trace_order_valid_o,    // submission entries are asked of memory
  output queue_t              trace_order_queue_o,
  output index_t              trace_order_index_o,
  output logic [4:0]          trace_order_count_o,
  output logic                trace_entry_valid_o,    // a submission entry was judged
  output queue_t              trace_entry_queue_o,
  output verdict_e            trace_entry_verdict_o,
  output logic                trace_error_valid_o,    // a submission entry could not be read
  output queue_t              trace_error_queue_o,
  output logic                trace_slot_valid_o,     // a completion is given a slot, or is to be discarded
  output logic                trace_slot_discard_o,
  output outcome_t            trace_slot_o,
  output logic                trace_retired_valid_o,  // memory answered a completion, or it was discarded
  output retired_t            trace_retired_o,
  output logic                trace_fire_valid_o,     // an interrupt
  output queue_t              trace_fire_queue_o,
  output logic [N_QUEUES-1:0] trace_off_o
);
  localparam int unsigned WRITERS = 2;  // completions, messages

  if (N_QUEUES < 2 || N_QUEUES > MAX_QUEUES || (N_QUEUES & (N_QUEUES - 1)) != 0) begin : g_bad_queues
    $error("N_QUEUES must be a power of two from 2 to 64, is %0d", N_QUEUES);
  end
  if (DATA_W != 256 && DATA_W != 512) begin : g_bad_data
    $error("DATA_W must be 256 or 512, is %0d", DATA_W);
  end
  if (ADDR_W < 32 || ADDR_W > 64) begin : g_bad_addr
    $error("ADDR_W must be from 32 to 64, is %0d", ADDR_W);
  end
  if (FETCH < 2 || FETCH > 16 || (FETCH & (FETCH - 1)) != 0) begin : g_bad_fetch
    $error("FETCH must be a power of two from 2 to 16, is %0d", FETCH);
  end
  if (READS < 2 || READS > 16 || (READS & (READS - 1)) != 0) begin : g_bad_reads
    $error("READS must be a power of two from 2 to 16, is %0d", READS);
  end
  if (OPCODES[0]) begin : g_bad_opcodes
    $error("OPCODES accepts opcode 0, which does not exist");
  end

  queue_t              reg_queue;
  queue_cfg_t          cfg;
  logic                enable, disable_queue, mod_we, bell_valid, bell_arm;
  logic [15:0]         mod_count, mod_time, tick_cycles;
  logic [N_QUEUES-1:0] kick, off, run, live, in_error, armed, pending, msi_busy;
  index_t              tail[N_QUEUES], head[N_QUEUES], dropped[N_QUEUES], promised[N_QUEUES], cq_head[N_QUEUES], retired[N_QUEUES], ended[N_QUEUES];
  logic [N_QUEUES-1:0] ends;
  queue_state_e        state[N_QUEUES];
  logic [1:0]          cause[N_QUEUES];
  logic                fetch_error, retired_valid, msi_failed;
  queue_t              fetch_error_queue;
  retired_t            retired_event;
  logic                reject_valid, reject_ready, out_valid, out_ready;
  outcome_t            reject, out;

  rdma_queue_regs #(
    .N_QUEUES(N_QUEUES),
    .ADDR_W  (ADDR_W),
    .FETCH   (FETCH),
    .OPCODES (OPCODES)
  ) i_regs (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr_i,
    .s_axil_awvalid_i,
    .s_axil_awready_o,
    .s_axil_wdata_i,
    .s_axil_wstrb_i,
    .s_axil_wvalid_i,
    .s_axil_wready_o,
    .s_axil_bresp_o,
    .s_axil_bvalid_o,
    .s_axil_bready_i,
    .s_axil_araddr_i,
    .s_axil_arvalid_i,
    .s_axil_arready_o,
    .s_axil_rdata_o,
    .s_axil_rresp_o,
    .s_axil_rvalid_o,
    .s_axil_rready_i,
    .queue_o        (reg_queue),
    .enable_o       (enable),
    .disable_o      (disable_queue),
    .cfg_o          (cfg),
    .mod_we_o       (mod_we),
    .mod_count_o    (mod_count),
    .mod_time_o     (mod_time),
    .bell_valid_o   (bell_valid),
    .bell_arm_o     (bell_arm),
    .kick_o         (kick),
    .tick_cycles_o  (tick_cycles),
    .tail_o         (tail),
    .cq_head_o      (cq_head),
    .state_i        (state),
    .cause_i        (cause),
    .off_i          (off),
    .head_i         (head),
    .retired_i      (retired),
    .armed_i        (armed),
    .pending_i      (pending),
    .fetch_error_i  (fetch_error),
    .retired_valid_i(retired_valid),
    .retired_event_i(retired_event),
    .msi_failed_i   (msi_failed),
    .trace_look_o,
    .trace_apply_o,
    .trace_ok_o     (trace_write_ok_o)
  );

  rdma_queue_life #(
    .N_QUEUES(N_QUEUES)
  ) i_life (
    .clk_i,
    .rst_ni,
    .enable_i           (enable),
    .disable_i          (disable_queue),
    .queue_i            (reg_queue),
    .key_i              (cfg.key),
    .fetch_error_i      (fetch_error),
    .fetch_error_queue_i(fetch_error_queue),
    .retired_valid_i    (retired_valid),
    .retired_event_i    (retired_event),
    .msi_busy_i         (msi_busy),
    .promised_i         (promised),
    .dropped_i          (dropped),
    .retired_i          (retired),
    .held_i             (queue_held_i),
    .set_o              (queue_set_o),
    .set_idx_o          (queue_idx_o),
    .set_open_o         (queue_open_o),
    .set_key_o          (queue_key_o),
    .state_o            (state),
    .cause_o            (cause),
    .off_o              (off),
    .run_o              (run),
    .live_o             (live),
    .error_o            (in_error)
  );

  rdma_sq_fetch #(
    .N_QUEUES(N_QUEUES),
    .DATA_W  (DATA_W),
    .ADDR_W  (ADDR_W),
    .FETCH   (FETCH),
    .READS   (READS),
    .OPCODES (OPCODES)
  ) i_fetch (
    .clk_i,
    .rst_ni,
    .cfg_we_i      (enable),
    .cfg_queue_i   (reg_queue),
    .cfg_i         (cfg),
    .off_i         (off),
    .run_i         (run),
    .live_i        (live),
    .tail_i        (tail),
    .cq_head_i     (cq_head),
    .kick_i        (kick),
    .ended_i       (ended),
    .end_i         (ends),
    .head_o        (head),
    .dropped_o     (dropped),
    .promised_o    (promised),
    .error_o       (fetch_error),
    .error_queue_o (fetch_error_queue),
    .claim_valid_i,
    .claim_ready_o,
    .claim_queue_i,
    .claim_ok_o,
    .req_valid_o,
    .req_ready_i,
    .req_o,
    .reject_valid_o(reject_valid),
    .reject_ready_i(reject_ready),
    .reject_o      (reject),
    .trace_order_valid_o,
    .trace_order_queue_o,
    .trace_order_index_o,
    .trace_order_count_o,
    .trace_entry_valid_o,
    .trace_entry_queue_o,
    .trace_entry_verdict_o,
    .m_axi_araddr_o,
    .m_axi_arlen_o,
    .m_axi_arvalid_o,
    .m_axi_arready_i,
    .m_axi_rdata_i,
    .m_axi_rresp_i,
    .m_axi_rlast_i,
    .m_axi_rvalid_i,
    .m_axi_rready_o
  );

  stream_arbiter #(
    .N(2),
    .T(outcome_t)
  ) i_outcomes (
    .clk_i,
    .rst_ni,
    .valid_i({reject_valid, cpl_valid_i}),
    .ready_o({reject_ready, cpl_ready_o}),
    .data_i ('{cpl_i, reject}),
    .valid_o(out_valid),
    .ready_i(out_ready),
    .data_o (out)
  );

  // ------------------------------------------------------------------------------------------------- completions and messages on one write port
  logic [WRITERS-1:0][  ADDR_W-1:0] awaddr;
  logic [WRITERS-1:0][         7:0] awlen;
  logic [WRITERS-1:0]               awvalid, awready;
  logic [WRITERS-1:0][  DATA_W-1:0] wdata;
  logic [WRITERS-1:0][DATA_W/8-1:0] wstrb;
  logic [WRITERS-1:0]               wlast, wvalid, wready, bvalid, bready;
  logic [1:0]                       bresp;

  rdma_cq_write #(
    .N_QUEUES(N_QUEUES),
    .DATA_W  (DATA_W),
    .ADDR_W  (ADDR_W)
  ) i_completions (
    .clk_i,
    .rst_ni,
    .cfg_we_i       (enable),
    .cfg_queue_i    (reg_queue),
    .cfg_i          (cfg),
    .off_i          (off),
    .live_i         (live),
    .head_i         (head),
    .cq_head_i      (cq_head),
    .promised_i     (promised),
    .cpl_valid_i    (out_valid),
    .cpl_ready_o    (out_ready),
    .cpl_i          (out),
    .retired_o      (retired),
    .ended_o        (ended),
    .end_o          (ends),
    .retired_valid_o(retired_valid),
    .retired_event_o(retired_event),
    .trace_valid_o  (trace_slot_valid_o),
    .trace_discard_o(trace_slot_discard_o),
    .trace_o        (trace_slot_o),
    .m_axi_awaddr_o (awaddr[0]),
    .m_axi_awlen_o  (awlen[0]),
    .m_axi_awvalid_o(awvalid[0]),
    .m_axi_awready_i(awready[0]),
    .m_axi_wdata_o  (wdata[0]),
    .m_axi_wstrb_o  (wstrb[0]),
    .m_axi_wlast_o  (wlast[0]),
    .m_axi_wvalid_o (wvalid[0]),
    .m_axi_wready_i (wready[0]),
    .m_axi_bresp_i  (bresp),
    .m_axi_bvalid_i (bvalid[0]),
    .m_axi_bready_o (bready[0])
  );

  rdma_msi #(
    .N_QUEUES(N_QUEUES),
    .DATA_W  (DATA_W),
    .ADDR_W  (ADDR_W)
  ) i_msi (
    .clk_i,
    .rst_ni,
    .cfg_we_i       (enable),
    .cfg_queue_i    (reg_queue),
    .cfg_i          (cfg),
    .mod_we_i       (mod_we),
    .mod_queue_i    (reg_queue),
    .mod_count_i    (mod_count),
    .mod_time_i     (mod_time),
    .tick_cycles_i  (tick_cycles),
    .live_i         (live),
    .error_i        (in_error),
    .retired_i      (retired),
    .cq_head_i      (cq_head),
    .retired_valid_i(retired_valid),
    .retired_event_i(retired_event),
    .bell_valid_i   (bell_valid),
    .bell_queue_i   (reg_queue),
    .bell_arm_i     (bell_arm),
    .armed_o        (armed),
    .pending_o      (pending),
    .busy_o         (msi_busy),
    .failed_o       (msi_failed),
    .irq_o,
    .trace_valid_o  (trace_fire_valid_o),
    .trace_queue_o  (trace_fire_queue_o),
    .m_axi_awaddr_o (awaddr[1]),
    .m_axi_awlen_o  (awlen[1]),
    .m_axi_awvalid_o(awvalid[1]),
    .m_axi_awready_i(awready[1]),
    .m_axi_wdata_o  (wdata[1]),
    .m_axi_wstrb_o  (wstrb[1]),
    .m_axi_wlast_o  (wlast[1]),
    .m_axi_wvalid_o (wvalid[1]),
    .m_axi_wready_i (wready[1]),
    .m_axi_bresp_i  (bresp),
    .m_axi_bvalid_i (bvalid[1]),
    .m_axi_bready_o (bready[1])
  );

  axi_write_mux #(
    .N     (WRITERS),
    .ADDR_W(ADDR_W),
    .DATA_W(DATA_W)
  ) i_writes (
    .clk_i,
    .rst_ni,
    .s_axi_awaddr_i (awaddr),
    .s_axi_awlen_i  (awlen),
    .s_axi_awvalid_i(awvalid),
    .s_axi_awready_o(awready),
    .s_axi_wdata_i  (wdata),
    .s_axi_wstrb_i  (wstrb),
    .s_axi_wlast_i  (wlast),
    .s_axi_wvalid_i (wvalid),
    .s_axi_wready_o (wready),
    .s_axi_bresp_o  (bresp),
    .s_axi_bvalid_o (bvalid),
    .s_axi_bready_i (bready),
    .m_axi_awaddr_o,
    .m_axi_awlen_o,
    .m_axi_awvalid_o,
    .m_axi_awready_i,
    .m_axi_wdata_o,
    .m_axi_wstrb_o,
    .m_axi_wlast_o,
    .m_axi_wvalid_o,
    .m_axi_wready_i,
    .m_axi_bresp_i,
    .m_axi_bvalid_i,
    .m_axi_bready_o
  );

  assign trace_error_valid_o   = fetch_error;
  assign trace_error_queue_o   = fetch_error_queue;
  assign trace_retired_valid_o = retired_valid;
  assign trace_retired_o       = retired_event;
  assign trace_off_o           = off;
endmodule

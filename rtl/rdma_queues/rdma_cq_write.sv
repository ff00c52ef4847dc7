// SPDX-License-Identifier: Apache-2.0
// Writes completions into the completion rings over AXI4, in order, and counts the answers; those of a disabled queue are discarded and counted.
//
// One completion a clock. Its slot was reserved before its request was accepted (rdma_sq_schedule), so it never waits for software.
`include "weft_assert.svh"

module rdma_cq_write
  import rdma_queues_pkg::*;
  import rdma_queues_formats_pkg::*;
#(
  parameter int unsigned N_QUEUES = 8,
  parameter int unsigned DATA_W   = 256,
  parameter int unsigned ADDR_W   = 48,
  parameter int unsigned UNDERWAY = 16   // completions that memory may owe an answer for, a power of two
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                cfg_we_i,
  input  queue_t              cfg_queue_i,
  input  queue_cfg_t          cfg_i,
  input  logic [N_QUEUES-1:0] off_i,
  input  logic [N_QUEUES-1:0] live_i,
  input  index_t              head_i    [N_QUEUES],  // submission entries taken
  input  index_t              cq_head_i [N_QUEUES],
  input  index_t              promised_i[N_QUEUES],
  // completions
  input  logic                cpl_valid_i,
  output logic                cpl_ready_o,
  input  outcome_t            cpl_i,
  // what became of them
  output index_t              retired_o [N_QUEUES],
  output index_t              ended_o   [N_QUEUES],  // completions of requests of the sender that were given a slot, or are to be discarded
  output logic [N_QUEUES-1:0] end_o,                 // which goes up with this clock
  output logic                retired_valid_o,
  output retired_t            retired_event_o,
  // one record a completion that is given a slot, or is to be discarded
  output logic                trace_valid_o,
  output logic                trace_discard_o,
  output outcome_t            trace_o,
  // AXI4 write channels
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
  output logic                m_axi_bready_o
);
  localparam int unsigned IDX_W = $clog2(N_QUEUES);
  localparam int unsigned PARTS = DATA_W / COMPLETION_BITS;  // entries a beat

  typedef logic [IDX_W-1:0] idx_t;
  typedef logic [ADDR_W-1:0] addr_t;
  typedef struct packed {
    page_t cq_page;
    log2_t cq_log2;
  } place_t;

  // ------------------------------------------------------------------------------------------------- give a slot
  logic     slot_valid_q, slot_go, take, discard, of_sender_q;
  outcome_t cpl_q;
  idx_t     cpl_queue;
  place_t   place;
  index_t   written_q[N_QUEUES];
  index_t   slot;

  assign cpl_ready_o = !slot_valid_q || slot_go;
  assign take        = cpl_valid_i && cpl_ready_o;
  assign cpl_queue   = idx_t'(cpl_q.qid);
  assign slot        = written_q[cpl_queue];
  assign discard     = !live_i[cpl_queue];

  ram_sdp #(
    .DEPTH(N_QUEUES),
    .WIDTH($bits(place_t))
  ) i_places (
    .clk_i,
    .we_i   (cfg_we_i),
    .waddr_i(idx_t'(cfg_queue_i)),
    .wdata_i({cfg_i.cq_page, cfg_i.cq_log2}),
    .re_i   (take),
    .raddr_i(idx_t'(cpl_i.qid)),
    .rdata_o(place)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) slot_valid_q <= 1'b0;
    else if (cpl_ready_o) slot_valid_q <= cpl_valid_i;
    if (take) cpl_q <= cpl_i;
    if (take) of_sender_q <= is_of_sender(cpl_i.opcode);
  end

  // ------------------------------------------------------------------------------------------------- make the entry
  logic        entry_valid_q, entry_go, entry_discard_q, entry_urgent_q;
  queue_t      entry_queue_q;
  addr_t       entry_addr_q;
  completion_t entry_q;

  assign slot_go = slot_valid_q && (!entry_valid_q || entry_go);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) entry_valid_q <= 1'b0;
    else if (slot_go || entry_go) entry_valid_q <= slot_go;
    if (slot_go) begin
      entry_discard_q <= discard;
      entry_urgent_q  <= cpl_q.signal || cpl_q.status != '0;
      entry_queue_q   <= cpl_q.qid;
      entry_addr_q    <= addr_t'({place.cq_page, PAGE_SHIFT'(0)} | ring_offset(slot, place.cq_log2, COMPLETION_SHIFT));
      entry_q         <= '{
          tag: cpl_q.tag,
          bytes: cpl_q.bytes,
          immediate: cpl_q.immediate,
          node: cpl_q.node,
          sq_head: head_i[cpl_queue],
          status: cpl_q.status,
          opcode: cpl_q.opcode,
          has_immediate: cpl_q.has_immediate,
          phase: !slot[place.cq_log2],
          default: '0
      };
    end
  end

  assign trace_valid_o   = slot_go;
  assign trace_discard_o = discard;
  assign trace_o         = cpl_q;

  // ------------------------------------------------------------------------------------------------- write
  typedef struct packed {
    logic [DATA_W-1:0]   data;
    logic [DATA_W/8-1:0] strb;
  } beat_t;

  logic     addr_ready, beat_ready, owed_ready, owed_valid, retire;
  beat_t    beat_in, beat;
  retired_t owed;

  assign entry_go = entry_valid_q && addr_ready && beat_ready && owed_ready;

  if (PARTS == 1) begin : gen_whole_beat
    assign beat_in = '{data: entry_q, strb: '1};
  end else begin : gen_part_of_beat
    localparam int unsigned PART_W = $clog2(PARTS);
    logic [PART_W-1:0] part;
    assign part         = entry_addr_q[COMPLETION_SHIFT+:PART_W];
    assign beat_in.data = {PARTS{entry_q}};
    for (genvar i = 0; i < int'(PARTS); i++) begin : gen_strobes
      assign beat_in.strb[i*(COMPLETION_BITS/8)+:COMPLETION_BITS/8] = {COMPLETION_BITS / 8{part == PART_W'(i)}};
    end
  end

  sync_fifo #(
    .DEPTH(2),
    .T    (addr_t)
  ) i_addresses (
    .clk_i,
    .rst_ni,
    .valid_i(entry_go && !entry_discard_q),
    .ready_o(addr_ready),
    .data_i (entry_addr_q),
    .valid_o(m_axi_awvalid_o),
    .ready_i(m_axi_awready_i),
    .data_o (m_axi_awaddr_o),
    .count_o()
  );
  assign m_axi_awlen_o = '0;

  // Behind a multiplexer data go two clocks after their address was put in, so that a beat a clock needs room for three.
  sync_fifo #(
    .DEPTH(4),
    .T    (beat_t)
  ) i_beats (
    .clk_i,
    .rst_ni,
    .valid_i(entry_go && !entry_discard_q),
    .ready_o(beat_ready),
    .data_i (beat_in),
    .valid_o(m_axi_wvalid_o),
    .ready_i(m_axi_wready_i),
    .data_o (beat),
    .count_o()
  );
  assign m_axi_wdata_o = beat.data;
  assign m_axi_wstrb_o = beat.strb;
  assign m_axi_wlast_o = 1'b1;

  // ------------------------------------------------------------------------------------------------- answers, in order with what is discarded
  sync_fifo #(
    .DEPTH(UNDERWAY),
    .T    (retired_t)
  ) i_owed (
    .clk_i,
    .rst_ni,
    .valid_i(entry_go),
    .ready_o(owed_ready),
    .data_i ('{qid: entry_queue_q, discarded: entry_discard_q, failed: 1'b0, urgent: entry_urgent_q}),
    .valid_o(owed_valid),
    .ready_i(retire),
    .data_o (owed),
    .count_o()
  );

  assign m_axi_bready_o  = owed_valid && !owed.discarded;
  assign retire          = owed_valid && (owed.discarded || m_axi_bvalid_i);
  assign retired_valid_o = retire;
  always_comb begin : p_event
    retired_event_o        = owed;
    retired_event_o.failed = !owed.discarded && m_axi_bresp_i[1];
  end

  for (genvar q = 0; q < int'(N_QUEUES); q++) begin : gen_queue
    assign end_o[q] = slot_go && of_sender_q && cpl_queue == idx_t'(q);
    always_ff @(posedge clk_i) begin
      if (!rst_ni || off_i[q]) begin
        written_q[q] <= '0;
        retired_o[q] <= '0;
        ended_o[q]   <= '0;
      end else begin
        if (slot_go && !discard && cpl_queue == idx_t'(q)) written_q[q] <= written_q[q] + 1'b1;
        if (end_o[q]) ended_o[q] <= ended_o[q] + 1'b1;
        if (retire && idx_t'(owed.qid) == idx_t'(q)) retired_o[q] <= retired_o[q] + 1'b1;
      end
    end
    `ASSERT(OffIsClean, !(off_i[q] && ((slot_valid_q && cpl_queue == idx_t'(q)) || (owed_valid && idx_t'(owed.qid) == idx_t'(q)))))
  end

  logic unused;
  assign unused = ^{m_axi_bresp_i[0], cfg_i, cfg_queue_i};  // OKAY or EXOKAY, SLVERR or DECERR

  index_t slots_taken, slots_promised, slots_left;
  assign slots_taken    = slot - cq_head_i[cpl_queue];
  assign slots_promised = promised_i[cpl_queue] - cq_head_i[cpl_queue];
  assign slots_left     = promised_i[cpl_queue] - retired_o[cpl_queue];

  `ASSERT(SlotWasPromised, !(slot_go && !discard) || slots_taken < slots_promised)
  `ASSERT(CompletionIsOwed, !slot_go || slots_left != '0)
  `ASSERT(OnlyOwedAnswers, !m_axi_bvalid_i || owed_valid)
`ifdef VERILATOR
  `ASSERT(CompletionStable, cpl_valid_i && !cpl_ready_o |=> cpl_valid_i && $stable(cpl_i))
`endif
endmodule

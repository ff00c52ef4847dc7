// SPDX-License-Identifier: Apache-2.0
// rdma_receiver under any packets, pauses, timers and settings, which may change in any clock: what rdma_receiver_transfers says of its events. One region is open, to who names key 0;
// how far it reaches may change in any clock: nothing is written without that key, nor beyond.
//
// ANY_STATE = 0: from reset on. 1: no reset and no requests, but from any contents of the contexts that stand for some set of packets that
// have come (so also at the end of PIDX's range) and end before 2**ADDR_W, with nothing under way.
`include "proof.svh"
`include "rdma_typedef.svh"
`include "rdma_receiver_transfers.svh"

module rdma_receiver_proof
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter bit          ANY_STATE = 1'b0,
  parameter int unsigned N       = 2,
  parameter int unsigned WINDOW  = 4,
  parameter int unsigned PIDX_W  = 4,
  parameter int unsigned SHIFT   = 5,      // log2 of PAYLOAD
  parameter int unsigned ADDR_W  = 12,
  parameter int unsigned MSGID_W = 2,
  localparam int unsigned IDX_W  = $clog2(N),
  localparam int unsigned PACKETS = 1 << PIDX_W
) (
  input logic               clk_i, rst_ni, hdr_valid_i, cmd_ready_i, ctl_ready_i,
  input logic [1:0]         kind_i, crc_i,  // CRC: by it requests are known again
  input logic               src_i, sid_i, retry_i, mark_i, key_i,
  input logic [ADDR_W-SHIFT-1:0] region_last_i,  // payload
  input logic [MSGID_W-1:0] msgid_i,
  input logic [IDX_W:0]     cid_i,
  input logic [1:0]         gen_i,
  input logic [PIDX_W:0]    pidx_i,      // also packets of a request
  input logic [SHIFT:0]     bytes_i,     // of a packet; of the last one
  input logic [ADDR_W-1:0]  addr_i,
  input logic [TICK_W-1:0]  now_i,
  input logic               weft_mode_i,
  input logic [1:0]         backoff_i, ask_from_after_i, quota_i,
  input logic [2:0]         ahead_i,
  input logic [3:0]         max_silent_i
);
  localparam int unsigned LATENCY = 12;

  logic       hdr_ready, is_data;
  header_t    hdr;

  if (ANY_STATE) begin : g_start
    logic started_q;
    initial started_q = 1'b0;
    always_ff @(posedge clk_i) started_q <= 1'b1;
    always_comb assume (rst_ni && !kind_i[1]);
  end else begin : g_start
    `PROOF_RESET
  end

  assign is_data = kind_i == 2'd0;
  always_comb begin
    hdr       = '0;
    hdr.ptype = is_data ? PTYPE_DATA : kind_i == 2'd1 ? PTYPE_RELEASE : PTYPE_RQT;
    hdr.src   = 16'(src_i);
    hdr.sid   = 16'(sid_i);
    hdr.msgid = 24'(msgid_i);
    hdr.crc   = 32'(crc_i);
    if (kind_i[1]) begin
      hdr.pidx = 32'({pidx_i, SHIFT'(0)}) + 32'(bytes_i);
      hdr.arg  = 64'(addr_i);
      hdr.cid  = 16'(key_i);
    end else begin
      hdr.cid   = 16'(cid_i);
      hdr.gen   = 8'(gen_i);
      hdr.flags = mark_i ? FLAG_FAILED : 8'd0;
    end
    if (is_data) begin
      hdr.pidx  = 32'(pidx_i);
      hdr.len   = 16'(bytes_i);
      hdr.arg   = 64'(key_i);
      hdr.flags = (mark_i ? FLAG_LAST : 8'd0) | (retry_i ? FLAG_RETRY : 8'd0);
    end
  end

  rdma_receiver #(
    .N_RX_CTX(N), .WINDOW(WINDOW), .PAYLOAD(1 << SHIFT), .PIDX_W(PIDX_W), .CID_W(IDX_W + 1), .SID_W(1), .MSGID_W(MSGID_W), .NODE_W(1),
    .ADDR_W(ADDR_W), .N_REGIONS(2), .N_SOURCES(2), .CTL_DEPTH(16), .CMD_DEPTH(16)
  ) dut (
    .clk_i, .rst_ni, .ready_o(), .idle_o(), .node_id_i(16'd1), .region_set_i(dut.i_front.regions_ready), .region_idx_i(8'd0), .region_write_i(1'b1),
    .region_read_i(1'b0), .region_receive_i(1'b0),
    .region_key_i(16'd0), .region_base_i('0), .region_last_i, .backoff_i, .ahead_i(8'(ahead_i)), .quota_i(16'(quota_i)),
    .timeout_i(LIMIT_W'(1)), .ask_from_after_i, .max_silent_i, .weft_mode_i, .now_i,
    .hdr_valid_i, .hdr_ready_o(hdr_ready), .hdr_i(hdr), .verdict_i(OUTCOME_NONE), .hdr_busy_i(1'b0), .req_valid_i(1'b0), .req_ready_o(), .req_i('0),
    .answer_asked_i(1'b0), .answer_room_i(1'b0), .answer_take_o(),
    .cmd_valid_o(), .cmd_ready_i, .cmd_write_o(), .cmd_addr_o(), .cmd_len_o(), .cmd_cid_o(), .writes_done_i(WRITES_W'(0)),
    .ctl_valid_o(), .ctl_ready_i, .ctl_o(), .ctl_grant_o(), .ctl_dropped_o(), .read_valid_o(), .read_o(), .ret_valid_o(), .ret_o(),
    .trace_valid_o(), .trace_timeout_o(), .trace_outcome_o(), .trace_room_o(), .trace_offer_valid_o(), .trace_offer_cid_o(), .trace_over_quota_o(),
    .trace_admit_o(), .trace_from_inbox_o(), .trace_answer_asked_o(), .trace_answer_room_o(), .trace_cid_o(), .trace_now_o(), .trace_wbase_o(), .trace_wvec_o()
  );

  // How far the region reached two clocks after each packet was taken, when it was looked at last.
  localparam int unsigned LOOK = 2;
  logic [LATENCY-LOOK:0][ADDR_W-SHIFT-1:0] reach_q;
  always_ff @(posedge clk_i) reach_q <= {reach_q[LATENCY-LOOK-1:0], region_last_i};

  header_t packet;  // that retires
  logic    writes;
  assign writes = dut.m_valid_q && !dut.m_q.timeout && dut.m_q.command && dut.m_q.write;

  rdma_receiver_transfers #(
    .N(N), .PIDX_W(PIDX_W), .SHIFT(SHIFT), .ADDR_W(ADDR_W), .NODE_W(1), .SID_W(1), .MSGID_W(MSGID_W), .GEN_W(2), .LATENCY(LATENCY)
  ) follow (
    .clk_i, .rst_ni, .hdr_i(hdr), .valid_i(dut.m_valid_q), .timeout_i(dut.m_q.timeout), .outcome_i(dut.m_q.outcome),
    .write_i(dut.m_q.command && dut.m_q.write), .free_i(dut.m_q.free), .has_ctx_i(dut.m_q.has_ctx), .cid_i(dut.m_q.cid), .wbase_i(dut.m_q.wbase),
    .addr_i(dut.m_q.addr), .len_i(dut.m_q.len), .packet_o(packet)
  );

  `PROVE(RightKey, !writes || packet.arg[15:0] == '0)
  `PROVE(InsideRegion, !writes || (dut.m_q.addr >> SHIFT) <= ADDR_W'(reach_q[LATENCY-LOOK]))

  // ANY_STATE: what the contexts' RAMs hold stands for the transfers.
  localparam int unsigned POS_W = $clog2(WINDOW);
  localparam int unsigned OFFSET_W = offset_bits(ADDR_W - SHIFT);
  `TRANSFER_TYPEDEF(transfer_t, 1, 1, MSGID_W, 2, ADDR_W, PIDX_W)
  `RDMA_TYPEDEF_RX_GRANT(grant_t, 1, 1, MSGID_W, 1, OFFSET_W, PIDX_W, SHIFT)
  `RDMA_TYPEDEF_WINDOW(window_t, WINDOW, PIDX_W)
  `RDMA_TYPEDEF_RX_KEPT(kept_t, window_t)
  `RDMA_TYPEDEF_RX_STATE(state_t, kept_t)

  function automatic logic stands_for(grant_t grant, state_t state, transfer_t as);
    logic              result, hole;
    logic [PIDX_W-1:0] last;
    result = grant.src == as.src && grant.sid == as.sid && grant.msgid == as.msgid && grant.gen == 8'(as.gen) &&
             grant.region == 1'b0 && {grant.offset, SHIFT'(0)} == as.addr && grant.last == as.last && as.last < PIDX_W'(PACKETS - 1) &&
             state.came == (as.come != '0) && state.kept.window.base <= as.last + 1'b1 && 32'(as.addr) + (32'(as.last) << SHIFT) < 32'd1 << ADDR_W;
    hole   = 1'b0;  // the first one behind WBASE is found
    for (int i = 0; i < int'(PACKETS + WINDOW + 2); i++) begin
      logic come;
      come = i < int'(PACKETS) ? as.come[i[PIDX_W-1:0]] : 1'b0;
      if (i > 32'(as.last) && come) result = 1'b0;
      if (i < 32'(state.kept.window.base) && !come) result = 1'b0;
      if (i == 32'(state.kept.window.base) && come) result = 1'b0;
      if (i > 32'(state.kept.window.base)) begin
        if (i > 32'(state.kept.window.base) + int'(WINDOW)) begin
          if (come) result = 1'b0;
        end else if (come != (state.kept.window.marks[i[POS_W-1:0]] != i[POS_W])) result = 1'b0;
        if (!hole && !come) begin
          hole = 1'b1;
          if (state.kept.window.first != i[POS_W:0]) result = 1'b0;
        end
      end
    end
    return result;
  endfunction

`define NOTHING_IN(FIFO) \
  assume (!FIFO.head_valid_q && FIFO.written_q == FIFO.popped_q && FIFO.committed_q == FIFO.popped_q && FIFO.fetched_q == FIFO.popped_q);

  if (ANY_STATE) begin : g_any
    logic [N-1:0] used;
    logic [$clog2(N+1)-1:0] free;
    always_comb begin
      free = '0;
      for (int i = 0; i < int'(N); i++) begin
        used[i] = follow.transfers_q[i].used;
        free    = free + (used[i] ? '0 : 1'b1);
      end
    end
    always_comb if (!g_start.started_q) begin
      for (int i = 0; i < int'(N); i++) begin
        assume (used[i] == state_t'(dut.i_states.u_ram.mem[i]).used);
        assume (!used[i] || stands_for(dut.i_grants.u_ram.mem[i], dut.i_states.u_ram.mem[i], follow.transfers_q[i]));
      end
      assume (!(dut.i_front.i_regions.clearing_q || dut.i_front.i_quota.clearing_q || dut.i_act.ctl_valid_q || dut.i_act.fence_valid_q || dut.i_act.passed_q != '0));
      assume (!(dut.i_front.clearing_q || dut.i_front.b_valid_q || dut.i_front.c_valid_q || dut.i_front.d_valid_q || dut.i_front.e_valid_q));
      assume (!(dut.f_valid_q || dut.g_valid_q || dut.h_valid_q || dut.i_valid_q || dut.j_valid_q || dut.k_valid_q || dut.l_valid_q || dut.m_valid_q));
      assume (dut.i_timer.state_q == 3'd1 && dut.i_timer.scanned_q == '0);  // SCAN
      assume (dut.i_front.i_free.ready_q && !dut.i_front.i_free.filling_q && dut.i_front.i_free.free_q == ~used);
      assume (!dut.i_front.i_free.u_fifo.u_fifo.head_valid_q && dut.i_front.i_free.u_fifo.u_fifo.fetched_q == dut.i_front.i_free.u_fifo.u_fifo.popped_q);
      assume (dut.i_front.i_free.u_fifo.u_fifo.written_q == dut.i_front.i_free.u_fifo.u_fifo.committed_q);
      assume (32'((IDX_W + 1)'(dut.i_front.i_free.u_fifo.u_fifo.written_q - dut.i_front.i_free.u_fifo.u_fifo.popped_q)) == 32'(free));
      `NOTHING_IN(dut.i_act.i_commands.u_fifo)
      `NOTHING_IN(dut.i_act.i_control.u_fifo)
      `NOTHING_IN(dut.i_act.i_fences.u_fifo)
    end
  end
endmodule

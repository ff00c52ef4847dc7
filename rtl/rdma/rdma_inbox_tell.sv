// SPDX-License-Identifier: Apache-2.0
// What the inbox tells others of an event: the request to the receiver, READs, completions, the trace (docs/rdma_transfers.md, RTL).
//
// Timing: request and trace are there in the clock after decide; the request stays until it is taken. READs and completions follow a FIFO later. A
// READ that finds no room is dropped, a completion must have a place.
`include "weft_assert.svh"

module rdma_inbox_tell
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
  import rdma_inbox_pkg::*;
#(
  parameter int unsigned IDX_W     = 6,
  parameter int unsigned Q_W       = 3,
  parameter int unsigned CID_W     = 10,
  parameter int unsigned CTL_DEPTH = 16,     // READs that may wait, a power of two
  parameter int unsigned CPL_DEPTH = 128,    // completions that may wait, a power of two
  parameter type         kept_t    = logic,  // of rdma_inbox
  parameter type         message_t = logic
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  output logic               none_o,         // nothing waits for others but the request
  input  logic [       15:0] node_id_i,
  // the event
  input  job_e               job_i,
  input  ops_t               ops_i,
  input  header_t            hdr_i,
  input  ticket_post_t       post_i,
  input  logic               offered_i,      // a free ticket
  input  logic [ TICK_W-1:0] now_i,
  // its ticket
  input  logic [  IDX_W-1:0] idx_i,
  input  logic [    Q_W-1:0] queue_i,
  input  logic               is_read_i,
  input  logic [  CID_W-1:0] cid_i,
  input  kept_t              kept_i,         // of a new one what will be
  input  message_t           message_i,
  input  logic               has_imm_i,
  input  logic [       31:0] imm_i,
  // request for the receiver
  output logic               req_valid_o,
  input  logic               req_ready_i,
  output admitted_t          req_o,
  // READs
  output logic               ctl_valid_o,
  input  logic               ctl_ready_i,
  output header_t            ctl_o,
  output logic               ctl_dropped_o,
  // completions
  output logic               cpl_valid_o,
  input  logic               cpl_ready_i,
  output ticket_completion_t cpl_o,
  // trace
  output logic               trace_valid_o,
  output inbox_event_e       trace_kind_o,
  output outcome_e           trace_outcome_o,
  output logic [       15:0] trace_ticket_o,
  output logic               trace_room_o,
  output logic               trace_offer_valid_o,
  output logic [       15:0] trace_offer_o,
  output logic [ TICK_W-1:0] trace_now_o,
  output admit_e             trace_admit_o
);
  logic               ctl_push_q, cpl_push_q, ctl_room, cpl_room;
  header_t            ctl_q;
  ticket_completion_t cpl_q;
  logic [$clog2(CTL_DEPTH+1)-1:0] ctls;
  logic [$clog2(CPL_DEPTH+1)-1:0] cpls;

  assign none_o = !ctl_push_q && !cpl_push_q && ctls == '0 && cpls == '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      req_valid_o   <= 1'b0;
      ctl_push_q    <= 1'b0;
      cpl_push_q    <= 1'b0;
      ctl_dropped_o <= 1'b0;
      trace_valid_o <= 1'b0;
    end else begin
      if (ops_i.hand_on) req_valid_o <= 1'b1;
      else if (req_ready_i) req_valid_o <= 1'b0;
      ctl_push_q    <= ops_i.ask && ctl_room;
      cpl_push_q    <= ops_i.complete;
      ctl_dropped_o <= ops_i.ask && !ctl_room;
      trace_valid_o <= ops_i.traced;
    end

    if (ops_i.hand_on) begin
      req_o <= '{kind: ops_i.admit, of_read: is_read_i && ops_i.admit == ADMIT_BUFFER, refusal: ops_i.refusal, hdr: hdr_i};
      if (ops_i.admit == ADMIT_BUFFER) begin
        req_o.hdr.arg <= 64'(kept_i.address);
        req_o.hdr.gen <= kept_i.rkey[23:16];
        req_o.hdr.cid <= kept_i.rkey[15:0];
      end
      if (ops_i.admit == ADMIT_AGAIN) begin
        req_o.hdr.arg <= 64'(kept_i.rkey);
        req_o.hdr.cid <= 16'(cid_i);
      end
    end

    ctl_q       <= '0;
    ctl_q.ptype <= PTYPE_READ;
    ctl_q.src   <= node_id_i;
    ctl_q.sid   <= 16'(idx_i);
    ctl_q.dst   <= 16'(kept_i.node);
    ctl_q.msgid <= 24'(kept_i.number);
    ctl_q.pidx  <= kept_i.bytes;
    ctl_q.arg   <= 64'(kept_i.remote_addr);
    {ctl_q.gen, ctl_q.cid} <= kept_i.remote_rkey;

    cpl_q        <= '0;
    cpl_q.status <= ops_i.status;
    if (ops_i.end_it) begin
      cpl_q.qid     <= 8'(queue_i);
      cpl_q.tag     <= kept_i.tag;
      cpl_q.is_read <= is_read_i;
      if (ops_i.met) begin
        cpl_q.node     <= 16'(message_i.src);
        cpl_q.imm_form <= message_i.immediate;
        cpl_q.bytes    <= message_i.bytes;
        cpl_q.has_imm  <= has_imm_i;
        cpl_q.imm      <= has_imm_i ? imm_i : '0;
      end else if (is_read_i) cpl_q.node <= 16'(kept_i.node);
    end else begin
      cpl_q.qid     <= post_i.qid;
      cpl_q.tag     <= post_i.tag;
      cpl_q.is_read <= post_i.is_read;
    end

    trace_outcome_o     <= ops_i.outcome;
    trace_ticket_o      <= 16'(idx_i);
    trace_room_o        <= ctl_room;
    trace_offer_valid_o <= job_i == DO_POST && offered_i;
    trace_offer_o       <= 16'(idx_i);
    trace_now_o         <= now_i;
    trace_admit_o       <= ops_i.admit;
    unique case (job_i)
      DO_POST: begin
        trace_kind_o <= INBOX_POST;
        if (ops_i.rejected) trace_ticket_o <= '0;
      end
      DO_RQT: begin
        trace_kind_o <= INBOX_RQT;
        if (!ops_i.take && ops_i.admit != ADMIT_AGAIN) trace_ticket_o <= '0;
      end
      DO_RSP: begin
        trace_kind_o   <= INBOX_RSP;
        trace_ticket_o <= hdr_i.sid;
      end
      DO_LEAVE:   trace_kind_o <= INBOX_LEAVE;
      DO_DECIDED: trace_kind_o <= INBOX_DECIDED;
      default:    trace_kind_o <= ops_i.outcome == OUTCOME_CANCEL ? INBOX_CANCEL : INBOX_TIMEOUT;
    endcase
  end

  ram_fifo #(
    .DEPTH(CTL_DEPTH),
    .WIDTH($bits(header_t))
  ) i_control (
    .clk_i,
    .rst_ni,
    .valid_i(ctl_push_q),
    .ready_o(ctl_room),
    .data_i (ctl_q),
    .valid_o(ctl_valid_o),
    .ready_i(ctl_ready_i),
    .data_o (ctl_o),
    .count_o(ctls)
  );

  ram_fifo #(
    .DEPTH(CPL_DEPTH),
    .WIDTH($bits(ticket_completion_t))
  ) i_completions (
    .clk_i,
    .rst_ni,
    .valid_i(cpl_push_q),
    .ready_o(cpl_room),
    .data_i (cpl_q),
    .valid_o(cpl_valid_o),
    .ready_i(cpl_ready_i),
    .data_o (cpl_o),
    .count_o(cpls)
  );

  logic unused;
  assign unused = ^{ops_i, post_i, message_i};

  `ASSERT(CompletionHasAPlace, !cpl_push_q || cpl_room)
  `ASSERT(OneRequestAtTheOutput, !ops_i.hand_on || !req_valid_o)
endmodule

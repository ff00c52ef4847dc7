// SPDX-License-Identifier: Apache-2.0
// What a post or RQT needs to know before its ticket is read: its region; of a RQT also the queue and the ticket, one that may have the same message
// or the one that it would take (docs/rdma_transfers.md, RTL).
//
// Timing: post_i, rqt_i stay from the clock after load_i (of a RQT) on until go_i. asks_o and print_o are there from then on; asked_i answers print_o
// one clock later, idx_o and queue_o follow. found_o but its verdict is there from the clock after go_i on. verdict and queue_changed are of the
// regions as set up to the clock of go_i, three clocks after it. Tickets that have another message are ruled out until the RQT is over.
`include "weft_assert.svh"

module rdma_inbox_seek
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
  import rdma_inbox_pkg::*;
#(
  parameter int unsigned N_TICKETS = 64,
  parameter int unsigned N_QUEUES  = 8,
  parameter int unsigned N_REGIONS = 64,
  parameter int unsigned PAYLOAD   = 256,
  parameter int unsigned PIDX_W    = 24,
  parameter int unsigned ADDR_W    = 48,
  localparam int unsigned IDX_W    = $clog2(N_TICKETS),
  localparam int unsigned Q_W      = (N_QUEUES > 1) ? $clog2(N_QUEUES) : 1,
  localparam int unsigned BASE_W   = ADDR_W - $clog2(PAYLOAD),
  localparam int unsigned OFFSET_W = offset_bits(BASE_W)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  output logic                 ready_o,
  // regions as they are set
  input  logic                 region_set_i,
  input  logic [          7:0] region_idx_i,
  input  logic                 region_write_i,
  input  logic                 region_receive_i,
  input  logic [          8:0] region_queue_i,
  input  logic [         15:0] region_key_i,
  input  logic [   BASE_W-1:0] region_base_i,
  input  logic [ OFFSET_W-1:0] region_last_i,
  // the event
  input  logic                 is_post_i,
  input  ticket_post_t         post_i,
  input  header_t              rqt_i,
  input  logic                 load_i,
  input  logic                 go_i,
  output logic                 names_region_o,  // the RQT does
  // tickets
  output logic [  PRINT_W-1:0] print_o,
  input  logic [N_TICKETS-1:0] asked_i,         // those of this fingerprint whose message is under way
  input  logic [    IDX_W-1:0] first_i,         // of the list of this queue
  output logic [      Q_W-1:0] queue_o,
  output logic [    IDX_W-1:0] idx_o,
  output found_t               found_o,
  // in the end
  input  logic                 rule_out_i,      // the ticket has another message
  input  logic [    IDX_W-1:0] rule_out_idx_i,
  input  logic                 over_i           // there is nothing more to rule out
);
  localparam logic [7:0] NOT_WRITES = TRANSFER_FLAG_READ | TRANSFER_FLAG_SEND;

  asks_e                asks_q;
  logic [N_TICKETS-1:0] maybe, ruled_out_q;
  logic [    IDX_W-1:0] first_maybe;
  logic                 maybe_q, queue_exists_q;
  logic [          8:0] region_queue, region_queue_q, checked_queue, seen_queue_q, named;
  outcome_e             verdict;

  // Spread so that contexts in a row of sources in a row differ.
  function automatic logic [PRINT_W-1:0] fingerprint(logic [15:0] src, logic [15:0] sid, logic [23:0] msgid, logic immediate);
    logic [23:0] mixed;
    mixed = msgid ^ {src, 8'd0} ^ {5'd0, src, 3'd0} ^ {8'd0, sid} ^ {3'd0, sid, 5'd0};
    return mixed[7:0] ^ mixed[15:8] ^ mixed[23:16] ^ {immediate, 7'd0};
  endfunction

  rdma_inbox_check #(
    .N_REGIONS(N_REGIONS),
    .PAYLOAD  (PAYLOAD),
    .PIDX_W   (PIDX_W),
    .ADDR_W   (ADDR_W)
  ) i_check (
    .clk_i,
    .rst_ni,
    .ready_o,
    .region_set_i,
    .region_idx_i,
    .region_write_i,
    .region_receive_i,
    .region_queue_i,
    .region_key_i,
    .region_base_i,
    .region_last_i,
    .receive_i      (is_post_i),
    .rkey_i         (is_post_i ? post_i.rkey : {rqt_i.gen, rqt_i.cid}),
    .addr_i         (is_post_i ? post_i.address : rqt_i.arg),
    .bytes_i        (is_post_i ? post_i.bytes : rqt_i.pidx),
    .queue_o        (region_queue),
    .verdict_o      (verdict),
    .checked_queue_o(checked_queue)
  );

  assign names_region_o = (rqt_i.flags & NOT_WRITES) == '0;
  assign maybe          = asked_i & ~ruled_out_q;
  assign named          = asks_q == ASKS_SEND ? {1'b1, rqt_i.gen} : region_queue_q;
  assign queue_o        = named[Q_W-1:0];

  always_comb begin : p_first_maybe
    first_maybe = '0;
    for (int i = int'(N_TICKETS) - 1; i >= 0; i--) if (maybe[i]) first_maybe = IDX_W'(i);
  end

  always_comb begin : p_idx
    if (maybe != '0) idx_o = first_maybe;
    else idx_o = asks_q == ASKS_ANSWER ? rqt_i.cid[IDX_W-1:0] : first_i;
  end

  assign found_o = '{asks: asks_q, maybe: maybe_q, queue_exists: queue_exists_q, queue_changed: checked_queue != seen_queue_q, verdict: verdict};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) ruled_out_q <= '0;
    else if (rule_out_i) ruled_out_q[rule_out_idx_i] <= 1'b1;
    else if (over_i) ruled_out_q <= '0;

    region_queue_q <= region_queue;
    if (load_i) begin
      if ((rqt_i.flags & TRANSFER_FLAG_READ) != '0) asks_q <= ASKS_ANSWER;
      else if ((rqt_i.flags & TRANSFER_FLAG_SEND) != '0) asks_q <= ASKS_SEND;
      else asks_q <= (rqt_i.flags & TRANSFER_FLAG_IMM) != '0 ? ASKS_WRITE : ASKS_NOTHING;
      print_o <= fingerprint(rqt_i.src, rqt_i.sid, rqt_i.msgid, names_region_o);
    end
    if (go_i) begin
      maybe_q        <= maybe != '0;
      seen_queue_q   <= named;
      queue_exists_q <= named[8] && 9'(named[7:0]) < 9'(N_QUEUES);
    end
  end

  logic unused;
  assign unused = ^{rqt_i, post_i};

  `ASSERT(RulesOutOneThatMay, !rule_out_i || maybe_q)
endmodule

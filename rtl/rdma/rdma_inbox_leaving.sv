// SPDX-License-Identifier: Apache-2.0
// Tickets that leave, in the order in which they got to their end, each when memory has answered all writes decided before; and what the packet that
// ended it brought: an immediate, or the news that its sender could not read its memory (docs/rdma_transfers.md, Inbox).
//
// Timing: left_i and left_idx_i come one clock after the receiver's event ret_i that they are of. answered_o is that of the ticket at idx_o, one
// clock later; it is 0 in the clock after take_i. unreadable_o, has_imm_o and imm_o come one clock after read_i.
`include "weft_assert.svh"

module rdma_inbox_leaving
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned N_TICKETS = 64,
  localparam int unsigned IDX_W = $clog2(N_TICKETS)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // what gets to its end
  input  rx_retired_t         ret_i,
  input  logic                left_i,
  input  logic [   IDX_W-1:0] left_idx_i,
  input  logic [WRITES_W-1:0] writes_done_i,  // host writes answered
  // the next that leaves
  output logic                none_o,
  output logic                answered_o,
  output logic [   IDX_W-1:0] idx_o,
  input  logic                take_i,
  // what came with the end of a ticket
  input  logic                read_i,
  input  logic [   IDX_W-1:0] read_idx_i,
  output logic                unreadable_o,
  output logic                has_imm_o,
  output logic [        31:0] imm_o
);
  typedef struct packed {
    logic [IDX_W-1:0]    idx;
    logic [WRITES_W-1:0] writes;
  } leaving_t;

  leaving_t            leaving;
  logic                valid, ready, unreadable_q, imm_q;
  logic [IDX_W:0]      count;
  logic [31:0]         imm_data_q;
  logic [WRITES_W-1:0] writes_q, done_q, ahead;

  assign none_o = count == '0;
  assign idx_o  = leaving.idx;
  assign ahead  = done_q - leaving.writes;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) answered_o <= 1'b0;
    else answered_o <= valid && !take_i && !ahead[WRITES_W-1];
    done_q       <= writes_done_i;
    writes_q     <= ret_i.writes;
    imm_q        <= ret_i.has_imm && ret_i.outcome == OUTCOME_FINISH;
    imm_data_q   <= ret_i.imm;
    unreadable_q <= ret_i.outcome == OUTCOME_RELEASED_FAILED;
  end

  ram_fifo #(
    .DEPTH(N_TICKETS),
    .WIDTH($bits(leaving_t))
  ) i_leaving (
    .clk_i,
    .rst_ni,
    .valid_i(left_i),
    .ready_o(ready),
    .data_i ({left_idx_i, writes_q}),
    .valid_o(valid),
    .ready_i(take_i),
    .data_o (leaving),
    .count_o(count)
  );

  ram_sdp #(
    .DEPTH(N_TICKETS),
    .WIDTH(34)
  ) i_ends (
    .clk_i,
    .we_i   (left_i),
    .waddr_i(left_idx_i),
    .wdata_i({unreadable_q, imm_q, imm_data_q}),
    .re_i   (read_i),
    .raddr_i(read_idx_i),
    .rdata_o({unreadable_o, has_imm_o, imm_o})
  );

  logic unused;
  assign unused = ^{ret_i.decides, ret_i.cid};

  `ASSERT(LeavingHaveAPlace, !left_i || ready)
  `ASSERT(TakesOneThatLeaves, !take_i || valid)
endmodule

// SPDX-License-Identifier: Apache-2.0
// Lists of tickets that wait, one for each queue: linked through a RAM, with first and last of each list in flops (docs/rdma_transfers.md, Inbox).
//
// Timing: first_o follows look_i, any_o follows queue_i in the same clock. Operations are one a clock and count from the next clock on; clear_i goes before
// them. A ticket is taken from the front only, its successor was read in an earlier clock: next_re_i, next_idx_i; the answer stays until the next look.
`include "weft_assert.svh"

module rdma_inbox_lists #(
  parameter int unsigned N_TICKETS = 64,
  parameter int unsigned N_QUEUES  = 8,
  localparam int unsigned IDX_W = $clog2(N_TICKETS),
  localparam int unsigned Q_W   = (N_QUEUES > 1) ? $clog2(N_QUEUES) : 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             clear_i,
  input  logic [  Q_W-1:0] clear_queue_i,
  // a look at a list
  input  logic [  Q_W-1:0] look_i,
  output logic [IDX_W-1:0] first_o,
  // the list that an operation changes
  input  logic [  Q_W-1:0] queue_i,
  output logic             any_o,
  output logic [N_QUEUES-1:0] lists_o,   // that are not empty
  // operations
  input  logic             pop_i,
  input  logic             push_front_i,
  input  logic             push_back_i,
  input  logic [IDX_W-1:0] idx_i,        // ticket pushed
  input  logic             next_re_i,
  input  logic [IDX_W-1:0] next_idx_i
);
  logic [N_QUEUES-1:0] any_q;
  logic [IDX_W-1:0]    first_q [N_QUEUES];
  logic [IDX_W-1:0]    last_q  [N_QUEUES];
  logic [IDX_W-1:0]    first, last, next;

  assign lists_o = any_q;
  assign any_o   = any_q[queue_i];
  assign first_o = first_q[look_i];
  assign first   = first_q[queue_i];
  assign last    = last_q[queue_i];

  ram_sdp #(
    .DEPTH(N_TICKETS),
    .WIDTH(IDX_W)
  ) i_next (
    .clk_i,
    .we_i   ((push_front_i || push_back_i) && any_o),
    .waddr_i(push_front_i ? idx_i : last),
    .wdata_i(push_front_i ? first : idx_i),
    .re_i   (next_re_i),
    .raddr_i(next_idx_i),
    .rdata_o(next)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) any_q <= '0;
    else begin
      if (push_front_i || push_back_i) any_q[queue_i] <= 1'b1;
      else if (pop_i && first == last) any_q[queue_i] <= 1'b0;
      if (clear_i) any_q[clear_queue_i] <= 1'b0;
    end
    if (pop_i) first_q[queue_i] <= next;
    else if (push_front_i || (push_back_i && !any_o)) first_q[queue_i] <= idx_i;
    if (push_back_i || (push_front_i && !any_o)) last_q[queue_i] <= idx_i;
  end

  `ASSERT(PopOfAList, !pop_i || any_o)
  `ASSERT(OneOperation, 2'(pop_i) + 2'(push_front_i) + 2'(push_back_i) <= 2'd1)
endmodule

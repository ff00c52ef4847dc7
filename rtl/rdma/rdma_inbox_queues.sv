// SPDX-License-Identifier: Apache-2.0
// Queues as the inbox knows them: open or closed, their keys, and how many tickets each has (docs/rdma_transfers.md, Regions and queues).
//
// Timing: what is set, new or at its end in clock t counts from clock t + 1 on; is_open_o, key_o and count_o follow queue_i.
`include "weft_assert.svh"

module rdma_inbox_queues #(
  parameter int unsigned N_TICKETS = 64,
  parameter int unsigned N_QUEUES  = 8,
  localparam int unsigned HELD_W = $clog2(N_TICKETS + 1),
  localparam int unsigned Q_W    = (N_QUEUES > 1) ? $clog2(N_QUEUES) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // as they are set
  input  logic                set_i,
  input  logic [         7:0] set_idx_i,
  input  logic                set_open_i,
  input  logic [        15:0] set_key_i,
  output logic [N_QUEUES-1:0] open_o,
  output logic [N_QUEUES-1:0] held_o,     // it has tickets
  // one of them
  input  logic [     Q_W-1:0] queue_i,
  output logic                is_open_o,
  output logic [        15:0] key_o,
  output logic [  HELD_W-1:0] count_o,
  input  logic                new_i,      // ticket
  input  logic                end_i
);
  if (N_QUEUES < 1 || N_QUEUES > 256) begin : g_bad_queues
    $error("N_QUEUES must be from 1 to 256, is %0d", N_QUEUES);
  end

  logic [15:0]       key_q  [N_QUEUES];
  logic [HELD_W-1:0] held_q [N_QUEUES];

  assign is_open_o = open_o[queue_i];
  assign key_o     = key_q[queue_i];
  assign count_o   = held_q[queue_i];

  for (genvar i = 0; i < int'(N_QUEUES); i++) begin : g_queue
    logic here;
    assign here      = queue_i == Q_W'(i);
    assign held_o[i] = held_q[i] != '0;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        open_o[i] <= 1'b0;
        held_q[i] <= '0;
      end else begin
        if (set_i && set_idx_i == 8'(i)) open_o[i] <= set_open_i;
        held_q[i] <= held_q[i] + HELD_W'(here && new_i) - HELD_W'(here && end_i);
      end
      if (set_i && set_idx_i == 8'(i)) key_q[i] <= set_key_i;
    end
    `ASSERT(OpenedWithoutTickets, !(set_i && set_open_i && set_idx_i == 8'(i)) || !held_o[i])
    `ASSERT(EndOfOneHeld, !(here && end_i) || held_o[i])
  end

  `ASSERT(SetQueueExists, !set_i || 9'(set_idx_i) < 9'(N_QUEUES))
endmodule

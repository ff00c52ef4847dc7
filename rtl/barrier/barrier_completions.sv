// SPDX-License-Identifier: Apache-2.0
// Completions that software has not taken yet, in order. A group has one at most: until it is taken, the group's next barrier cannot begin.
// If none waits, one is offered in the clock in which it comes.
`include "weft_assert.svh"

module barrier_completions
  import barrier_formats_pkg::*;
#(
  parameter int unsigned N_GROUPS = 16,
  localparam int unsigned GROUP_W = N_GROUPS > 1 ? $clog2(N_GROUPS) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                valid_i,
  input  completion_t         completion_i,
  output logic [N_GROUPS-1:0] pending_o,     // groups with a completion that is not taken
  output logic                valid_o,
  input  logic                ready_i,
  output completion_t         completion_o
);
  logic                room, taken, waits;
  completion_t         first;
  logic [N_GROUPS-1:0] pending_q, come, gone;

  sync_fifo #(.DEPTH(N_GROUPS), .T(completion_t)) i_fifo (
    .clk_i, .rst_ni, .valid_i(valid_i && (waits || !ready_i)), .ready_o(room), .data_i(completion_i), .valid_o(waits), .ready_i, .data_o(first), .count_o()
  );

  assign valid_o      = waits || valid_i;
  assign completion_o = waits ? first : completion_i;
  assign taken        = valid_o && ready_i;
  assign come         = valid_i ? N_GROUPS'(1) << completion_i.group[GROUP_W-1:0] : '0;
  assign gone         = taken ? N_GROUPS'(1) << completion_o.group[GROUP_W-1:0] : '0;
  assign pending_o    = pending_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) pending_q <= '0;
    else pending_q <= (pending_q | come) & ~gone;
  end

  `ASSERT(HasRoom, !valid_i || room)
  `ASSERT(OneOfAGroup, (come & pending_q) == '0)
endmodule

// SPDX-License-Identifier: Apache-2.0
// Which event the sender takes: packets first, then faults, timeouts, posts and turns in this order. Of any MAX_STARVED + 1 clocks in which one of the others waits,
// at least one is theirs. Combinational, but for the count of packets that went before them.
`include "weft_assert.svh"

module rdma_tx_choose #(
  parameter int unsigned MAX_STARVED = 15  // packets that may go before another event, one less than a power of two
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic ready_i,         // events are taken
  // what waits
  input  logic packet_i,
  input  logic fault_i,
  input  logic timeout_i,
  input  logic post_i,
  input  logic turn_i,
  // one of them at the most
  output logic packet_ready_o,  // whether there is one or not
  output logic take_packet_o,
  output logic take_fault_o,
  output logic take_timeout_o,
  output logic take_post_o,
  output logic take_turn_o
);
  localparam int unsigned COUNT_W = $clog2(MAX_STARVED + 1);

  if (MAX_STARVED < 1 || (MAX_STARVED & (MAX_STARVED + 1)) != 0) begin : g_bad_max
    $error("MAX_STARVED must be one less than a power of two, is %0d", MAX_STARVED);
  end

  logic               others_wait, others_first;
  logic [COUNT_W-1:0] starved_q;

  assign others_wait    = fault_i || timeout_i || post_i || turn_i;
  assign others_first   = others_wait && starved_q == '1;
  assign packet_ready_o = ready_i && !others_first;
  assign take_packet_o  = packet_ready_o && packet_i;
  assign take_fault_o   = ready_i && !take_packet_o && fault_i;
  assign take_timeout_o = ready_i && !take_packet_o && !fault_i && timeout_i;
  assign take_post_o    = ready_i && !take_packet_o && !fault_i && !timeout_i && post_i;
  assign take_turn_o    = ready_i && !take_packet_o && !fault_i && !timeout_i && !post_i && turn_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || !others_wait || !take_packet_o) starved_q <= '0;
    else starved_q <= starved_q + 1'b1;
  end

  `ASSERT(OneEvent, 32'(take_packet_o) + 32'(take_fault_o) + 32'(take_timeout_o) + 32'(take_post_o) + 32'(take_turn_o) <= 1)
  `ASSERT(OthersFirstAfterEnough, !(take_packet_o && others_wait) || starved_q != '1)
endmodule

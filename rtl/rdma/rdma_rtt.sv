// SPDX-License-Identifier: Apache-2.0
// How long something takes that begins with one event and ends with another of the same context: one measurement at a
// time, smoothed, and the timeout that follows from it, after RFC 6298.
//
// The first sample S gives srtt = S and rttvar = S / 2. Each other one moves rttvar by a quarter and then srtt by an eighth of
// the way. timeout_o = srtt + max(1, srtt, 4 rttvar), three clocks after the event that ended a measurement.
`include "weft_assert.svh"

module rdma_rtt
  import rdma_pkg::*;
#(
  parameter int unsigned ID_W = 16  // bits of a context's number
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // an event of context id_i: it may end a measurement, or begin one if none is under way; or cancel
  input  logic [  ID_W-1:0]  id_i,
  input  logic [TICK_W-1:0]  now_i,     // ticks, of the event
  input  logic               begin_i,
  input  logic               end_i,
  input  logic               cancel_i,  // what follows may have been repeated, so it tells nothing
  output logic               known_o,   // there was a sample
  output logic [LIMIT_W-1:0] timeout_o  // ticks, at the most all ones
);
  localparam int unsigned SRTT_W = LIMIT_W + 3;    // eighths of a tick
  localparam int unsigned RTTVAR_W = LIMIT_W + 2;  // quarters of a tick

  logic               measuring_q, sample_valid_q, known_q;
  logic [ID_W-1:0]    id_q;
  logic [TICK_W-1:0]  since_q, took;
  logic [LIMIT_W-1:0] sample_q;
  logic               mine;

  assign mine = measuring_q && id_i == id_q;
  assign took = now_i - since_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      measuring_q    <= 1'b0;
      sample_valid_q <= 1'b0;
    end else begin
      if (mine && (end_i || cancel_i)) measuring_q <= 1'b0;
      else if (begin_i) measuring_q <= 1'b1;
      sample_valid_q <= mine && end_i;
    end
    if (!measuring_q) begin
      id_q    <= id_i;
      since_q <= now_i;
    end
    sample_q <= (took >> LIMIT_W) != '0 ? '1 : took[LIMIT_W-1:0];
  end

  logic [SRTT_W-1:0]   srtt_q;
  logic [RTTVAR_W-1:0] rttvar_q;
  logic [LIMIT_W-1:0]  srtt, off;  // ticks; how far the sample is from it
  logic [LIMIT_W-1:0]  least;      // ticks, added to srtt
  logic [RTTVAR_W:0]   sum;

  assign srtt = srtt_q[SRTT_W-1:3];
  assign off  = sample_q > srtt ? sample_q - srtt : srtt - sample_q;
  assign least = srtt == '0 ? LIMIT_W'(1) : srtt;
  assign sum   = (RTTVAR_W + 1)'(srtt) + {1'b0, rttvar_q > RTTVAR_W'(least) ? rttvar_q : RTTVAR_W'(least)};

  // Neither sum can overflow: both are means of what fits.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      known_q  <= 1'b0;
      srtt_q   <= '0;
      rttvar_q <= '0;
    end else if (sample_valid_q) begin
      known_q  <= 1'b1;
      srtt_q   <= known_q ? srtt_q - SRTT_W'(srtt) + SRTT_W'(sample_q) : {sample_q, 3'd0};
      rttvar_q <= known_q ? rttvar_q - RTTVAR_W'(rttvar_q[RTTVAR_W-1:2]) + RTTVAR_W'(off) : {1'b0, sample_q, 1'b0};
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) known_o <= 1'b0;
    else known_o <= known_q;
    timeout_o <= (sum >> LIMIT_W) != '0 ? '1 : sum[LIMIT_W-1:0];
  end

  `ASSERT(CancelsOnly, !cancel_i || !(begin_i || end_i))
  `ASSERT(AtLeastATick, !known_o || timeout_o != '0)
endmodule

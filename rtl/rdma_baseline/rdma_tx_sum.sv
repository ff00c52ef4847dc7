// SPDX-License-Identifier: Apache-2.0
// Sender of the older scheme that counts (docs/rdma_baseline.md, Receiver counter): the sum of mix(PIDX) of the packets of an attempt, which the last one
// carries. DATA orders pass in two clocks, one a clock; packet 0 begins an attempt, and those of a context come in order.
`include "weft_assert.svh"

module rdma_tx_sum
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned N_TX_CTX = 1024,
  parameter type         order_t  = logic  // has a field hdr, header_t
) (
  input  logic   clk_i,
  input  logic   rst_ni,
  input  logic   valid_i,
  input  order_t order_i,
  output logic   valid_o,
  output order_t order_o,  // with the sum in its arg if it is the last one
  output logic   busy_o    // an order is inside
);
  localparam int unsigned IDX_W = $clog2(N_TX_CTX);

  order_t      e_q, f_q;
  logic        e_valid_q, f_valid_q;
  logic [31:0] e_half_q, f_mix_q;  // PIDX mixed, half way and all
  logic [31:0] f_before, f_sum;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) {e_valid_q, f_valid_q} <= '0;
    else {e_valid_q, f_valid_q} <= {valid_i, e_valid_q};
    e_q      <= order_i;
    f_q      <= e_q;
    e_half_q <= mix_first(order_i.hdr.pidx);
    f_mix_q  <= mix_second(e_half_q);
  end

  // No context needs to be cleared: its sum begins with packet 0.
  ram_1r1w #(
    .DEPTH(N_TX_CTX),
    .WIDTH(32)
  ) i_sums (
    .clk_i,
    .we_i   (f_valid_q),
    .waddr_i(f_q.hdr.sid[IDX_W-1:0]),
    .wdata_i(f_sum),
    .re_i   (e_valid_q),
    .raddr_i(e_q.hdr.sid[IDX_W-1:0]),
    .rdata_o(f_before)
  );

  assign f_sum   = (f_q.hdr.pidx == '0 ? '0 : f_before) + f_mix_q;
  assign valid_o = f_valid_q;
  assign busy_o  = e_valid_q || f_valid_q;

  always_comb begin : p_order
    order_o = f_q;
    if ((f_q.hdr.flags & FLAG_LAST) != '0) order_o.hdr.arg[63:32] = f_sum;
  end

  `ASSERT(DataOnly, !valid_i || order_i.hdr.ptype == PTYPE_DATA)
endmodule

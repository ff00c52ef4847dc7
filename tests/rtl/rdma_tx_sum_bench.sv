// SPDX-License-Identifier: Apache-2.0
// rdma_tx_sum with orders that are headers only.
module rdma_tx_sum_bench
  import rdma_formats_pkg::*;
#(
  parameter int unsigned N_TX_CTX = 8
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         valid_i,
  input  logic [255:0] header_i,
  output logic         valid_o,
  output logic [255:0] header_o,
  output logic         busy_o
);
  typedef struct packed {
    header_t hdr;
  } order_t;

  order_t order, order_out;
  assign order.hdr = header_i;
  assign header_o  = order_out.hdr;

  rdma_tx_sum #(
    .N_TX_CTX(N_TX_CTX),
    .order_t (order_t)
  ) i_dut (
    .clk_i,
    .rst_ni,
    .valid_i,
    .order_i(order),
    .valid_o,
    .order_o(order_out),
    .busy_o
  );
endmodule

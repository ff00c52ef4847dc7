// SPDX-License-Identifier: Apache-2.0
// Blocks of the RDMA engine on their own: two receive windows, the CRC of a flit, and the timers of eight contexts.
module rdma_blocks_bench (
  input  logic         clk_i,
  input  logic         rst_ni,
  // rdma_window, 8 and 128 bits
  input  logic [ 23:0] pidx_i,
  input  logic [ 23:0] wbase_i,
  input  logic [127:0] wvec_i,
  output logic         duplicate8_o,
  output logic         beyond8_o,
  output logic         in_order8_o,
  output logic [ 23:0] wbase8_o,
  output logic [  7:0] wvec8_o,
  output logic         duplicate128_o,
  output logic         beyond128_o,
  output logic         in_order128_o,
  output logic [ 23:0] wbase128_o,
  output logic [127:0] wvec128_o,
  // crc_flit
  input  logic [ 31:0] crc_i,
  input  logic [255:0] flit_i,
  output logic [ 31:0] crc_o,
  // rdma_timer
  output logic         ready_o,
  input  logic [ 15:0] now_i,
  input  logic [ 12:0] limit0_i,
  input  logic [ 12:0] limit1_i,
  input  logic         set_i,
  input  logic [  2:0] set_idx_i,
  input  logic         set_armed_i,
  input  logic         set_class_i,
  output logic         expired_valid_o,
  output logic [  2:0] expired_idx_o,
  input  logic         expired_ready_i,
  input  logic         decided_i,
  output logic         expired_now_o
);

  rdma_window #(.WINDOW(8), .PIDX_W(24)) i_window8 (
    .pidx_i, .wbase_i, .wvec_i(wvec_i[7:0]), .duplicate_o(duplicate8_o), .beyond_o(beyond8_o),
    .in_order_o(in_order8_o), .wbase_o(wbase8_o), .wvec_o(wvec8_o)
  );

  rdma_window #(.WINDOW(128), .PIDX_W(24)) i_window128 (
    .pidx_i, .wbase_i, .wvec_i, .duplicate_o(duplicate128_o), .beyond_o(beyond128_o),
    .in_order_o(in_order128_o), .wbase_o(wbase128_o), .wvec_o(wvec128_o)
  );

  assign crc_o = rdma_pkg::crc_flit(crc_i, flit_i);

  rdma_timer #(.N(8)) i_timer (
    .clk_i, .rst_ni, .ready_o, .now_i, .limit0_i, .limit1_i, .set_i, .set_idx_i, .set_armed_i, .set_class_i,
    .expired_valid_o, .expired_idx_o, .expired_ready_i, .decided_i, .expired_now_o
  );

endmodule

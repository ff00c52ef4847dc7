// SPDX-License-Identifier: Apache-2.0
// Blocks of the RDMA engine on their own: the CRC of a flit, the timers of eight contexts, of 256, and of five.
module rdma_blocks_bench (
  input  logic         clk_i,
  input  logic         rst_ni,
  // crc_flit
  input  logic [ 31:0] crc_i,
  input  logic [255:0] flit_i,
  output logic [ 31:0] crc_o,
  // rdma_timer
  output logic         ready_o,
  input  logic [ 15:0] now_i,
  input  logic [ 12:0] limit0_i,
  input  logic [ 12:0] limit1_i,
  input  logic [ 12:0] limit2_i,
  input  logic         set_i,
  input  logic [  2:0] set_idx_i,
  input  logic         set_armed_i,
  input  logic [  1:0] set_class_i,
  output logic         expired_valid_o,
  output logic [  2:0] expired_idx_o,
  input  logic         expired_ready_i,
  input  logic         decided_i,
  output logic         expired_now_o,
  // rdma_timer of 256, of the same time and of limit 0
  input  logic         many_set_i,
  input  logic [  7:0] many_set_idx_i,
  input  logic         many_set_armed_i,
  output logic         many_ready_o,
  output logic         many_expired_valid_o,
  output logic [  7:0] many_expired_idx_o,
  input  logic         many_expired_ready_i,
  input  logic         many_decided_i,
  output logic         many_expired_now_o,
  // rdma_timer of 5, likewise
  input  logic         odd_set_i,
  input  logic [  2:0] odd_set_idx_i,
  input  logic         odd_set_armed_i,
  output logic         odd_ready_o,
  output logic         odd_expired_valid_o,
  output logic [  2:0] odd_expired_idx_o,
  input  logic         odd_expired_ready_i,
  input  logic         odd_decided_i,
  output logic         odd_expired_now_o
);

  assign crc_o = rdma_pkg::crc_flit(crc_i, flit_i);

  rdma_timer #(.N(8), .CLASSES(3)) i_timer (
    .clk_i, .rst_ni, .ready_o, .now_i(rdma_pkg::STAMP_W'(now_i)), .limits_i({limit2_i, limit1_i, limit0_i}), .set_i, .set_idx_i, .set_armed_i, .set_class_i,
    .expired_valid_o, .expired_idx_o, .expired_ready_i, .decided_i, .expired_now_o
  );

  rdma_timer #(.N(256)) i_many (
    .clk_i, .rst_ni, .ready_o(many_ready_o), .now_i(rdma_pkg::STAMP_W'(now_i)), .limits_i(limit0_i), .set_i(many_set_i),
    .set_idx_i(many_set_idx_i), .set_armed_i(many_set_armed_i), .set_class_i(1'b0), .expired_valid_o(many_expired_valid_o),
    .expired_idx_o(many_expired_idx_o), .expired_ready_i(many_expired_ready_i), .decided_i(many_decided_i),
    .expired_now_o(many_expired_now_o)
  );

  rdma_timer #(.N(5)) i_odd (
    .clk_i, .rst_ni, .ready_o(odd_ready_o), .now_i(rdma_pkg::STAMP_W'(now_i)), .limits_i(limit0_i), .set_i(odd_set_i),
    .set_idx_i(odd_set_idx_i), .set_armed_i(odd_set_armed_i), .set_class_i(1'b0), .expired_valid_o(odd_expired_valid_o),
    .expired_idx_o(odd_expired_idx_o), .expired_ready_i(odd_expired_ready_i), .decided_i(odd_decided_i),
    .expired_now_o(odd_expired_now_o)
  );

endmodule

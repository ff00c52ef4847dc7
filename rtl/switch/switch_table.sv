// SPDX-License-Identifier: Apache-2.0
// A table in two banks with check bits: one is read, the other one loaded; a word read can be written back corrected.
//
// Latency: rdata_o, corrected_o and bad_o follow re_i by one clock and stay while re_i is 0.
`include "weft_assert.svh"

module switch_table
  import switch_ecc_pkg::*;
#(
  parameter int unsigned ENTRIES = 128,
  parameter int unsigned WIDTH   = 17,
  localparam int unsigned ADDR_W = $clog2(ENTRIES),
  localparam int unsigned CODE_W = WIDTH + check_bits(WIDTH) + 1
) (
  input  logic              clk_i,
  input  logic              bank_i,       // that is read; the other one is written
  // one of them a clock, load first
  input  logic              load_i,
  input  logic [ADDR_W-1:0] load_addr_i,
  input  logic [ WIDTH-1:0] load_data_i,
  input  logic              mend_i,
  input  logic [ADDR_W-1:0] mend_addr_i,
  input  logic              re_i,
  input  logic [ADDR_W-1:0] raddr_i,
  output logic [ WIDTH-1:0] rdata_o,
  output logic              corrected_o,
  output logic              bad_o
);
  if (ENTRIES < 2 || (ENTRIES & (ENTRIES - 1)) != 0) begin : gen_illegal_entries
    $fatal(1, "switch_table: ENTRIES is %0d, but must be a power of two from 2 on", ENTRIES);
  end

  logic [CODE_W-1:0] wcode, rcode;

  switch_ecc_encode #(.DATA_W(WIDTH)) i_encode (.data_i(load_i ? load_data_i : rdata_o), .code_o(wcode));

  ram_1r1w #(
    .DEPTH(2 * ENTRIES),
    .WIDTH(CODE_W)
  ) i_ram (
    .clk_i,
    .we_i   (load_i || mend_i),
    .waddr_i(load_i ? {!bank_i, load_addr_i} : {bank_i, mend_addr_i}),
    .wdata_i(wcode),
    .re_i,
    .raddr_i({bank_i, raddr_i}),
    .rdata_o(rcode)
  );

  switch_ecc_decode #(.DATA_W(WIDTH)) i_decode (.code_i(rcode), .data_o(rdata_o), .corrected_o, .bad_o);
endmodule

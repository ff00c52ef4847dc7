// SPDX-License-Identifier: Apache-2.0
// RAM with one write and one read port in which a read sees the write of the same cycle.
//
// DEPTH  words (any number from 1)
// WIDTH  bits a word
//
// Latency: rdata_o follows re_i by one clock. A read and a write of one address in the same cycle return the new data.
// rdata_o holds its value while re_i is 0, whatever is written meanwhile.
// Limitations: contents and rdata_o are undefined after power-up, there is no reset. Costs WIDTH + 1 flops and a
// multiplexer behind the RAM: use ram_sdp where reads and writes never meet.
module ram_1r1w #(
  parameter int unsigned DEPTH = 16,
  parameter int unsigned WIDTH = 8,
  localparam int unsigned ADDR_W = (DEPTH > 1) ? $clog2(DEPTH) : 1
) (
  input  logic              clk_i,
  input  logic              we_i,
  input  logic [ADDR_W-1:0] waddr_i,
  input  logic [ WIDTH-1:0] wdata_i,
  input  logic              re_i,
  input  logic [ADDR_W-1:0] raddr_i,
  output logic [ WIDTH-1:0] rdata_o
);

  logic             collision;
  logic             bypass_q;
  logic [WIDTH-1:0] bypass_data_q;
  logic [WIDTH-1:0] ram_rdata;

  assign collision = we_i && re_i && (waddr_i == raddr_i);

  always_ff @(posedge clk_i) begin
    if (re_i) bypass_q <= collision;
    if (collision) bypass_data_q <= wdata_i;
  end

  ram_sdp #(
    .DEPTH(DEPTH),
    .WIDTH(WIDTH)
  ) u_ram (
    .clk_i,
    .we_i,
    .waddr_i,
    .wdata_i,
    .re_i,
    .raddr_i,
    .rdata_o(ram_rdata)
  );

  assign rdata_o = bypass_q ? bypass_data_q : ram_rdata;

endmodule

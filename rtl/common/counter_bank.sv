// SPDX-License-Identifier: Apache-2.0
// Bank of wrapping counters in RAM: one increment a clock of any counter, and a read port.
//
// N      counters (any number from 1)
// WIDTH  bits a counter
//
// After reset all counters are cleared, which takes N clocks; ready_o is 0 meanwhile and increments are lost.
//
// Latency: rdata_o follows raddr_i by one clock and contains every increment of the cycles before that of raddr_i. Any
// sequence of idx_i is counted exactly, also the same one in every cycle.
// Limitations: two copies of the counters are kept, one for each read port of the RAMs.
`include "weft_assert.svh"

module counter_bank #(
  parameter int unsigned N     = 64,
  parameter int unsigned WIDTH = 32,
  localparam int unsigned ADDR_W = (N > 1) ? $clog2(N) : 1
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  output logic              ready_o,  // all counters are cleared
  input  logic              inc_i,
  input  logic [ADDR_W-1:0] idx_i,    // counter to increment
  input  logic [ADDR_W-1:0] raddr_i,  // counter to read
  output logic [ WIDTH-1:0] rdata_o
);

  if (N < 1) begin : gen_illegal_n
    $fatal(1, "counter_bank: N is %0d counters, but must be at least 1", N);
  end
  if (WIDTH < 1) begin : gen_illegal_width
    $fatal(1, "counter_bank: WIDTH is %0d bits, but must be at least 1", WIDTH);
  end

  logic              ready_q, inc_q;
  logic [ADDR_W-1:0] addr_q;  // counter to clear, then the one to write back
  logic [ WIDTH-1:0] old, wdata;
  logic              we;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ready_q <= 1'b0;
      inc_q   <= 1'b0;
      addr_q  <= '0;
    end else if (!ready_q) begin
      ready_q <= (addr_q == ADDR_W'(N - 1));
      addr_q  <= addr_q + ADDR_W'(1);
    end else begin
      inc_q  <= inc_i;
      addr_q <= idx_i;
    end
  end

  assign ready_o = ready_q;
  assign we      = !ready_q || inc_q;
  assign wdata   = ready_q ? old + WIDTH'(1) : '0;

  // The RAM returns what is written in the same cycle: the same counter twice in a row needs no special care.
  ram_1r1w #(
    .DEPTH(N),
    .WIDTH(WIDTH)
  ) u_count (
    .clk_i,
    .we_i   (we),
    .waddr_i(addr_q),
    .wdata_i(wdata),
    .re_i   (inc_i),
    .raddr_i(idx_i),
    .rdata_o(old)
  );

  ram_1r1w #(
    .DEPTH(N),
    .WIDTH(WIDTH)
  ) u_read (
    .clk_i,
    .we_i   (we),
    .waddr_i(addr_q),
    .wdata_i(wdata),
    .re_i   (1'b1),
    .raddr_i,
    .rdata_o
  );

  `ASSERT(CounterBankIndexInRange, !(inc_i && ready_q) || 32'(idx_i) < N)

endmodule

// SPDX-License-Identifier: Apache-2.0
// First-word fall-through FIFO in flops, for few or narrow words of any type and any depth.
//
// DEPTH  words it holds (any number from 1, not only powers of two)
// T      type of a word
//
// Latency: a word is at the output one clock after it was taken. ready_o does not depend on ready_i.
// Limitations: a word a clock needs DEPTH >= 2; with DEPTH = 1 it is every other clock. data_o is undefined while
// valid_o is 0.
`include "weft_assert.svh"

module sync_fifo #(
  parameter int unsigned DEPTH = 2,
  parameter type         T     = logic,
  localparam int unsigned COUNT_W = $clog2(DEPTH + 1)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // write side
  input  logic               valid_i,
  output logic               ready_o,
  input  T                   data_i,
  // read side
  output logic               valid_o,
  input  logic               ready_i,
  output T                   data_o,
  // words inside
  output logic [COUNT_W-1:0] count_o
);

  if (DEPTH < 1) begin : gen_illegal_depth
    $fatal(1, "sync_fifo: DEPTH is %0d words, but must be at least 1", DEPTH);
  end

  localparam int unsigned ADDR_W = (DEPTH > 1) ? $clog2(DEPTH) : 1;
  typedef logic [ADDR_W-1:0] addr_t;

  function automatic addr_t next(addr_t addr);
    return (addr == addr_t'(DEPTH - 1)) ? '0 : addr + addr_t'(1);
  endfunction

  T                   mem_q [DEPTH];
  addr_t              waddr_q, raddr_q;
  logic [COUNT_W-1:0] count_q;
  logic               push, pop;

  assign ready_o = (count_q != COUNT_W'(DEPTH));
  assign valid_o = (count_q != '0);
  assign count_o = count_q;
  assign data_o  = mem_q[raddr_q];
  assign push    = valid_i && ready_o;
  assign pop     = valid_o && ready_i;

  always_ff @(posedge clk_i) begin
    if (push) mem_q[waddr_q] <= data_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      waddr_q <= '0;
      raddr_q <= '0;
      count_q <= '0;
    end else begin
      if (push) waddr_q <= next(waddr_q);
      if (pop) raddr_q <= next(raddr_q);
      count_q <= count_q + COUNT_W'(push) - COUNT_W'(pop);
    end
  end

  `ASSERT(FifoCountInRange, count_q <= COUNT_W'(DEPTH))

endmodule

// SPDX-License-Identifier: Apache-2.0
// First-word fall-through FIFO in RAM whose writer can take back what it has not committed yet.
//
// DEPTH  words it holds, committed or not (a power of two from 2)
// WIDTH  bits a word
//
// commit_i makes every word written since the last commit visible to the reader, rollback_i discards them; either
// includes a word written in the same cycle. The reader sees committed words only.
//
// Latency: a word is at the output two clocks after the cycle of its commit_i. ready_o and free_o do not depend on
// ready_i of the same cycle.
// Limitations: a word a clock needs DEPTH >= 4. Words that were written, but never committed, block the FIFO once it
// is full: the writer has to roll back a packet longer than DEPTH. commit_i and rollback_i exclude each other. data_o
// is undefined while valid_o is 0.
`include "weft_assert.svh"

module packet_fifo #(
  parameter int unsigned DEPTH = 16,
  parameter int unsigned WIDTH = 8,
  localparam int unsigned COUNT_W = $clog2(DEPTH + 1)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // write side
  input  logic               valid_i,
  output logic               ready_o,
  input  logic [  WIDTH-1:0] data_i,
  input  logic               commit_i,
  input  logic               rollback_i,
  output logic [COUNT_W-1:0] free_o,     // words that can still be written
  // read side
  output logic               valid_o,
  input  logic               ready_i,
  output logic [  WIDTH-1:0] data_o,
  output logic [COUNT_W-1:0] count_o     // committed words inside
);

  localparam int unsigned ADDR_W = (DEPTH > 1) ? $clog2(DEPTH) : 1;

  if (DEPTH < 2 || (DEPTH & (DEPTH - 1)) != 0) begin : gen_illegal_depth
    $fatal(1, "packet_fifo/ram_fifo: DEPTH is %0d words, but must be a power of two from 2", DEPTH);
  end
  if (WIDTH < 1) begin : gen_illegal_width
    $fatal(1, "packet_fifo/ram_fifo: WIDTH is %0d bits, but must be at least 1", WIDTH);
  end

  // Positions in the stream of words, modulo 2 * DEPTH, in this order:
  // popped <= fetched <= committed <= written <= popped + DEPTH.
  typedef logic [ADDR_W:0] ptr_t;

  ptr_t written_d, written_q;
  ptr_t committed_q, fetched_q, popped_q;
  logic head_valid_q;  // the read register of the RAM holds the oldest word
  logic push, pop, fetch;

  assign ready_o = (written_q - popped_q) != ptr_t'(DEPTH);
  assign valid_o = head_valid_q;
  assign count_o = committed_q - popped_q;
  assign free_o  = ptr_t'(DEPTH) - (written_q - popped_q);

  assign push      = valid_i && ready_o;
  assign pop       = valid_o && ready_i;
  assign fetch     = (fetched_q != committed_q) && (!head_valid_q || ready_i);
  assign written_d = rollback_i ? committed_q : written_q + ptr_t'(push);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      written_q    <= '0;
      committed_q  <= '0;
      fetched_q    <= '0;
      popped_q     <= '0;
      head_valid_q <= 1'b0;
    end else begin
      written_q <= written_d;
      if (commit_i) committed_q <= written_d;
      if (fetch) fetched_q <= fetched_q + ptr_t'(1);
      if (pop) popped_q <= popped_q + ptr_t'(1);
      if (fetch || pop) head_valid_q <= fetch;
    end
  end

  // A committed word was written in an earlier cycle, so that a read and a write never meet.
  ram_sdp #(
    .DEPTH(DEPTH),
    .WIDTH(WIDTH)
  ) u_ram (
    .clk_i,
    .we_i   (push),
    .waddr_i(written_q[ADDR_W-1:0]),
    .wdata_i(data_i),
    .re_i   (fetch),
    .raddr_i(fetched_q[ADDR_W-1:0]),
    .rdata_o(data_o)
  );

  `ASSERT(PacketFifoCommitXorRollback, !(commit_i && rollback_i))
  `ASSERT(PacketFifoNotOverfull, (written_q - popped_q) <= ptr_t'(DEPTH))
  `ASSERT(PacketFifoReadMissesWrite,
          !(push && fetch && written_q[ADDR_W-1:0] == fetched_q[ADDR_W-1:0]))

endmodule

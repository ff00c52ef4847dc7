// SPDX-License-Identifier: Apache-2.0
// sync_fifo gives every word once, in order, one clock after it was taken, and says rightly how many it holds.
`include "proof.svh"

module sync_fifo_proof #(
  parameter int unsigned DEPTH = 3,
  parameter int unsigned WIDTH = 2
) (
  input logic             clk_i, rst_ni, valid_i, ready_i,
  input logic [WIDTH-1:0] data_i
);
  localparam int unsigned COUNT_W = $clog2(DEPTH + 1);

  logic                        ready, valid;
  logic [WIDTH-1:0]            data;
  logic [COUNT_W-1:0]          count, written, committed;
  logic [DEPTH-1:0][WIDTH-1:0] words;

  `PROOF_RESET

  sync_fifo #(.DEPTH(DEPTH), .T(logic [WIDTH-1:0])) dut (
    .clk_i, .rst_ni, .valid_i, .ready_o(ready), .data_i, .valid_o(valid), .ready_i, .data_o(data), .count_o(count)
  );
  queue_model #(.DEPTH(DEPTH), .WIDTH(WIDTH)) model (
    .clk_i, .rst_ni, .push_i(valid_i && ready), .data_i, .commit_i(1'b1), .rollback_i(1'b0), .pop_i(valid && ready_i),
    .written_o(written), .committed_o(committed), .words_o(words)
  );

  `PROVE(CountIsRight, count == written)
  `PROVE(TakesWhileNotFull, ready == (written != COUNT_W'(DEPTH)))
  `PROVE(ShowsWhileNotEmpty, valid == (written != '0))
  `PROVE(WordsInOrder, !valid || data == words[0])

  // For the induction: where the words are kept.
  function automatic int unsigned place(int unsigned i);
    return (32'(dut.raddr_q) + i) % DEPTH;
  endfunction

  `PROVE(ModelInRange, written <= COUNT_W'(DEPTH) && committed == written)
  `PROVE(AddressesInRange, 32'(dut.raddr_q) < DEPTH && 32'(dut.waddr_q) == place(32'(written)))
  for (genvar i = 0; i < DEPTH; i++) begin : g_words
    `PROVE(Kept, 32'(written) <= i || dut.mem_q[place(i)] == words[i])
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// skid_buffer gives every word once, in order, one clock after it was taken, and takes words while it holds less than two.
`include "proof.svh"

module skid_buffer_proof #(
  parameter int unsigned WIDTH = 4
) (
  input logic             clk_i, rst_ni, valid_i, ready_i,
  input logic [WIDTH-1:0] data_i
);
  logic                  ready, valid;
  logic [WIDTH-1:0]      data;
  logic [1:0]            written, committed;
  logic [1:0][WIDTH-1:0] words;

  `PROOF_RESET

  skid_buffer #(.T(logic [WIDTH-1:0])) dut (
    .clk_i, .rst_ni, .valid_i, .ready_o(ready), .data_i, .valid_o(valid), .ready_i, .data_o(data)
  );
  queue_model #(.DEPTH(2), .WIDTH(WIDTH)) model (
    .clk_i, .rst_ni, .push_i(valid_i && ready), .data_i, .commit_i(1'b1), .rollback_i(1'b0), .pop_i(valid && ready_i),
    .written_o(written), .committed_o(committed), .words_o(words)
  );

  `PROVE(TakesWhileNotFull, ready == (written != 2'd2))
  `PROVE(ShowsWhileNotEmpty, valid == (written != 2'd0))
  `PROVE(WordsInOrder, !valid || data == words[0])
  // For the induction.
  `PROVE(ModelInRange, written <= 2'd2 && committed == written)
  `PROVE(Kept, written != 2'd2 || dut.skid_q == words[1])
endmodule

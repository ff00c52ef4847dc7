// SPDX-License-Identifier: Apache-2.0
// packet_fifo gives every committed word once, in order, at most two clocks after the commit, none that was rolled back, and says
// rightly how many it holds; PLAIN: the same of ram_fifo, where every word is committed.
`include "proof.svh"

module packet_fifo_proof #(
  parameter int unsigned DEPTH = 4,
  parameter int unsigned WIDTH = 2,
  parameter bit          PLAIN = 1'b0
) (
  input logic             clk_i, rst_ni, valid_i, ready_i, commit_i, rollback_i,
  input logic [WIDTH-1:0] data_i
);
  localparam int unsigned COUNT_W = $clog2(DEPTH + 1);
  localparam int unsigned ADDR_W = $clog2(DEPTH);

  logic                        ready, valid, commit, rollback, had_word_q;
  logic [WIDTH-1:0]            data;
  logic [COUNT_W-1:0]          count, free, written, committed;
  logic [DEPTH-1:0][WIDTH-1:0] words;
  // inside the FIFO
  logic                        head_valid;
  logic [ADDR_W:0]             at_written, at_committed, at_fetched, at_popped;
  logic [DEPTH-1:0][WIDTH-1:0] kept;

  `PROOF_RESET

  if (PLAIN) begin : g
    ram_fifo #(.DEPTH(DEPTH), .WIDTH(WIDTH)) dut (
      .clk_i, .rst_ni, .valid_i, .ready_o(ready), .data_i, .valid_o(valid), .ready_i, .data_o(data), .count_o(count)
    );
    assign {commit, rollback} = 2'b10;
    assign free = COUNT_W'(DEPTH) - written;
    assign {head_valid, at_written, at_committed, at_fetched, at_popped} =
        {dut.u_fifo.head_valid_q, dut.u_fifo.written_q, dut.u_fifo.committed_q, dut.u_fifo.fetched_q, dut.u_fifo.popped_q};
    for (genvar i = 0; i < DEPTH; i++) assign kept[i] = dut.u_fifo.u_ram.mem[i];
  end else begin : g
    packet_fifo #(.DEPTH(DEPTH), .WIDTH(WIDTH)) dut (
      .clk_i, .rst_ni, .valid_i, .ready_o(ready), .data_i, .commit_i, .rollback_i, .free_o(free), .valid_o(valid), .ready_i,
      .data_o(data), .count_o(count)
    );
    assign {commit, rollback} = {commit_i, rollback_i};
    assign {head_valid, at_written, at_committed, at_fetched, at_popped} =
        {dut.head_valid_q, dut.written_q, dut.committed_q, dut.fetched_q, dut.popped_q};
    for (genvar i = 0; i < DEPTH; i++) assign kept[i] = dut.u_ram.mem[i];
  end

  queue_model #(.DEPTH(DEPTH), .WIDTH(WIDTH)) model (
    .clk_i, .rst_ni, .push_i(valid_i && ready), .data_i, .commit_i(commit), .rollback_i(rollback), .pop_i(valid && ready_i),
    .written_o(written), .committed_o(committed), .words_o(words)
  );

  always_ff @(posedge clk_i) had_word_q <= rst_ni && committed > COUNT_W'(valid && ready_i);

  `GIVEN(!(commit && rollback))
  `PROVE(CountIsRight, count == committed)
  `PROVE(FreeIsRight, free == COUNT_W'(DEPTH) - written)
  `PROVE(TakesWhileNotFull, ready == (written != COUNT_W'(DEPTH)))
  `PROVE(ShowsCommittedOnly, !valid || committed != '0)
  `PROVE(ShowsInTime, !had_word_q || valid)
  `PROVE(WordsInOrder, !valid || data == words[0])

  // For the induction: where the words are kept.
  `PROVE(ModelInRange, written <= COUNT_W'(DEPTH) && committed <= written)
  `PROVE(Distances, at_written - at_popped == (ADDR_W + 1)'(written) && at_committed - at_popped == (ADDR_W + 1)'(committed) &&
                    at_fetched - at_popped == (ADDR_W + 1)'(head_valid))
  for (genvar i = 0; i < DEPTH; i++) begin : g_words
    `PROVE(Kept, 32'(written) <= i || i < 32'(head_valid) || kept[ADDR_W'(32'(at_popped) + i)] == words[i])
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// The words that a FIFO holds, oldest first, as its users see them: what FIFOs are compared with. Of those written, the first
// committed_o are the reader's.
module queue_model #(
  parameter int unsigned DEPTH = 4,
  parameter int unsigned WIDTH = 2,
  localparam int unsigned COUNT_W = $clog2(DEPTH + 1)
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        push_i,
  input  logic [WIDTH-1:0]            data_i,
  input  logic                        commit_i,
  input  logic                        rollback_i,
  input  logic                        pop_i,
  output logic [COUNT_W-1:0]          written_o,
  output logic [COUNT_W-1:0]          committed_o,
  output logic [DEPTH-1:0][WIDTH-1:0] words_o
);
  logic [COUNT_W-1:0] written, committed;
  logic [DEPTH-1:0][WIDTH-1:0] words;

  always_comb begin
    written   = written_o;
    committed = committed_o;
    words     = words_o;
    if (push_i) begin
      for (int i = 0; i < int'(DEPTH); i++) if (COUNT_W'(i) == written) words[i] = data_i;
      written = written + 1'b1;
    end
    if (rollback_i) written = committed;
    if (commit_i) committed = written;
    if (pop_i) begin
      words     = words >> WIDTH;
      written   = written - 1'b1;
      committed = committed - 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    written_o   <= rst_ni ? written : '0;
    committed_o <= rst_ni ? committed : '0;
    words_o     <= words;
  end
endmodule

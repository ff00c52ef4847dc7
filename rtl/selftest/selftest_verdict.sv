// SPDX-License-Identifier: Apache-2.0
// Compares the answers of a unit with what is expected, in order; after the last one its signature with the word that follows in the file.
//
// FILE   expected answers, one a line, then the signature
// DEPTH  words of it, a power of two
//
// The test is over when all answers have come and have been given time to have their effect (SETTLE clocks), or when none has come for PATIENCE clocks.
module selftest_verdict
  import selftest_pkg::*;
#(
  parameter              FILE     = "",
  parameter int unsigned DEPTH    = 256,
  parameter int unsigned SETTLE   = 64,
  parameter int unsigned PATIENCE = 16384
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        running_i,    // vectors are on their way: patience counts
  input  logic        answer_i,     // there is an answer
  input  logic [31:0] word_i,       // it
  input  logic [15:0] sent_i,       // vectors sent
  input  logic        sent_all_i,
  input  logic [31:0] signature_i,
  output result_t     result_o
);
  localparam int unsigned ADDR_W = $clog2(DEPTH);
  localparam int unsigned WAIT_W = $clog2(PATIENCE + 1);

  logic [15:0]       index_q;  // of the answer that comes next
  logic [WAIT_W-1:0] quiet_q;  // clocks since something happened
  logic              primed_q; // the first word has been read
  logic [31:0]       expected;
  result_t           result_q;

  selftest_rom #(.FILE(FILE), .DEPTH(DEPTH), .WIDTH(32)) i_expected (
    .clk_i, .re_i(answer_i || !primed_q), .addr_i(primed_q ? ADDR_W'(index_q + 16'd1) : '0), .data_o(expected)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      index_q  <= '0;
      quiet_q  <= '0;
      primed_q <= 1'b0;
      result_q <= '0;
    end else begin
      primed_q <= 1'b1;
      quiet_q  <= !running_i || answer_i ? '0 : quiet_q + 1'b1;
      if (!result_q.done) begin
        if (answer_i) begin
          index_q <= index_q + 1'b1;
          if (word_i != expected && !result_q.failed) begin
            result_q.failed <= 1'b1;
            result_q.index  <= index_q;
          end
        end
        if (sent_all_i && index_q == sent_i && 32'(quiet_q) >= SETTLE) begin
          result_q.done      <= 1'b1;
          result_q.signature <= signature_i;
          if (signature_i != expected && !result_q.failed) begin
            result_q.failed <= 1'b1;
            result_q.index  <= SIGNATURE_WRONG;
          end
        end else if (32'(quiet_q) == PATIENCE) begin
          result_q.done      <= 1'b1;
          result_q.failed    <= 1'b1;
          result_q.signature <= signature_i;
          if (!result_q.failed) result_q.index <= NO_ANSWER;
        end
      end
    end
  end

  assign result_o = result_q;
endmodule

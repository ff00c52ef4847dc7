// SPDX-License-Identifier: Apache-2.0
// Register stage of a valid/ready stream that cuts every combinational path, ready included.
//
// T  type of a word
//
// Latency: one clock; a word a clock. All outputs, ready_o too, come straight out of flops.
// Limitations: holds up to two words. data_o is undefined while valid_o is 0.
`include "weft_assert.svh"

module skid_buffer #(
  parameter type T = logic
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic valid_i,
  output logic ready_o,
  input  T     data_i,
  output logic valid_o,
  input  logic ready_i,
  output T     data_o
);

  logic ready_q;         // 0: the skid register holds a word
  logic valid_q;
  T     data_q, skid_q;
  logic output_free;

  assign ready_o     = ready_q;
  assign valid_o     = valid_q;
  assign data_o      = data_q;
  assign output_free = !valid_q || ready_i;

  always_ff @(posedge clk_i) begin
    if (ready_q) skid_q <= data_i;
    if (output_free) data_q <= ready_q ? data_i : skid_q;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ready_q <= 1'b1;
      valid_q <= 1'b0;
    end else if (output_free) begin
      ready_q <= 1'b1;
      valid_q <= valid_i || !ready_q;
    end else if (valid_i) begin
      ready_q <= 1'b0;
    end
  end

  `ASSERT(SkidBufferOrder, ready_q || valid_q)
`ifdef VERILATOR
  `ASSERT(SkidBufferStable, valid_o && !ready_i |=> valid_o && $stable(data_o))
`endif

endmodule

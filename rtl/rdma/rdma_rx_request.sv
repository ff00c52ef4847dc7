// SPDX-License-Identifier: Apache-2.0
// Check of a request (RQT) before a context is granted (docs/rdma.md, Receiver): three stages of a pipeline that never waits.
module rdma_rx_request
  import rdma_formats_pkg::*;
#(
  parameter int unsigned PAYLOAD = 256,
  parameter int unsigned PIDX_W  = 24,
  parameter int unsigned ADDR_W  = 48
) (
  input  logic        clk_i,
  input  logic [63:0] region_base_i,   // base and limit are looked at together, in the third clock
  input  logic [63:0] region_limit_i,
  input  logic [63:0] arg_i,           // destination address
  input  logic [31:0] bytes_i,
  output outcome_e    verdict_o        // three clocks later: NONE or why it is refused
);
  localparam int unsigned SHIFT = $clog2(PAYLOAD);

  localparam int unsigned LOW_W = 24;  // the sum of address and length takes two clocks, these bits first

  typedef struct packed {
    logic empty;
    logic misaligned;
  } faults_t;

  // After one clock
  faults_t           faults_q;
  logic [31:0]       last_q;      // last byte
  logic [LOW_W:0]    low_q;       // of the sum, with carry
  logic [31:LOW_W]   bytes_high_q;
  // After two
  faults_t           faults_qq;
  logic              too_long_qq;
  logic [63:0]       arg_q, arg_qq;
  logic [64:0]       end_qq;      // one bit wider than addresses

  always_ff @(posedge clk_i) begin
    faults_q     <= '{empty: bytes_i == '0, misaligned: arg_i[SHIFT-1:0] != '0};
    last_q       <= bytes_i - 32'd1;
    low_q        <= {1'b0, arg_i[LOW_W-1:0]} + {1'b0, bytes_i[LOW_W-1:0]};
    arg_q        <= arg_i;
    bytes_high_q <= bytes_i[31:LOW_W];

    faults_qq    <= faults_q;
    arg_qq       <= arg_q;
    too_long_qq  <= (last_q >> SHIFT) >= 32'((64'd1 << PIDX_W) - 1);
    end_qq       <= {{1'b0, arg_q[63:LOW_W]} + (65 - LOW_W)'(bytes_high_q) + (65 - LOW_W)'(low_q[LOW_W]), low_q[LOW_W-1:0]};

    if (faults_qq.empty || too_long_qq) verdict_o <= OUTCOME_REFUSE_LENGTH;
    else if (faults_qq.misaligned) verdict_o <= OUTCOME_REFUSE_ALIGN;
    else if (arg_qq < region_base_i || end_qq > {1'b0, region_limit_i} || end_qq > (65'd1 << ADDR_W)) verdict_o <= OUTCOME_REFUSE_REGION;
    else verdict_o <= OUTCOME_NONE;
  end
endmodule

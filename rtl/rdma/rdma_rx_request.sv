// SPDX-License-Identifier: Apache-2.0
// Check of a request (RQT) before a context is granted (docs/rdma.md, Receiver): three stages of a pipeline that never waits.
//
// Numbers of payloads are compared as they lie in memory, not as they lie in the region: so the second clock adds both ends up side by side, and the third
// has one comparison left.
module rdma_rx_request
  import rdma_formats_pkg::*;
#(
  parameter int unsigned PAYLOAD  = 256,
  parameter int unsigned PIDX_W   = 24,
  parameter int unsigned ADDR_W   = 48,
  parameter int unsigned OFFSET_W = 32,                       // bits of the number of a packet in its region
  localparam int unsigned SHIFT   = $clog2(PAYLOAD),
  localparam int unsigned BASE_W  = ADDR_W - SHIFT,
  localparam int unsigned END_W   = ((BASE_W > 32) ? BASE_W : 32) + 1
) (
  input  logic                clk_i,
  input  logic [        63:0] arg_i,     // destination address
  input  logic [        31:0] bytes_i,
  // one clock later: the region that the request names
  input  logic                open_i,    // to who names this key
  input  logic [  BASE_W-1:0] base_i,    // payloads
  input  logic [OFFSET_W-1:0] last_i,    // its last payload, counted from the base
  // three clocks later
  output outcome_e            verdict_o, // NONE or why it is refused
  output logic [OFFSET_W-1:0] offset_o   // of its first payload from the base
);
  typedef struct packed {
    logic empty;
    logic misaligned;
    logic beyond_bus;
  } faults_t;

  // After one clock
  faults_t           faults_q;
  logic [31:0]       last_q;      // last byte
  logic [BASE_W-1:0] first_q;     // first payload
  // After two
  faults_t           faults_qq;
  logic              too_long_qq, closed_qq;
  logic [BASE_W:0]   offset_qq;   // negative if the request begins before the region
  logic [END_W-1:0]  end_qq;      // last payload of the request
  logic [END_W-1:0]  limit_qq;    // and of the region
  // In the third
  logic              too_low, outside;

  assign too_low = offset_qq[BASE_W];
  assign outside = end_qq > limit_qq;

  always_ff @(posedge clk_i) begin
    faults_q <= '{empty: bytes_i == '0, misaligned: arg_i[SHIFT-1:0] != '0, beyond_bus: (arg_i >> ADDR_W) != '0};
    last_q   <= bytes_i - 32'd1;
    first_q  <= arg_i[ADDR_W-1:SHIFT];

    faults_qq   <= faults_q;
    too_long_qq <= (last_q >> SHIFT) >= 32'((64'd1 << PIDX_W) - 1);
    closed_qq   <= !open_i;
    offset_qq   <= {1'b0, first_q} - {1'b0, base_i};
    end_qq      <= END_W'(first_q) + END_W'(last_q[31:SHIFT]);
    limit_qq    <= END_W'(base_i) + END_W'(last_i);

    if (faults_qq.empty || too_long_qq) verdict_o <= OUTCOME_REFUSE_LENGTH;
    else if (faults_qq.misaligned) verdict_o <= OUTCOME_REFUSE_ALIGN;
    else if (closed_qq) verdict_o <= OUTCOME_REFUSE_KEY;
    else if (faults_qq.beyond_bus || too_low || outside) verdict_o <= OUTCOME_REFUSE_REGION;
    else verdict_o <= OUTCOME_NONE;
    offset_o <= offset_qq[OFFSET_W-1:0];
  end

  logic unused;
  assign unused = ^last_q[SHIFT-1:0];
endmodule

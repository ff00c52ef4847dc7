// SPDX-License-Identifier: Apache-2.0
// rdma_timer offers only timers that have expired, tells rightly whether they still are, and offers each that stays expired within
// PATIENCE clocks, whatever the others do.
`include "proof.svh"

module rdma_timer_proof
  import rdma_pkg::*;
#(
  parameter int unsigned N        = 2,
  parameter int unsigned DECIDE   = 3,   // clocks from an event's start to its decision
  parameter int unsigned PATIENCE = 24,
  localparam int unsigned IDX_W = $clog2(N)
) (
  input logic               clk_i, rst_ni, set_i, set_armed_i,
  input logic [STAMP_W-1:0] now_i,
  input logic [LIMIT_W-1:0] limit_i,
  input logic [IDX_W-1:0]   set_idx_i
);
  logic               ready, offered, offered_q, expired_now, set;
  logic [IDX_W-1:0]   idx, idx_q;
  logic [DECIDE-1:0]  under_way_q;  // events
  logic [N-1:0]       armed_q;
  logic [STAMP_W-1:0] stamps_q [N];
  logic [N-1:0]       expired, expired_q, set_q, mine;
  logic [LIMIT_W-1:0] limit_q;
  logic [STAMP_W-1:0] now_q;

  `PROOF_RESET
  // Ticks are counted, and the limit stays.
  always_comb if (started_q) assume (limit_i == limit_q && (now_i == now_q || now_i == now_q + 1'b1));

  assign set = set_i && ready;  // a timer is set by an event, and there is none before

  rdma_timer #(.N(N)) dut (
    .clk_i, .rst_ni, .ready_o(ready), .now_i, .limits_i(limit_i), .set_i(set), .set_idx_i, .set_armed_i,
    .set_class_i(1'b0), .expired_valid_o(offered), .expired_idx_o(idx), .expired_ready_i(1'b1), .decided_i(under_way_q[DECIDE-1]),
    .expired_now_o(expired_now)
  );

  always_ff @(posedge clk_i) begin
    under_way_q <= rst_ni ? {under_way_q[DECIDE-2:0], offered} : '0;
    offered_q   <= rst_ni && offered;
    limit_q     <= limit_i;
    now_q       <= now_i;
    idx_q       <= idx;
  end

  for (genvar i = 0; i < N; i++) begin : g_timers
    logic [STAMP_W-1:0] age;
    logic [$clog2(PATIENCE+2)-1:0] waited_q;
    assign age        = now_i - stamps_q[i];
    assign expired[i] = armed_q[i] && age != '0 && age >= STAMP_W'(limit_i);
    assign mine[i]    = set && set_idx_i == IDX_W'(i);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) armed_q[i] <= 1'b0;
      else if (mine[i]) armed_q[i] <= set_armed_i;
      if (mine[i]) stamps_q[i] <= now_i;
      expired_q[i] <= rst_ni && expired[i];
      set_q[i]     <= mine[i];
      if (!rst_ni || !expired[i] || mine[i] || (offered && idx == IDX_W'(i))) waited_q <= '0;
      else waited_q <= waited_q + 1'b1;
    end
    `PROVE(OfferedInTime, 32'(waited_q) <= PATIENCE)
  end

  logic               past_expired_q, past_set_q;  // of the timer that is offered, a clock ago
  logic [N-1:0]       expired_before_q, set_before_q;
  always_ff @(posedge clk_i) {expired_before_q, set_before_q} <= {expired_q, set_q};
  assign past_expired_q = expired_q[idx];
  assign past_set_q     = set_q[idx];

  // An offer begins with a timer that had expired a clock before the last look at it; it may have been set since.
  `PROVE(OnlyExpired, !offered || offered_q || (expired_before_q[idx] && !set_before_q[idx]))
  `PROVE(TellsWhetherExpired, !(offered || under_way_q != '0) || expired_now == (past_expired_q && !past_set_q))
  `PROVE(StaysWithTheEvent, under_way_q == '0 || idx == idx_q)
endmodule

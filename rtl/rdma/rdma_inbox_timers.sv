// SPDX-License-Identifier: Apache-2.0
// Timers of READs: when to ask again, and how often yet (docs/rdma_transfers.md, Inbox).
//
// Timing: read, data and decide of step_i follow each other; timing_o is there in decide, with now_o, the time in data. In decide the timer may be set to it.
module rdma_inbox_timers
  import rdma_pkg::*;
  import rdma_inbox_pkg::*;
#(
  parameter int unsigned N_TICKETS = 64,
  localparam int unsigned IDX_W = $clog2(N_TICKETS)
) (
  input  logic               clk_i,
  // settings
  input  logic [LIMIT_W-1:0] retry_i,
  input  logic [        3:0] max_retry_i,
  input  logic [        7:0] max_busy_i,
  input  logic [        1:0] backoff_i,
  input  logic [ TICK_W-1:0] now_i,
  // a ticket
  input  step_t              step_i,
  input  logic [  IDX_W-1:0] idx_i,
  output timing_t            timing_o,
  output logic [ TICK_W-1:0] now_o,
  // is set
  input  logic               new_i,       // asks for the first time
  input  logic               back_off_i,  // is asked to wait
  input  logic               again_i      // asks again
);
  typedef struct packed {
    logic [TICK_W-1:0] start;
    logic [1:0]        doublings;
    logic [3:0]        retries;
    logic [7:0]        busy;
  } timer_t;

  timer_t             timer, timer_new;
  logic [BACKOFFS-1:0][LIMIT_W-1:0] limits;
  logic               last_try_q, too_busy_q;
  logic [LIMIT_W-1:0] limit_q;
  logic [ TICK_W-1:0] elapsed_q;
  logic [        3:0] retries_q;
  logic [        7:0] busier_q;
  logic [        1:0] backoff_q;

  assign limits   = backoff_limits(retry_i);
  assign timing_o = '{due: elapsed_q >= TICK_W'(limit_q), last_try: last_try_q, too_busy: too_busy_q};

  ram_sdp #(
    .DEPTH(N_TICKETS),
    .WIDTH($bits(timer_t))
  ) i_timers (
    .clk_i,
    .we_i   (new_i || back_off_i || again_i),
    .waddr_i(idx_i),
    .wdata_i(timer_new),
    .re_i   (step_i.read),
    .raddr_i(idx_i),
    .rdata_o(timer)
  );

  always_ff @(posedge clk_i) begin
    if (step_i.data) begin
      now_o      <= now_i;
      elapsed_q  <= now_i - timer.start;
      limit_q    <= limits[timer.doublings] == '0 ? LIMIT_W'(1) : limits[timer.doublings];
      last_try_q <= timer.retries >= max_retry_i;
      too_busy_q <= max_busy_i != '0 && timer.busy >= max_busy_i;
      retries_q  <= timer.retries + 1'b1;
      backoff_q  <= backoff_i;
      busier_q   <= timer.busy == '1 ? '1 : timer.busy + 1'b1;
    end
  end

  always_comb begin : p_new
    timer_new = '{start: now_o, doublings: '0, retries: '0, busy: '0};
    if (back_off_i) begin
      timer_new.doublings = doublings(busier_q > 8'd3 ? 4'd3 : 4'(busier_q), backoff_q);
      timer_new.busy      = busier_q;
    end else if (again_i) begin
      timer_new.doublings = doublings(retries_q, backoff_q);
      timer_new.retries   = retries_q;
      timer_new.busy      = timer.busy;
    end
  end

  logic unused;
  assign unused = step_i.decide;
endmodule

// SPDX-License-Identifier: Apache-2.0
// State of every qid: OFF, RUN, ERROR, DRAIN (docs/rdma_queues.md, States of a queue), and which of them are open for the inbox.
//
// Looks at one queue a clock whether it has drained: all that was promised was dropped or retired, no message is under way, and the inbox knows that
// it is closed and holds no ticket of it. The same look tells the inbox that a queue has closed; that one opens it is told at once, since software may
// post the first buffer as soon as the queue is enabled.
`include "weft_assert.svh"

module rdma_queue_life
  import rdma_queues_pkg::*;
  import rdma_queues_formats_pkg::*;
#(
  parameter int unsigned N_QUEUES = 8
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                enable_i,          // of a queue that is OFF
  input  logic                disable_i,         // of a queue that is live
  input  queue_t              queue_i,
  input  logic [15:0]         key_i,             // with enable_i: that SENDs must name
  input  logic                fetch_error_i,
  input  queue_t              fetch_error_queue_i,
  input  logic                retired_valid_i,
  input  retired_t            retired_event_i,
  input  logic [N_QUEUES-1:0] msi_busy_i,
  input  index_t              promised_i[N_QUEUES],
  input  index_t              dropped_i [N_QUEUES],
  input  index_t              retired_i [N_QUEUES],
  // inbox
  input  logic [N_QUEUES-1:0] held_i,            // it has tickets of the queue
  output logic                set_o,             // one clock: this queue is open with this key, or closed
  output queue_t              set_idx_o,
  output logic                set_open_o,
  output logic [15:0]         set_key_o,
  output queue_state_e        state_o   [N_QUEUES],
  output logic [1:0]          cause_o   [N_QUEUES],  // [0] a fetch failed, [1] the write of a completion failed
  output logic [N_QUEUES-1:0] off_o,
  output logic [N_QUEUES-1:0] run_o,
  output logic [N_QUEUES-1:0] live_o,
  output logic [N_QUEUES-1:0] error_o
);
  localparam int unsigned IDX_W = $clog2(N_QUEUES);
  typedef logic [IDX_W-1:0] idx_t;

  // ------------------------------------------------------------------------------------------------- what the inbox knows
  logic [N_QUEUES-1:0] known_open_q;
  logic                close;
  idx_t                look_q;

  assign close = known_open_q[look_q] && !run_o[look_q] && !enable_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      known_open_q <= '0;
      set_o        <= 1'b0;
    end else begin
      if (enable_i) known_open_q[idx_t'(queue_i)] <= 1'b1;
      if (close) known_open_q[look_q] <= 1'b0;
      set_o <= enable_i || close;
    end
    set_idx_o  <= enable_i ? queue_i : queue_t'(look_q);
    set_open_o <= enable_i;
    set_key_o  <= enable_i ? key_i : '0;
  end

  // ------------------------------------------------------------------------------------------------- has it drained?
  idx_t   compare_q;
  index_t promised_q, dropped_q, retired_q;
  logic   draining_q, drained_q;
  idx_t   drained_queue_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      look_q     <= '0;
      draining_q <= 1'b0;
      drained_q  <= 1'b0;
    end else begin
      if (!enable_i) look_q <= look_q + 1'b1;  // or a queue that closes would wait for the next round
      draining_q <= state_o[look_q] == QUEUE_STATE_DRAIN && !msi_busy_i[look_q] && !known_open_q[look_q] && !held_i[look_q];
      drained_q  <= draining_q && promised_q == dropped_q + retired_q;
    end
    compare_q       <= look_q;
    promised_q      <= promised_i[look_q];
    dropped_q       <= dropped_i[look_q];
    retired_q       <= retired_i[look_q];
    drained_queue_q <= compare_q;
  end

  // ------------------------------------------------------------------------------------------------- states
  for (genvar q = 0; q < int'(N_QUEUES); q++) begin : gen_queue
    logic         chosen, fetch_failed, write_failed, drained;
    queue_state_e state_q;
    logic [1:0]   cause_q;

    assign chosen       = idx_t'(queue_i) == idx_t'(q);
    assign fetch_failed = fetch_error_i && idx_t'(fetch_error_queue_i) == idx_t'(q);
    assign write_failed = retired_valid_i && retired_event_i.failed && idx_t'(retired_event_i.qid) == idx_t'(q);
    assign drained      = drained_q && drained_queue_q == idx_t'(q);

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        state_q <= QUEUE_STATE_OFF;
        cause_q <= '0;
      end else begin
        unique case (state_q)
          QUEUE_STATE_OFF:   if (enable_i && chosen) state_q <= QUEUE_STATE_RUN;
          QUEUE_STATE_DRAIN: if (drained) state_q <= QUEUE_STATE_OFF;
          default: begin
            if (disable_i && chosen) state_q <= QUEUE_STATE_DRAIN;
            else if (fetch_failed || write_failed) state_q <= QUEUE_STATE_ERROR;
          end
        endcase
        if (state_q == QUEUE_STATE_OFF && enable_i && chosen) cause_q <= '0;
        else cause_q <= cause_q | {write_failed, fetch_failed};
      end
    end

    assign state_o[q] = state_q;
    assign cause_o[q] = cause_q;
    assign off_o[q]   = state_q == QUEUE_STATE_OFF;
    assign run_o[q]   = state_q == QUEUE_STATE_RUN;
    assign error_o[q] = state_q == QUEUE_STATE_ERROR;
    assign live_o[q]  = run_o[q] || error_o[q];

    `ASSERT(OnlyOffIsEnabled, !(enable_i && chosen) || off_o[q])
    `ASSERT(OffIsClean, !off_o[q] || !(fetch_failed || write_failed || msi_busy_i[q]))
    `ASSERT(OffIsClosed, !off_o[q] || !known_open_q[q])
    `ASSERT(OffHoldsNoTicket, !off_o[q] || !held_i[q])
  end

  logic unused;
  assign unused = ^{retired_event_i, queue_i, fetch_error_queue_i};
endmodule

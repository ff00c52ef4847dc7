// SPDX-License-Identifier: Apache-2.0
// What is known of all tickets at once (docs/rdma_transfers.md, Inbox): states, contexts, and a fingerprint of each message, to find a ticket by them.
//
// Timing: what is set, granted, over or failed in clock t counts from clock t + 1 on. Answers to idx_i and print_i come one clock later, and so does the
// ticket that got to its end.
`include "weft_assert.svh"

module rdma_inbox_tickets
  import rdma_pkg::*;
#(
  parameter int unsigned N_TICKETS = 64,
  parameter int unsigned N_QUEUES  = 8,
  parameter int unsigned CID_W     = 10,
  parameter int unsigned PRINT_W   = 8,
  localparam int unsigned IDX_W = $clog2(N_TICKETS),
  localparam int unsigned Q_W   = (N_QUEUES > 1) ? $clog2(N_QUEUES) : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // decided by the inbox
  input  logic                 set_i,
  input  logic [    IDX_W-1:0] set_idx_i,
  input  ticket_state_e        set_state_i,   // FREE, WAITING or TAKEN
  input  logic                 new_i,         // it was free
  input  logic                 new_read_i,
  input  logic [      Q_W-1:0] new_queue_i,
  input  logic [  PRINT_W-1:0] set_print_i,   // of TAKEN
  // decided by the receiver
  input  logic                 grant_i,
  input  logic [    IDX_W-1:0] grant_idx_i,
  input  logic                 finish_i,
  input  logic                 freed_i,       // the context was, before all had come
  input  logic [    CID_W-1:0] cid_i,         // of all three
  output logic                 left_o,        // a ticket is ENDING or RETURNING now
  output logic [    IDX_W-1:0] left_idx_o,
  // memory answered a write with an error
  input  logic                 error_i,
  input  logic [    CID_W-1:0] error_cid_i,
  // a ticket
  input  logic [    IDX_W-1:0] idx_i,
  output ticket_state_e        state_o,
  output logic                 is_read_o,
  output logic [      Q_W-1:0] queue_o,
  output logic [    CID_W-1:0] cid_o,
  output logic                 failed_o,
  // those whose message may be this
  input  logic [  PRINT_W-1:0] print_i,
  output logic [N_TICKETS-1:0] asked_o,
  // those that have to be looked at from time to time
  input  logic [ N_QUEUES-1:0] open_i,
  output logic [N_TICKETS-1:0] watched_o,
  output logic                 busy_o         // there are tickets but RECVs that wait in an open queue
);
  ticket_state_e        state_q [N_TICKETS];
  logic [N_TICKETS-1:0] is_read_q, failed_q, hit, hit_q, watched, used;
  logic [Q_W-1:0]       queue_q [N_TICKETS];
  logic [CID_W-1:0]     cid_q   [N_TICKETS];
  logic [PRINT_W-1:0]   print_q [N_TICKETS];

  for (genvar i = 0; i < int'(N_TICKETS); i++) begin : g_ticket
    logic free, waiting, taken, bound, has_context;
    assign free        = state_q[i] == TICKET_FREE;
    assign waiting     = state_q[i] == TICKET_WAITING;
    assign taken       = state_q[i] == TICKET_TAKEN;
    assign bound       = state_q[i] == TICKET_BOUND;
    assign has_context = bound || state_q[i] == TICKET_ENDING || state_q[i] == TICKET_RETURNING;
    assign hit[i]      = bound && (finish_i || freed_i) && cid_q[i] == cid_i;
    assign watched[i]  = waiting && (is_read_q[i] || !open_i[queue_q[i]]);
    assign used[i]     = !free && !waiting;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) state_q[i] <= TICKET_FREE;
      else if (hit[i]) state_q[i] <= finish_i ? TICKET_ENDING : TICKET_RETURNING;
      else if (grant_i && grant_idx_i == IDX_W'(i)) state_q[i] <= TICKET_BOUND;
      else if (set_i && set_idx_i == IDX_W'(i)) state_q[i] <= set_state_i;

      if (grant_i && grant_idx_i == IDX_W'(i)) begin
        cid_q[i]    <= cid_i;
        failed_q[i] <= 1'b0;
      end else if (error_i && has_context && cid_q[i] == error_cid_i) failed_q[i] <= 1'b1;

      if (set_i && set_idx_i == IDX_W'(i)) begin
        print_q[i] <= set_print_i;
        if (new_i) begin
          is_read_q[i] <= new_read_i;
          queue_q[i]   <= new_queue_i;
        end
      end

      asked_o[i] <= (bound || taken) && print_q[i] == print_i;
    end

    `ASSERT(BoundAfterTaken, !(grant_i && grant_idx_i == IDX_W'(i)) || taken)
    `ASSERT(SetNotBound, !(set_i && set_idx_i == IDX_W'(i)) || !bound)
    `ASSERT(NewWasFree, !(set_i && new_i && set_idx_i == IDX_W'(i)) || free)
    `ASSERT(OldWasNotFree, !(set_i && !new_i && set_idx_i == IDX_W'(i)) || !free)
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) hit_q <= '0;
    else hit_q <= hit;
    watched_o <= watched;
    busy_o    <= (used | watched) != '0;
    state_o   <= state_q[idx_i];
    is_read_o <= is_read_q[idx_i];
    queue_o   <= queue_q[idx_i];
    cid_o     <= cid_q[idx_i];
    failed_o  <= failed_q[idx_i];
  end

  always_comb begin : p_left
    left_idx_o = '0;
    for (int unsigned i = 0; i < N_TICKETS; i++) if (hit_q[i]) left_idx_o |= IDX_W'(i);
  end
  assign left_o = hit_q != '0;

  `ASSERT(OneTicketAContext, (hit & (hit - 1'b1)) == '0)
endmodule

// SPDX-License-Identifier: Apache-2.0
// Requests that the inbox has handed on to the receiver, and what it has decided of them (docs/rdma_transfers.md, Inbox).
//
// Timing: decisions come in the order of the requests. A grant counts at once; all else of a ticket is a decision for the inbox to take one clock later.
`include "weft_assert.svh"

module rdma_inbox_handed
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
  import rdma_inbox_pkg::*;
#(
  parameter int unsigned IDX_W     = 6,
  parameter int unsigned UNDECIDED = 4    // requests that are not decided, and decisions not taken
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  output logic             full_o,
  output logic             none_o,
  // a request
  input  logic             hand_on_i,
  input  logic             take_i,        // it has this ticket
  input  logic [IDX_W-1:0] idx_i,
  // what the receiver says
  input  logic             decides_i,
  input  outcome_e         outcome_i,
  output logic             granted_o,     // the request of this ticket
  output logic [IDX_W-1:0] granted_idx_o,
  // not granted
  output logic             undone_valid_o,
  input  logic             undone_ready_i,
  output logic [IDX_W-1:0] undone_idx_o,
  output undone_t          undone_o
);
  localparam int unsigned COUNT_W = $clog2(UNDECIDED + 1);

  if (UNDECIDED < 1) begin : g_bad_undecided
    $error("UNDECIDED must be at least 1, is %0d", UNDECIDED);
  end

  typedef struct packed {
    logic             taken;  // it has a ticket
    logic [IDX_W-1:0] idx;
  } handed_t;

  typedef struct packed {
    logic [IDX_W-1:0] idx;
    undone_t          how;
  } decision_t;

  handed_t            handed;
  decision_t          decision, undone;
  logic               handed_valid, handed_ready, undone_ready, decided, granted;
  logic [COUNT_W-1:0] handed_count, undone_count;

  assign full_o   = (COUNT_W + 1)'(handed_count) + (COUNT_W + 1)'(undone_count) >= (COUNT_W + 1)'(UNDECIDED);
  assign none_o   = !handed_valid && !undone_valid_o;
  assign decided  = decides_i && handed_valid;
  assign granted  = handed.taken && outcome_i == OUTCOME_GRANT;
  assign decision = '{idx: handed.idx, how: '{no_buffer: outcome_i == OUTCOME_REFUSE_BUFFER,
                                              busy: outcome_i == OUTCOME_REFUSE_QUOTA || outcome_i == OUTCOME_REFUSE_NO_CONTEXT}};

  assign granted_o     = decided && granted;
  assign granted_idx_o = handed.idx;
  assign undone_idx_o  = undone.idx;
  assign undone_o      = undone.how;

  sync_fifo #(
    .DEPTH(UNDECIDED),
    .T    (handed_t)
  ) i_handed (
    .clk_i,
    .rst_ni,
    .valid_i(hand_on_i),
    .ready_o(handed_ready),
    .data_i ({take_i, idx_i}),
    .valid_o(handed_valid),
    .ready_i(decides_i),
    .data_o (handed),
    .count_o(handed_count)
  );

  sync_fifo #(
    .DEPTH(UNDECIDED),
    .T    (decision_t)
  ) i_undone (
    .clk_i,
    .rst_ni,
    .valid_i(decided && handed.taken && !granted),
    .ready_o(undone_ready),
    .data_i (decision),
    .valid_o(undone_valid_o),
    .ready_i(undone_ready_i),
    .data_o (undone),
    .count_o(undone_count)
  );

  `ASSERT(DecisionOfARequest, !decides_i || handed_valid)
  `ASSERT(RequestHasAPlace, !hand_on_i || (handed_ready && !full_o))
  `ASSERT(DecisionHasAPlace, !(decided && handed.taken && !granted) || undone_ready)
endmodule

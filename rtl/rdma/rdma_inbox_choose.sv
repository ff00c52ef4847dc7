// SPDX-License-Identifier: Apache-2.0
// Order of the inbox's events (docs/rdma_transfers.md, RTL): one waits in front while the one before is looked at.
//
// Timing: an event is chosen when nothing is in front. There it stays as long as its lookups need, at least a clock, with go_o in the last one; read,
// data and decide follow. The last clock in front may be that in which the event before is decided; that of a RQT only if no list can change in it.
`include "weft_assert.svh"

module rdma_inbox_choose
  import rdma_inbox_pkg::*;
(
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               ready_i,
  // what there is to do
  input  logic [N_TURNS-1:0] asks_i,          // by job_e
  input  logic               undone_i,        // goes before them
  input  logic               names_region_i,  // the RQT does, and has to wait for what is said of it
  // in front
  output logic               take_rqt_o,      // a RQT gets there
  output logic               front_o,
  output job_e               front_job_o,
  output logic               go_o,
  // behind
  output step_t              step_o,
  output job_e               job_o,
  input  logic               ends_i,          // of LEAVE in decide: the ticket does, and does not wait again
  // as a whole
  output logic               rqt_inside_o,
  output logic               idle_o
);
  logic               pick, turn_valid, lists_stay;
  logic [N_TURNS-1:0] gnt;
  logic [        1:0] left_q;  // clocks until the event in front may go
  logic [        2:0] turn;

  assign pick         = !front_o && ready_i;
  assign take_rqt_o   = pick && !undone_i && gnt[DO_RQT];
  assign idle_o       = !front_o && step_o == '0;
  assign rqt_inside_o = (front_o && front_job_o == DO_RQT) || (step_o != '0 && job_o == DO_RQT);
  assign lists_stay   = job_o == DO_RSP || job_o == DO_SWEEP || (job_o == DO_LEAVE && ends_i);
  assign go_o         = front_o && left_q == '0 && !step_o.read && !step_o.data && (!step_o.decide || front_job_o != DO_RQT || lists_stay);

  rr_arbiter #(
    .N(N_TURNS)
  ) i_turns (
    .clk_i,
    .rst_ni,
    .req_i  (asks_i),
    .take_i (pick && !undone_i),
    .valid_o(turn_valid),
    .gnt_o  (gnt),
    .idx_o  (turn)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      front_o <= 1'b0;
      step_o  <= '0;
    end else begin
      if (pick) front_o <= undone_i || turn_valid;
      else if (go_o) front_o <= 1'b0;
      step_o <= '{read: go_o, data: step_o.read, decide: step_o.data};
    end

    if (go_o) job_o <= front_job_o;
    if (left_q != '0) left_q <= left_q - 1'b1;
    if (pick) begin
      front_job_o <= undone_i ? DO_DECIDED : job_e'(turn);
      left_q      <= '0;
      if (!undone_i) begin
        // Until the queue of its region is known; until tickets have been compared with its fingerprint.
        if (gnt[DO_RQT]) left_q <= names_region_i ? 2'd3 : 2'd1;
        // Until its region is looked up.
        if (gnt[DO_POST]) left_q <= 2'd1;
      end
    end
  end

  logic unused;
  assign unused = ^gnt;

  `ASSERT(OneStep, (step_o & (step_o - 1'b1)) == '0)
  `ASSERT(OneRqt, !(take_rqt_o && rqt_inside_o))
endmodule

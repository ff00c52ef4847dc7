// SPDX-License-Identifier: Apache-2.0
// Receive window: one packet received by a window as it is kept, and whether the window after it, as it is worked on, is
// the one that would be opened from what is kept of it,
// also where another packet lies in it.
`include "rdma_typedef.svh"

module rdma_window_bench #(
  parameter int unsigned WINDOW = 128,  // at most 128
  parameter int unsigned PIDX_W = 24
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [ 23:0] base_i,
  input  logic [  7:0] first_i,   // modulo 2 * WINDOW
  input  logic [127:0] marks_i,   // the lowest WINDOW bits
  input  logic [ 23:0] pidx_i,
  input  logic         receive_i,
  input  logic [ 23:0] next_pidx_i,
  output logic [ 23:0] base_o,
  output logic [  7:0] first_o,
  output logic [127:0] marks_o,
  output logic         at_base_o,
  output logic         in_window_o,
  output logic         new_o,
  output logic         same_o
);
  localparam int unsigned POS_W = $clog2(WINDOW);

  `RDMA_TYPEDEF_WINDOW(kept_t, WINDOW, PIDX_W)
  `RDMA_TYPEDEF_OPEN_WINDOW(open_t, WINDOW, PIDX_W)
  `RDMA_TYPEDEF_PLACE(place_t)

  kept_t kept, kept_after;
  open_t opened, after, reopened;
  place_t place, next_place, next_judged, not_first;

  assign kept = '{base: PIDX_W'(base_i), first: (POS_W + 1)'(first_i), marks: WINDOW'(marks_i)};

  rdma_window_open #(.WINDOW(WINDOW), .PIDX_W(PIDX_W), .kept_t(kept_t), .open_t(open_t)) i_open (
    .kept_i(kept), .open_o(opened)
  );

  rdma_window_judge #(.WINDOW(WINDOW), .PIDX_W(PIDX_W), .place_t(place_t)) i_judge (
    .base_i(opened.base), .next_top_i(opened.next_top), .lap_marks_i(opened.lap_marks), .first_odd_i(opened.first_odd), .at_first_i(kept.first[POS_W-1:0] == pidx_i[POS_W-1:0]), .pidx_i(PIDX_W'(pidx_i)), .slot_i(WINDOW'(1) << pidx_i[POS_W-1:0]), .place_o(place)
  );

  rdma_window_step #(.WINDOW(WINDOW), .PIDX_W(PIDX_W), .open_t(open_t), .place_t(place_t)) i_step (
    .window_i(opened), .place_i(place), .slot_i(WINDOW'(1) << pidx_i[POS_W-1:0]), .receive_i, .window_o(after), .move_o(), .moves_o(), .stays_o(),
    .next_pidx_i(PIDX_W'(next_pidx_i)), .next_slot_i(WINDOW'(1) << next_pidx_i[POS_W-1:0]), .same_slot_i(next_pidx_i[POS_W-1:0] == pidx_i[POS_W-1:0]), .next_place_o(next_place)
  );

  rdma_window_keep #(.WINDOW(WINDOW), .kept_t(kept_t), .open_t(open_t)) i_keep (
    .open_i(after), .kept_o(kept_after)
  );
  rdma_window_open #(.WINDOW(WINDOW), .PIDX_W(PIDX_W), .kept_t(kept_t), .open_t(open_t)) i_reopen (
    .kept_i(kept_after), .open_o(reopened)
  );

  rdma_window_judge #(.WINDOW(WINDOW), .PIDX_W(PIDX_W), .place_t(place_t)) i_rejudge (
    .base_i(reopened.base), .next_top_i(reopened.next_top), .lap_marks_i(reopened.lap_marks), .first_odd_i(reopened.first_odd), .at_first_i(kept_after.first[POS_W-1:0] == next_pidx_i[POS_W-1:0]), .pidx_i(PIDX_W'(next_pidx_i)), .slot_i(WINDOW'(1) << next_pidx_i[POS_W-1:0]), .place_o(next_judged)
  );

  // Whether it is the first hole is only said of a new packet.
  always_comb begin : p_not_first
    not_first          = next_place;
    not_first.is_first = next_judged.is_first;
  end

  assign base_o  = 24'(after.base);
  assign first_o = 8'(kept_after.first);
  assign marks_o = 128'(kept_after.marks);
  assign same_o  = reopened == after && (next_judged == next_place || (!next_place.is_new && next_judged == not_first));

  assign at_base_o   = place.at_base;
  assign in_window_o = place.in_window;
  assign new_o       = place.is_new;

  logic unused;
  assign unused = ^{clk_i, rst_ni};
endmodule

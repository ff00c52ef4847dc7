// SPDX-License-Identifier: Apache-2.0
// Induction over the receive window: if the window as kept in memory stands for a WBASE and a WVEC, then after any packet it stands
// for what the paper makes of them (section 2.3, with its formula mended), and what the next packet works on, and where it lies in that,
// is the same whether it comes from memory or is taken over from the step before. Combinational: ok_o must be 1 for all inputs.
`include "rdma_typedef.svh"

module window_proof #(
  parameter int unsigned WINDOW = 8,
  parameter int unsigned PIDX_W = 6
) (
  input  logic [PIDX_W-1:0]       base_i,
  input  logic [$clog2(WINDOW):0] first_i,
  input  logic [WINDOW-1:0]       marks_i,
  input  logic [PIDX_W-1:0]       pidx_i,
  input  logic                    receive_i,
  input  logic [PIDX_W-1:0]       next_pidx_i,
  output logic                    ok_o
);
  localparam int unsigned POS_W = $clog2(WINDOW);
  localparam int unsigned BROAD = PIDX_W + 1;  // sums do not wrap

  `RDMA_TYPEDEF_WINDOW(kept_t, WINDOW, PIDX_W)
  `RDMA_TYPEDEF_OPEN_WINDOW(open_t, WINDOW, PIDX_W)
  `RDMA_TYPEDEF_PLACE(place_t)

  kept_t kept, kept_after;
  open_t opened, after, reopened;
  place_t place, next_place, next_judged;

  assign kept       = '{base: base_i, first: first_i, marks: marks_i};

  rdma_window_open #(.WINDOW(WINDOW), .PIDX_W(PIDX_W), .kept_t(kept_t), .open_t(open_t)) i_open (
    .kept_i(kept), .open_o(opened)
  );
  rdma_window_judge #(.WINDOW(WINDOW), .PIDX_W(PIDX_W), .place_t(place_t)) i_judge (
    .base_i(opened.base), .next_top_i(opened.next_top), .lap_marks_i(opened.lap_marks), .first_odd_i(opened.first_odd), .at_first_i(kept.first[POS_W-1:0] == pidx_i[POS_W-1:0]), .pidx_i(pidx_i), .slot_i(WINDOW'(1) << pidx_i[POS_W-1:0]), .place_o(place)
  );
  rdma_window_step #(.WINDOW(WINDOW), .PIDX_W(PIDX_W), .open_t(open_t), .place_t(place_t)) i_step (
    .window_i(opened), .place_i(place), .slot_i(WINDOW'(1) << pidx_i[POS_W-1:0]), .receive_i, .window_o(after), .move_o(), .moves_o(), .stays_o(),
    .next_pidx_i, .next_slot_i(WINDOW'(1) << next_pidx_i[POS_W-1:0]), .same_slot_i(next_pidx_i[POS_W-1:0] == pidx_i[POS_W-1:0]), .next_place_o(next_place)
  );
  rdma_window_keep #(.WINDOW(WINDOW), .kept_t(kept_t), .open_t(open_t)) i_keep (
    .open_i(after), .kept_o(kept_after)
  );
  rdma_window_open #(.WINDOW(WINDOW), .PIDX_W(PIDX_W), .kept_t(kept_t), .open_t(open_t)) i_reopen (
    .kept_i(kept_after), .open_o(reopened)
  );
  rdma_window_judge #(.WINDOW(WINDOW), .PIDX_W(PIDX_W), .place_t(place_t)) i_rejudge (
    .base_i(reopened.base), .next_top_i(reopened.next_top), .lap_marks_i(reopened.lap_marks), .first_odd_i(reopened.first_odd), .at_first_i(kept_after.first[POS_W-1:0] == next_pidx_i[POS_W-1:0]), .pidx_i(next_pidx_i), .slot_i(WINDOW'(1) << next_pidx_i[POS_W-1:0]), .place_o(next_judged)
  );

  // What a kept window stands for: wvec[i] is packet base + 1 + i.
  function automatic logic [WINDOW-1:0] wvec_of(kept_t window);
    logic [WINDOW-1:0] result;
    logic [PIDX_W-1:0] pidx;
    for (int i = 0; i < int'(WINDOW); i++) begin
      pidx = window.base + PIDX_W'(i + 1);
      result[i] = window.marks[pidx[POS_W-1:0]] != pidx[POS_W];
    end
    return result;
  endfunction

  function automatic logic [POS_W:0] run_of(logic [WINDOW-1:0] wvec);
    logic [POS_W:0] run;
    run = '0;
    for (int i = 0; i < int'(WINDOW); i++) if (run == (POS_W + 1)'(i) && wvec[i]) run = (POS_W + 1)'(i + 1);
    return run;
  endfunction

  // The remembered hole is the first one, and no packet beyond the last possible one (2**PIDX_W - 2) has arrived.
  function automatic logic valid(kept_t window);
    logic [WINDOW-1:0] wvec;
    logic              result;
    wvec   = wvec_of(window);
    result = window.first == (POS_W + 1)'(window.base) + run_of(wvec) + 1'b1;
    for (int i = 0; i < int'(WINDOW); i++) begin
      if (BROAD'(window.base) + BROAD'(i + 1) > BROAD'((1 << PIDX_W) - 2) && wvec[i]) result = 1'b0;
    end
    return result;
  endfunction

  // Whether it is the first hole is only said of a new packet.
  function automatic logic same_place(place_t one, place_t other);
    return one.at_base == other.at_base && one.in_window == other.in_window && one.is_new == other.is_new &&
           (!one.is_new || one.is_first == other.is_first);
  endfunction

  logic [WINDOW-1:0] wvec, wvec_expected;
  logic [BROAD-1:0]  base_expected, distance;
  logic              expect_in_window, expect_new;

  always_comb begin : p_paper
    wvec             = wvec_of(kept);
    distance         = BROAD'(pidx_i) - BROAD'(base_i);  // from 2**PIDX_W on: negative
    expect_in_window = distance >= 1 && distance <= BROAD'(WINDOW);
    expect_new       = expect_in_window && !wvec[POS_W'(distance - 1'b1)];
    base_expected    = BROAD'(base_i);
    wvec_expected    = wvec;
    if (receive_i && distance == '0) begin
      base_expected = BROAD'(base_i) + BROAD'(run_of(wvec)) + 1'b1;
      wvec_expected = wvec >> run_of(wvec) >> 1;
    end else if (receive_i && expect_new) begin
      wvec_expected[POS_W'(distance - 1'b1)] = 1'b1;
    end
  end

  logic assumed, proved;
  assign assumed = valid(kept) && pidx_i != '1;
  assign proved  = place.at_base == (pidx_i == base_i) && place.in_window == expect_in_window && place.is_new == expect_new &&
                   same_place(next_place, next_judged) &&
                   BROAD'(after.base) == base_expected && wvec_of(kept_after) == wvec_expected && valid(kept_after) && reopened == after;
  assign ok_o    = !assumed || proved;
endmodule

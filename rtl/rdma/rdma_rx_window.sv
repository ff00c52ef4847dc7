// SPDX-License-Identifier: Apache-2.0
// What the receiver (rdma_receiver.sv) keeps of the packets of a transfer: a window, one step of it a clock (docs/rdma_receiver.md, The window). And how often a
// timeout has asked for one packet.
//
// Stages are those of the receiver: a packet is named in G, finds what is kept of its context in H, takes its step in I, and what is kept then leaves in J. The
// event in H takes over what the one in I or J of the same context leaves behind.
`include "weft_assert.svh"
`include "rdma_typedef.svh"

module rdma_rx_window
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned WINDOW = 128,    // a power of two
  parameter int unsigned PIDX_W = 24,
  parameter type         kept_t = logic   // RDMA_TYPEDEF_RX_KEPT
) (
  input  logic              clk_i,
  input  logic              rst_ni,         // for assertions
  input  logic              weft_mode_i,
  input  logic [       1:0] ask_from_after_i,
  input  logic [       7:0] ahead_i,
  input  logic [PIDX_W-1:0] g_pidx_i,
  // H
  input  logic              h_request_i,    // a grant: begins anew
  input  logic              h_same_i,       // of the context in I
  input  logic              h_same_as_j_i,  // ... in J
  input  logic [PIDX_W-1:0] h_pidx_i,
  input  kept_t             h_kept_i,       // of its context, as memory has it
  // I
  input  logic              i_valid_i,      // the context is in use; for assertions
  input  logic              i_receive_i,    // DATA that fits
  input  logic              i_retry_i,      // ... that was sent before
  input  logic [PIDX_W-1:0] i_pidx_i,
  input  logic [PIDX_W-1:0] i_packets_i,    // first PIDX beyond the end
  input  logic              i_asks_i,       // a timeout that may ask for what is missing
  input  logic              i_came_i,       // a packet has come before; for assertions
  output logic              i_mark_o,       // new, not at WBASE
  output logic              i_advance_o,    // at WBASE
  output logic              i_in_window_o,
  output logic              i_behind_o,     // before WBASE
  output logic              i_ahead_o,      // RX_AHEAD or more behind WBASE
  output logic              i_ask_base_o,   // new, and asks for the packet at WBASE
  output logic              i_complete_o,   // nothing is missing before the step
  output logic              i_asked_enough_o,
  output logic              i_asked_o,      // a timeout before, and since then nothing new at WBASE that was sent once
  // J
  input  logic [PIDX_W-1:0] j_packets_i,
  output kept_t             j_kept_o,
  output logic [PIDX_W-1:0] j_base_before_o,  // WBASE
  output logic [PIDX_W-1:0] j_base_o,         // ... after the step
  output logic [PIDX_W-1:0] j_hole_o,         // the packet that this one is RX_AHEAD ahead of
  output logic              j_ordered_o,      // RX_AHEAD is known, and at most WINDOW + 1: what comes is in the window if nothing is lost
  output logic              j_complete_o,     // nothing is missing after the step
  output logic              j_quarter_o       // WBASE has passed a quarter of the window
);
  localparam int unsigned POS_W = $clog2(WINDOW);
  localparam int unsigned QUARTER_W = WINDOW > 4 ? POS_W - 2 : 0;  // an ACK at every quarter of the window

  `RDMA_TYPEDEF_WINDOW(window_t, WINDOW, PIDX_W)
  `RDMA_TYPEDEF_OPEN_WINDOW(open_t, WINDOW, PIDX_W)
  `RDMA_TYPEDEF_PLACE(place_t)

  open_t             h_open, h_window, i_window_q, i_window_new, j_window_q;
  place_t            h_lies, h_lies_kept, h_lies_j, i_lies_q, i_next_lies;  // the packet, and that in H after the one in I
  logic [WINDOW-1:0] h_slot_q, i_slot_q;  // one-hot: PIDX modulo WINDOW
  logic              h_same_slot_q;       // as the event right ahead
  open_t             first_window, i_moves, i_stays;
  logic              i_move;
  logic [       1:0] i_asks_q, i_asks_new, j_asks_q;
  logic              i_ask_one;
  logic [PIDX_W:0]   i_hole_q;            // the packet that this one is RX_AHEAD ahead of; negative: none
  logic              i_ahead_q, i_ordered_q;
  logic [PIDX_W-1:0] j_base_q;            // WBASE before the event

  // ------------------------------------------------------------------------------------------------- H: open it; where does the packet lie?
  rdma_window_open #(
    .WINDOW(WINDOW),
    .PIDX_W(PIDX_W),
    .kept_t(window_t),
    .open_t(open_t)
  ) i_open (
    .kept_i(h_kept_i.window),
    .open_o(h_open)
  );

  // Where it lies in either window; which of them it is only selects.
  rdma_window_judge #(
    .WINDOW (WINDOW),
    .PIDX_W (PIDX_W),
    .place_t(place_t)
  ) i_judge_kept (
    .base_i     (h_open.base),
    .next_top_i (h_open.next_top),
    .lap_marks_i(h_open.lap_marks),
    .first_odd_i(h_open.first_odd),
    .at_first_i (h_pidx_i[POS_W-1:0] == h_kept_i.window.first[POS_W-1:0]),
    .pidx_i     (h_pidx_i),
    .slot_i     (h_slot_q),
    .place_o    (h_lies_kept)
  );
  rdma_window_judge #(
    .WINDOW (WINDOW),
    .PIDX_W (PIDX_W),
    .place_t(place_t)
  ) i_judge_j (
    .base_i     (j_window_q.base),
    .next_top_i (j_window_q.next_top),
    .lap_marks_i(j_window_q.lap_marks),
    .first_odd_i(j_window_q.first_odd),
    .at_first_i (h_pidx_i[POS_W-1:0] == j_kept_o.window.first[POS_W-1:0]),
    .pidx_i     (h_pidx_i),
    .slot_i     (h_slot_q),
    .place_o    (h_lies_j)
  );

  assign h_window = h_same_as_j_i ? j_window_q : h_open;
  assign h_lies   = h_same_as_j_i ? h_lies_j : h_lies_kept;

  always_comb begin : p_first
    first_window               = '0;
    first_window.lap_marks[0]  = 1'b1;  // stands for packet WINDOW, of an odd lap: not arrived
    first_window.next_top      = 1;
    first_window.first_after   = ~WINDOW'(3);
    first_window.group_here    = WINDOW > 2 ? '1 : '0;
    first_window.group_next[0] = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    h_slot_q      <= WINDOW'(1) << g_pidx_i[POS_W-1:0];
    h_same_slot_q <= g_pidx_i[POS_W-1:0] == h_pidx_i[POS_W-1:0];
    i_slot_q      <= h_slot_q;
    i_hole_q      <= {1'b0, h_pidx_i} - (PIDX_W + 1)'(ahead_i);
    i_ahead_q     <= ahead_i != '0;
    i_ordered_q   <= ahead_i != '0 && 32'(ahead_i) <= WINDOW + 1;
    if (h_request_i) begin
      i_asks_q <= '0;
      i_lies_q <= '0;
    end else if (h_same_i) begin
      i_asks_q <= i_asks_new;
      i_lies_q <= i_next_lies;
    end else begin
      i_asks_q <= h_same_as_j_i ? j_asks_q : h_kept_i.asks;
      i_lies_q <= h_lies;
    end
    // The late one last: the hole behind the first one.
    if (!h_request_i && h_same_i && i_move) i_window_q <= i_moves;
    else i_window_q <= h_request_i ? first_window : h_same_i ? i_stays : h_window;
  end

  // ------------------------------------------------------------------------------------------------- I: step
  rdma_window_step #(
    .WINDOW (WINDOW),
    .PIDX_W (PIDX_W),
    .open_t (open_t),
    .place_t(place_t)
  ) i_step (
    .window_i    (i_window_q),
    .place_i     (i_lies_q),
    .slot_i      (i_slot_q),
    .receive_i   (i_receive_i),
    .window_o    (i_window_new),
    .move_o      (i_move),
    .moves_o     (i_moves),
    .stays_o     (i_stays),
    .next_pidx_i (h_pidx_i),
    .next_slot_i (h_slot_q),
    .same_slot_i (h_same_slot_q),
    .next_place_o(i_next_lies)
  );

  assign i_advance_o      = i_receive_i && i_lies_q.at_base;
  assign i_mark_o         = i_receive_i && i_lies_q.is_new;
  assign i_in_window_o    = i_lies_q.in_window;
  assign i_behind_o       = i_pidx_i < i_window_q.base;
  assign i_ahead_o        = i_ahead_q && !i_hole_q[PIDX_W] && i_hole_q[PIDX_W-1:0] >= i_window_q.base;
  assign i_ask_base_o     = i_mark_o && weft_mode_i && i_ahead_q && i_hole_q == {1'b0, i_window_q.base};
  assign i_complete_o     = i_window_q.base == i_packets_i;
  assign i_asked_enough_o = i_asks_q >= ask_from_after_i;
  assign i_asked_o        = i_asks_q != '0;
  assign i_ask_one        = i_asks_i && !i_complete_o && !(weft_mode_i ? i_asked_o : i_asked_enough_o);

  always_comb begin : p_asks
    i_asks_new = i_asks_q;
    if (i_ask_one) i_asks_new = i_asks_q + 1'b1;
    if (i_advance_o && !i_retry_i) i_asks_new = '0;
  end

  // ------------------------------------------------------------------------------------------------- J: as it is kept
  always_ff @(posedge clk_i) begin
    j_window_q <= i_window_new;
    j_asks_q   <= i_asks_new;
    j_base_q   <= i_window_q.base;
    j_hole_o   <= i_hole_q[PIDX_W-1:0];
    j_ordered_o <= i_ordered_q;
  end

  rdma_window_keep #(
    .WINDOW(WINDOW),
    .kept_t(window_t),
    .open_t(open_t)
  ) i_keep (
    .open_i(j_window_q),
    .kept_o(j_kept_o.window)
  );

  assign j_kept_o.asks   = j_asks_q;
  assign j_base_before_o = j_base_q;
  assign j_base_o        = j_window_q.base;
  assign j_complete_o    = j_window_q.base == j_packets_i;
  assign j_quarter_o     = j_window_q.base >> QUARTER_W != j_base_q >> QUARTER_W;

  logic unused;
  assign unused = ^g_pidx_i;  // only its lowest bits are looked at

  `ASSERT(CameIsToldByTheWindow, !i_valid_i ||
          i_came_i == (i_window_q.base != '0 || i_window_q.first_odd || i_window_q.lap_marks != WINDOW'(1)))
endmodule

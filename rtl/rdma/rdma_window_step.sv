// SPDX-License-Identifier: Apache-2.0
// Receive window (paper, section 2.3), one packet: where does its PIDX lie, and what is the window after it was received?
// Combinational, and short enough to be done anew in every clock on its own result: docs/rdma_receiver.md.
//
// Arriving at WBASE, the window advances by 1 + LOC(WVEC), to the first hole; the paper's formula prints LOC(WVEC) alone.
module rdma_window_step #(
  parameter int unsigned WINDOW = 128,  // packets beyond WBASE that are kept track of
  parameter int unsigned PIDX_W = 24,   // bits of a packet index
  parameter type         open_t = logic
) (
  input  open_t             window_i,
  input  logic [PIDX_W-1:0] pidx_i,
  input  logic [WINDOW-1:0] slot_i,      // one-hot: pidx_i modulo WINDOW
  input  logic              receive_i,   // if it is new and inside the window
  output open_t             window_o,
  output logic              at_base_o,   // it is the packet at WBASE
  output logic              in_window_o, // it is beyond WBASE and in the window
  output logic              new_o        // that, and it has not arrived before
);
  localparam int unsigned POS_W = $clog2(WINDOW);

  if (WINDOW < 2 || (WINDOW & (WINDOW - 1)) != 0) begin : g_bad_window
    $error("WINDOW must be a power of two of at least 2, is %0d", WINDOW);
  end
  if (PIDX_W < POS_W + 2) begin : g_bad_pidx
    $error("PIDX_W (%0d) must be wider by two than a position in the window of %0d", PIDX_W, WINDOW);
  end

  logic same_lap, higher, top_same, top_next, marked, at_first, at_second;
  logic advance, mark, second_beyond, carry, found_wraps, next_wraps;
  logic [WINDOW-1:0] limit, found;
  logic [ POS_W-1:0] second;
  logic [   POS_W:0] next_base;

  // Beyond WBASE by 1 to WINDOW: higher in its lap, or at most as high in the next one.
  assign same_lap = pidx_i[POS_W] == window_i.base[POS_W];
  assign higher   = pidx_i[POS_W-1:0] > window_i.base[POS_W-1:0];
  assign top_same = pidx_i[PIDX_W-1:POS_W+1] == window_i.base[PIDX_W-1:POS_W+1];
  assign top_next = {1'b0, pidx_i[PIDX_W-1:POS_W+1]} == window_i.next_top;
  assign in_window_o = same_lap ? higher && top_same : !higher && (window_i.base[POS_W] ? top_next : top_same);
  assign marked   = ((slot_i & window_i.marks) != '0) != pidx_i[POS_W];

  assign at_base_o = pidx_i == window_i.base;
  assign new_o     = in_window_o && !marked;
  assign at_first  = (slot_i & window_i.first_slot) != '0;
  assign at_second = (slot_i & window_i.second_slot) != '0;
  assign advance   = receive_i && at_base_o;
  assign mark      = receive_i && new_o;

  // The hole behind the second one. Nothing beyond the window has arrived: behind WBASE + WINDOW + 1 comes the next packet, whatever
  // its slot says. (If all in the window have arrived, the slots say the same.)
  assign limit         = {window_i.base_slot[WINDOW-2:0], window_i.base_slot[WINDOW-1]};
  assign second_beyond = (window_i.second_slot & limit) != '0;

  rdma_next_hole #(
    .WINDOW(WINDOW)
  ) i_next (
    .marks_i  (window_i.marks),
    .odd_i    (window_i.second_odd),
    .start_i  (window_i.second_slot),
    .limit_i  (limit),
    .hole_o   (found),
    .wrapped_o(found_wraps)
  );

  assign next_wraps = second_beyond ? window_i.second_slot[WINDOW-1] : found_wraps;

  always_comb begin : p_second
    second = '0;
    for (int i = 0; i < int'(WINDOW); i++) if (window_i.second_slot[i]) second |= POS_W'(i);
  end

  assign next_base = window_i.first;
  assign carry     = window_i.first < window_i.base[POS_W:0];

  always_comb begin : p_step
    window_o = window_i;
    if (mark) window_o.marks = window_i.marks ^ slot_i;
    if (advance) begin
      // The slot of the new base now stands for the packet WINDOW further on, which has not arrived.
      window_o.marks     = window_i.marks ^ window_i.first_slot;
      window_o.base      = {window_i.base[PIDX_W-1:POS_W+1], next_base};
      window_o.base_slot = window_i.first_slot;
      if (carry) begin
        window_o.base[PIDX_W-1:POS_W+1] = window_i.next_top[PIDX_W-POS_W-2:0];
        window_o.next_top = window_i.next_top + 1'b1;
      end
    end
    if (advance || (mark && at_first)) begin
      window_o.first      = {window_i.second_odd, second};
      window_o.first_slot = window_i.second_slot;
    end
    if (advance || (mark && (at_first || at_second))) begin
      window_o.second_slot = second_beyond ? {window_i.second_slot[WINDOW-2:0], window_i.second_slot[WINDOW-1]} : found;
      window_o.second_odd  = window_i.second_odd ^ next_wraps;
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// Receive window (paper, section 2.3), one packet: what is the window after it was received, and where in that lies the packet
// after it? Combinational, and short enough to be done anew in every clock on its own result: docs/rdma_receiver.md.
//
// Arriving at WBASE, the window advances by 1 + LOC(WVEC), to the first hole; the paper's formula prints LOC(WVEC) alone.
`include "rdma_typedef.svh"
`include "weft_when.svh"

module rdma_window_step #(
  parameter int unsigned WINDOW  = 128,  // packets beyond WBASE that are kept track of
  parameter int unsigned PIDX_W  = 24,   // bits of a packet index
  parameter type         open_t  = logic,
  parameter type         place_t = logic
) (
  input  open_t             window_i,
  input  place_t            place_i,      // where the packet lies in it (rdma_window_judge)
  input  logic [WINDOW-1:0] slot_i,       // one-hot: its PIDX modulo WINDOW
  input  logic              receive_i,    // if it is new and inside the window
  output open_t             window_o,     // after it: moves_o if move_o, stays_o if not
  output logic              move_o,       // the first hole moves on; known early
  output open_t             moves_o,      // ... known late
  output open_t             stays_o,
  // the packet after it
  input  logic [PIDX_W-1:0] next_pidx_i,
  input  logic [WINDOW-1:0] next_slot_i,
  input  logic              same_slot_i,  // it has the same slot
  output place_t            next_place_o  // in window_o
);
  localparam int unsigned POS_W = $clog2(WINDOW);
  localparam int unsigned TOP_W = PIDX_W - POS_W - 1;
  localparam int unsigned GROUP = `RDMA_WINDOW_GROUP(WINDOW);
  localparam int unsigned GROUPS = WINDOW / GROUP;

  if (WINDOW < 2 || (WINDOW & (WINDOW - 1)) != 0) begin : g_bad_window
    $error("WINDOW must be a power of two of at least 2, is %0d", WINDOW);
  end
  if (PIDX_W < POS_W + 2) begin : g_bad_pidx
    $error("PIDX_W (%0d) must be wider by two than a position in the window of %0d", PIDX_W, WINDOW);
  end

  logic              advance, mark, wraps, next_is_it;
  logic [WINDOW-1:0] first_slot, found, here, next;
  logic [GROUPS-1:0] found_group_here, found_group_next;
  logic [ POS_W-1:0] first;
  logic [   POS_W:0] next_base;

  // The slots above are 1 from the one above it on.
  assign first_slot = {1'b1, window_i.first_after[WINDOW-1:1]} & ~window_i.first_after;

  assign advance  = receive_i && place_i.at_base;
  assign mark     = receive_i && place_i.is_new;

  rdma_holes #(
    .WINDOW(WINDOW)
  ) i_holes (
    .lap_marks_i (window_i.lap_marks),
    .after_i     (window_i.first_after),
    .here_o      (here),
    .next_o      (next),
    .group_here_o(),
    .group_next_o()
  );

  // The hole behind the first one. Should the packet be just that, it is neither WBASE nor the first hole, and this is not used.
  rdma_next_hole #(
    .WINDOW(WINDOW)
  ) i_next (
    `WEFT_WHEN_PIN(needed_i, move_o)
    .here_i      (here),
    .next_i      (next),
    .group_here_i(window_i.group_here),
    .group_next_i(window_i.group_next),
    .after_i     (window_i.first_after),
    .after_o     (found),
    .wrapped_o   (wraps),
    .group_here_o(found_group_here),
    .group_next_o(found_group_next),
    .pos_i       (next_pidx_i[POS_W-1:0]),
    .is_it_o     (next_is_it)
  );

  always_comb begin : p_first
    first = '0;
    `WEFT_WHEN(advance) begin
      for (int i = 0; i < int'(WINDOW); i++) if (first_slot[i]) first |= POS_W'(i);
    end
  end

  assign next_base = {window_i.first_odd, first};

  always_comb begin : p_step
    stays_o = window_i;
    if (mark) begin
      stays_o.lap_marks = window_i.lap_marks ^ slot_i;
      for (int g = 0; g < int'(GROUPS); g++) begin
        stays_o.group_here[g] = |(here[g*GROUP+:GROUP] & ~slot_i[g*GROUP+:GROUP]);
        stays_o.group_next[g] = |(next[g*GROUP+:GROUP] & ~slot_i[g*GROUP+:GROUP]);
      end
    end
    moves_o = window_i;
    if (advance) begin
      moves_o.base  = {window_i.base[PIDX_W-1:POS_W+1], next_base};
      if (window_i.carry) begin
        moves_o.base[PIDX_W-1:POS_W+1] = window_i.next_top[TOP_W-1:0];
        moves_o.next_top = window_i.next_top + 1'b1;
      end
    end
    // When WBASE advances, the slot of the new one stands for the packet WINDOW further on, which has not arrived: toggled, too.
    moves_o.lap_marks   = window_i.lap_marks ^ first_slot ^ {WINDOW{wraps}};
    moves_o.first_after = found;
    moves_o.group_here  = found_group_here;
    moves_o.group_next  = found_group_next;
    moves_o.first_odd   = window_i.first_odd ^ wraps;
    moves_o.carry       = (window_i.first_odd && wraps) || (window_i.carry && !advance);
  end

  assign move_o   = advance || (mark && place_i.is_first);
  assign window_o = move_o ? moves_o : stays_o;

  // The next packet: in the window as it is, and as it is after an advance; what really happens only selects.
  // Without a carry: a - b - 1, which is a + ~b, is zero if no bit of the sum differs from the carry into it, which then is a | ~b of the bit below.
  function automatic logic is_one_more(logic [TOP_W:0] a, logic [TOP_W:0] b);
    return (a ^ ~b) == ((a | ~b) << 1);
  endfunction

  place_t     stays, advanced;
  logic       marked, same_lap, higher, base_same, top_same, top_next;
  logic [2:0] tops;  // its place above the lap is that of the window, one more, two more

  rdma_window_judge #(
    .WINDOW (WINDOW),
    .PIDX_W (PIDX_W),
    .place_t(place_t)
  ) i_stays (
    .base_i     (window_i.base),
    .next_top_i (window_i.next_top),
    .lap_marks_i(window_i.lap_marks),
    .first_odd_i(window_i.first_odd),
    .at_first_i (base_same),
    .pidx_i     (next_pidx_i),
    .slot_i     (next_slot_i),
    .place_o    (stays)
  );

  assign tops[0] = next_pidx_i[PIDX_W-1:POS_W+1] == window_i.base[PIDX_W-1:POS_W+1];
  assign tops[1] = {1'b0, next_pidx_i[PIDX_W-1:POS_W+1]} == window_i.next_top;
  assign tops[2] = is_one_more({1'b0, next_pidx_i[PIDX_W-1:POS_W+1]}, window_i.next_top);

  assign same_lap  = next_pidx_i[POS_W] == window_i.first_odd;
  assign base_same = (next_slot_i & first_slot) != '0;
  assign higher    = (next_slot_i & window_i.first_after) != '0;
  assign top_same  = window_i.carry ? tops[1] : tops[0];
  assign top_next  = window_i.carry ? tops[2] : tops[1];

  always_comb begin : p_advanced
    advanced.at_base   = base_same && same_lap && top_same;
    advanced.in_window = same_lap ? higher && top_same : !higher && (window_i.first_odd ? top_next : top_same);
    advanced.is_new    = 1'b0;
    advanced.is_first  = 1'b0;
  end

  assign marked = ((next_slot_i & window_i.lap_marks) != '0) ^ window_i.first_odd ^ (mark && same_slot_i) ^
                  (advance && base_same) ^ next_pidx_i[POS_W];

  always_comb begin : p_next
    next_place_o        = advance ? advanced : stays;
    next_place_o.is_new = next_place_o.in_window && !marked;
    next_place_o.is_first = move_o ? next_is_it : stays.is_first;
  end

  logic unused;
  assign unused = place_i.in_window ^ stays.is_new ^ advanced.is_new ^ advanced.is_first;
endmodule

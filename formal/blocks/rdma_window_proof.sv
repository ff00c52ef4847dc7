// SPDX-License-Identifier: Apache-2.0
// The receive window (paper, section 2.3) over all its life: transfers begin at any time, packets come in any order and any number of times, in consecutive
// clocks (then one works on the result of the one before) or not (then it works on what memory holds). No packet is taken twice, each that is new and
// within the window is taken; WBASE is the first that is missing, never goes back, and does not wrap behind the last PIDX there is, 2**PIDX_W - 2.
`include "proof.svh"
`include "rdma_typedef.svh"

module rdma_window_proof #(
  parameter  int unsigned WINDOW = 4,
  parameter  int unsigned PIDX_W = 5,
  localparam int unsigned POS_W = $clog2(WINDOW),
  localparam int unsigned WIDE = PIDX_W + 1,  // sums do not wrap
  localparam int unsigned PACKETS = (1 << PIDX_W) - 1
) (
  input logic              clk_i, rst_ni,
  input logic              begin_i,      // a transfer, instead of a packet
  input logic              receive_i,    // a packet of it, PIDX as chosen in the clock before
  input logic [PIDX_W-1:0] next_pidx_i,
  input logic              at_once_i     // the next one is taken over from this step, if there is one
);
  `RDMA_TYPEDEF_WINDOW(kept_t, WINDOW, PIDX_W)
  `RDMA_TYPEDEF_OPEN_WINDOW(open_t, WINDOW, PIDX_W)
  `RDMA_TYPEDEF_PLACE(place_t)

  kept_t              kept, kept_q, kept_after;
  open_t              opened, window, after, after_q;
  place_t             judged, place, next_place, next_place_q;
  logic [PIDX_W-1:0]  pidx_q, base_was_q;
  logic [WINDOW-1:0]  slot;
  logic               receive, take, at_once_q, begun_q, began_q;
  logic [PACKETS-1:0] got_q;  // by PIDX

  `PROOF_RESET
  `GIVEN(next_pidx_i != '1)  // no transfer has so many packets

  // Nothing has arrived: the slot of packet 0 stands for packet WINDOW, of an odd lap.
  assign kept    = begin_i ? '{base: '0, first: 1, marks: 1} : kept_q;
  assign receive = receive_i && begun_q && !begin_i;
  assign slot    = WINDOW'(1) << pidx_q[POS_W-1:0];
  assign window  = at_once_q && !begin_i ? after_q : opened;
  assign place   = at_once_q ? next_place_q : judged;
  assign take    = receive && (place.at_base || place.is_new);

  rdma_window_open #(.WINDOW(WINDOW), .PIDX_W(PIDX_W), .kept_t(kept_t), .open_t(open_t)) i_open (.kept_i(kept), .open_o(opened));
  rdma_window_judge #(.WINDOW(WINDOW), .PIDX_W(PIDX_W), .place_t(place_t)) i_judge (
    .base_i(opened.base), .next_top_i(opened.next_top), .lap_marks_i(opened.lap_marks), .first_odd_i(opened.first_odd),
    .at_first_i(kept.first[POS_W-1:0] == pidx_q[POS_W-1:0]), .pidx_i(pidx_q), .slot_i(slot), .place_o(judged)
  );
  rdma_window_step #(.WINDOW(WINDOW), .PIDX_W(PIDX_W), .open_t(open_t), .place_t(place_t)) dut (
    .window_i(window), .place_i(place), .slot_i(slot), .receive_i(receive), .window_o(after), .move_o(), .moves_o(), .stays_o(),
    .next_pidx_i, .next_slot_i(WINDOW'(1) << next_pidx_i[POS_W-1:0]), .same_slot_i(next_pidx_i[POS_W-1:0] == pidx_q[POS_W-1:0]), .next_place_o(next_place)
  );
  rdma_window_keep #(.WINDOW(WINDOW), .kept_t(kept_t), .open_t(open_t)) i_keep (.open_i(after), .kept_o(kept_after));

  always_ff @(posedge clk_i) begin
    pidx_q       <= next_pidx_i;
    at_once_q    <= rst_ni && at_once_i && (begun_q || begin_i);
    after_q      <= after;
    next_place_q <= next_place;
    base_was_q   <= kept_q.base;
    began_q      <= begin_i;
    begun_q      <= rst_ni && (begun_q || begin_i);
    if (begun_q || begin_i) kept_q <= kept_after;
    if (begin_i) got_q <= '0;
    else if (take) got_q[pidx_q] <= 1'b1;
  end

  // The window as the packets that came make it.
  logic [WIDE-1:0]    missing, beyond;  // the first packet that has not come, and the first beyond the window
  logic [PACKETS-1:0] passed, outside;  // those before the one, those from the other on
  logic [WINDOW-1:0]  marks;
  logic [POS_W:0]     first;            // the second one that has not come, modulo 2 * WINDOW

  always_comb begin : p_paper
    missing = WIDE'(PACKETS);
    for (int i = int'(PACKETS) - 1; i >= 0; i--) if (!got_q[i]) missing = WIDE'(i);
    beyond = missing + WIDE'(WINDOW + 1);
    for (int i = 0; i < int'(PACKETS); i++) begin
      passed[i] = WIDE'(i) < missing;
      outside[i] = WIDE'(i) >= beyond;
    end
    marks = '0;
    first = (POS_W + 1)'(missing + WIDE'(WINDOW + 1));
    for (int i = int'(WINDOW); i > 0; i--) begin
      logic [WIDE-1:0] pidx;
      logic            got;
      pidx = missing + WIDE'(i);
      got  = pidx < WIDE'(PACKETS) && got_q[pidx[PIDX_W-1:0]];
      marks[pidx[POS_W-1:0]] = got != pidx[POS_W];
      if (!got) first = pidx[POS_W:0];
    end
  end

  `PROVE(NoPacketTwice, !take || !got_q[pidx_q])
  `PROVE(TakesWhatIsNewAndInside, !receive || take == (!got_q[pidx_q] && WIDE'(pidx_q) < beyond))
  `PROVE(WbaseIsFirstMissing, !begun_q || WIDE'(kept_q.base) == missing)
  `PROVE(WbasePassesNothingMissing, !begun_q || (got_q & passed) == passed)
  `PROVE(NothingBeyondTheWindow, !begun_q || (got_q & outside) == '0)
  `PROVE(WbaseNeverGoesBack, !begun_q || began_q || kept_q.base >= base_was_q)
  // For the induction: PIDX as given, memory holds the window, and what is taken over is the same.
  `PROVE(PidxOfATransfer, !begun_q || pidx_q != '1)
  `PROVE(Kept, !begun_q || (kept_q.marks == marks && kept_q.first == first))
  `PROVE(TakenOver, !at_once_q || (begun_q && (begin_i || after_q == opened)))
  `PROVE(TakenOverPlace, !at_once_q || begin_i || (next_place_q.at_base == judged.at_base && next_place_q.in_window == judged.in_window &&
                         next_place_q.is_new == judged.is_new && (!judged.is_new || next_place_q.is_first == judged.is_first)))
endmodule

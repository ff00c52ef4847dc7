// SPDX-License-Identifier: Apache-2.0
// Receive window, one packet a clock, each on the result of the one before: a circular bitmap that is never shifted; the hole behind
// WBASE is searched in each clock (rdma_next_hole), none is remembered.
`include "rdma_typedef.svh"

module window_round #(
  parameter int unsigned WINDOW = 128,
  parameter int unsigned PIDX_W = 24
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              receive_i,
  input  logic [PIDX_W-1:0] pidx_i,
  output logic              taken_o,   // a clock later: it was new
  output logic [PIDX_W-1:0] wbase_o    // after it
);
  localparam int unsigned POS_W = $clog2(WINDOW);

  logic              receive_q;
  logic [PIDX_W-1:0] pidx_q, wbase_q, wbase;
  logic [WINDOW-1:0] marks_q, marks, slot_q, base_slot, limit, found;
  logic [WINDOW-1:0] base_slot_q, base_after_q, base_after, limit_after;  // its slot, and the slots above that
  logic [PIDX_W:0]   distance;
  logic              taken, wraps, mark, advance, all;
  logic [POS_W-1:0]  next;

  assign distance = {1'b0, pidx_q} - {1'b0, wbase_q};
  assign advance  = receive_q && distance == '0;
  assign mark     = receive_q && !advance && !distance[PIDX_W] && distance <= (PIDX_W + 1)'(WINDOW) &&
                    ((slot_q & marks_q) != '0) == pidx_q[POS_W];
  assign taken    = advance || mark;
  assign limit    = {base_slot_q[WINDOW-2:0], base_slot_q[WINDOW-1]};

  // From WBASE on; the limit is WBASE + 1 + WINDOW, so that WBASE + 1 itself has to be looked at first.
  logic              first_marked;
  logic [WINDOW-1:0] here, beyond;
  logic [WINDOW/`RDMA_WINDOW_GROUP(WINDOW)-1:0] group_here, group_next;
  assign first_marked = ((limit & marks_q) != '0) != (wbase_q[POS_W] ^ base_slot_q[WINDOW-1]);
  rdma_holes #(
    .WINDOW(WINDOW)
  ) i_holes (
    .lap_marks_i (marks_q ^ {WINDOW{wbase_q[POS_W] ^ base_slot_q[WINDOW-1]}}),
    .after_i     (limit_after),
    .here_o      (here),
    .next_o      (beyond),
    .group_here_o(group_here),
    .group_next_o(group_next)
  );
  rdma_next_hole #(
    .WINDOW(WINDOW)
  ) i_next (
    .here_i      (here),
    .next_i      (beyond),
    .group_here_i(group_here),
    .group_next_i(group_next),
    .after_i     (limit_after),
    .after_o     (found),
    .wrapped_o   (wraps),
    .group_here_o(),
    .group_next_o(),
    .pos_i       ('0),
    .is_it_o     ()
  );

  assign limit_after = base_slot_q[WINDOW-1] ? ~WINDOW'(1) : {base_after_q[WINDOW-2:0], 1'b0};
  assign base_after  = first_marked ? found : limit_after;
  assign base_slot   = {1'b1, base_after[WINDOW-1:1]} & ~base_after;
  assign all         = first_marked && found == limit_after;

  always_comb begin : p_next
    next = '0;
    for (int i = 0; i < int'(WINDOW); i++) if (base_slot[i]) next |= POS_W'(i);
  end

  always_comb begin : p_update
    wbase = wbase_q;
    marks = marks_q;
    if (mark) marks = marks_q ^ slot_q;
    if (advance) begin
      marks = marks_q ^ base_slot;
      wbase = {wbase_q[PIDX_W-1:POS_W] + (PIDX_W - POS_W)'(next <= wbase_q[POS_W-1:0] || (all && !base_slot_q[WINDOW-1])) +
               (PIDX_W - POS_W)'(all && base_slot_q[WINDOW-1]), next};
    end
  end

  always_ff @(posedge clk_i) begin
    receive_q <= receive_i;
    pidx_q    <= pidx_i;
    slot_q    <= WINDOW'(1) << pidx_i[POS_W-1:0];
    taken_o   <= taken;
    wbase_q   <= wbase;
    marks_q   <= marks;
    if (advance) begin
      base_slot_q  <= base_slot;
      base_after_q <= base_after;
    end
    if (!rst_ni) begin
      wbase_q      <= '0;
      marks_q      <= WINDOW'(1);
      base_slot_q  <= WINDOW'(1);
      base_after_q <= ~WINDOW'(1);
    end
  end
  assign wbase_o = wbase_q;

  logic unused;
  assign unused = wraps;
endmodule

// SPDX-License-Identifier: Apache-2.0
// Receive window, one packet a clock, each on the result of the one before: circular bitmap and the first hole remembered, as in the engine
// (rdma_window_step).
`include "rdma_typedef.svh"

module window_holes #(
  parameter int unsigned WINDOW = 128,
  parameter int unsigned PIDX_W = 24
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              receive_i,
  input  logic [PIDX_W-1:0] pidx_i,
  output logic              taken_o,   // two clocks later: it was new
  output logic [PIDX_W-1:0] wbase_o    // after it
);
  localparam int unsigned POS_W = $clog2(WINDOW);

  `RDMA_TYPEDEF_OPEN_WINDOW(open_t, WINDOW, PIDX_W)
  `RDMA_TYPEDEF_PLACE(place_t)

  logic              receive_q, receive_2q;
  logic [PIDX_W-1:0] pidx_q;
  logic              same_slot_q;  // as the packet before
  logic [WINDOW-1:0] slot_q, slot_2q;
  open_t             window_q, window;
  place_t            place_q, place;

  rdma_window_step #(
    .WINDOW(WINDOW),
    .PIDX_W(PIDX_W),
    .open_t(open_t),
    .place_t(place_t)
  ) i_step (
    .window_i    (window_q),
    .place_i     (place_q),
    .slot_i      (slot_2q),
    .receive_i   (receive_2q),
    .window_o    (window),
    .move_o      (),
    .moves_o     (),
    .stays_o     (),
    .next_pidx_i (pidx_q),
    .next_slot_i (slot_q),
    .same_slot_i (same_slot_q),
    .next_place_o(place)
  );

  always_ff @(posedge clk_i) begin
    receive_q  <= receive_i;
    receive_2q <= receive_q;
    pidx_q     <= pidx_i;
    slot_q     <= WINDOW'(1) << pidx_i[POS_W-1:0];
    same_slot_q <= pidx_i[POS_W-1:0] == pidx_q[POS_W-1:0];
    slot_2q    <= slot_q;
    place_q    <= place;
    taken_o    <= receive_2q && (place_q.at_base || place_q.is_new);
    window_q   <= window;
    if (!rst_ni) begin
      receive_q            <= 1'b0;
      receive_2q           <= 1'b0;
      window_q             <= '0;
      window_q.lap_marks   <= WINDOW'(1);
      window_q.next_top    <= 1;
      window_q.first_after <= ~WINDOW'(3);
      window_q.group_here  <= WINDOW > 2 ? '1 : '0;
      window_q.group_next  <= 1;
    end
  end
  assign wbase_o = window_q.base;
endmodule

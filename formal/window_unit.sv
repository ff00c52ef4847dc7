// SPDX-License-Identifier: Apache-2.0
// The receive window's combinational parts side by side, all their ports brought out: what `make netlist` compares with its gates.
`include "rdma_typedef.svh"

module window_unit #(
  parameter  int unsigned WINDOW = 128,
  parameter  int unsigned PIDX_W = 24,
  localparam int unsigned POS_W  = $clog2(WINDOW),
  localparam int unsigned KEPT_W = PIDX_W + POS_W + 1 + WINDOW,
  localparam int unsigned OPEN_W = 2 * WINDOW + 2 * PIDX_W - POS_W + 2 + 2 * (WINDOW / `RDMA_WINDOW_GROUP(WINDOW))
) (
  // rdma_window_open
  input  logic [KEPT_W-1:0] kept_i,
  output logic [OPEN_W-1:0] open_o,
  // rdma_window_keep
  output logic [KEPT_W-1:0] kept_o,  // of window_i
  // rdma_window_step
  input  logic [OPEN_W-1:0] window_i,
  input  logic [       3:0] place_i,
  input  logic [WINDOW-1:0] slot_i,
  input  logic              receive_i,
  output logic [OPEN_W-1:0] window_o,
  input  logic [PIDX_W-1:0] next_pidx_i,
  input  logic [WINDOW-1:0] next_slot_i,
  input  logic              same_slot_i,
  output logic [       3:0] next_place_o
);
  `RDMA_TYPEDEF_WINDOW(kept_t, WINDOW, PIDX_W)
  `RDMA_TYPEDEF_OPEN_WINDOW(open_t, WINDOW, PIDX_W)
  `RDMA_TYPEDEF_PLACE(place_t)

  if ($bits(kept_t) != KEPT_W || $bits(open_t) != OPEN_W) begin : g_bad_widths
    $error("window_unit: ports of %0d and %0d bits for windows of %0d and %0d", KEPT_W, OPEN_W, $bits(kept_t), $bits(open_t));
  end

  rdma_window_open #(.WINDOW(WINDOW), .PIDX_W(PIDX_W), .kept_t(kept_t), .open_t(open_t)) i_open (.kept_i, .open_o);

  rdma_window_keep #(.WINDOW(WINDOW), .kept_t(kept_t), .open_t(open_t)) i_keep (.open_i(window_i), .kept_o);

  rdma_window_step #(.WINDOW(WINDOW), .PIDX_W(PIDX_W), .open_t(open_t), .place_t(place_t)) i_step (
    .window_i, .place_i, .slot_i, .receive_i, .window_o, .next_pidx_i, .next_slot_i, .same_slot_i, .next_place_o
  );
endmodule

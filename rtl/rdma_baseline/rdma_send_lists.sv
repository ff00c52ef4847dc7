// SPDX-License-Identifier: Apache-2.0
// Contexts that wait for room in a send buffer, first come first served: a list for each buffer (docs/rdma_baseline.md, Sender window). Offers the first one
// of a buffer that has room, of all such buffers in turn; a context is in one list at the most.
//
// Timing: a context is offered three clocks after it can be. Nothing is offered in a clock in which one joins a list, nor for HOLD clocks after one was taken: until
// then room_i may not tell of it.
`include "weft_assert.svh"

module rdma_send_lists #(
  parameter int unsigned N_TX_CTX  = 1024,
  parameter int unsigned N_BUFFERS = 64,
  parameter int unsigned HOLD      = 3,
  localparam int unsigned IDX_W = $clog2(N_TX_CTX),
  localparam int unsigned BUF_W = $clog2(N_BUFFERS)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic [N_BUFFERS-1:0] room_i,    // by buffer
  // a context joins a list
  input  logic                 push_i,
  input  logic [    IDX_W-1:0] sid_i,
  input  logic [    BUF_W-1:0] buffer_i,
  // and leaves it
  output logic                 valid_o,
  input  logic                 take_i,
  output logic [    IDX_W-1:0] sid_o,
  output logic [    BUF_W-1:0] buffer_o,
  output logic                 empty_o    // nobody waits
);
  typedef enum logic [1:0] {PICK, LOOK, OFFER} state_e;

  state_e               state_q;
  logic [N_BUFFERS-1:0] lists;      // there is somebody in it
  logic [N_BUFFERS-1:0] unused_grants;
  logic                 any, pick, pop, unused_any;
  logic [    BUF_W-1:0] chosen, buffer_q;
  logic [    IDX_W-1:0] first, sid_q;
  logic [$clog2(HOLD+1)-1:0] hold_q;

  rr_arbiter #(
    .N(N_BUFFERS)
  ) i_choose (
    .clk_i,
    .rst_ni,
    .req_i  (lists & room_i),
    .take_i (pick),
    .valid_o(any),
    .gnt_o  (unused_grants),
    .idx_o  (chosen)
  );

  rdma_inbox_lists #(
    .N_TICKETS(N_TX_CTX),
    .N_QUEUES (N_BUFFERS)
  ) i_lists (
    .clk_i,
    .rst_ni,
    .clear_i      (1'b0),
    .clear_queue_i('0),
    .look_i       (buffer_q),
    .first_o      (first),
    .queue_i      (push_i ? buffer_i : buffer_q),
    .any_o        (unused_any),
    .lists_o      (lists),
    .pop_i        (pop),
    .push_front_i (1'b0),
    .push_back_i  (push_i),
    .idx_i        (sid_i),
    .next_re_i    (state_q == LOOK),
    .next_idx_i   (first)
  );

  assign pick     = state_q == PICK && any && hold_q == '0;
  assign valid_o  = state_q == OFFER && !push_i;
  assign pop      = valid_o && take_i;
  assign sid_o    = sid_q;
  assign buffer_o = buffer_q;
  assign empty_o  = lists == '0;

  // Who joins may come right behind the one that is offered, whose successor was read before: it is read again.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= PICK;
      hold_q  <= '0;
    end else begin
      if (pop) hold_q <= ($bits(hold_q))'(HOLD);
      else if (hold_q != '0) hold_q <= hold_q - 1'b1;
      unique case (state_q)
        PICK:    if (pick) state_q <= LOOK;
        LOOK:    state_q <= push_i ? LOOK : OFFER;
        OFFER:   if (push_i) state_q <= LOOK;
                 else if (take_i || !room_i[buffer_q]) state_q <= PICK;
        default: state_q <= PICK;
      endcase
    end
    if (state_q == PICK) buffer_q <= chosen;
    if (state_q == LOOK) sid_q <= first;
  end

  `ASSERT(OfferedOfAList, !valid_o || lists[buffer_q])
endmodule

// SPDX-License-Identifier: Apache-2.0
// The windows of the scheme whose sender keeps each packet until it is answered (docs/rdma_baseline.md, Sender window): N_BUFFERS of WINDOW packets each. Here is which
// packet a slot has and whether it waits for its answer, the buffer's timer, and whose turn is next; the payloads are in rdma_send_copies.sv. Works in the stages
// of the sender: what may be taken is offered in A, an event reads its buffer in B and changes it in C.
//
// RAMs: N_BUFFERS words of WINDOW + 4 * (log2 WINDOW + 1) + 4 bits; twice N_BUFFERS * WINDOW words of a packet's numbers.
`include "weft_assert.svh"

module rdma_send_buffers
  import rdma_pkg::*;
#(
  parameter int unsigned N_TX_CTX  = 1024,
  parameter int unsigned N_BUFFERS = 64,   // a power of two
  parameter int unsigned WINDOW    = 128,  // slots of a buffer, a power of two
  parameter type         slot_t    = logic,  // has fields sid, msgid, pidx
  localparam int unsigned IDX_W    = $clog2(N_TX_CTX),
  localparam int unsigned BUF_W    = $clog2(N_BUFFERS),
  localparam int unsigned SLOT_W   = $clog2(WINDOW)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  output logic                ready_o,
  output logic                idle_o,        // all are empty, nobody waits
  input  logic [ LIMIT_W-1:0] retry_i,       // ticks, TX_RETRY
  input  logic [         1:0] backoff_i,
  input  logic [ STAMP_W-1:0] now_i,         // ticks
  // A: a buffer whose timer has ended; a context whose packet has room now; a packet to be sent again
  output logic                expired_valid_o,
  input  logic                expired_take_i,
  output logic [   BUF_W-1:0] expired_o,
  output logic                waiting_valid_o,
  input  logic                waiting_take_i,
  output logic [   IDX_W-1:0] waiting_sid_o,
  output logic [   BUF_W-1:0] waiting_o,
  output logic                again_valid_o,
  input  logic                again_take_i,
  output logic [   BUF_W-1:0] again_o,
  output logic [  SLOT_W-1:0] again_at_o,
  output slot_t               again_slot_o,
  // B: the event's buffer, and a slot of it
  input  logic                b_valid_i,
  input  logic [   BUF_W-1:0] b_buffer_i,
  input  logic [  SLOT_W-1:0] b_at_i,
  // C
  input  logic                c_valid_i,
  input  logic                c_timeout_i,   // it is a timeout of the buffer
  output logic                c_full_o,
  output logic [  SLOT_W-1:0] c_next_o,      // slot of the next packet
  output logic                c_open_o,      // the slot's packet waits for its answer
  output slot_t               c_slot_o,
  output logic                c_expired_o,   // timeout: the timer is still expired
  output logic                c_again_o,     // turn of a packet to be sent again: its turn has not passed meanwhile
  // C: what becomes of it
  input  logic                c_add_i,       // a packet for the next slot
  input  slot_t               c_added_i,
  input  logic                c_close_i,     // the slot's packet waits no longer
  input  logic                c_restart_i,   // all that wait are to be sent again
  input  logic                c_again_i,     // the one whose turn it is has been
  // D: a context has to wait
  input  logic                d_wait_i,
  input  logic [   IDX_W-1:0] d_sid_i,
  input  logic [   BUF_W-1:0] d_buffer_i
);
  localparam int unsigned COUNT_W = SLOT_W + 1;

  if (N_BUFFERS < 2 || (N_BUFFERS & (N_BUFFERS - 1)) != 0) begin : g_bad_n
    $error("N_BUFFERS (send buffers) must be a power of two of at least 2, is %0d", N_BUFFERS);
  end
  if (WINDOW < 2 || WINDOW > 256 || (WINDOW & (WINDOW - 1)) != 0) begin : g_bad_window
    $error("WINDOW (packets of a send buffer) must be a power of two of 2 to 256, is %0d", WINDOW);
  end

  // Counts modulo 2 * WINDOW of slots: oldest that waits, next to be given away, next to be sent again, first not to be.
  typedef struct packed {
    logic [WINDOW-1:0]  open;
    logic [COUNT_W-1:0] oldest;
    logic [COUNT_W-1:0] newest;
    logic [COUNT_W-1:0] again;
    logic [COUNT_W-1:0] again_end;
    logic [3:0]         retries;
  } buffer_t;

  // ------------------------------------------------------------------------------------------------- after reset
  logic             clearing_q, timer_ready;
  logic [BUF_W-1:0] clear_idx_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clearing_q  <= 1'b1;
      clear_idx_q <= '0;
    end else if (clearing_q) begin
      clear_idx_q <= clear_idx_q + 1'b1;
      clearing_q  <= clear_idx_q != '1;
    end
  end
  assign ready_o = !clearing_q && timer_ready;

  // ------------------------------------------------------------------------------------------------- B, C: the buffer of the event
  buffer_t           state, state_new;
  logic [BUF_W-1:0]  c_buffer_q;
  logic [SLOT_W-1:0] c_at_q;
  logic [COUNT_W-1:0] b_again_q, c_again_q;  // whose turn was taken
  logic              empty_before, empty_after, slid, write;

  always_ff @(posedge clk_i) begin
    c_buffer_q <= b_buffer_i;
    c_at_q     <= b_at_i;
    c_again_q  <= b_again_q;
  end

  assign write = c_valid_i && (c_add_i || c_close_i || c_restart_i || c_again_i);
  ram_1r1w #(
    .DEPTH(N_BUFFERS),
    .WIDTH($bits(buffer_t))
  ) i_buffers (
    .clk_i,
    .we_i   (clearing_q || write),
    .waddr_i(clearing_q ? clear_idx_q : c_buffer_q),
    .wdata_i(clearing_q ? '0 : state_new),
    .re_i   (b_valid_i),
    .raddr_i(b_buffer_i),
    .rdata_o(state)
  );

  ram_1r1w #(
    .DEPTH(N_BUFFERS * WINDOW),
    .WIDTH($bits(slot_t))
  ) i_slots (
    .clk_i,
    .we_i   (c_valid_i && c_add_i),
    .waddr_i({c_buffer_q, c_next_o}),
    .wdata_i(c_added_i),
    .re_i   (b_valid_i),
    .raddr_i({b_buffer_i, b_at_i}),
    .rdata_o(c_slot_o)
  );

  assign c_full_o  = COUNT_W'(state.newest - state.oldest) == COUNT_W'(WINDOW);
  assign c_next_o  = state.newest[SLOT_W-1:0];
  assign c_open_o  = state.open[c_at_q];
  assign c_again_o = state.again != state.again_end && state.again == c_again_q;

  // The window slides when its oldest slot is closed, to the next one that is open, or to its end: where to is known before it is known what the event does.
  logic [WINDOW-1:0]   others, later, lowest;
  logic [SLOT_W-1:0]   first;
  logic [COUNT_W-1:0]  oldest_then, again_next;
  logic                passes, passes_next, passes_all;  // what is to be sent again, that after the next one, or all of it, is behind the window then

  // Of counts with a - b from -WINDOW to WINDOW - 1.
  function automatic logic is_before(logic [COUNT_W-1:0] a, logic [COUNT_W-1:0] b);
    logic [COUNT_W-1:0] difference;
    difference = a - b;
    return difference[COUNT_W-1];
  endfunction

  always_comb begin : p_others
    others = state.open;
    others[state.oldest[SLOT_W-1:0]] = 1'b0;
  end
  assign later  = others & ({WINDOW{1'b1}} << state.oldest[SLOT_W-1:0]);
  assign lowest = later != '0 ? later & (~later + 1'b1) : others & (~others + 1'b1);
  always_comb begin : p_first
    first = '0;
    for (int i = 0; i < int'(WINDOW); i++) if (lowest[i]) first |= SLOT_W'(i);
  end

  assign oldest_then = others == '0 ? state.newest : {state.oldest[SLOT_W] ^ (later == '0), first};
  assign slid        = c_close_i && c_at_q == state.oldest[SLOT_W-1:0];
  assign again_next  = state.again + 1'b1;
  assign passes      = state.again != state.again_end && is_before(state.again, oldest_then);
  assign passes_next = again_next != state.again_end && is_before(again_next, oldest_then);
  assign passes_all  = is_before(state.again_end, oldest_then);

  always_comb begin : p_step
    state_new = state;
    if (c_add_i) state_new.open[c_next_o] = 1'b1;
    if (c_close_i) state_new.open[c_at_q] = 1'b0;
    state_new.newest = state.newest + COUNT_W'(c_add_i);
    if (c_again_i) state_new.again = again_next;
    if (slid) begin
      state_new.oldest = oldest_then;
      if (c_again_i ? passes_next : passes) state_new.again = passes_all ? state.again_end : oldest_then;
    end
    if (slid || (c_add_i && empty_before)) state_new.retries = '0;
    if (c_restart_i) begin
      state_new.again     = state.oldest;
      state_new.again_end = state.newest;
      state_new.retries   = state.retries == '1 ? '1 : state.retries + 1'b1;
    end
  end
  assign empty_before = state.newest == state.oldest;
  assign empty_after  = slid ? others == '0 : empty_before && !c_add_i;

  // Of the buffer as it will be, without waiting for how it will be.
  logic again_left, again_after, room_after;
  assign again_left  = c_again_i ? again_next != state.again_end : state.again != state.again_end;
  assign again_after = c_restart_i ? !empty_before : slid && (c_again_i ? passes_next : passes) ? is_before(oldest_then, state.again_end) : again_left;
  assign room_after  = slid || COUNT_W'(state.newest - state.oldest) != (c_add_i ? COUNT_W'(WINDOW - 1) : COUNT_W'(WINDOW));

  rdma_timer #(
    .N      (N_BUFFERS),
    .CLASSES(BACKOFFS)
  ) i_timer (
    .clk_i,
    .rst_ni,
    .ready_o        (timer_ready),
    .now_i,
    .limits_i       (backoff_limits(retry_i)),
    .set_i          (c_valid_i && (slid || c_restart_i || (c_add_i && empty_before))),
    .set_idx_i      (c_buffer_q),
    .set_armed_i    (!empty_after),
    .set_class_i    (c_restart_i ? doublings(state_new.retries, backoff_i) : '0),
    .expired_valid_o(expired_valid_o),
    .expired_idx_o  (expired_o),
    .expired_ready_i(expired_take_i),
    .decided_i      (c_valid_i && c_timeout_i),
    .expired_now_o  (c_expired_o)
  );

  // ------------------------------------------------------------------------------------------------- what is known of all buffers at once
  logic [N_BUFFERS-1:0] room_q, used_q, again_q;
  logic [COUNT_W-1:0]   again_at_q [N_BUFFERS];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      room_q  <= '1;
      used_q  <= '0;
      again_q <= '0;
    end else if (write) begin
      room_q[c_buffer_q]  <= room_after;
      used_q[c_buffer_q]  <= !empty_after;
      again_q[c_buffer_q] <= again_after;
    end
    if (write) again_at_q[c_buffer_q] <= state_new.again;
  end

  logic lists_empty;
  rdma_send_lists #(
    .N_TX_CTX (N_TX_CTX),
    .N_BUFFERS(N_BUFFERS)
  ) i_lists (
    .clk_i,
    .rst_ni,
    .room_i  (room_q),
    .push_i  (d_wait_i),
    .sid_i   (d_sid_i),
    .buffer_i(d_buffer_i),
    .valid_o (waiting_valid_o),
    .take_i  (waiting_take_i),
    .sid_o   (waiting_sid_o),
    .buffer_o(waiting_o),
    .empty_o (lists_empty)
  );
  assign idle_o = used_q == '0 && lists_empty;

  // ------------------------------------------------------------------------------------------------- A: a packet to be sent again
  // Read a clock before it is offered. Its turn may pass meanwhile: it is answered, or the window slides past it.
  typedef enum logic [1:0] {PICK, OFFER, DECIDE, SETTLE} again_e;
  again_e               turn_q;
  logic                 any, pick;
  logic [N_BUFFERS-1:0] unused_grants;
  logic [BUF_W-1:0]     chosen, turn_buffer_q;
  logic [COUNT_W-1:0]   turn_at_q;

  rr_arbiter #(
    .N(N_BUFFERS)
  ) i_choose (
    .clk_i,
    .rst_ni,
    .req_i  (again_q),
    .take_i (pick),
    .valid_o(any),
    .gnt_o  (unused_grants),
    .idx_o  (chosen)
  );
  assign pick = turn_q == PICK && any;

  ram_1r1w #(
    .DEPTH(N_BUFFERS * WINDOW),
    .WIDTH($bits(slot_t))
  ) i_again (
    .clk_i,
    .we_i   (c_valid_i && c_add_i),
    .waddr_i({c_buffer_q, c_next_o}),
    .wdata_i(c_added_i),
    .re_i   (pick),
    .raddr_i({chosen, again_at_q[chosen][SLOT_W-1:0]}),
    .rdata_o(again_slot_o)
  );

  assign again_valid_o = turn_q == OFFER;
  assign again_o       = turn_buffer_q;
  assign again_at_o    = turn_at_q[SLOT_W-1:0];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) turn_q <= PICK;
    else begin
      unique case (turn_q)
        PICK:    if (any) turn_q <= OFFER;
        OFFER:   if (again_take_i) turn_q <= DECIDE;  // it comes to B
                 else if (!again_q[turn_buffer_q] || again_at_q[turn_buffer_q] != turn_at_q) turn_q <= PICK;
        DECIDE:  turn_q <= SETTLE;                    // ... to C
        default: turn_q <= PICK;
      endcase
    end
    if (pick) begin
      turn_buffer_q <= chosen;
      turn_at_q     <= again_at_q[chosen];
    end
    if (again_take_i) b_again_q <= turn_at_q;
  end

  `ASSERT(AddedWhereThereIsRoom, !(c_valid_i && c_add_i) || !c_full_o)
  `ASSERT(EmptyAfter, !write || empty_after == (state_new.newest == state_new.oldest))
  `ASSERT(AgainAfter, !write || again_after == (state_new.again != state_new.again_end))
  `ASSERT(RoomAfter, !write || room_after == (COUNT_W'(state_new.newest - state_new.oldest) != COUNT_W'(WINDOW)))
  `ASSERT(AddedOrClosed, !(c_valid_i && c_add_i && c_close_i))
  `ASSERT(ClosedOnce, !(c_valid_i && c_close_i) || c_open_o)
  `ASSERT(AgainIsInTheWindow, !c_valid_i || state.again == state.again_end ||
          (COUNT_W'(state.again - state.oldest) <= COUNT_W'(state.newest - state.oldest) &&
           COUNT_W'(state.again_end - state.oldest) <= COUNT_W'(state.newest - state.oldest)))
  `ASSERT(OldestIsOpen, !c_valid_i || empty_before || state.open[state.oldest[SLOT_W-1:0]])
  `ASSERT(NoMoreThanFits, !c_valid_i || COUNT_W'(state.newest - state.oldest) <= COUNT_W'(WINDOW))
endmodule

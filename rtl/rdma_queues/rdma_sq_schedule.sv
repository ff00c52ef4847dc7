// SPDX-License-Identifier: Apache-2.0
// Decides which submission entries are read next and reserves the room for their completions, a queue at a time, round robin; reserves slots for
// arrivals in between (docs/rdma_queues.md, Reservation). A queue that holds all of its quota is passed over until it gives something back (Quotas).
//
// A visit takes six clocks: pick a queue, read its state, subtract, find the room, limit, issue. Nothing waits inside a visit, so a claim is answered within two.
`include "weft_assert.svh"

module rdma_sq_schedule
  import rdma_queues_pkg::*;
#(
  parameter int unsigned N_QUEUES = 8,
  parameter int unsigned FETCH    = 4,  // entries a burst, at most
  localparam int unsigned COUNT_W = $clog2(FETCH + 1)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // configuration of a queue that is enabled
  input  logic                cfg_we_i,
  input  queue_t              cfg_queue_i,
  input  queue_cfg_t          cfg_i,
  // state of the queues
  input  logic [N_QUEUES-1:0] off_i,
  input  logic [N_QUEUES-1:0] run_i,
  input  logic [N_QUEUES-1:0] live_i,
  input  index_t              tail_i    [N_QUEUES],
  input  index_t              cq_head_i [N_QUEUES],
  input  logic [N_QUEUES-1:0] kick_i,          // tail or completion head has moved
  // quotas: what a queue has given back of what it has asked for
  input  index_t              spared_i  [N_QUEUES],
  input  index_t              ended_i   [N_QUEUES],
  input  logic [N_QUEUES-1:0] give_i,          // one of both counts goes up with this clock
  // slots for arrivals
  input  logic                claim_valid_i,
  output logic                claim_ready_o,
  input  queue_t              claim_queue_i,
  output logic                claim_ok_o,      // with ready
  // bursts to read
  input  logic                order_room_i,    // there is room for FETCH entries; stays until an order is given
  output logic                order_valid_o,
  output queue_t              order_queue_o,
  output index_t              order_index_o,
  output logic [COUNT_W-1:0]  order_count_o,   // entries
  output logic [63:0]         order_addr_o,
  output index_t              asked_o   [N_QUEUES],
  output index_t              promised_o[N_QUEUES]
);
  localparam int unsigned IDX_W = $clog2(N_QUEUES);
  localparam int unsigned FETCH_W = $clog2(FETCH);

  typedef logic [IDX_W-1:0] idx_t;
  typedef enum logic [2:0] {
    PICK,
    READ,
    SUBTRACT,
    ROOM,
    LIMIT,
    ISSUE
  } step_e;

  step_e               step_q;
  logic                claiming_q;      // the visit is for a claim
  logic                void_q;          // the queue has stopped during the visit
  idx_t                queue_q, picked;
  logic [N_QUEUES-1:0] work_q;          // queues that may have something to fetch
  logic [N_QUEUES-1:0] parked_q;        // queues that have something to fetch and hold all of their quota
  logic [N_QUEUES-1:0] picked_one;
  logic                any_work, pick_work, pick_claim, allowed, fetch;

  assign pick_claim = step_q == PICK && claim_valid_i && (!claiming_q || !(any_work && order_room_i));
  assign pick_work  = step_q == PICK && !pick_claim && order_room_i && any_work;

  rr_arbiter #(
    .N(N_QUEUES)
  ) i_turns (
    .clk_i,
    .rst_ni,
    .req_i  (work_q),
    .take_i (pick_work),
    .valid_o(any_work),
    .gnt_o  (picked_one),
    .idx_o  (picked)
  );

  // ------------------------------------------------------------------------------------------------- a visit
  typedef struct packed {
    page_t sq_page;
    log2_t sq_log2;
    log2_t cq_log2;
    index_t quota;
  } place_t;

  place_t place, place_q;  // out of the RAM, and registered: the RAM's delay is enough for one clock
  index_t tail_q, asked_q, cq_head_q, promised_q;  // of the queue visited
  index_t waiting_q;                               // entries announced and not asked for
  index_t used_q;                                  // completion slots taken
  index_t room_q;                                  // free completion slots
  index_t spared_q, ended_q, given_q;              // of what was asked for, and counts in the quota no more
  index_t share_q;                                 // what is left of the quota
  index_t aligned;                                 // entries up to the end of this block of FETCH
  logic [COUNT_W-1:0] count_q;

  ram_sdp #(
    .DEPTH(N_QUEUES),
    .WIDTH($bits(place_t))
  ) i_places (
    .clk_i,
    .we_i   (cfg_we_i),
    .waddr_i(idx_t'(cfg_queue_i)),
    .wdata_i({cfg_i.sq_page, cfg_i.sq_log2, cfg_i.cq_log2, cfg_i.quota}),
    .re_i   (step_q == READ),
    .raddr_i(queue_q),
    .rdata_o(place)
  );

  function automatic index_t least(index_t a, index_t b);
    return a < b ? a : b;
  endfunction

  assign aligned = index_t'(FETCH) - (asked_q & index_t'(FETCH - 1));

  always_ff @(posedge clk_i) begin
    if (step_q == READ) begin
      tail_q     <= tail_i[queue_q];
      asked_q    <= asked_o[queue_q];
      cq_head_q  <= cq_head_i[queue_q];
      promised_q <= promised_o[queue_q];
      spared_q   <= spared_i[queue_q];
      ended_q    <= ended_i[queue_q];
    end
    if (step_q == SUBTRACT) begin
      waiting_q <= tail_q - asked_q;
      used_q    <= promised_q - cq_head_q;
      given_q   <= spared_q + ended_q;
      place_q   <= place;
    end
    if (step_q == ROOM) room_q <= ring_size(place_q.cq_log2) - used_q;
    if (step_q == ROOM) share_q <= place_q.quota == '0 ? '1 : place_q.quota + given_q - asked_q;
    if (step_q == LIMIT) count_q <= COUNT_W'(least(least(waiting_q, room_q), least(share_q, aligned)));
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_q     <= PICK;
      claiming_q <= 1'b0;
      void_q     <= 1'b0;
    end else begin
      unique case (step_q)
        PICK: begin
          if (pick_claim || pick_work) step_q <= READ;
          if (pick_claim || pick_work) claiming_q <= pick_claim;
          void_q <= 1'b0;
        end
        READ:     step_q <= SUBTRACT;
        SUBTRACT: step_q <= ROOM;
        ROOM:     step_q <= LIMIT;
        LIMIT:    step_q <= ISSUE;
        default:  step_q <= PICK;
      endcase
      if (step_q != PICK && !live_i[queue_q]) void_q <= 1'b1;
    end
    if (step_q == PICK) queue_q <= pick_claim ? idx_t'(claim_queue_i) : picked;
  end

  assign allowed = !void_q && (claiming_q ? live_i[queue_q] : run_i[queue_q]);
  assign fetch   = step_q == ISSUE && !claiming_q && allowed && count_q != '0;

  assign claim_ready_o = step_q == ISSUE && claiming_q;
  assign claim_ok_o    = allowed && room_q != '0;

  assign order_valid_o = fetch;
  assign order_queue_o = queue_t'(queue_q);
  assign order_index_o = asked_q;
  assign order_count_o = count_q;
  assign order_addr_o  = {place_q.sq_page, PAGE_SHIFT'(0)} | ring_offset(asked_q, place_q.sq_log2, SUBMISSION_SHIFT);

  // ------------------------------------------------------------------------------------------------- state of the queues
  for (genvar q = 0; q < int'(N_QUEUES); q++) begin : gen_queue
    logic visited, left_over, gives;
    assign visited   = queue_q == idx_t'(q);
    assign left_over = fetch && visited && waiting_q != index_t'(count_q);  // come again
    assign gives     = give_i[q] && (parked_q[q] || (step_q != PICK && visited));  // the visit may have read the counts before
    always_ff @(posedge clk_i) begin
      if (!rst_ni || off_i[q]) begin
        work_q[q]     <= 1'b0;
        parked_q[q]   <= 1'b0;
        asked_o[q]    <= '0;
        promised_o[q] <= '0;
      end else begin
        work_q[q] <= (work_q[q] && !(pick_work && picked_one[q])) || kick_i[q] || left_over || gives;
        if (step_q == ISSUE && !claiming_q && visited) parked_q[q] <= waiting_q != '0 && share_q == '0;
        if (fetch && visited) asked_o[q] <= asked_q + index_t'(count_q);
        if (fetch && visited) promised_o[q] <= promised_q + index_t'(count_q);
        else if (claim_ready_o && claim_ok_o && visited) promised_o[q] <= promised_q + 1'b1;
      end
    end
    index_t waiting;
    assign waiting = tail_i[q] - asked_o[q];
    `ASSERT(AskedWithinTail, off_i[q] || waiting <= index_t'(1 << 15))
    index_t held;
    assign held = asked_o[q] - spared_i[q] - ended_i[q];
    `ASSERT(GivenWasAsked, off_i[q] || held <= index_t'(1 << 15))
    `ASSERT(OffHoldsNoQuota, !off_i[q] || held == '0)  // in its first clock, before the counts are cleared
  end

  logic unused;
  assign unused = ^{cfg_i, cfg_queue_i, claim_queue_i};

  `ASSERT(NeverOverPromised, step_q != LIMIT || room_q <= ring_size(place_q.cq_log2))
  `ASSERT(NeverOverQuota, step_q != LIMIT || place_q.quota == '0 || share_q <= place_q.quota)
  `ASSERT(OrderHasRoom, !order_valid_o || order_room_i)
  `ASSERT(BurstInBlock, !order_valid_o || 32'(order_index_o[FETCH_W-1:0]) + 32'(order_count_o) <= FETCH)
`ifdef VERILATOR
  `ASSERT(ClaimStable, claim_valid_i && !claim_ready_o |=> claim_valid_i && $stable(claim_queue_i))
`endif
endmodule

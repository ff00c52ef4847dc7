// SPDX-License-Identifier: Apache-2.0
// Answers to READs of other nodes (docs/rdma_transfers.md, Receiver): counts them, in all and by group of sources, knows each by its READ, queues them for the
// sender, and says how many contexts are kept for them.
//
// The receiver asks for room, takes a place, and gives the post some clocks later: so it always has room here. An answer keeps its place until it is over;
// the number of the place goes with its post as tag, and comes back from the sender.
//
// DEPTH      answers at the most, a power of two from 2
// N_TX_CTX   contexts of the sender; software is left at least one
// N_SOURCES  groups of sources with a quota each, a power of two
//
// Timing: id_i in the receiver's stage A, room and asked four clocks later in E, where a place is taken. An answer counts for a READ that is one clock behind,
// and is known to it: a READ is compared in C with the places, and with the two READs ahead, of which it is known in E whether they took one.
// Latency: a post two clocks; room and contexts kept follow in the next clock, the register ANSWERS a clock later. What is over counts against its source's
// quota for up to five clocks more.
`include "weft_assert.svh"

module rdma_answers
  import rdma_pkg::*;
#(
  parameter int unsigned DEPTH     = 16,
  parameter int unsigned N_TX_CTX  = 1024,
  parameter int unsigned N_SOURCES = 256,
  parameter int unsigned NODE_W    = 16,
  parameter int unsigned SID_W     = 10,
  parameter int unsigned MSGID_W   = 20
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        ready_o,        // tables are initialised
  output logic        idle_o,         // no answer is posted or under way
  input  logic [15:0] answers_i,      // so many at a time, register ANSWERS; DEPTH and N_TX_CTX - 1 at the most
  input  logic [15:0] quota_i,        // so many of a group of sources, 0: no limit
  // receiver
  input  read_id_t    id_i,           // if it is a READ that comes in
  output logic        answer_asked_o, // that READ has its answer
  output logic        answer_room_o,  // one more may be taken
  input  logic        answer_take_i,  // one is; its post comes later
  input  logic        read_valid_i,
  input  post_t       read_i,
  // sender
  output logic        post_valid_o,
  input  logic        post_ready_i,
  output post_t       post_o,
  input  logic        done_i,         // an answer is over, and in this clock its context is freed
  input  logic [15:0] done_tag_i,     // of its post
  output logic [15:0] keep_o          // contexts to be left to answers
);
  localparam int unsigned MOST    = DEPTH < N_TX_CTX ? DEPTH : N_TX_CTX - 1;
  localparam int unsigned COUNT_W = $clog2(DEPTH + 1);
  localparam int unsigned PLACE_W = $clog2(DEPTH);

  if (DEPTH < 2 || (DEPTH & (DEPTH - 1)) != 0) begin : g_bad_depth
    $error("DEPTH must be a power of two of at least 2, is %0d", DEPTH);
  end
  if (N_TX_CTX < 2) begin : g_bad_n
    $error("N_TX_CTX must be at least 2, is %0d", N_TX_CTX);
  end

  // A READ as far as it can differ from another one.
  typedef struct packed {
    logic [NODE_W-1:0]  node;
    logic [SID_W-1:0]   ticket;
    logic [MSGID_W-1:0] number;
  } id_t;

  logic               slots_ready, quota_ready;
  assign ready_o = slots_ready && quota_ready;

  // ------------------------------------------------------------------------------------------------- places, and who has them
  id_t                b_q, c_q, d_q, e_q;          // in these stages of the receiver
  id_t  [DEPTH-1:0]   kept_q;
  logic [DEPTH-1:0]   used_q, match_q;
  logic [PLACE_W-1:0] place, done_place, post_place;
  logic               place_valid, found_q, over, done_q;
  logic               same_one_q, same_two_q, same_one_qq, same_two_qq;  // as the one ahead, two ahead
  logic               take_q, take_qq;             // the one ahead took a place, two ahead
  logic [NODE_W-1:0]  done_node_q;

  assign done_place = done_tag_i[PLACE_W-1:0];

  always_ff @(posedge clk_i) begin
    b_q <= '{node: NODE_W'(id_i.node), ticket: SID_W'(id_i.ticket), number: MSGID_W'(id_i.number)};
    c_q <= b_q;
    d_q <= c_q;
    e_q <= d_q;
    for (int unsigned i = 0; i < DEPTH; i++) match_q[i] <= used_q[i] && kept_q[i] == c_q;
    same_one_q  <= d_q == c_q;
    same_two_q  <= e_q == c_q;
    found_q     <= match_q != '0;
    same_one_qq <= same_one_q;
    same_two_qq <= same_two_q;
    done_node_q <= kept_q[done_place].node;
    for (int unsigned i = 0; i < DEPTH; i++) if (place_valid && place == PLACE_W'(i)) kept_q[i] <= e_q;  // means nothing until it is used
    if (!rst_ni) begin
      used_q  <= '0;
      take_q  <= 1'b0;
      take_qq <= 1'b0;
      done_q  <= 1'b0;
    end else begin
      for (int unsigned i = 0; i < DEPTH; i++) begin
        if (answer_take_i && place == PLACE_W'(i)) used_q[i] <= 1'b1;
        if (done_i && done_place == PLACE_W'(i)) used_q[i] <= 1'b0;
      end
      take_q  <= answer_take_i;
      take_qq <= take_q;
      done_q  <= done_i;
    end
  end

  assign answer_asked_o = found_q || (same_one_qq && take_q) || (same_two_qq && take_qq);

  free_list #(
    .N(DEPTH)
  ) i_places (
    .clk_i,
    .rst_ni,
    .ready_o  (slots_ready),
    .valid_o  (place_valid),
    .id_o     (place),
    .pop_i    (answer_take_i),
    .push_i   (done_i),
    .push_id_i(done_place),
    .count_o  ()  // not needed
  );

  rdma_quota #(
    .N_SOURCES(N_SOURCES),
    .NODE_W   (NODE_W),
    .COUNT_W  (COUNT_W + 1)  // with those that are over and still count
  ) i_quota (
    .clk_i,
    .rst_ni,
    .ready_o   (quota_ready),
    .quota_i,
    .src_i     (b_q.node),
    .over_o    (over),
    .grant_i   (answer_take_i),
    .free_i    (done_q),
    .free_src_i(done_node_q)
  );

  // ------------------------------------------------------------------------------------------------- counts
  logic [COUNT_W-1:0] bound_q;      // answers at a time
  logic [COUNT_W-1:0] count_q;      // taken, and not over
  logic [COUNT_W-1:0] under_way_q;  // of those, the ones that have a context
  logic [COUNT_W-1:0] count, kept, waiting;
  logic               room_q, start, has_room;

  assign start = post_valid_o && post_ready_i;
  assign count = count_q + COUNT_W'(answer_take_i) - COUNT_W'(done_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      bound_q     <= '0;
      count_q     <= '0;
      under_way_q <= '0;
      room_q      <= 1'b0;
    end else begin
      bound_q     <= answers_i > 16'(MOST) ? COUNT_W'(MOST) : COUNT_W'(answers_i);
      count_q     <= count;
      under_way_q <= under_way_q + COUNT_W'(start) - COUNT_W'(done_i);
      room_q      <= count < bound_q;
    end
  end

  assign answer_room_o = room_q && place_valid && !over;
  assign kept          = bound_q > under_way_q ? bound_q - under_way_q : '0;
  assign keep_o        = 16'(kept);
  assign idle_o        = count_q == '0;

  // ------------------------------------------------------------------------------------------------- posts, in the order in which places were taken
  post_t post;
  logic  places_ready, post_place_valid;

  always_comb begin : p_post
    post_o     = post;
    post_o.tag = 16'(post_place);
  end

  ram_fifo #(
    .DEPTH(DEPTH),
    .WIDTH(PLACE_W)
  ) i_taken (
    .clk_i,
    .rst_ni,
    .valid_i(answer_take_i),
    .ready_o(places_ready),
    .data_i (place),
    .valid_o(post_place_valid),
    .ready_i(start),
    .data_o (post_place),
    .count_o()  // not needed
  );

  ram_fifo #(
    .DEPTH(DEPTH),
    .WIDTH($bits(post_t))
  ) i_posts (
    .clk_i,
    .rst_ni,
    .valid_i(read_valid_i),
    .ready_o(has_room),
    .data_i (read_i),
    .valid_o(post_valid_o),
    .ready_i(post_ready_i),
    .data_o (post),
    .count_o(waiting)
  );

  logic unused;
  assign unused = ^{id_i, done_tag_i, post.tag};  // no wider than the engine's numbers

`ifndef SYNTHESIS
  logic [DEPTH-1:0] twins;
  always_comb for (int unsigned i = 0; i < DEPTH; i++) twins[i] = used_q[i] && kept_q[i] == e_q;
  `ASSERT(OneAnswerARead, !answer_take_i || twins == '0)
`endif
  `ASSERT(TakenWithRoom, !answer_take_i || (answer_room_o && !answer_asked_o))
  `ASSERT(PlaceIsTakenOnce, !answer_take_i || !used_q[place])
  `ASSERT(TakenHasRoom, !answer_take_i || places_ready)
  `ASSERT(PostHasAPlace, !post_valid_o || post_place_valid)
  `ASSERT(DonePlaceWasUsed, !done_i || used_q[done_place])
  `ASSERT(AnswersWithinDepth, count_q <= COUNT_W'(MOST))
  `ASSERT(ReadHasRoom, !read_valid_i || has_room)
  `ASSERT(ReadWasTaken, !read_valid_i || 32'(waiting) + 32'(under_way_q) < 32'(count_q))
  `ASSERT(DoneWasUnderWay, !done_i || under_way_q != '0)
endmodule

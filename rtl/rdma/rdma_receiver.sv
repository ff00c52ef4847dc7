// SPDX-License-Identifier: Apache-2.0
// Receiver of the RDMA engine: one event (packet or timeout) a clock, for any order of contexts, also the same one back to
// back. Protocol and context: docs/rdma.md, Receiver.
//
//   A-E   choose the event; of a request: check it, look whether it was granted before, find room for an answer and a context (rdma_rx_front)
//   F  G  read the context                         (ram_forward sees what J and H write meanwhile)
//   H     a grant writes its part of the context; compare the packet with it; open the window
//   I     one step of the state that packets change      (an event in H takes it over at once, or a clock later)
//   J     write it back; outcome; restart the timer
//   K  L  answer
//   M     act: write command, control packet, freed context, trace
//
// With TRANSFERS (docs/rdma_transfers.md) requests that the inbox has looked at come by an input of their own, and READs are checked as requests are: what
// they ask for is told in M. What is said about a request is carried in its verdict and header where these have no use otherwise; so from E on arg of a
// request that is granted has the RKEY for its RSP.
//
// Why so: docs/rdma_receiver.md. The pipeline never waits once an event is in it: A takes an event only while the write
// commands behind M have room for all that is under way. Control packets that find no room are dropped (a timer repeats them).
`include "weft_assert.svh"
`include "rdma_typedef.svh"

module rdma_receiver
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned N_RX_CTX  = 1024,  // receive contexts, a power of two
  parameter int unsigned WINDOW    = 128,   // bits of the receive window, a power of two
  parameter int unsigned PAYLOAD   = 256,   // bytes of a full packet
  parameter int unsigned PIDX_W    = 24,
  parameter int unsigned CID_W     = 10,
  parameter int unsigned SID_W     = 10,
  parameter int unsigned MSGID_W   = 20,
  parameter int unsigned NODE_W    = 16,
  parameter int unsigned ADDR_W    = 48,
  parameter int unsigned N_REGIONS = 64,    // memory regions, a power of two
  parameter int unsigned N_SOURCES = 256,   // groups of sources with a quota each, a power of two
  parameter int unsigned CTL_DEPTH = 32,    // control packets that may wait
  parameter int unsigned CMD_DEPTH = 32,    // write commands that may wait
  parameter bit          TRANSFERS = 1'b0,  // SEND, READ and write with immediate; without, their inputs are not looked at
  parameter bit          REPEATS   = 1'b1,  // a repeated request gets its grant again; without, a context of its own
  parameter int unsigned SCHEME    = SCHEME_WINDOW  // what it keeps of packets
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  output logic                ready_o,  // contexts are initialised
  output logic                idle_o,   // no event under way, no control packet waiting
  // configuration
  input  logic [        15:0] node_id_i,
  input  logic                region_set_i,      // region_idx_i becomes this one
  input  logic [         7:0] region_idx_i,
  input  logic                region_write_i,    // it is open to remote writes; each right only if it is not empty
  input  logic                region_read_i,     // ... to remote reads
  input  logic                region_receive_i,  // buffers posted here may lie in it
  input  logic [        15:0] region_key_i,
  input  logic [   ADDR_W-$clog2(PAYLOAD)-1:0] region_base_i,  // payloads
  input  logic [offset_bits(ADDR_W-$clog2(PAYLOAD))-1:0] region_last_i,  // its last payload, counted from the base
  input  logic [ LIMIT_W-1:0] timeout_i,         // ticks
  input  logic [         1:0] ask_from_after_i,
  input  logic [         3:0] max_silent_i,
  input  logic [         1:0] backoff_i,         // a timeout doubles so often at the most
  input  logic [         7:0] ahead_i,           // by how much PIDX may get ahead of a packet, 0: not known
  input  logic [        15:0] quota_i,           // contexts of a group of sources, 0: no limit
  input  logic                weft_mode_i,
  input  logic [  TICK_W-1:0] now_i,             // ticks
  // packets
  input  logic                hdr_valid_i,
  output logic                hdr_ready_o,
  input  header_t             hdr_i,
  input  outcome_e            verdict_i,
  input  logic                hdr_busy_i,        // a RQT or the refusal of a READ that the inbox had no room for: there is none for an answer either
  // requests from the inbox, which are taken first: so they must be rare
  input  logic                req_valid_i,
  output logic                req_ready_o,
  input  admitted_t           req_i,
  // READs, in E: its answer is posted or under way; one more may be answered; it is taken, which counts from the next clock on
  input  logic                answer_asked_i,
  input  logic                answer_room_i,
  output logic                answer_take_o,
  // what to do with the payload of a good DATA packet, in order
  output logic                cmd_valid_o,
  input  logic                cmd_ready_i,
  output logic                cmd_write_o,       // write it, else discard it
  output logic [  ADDR_W-1:0] cmd_addr_o,
  output logic [        15:0] cmd_len_o,         // bytes
  output logic [   CID_W-1:0] cmd_cid_o,
  // control packets, in order; one that waits for writes leaves when writes_done_i (a count) has come so far
  input  logic [WRITES_W-1:0] writes_done_i,
  output logic                ctl_valid_o,
  input  logic                ctl_ready_i,
  output header_t             ctl_o,
  output logic                ctl_grant_o,       // it grants a context, not for the second time
  output logic                ctl_dropped_o,     // a control packet found no room
  // READs taken, some clocks later
  output logic                read_valid_o,
  output post_t               read_o,
  // each event, for the inbox
  output logic                ret_valid_o,
  output rx_retired_t         ret_o,
  // trace: one record per event, see docs/rdma.md
  output logic                trace_valid_o,
  output logic                trace_timeout_o,
  output outcome_e            trace_outcome_o,
  output logic                trace_room_o,
  output logic                trace_offer_valid_o,
  output logic [        15:0] trace_offer_cid_o,
  output logic                trace_over_quota_o,
  output admit_e              trace_admit_o,     // what the inbox said about it
  output logic                trace_from_inbox_o,
  output logic                trace_answer_asked_o,
  output logic                trace_answer_room_o,
  output logic [        15:0] trace_cid_o,
  output logic [  TICK_W-1:0] trace_now_o,
  output logic [        31:0] trace_wbase_o,
  output logic [  WINDOW-1:0] trace_wvec_o
);
  localparam int unsigned SHIFT = $clog2(PAYLOAD);

  if (N_RX_CTX < 2 || (N_RX_CTX & (N_RX_CTX - 1)) != 0) begin : g_bad_n
    $error("N_RX_CTX must be a power of two of at least 2, is %0d", N_RX_CTX);
  end
  if (N_RX_CTX > 32768) begin : g_bad_max
    $error("N_RX_CTX must be at most 32768, is %0d", N_RX_CTX);
  end
  if (N_RX_CTX > (1 << CID_W) || CID_W > 16) begin : g_bad_cid
    $error("CID_W (%0d) must number N_RX_CTX (%0d) contexts and be at most 16", CID_W, N_RX_CTX);
  end
  if (PIDX_W > 31 || SID_W > 16 || MSGID_W > 24 || NODE_W > 16) begin : g_bad_widths
    $error("PIDX_W (%0d), SID_W (%0d), MSGID_W (%0d), NODE_W (%0d) must be at most 31, 16, 24, 16", PIDX_W, SID_W,
           MSGID_W, NODE_W);
  end
  if (ADDR_W < SHIFT + PIDX_W || ADDR_W > 63) begin : g_bad_addr
    $error("ADDR_W (%0d) must hold a transfer of 2**PIDX_W (%0d) packets and be at most 63", ADDR_W, PIDX_W);
  end
  if (SCHEME > SCHEME_SENDER) begin : g_bad_scheme
    $error("SCHEME must be %0d to %0d, is %0d", SCHEME_WINDOW, SCHEME_SENDER, SCHEME);
  end
  if (SCHEME == SCHEME_COUNTER && (TRANSFERS || WINDOW < 64)) begin : g_bad_counter
    $error("a receiver that counts has no TRANSFERS, and needs a WINDOW (%0d) of at least 64 for its trace", WINDOW);
  end
  if (SCHEME == SCHEME_SENDER && TRANSFERS) begin : g_bad_transfers
    $error("a receiver that answers each packet has no TRANSFERS");
  end

  localparam int unsigned IDX_W = $clog2(N_RX_CTX);
  localparam int unsigned BASE_W = ADDR_W - SHIFT;
  localparam int unsigned OFFSET_W = offset_bits(BASE_W);
  localparam int unsigned REGION_W = $clog2(N_REGIONS);
  localparam int unsigned GRANTED_W = REGION_W + 32'(TRANSFERS);  // of a region in a grant

  `RDMA_TYPEDEF_RX_EVENT(event_t, BASE_W, OFFSET_W, IDX_W)
  `RDMA_TYPEDEF_RX_GRANT(grant_t, NODE_W, SID_W, MSGID_W, GRANTED_W, OFFSET_W, PIDX_W, SHIFT)
  `RDMA_TYPEDEF_WINDOW(window_t, WINDOW, PIDX_W)
  `RDMA_TYPEDEF_RX_KEPT(kept_t, window_t)
  localparam int unsigned KEPT_W = SCHEME == SCHEME_COUNTER ? counter_bits(PIDX_W) : SCHEME == SCHEME_SENDER ? 1 : $bits(kept_t);
  typedef logic [KEPT_W-1:0] kept_bits_t;
  `RDMA_TYPEDEF_RX_STATE(state_t, kept_bits_t)

  typedef struct packed {
    logic              timeout;
    outcome_e          outcome;
    logic              room;
    logic              offer_valid;
    logic [IDX_W-1:0]  offer;
    logic              over_quota;
    logic [15:0]       cid;
    logic [TICK_W-1:0] now;
    logic [PIDX_W-1:0] wbase;
    logic              has_ctx;
    logic              command;      // there is payload to write or to discard
    logic              write;
    logic [ADDR_W-1:0] addr;
    logic [15:0]       len;
    logic              free;
    logic              from_inbox;
    admit_e            admit;
    logic              answer_asked, answer_room;
    logic              has_imm;
    logic [31:0]       word;         // immediate; of a READ its bytes
  } action_t;

  // ------------------------------------------------------------------------------------------------- A to E
  event_t f_q, g_q, h_q, i_q, j_q;
  logic   f_valid_q, g_valid_q, h_valid_q, i_valid_q, j_valid_q, k_valid_q, l_valid_q, m_valid_q;
  logic   front_ready, timer_ready, front_busy, clearing;
  logic   a_room, ctl_room, expired_valid, expired_ready, j_frees, j_forget;
  logic [IDX_W-1:0]  clear_idx, expired_idx;
  logic [NODE_W-1:0] j_src;  // of the context
  action_t           m_q;

  assign ready_o = front_ready && timer_ready;

  rdma_rx_front #(
    .N_RX_CTX (N_RX_CTX),
    .PAYLOAD  (PAYLOAD),
    .PIDX_W   (PIDX_W),
    .SID_W    (SID_W),
    .NODE_W   (NODE_W),
    .ADDR_W   (ADDR_W),
    .N_REGIONS(N_REGIONS),
    .N_SOURCES(N_SOURCES),
    .TRANSFERS(TRANSFERS),
    .REPEATS  (REPEATS),
    .event_t  (event_t)
  ) i_front (
    .clk_i,
    .rst_ni,
    .ready_o        (front_ready),
    .clear_o        (clearing),
    .clear_idx_o    (clear_idx),
    .busy_o         (front_busy),
    .region_set_i,
    .region_idx_i,
    .region_write_i,
    .region_read_i,
    .region_receive_i,
    .region_key_i,
    .region_base_i,
    .region_last_i,
    .quota_i,
    .accept_i       (ready_o && a_room),
    .hdr_valid_i,
    .hdr_ready_o,
    .hdr_i,
    .verdict_i,
    .hdr_busy_i,
    .req_valid_i,
    .req_ready_o,
    .req_i,
    .expired_valid_i(expired_valid),
    .expired_ready_o(expired_ready),
    .expired_idx_i  (expired_idx),
    .ctl_room_i     (ctl_room),
    .answer_asked_i,
    .answer_room_i,
    .answer_take_o,
    .valid_o        (f_valid_q),
    .event_o        (f_q),
    .free_i         (m_valid_q && m_q.free),
    .free_cid_i     (m_q.cid[IDX_W-1:0]),
    .frees_i        (j_frees),
    .frees_src_i    (j_src),
    .forget_i       (j_forget),
    .forget_src_i   (IDX_W'(j_q.hdr.src[NODE_W-1:0])),
    .forget_sid_i   (IDX_W'(j_q.hdr.sid[SID_W-1:0]))
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {g_valid_q, h_valid_q, i_valid_q, j_valid_q, k_valid_q, l_valid_q, m_valid_q} <= '0;
    end else begin
      {g_valid_q, h_valid_q, i_valid_q, j_valid_q} <= {f_valid_q, g_valid_q, h_valid_q, i_valid_q};
      {k_valid_q, l_valid_q, m_valid_q} <= {j_valid_q, k_valid_q, l_valid_q};
    end
    g_q <= f_q;
    h_q <= g_q;
    i_q <= h_q;
    j_q <= i_q;
  end

  // ------------------------------------------------------------------------------------------------- F, G: read; H: compare
  logic [IDX_W-1:0] h_idx, i_idx, j_idx;
  grant_t           h_kept_grant, h_grant, i_grant_q, j_grant_q;
  state_t           h_kept, j_kept;
  logic             h_known, h_source_ok, h_sid_ok, h_msgid_ok, h_match, h_key_ok, h_beyond_end, h_at_last, h_good_length, h_good_mark, h_outside;
  logic [OFFSET_W:0] h_place;          // of the packet in its region
  logic [BASE_W-1:0] i_place_q, j_place_q;  // ... and on the bus, payloads
  logic             i_known_q, i_source_ok_q, i_sid_ok_q, i_msgid_ok_q, i_match_q, i_key_ok_q, i_beyond_end_q, i_good_length_q, i_good_mark_q, i_outside_q;
  logic             h_same_q, i_same_q;  // same context as the event one ahead
  logic             h_same_as_j_q;       // ... two ahead
  logic [PIDX_W-1:0] i_packets_q, j_packets_q;  // first PIDX beyond the end

  assign h_idx = h_q.hdr.cid[IDX_W-1:0];
  assign i_idx = i_q.hdr.cid[IDX_W-1:0];
  assign j_idx = j_q.hdr.cid[IDX_W-1:0];

  ram_forward #(
    .DEPTH(N_RX_CTX),
    .WIDTH($bits(grant_t))
  ) i_grants (
    .clk_i,
    .we_i   (clearing || (h_valid_q && h_q.request)),
    .waddr_i(clearing ? clear_idx : h_idx),
    .wdata_i(clearing ? '0 : h_grant),
    .raddr_i(f_q.hdr.cid[IDX_W-1:0]),
    .rdata_o(h_kept_grant)
  );

  // Every event writes the state of its context, changed or not: what it does is known too late for a choice.
  ram_forward #(
    .DEPTH(N_RX_CTX),
    .WIDTH($bits(state_t))
  ) i_states (
    .clk_i,
    .we_i   (clearing || j_valid_q),
    .waddr_i(clearing ? clear_idx : j_idx),
    .wdata_i(clearing ? '0 : j_kept),
    .raddr_i(f_q.hdr.cid[IDX_W-1:0]),
    .rdata_o(h_kept)
  );

  always_comb begin : p_grant
    h_grant = h_kept_grant;
    if (h_q.request) begin
      h_grant = '{
        gen:   h_kept_grant.gen + 1'b1,
        src:   NODE_W'(h_q.hdr.src),
        sid:   SID_W'(h_q.hdr.sid),
        msgid: MSGID_W'(h_q.hdr.msgid),
        region: GRANTED_W'({h_q.admit == ADMIT_BUFFER, REGION_W'(h_q.hdr.gen)}),
        offset: h_q.offset,
        last:  PIDX_W'(h_q.last >> SHIFT),
        tail:  SHIFT'(h_q.last)
      };
    end
  end

  assign h_known       = h_q.hdr.cid < 16'(N_RX_CTX);
  assign h_place       = (OFFSET_W + 1)'(h_kept_grant.offset) + (OFFSET_W + 1)'(h_q.hdr.pidx[PIDX_W-1:0]);
  assign h_outside     = h_place > (OFFSET_W + 1)'(h_q.region_last);
  assign h_source_ok   = h_q.hdr.src == 16'(h_kept_grant.src);
  assign h_sid_ok      = h_q.hdr.sid == 16'(h_kept_grant.sid);
  assign h_msgid_ok    = h_q.hdr.msgid == 24'(h_kept_grant.msgid);
  assign h_match       = h_source_ok && h_sid_ok && h_msgid_ok && (h_q.again || h_q.hdr.gen == h_kept_grant.gen);
  assign h_key_ok      = h_q.hdr.arg[23:16] == 8'(h_kept_grant.region[REGION_W-1:0]) &&
                         (TRANSFERS && h_kept_grant.region[GRANTED_W-1] ? h_q.receivable : h_q.writable);  // by the right of its grant
  assign h_beyond_end  = h_q.hdr.pidx > 32'(h_kept_grant.last);
  assign h_at_last     = h_q.hdr.pidx == 32'(h_kept_grant.last);
  assign h_good_length = h_q.len_less == (h_at_last ? 16'(h_kept_grant.tail) : 16'(PAYLOAD - 1));
  assign h_good_mark   = h_at_last == ((h_q.hdr.flags & FLAG_LAST) != '0);

  // ------------------------------------------------------------------------------------------------- I: step
  logic       i_used_q, i_used_new, j_used_q;
  logic       i_came_q, i_came_new, j_came_q;
  logic [3:0] i_silent_q, i_silent_new, j_silent_q;
  logic       j_key_ok_q;           // for an assertion
  logic       i_data_q, i_release_q;  // of this context's transfer, and well-formed; DATA perhaps outside its region
  logic       i_receive, i_advance, i_mark, i_live, i_reclaim, i_complete, i_asked_enough, i_asked, i_released, i_in_window, i_behind, i_ahead, i_ask_base;
  logic       i_timer_set, j_timer_set_q, j_timer_armed_q;
  logic [1:0] j_timer_class_q;
  logic       i_expired_q, i_restarted_q, expired_now;
  logic       j_complete, j_quarter;
  logic [PIDX_W-1:0] j_base_before, j_base, j_hole;
  logic              i_restart, i_not_yet, j_ordered;
  logic [8:0]        j_attempt;
  logic [PIDX_W-1:0] j_marks_base;  // what WVEC is made of
  logic [WINDOW-1:0] j_marks;

  always_ff @(posedge clk_i) begin
    h_same_q <= g_valid_q && h_valid_q && g_q.hdr.cid[IDX_W-1:0] == h_idx;
    i_same_q <= h_same_q;
    h_same_as_j_q <= g_valid_q && i_valid_q && g_q.hdr.cid[IDX_W-1:0] == i_idx;
    if (h_q.request) begin
      {i_used_q, i_came_q, i_silent_q} <= {1'b1, 1'b0, 4'd0};
    end else if (h_same_q) begin
      {i_used_q, i_came_q, i_silent_q} <= {i_used_new, i_came_new, i_silent_new};
    end else begin
      {i_used_q, i_came_q, i_silent_q} <= h_same_as_j_q ? {j_used_q, j_came_q, j_silent_q} : {h_kept.used, h_kept.came, h_kept.silent};
    end
    i_grant_q       <= h_grant;
    i_packets_q     <= h_grant.last + 1'b1;
    i_known_q       <= h_known;
    i_source_ok_q   <= h_source_ok;
    i_sid_ok_q      <= h_sid_ok;
    i_msgid_ok_q    <= h_msgid_ok;
    i_match_q       <= h_match;
    i_key_ok_q      <= h_key_ok;
    i_beyond_end_q  <= h_beyond_end;
    i_good_length_q <= h_good_length;
    i_good_mark_q   <= h_good_mark;
    i_outside_q     <= h_outside;
    i_place_q       <= BASE_W'(h_place);
    i_data_q        <= h_valid_q && h_q.data && h_known && h_match && h_key_ok && !h_beyond_end && h_good_length && h_good_mark;  // whether in its region, I looks
    i_release_q     <= h_valid_q && h_q.release_it && h_known && h_match;
    // By the event two ahead; the one ahead is looked at in I.
    i_expired_q     <= expired_now;
    i_restarted_q   <= j_valid_q && j_timer_set_q && j_idx == h_idx;
  end

  if (SCHEME == SCHEME_WINDOW) begin : g_window
    kept_t j_kept_window;
    assign j_kept.kept  = j_kept_window;
    assign j_marks_base = j_kept_window.window.base;
    assign j_marks      = j_kept_window.window.marks;
    assign i_restart    = 1'b0;
    assign i_not_yet    = 1'b0;
    assign j_attempt    = '0;

    rdma_rx_window #(
      .WINDOW(WINDOW),
      .PIDX_W(PIDX_W),
      .kept_t(kept_t)
    ) i_window (
      .clk_i,
      .rst_ni,
      .weft_mode_i,
      .ask_from_after_i,
      .ahead_i,
      .g_pidx_i        (g_q.hdr.pidx[PIDX_W-1:0]),
      .h_request_i     (h_q.request),
      .h_same_i        (h_same_q),
      .h_same_as_j_i   (h_same_as_j_q),
      .h_pidx_i        (h_q.hdr.pidx[PIDX_W-1:0]),
      .h_kept_i        (kept_t'(h_kept.kept)),
      .i_valid_i       (i_valid_q && i_used_q && i_known_q),
      .i_receive_i     (i_receive),
      .i_retry_i       ((i_q.hdr.flags & FLAG_RETRY) != '0),
      .i_pidx_i        (i_q.hdr.pidx[PIDX_W-1:0]),
      .i_packets_i     (i_packets_q),
      .i_asks_i        (i_live && !i_reclaim),
      .i_came_i        (i_came_q),
      .i_mark_o        (i_mark),
      .i_advance_o     (i_advance),
      .i_in_window_o   (i_in_window),
      .i_behind_o      (i_behind),
      .i_ahead_o       (i_ahead),
      .i_ask_base_o    (i_ask_base),
      .i_complete_o    (i_complete),
      .i_asked_enough_o(i_asked_enough),
      .i_asked_o       (i_asked),
      .j_packets_i     (j_packets_q),
      .j_kept_o        (j_kept_window),
      .j_base_before_o (j_base_before),
      .j_base_o        (j_base),
      .j_hole_o        (j_hole),
      .j_ordered_o     (j_ordered),
      .j_complete_o    (j_complete),
      .j_quarter_o     (j_quarter)
    );
  end else if (SCHEME == SCHEME_SENDER) begin : g_answered
    // Nothing is kept of packets: all that fit are written, and answered.
    assign i_mark     = i_receive;
    assign i_ask_base = i_receive;  // which restarts the timer
    assign i_not_yet  = i_release_q && i_used_q && (i_q.hdr.flags & FLAG_RETRY) != '0;
    assign {i_advance, i_in_window, i_behind, i_ahead, i_complete, i_asked_enough, i_asked, i_restart} = '0;
    assign {j_base_before, j_hole, j_base, j_marks_base, j_complete, j_quarter, j_ordered} = '0;
    assign j_kept.kept = '0;
    assign j_attempt   = {j_came_q, 8'd0};
    assign j_marks     = WINDOW'(1);  // none, in the polarity of an even lap
    logic unused_settings;
    assign unused_settings = ^{ask_from_after_i, ahead_i, h_kept.kept};
  end else begin : g_counter
    assign i_not_yet = 1'b0;
    rdma_rx_counter #(
      .PIDX_W(PIDX_W)
    ) i_counter (
      .clk_i,
      .f_pidx_i     (f_q.hdr.pidx[PIDX_W-1:0]),
      .h_request_i  (h_q.request),
      .h_same_i     (h_same_q),
      .h_same_as_j_i(h_same_as_j_q),
      .h_hdr_i      (h_q.hdr),
      .h_kept_i     (h_kept.kept),
      .i_receive_i  (i_receive),
      .i_last_i     (i_grant_q.last),
      .i_asks_i     (i_live && !i_reclaim),
      .i_advance_o  (i_advance),
      .i_behind_o   (i_behind),
      .i_complete_o (i_complete),
      .i_restart_o  (i_restart),
      .j_packets_i  (j_packets_q),
      .j_kept_o     (j_kept.kept),
      .j_count_o    (j_base),
      .j_complete_o (j_complete)
    );
    // There is no window: nothing lies in it, and all is asked for at once.
    assign {i_mark, i_in_window, i_ahead, i_ask_base, j_quarter} = '0;
    assign i_asked_enough = 1'b1;
    assign i_asked        = 1'b0;
    assign {j_base_before, j_hole, j_marks_base, j_ordered} = '0;
    assign j_attempt = {j_came_q, j_kept.kept[KEPT_W-1-:8]};
    assign j_marks   = WINDOW'({j_kept.kept[31:0], j_kept.kept[KEPT_W-1-:8], 1'b1});
    logic unused_settings;
    assign unused_settings = ^{ask_from_after_i, ahead_i};
  end

  assign i_receive   = i_data_q && i_used_q && !i_outside_q;
  assign i_released  = i_release_q && i_used_q && !i_not_yet;
  assign i_live      = i_valid_q && i_q.timeout && i_used_q && i_expired_q && !i_restarted_q &&
                       !(j_valid_q && j_timer_set_q && i_same_q);
  assign i_reclaim   = i_live && i_silent_q >= max_silent_i;
  assign i_timer_set = i_valid_q && (i_q.request || i_advance || i_released || i_live || i_ask_base || i_not_yet);

  always_comb begin : p_step
    i_used_new   = i_used_q && !i_released && !i_reclaim;
    i_came_new   = i_came_q || i_advance || i_mark;
    i_silent_new = i_silent_q;
    if (i_live && !i_reclaim) i_silent_new = i_silent_q + 1'b1;
    if (i_advance || i_mark || i_not_yet) i_silent_new = '0;
  end

  rdma_timer #(
    .N      (N_RX_CTX),
    .CLASSES(BACKOFFS)
  ) i_timer (
    .clk_i,
    .rst_ni,
    .ready_o        (timer_ready),
    .now_i          (STAMP_W'(now_i)),
    .limits_i       (backoff_limits(timeout_i)),
    .set_i          (j_timer_set_q),
    .set_idx_i      (j_idx),
    .set_armed_i    (j_timer_armed_q),
    .set_class_i    (j_timer_class_q),
    .expired_valid_o(expired_valid),
    .expired_idx_o  (expired_idx),
    .expired_ready_i(expired_ready),
    .decided_i      (j_valid_q && j_q.timeout),
    .expired_now_o  (expired_now)
  );

  // ------------------------------------------------------------------------------------------------- J: outcome
  rx_facts_t         i_facts, j_facts, j_facts_q;
  logic              j_free_q, j_weft_q, k_weft_q;
  outcome_e          j_outcome;
  logic              j_has_ctx;
  rx_answer_e        j_answer, k_answer_q;
  rx_to_t            j_to, k_to_q;
  action_t           j_action, k_q, l_q;
  logic [PIDX_W-1:0] k_marks_base_q;
  logic [WINDOW-1:0] k_marks_q;

  always_comb begin : p_facts
    i_facts                 = '0;
    i_facts.timeout         = i_q.timeout;
    i_facts.verdict         = i_q.verdict;
    i_facts.request         = i_q.request;
    i_facts.release_it      = i_q.release_it;
    i_facts.again           = i_q.again;
    i_facts.used            = i_used_q && i_known_q;
    i_facts.untouched       = !i_came_q;
    i_facts.source_ok       = i_source_ok_q;
    i_facts.sid_ok          = i_sid_ok_q;
    i_facts.msgid_ok        = i_msgid_ok_q;
    i_facts.match           = i_match_q;
    i_facts.beyond_end      = i_beyond_end_q;
    i_facts.good_length     = i_good_length_q;
    i_facts.good_mark       = i_good_mark_q;
    i_facts.key_ok          = i_key_ok_q;
    i_facts.outside         = i_outside_q;
    i_facts.mark            = i_mark;
    i_facts.advance         = i_advance;
    i_facts.ahead           = i_ahead;
    i_facts.in_window       = i_in_window;
    i_facts.behind          = i_behind;
    i_facts.live            = i_live;
    i_facts.reclaim         = i_reclaim;
    i_facts.asked           = i_came_q && i_asked;
    i_facts.complete_before = i_complete;
    i_facts.asked_enough    = i_asked_enough;
    i_facts.restart         = i_restart;
    i_facts.not_yet         = i_not_yet;
  end

  always_ff @(posedge clk_i) begin
    j_facts_q       <= i_facts;
    {j_used_q, j_came_q, j_silent_q} <= {i_used_new, i_came_new, i_silent_new};
    j_grant_q       <= i_grant_q;
    j_place_q       <= i_q.region_base + i_place_q;
    j_key_ok_q      <= i_key_ok_q;
    j_packets_q     <= i_packets_q;
    j_timer_set_q   <= i_timer_set;
    j_timer_armed_q <= !i_released && !i_reclaim;
    j_timer_class_q <= i_live ? doublings(i_silent_new, backoff_i) : '0;
    j_free_q        <= i_released || i_reclaim;
    j_weft_q        <= weft_mode_i;
  end

  assign {j_kept.used, j_kept.came, j_kept.silent} = {j_used_q, j_came_q, j_silent_q};

  assign j_frees  = j_valid_q && j_free_q;
  assign j_forget = j_valid_q && !j_q.from_inbox && j_facts.verdict == OUTCOME_NONE && j_facts.again &&
                    !(j_facts.used && j_facts.match && j_facts.untouched);
  assign j_src    = j_grant_q.src;

  always_comb begin : p_more_facts
    j_facts          = j_facts_q;
    j_facts.failed   = (j_q.hdr.flags & FLAG_FAILED) != '0;
    j_facts.complete = j_complete;
    j_facts.quarter  = j_quarter;
  end

  rdma_rx_outcome #(
    .TRANSFERS(TRANSFERS),
    .SCHEME   (SCHEME)
  ) j_outcomes (
    .facts_i    (j_facts),
    .weft_mode_i(SCHEME == SCHEME_WINDOW && j_weft_q),
    .outcome_o  (j_outcome),
    .has_ctx_o  (j_has_ctx),
    .answer_o   (j_answer)
  );

  // To whom: a timeout knows its transfer from the context, a packet that gets an answer carries the same itself.
  always_comb begin : p_to
    j_to = '{
      node:  j_q.timeout ? 16'(j_grant_q.src) : j_q.hdr.src,
      sid:   j_q.timeout ? 16'(j_grant_q.sid) : j_q.hdr.sid,
      msgid: j_q.timeout ? 24'(j_grant_q.msgid) : j_q.hdr.msgid,
      cid:   j_q.hdr.cid,
      gen:   j_grant_q.gen,
      pidx:  j_q.timeout || j_facts.restart ? 32'(j_base_before) : j_answer == RX_RESEND_HOLE ? 32'(j_hole) : j_q.hdr.pidx,
      attempt: j_attempt,
      slot:    SCHEME == SCHEME_SENDER ? j_q.hdr.arg[31:24] : '0,
      for_buffer: (j_q.hdr.flags & (TRANSFER_FLAG_SEND | TRANSFER_FLAG_READ)) != '0,
      of_read:    (j_q.hdr.flags & TRANSFER_FLAG_READ) != '0,
      is_read:    j_q.read,
      rkey:       j_q.hdr.arg[23:0],
      ordered:    j_ordered
    };
  end

  always_comb begin : p_action
    j_action             = '0;
    j_action.timeout     = j_q.timeout;
    j_action.outcome     = j_outcome;
    j_action.room        = j_q.room;
    j_action.offer_valid = j_q.offer_valid;
    j_action.offer       = j_q.offer;
    j_action.over_quota  = j_q.over_quota;
    j_action.cid         = j_q.hdr.cid;
    j_action.now         = now_i;
    j_action.has_ctx     = j_has_ctx;
    j_action.wbase       = j_has_ctx ? j_base : '0;
    j_action.command     = j_q.data;
    j_action.write       = j_facts.mark || j_facts.advance;
    j_action.addr        = {j_place_q, SHIFT'(0)};
    j_action.len         = j_q.hdr.len;
    j_action.free        = j_free_q;
    j_action.from_inbox  = j_q.from_inbox;
    j_action.admit       = j_q.admit;
    j_action.answer_asked = TRANSFERS && j_q.answer_asked;
    j_action.answer_room  = TRANSFERS && j_q.answer_room;
    if (TRANSFERS) begin
      if (j_q.read) j_action.addr = j_q.hdr.arg[ADDR_W-1:0];
      j_action.has_imm = j_q.data && (j_q.hdr.flags & TRANSFER_FLAG_IMM) != '0;
      j_action.word    = j_q.read ? j_q.hdr.pidx : j_q.hdr.arg[63:32];
    end
  end

  // ------------------------------------------------------------------------------------------------- K, L: answer
  logic              m_emit;
  header_t           m_header;
  logic [WINDOW-1:0] m_wvec;

  always_ff @(posedge clk_i) begin
    k_q        <= j_action;
    k_answer_q <= j_answer;
    k_to_q     <= j_to;
    k_marks_base_q <= j_marks_base;
    k_marks_q  <= j_marks;
    k_weft_q   <= j_weft_q;
    l_q        <= k_q;
    m_q        <= l_q;
  end

  rdma_rx_answer #(
    .WINDOW(WINDOW),
    .PIDX_W(PIDX_W),
    .TRANSFERS(TRANSFERS)
  ) i_answers (
    .clk_i,
    .node_id_i,
    .weft_mode_i(SCHEME == SCHEME_WINDOW && k_weft_q),
    .answer_i   (k_answer_q),
    .outcome_i  (k_q.outcome),
    .to_i       (k_to_q),
    .base_i     (k_marks_base_q),
    .marks_i    (k_marks_q),
    .emit_o     (m_emit),
    .header_o   (m_header),
    .wvec_o     (m_wvec)
  );

  // ------------------------------------------------------------------------------------------------- M: act
  localparam int unsigned UNDERWAY = 12;  // events in B to M
  localparam int unsigned ANSWERING = 8;  // events in F to M, whose room has been found

  logic [WRITES_W-1:0] writes;
  logic                queues_empty;

  rdma_rx_act #(
    .ADDR_W   (ADDR_W),
    .CID_W    (CID_W),
    .SID_W    (SID_W),
    .MSGID_W  (MSGID_W),
    .NODE_W   (NODE_W),
    .PIDX_W   (PIDX_W),
    .WINDOW   (WINDOW),
    .TRANSFERS(TRANSFERS),
    .SCHEME   (SCHEME),
    .CMD_DEPTH(CMD_DEPTH),
    .CTL_DEPTH(CTL_DEPTH),
    .UNDERWAY (UNDERWAY),
    .ANSWERING(ANSWERING)
  ) i_act (
    .clk_i,
    .rst_ni,
    .cmd_room_o(a_room),
    .ctl_room_o(ctl_room),
    .command_i (m_valid_q && m_q.command),
    .write_i   (m_q.write),
    .addr_i    (m_q.addr),
    .len_i     (m_q.len),
    .cid_i     (m_q.cid[CID_W-1:0]),
    .send_i    (m_valid_q && m_emit && m_q.room),
    .header_i  (m_header),
    .grant_i   (m_q.outcome == OUTCOME_GRANT),
    .writes_o  (writes),
    .cmd_valid_o,
    .cmd_ready_i,
    .cmd_write_o,
    .cmd_addr_o,
    .cmd_len_o,
    .cmd_cid_o,
    .writes_done_i,
    .ctl_valid_o,
    .ctl_ready_i,
    .ctl_o,
    .ctl_grant_o,
    .empty_o   (queues_empty)
  );

  assign ctl_dropped_o = m_valid_q && m_emit && !m_q.room;
  assign idle_o        = !(front_busy || f_valid_q || g_valid_q || h_valid_q || i_valid_q || j_valid_q || k_valid_q || l_valid_q || m_valid_q) &&
                         queues_empty;

  // To whom a READ is answered is in the header of the refusal that was not sent.
  assign read_valid_o = TRANSFERS && m_valid_q && m_q.outcome == OUTCOME_READ_TAKEN;
  assign read_o = '{
    origin: ORIGIN_ANSWERS, to: TO_TICKET, has_imm: 1'b0, imm: '0, rkey: 24'(m_header.sid), tag: '0,
    node: 32'(m_header.dst), bytes: m_q.word, dst_addr: 64'(m_header.msgid), src_addr: 64'(m_q.addr)
  };

  assign ret_valid_o = TRANSFERS && trace_valid_o;
  assign ret_o = '{
    outcome: m_q.outcome, decides: m_q.from_inbox, cid: m_q.cid, has_imm: m_q.has_imm, imm: m_q.word, writes: writes
  };

  assign trace_admit_o       = m_q.admit;
  assign trace_from_inbox_o  = m_q.from_inbox;
  assign trace_answer_asked_o = m_q.answer_asked;
  assign trace_answer_room_o = m_q.answer_room;
  assign trace_valid_o       = m_valid_q && m_q.outcome != OUTCOME_NONE;
  assign trace_timeout_o     = m_q.timeout;
  assign trace_outcome_o     = m_q.outcome;
  assign trace_room_o        = m_q.room;
  assign trace_offer_valid_o = m_q.offer_valid;
  assign trace_offer_cid_o   = 16'(m_q.offer);
  assign trace_over_quota_o  = m_q.over_quota;
  assign trace_cid_o         = m_q.cid;
  assign trace_now_o         = m_q.now;
  assign trace_wbase_o       = 32'(m_q.wbase);
  assign trace_wvec_o        = m_q.has_ctx ? m_wvec : '0;

  logic unused;
  // of use in earlier stages, or to assertions
  assign unused = ^{j_q, j_key_ok_q, j_grant_q.region, j_grant_q.offset, j_grant_q.last, j_grant_q.tail};

  `ASSERT(EveryPacketDecided, !(m_valid_q && !m_q.timeout) || trace_valid_o)
  `ASSERT(GrantsFreeContext, !(h_valid_q && h_q.request) || !(h_same_q ? i_used_new : h_same_as_j_q ? j_used_q : h_kept.used))
  `ASSERT(WindowInsideTransfer, !(j_valid_q && j_has_ctx) || j_base <= j_packets_q)
  `ASSERT(WritesInsideRegion, !(j_valid_q && j_action.write) || (j_key_ok_q && j_place_q - j_q.region_base <= BASE_W'(j_q.region_last)))
  `ASSERT(OneOfThree, !(j_valid_q && j_q.data) || 2'(j_facts.behind) + 2'(j_facts.in_window) <= 2'd1)
endmodule

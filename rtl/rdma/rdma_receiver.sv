// SPDX-License-Identifier: Apache-2.0
// Receiver of the RDMA engine: one event (packet or timeout) a clock, for any order of contexts, also the same one back to
// back. Protocol and context: docs/rdma.md, Receiver.
//
//   A     choose the event
//   B-D   check a request; look whether it was granted before
//   E     find room for an answer and a free context for a request
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
  parameter bit          REPEATS   = 1'b1   // a repeated request gets its grant again; without, a context of its own
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
  input  logic [         1:0] backoff_i,         // a timeout doubles so often at the most, in weft mode
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
  localparam int unsigned MAX_STARVED = 255;  // packets that may go before a timeout

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

  localparam int unsigned IDX_W = $clog2(N_RX_CTX);
  localparam int unsigned BASE_W = ADDR_W - SHIFT;
  localparam int unsigned OFFSET_W = offset_bits(BASE_W);
  localparam int unsigned REGION_W = $clog2(N_REGIONS);
  localparam int unsigned POS_W = $clog2(WINDOW);
  localparam int unsigned QUARTER_W = WINDOW > 4 ? POS_W - 2 : 0;  // an ACK at every quarter of the window

  localparam int unsigned RIGHTS = TRANSFERS ? 3 : 1;  // write; read, receive

  `RDMA_TYPEDEF_REGION(region_t, BASE_W, OFFSET_W, RIGHTS)
  `RDMA_TYPEDEF_RX_GRANT(grant_t, NODE_W, SID_W, MSGID_W, REGION_W, OFFSET_W, PIDX_W, SHIFT)
  `RDMA_TYPEDEF_WINDOW(kept_t, WINDOW, PIDX_W)
  `RDMA_TYPEDEF_RX_STATE(state_t, kept_t)
  `RDMA_TYPEDEF_OPEN_WINDOW(open_t, WINDOW, PIDX_W)
  `RDMA_TYPEDEF_PLACE(place_t)

  typedef struct packed {
    logic              timeout;
    outcome_e          verdict;      // of the arrival checks, or what the inbox said; from F on also of a request
    logic              request, release_it, data;  // request: for a context; from F on it is granted
    logic              from_inbox;
    admit_e            admit;
    logic              again;        // granted before
    logic              faulty;       // the inbox has seen a fault in it: has no ticket, so it must not be granted if there is none any more
    logic              read;
    logic              asks;         // is one of a request, the same again, READ: needs room for an answer
    logic              answer_asked, answer_room;  // from F on
    header_t           hdr;
    logic [31:0]       last;         // last byte of a request; from D on
    logic [15:0]       len_less;     // payload bytes less one; from D on
    logic              key_ok;       // the region named is open to who names this key; from D on
    logic [BASE_W-1:0] region_base;  // payloads; from D on
    logic [OFFSET_W-1:0] region_last;  // payloads from there; from D on
    logic [OFFSET_W-1:0] offset;     // of a request in its region, payloads; from F on
    logic              room;         // from F on
    logic              offer_valid;
    logic [IDX_W-1:0]  offer;
    logic              over_quota;   // from F on
  } event_t;

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

  // ------------------------------------------------------------------------------------------------- after reset
  logic             clearing_q;
  logic [IDX_W-1:0] clear_idx_q;
  logic             timer_ready, list_ready, regions_ready, quota_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clearing_q  <= 1'b1;
      clear_idx_q <= '0;
    end else if (clearing_q) begin
      clear_idx_q <= clear_idx_q + 1'b1;
      clearing_q  <= clear_idx_q != '1;
    end
  end

  assign ready_o = !clearing_q && timer_ready && list_ready && regions_ready && quota_ready;

  // ------------------------------------------------------------------------------------------------- A: choose
  logic   a_room, a_accept, a_timeout, a_asked;
  event_t a_event, b_q, c_q, c_event, d_q, e_q, e_event, f_q, g_q, h_q, i_q, j_q;
  logic   b_valid_q, c_valid_q, d_valid_q, e_valid_q, f_valid_q, g_valid_q, h_valid_q, i_valid_q, j_valid_q, k_valid_q, l_valid_q, m_valid_q;
  logic   expired_valid, expired_ready;
  logic [IDX_W-1:0] expired_idx;
  logic [$clog2(MAX_STARVED+1)-1:0] starved_q;
  logic   timeout_first;

  assign a_asked       = TRANSFERS && req_valid_i;
  assign timeout_first = (!hdr_valid_i && !a_asked) || starved_q == ($bits(starved_q))'(MAX_STARVED);
  assign a_accept      = ready_o && a_room;
  assign a_timeout     = expired_valid && timeout_first;
  assign expired_ready = a_accept && timeout_first;
  assign req_ready_o   = TRANSFERS && a_accept && !a_timeout;
  assign hdr_ready_o   = a_accept && !a_timeout && !a_asked;

  always_comb begin : p_choose
    a_event = '0;
    a_event.timeout = a_timeout;
    if (a_timeout) begin
      a_event.hdr.cid = 16'(expired_idx);
    end else if (a_asked) begin
      a_event.hdr        = req_i.hdr;
      a_event.from_inbox = 1'b1;
      a_event.admit      = req_i.kind;
      a_event.asks       = 1'b1;
      a_event.faulty     = req_i.kind == ADMIT_NONE;
      unique case (req_i.kind)
        ADMIT_REFUSE: a_event.verdict = req_i.refusal;
        ADMIT_DROP:   a_event.verdict = OUTCOME_DROP_ASKED;
        ADMIT_AGAIN:  a_event.again   = 1'b1;
        default:      a_event.request = 1'b1;
      endcase
    end else begin
      a_event.hdr     = hdr_i;
      a_event.verdict = verdict_i;
      if (verdict_i != OUTCOME_NONE) begin
        a_event.hdr.cid = '0;  // nothing in a bad packet can be believed
      end else begin
        a_event.request    = hdr_i.ptype == PTYPE_RQT;
        a_event.release_it = hdr_i.ptype == PTYPE_RELEASE;
        a_event.data       = hdr_i.ptype == PTYPE_DATA;
        if (TRANSFERS) begin
          a_event.read = hdr_i.ptype == PTYPE_READ;
          a_event.asks = a_event.request || a_event.read;
          if (hdr_busy_i) begin
            a_event.verdict = OUTCOME_DROP_BUSY;
            a_event.request = 1'b0;
            a_event.asks    = 1'b0;
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {b_valid_q, c_valid_q, d_valid_q, e_valid_q, f_valid_q, g_valid_q, h_valid_q} <= '0;
      {i_valid_q, j_valid_q, k_valid_q, l_valid_q, m_valid_q} <= '0;
      starved_q <= '0;
    end else begin
      b_valid_q <= a_accept && (a_timeout || hdr_valid_i || a_asked);
      {c_valid_q, d_valid_q, e_valid_q, f_valid_q} <= {b_valid_q, c_valid_q, d_valid_q, e_valid_q};
      {g_valid_q, h_valid_q} <= {f_valid_q, g_valid_q};
      {i_valid_q, j_valid_q, k_valid_q, l_valid_q, m_valid_q} <= {h_valid_q, i_valid_q, j_valid_q, k_valid_q, l_valid_q};
      if (!expired_valid || expired_ready) starved_q <= '0;
      else if (((hdr_valid_i && hdr_ready_o) || (a_asked && req_ready_o)) && starved_q != '1) starved_q <= starved_q + 1'b1;
    end
    b_q <= a_event;
    c_q <= b_q;
    d_q <= c_event;
    e_q <= d_q;
    f_q <= e_event;
    g_q <= f_q;
    h_q <= g_q;
    i_q <= h_q;
    j_q <= i_q;
  end

  // ------------------------------------------------------------------------------------------------- B to E: request
  region_t          set_region, c_region;
  logic             c_right, c_key_ok;
  logic [7:0]       a_region;
  logic [OFFSET_W-1:0] e_offset;
  outcome_e         e_refusal;
  logic             ctl_room;
  logic             e_asks, e_room, e_known, e_grantable, e_grant, e_over, offer_valid;
  logic [IDX_W-1:0] e_known_cid;      // of a request that was granted before
  logic             j_forget;
  logic [IDX_W-1:0] offer;
  logic             j_frees, m_free;
  logic [NODE_W-1:0] j_src;           // of the context
  action_t          m_q;

  assign set_region = '{open: RIGHTS'({region_receive_i, region_read_i, region_write_i}), key: region_key_i, base: region_base_i, last: region_last_i};

  rdma_regions #(
    .N_REGIONS(N_REGIONS),
    .region_t (region_t)
  ) i_regions (
    .clk_i,
    .rst_ni,
    .ready_o     (regions_ready),
    .set_i       (region_set_i),
    .set_idx_i   (region_idx_i[REGION_W-1:0]),
    .set_region_i(set_region),
    .idx_i       (a_region),
    .region_o    (c_region)
  );

  always_comb begin : p_region
    a_region = hdr_i.ptype == PTYPE_RQT || (TRANSFERS && hdr_i.ptype == PTYPE_READ) ? hdr_i.gen : hdr_i.arg[23:16];
    if (a_asked) a_region = req_i.hdr.gen;
  end

  // The right that it needs. The context of DATA was granted for one of two.
  if (TRANSFERS) begin : g_rights
    assign c_right = c_q.read ? c_region.open[1] : c_q.admit == ADMIT_BUFFER ? c_region.open[2] :
                     c_region.open[0] || (c_q.data && c_region.open[2]);
  end else begin : g_writes_only
    assign c_right = c_region.open[0];
  end
  assign c_key_ok = c_right && c_region.key == (c_q.request || c_q.read ? c_q.hdr.cid : c_q.hdr.arg[15:0]);

  rdma_rx_request #(
    .PAYLOAD (PAYLOAD),
    .PIDX_W  (PIDX_W),
    .ADDR_W  (ADDR_W),
    .OFFSET_W(OFFSET_W)
  ) i_request (
    .clk_i,
    .arg_i    (b_q.hdr.arg),
    .bytes_i  (b_q.hdr.pidx),
    .open_i   (c_key_ok),
    .base_i   (c_region.base),
    .last_i   (c_region.last),
    .verdict_o(e_refusal),
    .offset_o (e_offset)
  );

  // A request takes the offer exactly if it passes all other checks.
  assign e_grantable = e_q.request && ctl_room && !e_known && e_refusal == OUTCOME_NONE && !e_q.faulty && !e_over;
  assign e_grant     = e_valid_q && e_grantable && offer_valid;
  assign m_free      = m_valid_q && m_q.free;

  assign e_asks        = TRANSFERS ? e_q.asks : e_q.request;
  assign e_room        = ctl_room && !(TRANSFERS && e_q.verdict == OUTCOME_DROP_BUSY);
  assign answer_take_o = TRANSFERS && e_valid_q && e_q.read && ctl_room && e_refusal == OUTCOME_NONE && !answer_asked_i && answer_room_i;

  free_list #(
    .N(N_RX_CTX)
  ) i_free (
    .clk_i,
    .rst_ni,
    .ready_o  (list_ready),
    .valid_o  (offer_valid),
    .id_o     (offer),
    .pop_i    (e_grant),
    .push_i   (m_free),
    .push_id_i(m_q.cid[IDX_W-1:0]),
    .count_o  ()  // not needed
  );

  rdma_quota #(
    .N_SOURCES(N_SOURCES),
    .NODE_W   (NODE_W),
    .COUNT_W  (IDX_W + 1)
  ) i_quota (
    .clk_i,
    .rst_ni,
    .ready_o   (quota_ready),
    .quota_i,
    .src_i     (b_q.hdr.src[NODE_W-1:0]),
    .over_o    (e_over),
    .grant_i   (e_grant),
    .free_i    (j_frees),
    .free_src_i(j_src)
  );

  // Those of the inbox are its own business.
  if (REPEATS) begin : g_repeats
    rdma_rx_repeats #(
      .N(N_RX_CTX)
    ) i_repeats (
      .clk_i,
      .rst_ni,
      .clear_i     (clearing_q),
      .clear_idx_i (clear_idx_q),
      .request_i   (b_valid_q && b_q.request && !b_q.from_inbox),
      .src_i       (IDX_W'(b_q.hdr.src[NODE_W-1:0])),
      .sid_i       (IDX_W'(b_q.hdr.sid[SID_W-1:0])),
      .crc_i       (b_q.hdr.crc),
      .known_o     (e_known),
      .cid_o       (e_known_cid),
      .grant_i     (e_grant && !e_q.from_inbox),
      .grant_cid_i (offer),
      .forget_i    (j_forget),
      .forget_src_i(IDX_W'(j_q.hdr.src[NODE_W-1:0])),
      .forget_sid_i(IDX_W'(j_q.hdr.sid[SID_W-1:0]))
    );
  end else begin : g_no_repeats
    logic unused_forget;
    assign e_known       = 1'b0;
    assign e_known_cid   = '0;
    assign unused_forget = j_forget;
  end

  always_comb begin : p_request
    e_event            = e_q;
    e_event.room       = e_room;
    e_event.answer_asked = answer_asked_i;
    e_event.answer_room  = answer_room_i;
    e_event.over_quota = e_q.request && e_over;
    e_event.offset = e_offset;
    if (!e_q.timeout) begin
      e_event.offer_valid = offer_valid;
      e_event.offer       = offer;
    end
    if (e_asks && !ctl_room) begin
      e_event.verdict = OUTCOME_DROP_BUSY;
      e_event.again   = 1'b0;
    end else if (e_q.read) begin
      if (e_refusal != OUTCOME_NONE) e_event.verdict = e_refusal;
      else if (answer_asked_i) e_event.verdict = OUTCOME_DROP_ASKED;
      else e_event.verdict = answer_room_i ? OUTCOME_READ_TAKEN : OUTCOME_REFUSE_ANSWERS;
    end else if (e_known) begin
      e_event.again   = 1'b1;
      e_event.admit   = ADMIT_AGAIN;
      e_event.hdr.cid = 16'(e_known_cid);
    end else if (e_q.request) begin
      if (e_refusal != OUTCOME_NONE) e_event.verdict = e_q.admit == ADMIT_BUFFER ? OUTCOME_REFUSE_BUFFER : e_refusal;
      else if (e_q.faulty) e_event.verdict = OUTCOME_DROP_ASKED;
      else if (e_over) e_event.verdict = OUTCOME_REFUSE_QUOTA;
      else if (!offer_valid) e_event.verdict = OUTCOME_REFUSE_NO_CONTEXT;
      else e_event.hdr.cid = 16'(offer);
    end
    if (TRANSFERS && e_q.request) e_event.hdr.arg[23:0] = {e_q.hdr.gen, e_q.hdr.cid};
    e_event.request = e_grantable && offer_valid;
  end

  always_comb begin : p_prepare
    c_event          = c_q;
    c_event.last     = c_q.hdr.pidx - 32'd1;
    c_event.len_less = c_q.hdr.len - 16'd1;
    c_event.key_ok      = c_key_ok;
    c_event.region_base = c_region.base;
    c_event.region_last = c_region.last;
  end

  // ------------------------------------------------------------------------------------------------- F, G: read; H: compare
  logic [IDX_W-1:0] h_idx, i_idx, j_idx;
  grant_t           h_kept_grant, h_grant, i_grant_q, j_grant_q;
  state_t           h_kept, j_kept;
  logic             h_known, h_match, h_beyond_end, h_at_last, h_good_length, h_outside;
  logic [OFFSET_W:0] h_place;          // of the packet in its region
  logic [BASE_W-1:0] i_place_q, j_place_q;  // ... and on the bus, payloads
  logic             i_known_q, i_match_q, i_beyond_end_q, i_good_length_q, i_outside_q;
  logic             h_same_q, i_same_q;  // same context as the event one ahead
  logic             h_same_as_j_q;       // ... two ahead
  logic [PIDX_W-1:0] i_packets_q, j_packets_q;  // first PIDX beyond the end
  open_t            h_open, h_window, i_window_q, i_window_new, j_window_q;
  place_t           h_lies, h_lies_kept, h_lies_j, i_lies_q, i_next_lies;  // the packet, and that in H after the one in I
  logic [WINDOW-1:0] h_slot_q;  // one-hot: PIDX modulo WINDOW
  logic              h_same_slot_q;  // as the event right ahead

  assign h_idx = h_q.hdr.cid[IDX_W-1:0];
  assign i_idx = i_q.hdr.cid[IDX_W-1:0];
  assign j_idx = j_q.hdr.cid[IDX_W-1:0];

  ram_forward #(
    .DEPTH(N_RX_CTX),
    .WIDTH($bits(grant_t))
  ) i_grants (
    .clk_i,
    .we_i   (clearing_q || (h_valid_q && h_q.request)),
    .waddr_i(clearing_q ? clear_idx_q : h_idx),
    .wdata_i(clearing_q ? '0 : h_grant),
    .raddr_i(f_q.hdr.cid[IDX_W-1:0]),
    .rdata_o(h_kept_grant)
  );

  // Every event writes the state of its context, changed or not: what it does is known too late for a choice.
  ram_forward #(
    .DEPTH(N_RX_CTX),
    .WIDTH($bits(state_t))
  ) i_states (
    .clk_i,
    .we_i   (clearing_q || j_valid_q),
    .waddr_i(clearing_q ? clear_idx_q : j_idx),
    .wdata_i(clearing_q ? '0 : j_kept),
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
        region: REGION_W'(h_q.hdr.gen),
        offset: h_q.offset,
        last:  PIDX_W'(h_q.last >> SHIFT),
        tail:  SHIFT'(h_q.last)
      };
    end
  end

  assign h_known       = h_q.hdr.cid < 16'(N_RX_CTX);
  assign h_place       = (OFFSET_W + 1)'(h_kept_grant.offset) + (OFFSET_W + 1)'(h_q.hdr.pidx[PIDX_W-1:0]);
  assign h_outside     = h_place > (OFFSET_W + 1)'(h_q.region_last);
  assign h_match       = (!h_q.data || h_q.hdr.arg[23:16] == 8'(h_kept_grant.region)) &&
                         h_q.hdr.src == 16'(h_kept_grant.src) && h_q.hdr.sid == 16'(h_kept_grant.sid) &&
                         h_q.hdr.msgid == 24'(h_kept_grant.msgid) && (h_q.again || h_q.hdr.gen == h_kept_grant.gen);
  assign h_beyond_end  = h_q.hdr.pidx > 32'(h_kept_grant.last);
  assign h_at_last     = h_q.hdr.pidx == 32'(h_kept_grant.last);
  assign h_good_length = h_at_last ? h_q.len_less == 16'(h_kept_grant.tail) && (h_q.hdr.flags & FLAG_LAST) != '0
                                   : h_q.len_less == 16'(PAYLOAD - 1) && (h_q.hdr.flags & FLAG_LAST) == '0;

  rdma_window_open #(
    .WINDOW(WINDOW),
    .PIDX_W(PIDX_W),
    .kept_t(kept_t),
    .open_t(open_t)
  ) i_open (
    .kept_i(h_kept.window),
    .open_o(h_open)
  );

  // Where it lies in either window; which of them it is only selects.
  rdma_window_judge #(
    .WINDOW (WINDOW),
    .PIDX_W (PIDX_W),
    .place_t(place_t)
  ) i_judge_kept (
    .base_i     (h_open.base),
    .next_top_i (h_open.next_top),
    .lap_marks_i(h_open.lap_marks),
    .first_odd_i(h_open.first_odd),
    .at_first_i (h_q.hdr.pidx[POS_W-1:0] == h_kept.window.first[POS_W-1:0]),
    .pidx_i     (h_q.hdr.pidx[PIDX_W-1:0]),
    .slot_i     (h_slot_q),
    .place_o    (h_lies_kept)
  );
  rdma_window_judge #(
    .WINDOW (WINDOW),
    .PIDX_W (PIDX_W),
    .place_t(place_t)
  ) i_judge_j (
    .base_i     (j_window_q.base),
    .next_top_i (j_window_q.next_top),
    .lap_marks_i(j_window_q.lap_marks),
    .first_odd_i(j_window_q.first_odd),
    .at_first_i (h_q.hdr.pidx[POS_W-1:0] == j_kept.window.first[POS_W-1:0]),
    .pidx_i     (h_q.hdr.pidx[PIDX_W-1:0]),
    .slot_i     (h_slot_q),
    .place_o    (h_lies_j)
  );

  assign h_window = h_same_as_j_q ? j_window_q : h_open;
  assign h_lies   = h_same_as_j_q ? h_lies_j : h_lies_kept;

  // ------------------------------------------------------------------------------------------------- I: step
  logic              i_used_q, i_used_new, j_used_q;
  logic              i_came_q, i_came_new, j_came_q;
  logic [1:0]        i_asks_q, i_asks_new, j_asks_q;
  logic [3:0]        i_silent_q, i_silent_new, j_silent_q;
  logic [WINDOW-1:0] i_slot_q;
  logic              i_data_q, i_release_q;  // of this context's transfer, and well-formed; DATA perhaps outside its region
  logic              i_receive, i_advance, i_mark, i_live, i_reclaim, i_complete, i_asked_enough, i_ask_one, i_released;
  logic              i_timer_set, j_timer_set_q, j_timer_armed_q;
  logic [1:0]        j_timer_class_q;
  logic [PIDX_W:0]   i_hole_q;    // the packet that this one is RX_AHEAD ahead of; negative: none
  logic              i_ahead_q, i_ask_base;
  logic [PIDX_W-1:0] j_hole_q;
  logic              i_expired_q, i_restarted_q, expired_now;
  open_t             first_window, i_moves, i_stays;
  logic              i_move;

  always_comb begin : p_first
    first_window              = '0;
    first_window.lap_marks[0] = 1'b1;  // stands for packet WINDOW, of an odd lap: not arrived
    first_window.next_top     = 1;
    first_window.first_after  = ~WINDOW'(3);
    first_window.group_here    = WINDOW > 2 ? '1 : '0;
    first_window.group_next[0] = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    h_slot_q <= WINDOW'(1) << g_q.hdr.pidx[POS_W-1:0];
    h_same_slot_q <= g_q.hdr.pidx[POS_W-1:0] == h_q.hdr.pidx[POS_W-1:0];
    h_same_q <= g_valid_q && h_valid_q && g_q.hdr.cid[IDX_W-1:0] == h_idx;
    i_same_q <= h_same_q;
    h_same_as_j_q <= g_valid_q && i_valid_q && g_q.hdr.cid[IDX_W-1:0] == i_idx;
    if (h_q.request) begin
      {i_used_q, i_came_q, i_asks_q, i_silent_q} <= {1'b1, 1'b0, 2'd0, 4'd0};
      i_lies_q   <= '0;
    end else if (h_same_q) begin
      {i_used_q, i_came_q, i_asks_q, i_silent_q} <= {i_used_new, i_came_new, i_asks_new, i_silent_new};
      i_lies_q   <= i_next_lies;
    end else begin
      {i_used_q, i_came_q, i_asks_q, i_silent_q} <= h_same_as_j_q ? {j_used_q, j_came_q, j_asks_q, j_silent_q} :
                                                    {h_kept.used, h_kept.came, h_kept.asks, h_kept.silent};
      i_lies_q   <= h_lies;
    end
    // The late one last: the hole behind the first one.
    if (!h_q.request && h_same_q && i_move) i_window_q <= i_moves;
    else i_window_q <= h_q.request ? first_window : h_same_q ? i_stays : h_window;
    i_slot_q        <= h_slot_q;
    i_grant_q       <= h_grant;
    i_packets_q     <= h_grant.last + 1'b1;
    i_known_q       <= h_known;
    i_match_q       <= h_match;
    i_beyond_end_q  <= h_beyond_end;
    i_good_length_q <= h_good_length;
    i_outside_q     <= h_outside;
    i_place_q       <= BASE_W'(h_place);
    i_hole_q        <= {1'b0, h_q.hdr.pidx[PIDX_W-1:0]} - (PIDX_W + 1)'(ahead_i);
    i_ahead_q       <= ahead_i != '0;
    i_data_q        <= h_valid_q && h_q.data && h_known && h_match && h_q.key_ok && !h_beyond_end && h_good_length;  // whether in its region, I looks
    i_release_q     <= h_valid_q && h_q.release_it && h_known && h_match;
    // By the event two ahead; the one ahead is looked at in I.
    i_expired_q     <= expired_now;
    i_restarted_q   <= j_valid_q && j_timer_set_q && j_idx == h_idx;
  end

  assign i_receive = i_data_q && i_used_q && !i_outside_q;

  rdma_window_step #(
    .WINDOW(WINDOW),
    .PIDX_W(PIDX_W),
    .open_t(open_t),
    .place_t(place_t)
  ) i_step (
    .window_i    (i_window_q),
    .place_i     (i_lies_q),
    .slot_i      (i_slot_q),
    .receive_i   (i_receive),
    .window_o    (i_window_new),
    .move_o      (i_move),
    .moves_o     (i_moves),
    .stays_o     (i_stays),
    .next_pidx_i (h_q.hdr.pidx[PIDX_W-1:0]),
    .next_slot_i (h_slot_q),
    .same_slot_i (h_same_slot_q),
    .next_place_o(i_next_lies)
  );

  assign i_advance      = i_receive && i_lies_q.at_base;
  assign i_mark         = i_receive && i_lies_q.is_new;
  assign i_released     = i_release_q && i_used_q;
  assign i_live         = i_valid_q && i_q.timeout && i_used_q && i_expired_q && !i_restarted_q &&
                          !(j_valid_q && j_timer_set_q && i_same_q);
  assign i_reclaim      = i_live && i_silent_q >= max_silent_i;
  assign i_complete     = i_window_q.base == i_packets_q;
  assign i_asked_enough = i_asks_q >= ask_from_after_i;
  assign i_ask_one      = i_live && !i_reclaim && !i_complete && !weft_mode_i && !i_asked_enough;
  assign i_ask_base     = i_mark && weft_mode_i && i_ahead_q && i_hole_q == {1'b0, i_window_q.base};
  assign i_timer_set    = i_valid_q && (i_q.request || i_advance || i_released || i_live || i_ask_base);

  always_comb begin : p_step
    i_used_new   = i_used_q && !i_released && !i_reclaim;
    i_came_new   = i_came_q || i_advance || i_mark;
    i_silent_new = i_silent_q;
    if (i_live && !i_reclaim) i_silent_new = i_silent_q + 1'b1;
    if (i_advance || i_mark) i_silent_new = '0;
    i_asks_new = i_asks_q;
    if (i_ask_one) i_asks_new = i_asks_q + 1'b1;
    if (i_advance && (i_q.hdr.flags & FLAG_RETRY) == '0) i_asks_new = '0;
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
  logic [PIDX_W-1:0] j_base_q;     // WBASE before the event
  logic              j_free_q, j_weft_q, k_weft_q;
  outcome_e          j_outcome;
  logic              j_has_ctx;
  rx_answer_e        j_answer, k_answer_q;
  rx_to_t            j_to, k_to_q;
  action_t           j_action, k_q, l_q;
  kept_t             k_window_q;

  always_comb begin : p_facts
    i_facts                 = '0;
    i_facts.timeout         = i_q.timeout;
    i_facts.verdict         = i_q.verdict;
    i_facts.request         = i_q.request;
    i_facts.release_it      = i_q.release_it;
    i_facts.again           = i_q.again;
    i_facts.used            = i_used_q && i_known_q;
    i_facts.untouched       = !i_came_q;
    i_facts.match           = i_match_q;
    i_facts.beyond_end      = i_beyond_end_q;
    i_facts.good_length     = i_good_length_q;
    i_facts.key_ok          = i_q.key_ok;
    i_facts.outside         = i_outside_q;
    i_facts.mark            = i_mark;
    i_facts.advance         = i_advance;
    i_facts.ahead           = i_ahead_q && !i_hole_q[PIDX_W] && i_hole_q[PIDX_W-1:0] >= i_window_q.base;
    i_facts.in_window       = i_lies_q.in_window;
    i_facts.behind          = i_q.hdr.pidx[PIDX_W-1:0] < i_window_q.base;
    i_facts.live            = i_live;
    i_facts.reclaim         = i_reclaim;
    i_facts.complete_before = i_complete;
    i_facts.asked_enough    = i_asked_enough;
  end

  always_ff @(posedge clk_i) begin
    j_facts_q       <= i_facts;
    j_base_q        <= i_window_q.base;
    j_window_q      <= i_window_new;
    {j_used_q, j_came_q, j_asks_q, j_silent_q} <= {i_used_new, i_came_new, i_asks_new, i_silent_new};
    j_grant_q       <= i_grant_q;
    j_place_q       <= i_q.region_base + i_place_q;
    j_packets_q     <= i_packets_q;
    j_hole_q        <= i_hole_q[PIDX_W-1:0];
    j_timer_set_q   <= i_timer_set;
    j_timer_armed_q <= !i_released && !i_reclaim;
    j_timer_class_q <= i_live && weft_mode_i ? doublings(i_silent_new, backoff_i) : '0;
    j_free_q        <= i_released || i_reclaim;
    j_weft_q        <= weft_mode_i;
  end

  rdma_window_keep #(
    .WINDOW(WINDOW),
    .kept_t(kept_t),
    .open_t(open_t)
  ) i_keep (
    .open_i(j_window_q),
    .kept_o(j_kept.window)
  );
  assign {j_kept.used, j_kept.came, j_kept.asks, j_kept.silent} = {j_used_q, j_came_q, j_asks_q, j_silent_q};

  assign j_frees  = j_valid_q && j_free_q;
  assign j_forget = j_valid_q && !j_q.from_inbox && j_facts.verdict == OUTCOME_NONE && j_facts.again &&
                    !(j_facts.used && j_facts.match && j_facts.untouched);
  assign j_src    = j_grant_q.src;

  always_comb begin : p_more_facts
    j_facts          = j_facts_q;
    j_facts.failed   = (j_q.hdr.flags & FLAG_FAILED) != '0;
    j_facts.complete = j_window_q.base == j_packets_q;
    j_facts.quarter  = j_window_q.base >> QUARTER_W != j_base_q >> QUARTER_W;
  end

  rdma_rx_outcome #(
    .TRANSFERS(TRANSFERS)
  ) j_outcomes (
    .facts_i    (j_facts),
    .weft_mode_i(j_weft_q),
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
      pidx:  j_q.timeout ? 32'(j_base_q) : j_answer == RX_RESEND_HOLE ? 32'(j_hole_q) : j_q.hdr.pidx,
      for_buffer: (j_q.hdr.flags & (TRANSFER_FLAG_SEND | TRANSFER_FLAG_READ)) != '0,
      of_read:    (j_q.hdr.flags & TRANSFER_FLAG_READ) != '0,
      is_read:    j_q.read,
      rkey:       j_q.hdr.arg[23:0]
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
    j_action.wbase       = j_has_ctx ? j_window_q.base : '0;
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
    k_window_q <= j_kept.window;
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
    .weft_mode_i(k_weft_q),
    .answer_i   (k_answer_q),
    .outcome_i  (k_q.outcome),
    .to_i       (k_to_q),
    .base_i     (k_window_q.base),
    .marks_i    (k_window_q.marks),
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
  assign idle_o        = !(b_valid_q || c_valid_q || d_valid_q || e_valid_q || f_valid_q || g_valid_q || h_valid_q || i_valid_q ||
                           j_valid_q || k_valid_q || l_valid_q || m_valid_q) && queues_empty;

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
  assign unused = ^{j_q, j_grant_q.region, j_grant_q.offset, j_grant_q.last, j_grant_q.tail, k_window_q.first, region_idx_i, req_i.of_read};

  if (TRANSFERS) begin : g_transfers
    logic a_known, a_flagged;
    assign a_known   = hdr_valid_i && hdr_ready_o && verdict_i == OUTCOME_NONE;
    assign a_flagged = (hdr_i.flags & (TRANSFER_FLAG_IMM | TRANSFER_FLAG_SEND | TRANSFER_FLAG_READ)) != '0;
    // Only what is for the inbox may be turned away by it.
    `ASSERT(InboxAskedFirst, !a_known || hdr_busy_i == ((hdr_i.ptype == PTYPE_RQT && a_flagged) || hdr_i.ptype == PTYPE_RSP))
    `ASSERT(RequestsFromInbox, !(a_asked && req_ready_o) || req_i.hdr.ptype == PTYPE_RQT)
    `ASSERT(TicketIsOfFlag, !(a_asked && req_ready_o && req_i.kind == ADMIT_BUFFER) || req_i.of_read == ((req_i.hdr.flags & TRANSFER_FLAG_READ) != '0))
  end

  `ASSERT(EveryPacketDecided, !(m_valid_q && !m_q.timeout) || trace_valid_o)
  `ASSERT(CameIsToldByTheWindow, !(i_valid_q && i_used_q && i_known_q) ||
          i_came_q == (i_window_q.base != '0 || i_window_q.first_odd || i_window_q.lap_marks != WINDOW'(1)))
  `ASSERT(GrantsFreeContext, !(h_valid_q && h_q.request) || !(h_same_q ? i_used_new : h_same_as_j_q ? j_used_q : h_kept.used))
  `ASSERT(WindowInsideTransfer, !(j_valid_q && j_has_ctx) || j_window_q.base <= j_packets_q)
  `ASSERT(WritesInsideRegion, !(j_valid_q && j_action.write) || (j_q.key_ok && j_place_q - j_q.region_base <= BASE_W'(j_q.region_last)))
  `ASSERT(OneOfThree, !(j_valid_q && j_q.data) || 2'(j_facts.behind) + 2'(j_facts.in_window) <= 2'd1)
endmodule

// SPDX-License-Identifier: Apache-2.0
// First stages of the receiver (rdma_receiver.sv): which event is taken, and what becomes of a request until its context is known.
//
//   A     choose the event
//   B-D   check a request; look whether it was granted before
//   E     find room for an answer and a free context for a request
//
// One event a clock for any order of sources and contexts, six clocks from its acceptance to event_o; nothing waits once it is in. A timeout is taken when
// nothing else waits, or after 255 others; a request of the inbox before a packet.
`include "weft_assert.svh"
`include "rdma_typedef.svh"

module rdma_rx_front
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned N_RX_CTX  = 1024,  // receive contexts, a power of two
  parameter int unsigned PAYLOAD   = 256,   // bytes of a full packet
  parameter int unsigned PIDX_W    = 24,
  parameter int unsigned SID_W     = 10,
  parameter int unsigned NODE_W    = 16,
  parameter int unsigned ADDR_W    = 48,
  parameter int unsigned N_REGIONS = 64,    // memory regions, a power of two
  parameter int unsigned N_SOURCES = 256,   // groups of sources with a quota each, a power of two
  parameter bit          TRANSFERS = 1'b0,
  parameter bit          REPEATS   = 1'b1,
  parameter type         event_t   = logic, // RDMA_TYPEDEF_RX_EVENT
  localparam int unsigned IDX_W    = $clog2(N_RX_CTX),
  localparam int unsigned BASE_W   = ADDR_W - $clog2(PAYLOAD),
  localparam int unsigned OFFSET_W = offset_bits(BASE_W)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  output logic                ready_o,          // after reset: all is initialised
  output logic                clear_o,          // after reset: the receiver's contexts are to be cleared, each once
  output logic [   IDX_W-1:0] clear_idx_o,
  output logic                busy_o,           // an event is in B to E
  // configuration, as rdma_receiver has it
  input  logic                region_set_i,
  input  logic [         7:0] region_idx_i,
  input  logic                region_write_i,
  input  logic                region_read_i,
  input  logic                region_receive_i,
  input  logic [        15:0] region_key_i,
  input  logic [  BASE_W-1:0] region_base_i,
  input  logic [OFFSET_W-1:0] region_last_i,
  input  logic [        15:0] quota_i,
  // in A: an event may be taken
  input  logic                accept_i,
  input  logic                hdr_valid_i,
  output logic                hdr_ready_o,
  input  header_t             hdr_i,
  input  outcome_e            verdict_i,
  input  logic                hdr_busy_i,
  input  logic                req_valid_i,
  output logic                req_ready_o,
  input  admitted_t           req_i,
  input  logic                expired_valid_i,  // a timer of this context has ended
  output logic                expired_ready_o,
  input  logic [   IDX_W-1:0] expired_idx_i,
  // in E
  input  logic                ctl_room_i,       // there is room for an answer
  input  logic                answer_asked_i,
  input  logic                answer_room_i,
  output logic                answer_take_o,
  // in F, from flops; hdr.cid of a request that is granted, or was before, is its context
  output logic                valid_o,
  output event_t              event_o,
  // contexts that end: it may be granted again; it does not count any more for this source
  input  logic                free_i,
  input  logic [   IDX_W-1:0] free_cid_i,
  input  logic                frees_i,
  input  logic [  NODE_W-1:0] frees_src_i,
  // this request, granted once, has no context any more
  input  logic                forget_i,
  input  logic [   IDX_W-1:0] forget_src_i,
  input  logic [   IDX_W-1:0] forget_sid_i
);
  localparam int unsigned MAX_STARVED = 255;  // packets that may go before a timeout
  localparam int unsigned REGION_W = $clog2(N_REGIONS);
  localparam int unsigned RIGHTS = TRANSFERS ? 3 : 1;  // write; read, receive

  `RDMA_TYPEDEF_REGION(region_t, BASE_W, OFFSET_W, RIGHTS)

  // ------------------------------------------------------------------------------------------------- after reset
  logic             clearing_q;
  logic [IDX_W-1:0] clear_idx_q;
  logic             list_ready, regions_ready, quota_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clearing_q  <= 1'b1;
      clear_idx_q <= '0;
    end else if (clearing_q) begin
      clear_idx_q <= clear_idx_q + 1'b1;
      clearing_q  <= clear_idx_q != '1;
    end
  end

  assign ready_o     = !clearing_q && list_ready && regions_ready && quota_ready;
  assign clear_o     = clearing_q;
  assign clear_idx_o = clear_idx_q;

  // ------------------------------------------------------------------------------------------------- A: choose
  logic   a_timeout, a_asked;
  event_t a_event, b_q, c_q, c_event, d_q, e_q, e_event;
  logic   b_valid_q, c_valid_q, d_valid_q, e_valid_q;
  logic [$clog2(MAX_STARVED+1)-1:0] starved_q;
  logic   timeout_first;

  assign a_asked         = TRANSFERS && req_valid_i;
  assign timeout_first   = (!hdr_valid_i && !a_asked) || starved_q == ($bits(starved_q))'(MAX_STARVED);
  assign a_timeout       = expired_valid_i && timeout_first;
  assign expired_ready_o = accept_i && timeout_first;
  assign req_ready_o     = TRANSFERS && accept_i && !a_timeout;
  assign hdr_ready_o     = accept_i && !a_timeout && !a_asked;

  always_comb begin : p_choose
    a_event = '0;
    a_event.timeout = a_timeout;
    if (a_timeout) begin
      a_event.hdr.cid = 16'(expired_idx_i);
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
      {b_valid_q, c_valid_q, d_valid_q, e_valid_q, valid_o} <= '0;
      starved_q <= '0;
    end else begin
      b_valid_q <= accept_i && (a_timeout || hdr_valid_i || a_asked);
      {c_valid_q, d_valid_q, e_valid_q, valid_o} <= {b_valid_q, c_valid_q, d_valid_q, e_valid_q};
      if (!expired_valid_i || expired_ready_o) starved_q <= '0;
      else if (((hdr_valid_i && hdr_ready_o) || (a_asked && req_ready_o)) && starved_q != '1) starved_q <= starved_q + 1'b1;
    end
    b_q     <= a_event;
    c_q     <= b_q;
    d_q     <= c_event;
    e_q     <= d_q;
    event_o <= e_event;
  end

  assign busy_o = b_valid_q || c_valid_q || d_valid_q || e_valid_q;

  // ------------------------------------------------------------------------------------------------- B to E: request
  region_t          set_region, c_region;
  logic             c_right, c_key_fits, c_receivable;
  logic [7:0]       a_region;
  logic [OFFSET_W-1:0] e_offset;
  outcome_e         e_refusal;
  logic             e_asks, e_room, e_known, e_grantable, e_grant, e_over, offer_valid;
  logic [IDX_W-1:0] e_known_cid;      // of a request that was granted before
  logic [IDX_W-1:0] offer;

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

  // The right that a request needs. Of DATA H knows: that for which its context was granted.
  if (TRANSFERS) begin : g_rights
    assign c_right      = c_q.read ? c_region.open[1] : c_q.admit == ADMIT_BUFFER ? c_region.open[2] : c_region.open[0];
    assign c_receivable = c_region.open[2] && c_key_fits;
  end else begin : g_writes_only
    assign c_right      = c_region.open[0];
    assign c_receivable = 1'b0;
  end
  assign c_key_fits = c_region.key == (c_q.request || c_q.read ? c_q.hdr.cid : c_q.hdr.arg[15:0]);

  rdma_rx_request #(
    .PAYLOAD (PAYLOAD),
    .PIDX_W  (PIDX_W),
    .ADDR_W  (ADDR_W),
    .OFFSET_W(OFFSET_W)
  ) i_request (
    .clk_i,
    .arg_i    (b_q.hdr.arg),
    .bytes_i  (b_q.hdr.pidx),
    .open_i   (c_right && c_key_fits),
    .base_i   (c_region.base),
    .last_i   (c_region.last),
    .verdict_o(e_refusal),
    .offset_o (e_offset)
  );

  // A request takes the offer exactly if it passes all other checks.
  assign e_grantable = e_q.request && ctl_room_i && !e_known && e_refusal == OUTCOME_NONE && !e_q.faulty && !e_over;
  assign e_grant     = e_valid_q && e_grantable && offer_valid;

  assign e_asks        = TRANSFERS ? e_q.asks : e_q.request;
  assign e_room        = ctl_room_i && !(TRANSFERS && e_q.verdict == OUTCOME_DROP_BUSY);
  assign answer_take_o = TRANSFERS && e_valid_q && e_q.read && ctl_room_i && e_refusal == OUTCOME_NONE && !answer_asked_i && answer_room_i;

  free_list #(
    .N(N_RX_CTX)
  ) i_free (
    .clk_i,
    .rst_ni,
    .ready_o  (list_ready),
    .valid_o  (offer_valid),
    .id_o     (offer),
    .pop_i    (e_grant),
    .push_i   (free_i),
    .push_id_i(free_cid_i),
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
    .free_i    (frees_i),
    .free_src_i(frees_src_i)
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
      .forget_i,
      .forget_src_i,
      .forget_sid_i
    );
  end else begin : g_no_repeats
    logic unused_forget;
    assign e_known       = 1'b0;
    assign e_known_cid   = '0;
    assign unused_forget = ^{forget_i, forget_src_i, forget_sid_i};
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
    if (e_asks && !ctl_room_i) begin
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
    c_event.writable    = c_region.open[0] && c_key_fits;
    c_event.receivable  = c_receivable;
    c_event.region_base = c_region.base;
    c_event.region_last = c_region.last;
  end

  logic unused;
  // of use to assertions, or with TRANSFERS only
  assign unused = ^{region_idx_i, req_i.of_read};

  if (TRANSFERS) begin : g_transfers
    logic a_known, a_flagged;
    assign a_known   = hdr_valid_i && hdr_ready_o && verdict_i == OUTCOME_NONE;
    assign a_flagged = (hdr_i.flags & (TRANSFER_FLAG_IMM | TRANSFER_FLAG_SEND | TRANSFER_FLAG_READ)) != '0;
    // Only what is for the inbox may be turned away by it.
    `ASSERT(InboxAskedFirst, !a_known || hdr_busy_i == ((hdr_i.ptype == PTYPE_RQT && a_flagged) || hdr_i.ptype == PTYPE_RSP))
    `ASSERT(RequestsFromInbox, !(a_asked && req_ready_o) || req_i.hdr.ptype == PTYPE_RQT)
    `ASSERT(TicketIsOfFlag, !(a_asked && req_ready_o && req_i.kind == ADMIT_BUFFER) || req_i.of_read == ((req_i.hdr.flags & TRANSFER_FLAG_READ) != '0))
  end
endmodule

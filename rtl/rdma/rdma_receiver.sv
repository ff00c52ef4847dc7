// SPDX-License-Identifier: Apache-2.0
// Receiver of the RDMA engine: one event (packet or timeout) a clock, for any order of contexts, also the same one back to
// back. Protocol and context: docs/rdma.md, Receiver.
//
//   A  choose the event, check a request, take a free context     (request checks are registered into B)
//   B  read the context RAM
//   C  decide; write context and timer back                       (ram_1r1w forwards C to a read in B)
//   D  act: write command, control packet, freed context, trace
//
// The pipeline never waits once an event is in it: A takes an event only while the write commands behind D have room for
// all that is under way. Control packets that find no room are dropped (a timer repeats them).
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
  parameter int unsigned CTL_DEPTH = 16,    // control packets that may wait
  parameter int unsigned CMD_DEPTH = 16     // write commands that may wait
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  output logic                ready_o,  // contexts are initialised
  output logic                idle_o,   // no event under way, no control packet waiting
  // configuration
  input  logic [        15:0] node_id_i,
  input  logic [        63:0] region_base_i,
  input  logic [        63:0] region_limit_i,
  input  logic [ LIMIT_W-1:0] timeout_i,         // ticks
  input  logic [         1:0] ask_from_after_i,
  input  logic [         3:0] max_silent_i,
  input  logic                weft_mode_i,
  input  logic [  TICK_W-1:0] now_i,             // ticks
  // packets
  input  logic                hdr_valid_i,
  output logic                hdr_ready_o,
  input  header_t             hdr_i,
  input  outcome_e            verdict_i,
  // what to do with the payload of a good DATA packet, in order
  output logic                cmd_valid_o,
  input  logic                cmd_ready_i,
  output logic                cmd_write_o,       // write it, else discard it
  output logic [  ADDR_W-1:0] cmd_addr_o,
  output logic [        15:0] cmd_len_o,         // bytes
  output logic [   CID_W-1:0] cmd_cid_o,
  // control packets, in order; one that waits for writes leaves when writes_done_i (a count) has come so far
  input  logic [        31:0] writes_done_i,
  output logic                ctl_valid_o,
  input  logic                ctl_ready_i,
  output header_t             ctl_o,
  output logic                ctl_dropped_o,     // a control packet found no room
  // trace: one record per event, see docs/rdma.md
  output logic                trace_valid_o,
  output logic                trace_timeout_o,
  output outcome_e            trace_outcome_o,
  output logic                trace_room_o,
  output logic                trace_offer_valid_o,
  output logic [        15:0] trace_offer_cid_o,
  output logic [        15:0] trace_cid_o,
  output logic [  TICK_W-1:0] trace_now_o,
  output logic [        31:0] trace_wbase_o,
  output logic [  WINDOW-1:0] trace_wvec_o
);
  localparam int unsigned SHIFT = $clog2(PAYLOAD);
  localparam int unsigned LEN_W = SHIFT + 1;
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

  `RDMA_TYPEDEF_RX_CTX(ctx_t, NODE_W, SID_W, MSGID_W, ADDR_W - SHIFT, PIDX_W, LEN_W, WINDOW)

  typedef struct packed {
    logic              timeout;
    header_t           hdr;
    outcome_e          verdict;
    logic              room;         // of a RQT
    logic              offer_valid;
    logic [IDX_W-1:0]  offer;
  } event_t;

  typedef struct packed {
    logic              timeout;
    outcome_e          outcome;
    logic              traced;
    logic              room;
    logic              offer_valid;
    logic [IDX_W-1:0]  offer;
    logic [15:0]       cid;
    logic [TICK_W-1:0] now;
    logic [PIDX_W-1:0] wbase;
    logic [WINDOW-1:0] wvec;
    logic              command;      // there is payload to write or to discard
    logic              write;
    logic [ADDR_W-1:0] addr;
    logic [15:0]       len;
    logic              emit;
    header_t           emit_hdr;
    logic              dropped;
    logic              free;
  } action_t;

  typedef struct packed {
    header_t     hdr;
    logic        waits;  // until the writes up to this count are done
    logic [31:0] writes;
  } ctl_t;

  // ------------------------------------------------------------------------------------------------- after reset
  logic             clearing_q;
  logic [IDX_W-1:0] clear_idx_q;
  logic             timer_ready, list_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clearing_q  <= 1'b1;
      clear_idx_q <= '0;
    end else if (clearing_q) begin
      clear_idx_q <= clear_idx_q + 1'b1;
      clearing_q  <= clear_idx_q != '1;
    end
  end

  assign ready_o = !clearing_q && timer_ready && list_ready;

  // ------------------------------------------------------------------------------------------------- A: choose
  logic     a_room, a_accept, a_timeout;
  event_t   a_event, b_q, c_q;
  action_t  d_q;
  logic     b_valid_q, c_valid_q, d_valid_q;
  outcome_e a_rqt;
  logic     a_is_rqt;
  logic     offer_valid;
  logic [IDX_W-1:0] offer;
  logic     expired_valid, expired_ready;
  logic [IDX_W-1:0] expired_idx;
  logic [$clog2(MAX_STARVED+1)-1:0] starved_q;
  logic     timeout_first;
  logic     ctl_room;
  logic [64:0] rqt_end;

  // A request's range must lie in the region; sums are one bit wider than addresses.
  assign rqt_end = {1'b0, hdr_i.arg} + 65'(hdr_i.pidx);

  always_comb begin : p_request
    if (!ctl_room) a_rqt = OUTCOME_DROP_BUSY;
    else if (hdr_i.pidx == '0 || ((hdr_i.pidx - 32'd1) >> SHIFT) >= 32'((64'd1 << PIDX_W) - 1))
      a_rqt = OUTCOME_REFUSE_LENGTH;
    else if (hdr_i.arg[SHIFT-1:0] != '0) a_rqt = OUTCOME_REFUSE_ALIGN;
    else if (hdr_i.arg < region_base_i || rqt_end > {1'b0, region_limit_i} || rqt_end > (65'd1 << ADDR_W))
      a_rqt = OUTCOME_REFUSE_REGION;
    else a_rqt = OUTCOME_NONE;
  end

  assign a_is_rqt      = verdict_i == OUTCOME_NONE && hdr_i.ptype == PTYPE_RQT;
  assign timeout_first = !hdr_valid_i || starved_q == ($bits(starved_q))'(MAX_STARVED);
  assign a_accept      = ready_o && a_room;
  assign a_timeout     = expired_valid && timeout_first;
  assign expired_ready = a_accept && timeout_first;
  assign hdr_ready_o   = a_accept && !a_timeout;

  always_comb begin : p_event
    a_event         = '0;
    a_event.timeout = a_timeout;
    if (a_timeout) begin
      a_event.hdr.cid = 16'(expired_idx);
    end else begin
      a_event.hdr         = hdr_i;
      a_event.verdict     = a_is_rqt ? a_rqt : verdict_i;
      a_event.room        = ctl_room;
      a_event.offer_valid = offer_valid;
      a_event.offer       = offer;
      if (verdict_i != OUTCOME_NONE) a_event.hdr.cid = '0;  // nothing in a bad packet can be believed
      else if (a_is_rqt && a_rqt == OUTCOME_NONE && offer_valid) a_event.hdr.cid = 16'(offer);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      b_valid_q <= 1'b0;
      c_valid_q <= 1'b0;
      d_valid_q <= 1'b0;
      starved_q <= '0;
    end else begin
      b_valid_q <= a_accept && (a_timeout || hdr_valid_i);
      c_valid_q <= b_valid_q;
      d_valid_q <= c_valid_q;
      if (!expired_valid || expired_ready) starved_q <= '0;
      else if (hdr_valid_i && hdr_ready_o && starved_q != '1) starved_q <= starved_q + 1'b1;
    end
    b_q <= a_event;
    c_q <= b_q;
  end

  // A request takes the offer exactly if it passes all other checks.
  free_list #(
    .N(N_RX_CTX)
  ) i_free (
    .clk_i,
    .rst_ni,
    .ready_o  (list_ready),
    .valid_o  (offer_valid),
    .id_o     (offer),
    .pop_i    (hdr_valid_i && hdr_ready_o && a_is_rqt && a_rqt == OUTCOME_NONE && offer_valid),
    .push_i   (d_valid_q && d_q.free),
    .push_id_i(d_q.cid[IDX_W-1:0]),
    .count_o  ()  // not needed
  );

  // ------------------------------------------------------------------------------------------------- B, C: decide
  ctx_t     c_ctx, c_ctx_new;
  logic     c_we, c_has_ctx, c_write, c_emit, c_timer_set, c_timer_armed, c_free, c_expired, c_room;
  outcome_e c_outcome;
  header_t  c_emit_hdr;
  logic [ADDR_W-1:0] c_addr;
  logic [IDX_W-1:0]  c_idx;
  logic     c_offered;
  action_t  c_action;

  assign c_idx = c_q.hdr.cid[IDX_W-1:0];

  ram_1r1w #(
    .DEPTH(N_RX_CTX),
    .WIDTH($bits(ctx_t))
  ) i_contexts (
    .clk_i,
    .we_i   (clearing_q || (c_valid_q && c_we)),
    .waddr_i(clearing_q ? clear_idx_q : c_idx),
    .wdata_i(clearing_q ? '0 : c_ctx_new),
    .re_i   (b_valid_q),
    .raddr_i(b_q.hdr.cid[IDX_W-1:0]),
    .rdata_o(c_ctx)
  );

  rdma_rx_decide #(
    .N_RX_CTX(N_RX_CTX),
    .WINDOW  (WINDOW),
    .PAYLOAD (PAYLOAD),
    .PIDX_W  (PIDX_W),
    .SID_W   (SID_W),
    .MSGID_W (MSGID_W),
    .NODE_W  (NODE_W),
    .ADDR_W  (ADDR_W),
    .LEN_W   (LEN_W),
    .ctx_t   (ctx_t)
  ) i_decide (
    .timeout_i    (c_q.timeout),
    .expired_i    (c_expired),
    .hdr_i        (c_q.hdr),
    .verdict_i    (c_q.verdict),
    .offer_valid_i(c_q.offer_valid),
    .node_id_i,
    .ask_from_after_i,
    .max_silent_i,
    .weft_mode_i,
    .ctx_i        (c_ctx),
    .ctx_o        (c_ctx_new),
    .ctx_we_o     (c_we),
    .outcome_o    (c_outcome),
    .has_ctx_o    (c_has_ctx),
    .write_o      (c_write),
    .write_addr_o (c_addr),
    .emit_o       (c_emit),
    .emit_hdr_o   (c_emit_hdr),
    .timer_set_o  (c_timer_set),
    .timer_armed_o(c_timer_armed),
    .free_o       (c_free)
  );

  rdma_timer #(
    .N(N_RX_CTX)
  ) i_timer (
    .clk_i,
    .rst_ni,
    .ready_o        (timer_ready),
    .now_i,
    .limit0_i       (timeout_i),
    .limit1_i       (timeout_i),
    .set_i          (c_valid_q && c_timer_set),
    .set_idx_i      (c_idx),
    .set_armed_i    (c_timer_armed),
    .set_class_i    (1'b0),
    .expired_valid_o(expired_valid),
    .expired_idx_o  (expired_idx),
    .expired_ready_i(expired_ready),
    .decided_i      (c_valid_q && c_q.timeout),
    .expired_now_o  (c_expired)
  );

  // A request was promised its room in A: nothing else may take it before the request is in C, so it is asked again only for
  // other events. Reserve: CTL_DEPTH leaves room for all events under way.
  assign c_offered = !c_q.timeout && c_q.verdict == OUTCOME_NONE && c_q.hdr.ptype == PTYPE_RQT;
  assign c_room    = (c_q.timeout || c_q.hdr.ptype != PTYPE_RQT) ? ctl_room : c_q.room;

  always_comb begin : p_action
    c_action             = '0;
    c_action.timeout     = c_q.timeout;
    c_action.outcome     = c_outcome;
    c_action.traced      = c_outcome != OUTCOME_NONE;
    c_action.room        = c_room;
    c_action.offer_valid = c_q.offer_valid;
    c_action.offer       = c_q.offer;
    c_action.cid         = c_q.hdr.cid;
    c_action.now         = now_i;
    if (c_has_ctx) begin
      c_action.wbase = c_ctx_new.wbase;
      c_action.wvec  = c_ctx_new.wvec;
    end
    c_action.command  = !c_q.timeout && c_q.verdict == OUTCOME_NONE && c_q.hdr.ptype == PTYPE_DATA;
    c_action.write    = c_write;
    c_action.addr     = c_addr;
    c_action.len      = c_q.hdr.len;
    c_action.emit     = c_emit && c_room;
    c_action.emit_hdr = c_emit_hdr;
    c_action.dropped  = c_emit && !c_room;
    c_action.free     = c_free;
  end

  always_ff @(posedge clk_i) d_q <= c_action;

  // ------------------------------------------------------------------------------------------------- D: act
  typedef struct packed {
    logic              write;
    logic [ADDR_W-1:0] addr;
    logic [15:0]       len;
    logic [CID_W-1:0]  cid;
  } cmd_t;

  localparam int unsigned UNDERWAY = 3;  // events in B, C and D

  cmd_t                           cmd_in, cmd;
  ctl_t                           ctl_in, ctl;
  logic [$clog2(CMD_DEPTH+1)-1:0] cmds;
  logic [$clog2(CTL_DEPTH+1)-1:0] ctls;
  logic                           cmd_ready, ctl_ready, ctl_valid, ctl_free;
  logic [31:0]                    writes_q, writes_now;
  logic [30:0]                    unused_ahead;
  logic                           behind;

  assign a_room   = cmds <= ($bits(cmds))'(CMD_DEPTH - UNDERWAY - 1);
  assign ctl_room = ctls <= ($bits(ctls))'(CTL_DEPTH - UNDERWAY - 1);

  assign writes_now = writes_q + 32'(d_valid_q && d_q.command && d_q.write);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) writes_q <= '0;
    else writes_q <= writes_now;
  end

  assign cmd_in = '{write: d_q.write, addr: d_q.addr, len: d_q.len, cid: d_q.cid[CID_W-1:0]};
  ram_fifo #(
    .DEPTH(CMD_DEPTH),
    .WIDTH($bits(cmd_t))
  ) i_commands (
    .clk_i,
    .rst_ni,
    .valid_i(d_valid_q && d_q.command),
    .ready_o(cmd_ready),
    .data_i (cmd_in),
    .valid_o(cmd_valid_o),
    .ready_i(cmd_ready_i),
    .data_o (cmd),
    .count_o(cmds)
  );
  assign cmd_write_o = cmd.write;
  assign cmd_addr_o  = cmd.addr;
  assign cmd_len_o   = cmd.len;
  assign cmd_cid_o   = cmd.cid;

  assign ctl_in = '{hdr: d_q.emit_hdr, waits: d_q.emit_hdr.ptype == PTYPE_DONE, writes: writes_now};
  ram_fifo #(
    .DEPTH(CTL_DEPTH),
    .WIDTH($bits(ctl_t))
  ) i_control (
    .clk_i,
    .rst_ni,
    .valid_i(d_valid_q && d_q.emit),
    .ready_o(ctl_ready),
    .data_i (ctl_in),
    .valid_o(ctl_valid),
    .ready_i(ctl_ready_i && ctl_free),
    .data_o (ctl),
    .count_o(ctls)
  );
  // counts wrap: "done" is at or past "writes" if it is less than half the range ahead
  assign {behind, unused_ahead} = writes_done_i - ctl.writes;
  assign ctl_free      = !ctl.waits || !behind;
  assign ctl_valid_o   = ctl_valid && ctl_free;
  assign ctl_o         = ctl.hdr;
  assign ctl_dropped_o = d_valid_q && d_q.dropped;
  assign idle_o        = !b_valid_q && !c_valid_q && !d_valid_q && ctls == '0 && cmds == '0;

  assign trace_valid_o       = d_valid_q && d_q.traced;
  assign trace_timeout_o     = d_q.timeout;
  assign trace_outcome_o     = d_q.outcome;
  assign trace_room_o        = d_q.room;
  assign trace_offer_valid_o = d_q.offer_valid;
  assign trace_offer_cid_o   = 16'(d_q.offer);
  assign trace_cid_o         = d_q.cid;
  assign trace_now_o         = d_q.now;
  assign trace_wbase_o       = 32'(d_q.wbase);
  assign trace_wvec_o        = d_q.wvec;

  `ASSERT(CommandHasRoom, !(d_valid_q && d_q.command) || cmd_ready)
  `ASSERT(ControlHasRoom, !(d_valid_q && d_q.emit) || ctl_ready)
  `ASSERT(EveryPacketDecided, !(d_valid_q && !d_q.timeout) || d_q.traced)
  `ASSERT(GrantsFreeContext, !(c_valid_q && c_offered && c_q.offer_valid) || c_ctx.state == RX_FREE)
  `ASSERT(WindowInsideTransfer, !(c_valid_q && c_has_ctx && c_we) || c_ctx_new.wbase <= c_ctx_new.last + 1'b1)
  `ASSERT(DoneMeansAll, !(c_valid_q && c_we) || (c_ctx_new.state == RX_DONE) == (c_ctx_new.state != RX_FREE &&
                        c_ctx_new.wbase > c_ctx_new.last))
endmodule

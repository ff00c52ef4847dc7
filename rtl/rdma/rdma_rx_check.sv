// SPDX-License-Identifier: Apache-2.0
// Entry of the engine: takes packets from the network, checks CRC, format and destination (docs/rdma.md, Arrival
// checks), and hands on one header with a verdict per packet. The payload of good DATA packets follows in a FIFO of its
// own, shifted so that its first byte is in the lowest lane; that of bad packets is taken back before anyone sees it.
//
// One beat a clock without bubbles, also for packets of one beat. Latency: three clocks after a packet's last beat.
`include "weft_assert.svh"

module rdma_rx_check
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned DATA_W  = 256,  // bits of a beat: a power of two of flits
  parameter int unsigned PAYLOAD = 256,  // bytes of a full packet's payload
  parameter int unsigned CID_W   = 10,   // bits of the numbers that a packet may carry
  parameter int unsigned SID_W   = 10,
  parameter int unsigned MSGID_W = 20,
  parameter int unsigned NODE_W  = 16,
  parameter int unsigned BUFFER  = 64,   // beats of payload buffer, at least two full packets
  parameter bit          TRANSFERS = 1'b0  // type READ and the flags of docs/rdma_transfers.md are known
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                node_known_i,  // node_id_i was written
  input  logic [        15:0] node_id_i,
  // network
  input  logic                s_axis_tvalid_i,
  output logic                s_axis_tready_o,
  input  logic [  DATA_W-1:0] s_axis_tdata_i,
  input  logic [DATA_W/8-1:0] s_axis_tkeep_i,
  input  logic                s_axis_tlast_i,
  // one per packet, in order of arrival
  output logic                hdr_valid_o,
  input  logic                hdr_ready_i,
  output header_t             hdr_o,
  output outcome_e            verdict_o,  // OUTCOME_NONE: the packet is fine
  // payload of the DATA packets among them whose verdict is fine
  output logic                payload_valid_o,
  input  logic                payload_ready_i,
  output logic [  DATA_W-1:0] payload_o
);
  localparam int unsigned FLITS     = DATA_W / FLIT_W;  // per beat
  localparam int unsigned MAX_FLITS = 1 + PAYLOAD / FLIT_BYTES;
  localparam int unsigned COUNT_W   = $clog2(MAX_FLITS + FLITS + 1);
  localparam int unsigned HDR_DEPTH = 8;

  if (DATA_W < FLIT_W || (DATA_W & (DATA_W - 1)) != 0) begin : g_bad_data_w
    $error("DATA_W must be a power of two of at least %0d, is %0d", FLIT_W, DATA_W);
  end
  if (PAYLOAD < FLIT_BYTES || PAYLOAD > 4096 || (PAYLOAD & (PAYLOAD - 1)) != 0) begin : g_bad_payload
    $error("PAYLOAD must be a power of two from %0d to 4096 bytes, is %0d", FLIT_BYTES, PAYLOAD);
  end
  if (BUFFER * DATA_W < 2 * (PAYLOAD * 8 + DATA_W)) begin : g_bad_buffer
    $error("BUFFER (%0d beats) must hold two packets of PAYLOAD (%0d bytes)", BUFFER, PAYLOAD);
  end

  typedef struct packed {
    header_t  header;
    outcome_e verdict;
  } entry_t;

  // -------------------------------------------------------------------------------------------------------------
  // Beat register: CRC and flit count include the beat in it.
  // -------------------------------------------------------------------------------------------------------------
  logic               beat_valid_q, last_q, first_q;
  logic [ DATA_W-1:0] beat_q;
  logic               more_q;      // the beat has flits besides its first
  logic [COUNT_W-1:0] flits_q, in_flits, flits_before;
  logic               gap, gap_q;  // tkeep is not whole flits from the lowest on, or not full before the last beat
  logic [       31:0] crc_q, crc_in;
  header_t            header_q;
  logic               in_first_q;  // the next beat starts a packet
  logic               in_fire, advance, room;

  assign s_axis_tready_o = room && advance;
  assign in_fire         = s_axis_tvalid_i && s_axis_tready_o;

  always_comb begin : p_in_flits
    logic more;
    in_flits = '0;
    gap      = !s_axis_tlast_i && s_axis_tkeep_i != '1;
    more     = 1'b1;
    for (int f = 0; f < int'(FLITS); f++) begin
      if (s_axis_tkeep_i[f*FLIT_BYTES+:FLIT_BYTES] != {FLIT_BYTES{more && s_axis_tkeep_i[f*FLIT_BYTES]}}) gap = 1'b1;
      more     = s_axis_tkeep_i[f*FLIT_BYTES];
      // a beat before the last counts in full: a packet of empty beats must not go on for ever
      in_flits = in_flits + COUNT_W'(!s_axis_tlast_i || more);
    end
    if (!s_axis_tkeep_i[0]) gap = 1'b1;
  end
  assign flits_before = in_first_q ? '0 : flits_q;

  always_comb begin : p_crc
    logic [FLIT_W-1:0] flit;
    crc_in = in_first_q ? CRC_INIT : crc_q;
    for (int f = 0; f < int'(FLITS); f++) begin
      flit = s_axis_tdata_i[f*FLIT_W+:FLIT_W];
      if (f == 0 && in_first_q) flit = FLIT_W'(without_crc(header_t'(flit)));
      if (s_axis_tkeep_i[f*FLIT_BYTES]) crc_in = crc_flit(crc_in, flit);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beat_valid_q <= 1'b0;
      in_first_q   <= 1'b1;
    end else begin
      if (advance) beat_valid_q <= in_fire;
      if (in_fire) in_first_q <= s_axis_tlast_i;
    end
    if (in_fire) begin
      beat_q       <= s_axis_tdata_i;
      last_q       <= s_axis_tlast_i;
      first_q      <= in_first_q;
      crc_q        <= crc_in;
      more_q       <= in_flits > COUNT_W'(1);
      // stays above the maximum once it is there
      flits_q      <= flits_before > COUNT_W'(MAX_FLITS) ? flits_before : flits_before + in_flits;
      gap_q        <= gap || (gap_q && !in_first_q);
      if (in_first_q) header_q <= header_t'(s_axis_tdata_i[FLIT_W-1:0]);
    end
  end

  // -------------------------------------------------------------------------------------------------------------
  // Payload: each beat register content yields at most one payload beat.
  // -------------------------------------------------------------------------------------------------------------
  logic              word_valid;
  logic [DATA_W-1:0] word;
  logic              too_long;

  if (FLITS == 1) begin : g_one_flit
    assign advance    = 1'b1;
    assign word       = beat_q;
    assign word_valid = beat_valid_q && !first_q && !too_long;
    logic unused_more;
    assign unused_more = more_q;
  end else begin : g_flits
    logic unused_first;
    assign unused_first = ^{first_q, beat_q[FLIT_W-1:0]};
    assign advance    = !beat_valid_q || last_q || (s_axis_tvalid_i && room);
    assign word       = {last_q ? {FLIT_W{1'b0}} : s_axis_tdata_i[FLIT_W-1:0], beat_q[DATA_W-1:FLIT_W]};
    assign word_valid = beat_valid_q && !too_long && (last_q ? more_q : in_fire);
  end

  // -------------------------------------------------------------------------------------------------------------
  // Verdict, with the last beat in the register
  // -------------------------------------------------------------------------------------------------------------
  outcome_e           verdict;
  logic [COUNT_W-1:0] expected_flits;
  logic               end_of_packet, malformed, too_wide, known;
  logic               entry_ready;
  entry_t             entry;

  localparam logic [7:0] ALL_FLAGS = FLAG_LAST | FLAG_RETRY | FLAG_FROM | FLAG_FAILED | FLAG_ORDER |
                                     (TRANSFERS ? TRANSFER_FLAG_IMM | TRANSFER_FLAG_SEND | TRANSFER_FLAG_READ : 8'd0);

  assign too_long       = flits_q > COUNT_W'(MAX_FLITS);
  assign end_of_packet  = beat_valid_q && last_q;
  assign expected_flits = COUNT_W'(1) + COUNT_W'((header_q.len + 16'(FLIT_BYTES - 1)) >> $clog2(FLIT_BYTES));
  assign too_wide       = (32'(header_q.src) >> NODE_W) != '0 || (32'(header_q.sid) >> SID_W) != '0 ||
                          (32'(header_q.msgid) >> MSGID_W) != '0 ||
                          (for_sender(header_q.ptype) && (32'(header_q.cid) >> CID_W) != '0);
  assign known          = known_type(header_q.ptype) || (TRANSFERS && header_q.ptype == PTYPE_READ);
  assign malformed      = too_wide || !known || (header_q.flags & ~ALL_FLAGS) != '0 ||
                          header_q.len > 16'(PAYLOAD) || flits_q != expected_flits ||
                          (header_q.ptype == PTYPE_DATA) != (header_q.len != '0);

  always_comb begin : p_verdict
    if (too_long || gap_q) verdict = OUTCOME_DROP_MALFORMED;
    else if (crc_q != ~header_q.crc) verdict = OUTCOME_DROP_CRC;
    else if (malformed) verdict = OUTCOME_DROP_MALFORMED;
    else if (!node_known_i || header_q.dst != node_id_i) verdict = OUTCOME_DROP_NOT_MINE;
    else verdict = OUTCOME_NONE;
  end

  assign entry.header  = header_q;
  assign entry.verdict = verdict;

  logic [$clog2(HDR_DEPTH+1)-1:0] entries;
  logic [   $clog2(BUFFER+1)-1:0] buffer_free;
  logic                           word_ready;
  entry_t                         head;

  // one packet may be in the beat register besides the one coming in
  assign room = entries < ($bits(entries))'(HDR_DEPTH - 2) && buffer_free > ($bits(buffer_free))'(2);

  packet_fifo #(
    .DEPTH(BUFFER),
    .WIDTH(DATA_W)
  ) i_payload (
    .clk_i,
    .rst_ni,
    .valid_i   (word_valid),
    .ready_o   (word_ready),
    .data_i    (word),
    .commit_i  (end_of_packet && verdict == OUTCOME_NONE),
    .rollback_i(end_of_packet && verdict != OUTCOME_NONE),
    .free_o    (buffer_free),
    .valid_o   (payload_valid_o),
    .ready_i   (payload_ready_i),
    .data_o    (payload_o),
    .count_o   ()  // not needed
  );

  ram_fifo #(
    .DEPTH(HDR_DEPTH),
    .WIDTH($bits(entry_t))
  ) i_headers (
    .clk_i,
    .rst_ni,
    .valid_i(end_of_packet),
    .ready_o(entry_ready),
    .data_i (entry),
    .valid_o(hdr_valid_o),
    .ready_i(hdr_ready_i),
    .data_o (head),
    .count_o(entries)
  );

  assign hdr_o     = head.header;
  assign verdict_o = head.verdict;

  `ASSERT(PayloadHasRoom, !word_valid || word_ready)
  `ASSERT(HeaderHasRoom, !end_of_packet || entry_ready)
endmodule

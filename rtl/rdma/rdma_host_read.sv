// SPDX-License-Identifier: Apache-2.0
// Fetches the payload of DATA packets from host memory over AXI4 and completes their headers with the CRC.
//
// Reads run ahead as far as the payload buffer has room: no bubbles as long as memory answers sooner than that is sent. But no farther than it takes: what waits
// here is behind the sender's decision and would only be late, so fewer packets are asked for while several wait, more when there is none. Not sent is a packet whose payload
// could not be read, or whose transfer is over when the last of its payload comes: its memory may belong to somebody else by then
// (docs/rdma.md, After a completion). The sender is told of the former, unless it is over, too: of one at a time. What fails meanwhile is only dropped, as its receiver will
// ask for it again. Addresses are multiples of PAYLOAD, so that no burst crosses 4 KiB.
`include "weft_assert.svh"

module rdma_host_read
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned DATA_W  = 256,
  parameter int unsigned PAYLOAD = 256,  // bytes
  parameter int unsigned ADDR_W  = 48,
  parameter int unsigned BUFFER  = 64,   // beats of payload buffer, a power of two, at least two packets
  parameter int unsigned DEPTH   = 16    // packets under way
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // packets to fetch
  input  logic              order_valid_i,
  output logic              order_ready_o,
  input  header_t           order_hdr_i,      // complete but for the CRC
  input  logic [ADDR_W-1:0] order_addr_i,
  // fetched packets
  output logic              hdr_valid_o,
  input  logic              hdr_ready_i,
  output header_t           hdr_o,
  output logic              payload_valid_o,  // zeros beyond the packet's length
  input  logic              payload_ready_i,
  output logic [DATA_W-1:0] payload_o,
  output logic              error_o,          // a read was answered with an error
  output logic              idle_o,
  // transfers that are over: asked with a beat of this packet, answered in the next clock
  output logic              query_o,
  output logic [      15:0] query_sid_o,
  output logic [      23:0] query_msgid_o,
  input  logic              query_over_i,
  // a packet of this transfer, which is not over, could not be read
  output logic              fault_valid_o,
  input  logic              fault_ready_i,
  output logic [      15:0] fault_sid_o,
  output logic [      23:0] fault_msgid_o,
  // AXI4 read channels
  output logic [ADDR_W-1:0] m_axi_araddr_o,
  output logic [       7:0] m_axi_arlen_o,
  output logic              m_axi_arvalid_o,
  input  logic              m_axi_arready_i,
  input  logic [DATA_W-1:0] m_axi_rdata_i,
  input  logic [       1:0] m_axi_rresp_i,
  input  logic              m_axi_rlast_i,
  input  logic              m_axi_rvalid_i,
  output logic              m_axi_rready_o
);
  localparam int unsigned BYTES   = DATA_W / 8;
  localparam int unsigned SHIFT   = $clog2(BYTES);
  localparam int unsigned FLITS   = DATA_W / FLIT_W;
  localparam int unsigned COUNT_W = $clog2(BUFFER + 1);
  localparam int unsigned BEATS   = PAYLOAD > BYTES ? PAYLOAD / BYTES : 1;
  localparam int unsigned LEAST   = 4 * BEATS > 64 ? (4 * BEATS < BUFFER ? 4 * BEATS : BUFFER) : 64 < BUFFER ? 64 : BUFFER;  // beats, for a memory that answers soon
  localparam int unsigned ENOUGH  = LEAST / BEATS;  // packets that wait

  if (BUFFER < 2 * (PAYLOAD / BYTES + 1)) begin : g_bad_buffer
    $error("BUFFER (%0d beats) must hold two packets of PAYLOAD (%0d bytes)", BUFFER, PAYLOAD);
  end

  typedef struct packed {
    header_t     hdr;
    logic [31:0] crc;  // after the header
  } pending_t;

  // ------------------------------------------------------------------------------------------------- requests
  logic [15:0]        order_last;  // index of the last beat
  logic [COUNT_W-1:0] buffer_free, awaited_q, spare_q;  // beats; spare_q: not to be used now
  logic [$clog2(DEPTH+1)-1:0] pendings, fetched;
  logic               has_room, may_ask, ask, pending_ready, pending_valid, pending_pop;
  pending_t           pending_in, pending;
  logic               beat_fire;
  logic               s_valid_q, end_of_packet;  // a beat was taken in the clock before, the last of a packet

  assign order_last = (order_hdr_i.len - 16'd1) >> SHIFT;
  assign has_room   = 32'(buffer_free) >= 32'(awaited_q) + 32'(order_last) + 32'd1 + 32'(spare_q);
  assign may_ask    = has_room && 32'(pendings) + 32'(fetched) + 32'(end_of_packet) < 32'(DEPTH);
  // An address stays offered until it is taken, whatever order comes next.
  typedef struct packed {
    logic [ADDR_W-1:0] addr;
    logic [7:0]        len;
  } ar_t;
  ar_t  ar_in, ar;
  logic ar_ready;

  assign ask           = order_valid_i && may_ask && ar_ready && pending_ready;
  assign order_ready_o = may_ask && ar_ready && pending_ready;
  assign ar_in         = '{addr: order_addr_i, len: 8'(order_last)};

  sync_fifo #(
    .DEPTH(2),
    .T    (ar_t)
  ) i_addresses (
    .clk_i,
    .rst_ni,
    .valid_i(ask),
    .ready_o(ar_ready),
    .data_i (ar_in),
    .valid_o(m_axi_arvalid_o),
    .ready_i(m_axi_arready_i),
    .data_o (ar),
    .count_o()  // not needed
  );
  assign m_axi_araddr_o = ar.addr;
  assign m_axi_arlen_o  = ar.len;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) awaited_q <= '0;
    else awaited_q <= awaited_q + (ask ? COUNT_W'(order_last) + 1'b1 : '0) - COUNT_W'(s_valid_q);
  end

  // No more than what memory takes to answer: one that answers soon would only have packets wait here.
  if (BUFFER > LEAST) begin : g_spare
    localparam int unsigned MOST = BUFFER - LEAST;
    logic       starves;  // nothing waits although there is more to ask for
    logic [3:0] calm_q;   // packets that came while enough waited
    assign starves = order_valid_i && !has_room && fetched == '0;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        spare_q <= COUNT_W'(MOST);
        calm_q  <= '0;
      end else if (end_of_packet) begin
        if (starves) spare_q <= 32'(spare_q) > 2 * BEATS ? spare_q - COUNT_W'(2 * BEATS) : '0;
        else if (32'(fetched) >= ENOUGH) begin
          calm_q <= calm_q + 1'b1;
          if (calm_q == '1) spare_q <= 32'(spare_q) + BEATS < MOST ? spare_q + COUNT_W'(BEATS) : COUNT_W'(MOST);
        end
      end
    end
    `ASSERT(SparesNoMoreThanItMay, 32'(spare_q) <= MOST)
  end else begin : g_no_spare
    assign spare_q = '0;
  end

  assign pending_in = '{hdr: order_hdr_i, crc: crc_flit(CRC_INIT, FLIT_W'(without_crc(order_hdr_i)))};

  ram_fifo #(
    .DEPTH(DEPTH),
    .WIDTH($bits(pending_t))
  ) i_pending (
    .clk_i,
    .rst_ni,
    .valid_i(ask),
    .ready_o(pending_ready),
    .data_i (pending_in),
    .valid_o(pending_valid),
    .ready_i(pending_pop),
    .data_o (pending),
    .count_o(pendings)
  );

  // ------------------------------------------------------------------------------------------------- answers
  logic [15:0] done_q;  // bytes of this packet before this beat
  logic [15:0] left;    // bytes of this packet from this beat on

  assign m_axi_rready_o = pending_valid;
  assign beat_fire      = m_axi_rvalid_i && m_axi_rready_o;
  assign left           = pending.hdr.len - done_q;
  assign pending_pop    = beat_fire && m_axi_rlast_i;
  assign query_o        = beat_fire;
  assign query_sid_o    = pending.hdr.sid;
  assign query_msgid_o  = pending.hdr.msgid;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) done_q <= '0;
    else if (beat_fire) done_q <= m_axi_rlast_i ? '0 : done_q + 16'(BYTES);
  end

  // ------------------------------------------------------------------------------------------------- S: one clock later
  pending_t          s_q;
  logic [15:0]       s_left_q;
  logic [DATA_W-1:0] s_data_q, beat;
  logic [31:0]       crc_q, crc;
  logic              s_last_q, s_error_q, first_q, failed_q, failed, keep, word_ready, hdr_ready;
  header_t           hdr_in;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) s_valid_q <= 1'b0;
    else s_valid_q <= beat_fire;
    s_q       <= pending;
    s_left_q  <= left;
    s_data_q  <= m_axi_rdata_i;
    s_last_q  <= m_axi_rlast_i;
    s_error_q <= m_axi_rresp_i[1];
  end

  assign failed        = failed_q || s_error_q;
  assign end_of_packet = s_valid_q && s_last_q;
  assign keep          = !failed && !query_over_i;

  always_comb begin : p_mask
    for (int i = 0; i < int'(BYTES); i++) begin
      beat[i*8+:8] = 16'(i) < s_left_q ? s_data_q[i*8+:8] : 8'd0;
    end
  end

  always_comb begin : p_crc
    crc = first_q ? s_q.crc : crc_q;
    for (int f = 0; f < int'(FLITS); f++) begin
      if (16'(f * FLIT_BYTES) < s_left_q) crc = crc_flit(crc, beat[f*FLIT_W+:FLIT_W]);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q  <= 1'b1;
      failed_q <= 1'b0;
    end else if (s_valid_q) begin
      first_q  <= s_last_q;
      failed_q <= failed && !s_last_q;
    end
    if (s_valid_q) crc_q <= crc;
  end

  always_comb begin : p_header
    hdr_in     = s_q.hdr;
    hdr_in.crc = ~crc;
  end

  packet_fifo #(
    .DEPTH(BUFFER),
    .WIDTH(DATA_W)
  ) i_payload (
    .clk_i,
    .rst_ni,
    .valid_i   (s_valid_q),
    .ready_o   (word_ready),
    .data_i    (beat),
    .commit_i  (end_of_packet && keep),
    .rollback_i(end_of_packet && !keep),
    .free_o    (buffer_free),
    .valid_o   (payload_valid_o),
    .ready_i   (payload_ready_i),
    .data_o    (payload_o),
    .count_o   ()  // not needed
  );

  ram_fifo #(
    .DEPTH(DEPTH),
    .WIDTH($bits(header_t))
  ) i_fetched (
    .clk_i,
    .rst_ni,
    .valid_i(end_of_packet && keep),
    .ready_o(hdr_ready),
    .data_i (hdr_in),
    .valid_o(hdr_valid_o),
    .ready_i(hdr_ready_i),
    .data_o (hdr_o),
    .count_o(fetched)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) fault_valid_o <= 1'b0;
    else if (!fault_valid_o || fault_ready_i) fault_valid_o <= error_o && !query_over_i;
    if (!fault_valid_o || fault_ready_i) begin
      fault_sid_o   <= s_q.hdr.sid;
      fault_msgid_o <= s_q.hdr.msgid;
    end
  end

  assign error_o = end_of_packet && failed;
  assign idle_o  = pendings == '0 && fetched == '0 && !s_valid_q && !fault_valid_o;

  logic unused;
  assign unused = m_axi_rresp_i[0];  // OKAY or EXOKAY, SLVERR or DECERR

  `ASSERT(PayloadHasRoom, !s_valid_q || word_ready)
  `ASSERT(HeaderHasRoom, !(end_of_packet && keep) || hdr_ready)
`ifdef VERILATOR
  `ASSERT(FaultStable, fault_valid_o && !fault_ready_i |=> fault_valid_o && $stable(fault_sid_o) && $stable(fault_msgid_o))
`endif
  `ASSERT(BurstEndsWithPacket, !beat_fire || m_axi_rlast_i == (left <= 16'(BYTES)))
endmodule

// SPDX-License-Identifier: Apache-2.0
// Copies of the payloads that wait for an answer (docs/rdma_baseline.md, Sender window), between rdma_host_read and memory: what a new packet reads from memory
// stays here, and a packet that is sent again (FLAG_RETRY) is read from here. A copy of what memory answered with an error is answered with one, too.
//
// Answers come in the order of the orders. A copy comes one beat a clock, the first one two clocks after its turn. RAM: N_BUFFERS * WINDOW payloads, and a bit for each beat.
`include "weft_assert.svh"

module rdma_send_copies
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned DATA_W    = 256,
  parameter int unsigned PAYLOAD   = 256,
  parameter int unsigned ADDR_W    = 48,
  parameter int unsigned N_BUFFERS = 64,
  parameter int unsigned WINDOW    = 128,
  parameter int unsigned DEPTH     = 64   // packets under way in rdma_host_read
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // an order that rdma_host_read takes
  input  logic              order_i,
  input  header_t           order_hdr_i,
  // read channels of rdma_host_read
  input  logic [ADDR_W-1:0] s_axi_araddr_i,
  input  logic [       7:0] s_axi_arlen_i,
  input  logic              s_axi_arvalid_i,
  output logic              s_axi_arready_o,
  output logic [DATA_W-1:0] s_axi_rdata_o,
  output logic [       1:0] s_axi_rresp_o,
  output logic              s_axi_rlast_o,
  output logic              s_axi_rvalid_o,
  input  logic              s_axi_rready_i,
  // host memory
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
  localparam int unsigned BEATS  = PAYLOAD > DATA_W / 8 ? PAYLOAD / (DATA_W / 8) : 1;
  localparam int unsigned BEAT_W = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam int unsigned SLOT_W = $clog2(WINDOW);
  localparam int unsigned BUF_W  = $clog2(N_BUFFERS);
  localparam int unsigned PLACE_W = BUF_W + SLOT_W;

  typedef struct packed {
    logic               copy;   // it is read from here
    logic [PLACE_W-1:0] place;
  } tag_t;

  typedef struct packed {
    logic               copy;
    logic [PLACE_W-1:0] place;
    logic [BEAT_W-1:0]  last;   // beat
  } read_t;

  // ------------------------------------------------------------------------------------------------- addresses
  tag_t  tag_in, tag;
  read_t read_in, read;
  logic  tag_ready, tag_valid, tag_pop, read_ready, read_valid, read_pop;

  assign tag_in = '{copy: (order_hdr_i.flags & FLAG_RETRY) != '0, place: {order_hdr_i.dst[BUF_W-1:0], order_hdr_i.arg[24+:SLOT_W]}};
  sync_fifo #(
    .DEPTH(2),  // as many as rdma_host_read has addresses waiting
    .T    (tag_t)
  ) i_tags (
    .clk_i,
    .rst_ni,
    .valid_i(order_i),
    .ready_o(tag_ready),
    .data_i (tag_in),
    .valid_o(tag_valid),
    .ready_i(tag_pop),
    .data_o (tag),
    .count_o()  // not needed
  );

  assign m_axi_araddr_o  = s_axi_araddr_i;
  assign m_axi_arlen_o   = s_axi_arlen_i;
  assign m_axi_arvalid_o = s_axi_arvalid_i && !tag.copy && read_ready;
  assign s_axi_arready_o = read_ready && (tag.copy || m_axi_arready_i);
  assign tag_pop         = s_axi_arvalid_i && s_axi_arready_o;

  assign read_in = '{copy: tag.copy, place: tag.place, last: BEAT_W'(s_axi_arlen_i)};
  ram_fifo #(
    .DEPTH(DEPTH),
    .WIDTH($bits(read_t))
  ) i_reads (
    .clk_i,
    .rst_ni,
    .valid_i(tag_pop),
    .ready_o(read_ready),
    .data_i (read_in),
    .valid_o(read_valid),
    .ready_i(read_pop),
    .data_o (read),
    .count_o()  // not needed
  );

  // ------------------------------------------------------------------------------------------------- data
  logic [BEAT_W-1:0] beat_q;          // of a read from memory: that comes; of a copy: that is read next
  logic              copy_valid_q, copy_last_q;
  logic              copy_read, host_fire, copy_bad;
  logic [DATA_W-1:0] copy_data;
  logic              asked_all_q;     // of this copy no beat is left to be read

  assign m_axi_rready_o = read_valid && !read.copy && !copy_valid_q && s_axi_rready_i;
  assign host_fire      = m_axi_rvalid_i && m_axi_rready_o;
  assign copy_read      = read_valid && read.copy && !asked_all_q && (!copy_valid_q || s_axi_rready_i);
  assign read_pop       = read.copy ? copy_valid_q && copy_last_q && s_axi_rready_i : host_fire && m_axi_rlast_i;

  assign s_axi_rvalid_o = copy_valid_q || (read_valid && !read.copy && m_axi_rvalid_i);
  assign s_axi_rdata_o  = copy_valid_q ? copy_data : m_axi_rdata_i;
  assign s_axi_rresp_o  = copy_valid_q ? {copy_bad, 1'b0} : m_axi_rresp_i;
  assign s_axi_rlast_o  = copy_valid_q ? copy_last_q : m_axi_rlast_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beat_q       <= '0;
      copy_valid_q <= 1'b0;
      asked_all_q  <= 1'b0;
    end else begin
      if (read_valid && read_pop) beat_q <= '0;
      else if (host_fire || copy_read) beat_q <= beat_q + 1'b1;
      if (copy_read) copy_valid_q <= 1'b1;
      else if (s_axi_rready_i) copy_valid_q <= 1'b0;
      if (read_valid && read_pop) asked_all_q <= 1'b0;
      else if (copy_read && beat_q == read.last) asked_all_q <= 1'b1;
    end
    if (copy_read) copy_last_q <= beat_q == read.last;
  end

  ram_sdp #(
    .DEPTH(N_BUFFERS * WINDOW * BEATS),
    .WIDTH(DATA_W + 1)
  ) i_copies (
    .clk_i,
    .we_i   (host_fire),
    .waddr_i(BEATS > 1 ? ($clog2(N_BUFFERS*WINDOW*BEATS))'({read.place, beat_q}) : ($clog2(N_BUFFERS*WINDOW*BEATS))'(read.place)),
    .wdata_i({m_axi_rresp_i[1], m_axi_rdata_i}),
    .re_i   (copy_read),
    .raddr_i(BEATS > 1 ? ($clog2(N_BUFFERS*WINDOW*BEATS))'({read.place, beat_q}) : ($clog2(N_BUFFERS*WINDOW*BEATS))'(read.place)),
    .rdata_o({copy_bad, copy_data})
  );

  logic unused;
  assign unused = ^{order_hdr_i, s_axi_arlen_i};  // of which some bits are looked at

  `ASSERT(TagOfEachAddress, s_axi_arvalid_i == tag_valid)
  `ASSERT(TagHasRoom, !order_i || tag_ready)
  `ASSERT(LastBeatIsLast, !host_fire || (beat_q == read.last) == m_axi_rlast_i)
endmodule

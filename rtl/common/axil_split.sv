// SPDX-License-Identifier: Apache-2.0
// Splits an AXI4-Lite address space: accesses below BOUNDARY go to slave 0, all others to slave 1, which sees its addresses from 0 on.
//
// One write and one read at a time. Latency: a request one clock, an answer none.
`include "weft_assert.svh"

module axil_split #(
  parameter int unsigned ADDR_W   = 16,
  parameter int unsigned BOUNDARY = 4096  // first byte of slave 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [ADDR_W-1:0]      s_axil_awaddr_i,
  input  logic                   s_axil_awvalid_i,
  output logic                   s_axil_awready_o,
  input  logic [31:0]            s_axil_wdata_i,
  input  logic [3:0]             s_axil_wstrb_i,
  input  logic                   s_axil_wvalid_i,
  output logic                   s_axil_wready_o,
  output logic [1:0]             s_axil_bresp_o,
  output logic                   s_axil_bvalid_o,
  input  logic                   s_axil_bready_i,
  input  logic [ADDR_W-1:0]      s_axil_araddr_i,
  input  logic                   s_axil_arvalid_i,
  output logic                   s_axil_arready_o,
  output logic [31:0]            s_axil_rdata_o,
  output logic [1:0]             s_axil_rresp_o,
  output logic                   s_axil_rvalid_o,
  input  logic                   s_axil_rready_i,
  // slaves; addresses and data of a request are the same for both
  output logic [ADDR_W-1:0]      m_axil_awaddr_o,
  output logic [1:0]             m_axil_awvalid_o,
  input  logic [1:0]             m_axil_awready_i,
  output logic [31:0]            m_axil_wdata_o,
  output logic [3:0]             m_axil_wstrb_o,
  output logic [1:0]             m_axil_wvalid_o,
  input  logic [1:0]             m_axil_wready_i,
  input  logic [1:0][1:0]        m_axil_bresp_i,
  input  logic [1:0]             m_axil_bvalid_i,
  output logic [1:0]             m_axil_bready_o,
  output logic [ADDR_W-1:0]      m_axil_araddr_o,
  output logic [1:0]             m_axil_arvalid_o,
  input  logic [1:0]             m_axil_arready_i,
  input  logic [1:0][31:0]       m_axil_rdata_i,
  input  logic [1:0][1:0]        m_axil_rresp_i,
  input  logic [1:0]             m_axil_rvalid_i,
  output logic [1:0]             m_axil_rready_o
);
  typedef logic [ADDR_W-1:0] addr_t;

  if (ADDR_W > 31 || BOUNDARY == 0 || BOUNDARY >= (1 << ADDR_W)) begin : g_bad_boundary
    $error("BOUNDARY (%0d) must lie within the addresses of ADDR_W (%0d) bits", BOUNDARY, ADDR_W);
  end

  function automatic logic [1:0] chosen(addr_t addr);
    return addr < addr_t'(BOUNDARY) ? 2'b01 : 2'b10;
  endfunction
  function automatic addr_t local_address(addr_t addr);
    return addr < addr_t'(BOUNDARY) ? addr : addr - addr_t'(BOUNDARY);
  endfunction

  // ------------------------------------------------------------------------------------------------- writes
  logic       aw_held_q, w_held_q, aw_sent_q, w_sent_q;
  logic [1:0] writes_to_q;

  assign s_axil_awready_o = !aw_held_q;
  assign s_axil_wready_o  = !w_held_q;
  assign m_axil_awvalid_o = aw_held_q && !aw_sent_q ? writes_to_q : '0;
  assign m_axil_wvalid_o  = aw_held_q && w_held_q && !w_sent_q ? writes_to_q : '0;
  assign s_axil_bvalid_o  = (m_axil_bvalid_i & writes_to_q) != '0 && aw_sent_q && w_sent_q;
  assign s_axil_bresp_o   = writes_to_q[1] ? m_axil_bresp_i[1] : m_axil_bresp_i[0];
  assign m_axil_bready_o  = s_axil_bready_i && aw_sent_q && w_sent_q ? writes_to_q : '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || (s_axil_bvalid_o && s_axil_bready_i)) begin
      {aw_held_q, w_held_q, aw_sent_q, w_sent_q} <= '0;
    end else begin
      if (s_axil_awvalid_i) aw_held_q <= 1'b1;
      if (s_axil_wvalid_i) w_held_q <= 1'b1;
      if ((m_axil_awvalid_o & m_axil_awready_i) != '0) aw_sent_q <= 1'b1;
      if ((m_axil_wvalid_o & m_axil_wready_i) != '0) w_sent_q <= 1'b1;
    end
    if (s_axil_awvalid_i && s_axil_awready_o) begin
      writes_to_q     <= chosen(s_axil_awaddr_i);
      m_axil_awaddr_o <= local_address(s_axil_awaddr_i);
    end
    if (s_axil_wvalid_i && s_axil_wready_o) begin
      m_axil_wdata_o <= s_axil_wdata_i;
      m_axil_wstrb_o <= s_axil_wstrb_i;
    end
  end

  // ------------------------------------------------------------------------------------------------- reads
  logic       ar_held_q, ar_sent_q;
  logic [1:0] reads_from_q;

  assign s_axil_arready_o = !ar_held_q;
  assign m_axil_arvalid_o = ar_held_q && !ar_sent_q ? reads_from_q : '0;
  assign s_axil_rvalid_o  = (m_axil_rvalid_i & reads_from_q) != '0 && ar_sent_q;
  assign s_axil_rdata_o   = reads_from_q[1] ? m_axil_rdata_i[1] : m_axil_rdata_i[0];
  assign s_axil_rresp_o   = reads_from_q[1] ? m_axil_rresp_i[1] : m_axil_rresp_i[0];
  assign m_axil_rready_o  = s_axil_rready_i && ar_sent_q ? reads_from_q : '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || (s_axil_rvalid_o && s_axil_rready_i)) begin
      {ar_held_q, ar_sent_q} <= '0;
    end else begin
      if (s_axil_arvalid_i) ar_held_q <= 1'b1;
      if ((m_axil_arvalid_o & m_axil_arready_i) != '0) ar_sent_q <= 1'b1;
    end
    if (s_axil_arvalid_i && s_axil_arready_o) begin
      reads_from_q    <= chosen(s_axil_araddr_i);
      m_axil_araddr_o <= local_address(s_axil_araddr_i);
    end
  end

  `ASSERT(WriteAnswerExpected, m_axil_bvalid_i == '0 || (m_axil_bvalid_i == writes_to_q && aw_sent_q && w_sent_q))
  `ASSERT(ReadAnswerExpected, m_axil_rvalid_i == '0 || (m_axil_rvalid_i == reads_from_q && ar_sent_q))
`ifdef VERILATOR
  `ASSERT(WriteAnswerStable, s_axil_bvalid_o && !s_axil_bready_i |=> s_axil_bvalid_o && $stable(s_axil_bresp_o))
  `ASSERT(ReadAnswerStable, s_axil_rvalid_o && !s_axil_rready_i |=> s_axil_rvalid_o && $stable(s_axil_rdata_o))
`endif
endmodule

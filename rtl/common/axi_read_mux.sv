// SPDX-License-Identifier: Apache-2.0
// Puts the AXI4 reads of several masters, one ID each and answered in order, on one port, burst by burst in turn.
//
// Latency: an address one clock, data none. An address a clock and a beat a clock, also from master to master.
// A master must take its data without waiting for another master's, since data come in the order of the addresses.
`include "weft_assert.svh"

module axi_read_mux #(
  parameter int unsigned N      = 2,    // masters
  parameter int unsigned ADDR_W = 48,
  parameter int unsigned DATA_W = 256,
  parameter int unsigned DEPTH  = 16    // bursts under way
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  // masters; data and its response are those of the port for all of them
  input  logic [N-1:0][ADDR_W-1:0] s_axi_araddr_i,
  input  logic [N-1:0][       7:0] s_axi_arlen_i,
  input  logic [N-1:0]             s_axi_arvalid_i,
  output logic [N-1:0]             s_axi_arready_o,
  output logic [DATA_W-1:0]        s_axi_rdata_o,
  output logic [       1:0]        s_axi_rresp_o,
  output logic                     s_axi_rlast_o,
  output logic [N-1:0]             s_axi_rvalid_o,
  input  logic [N-1:0]             s_axi_rready_i,
  // port
  output logic [ADDR_W-1:0]        m_axi_araddr_o,
  output logic [       7:0]        m_axi_arlen_o,
  output logic                     m_axi_arvalid_o,
  input  logic                     m_axi_arready_i,
  input  logic [DATA_W-1:0]        m_axi_rdata_i,
  input  logic [       1:0]        m_axi_rresp_i,
  input  logic                     m_axi_rlast_i,
  input  logic                     m_axi_rvalid_i,
  output logic                     m_axi_rready_o
);
  localparam int unsigned IDX_W = (N > 1) ? $clog2(N) : 1;

  typedef struct packed {
    logic [ADDR_W-1:0] addr;
    logic [7:0]        len;
  } ar_t;
  typedef logic [IDX_W-1:0] idx_t;

  logic [N-1:0] grant;
  idx_t         granted, answered;
  logic         asked, take, list_ready, order_ready, order_valid;
  ar_t          ar;

  rr_arbiter #(
    .N(N)
  ) i_arbiter (
    .clk_i,
    .rst_ni,
    .req_i  (s_axi_arvalid_i),
    .take_i (take),
    .valid_o(asked),
    .gnt_o  (grant),
    .idx_o  (granted)
  );
  assign take            = list_ready && order_ready;
  assign s_axi_arready_o = take ? grant : '0;

  sync_fifo #(
    .DEPTH(2),
    .T    (ar_t)
  ) i_addresses (
    .clk_i,
    .rst_ni,
    .valid_i(asked && take),
    .ready_o(list_ready),
    .data_i ('{addr: s_axi_araddr_i[granted], len: s_axi_arlen_i[granted]}),
    .valid_o(m_axi_arvalid_o),
    .ready_i(m_axi_arready_i),
    .data_o (ar),
    .count_o()
  );
  assign m_axi_araddr_o = ar.addr;
  assign m_axi_arlen_o  = ar.len;

  sync_fifo #(
    .DEPTH(DEPTH),
    .T    (idx_t)
  ) i_order (
    .clk_i,
    .rst_ni,
    .valid_i(asked && take),
    .ready_o(order_ready),
    .data_i (granted),
    .valid_o(order_valid),
    .ready_i(m_axi_rvalid_i && m_axi_rready_o && m_axi_rlast_i),
    .data_o (answered),
    .count_o()
  );

  assign s_axi_rdata_o  = m_axi_rdata_i;
  assign s_axi_rresp_o  = m_axi_rresp_i;
  assign s_axi_rlast_o  = m_axi_rlast_i;
  assign m_axi_rready_o = order_valid && s_axi_rready_i[answered];
  always_comb begin : p_data
    s_axi_rvalid_o           = '0;
    s_axi_rvalid_o[answered] = m_axi_rvalid_i && order_valid;
  end

  `ASSERT(ReadAnswerExpected, !m_axi_rvalid_i || order_valid)
`ifdef VERILATOR
  `ASSERT(ReadAddressStable, m_axi_arvalid_o && !m_axi_arready_i |=> m_axi_arvalid_o && $stable(ar))
`endif
endmodule

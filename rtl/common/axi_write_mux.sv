// SPDX-License-Identifier: Apache-2.0
// Puts the AXI4 writes of several masters, one ID each and answered in order, on one port, burst by burst in turn.
//
// Latency: an address one clock, data one clock behind its address, answers none. A beat a clock, also from master to master and with bursts of one beat.
// A master must have the data of the bursts whose address it offers, since data go in the order of the addresses; it must take its answers without
// waiting for another master's.
`include "weft_assert.svh"

module axi_write_mux #(
  parameter int unsigned N      = 2,    // masters
  parameter int unsigned ADDR_W = 48,
  parameter int unsigned DATA_W = 256,
  parameter int unsigned DEPTH  = 16    // bursts under way
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  // masters; the response is that of the port for all of them
  input  logic [N-1:0][  ADDR_W-1:0] s_axi_awaddr_i,
  input  logic [N-1:0][         7:0] s_axi_awlen_i,
  input  logic [N-1:0]               s_axi_awvalid_i,
  output logic [N-1:0]               s_axi_awready_o,
  input  logic [N-1:0][  DATA_W-1:0] s_axi_wdata_i,
  input  logic [N-1:0][DATA_W/8-1:0] s_axi_wstrb_i,
  input  logic [N-1:0]               s_axi_wlast_i,
  input  logic [N-1:0]               s_axi_wvalid_i,
  output logic [N-1:0]               s_axi_wready_o,
  output logic [         1:0]        s_axi_bresp_o,
  output logic [N-1:0]               s_axi_bvalid_o,
  input  logic [N-1:0]               s_axi_bready_i,
  // port
  output logic [  ADDR_W-1:0]        m_axi_awaddr_o,
  output logic [         7:0]        m_axi_awlen_o,
  output logic                       m_axi_awvalid_o,
  input  logic                       m_axi_awready_i,
  output logic [  DATA_W-1:0]        m_axi_wdata_o,
  output logic [DATA_W/8-1:0]        m_axi_wstrb_o,
  output logic                       m_axi_wlast_o,
  output logic                       m_axi_wvalid_o,
  input  logic                       m_axi_wready_i,
  input  logic [         1:0]        m_axi_bresp_i,
  input  logic                       m_axi_bvalid_i,
  output logic                       m_axi_bready_o
);
  localparam int unsigned IDX_W = (N > 1) ? $clog2(N) : 1;

  typedef struct packed {
    logic [ADDR_W-1:0] addr;
    logic [7:0]        len;
  } aw_t;
  typedef logic [IDX_W-1:0] idx_t;

  logic [N-1:0] grant;
  idx_t         granted, writing, answered;
  logic         asked, take, list_ready, data_ready, data_valid, answer_ready, answer_valid;
  aw_t          aw;

  rr_arbiter #(
    .N(N)
  ) i_arbiter (
    .clk_i,
    .rst_ni,
    .req_i  (s_axi_awvalid_i),
    .take_i (take),
    .valid_o(asked),
    .gnt_o  (grant),
    .idx_o  (granted)
  );
  assign take            = list_ready && data_ready && answer_ready;
  assign s_axi_awready_o = take ? grant : '0;

  sync_fifo #(
    .DEPTH(2),
    .T    (aw_t)
  ) i_addresses (
    .clk_i,
    .rst_ni,
    .valid_i(asked && take),
    .ready_o(list_ready),
    .data_i ('{addr: s_axi_awaddr_i[granted], len: s_axi_awlen_i[granted]}),
    .valid_o(m_axi_awvalid_o),
    .ready_i(m_axi_awready_i),
    .data_o (aw),
    .count_o()
  );
  assign m_axi_awaddr_o = aw.addr;
  assign m_axi_awlen_o  = aw.len;

  // Whose data come next, whose answers.
  sync_fifo #(
    .DEPTH(DEPTH),
    .T    (idx_t)
  ) i_data_order (
    .clk_i,
    .rst_ni,
    .valid_i(asked && take),
    .ready_o(data_ready),
    .data_i (granted),
    .valid_o(data_valid),
    .ready_i(m_axi_wvalid_o && m_axi_wready_i && m_axi_wlast_o),
    .data_o (writing),
    .count_o()
  );

  sync_fifo #(
    .DEPTH(DEPTH),
    .T    (idx_t)
  ) i_answer_order (
    .clk_i,
    .rst_ni,
    .valid_i(asked && take),
    .ready_o(answer_ready),
    .data_i (granted),
    .valid_o(answer_valid),
    .ready_i(m_axi_bvalid_i && m_axi_bready_o),
    .data_o (answered),
    .count_o()
  );

  assign m_axi_wdata_o  = s_axi_wdata_i[writing];
  assign m_axi_wstrb_o  = s_axi_wstrb_i[writing];
  assign m_axi_wlast_o  = s_axi_wlast_i[writing];
  assign m_axi_wvalid_o = data_valid && s_axi_wvalid_i[writing];
  assign s_axi_bresp_o  = m_axi_bresp_i;
  assign m_axi_bready_o = answer_valid && s_axi_bready_i[answered];
  always_comb begin : p_route
    s_axi_wready_o           = '0;
    s_axi_wready_o[writing]  = m_axi_wready_i && data_valid;
    s_axi_bvalid_o           = '0;
    s_axi_bvalid_o[answered] = m_axi_bvalid_i && answer_valid;
  end

  `ASSERT(WriteAnswerExpected, !m_axi_bvalid_i || answer_valid)
`ifdef VERILATOR
  `ASSERT(WriteAddressStable, m_axi_awvalid_o && !m_axi_awready_i |=> m_axi_awvalid_o && $stable(aw))
  `ASSERT(WriteDataStable, m_axi_wvalid_o && !m_axi_wready_i |=> m_axi_wvalid_o && $stable(m_axi_wdata_o) && $stable(m_axi_wstrb_o) && $stable(m_axi_wlast_o))
`endif
endmodule

// SPDX-License-Identifier: Apache-2.0
// rdma_host_read in several sizes side by side, one lane each: the ports are those of lane lane_i, all other lanes rest. Narrow
// lanes use the low bits of the data ports. The test lists the lanes in the same order.
module rdma_host_read_bench (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [  2:0] lane_i,
  input  logic         order_valid_i,
  output logic         order_ready_o,
  input  logic [255:0] order_hdr_i,
  input  logic [ 47:0] order_addr_i,
  output logic         hdr_valid_o,
  input  logic         hdr_ready_i,
  output logic [255:0] hdr_o,
  output logic         payload_valid_o,
  input  logic         payload_ready_i,
  output logic [511:0] payload_o,
  output logic         error_o,
  output logic         idle_o,
  output logic         query_o,
  output logic [ 15:0] query_sid_o,
  output logic [ 23:0] query_msgid_o,
  input  logic         query_over_i,
  output logic         fault_valid_o,
  input  logic         fault_ready_i,
  output logic [ 15:0] fault_sid_o,
  output logic [ 23:0] fault_msgid_o,
  output logic [ 47:0] m_axi_araddr_o,
  output logic [  7:0] m_axi_arlen_o,
  output logic         m_axi_arvalid_o,
  input  logic         m_axi_arready_i,
  input  logic [511:0] m_axi_rdata_i,
  input  logic [  1:0] m_axi_rresp_i,
  input  logic         m_axi_rlast_i,
  input  logic         m_axi_rvalid_i,
  output logic         m_axi_rready_o
);

  localparam int unsigned LANES = 5;
  localparam int unsigned DATA_W[LANES]  = '{256, 512, 256, 512, 256};
  localparam int unsigned PAYLOAD[LANES] = '{256, 256, 256, 4096, 64};
  localparam int unsigned BUFFER[LANES]  = '{64, 64, 32, 256, 256};
  localparam int unsigned DEPTH[LANES]   = '{16, 16, 2, 16, 128};  // lane 2 soon runs out of both; lane 4 has more than a fast memory takes

  logic [LANES-1:0] lane, order_ready, hdr_valid, payload_valid, error, idle, query, fault, arvalid, rready;
  logic [    255:0] hdr    [LANES];
  logic [    511:0] payload[LANES];
  logic [     47:0] araddr [LANES];
  logic [     15:0] query_sid  [LANES];
  logic [     23:0] query_msgid[LANES];
  logic [     15:0] fault_sid  [LANES];
  logic [     23:0] fault_msgid[LANES];
  logic [      7:0] arlen  [LANES];

  assign lane            = LANES'(1) << lane_i;
  assign order_ready_o   = order_ready[lane_i];
  assign hdr_valid_o     = hdr_valid[lane_i];
  assign hdr_o           = hdr[lane_i];
  assign payload_valid_o = payload_valid[lane_i];
  assign payload_o       = payload[lane_i];
  assign error_o         = error[lane_i];
  assign idle_o          = idle[lane_i];
  assign query_o         = query[lane_i];
  assign query_sid_o     = query_sid[lane_i];
  assign query_msgid_o   = query_msgid[lane_i];
  assign fault_valid_o   = fault[lane_i];
  assign fault_sid_o     = fault_sid[lane_i];
  assign fault_msgid_o   = fault_msgid[lane_i];
  assign m_axi_araddr_o  = araddr[lane_i];
  assign m_axi_arlen_o   = arlen[lane_i];
  assign m_axi_arvalid_o = arvalid[lane_i];
  assign m_axi_rready_o  = rready[lane_i];

  for (genvar i = 0; i < LANES; i++) begin : gen_lane
    localparam int unsigned W = DATA_W[i];
    logic [W-1:0] word;
    rdma_host_read #(.DATA_W(W), .PAYLOAD(PAYLOAD[i]), .BUFFER(BUFFER[i]), .DEPTH(DEPTH[i])) i_dut (
      .clk_i, .rst_ni, .order_valid_i(order_valid_i && lane[i]), .order_ready_o(order_ready[i]), .order_hdr_i,
      .order_addr_i, .hdr_valid_o(hdr_valid[i]), .hdr_ready_i(hdr_ready_i && lane[i]), .hdr_o(hdr[i]),
      .payload_valid_o(payload_valid[i]), .payload_ready_i(payload_ready_i && lane[i]), .payload_o(word),
      .error_o(error[i]), .idle_o(idle[i]), .query_o(query[i]), .query_sid_o(query_sid[i]), .query_msgid_o(query_msgid[i]), .query_over_i,
      .fault_valid_o(fault[i]), .fault_ready_i(fault_ready_i && lane[i]), .fault_sid_o(fault_sid[i]), .fault_msgid_o(fault_msgid[i]), .m_axi_araddr_o(araddr[i]), .m_axi_arlen_o(arlen[i]),
      .m_axi_arvalid_o(arvalid[i]), .m_axi_arready_i(m_axi_arready_i && lane[i]), .m_axi_rdata_i(m_axi_rdata_i[W-1:0]),
      .m_axi_rresp_i, .m_axi_rlast_i, .m_axi_rvalid_i(m_axi_rvalid_i && lane[i]), .m_axi_rready_o(rready[i])
    );
    assign payload[i] = 512'(word);
  end

endmodule

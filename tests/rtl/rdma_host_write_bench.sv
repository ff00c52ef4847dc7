// SPDX-License-Identifier: Apache-2.0
// rdma_host_write in several sizes side by side, one lane each: the ports are those of lane lane_i, all other lanes
// rest. host_write_lanes.hpp lists the lanes in the same order.
module rdma_host_write_bench (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [  1:0] lane_i,
  input  logic         cmd_valid_i,
  output logic         cmd_ready_o,
  input  logic         cmd_write_i,
  input  logic [ 63:0] cmd_addr_i,
  input  logic [ 15:0] cmd_len_i,
  input  logic [ 15:0] cmd_cid_i,
  input  logic         payload_valid_i,
  output logic         payload_ready_o,
  input  logic [511:0] payload_i,
  output logic [ 15:0] writes_done_o,
  output logic         idle_o,
  output logic         error_o,
  output logic [ 15:0] error_cid_o,
  output logic [ 63:0] awaddr_o,
  output logic [  7:0] awlen_o,
  output logic         awvalid_o,
  input  logic         awready_i,
  output logic [511:0] wdata_o,
  output logic [ 63:0] wstrb_o,
  output logic         wlast_o,
  output logic         wvalid_o,
  input  logic         wready_i,
  input  logic [  1:0] bresp_i,
  input  logic         bvalid_i,
  output logic         bready_o
);

  localparam int unsigned LANES = 4;
  localparam int unsigned DATA_WS[LANES] = '{256, 512, 512, 256};
  localparam int unsigned PAYLOADS[LANES] = '{256, 256, 64, 4096};
  localparam int unsigned ADDR_WS[LANES] = '{48, 40, 64, 33};
  localparam int unsigned CID_WS[LANES] = '{10, 5, 16, 3};
  localparam int unsigned AW_DEPTHS[LANES] = '{4, 4, 2, 8};
  localparam int unsigned UNDERWAYS[LANES] = '{64, 8, 16, 4};

  typedef struct packed {
    logic         cmd_ready;
    logic         payload_ready;
    logic [ 15:0] writes_done;
    logic         idle;
    logic         error;
    logic [ 15:0] error_cid;
    logic [ 63:0] awaddr;
    logic [  7:0] awlen;
    logic         awvalid;
    logic [511:0] wdata;
    logic [ 63:0] wstrb;
    logic         wlast;
    logic         wvalid;
    logic         bready;
  } outputs_t;

  outputs_t outputs[LANES];

  assign {cmd_ready_o, payload_ready_o, writes_done_o, idle_o, error_o, error_cid_o, awaddr_o, awlen_o, awvalid_o, wdata_o,
          wstrb_o, wlast_o, wvalid_o, bready_o} = outputs[lane_i];

  for (genvar i = 0; i < LANES; i++) begin : gen_lane
    localparam int unsigned W = DATA_WS[i];
    localparam int unsigned A = ADDR_WS[i];
    localparam int unsigned C = CID_WS[i];
    outputs_t       out;
    logic [  A-1:0] awaddr;
    logic [  W-1:0] wdata;
    logic [W/8-1:0] wstrb;
    logic [  C-1:0] error_cid;
    logic           selected;

    assign selected      = lane_i == 2'(i);
    assign out.awaddr    = 64'(awaddr);
    assign out.wdata     = 512'(wdata);
    assign out.wstrb     = 64'(wstrb);
    assign out.error_cid = 16'(error_cid);
    assign outputs[i]    = out;

    rdma_host_write #(
      .DATA_W(W), .PAYLOAD(PAYLOADS[i]), .ADDR_W(A), .CID_W(C), .AW_DEPTH(AW_DEPTHS[i]), .UNDERWAY(UNDERWAYS[i])
    ) i_dut (
      .clk_i, .rst_ni,
      .cmd_valid_i(cmd_valid_i && selected), .cmd_ready_o(out.cmd_ready), .cmd_write_i, .cmd_addr_i(cmd_addr_i[A-1:0]),
      .cmd_len_i, .cmd_cid_i(cmd_cid_i[C-1:0]),
      .payload_valid_i(payload_valid_i && selected), .payload_ready_o(out.payload_ready), .payload_i(payload_i[W-1:0]),
      .writes_done_o(out.writes_done), .idle_o(out.idle), .error_o(out.error), .error_cid_o(error_cid),
      .m_axi_awaddr_o(awaddr), .m_axi_awlen_o(out.awlen), .m_axi_awvalid_o(out.awvalid), .m_axi_awready_i(awready_i),
      .m_axi_wdata_o(wdata), .m_axi_wstrb_o(wstrb), .m_axi_wlast_o(out.wlast), .m_axi_wvalid_o(out.wvalid),
      .m_axi_wready_i(wready_i),
      .m_axi_bresp_i(bresp_i), .m_axi_bvalid_i(bvalid_i && selected), .m_axi_bready_o(out.bready)
    );
  end

endmodule

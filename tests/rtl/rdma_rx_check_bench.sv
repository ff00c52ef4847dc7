// SPDX-License-Identifier: Apache-2.0
// rdma_rx_check in several sizes side by side, one lane each: the ports are those of lane lane_i, all other lanes
// rest. rx_check_packets.hpp lists the lanes in the same order.
module rdma_rx_check_bench (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [  2:0] lane_i,
  input  logic         node_known_i,
  input  logic [ 15:0] node_id_i,
  input  logic         tvalid_i,
  output logic         tready_o,
  input  logic [511:0] tdata_i,
  input  logic [ 63:0] tkeep_i,
  input  logic         tlast_i,
  output logic         hdr_valid_o,
  input  logic         hdr_ready_i,
  output logic [255:0] hdr_o,
  output logic [  7:0] verdict_o,
  output logic         payload_valid_o,
  input  logic         payload_ready_i,
  output logic [511:0] payload_o
);

  localparam int unsigned LANES = 6;
  localparam int unsigned DATA_WS[LANES] = '{256, 512, 256, 512, 256, 512};
  localparam int unsigned PAYLOADS[LANES] = '{256, 256, 32, 128, 256, 128};
  localparam int unsigned CID_WS[LANES] = '{10, 10, 5, 1, 10, 1};
  localparam int unsigned SID_WS[LANES] = '{10, 10, 4, 15, 10, 15};
  localparam int unsigned MSGID_WS[LANES] = '{20, 20, 7, 23, 20, 23};
  localparam int unsigned NODE_WS[LANES] = '{16, 16, 3, 12, 16, 12};
  localparam int unsigned BUFFERS[LANES] = '{64, 64, 4, 8, 64, 8};  // 4 and 8: as small as allowed
  localparam bit TRANSFERS[LANES] = '{1'b0, 1'b0, 1'b0, 1'b0, 1'b1, 1'b1};

  logic         [LANES-1:0] tready, hdr_valid, payload_valid;
  logic [255:0]             hdr     [LANES];
  logic [  7:0]             verdict [LANES];
  logic [511:0]             payload [LANES];

  assign tready_o        = tready[lane_i];
  assign hdr_valid_o     = hdr_valid[lane_i];
  assign hdr_o           = hdr[lane_i];
  assign verdict_o       = verdict[lane_i];
  assign payload_valid_o = payload_valid[lane_i];
  assign payload_o       = payload[lane_i];

  for (genvar i = 0; i < LANES; i++) begin : gen_lane
    localparam int unsigned W = DATA_WS[i];
    rdma_formats_pkg::header_t  header;
    rdma_formats_pkg::outcome_e outcome;
    logic [W-1:0] word;
    logic selected;

    assign selected   = lane_i == 3'(i);
    assign hdr[i]     = header;
    assign verdict[i] = outcome;
    assign payload[i] = 512'(word);

    rdma_rx_check #(
      .DATA_W(W), .PAYLOAD(PAYLOADS[i]), .CID_W(CID_WS[i]), .SID_W(SID_WS[i]), .MSGID_W(MSGID_WS[i]),
      .NODE_W(NODE_WS[i]), .BUFFER(BUFFERS[i]), .TRANSFERS(TRANSFERS[i])
    ) i_dut (
      .clk_i, .rst_ni, .node_known_i, .node_id_i,
      .s_axis_tvalid_i(tvalid_i && selected), .s_axis_tready_o(tready[i]), .s_axis_tdata_i(tdata_i[W-1:0]),
      .s_axis_tkeep_i(tkeep_i[W/8-1:0]), .s_axis_tlast_i(tlast_i),
      .hdr_valid_o(hdr_valid[i]), .hdr_ready_i(hdr_ready_i && selected), .hdr_o(header), .verdict_o(outcome),
      .payload_valid_o(payload_valid[i]), .payload_ready_i(payload_ready_i && selected), .payload_o(word)
    );
  end

endmodule

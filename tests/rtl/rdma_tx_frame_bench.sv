// SPDX-License-Identifier: Apache-2.0
// rdma_tx_frame with one flit (lane 0) and two flits (lane 1) a beat side by side: the ports are those of lane lane_i, the
// other one rests. Lane 0 uses the low half of the data ports.
module rdma_tx_frame_bench (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         lane_i,
  input  logic         rx_ctl_valid_i,
  output logic         rx_ctl_ready_o,
  input  logic [255:0] rx_ctl_i,
  input  logic         tx_ctl_valid_i,
  output logic         tx_ctl_ready_o,
  input  logic [255:0] tx_ctl_i,
  input  logic         data_valid_i,
  output logic         data_ready_o,
  input  logic [255:0] data_hdr_i,
  input  logic         payload_valid_i,
  output logic         payload_ready_o,
  input  logic [511:0] payload_i,
  output logic         m_axis_tvalid_o,
  input  logic         m_axis_tready_i,
  output logic [511:0] m_axis_tdata_o,
  output logic [ 63:0] m_axis_tkeep_o,
  output logic         m_axis_tlast_o
);

  localparam int unsigned LANES = 2;

  logic [LANES-1:0] lane, rx_ctl_ready, tx_ctl_ready, data_ready, payload_ready, tvalid, tlast;
  logic [    511:0] tdata[LANES];
  logic [     63:0] tkeep[LANES];

  assign lane            = LANES'(1) << lane_i;
  assign rx_ctl_ready_o  = rx_ctl_ready[lane_i];
  assign tx_ctl_ready_o  = tx_ctl_ready[lane_i];
  assign data_ready_o    = data_ready[lane_i];
  assign payload_ready_o = payload_ready[lane_i];
  assign m_axis_tvalid_o = tvalid[lane_i];
  assign m_axis_tdata_o  = tdata[lane_i];
  assign m_axis_tkeep_o  = tkeep[lane_i];
  assign m_axis_tlast_o  = tlast[lane_i];

  for (genvar i = 0; i < LANES; i++) begin : gen_lane
    localparam int unsigned W = 256 << i;
    logic [  W-1:0] word;
    logic [W/8-1:0] keep;
    rdma_tx_frame #(.DATA_W(W), .PAYLOAD(256)) i_dut (
      .clk_i, .rst_ni, .rx_ctl_valid_i(rx_ctl_valid_i && lane[i]), .rx_ctl_ready_o(rx_ctl_ready[i]), .rx_ctl_i,
      .tx_ctl_valid_i(tx_ctl_valid_i && lane[i]), .tx_ctl_ready_o(tx_ctl_ready[i]), .tx_ctl_i,
      .data_valid_i(data_valid_i && lane[i]), .data_ready_o(data_ready[i]), .data_hdr_i,
      .payload_valid_i(payload_valid_i && lane[i]), .payload_ready_o(payload_ready[i]), .payload_i(payload_i[W-1:0]),
      .m_axis_tvalid_o(tvalid[i]), .m_axis_tready_i(m_axis_tready_i && lane[i]), .m_axis_tdata_o(word),
      .m_axis_tkeep_o(keep), .m_axis_tlast_o(tlast[i])
    );
    assign tdata[i] = 512'(word);
    assign tkeep[i] = 64'(keep);
  end

endmodule

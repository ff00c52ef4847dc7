// SPDX-License-Identifier: Apache-2.0
// axi_read_mux and axi_write_mux for three masters, and arbiters of 1, 5 and 64 requesters.
module axi_mux_bench (
  input  logic              clk_i,
  input  logic              rst_ni,
  // arbiters, the low bits of the ports
  input  logic [63:0]       req_i,
  input  logic              take_i,
  output logic [2:0][63:0]  gnt_o,
  output logic [2:0][7:0]   idx_o,
  output logic [2:0]        gnt_valid_o,
  // reads
  input  logic [2:0][63:0]  s_araddr_i,
  input  logic [2:0][7:0]   s_arlen_i,
  input  logic [2:0]        s_arvalid_i,
  output logic [2:0]        s_arready_o,
  output logic [255:0]      s_rdata_o,
  output logic [1:0]        s_rresp_o,
  output logic              s_rlast_o,
  output logic [2:0]        s_rvalid_o,
  input  logic [2:0]        s_rready_i,
  output logic [63:0]       araddr_o,
  output logic [7:0]        arlen_o,
  output logic              arvalid_o,
  input  logic              arready_i,
  input  logic [255:0]      rdata_i,
  input  logic [1:0]        rresp_i,
  input  logic              rlast_i,
  input  logic              rvalid_i,
  output logic              rready_o,
  // writes
  input  logic [2:0][63:0]  s_awaddr_i,
  input  logic [2:0][7:0]   s_awlen_i,
  input  logic [2:0]        s_awvalid_i,
  output logic [2:0]        s_awready_o,
  input  logic [2:0][255:0] s_wdata_i,
  input  logic [2:0][31:0]  s_wstrb_i,
  input  logic [2:0]        s_wlast_i,
  input  logic [2:0]        s_wvalid_i,
  output logic [2:0]        s_wready_o,
  output logic [1:0]        s_bresp_o,
  output logic [2:0]        s_bvalid_o,
  input  logic [2:0]        s_bready_i,
  output logic [63:0]       awaddr_o,
  output logic [7:0]        awlen_o,
  output logic              awvalid_o,
  input  logic              awready_i,
  output logic [255:0]      wdata_o,
  output logic [31:0]       wstrb_o,
  output logic              wlast_o,
  output logic              wvalid_o,
  input  logic              wready_i,
  input  logic [1:0]        bresp_i,
  input  logic              bvalid_i,
  output logic              bready_o
);

  localparam int unsigned SIZES[3] = '{1, 5, 64};
  for (genvar i = 0; i < 3; i++) begin : gen_arbiter
    localparam int unsigned S = SIZES[i];
    logic [S-1:0] gnt;
    logic [(S > 1 ? $clog2(S) : 1)-1:0] idx;
    rr_arbiter #(.N(S)) i_dut (
      .clk_i, .rst_ni, .req_i(req_i[S-1:0]), .take_i, .valid_o(gnt_valid_o[i]), .gnt_o(gnt), .idx_o(idx)
    );
    assign gnt_o[i] = 64'(gnt);
    assign idx_o[i] = 8'(idx);
  end

  axi_read_mux #(.N(3), .ADDR_W(64), .DATA_W(256), .DEPTH(8)) i_read (
    .clk_i, .rst_ni,
    .s_axi_araddr_i(s_araddr_i), .s_axi_arlen_i(s_arlen_i), .s_axi_arvalid_i(s_arvalid_i), .s_axi_arready_o(s_arready_o),
    .s_axi_rdata_o(s_rdata_o), .s_axi_rresp_o(s_rresp_o), .s_axi_rlast_o(s_rlast_o), .s_axi_rvalid_o(s_rvalid_o), .s_axi_rready_i(s_rready_i),
    .m_axi_araddr_o(araddr_o), .m_axi_arlen_o(arlen_o), .m_axi_arvalid_o(arvalid_o), .m_axi_arready_i(arready_i),
    .m_axi_rdata_i(rdata_i), .m_axi_rresp_i(rresp_i), .m_axi_rlast_i(rlast_i), .m_axi_rvalid_i(rvalid_i), .m_axi_rready_o(rready_o)
  );

  axi_write_mux #(.N(3), .ADDR_W(64), .DATA_W(256), .DEPTH(8)) i_write (
    .clk_i, .rst_ni,
    .s_axi_awaddr_i(s_awaddr_i), .s_axi_awlen_i(s_awlen_i), .s_axi_awvalid_i(s_awvalid_i), .s_axi_awready_o(s_awready_o),
    .s_axi_wdata_i(s_wdata_i), .s_axi_wstrb_i(s_wstrb_i), .s_axi_wlast_i(s_wlast_i), .s_axi_wvalid_i(s_wvalid_i), .s_axi_wready_o(s_wready_o),
    .s_axi_bresp_o(s_bresp_o), .s_axi_bvalid_o(s_bvalid_o), .s_axi_bready_i(s_bready_i),
    .m_axi_awaddr_o(awaddr_o), .m_axi_awlen_o(awlen_o), .m_axi_awvalid_o(awvalid_o), .m_axi_awready_i(awready_i),
    .m_axi_wdata_o(wdata_o), .m_axi_wstrb_o(wstrb_o), .m_axi_wlast_o(wlast_o), .m_axi_wvalid_o(wvalid_o), .m_axi_wready_i(wready_i),
    .m_axi_bresp_i(bresp_i), .m_axi_bvalid_i(bvalid_i), .m_axi_bready_o(bready_o)
  );

endmodule

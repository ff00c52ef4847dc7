// SPDX-License-Identifier: Apache-2.0
// switch_lookup, with a loader that does anything: each lookup has the settings, and the entry, of one image. In place of an image's identity the lowest bit of its version:
// the loader gives it to every entry, as the port 1 of it, and to the settings; images in use one after the other have different ones. Memories without faults.
`include "proof.svh"

module switch_lookup_proof
  import switch_lookup_formats_pkg::*;
  import switch_pkg::*;
#(
  parameter int unsigned N_PORTS  = 3,
  parameter bit          PER_PORT = 1'b0,
  localparam int unsigned M_ADDR_W = 1 + (PER_PORT ? $clog2(N_PORTS) : 0)
) (
  input logic                      clk_i, rst_ni, req_valid_i, ready_i,
  input logic [REQUEST_BITS-1:0]   request_i,
  input logic [     N_PORTS-1:0]   alive_i,
  input logic [             9:0]   axil_addr_i,
  input logic [            31:0]   axil_data_i,
  input logic                      axil_valid_i,
  input logic [           127:0]   deed_i         // of the loader
);
  logic               valid;
  request_t           result_request;
  outcome_e           outcome;
  logic [N_PORTS-1:0] ports;
  logic [        1:0] vc;

  `PROOF_RESET

  switch_lookup #(.N_IN(1), .N_PORTS(N_PORTS), .N_COLOURS(2), .N_UNICAST(2), .PER_PORT(PER_PORT)) dut (
    .deed_i, .clk_i, .rst_ni, .s_axil_awaddr_i(axil_addr_i), .s_axil_awvalid_i(axil_valid_i), .s_axil_awready_o(), .s_axil_wdata_i(axil_data_i), .s_axil_wstrb_i(4'hF),
    .s_axil_wvalid_i(axil_valid_i), .s_axil_wready_o(), .s_axil_bresp_o(), .s_axil_bvalid_o(), .s_axil_bready_i(1'b1), .s_axil_araddr_i(10'd0), .s_axil_arvalid_i(1'b0),
    .s_axil_arready_o(), .s_axil_rdata_o(), .s_axil_rresp_o(), .s_axil_rvalid_o(), .s_axil_rready_i(1'b1), .irq_o(), .s_mgmt_valid_i(1'b0), .s_mgmt_ready_o(),
    .s_mgmt_data_i(32'd0), .s_mgmt_last_i(1'b0), .alive_i, .s_req_valid_i(req_valid_i), .s_req_ready_o(), .s_req_i(request_i), .m_res_valid_o(valid),
    .m_res_ready_i(ready_i), .m_res_request_o(result_request), .m_res_outcome_o(outcome), .m_res_ports_o(ports), .m_res_vc_o(vc), .trace_fetch_o(), .trace_request_o(),
    .trace_taken_o(), .trace_mgmt_o()
  );

  // What the loader keeps to: all entries of the bank not in use are written, and belong to the image that is to come; it is another one than that in use.
  logic       tag;        // of the image in use
  logic [(1<<M_ADDR_W)+1:0] written_q;  // entries: unicast, multicast
  assign tag = dut.config_now.version[0];
  always_ff @(posedge clk_i) begin
    if (!rst_ni || dut.taken) written_q <= '0;
    else written_q <= written_q | {2'(dut.u_load) << dut.u_laddr, (1<<M_ADDR_W)'(dut.m_load) << dut.m_laddr};
  end
  `GIVEN(!dut.taken || (dut.i_image.next.loaded && dut.i_image.next.version[0] != tag && written_q == '1 && !dut.m_load && !dut.u_load))
  `GIVEN(!dut.m_load || dut.m_ldata[1] != tag)
  `GIVEN(!dut.u_load || dut.u_ldata[9] != tag)

  `PROVE(OneImage, !valid || !dut.c.settings.loaded || !dut.c.known || !dut.c.in_table || dut.c.ports[0] == dut.c.settings.version[0])
  `PROVE(NotBackToItsInput, !valid || result_request.kind != KIND_MULTICAST || outcome != OUTCOME_FORWARD || (ports & (N_PORTS'(1) << (result_request.in_port - 1'b1))) == '0)
  `PROVE(NothingIsCorrupt, !valid || !dut.c.settings.loaded || !dut.c.known || !dut.c.in_table || !dut.c.bad)
  logic unused;
  assign unused = ^{vc, result_request};
endmodule

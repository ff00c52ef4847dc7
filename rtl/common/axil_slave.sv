// SPDX-License-Identifier: Apache-2.0
// Handshakes of an AXI4-Lite slave: one write and one read at a time, each as a plain request that is answered OKAY or SLVERR.
//
// A write is at the output until write_done_i; its answer is offered from the next clock on. A read is at the output for two clocks, in the second of
// which its data are taken; the answer is offered from the next clock on.
`include "weft_assert.svh"

module axil_slave #(
  parameter int unsigned ADDR_W = 12
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [ADDR_W-1:0] s_axil_awaddr_i,
  input  logic              s_axil_awvalid_i,
  output logic              s_axil_awready_o,
  input  logic [31:0]       s_axil_wdata_i,
  input  logic [3:0]        s_axil_wstrb_i,
  input  logic              s_axil_wvalid_i,
  output logic              s_axil_wready_o,
  output logic [1:0]        s_axil_bresp_o,
  output logic              s_axil_bvalid_o,
  input  logic              s_axil_bready_i,
  input  logic [ADDR_W-1:0] s_axil_araddr_i,
  input  logic              s_axil_arvalid_i,
  output logic              s_axil_arready_o,
  output logic [31:0]       s_axil_rdata_o,
  output logic [1:0]        s_axil_rresp_o,
  output logic              s_axil_rvalid_o,
  input  logic              s_axil_rready_i,
  // writes
  output logic              write_o,
  output logic [ADDR_W-1:0] waddr_o,
  output logic [31:0]       wdata_o,
  output logic [3:0]        wstrb_o,
  input  logic              write_done_i,  // only with write_o
  input  logic              write_ok_i,    // with done: otherwise SLVERR
  // reads
  output logic              read_look_o,   // first clock
  output logic              read_take_o,   // second clock
  output logic [ADDR_W-1:0] raddr_o,
  input  logic [31:0]       rdata_i,       // in the second clock
  input  logic              read_ok_i
);
  localparam logic [1:0] RESP_OKAY = 2'b00, RESP_SLVERR = 2'b10;

  // ------------------------------------------------------------------------------------------------- writes
  logic aw_held_q, w_held_q, b_valid_q, b_error_q;

  assign s_axil_awready_o = !aw_held_q;
  assign s_axil_wready_o  = !w_held_q;
  assign s_axil_bvalid_o  = b_valid_q;
  assign s_axil_bresp_o   = b_error_q ? RESP_SLVERR : RESP_OKAY;
  assign write_o          = aw_held_q && w_held_q && !b_valid_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      aw_held_q <= 1'b0;
      w_held_q  <= 1'b0;
      b_valid_q <= 1'b0;
      b_error_q <= 1'b0;
    end else begin
      if (s_axil_awvalid_i) aw_held_q <= 1'b1;
      if (s_axil_wvalid_i) w_held_q <= 1'b1;
      if (s_axil_bready_i) b_valid_q <= 1'b0;
      if (write_done_i) begin
        aw_held_q <= 1'b0;
        w_held_q  <= 1'b0;
        b_valid_q <= 1'b1;
        b_error_q <= !write_ok_i;
      end
    end
    if (s_axil_awvalid_i && s_axil_awready_o) waddr_o <= s_axil_awaddr_i;
    if (s_axil_wvalid_i && s_axil_wready_o) begin
      wdata_o <= s_axil_wdata_i;
      wstrb_o <= s_axil_wstrb_i;
    end
  end

  // ------------------------------------------------------------------------------------------------- reads
  typedef enum logic [1:0] {
    R_IDLE,
    R_LOOK,
    R_TAKE,
    R_ANSWER
  } read_e;

  read_e       read_q;
  logic [31:0] rdata_q;
  logic        r_error_q;

  assign s_axil_arready_o = read_q == R_IDLE;
  assign s_axil_rvalid_o  = read_q == R_ANSWER;
  assign s_axil_rdata_o   = rdata_q;
  assign s_axil_rresp_o   = r_error_q ? RESP_SLVERR : RESP_OKAY;
  assign read_look_o      = read_q == R_LOOK;
  assign read_take_o      = read_q == R_TAKE;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q    <= R_IDLE;
      r_error_q <= 1'b0;
    end else begin
      unique case (read_q)
        R_IDLE:  if (s_axil_arvalid_i) read_q <= R_LOOK;
        R_LOOK:  read_q <= R_TAKE;
        R_TAKE:  read_q <= R_ANSWER;
        default: if (s_axil_rready_i) read_q <= R_IDLE;
      endcase
      if (read_take_o) r_error_q <= !read_ok_i;
    end
    if (s_axil_arvalid_i && s_axil_arready_o) raddr_o <= s_axil_araddr_i;
    if (read_take_o) rdata_q <= read_ok_i ? rdata_i : '0;
  end

  `ASSERT(DoneOnlyOfAWrite, !write_done_i || write_o)
endmodule

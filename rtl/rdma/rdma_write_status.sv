// SPDX-License-Identifier: Apache-2.0
// Keeps for each receive context whether memory answered one of its writes with an error since its first RSP left, and marks its
// DONE with FAILED then (docs/rdma.md, Receiver). Stands between the receiver's control queue and the exit.
//
// RAM: one bit a context. A DONE takes one clock more than other packets; the RSP of a grant waits while an error is noted.
`include "weft_assert.svh"

module rdma_write_status
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned N_RX_CTX = 1024,  // receive contexts
  parameter int unsigned CID_W    = 10,
  parameter int unsigned SCHEME   = SCHEME_WINDOW  // with SCHEME_SENDER an ACK tells, too
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // memory answered a write with an error: not later than the clock before the DONE that waited for it comes. Later only for a context that was granted anew
  // meanwhile and has got DATA before its RSP left, which nobody but a forger can send; the RSP forgets it.
  input  logic             error_i,
  input  logic [CID_W-1:0] error_cid_i,
  // control packets of the receiver, in order
  input  logic             ctl_valid_i,
  output logic             ctl_ready_o,
  input  header_t          ctl_i,
  input  logic             ctl_grant_i,  // it grants a context, not for the second time
  output logic             ctl_valid_o,
  input  logic             ctl_ready_i,
  output header_t          ctl_o
);
  localparam int unsigned IDX_W = $clog2(N_RX_CTX);

  logic             is_done, pass, fire, look, looked_q, failed;
  logic [IDX_W-1:0] idx;

  assign idx     = ctl_i.cid[IDX_W-1:0];
  assign is_done = ctl_i.ptype == PTYPE_DONE || (SCHEME == SCHEME_SENDER && ctl_i.ptype == PTYPE_ACK);
  assign pass    = is_done ? looked_q : !(ctl_grant_i && error_i);
  assign fire    = ctl_valid_o && ctl_ready_i;
  assign look    = ctl_valid_i && is_done && !looked_q;

  assign ctl_valid_o = ctl_valid_i && pass;
  assign ctl_ready_o = ctl_ready_i && pass;

  always_comb begin : p_mark
    ctl_o = ctl_i;
    if (is_done && failed) ctl_o.flags = ctl_i.flags | FLAG_FAILED;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) looked_q <= 1'b0;
    else looked_q <= look || (looked_q && !fire);
  end

  // A bit is cleared by the RSP of each grant, so it needs no value after reset.
  ram_sdp #(
    .DEPTH(N_RX_CTX),
    .WIDTH(1)
  ) i_failed (
    .clk_i,
    .we_i   (error_i || (fire && ctl_grant_i)),
    .waddr_i(error_i ? error_cid_i[IDX_W-1:0] : idx),
    .wdata_i(error_i),
    .re_i   (look),
    .raddr_i(idx),
    .rdata_o(failed)
  );

  `ASSERT(GrantIsRsp, !(ctl_valid_i && ctl_grant_i) || (ctl_i.ptype == PTYPE_RSP && ctl_i.arg[31:0] == 32'(REFUSAL_GRANTED)))
endmodule

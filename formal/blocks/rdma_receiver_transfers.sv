// SPDX-License-Identifier: Apache-2.0
// Follows the transfers of a rdma_receiver by its requests and events, and says what has to hold of each event: no packet of a transfer gives a
// write twice, WBASE never passes a packet that has not come, a packet of another transfer (an older MSGID, generation) writes
// nothing, and all writes stay inside the transfer they belong to. The same in proofs (rdma_receiver_proof) and in simulation (tests/rtl,
// bound to rdma_receiver). Receivers without TRANSFERS, with few packets in a transfer.
//
// A transfer is known here by what its request said and by how many requests its context was granted before.
`include "weft_assert.svh"
`include "rdma_receiver_transfers.svh"

module rdma_receiver_transfers
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned N       = 2,   // contexts
  parameter int unsigned PIDX_W  = 4,
  parameter int unsigned SHIFT   = 5,   // log2 of PAYLOAD
  parameter int unsigned ADDR_W  = 12,
  parameter int unsigned NODE_W  = 1,
  parameter int unsigned SID_W   = 1,
  parameter int unsigned MSGID_W = 2,
  parameter int unsigned GEN_W   = 8,   // bits of a generation that packets differ in
  parameter int unsigned LATENCY = 12,  // clocks from a packet at the input to its event
  parameter bit          BASES_CHANGE = 1'b0,  // regions may get another base: transfers to them move with it
  localparam int unsigned IDX_W   = $clog2(N),
  localparam int unsigned PACKETS = 1 << PIDX_W
) (
  input logic              clk_i,
  input logic              rst_ni,
  input header_t           hdr_i,      // at the receiver's input
  // the event that retires
  input logic              valid_i,
  input logic              timeout_i,
  input outcome_e          outcome_i,
  input logic              write_i,    // payload is to be written
  input logic              free_i,     // the context is free from now on
  input logic              has_ctx_i,
  input logic [15:0]       cid_i,
  input logic [PIDX_W-1:0] wbase_i,
  input logic [ADDR_W-1:0] addr_i,
  input logic [15:0]       len_i,
  output header_t          packet_o    // its packet
);
  `TRANSFER_TYPEDEF(transfer_t, NODE_W, SID_W, MSGID_W, GEN_W, ADDR_W, PIDX_W)

  header_t [LATENCY-1:0] taken_q;
  header_t               packet;
  always_ff @(posedge clk_i) taken_q <= {taken_q[LATENCY-2:0], hdr_i};
  assign packet   = taken_q[LATENCY-1];
  assign packet_o = packet;

  transfer_t [N-1:0]  transfers_q;
  transfer_t          transfer;  // of the context that the event is about
  logic               retires, writes, granted;
  logic [PIDX_W-1:0]  pidx;
  logic [31:0]        last_byte;
  logic [PACKETS-1:0] come, before_base;

  assign retires   = valid_i && !timeout_i;
  assign writes    = retires && write_i;
  assign granted   = retires && outcome_i == OUTCOME_GRANT;
  assign transfer  = transfers_q[cid_i[IDX_W-1:0]];
  assign pidx      = packet.pidx[PIDX_W-1:0];
  assign last_byte = packet.pidx - 32'd1;
  assign come      = transfer.come | (writes ? PACKETS'(1) << pidx : '0);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) transfers_q <= '0;
    else begin
      if (granted) begin
        transfers_q[cid_i[IDX_W-1:0]] <= '{
          used: 1'b1, src: packet.src[NODE_W-1:0], sid: packet.sid[SID_W-1:0], msgid: packet.msgid[MSGID_W-1:0], gen: transfer.gen + 1'b1,
          addr: packet.arg[ADDR_W-1:0], last: last_byte[SHIFT+:PIDX_W], come: '0
        };
      end
      if (writes) transfers_q[cid_i[IDX_W-1:0]].come[pidx] <= 1'b1;
      if (valid_i && free_i) transfers_q[cid_i[IDX_W-1:0]].used <= 1'b0;
    end
  end

  always_comb for (int i = 0; i < int'(PACKETS); i++) before_base[i] = 32'(i) < 32'(wbase_i);

  `ASSERT(GrantIsOfFreeContext, !granted || !transfer.used)
  `ASSERT(NoPacketTwice, !writes || !transfer.come[pidx])
  `ASSERT(WritesOnlyItsTransfer, !writes || (transfer.used && packet.src[NODE_W-1:0] == transfer.src && packet.sid[SID_W-1:0] == transfer.sid &&
          packet.msgid[MSGID_W-1:0] == transfer.msgid && packet.gen[GEN_W-1:0] == transfer.gen && 32'(packet.cid) < N))
  `ASSERT(InsideTransfer, !writes || (packet.pidx <= 32'(transfer.last) && 32'(len_i) <= 32'd1 << SHIFT))
  `ASSERT(AtItsPlace, !writes || BASES_CHANGE || 64'(addr_i) == 64'(transfer.addr) + (64'(packet.pidx) << SHIFT))
  `ASSERT(BasePassesNothingMissing, !(retires && has_ctx_i && !granted) || (before_base & ~come) == '0)
endmodule

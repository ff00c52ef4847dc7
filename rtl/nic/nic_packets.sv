// SPDX-License-Identifier: Apache-2.0
// One network port for RDMA and barriers: packets that come are told apart by the first two bytes, packets that leave take turns.
//
// A barrier's packet is one beat with the first 32 bytes; what begins like one and is not goes to the barrier engine as zeros, for it to count as malformed.
// Latency: none. A beat a clock, and none is taken because of the network's ready in the same clock; a packet of the barrier waits for one of RDMA at most. What comes for the barrier never waits.
`include "weft_assert.svh"

module nic_packets
  import barrier_pkg::PACKET_MAGIC;
#(
  parameter int unsigned DATA_W = 256
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // network
  input  logic                s_axis_tvalid_i,
  output logic                s_axis_tready_o,
  input  logic [  DATA_W-1:0] s_axis_tdata_i,
  input  logic [DATA_W/8-1:0] s_axis_tkeep_i,
  input  logic                s_axis_tlast_i,
  output logic                m_axis_tvalid_o,
  input  logic                m_axis_tready_i,
  output logic [  DATA_W-1:0] m_axis_tdata_o,
  output logic [DATA_W/8-1:0] m_axis_tkeep_o,
  output logic                m_axis_tlast_o,
  // RDMA; data that come are those of the network
  output logic                rdma_in_valid_o,
  input  logic                rdma_in_ready_i,
  input  logic                rdma_out_valid_i,
  output logic                rdma_out_ready_o,
  input  logic [  DATA_W-1:0] rdma_out_data_i,
  input  logic [DATA_W/8-1:0] rdma_out_keep_i,
  input  logic                rdma_out_last_i,
  // barrier engine
  output logic                barrier_in_valid_o,
  output logic [       255:0] barrier_in_data_o,
  input  logic                barrier_out_valid_i,
  output logic                barrier_out_ready_o,
  input  logic [       255:0] barrier_out_data_i
);
  localparam int unsigned        KEEP_W = DATA_W / 8;
  localparam logic [KEEP_W-1:0] ONE_FLIT = KEEP_W'(32'hffff_ffff);

  if (DATA_W < 256) begin : gen_illegal_data_w
    $fatal(1, "nic_packets: DATA_W is %0d, but a packet of the barrier is one beat of 256 bits", DATA_W);
  end

  // ------------------------------------------------------------------------------------------------- in
  logic inside_q, barrier_q, to_barrier, taken;

  assign to_barrier         = inside_q ? barrier_q : s_axis_tdata_i[15:0] == PACKET_MAGIC && s_axis_tkeep_i[1:0] == '1;
  assign s_axis_tready_o    = to_barrier || rdma_in_ready_i;
  assign rdma_in_valid_o    = s_axis_tvalid_i && !to_barrier;
  assign barrier_in_valid_o = s_axis_tvalid_i && to_barrier && !inside_q;
  assign barrier_in_data_o  = s_axis_tlast_i && s_axis_tkeep_i == ONE_FLIT ? s_axis_tdata_i[255:0] : '0;
  assign taken              = s_axis_tvalid_i && s_axis_tready_o;

  logic unused;
  assign unused = ^s_axis_tdata_i;  // what is behind a barrier's packet is RDMA's only

  always_ff @(posedge clk_i) begin
    if (!rst_ni) inside_q <= 1'b0;
    else if (taken) inside_q <= !s_axis_tlast_i;
    if (taken) barrier_q <= to_barrier;
  end

  // ------------------------------------------------------------------------------------------------- out
  typedef struct packed {
    logic [DATA_W-1:0] data;
    logic [KEEP_W-1:0] keep;
    logic              last;
  } beat_t;

  logic       leaving_q, any, room, of_barrier;  // leaving_q: a packet of RDMA has begun
  logic [1:0] grant;
  logic       kept_valid_q;
  beat_t      chosen, beat, kept_q;

  rr_arbiter #(
    .N(2)
  ) i_turns (
    .clk_i,
    .rst_ni,
    .req_i  ({barrier_out_valid_i && !leaving_q, rdma_out_valid_i}),
    .take_i (room),
    .valid_o(any),
    .gnt_o  (grant),
    .idx_o  (of_barrier)
  );
  assign rdma_out_ready_o    = grant[0] && room;
  assign barrier_out_ready_o = grant[1] && room;

  always_comb begin : p_choose
    chosen = '{data: rdma_out_data_i, keep: rdma_out_keep_i, last: rdma_out_last_i};
    if (of_barrier) chosen = '{data: DATA_W'(barrier_out_data_i), keep: ONE_FLIT, last: 1'b1};
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) leaving_q <= 1'b0;
    else if (rdma_out_valid_i && rdma_out_ready_o) leaving_q <= !rdma_out_last_i;
  end

  // A beat leaves in the clock in which it is taken; if the network does not take it then, it is kept, and nothing else is taken.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) kept_valid_q <= 1'b0;
    else kept_valid_q <= m_axis_tvalid_o && !m_axis_tready_i;
    if (room) kept_q <= chosen;
  end
  assign room            = !kept_valid_q;
  assign beat            = room ? chosen : kept_q;
  assign m_axis_tvalid_o = kept_valid_q || any;
  assign m_axis_tdata_o = beat.data;
  assign m_axis_tkeep_o = beat.keep;
  assign m_axis_tlast_o = beat.last;

  `ASSERT(BarrierNotWithinPacket, !(leaving_q && barrier_out_ready_o))
  `ASSERT(ComesForOne, !(rdma_in_valid_o && barrier_in_valid_o))
`ifdef VERILATOR
  `ASSERT(BeatStable, m_axis_tvalid_o && !m_axis_tready_i |=> m_axis_tvalid_o && $stable(beat))
  `ASSERT(RdmaBeatStable, rdma_out_valid_i && !rdma_out_ready_o |=> rdma_out_valid_i && $stable(rdma_out_data_i))
  `ASSERT(BarrierPacketStable, barrier_out_valid_i && !barrier_out_ready_o |=> barrier_out_valid_i && $stable(barrier_out_data_i))
`endif
endmodule

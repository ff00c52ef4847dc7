// SPDX-License-Identifier: Apache-2.0
// nic_packets, for any packets: beats leave in the order in which they were taken and as they are, no packet of a barrier within one of RDMA; while one of the two waits, the other begins one
// packet at most, and one of them is taken whenever there is room. What comes goes to one of them, whole packets, by how they begin; what comes for the barrier never waits.
//
// Both keep what they offer until it is taken.
`include "proof.svh"

module nic_packets_proof #(
  parameter int unsigned DATA_W = 256,
  localparam int unsigned KEEP_W = DATA_W / 8,
  localparam int unsigned WIDTH  = DATA_W + KEEP_W + 1
) (
  input logic              clk_i, rst_ni, s_valid_i, s_last_i, m_ready_i, rdma_in_ready_i, rdma_valid_i, rdma_last_i, barrier_valid_i,
  input logic [DATA_W-1:0] s_data_i, rdma_data_i,
  input logic [KEEP_W-1:0] s_keep_i, rdma_keep_i,
  input logic [     255:0] barrier_data_i
);
  `PROOF_RESET

  logic              s_ready, m_valid, m_last, rdma_in_valid, rdma_ready, barrier_in_valid, barrier_ready;
  logic [DATA_W-1:0] m_data;
  logic [KEEP_W-1:0] m_keep;
  logic [     255:0] barrier_in;

  nic_packets #(.DATA_W(DATA_W)) dut (
    .clk_i, .rst_ni, .s_axis_tvalid_i(s_valid_i), .s_axis_tready_o(s_ready), .s_axis_tdata_i(s_data_i), .s_axis_tkeep_i(s_keep_i), .s_axis_tlast_i(s_last_i),
    .m_axis_tvalid_o(m_valid), .m_axis_tready_i(m_ready_i), .m_axis_tdata_o(m_data), .m_axis_tkeep_o(m_keep), .m_axis_tlast_o(m_last),
    .rdma_in_valid_o(rdma_in_valid), .rdma_in_ready_i, .rdma_out_valid_i(rdma_valid_i), .rdma_out_ready_o(rdma_ready), .rdma_out_data_i(rdma_data_i),
    .rdma_out_keep_i(rdma_keep_i), .rdma_out_last_i(rdma_last_i), .barrier_in_valid_o(barrier_in_valid), .barrier_in_data_o(barrier_in),
    .barrier_out_valid_i(barrier_valid_i), .barrier_out_ready_o(barrier_ready), .barrier_out_data_i(barrier_data_i)
  );

  // ------------------------------------------------------------------------------------------------- out
  logic              rdma_waits_q, barrier_waits_q, within_q, rdma_taken, barrier_taken, rdma_begins, rdma_passed_q, barrier_passed_q, mine_last_q;
  logic [DATA_W-1:0] mine_data_q;
  logic [     255:0] theirs_q;

  assign rdma_taken    = rdma_valid_i && rdma_ready;
  assign barrier_taken = barrier_valid_i && barrier_ready;
  assign rdma_begins   = rdma_taken && !within_q;

  always_ff @(posedge clk_i) begin
    rdma_waits_q     <= rst_ni && rdma_valid_i && !rdma_ready;
    barrier_waits_q  <= rst_ni && barrier_valid_i && !barrier_ready;
    mine_data_q      <= rdma_data_i;
    mine_last_q      <= rdma_last_i;
    theirs_q         <= barrier_data_i;
    within_q         <= rst_ni && (rdma_taken ? !rdma_last_i : within_q);
    rdma_passed_q    <= rst_ni && rdma_valid_i && !rdma_taken && (rdma_passed_q || barrier_taken);          // a packet of the other one was taken while it waits
    barrier_passed_q <= rst_ni && barrier_valid_i && !barrier_taken && (barrier_passed_q || rdma_begins);
  end

  `GIVEN(!rdma_waits_q || (rdma_valid_i && rdma_data_i == mine_data_q && rdma_last_i == mine_last_q))
  `GIVEN(!barrier_waits_q || (barrier_valid_i && barrier_data_i == theirs_q))

  // What was taken and has not left.
  logic             kept_valid_q, taken_out;
  logic [WIDTH-1:0] kept_q, word;

  assign taken_out = rdma_taken || barrier_taken;
  assign word      = kept_valid_q ? kept_q : barrier_taken ? {DATA_W'(barrier_data_i), KEEP_W'(32'hffff_ffff), 1'b1} : {rdma_data_i, rdma_keep_i, rdma_last_i};
  always_ff @(posedge clk_i) begin
    kept_valid_q <= rst_ni && (kept_valid_q || taken_out) && !m_ready_i;
    kept_q       <= word;
  end

  `PROVE(OneIsTaken, !(rdma_taken && barrier_taken))
  `PROVE(NotWithinAPacket, !(barrier_taken && within_q))
  `PROVE(RdmaInTurn, !(rdma_passed_q && barrier_taken))
  `PROVE(BarrierInTurn, !(barrier_passed_q && rdma_begins))
  `PROVE(SomebodyIfRoom, kept_valid_q || rdma_taken || barrier_taken || !(rdma_valid_i || (barrier_valid_i && !within_q)))
  `PROVE(NothingBeforeItLeaves, !(kept_valid_q && taken_out))
  `PROVE(ShownWhileNotEmpty, m_valid == (kept_valid_q || taken_out))
  `PROVE(AsTaken, !m_valid || {m_data, m_keep, m_last} == word)

  // ------------------------------------------------------------------------------------------------- in
  logic inside_q, barriers_q, for_barrier, taken;

  assign for_barrier = inside_q ? barriers_q : s_data_i[15:0] == barrier_pkg::PACKET_MAGIC && s_keep_i[1:0] == '1;
  assign taken       = s_valid_i && s_ready;

  always_ff @(posedge clk_i) begin
    inside_q <= rst_ni && (taken ? !s_last_i : inside_q);
    if (taken) barriers_q <= for_barrier;
  end

  `PROVE(BarriersNeverWait, !for_barrier || s_ready)
  `PROVE(RdmaTakesItself, for_barrier || (rdma_in_valid == s_valid_i && s_ready == rdma_in_ready_i))
  `PROVE(OneGetsIt, !(rdma_in_valid && for_barrier) && !(barrier_in_valid && !for_barrier))
  `PROVE(APacketOnce, barrier_in_valid == (s_valid_i && for_barrier && !inside_q))
  `PROVE(OnlyOfOneFlit, !barrier_in_valid || barrier_in == (s_last_i && s_keep_i == KEEP_W'(32'hffff_ffff) ? s_data_i[255:0] : '0))

  // For the induction.
  `PROVE(KnowsThePacket, dut.leaving_q == within_q && dut.inside_q == inside_q && (!inside_q || dut.barrier_q == barriers_q))
  `PROVE(Turns, (!rdma_passed_q || dut.i_turns.behind_q == 2'b00) && (!barrier_passed_q || dut.i_turns.behind_q == 2'b10))
  `PROVE(TurnsAreOne, dut.i_turns.behind_q == 2'b00 || dut.i_turns.behind_q == 2'b10)
  `PROVE(Kept, dut.kept_valid_q == kept_valid_q && (!kept_valid_q || dut.kept_q == kept_q))
endmodule

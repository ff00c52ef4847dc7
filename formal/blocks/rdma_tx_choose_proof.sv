// SPDX-License-Identifier: Apache-2.0
// rdma_tx_choose takes something whenever something waits, in its order; a packet waits a clock at most, and what else waits does so for a bounded
// time: a fault for MAX_STARVED clocks, a timeout as long again for each fault taken meanwhile, a post for each fault or timeout, a turn for each of these or post.
`include "proof.svh"

module rdma_tx_choose_proof #(
  parameter int unsigned MAX_STARVED = 15,
  localparam int unsigned MOST = 3  // events that go before a timeout, post or turn; more are not followed
) (
  input logic clk_i, rst_ni, ready_i, packet_i, fault_i, timeout_i, post_i, turn_i
);
  logic       packet_ready, packet, fault, timeout, post, turn, ready_q, kept_waiting_q;
  logic [7:0] fault_waits_q, timeout_waits_q, post_waits_q, turn_waits_q;  // clocks in which it waits and is not taken
  logic [1:0] before_timeout_q, before_post_q, before_turn_q;  // events taken meanwhile that are neither packets nor its own

  `PROOF_RESET
  `GIVEN(!ready_q || ready_i)  // ready once contexts are cleared

  rdma_tx_choose #(.MAX_STARVED(MAX_STARVED)) dut (
    .clk_i, .rst_ni, .ready_i, .packet_i, .fault_i, .timeout_i, .post_i, .turn_i, .packet_ready_o(packet_ready), .take_packet_o(packet),
    .take_fault_o(fault), .take_timeout_o(timeout), .take_post_o(post), .take_turn_o(turn)
  );

  always_ff @(posedge clk_i) begin
    ready_q        <= rst_ni && ready_i;
    kept_waiting_q <= rst_ni && ready_i && packet_i && !packet;
    if (!rst_ni || !ready_i || !fault_i || fault) fault_waits_q <= '0;
    else fault_waits_q <= fault_waits_q + 1'b1;
    if (!rst_ni || !ready_i || !timeout_i || timeout) {timeout_waits_q, before_timeout_q} <= '0;
    else if (32'(before_timeout_q) != MOST) begin
      timeout_waits_q  <= timeout_waits_q + 1'b1;
      before_timeout_q <= before_timeout_q + 2'(fault);
    end
    if (!rst_ni || !ready_i || !post_i || post) {post_waits_q, before_post_q} <= '0;
    else if (32'(before_post_q) != MOST) begin
      post_waits_q  <= post_waits_q + 1'b1;
      before_post_q <= before_post_q + 2'(fault || timeout);
    end
    if (!rst_ni || !ready_i || !turn_i || turn) {turn_waits_q, before_turn_q} <= '0;
    else if (32'(before_turn_q) != MOST) begin
      turn_waits_q  <= turn_waits_q + 1'b1;
      before_turn_q <= before_turn_q + 2'(fault || timeout || post);
    end
  end

  function automatic logic in_time(logic [7:0] waits, logic [1:0] served, logic [31:0] since);
    return 32'(waits) <= 32'(served) * (MAX_STARVED + 1) + since;
  endfunction

  `PROVE(NothingOutOfNothing, (!packet || packet_i) && (!fault || fault_i) && (!timeout || timeout_i) && (!post || post_i) && (!turn || turn_i))
  `PROVE(AlwaysOne, (packet || fault || timeout || post || turn) == (ready_i && (packet_i || fault_i || timeout_i || post_i || turn_i)))
  `PROVE(InOrder, (!timeout || !fault_i) && (!post || (!fault_i && !timeout_i)) && (!turn || (!fault_i && !timeout_i && !post_i)))
  `PROVE(PacketTakenIfReady, packet == (packet_i && packet_ready))
  `PROVE(PacketWaitsOnce, !(kept_waiting_q && packet_i) || packet)
  `PROVE(FaultInTime, 32'(fault_waits_q) <= MAX_STARVED)
  `PROVE(TimeoutInTime, in_time(timeout_waits_q, before_timeout_q, MAX_STARVED))
  `PROVE(PostInTime, in_time(post_waits_q, before_post_q, MAX_STARVED))
  `PROVE(TurnInTime, in_time(turn_waits_q, before_turn_q, MAX_STARVED))

  // For the induction: it is the count of packets that bounds them.
  logic [31:0] starved;
  assign starved = 32'(dut.starved_q);
  `PROVE(FaultByCount, in_time(fault_waits_q, '0, starved))
  `PROVE(TimeoutByCount, 32'(before_timeout_q) == MOST || in_time(timeout_waits_q, before_timeout_q, starved))
  `PROVE(PostByCount, 32'(before_post_q) == MOST || in_time(post_waits_q, before_post_q, starved))
  `PROVE(TurnByCount, 32'(before_turn_q) == MOST || in_time(turn_waits_q, before_turn_q, starved))
  `PROVE(AfterWaiting, !kept_waiting_q || starved == 0)
endmodule

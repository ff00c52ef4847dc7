// SPDX-License-Identifier: Apache-2.0
// free_list: every number is either in the list or with a user, never both and never twice; the list shows one whenever it has had one
// for two clocks, and fills in N + 1 clocks.
`include "proof.svh"

module free_list_proof #(
  parameter int unsigned N = 4,  // from 2
  localparam int unsigned ID_W    = $clog2(N),
  localparam int unsigned COUNT_W = $clog2(N + 1),
  localparam int unsigned DEPTH   = 1 << ID_W
) (
  input logic            clk_i, rst_ni, pop_i, push_i,
  input logic [ID_W-1:0] push_id_i
);
  logic               ready, valid, had_q;
  logic [ID_W-1:0]    id;
  logic [COUNT_W-1:0] count;
  logic [N-1:0]       used_q;    // with a user
  logic [ID_W+1:0]    clocks_q;  // since reset, until ready

  `PROOF_RESET
  // Users give back what they have.
  `GIVEN(!push_i || (ready && 32'(push_id_i) < N && used_q[push_id_i]))

  free_list #(.N(N)) dut (
    .clk_i, .rst_ni, .ready_o(ready), .valid_o(valid), .id_o(id), .pop_i, .push_i, .push_id_i, .count_o(count)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      used_q   <= '0;
      had_q    <= 1'b0;
      clocks_q <= '0;
    end else begin
      if (push_i) used_q[push_id_i] <= 1'b0;
      if (valid && pop_i) used_q[id] <= 1'b1;
      had_q <= ready && count > COUNT_W'(valid && pop_i);
      if (!ready) clocks_q <= clocks_q + 1'b1;
    end
  end

  function automatic logic [COUNT_W-1:0] ones(logic [N-1:0] bits);
    logic [COUNT_W-1:0] result;
    result = '0;
    for (int i = 0; i < int'(N); i++) result = result + COUNT_W'(bits[i]);
    return result;
  endfunction

  `PROVE(NoneTwice, !valid || (32'(id) < N && !used_q[id]))
  `PROVE(NoneLost, !ready || count + ones(used_q) == COUNT_W'(N))
  `PROVE(ShownInTime, !had_q || valid)
  `PROVE(ReadyInTime, ready || 32'(clocks_q) <= N + 1)

  // For the induction: the list holds each number once that is free (or filled in so far).
  logic [DEPTH-1:0][ID_W-1:0] entries;
  logic [ID_W:0]              at_popped, at_fetched, at_written, filled;
  logic                       head_valid;
  assign {at_popped, at_fetched, at_written, head_valid} =
      {dut.u_fifo.u_fifo.popped_q, dut.u_fifo.u_fifo.fetched_q, dut.u_fifo.u_fifo.written_q, dut.u_fifo.u_fifo.head_valid_q};
  assign filled = dut.filling_q ? (ID_W + 1)'(dut.fill_id_q) : (ID_W + 1)'(N);

  for (genvar i = 0; i < DEPTH; i++) begin : g_entries
    assign entries[i] = i == 0 && head_valid ? id : dut.u_fifo.u_fifo.u_ram.mem[ID_W'(32'(at_popped) + i)];
  end
  for (genvar n = 0; n < N; n++) begin : g_numbers
    logic [DEPTH-1:0] here;
    for (genvar i = 0; i < DEPTH; i++) assign here[i] = i < 32'((ID_W + 1)'(at_written - at_popped)) && 32'(entries[i]) == n;
    `PROVE(Once, (here & (here - 1'b1)) == '0 && (here != '0) == (n < 32'(filled) && !used_q[n]))
    `PROVE(MarkedFree, dut.free_q[n] == !used_q[n])
  end
  `PROVE(Pointers, at_written == dut.u_fifo.u_fifo.committed_q && at_fetched == at_popped + (ID_W + 1)'(head_valid))
  `PROVE(AllThere, 32'((ID_W + 1)'(at_written - at_popped)) + 32'(ones(used_q)) == 32'(filled))
  `PROVE(Filling, (!dut.filling_q || (!ready && used_q == '0 && 32'(dut.fill_id_q) < N && 32'(clocks_q) == 32'(dut.fill_id_q))) &&
                  (ready || used_q == '0) && (dut.filling_q || ready || 32'(clocks_q) >= N))
endmodule

// SPDX-License-Identifier: Apache-2.0
// One of several candidate ports by a random number: the r-th, r = number × candidates / 2^16.
module switch_backup #(
  parameter int unsigned N_PORTS = 16
) (
  input  logic [N_PORTS-1:0] candidates_i,
  input  logic [       15:0] number_i,
  output logic [N_PORTS-1:0] chosen_o      // one-hot; 0 if there is no candidate
);
  localparam int unsigned RANK_W = $clog2(N_PORTS + 1);

  logic [RANK_W-1:0]    count, rank;
  logic [RANK_W+16-1:0] product;

  // Bits set below bit `last`.
  function automatic logic [RANK_W-1:0] below(logic [N_PORTS-1:0] bits, int unsigned last);
    logic [RANK_W-1:0] sum;
    sum = '0;
    for (int unsigned i = 0; i < N_PORTS; i++) if (i < last) sum = sum + RANK_W'(bits[i]);
    return sum;
  endfunction

  assign count = below(candidates_i, N_PORTS);
  for (genvar i = 0; i < int'(N_PORTS); i++) begin : gen_ports
    assign chosen_o[i] = candidates_i[i] && below(candidates_i, i) == rank;
  end
  assign product = (RANK_W + 16)'(number_i) * (RANK_W + 16)'(count);
  assign rank    = product[16+:RANK_W];
  logic unused;
  assign unused = ^product[15:0];
endmodule

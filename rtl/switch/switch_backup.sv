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

  localparam int unsigned LEVELS = $clog2(N_PORTS);

  // Candidates up to a port, itself included: prefix sums over blocks of 1, 2, 4 .. ports (Sklansky 1960).
  logic [N_PORTS-1:0][RANK_W-1:0] sums;
  logic [RANK_W-1:0]              rank;
  logic [RANK_W+16-1:0]           product;

  always_comb begin : p_sums
    for (int unsigned i = 0; i < N_PORTS; i++) sums[i] = RANK_W'(candidates_i[i]);
    for (int unsigned level = 0; level < LEVELS; level++) begin
      for (int unsigned i = 0; i < N_PORTS; i++) begin
        if (((i >> level) & 32'd1) == 32'd1) sums[i] = sums[i] + sums[((i >> level) << level)-1];
      end
    end
  end
  for (genvar i = 0; i < int'(N_PORTS); i++) begin : gen_ports
    assign chosen_o[i] = candidates_i[i] && sums[i] == rank + 1'b1;
  end
  assign product = (RANK_W + 16)'(number_i) * (RANK_W + 16)'(sums[N_PORTS-1]);
  assign rank    = product[16+:RANK_W];
  logic unused;
  assign unused = ^product[15:0];
endmodule

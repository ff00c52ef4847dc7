// SPDX-License-Identifier: Apache-2.0
// What the proofs of blocks share: reset comes first, and may come again at any time.
`ifndef PROOF_SVH_
`define PROOF_SVH_

`define PROOF_RESET \
  logic started_q; \
  initial started_q = 1'b0; \
  always_ff @(posedge clk_i) started_q <= 1'b1; \
  always_comb if (!started_q) assume (!rst_ni);

// Holds at every rising edge of clk_i outside reset: what is to be shown, and what the surroundings keep to.
`define PROVE(name_, prop_) always @(posedge clk_i) if (rst_ni) name_ : assert (prop_);
`define GIVEN(prop_) always @(posedge clk_i) if (rst_ni) assume (prop_);

`endif

// SPDX-License-Identifier: Apache-2.0
// Assertion macros: active in simulation (Verilator --assert) and in formal proofs, gone in synthesis.
//
// `ASSERT(name, property)    holds at every rising edge of clk_i while rst_ni is 1 (both must be in scope)
//
// A property that uses |->, |=> or $past belongs under `ifdef VERILATOR: no other of our tools reads it. Plain boolean
// expressions work everywhere.

`ifndef WEFT_ASSERT_SVH
`define WEFT_ASSERT_SVH

`ifdef SYNTHESIS
  `define ASSERT(name_, prop_)
`elsif __ICARUS__
  `define ASSERT(name_, prop_)
`elsif FORMAL
  `define ASSERT(name_, prop_) \
    always @(posedge clk_i) if (rst_ni) name_ : assert (prop_);
`else
  `define ASSERT(name_, prop_) \
    name_ : assert property (@(posedge clk_i) disable iff (!rst_ni) (prop_)) \
      else $error("%s does not hold: %s", `"name_`", `"prop_`");
`endif

`endif  // WEFT_ASSERT_SVH

// SPDX-License-Identifier: Apache-2.0
// Assertion macros: active in simulation (Verilator --assert) and in formal proofs, gone in synthesis.
//
// `ASSERT(name, property)    holds at every rising edge of clk_i while rst_ni is 1 (both must be in scope)
// `ASSERT_INIT(name, cond)   holds at time 0; for facts about parameters that no elaboration check can state
//
// A property that uses |->, |=> or $past belongs under `ifdef VERILATOR: no other of our tools reads it. Plain boolean
// expressions work everywhere.

`ifndef WEFT_ASSERT_SVH
`define WEFT_ASSERT_SVH

`ifdef SYNTHESIS
  `define ASSERT(name_, prop_)
  `define ASSERT_INIT(name_, cond_)
`elsif __ICARUS__
  `define ASSERT(name_, prop_)
  `define ASSERT_INIT(name_, cond_)
`elsif FORMAL
  `define ASSERT(name_, prop_) \
    always @(posedge clk_i) if (rst_ni) name_ : assert (prop_);
  `define ASSERT_INIT(name_, cond_) \
    initial name_ : assert (cond_);
`else
  `define ASSERT(name_, prop_) \
    name_ : assert property (@(posedge clk_i) disable iff (!rst_ni) (prop_)) \
      else $error("%s does not hold: %s", `"name_`", `"prop_`");
  `define ASSERT_INIT(name_, cond_) \
    initial name_ : assert (cond_) \
      else $error("%s does not hold: %s", `"name_`", `"cond_`");
`endif

`endif  // WEFT_ASSERT_SVH

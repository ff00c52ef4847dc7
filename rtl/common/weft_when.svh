// SPDX-License-Identifier: Apache-2.0
// Work that a simulation may leave out: in engines without checks (weft-sim --bare, which defines WEFT_BARE) what stands under `WEFT_WHEN(needed) is done only if its
// result is looked at. For all other tools the condition is 1, and the ports that carry it are not there.
//
// `WEFT_WHEN(needed)               condition, to be 1 whenever the result matters
// `WEFT_WHEN_INPUT(name)           input of a module that needs to be told
// `WEFT_WHEN_PIN(name, needed)     ... of its instances

`ifndef WEFT_WHEN_SVH
`define WEFT_WHEN_SVH

`ifdef WEFT_BARE
  `define WEFT_WHEN(needed_) (needed_)
  `define WEFT_WHEN_INPUT(name_) input logic name_,
  `define WEFT_WHEN_PIN(name_, needed_) .name_(needed_),
`else
  `define WEFT_WHEN(needed_) 1'b1
  `define WEFT_WHEN_INPUT(name_)
  `define WEFT_WHEN_PIN(name_, needed_)
`endif

`endif  // WEFT_WHEN_SVH

// SPDX-License-Identifier: Apache-2.0
// Work that a simulation may leave out: in engines without checks (weft-sim --bare, which defines WEFT_BARE) what stands under `WEFT_WHEN(needed) is done only if its
// result is looked at. For all other tools nothing of this is there.
//
// `WEFT_WHEN(needed) begin … end   in a process that has set the result before; `needed` has to be 1 whenever the result matters
// `WEFT_WHEN_INPUT(name)           input of a module that needs to be told
// `WEFT_WHEN_PIN(name, needed)     ... of its instances

`ifndef WEFT_WHEN_SVH
`define WEFT_WHEN_SVH

`ifdef WEFT_BARE
  `define WEFT_WHEN(needed_) if (needed_)
  `define WEFT_WHEN_INPUT(name_) input logic name_,
  `define WEFT_WHEN_PIN(name_, needed_) .name_(needed_),
`else
  `define WEFT_WHEN(needed_)
  `define WEFT_WHEN_INPUT(name_)
  `define WEFT_WHEN_PIN(name_, needed_)
`endif

`endif  // WEFT_WHEN_SVH

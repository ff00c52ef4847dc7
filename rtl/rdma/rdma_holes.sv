// SPDX-License-Identifier: Apache-2.0
// The holes of a circular receive window behind a given one (docs/rdma_receiver.md). Combinational. The marks are read as in the start's lap (PIDX / WINDOW):
// behind the start come the slots above it in its own lap, where a 0 is a hole, and then the others in the next lap, where a 1 is one.
// The last of these is the start's own slot: that is a hole, since nothing so far behind it can have arrived.
`include "rdma_typedef.svh"

module rdma_holes #(
  parameter  int unsigned WINDOW = 128,  // slots, a power of two
  localparam int unsigned GROUP  = `RDMA_WINDOW_GROUP(WINDOW),
  localparam int unsigned GROUPS = WINDOW / GROUP
) (
  input  logic [WINDOW-1:0] lap_marks_i,
  input  logic [WINDOW-1:0] after_i,       // slots above the start
  output logic [WINDOW-1:0] here_o,        // holes in the start's lap
  output logic [WINDOW-1:0] next_o,        // ... in the next one
  output logic [GROUPS-1:0] group_here_o,  // there is one in this group of slots
  output logic [GROUPS-1:0] group_next_o
);
  assign here_o = after_i & ~lap_marks_i;
  assign next_o = ~after_i & (lap_marks_i | {1'b1, after_i[WINDOW-1:1]});

  always_comb begin : p_groups
    for (int g = 0; g < int'(GROUPS); g++) begin
      group_here_o[g] = |here_o[g*GROUP+:GROUP];
      group_next_o[g] = |next_o[g*GROUP+:GROUP];
    end
  end
endmodule

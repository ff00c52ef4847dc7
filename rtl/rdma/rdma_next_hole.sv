// SPDX-License-Identifier: Apache-2.0
// Next packet that has not arrived, after a given one: in the circular receive window (docs/rdma_receiver.md), the first slot
// after the start, going round, that is a hole. Combinational. A slot is named by those behind it in its lap (PIDX / WINDOW): all
// slots above it are 1.
//
// The marks are read as in the start's lap: behind the start come the slots above it in its own lap, where a 0 is a hole, and then the others
// in the next lap, where a 1 is one.
// The last of these is the start's own slot: that is a hole, since nothing so far behind it can have arrived. Both laps are searched at once:
// in groups of slots, and over the groups.
module rdma_next_hole #(
  parameter int unsigned WINDOW = 128  // slots, a power of two
) (
  input  logic [WINDOW-1:0] lap_marks_i,
  input  logic [WINDOW-1:0] after_i,      // slots above the start
  output logic [WINDOW-1:0] after_o,      // slots above the hole
  output logic              wrapped_o     // the hole is in the lap after the start's
);
  localparam int unsigned GROUP  = WINDOW < 8 ? WINDOW : 8;
  localparam int unsigned GROUPS = WINDOW / GROUP;

  logic [WINDOW-1:0] holes, holes_next;  // in the start's lap, in the next one
  logic [WINDOW-1:0] above, above_next;  // there is a hole below in the same group
  logic [GROUPS-1:0] group_holes, group_holes_next;
  logic [GROUPS-1:0] group_above, group_above_next;  // ... in a group below

  assign holes      = after_i & ~lap_marks_i;
  assign holes_next = ~after_i & (lap_marks_i | {1'b1, after_i[WINDOW-1:1]});

  // Each bit by itself, so that none waits for the one before it.
  always_comb begin : p_groups
    for (int g = 0; g < int'(GROUPS); g++) begin
      group_holes[g]      = |holes[g*GROUP+:GROUP];
      group_holes_next[g] = |holes_next[g*GROUP+:GROUP];
    end
    for (int g = 0; g < int'(GROUPS); g++) begin
      group_above[g]      = |(group_holes & ((GROUPS'(1) << g) - 1'b1));
      group_above_next[g] = |(group_holes_next & ((GROUPS'(1) << g) - 1'b1));
    end
    for (int s = 0; s < int'(WINDOW); s++) begin
      above[s]      = |(holes[s/GROUP*GROUP+:GROUP] & GROUP'((1 << (s % GROUP)) - 1));
      above_next[s] = |(holes_next[s/GROUP*GROUP+:GROUP] & GROUP'((1 << (s % GROUP)) - 1));
    end
  end

  assign wrapped_o = group_holes == '0;

  always_comb begin : p_slots
    for (int s = 0; s < int'(WINDOW); s++) begin
      after_o[s] = wrapped_o ? above_next[s] || group_above_next[s/GROUP] : above[s] || group_above[s/GROUP];
    end
  end
endmodule

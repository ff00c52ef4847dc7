// SPDX-License-Identifier: Apache-2.0
// Next packet that has not arrived, after a given one: in the circular receive window (docs/rdma_receiver.md), the first slot
// after the start, going round, that is a hole (rdma_holes). Combinational. A slot is named by those behind it in its lap (PIDX / WINDOW): all
// slots above it are 1.
//
// Both laps are searched at once: in groups of slots, and over the groups. Which groups have holes is known from the step before, and for the step after it
// follows without looking at the holes that are left: without the one found, a group has holes if it had two, or had one and is not the first such group.
//
// Beside it, without waiting for what is found: of a slot that is a hole, is it the one?
`include "rdma_typedef.svh"
`include "weft_when.svh"

module rdma_next_hole #(
  parameter  int unsigned WINDOW = 128,  // slots, a power of two
  localparam int unsigned POS_W  = $clog2(WINDOW),
  localparam int unsigned GROUP  = `RDMA_WINDOW_GROUP(WINDOW),
  localparam int unsigned GROUPS = WINDOW / GROUP
) (
  `WEFT_WHEN_INPUT(needed_i)                 // what is found, and is_it_o, are looked at
  input  logic [WINDOW-1:0] here_i,        // holes in the start's lap
  input  logic [WINDOW-1:0] next_i,        // ... in the next one
  input  logic [GROUPS-1:0] group_here_i,  // groups that have such
  input  logic [GROUPS-1:0] group_next_i,
  input  logic [WINDOW-1:0] after_i,       // slots above the start
  // the hole found
  output logic [WINDOW-1:0] after_o,       // slots above it
  output logic              wrapped_o,     // it is in the lap after the start's
  output logic [GROUPS-1:0] group_here_o,  // groups that have holes behind it, in its lap
  output logic [GROUPS-1:0] group_next_o,  // ... in the lap after
  // a slot that is a hole
  input  logic [ POS_W-1:0] pos_i,         // its number
  output logic              is_it_o        // it is the one found
);
  logic [WINDOW-1:0] above, above_next;              // there is a hole below in the same group
  logic [GROUPS-1:0] group_above, group_above_next;  // ... in a group below
  logic [GROUPS-1:0] two, two_next;                  // there are two in this group
  logic [GROUPS-1:0] group_after;                    // there are slots above the start in this group

  // Each bit by itself, so that none waits for the one before it.
  always_comb begin : p_groups
    {above, above_next, group_above, group_above_next, two, two_next, group_after} = '0;
    `WEFT_WHEN(needed_i) begin
      for (int g = 0; g < int'(GROUPS); g++) begin
        group_above[g]      = |(group_here_i & ((GROUPS'(1) << g) - 1'b1));
        group_above_next[g] = |(group_next_i & ((GROUPS'(1) << g) - 1'b1));
        group_after[g]      = after_i[g*GROUP+GROUP-1];
      end
      for (int s = 0; s < int'(WINDOW); s++) begin
        above[s]      = |(here_i[s/GROUP*GROUP+:GROUP] & GROUP'((1 << (s % GROUP)) - 1));
        above_next[s] = |(next_i[s/GROUP*GROUP+:GROUP] & GROUP'((1 << (s % GROUP)) - 1));
      end
      for (int g = 0; g < int'(GROUPS); g++) begin
        two[g]      = |(here_i[g*GROUP+:GROUP] & above[g*GROUP+:GROUP]);
        two_next[g] = |(next_i[g*GROUP+:GROUP] & above_next[g*GROUP+:GROUP]);
      end
    end
  end

  assign wrapped_o = group_here_i == '0;

  always_comb begin : p_slots
    after_o = '0;
    `WEFT_WHEN(needed_i) begin
      for (int s = 0; s < int'(WINDOW); s++) begin
        after_o[s] = wrapped_o ? above_next[s] || group_above_next[s/GROUP] : above[s] || group_above[s/GROUP];
      end
    end
  end

  // What lies between the start and the hole found has arrived: as holes of the lap after.
  assign group_here_o = wrapped_o ? group_after | (group_next_i & group_above_next) | two_next : (group_here_i & group_above) | two;
  assign group_next_o = wrapped_o ? ~group_above_next : group_next_i | (group_after & ~group_above);

  // Holes below the slot asked about: in whole groups, and in the lower part of its own.
  logic [GROUPS-1:0] lower_here, lower_next, own, below;
  logic [ GROUP-1:0] lower;
  logic              between, between_next;

  always_comb begin : p_is_it
    {lower, below, own, lower_here, lower_next} = '0;
    `WEFT_WHEN(needed_i) begin
      for (int s = 0; s < int'(GROUP); s++) lower[s] = s < int'(pos_i) % int'(GROUP);
      for (int g = 0; g < int'(GROUPS); g++) begin
        below[g]      = g < int'(pos_i) / int'(GROUP);
        own[g]        = g == int'(pos_i) / int'(GROUP);
        lower_here[g] = |(here_i[g*GROUP+:GROUP] & lower);
        lower_next[g] = |(next_i[g*GROUP+:GROUP] & lower);
      end
    end
  end

  assign between      = |(group_here_i & below) || |(lower_here & own);
  assign between_next = |(group_next_i & below) || |(lower_next & own);
  assign is_it_o      = after_i[pos_i] ? !between : wrapped_o && !between_next;
endmodule

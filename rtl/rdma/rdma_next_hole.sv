// SPDX-License-Identifier: Apache-2.0
// Next packet that has not arrived, after a given one: in the circular receive window (docs/rdma_receiver.md), the first slot
// after the start, going round, that is not marked. Combinational; slots are one-hot.
//
// A mark means "arrived" of a packet in an even lap and "not arrived" of one in an odd lap (a lap: PIDX / WINDOW), so
// the search runs over two laps: first the start's, where a slot counts as marked if its bit differs from odd_i, then the
// next, where it counts if its bit equals odd_i. A token starts behind the start slot and is passed on by every marked
// slot; a Kogge-Stone network carries it over groups of slots.
module rdma_next_hole #(
  parameter int unsigned WINDOW = 128  // slots, a power of two
) (
  input  logic [WINDOW-1:0] marks_i,
  input  logic              odd_i,     // the start's lap is odd
  input  logic [WINDOW-1:0] start_i,   // one-hot: search behind this slot
  input  logic [WINDOW-1:0] limit_i,   // one-hot: not marked, whatever its bit says
  output logic [WINDOW-1:0] hole_o,    // one-hot
  output logic              wrapped_o  // it is in the lap after the start's
);
  localparam int unsigned GROUP  = WINDOW < 8 ? WINDOW : 8;
  localparam int unsigned GROUPS = 2 * WINDOW / GROUP;

  logic [2*WINDOW-1:0] passes, starts, hole;

  assign passes = {(marks_i ^ {WINDOW{!odd_i}}) & ~limit_i, (marks_i ^ {WINDOW{odd_i}}) & ~limit_i};
  assign starts = {{WINDOW{1'b0}}, start_i};

  // Of each group: does a token leave it that started inside, does it let one through?
  logic [GROUPS-1:0] group_starts, group_passes, token;

  always_comb begin : p_groups
    for (int g = 0; g < int'(GROUPS); g++) begin
      group_passes[g] = &passes[g*GROUP+:GROUP];
      group_starts[g] = 1'b0;
      for (int i = 0; i < int'(GROUP); i++) begin
        group_starts[g] = starts[g*GROUP+i] || (group_starts[g] && passes[g*GROUP+i]);
      end
    end
  end

  always_comb begin : p_network
    logic [GROUPS-1:0] through;
    token   = group_starts;
    through = group_passes;
    for (int distance = 1; distance < int'(GROUPS); distance *= 2) begin
      token   = token | (through & (token << distance));
      through = through & (through << distance);
    end
    token = token << 1;  // what comes into each group
  end

  always_comb begin : p_slots
    logic started, open;  // a token that started in this group; all slots so far pass one on
    for (int g = 0; g < int'(GROUPS); g++) begin
      started = 1'b0;
      open   = 1'b1;
      for (int i = 0; i < int'(GROUP); i++) begin
        hole[g*GROUP+i] = !passes[g*GROUP+i] && (started || (open && token[g]));
        started = starts[g*GROUP+i] || (started && passes[g*GROUP+i]);
        open   = open && passes[g*GROUP+i];
      end
    end
  end

  assign hole_o    = hole[WINDOW-1:0] | hole[2*WINDOW-1:WINDOW];
  assign wrapped_o = token[GROUPS/2];
endmodule

// SPDX-License-Identifier: Apache-2.0
// Makes the packets of an action, children first, and has the nodes of their numbers read: a packet a clock.
//
// In the clock of the decision it already has the node read that is likely to come first: who waits, or is the root, releases its children next, others gather.
module barrier_send
  import barrier_formats_pkg::*;
  import barrier_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       start_i,   // for one clock, with the action; it, group and place stay in the clocks that follow, until done_o
  input  node_t      self_i,
  input  logic [7:0] group_number_i,
  input  group_t     group_i,   // before the event
  input  place_t     place_i,
  input  memory_t    memory_i,  // after it
  input  action_t    begun_i,   // with start_i
  input  action_t    action_i,  // later
  output logic       done_o,
  // table of members
  output logic       look_o,
  output id_t        number_o,
  input  node_t      node_i,    // one clock later
  // packets
  output logic       valid_o,
  input  logic       ready_i,
  output packet_t    packet_o
);
  children_t todo_q, from, child;
  logic    parent_q, node_q, valid_q, to_child_q, to_node_q;  // to_node_q: to a node, or to all at once
  logic    to_one;
  logic    to_children, guessed, moves, more;
  packet_t packet;
  logic    unused;  // a record, of which parts are needed here

  assign unused = ^{action_i, begun_i, place_i, group_i};

  // ------------------------------------------------------------------------------------------------- whose node is read
  assign to_one      = begun_i.to_node || begun_i.to_all;
  assign from        = start_i ? place_i.children : todo_q;
  assign child       = largest_child(group_i.settings.shape, from);
  assign to_children = start_i ? from != '0 && (group_i.phase == PHASE_WAITING || place_i.id == '0) : todo_q != '0;
  assign number_o    = to_children ? unshifted(place_i.id | more_of_one(child), group_i.memory.offset, group_i.settings.members, group_i.settings.block_log2) : place_i.parent;
  assign moves       = !valid_q || ready_i;
  assign more        = todo_q != '0 || parent_q || node_q;
  assign look_o      = start_i || moves;
  assign guessed     = to_children ? begun_i.to_children != '0 : begun_i.to_children == '0 && begun_i.to_parent;

  assign done_o  = !more && moves;
  assign valid_o = valid_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      todo_q   <= '0;
      parent_q <= 1'b0;
      node_q   <= 1'b0;
      valid_q  <= 1'b0;
    end else if (start_i) begin
      valid_q    <= guessed || (to_one && begun_i.to_children == '0 && !begun_i.to_parent);
      to_child_q <= guessed && to_children;
      to_node_q  <= !guessed;
      todo_q     <= guessed && to_children ? begun_i.to_children & ~child : begun_i.to_children;
      parent_q   <= begun_i.to_parent && !(guessed && !to_children);
      node_q     <= to_one && (begun_i.to_children != '0 || begun_i.to_parent);
    end else if (moves) begin
      valid_q    <= more;
      to_child_q <= to_children;
      to_node_q  <= todo_q == '0 && !parent_q;
      todo_q     <= todo_q & ~child;
      if (todo_q == '0) begin
        parent_q <= 1'b0;
        node_q   <= parent_q && node_q;
      end
    end
  end

  always_comb begin : p_packet
    packet             = '0;
    packet.magic       = PACKET_MAGIC;
    packet.kind        = to_child_q || action_i.to_all ? PACKET_KIND_RELEASE : to_node_q ? action_i.kind : PACKET_KIND_GATHER;
    packet.failed      = action_i.failed;
    packet.has_named   = action_i.has_named;
    packet.named       = action_i.named;
    packet.group       = group_number_i;
    packet.from        = self_i;
    packet.multicast   = action_i.to_all;
    packet.to          = action_i.to_all ? group_i.settings.multicast : to_node_q ? action_i.node : node_i;
    packet.number      = 16'(group_i.number);
    packet.inst        = group_i.settings.inst;
    packet.digest      = group_i.digest;
    packet.epoch       = group_i.epoch - 16'(action_i.behind);
    packet.length      = to_child_q ? '0 : action_i.length;
    packet.offset      = 16'(memory_i.offset);
    packet.best_offset = 16'(memory_i.best_offset);
    packet.best_length = memory_i.best_length;
    packet.tries_left  = memory_i.tries_left;
    packet.holding     = memory_i.holding;
    packet_o           = packet;
    packet_o.check     = check_of(packet);
  end
endmodule

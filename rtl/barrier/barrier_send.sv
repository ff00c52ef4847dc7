// SPDX-License-Identifier: Apache-2.0
// Makes the packets of an action, children first, and has the nodes of their numbers read: two clocks a packet.
module barrier_send
  import barrier_formats_pkg::*;
  import barrier_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       start_i,   // for one clock; what follows stays until done_o
  input  node_t      self_i,
  input  logic [7:0] group_number_i,
  input  group_t     group_i,   // before the event
  input  memory_t    memory_i,  // after it
  input  action_t    action_i,
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
  id_t     id, parent, todo_q, child;
  logic    parent_q, node_q, valid_q, to_child_q, to_node_q;
  packet_t packet;
  logic    unused;  // a record, of which parts are needed here

  assign unused = ^action_i;

  barrier_place i_place (
    .group_i, .id_o(id), .children_o(), .missing_o(), .first_o(), .parent_o(parent), .peer_o()
  );

  assign child    = todo_q & (~todo_q + 1'b1);
  assign number_o = todo_q != '0 ? unshifted(id | child, group_i.memory.offset, group_i.settings.members) : parent;
  assign look_o   = !valid_q && (todo_q != '0 || parent_q);
  assign done_o   = !start_i && !valid_q && todo_q == '0 && !parent_q && !node_q;
  assign valid_o  = valid_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      todo_q   <= '0;
      parent_q <= 1'b0;
      node_q   <= 1'b0;
      valid_q  <= 1'b0;
    end else if (start_i) begin
      todo_q   <= action_i.to_children;
      parent_q <= action_i.to_parent;
      node_q   <= action_i.to_node;
    end else if (valid_q) begin
      if (ready_i) valid_q <= 1'b0;
    end else begin
      valid_q    <= !done_o;
      to_child_q <= todo_q != '0;
      to_node_q  <= todo_q == '0 && !parent_q;
      todo_q     <= todo_q & ~child;
      if (todo_q == '0) begin
        parent_q <= 1'b0;
        node_q   <= parent_q ? node_q : 1'b0;
      end
    end
  end

  always_comb begin : p_packet
    packet             = '0;
    packet.magic       = PACKET_MAGIC;
    packet.kind        = to_child_q ? PACKET_KIND_RELEASE : to_node_q ? action_i.kind : PACKET_KIND_GATHER;
    packet.failed      = action_i.failed;
    packet.has_named   = action_i.has_named;
    packet.named       = action_i.named;
    packet.group       = group_number_i;
    packet.from        = self_i;
    packet.to          = to_node_q ? action_i.node : node_i;
    packet.number      = 16'(group_i.number);
    packet.inst        = group_i.settings.inst;
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

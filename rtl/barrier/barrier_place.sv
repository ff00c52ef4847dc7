// SPDX-License-Identifier: Apache-2.0
// Where a member is in the tree of the present epoch, and whom it waits for.
module barrier_place
  import barrier_formats_pkg::*;
  import barrier_pkg::*;
(
  input  group_t group_i,
  output place_t place_o
);
  id_t       id, parent_id, parent, peer;
  children_t children, missing, first, preferred, candidates;
  logic      unused;  // a record, of which parts are needed here

  assign unused = ^group_i;

  assign id         = shifted(group_i.number, group_i.memory.offset, group_i.settings.members, group_i.settings.block_log2);
  assign missing    = children & ~group_i.got;
  assign preferred  = missing & group_i.ahead;
  assign candidates = preferred != '0 ? preferred : missing;
  assign first      = candidates & (~candidates + 1'b1);
  assign parent     = unshifted(parent_id, group_i.memory.offset, group_i.settings.members, group_i.settings.block_log2);
  assign peer       = group_i.phase == PHASE_WAITING ? parent : unshifted(id | more_of_one(first), group_i.memory.offset, group_i.settings.members, group_i.settings.block_log2);
  assign place_o    = '{id: id, children: children, missing: missing, first: first, parent: parent, peer: peer};

  barrier_tree i_tree (
    .shape_i(group_i.settings.shape), .id_i(id), .members_i(group_i.settings.members), .children_o(children), .parent_o(parent_id)
  );
endmodule

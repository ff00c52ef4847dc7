// SPDX-License-Identifier: Apache-2.0
// Where a member is in the tree of the present epoch, and whom it waits for.
module barrier_place
  import barrier_formats_pkg::*;
  import barrier_pkg::*;
(
  input  group_t group_i,
  output id_t    id_o,
  output id_t    children_o,  // by the bit that they have more
  output id_t    missing_o,   // of them
  output id_t    first_o,     // of those, the one to be asked next
  output id_t    parent_o,    // number
  output id_t    peer_o       // number of whom it waits for
);
  id_t  parent_id, preferred, candidates;
  logic unused;  // a record, of which parts are needed here

  assign unused = ^group_i;

  assign id_o       = shifted(group_i.number, group_i.memory.offset, group_i.settings.members);
  assign missing_o  = children_o & ~group_i.got;
  assign preferred  = missing_o & group_i.ahead;
  assign candidates = preferred != '0 ? preferred : missing_o;
  assign first_o    = candidates & (~candidates + 1'b1);
  assign parent_o   = unshifted(parent_id, group_i.memory.offset, group_i.settings.members);
  assign peer_o     = group_i.phase == PHASE_WAITING ? parent_o : unshifted(id_o | first_o, group_i.memory.offset, group_i.settings.members);

  barrier_tree i_tree (
    .shape_i(group_i.settings.shape), .id_i(id_o), .members_i(group_i.settings.members), .children_o, .parent_o(parent_id)
  );
endmodule

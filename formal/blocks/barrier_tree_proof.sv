// SPDX-License-Identifier: Apache-2.0
// barrier_tree and the offsets, for any group of up to 1,024 members, any tree and any member: parents and children agree, and every way up ends at the root; round(K) loses nobody.
// No clock matters: one is all there is to search.
`include "proof.svh"

module barrier_tree_proof
  import barrier_formats_pkg::*;
  import barrier_pkg::*;
(
  input logic       clk_i, rst_ni,
  input logic [1:0] shape_i,
  input logic [9:0] id_i, offset_i,
  input logic [4:0] bit_i,
  input logic [3:0] block_i,
  input logic [10:0] members_i
);
  `PROOF_RESET

  children_t children, children_of_child, children_of_parent, seen_by_parent;
  id_t    parent, child, parent_of_child, parent_of_parent, there, back;
  shape_e shape;
  logic   has_child;

  assign shape        = shape_e'(shape_i);
  assign has_child    = bit_i < 5'(CHILD_W) && children[bit_i];
  assign child        = id_i | MORE[bit_i];
  for (genvar i = 0; i < int'(CHILD_W); i++) begin : gen_seen
    assign seen_by_parent[i] = children_of_parent[i] && (parent | MORE[i]) == id_i;
  end
  assign there        = shifted(id_i, offset_i, members_i, block_i);
  assign back         = unshifted(there, offset_i, members_i, block_i);

  barrier_tree dut       (.shape_i(shape), .id_i(id_i),   .members_i(members_i), .children_o(children),           .parent_o(parent));
  barrier_tree i_child   (.shape_i(shape), .id_i(child),  .members_i(members_i), .children_o(children_of_child),  .parent_o(parent_of_child));
  barrier_tree i_parent  (.shape_i(shape), .id_i(parent), .members_i(members_i), .children_o(children_of_parent), .parent_o(parent_of_parent));

  `GIVEN(members_i <= 11'd1024 && {1'b0, id_i} < members_i && {1'b0, offset_i} < offsets_of(members_i, block_i))
  `GIVEN(block_i <= 4'(ID_W) && (block_i == '0 || (members_i & {1'b0, in_block(block_i)}) == '0))

  `PROVE(RootIsItsOwnParent, id_i != '0 || parent == '0)
  `PROVE(ParentIsLower, id_i == '0 || parent < id_i)
  `PROVE(ParentIsOneBitLess, id_i == '0 || shape == SHAPE_LCT4 || shape == SHAPE_LCT8 || ((id_i ^ parent) != '0 && ((id_i ^ parent) & ((id_i ^ parent) - 1'b1)) == '0))
  `PROVE(ChildIsAMember, !has_child || ({1'b0, child} < members_i && child != id_i))
  `PROVE(ChildHasThisParent, !has_child || parent_of_child == id_i)
  `PROVE(ParentHasThisChild, id_i == '0 || $onehot(seen_by_parent))
  `PROVE(OffsetStaysInTheGroup, {1'b0, there} < members_i)
  `PROVE(OffsetLosesNobody, back == id_i)
  `PROVE(OffsetStaysInTheBlock, block_i == '0 || (there >> block_i) == (id_i >> block_i))
endmodule

// SPDX-License-Identifier: Apache-2.0
// Neighbours of an id in the local continuous tree or the binomial tree (DLCT paper, 3.1 and 4).
module barrier_tree
  import barrier_formats_pkg::*;
  import barrier_pkg::*;
(
  input  shape_e shape_i,
  input  id_t    id_i,
  input  size_t  members_i,
  output id_t    children_o,  // bit b: there is a child id_i + 2^b
  output id_t    parent_o     // the root's is itself
);
  id_t below;  // bits under the lowest one
  id_t above;  // bits over the highest one
  id_t highest;

  always_comb begin : p_bits
    for (int unsigned b = 0; b < ID_W; b++) begin
      below[b] = (id_i & id_t'((2 << b) - 1)) == '0;
      above[b] = (id_i >> b) == '0;
    end
  end

  always_comb begin : p_children
    for (int unsigned b = 0; b < ID_W; b++) begin
      children_o[b] = (shape_i == SHAPE_LCT ? below[b] : above[b]) && {1'b0, id_i | id_t'(1 << b)} < members_i;
    end
  end

  assign highest  = ~above & {1'b1, above[ID_W-1:1]};
  assign parent_o = shape_i == SHAPE_LCT ? id_i & (id_i - 1'b1) : id_i & ~highest;
endmodule

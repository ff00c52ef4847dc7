// SPDX-License-Identifier: Apache-2.0
// Neighbours of an id in the local continuous tree or the binomial tree (DLCT paper, 3.1 and 4), or in the one of digits of base 4.
module barrier_tree
  import barrier_formats_pkg::*;
  import barrier_pkg::*;
(
  input  shape_e    shape_i,
  input  id_t       id_i,
  input  size_t     members_i,
  output children_t children_o,
  output id_t       parent_o     // the root's is itself
);
  localparam int unsigned DIGITS = CHILD_W / 3;

  if (ID_W % 2 != 0) begin : gen_illegal_width
    $fatal(1, "barrier_tree: ID_W is %0d, but must be even", ID_W);
  end

  id_t               lowest, highest;  // ones of the id
  id_t               above;            // bits over the highest one
  logic [DIGITS-1:0] below;            // digits that are 0, and all lower ones
  id_t               digit;            // the lowest one that is not 0

  assign lowest  = id_i & (~id_i + 1'b1);
  assign highest = ~above & {1'b1, above[ID_W-1:1]};

  always_comb begin : p_places
    for (int unsigned b = 0; b < ID_W; b++) above[b] = (id_i >> b) == '0;
    for (int unsigned d = 0; d < DIGITS; d++) below[d] = (id_i & id_t'((4 << (2 * d)) - 1)) == '0;
    digit = '0;
    for (int unsigned d = 0; d < DIGITS; d++) digit[2*d+:2] = lowest[2*d+:2] != '0 ? 2'b11 : 2'b00;
  end

  always_comb begin : p_children
    for (int unsigned i = 0; i < CHILD_W; i++) begin
      unique case (shape_i)
        SHAPE_LCT4: children_o[i] = below[i/3];
        SHAPE_BST:  children_o[i] = i % 3 != 2 && (id_i & ~(more_of(i) - 1'b1)) == '0;
        default:    children_o[i] = i % 3 != 2 && (id_i & (more_of(i) | (more_of(i) - 1'b1))) == '0;
      endcase
      if ({1'b0, id_i | more_of(i)} >= members_i) children_o[i] = 1'b0;
    end
  end

  assign parent_o = id_i & ~(shape_i == SHAPE_BST ? highest : shape_i == SHAPE_LCT4 ? digit : lowest);
endmodule

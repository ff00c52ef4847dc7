// SPDX-License-Identifier: Apache-2.0
// Neighbours of an id in the local continuous tree or the binomial tree (DLCT paper, 3.1 and 4), or in those of digits of base 4 and 8.
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
  id_t lowest, highest;      // ones of the id
  id_t above;                // bits over the highest one
  id_t digit_4, digit_8;     // the lowest one that is not 0

  assign lowest  = id_i & (~id_i + 1'b1);
  assign highest = ~above & {1'b1, above[ID_W-1:1]};
  assign digit_4 = digit_with(lowest, 2);
  assign digit_8 = digit_with(lowest, 3);

  always_comb begin : p_above
    for (int unsigned b = 0; b < ID_W; b++) above[b] = (id_i >> b) == '0;
  end

  for (genvar i = 0; i < int'(CHILD_W); i++) begin : gen_child
    // Is it a digit of so many bits? Then it may be there if that digit of the id, and all lower ones, are 0.
    localparam id_t DIGIT_2 = digit_with(MORE[i], 1), DIGIT_4 = digit_with(MORE[i], 2), DIGIT_8 = digit_with(MORE[i], 3);
    localparam bit IS_2 = DIGIT_2 == (DIGIT_2 & (~DIGIT_2 + 1'b1));
    localparam bit IS_4 = (MORE[i] & ~digit_with(MORE[i] & (~MORE[i] + 1'b1), 2)) == '0;
    localparam bit IS_8 = (MORE[i] & ~digit_with(MORE[i] & (~MORE[i] + 1'b1), 3)) == '0;
    logic there;

    always_comb begin : p_there
      unique case (shape_i)
        SHAPE_LCT8: there = IS_8 && (id_i & (DIGIT_8 | (DIGIT_8 - 1'b1))) == '0;
        SHAPE_LCT4: there = IS_4 && (id_i & (DIGIT_4 | (DIGIT_4 - 1'b1))) == '0;
        SHAPE_BST:  there = IS_2 && (id_i & ~(MORE[i] - 1'b1)) == '0;
        default:    there = IS_2 && (id_i & (DIGIT_2 | (DIGIT_2 - 1'b1))) == '0;
      endcase
    end

    assign children_o[i] = there && {1'b0, id_i | MORE[i]} < members_i;
  end

  always_comb begin : p_parent
    unique case (shape_i)
      SHAPE_LCT8: parent_o = id_i & ~digit_8;
      SHAPE_LCT4: parent_o = id_i & ~digit_4;
      SHAPE_BST:  parent_o = id_i & ~highest;
      default:    parent_o = id_i & ~lowest;
    endcase
  end
endmodule

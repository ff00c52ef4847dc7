// SPDX-License-Identifier: Apache-2.0
// Receive window as rdma_window_step works on it -> as it is kept in memory (docs/rdma_receiver.md). Combinational.
module rdma_window_keep #(
  parameter int unsigned WINDOW = 128,
  parameter type         kept_t = logic,
  parameter type         open_t = logic
) (
  input  open_t open_i,
  output kept_t kept_o
);
  localparam int unsigned POS_W = $clog2(WINDOW);

  logic [WINDOW-1:0] first_slot;
  logic [ POS_W-1:0] first;

  assign first_slot = {1'b1, open_i.first_after[WINDOW-1:1]} & ~open_i.first_after;

  always_comb begin : p_first
    first = '0;
    for (int i = 0; i < int'(WINDOW); i++) if (first_slot[i]) first |= POS_W'(i);
  end

  assign kept_o = '{base: open_i.base, first: {open_i.first_odd, first}, marks: open_i.lap_marks ^ {WINDOW{open_i.first_odd}}};

  logic unused;
  assign unused = ^{open_i.next_top, open_i.carry, open_i.group_here, open_i.group_next};  // base, first and marks say the same
endmodule

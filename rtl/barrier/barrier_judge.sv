// SPDX-License-Identifier: Apache-2.0
// The root's decision about the next offset (docs/barrier.md, judge).
module barrier_judge
  import barrier_pkg::*;
(
  input  settings_t   settings_i,
  input  memory_t     memory_i,
  input  logic [15:0] length_i,  // longest way that Gather has brought, in hops
  output memory_t     next_o
);
  localparam logic [15:0] NO_LENGTH = 16'hffff;

  size_t   next;  // below 2 * 1024: the offset is below the offsets that there are, the stride is at most as many
  size_t   offsets;
  memory_t seen;  // with this length
  logic    unused;  // a record, of which parts are needed here

  assign unused = ^settings_i;

  assign offsets = offsets_of(settings_i.members, settings_i.block_log2);
  assign next = {1'b0, seen.offset} + settings_i.stride;

  always_comb begin : p_seen
    seen = memory_i;
    if (memory_i.holding) begin  // a link has broken: what was best counts no more
      seen.holding    = 1'b0;
      seen.tries_left = settings_i.judge_tries;
    end
    if (memory_i.holding || length_i < memory_i.best_length || memory_i.best_length == NO_LENGTH) begin
      seen.best_length = length_i;
      seen.best_offset = memory_i.offset;
    end
  end

  always_comb begin : p_next
    next_o = seen;
    if (memory_i.holding && length_i <= memory_i.best_length) begin
      next_o = memory_i;
    end else if (seen.best_length <= settings_i.good || seen.tries_left == '0) begin
      next_o.holding = 1'b1;
      next_o.offset  = seen.best_offset;
    end else begin
      next_o.tries_left = seen.tries_left - 1'b1;
      next_o.offset     = id_t'(next >= offsets ? next - offsets : next);
    end
  end
endmodule

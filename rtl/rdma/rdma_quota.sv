// SPDX-License-Identifier: Apache-2.0
// Counts the contexts that each group of sources holds (docs/rdma.md, Quotas), so that one peer cannot take them all. One request and
// one context that becomes free in each clock.
//
// A group has two counts, granted and freed, so that each is written by one stage of the pipeline only; it holds the difference.
// Timing: src_i in clock t; over_o in clock t + 3, from a flop, whether this request must be refused; grant_i in that clock, whether it was granted.
// free_i and free_src_i in clock t count for requests from clock t + 1 on. After reset groups are cleared, one a clock (ready_o low).
module rdma_quota #(
  parameter int unsigned N_SOURCES = 256,  // groups, a power of two
  parameter int unsigned NODE_W    = 16,
  parameter int unsigned COUNT_W   = 11    // bits of a number of contexts
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  output logic              ready_o,
  input  logic       [15:0] quota_i,     // contexts of a group, 0: no limit
  // request
  input  logic [NODE_W-1:0] src_i,
  output logic              over_o,      // its group holds all that it may
  input  logic              grant_i,
  // context that becomes free
  input  logic              free_i,
  input  logic [NODE_W-1:0] free_src_i
);
  localparam int unsigned IDX_W = $clog2(N_SOURCES);

  if (N_SOURCES < 2 || (N_SOURCES & (N_SOURCES - 1)) != 0 || IDX_W > NODE_W) begin : g_bad_n
    $error("N_SOURCES must be a power of two from 2 to 2**NODE_W (%0d), is %0d", NODE_W, N_SOURCES);
  end

  logic               clearing_q;
  logic [IDX_W-1:0]   clear_idx_q, idx_q, idx_qq, idx_qqq, free_idx_q, free_idx_qq;
  logic               free_q, free_qq, granted_now;
  logic [COUNT_W-1:0] granted, granted_q, freed, freed_before, held;

  assign ready_o = !clearing_q;
  // The counts are as of two clocks ago and include all grants but the one of this very clock.
  assign held        = granted - freed;
  assign granted_now = grant_i && idx_qqq == idx_qq;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clearing_q  <= 1'b1;
      clear_idx_q <= '0;
      free_q      <= 1'b0;
      free_qq     <= 1'b0;
    end else begin
      if (clearing_q) begin
        clear_idx_q <= clear_idx_q + 1'b1;
        clearing_q  <= clear_idx_q != '1;
      end
      free_q  <= free_i;
      free_qq <= free_q;
    end
    idx_q       <= IDX_W'(src_i);
    idx_qq      <= idx_q;
    idx_qqq     <= idx_qq;
    granted_q   <= granted_now ? granted_q + 1'b1 : granted;
    over_o      <= quota_i != '0 && (granted_now ? 17'(held) + 17'd1 >= 17'(quota_i) : 17'(held) >= 17'(quota_i));
    free_idx_q  <= IDX_W'(free_src_i);
    free_idx_qq <= free_idx_q;
  end

  ram_forward #(
    .DEPTH(N_SOURCES),
    .WIDTH(COUNT_W)
  ) i_granted (
    .clk_i,
    .we_i   (clearing_q || grant_i),
    .waddr_i(clearing_q ? clear_idx_q : idx_qqq),
    .wdata_i(clearing_q ? '0 : granted_q + 1'b1),
    .raddr_i(IDX_W'(src_i)),
    .rdata_o(granted)
  );

  // One copy of the counts of freed contexts to compare with, one to count on.
  ram_forward #(
    .DEPTH(N_SOURCES),
    .WIDTH(COUNT_W)
  ) i_freed (
    .clk_i,
    .we_i   (clearing_q || free_qq),
    .waddr_i(clearing_q ? clear_idx_q : free_idx_qq),
    .wdata_i(clearing_q ? '0 : freed_before + 1'b1),
    .raddr_i(IDX_W'(src_i)),
    .rdata_o(freed)
  );

  ram_forward #(
    .DEPTH(N_SOURCES),
    .WIDTH(COUNT_W)
  ) i_freed_before (
    .clk_i,
    .we_i   (clearing_q || free_qq),
    .waddr_i(clearing_q ? clear_idx_q : free_idx_qq),
    .wdata_i(clearing_q ? '0 : freed_before + 1'b1),
    .raddr_i(IDX_W'(free_src_i)),
    .rdata_o(freed_before)
  );

  if (NODE_W > IDX_W) begin : g_rest
    logic unused;
    assign unused = ^{src_i[NODE_W-1:IDX_W], free_src_i[NODE_W-1:IDX_W]};  // sources of one group
  end
endmodule

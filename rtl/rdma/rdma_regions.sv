// SPDX-License-Identifier: Apache-2.0
// Table of the memory regions that other nodes may use (docs/rdma.md, Regions): one is read and one may be set in each clock.
//
// Timing: idx_i in clock t, region_o in clock t + 2, from a flop, with what was set up to and including clock t + 1. After
// reset all regions are closed, one a clock (ready_o low).
`include "weft_assert.svh"

module rdma_regions #(
  parameter int unsigned N_REGIONS = 64,    // a power of two from 2 to 256
  parameter type         region_t  = logic, // RDMA_TYPEDEF_REGION
  localparam int unsigned IDX_W    = $clog2(N_REGIONS)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  output logic             ready_o,
  input  logic             set_i,
  input  logic [IDX_W-1:0] set_idx_i,
  input  region_t          set_region_i,
  input  logic [      7:0] idx_i,        // of a packet; may be one that does not exist
  output region_t          region_o      // that one; not open if it does not exist
);
  if (N_REGIONS < 2 || N_REGIONS > 256 || (N_REGIONS & (N_REGIONS - 1)) != 0) begin : g_bad_n
    $error("N_REGIONS must be a power of two from 2 to 256, is %0d", N_REGIONS);
  end

  logic             clearing_q;
  logic [IDX_W-1:0] clear_idx_q;
  logic             known_q, known_qq;
  region_t          region;

  assign ready_o = !clearing_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clearing_q  <= 1'b1;
      clear_idx_q <= '0;
    end else if (clearing_q) begin
      clear_idx_q <= clear_idx_q + 1'b1;
      clearing_q  <= clear_idx_q != '1;
    end
    known_q  <= 9'(idx_i) < 9'(N_REGIONS);
    known_qq <= known_q;
  end

  ram_forward #(
    .DEPTH(N_REGIONS),
    .WIDTH($bits(region_t))
  ) i_table (
    .clk_i,
    .we_i   (clearing_q || set_i),
    .waddr_i(clearing_q ? clear_idx_q : set_idx_i),
    .wdata_i(clearing_q ? '0 : set_region_i),
    .raddr_i(idx_i[IDX_W-1:0]),
    .rdata_o(region)
  );

  always_comb begin : p_known
    region_o = region;
    if (!known_qq) region_o.open = '0;
  end

  `ASSERT(SetAfterReset, !set_i || ready_o)
endmodule

// SPDX-License-Identifier: Apache-2.0
// May the owner of a queue use these local bytes, to send from or as a buffer? Looks up the region that a request names (docs/rdma_queues.md, Local memory).
//
// Timing: request in clock t, status in clock t + 3, from a flop, by the regions as set up to and including clock t + 1. A request a clock.
`include "weft_assert.svh"
`include "rdma_typedef.svh"

module rdma_local_check
  import rdma_queues_formats_pkg::*;
#(
  parameter int unsigned PAYLOAD   = 256,  // bytes, a power of two: base and limit of regions are multiples of it
  parameter int unsigned ADDR_W    = 48,
  parameter int unsigned N_REGIONS = 64,
  localparam int unsigned SHIFT    = $clog2(PAYLOAD),
  localparam int unsigned BASE_W   = ADDR_W - SHIFT,
  localparam int unsigned OFFSET_W = rdma_pkg::offset_bits(BASE_W)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  output logic                ready_o,         // all regions are closed, after reset
  // a region as it is set
  input  logic                region_set_i,
  input  logic [         7:0] region_idx_i,
  input  logic                region_valid_i,  // not empty
  input  logic                region_local_i,  // open to local use by its owner
  input  logic [         7:0] region_owner_i,
  input  logic [        15:0] region_key_i,
  input  logic [  BASE_W-1:0] region_base_i,   // payloads
  input  logic [OFFSET_W-1:0] region_last_i,   // its last payload, counted from the base
  // request
  input  logic                buffer_i,        // for a buffer: no right of local use is needed, and nothing if it has no bytes
  input  logic [         7:0] owner_i,
  input  logic [        31:0] key_i,           // [23:16] number and [15:0] key of the region, upper bits zero
  input  logic [        63:0] addr_i,
  input  logic [        31:0] bytes_i,
  output logic [         7:0] status_o         // 0: it may
);
  localparam int unsigned IDX_W   = $clog2(N_REGIONS);
  localparam logic [33:0] ROUND_UP = 34'(PAYLOAD) - 34'd1;
  localparam int unsigned COUNT_W = 34 - SHIFT > OFFSET_W + 2 ? 34 - SHIFT : OFFSET_W + 2;  // of payloads, without overflow

  `RDMA_TYPEDEF_LOCAL_REGION(region_t, BASE_W, OFFSET_W)

  region_t region;

  rdma_regions #(
    .N_REGIONS(N_REGIONS),
    .region_t (region_t)
  ) i_regions (
    .clk_i,
    .rst_ni,
    .ready_o,
    .set_i       (region_set_i),
    .set_idx_i   (region_idx_i[IDX_W-1:0]),
    .set_region_i('{open: region_valid_i, local_use: region_local_i, owner: region_owner_i, key: region_key_i, base: region_base_i, last: region_last_i}),
    .idx_i       (key_i[23:16]),
    .region_o    (region)
  );

  // ------------------------------------------------------------------------------------------------- t + 1, t + 2: beside the lookup
  logic [7:0]         owner_q, owner_qq;
  logic [31:0]        bytes_q;
  logic [15:0]        key_q, key_qq;
  logic [63:0]        addr_q;
  logic               key_fits_q, key_fits_qq, addr_fits_qq;
  logic               buffer_q, buffer_qq, nothing_qq;
  logic [BASE_W-1:0]  first_qq;  // payload in which the bytes begin
  logic [COUNT_W-1:0] count_qq;  // payloads that they touch

  always_ff @(posedge clk_i) begin
    buffer_q     <= buffer_i;
    buffer_qq    <= buffer_q;
    nothing_qq   <= buffer_q && bytes_q == '0;
    owner_q      <= owner_i;
    key_q        <= key_i[15:0];
    key_fits_q   <= key_i[31:24] == '0;
    bytes_q      <= bytes_i;
    addr_q       <= addr_i;
    owner_qq     <= owner_q;
    key_qq       <= key_q;
    key_fits_qq  <= key_fits_q;
    addr_fits_qq <= ADDR_W == 64 || addr_q >> ADDR_W == '0;
    first_qq     <= addr_q[ADDR_W-1:SHIFT];
    count_qq     <= COUNT_W'((34'(addr_q[SHIFT-1:0]) + 34'(bytes_q) + ROUND_UP) >> SHIFT);
  end

  // ------------------------------------------------------------------------------------------------- t + 2: compare
  logic [BASE_W-1:0]  offset;
  logic [COUNT_W-1:0] left;  // payloads of the region from the first one on
  logic               key_ok, inside_region;

  assign key_ok = region.open && (region.local_use || buffer_qq) && key_fits_qq && region.key == key_qq && region.owner == owner_qq;
  assign offset = first_qq - region.base;
  assign left   = COUNT_W'(region.last) + 1'b1 - COUNT_W'(offset[OFFSET_W-1:0]);
  assign inside_region = addr_fits_qq && first_qq >= region.base && offset <= BASE_W'(region.last) && count_qq <= left;

  always_ff @(posedge clk_i) begin
    if (nothing_qq) status_o <= '0;
    else if (!key_ok) status_o <= QUEUE_STATUS_LOCAL_KEY;
    else if (!inside_region) status_o <= QUEUE_STATUS_LOCAL_REGION;
    else status_o <= '0;
  end

  `ASSERT(RegionExists, !region_set_i || 9'(region_idx_i) < 9'(N_REGIONS))
endmodule

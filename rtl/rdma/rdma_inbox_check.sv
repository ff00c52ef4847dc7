// SPDX-License-Identifier: Apache-2.0
// The inbox's table of memory regions and its check of a buffer that is posted, or of a write with immediate (docs/rdma_transfers.md, Inbox).
//
// Timing: one check a clock. What is to be checked is there in clock t, when the region is looked up; it may come from a RAM.
// queue_o in clock t + 2 is that of the region as set up to t + 1; so are verdict_o and checked_queue_o in clock t + 4. After reset all regions are
// closed, one a clock (ready_o low).
`include "weft_assert.svh"

module rdma_inbox_check
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned N_REGIONS = 64,   // a power of two from 2 to 256
  parameter int unsigned PAYLOAD   = 256,
  parameter int unsigned PIDX_W    = 24,
  parameter int unsigned ADDR_W    = 48,
  localparam int unsigned BASE_W   = ADDR_W - $clog2(PAYLOAD),
  localparam int unsigned OFFSET_W = offset_bits(BASE_W)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  output logic                ready_o,
  // regions as they are set
  input  logic                region_set_i,
  input  logic [         7:0] region_idx_i,
  input  logic                region_write_i,
  input  logic                region_receive_i,
  input  logic [         8:0] region_queue_i,
  input  logic [        15:0] region_key_i,
  input  logic [  BASE_W-1:0] region_base_i,
  input  logic [OFFSET_W-1:0] region_last_i,
  // to check
  input  logic                receive_i,       // whether it has the right to receive, otherwise that of remote writes
  input  logic [        23:0] rkey_i,
  input  logic [        63:0] addr_i,
  input  logic [        31:0] bytes_i,
  output logic [         8:0] queue_o,         // [8]: there is one
  output outcome_e            verdict_o,
  output logic [         8:0] checked_queue_o  // of the same region as the verdict
);
  localparam int unsigned IDX_W = $clog2(N_REGIONS);

  typedef struct packed {
    logic receive;
    logic write;
  } rights_t;

  typedef struct packed {
    rights_t             open;
    logic [8:0]          told;  // queue
    logic [15:0]         key;
    logic [BASE_W-1:0]   base;
    logic [OFFSET_W-1:0] last;
  } region_t;

  logic        receive_q, open;
  logic [15:0] key_q;
  logic [63:0] addr_q;
  logic [31:0] bytes_q;
  logic [8:0]  queue_q;
  region_t     region, set_region;

  assign set_region = '{open: '{receive: region_receive_i, write: region_write_i}, told: region_queue_i, key: region_key_i, base: region_base_i,
                        last: region_last_i};

  rdma_regions #(
    .N_REGIONS(N_REGIONS),
    .region_t (region_t)
  ) i_regions (
    .clk_i,
    .rst_ni,
    .ready_o,
    .set_i       (region_set_i),
    .set_idx_i   (region_idx_i[IDX_W-1:0]),
    .set_region_i(set_region),
    .idx_i       (rkey_i[23:16]),
    .region_o    (region)
  );

  assign open    = (receive_q ? region.open.receive : region.open.write) && region.key == key_q;
  assign queue_o = region.told;

  always_ff @(posedge clk_i) begin
    receive_q       <= receive_i;
    key_q           <= rkey_i[15:0];
    addr_q          <= addr_i;
    bytes_q         <= bytes_i;
    queue_q         <= queue_o;
    checked_queue_o <= queue_q;
  end

  rdma_rx_request #(
    .PAYLOAD (PAYLOAD),
    .PIDX_W  (PIDX_W),
    .ADDR_W  (ADDR_W),
    .OFFSET_W(OFFSET_W)
  ) i_check (
    .clk_i,
    .arg_i    (addr_q),
    .bytes_i  (bytes_q),
    .open_i   (open),
    .base_i   (region.base),
    .last_i   (region.last),
    .verdict_o,
    .offset_o ()  // the receiver's
  );

  `ASSERT(SetRegionExists, !region_set_i || 9'(region_idx_i) < 9'(N_REGIONS))
endmodule

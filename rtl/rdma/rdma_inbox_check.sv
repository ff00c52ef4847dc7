// SPDX-License-Identifier: Apache-2.0
// The inbox's table of memory regions and its check of a buffer that is posted, or of a write with immediate (docs/rdma_transfers.md, Inbox).
//
// Timing: the inputs from receive_i on are held. queue_o in clock t is that of the region as set up to clock t - 2. verdict_o and checked_queue_o in clock
// t are of the region as set up to clock t - 3, if the inputs have been there since clock t - 4. After reset all regions are closed, one a clock (ready_o low).
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

  if (N_REGIONS < 2 || N_REGIONS > 256 || (N_REGIONS & (N_REGIONS - 1)) != 0) begin : g_bad_n
    $error("N_REGIONS must be a power of two from 2 to 256, is %0d", N_REGIONS);
  end

  typedef struct packed {
    logic                write;
    logic                receive;
    logic [8:0]          told;     // queue
    logic [15:0]         key;
    logic [BASE_W-1:0]   base;
    logic [OFFSET_W-1:0] last;
  } region_t;

  logic             clearing_q, known_q, known_qq, open;
  logic [IDX_W-1:0] clear_idx_q;
  logic [8:0]       queue_q;
  region_t          region, set_region;

  assign ready_o    = !clearing_q;
  assign set_region = '{write: region_write_i, receive: region_receive_i, told: region_queue_i, key: region_key_i, base: region_base_i,
                        last: region_last_i};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clearing_q  <= 1'b1;
      clear_idx_q <= '0;
    end else if (clearing_q) begin
      clear_idx_q <= clear_idx_q + 1'b1;
      clearing_q  <= clear_idx_q != '1;
    end
    known_q         <= 9'(rkey_i[23:16]) < 9'(N_REGIONS);
    known_qq        <= known_q;
    queue_q         <= queue_o;
    checked_queue_o <= queue_q;
  end

  ram_forward #(
    .DEPTH(N_REGIONS),
    .WIDTH($bits(region_t))
  ) i_table (
    .clk_i,
    .we_i   (clearing_q || region_set_i),
    .waddr_i(clearing_q ? clear_idx_q : region_idx_i[IDX_W-1:0]),
    .wdata_i(clearing_q ? '0 : set_region),
    .raddr_i(rkey_i[16+:IDX_W]),
    .rdata_o(region)
  );

  assign open    = known_qq && (receive_i ? region.receive : region.write) && region.key == rkey_i[15:0];
  assign queue_o = region.told;

  rdma_rx_request #(
    .PAYLOAD (PAYLOAD),
    .PIDX_W  (PIDX_W),
    .ADDR_W  (ADDR_W),
    .OFFSET_W(OFFSET_W)
  ) i_check (
    .clk_i,
    .arg_i    (addr_i),
    .bytes_i,
    .open_i   (open),
    .base_i   (region.base),
    .last_i   (region.last),
    .verdict_o,
    .offset_o ()  // the receiver's
  );

  `ASSERT(SetAfterReset, !region_set_i || (ready_o && 9'(region_idx_i) < 9'(N_REGIONS)))
endmodule

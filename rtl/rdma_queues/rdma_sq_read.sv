// SPDX-License-Identifier: Apache-2.0
// Reads submission entries from host memory over AXI4, several bursts under way, and puts them out one by one in order.
//
// An entry that was answered with an error is bad, and so are all of its queue behind it until the queue is off.
`include "weft_assert.svh"

module rdma_sq_read
  import rdma_queues_pkg::*;
  import rdma_queues_formats_pkg::*;
#(
  parameter int unsigned N_QUEUES = 8,
  parameter int unsigned DATA_W   = 256,
  parameter int unsigned ADDR_W   = 48,
  parameter int unsigned FETCH    = 4,   // entries a burst, at most
  parameter int unsigned READS    = 4,   // bursts under way
  localparam int unsigned COUNT_W = $clog2(FETCH + 1)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [N_QUEUES-1:0] off_i,
  // bursts to read
  output logic                order_room_o,
  input  logic                order_valid_i,
  input  queue_t              order_queue_i,
  input  logic [COUNT_W-1:0]  order_count_i,
  input  logic [63:0]         order_addr_i,
  // entries
  output logic                entry_valid_o,
  input  logic                entry_ready_i,
  output queue_t              entry_queue_o,
  output logic                entry_bad_o,
  output submission_t         entry_o,
  // an entry could not be read
  output logic                error_o,
  output queue_t              error_queue_o,
  // AXI4 read channels
  output logic [ADDR_W-1:0]   m_axi_araddr_o,
  output logic [       7:0]   m_axi_arlen_o,
  output logic                m_axi_arvalid_o,
  input  logic                m_axi_arready_i,
  input  logic [DATA_W-1:0]   m_axi_rdata_i,
  input  logic [       1:0]   m_axi_rresp_i,
  input  logic                m_axi_rlast_i,
  input  logic                m_axi_rvalid_i,
  output logic                m_axi_rready_o
);
  localparam int unsigned IDX_W  = $clog2(N_QUEUES);
  localparam int unsigned BEATS  = SUBMISSION_BITS / DATA_W;  // of an entry: 1 or 2
  localparam int unsigned BUFFER = FETCH * READS;
  localparam int unsigned USED_W = $clog2(BUFFER + 1);

  typedef logic [IDX_W-1:0] idx_t;
  typedef struct packed {
    logic [ADDR_W-1:0] addr;
    logic [7:0]        len;
  } ar_t;
  typedef struct packed {
    logic        bad;
    queue_t      qid;
    submission_t entry;
  } read_t;

  // ------------------------------------------------------------------------------------------------- requests
  logic [USED_W-1:0] used_q;  // entries asked for and not put out
  logic              list_ready, burst_ready, burst_valid;
  logic              beat_fire, entry_done, entry_ready, entry_fire;
  queue_t            qid;   // of the burst that comes in
  ar_t               ar;

  assign order_room_o = 32'(used_q) + FETCH <= BUFFER && list_ready && burst_ready;
  assign entry_fire   = entry_valid_o && entry_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) used_q <= '0;
    else used_q <= used_q + (order_valid_i ? USED_W'(order_count_i) : '0) - USED_W'(entry_fire);
  end

  sync_fifo #(
    .DEPTH(2),
    .T    (ar_t)
  ) i_addresses (
    .clk_i,
    .rst_ni,
    .valid_i(order_valid_i),
    .ready_o(list_ready),
    .data_i ('{addr: order_addr_i[ADDR_W-1:0], len: 8'(32'(order_count_i) * BEATS - 1)}),
    .valid_o(m_axi_arvalid_o),
    .ready_i(m_axi_arready_i),
    .data_o (ar),
    .count_o()
  );
  assign m_axi_araddr_o = ar.addr;
  assign m_axi_arlen_o  = ar.len;

  sync_fifo #(
    .DEPTH(READS),
    .T    (queue_t)
  ) i_bursts (
    .clk_i,
    .rst_ni,
    .valid_i(order_valid_i),
    .ready_o(burst_ready),
    .data_i (order_queue_i),
    .valid_o(burst_valid),
    .ready_i(beat_fire && m_axi_rlast_i),
    .data_o (qid),
    .count_o()
  );

  // ------------------------------------------------------------------------------------------------- answers
  logic [N_QUEUES-1:0] failed_q;  // an entry of the queue could not be read
  logic                beat_bad, first_bad;
  submission_t         entry;
  read_t               read;

  assign m_axi_rready_o = burst_valid;
  assign beat_fire      = m_axi_rvalid_i && m_axi_rready_o;
  assign beat_bad       = m_axi_rresp_i[1];

  if (BEATS == 1) begin : gen_whole
    assign entry      = m_axi_rdata_i;
    assign entry_done = beat_fire;
    assign first_bad  = 1'b0;
  end else begin : gen_halves
    logic              second_q, bad_q;
    logic [DATA_W-1:0] low_q;
    assign entry      = {m_axi_rdata_i, low_q};
    assign entry_done = beat_fire && second_q;
    assign first_bad  = bad_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) second_q <= 1'b0;
      else if (beat_fire) second_q <= !second_q;
      if (beat_fire) bad_q <= beat_bad;
      if (beat_fire) low_q <= m_axi_rdata_i;
    end
    `ASSERT(BurstIsWholeEntries, !(beat_fire && m_axi_rlast_i) || second_q)
  end

  logic entry_bad;
  assign entry_bad     = beat_bad || first_bad;
  assign error_o       = entry_done && entry_bad && !failed_q[idx_t'(qid)];
  assign error_queue_o = qid;

  for (genvar q = 0; q < int'(N_QUEUES); q++) begin : gen_queue
    always_ff @(posedge clk_i) begin
      if (!rst_ni || off_i[q]) failed_q[q] <= 1'b0;
      else if (error_o && idx_t'(qid) == idx_t'(q)) failed_q[q] <= 1'b1;
    end
  end

  ram_fifo #(
    .DEPTH(BUFFER),
    .WIDTH($bits(read_t))
  ) i_entries (
    .clk_i,
    .rst_ni,
    .valid_i(entry_done),
    .ready_o(entry_ready),
    .data_i ({entry_bad || failed_q[idx_t'(qid)], qid, entry}),
    .valid_o(entry_valid_o),
    .ready_i(entry_ready_i),
    .data_o (read),
    .count_o()
  );
  assign entry_queue_o = read.qid;
  assign entry_bad_o   = read.bad;
  assign entry_o       = read.entry;

  logic unused;
  assign unused = ^{m_axi_rresp_i[0], order_addr_i};  // OKAY or EXOKAY, SLVERR or DECERR; addresses beyond the bus are never enabled

  `ASSERT(EntryHasRoom, !entry_done || entry_ready)
  `ASSERT(OrderIsTaken, !order_valid_i || order_room_o)
  `ASSERT(OnlyOrderedData, !m_axi_rvalid_i || burst_valid)
`ifdef VERILATOR
  `ASSERT(EntryStable, entry_valid_o && !entry_ready_i |=> entry_valid_o && $stable(read))
`endif
endmodule

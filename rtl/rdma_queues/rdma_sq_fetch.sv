// SPDX-License-Identifier: Apache-2.0
// From submission rings to requests: schedules, reads and checks entries (docs/rdma_queues.md, Theory of operation).
module rdma_sq_fetch
  import rdma_queues_pkg::*;
  import rdma_queues_formats_pkg::*;
#(
  parameter int unsigned       N_QUEUES = 8,
  parameter int unsigned       DATA_W   = 256,
  parameter int unsigned       ADDR_W   = 48,
  parameter int unsigned       FETCH    = 4,      // entries a burst, at most
  parameter int unsigned       READS    = 4,      // bursts under way
  parameter logic        [15:0] OPCODES  = opcodes_of(1'b0)  // bit i: opcode i is accepted
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                cfg_we_i,
  input  queue_t              cfg_queue_i,
  input  queue_cfg_t          cfg_i,
  input  logic [N_QUEUES-1:0] off_i,
  input  logic [N_QUEUES-1:0] run_i,
  input  logic [N_QUEUES-1:0] live_i,
  input  index_t              tail_i    [N_QUEUES],
  input  index_t              cq_head_i [N_QUEUES],
  input  logic [N_QUEUES-1:0] kick_i,          // tail or completion head has moved
  input  index_t              ended_i   [N_QUEUES],  // requests of the sender that have ended
  input  logic [N_QUEUES-1:0] end_i,           // which goes up with this clock
  output index_t              head_o    [N_QUEUES],
  output index_t              dropped_o [N_QUEUES],
  output index_t              promised_o[N_QUEUES],
  output logic                error_o,         // an entry could not be read
  output queue_t              error_queue_o,
  // slots for arrivals
  input  logic                claim_valid_i,
  output logic                claim_ready_o,
  input  queue_t              claim_queue_i,
  output logic                claim_ok_o,
  // requests accepted
  output logic                req_valid_o,
  input  logic                req_ready_i,
  output request_t            req_o,
  // error completions
  output logic                reject_valid_o,
  input  logic                reject_ready_i,
  output outcome_t            reject_o,
  // one record an order, and one an entry
  output logic                trace_order_valid_o,
  output queue_t              trace_order_queue_o,
  output index_t              trace_order_index_o,
  output logic [4:0]          trace_order_count_o,
  output logic                trace_entry_valid_o,
  output queue_t              trace_entry_queue_o,
  output verdict_e            trace_entry_verdict_o,
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
  localparam int unsigned COUNT_W = $clog2(FETCH + 1);

  logic               order_room, order_valid;
  queue_t             order_queue;
  index_t             order_index;
  logic [COUNT_W-1:0] order_count;
  logic [63:0]        order_addr;
  logic               entry_valid, entry_ready, entry_bad;
  queue_t             entry_queue;
  submission_t        entry;
  index_t             asked[N_QUEUES], spared[N_QUEUES];
  logic [N_QUEUES-1:0] spare;

  rdma_sq_schedule #(
    .N_QUEUES(N_QUEUES),
    .FETCH   (FETCH)
  ) i_schedule (
    .clk_i,
    .rst_ni,
    .cfg_we_i,
    .cfg_queue_i,
    .cfg_i,
    .off_i,
    .run_i,
    .live_i,
    .tail_i,
    .cq_head_i,
    .kick_i,
    .spared_i     (spared),
    .ended_i,
    .give_i       (spare | end_i),
    .claim_valid_i,
    .claim_ready_o,
    .claim_queue_i,
    .claim_ok_o,
    .order_room_i (order_room),
    .order_valid_o(order_valid),
    .order_queue_o(order_queue),
    .order_index_o(order_index),
    .order_count_o(order_count),
    .order_addr_o (order_addr),
    .asked_o      (asked),
    .promised_o
  );

  rdma_sq_read #(
    .N_QUEUES(N_QUEUES),
    .DATA_W  (DATA_W),
    .ADDR_W  (ADDR_W),
    .FETCH   (FETCH),
    .READS   (READS)
  ) i_read (
    .clk_i,
    .rst_ni,
    .off_i,
    .order_room_o (order_room),
    .order_valid_i(order_valid),
    .order_queue_i(order_queue),
    .order_count_i(order_count),
    .order_addr_i (order_addr),
    .entry_valid_o(entry_valid),
    .entry_ready_i(entry_ready),
    .entry_queue_o(entry_queue),
    .entry_bad_o  (entry_bad),
    .entry_o      (entry),
    .error_o,
    .error_queue_o,
    .m_axi_araddr_o,
    .m_axi_arlen_o,
    .m_axi_arvalid_o,
    .m_axi_arready_i,
    .m_axi_rdata_i,
    .m_axi_rresp_i,
    .m_axi_rlast_i,
    .m_axi_rvalid_i,
    .m_axi_rready_o
  );

  rdma_sq_check #(
    .N_QUEUES(N_QUEUES),
    .OPCODES (OPCODES)
  ) i_check (
    .clk_i,
    .rst_ni,
    .cfg_we_i,
    .cfg_queue_i,
    .cfg_i,
    .off_i,
    .live_i,
    .entry_valid_i  (entry_valid),
    .entry_ready_o  (entry_ready),
    .entry_queue_i  (entry_queue),
    .entry_bad_i    (entry_bad),
    .entry_i        (entry),
    .req_valid_o,
    .req_ready_i,
    .req_o,
    .reject_valid_o,
    .reject_ready_i,
    .reject_o,
    .head_o,
    .dropped_o,
    .spared_o       (spared),
    .spare_o        (spare),
    .trace_valid_o  (trace_entry_valid_o),
    .trace_queue_o  (trace_entry_queue_o),
    .trace_verdict_o(trace_entry_verdict_o)
  );

  assign trace_order_valid_o = order_valid;
  assign trace_order_queue_o = order_queue;
  assign trace_order_index_o = order_index;
  assign trace_order_count_o = 5'(order_count);

  for (genvar q = 0; q < int'(N_QUEUES); q++) begin : gen_queue
    logic unused;
    assign unused = ^asked[q];  // for assertions
  end
endmodule

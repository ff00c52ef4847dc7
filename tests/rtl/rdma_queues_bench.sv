// SPDX-License-Identifier: Apache-2.0
// rdma_queues with its structures as plain ports, as wide as in the widest configuration.
module rdma_queues_bench
  import rdma_queues_pkg::*;
  import rdma_queues_formats_pkg::*;
#(
  parameter int unsigned N_QUEUES = 8,
  parameter int unsigned DATA_W   = 256,
  parameter int unsigned ADDR_W   = 48,
  parameter int unsigned FETCH    = 4,
  parameter int unsigned READS    = 4,
  parameter int unsigned TRANSFERS = 1
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [ 31:0] axil_awaddr_i,
  input  logic         axil_awvalid_i,
  output logic         axil_awready_o,
  input  logic [ 31:0] axil_wdata_i,
  input  logic [  3:0] axil_wstrb_i,
  input  logic         axil_wvalid_i,
  output logic         axil_wready_o,
  output logic [  1:0] axil_bresp_o,
  output logic         axil_bvalid_o,
  input  logic         axil_bready_i,
  input  logic [ 31:0] axil_araddr_i,
  input  logic         axil_arvalid_i,
  output logic         axil_arready_o,
  output logic [ 31:0] axil_rdata_o,
  output logic [  1:0] axil_rresp_o,
  output logic         axil_rvalid_o,
  input  logic         axil_rready_i,
  output logic         req_valid_o,
  input  logic         req_ready_i,
  output logic [  7:0] req_queue_o,
  output logic [  7:0] req_owner_o,
  output logic [511:0] req_entry_o,
  input  logic         claim_valid_i,
  output logic         claim_ready_o,
  input  logic [  7:0] claim_queue_i,
  output logic         claim_ok_o,
  input  logic         cpl_valid_i,
  output logic         cpl_ready_o,
  input  logic [  7:0] cpl_queue_i,
  input  logic         cpl_signal_i,
  input  logic [255:0] cpl_fields_i,   // as in a completion entry
  output logic         queue_set_o,
  output logic [  7:0] queue_idx_o,
  output logic         queue_open_o,
  output logic [ 15:0] queue_key_o,
  input  logic [ 63:0] queue_held_i,
  output logic         irq_o,
  output logic [ 63:0] araddr_o,
  output logic [  7:0] arlen_o,
  output logic         arvalid_o,
  input  logic         arready_i,
  input  logic [511:0] rdata_i,
  input  logic [  1:0] rresp_i,
  input  logic         rlast_i,
  input  logic         rvalid_i,
  output logic         rready_o,
  output logic [ 63:0] awaddr_o,
  output logic [  7:0] awlen_o,
  output logic         awvalid_o,
  input  logic         awready_i,
  output logic [511:0] wdata_o,
  output logic [ 63:0] wstrb_o,
  output logic         wlast_o,
  output logic         wvalid_o,
  input  logic         wready_i,
  input  logic [  1:0] bresp_i,
  input  logic         bvalid_i,
  output logic         bready_o,
  output logic         look_o,
  output logic         apply_o,
  output logic         write_ok_o,
  output logic         order_o,
  output logic [  7:0] order_queue_o,
  output logic [ 15:0] order_index_o,
  output logic [  7:0] order_count_o,
  output logic         entry_o,
  output logic [  7:0] entry_queue_o,
  output logic [  7:0] entry_verdict_o,
  output logic         error_o,
  output logic [  7:0] error_queue_o,
  output logic         slot_o,
  output logic         slot_discard_o,
  output logic [  7:0] slot_queue_o,
  output logic         slot_signal_o,
  output logic [255:0] slot_fields_o,
  output logic         retired_o,
  output logic [  7:0] retired_queue_o,
  output logic         retired_discarded_o,
  output logic         retired_failed_o,
  output logic         retired_urgent_o,
  output logic         fire_o,
  output logic [  7:0] fire_queue_o,
  output logic [ 63:0] off_o
);
  localparam int unsigned AXIL_W = PAGE_SHIFT + 1 + $clog2(N_QUEUES);

  request_t            req;
  outcome_t            cpl, slot;
  completion_t         cpl_fields, slot_fields;
  retired_t            retired;
  verdict_e            verdict;
  queue_t              queue_idx, order_queue, entry_queue, error_queue, fire_queue;
  logic [4:0]          order_count;
  logic [ADDR_W-1:0]   araddr, awaddr;
  logic [DATA_W-1:0]   wdata;
  logic [DATA_W/8-1:0] wstrb;
  logic [N_QUEUES-1:0] off;

  assign req_queue_o = 8'(req.qid);
  assign req_owner_o = req.owner;
  assign req_entry_o = req.entry;
  assign cpl_fields  = cpl_fields_i;
  assign cpl         = '{qid: queue_t'(cpl_queue_i), signal: cpl_signal_i, tag: cpl_fields.tag, bytes: cpl_fields.bytes,
                         immediate: cpl_fields.immediate, has_immediate: cpl_fields.has_immediate,
                         node: cpl_fields.node, status: cpl_fields.status, opcode: cpl_fields.opcode};
  assign slot_fields = '{tag: slot.tag, bytes: slot.bytes, immediate: slot.immediate, has_immediate: slot.has_immediate, node: slot.node, status: slot.status,
                         opcode: slot.opcode, default: '0};
  assign queue_idx_o         = 8'(queue_idx);
  assign slot_fields_o       = slot_fields;
  assign slot_queue_o        = 8'(slot.qid);
  assign slot_signal_o       = slot.signal;
  assign retired_queue_o     = 8'(retired.qid);
  assign retired_discarded_o = retired.discarded;
  assign retired_failed_o    = retired.failed;
  assign retired_urgent_o    = retired.urgent;
  assign order_queue_o       = 8'(order_queue);
  assign order_count_o       = 8'(order_count);
  assign entry_queue_o       = 8'(entry_queue);
  assign entry_verdict_o     = 8'(verdict);
  assign error_queue_o       = 8'(error_queue);
  assign fire_queue_o        = 8'(fire_queue);
  assign off_o               = 64'(off);
  assign araddr_o            = 64'(araddr);
  assign awaddr_o            = 64'(awaddr);
  assign wdata_o             = 512'(wdata);
  assign wstrb_o             = 64'(wstrb);

  rdma_queues #(
    .N_QUEUES(N_QUEUES), .DATA_W(DATA_W), .ADDR_W(ADDR_W), .FETCH(FETCH), .READS(READS), .OPCODES(opcodes_of(TRANSFERS != 0))
  ) i_dut (
    .clk_i, .rst_ni,
    .s_axil_awaddr_i(axil_awaddr_i[AXIL_W-1:0]), .s_axil_awvalid_i(axil_awvalid_i), .s_axil_awready_o(axil_awready_o),
    .s_axil_wdata_i(axil_wdata_i), .s_axil_wstrb_i(axil_wstrb_i), .s_axil_wvalid_i(axil_wvalid_i), .s_axil_wready_o(axil_wready_o),
    .s_axil_bresp_o(axil_bresp_o), .s_axil_bvalid_o(axil_bvalid_o), .s_axil_bready_i(axil_bready_i),
    .s_axil_araddr_i(axil_araddr_i[AXIL_W-1:0]), .s_axil_arvalid_i(axil_arvalid_i), .s_axil_arready_o(axil_arready_o),
    .s_axil_rdata_o(axil_rdata_o), .s_axil_rresp_o(axil_rresp_o), .s_axil_rvalid_o(axil_rvalid_o), .s_axil_rready_i(axil_rready_i),
    .req_valid_o, .req_ready_i, .req_o(req),
    .claim_valid_i, .claim_ready_o, .claim_queue_i(queue_t'(claim_queue_i)), .claim_ok_o,
    .cpl_valid_i, .cpl_ready_o, .cpl_i(cpl),
    .queue_set_o, .queue_idx_o(queue_idx), .queue_open_o, .queue_key_o, .queue_held_i(queue_held_i[N_QUEUES-1:0]), .irq_o,
    .m_axi_araddr_o(araddr), .m_axi_arlen_o(arlen_o), .m_axi_arvalid_o(arvalid_o), .m_axi_arready_i(arready_i),
    .m_axi_rdata_i(rdata_i[DATA_W-1:0]), .m_axi_rresp_i(rresp_i), .m_axi_rlast_i(rlast_i), .m_axi_rvalid_i(rvalid_i), .m_axi_rready_o(rready_o),
    .m_axi_awaddr_o(awaddr), .m_axi_awlen_o(awlen_o), .m_axi_awvalid_o(awvalid_o), .m_axi_awready_i(awready_i),
    .m_axi_wdata_o(wdata), .m_axi_wstrb_o(wstrb), .m_axi_wlast_o(wlast_o), .m_axi_wvalid_o(wvalid_o), .m_axi_wready_i(wready_i),
    .m_axi_bresp_i(bresp_i), .m_axi_bvalid_i(bvalid_i), .m_axi_bready_o(bready_o),
    .trace_look_o(look_o), .trace_apply_o(apply_o), .trace_write_ok_o(write_ok_o),
    .trace_order_valid_o(order_o), .trace_order_queue_o(order_queue), .trace_order_index_o(order_index_o), .trace_order_count_o(order_count),
    .trace_entry_valid_o(entry_o), .trace_entry_queue_o(entry_queue), .trace_entry_verdict_o(verdict),
    .trace_error_valid_o(error_o), .trace_error_queue_o(error_queue),
    .trace_slot_valid_o(slot_o), .trace_slot_discard_o(slot_discard_o), .trace_slot_o(slot),
    .trace_retired_valid_o(retired_o), .trace_retired_o(retired),
    .trace_fire_valid_o(fire_o), .trace_fire_queue_o(fire_queue), .trace_off_o(off)
  );
endmodule

// SPDX-License-Identifier: Apache-2.0
// rdma_requests with its structures as plain ports.
module rdma_requests_bench
  import rdma_pkg::*;
  import rdma_queues_pkg::*;
  import rdma_queues_formats_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         region_set_i,
  input  logic [  7:0] region_idx_i,
  input  logic         region_valid_i,
  input  logic         region_local_i,
  input  logic [  7:0] region_owner_i,
  input  logic [ 15:0] region_key_i,
  input  logic [ 31:0] region_base_i,
  input  logic [ 31:0] region_last_i,
  input  logic         req_valid_i,
  output logic         req_ready_o,
  input  logic [  7:0] req_queue_i,
  input  logic [  7:0] req_owner_i,
  input  logic [511:0] req_entry_i,
  output logic         out_valid_o,
  input  logic         out_ready_i,
  output logic [  7:0] out_queue_o,
  output logic         out_signal_o,
  output logic [255:0] out_fields_o,
  output logic         post_valid_o,
  input  logic         post_ready_i,
  output logic [  1:0] post_origin_o,
  output logic [  1:0] post_to_o,
  output logic         post_has_imm_o,
  output logic [ 31:0] post_imm_o,
  output logic [ 31:0] post_rkey_o,
  output logic [ 15:0] post_tag_o,
  output logic [ 31:0] post_node_o,
  output logic [ 31:0] post_bytes_o,
  output logic [ 63:0] post_dst_o,
  output logic [ 63:0] post_src_o,
  input  logic         cpl_valid_i,
  output logic         cpl_ready_o,
  input  logic [ 15:0] cpl_tag_i,
  input  logic [  7:0] cpl_status_i,
  output logic         ticket_post_valid_o,
  input  logic         ticket_post_ready_i,
  output logic         ticket_post_is_read_o,
  output logic [  7:0] ticket_post_queue_o,
  output logic [ 15:0] ticket_post_tag_o,
  output logic [ 63:0] ticket_post_address_o,
  output logic [ 31:0] ticket_post_bytes_o,
  output logic [ 31:0] ticket_post_rkey_o,
  output logic [ 31:0] ticket_post_node_o,
  output logic [ 63:0] ticket_post_remote_addr_o,
  output logic [ 31:0] ticket_post_remote_rkey_o,
  input  logic         ticket_cpl_valid_i,
  output logic         ticket_cpl_ready_o,
  input  logic [  7:0] ticket_cpl_queue_i,
  input  logic [ 15:0] ticket_cpl_tag_i,
  input  logic         ticket_cpl_is_read_i,
  input  logic [  7:0] ticket_cpl_status_i,
  input  logic [ 15:0] ticket_cpl_node_i,
  input  logic         ticket_cpl_imm_form_i,
  input  logic [ 31:0] ticket_cpl_bytes_i,
  input  logic         ticket_cpl_has_imm_i,
  input  logic [ 31:0] ticket_cpl_imm_i,
  output logic         trace_o,
  output logic [  7:0] trace_status_o
);
  request_t                             req;
  outcome_t                             out;
  post_t                                post;
  ticket_post_t                         ticket_post;
  rdma_queues_formats_pkg::completion_t fields;

  assign req = '{qid: queue_t'(req_queue_i), owner: req_owner_i, entry: req_entry_i};
  assign fields = '{tag: out.tag, bytes: out.bytes, immediate: out.immediate, has_immediate: out.has_immediate, node: out.node, status: out.status,
                    opcode: out.opcode, default: '0};
  assign out_queue_o               = 8'(out.qid);
  assign out_signal_o              = out.signal;
  assign out_fields_o              = fields;
  assign post_origin_o             = post.origin;
  assign post_to_o                 = post.to;
  assign post_has_imm_o            = post.has_imm;
  assign post_imm_o                = post.imm;
  assign post_rkey_o               = 32'(post.rkey);
  assign post_tag_o                = post.tag;
  assign post_node_o               = post.node;
  assign post_bytes_o              = post.bytes;
  assign post_dst_o                = post.dst_addr;
  assign post_src_o                = post.src_addr;
  assign ticket_post_is_read_o     = ticket_post.is_read;
  assign ticket_post_queue_o       = ticket_post.qid;
  assign ticket_post_tag_o         = ticket_post.tag;
  assign ticket_post_address_o     = ticket_post.address;
  assign ticket_post_bytes_o       = ticket_post.bytes;
  assign ticket_post_rkey_o        = 32'(ticket_post.rkey);
  assign ticket_post_node_o        = ticket_post.node;
  assign ticket_post_remote_addr_o = ticket_post.remote_addr;
  assign ticket_post_remote_rkey_o = 32'(ticket_post.remote_rkey);

  rdma_requests #(
    .N_REQUESTS(16), .N_TICKETS(8), .PAYLOAD(256), .ADDR_W(40), .N_REGIONS(8)
  ) i_dut (
    .clk_i, .rst_ni,
    .region_set_i, .region_idx_i, .region_valid_i, .region_local_i, .region_owner_i, .region_key_i, .region_base_i, .region_last_i,
    .req_valid_i, .req_ready_o, .req_i(req), .out_valid_o, .out_ready_i, .out_o(out),
    .post_valid_o, .post_ready_i, .post_o(post),
    .cpl_valid_i, .cpl_ready_o, .cpl_i('{origin: ORIGIN_QUEUES, status: cpl_status_i, tag: cpl_tag_i}),
    .ticket_post_valid_o, .ticket_post_ready_i, .ticket_post_o(ticket_post),
    .ticket_cpl_valid_i, .ticket_cpl_ready_o,
    .ticket_cpl_i('{qid: ticket_cpl_queue_i, tag: ticket_cpl_tag_i, is_read: ticket_cpl_is_read_i, status: ticket_cpl_status_i, node: ticket_cpl_node_i,
                    imm_form: ticket_cpl_imm_form_i, bytes: ticket_cpl_bytes_i, has_imm: ticket_cpl_has_imm_i, imm: ticket_cpl_imm_i}),
    .trace_valid_o(trace_o), .trace_status_o
  );
endmodule

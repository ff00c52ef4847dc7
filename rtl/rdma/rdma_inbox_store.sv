// SPDX-License-Identifier: Apache-2.0
// Tickets, the queues that they belong to and what is kept of both (docs/rdma_transfers.md, Inbox).
//
// Timing: what an event changes comes in decide of step_i, in ops_i. A ticket is read in read; kept_o, message_o and of_queue_o are there in data,
// the rest of it in decide, as of the clock before. Answers to print_i come one clock later, first_o in the same clock as look_i; is_open_o, key_o
// and list_any_o follow queue_i. over_quota_o is there in decide, as of the clock before.
`include "weft_assert.svh"

module rdma_inbox_store
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
  import rdma_inbox_pkg::*;
#(
  parameter int unsigned N_TICKETS = 64,
  parameter int unsigned N_QUEUES  = 8,
  parameter int unsigned CID_W     = 10,
  parameter int unsigned SID_W     = 10,
  parameter int unsigned MSGID_W   = 20,
  parameter int unsigned NODE_W    = 16,
  parameter int unsigned ADDR_W    = 48,
  parameter type         kept_t    = logic,  // of rdma_inbox
  parameter type         message_t = logic,
  localparam int unsigned IDX_W  = $clog2(N_TICKETS),
  localparam int unsigned HELD_W = $clog2(N_TICKETS + 1),
  localparam int unsigned Q_W    = (N_QUEUES > 1) ? $clog2(N_QUEUES) : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  output logic                 ready_o,
  output logic                 busy_o,        // there are tickets but RECVs that wait in an open queue
  // settings
  input  logic                 queue_set_i,
  input  logic [          7:0] queue_idx_i,
  input  logic                 queue_open_i,
  input  logic [         15:0] queue_key_i,
  output logic [ N_QUEUES-1:0] queue_held_o,
  input  logic [         15:0] quota_i,
  input  logic                 number_load_i,
  input  logic [  MSGID_W-1:0] number_i,
  // for an event in front
  input  logic [  PRINT_W-1:0] print_i,
  output logic [N_TICKETS-1:0] asked_o,
  output logic [N_TICKETS-1:0] watched_o,
  input  logic [      Q_W-1:0] look_i,
  output logic [    IDX_W-1:0] first_o,
  output logic                 offer_valid_o,
  output logic [    IDX_W-1:0] offer_o,
  // receiver and memory
  input  logic                 ret_valid_i,
  input  rx_retired_t          ret_i,
  input  logic                 granted_i,
  input  logic [    IDX_W-1:0] granted_idx_i,
  output logic                 left_o,
  output logic [    IDX_W-1:0] left_idx_o,
  input  logic                 error_i,
  input  logic [    CID_W-1:0] error_cid_i,
  // the ticket of an event, and its queue
  input  step_t                step_i,
  input  logic [    IDX_W-1:0] idx_i,
  input  logic [      Q_W-1:0] queue_i,
  output known_t               known_o,
  output logic [    CID_W-1:0] cid_o,
  output logic [      Q_W-1:0] of_queue_o,
  output kept_t                kept_o,
  output message_t             message_o,
  output logic                 is_open_o,
  output logic [         15:0] key_o,
  output logic                 list_any_o,
  output logic                 over_quota_o,
  // what it changes
  input  ops_t                 ops_i,
  input  header_t              hdr_i,         // of a RQT
  input  logic                 immediate_i,
  input  ticket_post_t         post_i,
  output kept_t                kept_new_o
);
  logic [N_QUEUES-1:0] open;
  logic [  HELD_W-1:0] held;
  logic                finish, freed;
  message_t            message_new;
  logic [ MSGID_W-1:0] number_q;

  rdma_inbox_queues #(
    .N_TICKETS(N_TICKETS),
    .N_QUEUES (N_QUEUES)
  ) i_queues (
    .clk_i,
    .rst_ni,
    .set_i     (queue_set_i),
    .set_idx_i (queue_idx_i),
    .set_open_i(queue_open_i),
    .set_key_i (queue_key_i),
    .open_o    (open),
    .held_o    (queue_held_o),
    .queue_i   (queue_i),
    .is_open_o (is_open_o),
    .key_o     (key_o),
    .count_o   (held),
    .new_i     (ops_i.new_ticket),
    .end_i     (ops_i.end_it)
  );

  rdma_inbox_lists #(
    .N_TICKETS(N_TICKETS),
    .N_QUEUES (N_QUEUES)
  ) i_lists (
    .clk_i,
    .rst_ni,
    .clear_i      (queue_set_i),
    .clear_queue_i(queue_idx_i[Q_W-1:0]),
    .look_i       (look_i),
    .first_o      (first_o),
    .queue_i      (queue_i),
    .any_o        (list_any_o),
    .lists_o      (),  // not needed
    .pop_i        (ops_i.pop),
    .push_front_i (ops_i.push_front),
    .push_back_i  (ops_i.push_back),
    .idx_i        (idx_i),
    .next_re_i    (step_i.read),
    .next_idx_i   (idx_i)
  );

  free_list #(
    .N(N_TICKETS)
  ) i_free (
    .clk_i,
    .rst_ni,
    .ready_o  (ready_o),
    .valid_o  (offer_valid_o),
    .id_o     (offer_o),
    .pop_i    (ops_i.new_ticket),
    .push_i   (ops_i.end_it),
    .push_id_i(idx_i),
    .count_o  ()  // not needed
  );

  assign finish = ret_valid_i && ret_i.outcome == OUTCOME_FINISH;
  assign freed  = ret_valid_i && (ret_i.outcome == OUTCOME_RELEASED || ret_i.outcome == OUTCOME_RELEASED_FAILED || ret_i.outcome == OUTCOME_RECLAIM);

  rdma_inbox_tickets #(
    .N_TICKETS(N_TICKETS),
    .N_QUEUES (N_QUEUES),
    .CID_W    (CID_W),
    .PRINT_W  (PRINT_W)
  ) i_tickets (
    .clk_i,
    .rst_ni,
    .set_i      (ops_i.put),
    .set_idx_i  (idx_i),
    .set_state_i(ops_i.state),
    .new_i      (ops_i.new_ticket),
    .new_read_i (post_i.is_read),
    .new_queue_i(queue_i),
    .set_print_i(print_i),
    .grant_i    (granted_i),
    .grant_idx_i(granted_idx_i),
    .finish_i   (finish),
    .freed_i    (freed),
    .cid_i      (ret_i.cid[CID_W-1:0]),
    .left_o     (left_o),
    .left_idx_o (left_idx_o),
    .error_i,
    .error_cid_i,
    .idx_i      (idx_i),
    .state_o    (known_o.state),
    .is_read_o  (known_o.is_read),
    .queue_o    (of_queue_o),
    .cid_o      (cid_o),
    .failed_o   (known_o.failed),
    .print_i    (print_i),
    .asked_o    (asked_o),
    .open_i     (open),
    .watched_o  (watched_o),
    .busy_o     (busy_o)
  );

  assign kept_new_o    = '{tag: post_i.tag, address: post_i.address[ADDR_W-1:0], bytes: post_i.bytes, rkey: post_i.rkey, node: post_i.node[NODE_W-1:0],
                         remote_addr: post_i.remote_addr[ADDR_W-1:0], remote_rkey: post_i.remote_rkey, number: number_q};
  assign message_new = '{src: hdr_i.src[NODE_W-1:0], sid: hdr_i.sid[SID_W-1:0], msgid: hdr_i.msgid[MSGID_W-1:0], bytes: hdr_i.pidx,
                         immediate: immediate_i};

  ram_sdp #(.DEPTH(N_TICKETS), .WIDTH($bits(kept_t))) i_kept (
    .clk_i, .we_i(ops_i.new_ticket), .waddr_i(idx_i), .wdata_i(kept_new_o), .re_i(step_i.read), .raddr_i(idx_i), .rdata_o(kept_o)
  );
  ram_sdp #(.DEPTH(N_TICKETS), .WIDTH($bits(message_t))) i_messages (
    .clk_i, .we_i(ops_i.take), .waddr_i(idx_i), .wdata_i(message_new), .re_i(step_i.read), .raddr_i(idx_i), .rdata_o(message_o)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) number_q <= '0;
    else if (number_load_i) number_q <= number_i;
    else if (ops_i.ask && ops_i.new_ticket) number_q <= number_q + 1'b1;
    if (step_i.data) over_quota_o <= quota_i != '0 && 16'(held) >= quota_i;
  end

  logic unused;
  assign unused = ^{ops_i, hdr_i, post_i, ret_i, step_i};

  `ASSERT(FirstOfListWaits, !ops_i.pop || (known_o.state == TICKET_WAITING && !known_o.is_read))
endmodule

// SPDX-License-Identifier: Apache-2.0
// Requests of the host queues as posts of the engine and of its inbox: checks that the owner may use the local bytes, gives each request a tag, and makes
// of the completion of engine or inbox that of the queue (docs/rdma_queues.md, Requests).
//
// A request takes four clocks and then waits for engine or inbox, or for its error completion to be taken; a completion takes three clocks.
`include "weft_assert.svh"

module rdma_requests
  import rdma_queues_pkg::*;
  import rdma_queues_formats_pkg::*;
#(
  parameter int unsigned N_REQUESTS = 1024,  // that engine and inbox may have, a power of two from 2 to 65536
  parameter int unsigned N_TICKETS  = 0,     // READs and RECVs that may wait in the inbox; 0: there are none
  parameter int unsigned PAYLOAD    = 256,
  parameter int unsigned ADDR_W     = 48,
  parameter int unsigned N_REGIONS  = 64,
  localparam int unsigned BASE_W    = ADDR_W - $clog2(PAYLOAD),
  localparam int unsigned OFFSET_W  = rdma_pkg::offset_bits(BASE_W)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // a region as it is set
  input  logic                  region_set_i,
  input  logic [           7:0] region_idx_i,
  input  logic                  region_valid_i,   // not empty
  input  logic                  region_local_i,
  input  logic [           7:0] region_owner_i,
  input  logic [          15:0] region_key_i,
  input  logic [    BASE_W-1:0] region_base_i,
  input  logic [  OFFSET_W-1:0] region_last_i,
  // host queues
  input  logic                  req_valid_i,
  output logic                  req_ready_o,
  input  request_t              req_i,
  output logic                  out_valid_o,
  input  logic                  out_ready_i,
  output outcome_t              out_o,
  // engine: WRITE, WRITE_IMM, SEND
  output logic                  post_valid_o,
  input  logic                  post_ready_i,
  output rdma_pkg::post_t       post_o,
  input  logic                  cpl_valid_i,
  output logic                  cpl_ready_o,
  input  rdma_pkg::completion_t cpl_i,
  // inbox: READ, RECV
  output logic                         ticket_post_valid_o,
  input  logic                         ticket_post_ready_i,
  output rdma_pkg::ticket_post_t       ticket_post_o,
  input  logic                         ticket_cpl_valid_i,
  output logic                         ticket_cpl_ready_o,
  input  rdma_pkg::ticket_completion_t ticket_cpl_i,
  // one record a request: it was checked by the regions as set up to two clocks ago
  output logic                  trace_valid_o,
  output logic [           7:0] trace_status_o
);
  localparam int unsigned TAG_W = $clog2(N_REQUESTS);

  if (N_REQUESTS < 2 || N_REQUESTS > 65536 || (N_REQUESTS & (N_REQUESTS - 1)) != 0) begin : g_bad_requests
    $error("N_REQUESTS must be a power of two from 2 to 65536, is %0d", N_REQUESTS);
  end
  // Tickets wait as long as peers like: they must leave tags for others, with one for a post that finds no ticket.
  if (N_TICKETS != 0 && N_REQUESTS <= N_TICKETS + 1) begin : g_few_requests
    $error("N_REQUESTS (%0d) must be more than N_TICKETS (%0d) + 1", N_REQUESTS, N_TICKETS);
  end

  typedef logic [TAG_W-1:0] tag_t;

  // What makes a completion of engine or inbox that of its queue.
  typedef struct packed {
    queue_t      qid;
    logic        signal;
    logic [63:0] tag;
    logic [31:0] bytes;
    logic [31:0] node;
    logic [7:0]  opcode;
  } entry_t;

  // What the inbox says of the message; and a completion of engine or inbox.
  typedef struct packed {
    logic [15:0] node;
    logic        imm_form;
    logic [31:0] bytes;
    logic        has_imm;
    logic [31:0] imm;
  } came_t;
  typedef struct packed {
    logic        of_ticket;
    logic [15:0] tag;
    logic [7:0]  status;
    came_t       came;
  } done_t;

  function automatic outcome_t outcome_of(entry_t entry, logic [7:0] status);
    return '{
        qid: entry.qid,
        signal: entry.signal,
        tag: entry.tag,
        bytes: status == '0 ? entry.bytes : '0,
        immediate: '0,
        has_immediate: 1'b0,
        node: entry.node,
        status: status,
        opcode: entry.opcode
    };
  endfunction

  // Of a RECV: what came for it, and from whom.
  function automatic outcome_t outcome_of_ticket(entry_t entry, logic [7:0] status, came_t came);
    outcome_t outcome;
    outcome       = outcome_of(entry, status);
    outcome.bytes = came.bytes;
    if (entry.opcode == OPCODE_RECV) begin
      outcome.node          = 32'(came.node);
      outcome.has_immediate = came.has_imm;
      outcome.immediate     = came.has_imm ? came.imm : '0;
      if (status == rdma_formats_pkg::STATUS_OK || status == rdma_formats_pkg::STATUS_LOCAL_ERROR) begin
        outcome.opcode = came.imm_form ? OPCODE_RECEIVE_IMM : OPCODE_RECEIVE;
      end
    end
    return outcome;
  endfunction

  // ------------------------------------------------------------------------------------------------- take a request and check it
  typedef enum logic [2:0] {
    S_IDLE,
    S_LOOK,     // the region is being read
    S_COMPARE,
    S_JUDGED,   // the status is there
    S_POST,
    S_TICKET,
    S_REFUSE
  } step_e;

  step_e      step_q;
  request_t   request_q;
  logic       regions_ready, tag_valid, refuse_valid, refuse_ready, accepted, ticket_q, has_imm;
  tag_t       tag;
  logic [7:0] local_status, status, status_q;
  entry_t     entry;

  assign req_ready_o = step_q == S_IDLE && regions_ready && tag_valid;

  rdma_local_check #(
    .PAYLOAD  (PAYLOAD),
    .ADDR_W   (ADDR_W),
    .N_REGIONS(N_REGIONS)
  ) i_check (
    .clk_i,
    .rst_ni,
    .ready_o       (regions_ready),
    .region_set_i,
    .region_idx_i,
    .region_valid_i,
    .region_local_i,
    .region_owner_i,
    .region_key_i,
    .region_base_i,
    .region_last_i,
    .buffer_i      (is_ticket(req_i.entry.opcode)),
    .owner_i       (req_i.owner),
    .key_i         (req_i.entry.local_key),
    .addr_i        (req_i.entry.local_addr),
    .bytes_i       (req_i.entry.bytes),
    .status_o      (local_status)
  );

  // A key of the peer that is too wide is one that no peer has.
  always_comb begin : p_status
    status = local_status;
    if (local_status == '0 && request_q.entry.remote_key[31:24] != '0) status = rdma_formats_pkg::STATUS_BAD_KEY;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) step_q <= S_IDLE;
    else begin
      unique case (step_q)
        S_IDLE:    if (req_valid_i && req_ready_o) step_q <= S_LOOK;
        S_LOOK:    step_q <= S_COMPARE;
        S_COMPARE: step_q <= S_JUDGED;
        S_JUDGED:  step_q <= status != '0 ? S_REFUSE : ticket_q ? S_TICKET : S_POST;
        S_POST:    if (post_ready_i) step_q <= S_IDLE;
        S_TICKET:  if (ticket_post_ready_i) step_q <= S_IDLE;
        default:   if (refuse_ready) step_q <= S_IDLE;
      endcase
    end
    if (step_q == S_IDLE) begin
      request_q <= req_i;
      ticket_q  <= is_ticket(req_i.entry.opcode);
    end
    if (step_q == S_JUDGED) status_q <= status;
  end

  assign entry = '{
          qid: request_q.qid,
          signal: (request_q.entry.flags & FLAG_SIGNAL) != '0,
          tag: request_q.entry.tag,
          bytes: request_q.entry.bytes,
          node: request_q.entry.node,
          opcode: request_q.entry.opcode
      };
  assign has_imm = request_q.entry.opcode == OPCODE_WRITE_IMM ||
                   (request_q.entry.opcode == OPCODE_SEND && (request_q.entry.flags & FLAG_IMM) != '0);
  assign post_o = '{
          origin: rdma_pkg::ORIGIN_QUEUES,
          to: request_q.entry.opcode == OPCODE_SEND ? rdma_pkg::TO_QUEUE : rdma_pkg::TO_REGION,
          has_imm: has_imm,
          imm: has_imm ? request_q.entry.immediate : '0,
          rkey: request_q.entry.remote_key[23:0],
          tag: 16'(tag),
          node: request_q.entry.node,
          bytes: request_q.entry.bytes,
          dst_addr: request_q.entry.remote_addr,
          src_addr: request_q.entry.local_addr
      };
  assign ticket_post_o = '{
          is_read: request_q.entry.opcode == OPCODE_READ,
          qid: 8'(request_q.qid),
          tag: 16'(tag),
          address: request_q.entry.local_addr,
          bytes: request_q.entry.bytes,
          rkey: request_q.entry.local_key[23:0],
          node: request_q.entry.node,
          remote_addr: request_q.entry.remote_addr,
          remote_rkey: request_q.entry.remote_key[23:0]
      };
  assign post_valid_o        = step_q == S_POST;
  assign ticket_post_valid_o = step_q == S_TICKET;
  assign refuse_valid        = step_q == S_REFUSE;
  assign accepted            = (post_valid_o && post_ready_i) || (ticket_post_valid_o && ticket_post_ready_i);
  assign trace_valid_o       = step_q == S_JUDGED;
  assign trace_status_o      = status;

  // ------------------------------------------------------------------------------------------------- completions of engine and inbox, in turn
  logic  any_valid, any_ready;
  done_t of_engine, of_inbox, any_done;

  assign of_engine = '{of_ticket: 1'b0, tag: cpl_i.tag, status: cpl_i.status, came: '0};
  assign of_inbox  = '{
          of_ticket: 1'b1,
          tag: ticket_cpl_i.tag,
          status: ticket_cpl_i.status,
          came: '{
              node: ticket_cpl_i.node,
              imm_form: ticket_cpl_i.imm_form,
              bytes: ticket_cpl_i.bytes,
              has_imm: ticket_cpl_i.has_imm,
              imm: ticket_cpl_i.imm
          }
      };

  stream_arbiter #(
    .N(2),
    .T(done_t)
  ) i_done (
    .clk_i,
    .rst_ni,
    .valid_i({ticket_cpl_valid_i, cpl_valid_i}),
    .ready_o({ticket_cpl_ready_o, cpl_ready_o}),
    .data_i ('{of_engine, of_inbox}),
    .valid_o(any_valid),
    .ready_i(any_ready),
    .data_o (any_done)
  );

  // ------------------------------------------------------------------------------------------------- requests that they have
  logic   done_valid_q, done_ready, take_done;
  tag_t   done_tag;
  entry_t done_entry;
  done_t  done_q;

  free_list #(
    .N(N_REQUESTS)
  ) i_tags (
    .clk_i,
    .rst_ni,
    .ready_o  (),  // valid_o says enough
    .valid_o  (tag_valid),
    .id_o     (tag),
    .pop_i    (accepted),
    .push_i   (take_done),
    .push_id_i(done_tag),
    .count_o  ()   // not needed
  );

  ram_sdp #(
    .DEPTH(N_REQUESTS),
    .WIDTH($bits(entry_t))
  ) i_entries (
    .clk_i,
    .we_i   (accepted),
    .waddr_i(tag),
    .wdata_i(entry),
    .re_i   (take_done),
    .raddr_i(done_tag),
    .rdata_o(done_entry)
  );

  assign done_tag  = tag_t'(any_done.tag);
  assign any_ready = !done_valid_q || done_ready;
  assign take_done = any_valid && any_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) done_valid_q <= 1'b0;
    else if (any_ready) done_valid_q <= any_valid;
    if (take_done) done_q <= any_done;
  end

  outcome_t done_outcome;
  assign done_outcome = done_q.of_ticket ? outcome_of_ticket(done_entry, done_q.status, done_q.came) : outcome_of(done_entry, done_q.status);

  stream_arbiter #(
    .N(2),
    .T(outcome_t)
  ) i_outcomes (
    .clk_i,
    .rst_ni,
    .valid_i({refuse_valid, done_valid_q}),
    .ready_o({refuse_ready, done_ready}),
    .data_i ('{done_outcome, outcome_of(entry, status_q)}),
    .valid_o(out_valid_o),
    .ready_i(out_ready_i),
    .data_o (out_o)
  );

  // ------------------------------------------------------------------------------------------------- invariants
`ifdef VERILATOR
  // Requests that engine and inbox have: each tag completes once, only if it was posted, and by the one that has it.
  logic [N_REQUESTS-1:0] posted_q, ticket_posted_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) posted_q <= '0;
    else begin
      if (accepted) posted_q[tag] <= 1'b1;
      if (accepted) ticket_posted_q[tag] <= ticket_q;
      if (take_done) posted_q[done_tag] <= 1'b0;
    end
  end
  `ASSERT(TagCompletesOnce, !take_done || (posted_q[done_tag] && 17'(any_done.tag) < 17'(N_REQUESTS) && ticket_posted_q[done_tag] == any_done.of_ticket))
  `ASSERT(TagIsFree, !accepted || (tag_valid && !posted_q[tag]))
  `ASSERT(PostStable, post_valid_o && !post_ready_i |=> post_valid_o && $stable(post_o))
  `ASSERT(TicketPostStable, ticket_post_valid_o && !ticket_post_ready_i |=> ticket_post_valid_o && $stable(ticket_post_o))
  `ASSERT(TicketCompletionStable, ticket_cpl_valid_i && !ticket_cpl_ready_o |=> ticket_cpl_valid_i && $stable(ticket_cpl_i))
`endif
  `ASSERT(CompletionIsOfAQueue, !cpl_valid_i || cpl_i.origin == rdma_pkg::ORIGIN_QUEUES)

  `ASSERT(TicketPostHasTicket, !ticket_post_valid_o || N_TICKETS != 0)

  logic unused;
  assign unused = ^{request_q, cpl_i, ticket_cpl_i, done_q};  // fields that the engine has no use for
endmodule

// SPDX-License-Identifier: Apache-2.0
// Requests of the host queues as posts of the engine: checks that the owner may use the local bytes, gives each request a tag of the engine, and makes of
// the engine's completion that of the queue (docs/rdma_queues.md, Requests).
//
// A request takes four clocks and then waits for the engine, or for its error completion to be taken; a completion takes two clocks.
`include "weft_assert.svh"

module rdma_requests
  import rdma_queues_pkg::*;
  import rdma_queues_formats_pkg::*;
#(
  parameter int unsigned N_REQUESTS = 1024,  // that the engine may have, a power of two from 2 to 65536
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
  // engine
  output logic                  post_valid_o,
  input  logic                  post_ready_i,
  output rdma_pkg::post_t       post_o,
  input  logic                  cpl_valid_i,
  output logic                  cpl_ready_o,
  input  rdma_pkg::completion_t cpl_i,
  // one record a request: it was checked by the regions as set up to two clocks ago
  output logic                  trace_valid_o,
  output logic [           7:0] trace_status_o
);
  localparam int unsigned TAG_W = $clog2(N_REQUESTS);

  if (N_REQUESTS < 2 || N_REQUESTS > 65536 || (N_REQUESTS & (N_REQUESTS - 1)) != 0) begin : g_bad_requests
    $error("N_REQUESTS must be a power of two from 2 to 65536, is %0d", N_REQUESTS);
  end

  typedef logic [TAG_W-1:0] tag_t;

  // What makes a completion of the engine that of its queue.
  typedef struct packed {
    queue_t      qid;
    logic        signal;
    logic [63:0] tag;
    logic [31:0] bytes;
    logic [31:0] node;
    logic [7:0]  opcode;
  } entry_t;

  function automatic outcome_t outcome_of(entry_t entry, logic [7:0] status);
    return '{
        qid: entry.qid,
        signal: entry.signal,
        tag: entry.tag,
        bytes: status == '0 ? entry.bytes : '0,
        immediate: '0,
        node: entry.node,
        status: status,
        opcode: entry.opcode
    };
  endfunction

  // ------------------------------------------------------------------------------------------------- take a request and check it
  typedef enum logic [2:0] {
    S_IDLE,
    S_LOOK,     // the region is being read
    S_COMPARE,
    S_JUDGED,   // the status is there
    S_POST,
    S_REFUSE
  } step_e;

  step_e      step_q;
  request_t   request_q;
  logic       regions_ready, tag_valid, refuse_valid, refuse_ready, accepted;
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
    .region_local_i,
    .region_owner_i,
    .region_key_i,
    .region_base_i,
    .region_last_i,
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
        S_JUDGED:  step_q <= status == '0 ? S_POST : S_REFUSE;
        S_POST:    if (post_ready_i) step_q <= S_IDLE;
        default:   if (refuse_ready) step_q <= S_IDLE;
      endcase
    end
    if (step_q == S_IDLE) request_q <= req_i;
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
  assign post_o = '{
          origin: rdma_pkg::ORIGIN_QUEUES,
          to: rdma_pkg::TO_REGION,
          has_imm: 1'b0,
          imm: '0,
          rkey: request_q.entry.remote_key[23:0],
          tag: 16'(tag),
          node: request_q.entry.node,
          bytes: request_q.entry.bytes,
          dst_addr: request_q.entry.remote_addr,
          src_addr: request_q.entry.local_addr
      };
  assign post_valid_o   = step_q == S_POST;
  assign refuse_valid   = step_q == S_REFUSE;
  assign accepted       = post_valid_o && post_ready_i;
  assign trace_valid_o  = step_q == S_JUDGED;
  assign trace_status_o = status;

  // ------------------------------------------------------------------------------------------------- requests that the engine has
  logic   done_valid_q, done_ready, take_done;
  tag_t   done_tag;
  entry_t done_entry;
  logic [7:0] done_status_q;

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

  assign done_tag    = tag_t'(cpl_i.tag);
  assign cpl_ready_o = !done_valid_q || done_ready;
  assign take_done   = cpl_valid_i && cpl_ready_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) done_valid_q <= 1'b0;
    else if (cpl_ready_o) done_valid_q <= cpl_valid_i;
    if (take_done) done_status_q <= cpl_i.status;
  end

  stream_arbiter #(
    .N(2),
    .T(outcome_t)
  ) i_outcomes (
    .clk_i,
    .rst_ni,
    .valid_i({refuse_valid, done_valid_q}),
    .ready_o({refuse_ready, done_ready}),
    .data_i ('{outcome_of(done_entry, done_status_q), outcome_of(entry, status_q)}),
    .valid_o(out_valid_o),
    .ready_i(out_ready_i),
    .data_o (out_o)
  );

  // ------------------------------------------------------------------------------------------------- invariants
`ifdef VERILATOR
  // Requests that the engine has: each tag completes once, and only if it was posted.
  logic [N_REQUESTS-1:0] posted_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) posted_q <= '0;
    else begin
      if (accepted) posted_q[tag] <= 1'b1;
      if (take_done) posted_q[done_tag] <= 1'b0;
    end
  end
  `ASSERT(TagCompletesOnce, !take_done || (posted_q[done_tag] && 17'(cpl_i.tag) < 17'(N_REQUESTS)))
  `ASSERT(TagIsFree, !accepted || (tag_valid && !posted_q[tag]))
  `ASSERT(PostStable, post_valid_o && !post_ready_i |=> post_valid_o && $stable(post_o))
`endif
  `ASSERT(CompletionIsOfAQueue, !cpl_valid_i || cpl_i.origin == rdma_pkg::ORIGIN_QUEUES)

  logic unused;
  assign unused = ^{request_q, cpl_i};  // fields that the engine has no use for
endmodule

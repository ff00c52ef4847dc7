// SPDX-License-Identifier: Apache-2.0
// Judges submission entries: a good one goes to the engine, a malformed one ends in an error completion, one that was not read or whose queue is
// disabled is dropped. Counts them for each queue.
//
// Latency: two clocks. An entry a clock. In a live queue an entry judged is an entry accepted, whatever becomes of the queue then.
`include "weft_assert.svh"

module rdma_sq_check
  import rdma_queues_pkg::*;
  import rdma_queues_formats_pkg::*;
#(
  parameter int unsigned       N_QUEUES = 8,
  parameter logic        [15:0] OPCODES  = opcodes_of(1'b0)  // bit i: opcode i is accepted
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                cfg_we_i,
  input  queue_t              cfg_queue_i,
  input  queue_cfg_t          cfg_i,
  input  logic [N_QUEUES-1:0] off_i,
  input  logic [N_QUEUES-1:0] live_i,
  // entries read
  input  logic                entry_valid_i,
  output logic                entry_ready_o,
  input  queue_t              entry_queue_i,
  input  logic                entry_bad_i,
  input  submission_t         entry_i,
  // requests accepted
  output logic                req_valid_o,
  input  logic                req_ready_i,
  output request_t            req_o,
  // error completions
  output logic                reject_valid_o,
  input  logic                reject_ready_i,
  output outcome_t            reject_o,
  output index_t              head_o   [N_QUEUES],  // entries taken
  output index_t              dropped_o[N_QUEUES],
  output index_t              spared_o [N_QUEUES],  // entries that are no request of the sender, or were not taken
  output logic [N_QUEUES-1:0] spare_o,              // which goes up with this clock
  // one record an entry
  output logic                trace_valid_o,
  output queue_t              trace_queue_o,
  output verdict_e            trace_verdict_o
);
  localparam int unsigned IDX_W = $clog2(N_QUEUES);
  typedef logic [IDX_W-1:0] idx_t;

  // ------------------------------------------------------------------------------------------------- look
  logic        valid_q, bad_q, known_q, clean_q, of_sender_q;
  queue_t      queue_q;
  submission_t entry_q;
  logic [7:0]  owner;
  logic        take, go;

  assign entry_ready_o = !valid_q || go;
  assign take          = entry_valid_i && entry_ready_o;

  // What must be zero and is not.
  logic reserved, imm, remote_addr, remote;
  assign reserved    = (entry_i.flags & ~FLAG_ALL) != '0 || entry_i.reserved0 != '0 || entry_i.reserved1 != '0 || entry_i.reserved2 != '0;
  assign imm         = (entry_i.flags & FLAG_IMM) != '0 && entry_i.opcode != OPCODE_SEND;
  assign remote_addr = entry_i.remote_addr != '0 && (entry_i.opcode == OPCODE_SEND || entry_i.opcode == OPCODE_RECV);
  assign remote      = (entry_i.node != '0 || entry_i.remote_key != '0) && entry_i.opcode == OPCODE_RECV;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (entry_ready_o) valid_q <= entry_valid_i;
    if (take) begin
      queue_q <= entry_queue_i;
      bad_q   <= entry_bad_i;
      entry_q <= entry_i;
      known_q <= entry_i.opcode < 8'd16 && OPCODES[entry_i.opcode[3:0]];
      clean_q <= !(reserved || imm || remote_addr || remote);

      of_sender_q <= is_of_sender(entry_i.opcode);
    end
  end

  ram_sdp #(
    .DEPTH(N_QUEUES),
    .WIDTH(8)
  ) i_owners (
    .clk_i,
    .we_i   (cfg_we_i),
    .waddr_i(idx_t'(cfg_queue_i)),
    .wdata_i(cfg_i.owner),
    .re_i   (take),
    .raddr_i(idx_t'(entry_queue_i)),
    .rdata_o(owner)
  );

  // ------------------------------------------------------------------------------------------------- judge
  verdict_e verdict;
  logic     req_ready, reject_ready, spared;
  outcome_t reject;

  always_comb begin : p_verdict
    if (bad_q || !live_i[idx_t'(queue_q)]) verdict = VERDICT_DROPPED;
    else if (known_q && clean_q) verdict = VERDICT_ACCEPTED;
    else verdict = VERDICT_REJECTED;
  end

  assign go     = valid_q && req_ready && reject_ready;
  assign spared = verdict == VERDICT_DROPPED || !of_sender_q;

  assign reject = '{
          qid: queue_q,
          signal: 1'b0,
          tag: entry_q.tag,
          bytes: '0,
          immediate: '0,
          has_immediate: 1'b0,
          node: entry_q.node,
          status: known_q ? QUEUE_STATUS_BAD_ENTRY : QUEUE_STATUS_BAD_OPCODE,
          opcode: entry_q.opcode
      };

  sync_fifo #(
    .DEPTH(2),
    .T    (request_t)
  ) i_requests (
    .clk_i,
    .rst_ni,
    .valid_i(go && verdict == VERDICT_ACCEPTED),
    .ready_o(req_ready),
    .data_i ('{qid: queue_q, owner: owner, entry: entry_q}),
    .valid_o(req_valid_o),
    .ready_i(req_ready_i),
    .data_o (req_o),
    .count_o()
  );

  sync_fifo #(
    .DEPTH(2),
    .T    (outcome_t)
  ) i_rejects (
    .clk_i,
    .rst_ni,
    .valid_i(go && verdict == VERDICT_REJECTED),
    .ready_o(reject_ready),
    .data_i (reject),
    .valid_o(reject_valid_o),
    .ready_i(reject_ready_i),
    .data_o (reject_o),
    .count_o()
  );

  for (genvar q = 0; q < int'(N_QUEUES); q++) begin : gen_queue
    logic judged;
    assign judged     = go && idx_t'(queue_q) == idx_t'(q);
    assign spare_o[q] = judged && spared;
    always_ff @(posedge clk_i) begin
      if (!rst_ni || off_i[q]) begin
        head_o[q]    <= '0;
        dropped_o[q] <= '0;
        spared_o[q]  <= '0;
      end else if (judged) begin
        if (verdict == VERDICT_DROPPED) dropped_o[q] <= dropped_o[q] + 1'b1;
        else head_o[q] <= head_o[q] + 1'b1;
        if (spared) spared_o[q] <= spared_o[q] + 1'b1;
      end
    end
    `ASSERT(OffIsClean, !(off_i[q] && valid_q && idx_t'(queue_q) == idx_t'(q)))
  end

  logic unused;
  assign unused = ^{cfg_i, cfg_queue_i};

  assign trace_valid_o   = go;
  assign trace_queue_o   = queue_q;
  assign trace_verdict_o = verdict;

`ifdef VERILATOR
  `ASSERT(RequestStable, req_valid_o && !req_ready_i |=> req_valid_o && $stable(req_o))
  `ASSERT(RejectStable, reject_valid_o && !reject_ready_i |=> reject_valid_o && $stable(reject_o))
`endif
endmodule

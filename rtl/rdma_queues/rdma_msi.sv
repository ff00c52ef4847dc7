// SPDX-License-Identifier: Apache-2.0
// Interrupts of the queues: when armed and moderation allows, a message or the level line, once an arming
// (docs/rdma_queues.md, Interrupts).
//
// Visits the armed queues round robin, four clocks each. Looks at indices, not at events, so that a completion before the arming counts as well.
`include "weft_assert.svh"

module rdma_msi
  import rdma_queues_pkg::*;
  import rdma_queues_formats_pkg::*;
#(
  parameter int unsigned N_QUEUES = 8,
  parameter int unsigned DATA_W   = 256,
  parameter int unsigned ADDR_W   = 48
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                cfg_we_i,         // clears the moderation, too
  input  queue_t              cfg_queue_i,
  input  queue_cfg_t          cfg_i,
  input  logic                mod_we_i,         // moderation of a queue
  input  queue_t              mod_queue_i,
  input  logic [15:0]         mod_count_i,      // completions
  input  logic [15:0]         mod_time_i,       // ticks
  input  logic [15:0]         tick_cycles_i,
  input  logic [N_QUEUES-1:0] live_i,
  input  logic [N_QUEUES-1:0] error_i,          // queue is in ERROR
  input  index_t              retired_i[N_QUEUES],
  input  index_t              cq_head_i[N_QUEUES],
  input  logic                retired_valid_i,
  input  retired_t            retired_event_i,
  // CQ_HEAD: cq_head_i has the new value in the next clock
  input  logic                bell_valid_i,
  input  queue_t              bell_queue_i,
  input  logic                bell_arm_i,
  output logic [N_QUEUES-1:0] armed_o,
  output logic [N_QUEUES-1:0] pending_o,        // raise the level line
  output logic [N_QUEUES-1:0] busy_o,           // message under way
  output logic                failed_o,         // a message was answered with an error
  output logic                irq_o,
  // one record an interrupt
  output logic                trace_valid_o,
  output queue_t              trace_queue_o,
  // AXI4 write channels
  output logic [  ADDR_W-1:0] m_axi_awaddr_o,
  output logic [         7:0] m_axi_awlen_o,
  output logic                m_axi_awvalid_o,
  input  logic                m_axi_awready_i,
  output logic [  DATA_W-1:0] m_axi_wdata_o,
  output logic [DATA_W/8-1:0] m_axi_wstrb_o,
  output logic                m_axi_wlast_o,
  output logic                m_axi_wvalid_o,
  input  logic                m_axi_wready_i,
  input  logic [         1:0] m_axi_bresp_i,
  input  logic                m_axi_bvalid_i,
  output logic                m_axi_bready_o
);
  localparam int unsigned IDX_W   = $clog2(N_QUEUES);
  localparam int unsigned WORDS   = DATA_W / 32;
  localparam int unsigned STAMP_W = 17;  // twice the longest time

  typedef logic [IDX_W-1:0]   idx_t;
  typedef logic [STAMP_W-1:0] stamp_t;
  typedef struct packed {
    irq_kind_e   irq;
    logic [61:0] msi_word;
    logic [31:0] msi_data;
  } target_t;
  typedef struct packed {
    logic [15:0] ticks;
    logic [15:0] count;
  } moderation_t;
  typedef enum logic [2:0] {
    PICK,
    READ,
    SUBTRACT,
    DECIDE,
    SEND,
    ANSWER
  } step_e;

  // ------------------------------------------------------------------------------------------------- time
  logic [15:0] cycle_q;
  stamp_t      now_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cycle_q <= '0;
      now_q   <= '0;
    end else if (cycle_q + 16'd1 >= tick_cycles_i) begin
      cycle_q <= '0;
      now_q   <= now_q + 1'b1;
    end else begin
      cycle_q <= cycle_q + 16'd1;
    end
  end

  // ------------------------------------------------------------------------------------------------- a visit
  step_e               step_q;
  idx_t                queue_q, picked;
  logic [N_QUEUES-1:0] picked_one, armed_q, urgent_q, aging_q, pending_q;
  stamp_t              since_q[N_QUEUES];  // when the first unseen completion was noticed, if aging
  logic                any_armed, judging;
  logic                void_q;             // the doorbell rang, moderation changed or the queue stopped during the visit
  logic                noted_q;            // an urgent completion came during the visit
  logic                bell_here, note_here;
  logic                addr_taken_q, data_taken_q, sent;  // of the message

  rr_arbiter #(
    .N(N_QUEUES)
  ) i_turns (
    .clk_i,
    .rst_ni,
    .req_i  (armed_q & live_i),
    .take_i (step_q == PICK),
    .valid_o(any_armed),
    .gnt_o  (picked_one),
    .idx_o  (picked)
  );

  assign judging   = step_q == READ || step_q == SUBTRACT || step_q == DECIDE;
  assign bell_here = (bell_valid_i && idx_t'(bell_queue_i) == queue_q) || (mod_we_i && idx_t'(mod_queue_i) == queue_q);
  assign note_here = retired_valid_i && retired_event_i.urgent && idx_t'(retired_event_i.qid) == queue_q;

  target_t     target, target_q;  // out of the RAMs, and registered
  moderation_t moderation, moderation_q;
  ram_sdp #(
    .DEPTH(N_QUEUES),
    .WIDTH($bits(target_t))
  ) i_targets (
    .clk_i,
    .we_i   (cfg_we_i),
    .waddr_i(idx_t'(cfg_queue_i)),
    .wdata_i({cfg_i.irq, cfg_i.msi_word, cfg_i.msi_data}),
    .re_i   (step_q == READ),
    .raddr_i(queue_q),
    .rdata_o(target)
  );

  ram_sdp #(
    .DEPTH(N_QUEUES),
    .WIDTH($bits(moderation_t))
  ) i_moderation (
    .clk_i,
    .we_i   (cfg_we_i || mod_we_i),
    .waddr_i(cfg_we_i ? idx_t'(cfg_queue_i) : idx_t'(mod_queue_i)),
    .wdata_i(cfg_we_i ? '0 : {mod_time_i, mod_count_i}),
    .re_i   (step_q == READ),
    .raddr_i(queue_q),
    .rdata_o(moderation)
  );

  index_t retired_q, cq_head_q, unseen_q;
  stamp_t since_here_q, elapsed_q;
  logic   urgent_here_q, aging_here_q, none_unseen, due, fire, decide;

  always_ff @(posedge clk_i) begin
    if (step_q == READ) begin
      retired_q     <= retired_i[queue_q];
      cq_head_q     <= cq_head_i[queue_q];
      since_here_q  <= since_q[queue_q];
      aging_here_q  <= aging_q[queue_q];
      urgent_here_q <= urgent_q[queue_q];
    end
    if (step_q == SUBTRACT) begin
      unseen_q     <= retired_q - cq_head_q;
      elapsed_q    <= now_q - since_here_q;
      target_q     <= target;
      moderation_q <= moderation;
    end
  end

  assign none_unseen = unseen_q == '0;
  assign due         = urgent_here_q || unseen_q >= moderation_q.count || moderation_q.ticks == '0 ||
                       (aging_here_q && elapsed_q >= STAMP_W'(moderation_q.ticks));
  assign decide      = step_q == DECIDE && !void_q && !bell_here && live_i[queue_q];
  assign fire        = decide && target_q.irq != IRQ_KIND_NONE && (error_i[queue_q] || (!none_unseen && due));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_q  <= PICK;
      void_q  <= 1'b0;
      noted_q <= 1'b0;
    end else begin
      unique case (step_q)
        PICK:     if (any_armed) step_q <= READ;
        READ:     step_q <= SUBTRACT;
        SUBTRACT: step_q <= DECIDE;
        DECIDE:   step_q <= fire && target_q.irq == IRQ_KIND_MESSAGE ? SEND : PICK;
        SEND:     if (sent) step_q <= ANSWER;
        default:  if (m_axi_bvalid_i) step_q <= PICK;
      endcase
      void_q  <= judging && (void_q || bell_here || !live_i[queue_q]);
      noted_q <= judging && (noted_q || note_here);
    end
    if (step_q == PICK) queue_q <= picked;
  end

  // ------------------------------------------------------------------------------------------------- state of the queues
  for (genvar q = 0; q < int'(N_QUEUES); q++) begin : gen_queue
    logic bell, note, here, forget;
    assign bell   = bell_valid_i && idx_t'(bell_queue_i) == idx_t'(q);
    assign note   = retired_valid_i && retired_event_i.urgent && idx_t'(retired_event_i.qid) == idx_t'(q);
    assign here   = queue_q == idx_t'(q);
    assign forget = here && decide && (fire || (none_unseen && !noted_q));
    always_ff @(posedge clk_i) begin
      if (!rst_ni || !live_i[q]) begin
        armed_q[q]   <= 1'b0;
        urgent_q[q]  <= 1'b0;
        aging_q[q]   <= 1'b0;
        pending_q[q] <= 1'b0;
      end else begin
        if (bell && bell_arm_i) armed_q[q] <= 1'b1;
        else if (here && fire) armed_q[q] <= 1'b0;
        urgent_q[q] <= (urgent_q[q] && !forget) || note;
        if (bell || (here && fire)) aging_q[q] <= 1'b0;
        else if (here && decide) aging_q[q] <= !none_unseen;
        if (bell) pending_q[q] <= 1'b0;
        else if (here && fire && target_q.irq == IRQ_KIND_LEVEL) pending_q[q] <= 1'b1;
      end
      if (here && decide && !aging_here_q) since_q[q] <= now_q;
    end
    assign busy_o[q] = here && (step_q == SEND || step_q == ANSWER);
  end

  assign armed_o       = armed_q & live_i;
  assign pending_o     = pending_q & live_i;
  assign trace_valid_o = fire;
  assign trace_queue_o = queue_t'(queue_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) irq_o <= 1'b0;
    else irq_o <= pending_o != '0;
  end

  // ------------------------------------------------------------------------------------------------- the message
  localparam int unsigned WORD_W = $clog2(WORDS);

  assign sent            = (addr_taken_q || m_axi_awready_i) && (data_taken_q || m_axi_wready_i);
  assign m_axi_awvalid_o = step_q == SEND && !addr_taken_q;
  assign m_axi_awaddr_o  = ADDR_W'({target_q.msi_word, 2'b00});
  assign m_axi_awlen_o   = '0;
  assign m_axi_wvalid_o  = step_q == SEND && !data_taken_q;
  assign m_axi_wdata_o   = {WORDS{target_q.msi_data}};
  assign m_axi_wlast_o   = 1'b1;
  assign m_axi_bready_o  = step_q == ANSWER;
  assign failed_o        = m_axi_bready_o && m_axi_bvalid_i && m_axi_bresp_i[1];
  for (genvar i = 0; i < int'(WORDS); i++) begin : gen_strobes
    assign m_axi_wstrb_o[i*4+:4] = {4{target_q.msi_word[WORD_W-1:0] == WORD_W'(i)}};
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || step_q != SEND) begin
      addr_taken_q <= 1'b0;
      data_taken_q <= 1'b0;
    end else begin
      if (m_axi_awready_i) addr_taken_q <= 1'b1;
      if (m_axi_wready_i) data_taken_q <= 1'b1;
    end
  end

  logic unused;
  assign unused = ^{m_axi_bresp_i[0], picked_one, retired_event_i, cfg_i, cfg_queue_i, mod_queue_i, bell_queue_i};

  `ASSERT(OnlyOwedAnswer, !m_axi_bvalid_i || step_q == SEND || step_q == ANSWER)
  `ASSERT(FiresWhenArmed, !fire || armed_q[queue_q])
  `ASSERT(DoorbellVoids, !(fire && bell_here))
`ifdef VERILATOR
  `ASSERT(MessageAddressStable, m_axi_awvalid_o && !m_axi_awready_i |=> m_axi_awvalid_o && $stable(m_axi_awaddr_o))
  `ASSERT(MessageDataStable, m_axi_wvalid_o && !m_axi_wready_i |=> m_axi_wvalid_o && $stable(m_axi_wdata_o))
`endif
endmodule

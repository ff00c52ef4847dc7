// SPDX-License-Identifier: Apache-2.0
// AXI4-Lite registers of the host queues (docs/rdma_queues_formats.md): the administrator's page and a page of doorbells for each queue.
//
// One access at a time. A write is looked up, judged and applied in three clocks: look, judge, apply; a read is answered three clocks after its address.
`include "weft_assert.svh"

module rdma_queue_regs
  import rdma_queues_pkg::*;
  import rdma_queues_formats_pkg::*;
#(
  parameter int unsigned       N_QUEUES = 8,
  parameter int unsigned       ADDR_W   = 48,
  parameter int unsigned       FETCH    = 4,
  parameter logic        [15:0] OPCODES  = opcodes_of(1'b0),
  localparam int unsigned      AXIL_W   = PAGE_SHIFT + 1 + $clog2(N_QUEUES)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // AXI4-Lite
  input  logic [  AXIL_W-1:0] s_axil_awaddr_i,
  input  logic                s_axil_awvalid_i,
  output logic                s_axil_awready_o,
  input  logic [        31:0] s_axil_wdata_i,
  input  logic [         3:0] s_axil_wstrb_i,
  input  logic                s_axil_wvalid_i,
  output logic                s_axil_wready_o,
  output logic [         1:0] s_axil_bresp_o,
  output logic                s_axil_bvalid_o,
  input  logic                s_axil_bready_i,
  input  logic [  AXIL_W-1:0] s_axil_araddr_i,
  input  logic                s_axil_arvalid_i,
  output logic                s_axil_arready_o,
  output logic [        31:0] s_axil_rdata_o,
  output logic [         1:0] s_axil_rresp_o,
  output logic                s_axil_rvalid_o,
  input  logic                s_axil_rready_i,
  // the queue that a write is for
  output queue_t              queue_o,
  output logic                enable_o,          // with cfg_o
  output logic                disable_o,
  output queue_cfg_t          cfg_o,
  output logic                mod_we_o,
  output logic [15:0]         mod_count_o,
  output logic [15:0]         mod_time_o,
  output logic                bell_valid_o,      // CQ_HEAD
  output logic                bell_arm_o,
  output logic [N_QUEUES-1:0] kick_o,            // a doorbell was accepted
  output logic [15:0]         tick_cycles_o,
  // state of the queues
  output index_t              tail_o    [N_QUEUES],
  output index_t              cq_head_o [N_QUEUES],
  input  queue_state_e        state_i   [N_QUEUES],
  input  logic [1:0]          cause_i   [N_QUEUES],
  input  logic [N_QUEUES-1:0] off_i,
  input  index_t              head_i    [N_QUEUES],
  input  index_t              retired_i [N_QUEUES],
  input  logic [N_QUEUES-1:0] armed_i,
  input  logic [N_QUEUES-1:0] pending_i,
  // events
  input  logic                fetch_error_i,
  input  logic                retired_valid_i,
  input  retired_t            retired_event_i,
  input  logic                msi_failed_i,
  // one record a write: state is looked up with look, changes after apply
  output logic                trace_look_o,
  output logic                trace_apply_o,
  output logic                trace_ok_o
);
  localparam int unsigned IDX_W = $clog2(N_QUEUES);

  typedef logic [IDX_W-1:0]      idx_t;
  typedef logic [AXIL_W-1:0]     axil_t;
  typedef logic [PAGE_SHIFT:0]   reg_t;   // as in the description: pages of queues all look like that of queue 0

  // Page 1 + q is that of queue q.
  function automatic axil_t page_of(axil_t addr);
    return addr >> PAGE_SHIFT;
  endfunction
  function automatic logic is_queue_page(axil_t addr);
    return page_of(addr) != '0;
  endfunction
  function automatic logic page_exists(axil_t addr);
    return 32'(page_of(addr)) <= N_QUEUES;
  endfunction
  function automatic reg_t register_of(axil_t addr);
    return {is_queue_page(addr), addr[PAGE_SHIFT-1:0]};
  endfunction
  function automatic idx_t queue_of(axil_t addr, idx_t chosen);
    return is_queue_page(addr) ? idx_t'(page_of(addr) - 1'b1) : chosen;
  endfunction

  // ------------------------------------------------------------------------------------------------- access
  typedef enum logic [1:0] {
    W_IDLE,
    W_LOOK,
    W_JUDGE,
    W_APPLY
  } write_e;

  write_e      write_q;
  axil_t       waddr_q, raddr_q;
  reg_t        wreg;
  logic [31:0] wdata_q, rdata;
  logic [3:0]  wstrb_q;
  idx_t        wqueue, chosen_q;
  logic        writing, apply, write_ok, is_doorbell, read_look, read_take, read_ok;

  axil_slave #(
    .ADDR_W(AXIL_W)
  ) i_access (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr_i,
    .s_axil_awvalid_i,
    .s_axil_awready_o,
    .s_axil_wdata_i,
    .s_axil_wstrb_i,
    .s_axil_wvalid_i,
    .s_axil_wready_o,
    .s_axil_bresp_o,
    .s_axil_bvalid_o,
    .s_axil_bready_i,
    .s_axil_araddr_i,
    .s_axil_arvalid_i,
    .s_axil_arready_o,
    .s_axil_rdata_o,
    .s_axil_rresp_o,
    .s_axil_rvalid_o,
    .s_axil_rready_i,
    .write_o     (writing),
    .waddr_o     (waddr_q),
    .wdata_o     (wdata_q),
    .wstrb_o     (wstrb_q),
    .write_done_i(write_q == W_APPLY),
    .write_ok_i  (write_ok),
    .read_look_o (read_look),
    .read_take_o (read_take),
    .raddr_o     (raddr_q),
    .rdata_i     (rdata),
    .read_ok_i   (read_ok)
  );

  assign wreg        = register_of(waddr_q);
  assign wqueue      = queue_of(waddr_q, chosen_q);
  assign apply       = write_q == W_APPLY && write_ok;
  assign is_doorbell = page_exists(waddr_q) && (wreg == REG_SQ_TAIL || wreg == REG_CQ_HEAD);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) write_q <= W_IDLE;
    else begin
      unique case (write_q)
        W_IDLE:  if (writing) write_q <= W_LOOK;
        W_LOOK:  write_q <= W_JUDGE;
        W_JUDGE: write_q <= W_APPLY;
        default: write_q <= W_IDLE;
      endcase
    end
  end

  // ------------------------------------------------------------------------------------------------- look and judge
  queue_state_e state_q;
  index_t       tail_q, head_q, cq_head_q, retired_q;  // of the queue that the write is for
  log2_t        size_q, sq_log2_q[N_QUEUES];
  index_t       sq_before_q, sq_after_q;               // entries between submission head and tail
  index_t       cq_taken_q, cq_there_q;                // completion entries that software takes, and could take
  logic [PAGE_SHIFT-1:0] page_low;                     // of both bases: must be zero
  logic [1:0]            msi_low;                      // must be zero, too
  logic         live, tail_ok, cq_head_ok, enable_ok, cfg_ok_q, known, allowed;
  queue_cfg_t   cfg_q;

  // A ring lies within the bus's addresses and is aligned to its size and to 4 KiB.
  function automatic logic good_ring(page_t page, log2_t log2, int unsigned shift);
    logic [63:0] offsets;
    offsets = (64'd1 << (32'(log2) + shift)) - 64'd1;
    return log2 >= log2_t'(LOG2_MIN) && ({page, PAGE_SHIFT'(0)} & offsets) == '0 &&
           (ADDR_W == 64 || page >> (ADDR_W - PAGE_SHIFT) == '0);
  endfunction

  always_ff @(posedge clk_i) begin
    if (write_q == W_LOOK) begin
      state_q   <= state_i[wqueue];
      tail_q    <= tail_o[wqueue];
      head_q    <= head_i[wqueue];
      cq_head_q <= cq_head_o[wqueue];
      retired_q <= retired_i[wqueue];
      size_q    <= sq_log2_q[wqueue];
    end
    if (write_q == W_JUDGE) begin
      sq_before_q <= tail_q - head_q;
      sq_after_q  <= wdata_q[INDEX_W-1:0] - head_q;
      cq_taken_q  <= wdata_q[INDEX_W-1:0] - cq_head_q;
      cq_there_q  <= retired_q - cq_head_q;
      cfg_ok_q    <= good_ring(cfg_q.sq_page, cfg_q.sq_log2, SUBMISSION_SHIFT) &&
                     good_ring(cfg_q.cq_page, cfg_q.cq_log2, COMPLETION_SHIFT) &&
                     page_low == '0 && 32'(cfg_q.irq) <= 32'(IRQ_KIND_MESSAGE) &&
                     (cfg_q.irq != IRQ_KIND_MESSAGE || (msi_low == '0 && (ADDR_W == 64 || cfg_q.msi_word >> (ADDR_W - 2) == '0)));
    end
  end

  assign live       = state_q == QUEUE_STATE_RUN || state_q == QUEUE_STATE_ERROR;
  assign tail_ok    = state_q == QUEUE_STATE_RUN && wdata_q[31:INDEX_W] == '0 &&
                      sq_after_q <= ring_size(size_q) && sq_after_q >= sq_before_q;
  assign cq_head_ok = live && wdata_q[30:INDEX_W] == '0 && cq_taken_q <= cq_there_q;
  assign enable_ok  = state_q == QUEUE_STATE_OFF && cfg_ok_q;

  always_comb begin : p_write_known
    known   = 1'b1;
    allowed = 1'b1;
    unique case (wreg)
      REG_TICK_CYCLES, REG_QUEUE, REG_Q_SQ_BASE_LO, REG_Q_SQ_BASE_HI, REG_Q_CQ_BASE_LO, REG_Q_CQ_BASE_HI, REG_Q_SIZE, REG_Q_OWNER,
      REG_Q_IRQ, REG_Q_MSI_ADDR_LO, REG_Q_MSI_ADDR_HI, REG_Q_MSI_DATA, REG_Q_KEY, REG_Q_QUOTA: ;
      REG_Q_CTL:      allowed = wdata_q == 32'd1 ? enable_ok : wdata_q == 32'd0 && live;
      REG_SQ_TAIL:    allowed = tail_ok;
      REG_CQ_HEAD:    allowed = cq_head_ok;
      REG_MODERATION: allowed = live;
      default:        known = 1'b0;
    endcase
  end
  assign write_ok = known && allowed && page_exists(waddr_q) && wstrb_q == 4'hF;

  // ------------------------------------------------------------------------------------------------- registers
  logic [31:0] sq_base_lo_q, sq_base_hi_q, cq_base_lo_q, cq_base_hi_q, msi_addr_lo_q, msi_addr_hi_q, msi_data_q;
  logic [7:0]  sizes_q, owner_q;
  logic [1:0]  irq_q;
  logic [15:0] key_q, quota_q;

  assign page_low = sq_base_lo_q[PAGE_SHIFT-1:0] | cq_base_lo_q[PAGE_SHIFT-1:0];
  assign msi_low  = msi_addr_lo_q[1:0];
  assign cfg_q = '{
          sq_page: {sq_base_hi_q, sq_base_lo_q[31:PAGE_SHIFT]},
          cq_page: {cq_base_hi_q, cq_base_lo_q[31:PAGE_SHIFT]},
          sq_log2: sizes_q[LOG2_W-1:0],
          cq_log2: sizes_q[4+:LOG2_W],
          owner: owner_q,
          irq: irq_kind_e'(irq_q),
          msi_word: {msi_addr_hi_q, msi_addr_lo_q[31:2]},
          msi_data: msi_data_q,
          key: key_q,
          quota: quota_q
      };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      tick_cycles_o <= RESET_TICK_CYCLES[15:0];
      chosen_q      <= idx_t'(RESET_QUEUE);
      sq_base_lo_q  <= RESET_Q_SQ_BASE_LO;
      sq_base_hi_q  <= RESET_Q_SQ_BASE_HI;
      cq_base_lo_q  <= RESET_Q_CQ_BASE_LO;
      cq_base_hi_q  <= RESET_Q_CQ_BASE_HI;
      sizes_q       <= RESET_Q_SIZE[7:0];
      owner_q       <= RESET_Q_OWNER[7:0];
      irq_q         <= RESET_Q_IRQ[1:0];
      msi_addr_lo_q <= RESET_Q_MSI_ADDR_LO;
      msi_addr_hi_q <= RESET_Q_MSI_ADDR_HI;
      msi_data_q    <= RESET_Q_MSI_DATA;
      key_q         <= RESET_Q_KEY[15:0];
      quota_q       <= RESET_Q_QUOTA[15:0];
    end else if (apply) begin
      unique case (wreg)
        REG_TICK_CYCLES:   tick_cycles_o <= wdata_q[15:0];
        REG_QUEUE:         chosen_q <= idx_t'(wdata_q);
        REG_Q_SQ_BASE_LO:  sq_base_lo_q <= wdata_q;
        REG_Q_SQ_BASE_HI:  sq_base_hi_q <= wdata_q;
        REG_Q_CQ_BASE_LO:  cq_base_lo_q <= wdata_q;
        REG_Q_CQ_BASE_HI:  cq_base_hi_q <= wdata_q;
        REG_Q_SIZE:        sizes_q <= wdata_q[7:0];
        REG_Q_OWNER:       owner_q <= wdata_q[7:0];
        REG_Q_IRQ:         irq_q <= wdata_q[1:0];
        REG_Q_MSI_ADDR_LO: msi_addr_lo_q <= wdata_q;
        REG_Q_MSI_ADDR_HI: msi_addr_hi_q <= wdata_q;
        REG_Q_MSI_DATA:    msi_data_q <= wdata_q;
        REG_Q_KEY:         key_q <= wdata_q[15:0];
        REG_Q_QUOTA:       quota_q <= wdata_q[15:0];
        default:           ;
      endcase
    end
  end

  assign queue_o      = queue_t'(wqueue);
  assign cfg_o        = cfg_q;
  assign enable_o     = apply && wreg == REG_Q_CTL && wdata_q[0];
  assign disable_o    = apply && wreg == REG_Q_CTL && !wdata_q[0];
  assign mod_we_o     = apply && wreg == REG_MODERATION;
  assign mod_count_o  = wdata_q[15:0];
  assign mod_time_o   = wdata_q[31:16];
  assign bell_valid_o = apply && wreg == REG_CQ_HEAD;
  assign bell_arm_o   = wdata_q[31];

  for (genvar q = 0; q < int'(N_QUEUES); q++) begin : gen_queue
    logic ring_tail, ring_head;
    assign ring_tail = apply && wreg == REG_SQ_TAIL && wqueue == idx_t'(q);
    assign ring_head = bell_valid_o && wqueue == idx_t'(q);
    assign kick_o[q] = ring_tail || ring_head;
    always_ff @(posedge clk_i) begin
      if (!rst_ni || off_i[q]) begin
        tail_o[q]    <= '0;
        cq_head_o[q] <= '0;
      end else begin
        if (ring_tail) tail_o[q] <= wdata_q[INDEX_W-1:0];
        if (ring_head) cq_head_o[q] <= wdata_q[INDEX_W-1:0];
      end
      if (enable_o && wqueue == idx_t'(q)) sq_log2_q[q] <= cfg_q.sq_log2;
    end
  end

  assign trace_look_o  = write_q == W_LOOK;
  assign trace_apply_o = write_q == W_APPLY;
  assign trace_ok_o    = write_ok;

  // ------------------------------------------------------------------------------------------------- counters
  logic        bad_read;
  logic [31:0] bad_access_q, bad_doorbell_q, discarded_q, fetch_errors_q, write_errors_q, msi_errors_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      bad_access_q   <= '0;
      bad_doorbell_q <= '0;
      discarded_q    <= '0;
      fetch_errors_q <= '0;
      write_errors_q <= '0;
      msi_errors_q   <= '0;
    end else begin
      bad_access_q   <= bad_access_q + 32'(write_q == W_APPLY && !write_ok && !is_doorbell) + 32'(bad_read);
      bad_doorbell_q <= bad_doorbell_q + 32'(write_q == W_APPLY && !write_ok && is_doorbell);
      discarded_q    <= discarded_q + 32'(retired_valid_i && retired_event_i.discarded);
      fetch_errors_q <= fetch_errors_q + 32'(fetch_error_i);
      write_errors_q <= write_errors_q + 32'(retired_valid_i && retired_event_i.failed);
      msi_errors_q   <= msi_errors_q + 32'(msi_failed_i);
    end
  end

  // ------------------------------------------------------------------------------------------------- reads
  idx_t        rqueue;
  logic [31:0] status_q, sq_q, cq_q;
  logic [63:0] pending;

  assign bad_read = read_take && !read_ok;
  assign rqueue   = queue_of(raddr_q, chosen_q);
  assign pending  = 64'(pending_i);

  always_ff @(posedge clk_i) begin
    if (read_look) begin
      status_q <= 32'({armed_i[rqueue], cause_i[rqueue], state_i[rqueue]});
      sq_q     <= {tail_o[rqueue], head_i[rqueue]};
      cq_q     <= {cq_head_o[rqueue], retired_i[rqueue]};
    end
  end

  always_comb begin : p_read
    read_ok = page_exists(raddr_q);
    rdata   = '0;
    unique case (register_of(raddr_q))
      REG_CAPS:           rdata = {OPCODES, 8'(FETCH), 8'(N_QUEUES)};
      REG_BAD_ACCESS:     rdata = bad_access_q;
      REG_BAD_DOORBELL:   rdata = bad_doorbell_q;
      REG_DISCARDED:      rdata = discarded_q;
      REG_FETCH_ERRORS:   rdata = fetch_errors_q;
      REG_WRITE_ERRORS:   rdata = write_errors_q;
      REG_MSI_ERRORS:     rdata = msi_errors_q;
      REG_TICK_CYCLES:    rdata = 32'(tick_cycles_o);
      REG_IRQ_PENDING_LO: rdata = pending[31:0];
      REG_IRQ_PENDING_HI: rdata = pending[63:32];
      REG_QUEUE:          rdata = 32'(chosen_q);
      REG_Q_SQ_BASE_LO:   rdata = sq_base_lo_q;
      REG_Q_SQ_BASE_HI:   rdata = sq_base_hi_q;
      REG_Q_CQ_BASE_LO:   rdata = cq_base_lo_q;
      REG_Q_CQ_BASE_HI:   rdata = cq_base_hi_q;
      REG_Q_SIZE:         rdata = 32'(sizes_q);
      REG_Q_OWNER:        rdata = 32'(owner_q);
      REG_Q_IRQ:          rdata = 32'(irq_q);
      REG_Q_MSI_ADDR_LO:  rdata = msi_addr_lo_q;
      REG_Q_MSI_ADDR_HI:  rdata = msi_addr_hi_q;
      REG_Q_MSI_DATA:     rdata = msi_data_q;
      REG_Q_KEY:          rdata = 32'(key_q);
      REG_Q_QUOTA:        rdata = 32'(quota_q);
      REG_Q_STATE:        rdata = status_q;
      REG_STATE:          rdata = status_q;
      REG_SQ_HEAD:        rdata = sq_q;
      REG_CQ_TAIL:        rdata = cq_q;
      default:            read_ok = 1'b0;
    endcase
  end

  logic unused;
  assign unused = ^retired_event_i;
endmodule

// SPDX-License-Identifier: Apache-2.0
// Writes completions of the barrier engine into a ring in host memory, one at a time; its registers and interrupt (docs/barrier_ring_formats.md).
//
// A completion is taken from the engine when the ring has room for it, so that software that sees it may arrive again at once. One whose write fails is kept
// and written again once the ring is enabled.
`include "weft_assert.svh"

module nic_barrier_ring
  import barrier_formats_pkg::completion_t;
  import barrier_formats_pkg::ENDING_OK;
  import barrier_ring_formats_pkg::*;
#(
  parameter int unsigned DATA_W = 256,
  parameter int unsigned ADDR_W = 48,
  parameter int unsigned AXIL_W = 16   // bits of a register's address
) (
  input  logic                clk_i,
  input  logic                rst_ni,
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
  // completions
  input  logic                cpl_valid_i,
  output logic                cpl_ready_o,
  input  logic [        63:0] cpl_data_i,
  // AXI4 write channels; bursts of one beat
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
  output logic                m_axi_bready_o,
  output logic                irq_o             // level
);
  localparam int unsigned ENTRY_BYTES = ENTRY_BITS / 8;
  localparam int unsigned ENTRY_SHIFT = $clog2(ENTRY_BYTES);
  localparam int unsigned PARTS       = DATA_W / ENTRY_BITS;  // entries a beat

  if (DATA_W < ENTRY_BITS) begin : gen_illegal_data_w
    $fatal(1, "nic_barrier_ring: DATA_W is %0d, but an entry is written in one beat of 256 bits at least", DATA_W);
  end
  if (ADDR_W <= 32 || ADDR_W > 64) begin : gen_illegal_addr_w
    $fatal(1, "nic_barrier_ring: ADDR_W is %0d, but must be 33 to 64", ADDR_W);
  end

  typedef logic [15:0] index_t;

  logic              write, write_ok, read_ok, all_strobes;
  logic [AXIL_W-1:0] waddr, raddr;
  logic [31:0]       wdata, rdata;
  logic [3:0]        wstrb;

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
    .write_o     (write),
    .waddr_o     (waddr),
    .wdata_o     (wdata),
    .wstrb_o     (wstrb),
    .write_done_i(write),
    .write_ok_i  (write_ok),
    .read_look_o (),
    .read_take_o (),
    .raddr_o     (raddr),
    .rdata_i     (rdata),
    .read_ok_i   (read_ok)
  );

  // ------------------------------------------------------------------------------------------------- registers
  logic [63:0] base_q, size_mask;
  logic [3:0]  log2_q;
  logic        enabled_q, failed_q, irq_enable_q, busy, closed, aligned, enable;
  index_t      head_q, tail_q, waiting, index_mask;
  logic [31:0] errors_q;

  assign size_mask   = (64'd1 << (7'(log2_q) + 7'(ENTRY_SHIFT))) - 1'b1;
  assign index_mask  = (16'd1 << log2_q) - 1'b1;
  assign aligned     = (base_q & size_mask) == '0 && base_q >> ADDR_W == '0;
  assign closed      = !enabled_q && !busy;
  assign waiting     = tail_q - head_q;
  assign all_strobes = wstrb == '1;

  always_comb begin : p_write_ok
    unique case (waddr)
      AXIL_W'(REG_BASE_LO), AXIL_W'(REG_BASE_HI): write_ok = all_strobes && closed;
      AXIL_W'(REG_LOG2):       write_ok = all_strobes && closed && wdata[31:4] == '0 && wdata[3:0] != '0;
      AXIL_W'(REG_ENABLE):     write_ok = all_strobes && wdata[31:1] == '0 && (!wdata[0] || (closed && aligned));
      AXIL_W'(REG_IRQ_ENABLE): write_ok = all_strobes && wdata[31:1] == '0;
      AXIL_W'(REG_HEAD):       write_ok = all_strobes && wdata[31:16] == '0 && index_t'(wdata[15:0] - head_q) <= waiting;
      default:                 write_ok = 1'b0;
    endcase
  end
  assign enable = write && write_ok && waddr == AXIL_W'(REG_ENABLE) && wdata[0];

  always_comb begin : p_read
    read_ok = 1'b1;
    unique case (raddr)
      AXIL_W'(REG_ID):         rdata = RESET_ID;
      AXIL_W'(REG_VERSION):    rdata = RESET_VERSION;
      AXIL_W'(REG_BASE_LO):    rdata = base_q[31:0];
      AXIL_W'(REG_BASE_HI):    rdata = base_q[63:32];
      AXIL_W'(REG_LOG2):       rdata = 32'(log2_q);
      AXIL_W'(REG_ENABLE):     rdata = 32'(enabled_q);
      AXIL_W'(REG_IRQ_ENABLE): rdata = 32'(irq_enable_q);
      AXIL_W'(REG_HEAD):       rdata = 32'(head_q);
      AXIL_W'(REG_TAIL):       rdata = 32'(tail_q);
      AXIL_W'(REG_STATE):      rdata = {29'd0, failed_q, busy, enabled_q};
      AXIL_W'(REG_ERRORS):     rdata = errors_q;
      default: begin
        read_ok = 1'b0;
        rdata   = '0;
      end
    endcase
  end

  // ------------------------------------------------------------------------------------------------- a write to memory
  logic        start, addr_q, data_q, answer_q, answered, ok;  // address, data, answer are still to go or to come
  logic        kept_q;                                         // told_q is to be written again
  completion_t told_q, told;

  assign start       = (cpl_valid_i || kept_q) && enabled_q && !busy && waiting <= index_mask;
  assign busy        = addr_q || data_q || answer_q;
  assign answered    = m_axi_bvalid_i && m_axi_bready_o;
  assign ok          = !m_axi_bresp_i[1];  // OKAY or EXOKAY
  assign cpl_ready_o = start && !kept_q;
  assign told        = cpl_ready_o ? cpl_data_i : told_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      base_q       <= {RESET_BASE_HI, RESET_BASE_LO};
      log2_q       <= RESET_LOG2[3:0];
      irq_enable_q <= 1'b0;
      {enabled_q, failed_q, head_q, tail_q, errors_q} <= '0;
      {addr_q, data_q, answer_q, kept_q} <= '0;
    end else begin
      if (write && write_ok) begin
        unique case (waddr)
          AXIL_W'(REG_BASE_LO):    base_q[31:0] <= wdata;
          AXIL_W'(REG_BASE_HI):    base_q[63:32] <= wdata;
          AXIL_W'(REG_LOG2):       log2_q <= wdata[3:0];
          AXIL_W'(REG_ENABLE):     enabled_q <= wdata[0];
          AXIL_W'(REG_IRQ_ENABLE): irq_enable_q <= wdata[0];
          default:                 head_q <= wdata[15:0];
        endcase
      end
      if (enable) {failed_q, head_q, tail_q} <= '0;
      addr_q <= m_axi_awvalid_o && !m_axi_awready_i;
      data_q <= m_axi_wvalid_o && !m_axi_wready_i;
      if (start) {answer_q, kept_q} <= 2'b10;
      if (answered) begin
        answer_q <= 1'b0;
        if (ok) begin
          tail_q <= tail_q + 1'b1;
        end else begin
          enabled_q <= 1'b0;
          failed_q  <= 1'b1;
          kept_q    <= 1'b1;
          errors_q  <= errors_q + 1'b1;
        end
      end
    end
    if (cpl_ready_o) told_q <= cpl_data_i;
  end

  entry_t entry;
  logic   unused;
  assign unused = m_axi_bresp_i[0];
  always_comb begin : p_entry
    entry        = '0;
    entry.told   = told;
    entry.opcode = ENTRY_OPCODE_BARRIER;
    entry.phase  = !tail_q[log2_q];
    if (told.ending != ENDING_OK) begin
      entry.status = ENTRY_STATUS_DEAD_PEER;
      entry.node   = 32'(told.dead);
    end
  end

  assign m_axi_awaddr_o  = base_q[ADDR_W-1:0] | ADDR_W'({tail_q & index_mask, ENTRY_SHIFT'(0)});
  assign m_axi_awlen_o   = '0;
  assign m_axi_awvalid_o = start || addr_q;
  assign m_axi_wdata_o   = {PARTS{entry}};
  assign m_axi_wlast_o   = 1'b1;
  assign m_axi_wvalid_o  = start || data_q;
  assign m_axi_bready_o  = answer_q && !addr_q && !data_q;
  if (PARTS == 1) begin : gen_whole_beat
    assign m_axi_wstrb_o = '1;
  end else begin : gen_part_of_beat
    localparam int unsigned PART_W = $clog2(PARTS);
    for (genvar i = 0; i < int'(PARTS); i++) begin : gen_strobes
      assign m_axi_wstrb_o[i*ENTRY_BYTES+:ENTRY_BYTES] = {ENTRY_BYTES{tail_q[PART_W-1:0] == PART_W'(i)}};
    end
  end

  assign irq_o = irq_enable_q && (waiting != '0 || failed_q);

  `ASSERT(NeverOverfull, 32'(waiting) <= 32'(index_mask) + 1 || !enabled_q)
  `ASSERT(OnlyOwedAnswers, !m_axi_bvalid_i || answer_q)
`ifdef VERILATOR
  `ASSERT(CompletionStable, cpl_valid_i && !cpl_ready_o |=> cpl_valid_i && $stable(cpl_data_i))
  `ASSERT(WriteStable, m_axi_awvalid_o && !m_axi_awready_i |=> m_axi_awvalid_o && $stable(m_axi_awaddr_o))
  `ASSERT(EntryStable, m_axi_wvalid_o && !m_axi_wready_i |=> m_axi_wvalid_o && $stable(m_axi_wdata_o))
`endif
endmodule

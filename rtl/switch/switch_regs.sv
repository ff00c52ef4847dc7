// SPDX-License-Identifier: Apache-2.0
// AXI4-Lite registers of the switch lookup block (docs/switch_lookup_formats.md), its counters and its interrupt.
module switch_regs
  import switch_lookup_formats_pkg::*;
#(
  parameter int unsigned N_PORTS   = 16,
  parameter int unsigned N_COLOURS = 128,
  parameter int unsigned N_UNICAST = 256,
  parameter bit          PER_PORT  = 1'b0
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [        9:0] s_axil_awaddr_i,
  input  logic               s_axil_awvalid_i,
  output logic               s_axil_awready_o,
  input  logic [       31:0] s_axil_wdata_i,
  input  logic [        3:0] s_axil_wstrb_i,
  input  logic               s_axil_wvalid_i,
  output logic               s_axil_wready_o,
  output logic [        1:0] s_axil_bresp_o,
  output logic               s_axil_bvalid_o,
  input  logic               s_axil_bready_i,
  input  logic [        9:0] s_axil_araddr_i,
  input  logic               s_axil_arvalid_i,
  output logic               s_axil_arready_o,
  output logic [       31:0] s_axil_rdata_o,
  output logic [        1:0] s_axil_rresp_o,
  output logic               s_axil_rvalid_o,
  input  logic               s_axil_rready_i,
  output logic               irq_o,
  // settings
  output logic [       63:0] switch_id_o,
  output logic [       63:0] key_o,
  output logic [       15:0] scrub_period_o,
  output logic               seed_we_o,
  output logic [       31:0] seed_o,
  // loader
  input  logic               busy_i,           // it belongs to a management packet: registers wait
  output logic               using_o,
  output logic               begin_o,
  output logic               word_valid_o,
  input  logic               word_ready_i,
  output logic [       31:0] word_o,
  input  load_state_e        state_i,
  input  load_fault_e        fault_i,
  input  logic [       31:0] words_i,
  input  logic [       31:0] version_i,
  // events
  input  logic               taken_i,
  input  logic               refused_i,
  input  logic               packet_dropped_i,
  input  management_drop_e   packet_drop_i,
  input  logic               retire_i,
  input  outcome_e           outcome_i,
  input  logic [        1:0] corrected_i,      // entries, of one table or both
  input  logic [        1:0] bad_i,
  input  logic [        1:0] mended_i,
  input  logic [N_PORTS-1:0] alive_i
);
  logic        writing, done, ok, known, loading, wait_loader, take_read, read_ok;
  logic [9:0]  waddr, raddr;
  logic [31:0] wdata, rdata;
  logic [3:0]  wstrb;
  logic [31:0] seed_q, corrected_q, bad_q, mended_q, taken_q, refused_q, outcomes_q[REG_COUNT_OUTCOME], drops_q[REG_COUNT_MANAGEMENT_DROP];
  logic [63:0] switch_id_q, key_q, alive;
  logic [31:0] key_low_q;
  logic [15:0] period_q;
  logic [2:0]  irq_q, enable_q, irq_clear;

  axil_slave #(.ADDR_W(10)) i_access (
    .clk_i, .rst_ni, .s_axil_awaddr_i, .s_axil_awvalid_i, .s_axil_awready_o, .s_axil_wdata_i, .s_axil_wstrb_i, .s_axil_wvalid_i,
    .s_axil_wready_o, .s_axil_bresp_o, .s_axil_bvalid_o, .s_axil_bready_i, .s_axil_araddr_i, .s_axil_arvalid_i, .s_axil_arready_o,
    .s_axil_rdata_o, .s_axil_rresp_o, .s_axil_rvalid_o, .s_axil_rready_i,
    .write_o     (writing),
    .waddr_o     (waddr),
    .wdata_o     (wdata),
    .wstrb_o     (wstrb),
    .write_done_i(done),
    .write_ok_i  (ok),
    .read_look_o (),
    .read_take_o (take_read),
    .raddr_o     (raddr),
    .rdata_i     (rdata),
    .read_ok_i   (read_ok)
  );

  always_comb begin : p_known
    unique case (waddr)
      REG_SWITCH_ID_LO, REG_SWITCH_ID_HI, REG_KEY_LO, REG_KEY_HI, REG_LOAD_BEGIN, REG_SEED: known = 1'b1;
      REG_SCRUB_PERIOD:               known = wdata[31:16] == '0;
      REG_IRQ_STATUS, REG_IRQ_ENABLE: known = wdata[31:3] == '0;
      REG_LOAD_DATA: known = word_ready_i;
      default: known = 1'b0;
    endcase
  end
  assign ok           = known && wstrb == 4'hF;
  assign loading      = waddr == REG_LOAD_BEGIN || waddr == REG_LOAD_DATA;
  assign wait_loader  = (loading && busy_i) || (waddr == REG_LOAD_DATA && state_i == LOAD_STATE_CLEAR);
  assign done         = writing && !wait_loader;
  assign using_o      = done && loading;
  assign begin_o      = done && ok && waddr == REG_LOAD_BEGIN;
  assign word_valid_o = done && ok && waddr == REG_LOAD_DATA;
  assign word_o       = wdata;
  assign seed_we_o    = done && ok && waddr == REG_SEED;
  assign seed_o       = wdata == '0 ? 32'd1 : wdata;
  assign irq_clear    = done && ok && waddr == REG_IRQ_STATUS ? wdata[2:0] : '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      switch_id_q <= {RESET_SWITCH_ID_HI, RESET_SWITCH_ID_LO};
      key_q       <= '0;
      key_low_q   <= '0;
      seed_q      <= RESET_SEED;
      period_q    <= RESET_SCRUB_PERIOD[15:0];
      enable_q    <= RESET_IRQ_ENABLE[2:0];
      irq_q       <= '0;
      corrected_q <= '0;
      bad_q       <= '0;
      mended_q    <= '0;
      taken_q     <= '0;
      refused_q   <= '0;
      outcomes_q  <= '{default: '0};
      drops_q     <= '{default: '0};
    end else begin
      if (done && ok) begin
        unique case (waddr)
          REG_SWITCH_ID_LO: switch_id_q[31:0] <= wdata;
          REG_SWITCH_ID_HI: switch_id_q[63:32] <= wdata;
          REG_KEY_LO:       key_low_q <= wdata;
          REG_KEY_HI:       key_q <= {wdata, key_low_q};  // no key of two halves that do not belong together
          REG_SEED:         seed_q <= wdata;
          REG_SCRUB_PERIOD: period_q <= wdata[15:0];
          REG_IRQ_ENABLE:   enable_q <= wdata[2:0];
          default: ;
        endcase
      end
      irq_q       <= (irq_q & ~irq_clear) | {taken_i, refused_i, bad_i != '0};
      corrected_q <= corrected_q + 32'(corrected_i);
      bad_q       <= bad_q + 32'(bad_i);
      mended_q    <= mended_q + 32'(mended_i);
      taken_q     <= taken_q + 32'(taken_i);
      refused_q   <= refused_q + 32'(refused_i);
      for (int unsigned i = 0; i < REG_COUNT_OUTCOME; i++) if (retire_i && 32'(outcome_i) == i) outcomes_q[i] <= outcomes_q[i] + 1'b1;
      for (int unsigned i = 0; i < REG_COUNT_MANAGEMENT_DROP; i++) if (packet_dropped_i && 32'(packet_drop_i) == i) drops_q[i] <= drops_q[i] + 1'b1;
    end
  end

  assign alive = 64'(alive_i);
  always_comb begin : p_read
    read_ok = 1'b1;
    rdata   = '0;
    unique case (raddr)
      REG_ID:             rdata = RESET_ID;
      REG_VERSION:        rdata = RESET_VERSION;
      REG_CAPS:           rdata = {16'(N_UNICAST), 7'd0, PER_PORT, 8'(N_PORTS)};
      REG_COLOURS:        rdata = N_COLOURS;
      REG_SWITCH_ID_LO:   rdata = switch_id_q[31:0];
      REG_SWITCH_ID_HI:   rdata = switch_id_q[63:32];
      REG_LOAD_STATUS:    rdata = {24'd0, fault_i, 1'b0, state_i};
      REG_LOAD_WORDS:     rdata = words_i;
      REG_TABLE_VERSION:  rdata = version_i;
      REG_SEED:           rdata = seed_q;
      REG_SCRUB_PERIOD:   rdata = 32'(period_q);
      REG_IRQ_STATUS:     rdata = 32'(irq_q);
      REG_IRQ_ENABLE:     rdata = 32'(enable_q);
      REG_ALIVE_LO:       rdata = alive[31:0];
      REG_ALIVE_HI:       rdata = alive[63:32];
      REG_CORRECTED:      rdata = corrected_q;
      REG_UNCORRECTABLE:  rdata = bad_q;
      REG_SCRUBBED:       rdata = mended_q;
      REG_IMAGES_TAKEN:   rdata = taken_q;
      REG_IMAGES_REFUSED: rdata = refused_q;
      default: begin
        read_ok = 1'b0;
        for (int unsigned i = 0; i < REG_COUNT_OUTCOME; i++) begin
          if (raddr == REG_OUTCOME + 10'(4 * i)) begin
            read_ok = 1'b1;
            rdata   = outcomes_q[i];
          end
        end
        for (int unsigned i = 0; i < REG_COUNT_MANAGEMENT_DROP; i++) begin
          if (raddr == REG_MANAGEMENT_DROP + 10'(4 * i)) begin
            read_ok = 1'b1;
            rdata   = drops_q[i];
          end
        end
      end
    endcase
  end

  assign irq_o          = (irq_q & enable_q) != '0;
  assign switch_id_o    = switch_id_q;
  assign key_o          = key_q;
  assign scrub_period_o = period_q;
  logic unused;
  assign unused = take_read;
endmodule

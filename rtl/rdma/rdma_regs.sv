// SPDX-License-Identifier: Apache-2.0
// AXI4-Lite registers of the RDMA engine (docs/rdma_formats.md): configuration, posting of requests, completions,
// counters, interrupt. One access at a time; a read is answered three clocks after its address.
module rdma_regs
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned N_RX_CTX   = 1024,
  parameter int unsigned N_TX_CTX   = 1024,
  parameter int unsigned WINDOW     = 128,
  parameter int unsigned PAYLOAD    = 256,
  parameter int unsigned MSGID_W    = 20,
  parameter int unsigned ADDR_W     = 48,
  parameter int unsigned N_REGIONS  = 64,
  parameter int unsigned N_SOURCES  = 256,
  parameter int unsigned N_TICKETS  = 0,     // of RECV and READ, 0: none
  parameter int unsigned N_QUEUES   = 0,     // that tickets may belong to
  parameter int unsigned POST_DEPTH = 16     // requests that may wait
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  output logic               ready_o,        // counters are cleared
  // AXI4-Lite
  input  logic [       11:0] s_axil_awaddr_i,
  input  logic               s_axil_awvalid_i,
  output logic               s_axil_awready_o,
  input  logic [       31:0] s_axil_wdata_i,
  input  logic [        3:0] s_axil_wstrb_i,
  input  logic               s_axil_wvalid_i,
  output logic               s_axil_wready_o,
  output logic [        1:0] s_axil_bresp_o,
  output logic               s_axil_bvalid_o,
  input  logic               s_axil_bready_i,
  input  logic [       11:0] s_axil_araddr_i,
  input  logic               s_axil_arvalid_i,
  output logic               s_axil_arready_o,
  output logic [       31:0] s_axil_rdata_o,
  output logic [        1:0] s_axil_rresp_o,
  output logic               s_axil_rvalid_o,
  input  logic               s_axil_rready_i,
  // configuration
  output logic               node_known_o,   // node_id_o was written
  output logic [       15:0] node_id_o,
  output logic               region_set_o,   // one clock: region_idx_o becomes this one
  output logic [        7:0] region_idx_o,
  output logic               region_write_o,    // open to remote writes
  output logic               region_read_o,     // to remote reads
  output logic               region_receive_o,  // buffers may lie in it
  output logic [        8:0] region_queue_o,    // told of writes with immediate; [8]: there is one
  output logic               region_valid_o,    // not empty, whatever it is open to
  output logic               region_local_o,    // to local use by its owner
  output logic [        7:0] region_owner_o,
  output logic [       15:0] region_key_o,
  output logic [ADDR_W-$clog2(PAYLOAD)-1:0] region_base_o,  // payloads
  output logic [offset_bits(ADDR_W-$clog2(PAYLOAD))-1:0] region_last_o,  // its last payload, counted from the base
  output logic [       15:0] tick_cycles_o,
  output logic [LIMIT_W-1:0] rx_timeout_o,
  output logic [LIMIT_W-1:0] tx_retry_o,
  output logic [LIMIT_W-1:0] tx_dead_o,
  output logic [        1:0] ask_from_after_o,
  output logic [        3:0] max_silent_o,
  output logic [        3:0] max_retry_o,
  output logic [        7:0] max_busy_o,
  output logic [        1:0] backoff_o,
  output logic [       15:0] rx_quota_o,
  output logic [       15:0] ticket_quota_o,
  output logic [       15:0] answers_o,
  output logic [       15:0] answer_quota_o,
  output logic [        7:0] rx_ahead_o,
  output logic               adapt_o,
  output logic [LIMIT_W-1:0] floor_o,
  output logic               weft_mode_o,
  output logic               msgid_load_o,   // one clock: requests are numbered from msgid_o on
  output logic [MSGID_W-1:0] msgid_o,
  output logic               read_load_o,    // one clock: READs are numbered from read_number_o on
  output logic [MSGID_W-1:0] read_number_o,
  // requests and completions
  output logic               post_valid_o,
  input  logic               post_ready_i,
  output post_t              post_o,
  input  logic               cpl_valid_i,
  output logic               cpl_ready_o,
  input  completion_t        cpl_i,
  input  logic [       15:0] cpl_count_i,
  // state and events
  input  logic               engine_ready_i,
  input  logic               tx_idle_i,
  input  logic               rx_idle_i,
  input  logic               rx_event_i,
  input  outcome_e           rx_outcome_i,
  input  logic               tx_event_i,
  input  outcome_e           tx_outcome_i,
  input  logic               inbox_event_i,
  input  outcome_e           inbox_outcome_i,
  input  logic [        2:0] ctl_dropped_i,  // one bit a source
  input  logic [        1:0] bus_error_i,    // one bit a source
  output logic               irq_o
);
  localparam int unsigned COUNTERS       = 32;  // of the sender, from 32 on
  localparam int unsigned RX_COUNTERS    = 48;  // outcomes 0 to 31, then 64 to 79
  localparam int unsigned INBOX_COUNTERS = 32;  // 32 to 47, which it shares with the sender, then 80 to 95

  if (POST_DEPTH < 2 || (POST_DEPTH & (POST_DEPTH - 1)) != 0) begin : g_bad_post_depth
    $error("POST_DEPTH must be a power of two of at least 2, is %0d", POST_DEPTH);
  end

  // ------------------------------------------------------------------------------------------------- access
  logic [11:0] waddr_q, raddr_q;
  logic [31:0] wdata_q, rdata;
  logic [3:0]  wstrb_q;
  logic        do_write, write_ok, write_known, read_take, read_ok;
  logic        post_ready, post_push;

  axil_slave #(
    .ADDR_W(12)
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
    .write_o     (do_write),
    .waddr_o     (waddr_q),
    .wdata_o     (wdata_q),
    .wstrb_o     (wstrb_q),
    .write_done_i(do_write),
    .write_ok_i  (write_ok),
    .read_look_o (),  // the counter RAMs are read in it
    .read_take_o (read_take),
    .raddr_o     (raddr_q),
    .rdata_i     (rdata),
    .read_ok_i   (read_ok)
  );

  // ------------------------------------------------------------------------------------------------- registers
  logic [1:0]  irq_enable_q;
  logic        bus_error_seen_q;
  logic [31:0] bad_access_q, bus_errors_q, ctl_dropped_q;
  logic [63:0] region_base_q, region_limit_q;
  logic        region_fault_q;
  logic [3:0]  region_rights_q;
  logic [23:0] post_key_q;
  logic [63:0] post_src_q, post_dst_q;
  logic [31:0] post_bytes_q, post_node_q;
  logic        bad_write, bad_read, clear_bus_error;
  logic [1:0]  irq_status;
  post_t       post_in;

  always_comb begin : p_write_known
    unique case (waddr_q)
      REG_NODE_ID, REG_IRQ_ENABLE, REG_IRQ_STATUS, REG_REGION_BASE_LO, REG_REGION_BASE_HI, REG_REGION_LIMIT_LO, REG_REGION_LIMIT_HI,
      REG_TICK_CYCLES, REG_RX_TIMEOUT, REG_TX_RETRY, REG_TX_DEAD, REG_ASK_FROM_AFTER, REG_MAX_SILENT, REG_MAX_RETRY, REG_MODE,
      REG_POST_SRC_LO, REG_POST_SRC_HI, REG_POST_DST_LO, REG_POST_DST_HI, REG_POST_BYTES, REG_POST_NODE, REG_POST_KEY, REG_REGION_KEY, REG_RX_QUOTA, REG_BACKOFF, REG_MAX_BUSY,
      REG_RX_AHEAD, REG_ADAPT, REG_TIMEOUT_FLOOR, REG_TICKET_QUOTA, REG_ANSWERS, REG_ANSWER_QUOTA, REG_READ_NUMBER,
      REG_REGION_RIGHTS, REG_REGION_OWNER, REG_REGION_QUEUE:
      write_known = 1'b1;
      REG_REGION_SET: write_known = engine_ready_i && !region_fault_q && 9'(wdata_q[7:0]) < 9'(N_REGIONS);
      REG_POST: write_known = post_ready && engine_ready_i && node_known_o;
      REG_MSGID: write_known = tx_idle_i;
      default:   write_known = 1'b0;
    endcase
  end
  assign write_ok  = write_known && wstrb_q == 4'hF;
  assign bad_write = do_write && !write_ok;
  assign clear_bus_error = do_write && write_ok && waddr_q == REG_IRQ_STATUS && wdata_q[1];
  assign post_push = do_write && write_ok && waddr_q == REG_POST;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      node_known_o     <= 1'b0;
      node_id_o        <= RESET_NODE_ID[15:0];
      irq_enable_q     <= RESET_IRQ_ENABLE[1:0];
      region_base_q    <= {RESET_REGION_BASE_HI, RESET_REGION_BASE_LO};
      region_limit_q   <= {RESET_REGION_LIMIT_HI, RESET_REGION_LIMIT_LO};
      region_key_o     <= RESET_REGION_KEY[15:0];
      region_rights_q  <= RESET_REGION_RIGHTS[3:0];
      region_queue_o   <= RESET_REGION_QUEUE[8:0];
      region_owner_o   <= RESET_REGION_OWNER[7:0];
      post_key_q       <= RESET_POST_KEY[23:0];
      tick_cycles_o    <= RESET_TICK_CYCLES[15:0];
      rx_timeout_o     <= RESET_RX_TIMEOUT[LIMIT_W-1:0];
      tx_retry_o       <= RESET_TX_RETRY[LIMIT_W-1:0];
      tx_dead_o        <= RESET_TX_DEAD[LIMIT_W-1:0];
      ask_from_after_o <= RESET_ASK_FROM_AFTER[1:0];
      max_silent_o     <= RESET_MAX_SILENT[3:0];
      max_retry_o      <= RESET_MAX_RETRY[3:0];
      max_busy_o       <= RESET_MAX_BUSY[7:0];
      backoff_o        <= RESET_BACKOFF[1:0];
      rx_quota_o       <= RESET_RX_QUOTA[15:0];
      ticket_quota_o   <= RESET_TICKET_QUOTA[15:0];
      answers_o        <= RESET_ANSWERS[15:0];
      answer_quota_o   <= RESET_ANSWER_QUOTA[15:0];
      read_number_o    <= RESET_READ_NUMBER[MSGID_W-1:0];
      rx_ahead_o       <= RESET_RX_AHEAD[7:0];
      adapt_o          <= RESET_ADAPT[0];
      floor_o          <= RESET_TIMEOUT_FLOOR[LIMIT_W-1:0];
      weft_mode_o      <= RESET_MODE[0];
      msgid_o          <= RESET_MSGID[MSGID_W-1:0];
      post_src_q       <= {RESET_POST_SRC_HI, RESET_POST_SRC_LO};
      post_dst_q       <= {RESET_POST_DST_HI, RESET_POST_DST_LO};
      post_bytes_q     <= RESET_POST_BYTES;
      post_node_q      <= RESET_POST_NODE;
    end else if (do_write && write_ok) begin
      unique case (waddr_q)
        REG_NODE_ID: begin
          node_known_o <= 1'b1;
          node_id_o    <= wdata_q[15:0];
        end
        REG_IRQ_ENABLE:      irq_enable_q <= wdata_q[1:0];
        REG_REGION_BASE_LO:  region_base_q[31:0] <= wdata_q;
        REG_REGION_BASE_HI:  region_base_q[63:32] <= wdata_q;
        REG_REGION_LIMIT_LO: region_limit_q[31:0] <= wdata_q;
        REG_REGION_LIMIT_HI: region_limit_q[63:32] <= wdata_q;
        REG_REGION_KEY:      region_key_o <= wdata_q[15:0];
        REG_REGION_RIGHTS:   region_rights_q <= wdata_q[3:0];
        REG_REGION_QUEUE:    region_queue_o <= wdata_q[8:0];
        REG_REGION_OWNER:    region_owner_o <= wdata_q[7:0];
        REG_POST_KEY:        post_key_q <= wdata_q[23:0];
        REG_TICK_CYCLES:     tick_cycles_o <= wdata_q[15:0];
        REG_RX_TIMEOUT:      rx_timeout_o <= wdata_q[LIMIT_W-1:0];
        REG_TX_RETRY:        tx_retry_o <= wdata_q[LIMIT_W-1:0];
        REG_TX_DEAD:         tx_dead_o <= wdata_q[LIMIT_W-1:0];
        REG_ASK_FROM_AFTER:  ask_from_after_o <= wdata_q[1:0];
        REG_MAX_SILENT:      max_silent_o <= wdata_q[3:0];
        REG_MAX_RETRY:       max_retry_o <= wdata_q[3:0];
        REG_MAX_BUSY:        max_busy_o <= wdata_q[7:0];
        REG_BACKOFF:         backoff_o <= wdata_q[1:0];
        REG_RX_QUOTA:        rx_quota_o <= wdata_q[15:0];
        REG_TICKET_QUOTA:    ticket_quota_o <= wdata_q[15:0];
        REG_ANSWERS:         answers_o <= wdata_q[15:0];
        REG_ANSWER_QUOTA:    answer_quota_o <= wdata_q[15:0];
        REG_READ_NUMBER:     read_number_o <= wdata_q[MSGID_W-1:0];
        REG_RX_AHEAD:        rx_ahead_o <= wdata_q[7:0];
        REG_ADAPT:           adapt_o <= wdata_q[0];
        REG_TIMEOUT_FLOOR:   floor_o <= wdata_q[LIMIT_W-1:0];
        REG_MODE:            weft_mode_o <= wdata_q[0];
        REG_MSGID:           msgid_o <= wdata_q[MSGID_W-1:0];
        REG_POST_SRC_LO:     post_src_q[31:0] <= wdata_q;
        REG_POST_SRC_HI:     post_src_q[63:32] <= wdata_q;
        REG_POST_DST_LO:     post_dst_q[31:0] <= wdata_q;
        REG_POST_DST_HI:     post_dst_q[63:32] <= wdata_q;
        REG_POST_BYTES:      post_bytes_q <= wdata_q;
        REG_POST_NODE:       post_node_q <= wdata_q;
        default:             ;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      msgid_load_o <= 1'b0;
      read_load_o  <= 1'b0;
      region_set_o <= 1'b0;
    end else begin
      msgid_load_o <= do_write && write_ok && waddr_q == REG_MSGID;
      read_load_o  <= do_write && write_ok && waddr_q == REG_READ_NUMBER;
      region_set_o <= do_write && write_ok && waddr_q == REG_REGION_SET;
    end
    region_idx_o <= wdata_q[7:0];
  end

  // What the REGION registers say, a clock after each write; REGION_SET comes two clocks after another one at the earliest.
  localparam int unsigned SHIFT    = $clog2(PAYLOAD);
  localparam int unsigned UNITS_W  = 64 - SHIFT;
  localparam int unsigned BASE_W   = ADDR_W - SHIFT;
  localparam int unsigned OFFSET_W = offset_bits(BASE_W);
  logic [UNITS_W-1:0] region_last;  // its last payload, counted from the base, if it is not empty
  logic               region_empty;

  assign region_last  = region_limit_q[63:SHIFT] + ~region_base_q[63:SHIFT];  // limit - base - 1
  assign region_empty = region_limit_q <= region_base_q;

  always_ff @(posedge clk_i) begin
    region_fault_q <= region_base_q[SHIFT-1:0] != '0 || region_limit_q[SHIFT-1:0] != '0 ||
                      (!region_empty && (region_limit_q > 64'd1 << ADDR_W || (region_last >> OFFSET_W) != '0));
    {region_receive_o, region_read_o, region_local_o, region_write_o} <= region_empty ? '0 : region_rights_q;
    region_valid_o <= !region_empty;
    region_base_o  <= BASE_W'(region_base_q >> SHIFT);
    region_last_o  <= OFFSET_W'(region_last);
  end

  assign post_in = '{
          origin: ORIGIN_REGISTERS,
          to: TO_REGION,
          has_imm: 1'b0,
          imm: '0,
          rkey: post_key_q,
          tag: wdata_q[15:0],
          node: post_node_q,
          bytes: post_bytes_q,
          dst_addr: post_dst_q,
          src_addr: post_src_q
      };

  ram_fifo #(
    .DEPTH(POST_DEPTH),
    .WIDTH($bits(post_t))
  ) i_posts (
    .clk_i,
    .rst_ni,
    .valid_i(post_push),
    .ready_o(post_ready),
    .data_i (post_in),
    .valid_o(post_valid_o),
    .ready_i(post_ready_i),
    .data_o (post_o),
    .count_o()  // not needed
  );

  assign irq_status = {bus_error_seen_q, cpl_valid_i};
  assign irq_o      = (irq_status & irq_enable_q) != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      bad_access_q     <= '0;
      bus_errors_q     <= '0;
      ctl_dropped_q    <= '0;
      bus_error_seen_q <= 1'b0;
    end else begin
      bad_access_q     <= bad_access_q + 32'(bad_write) + 32'(bad_read);
      bus_errors_q     <= bus_errors_q + 32'(bus_error_i[0]) + 32'(bus_error_i[1]);
      ctl_dropped_q    <= ctl_dropped_q + 32'(ctl_dropped_i[0]) + 32'(ctl_dropped_i[1]) + 32'(ctl_dropped_i[2]);
      bus_error_seen_q <= (bus_error_seen_q && !clear_bus_error) || bus_error_i != '0;
    end
  end

  // ------------------------------------------------------------------------------------------------- reads
  logic [31:0] rx_count, tx_count, inbox_count;
  logic        rx_ready, tx_ready, inbox_ready, is_counter;
  logic [6:0]  counted;  // outcome whose counter is read

  assign is_counter  = raddr_q >= REG_OUTCOME && raddr_q < REG_OUTCOME + 12'(4 * REG_COUNT_OUTCOME) && raddr_q[1:0] == '0;
  assign counted     = raddr_q[8:2];
  assign bad_read    = read_take && !read_ok;
  assign cpl_ready_o = read_take && raddr_q == REG_CPL;

  always_comb begin : p_read
    read_ok = 1'b1;
    rdata   = '0;
    unique case (raddr_q)
      REG_ID:              rdata = RESET_ID;
      REG_VERSION:         rdata = RESET_VERSION;
      REG_CAPS0:           rdata = {16'(WINDOW), 16'(PAYLOAD)};
      REG_CAPS1:           rdata = {16'(N_TX_CTX), 16'(N_RX_CTX)};
      REG_CAPS2:           rdata = {16'(N_SOURCES), 16'(N_REGIONS)};
      REG_MAX_BUSY:        rdata = 32'(max_busy_o);
      REG_BACKOFF:         rdata = 32'(backoff_o);
      REG_CAPS3:           rdata = {8'd0, 8'(N_QUEUES), 16'(N_TICKETS)};
      REG_RX_QUOTA:        rdata = 32'(rx_quota_o);
      REG_TICKET_QUOTA:    rdata = 32'(ticket_quota_o);
      REG_ANSWERS:         rdata = 32'(answers_o);
      REG_ANSWER_QUOTA:    rdata = 32'(answer_quota_o);
      REG_READ_NUMBER:     rdata = 32'(read_number_o);
      REG_RX_AHEAD:        rdata = 32'(rx_ahead_o);
      REG_ADAPT:           rdata = 32'(adapt_o);
      REG_TIMEOUT_FLOOR:   rdata = 32'(floor_o);
      REG_REGION_KEY:      rdata = 32'(region_key_o);
      REG_REGION_RIGHTS:   rdata = 32'(region_rights_q);
      REG_REGION_QUEUE:    rdata = 32'(region_queue_o);
      REG_REGION_OWNER:    rdata = 32'(region_owner_o);
      REG_POST_KEY:        rdata = 32'(post_key_q);
      REG_STATUS:          rdata = {27'd0, rx_idle_i, tx_idle_i, cpl_valid_i, !post_ready, engine_ready_i};
      REG_NODE_ID:         rdata = 32'(node_id_o);
      REG_IRQ_ENABLE:      rdata = 32'(irq_enable_q);
      REG_IRQ_STATUS:      rdata = 32'(irq_status);
      REG_REGION_BASE_LO:  rdata = region_base_q[31:0];
      REG_REGION_BASE_HI:  rdata = region_base_q[63:32];
      REG_REGION_LIMIT_LO: rdata = region_limit_q[31:0];
      REG_REGION_LIMIT_HI: rdata = region_limit_q[63:32];
      REG_TICK_CYCLES:     rdata = 32'(tick_cycles_o);
      REG_RX_TIMEOUT:      rdata = 32'(rx_timeout_o);
      REG_TX_RETRY:        rdata = 32'(tx_retry_o);
      REG_TX_DEAD:         rdata = 32'(tx_dead_o);
      REG_ASK_FROM_AFTER:  rdata = 32'(ask_from_after_o);
      REG_MAX_SILENT:      rdata = 32'(max_silent_o);
      REG_MAX_RETRY:       rdata = 32'(max_retry_o);
      REG_MODE:            rdata = 32'(weft_mode_o);
      REG_MSGID:           rdata = 32'(msgid_o);
      REG_BAD_ACCESS:      rdata = bad_access_q;
      REG_BUS_ERRORS:      rdata = bus_errors_q;
      REG_CTL_DROPPED:     rdata = ctl_dropped_q;
      REG_POST_SRC_LO:     rdata = post_src_q[31:0];
      REG_POST_SRC_HI:     rdata = post_src_q[63:32];
      REG_POST_DST_LO:     rdata = post_dst_q[31:0];
      REG_POST_DST_HI:     rdata = post_dst_q[63:32];
      REG_POST_BYTES:      rdata = post_bytes_q;
      REG_POST_NODE:       rdata = post_node_q;
      REG_CPL_COUNT:       rdata = 32'(cpl_count_i);
      REG_CPL:             rdata = cpl_valid_i ? {8'h80, cpl_i.status, cpl_i.tag} : '0;
      default: begin
        read_ok = is_counter;
        rdata   = counted[6:4] == 3'b010 ? tx_count + inbox_count : counted[6:4] == 3'b011 ? tx_count : counted[6:4] == 3'b101 ? inbox_count : rx_count;
      end
    endcase
  end

  // ------------------------------------------------------------------------------------------------- counters
  counter_bank #(
    .N(RX_COUNTERS)
  ) i_rx_counters (
    .clk_i,
    .rst_ni,
    .ready_o(rx_ready),
    .inc_i  (rx_event_i),
    .idx_i  ({rx_outcome_i[6], rx_outcome_i[4:0]}),
    .raddr_i({counted[6], counted[4:0]}),
    .rdata_o(rx_count)
  );

  counter_bank #(
    .N(INBOX_COUNTERS)
  ) i_inbox_counters (
    .clk_i,
    .rst_ni,
    .ready_o(inbox_ready),
    .inc_i  (inbox_event_i),
    .idx_i  ({inbox_outcome_i[6], inbox_outcome_i[3:0]}),
    .raddr_i({counted[6], counted[3:0]}),
    .rdata_o(inbox_count)
  );

  counter_bank #(
    .N(COUNTERS)
  ) i_tx_counters (
    .clk_i,
    .rst_ni,
    .ready_o(tx_ready),
    .inc_i  (tx_event_i),
    .idx_i  (tx_outcome_i[4:0]),
    .raddr_i(counted[4:0]),
    .rdata_o(tx_count)
  );

  assign ready_o = rx_ready && tx_ready && inbox_ready;

  logic unused;
  assign unused = ^{rx_outcome_i[7], rx_outcome_i[5], tx_outcome_i[7:5], inbox_outcome_i[7], inbox_outcome_i[5:4], cpl_i.origin};  // say which half, and that it is of the registers
endmodule

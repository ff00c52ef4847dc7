// SPDX-License-Identifier: Apache-2.0
// Switch lookup block: requests of several ports in, port sets out, by tables that are loaded while traffic flows (docs/switch.md).
//
// N_IN       request streams that share the lookup, in turn
// N_PORTS    ports of the switch, 2 to 64
// N_COLOURS  multicast entries, a power of two; of each input port with PER_PORT
// N_UNICAST  unicast entries, a power of two up to 32,768
//
// Latency: four clocks from request to result, a lookup a clock. A clock in SCRUB_PERIOD goes to the scrubber.
// A result is decided in the clock in which it is taken: while it waits, ports, VC and outcome follow alive_i, combinationally.
`include "weft_assert.svh"

module switch_lookup
  import switch_lookup_formats_pkg::*;
  import switch_pkg::*;
#(
  parameter int unsigned N_IN      = 2,
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
  // management packets, in words (switch_management)
  input  logic               s_mgmt_valid_i,
  output logic               s_mgmt_ready_o,
  input  logic [       31:0] s_mgmt_data_i,
  input  logic               s_mgmt_last_i,
  input  logic [N_PORTS-1:0] alive_i,          // bit i: port i + 1
  input  logic [   N_IN-1:0] s_req_valid_i,
  output logic [   N_IN-1:0] s_req_ready_o,
  input  logic [N_IN*REQUEST_BITS-1:0] s_req_i,
  output logic               m_res_valid_o,
  input  logic               m_res_ready_i,
  output request_t           m_res_request_o,
  output outcome_e           m_res_outcome_o,
  output logic [N_PORTS-1:0] m_res_ports_o,
  output logic [        1:0] m_res_vc_o,
  // for monitors: the clock in which tables are read, in which an image comes into use, in which a management packet is judged or played
  output logic               trace_fetch_o,
  output request_t           trace_request_o,
  output logic               trace_taken_o,
  output logic               trace_mgmt_o
);
  localparam int unsigned COLOUR_W = $clog2(N_COLOURS);
  localparam int unsigned M_ADDR_W = COLOUR_W + (PER_PORT ? $clog2(N_PORTS) : 0);
  localparam int unsigned U_ADDR_W = $clog2(N_UNICAST);
  localparam int unsigned SCRUB_W  = M_ADDR_W > U_ADDR_W ? M_ADDR_W : U_ADDR_W;

  if (N_PORTS < 2 || N_PORTS > 64) begin : gen_illegal_ports
    $fatal(1, "switch_lookup: N_PORTS is %0d, but must be 2 to 64", N_PORTS);
  end
  if (N_COLOURS < 2 || N_COLOURS > 65536 || (N_COLOURS & (N_COLOURS - 1)) != 0) begin : gen_illegal_colours
    $fatal(1, "switch_lookup: N_COLOURS is %0d, but must be a power of two from 2 to 65536", N_COLOURS);
  end
  if (N_UNICAST < 2 || N_UNICAST > 32768 || (N_UNICAST & (N_UNICAST - 1)) != 0) begin : gen_illegal_unicast
    $fatal(1, "switch_lookup: N_UNICAST is %0d, but must be a power of two from 2 to 32768", N_UNICAST);
  end

  // All that a decision needs but the live ports and the random number.
  typedef struct packed {
    request_t           request;
    config_t            settings;
    logic               known;
    logic               in_table;
    logic               bad;
    logic               valid;
    logic [7:0]         primary;
    logic [N_PORTS-1:0] ports;
  } fetched_t;

  // ------------------------------------------------------------------------------------------------- registers and loader
  logic        reg_begin, reg_word_valid, reg_using, mgmt_begin, mgmt_word_valid, mgmt_playing, mgmt_dropped, word_ready, taken, refused, bank, m_load, u_load, seed_we, retire;
  logic [1:0]  corrected, bad, mended;  // entries
  logic [31:0] reg_word, mgmt_word, words, seed;
  logic [63:0] switch_id, key;
  management_drop_e mgmt_drop;
  logic [15:0] period;
  load_state_e load_state;
  load_fault_e load_fault;
  config_t     config_now;
  logic [M_ADDR_W-1:0] m_laddr;
  logic [U_ADDR_W-1:0] u_laddr;
  logic [N_PORTS:0]    m_ldata, m_rdata;
  logic [N_PORTS+8:0]  u_ldata, u_rdata;

  switch_regs #(.N_PORTS(N_PORTS), .N_COLOURS(N_COLOURS), .N_UNICAST(N_UNICAST), .PER_PORT(PER_PORT)) i_regs (
    .clk_i, .rst_ni, .s_axil_awaddr_i, .s_axil_awvalid_i, .s_axil_awready_o, .s_axil_wdata_i, .s_axil_wstrb_i, .s_axil_wvalid_i,
    .s_axil_wready_o, .s_axil_bresp_o, .s_axil_bvalid_o, .s_axil_bready_i, .s_axil_araddr_i, .s_axil_arvalid_i, .s_axil_arready_o,
    .s_axil_rdata_o, .s_axil_rresp_o, .s_axil_rvalid_o, .s_axil_rready_i, .irq_o,
    .switch_id_o(switch_id), .key_o(key), .scrub_period_o(period), .seed_we_o(seed_we), .seed_o(seed),
    .busy_i(mgmt_playing), .using_o(reg_using), .begin_o(reg_begin), .word_valid_o(reg_word_valid), .word_ready_i(word_ready), .word_o(reg_word),
    .state_i(load_state), .fault_i(load_fault), .words_i(words), .version_i(config_now.version),
    .taken_i(taken), .refused_i(refused), .packet_dropped_i(mgmt_dropped), .packet_drop_i(mgmt_drop),
    .retire_i(retire), .outcome_i(m_res_outcome_o),
    .corrected_i(corrected), .bad_i(bad), .mended_i(mended), .alive_i
  );

  switch_management i_management (
    .clk_i, .rst_ni, .key_i(key), .s_valid_i(s_mgmt_valid_i), .s_ready_o(s_mgmt_ready_o), .s_data_i(s_mgmt_data_i), .s_last_i(s_mgmt_last_i),
    .state_i(load_state), .words_i(words), .hold_i(reg_using), .begin_o(mgmt_begin), .word_valid_o(mgmt_word_valid), .word_o(mgmt_word),
    .playing_o(mgmt_playing), .dropped_o(mgmt_dropped), .drop_o(mgmt_drop)
  );

  switch_image #(.N_PORTS(N_PORTS), .N_COLOURS(N_COLOURS), .N_UNICAST(N_UNICAST), .PER_PORT(PER_PORT)) i_image (
    .clk_i, .rst_ni, .switch_id_i(switch_id), .begin_i(reg_begin || mgmt_begin), .word_valid_i(reg_word_valid || mgmt_word_valid), .word_ready_o(word_ready),
    .word_i(mgmt_playing ? mgmt_word : reg_word),
    .state_o(load_state), .fault_o(load_fault), .words_o(words), .taken_o(taken), .refused_o(refused), .config_o(config_now), .bank_o(bank),
    .m_load_o(m_load), .m_addr_o(m_laddr), .m_data_o(m_ldata), .u_load_o(u_load), .u_addr_o(u_laddr), .u_data_o(u_ldata)
  );

  // ------------------------------------------------------------------------------------------------- requests in turn, scrubber
  request_t    requests[N_IN], a_request;
  logic        a_valid, run, scrub, fetch;
  logic [15:0] wait_q;
  logic [SCRUB_W-1:0] scrub_addr_q;

  for (genvar i = 0; i < int'(N_IN); i++) begin : gen_requests
    assign requests[i] = request_t'(s_req_i[i*REQUEST_BITS+:REQUEST_BITS]);
  end

  stream_arbiter #(.N(N_IN), .T(request_t)) i_requests (
    .clk_i, .rst_ni, .valid_i(s_req_valid_i), .ready_o(s_req_ready_o), .data_i(requests),
    .valid_o(a_valid), .ready_i(run && !scrub), .data_o(a_request)
  );
  assign scrub = config_now.loaded && period != '0 && wait_q == '0;
  assign fetch = a_valid && run && !scrub;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wait_q       <= '0;
      scrub_addr_q <= '0;
    end else if (scrub) begin
      if (run) begin
        wait_q       <= period == 16'd1 ? 16'd1 : period - 1'b1;  // lookups get every second clock at least
        scrub_addr_q <= scrub_addr_q + 1'b1;
      end
    end else if (wait_q > period) wait_q <= period;
    else if (wait_q != '0) wait_q <= wait_q - 1'b1;
  end

  // ------------------------------------------------------------------------------------------------- A: index, read
  logic        known, multicast, both, column_fits, in_table;
  logic [27:0] u_index;
  logic [31:0] m_index;

  assign known       = 32'(a_request.kind) <= 32'(KIND_MULTICAST) && a_request.in_port != '0 && 32'(a_request.in_port) <= N_PORTS;
  assign multicast   = a_request.kind == KIND_MULTICAST;
  assign both        = config_now.role == ROLE_LEAF || (config_now.role != ROLE_PLAIN && config_now.fine);
  assign column_fits = (a_request.column >> config_now.column_bits) == '0;

  always_comb begin : p_index
    if (both) u_index = (28'(a_request.row) << config_now.column_bits) | 28'(a_request.column);
    else if (config_now.role == ROLE_ROW) u_index = 28'(a_request.column);
    else if (config_now.role == ROLE_COLUMN) u_index = 28'(a_request.row);
    else u_index = 28'(a_request.index);
    m_index = 32'(a_request.index);
    if (PER_PORT) m_index = m_index | ((32'(a_request.in_port) - 32'd1) << COLOUR_W);
    in_table = multicast ? 32'(a_request.index) < N_COLOURS : 32'(u_index) < N_UNICAST && (!both || column_fits);
  end

  logic m_corrected, m_bad, u_corrected, u_bad, mend_m, mend_u, m_re, u_re;
  logic [SCRUB_W-1:0] b_addr_q;
  assign m_re = run && (scrub || (fetch && multicast));
  assign u_re = run && (scrub || (fetch && !multicast));

  switch_table #(.ENTRIES(2 ** M_ADDR_W), .WIDTH(N_PORTS + 1)) i_multicast (
    .clk_i, .bank_i(bank), .load_i(m_load), .load_addr_i(m_laddr), .load_data_i(m_ldata), .mend_i(mend_m), .mend_addr_i(b_addr_q[M_ADDR_W-1:0]),
    .re_i(m_re), .raddr_i(scrub ? scrub_addr_q[M_ADDR_W-1:0] : m_index[M_ADDR_W-1:0]), .rdata_o(m_rdata), .corrected_o(m_corrected), .bad_o(m_bad)
  );
  switch_table #(.ENTRIES(N_UNICAST), .WIDTH(N_PORTS + 9)) i_unicast (
    .clk_i, .bank_i(bank), .load_i(u_load), .load_addr_i(u_laddr), .load_data_i(u_ldata), .mend_i(mend_u), .mend_addr_i(b_addr_q[U_ADDR_W-1:0]),
    .re_i(u_re), .raddr_i(scrub ? scrub_addr_q[U_ADDR_W-1:0] : u_index[U_ADDR_W-1:0]), .rdata_o(u_rdata), .corrected_o(u_corrected), .bad_o(u_bad)
  );

  // ------------------------------------------------------------------------------------------------- B: correct
  logic     b_valid_q, b_scrub_q, b_current_q, b_in_table_q, b_known_q, b_multicast, b_reads, reads_m, reads_u;
  request_t b_request_q;
  config_t  b_config_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      b_valid_q <= 1'b0;
      b_scrub_q <= 1'b0;
    end else if (run) begin
      b_valid_q <= fetch;
      b_scrub_q <= scrub;
    end
    if (run) begin
      b_request_q  <= a_request;
      b_config_q   <= config_now;
      b_in_table_q <= in_table;
      b_known_q    <= known;
      b_addr_q     <= scrub_addr_q;
    end
    b_current_q <= !taken && (run || b_current_q);
  end
  assign b_multicast = b_request_q.kind == KIND_MULTICAST;
  assign b_reads     = b_valid_q && b_config_q.loaded && b_known_q && b_in_table_q;
  assign mend_m      = run && b_scrub_q && m_corrected && b_current_q && !m_load;
  assign mend_u      = run && b_scrub_q && u_corrected && b_current_q && !u_load;
  assign reads_m     = run && (b_scrub_q || (b_reads && b_multicast));
  assign reads_u     = run && (b_scrub_q || (b_reads && !b_multicast));
  assign mended      = 2'(mend_m) + 2'(mend_u);
  assign corrected   = 2'(reads_m && m_corrected) + 2'(reads_u && u_corrected);
  assign bad         = 2'(reads_m && m_bad) + 2'(reads_u && u_bad);

  // ------------------------------------------------------------------------------------------------- C: decide
  fetched_t    corrected_b, c;
  logic [31:0] random_q, number;

  always_comb begin : p_entry
    corrected_b = '{
        request: b_request_q,
        settings: b_config_q,
        known: b_known_q,
        in_table: b_in_table_q,
        bad: b_multicast ? m_bad : u_bad,
        valid: b_multicast ? m_rdata[0] : u_rdata[0],
        primary: u_rdata[8:1],
        ports: b_multicast ? m_rdata[N_PORTS:1] : u_rdata[N_PORTS+8:9]
    };
  end
  skid_buffer #(.T(fetched_t)) i_fetched (
    .clk_i, .rst_ni, .valid_i(b_valid_q), .ready_o(run), .data_i(corrected_b), .valid_o(m_res_valid_o), .ready_i(m_res_ready_i), .data_o(c)
  );

  assign number = random_step(random_q);
  assign retire = m_res_valid_o && m_res_ready_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) random_q <= RESET_SEED;
    else if (seed_we) random_q <= seed;
    else if (retire) random_q <= number;
  end

  switch_decide #(.N_PORTS(N_PORTS)) i_decide (
    .request_i(c.request), .config_i(c.settings), .known_i(c.known), .in_table_i(c.in_table), .bad_i(c.bad), .valid_i(c.valid), .primary_i(c.primary),
    .ports_i(c.ports), .alive_i, .number_i(number[31:16]), .outcome_o(m_res_outcome_o), .ports_o(m_res_ports_o), .vc_o(m_res_vc_o)
  );
  assign m_res_request_o = c.request;

  assign trace_fetch_o   = fetch;
  assign trace_request_o = a_request;
  assign trace_taken_o   = taken;
  assign trace_mgmt_o    = !s_mgmt_ready_o;

  `ASSERT(NoDeadPort, !m_res_valid_o || (m_res_ports_o & ~alive_i) == '0)
  `ASSERT(PortsIfForwarded, !m_res_valid_o || (m_res_outcome_o == OUTCOME_FORWARD) == (m_res_ports_o != '0))
endmodule

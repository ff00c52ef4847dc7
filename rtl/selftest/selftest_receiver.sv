// SPDX-License-Identifier: Apache-2.0
// Self-test of the RDMA receiver: headers from a file, one a clock, as fast as it takes them; the outcome of each is compared with the file of
// what the golden model says, and a signature covers contexts, windows, writes and control packets.
//
// VECTORS, EXPECTED  files (docs/selftest.md); DEPTH  words of each, a power of two
// Others             as of rdma_receiver
`include "weft_assert.svh"

module selftest_receiver
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
  import selftest_formats_pkg::*;
  import selftest_pkg::*;
#(
  parameter              VECTORS   = "",
  parameter              EXPECTED  = "",
  parameter int unsigned DEPTH     = 256,
  parameter int unsigned N_RX_CTX  = 8,
  parameter int unsigned WINDOW    = 16,
  parameter int unsigned PAYLOAD   = 64,
  parameter int unsigned PIDX_W    = 8,
  parameter int unsigned CID_W     = 5,
  parameter int unsigned SID_W     = 4,
  parameter int unsigned MSGID_W   = 6,
  parameter int unsigned NODE_W    = 4,
  parameter int unsigned ADDR_W    = 24,
  parameter int unsigned N_REGIONS = 4,
  parameter int unsigned N_SOURCES = 2
) (
  input  logic    clk_i,
  input  logic    rst_ni,
  output result_t result_o
);
  localparam int unsigned ADDRESS_W = $clog2(DEPTH);
  localparam int unsigned BASE_W = ADDR_W - $clog2(PAYLOAD);
  localparam int unsigned TRACE_WORDS = 2 + (WINDOW + 31) / 32;
  localparam logic [15:0] NODE = 16'd1;  // this one
  localparam logic [15:0] KEY  = 16'd5;  // of region 0, which is all of memory and open to writes

  // ------------------------------------------------------------------------------------------------- vectors into it
  typedef enum logic [1:0] {START, REGION, STREAM, SENT} state_e;
  state_e               state_q;
  logic [ADDRESS_W-1:0] address_q;  // of the vector that is read next
  logic                 valid_q, ready, taken, rx_ready;
  logic [15:0]          sent_q;
  receiver_vector_t     vector;
  header_t              header;
  logic                 unused;  // reserved bits

  assign taken  = valid_q && rx_ready;
  assign unused = ^vector.reserved;

  selftest_rom #(.FILE(VECTORS), .DEPTH(DEPTH), .WIDTH(RECEIVER_VECTOR_BITS)) i_vectors (
    .clk_i, .re_i(state_q == STREAM && (!valid_q || rx_ready)), .addr_i(address_q), .data_o(vector)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= START;
      address_q <= '0;
      valid_q   <= 1'b0;
      sent_q    <= '0;
    end else begin
      if (taken) sent_q <= sent_q + 1'b1;
      unique case (state_q)
        START:  if (ready) state_q <= REGION;
        REGION: state_q <= STREAM;
        STREAM: begin
          if (taken && vector.ends) begin
            valid_q <= 1'b0;
            state_q <= SENT;
          end else if (!valid_q || rx_ready) begin
            valid_q   <= 1'b1;
            address_q <= address_q + 1'b1;
          end
        end
        SENT: ;
      endcase
    end
  end

  always_comb begin
    header       = '0;
    header.ptype = 8'(vector.ptype);
    header.flags = vector.flags;
    header.dst   = NODE;
    header.src   = 16'(vector.src);
    header.sid   = 16'(vector.sid);
    header.cid   = 16'(vector.cid);
    header.gen   = vector.gen;
    header.msgid = 24'(vector.msgid);
    header.len   = 16'(vector.len);
    header.pidx  = 32'(vector.pidx);
    header.arg   = 64'(vector.arg);
  end

  // ------------------------------------------------------------------------------------------------- receiver; memory and network take everything
  logic                cmd_valid, cmd_write, ctl_valid, trace_valid, trace_timeout;
  logic [ADDR_W-1:0]   cmd_addr;
  logic [15:0]         cmd_len, trace_cid, writes_q;
  logic [CID_W-1:0]    cmd_cid;
  logic [31:0]         trace_wbase;
  logic [WINDOW-1:0]   trace_wvec;
  header_t             ctl;
  outcome_e            trace_outcome;

  rdma_receiver #(
    .N_RX_CTX(N_RX_CTX), .WINDOW(WINDOW), .PAYLOAD(PAYLOAD), .PIDX_W(PIDX_W), .CID_W(CID_W), .SID_W(SID_W), .MSGID_W(MSGID_W), .NODE_W(NODE_W), .ADDR_W(ADDR_W),
    .N_REGIONS(N_REGIONS), .N_SOURCES(N_SOURCES), .TRANSFERS(1'b0), .REPEATS(1'b0)
  ) i_receiver (
    .clk_i,
    .rst_ni,
    .ready_o            (ready),
    .idle_o             (),
    .node_id_i          (NODE),
    .region_set_i       (state_q == REGION),
    .region_idx_i       ('0),
    .region_write_i     (1'b1),
    .region_read_i      (1'b0),
    .region_receive_i   (1'b0),
    .region_key_i       (KEY),
    .region_base_i      ({BASE_W{1'b0}}),
    .region_last_i      ('1),
    .timeout_i          ('1),  // never comes: time stands still
    .ask_from_after_i   (2'd3),
    .max_silent_i       (4'd15),
    .backoff_i          (2'd3),
    .ahead_i            ('0),
    .quota_i            ('0),
    .weft_mode_i        (1'b1),
    .now_i              ('0),
    .hdr_valid_i        (valid_q),
    .hdr_ready_o        (rx_ready),
    .hdr_i              (header),
    .verdict_i          (outcome_e'(0)),
    .hdr_busy_i         (1'b0),
    .req_valid_i        (1'b0),
    .req_ready_o        (),
    .req_i              ('0),
    .answer_asked_i     (1'b0),
    .answer_room_i      (1'b0),
    .answer_take_o      (),
    .cmd_valid_o        (cmd_valid),
    .cmd_ready_i        (1'b1),
    .cmd_write_o        (cmd_write),
    .cmd_addr_o         (cmd_addr),
    .cmd_len_o          (cmd_len),
    .cmd_cid_o          (cmd_cid),
    .writes_done_i      (writes_q),
    .ctl_valid_o        (ctl_valid),
    .ctl_ready_i        (1'b1),
    .ctl_o              (ctl),
    .ctl_grant_o        (),
    .ctl_dropped_o      (),
    .read_valid_o       (),
    .read_o             (),
    .ret_valid_o        (),
    .ret_o              (),
    .trace_valid_o      (trace_valid),
    .trace_timeout_o    (trace_timeout),
    .trace_outcome_o    (trace_outcome),
    .trace_room_o       (),
    .trace_offer_valid_o(),
    .trace_offer_cid_o  (),
    .trace_over_quota_o (),
    .trace_admit_o      (),
    .trace_from_inbox_o (),
    .trace_answer_asked_o(),
    .trace_answer_room_o(),
    .trace_cid_o        (trace_cid),
    .trace_now_o        (),
    .trace_wbase_o      (trace_wbase),
    .trace_wvec_o       (trace_wvec)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) writes_q <= '0;
    else if (cmd_valid && cmd_write) writes_q <= writes_q + 1'b1;
  end

  // ------------------------------------------------------------------------------------------------- what came of it
  logic [31:0] events, writes, controls;
  logic [32*TRACE_WORDS-65:0] wvec_words;
  header_t     sent_ctl;

  always_comb begin
    wvec_words             = '0;
    wvec_words[WINDOW-1:0] = trace_wvec;
    sent_ctl               = ctl;
    sent_ctl.crc           = '0;  // comes after the receiver
  end

  selftest_signature #(.WORDS(TRACE_WORDS)) i_events (
    .clk_i, .rst_ni, .valid_i(trace_valid), .record_i({wvec_words, trace_wbase, 8'b0, 8'(trace_outcome), trace_cid}), .signature_o(events)
  );
  selftest_signature #(.WORDS(3)) i_writes (
    .clk_i, .rst_ni, .valid_i(cmd_valid && cmd_write), .record_i({16'(cmd_cid), 16'(48'(cmd_addr) >> 32), 32'(cmd_addr), 16'b0, cmd_len}), .signature_o(writes)
  );
  selftest_signature #(.WORDS(HEADER_BITS / 32)) i_controls (
    .clk_i, .rst_ni, .valid_i(ctl_valid), .record_i(sent_ctl), .signature_o(controls)
  );

  selftest_verdict #(.FILE(EXPECTED), .DEPTH(DEPTH)) i_verdict (
    .clk_i, .rst_ni, .running_i(1'b1), .answer_i(trace_valid), .word_i({23'b0, trace_timeout, 8'(trace_outcome)}), .sent_i(sent_q),
    .sent_all_i(state_q == SENT), .signature_i(events ^ {writes[23:0], writes[31:24]} ^ {controls[15:0], controls[31:16]}), .result_o
  );

  `ASSERT(TimeStandsStill, !trace_valid || !trace_timeout)
endmodule

// SPDX-License-Identifier: Apache-2.0
// Self-test of the switch lookup block: steps from a file load a table image through its registers, change which ports are alive, and ask
// for lookups, one a clock; each answer is compared with the file of what the golden model says.
//
// STEPS, EXPECTED  files (docs/selftest.md); DEPTH, ANSWERS  words of them, powers of two
// Others           as of switch_lookup; N_PORTS up to 24
`include "weft_assert.svh"

module selftest_lookup
  import switch_lookup_formats_pkg::*;
  import selftest_formats_pkg::*;
  import selftest_pkg::*;
#(
  parameter              STEPS     = "",
  parameter              EXPECTED  = "",
  parameter int unsigned DEPTH     = 512,
  parameter int unsigned ANSWERS   = 256,
  parameter int unsigned N_PORTS   = 8,
  parameter int unsigned N_COLOURS = 16,
  parameter int unsigned N_UNICAST = 64
) (
  input  logic    clk_i,
  input  logic    rst_ni,
  output result_t result_o
);
  if (N_PORTS > 24) begin : gen_illegal_ports
    $fatal(1, "selftest_lookup: N_PORTS is %0d, but an answer has room for 24", N_PORTS);
  end

  localparam int unsigned ADDRESS_W = $clog2(DEPTH);

  typedef enum logic [1:0] {STREAM, ANSWER, SENT, REFUSED} state_e;  // REFUSED: a register write, which ends as NO_ANSWER
  state_e               state_q;
  logic [ADDRESS_W-1:0] address_q;  // of the step that is read next
  logic                 valid_q, looks, writes, sets, step_done, req_ready, aw_ready, w_ready, b_valid;
  logic [1:0]           b_resp;
  logic [15:0]          asked_q, answered_q;
  logic [N_PORTS-1:0]   alive_q;
  lookup_step_t         step;
  logic                 unused;  // reserved bits, addresses beyond the block's

  assign unused    = ^{step.reserved, step.reserved1, step.address};
  assign looks     = valid_q && step.operation == OPERATION_LOOKUP;
  assign sets      = valid_q && step.operation == OPERATION_ALIVE;
  assign writes    = valid_q && step.operation == OPERATION_WRITE && state_q == STREAM;
  assign step_done = (looks && req_ready) || (sets && asked_q == answered_q) || (state_q == ANSWER && b_valid && b_resp == 2'b00);

  selftest_rom #(.FILE(STEPS), .DEPTH(DEPTH), .WIDTH(LOOKUP_STEP_BITS)) i_steps (
    .clk_i, .re_i(state_q != SENT && (!valid_q || step_done)), .addr_i(address_q), .data_o(step)
  );

  // ------------------------------------------------------------------------------------------------- the block
  logic               res_valid, taken;
  outcome_e           res_outcome;
  logic [N_PORTS-1:0] res_ports;
  logic [1:0]         res_vc;
  answer_t            answer;

  // Address and data of a write are offered together until both are taken: the block takes them in one clock.
  switch_lookup #(.N_IN(1), .N_PORTS(N_PORTS), .N_COLOURS(N_COLOURS), .N_UNICAST(N_UNICAST)) i_lookup (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr_i (step.address[9:0]),
    .s_axil_awvalid_i(writes && w_ready),
    .s_axil_awready_o(aw_ready),
    .s_axil_wdata_i  (step.data[31:0]),
    .s_axil_wstrb_i  ('1),
    .s_axil_wvalid_i (writes && aw_ready),
    .s_axil_wready_o (w_ready),
    .s_axil_bresp_o  (b_resp),
    .s_axil_bvalid_o (b_valid),
    .s_axil_bready_i (1'b1),
    .s_axil_araddr_i ('0),
    .s_axil_arvalid_i(1'b0),
    .s_axil_arready_o(),
    .s_axil_rdata_o  (),
    .s_axil_rresp_o  (),
    .s_axil_rvalid_o (),
    .s_axil_rready_i (1'b1),
    .irq_o           (),
    .s_mgmt_valid_i  (1'b0),
    .s_mgmt_ready_o  (),
    .s_mgmt_data_i   ('0),
    .s_mgmt_last_i   (1'b0),
    .alive_i         (alive_q),
    .s_req_valid_i   (looks),
    .s_req_ready_o   (req_ready),
    .s_req_i         (step.data),
    .m_res_valid_o   (res_valid),
    .m_res_ready_i   (1'b1),
    .m_res_request_o (),
    .m_res_outcome_o (res_outcome),
    .m_res_ports_o   (res_ports),
    .m_res_vc_o      (res_vc),
    .trace_fetch_o   (),
    .trace_request_o (),
    .trace_taken_o   (taken),
    .trace_mgmt_o    ()
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q    <= STREAM;
      address_q  <= '0;
      valid_q    <= 1'b0;
      asked_q    <= '0;
      answered_q <= '0;
      alive_q    <= '1;
    end else begin
      if (looks && req_ready) asked_q <= asked_q + 1'b1;
      if (res_valid) answered_q <= answered_q + 1'b1;
      if (sets && step_done) alive_q <= step.data[N_PORTS-1:0];
      unique case (state_q)
        STREAM:  if (writes && aw_ready && w_ready) state_q <= ANSWER;
        ANSWER:  if (b_valid) state_q <= b_resp == 2'b00 ? STREAM : REFUSED;
        default: ;
      endcase
      if (state_q != SENT && (!valid_q || step_done)) begin
        valid_q   <= 1'b1;
        address_q <= address_q + 1'b1;
        if (valid_q && step.ends) begin
          valid_q <= 1'b0;
          state_q <= SENT;
        end
      end
    end
  end

  // ------------------------------------------------------------------------------------------------- what came of it
  logic [31:0] signature;

  assign answer = '{reserved: '0, vc: res_vc, outcome: res_outcome, ports: 24'(res_ports)};

  // An image that comes into use leaves its mark, too.
  selftest_signature #(.WORDS(1)) i_signature (.clk_i, .rst_ni, .valid_i(res_valid || taken), .record_i(res_valid ? answer : IMAGE_MARK), .signature_o(signature));

  selftest_verdict #(.FILE(EXPECTED), .DEPTH(ANSWERS)) i_verdict (
    .clk_i, .rst_ni, .running_i(1'b1), .answer_i(res_valid), .word_i(answer), .sent_i(asked_q), .sent_all_i(state_q == SENT), .signature_i(signature), .result_o
  );

  `ASSERT(OnlyWhatWasAsked, answered_q != asked_q || !res_valid)
  `ASSERT(ImagesBetweenLookups, !taken || answered_q == asked_q)
endmodule

// SPDX-License-Identifier: Apache-2.0
// Self-test of the RDMA receiver and the switch lookup block on an FPGA (docs/selftest.md): runs once after reset, says on LEDs and over a serial line
// what came of it.
//
// RECEIVER, LOOKUP  units that are there
// *_DEPTH           words of their files, powers of two; L_ANSWERS: of the lookup's answers
// CLOCKS            clocks a bit of the serial line
// R_*, L_*          files, and parameters of rdma_receiver and switch_lookup
//
// led_o: 0, 1: receiver passed, failed; 2, 3: lookup block passed, failed; 4: all that is there has passed; 5: clock, changes every 2^23 clocks
module selftest_top
  import selftest_pkg::*;
#(
  parameter bit          RECEIVER    = 1'b1,
  parameter bit          LOOKUP      = 1'b1,
  parameter int unsigned CLOCKS      = 104,
  parameter              R_VECTORS   = "receiver.hex",
  parameter              R_EXPECTED  = "receiver_expected.hex",
  parameter int unsigned R_DEPTH     = 256,
  parameter int unsigned N_RX_CTX    = 8,
  parameter int unsigned WINDOW      = 16,
  parameter int unsigned PAYLOAD     = 64,
  parameter int unsigned PIDX_W      = 8,
  parameter int unsigned CID_W       = 5,
  parameter int unsigned SID_W       = 4,
  parameter int unsigned MSGID_W     = 6,
  parameter int unsigned NODE_W      = 4,
  parameter int unsigned ADDR_W      = 24,
  parameter int unsigned N_REGIONS   = 4,
  parameter int unsigned N_SOURCES   = 2,
  parameter              L_STEPS     = "lookup.hex",
  parameter              L_EXPECTED  = "lookup_expected.hex",
  parameter int unsigned L_DEPTH     = 512,
  parameter int unsigned L_ANSWERS   = 256,
  parameter int unsigned N_PORTS     = 8,
  parameter int unsigned N_COLOURS   = 16,
  parameter int unsigned N_UNICAST   = 64
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  output logic [5:0] led_o,
  output logic       tx_o
);
  if (!RECEIVER && !LOOKUP) begin : gen_illegal_units
    $fatal(1, "selftest_top: nothing to test");
  end

  localparam int unsigned UNITS = 32'(RECEIVER) + 32'(LOOKUP);
  localparam int unsigned LOOKUP_UNIT = 32'(RECEIVER);  // number among the units
  localparam logic [31:0] LETTERS = !RECEIVER ? 32'(8'h4c) : LOOKUP ? {16'b0, 8'h4c, 8'h52} : 32'(8'h52);  // L and R

  result_t [UNITS-1:0] results;
  logic [1:0]          done, failed;  // receiver, lookup; what is not there is done
  logic [23:0]         beat_q;

  if (RECEIVER) begin : gen_receiver
    selftest_receiver #(
      .VECTORS(R_VECTORS), .EXPECTED(R_EXPECTED), .DEPTH(R_DEPTH), .N_RX_CTX(N_RX_CTX), .WINDOW(WINDOW), .PAYLOAD(PAYLOAD), .PIDX_W(PIDX_W), .CID_W(CID_W),
      .SID_W(SID_W), .MSGID_W(MSGID_W), .NODE_W(NODE_W), .ADDR_W(ADDR_W), .N_REGIONS(N_REGIONS), .N_SOURCES(N_SOURCES)
    ) i_receiver (.clk_i, .rst_ni, .result_o(results[0]));
    assign done[0]   = results[0].done;
    assign failed[0] = results[0].failed;
  end else begin : gen_no_receiver
    assign done[0]   = 1'b1;
    assign failed[0] = 1'b0;
  end

  if (LOOKUP) begin : gen_lookup
    selftest_lookup #(
      .STEPS(L_STEPS), .EXPECTED(L_EXPECTED), .DEPTH(L_DEPTH), .ANSWERS(L_ANSWERS), .N_PORTS(N_PORTS), .N_COLOURS(N_COLOURS), .N_UNICAST(N_UNICAST)
    ) i_lookup (.clk_i, .rst_ni, .result_o(results[LOOKUP_UNIT]));
    assign done[1]   = results[LOOKUP_UNIT].done;
    assign failed[1] = results[LOOKUP_UNIT].failed;
  end else begin : gen_no_lookup
    assign done[1]   = 1'b1;
    assign failed[1] = 1'b0;
  end

  selftest_report #(
    .UNITS(UNITS), .LETTERS(LETTERS), .CLOCKS(CLOCKS)
  ) i_report (.clk_i, .rst_ni, .start_i(&done), .result_i(results), .tx_o);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) beat_q <= '0;
    else beat_q <= beat_q + 1'b1;
  end

  assign led_o = {beat_q[23], &done && failed == '0, LOOKUP && done[1] && failed[1], LOOKUP && done[1] && !failed[1], RECEIVER && done[0] && failed[0],
                  RECEIVER && done[0] && !failed[0]};
endmodule

// SPDX-License-Identifier: Apache-2.0
// switch_decide, for any request, settings, entry, live ports and random number: no dead port, no multicast back to its input, nothing by an entry that is not there or
// cannot be corrected, one port for a unicast packet, never back by a backup. No clock matters: one is all there is to search.
`include "proof.svh"

module switch_decide_proof
  import switch_lookup_formats_pkg::*;
  import switch_pkg::*;
#(
  parameter int unsigned N_PORTS = 6
) (
  input logic                     clk_i, rst_ni, known_i, in_table_i, bad_i, valid_i,
  input logic [ REQUEST_BITS-1:0] request_i,
  input logic [$bits(config_t)-1:0] config_i,
  input logic [              7:0] primary_i,
  input logic [      N_PORTS-1:0] ports_i, alive_i,
  input logic [             15:0] number_i
);
  `PROOF_RESET

  request_t           request;
  config_t            settings;
  outcome_e           outcome;
  logic [N_PORTS-1:0] ports, input_bit, primary;
  logic [        1:0] vc;
  logic               multicast, fixed, backup;

  assign request  = request_t'(request_i);
  assign settings = config_t'(config_i);
  for (genvar i = 0; i < int'(N_PORTS); i++) begin : gen_bits
    assign input_bit[i] = 32'(request.in_port) == i + 1;
    assign primary[i]   = 32'(primary_i) == i + 1;
  end
  assign multicast = request.kind == KIND_MULTICAST;
  // What leaf switches do without looking an entry up.
  assign fixed  = !multicast && settings.role == ROLE_LEAF &&
                  ((request.row == settings.row && request.column == settings.column) || request.in_port == settings.row_port || request.in_port == settings.column_port);
  assign backup = !multicast && !fixed && (primary & alive_i) == '0;

  switch_decide #(.N_PORTS(N_PORTS)) dut (
    .request_i(request), .config_i(settings), .known_i, .in_table_i, .bad_i, .valid_i, .primary_i, .ports_i, .alive_i, .number_i,
    .outcome_o(outcome), .ports_o(ports), .vc_o(vc)
  );

  `PROVE(NeverDead, (ports & ~alive_i) == '0)
  `PROVE(NoMulticastBack, !multicast || (ports & input_bit) == '0)
  `PROVE(OnlyPortsOfTheTree, !multicast || (ports & ~ports_i) == '0)
  `PROVE(AllPortsOfTheTree, !multicast || outcome != OUTCOME_FORWARD || ports == (ports_i & alive_i & ~input_bit))
  `PROVE(OnlyByAnEntry, ports == '0 || fixed || (in_table_i && valid_i && !bad_i))
  `PROVE(OnlyWithTables, ports == '0 || (settings.loaded && known_i))
  `PROVE(ForwardsOrDrops, (outcome == OUTCOME_FORWARD) == (ports != '0))
  `PROVE(OnePort, multicast || (ports & (ports - 1'b1)) == '0)
  `PROVE(BackupIsAllowed, !backup || (ports & (~ports_i | input_bit)) == '0)
  `PROVE(BackupIfThereIsOne, outcome != OUTCOME_NO_BACKUP || (ports_i & alive_i & ~input_bit) == '0)
  `PROVE(OneTurnEach, outcome != OUTCOME_FORWARD || vc == request.vc || (fixed && vc == request.vc + 1'b1 && request.vc < settings.vc_max))
endmodule

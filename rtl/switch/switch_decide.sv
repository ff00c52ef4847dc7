// SPDX-License-Identifier: Apache-2.0
// The rules: where a packet goes, from its request, its table entry and the live ports (docs/switch.md). Combinational.
module switch_decide
  import switch_lookup_formats_pkg::*;
  import switch_pkg::*;
#(
  parameter int unsigned N_PORTS = 16
) (
  input  request_t           request_i,
  input  config_t            config_i,
  input  logic               known_i,      // a kind and an input port that there are
  input  logic               in_table_i,   // the index is within the table
  input  logic               bad_i,        // entry: cannot be corrected
  input  logic               valid_i,      // entry: is there
  input  logic [        7:0] primary_i,
  input  logic [N_PORTS-1:0] ports_i,
  input  logic [N_PORTS-1:0] alive_i,
  input  logic [       15:0] number_i,
  output outcome_e           outcome_o,
  output logic [N_PORTS-1:0] ports_o,
  output logic [        1:0] vc_o
);
  function automatic logic [N_PORTS-1:0] bit_of(logic [7:0] port);
    logic [N_PORTS-1:0] bits;
    for (int unsigned i = 0; i < N_PORTS; i++) bits[i] = 32'(port) == i + 1;
    return bits;
  endfunction

  logic               multicast, leaf, here, from_row, from_column, is_fixed, ends_here, second_turn;
  logic [7:0]         fixed_port;
  logic [N_PORTS-1:0] input_bit, primary, fixed, tree, candidates, backup;

  assign multicast   = request_i.kind == KIND_MULTICAST;
  assign leaf        = config_i.role == ROLE_LEAF;
  assign here        = leaf && request_i.row == config_i.row && request_i.column == config_i.column;
  assign from_row    = leaf && request_i.in_port == config_i.row_port;
  assign from_column = leaf && request_i.in_port == config_i.column_port;
  assign is_fixed    = here || from_row || from_column;
  assign second_turn = from_column && !here && request_i.vc >= config_i.vc_max;
  assign fixed_port  = here ? request_i.host : from_row ? config_i.column_port : config_i.row_port;
  assign ends_here   = (config_i.role == ROLE_ROW && request_i.row == config_i.row) ||
                       (config_i.role == ROLE_COLUMN && request_i.column == config_i.column);

  assign input_bit  = bit_of(request_i.in_port);
  assign primary    = bit_of(primary_i) & alive_i;
  assign fixed      = bit_of(fixed_port) & alive_i;
  assign tree       = ports_i & alive_i & ~input_bit;
  assign candidates = ports_i & alive_i & ~input_bit;

  switch_backup #(.N_PORTS(N_PORTS)) i_backup (.candidates_i(candidates), .number_i, .chosen_o(backup));

  always_comb begin : p_rules
    outcome_o = OUTCOME_FORWARD;
    ports_o   = '0;
    vc_o      = request_i.vc;
    if (!config_i.loaded) outcome_o = OUTCOME_NO_TABLE;
    else if (!known_i) outcome_o = OUTCOME_BAD_REQUEST;
    else if (!multicast && is_fixed) begin
      ports_o = fixed;
      if (from_column && !here) vc_o = request_i.vc + 1'b1;
      if (second_turn) outcome_o = OUTCOME_SECOND_TURN;
      else if (fixed == '0) outcome_o = OUTCOME_DEAD;
    end else if (!in_table_i) outcome_o = OUTCOME_NO_ENTRY;
    else if (bad_i) outcome_o = OUTCOME_TABLE_ERROR;
    else if (!valid_i) outcome_o = OUTCOME_NO_ENTRY;
    else if (multicast) begin
      ports_o = tree;
      if (tree == '0) outcome_o = OUTCOME_NO_MEMBER;
    end else if (primary != '0) ports_o = primary;
    else if (ends_here) outcome_o = OUTCOME_DEAD;
    else begin
      ports_o = backup;
      if (candidates == '0) outcome_o = OUTCOME_NO_BACKUP;
    end
    if (outcome_o != OUTCOME_FORWARD) begin
      ports_o = '0;
      vc_o    = '0;
    end
  end
  logic unused;
  assign unused = ^{config_i.fine, config_i.column_bits, config_i.version, request_i.reserved, request_i.index};
endmodule

// SPDX-License-Identifier: Apache-2.0
// barrier_core with barrier_completions, from reset on, for any commands, settings, members, ticks and packets: each arrival that is taken ends in one completion at most, no completion
// comes without one, there is always room for it, and it says the group's epoch. (That one comes at last is shown by the model in SPIN: it needs the others.)
//
// Software keeps a command until it is done, and writes the table of groups that are closed; registers see to both.
`include "proof.svh"

module barrier_core_proof
  import barrier_formats_pkg::*;
  import barrier_pkg::*;
#(
  parameter int unsigned N_GROUPS  = 2,
  parameter int unsigned N_MEMBERS = 2
) (
  input logic                        clk_i, rst_ni, tick_i, command_i, member_we_i, member_group_i, member_number_i, packet_valid_i, packet_ready_i, taken_i,
  input logic [                 1:0] what_i,
  input logic [                 1:0] group_i, self_i, member_node_i,
  input logic [$bits(settings_t)-1:0] settings_i,
  input logic [     PACKET_BITS-1:0] packet_i
);
  `PROOF_RESET

  // ------------------------------------------------------------------------------------------------- software
  logic                command_q, command_done, member_we;
  command_e            what_q;
  logic [         1:0] group_q;
  settings_t           settings_q;
  node_t               self_q;
  logic [N_GROUPS-1:0] open, pending;
  refusal_e            refusal;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) command_q <= 1'b0;
    else command_q <= command_q ? !command_done : command_i;
    if (!command_q) begin
      what_q     <= command_e'(what_i);
      group_q    <= group_i;
      settings_q <= settings_t'(settings_i);
    end
    if (!rst_ni) self_q <= node_t'(self_i);
  end
  assign member_we = member_we_i && !command_q && !open[member_group_i];

  `GIVEN(!command_q || what_q <= COMMAND_ARRIVE)
  `GIVEN(settings_q.members <= size_t'(N_MEMBERS))

  // ------------------------------------------------------------------------------------------------- core and completions
  logic        told, valid;
  completion_t completion, taken;

  barrier_core #(.N_GROUPS(N_GROUPS), .N_MEMBERS(N_MEMBERS), .N_NODES(4)) dut (
    .clk_i, .rst_ni, .self_i(self_q), .settings_i(settings_q), .tick_i, .command_valid_i(command_q), .command_i(what_q), .command_group_i(32'(group_q)),
    .command_done_o(command_done), .refusal_o(refusal), .member_we_i(member_we), .member_group_i(member_group_i), .member_number_i(id_t'(member_number_i)),
    .member_node_i(node_t'(member_node_i)), .open_o(open), .packet_valid_i, .packet_ready_o(), .packet_i(packet_t'(packet_i)), .packet_valid_o(),
    .packet_ready_i, .packet_o(), .completion_valid_o(told), .completion_o(completion), .pending_i(pending), .drop_o(), .reason_o(), .repeated_o(), .late_o(),
    .trace_valid_o(), .trace_what_o(), .trace_group_o(), .trace_packet_o()
  );
  barrier_completions #(.N_GROUPS(N_GROUPS)) i_completions (
    .clk_i, .rst_ni, .valid_i(told), .completion_i(completion), .pending_o(pending), .valid_o(valid), .ready_i(taken_i), .completion_o(taken)
  );

  // ------------------------------------------------------------------------------------------------- group 0
  logic        here, arrives, opens, closes, ends, under_way_q, used_q;
  logic [15:0] epoch_q, last_q;  // last_q: its last instance

  assign here    = command_q && command_done && group_q == '0 && refusal == REFUSAL_NONE;
  assign opens   = here && what_q == COMMAND_OPEN;
  assign closes  = here && what_q == COMMAND_CLOSE;
  assign arrives = here && what_q == COMMAND_ARRIVE;
  assign ends    = told && completion.group == '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || opens || closes) under_way_q <= 1'b0;
    else if (arrives) under_way_q <= 1'b1;
    else if (ends) under_way_q <= 1'b0;
    if (!rst_ni) used_q <= 1'b0;
    else if (opens) used_q <= 1'b1;
    if (opens) last_q <= settings_q.inst;
    if (opens) epoch_q <= '0;
    else if (ends && completion.ending == ENDING_OK) epoch_q <= epoch_q + 1'b1;
  end

  `PROVE(NoEndWithoutArrival, !ends || under_way_q)
  `PROVE(NoArrivalWhileUnderWay, !arrives || !under_way_q)
  `PROVE(SaysItsEpoch, !ends || completion.epoch == epoch_q)
  `PROVE(OnlyOpenGroupsEnd, !ends || open[0])
  `PROVE(AnotherInstanceEachTime, !opens || !used_q || settings_q.inst != last_q)
endmodule

// SPDX-License-Identifier: Apache-2.0
// The barrier engine of a node (docs/barrier.md): registers, groups and their protocol, packets to and from the other engines.
//
// N_GROUPS   barriers at once
// N_MEMBERS  of a group at most, up to 1024
// N_NODES    of the fabric
// IN_DEPTH   packets that wait for the engine; more are dropped, so that engines never block the network
// A packet is one beat (packet_t), and so is a completion. Neither packets nor completions that leave are out of flops.
module barrier_engine
  import barrier_formats_pkg::*;
  import barrier_pkg::*;
#(
  parameter int unsigned N_GROUPS  = 16,
  parameter int unsigned N_MEMBERS = 1024,
  parameter int unsigned N_NODES   = 1024,
  parameter int unsigned IN_DEPTH  = 16
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [  9:0] s_axil_awaddr_i,
  input  logic         s_axil_awvalid_i,
  output logic         s_axil_awready_o,
  input  logic [ 31:0] s_axil_wdata_i,
  input  logic [  3:0] s_axil_wstrb_i,
  input  logic         s_axil_wvalid_i,
  output logic         s_axil_wready_o,
  output logic [  1:0] s_axil_bresp_o,
  output logic         s_axil_bvalid_o,
  input  logic         s_axil_bready_i,
  input  logic [  9:0] s_axil_araddr_i,
  input  logic         s_axil_arvalid_i,
  output logic         s_axil_arready_o,
  output logic [ 31:0] s_axil_rdata_o,
  output logic [  1:0] s_axil_rresp_o,
  output logic         s_axil_rvalid_o,
  input  logic         s_axil_rready_i,
  input  logic         s_pkt_valid_i,
  output logic         s_pkt_ready_o,    // always
  input  logic [255:0] s_pkt_data_i,
  output logic         m_pkt_valid_o,
  input  logic         m_pkt_ready_i,
  output logic [255:0] m_pkt_data_o,
  output logic         m_cpl_valid_o,
  input  logic         m_cpl_ready_i,
  output logic [ 63:0] m_cpl_data_o,
  // what the engine does next, for one clock: for those who follow
  output logic         trace_valid_o,
  output logic [  2:0] trace_what_o,     // 0 to 2: command, 3: packet, 4: tick
  output logic [ 31:0] trace_group_o,
  output logic [255:0] trace_packet_o,
  output logic         trace_overrun_o   // the packet that was just checked is dropped
);
  localparam int unsigned GROUP_W = N_GROUPS > 1 ? $clog2(N_GROUPS) : 1;

  node_t               self;
  settings_t           settings;
  command_e            command;
  refusal_e            refusal;
  drop_e               reason;
  id_t                 member_number;
  node_t               member_node;
  packet_t             checked_q, waiting, offered, sent, traced;
  completion_t         told, completion;
  logic                tick, command_valid, command_done, member_we, drop, repeated, late, stored, stored_has_late, completed;
  logic [31:0]         command_group;
  logic [GROUP_W-1:0]  member_group, stored_group;
  node_t               stored_late;
  logic [N_GROUPS-1:0] open, pending;

  // ------------------------------------------------------------------------------------------------- packets that come
  logic came_q, good, room, waits, passes, taken, malformed, overrun;

  assign s_pkt_ready_o = 1'b1;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) came_q <= 1'b0;
    else came_q <= s_pkt_valid_i;
    checked_q <= s_pkt_data_i;
  end
  assign malformed = came_q && !good;
  assign overrun   = came_q && good && !room;

  // An engine that is idle takes a packet at once, if no other one waits.
  assign offered = waits ? waiting : checked_q;
  assign passes  = taken && !waits;

  barrier_check i_check (.packet_i(checked_q), .ok_o(good));
  sync_fifo #(.DEPTH(IN_DEPTH), .T(packet_t)) i_waiting (
    .clk_i, .rst_ni, .valid_i(came_q && good && !passes), .ready_o(room), .data_i(checked_q), .valid_o(waits), .ready_i(taken), .data_o(waiting), .count_o()
  );

  // ------------------------------------------------------------------------------------------------- protocol
  logic told_valid;

  barrier_core #(.N_GROUPS(N_GROUPS), .N_MEMBERS(N_MEMBERS), .N_NODES(N_NODES)) i_core (
    .clk_i, .rst_ni, .self_i(self), .settings_i(settings), .tick_i(tick), .command_valid_i(command_valid), .command_i(command), .command_group_i(command_group),
    .command_done_o(command_done), .refusal_o(refusal), .member_we_i(member_we), .member_group_i(member_group), .member_number_i(member_number),
    .member_node_i(member_node), .open_o(open), .packet_valid_i(waits || (came_q && good)), .packet_ready_o(taken), .packet_i(offered), .packet_valid_o(m_pkt_valid_o),
    .packet_ready_i(m_pkt_ready_i), .packet_o(sent), .completion_valid_o(told_valid), .completion_o(told), .pending_i(pending),
    .drop_o(drop), .reason_o(reason), .repeated_o(repeated), .late_o(late), .stored_o(stored), .stored_group_o(stored_group),
    .stored_has_late_o(stored_has_late), .stored_late_o(stored_late), .trace_valid_o, .trace_what_o, .trace_group_o, .trace_packet_o(traced)
  );
  barrier_completions #(.N_GROUPS(N_GROUPS)) i_completions (
    .clk_i, .rst_ni, .valid_i(told_valid), .completion_i(told), .pending_o(pending), .valid_o(m_cpl_valid_o), .ready_i(m_cpl_ready_i), .completion_o(completion)
  );
  assign m_pkt_data_o    = sent;
  assign m_cpl_data_o    = completion;
  assign completed       = m_cpl_valid_o && m_cpl_ready_i;
  assign trace_packet_o  = traced;
  assign trace_overrun_o = overrun;

  barrier_regs #(.N_GROUPS(N_GROUPS), .N_MEMBERS(N_MEMBERS), .N_NODES(N_NODES)) i_regs (
    .clk_i, .rst_ni, .s_axil_awaddr_i, .s_axil_awvalid_i, .s_axil_awready_o, .s_axil_wdata_i, .s_axil_wstrb_i, .s_axil_wvalid_i, .s_axil_wready_o, .s_axil_bresp_o,
    .s_axil_bvalid_o, .s_axil_bready_i, .s_axil_araddr_i, .s_axil_arvalid_i, .s_axil_arready_o, .s_axil_rdata_o, .s_axil_rresp_o, .s_axil_rvalid_o,
    .s_axil_rready_i, .self_o(self), .settings_o(settings), .tick_o(tick), .command_valid_o(command_valid), .command_o(command), .command_group_o(command_group),
    .command_done_i(command_done), .refusal_i(refusal), .member_we_o(member_we), .member_group_o(member_group), .member_number_o(member_number),
    .member_node_o(member_node), .open_i(open), .malformed_i(malformed), .overrun_i(overrun), .drop_i(drop), .reason_i(reason), .repeated_i(repeated),
    .late_i(late), .completed_i(completed), .stored_i(stored), .stored_group_i(stored_group), .stored_has_late_i(stored_has_late), .stored_late_i(stored_late)
  );
endmodule

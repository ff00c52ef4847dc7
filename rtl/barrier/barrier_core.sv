// SPDX-License-Identifier: Apache-2.0
// Takes one event after the other, each to its end: software's commands first, then packets, of which at most TICK_WAITS go before a tick of a group. If it is a packet that
// comes next, it is taken in the clock in which the event before ends, and decided in the next one if it is of the same group; a tick that has begun gives way to it until its decision.
`include "weft_assert.svh"

module barrier_core
  import barrier_formats_pkg::*;
  import barrier_pkg::*;
#(
  parameter int unsigned N_GROUPS  = 16,
  parameter int unsigned N_MEMBERS = 1024,  // of a group at most
  parameter int unsigned N_NODES   = 1024,
  localparam int unsigned GROUP_W  = N_GROUPS > 1 ? $clog2(N_GROUPS) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  node_t               self_i,
  input  settings_t           settings_i,     // for OPEN
  input  logic                tick_i,
  // software's commands, one at a time
  input  logic                command_valid_i,
  input  command_e            command_i,
  input  logic [31:0]         command_group_i,
  output logic                command_done_o,
  output refusal_e            refusal_o,      // with done
  // entries of the table of members, of groups that are closed
  input  logic                member_we_i,
  input  logic [GROUP_W-1:0]  member_group_i,
  input  id_t                 member_number_i,
  input  node_t               member_node_i,
  output logic [N_GROUPS-1:0] open_o,
  // packets that hold together
  input  logic                packet_valid_i,
  output logic                packet_ready_o,
  input  packet_t             packet_i,
  output logic                packet_valid_o,
  input  logic                packet_ready_i,
  output packet_t             packet_o,
  // completions, for one clock each
  output logic                completion_valid_o,
  output completion_t         completion_o,
  input  logic [N_GROUPS-1:0] pending_i,      // groups whose last one is not taken
  // events, for one clock each
  output logic                drop_o,
  output drop_e               reason_o,
  output logic                repeated_o,
  output logic                late_o,
  // state of a group after an event, for one clock: who was found late in its barrier
  output logic                stored_o,
  output logic [GROUP_W-1:0]  stored_group_o,
  output logic                stored_has_late_o,
  output node_t               stored_late_o,
  // what is done next, for one clock, in the order in which it is done: for those who follow
  output logic                trace_valid_o,
  output logic [2:0]          trace_what_o,   // 0 to 2: command, 3: packet, 4: tick
  output logic [31:0]         trace_group_o,
  output packet_t             trace_packet_o
);
  localparam int unsigned TICK_WAITS = 4;  // packets
  localparam int unsigned PLACE_W = N_GROUPS * N_MEMBERS > 1 ? $clog2(N_GROUPS * N_MEMBERS) : 1;

  // Of a member in the table. A packet's number may be beyond it; then what is read does not count.
  function automatic logic [PLACE_W-1:0] place_of(logic [GROUP_W-1:0] group, id_t number);
    return PLACE_W'(32'(group) * N_MEMBERS + 32'(number));
  endfunction

  if (N_MEMBERS > (1 << ID_W) || N_MEMBERS < 1) begin : gen_illegal_members
    $fatal(1, "barrier_core: N_MEMBERS is %0d, but must be 1 to %0d", N_MEMBERS, 1 << ID_W);
  end
  if (N_GROUPS > 256 || N_GROUPS < 1) begin : gen_illegal_groups
    $fatal(1, "barrier_core: N_GROUPS is %0d, but must be 1 to 256", N_GROUPS);
  end
  if (N_NODES > 65536 || N_NODES < 1) begin : gen_illegal_nodes
    $fatal(1, "barrier_core: N_NODES is %0d, but must be 1 to 65536", N_NODES);
  end

  typedef enum logic [2:0] {
    S_IDLE,
    S_OPEN,    // the table is checked
    S_LOAD,    // the group's state comes; of a packet's number the node. Passed over if the packet is of the group whose event has just ended
    S_LOOK,    // reads the table of members, for others and once more
    S_DECIDE,
    S_SEND,    // in its first clock a completion is told, in its last one the state stored
    S_STORE    // of a new group
  } state_e;

  state_e              state_q;
  event_e              event_q;
  logic [GROUP_W-1:0]  group_q, tick_group;
  packet_t             packet_q;
  group_t              g_q, placed, next_q, next, opened;
  place_t              place, place_q;
  id_t                 sender_q;
  action_t             action_q, action;
  logic [N_GROUPS-1:0] open_q, timed_q, ticks_q;  // groups; those that wait for somebody; those whose tick is to come
  logic [N_GROUPS-1:0] used_q;  // groups that were open: their memory has the last instance
  logic [$clog2(TICK_WAITS+1)-1:0] before_tick_q;  // packets that may still go before the tick
  logic                sending_q, opening_q, pending_q, tick_q;

  // ------------------------------------------------------------------------------------------------- choose
  logic                known, command_open, immediate, take_command, take_tick, take_packet, start_open;
  logic [GROUP_W-1:0]  command_group, packet_group;
  logic                packet_known, choosing, early, same, ended, begun_tick, gives_way, packets_first, trace_tick;

  assign known         = command_group_i < 32'(N_GROUPS);
  assign command_group = known ? command_group_i[GROUP_W-1:0] : '0;
  assign command_open  = known && open_q[command_group];
  assign packet_known  = 32'(packet_i.group) < N_GROUPS;
  assign packet_group  = packet_known ? packet_i.group[GROUP_W-1:0] : '0;
  assign immediate     = !known || command_i == COMMAND_CLOSE || (command_i == COMMAND_OPEN) == command_open;

  assign take_command   = state_q == S_IDLE && command_valid_i;
  assign take_tick      = state_q == S_IDLE && !take_command && ticks_q != '0 && !(packet_valid_i && packets_first);
  assign early          = ended && !action_q.again && !command_valid_i && (ticks_q == '0 || packets_first) && packet_valid_i;
  assign begun_tick     = event_q == EVENT_TICK && (state_q == S_LOAD || state_q == S_LOOK);
  assign packets_first  = before_tick_q != '0;
  assign gives_way      = begun_tick && packets_first && !command_valid_i && packet_valid_i;
  assign choosing       = state_q == S_IDLE || early || gives_way;
  assign take_packet    = choosing && !take_command && !take_tick && packet_valid_i;
  assign packet_ready_o = take_packet;
  assign start_open     = take_command && !immediate && command_i == COMMAND_OPEN;

  // A tick comes to all groups that wait before the next one comes to any: if that takes longer than its period, ticks are longer.
  logic round;
  assign round = tick_q && ticks_q == '0 && !begun_tick;

  always_comb begin : p_tick_group
    tick_group = '0;
    for (int unsigned i = N_GROUPS; i > 0; i--) if (ticks_q[i-1]) tick_group = GROUP_W'(i - 1);
  end

  // ------------------------------------------------------------------------------------------------- memories
  group_t             loaded;
  logic [GROUP_W-1:0] chosen;
  logic               decide, member_re, send_look, open_look;
  id_t                look_number, send_number, open_number;
  logic [GROUP_W-1:0] look_group;
  node_t              member;

  assign chosen = take_command ? command_group : take_tick ? tick_group : packet_group;
  assign same   = early && chosen == group_q;  // as the event that ends: the group's state is here, not yet in the memory

  ram_sdp #(.DEPTH(N_GROUPS), .WIDTH($bits(group_t))) i_groups (
    .clk_i, .we_i(stored_o), .waddr_i(group_q), .wdata_i(next_q), .re_i(choosing), .raddr_i(chosen), .rdata_o(loaded)
  );

  assign member_re = choosing || state_q == S_LOOK || ((decide || state_q == S_SEND) && send_look) || open_look;
  assign look_group = choosing ? packet_group : group_q;
  always_comb begin : p_look_number
    unique case (choosing ? S_IDLE : state_q)
      S_IDLE:           look_number = packet_i.number[ID_W-1:0];
      S_OPEN:           look_number = open_number;
      S_DECIDE, S_SEND: look_number = send_number;
      default:          look_number = event_q == EVENT_PACKET ? packet_q.number[ID_W-1:0] : place_q.peer;
    endcase
  end

  ram_sdp #(.DEPTH(N_GROUPS * N_MEMBERS), .WIDTH(16)) i_members (
    .clk_i, .we_i(member_we_i), .waddr_i(place_of(member_group_i, member_number_i)),
    .wdata_i(member_node_i), .re_i(member_re),
    .raddr_i(place_of(look_group, look_number)), .rdata_o(member)
  );

  // ------------------------------------------------------------------------------------------------- act
  logic     open_done, send_done;
  refusal_e table_refusal, open_refusal;
  id_t      own;
  logic [7:0] digest;

  // A clock before the decision, which takes its time: here of what was loaded, of the epoch that has just begun, or of what the event that ends has left.
  id_t number;
  assign placed = state_q == S_LOAD ? loaded : state_q == S_LOOK ? g_q : next_q;
  assign number = same ? packet_i.number[ID_W-1:0] : packet_q.number[ID_W-1:0];
  barrier_place i_place (.group_i(placed), .place_o(place));
  always_ff @(posedge clk_i) begin
    if (state_q == S_LOAD || state_q == S_LOOK || same) begin
      place_q  <= place;
      sender_q <= shifted(number, placed.memory.offset, placed.settings.members, placed.settings.block_log2);
    end
  end

  barrier_decide i_decide (
    .event_i(event_q), .pending_i(pending_q), .self_i, .open_i(32'(packet_q.group) < N_GROUPS && open_q[group_q]), .group_i(g_q), .place_i(place_q), .sender_i(sender_q),
    .packet_i(packet_q), .member_i(member), .next_o(next), .action_o(action)
  );
  barrier_open #(.N_NODES(N_NODES)) i_open (
    .clk_i, .rst_ni, .start_i(state_q == S_OPEN && opening_q), .self_i, .settings_i, .done_o(open_done),
    .refusal_o(table_refusal), .own_o(own), .digest_o(digest), .look_o(open_look), .number_o(open_number), .node_i(member)
  );
  assign open_refusal = table_refusal == REFUSAL_NONE && used_q[group_q] && loaded.settings.inst == settings_i.inst ? REFUSAL_SAME_INSTANCE : table_refusal;

  barrier_send i_send (
    .clk_i, .rst_ni, .start_i(decide), .self_i, .group_number_i(8'(group_q)), .group_i(g_q), .place_i(place_q), .memory_i(next_q.memory), .begun_i(action), .action_i(action_q),
    .done_o(send_done), .look_o(send_look), .number_o(send_number), .node_i(member), .valid_o(packet_valid_o), .ready_i(packet_ready_i), .packet_o
  );

  always_comb begin : p_opened
    opened                    = '0;
    opened.settings           = settings_i;
    opened.phase              = PHASE_IDLE;
    opened.number             = own;
    opened.digest             = digest;
    opened.memory.best_length = '1;
    opened.memory.tries_left  = settings_i.judge_tries;
    opened.ahead              = '1;
  end

  logic open_event;
  assign open_event = event_q != EVENT_PACKET || open_q[group_q];  // otherwise what was read stays as it is
  assign decide     = state_q == S_DECIDE;
  assign ended      = state_q == S_SEND && send_done;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q        <= S_IDLE;
      open_q         <= '0;
      timed_q        <= '0;
      ticks_q        <= '0;
      used_q         <= '0;
      tick_q         <= 1'b0;
      before_tick_q  <= '0;
      sending_q      <= 1'b0;
      opening_q      <= 1'b0;
    end else begin
      sending_q <= decide;
      opening_q <= start_open;
      ticks_q   <= ((round ? timed_q : ticks_q) & ~(take_tick ? N_GROUPS'(1) << tick_group : '0)) | (gives_way ? N_GROUPS'(1) << group_q : '0);
      tick_q    <= (tick_q || tick_i) && !round;
      if ((ticks_q == '0 && !begun_tick) || (decide && event_q == EVENT_TICK)) before_tick_q <= $bits(before_tick_q)'(TICK_WAITS);
      else if (take_packet && packets_first) before_tick_q <= before_tick_q - 1'b1;
      if (ended && open_q[group_q]) timed_q[group_q] <= next_q.phase == PHASE_GATHERING || next_q.phase == PHASE_WAITING;
      unique case (state_q)
        S_IDLE: begin
          if (take_command && immediate) begin
            if (command_i == COMMAND_CLOSE && command_open) begin
              open_q[command_group]  <= 1'b0;
              timed_q[command_group] <= 1'b0;
              ticks_q[command_group] <= 1'b0;
            end
          end else if (start_open) begin
            state_q <= S_OPEN;
          end else if (take_command || take_tick || take_packet) begin
            state_q <= S_LOAD;
          end
        end
        S_OPEN: begin
          if (open_done) begin
            state_q <= open_refusal == REFUSAL_NONE ? S_STORE : S_IDLE;
            if (open_refusal == REFUSAL_NONE) begin
              open_q[group_q] <= 1'b1;
              used_q[group_q] <= 1'b1;
            end
          end
        end
        S_LOAD:   state_q <= gives_way ? S_LOAD : event_q == EVENT_TICK ? S_LOOK : S_DECIDE;
        S_LOOK:   state_q <= gives_way ? S_LOAD : S_DECIDE;
        S_DECIDE: state_q <= S_SEND;
        S_SEND:   if (send_done) state_q <= action_q.again ? S_LOOK : same ? S_DECIDE : early ? S_LOAD : S_IDLE;
        default:  state_q <= S_IDLE;
      endcase
    end
    if (choosing) begin
      group_q   <= chosen;
      packet_q  <= packet_i;
      pending_q <= pending_i[command_group];
      event_q   <= take_command ? EVENT_ARRIVE : take_tick ? EVENT_TICK : EVENT_PACKET;
    end
    if (state_q == S_LOAD) g_q <= placed;
    if (ended) g_q <= next_q;
    if (state_q == S_OPEN) next_q <= opened;
    if (decide) begin
      next_q   <= open_event ? next : g_q;
      action_q <= action;
    end
  end

  // ------------------------------------------------------------------------------------------------- answers
  always_comb begin : p_answer
    command_done_o = 1'b0;
    refusal_o      = REFUSAL_NONE;
    if (state_q == S_IDLE && command_valid_i && immediate) begin
      command_done_o = 1'b1;
      if (!known) refusal_o = REFUSAL_NO_SUCH_GROUP;
      else if (command_i == COMMAND_OPEN) refusal_o = REFUSAL_OPEN;
      else if (!command_open) refusal_o = REFUSAL_NOT_OPEN;
    end else if (state_q == S_OPEN) begin
      command_done_o = open_done;
      refusal_o      = open_refusal;
    end else if (decide && event_q == EVENT_ARRIVE) begin
      command_done_o = 1'b1;
      refusal_o      = action.refused ? REFUSAL_ARRIVED : REFUSAL_NONE;
    end
  end

  assign open_o     = open_q;
  assign drop_o     = decide && action.drop;
  assign reason_o   = action.reason;
  assign repeated_o = decide && action.repeated;
  assign late_o     = decide && action.late;

  assign stored_o          = state_q == S_STORE || ended;
  assign stored_group_o    = group_q;
  assign stored_has_late_o = next_q.has_late;
  assign stored_late_o     = next_q.late;

  assign completion_valid_o = sending_q && action_q.complete;
  always_comb begin : p_completion
    completion_o          = '0;
    completion_o.group    = 8'(group_q);
    completion_o.ending   = action_q.ending;
    completion_o.epoch    = g_q.epoch;
    completion_o.dead     = action_q.ending == ENDING_DEAD_MEMBER ? next_q.dead : '0;
    completion_o.has_late = action_q.has_late;
    completion_o.late     = action_q.has_late ? action_q.late_node : '0;
  end

  assign trace_tick     = event_q == EVENT_TICK && state_q == S_LOOK && !gives_way;
  assign trace_valid_o  = take_command || take_packet || trace_tick;
  assign trace_what_o   = take_command ? {1'b0, command_i} : take_packet ? 3'd3 : 3'd4;
  assign trace_group_o  = take_command ? command_group_i : take_packet ? 32'(packet_i.group) : 32'(group_q);
  assign trace_packet_o = packet_i;

  `ASSERT(StaysOpen, state_q == S_IDLE || state_q == S_OPEN || event_q == EVENT_PACKET || open_q[group_q])
endmodule

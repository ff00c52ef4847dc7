// SPDX-License-Identifier: Apache-2.0
// The protocol: what an event does to a group, and what has to be sent (docs/barrier.md). Combinational.
module barrier_decide
  import barrier_formats_pkg::*;
  import barrier_pkg::*;
(
  input  event_e      event_i,
  input  logic        pending_i, // EVENT_ARRIVE: the completion before is not taken
  input  node_t       self_i,
  input  logic        open_i,    // EVENT_PACKET: the group is
  input  group_t      group_i,
  input  place_t      place_i,   // of the group
  input  id_t         sender_i,  // EVENT_PACKET: id of the packet's number
  input  packet_t     packet_i,  // EVENT_PACKET
  input  node_t       member_i,  // EVENT_PACKET: of the packet's number; EVENT_TICK: whom the group waits for
  output group_t      next_o,
  output action_t     action_o
);
  group_t      g;
  action_t     a;
  id_t         id;
  children_t   children, missing, first, sender_child, still_missing;
  logic [15:0] ahead, length;
  size_t       offsets;
  memory_t     judged;
  logic        is_child, is_first, is_parent, good_memory, catches_up, tells, fails_too, asks_failed, to_group, children_know;

  logic unused;  // a record, of which parts are needed here
  assign unused = ^place_i;
  assign {id, children, missing, first} = {place_i.id, place_i.children, place_i.missing, place_i.first};
  barrier_judge i_judge (
    .settings_i(group_i.settings), .memory_i(group_i.memory), .length_i(length), .next_o(judged)
  );

  // ------------------------------------------------------------------------------------------------- of the packet
  always_comb begin : p_sender
    for (int unsigned i = 0; i < CHILD_W; i++) sender_child[i] = children[i] && (sender_i ^ id) == MORE[i];
  end
  assign is_child    = sender_child != '0;
  assign is_first    = is_child && sender_child == first;
  assign is_parent   = id != '0 && packet_i.number[ID_W-1:0] == place_i.parent;
  assign ahead       = packet_i.epoch - group_i.epoch;
  assign offsets     = offsets_of(group_i.settings.members, group_i.settings.block_log2);
  assign good_memory = packet_i.offset < 16'(offsets) && packet_i.best_offset < 16'(offsets);
  assign to_group    = group_i.settings.multicast != '0 && packet_i.to == group_i.settings.multicast;
  assign children_know = event_i == EVENT_PACKET && packet_i.multicast;  // it comes to them, too
  assign tells       = packet_i.kind == PACKET_KIND_GATHER || packet_i.kind == PACKET_KIND_ASK || (packet_i.kind == PACKET_KIND_RELEASE && packet_i.failed);
  assign catches_up  = ahead == 16'd1 && group_i.phase == PHASE_WAITING && tells;
  // A failure of the epoch before ends this one, too: who failed in that never comes to this one. Who has failed is asked by those who had left that epoch before.
  assign fails_too   = ahead == '1 && packet_i.failed && (packet_i.kind == PACKET_KIND_GATHER || packet_i.kind == PACKET_KIND_RELEASE);
  assign asks_failed = ahead == 16'd1 && group_i.phase == PHASE_FAILED && (packet_i.kind == PACKET_KIND_GATHER || packet_i.kind == PACKET_KIND_ASK);

  // ------------------------------------------------------------------------------------------------- a Gather that is noted
  logic notes;
  assign notes         = event_i == EVENT_PACKET && is_child && (missing & sender_child) != '0;
  assign still_missing = notes ? missing & ~sender_child : missing;

  always_comb begin : p_length
    length = group_i.length;
    if (notes && saturated_sum(packet_i.length, packet_i.hops) > length) length = saturated_sum(packet_i.length, packet_i.hops);
  end

  // Whom a Wait names had not arrived when this group had waited for as long as software allows.
  logic was_late;
  assign was_late = 33'(group_i.age) >= 33'(group_i.settings.late) + 33'(packet_i.length);

  // ------------------------------------------------------------------------------------------------- steps
  function automatic group_t timer_anew(group_t group);
    group_t next;
    next          = group;
    next.timer    = group.settings.first;
    next.interval = group.settings.first;
    next.misses   = '0;
    return next;
  endfunction

  function automatic group_t epoch_anew(group_t group, memory_t memory);
    group_t next;
    next            = group;
    next.phase      = PHASE_IDLE;
    next.epoch      = group.epoch + 1'b1;
    next.memory     = memory;
    next.got        = '0;
    next.ahead      = '1;
    next.length     = '0;
    next.age        = '0;
    next.has_blamed = 1'b0;
    next.blame_age  = '0;
    next.has_late   = 1'b0;
    return next;
  endfunction

  logic        releases, fails, settles, drops;
  memory_t     released_with;
  node_t       dead;
  logic [15:0] doubled;

  assign doubled = group_i.interval[15] || {group_i.interval[14:0], 1'b0} > group_i.settings.largest ? group_i.settings.largest : {group_i.interval[14:0], 1'b0};

  always_comb begin : p_decide
    g             = group_i;
    a             = '0;
    a.reason      = DROP_MALFORMED;
    a.kind        = PACKET_KIND_GATHER;
    a.ending      = ENDING_OK;
    a.node        = packet_i.from;
    releases      = 1'b0;
    released_with = memory_of(packet_i);
    fails         = 1'b0;
    dead          = packet_i.named;
    settles       = 1'b0;
    drops         = 1'b0;

    unique case (event_i)
      EVENT_ARRIVE: begin
        if (pending_i) begin
          a.refused = 1'b1;
        end else if (group_i.phase == PHASE_FAILED && !group_i.told) begin
          a.complete = 1'b1;
          a.ending   = ENDING_DEAD_MEMBER;
          g.told     = 1'b1;
        end else if (group_i.phase != PHASE_IDLE) begin
          a.refused = 1'b1;
        end else begin
          g       = timer_anew(g);
          g.phase = PHASE_GATHERING;
          settles = 1'b1;
        end
      end

      EVENT_TICK: begin
        if (group_i.phase == PHASE_GATHERING || group_i.phase == PHASE_WAITING) begin
          g.age = group_i.age + 1'b1;
          if (group_i.blame_age == '1) g.has_blamed = 1'b0;  // too long ago
          else g.blame_age = group_i.blame_age + 1'b1;
          if (group_i.timer > 16'd1) begin
            g.timer = group_i.timer - 1'b1;
          end else begin
            g.misses = group_i.misses + 1'b1;
            if (g.misses > {1'b0, group_i.settings.tries}) begin
              fails = 1'b1;
              dead  = member_i;
            end else begin
              g.interval = doubled;
              g.timer    = doubled;
              a.repeated = 1'b1;
              a.to_node  = 1'b1;
              a.node     = member_i;
              a.kind     = group_i.phase == PHASE_WAITING ? PACKET_KIND_GATHER : PACKET_KIND_ASK;
              a.length   = group_i.length;
            end
          end
        end
      end

      default: begin  // EVENT_PACKET
        if (!packet_i.multicast && packet_i.to != self_i) begin
          drops    = 1'b1;
          a.reason = DROP_MISROUTED;
        end else if (!open_i) begin
          drops    = 1'b1;
          a.reason = DROP_UNKNOWN_GROUP;
        end else if (packet_i.multicast && !to_group) begin
          drops    = 1'b1;
          a.reason = DROP_MISROUTED;
        end else if (packet_i.inst != group_i.settings.inst) begin
          drops    = 1'b1;
          a.reason = DROP_OTHER_INSTANCE;
        end else if (packet_i.digest != group_i.digest) begin
          drops    = 1'b1;
          a.reason = DROP_OTHER_SETTINGS;
        end else if (packet_i.number >= 16'(group_i.settings.members) || member_i != packet_i.from || packet_i.from == self_i) begin
          drops    = 1'b1;
          a.reason = DROP_NOT_MEMBER;
        end else if (!good_memory) begin
          drops    = 1'b1;
          a.reason = DROP_BAD_OFFSET;
        end else if (ahead[15] && !fails_too) begin
          if (ahead == '1 && packet_i.kind == PACKET_KIND_GATHER) begin  // it has missed its Release
            a.repeated = 1'b1;
            a.to_node  = 1'b1;
            a.kind     = PACKET_KIND_RELEASE;
            a.behind   = 1'b1;
          end else begin
            drops    = 1'b1;
            a.reason = DROP_OLD_EPOCH;
          end
        end else if (ahead != '0 && !fails_too && !asks_failed) begin
          if (catches_up) begin  // it was released, and so is this one
            releases = 1'b1;
            a.again  = 1'b1;
          end else begin
            drops    = 1'b1;
            a.reason = DROP_FUTURE_EPOCH;
          end
        end else begin
          unique case (packet_i.kind)
            PACKET_KIND_GATHER: begin
              if (packet_i.failed) begin
                fails = 1'b1;
              end else if (group_i.phase == PHASE_FAILED) begin
                a.to_node = 1'b1;
                a.kind    = PACKET_KIND_RELEASE;
                a.failed  = 1'b1;
                a.named   = group_i.dead;
              end else if (!is_child) begin
                drops    = 1'b1;
                a.reason = DROP_NOT_CHILD;
              end else if (!notes) begin
                a.to_node = 1'b1;
                a.kind    = PACKET_KIND_WAIT;
              end else begin
                if (is_first) g.misses = '0;
                g.got        = group_i.got | sender_child;
                g.length     = length;
                g.has_blamed = 1'b0;  // it may have been the one
                settles      = 1'b1;
              end
            end
            PACKET_KIND_RELEASE: begin
              if (packet_i.failed) begin
                fails = 1'b1;
              end else if (group_i.phase != PHASE_WAITING) begin
                drops    = 1'b1;
                a.reason = DROP_NOT_WAITING;
              end else begin
                releases = 1'b1;
              end
            end
            PACKET_KIND_ASK: begin
              a.to_node = 1'b1;
              if (group_i.phase == PHASE_FAILED) begin
                a.failed = 1'b1;
                a.named  = group_i.dead;
              end else if (group_i.phase != PHASE_WAITING) begin
                a.kind = PACKET_KIND_WAIT;
              end else begin
                a.repeated = 1'b1;
                a.length   = group_i.length;
              end
            end
            default: begin  // PACKET_KIND_WAIT
              if (group_i.phase == PHASE_GATHERING && is_first) begin
                g.misses = '0;
                g.ahead  = ~(first | (first - 1'b1));
              end else if (group_i.phase == PHASE_WAITING && is_parent) begin
                g.misses = '0;
              end else begin
                drops    = 1'b1;
                a.reason = DROP_NOT_WAITING;
              end
              if (!drops) begin
                g.has_blamed = packet_i.has_named;
                g.blamed     = packet_i.named;
                g.blame_age  = packet_i.length;
                if (packet_i.has_named && was_late) begin
                  g.has_late = 1'b1;
                  g.late     = packet_i.named;
                  a.late     = !group_i.has_late;
                end
              end
            end
          endcase
          if (a.kind == PACKET_KIND_WAIT) begin
            a.has_named = group_i.phase == PHASE_IDLE || group_i.has_blamed;
            a.named     = group_i.phase == PHASE_IDLE ? self_i : group_i.has_blamed ? group_i.blamed : '0;
            a.length    = group_i.phase != PHASE_IDLE && group_i.has_blamed ? group_i.blame_age : '0;
          end
        end
      end
    endcase

    a.drop = drops;
    if (settles && g.phase == PHASE_GATHERING && still_missing == '0) begin
      if (id == '0) begin
        releases      = 1'b1;
        released_with = judged;
      end else begin
        g           = timer_anew(g);
        g.phase     = PHASE_WAITING;
        a.to_parent = 1'b1;
        a.length    = length;
      end
    end
    a.has_late  = g.has_late;
    a.late_node = g.late;
    if (releases) begin
      g             = epoch_anew(g, released_with);
      a.to_all      = id == '0 && group_i.settings.multicast != '0 && children != '0;
      a.to_children = a.to_all || children_know ? '0 : children;
      a.complete    = 1'b1;
    end
    if (fails && group_i.phase != PHASE_FAILED) begin
      g.phase       = PHASE_FAILED;
      g.dead        = dead;
      g.told        = group_i.phase != PHASE_IDLE;
      a.to_children = children;
      a.to_parent   = id != '0;
      a.failed      = 1'b1;
      a.named       = dead;
      a.complete    = g.told;
      a.ending      = ENDING_DEAD_MEMBER;
    end
  end

  assign next_o   = g;
  assign action_o = a;
endmodule

// SPDX-License-Identifier: Apache-2.0
// barrier_decide, for any event, packet and state of a group that is sound: it stays sound, nobody completes or releases was all below have arrived, an epoch ends with each completion and
// only with one, what is refused or dropped changes nothing, a failure is final and told once. One event is all there is to search: the states are any.
//
// Sound: offsets are members, Gathers are children's; who waits is not the root, and misses no child.
`include "proof.svh"

module barrier_decide_proof
  import barrier_formats_pkg::*;
  import barrier_pkg::*;
(
  input logic                     clk_i, rst_ni, pending_i, open_i,
  input logic [              1:0] event_i,
  input logic [             15:0] self_i, member_i,
  input logic [$bits(group_t)-1:0] group_i,
  input logic [  PACKET_BITS-1:0] packet_i
);
  `PROOF_RESET

  group_t  was, now;
  packet_t packet;
  action_t action;
  event_e  what;
  place_t  place_was, place_now;
  id_t       id, id_now, sender_id;
  children_t children, missing, children_now, missing_now, sender;
  size_t   members;

  assign was  = group_t'(group_i);
  assign packet  = packet_t'(packet_i);
  assign what    = event_e'(event_i);
  assign members = was.settings.members;

  barrier_decide dut (
    .event_i(what), .pending_i, .self_i, .open_i, .group_i(was), .place_i(place_was), .sender_i(sender_id), .packet_i(packet), .member_i, .next_o(now), .action_o(action)
  );
  barrier_place i_was (.group_i(was), .place_o(place_was));
  barrier_place i_now (.group_i(now), .place_o(place_now));
  assign {id, children, missing}             = {place_was.id, place_was.children, place_was.missing};
  assign {id_now, children_now, missing_now} = {place_now.id, place_now.children, place_now.missing};

  // ------------------------------------------------------------------------------------------------- sound states
  function automatic logic in_group(group_t group);
    size_t offsets;
    offsets = offsets_of(group.settings.members, group.settings.block_log2);
    return group.settings.members != '0 && group.settings.members <= size_t'(1024) && group.settings.stride <= offsets &&
           group.settings.block_log2 <= 4'(ID_W) && (group.settings.block_log2 == '0 || (group.settings.members & {1'b0, in_block(group.settings.block_log2)}) == '0) &&
           {1'b0, group.number} < group.settings.members && {1'b0, group.memory.offset} < offsets && {1'b0, group.memory.best_offset} < offsets;
  endfunction

  `GIVEN(event_i <= EVENT_TICK)
  `GIVEN(!packet.multicast || (packet.kind == PACKET_KIND_RELEASE && !packet.failed)) // barrier_check
  `GIVEN(in_group(was))
  `GIVEN((was.got & ~children) == '0)
  `GIVEN(was.phase != PHASE_WAITING || (id != '0 && missing == '0))
  `GIVEN(was.phase == PHASE_FAILED || was.misses <= {1'b0, was.settings.tries})

  `PROVE(StaysInGroup, in_group(now) && now.settings == was.settings && now.number == was.number)
  `PROVE(NotesOnlyChildren, (now.got & ~children_now) == '0)
  `PROVE(WaitsForReleaseOnly, now.phase != PHASE_WAITING || (id_now != '0 && missing_now == '0))
  `PROVE(BoundedTries, now.phase == PHASE_FAILED || now.misses <= {1'b0, now.settings.tries})

  // ------------------------------------------------------------------------------------------------- nobody leaves early
  logic ends, of_this_epoch, ahead, gather, release_packet, right_place, right_sender, last_gather, all_arrived;

  assign ends           = action.complete && action.ending == ENDING_OK;
  assign of_this_epoch  = packet.epoch == was.epoch;
  assign ahead          = packet.epoch == was.epoch + 16'd1 && packet.kind != PACKET_KIND_WAIT && (packet.kind != PACKET_KIND_RELEASE || packet.failed);
  assign gather         = what == EVENT_PACKET && packet.kind == PACKET_KIND_GATHER && !packet.failed;
  assign release_packet = what == EVENT_PACKET && packet.kind == PACKET_KIND_RELEASE;
  assign right_place    = packet.multicast ? was.settings.multicast != '0 && packet.to == was.settings.multicast : packet.to == self_i;
  assign right_sender   = open_i && right_place && packet.inst == was.settings.inst && packet.digest == was.digest && packet.number < 16'(members) && member_i == packet.from && packet.from != self_i;
  assign sender_id      = shifted(packet.number[ID_W-1:0], was.memory.offset, members, was.settings.block_log2);
  for (genvar i = 0; i < int'(CHILD_W); i++) begin : gen_sender
    assign sender[i] = (id | MORE[i]) == sender_id && (id & MORE[i]) == '0;
  end
  assign last_gather    = was.phase == PHASE_GATHERING && gather && of_this_epoch && right_sender && (missing & ~sender) == '0 && missing == sender;
  assign all_arrived    = (what == EVENT_ARRIVE && was.phase == PHASE_IDLE && missing == '0) || last_gather;

  `PROVE(RootEndsWhenAllArrived, !ends || was.phase == PHASE_WAITING || (id == '0 && all_arrived))
  `PROVE(OthersEndByRelease, !ends || was.phase != PHASE_WAITING || (what == EVENT_PACKET && right_sender && ((release_packet && of_this_epoch && !packet.failed) || ahead)))
  `PROVE(GathersWhenAllArrived, !(action.to_parent && !action.failed) || (id != '0 && all_arrived && now.phase == PHASE_WAITING))
  `PROVE(GathersOfChildrenOnly, !(gather && of_this_epoch && was.phase != PHASE_FAILED) || action.drop || (right_sender && (children & sender) == sender && (sender & (sender - 1'b1)) == '0))
  `PROVE(ReleasesWithItsEnd, !((action.to_children != '0 && !action.failed) || action.to_all) || ends)
  `PROVE(AllAtOnceByTheRootOnly, !action.to_all || (id == '0 && was.settings.multicast != '0 && action.to_children == '0 && !action.to_parent && !action.to_node && !action.failed && !action.behind))
  `PROVE(TellsItsChildren, !ends || action.to_children == children || action.to_all || (what == EVENT_PACKET && packet.multicast))
  `PROVE(OldReleaseForThePast, !action.behind || (what == EVENT_PACKET && packet.kind == PACKET_KIND_GATHER && packet.epoch + 16'd1 == was.epoch))
  `PROVE(ReleaseOnlyIfBehindOrFailed, !(action.to_node && action.kind == PACKET_KIND_RELEASE) || action.behind || (action.failed && was.phase == PHASE_FAILED))
  `PROVE(RepeatsGatherOnlyIfWaiting, !(action.to_node && action.kind == PACKET_KIND_GATHER && !action.failed) || was.phase == PHASE_WAITING)

  // ------------------------------------------------------------------------------------------------- one end for each beginning
  `PROVE(EpochGoesWithItsEnd, now.epoch == was.epoch + 16'(ends))
  `PROVE(IdleAfterItsEnd, !ends || (now.phase == PHASE_IDLE && now.got == '0))
  `PROVE(CompletesOnlyWhatBegan, !action.complete || was.phase == PHASE_GATHERING || was.phase == PHASE_WAITING || what == EVENT_ARRIVE)
  `PROVE(BeginsOnlyByArriving, was.phase != PHASE_IDLE || now.phase == PHASE_IDLE || now.phase == PHASE_FAILED || what == EVENT_ARRIVE)
  `PROVE(NotBeforeTheLastIsTaken, !(what == EVENT_ARRIVE && pending_i) || (action.refused && !action.complete))
  `PROVE(RefusedChangesNothing, !action.refused || (now == was && !action.complete && action.to_children == '0 && !action.to_parent && !action.to_node && !action.to_all))
  `PROVE(DroppedChangesNothing, !action.drop || (now == was && !action.complete && action.to_children == '0 && !action.to_parent && !action.to_node && !action.to_all && !action.again))

  // ------------------------------------------------------------------------------------------------- late members
  logic says_so, blames;
  assign says_so = what == EVENT_PACKET && packet.kind == PACKET_KIND_WAIT && right_sender && packet.has_named && of_this_epoch;
  assign blames  = now.has_blamed && !(was.has_blamed && now.blamed == was.blamed && now.blame_age == was.blame_age + 16'(what == EVENT_TICK && (was.phase == PHASE_GATHERING || was.phase == PHASE_WAITING)));

  `PROVE(NamedLateWasNotThereAtTheLimit, !now.has_late || (was.has_late && now.late == was.late) || (says_so && now.late == packet.named && 34'(was.age) >= 34'(was.settings.late) + 34'(packet.length)))
  `PROVE(LateIsCountedOnce, !action.late || (!was.has_late && now.has_late))
  `PROVE(BlamesWhomAWaitNames, !blames || (says_so && now.blamed == packet.named && now.blame_age == packet.length))
  `PROVE(NamesWhomItBlames, !(action.to_node && action.kind == PACKET_KIND_WAIT && action.has_named) ||
         (was.phase == PHASE_IDLE ? action.named == self_i && action.length == '0 : was.has_blamed && action.named == was.blamed && action.length == was.blame_age))

  // ------------------------------------------------------------------------------------------------- dead members
  logic by_tick, by_packet;
  assign by_tick   = what == EVENT_TICK && was.misses == {1'b0, was.settings.tries} && was.timer <= 16'd1 && now.dead == member_i;
  assign by_packet = what == EVENT_PACKET && packet.failed && right_sender && now.dead == packet.named;

  `PROVE(FailureIsFinal, was.phase != PHASE_FAILED || (now.phase == PHASE_FAILED && now.dead == was.dead))
  `PROVE(FailsForAReason, was.phase == PHASE_FAILED || now.phase != PHASE_FAILED || by_tick || by_packet)
  `PROVE(FailureIsToldOnce, !(was.phase == PHASE_FAILED && was.told) || !action.complete)
  `PROVE(FailureIsToldToWhoBegan, !(was.phase == PHASE_GATHERING || was.phase == PHASE_WAITING) || now.phase != PHASE_FAILED || (action.complete && action.ending == ENDING_DEAD_MEMBER))
  logic of_member, asks;
  assign of_member = what == EVENT_PACKET && right_sender && packet.offset < 16'(offsets_of(members, was.settings.block_log2)) && packet.best_offset < 16'(offsets_of(members, was.settings.block_log2));
  assign asks      = packet.kind == PACKET_KIND_GATHER || packet.kind == PACKET_KIND_ASK;
  `PROVE(FailureOfTheLastEpochIsTaken, !(of_member && packet.failed && (packet.kind == PACKET_KIND_GATHER || packet.kind == PACKET_KIND_RELEASE) && packet.epoch + 16'd1 == was.epoch) || now.phase == PHASE_FAILED)
  `PROVE(FailedAnswersTheNextEpoch, !(of_member && was.phase == PHASE_FAILED && asks && !packet.failed && packet.epoch == was.epoch + 16'd1) || (action.to_node && action.failed && action.named == was.dead))
  `PROVE(NeighboursLearnOfIt, was.phase == PHASE_FAILED || now.phase != PHASE_FAILED || (action.to_children == children && action.failed && (action.to_parent || id == '0)))
endmodule

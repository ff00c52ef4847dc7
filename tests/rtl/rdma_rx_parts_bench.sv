// SPDX-License-Identifier: Apache-2.0
// Parts of the receiver on their own: search for the next hole among 8 slots, check of a request, outcome, answer with a window of
// 16, and ram_forward of 5 words. Outcome and answer are there twice, transfers_i chooses those with TRANSFERS.
module rdma_rx_parts_bench
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  // rdma_holes and rdma_next_hole
  input  logic [  7:0] hole_marks_i,
  input  logic         hole_odd_i,
  input  logic [  7:0] hole_after_i,
  output logic [  7:0] hole_after_o,
  output logic         hole_wrapped_o,
  input  logic [  2:0] hole_pos_i,
  output logic         hole_is_it_o,
  // rdma_rx_request, defaults
  input  logic [ 63:0] request_arg_i,
  input  logic [ 31:0] request_bytes_i,
  input  logic         request_open_i,
  input  logic [ 39:0] request_base_i,
  input  logic [ 31:0] request_last_i,
  output logic [  7:0] request_o,
  output logic [ 31:0] request_offset_o,
  // rdma_rx_outcome
  input  logic         transfers_i,
  input  logic [  7:0] verdict_i,
  input  logic         timeout_i,
  input  logic         request_i,
  input  logic         release_i,
  input  logic         failed_i,
  input  logic         again_i,
  input  logic         used_i,
  input  logic         untouched_i,
  input  logic         source_ok_i,
  input  logic         sid_ok_i,
  input  logic         msgid_ok_i,
  input  logic         match_i,
  input  logic         key_ok_i,
  input  logic         outside_i,
  input  logic         beyond_end_i,
  input  logic         good_length_i,
  input  logic         good_mark_i,
  input  logic         mark_i,
  input  logic         advance_i,
  input  logic         ahead_i,
  input  logic         in_window_i,
  input  logic         behind_i,
  input  logic         complete_i,
  input  logic         quarter_i,
  input  logic         live_i,
  input  logic         reclaim_i,
  input  logic         asked_i,
  input  logic         complete_before_i,
  input  logic         asked_enough_i,
  input  logic         weft_mode_i,
  output logic [  7:0] outcome_o,
  output logic         has_ctx_o,
  output logic [  7:0] answer_o,
  // rdma_rx_answer
  input  logic [  7:0] answer_i,
  input  logic [  7:0] outcome_i,
  input  logic [ 15:0] node_id_i,
  input  logic [ 15:0] to_node_i,
  input  logic [ 15:0] to_sid_i,
  input  logic [ 23:0] to_msgid_i,
  input  logic [ 15:0] to_cid_i,
  input  logic [  7:0] to_gen_i,
  input  logic [ 31:0] to_pidx_i,
  input  logic         to_for_buffer_i,
  input  logic         to_of_read_i,
  input  logic         to_is_read_i,
  input  logic [ 23:0] to_rkey_i,
  input  logic         to_ordered_i,
  input  logic [ 15:0] base_i,
  input  logic [ 15:0] marks_i,
  output logic         emit_o,
  output logic [255:0] header_o,
  output logic [ 15:0] wvec_o,
  // ram_forward
  input  logic         ram_we_i,
  input  logic [  2:0] ram_waddr_i,
  input  logic [ 15:0] ram_wdata_i,
  input  logic [  2:0] ram_raddr_i,
  output logic [ 15:0] ram_rdata_o
);
  logic [7:0] holes_here, holes_next;
  logic       group_here, group_next;
  rdma_holes #(.WINDOW(8)) i_holes (
    .lap_marks_i(hole_marks_i ^ {8{hole_odd_i}}), .after_i(hole_after_i), .here_o(holes_here), .next_o(holes_next),
    .group_here_o(group_here), .group_next_o(group_next)
  );
  rdma_next_hole #(.WINDOW(8)) i_hole (
    .here_i(holes_here), .next_i(holes_next), .group_here_i(group_here), .group_next_i(group_next), .after_i(hole_after_i),
    .after_o(hole_after_o), .wrapped_o(hole_wrapped_o), .group_here_o(), .group_next_o(), .pos_i(hole_pos_i), .is_it_o(hole_is_it_o)
  );

  outcome_e verdict;
  rdma_rx_request i_request (
    .clk_i, .arg_i(request_arg_i), .bytes_i(request_bytes_i), .open_i(request_open_i), .base_i(request_base_i),
    .last_i(request_last_i), .verdict_o(verdict), .offset_o(request_offset_o)
  );
  assign request_o = verdict;

  rx_facts_t  facts;
  outcome_e   outcome, transfers_outcome;
  logic       has_ctx, transfers_has_ctx;
  rx_answer_e answer, transfers_answer;
  assign facts = '{
    timeout: timeout_i, verdict: outcome_e'(verdict_i), request: request_i, release_it: release_i, failed: failed_i, again: again_i, used: used_i,
    untouched: untouched_i, source_ok: source_ok_i, sid_ok: sid_ok_i, msgid_ok: msgid_ok_i, match: match_i, key_ok: key_ok_i, outside: outside_i,
    beyond_end: beyond_end_i, good_length: good_length_i, good_mark: good_mark_i, mark: mark_i, advance: advance_i, ahead: ahead_i, in_window: in_window_i, behind: behind_i, complete: complete_i, quarter: quarter_i, live: live_i,
    reclaim: reclaim_i, asked: asked_i, complete_before: complete_before_i, asked_enough: asked_enough_i, restart: 1'b0, not_yet: 1'b0
  };
  rdma_rx_outcome i_outcome (
    .facts_i(facts), .weft_mode_i, .outcome_o(outcome), .has_ctx_o(has_ctx), .answer_o(answer)
  );
  rdma_rx_outcome #(.TRANSFERS(1'b1)) i_transfers_outcome (
    .facts_i(facts), .weft_mode_i, .outcome_o(transfers_outcome), .has_ctx_o(transfers_has_ctx), .answer_o(transfers_answer)
  );
  assign outcome_o = transfers_i ? transfers_outcome : outcome;
  assign has_ctx_o = transfers_i ? transfers_has_ctx : has_ctx;
  assign answer_o  = transfers_i ? 8'(transfers_answer) : 8'(answer);

  rx_to_t to;
  assign to = '{node: to_node_i, sid: to_sid_i, msgid: to_msgid_i, cid: to_cid_i, gen: to_gen_i, pidx: to_pidx_i, attempt: '0, slot: '0,
               for_buffer: to_for_buffer_i, of_read: to_of_read_i, is_read: to_is_read_i, rkey: to_rkey_i, ordered: to_ordered_i};
  logic        emit, transfers_emit;
  header_t     header, transfers_header;
  logic [15:0] wvec, transfers_wvec;
  rdma_rx_answer #(.WINDOW(16), .PIDX_W(16)) i_answer (
    .clk_i, .node_id_i, .weft_mode_i, .answer_i(rx_answer_e'(answer_i[3:0])), .outcome_i(outcome_e'(outcome_i)),
    .to_i(to), .base_i, .marks_i, .emit_o(emit), .header_o(header), .wvec_o(wvec)
  );
  rdma_rx_answer #(.WINDOW(16), .PIDX_W(16), .TRANSFERS(1'b1)) i_transfers_answer (
    .clk_i, .node_id_i, .weft_mode_i, .answer_i(rx_answer_e'(answer_i[3:0])), .outcome_i(outcome_e'(outcome_i)),
    .to_i(to), .base_i, .marks_i, .emit_o(transfers_emit), .header_o(transfers_header), .wvec_o(transfers_wvec)
  );
  assign emit_o   = transfers_i ? transfers_emit : emit;
  assign header_o = transfers_i ? transfers_header : header;
  assign wvec_o   = transfers_i ? transfers_wvec : wvec;

  ram_forward #(.DEPTH(5), .WIDTH(16)) i_ram (
    .clk_i, .we_i(ram_we_i), .waddr_i(ram_waddr_i), .wdata_i(ram_wdata_i), .raddr_i(ram_raddr_i), .rdata_o(ram_rdata_o)
  );

  logic unused;
  assign unused = ^{rst_ni, answer_i[7:4]};
endmodule

// SPDX-License-Identifier: Apache-2.0
// The event that the inbox is about: what waits, whose turn it is, its ticket and the queue of that (docs/rdma_transfers.md, RTL).
//
// Timing: what is taken is ready in the last clock in front; RQTs and RSPs wait in a FIFO each; the first RQT stays there until it is handed on. read, data and
// decide of step_o follow. job_o, post_o, hdr_o, undone_o are there from read on; idx_o and queue_o too, but for a post its ticket, and for all else
// but SEND and write the queue of the ticket, in decide.
`include "weft_assert.svh"

module rdma_inbox_front
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
  import rdma_inbox_pkg::*;
#(
  parameter int unsigned N_TICKETS = 64,
  parameter int unsigned N_QUEUES  = 8,
  parameter int unsigned N_REGIONS = 64,
  parameter int unsigned PAYLOAD   = 256,
  parameter int unsigned PIDX_W    = 24,
  parameter int unsigned ADDR_W    = 48,
  parameter int unsigned RQT_DEPTH = 8,
  parameter int unsigned RSP_DEPTH = 8,
  localparam int unsigned IDX_W    = $clog2(N_TICKETS),
  localparam int unsigned Q_W      = (N_QUEUES > 1) ? $clog2(N_QUEUES) : 1,
  localparam int unsigned BASE_W   = ADDR_W - $clog2(PAYLOAD),
  localparam int unsigned OFFSET_W = offset_bits(BASE_W)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 ready_i,          // events may begin
  output logic                 regions_ready_o,
  output logic                 none_o,           // no event, no RQT, no RSP
  // regions as they are set
  input  logic                 region_set_i,
  input  logic [          7:0] region_idx_i,
  input  logic                 region_write_i,
  input  logic                 region_receive_i,
  input  logic [          8:0] region_queue_i,
  input  logic [         15:0] region_key_i,
  input  logic [   BASE_W-1:0] region_base_i,
  input  logic [ OFFSET_W-1:0] region_last_i,
  // what waits
  input  logic                 post_valid_i,
  output logic                 post_ready_o,
  input  ticket_post_t         post_i,
  input  logic                 place_i,          // for its completion
  input  logic                 rqt_valid_i,
  output logic                 rqt_ready_o,
  input  header_t              rqt_i,
  input  logic                 rqt_stop_i,       // none can be handed on
  input  logic                 rsp_valid_i,
  output logic                 rsp_ready_o,
  input  header_t              rsp_i,
  input  logic                 leave_valid_i,
  output logic                 leave_ready_o,
  input  logic [    IDX_W-1:0] leave_idx_i,
  input  logic                 undone_valid_i,
  output logic                 undone_ready_o,
  input  logic [    IDX_W-1:0] undone_idx_i,
  input  undone_t              undone_i,
  // tickets
  output logic [  PRINT_W-1:0] print_o,
  input  logic [N_TICKETS-1:0] asked_i,
  input  logic [N_TICKETS-1:0] watched_i,        // are to be looked at from time to time
  output logic [      Q_W-1:0] look_o,
  input  logic [    IDX_W-1:0] first_i,
  input  logic                 offer_valid_i,
  input  logic [    IDX_W-1:0] offer_i,
  input  logic [      Q_W-1:0] of_queue_i,
  input  logic                 ending_i,
  input  ops_t                 ops_i,
  // the event
  output step_t                step_o,
  output job_e                 job_o,
  output logic [    IDX_W-1:0] idx_o,
  output logic [      Q_W-1:0] queue_o,
  output ticket_post_t         post_o,
  output header_t              hdr_o,
  output undone_t              undone_o,
  output logic                 offered_o,        // of a post: there is a free ticket
  output found_t               found_o
);
  job_e             front_job;
  header_t          rqt, rsp;
  logic             front, go, load_rqt, names_region, rqt_inside, rqt_valid, rqt_ready, rsp_valid, rsp_ready, no_event, sweep_found_q;
  logic [IDX_W-1:0] seek_idx;
  logic [IDX_W-1:0] sweep_q;  // the next ticket to be looked at
  logic [$clog2(RQT_DEPTH+1)-1:0] rqts;
  logic [$clog2(RSP_DEPTH+1)-1:0] rsps;

  assign none_o         = no_event && rqts == '0 && rsps == '0;
  assign rqt_ready_o    = rqt_ready && ready_i;
  assign rsp_ready_o    = rsp_ready && ready_i;
  assign post_ready_o   = go && front_job == DO_POST;
  assign leave_ready_o  = go && front_job == DO_LEAVE;
  assign undone_ready_o = go && front_job == DO_DECIDED;

  ram_fifo #(
    .DEPTH(RQT_DEPTH),
    .WIDTH($bits(header_t))
  ) i_rqts (
    .clk_i,
    .rst_ni,
    .valid_i(rqt_valid_i && ready_i),
    .ready_o(rqt_ready),
    .data_i (rqt_i),
    .valid_o(rqt_valid),
    .ready_i(ops_i.hand_on),
    .data_o (rqt),
    .count_o(rqts)
  );

  ram_fifo #(
    .DEPTH(RSP_DEPTH),
    .WIDTH($bits(header_t))
  ) i_rsps (
    .clk_i,
    .rst_ni,
    .valid_i(rsp_valid_i && ready_i),
    .ready_o(rsp_ready),
    .data_i (rsp_i),
    .valid_o(rsp_valid),
    .ready_i(go && front_job == DO_RSP),
    .data_o (rsp),
    .count_o(rsps)
  );

  logic [N_TURNS-1:0] asks;
  assign asks[DO_LEAVE] = leave_valid_i;
  assign asks[DO_RQT]   = rqt_valid && !rqt_inside && !rqt_stop_i;
  assign asks[DO_RSP]   = rsp_valid;
  assign asks[DO_POST]  = post_valid_i && place_i;
  assign asks[DO_SWEEP] = sweep_found_q;

  rdma_inbox_choose i_choose (
    .clk_i,
    .rst_ni,
    .ready_i       (ready_i),
    .asks_i        (asks),
    .undone_i      (undone_valid_i),
    .names_region_i(names_region),
    .take_rqt_o    (load_rqt),
    .front_o       (front),
    .front_job_o   (front_job),
    .go_o          (go),
    .step_o        (step_o),
    .job_o         (job_o),
    .ends_i        (ending_i),
    .rqt_inside_o  (rqt_inside),
    .idle_o        (no_event)
  );

  rdma_inbox_seek #(
    .N_TICKETS(N_TICKETS),
    .N_QUEUES (N_QUEUES),
    .N_REGIONS(N_REGIONS),
    .PAYLOAD  (PAYLOAD),
    .PIDX_W   (PIDX_W),
    .ADDR_W   (ADDR_W)
  ) i_seek (
    .clk_i,
    .rst_ni,
    .ready_o       (regions_ready_o),
    .region_set_i,
    .region_idx_i,
    .region_write_i,
    .region_receive_i,
    .region_queue_i,
    .region_key_i,
    .region_base_i,
    .region_last_i,
    .is_post_i     (front_job == DO_POST),
    .post_i,
    .rqt_i         (rqt),
    .load_i        (load_rqt),
    .go_i          (go),
    .names_region_o(names_region),
    .print_o       (print_o),
    .asked_i       (asked_i),
    .first_i       (first_i),
    .queue_o       (look_o),
    .idx_o         (seek_idx),
    .found_o       (found_o),
    .rule_out_i    (ops_i.other_message),
    .rule_out_idx_i(idx_o),
    .over_i        (step_o.decide && job_o == DO_RQT)
  );

  always_ff @(posedge clk_i) begin
    if (go) begin
      post_o   <= post_i;
      hdr_o    <= front_job == DO_RQT ? rqt : rsp;
      undone_o <= undone_i;
      queue_o  <= front_job == DO_POST ? post_i.qid[Q_W-1:0] : look_o;
      unique case (front_job)
        DO_RQT:     idx_o <= seek_idx;
        DO_RSP:     idx_o <= rsp.sid[IDX_W-1:0];
        DO_LEAVE:   idx_o <= leave_idx_i;
        DO_DECIDED: idx_o <= undone_idx_i;
        default:    idx_o <= sweep_q;
      endcase
    end else if (step_o.data) begin
      if (job_o == DO_POST) begin
        idx_o     <= offer_i;
        offered_o <= offer_valid_i;
      end else if (!(job_o == DO_RQT && (found_o.asks == ASKS_SEND || found_o.asks == ASKS_WRITE))) queue_o <= of_queue_i;
    end

    if (!rst_ni) begin
      sweep_q       <= '0;
      sweep_found_q <= 1'b0;
    end else if (sweep_found_q ? go && front_job == DO_SWEEP : !watched_i[sweep_q]) begin
      sweep_q       <= sweep_q + 1'b1;
      sweep_found_q <= 1'b0;
    end else sweep_found_q <= 1'b1;
  end

  logic unused;
  assign unused = ^ops_i;

  `ASSERT(SourceOfFrontStays, !front || (front_job == DO_RQT ? rqt_valid : front_job == DO_RSP ? rsp_valid : front_job != DO_POST || post_valid_i))
endmodule

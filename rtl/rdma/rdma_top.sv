// SPDX-License-Identifier: Apache-2.0
// The RDMA engine: moves memory between nodes over an unreliable network. Theory, interfaces, registers: docs/rdma.md.
//
//   network -> rx_check -+-> receiver -> host_write -> memory
//                        |   ^   |  RSP, RESEND, DONE
//                        |  write_status
//                        |       v
//                        |    tx_frame -> network
//                        |       ^  RQT, RELEASE        ^ DATA
//                        +-> sender ------------> host_read <- memory
//                               ^
//                           post_mux <- host queues, if there are any (rdma_nic)
//                               ^
//                              regs <- software
//
// With TRANSFERS also (docs/rdma_transfers.md, RTL): requests that need a ticket go from rx_check through the inbox to the receiver; READs that the
// receiver takes become posts of answers (rdma_answers).
`include "weft_assert.svh"

module rdma_top
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned N_RX_CTX     = 1024,  // receive contexts, a power of two
  parameter int unsigned N_TX_CTX     = 1024,  // send contexts, a power of two
  parameter int unsigned WINDOW       = 128,   // bits of the receive window, a power of two
  parameter int unsigned DATA_W       = 256,   // bits of a beat of the packet streams and of host memory
  parameter int unsigned PAYLOAD      = 256,   // bytes of a full packet, a power of two
  parameter int unsigned PIDX_W       = 24,    // bits of a packet index
  parameter int unsigned CID_W        = 10,    // bits of a receive context's number
  parameter int unsigned SID_W        = 10,    // bits of a send context's number
  parameter int unsigned MSGID_W      = 20,    // bits of a transfer's number
  parameter int unsigned NODE_W       = 16,    // bits of a node's number
  parameter int unsigned ADDR_W       = 48,    // bits of a host address
  parameter int unsigned N_REGIONS    = 64,    // memory regions that other nodes may write, a power of two
  parameter int unsigned N_SOURCES    = 256,   // groups of sources with a quota of receive contexts each, a power of two
  parameter int unsigned RESEND_DEPTH = 64,    // packets that may wait to be sent again
  parameter int unsigned POST_DEPTH   = 16,    // requests that may wait for a context
  parameter int unsigned BURSTS       = 64,    // reads and writes of payload that memory may owe an answer for, of each so many, a power of two
  parameter int unsigned TRANSFERS    = 0,     // 1: SEND, READ and write with immediate; the next three are of use only then
  parameter int unsigned N_TICKETS    = 64,    // RECVs and READs of software that may wait or be under way, a power of two
  parameter int unsigned N_QUEUES     = 8,     // queues of software that these belong to, a power of two
  parameter int unsigned MAX_ANSWERS  = 16,    // READs of other nodes that may be answered at once, a power of two
  parameter int unsigned SCHEME       = 0,     // rdma_pkg: SCHEME_WINDOW, or an older one of docs/rdma_baseline.md
  parameter int unsigned N_SEND_BUFFERS = 64   // with SCHEME_SENDER: buffers of WINDOW packets each, a power of two
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // packets from the network
  input  logic                s_axis_tvalid_i,
  output logic                s_axis_tready_o,
  input  logic [  DATA_W-1:0] s_axis_tdata_i,
  input  logic [DATA_W/8-1:0] s_axis_tkeep_i,
  input  logic                s_axis_tlast_i,
  // packets to the network
  output logic                m_axis_tvalid_o,
  input  logic                m_axis_tready_i,
  output logic [  DATA_W-1:0] m_axis_tdata_o,
  output logic [DATA_W/8-1:0] m_axis_tkeep_o,
  output logic                m_axis_tlast_o,
  // registers
  input  logic [        11:0] s_axil_awaddr_i,
  input  logic                s_axil_awvalid_i,
  output logic                s_axil_awready_o,
  input  logic [        31:0] s_axil_wdata_i,
  input  logic [         3:0] s_axil_wstrb_i,
  input  logic                s_axil_wvalid_i,
  output logic                s_axil_wready_o,
  output logic [         1:0] s_axil_bresp_o,
  output logic                s_axil_bvalid_o,
  input  logic                s_axil_bready_i,
  input  logic [        11:0] s_axil_araddr_i,
  input  logic                s_axil_arvalid_i,
  output logic                s_axil_arready_o,
  output logic [        31:0] s_axil_rdata_o,
  output logic [         1:0] s_axil_rresp_o,
  output logic                s_axil_rvalid_o,
  input  logic                s_axil_rready_i,
  // host memory
  output logic [  ADDR_W-1:0] m_axi_awaddr_o,
  output logic [         7:0] m_axi_awlen_o,
  output logic [         2:0] m_axi_awsize_o,
  output logic [         1:0] m_axi_awburst_o,
  output logic                m_axi_awvalid_o,
  input  logic                m_axi_awready_i,
  output logic [  DATA_W-1:0] m_axi_wdata_o,
  output logic [DATA_W/8-1:0] m_axi_wstrb_o,
  output logic                m_axi_wlast_o,
  output logic                m_axi_wvalid_o,
  input  logic                m_axi_wready_i,
  input  logic [         1:0] m_axi_bresp_i,
  input  logic                m_axi_bvalid_i,
  output logic                m_axi_bready_o,
  output logic [  ADDR_W-1:0] m_axi_araddr_o,
  output logic [         7:0] m_axi_arlen_o,
  output logic [         2:0] m_axi_arsize_o,
  output logic [         1:0] m_axi_arburst_o,
  output logic                m_axi_arvalid_o,
  input  logic                m_axi_arready_i,
  input  logic [  DATA_W-1:0] m_axi_rdata_i,
  input  logic [         1:0] m_axi_rresp_i,
  input  logic                m_axi_rlast_i,
  input  logic                m_axi_rvalid_i,
  output logic                m_axi_rready_o,
  // interrupt, level
  output logic                irq_o,
  // posts of the host queues and their completions (rdma_nic); without queues valid is 0
  input  logic                queue_post_valid_i,
  output logic                queue_post_ready_o,
  input  post_t               queue_post_i,
  output logic                queue_cpl_valid_o,
  input  logic                queue_cpl_ready_i,
  output completion_t         queue_cpl_o,
  // RECVs and READs of the host queues, and their ends; which queues are open to messages (all of use with TRANSFERS only)
  input  logic                ticket_valid_i,
  output logic                ticket_ready_o,
  input  ticket_post_t        ticket_i,
  output logic                ticket_cpl_valid_o,
  input  logic                ticket_cpl_ready_i,
  output ticket_completion_t  ticket_cpl_o,
  input  logic                queue_set_i,     // one clock: queue_idx_i is open or closed from now on
  input  logic [         7:0] queue_idx_i,
  input  logic                queue_open_i,
  input  logic [        15:0] queue_key_i,     // that a SEND must name
  output logic [N_QUEUES-1:0] queue_held_o,    // it has tickets, and must not be opened
  // a region as it is set, for the check of local use
  output logic                region_set_o,    // one clock: region_idx_o becomes this one
  output logic [         7:0] region_idx_o,
  output logic                region_valid_o,  // not empty
  output logic                region_local_o,  // open to local use by its owner
  output logic [         7:0] region_owner_o,
  output logic [        15:0] region_key_o,
  output logic [ADDR_W-$clog2(PAYLOAD)-1:0] region_base_o,  // payloads
  output logic [offset_bits(ADDR_W-$clog2(PAYLOAD))-1:0] region_last_o,  // its last payload, counted from the base
  // trace of retired events, docs/rdma.md
  output logic                trace_rx_valid_o,
  output logic                trace_rx_timeout_o,
  output logic [         7:0] trace_rx_outcome_o,
  output logic                trace_rx_room_o,
  output logic                trace_rx_offer_valid_o,
  output logic [        15:0] trace_rx_offer_cid_o,
  output logic                trace_rx_over_quota_o,
  output logic                trace_rx_from_inbox_o,
  output logic                trace_rx_answer_asked_o,
  output logic                trace_rx_answer_room_o,
  output logic [ LIMIT_W-1:0] trace_rx_limit_o,
  output logic [        15:0] trace_rx_cid_o,
  output logic [  TICK_W-1:0] trace_rx_now_o,
  output logic [        31:0] trace_rx_wbase_o,
  output logic [  WINDOW-1:0] trace_rx_wvec_o,
  output logic                trace_routed_valid_o,     // a RQT with a flag of transfers, or the refusal of a READ, leaves rx_check,
  output logic                trace_routed_to_inbox_o,  // for the inbox, or because that is full for the receiver
  output logic                trace_inbox_valid_o,
  output logic [         2:0] trace_inbox_kind_o,
  output logic [         7:0] trace_inbox_outcome_o,
  output logic [        15:0] trace_inbox_ticket_o,
  output logic                trace_inbox_room_o,
  output logic                trace_inbox_offer_valid_o,
  output logic [        15:0] trace_inbox_offer_o,
  output logic [         2:0] trace_inbox_admit_o,
  output logic [  TICK_W-1:0] trace_inbox_now_o,
  output logic                trace_post_valid_o,       // the sender takes a post
  output logic [         1:0] trace_post_origin_o,
  output logic                trace_tx_valid_o,
  output logic [         2:0] trace_tx_kind_o,
  output logic [         7:0] trace_tx_outcome_o,
  output logic                trace_tx_room_o,
  output logic                trace_tx_resend_room_o,
  output logic [ LIMIT_W-1:0] trace_tx_limit_o,
  output logic                trace_tx_offer_valid_o,
  output logic [        15:0] trace_tx_offer_sid_o,
  output logic [        15:0] trace_tx_sid_o,
  output logic [  TICK_W-1:0] trace_tx_now_o,
  output logic [        31:0] trace_tx_next_o
);
  localparam int unsigned BEATS  = PAYLOAD > DATA_W / 8 ? PAYLOAD / (DATA_W / 8) : 1;
  localparam int unsigned BUFFER = 4 * BEATS > 64 ? 4 * BEATS : 64;  // beats of payload that came from the network
  localparam int unsigned READ_BUFFER = BURSTS * BEATS > 64 ? BURSTS * BEATS : 64;  // ... from memory, or that it still owes

  if (BURSTS < 16 || (BURSTS & (BURSTS - 1)) != 0) begin : g_bad_bursts
    $error("BURSTS must be a power of two, at least 16, is %0d", BURSTS);
  end

  if (PAYLOAD * 8 < DATA_W) begin : g_bad_payload
    $error("PAYLOAD (%0d bytes) must fill a beat of DATA_W (%0d bits)", PAYLOAD, DATA_W);
  end
  if (PIDX_W + $clog2(PAYLOAD) > 32) begin : g_bad_pidx
    $error("PIDX_W (%0d) with PAYLOAD (%0d) numbers transfers beyond 4 GiB", PIDX_W, PAYLOAD);
  end
  if (PIDX_W < 7) begin : g_narrow_pidx  // with one bit more it holds RX_AHEAD
    $error("PIDX_W must be at least 7, is %0d", PIDX_W);
  end

  // ------------------------------------------------------------------------------------------------- time
  logic [15:0]       tick_cycles, divider_q;
  logic [TICK_W-1:0] now_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      divider_q <= '0;
      now_q     <= '0;
    end else if (divider_q + 16'd1 >= tick_cycles || divider_q == '1) begin
      divider_q <= '0;
      now_q     <= now_q + 1'b1;
    end else begin
      divider_q <= divider_q + 1'b1;
    end
  end

  // ------------------------------------------------------------------------------------------------- network in
  logic     hdr_valid, hdr_ready, rx_hdr_ready, tx_hdr_ready, hdr_to_sender, hdr_to_receiver;
  logic     hdr_is_refusal, hdr_for_ticket;  // of a READ; RQT that may need a ticket
  logic     inbox_rqt_ready, inbox_rsp_ready;
  header_t  hdr;
  outcome_e verdict;
  logic     payload_valid, payload_ready;
  logic [DATA_W-1:0] payload;
  logic [15:0] node_id;
  logic        node_known, engine_ready;

  rdma_rx_check #(
    .DATA_W   (DATA_W),
    .PAYLOAD  (PAYLOAD),
    .CID_W    (CID_W),
    .SID_W    (SID_W),
    .MSGID_W  (MSGID_W),
    .NODE_W   (NODE_W),
    .BUFFER   (BUFFER),
    .TRANSFERS(TRANSFERS != 0)
  ) i_rx_check (
    .clk_i,
    .rst_ni,
    .node_known_i   (node_known),
    .node_id_i      (node_id),
    .s_axis_tvalid_i,
    .s_axis_tready_o,
    .s_axis_tdata_i,
    .s_axis_tkeep_i,
    .s_axis_tlast_i,
    .hdr_valid_o    (hdr_valid),
    .hdr_ready_i    (hdr_ready),
    .hdr_o          (hdr),
    .verdict_o      (verdict),
    .payload_valid_o(payload_valid),
    .payload_ready_i(payload_ready),
    .payload_o      (payload)
  );

  // With TRANSFERS = 0 the flags below do not come through rx_check. What the inbox has no room for goes to the receiver, which drops it.
  assign hdr_is_refusal  = verdict == OUTCOME_NONE && hdr.ptype == PTYPE_RSP && (hdr.flags & TRANSFER_FLAG_READ) != '0;
  assign hdr_for_ticket  = verdict == OUTCOME_NONE && hdr.ptype == PTYPE_RQT &&
                           (hdr.flags & (TRANSFER_FLAG_IMM | TRANSFER_FLAG_SEND | TRANSFER_FLAG_READ)) != '0;
  assign hdr_to_sender   = verdict == OUTCOME_NONE && for_sender(hdr.ptype) && !hdr_is_refusal;
  assign hdr_to_receiver = !hdr_to_sender && !(hdr_is_refusal && inbox_rsp_ready) && !(hdr_for_ticket && inbox_rqt_ready);
  // Packets wait until all halves and their counters are ready, so that each is counted.
  assign hdr_ready       = engine_ready && (hdr_to_sender ? tx_hdr_ready : !hdr_to_receiver || rx_hdr_ready);

  assign trace_routed_valid_o    = hdr_valid && hdr_ready && (hdr_for_ticket || hdr_is_refusal);
  assign trace_routed_to_inbox_o = !hdr_to_receiver;

  // ------------------------------------------------------------------------------------------------- receiver
  logic               region_set, region_write, region_read, region_receive;
  logic [8:0]         region_queue;
  logic [7:0]         region_idx;
  logic [15:0]        region_key;
  logic [ADDR_W-$clog2(PAYLOAD)-1:0] region_base;
  logic [offset_bits(ADDR_W-$clog2(PAYLOAD))-1:0] region_last;
  logic [LIMIT_W-1:0] rx_timeout, tx_retry, tx_dead;
  logic [1:0]         ask_from_after;
  logic [3:0]         max_silent, max_retry;
  logic [7:0]         max_busy;
  logic [1:0]         backoff, backoff_used;
  logic [15:0]        rx_quota;
  logic [7:0]         rx_ahead;
  logic               adapt;
  logic [LIMIT_W-1:0] timeout_floor;
  logic               weft_mode, msgid_load, read_load;
  logic [MSGID_W-1:0] msgid, read_number;
  logic [15:0]        ticket_quota, answers, answer_quota, answer_tag, keep;
  logic               answer_asked, answer_room, answer_take, read_valid, req_valid, req_ready, retired_valid;
  post_t              read_order;
  admitted_t          req;
  rx_retired_t        retired;
  logic               rx_ready, rx_idle, writes_idle, tx_ready, tx_idle, regs_ready, read_idle;
  logic               cmd_valid, cmd_ready, cmd_write;
  logic [ADDR_W-1:0]  cmd_addr;
  logic [15:0]        cmd_len;
  logic [CID_W-1:0]   cmd_cid, write_error_cid;
  logic [WRITES_W-1:0] writes_done;
  logic               rx_ctl_valid, rx_ctl_ready, rx_ctl_grant, rx_ctl_dropped, tx_ctl_valid, tx_ctl_ready, tx_ctl_dropped;
  header_t            rx_ctl, tx_ctl, rx_out, tx_out;
  logic               rx_out_valid, rx_out_ready, tx_out_valid, tx_out_ready, inbox_ctl_dropped;
  outcome_e           rx_outcome, tx_outcome;
  logic               write_error, read_error;
  logic               inbox_ready, inbox_idle, answer_post_valid, answer_post_ready, answer_done;
  post_t              answer_post;
  outcome_e           inbox_outcome;

  rdma_receiver #(
    .N_RX_CTX(N_RX_CTX),
    .WINDOW  (WINDOW),
    .PAYLOAD (PAYLOAD),
    .PIDX_W  (PIDX_W),
    .CID_W   (CID_W),
    .SID_W   (SID_W),
    .MSGID_W (MSGID_W),
    .NODE_W  (NODE_W),
    .ADDR_W  (ADDR_W),
    .N_REGIONS(N_REGIONS),
    .N_SOURCES(N_SOURCES),
    .CTL_DEPTH(2 * BURSTS),  // every write may be the last one of a transfer, whose DONE waits for it
    .TRANSFERS(TRANSFERS != 0),
    .SCHEME   (SCHEME)
  ) i_receiver (
    .clk_i,
    .rst_ni,
    .ready_o            (rx_ready),
    .idle_o             (rx_idle),
    .node_id_i          (node_id),
    .region_set_i       (region_set),
    .region_idx_i       (region_idx),
    .region_write_i     (region_write),
    .region_read_i      (region_read),
    .region_receive_i   (region_receive),
    .region_key_i       (region_key),
    .region_base_i      (region_base),
    .region_last_i      (region_last),
    .timeout_i          (trace_rx_limit_o),
    .ask_from_after_i   (ask_from_after),
    .max_silent_i       (max_silent),
    .backoff_i          (backoff_used),
    .ahead_i            (rx_ahead),
    .quota_i            (rx_quota),
    .weft_mode_i        (weft_mode),
    .now_i              (now_q),
    .hdr_valid_i        (hdr_valid && engine_ready && hdr_to_receiver),
    .hdr_ready_o        (rx_hdr_ready),
    .hdr_i              (hdr),
    .verdict_i          (verdict),
    .hdr_busy_i         (hdr_for_ticket || hdr_is_refusal),
    .req_valid_i        (req_valid),
    .req_ready_o        (req_ready),
    .req_i              (req),
    .answer_asked_i     (answer_asked),
    .answer_room_i      (answer_room),
    .answer_take_o      (answer_take),
    .read_valid_o       (read_valid),
    .read_o             (read_order),
    .ret_valid_o        (retired_valid),
    .ret_o              (retired),
    .cmd_valid_o        (cmd_valid),
    .cmd_ready_i        (cmd_ready),
    .cmd_write_o        (cmd_write),
    .cmd_addr_o         (cmd_addr),
    .cmd_len_o          (cmd_len),
    .cmd_cid_o          (cmd_cid),
    .writes_done_i      (writes_done),
    .ctl_valid_o        (rx_ctl_valid),
    .ctl_ready_i        (rx_ctl_ready),
    .ctl_o              (rx_ctl),
    .ctl_grant_o        (rx_ctl_grant),
    .ctl_dropped_o      (rx_ctl_dropped),
    .trace_valid_o      (trace_rx_valid_o),
    .trace_timeout_o    (trace_rx_timeout_o),
    .trace_outcome_o    (rx_outcome),
    .trace_room_o       (trace_rx_room_o),
    .trace_offer_valid_o(trace_rx_offer_valid_o),
    .trace_offer_cid_o  (trace_rx_offer_cid_o),
    .trace_over_quota_o (trace_rx_over_quota_o),
    .trace_admit_o      (),  // of RQTs only, known from the inbox
    .trace_from_inbox_o (trace_rx_from_inbox_o),
    .trace_answer_asked_o(trace_rx_answer_asked_o),
    .trace_answer_room_o(trace_rx_answer_room_o),
    .trace_cid_o        (trace_rx_cid_o),
    .trace_now_o        (trace_rx_now_o),
    .trace_wbase_o      (trace_rx_wbase_o),
    .trace_wvec_o       (trace_rx_wvec_o)
  );
  assign trace_rx_outcome_o = rx_outcome;

  rdma_host_write #(
    .DATA_W (DATA_W),
    .PAYLOAD(PAYLOAD),
    .ADDR_W (ADDR_W),
    .CID_W  (CID_W),
    .UNDERWAY(BURSTS)
  ) i_host_write (
    .clk_i,
    .rst_ni,
    .cmd_valid_i    (cmd_valid),
    .cmd_ready_o    (cmd_ready),
    .cmd_write_i    (cmd_write),
    .cmd_addr_i     (cmd_addr),
    .cmd_len_i      (cmd_len),
    .cmd_cid_i      (cmd_cid),
    .payload_valid_i(payload_valid),
    .payload_ready_o(payload_ready),
    .payload_i      (payload),
    .writes_done_o  (writes_done),
    .idle_o         (writes_idle),
    .error_o        (write_error),
    .error_cid_o    (write_error_cid),
    .m_axi_awaddr_o,
    .m_axi_awlen_o,
    .m_axi_awvalid_o,
    .m_axi_awready_i,
    .m_axi_wdata_o,
    .m_axi_wstrb_o,
    .m_axi_wlast_o,
    .m_axi_wvalid_o,
    .m_axi_wready_i,
    .m_axi_bresp_i,
    .m_axi_bvalid_i,
    .m_axi_bready_o
  );

  rdma_write_status #(
    .N_RX_CTX(N_RX_CTX),
    .CID_W   (CID_W),
    .SCHEME  (SCHEME)
  ) i_write_status (
    .clk_i,
    .rst_ni,
    .error_i    (write_error),
    .error_cid_i(write_error_cid),
    .ctl_valid_i(rx_ctl_valid),
    .ctl_ready_o(rx_ctl_ready),
    .ctl_i      (rx_ctl),
    .ctl_grant_i(rx_ctl_grant),
    .ctl_valid_o(rx_out_valid),
    .ctl_ready_i(rx_out_ready),
    .ctl_o      (rx_out)
  );

  assign m_axi_awsize_o  = 3'($clog2(DATA_W / 8));
  assign m_axi_arsize_o  = 3'($clog2(DATA_W / 8));
  assign m_axi_awburst_o = 2'b01;  // INCR
  assign m_axi_arburst_o = 2'b01;

  // ------------------------------------------------------------------------------------------------- sender
  logic              post_valid, post_ready, cpl_valid, cpl_ready;
  post_t             post;
  completion_t       cpl;
  logic              order_valid, order_ready, data_valid, data_ready, fetched_valid, fetched_ready;
  logic              query, query_over, fault_valid, fault_ready;
  logic [15:0]       query_sid, fault_sid;
  logic [23:0]       query_msgid, fault_msgid;
  header_t           order_hdr, data_hdr;
  logic [ADDR_W-1:0] order_addr;
  logic [DATA_W-1:0] fetched;
  event_e            tx_kind;

  rdma_sender #(
    .N_TX_CTX    (N_TX_CTX),
    .PAYLOAD     (PAYLOAD),
    .PIDX_W      (PIDX_W),
    .CID_W       (CID_W),
    .SID_W       (SID_W),
    .MSGID_W     (MSGID_W),
    .NODE_W      (NODE_W),
    .ADDR_W      (ADDR_W),
    .LONG        (5 * DATA_W / 8),  // beats that take as long as the next one from its turn
    .RESEND_DEPTH(RESEND_DEPTH),
    .SCHEME      (SCHEME),
    .WINDOW      (WINDOW),
    .N_BUFFERS   (N_SEND_BUFFERS)
  ) i_sender (
    .clk_i,
    .rst_ni,
    .ready_o            (tx_ready),
    .idle_o             (tx_idle),
    .node_id_i          (node_id),
    .retry_i            (trace_tx_limit_o),
    .dead_i             (tx_dead),
    .max_retry_i        (max_retry),
    .max_busy_i         (max_busy),
    .backoff_i          (backoff_used),
    .msgid_load_i       (msgid_load),
    .msgid_i            (msgid),
    .keep_i             (keep),
    .now_i              (now_q),
    .hdr_valid_i        (hdr_valid && engine_ready && hdr_to_sender),
    .hdr_ready_o        (tx_hdr_ready),
    .hdr_i              (hdr),
    .answer_done_o      (answer_done),
    .answer_tag_o       (answer_tag),
    .post_valid_i       (post_valid),
    .post_ready_o       (post_ready),
    .post_i             (post),
    .cpl_valid_o        (cpl_valid),
    .cpl_ready_i        (cpl_ready),
    .cpl_o              (cpl),
    .cpl_count_o        (),  // its completions wait in i_posts
    .ctl_valid_o        (tx_ctl_valid),
    .ctl_ready_i        (tx_ctl_ready),
    .ctl_o              (tx_ctl),
    .ctl_dropped_o      (tx_ctl_dropped),
    .data_valid_o       (order_valid),
    .data_ready_i       (order_ready),
    .data_hdr_o         (order_hdr),
    .data_addr_o        (order_addr),
    .query_i            (query),
    .query_sid_i        (query_sid),
    .query_msgid_i      (query_msgid),
    .query_over_o       (query_over),
    .fault_valid_i      (fault_valid),
    .fault_ready_o      (fault_ready),
    .fault_sid_i        (fault_sid),
    .fault_msgid_i      (fault_msgid),
    .trace_valid_o      (trace_tx_valid_o),
    .trace_kind_o       (tx_kind),
    .trace_outcome_o    (tx_outcome),
    .trace_room_o       (trace_tx_room_o),
    .trace_resend_room_o(trace_tx_resend_room_o),
    .trace_offer_valid_o(trace_tx_offer_valid_o),
    .trace_offer_sid_o  (trace_tx_offer_sid_o),
    .trace_sid_o        (trace_tx_sid_o),
    .trace_now_o        (trace_tx_now_o),
    .trace_next_o       (trace_tx_next_o)
  );
  assign trace_tx_kind_o    = tx_kind;
  assign trace_tx_outcome_o = tx_outcome;

  // In paper mode timers are as printed: as set, and never doubled.
  assign backoff_used = weft_mode ? backoff : '0;

  rdma_timeouts i_timeouts (
    .clk_i,
    .rst_ni,
    .adapt_i     (adapt && weft_mode),
    .floor_i     (timeout_floor),
    .rx_timeout_i(rx_timeout),
    .tx_retry_i  (tx_retry),
    .rx_valid_i  (trace_rx_valid_o),
    .rx_outcome_i(rx_outcome),
    .rx_cid_i    (trace_rx_cid_o),
    .rx_now_i    (trace_rx_now_o),
    .tx_valid_i  (trace_tx_valid_o),
    .tx_outcome_i(tx_outcome),
    .tx_sid_i    (trace_tx_sid_o),
    .tx_now_i    (trace_tx_now_o),
    .rx_timeout_o(trace_rx_limit_o),
    .tx_retry_o  (trace_tx_limit_o)
  );

  // Reads of payload, before older schemes have a look at them.
  logic [ADDR_W-1:0] read_araddr;
  logic [7:0]        read_arlen;
  logic [DATA_W-1:0] read_rdata;
  logic [1:0]        read_rresp;
  logic              read_arvalid, read_arready, read_rlast, read_rvalid, read_rready;

  rdma_host_read #(
    .DATA_W (DATA_W),
    .PAYLOAD(PAYLOAD),
    .ADDR_W (ADDR_W),
    .BUFFER (READ_BUFFER),
    .DEPTH  (BURSTS)
  ) i_host_read (
    .clk_i,
    .rst_ni,
    .order_valid_i  (order_valid),
    .order_ready_o  (order_ready),
    .order_hdr_i    (order_hdr),
    .order_addr_i   (order_addr),
    .hdr_valid_o    (data_valid),
    .hdr_ready_i    (data_ready),
    .hdr_o          (data_hdr),
    .payload_valid_o(fetched_valid),
    .payload_ready_i(fetched_ready),
    .payload_o      (fetched),
    .error_o        (read_error),
    .idle_o         (read_idle),
    .query_o        (query),
    .query_sid_o    (query_sid),
    .query_msgid_o  (query_msgid),
    .query_over_i   (query_over),
    .fault_valid_o  (fault_valid),
    .fault_ready_i  (fault_ready),
    .fault_sid_o    (fault_sid),
    .fault_msgid_o  (fault_msgid),
    .m_axi_araddr_o (read_araddr),
    .m_axi_arlen_o  (read_arlen),
    .m_axi_arvalid_o(read_arvalid),
    .m_axi_arready_i(read_arready),
    .m_axi_rdata_i  (read_rdata),
    .m_axi_rresp_i  (read_rresp),
    .m_axi_rlast_i  (read_rlast),
    .m_axi_rvalid_i (read_rvalid),
    .m_axi_rready_o (read_rready)
  );

  if (SCHEME == SCHEME_SENDER) begin : g_copies
    rdma_send_copies #(
      .DATA_W   (DATA_W),
      .PAYLOAD  (PAYLOAD),
      .ADDR_W   (ADDR_W),
      .N_BUFFERS(N_SEND_BUFFERS),
      .WINDOW   (WINDOW),
      .DEPTH    (BURSTS)
    ) i_copies (
      .clk_i,
      .rst_ni,
      .order_i        (order_valid && order_ready),
      .order_hdr_i    (order_hdr),
      .s_axi_araddr_i (read_araddr),
      .s_axi_arlen_i  (read_arlen),
      .s_axi_arvalid_i(read_arvalid),
      .s_axi_arready_o(read_arready),
      .s_axi_rdata_o  (read_rdata),
      .s_axi_rresp_o  (read_rresp),
      .s_axi_rlast_o  (read_rlast),
      .s_axi_rvalid_o (read_rvalid),
      .s_axi_rready_i (read_rready),
      .m_axi_araddr_o,
      .m_axi_arlen_o,
      .m_axi_arvalid_o,
      .m_axi_arready_i,
      .m_axi_rdata_i,
      .m_axi_rresp_i,
      .m_axi_rlast_i,
      .m_axi_rvalid_i,
      .m_axi_rready_o
    );
  end else begin : g_no_copies
    assign m_axi_araddr_o  = read_araddr;
    assign m_axi_arlen_o   = read_arlen;
    assign m_axi_arvalid_o = read_arvalid;
    assign read_arready    = m_axi_arready_i;
    assign read_rdata      = m_axi_rdata_i;
    assign read_rresp      = m_axi_rresp_i;
    assign read_rlast      = m_axi_rlast_i;
    assign read_rvalid     = m_axi_rvalid_i;
    assign m_axi_rready_o  = read_rready;
  end

  // ------------------------------------------------------------------------------------------------- network out
  rdma_tx_frame #(
    .DATA_W (DATA_W),
    .PAYLOAD(PAYLOAD)
  ) i_tx_frame (
    .clk_i,
    .rst_ni,
    .rx_ctl_valid_i (rx_out_valid),
    .rx_ctl_ready_o (rx_out_ready),
    .rx_ctl_i       (rx_out),
    .tx_ctl_valid_i (tx_out_valid),
    .tx_ctl_ready_o (tx_out_ready),
    .tx_ctl_i       (tx_out),
    .data_valid_i   (data_valid),
    .data_ready_o   (data_ready),
    .data_hdr_i     (data_hdr),
    .payload_valid_i(fetched_valid),
    .payload_ready_o(fetched_ready),
    .payload_i      (fetched),
    .m_axis_tvalid_o,
    .m_axis_tready_i,
    .m_axis_tdata_o,
    .m_axis_tkeep_o,
    .m_axis_tlast_o
  );

  assign engine_ready = rx_ready && tx_ready && regs_ready && inbox_ready;

  // ------------------------------------------------------------------------------------------------- transfers other than plain writes
  if (TRANSFERS != 0) begin : g_transfers
    logic    inbox_ctl_valid, inbox_ctl_ready, answers_idle, tickets_idle, tickets_ready, answers_ready, ticket_taken;
    header_t inbox_ctl;

    rdma_inbox #(
      .N_TICKETS(N_TICKETS),
      .N_QUEUES (N_QUEUES),
      .PAYLOAD  (PAYLOAD),
      .PIDX_W   (PIDX_W),
      .CID_W    (CID_W),
      .SID_W    (SID_W),
      .MSGID_W  (MSGID_W),
      .NODE_W   (NODE_W),
      .ADDR_W   (ADDR_W),
      .N_REGIONS(N_REGIONS)
    ) i_inbox (
      .clk_i,
      .rst_ni,
      .ready_o            (tickets_ready),
      .idle_o             (tickets_idle),
      .node_id_i          (node_id),
      .retry_i            (trace_tx_limit_o),
      .max_retry_i        (max_retry),
      .max_busy_i         (max_busy),
      .backoff_i          (backoff_used),
      .ticket_quota_i     (ticket_quota),
      .number_load_i      (read_load),
      .number_i           (read_number),
      .now_i              (now_q),
      .region_set_i       (region_set),
      .region_idx_i       (region_idx),
      .region_write_i     (region_write),
      .region_receive_i   (region_receive),
      .region_queue_i     (region_queue),
      .region_key_i       (region_key),
      .region_base_i      (region_base),
      .region_last_i      (region_last),
      .queue_set_i,
      .queue_idx_i,
      .queue_open_i,
      .queue_key_i,
      .queue_held_o,
      .post_valid_i       (ticket_valid_i && engine_ready && node_known),
      .post_ready_o       (ticket_taken),
      .post_i             (ticket_i),
      .cpl_valid_o        (ticket_cpl_valid_o),
      .cpl_ready_i        (ticket_cpl_ready_i),
      .cpl_o              (ticket_cpl_o),
      .rqt_valid_i        (hdr_valid && engine_ready && hdr_for_ticket),
      .rqt_ready_o        (inbox_rqt_ready),
      .rqt_i              (hdr),
      .rsp_valid_i        (hdr_valid && engine_ready && hdr_is_refusal),
      .rsp_ready_o        (inbox_rsp_ready),
      .rsp_i              (hdr),
      .req_valid_o        (req_valid),
      .req_ready_i        (req_ready),
      .req_o              (req),
      .ret_valid_i        (retired_valid),
      .ret_i              (retired),
      .writes_done_i      (writes_done),
      .error_i            (write_error),
      .error_cid_i        (write_error_cid),
      .ctl_valid_o        (inbox_ctl_valid),
      .ctl_ready_i        (inbox_ctl_ready),
      .ctl_o              (inbox_ctl),
      .ctl_dropped_o      (inbox_ctl_dropped),
      .trace_valid_o      (trace_inbox_valid_o),
      .trace_kind_o       (trace_inbox_kind_o),
      .trace_outcome_o    (inbox_outcome),
      .trace_ticket_o     (trace_inbox_ticket_o),
      .trace_room_o       (trace_inbox_room_o),
      .trace_offer_valid_o(trace_inbox_offer_valid_o),
      .trace_offer_o      (trace_inbox_offer_o),
      .trace_admit_o      (trace_inbox_admit_o),
      .trace_now_o        (trace_inbox_now_o)
    );
    assign ticket_ready_o = ticket_taken && engine_ready && node_known;

    rdma_answers #(
      .DEPTH    (MAX_ANSWERS),
      .N_TX_CTX (N_TX_CTX),
      .N_SOURCES(N_SOURCES),
      .NODE_W   (NODE_W),
      .SID_W    (SID_W),
      .MSGID_W  (MSGID_W)
    ) i_answers (
      .clk_i,
      .rst_ni,
      .ready_o      (answers_ready),
      .idle_o       (answers_idle),
      .answers_i    (answers),
      .quota_i      (answer_quota),
      .id_i         ('{node: hdr.src, ticket: hdr.sid, number: hdr.msgid}),
      .answer_asked_o(answer_asked),
      .answer_room_o(answer_room),
      .answer_take_i(answer_take),
      .read_valid_i (read_valid),
      .read_i       (read_order),
      .post_valid_o (answer_post_valid),
      .post_ready_i (answer_post_ready),
      .post_o       (answer_post),
      .done_i       (answer_done),
      .done_tag_i   (answer_tag),
      .keep_o       (keep)
    );

    stream_arbiter #(
      .N(2),
      .T(header_t)
    ) i_control (
      .clk_i,
      .rst_ni,
      .valid_i({inbox_ctl_valid, tx_ctl_valid}),
      .ready_o({inbox_ctl_ready, tx_ctl_ready}),
      .data_i ('{tx_ctl, inbox_ctl}),
      .valid_o(tx_out_valid),
      .ready_i(tx_out_ready),
      .data_o (tx_out)
    );
    assign inbox_ready = tickets_ready && answers_ready;
    assign inbox_idle  = tickets_idle && answers_idle;
  end else begin : g_plain_writes
    assign {inbox_ready, inbox_idle} = '1;
    assign {inbox_rqt_ready, inbox_rsp_ready, req_valid, inbox_ctl_dropped, trace_inbox_valid_o} = '0;
    assign {answer_asked, answer_room, answer_post_valid, ticket_ready_o, ticket_cpl_valid_o} = '0;
    assign keep           = '0;
    assign req            = '0;
    assign answer_post    = '0;
    assign ticket_cpl_o   = '0;
    assign queue_held_o   = '0;
    assign inbox_outcome  = OUTCOME_NONE;
    assign {trace_inbox_kind_o, trace_inbox_ticket_o, trace_inbox_room_o, trace_inbox_offer_valid_o, trace_inbox_offer_o} = '0;
    assign {trace_inbox_admit_o, trace_inbox_now_o} = '0;
    assign {tx_out_valid, tx_ctl_ready, tx_out} = {tx_ctl_valid, tx_out_ready, tx_ctl};
    logic unused;
    assign unused = ^{ticket_valid_i, ticket_i, ticket_cpl_ready_i, queue_set_i, queue_idx_i, queue_open_i, queue_key_i, region_queue, read_load,
                      read_number, ticket_quota, answers, answer_quota, answer_tag, answer_take, read_valid, read_order, req_ready, retired_valid, retired, answer_post_ready,
                      answer_done};
  end
  assign trace_inbox_outcome_o = inbox_outcome;

  // ------------------------------------------------------------------------------------------------- posts and completions
  logic        reg_post_valid, reg_post_ready, reg_cpl_valid, reg_cpl_ready, posts_idle;
  post_t       reg_post;
  completion_t reg_cpl;
  logic [15:0] reg_cpl_count;

  rdma_post_mux #(
    .N_TX_CTX(N_TX_CTX)
  ) i_posts (
    .clk_i,
    .rst_ni,
    .open_i            (engine_ready && node_known),
    .idle_o            (posts_idle),
    .reg_post_valid_i  (reg_post_valid),
    .reg_post_ready_o  (reg_post_ready),
    .reg_post_i        (reg_post),
    .reg_cpl_valid_o   (reg_cpl_valid),
    .reg_cpl_ready_i   (reg_cpl_ready),
    .reg_cpl_o         (reg_cpl),
    .reg_cpl_count_o   (reg_cpl_count),
    .queue_post_valid_i,
    .queue_post_ready_o,
    .queue_post_i,
    .queue_cpl_valid_o,
    .queue_cpl_ready_i,
    .queue_cpl_o,
    .answer_post_valid_i(answer_post_valid),
    .answer_post_ready_o(answer_post_ready),
    .answer_post_i     (answer_post),
    .post_valid_o      (post_valid),
    .post_ready_i      (post_ready),
    .post_o            (post),
    .cpl_valid_i       (cpl_valid),
    .cpl_ready_o       (cpl_ready),
    .cpl_i             (cpl)
  );
  assign trace_post_valid_o      = post_valid && post_ready;
  assign trace_post_origin_o     = post.origin;

  // ------------------------------------------------------------------------------------------------- registers
  assign region_set_o  = region_set;
  assign region_idx_o  = region_idx;
  assign region_key_o  = region_key;
  assign region_base_o = region_base;
  assign region_last_o = region_last;

  rdma_regs #(
    .N_RX_CTX  (N_RX_CTX),
    .N_TX_CTX  (N_TX_CTX),
    .WINDOW    (WINDOW),
    .PAYLOAD   (PAYLOAD),
    .MSGID_W   (MSGID_W),
    .ADDR_W    (ADDR_W),
    .N_REGIONS (N_REGIONS),
    .N_SOURCES (N_SOURCES),
    .N_TICKETS (TRANSFERS != 0 ? N_TICKETS : 0),
    .N_QUEUES  (TRANSFERS != 0 ? N_QUEUES : 0),
    .POST_DEPTH(POST_DEPTH)
  ) i_regs (
    .clk_i,
    .rst_ni,
    .ready_o         (regs_ready),
    .s_axil_awaddr_i,
    .s_axil_awvalid_i,
    .s_axil_awready_o,
    .s_axil_wdata_i,
    .s_axil_wstrb_i,
    .s_axil_wvalid_i,
    .s_axil_wready_o,
    .s_axil_bresp_o,
    .s_axil_bvalid_o,
    .s_axil_bready_i,
    .s_axil_araddr_i,
    .s_axil_arvalid_i,
    .s_axil_arready_o,
    .s_axil_rdata_o,
    .s_axil_rresp_o,
    .s_axil_rvalid_o,
    .s_axil_rready_i,
    .node_known_o    (node_known),
    .node_id_o       (node_id),
    .region_set_o    (region_set),
    .region_idx_o    (region_idx),
    .region_write_o  (region_write),
    .region_read_o   (region_read),
    .region_receive_o(region_receive),
    .region_queue_o  (region_queue),
    .region_valid_o,
    .region_local_o,
    .region_owner_o,
    .region_key_o    (region_key),
    .region_base_o   (region_base),
    .region_last_o   (region_last),
    .tick_cycles_o   (tick_cycles),
    .rx_timeout_o    (rx_timeout),
    .tx_retry_o      (tx_retry),
    .tx_dead_o       (tx_dead),
    .ask_from_after_o(ask_from_after),
    .max_silent_o    (max_silent),
    .max_retry_o     (max_retry),
    .max_busy_o      (max_busy),
    .backoff_o       (backoff),
    .rx_quota_o      (rx_quota),
    .ticket_quota_o  (ticket_quota),
    .answers_o       (answers),
    .answer_quota_o  (answer_quota),
    .rx_ahead_o      (rx_ahead),
    .adapt_o         (adapt),
    .floor_o         (timeout_floor),
    .weft_mode_o     (weft_mode),
    .msgid_load_o    (msgid_load),
    .msgid_o         (msgid),
    .read_load_o     (read_load),
    .read_number_o   (read_number),
    .post_valid_o    (reg_post_valid),
    .post_ready_i    (reg_post_ready),
    .post_o          (reg_post),
    .cpl_valid_i     (reg_cpl_valid),
    .cpl_ready_o     (reg_cpl_ready),
    .cpl_i           (reg_cpl),
    .cpl_count_i     (reg_cpl_count),
    .engine_ready_i  (engine_ready),
    .tx_idle_i       (tx_idle && read_idle && posts_idle && inbox_idle),
    .rx_idle_i       (rx_idle && writes_idle),
    .rx_event_i      (trace_rx_valid_o),
    .rx_outcome_i    (rx_outcome),
    .tx_event_i      (trace_tx_valid_o),
    .tx_outcome_i    (tx_outcome),
    .inbox_event_i   (trace_inbox_valid_o && inbox_outcome != OUTCOME_NONE),
    .inbox_outcome_i (inbox_outcome),
    .ctl_dropped_i   ({inbox_ctl_dropped, tx_ctl_dropped, rx_ctl_dropped}),
    .bus_error_i     ({read_error, write_error}),
    .irq_o
  );
endmodule

// SPDX-License-Identifier: Apache-2.0
// A NIC: the RDMA engine, the host queues in front of it, one memory port and one register space for both (docs/rdma_queues.md, The NIC).
//
//   registers -> split -+-> engine's          memory <- read mux  <-+- engine: payload
//                       +-> queues'                  <- write mux <-+- queues: entries; completions, messages
//
//   queues -> requests (local check, tags) -> engine -> network
//          <-                              <-
`include "weft_assert.svh"

module rdma_nic
  import rdma_pkg::*;
  import rdma_queues_pkg::*;
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
  parameter int unsigned POST_DEPTH   = 16,    // requests of the registers that may wait for a context
  parameter int unsigned BURSTS       = 64,    // reads and writes that memory may owe an answer for, of each so many, a power of two
  parameter int unsigned N_QUEUES     = 8,     // pairs of rings, a power of two
  parameter int unsigned FETCH        = 4,     // submission entries a burst, at most
  parameter int unsigned READS        = 4,     // bursts of submission entries under way
  parameter int unsigned N_REQUESTS   = 1024,  // requests of the queues that the engine may have, a power of two
  parameter int unsigned TRANSFERS    = 1,     // 1: SEND, READ, RECV and write with immediate, besides WRITE; the next two are of use only then
  parameter int unsigned N_TICKETS    = 64,    // READs and RECVs that may wait or be under way, a power of two
  parameter int unsigned MAX_ANSWERS  = 16,    // READs of other nodes that may be answered at once, a power of two
  localparam int unsigned AXIL_W      = PAGE_SHIFT + 1 + $clog2(N_QUEUES)
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
  // registers: page 0 the engine's, page 1 the administrator's of the queues, page 2 + q that of queue q
  input  logic [  AXIL_W-1:0] s_axil_awaddr_i,
  input  logic                s_axil_awvalid_i,
  output logic                s_axil_awready_o,
  input  logic [        31:0] s_axil_wdata_i,
  input  logic [         3:0] s_axil_wstrb_i,
  input  logic                s_axil_wvalid_i,
  output logic                s_axil_wready_o,
  output logic [         1:0] s_axil_bresp_o,
  output logic                s_axil_bvalid_o,
  input  logic                s_axil_bready_i,
  input  logic [  AXIL_W-1:0] s_axil_araddr_i,
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
  // interrupts, level: of the engine, of the queues
  output logic                irq_o,
  output logic                queue_irq_o,
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
  output logic                trace_routed_valid_o,     // a RQT with a flag of transfers, or the refusal of a READ, leaves the arrival checks, for the
  output logic                trace_routed_to_inbox_o,  // inbox or the receiver
  output logic                trace_inbox_valid_o,
  output logic [         2:0] trace_inbox_kind_o,
  output logic [         7:0] trace_inbox_outcome_o,
  output logic [        15:0] trace_inbox_ticket_o,
  output logic                trace_inbox_room_o,
  output logic                trace_inbox_offer_valid_o,
  output logic [        15:0] trace_inbox_offer_o,
  output logic [         2:0] trace_inbox_admit_o,
  output logic [  TICK_W-1:0] trace_inbox_now_o,
  output logic                trace_queue_set_o,        // the inbox is told that this queue is open or closed
  output queue_t              trace_queue_idx_o,
  output logic                trace_queue_open_o,
  output logic [        15:0] trace_queue_key_o,
  output logic                trace_post_valid_o,       // the sender takes a post
  output logic [         1:0] trace_post_origin_o,
  output logic                trace_tx_valid_o,
  output logic [         2:0] trace_tx_kind_o,
  output logic [         7:0] trace_tx_outcome_o,
  output logic                trace_tx_room_o,
  output logic                trace_tx_resend_room_o,
  output logic                trace_tx_offer_valid_o,
  output logic [        15:0] trace_tx_offer_sid_o,
  output logic [ LIMIT_W-1:0] trace_tx_limit_o,
  output logic [        15:0] trace_tx_sid_o,
  output logic [  TICK_W-1:0] trace_tx_now_o,
  output logic [        31:0] trace_tx_next_o,
  // trace of the queues, as of rdma_queues; entries as in memory
  output logic                trace_look_o,
  output logic                trace_apply_o,
  output logic                trace_write_ok_o,
  output logic                trace_order_valid_o,
  output queue_t              trace_order_queue_o,
  output index_t              trace_order_index_o,
  output logic [         4:0] trace_order_count_o,
  output logic                trace_entry_valid_o,
  output queue_t              trace_entry_queue_o,
  output logic [         1:0] trace_entry_verdict_o,
  output logic                trace_error_valid_o,
  output queue_t              trace_error_queue_o,
  output logic                trace_slot_valid_o,
  output logic                trace_slot_discard_o,
  output queue_t              trace_slot_queue_o,
  output logic                trace_slot_signal_o,
  output logic [       255:0] trace_slot_fields_o,    // a completion entry, without submission head and phase
  output logic                trace_retired_valid_o,
  output queue_t              trace_retired_queue_o,
  output logic                trace_retired_discarded_o,
  output logic                trace_retired_failed_o,
  output logic                trace_retired_urgent_o,
  output logic                trace_fire_valid_o,
  output queue_t              trace_fire_queue_o,
  output logic [N_QUEUES-1:0] trace_off_o,
  // a request was checked by the regions as set up to two clocks ago; 0: it goes to the engine
  output logic                trace_request_valid_o,
  output logic [         7:0] trace_request_status_o
);
  localparam int unsigned MASTERS  = 2;  // on the memory port: engine, queues
  localparam int unsigned BASE_W   = ADDR_W - $clog2(PAYLOAD);
  localparam int unsigned OFFSET_W = offset_bits(BASE_W);

  // ------------------------------------------------------------------------------------------------- registers
  logic [AXIL_W-1:0] awaddr, araddr;
  logic [31:0]       wdata;
  logic [3:0]        wstrb;
  logic [1:0]        awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  logic [1:0][1:0]   bresp, rresp;
  logic [1:0][31:0]  rdata;

  axil_split #(
    .ADDR_W  (AXIL_W),
    .BOUNDARY(1 << PAGE_SHIFT)
  ) i_split (
    .clk_i,
    .rst_ni,
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
    .m_axil_awaddr_o (awaddr),
    .m_axil_awvalid_o(awvalid),
    .m_axil_awready_i(awready),
    .m_axil_wdata_o  (wdata),
    .m_axil_wstrb_o  (wstrb),
    .m_axil_wvalid_o (wvalid),
    .m_axil_wready_i (wready),
    .m_axil_bresp_i  (bresp),
    .m_axil_bvalid_i (bvalid),
    .m_axil_bready_o (bready),
    .m_axil_araddr_o (araddr),
    .m_axil_arvalid_o(arvalid),
    .m_axil_arready_i(arready),
    .m_axil_rdata_i  (rdata),
    .m_axil_rresp_i  (rresp),
    .m_axil_rvalid_i (rvalid),
    .m_axil_rready_o (rready)
  );

  // ------------------------------------------------------------------------------------------------- one memory port
  logic [MASTERS-1:0][  ADDR_W-1:0] mem_awaddr, mem_araddr;
  logic [MASTERS-1:0][         7:0] mem_awlen, mem_arlen;
  logic [MASTERS-1:0][  DATA_W-1:0] mem_wdata;
  logic [MASTERS-1:0][DATA_W/8-1:0] mem_wstrb;
  logic [MASTERS-1:0]               mem_awvalid, mem_awready, mem_wlast, mem_wvalid, mem_wready, mem_bvalid, mem_bready;
  logic [MASTERS-1:0]               mem_arvalid, mem_arready, mem_rvalid, mem_rready;
  logic [1:0]                       mem_bresp, mem_rresp;
  logic [DATA_W-1:0]                mem_rdata;
  logic                             mem_rlast;

  axi_read_mux #(
    .N     (MASTERS),
    .ADDR_W(ADDR_W),
    .DATA_W(DATA_W),
    .DEPTH (BURSTS)
  ) i_reads (
    .clk_i,
    .rst_ni,
    .s_axi_araddr_i (mem_araddr),
    .s_axi_arlen_i  (mem_arlen),
    .s_axi_arvalid_i(mem_arvalid),
    .s_axi_arready_o(mem_arready),
    .s_axi_rdata_o  (mem_rdata),
    .s_axi_rresp_o  (mem_rresp),
    .s_axi_rlast_o  (mem_rlast),
    .s_axi_rvalid_o (mem_rvalid),
    .s_axi_rready_i (mem_rready),
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

  axi_write_mux #(
    .N     (MASTERS),
    .ADDR_W(ADDR_W),
    .DATA_W(DATA_W),
    .DEPTH (BURSTS)
  ) i_writes (
    .clk_i,
    .rst_ni,
    .s_axi_awaddr_i (mem_awaddr),
    .s_axi_awlen_i  (mem_awlen),
    .s_axi_awvalid_i(mem_awvalid),
    .s_axi_awready_o(mem_awready),
    .s_axi_wdata_i  (mem_wdata),
    .s_axi_wstrb_i  (mem_wstrb),
    .s_axi_wlast_i  (mem_wlast),
    .s_axi_wvalid_i (mem_wvalid),
    .s_axi_wready_o (mem_wready),
    .s_axi_bresp_o  (mem_bresp),
    .s_axi_bvalid_o (mem_bvalid),
    .s_axi_bready_i (mem_bready),
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

  assign m_axi_awsize_o  = 3'($clog2(DATA_W / 8));
  assign m_axi_arsize_o  = 3'($clog2(DATA_W / 8));
  assign m_axi_awburst_o = 2'b01;  // INCR
  assign m_axi_arburst_o = 2'b01;

  // ------------------------------------------------------------------------------------------------- engine
  logic                post_valid, post_ready, done_valid, done_ready;
  post_t               post;
  completion_t         done;
  logic                region_set, region_valid, region_local;
  logic                ticket_post_valid, ticket_post_ready, ticket_cpl_valid, ticket_cpl_ready;
  ticket_post_t        ticket_post;
  ticket_completion_t  ticket_cpl;
  logic [N_QUEUES-1:0] queue_held;
  logic [7:0]          region_idx, region_owner;
  logic [15:0]         region_key;
  logic [BASE_W-1:0]   region_base;
  logic [OFFSET_W-1:0] region_last;

  rdma_top #(
    .N_RX_CTX    (N_RX_CTX),
    .N_TX_CTX    (N_TX_CTX),
    .WINDOW      (WINDOW),
    .DATA_W      (DATA_W),
    .PAYLOAD     (PAYLOAD),
    .PIDX_W      (PIDX_W),
    .CID_W       (CID_W),
    .SID_W       (SID_W),
    .MSGID_W     (MSGID_W),
    .NODE_W      (NODE_W),
    .ADDR_W      (ADDR_W),
    .N_REGIONS   (N_REGIONS),
    .N_SOURCES   (N_SOURCES),
    .RESEND_DEPTH(RESEND_DEPTH),
    .POST_DEPTH  (POST_DEPTH),
    .BURSTS      (BURSTS),
    .TRANSFERS   (TRANSFERS),
    .N_TICKETS   (N_TICKETS),
    .N_QUEUES    (N_QUEUES),
    .MAX_ANSWERS (MAX_ANSWERS)
  ) i_engine (
    .clk_i,
    .rst_ni,
    .s_axis_tvalid_i,
    .s_axis_tready_o,
    .s_axis_tdata_i,
    .s_axis_tkeep_i,
    .s_axis_tlast_i,
    .m_axis_tvalid_o,
    .m_axis_tready_i,
    .m_axis_tdata_o,
    .m_axis_tkeep_o,
    .m_axis_tlast_o,
    .s_axil_awaddr_i  (awaddr[11:0]),
    .s_axil_awvalid_i (awvalid[0]),
    .s_axil_awready_o (awready[0]),
    .s_axil_wdata_i   (wdata),
    .s_axil_wstrb_i   (wstrb),
    .s_axil_wvalid_i  (wvalid[0]),
    .s_axil_wready_o  (wready[0]),
    .s_axil_bresp_o   (bresp[0]),
    .s_axil_bvalid_o  (bvalid[0]),
    .s_axil_bready_i  (bready[0]),
    .s_axil_araddr_i  (araddr[11:0]),
    .s_axil_arvalid_i (arvalid[0]),
    .s_axil_arready_o (arready[0]),
    .s_axil_rdata_o   (rdata[0]),
    .s_axil_rresp_o   (rresp[0]),
    .s_axil_rvalid_o  (rvalid[0]),
    .s_axil_rready_i  (rready[0]),
    .m_axi_awaddr_o   (mem_awaddr[0]),
    .m_axi_awlen_o    (mem_awlen[0]),
    .m_axi_awvalid_o  (mem_awvalid[0]),
    .m_axi_awready_i  (mem_awready[0]),
    .m_axi_wdata_o    (mem_wdata[0]),
    .m_axi_wstrb_o    (mem_wstrb[0]),
    .m_axi_wlast_o    (mem_wlast[0]),
    .m_axi_wvalid_o   (mem_wvalid[0]),
    .m_axi_wready_i   (mem_wready[0]),
    .m_axi_bresp_i    (mem_bresp),
    .m_axi_bvalid_i   (mem_bvalid[0]),
    .m_axi_bready_o   (mem_bready[0]),
    .m_axi_araddr_o   (mem_araddr[0]),
    .m_axi_arlen_o    (mem_arlen[0]),
    .m_axi_arvalid_o  (mem_arvalid[0]),
    .m_axi_arready_i  (mem_arready[0]),
    .m_axi_rdata_i    (mem_rdata),
    .m_axi_rresp_i    (mem_rresp),
    .m_axi_rlast_i    (mem_rlast),
    .m_axi_rvalid_i   (mem_rvalid[0]),
    .m_axi_rready_o   (mem_rready[0]),
    .m_axi_awsize_o    (),  // as on the port
    .m_axi_awburst_o   (),
    .m_axi_arsize_o    (),
    .m_axi_arburst_o   (),
    .irq_o,
    .queue_post_valid_i(post_valid),
    .queue_post_ready_o(post_ready),
    .queue_post_i      (post),
    .queue_cpl_valid_o (done_valid),
    .queue_cpl_ready_i (done_ready),
    .queue_cpl_o       (done),
    .ticket_valid_i    (ticket_post_valid),
    .ticket_ready_o    (ticket_post_ready),
    .ticket_i          (ticket_post),
    .ticket_cpl_valid_o(ticket_cpl_valid),
    .ticket_cpl_ready_i(ticket_cpl_ready),
    .ticket_cpl_o      (ticket_cpl),
    .queue_set_i       (trace_queue_set_o),
    .queue_idx_i       (8'(trace_queue_idx_o)),
    .queue_open_i      (trace_queue_open_o),
    .queue_key_i       (trace_queue_key_o),
    .queue_held_o      (queue_held),
    .region_set_o      (region_set),
    .region_idx_o      (region_idx),
    .region_valid_o    (region_valid),
    .region_local_o    (region_local),
    .region_owner_o    (region_owner),
    .region_key_o      (region_key),
    .region_base_o     (region_base),
    .region_last_o     (region_last),
    .trace_rx_valid_o,
    .trace_rx_timeout_o,
    .trace_rx_outcome_o,
    .trace_rx_room_o,
    .trace_rx_offer_valid_o,
    .trace_rx_offer_cid_o,
    .trace_rx_over_quota_o,
    .trace_rx_from_inbox_o,
    .trace_rx_answer_asked_o,
    .trace_rx_answer_room_o,
    .trace_routed_valid_o,
    .trace_routed_to_inbox_o,
    .trace_inbox_valid_o,
    .trace_inbox_kind_o,
    .trace_inbox_outcome_o,
    .trace_inbox_ticket_o,
    .trace_inbox_room_o,
    .trace_inbox_offer_valid_o,
    .trace_inbox_offer_o,
    .trace_inbox_admit_o,
    .trace_inbox_now_o,
    .trace_rx_limit_o,
    .trace_rx_cid_o,
    .trace_rx_now_o,
    .trace_rx_wbase_o,
    .trace_rx_wvec_o,
    .trace_post_valid_o,
    .trace_post_origin_o,
    .trace_tx_valid_o,
    .trace_tx_kind_o,
    .trace_tx_outcome_o,
    .trace_tx_room_o,
    .trace_tx_resend_room_o,
    .trace_tx_offer_valid_o,
    .trace_tx_offer_sid_o,
    .trace_tx_limit_o,
    .trace_tx_sid_o,
    .trace_tx_now_o,
    .trace_tx_next_o
  );

  // ------------------------------------------------------------------------------------------------- requests of the queues
  logic     req_valid, req_ready, out_valid, out_ready;
  request_t req;
  outcome_t out;

  rdma_requests #(
    .N_REQUESTS(N_REQUESTS),
    .N_TICKETS (TRANSFERS != 0 ? N_TICKETS : 0),
    .PAYLOAD   (PAYLOAD),
    .ADDR_W    (ADDR_W),
    .N_REGIONS (N_REGIONS)
  ) i_requests (
    .clk_i,
    .rst_ni,
    .region_set_i  (region_set),
    .region_idx_i  (region_idx),
    .region_valid_i(region_valid),
    .region_local_i(region_local),
    .region_owner_i(region_owner),
    .region_key_i  (region_key),
    .region_base_i (region_base),
    .region_last_i (region_last),
    .req_valid_i   (req_valid),
    .req_ready_o   (req_ready),
    .req_i         (req),
    .out_valid_o   (out_valid),
    .out_ready_i   (out_ready),
    .out_o         (out),
    .post_valid_o  (post_valid),
    .post_ready_i  (post_ready),
    .post_o        (post),
    .cpl_valid_i   (done_valid),
    .cpl_ready_o   (done_ready),
    .cpl_i         (done),
    .ticket_post_valid_o(ticket_post_valid),
    .ticket_post_ready_i(ticket_post_ready),
    .ticket_post_o      (ticket_post),
    .ticket_cpl_valid_i (ticket_cpl_valid),
    .ticket_cpl_ready_o (ticket_cpl_ready),
    .ticket_cpl_i       (ticket_cpl),
    .trace_valid_o (trace_request_valid_o),
    .trace_status_o(trace_request_status_o)
  );

  // ------------------------------------------------------------------------------------------------- queues
  rdma_queues_formats_pkg::verdict_e    entry_verdict;
  outcome_t slot;
  retired_t retired;
  rdma_queues_formats_pkg::completion_t slot_fields;

  rdma_queues #(
    .N_QUEUES(N_QUEUES),
    .DATA_W  (DATA_W),
    .ADDR_W  (ADDR_W),
    .FETCH   (FETCH),
    .READS   (READS),
    .OPCODES (opcodes_of(TRANSFERS != 0))
  ) i_queues (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr_i  (awaddr),
    .s_axil_awvalid_i (awvalid[1]),
    .s_axil_awready_o (awready[1]),
    .s_axil_wdata_i   (wdata),
    .s_axil_wstrb_i   (wstrb),
    .s_axil_wvalid_i  (wvalid[1]),
    .s_axil_wready_o  (wready[1]),
    .s_axil_bresp_o   (bresp[1]),
    .s_axil_bvalid_o  (bvalid[1]),
    .s_axil_bready_i  (bready[1]),
    .s_axil_araddr_i  (araddr),
    .s_axil_arvalid_i (arvalid[1]),
    .s_axil_arready_o (arready[1]),
    .s_axil_rdata_o   (rdata[1]),
    .s_axil_rresp_o   (rresp[1]),
    .s_axil_rvalid_o  (rvalid[1]),
    .s_axil_rready_i  (rready[1]),
    .req_valid_o     (req_valid),
    .req_ready_i     (req_ready),
    .req_o           (req),
    .claim_valid_i   (1'b0),  // what comes from other nodes completes RECVs
    .claim_ready_o   (),
    .claim_queue_i   ('0),
    .claim_ok_o      (),
    .cpl_valid_i     (out_valid),
    .cpl_ready_o     (out_ready),
    .cpl_i           (out),
    .queue_set_o     (trace_queue_set_o),
    .queue_idx_o     (trace_queue_idx_o),
    .queue_open_o    (trace_queue_open_o),
    .queue_key_o     (trace_queue_key_o),
    .queue_held_i    (queue_held),
    .irq_o           (queue_irq_o),
    .m_axi_awaddr_o   (mem_awaddr[1]),
    .m_axi_awlen_o    (mem_awlen[1]),
    .m_axi_awvalid_o  (mem_awvalid[1]),
    .m_axi_awready_i  (mem_awready[1]),
    .m_axi_wdata_o    (mem_wdata[1]),
    .m_axi_wstrb_o    (mem_wstrb[1]),
    .m_axi_wlast_o    (mem_wlast[1]),
    .m_axi_wvalid_o   (mem_wvalid[1]),
    .m_axi_wready_i   (mem_wready[1]),
    .m_axi_bresp_i    (mem_bresp),
    .m_axi_bvalid_i   (mem_bvalid[1]),
    .m_axi_bready_o   (mem_bready[1]),
    .m_axi_araddr_o   (mem_araddr[1]),
    .m_axi_arlen_o    (mem_arlen[1]),
    .m_axi_arvalid_o  (mem_arvalid[1]),
    .m_axi_arready_i  (mem_arready[1]),
    .m_axi_rdata_i    (mem_rdata),
    .m_axi_rresp_i    (mem_rresp),
    .m_axi_rlast_i    (mem_rlast),
    .m_axi_rvalid_i   (mem_rvalid[1]),
    .m_axi_rready_o   (mem_rready[1]),
    .trace_look_o,
    .trace_apply_o,
    .trace_write_ok_o,
    .trace_order_valid_o,
    .trace_order_queue_o,
    .trace_order_index_o,
    .trace_order_count_o,
    .trace_entry_valid_o,
    .trace_entry_queue_o,
    .trace_entry_verdict_o(entry_verdict),
    .trace_error_valid_o,
    .trace_error_queue_o,
    .trace_slot_valid_o,
    .trace_slot_discard_o,
    .trace_slot_o         (slot),
    .trace_retired_valid_o,
    .trace_retired_o      (retired),
    .trace_fire_valid_o,
    .trace_fire_queue_o,
    .trace_off_o
  );

  always_comb begin : p_slot
    slot_fields               = '0;
    slot_fields.tag           = slot.tag;
    slot_fields.bytes         = slot.bytes;
    slot_fields.immediate     = slot.immediate;
    slot_fields.has_immediate = slot.has_immediate;
    slot_fields.node          = slot.node;
    slot_fields.status        = slot.status;
    slot_fields.opcode        = slot.opcode;
  end
  assign trace_entry_verdict_o     = entry_verdict;
  assign trace_slot_queue_o        = slot.qid;
  assign trace_slot_signal_o       = slot.signal;
  assign trace_slot_fields_o       = slot_fields;
  assign trace_retired_queue_o     = retired.qid;
  assign trace_retired_discarded_o = retired.discarded;
  assign trace_retired_failed_o    = retired.failed;
  assign trace_retired_urgent_o    = retired.urgent;
endmodule

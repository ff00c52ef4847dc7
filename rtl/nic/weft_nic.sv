// SPDX-License-Identifier: Apache-2.0
// RDMA NIC and barrier engine as one NIC (docs/barrier.md, Inside the NIC): one network port, register space, port to host memory, interrupt.
//
//   registers -> split -+-> rdma_nic                      network <-> nic_packets <-+-> rdma_nic
//                       +-> split -+-> barrier engine                               +-> barrier engine
//                                  +-> its completion ring      memory <- write mux <-+- rdma_nic (which alone reads)
//                                                                                     +- completion ring <- barrier engine
`include "weft_assert.svh"

module weft_nic
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
  // of the barrier engine
  parameter int unsigned N_GROUPS     = 16,    // barriers at once, up to 256
  parameter int unsigned N_MEMBERS    = 1024,  // of a group at most, up to 1024
  parameter int unsigned N_NODES      = 1024,  // of the fabric, for barriers
  parameter int unsigned IN_DEPTH     = 16,    // packets that wait for the engine; more are dropped
  localparam int unsigned RDMA_W      = PAGE_SHIFT + 1 + $clog2(N_QUEUES),
  localparam int unsigned AXIL_W      = RDMA_W + 1
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
  // registers: lower half those of rdma_nic; upper half from its begin on 1 KiB of the barrier engine, behind that its completion ring
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
  // interrupt, level: of any part; and by parts
  output logic                irq_o,
  output logic                rdma_irq_o,
  output logic                queue_irq_o,
  output logic                barrier_irq_o,
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
  output logic [         7:0] trace_request_status_o,
  // trace of the barrier engine
  output logic                trace_barrier_valid_o,    // an event, for one clock
  output logic [         2:0] trace_barrier_what_o,     // 0 to 2: command, 3: packet, 4: tick
  output logic [        31:0] trace_barrier_group_o,
  output logic [       255:0] trace_barrier_packet_o,
  output logic                trace_barrier_overrun_o,  // the packet that was just checked is dropped
  output logic                trace_barrier_arrived_o,  // a packet for the engine comes
  output logic [       255:0] trace_barrier_arrival_o,
  output logic                trace_barrier_told_o,     // software is told of a completion
  output logic [        63:0] trace_barrier_completion_o
);
  localparam int unsigned MASTERS        = 2;         // of writes to memory: rdma_nic, completion ring
  localparam int unsigned BARRIER_W      = 10;        // bits of an address of the barrier engine
  localparam int unsigned BARRIER_WINDOW = 1 << RDMA_W;

  // ------------------------------------------------------------------------------------------------- registers
  // Behind each split: [0] rdma_nic, [1] barrier; [0] its engine, [1] its ring.
  logic [AXIL_W-1:0] awaddr, araddr, window_awaddr, window_araddr;
  logic [31:0]       wdata, window_wdata;
  logic [3:0]        wstrb, window_wstrb;
  logic [1:0]        awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  logic [1:0]        window_awvalid, window_awready, window_wvalid, window_wready, window_bvalid, window_bready, window_arvalid, window_arready, window_rvalid, window_rready;
  logic [1:0][1:0]   bresp, rresp, window_bresp, window_rresp;
  logic [1:0][31:0]  rdata, window_rdata;

  axil_split #(
    .ADDR_W  (AXIL_W),
    .BOUNDARY(BARRIER_WINDOW)
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
    .m_axil_awaddr_o  (awaddr),
    .m_axil_awvalid_o (awvalid),
    .m_axil_awready_i (awready),
    .m_axil_wdata_o   (wdata),
    .m_axil_wstrb_o   (wstrb),
    .m_axil_wvalid_o  (wvalid),
    .m_axil_wready_i  (wready),
    .m_axil_bresp_i   (bresp),
    .m_axil_bvalid_i  (bvalid),
    .m_axil_bready_o  (bready),
    .m_axil_araddr_o  (araddr),
    .m_axil_arvalid_o (arvalid),
    .m_axil_arready_i (arready),
    .m_axil_rdata_i   (rdata),
    .m_axil_rresp_i   (rresp),
    .m_axil_rvalid_i  (rvalid),
    .m_axil_rready_o  (rready)
  );

  axil_split #(
    .ADDR_W  (AXIL_W),
    .BOUNDARY(1 << BARRIER_W)
  ) i_split_barrier (
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
    .m_axil_awaddr_o  (window_awaddr),
    .m_axil_awvalid_o (window_awvalid),
    .m_axil_awready_i (window_awready),
    .m_axil_wdata_o   (window_wdata),
    .m_axil_wstrb_o   (window_wstrb),
    .m_axil_wvalid_o  (window_wvalid),
    .m_axil_wready_i  (window_wready),
    .m_axil_bresp_i   (window_bresp),
    .m_axil_bvalid_i  (window_bvalid),
    .m_axil_bready_o  (window_bready),
    .m_axil_araddr_o  (window_araddr),
    .m_axil_arvalid_o (window_arvalid),
    .m_axil_arready_i (window_arready),
    .m_axil_rdata_i   (window_rdata),
    .m_axil_rresp_i   (window_rresp),
    .m_axil_rvalid_i  (window_rvalid),
    .m_axil_rready_o  (window_rready)
  );

  // ------------------------------------------------------------------------------------------------- network port
  logic                rdma_in_valid, rdma_in_ready, rdma_out_valid, rdma_out_ready, rdma_out_last;
  logic [  DATA_W-1:0] rdma_out_data;
  logic [DATA_W/8-1:0] rdma_out_keep;
  logic                barrier_in_valid, barrier_in_ready, barrier_out_valid, barrier_out_ready;
  logic [       255:0] barrier_in_data, barrier_out_data;

  nic_packets #(
    .DATA_W(DATA_W)
  ) i_packets (
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
    .rdma_in_valid_o    (rdma_in_valid),
    .rdma_in_ready_i    (rdma_in_ready),
    .rdma_out_valid_i   (rdma_out_valid),
    .rdma_out_ready_o   (rdma_out_ready),
    .rdma_out_data_i    (rdma_out_data),
    .rdma_out_keep_i    (rdma_out_keep),
    .rdma_out_last_i    (rdma_out_last),
    .barrier_in_valid_o (barrier_in_valid),
    .barrier_in_data_o  (barrier_in_data),
    .barrier_out_valid_i(barrier_out_valid),
    .barrier_out_ready_o(barrier_out_ready),
    .barrier_out_data_i (barrier_out_data)
  );

  // ------------------------------------------------------------------------------------------------- writes to memory
  logic [MASTERS-1:0][  ADDR_W-1:0] mem_awaddr;
  logic [MASTERS-1:0][         7:0] mem_awlen;
  logic [MASTERS-1:0][  DATA_W-1:0] mem_wdata;
  logic [MASTERS-1:0][DATA_W/8-1:0] mem_wstrb;
  logic [MASTERS-1:0]               mem_awvalid, mem_awready, mem_wlast, mem_wvalid, mem_wready, mem_bvalid, mem_bready;
  logic [1:0]                       mem_bresp;

  axi_write_mux #(
    .N     (MASTERS),
    .ADDR_W(ADDR_W),
    .DATA_W(DATA_W),
    .DEPTH (BURSTS)
  ) i_writes (
    .clk_i,
    .rst_ni,
    .s_axi_awaddr_i  (mem_awaddr),
    .s_axi_awlen_i   (mem_awlen),
    .s_axi_awvalid_i (mem_awvalid),
    .s_axi_awready_o (mem_awready),
    .s_axi_wdata_i   (mem_wdata),
    .s_axi_wstrb_i   (mem_wstrb),
    .s_axi_wlast_i   (mem_wlast),
    .s_axi_wvalid_i  (mem_wvalid),
    .s_axi_wready_o  (mem_wready),
    .s_axi_bresp_o   (mem_bresp),
    .s_axi_bvalid_o  (mem_bvalid),
    .s_axi_bready_i  (mem_bready),
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

  // ------------------------------------------------------------------------------------------------- RDMA
  rdma_nic #(
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
    .N_QUEUES    (N_QUEUES),
    .FETCH       (FETCH),
    .READS       (READS),
    .N_REQUESTS  (N_REQUESTS),
    .TRANSFERS   (TRANSFERS),
    .N_TICKETS   (N_TICKETS),
    .MAX_ANSWERS (MAX_ANSWERS)
  ) i_rdma (
    .clk_i,
    .rst_ni,
    .s_axis_tvalid_i   (rdma_in_valid),
    .s_axis_tready_o   (rdma_in_ready),
    .s_axis_tdata_i,
    .s_axis_tkeep_i,
    .s_axis_tlast_i,
    .m_axis_tvalid_o   (rdma_out_valid),
    .m_axis_tready_i   (rdma_out_ready),
    .m_axis_tdata_o    (rdma_out_data),
    .m_axis_tkeep_o    (rdma_out_keep),
    .m_axis_tlast_o    (rdma_out_last),
    .s_axil_awaddr_i   (awaddr[RDMA_W-1:0]),
    .s_axil_awvalid_i  (awvalid[0]),
    .s_axil_awready_o  (awready[0]),
    .s_axil_wdata_i    (wdata),
    .s_axil_wstrb_i    (wstrb),
    .s_axil_wvalid_i   (wvalid[0]),
    .s_axil_wready_o   (wready[0]),
    .s_axil_bresp_o    (bresp[0]),
    .s_axil_bvalid_o   (bvalid[0]),
    .s_axil_bready_i   (bready[0]),
    .s_axil_araddr_i   (araddr[RDMA_W-1:0]),
    .s_axil_arvalid_i  (arvalid[0]),
    .s_axil_arready_o  (arready[0]),
    .s_axil_rdata_o    (rdata[0]),
    .s_axil_rresp_o    (rresp[0]),
    .s_axil_rvalid_o   (rvalid[0]),
    .s_axil_rready_i   (rready[0]),
    .m_axi_awaddr_o    (mem_awaddr[0]),
    .m_axi_awlen_o     (mem_awlen[0]),
    .m_axi_awsize_o,
    .m_axi_awburst_o,
    .m_axi_awvalid_o   (mem_awvalid[0]),
    .m_axi_awready_i   (mem_awready[0]),
    .m_axi_wdata_o     (mem_wdata[0]),
    .m_axi_wstrb_o     (mem_wstrb[0]),
    .m_axi_wlast_o     (mem_wlast[0]),
    .m_axi_wvalid_o    (mem_wvalid[0]),
    .m_axi_wready_i    (mem_wready[0]),
    .m_axi_bresp_i     (mem_bresp),
    .m_axi_bvalid_i    (mem_bvalid[0]),
    .m_axi_bready_o    (mem_bready[0]),
    .m_axi_araddr_o,
    .m_axi_arlen_o,
    .m_axi_arsize_o,
    .m_axi_arburst_o,
    .m_axi_arvalid_o,
    .m_axi_arready_i,
    .m_axi_rdata_i,
    .m_axi_rresp_i,
    .m_axi_rlast_i,
    .m_axi_rvalid_i,
    .m_axi_rready_o,
    .irq_o             (rdma_irq_o),
    .queue_irq_o,
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
    .trace_rx_limit_o,
    .trace_rx_cid_o,
    .trace_rx_now_o,
    .trace_rx_wbase_o,
    .trace_rx_wvec_o,
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
    .trace_queue_set_o,
    .trace_queue_idx_o,
    .trace_queue_open_o,
    .trace_queue_key_o,
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
    .trace_tx_next_o,
    .trace_look_o,
    .trace_apply_o,
    .trace_write_ok_o,
    .trace_order_valid_o,
    .trace_order_queue_o,
    .trace_order_index_o,
    .trace_order_count_o,
    .trace_entry_valid_o,
    .trace_entry_queue_o,
    .trace_entry_verdict_o,
    .trace_error_valid_o,
    .trace_error_queue_o,
    .trace_slot_valid_o,
    .trace_slot_discard_o,
    .trace_slot_queue_o,
    .trace_slot_signal_o,
    .trace_slot_fields_o,
    .trace_retired_valid_o,
    .trace_retired_queue_o,
    .trace_retired_discarded_o,
    .trace_retired_failed_o,
    .trace_retired_urgent_o,
    .trace_fire_valid_o,
    .trace_fire_queue_o,
    .trace_off_o,
    .trace_request_valid_o,
    .trace_request_status_o
  );

  // ------------------------------------------------------------------------------------------------- barriers
  logic        told_valid, told_ready;
  logic [63:0] told;

  barrier_engine #(
    .N_GROUPS (N_GROUPS),
    .N_MEMBERS(N_MEMBERS),
    .N_NODES  (N_NODES),
    .IN_DEPTH (IN_DEPTH)
  ) i_barrier (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr_i  (window_awaddr[BARRIER_W-1:0]),
    .s_axil_awvalid_i (window_awvalid[0]),
    .s_axil_awready_o (window_awready[0]),
    .s_axil_wdata_i   (window_wdata),
    .s_axil_wstrb_i   (window_wstrb),
    .s_axil_wvalid_i  (window_wvalid[0]),
    .s_axil_wready_o  (window_wready[0]),
    .s_axil_bresp_o   (window_bresp[0]),
    .s_axil_bvalid_o  (window_bvalid[0]),
    .s_axil_bready_i  (window_bready[0]),
    .s_axil_araddr_i  (window_araddr[BARRIER_W-1:0]),
    .s_axil_arvalid_i (window_arvalid[0]),
    .s_axil_arready_o (window_arready[0]),
    .s_axil_rdata_o   (window_rdata[0]),
    .s_axil_rresp_o   (window_rresp[0]),
    .s_axil_rvalid_o  (window_rvalid[0]),
    .s_axil_rready_i  (window_rready[0]),
    .s_pkt_valid_i  (barrier_in_valid),
    .s_pkt_ready_o  (barrier_in_ready),
    .s_pkt_data_i   (barrier_in_data),
    .m_pkt_valid_o  (barrier_out_valid),
    .m_pkt_ready_i  (barrier_out_ready),
    .m_pkt_data_o   (barrier_out_data),
    .m_cpl_valid_o  (told_valid),
    .m_cpl_ready_i  (told_ready),
    .m_cpl_data_o   (told),
    .trace_valid_o  (trace_barrier_valid_o),
    .trace_what_o   (trace_barrier_what_o),
    .trace_group_o  (trace_barrier_group_o),
    .trace_packet_o (trace_barrier_packet_o),
    .trace_overrun_o(trace_barrier_overrun_o)
  );

  nic_barrier_ring #(
    .DATA_W(DATA_W),
    .ADDR_W(ADDR_W),
    .AXIL_W(AXIL_W)
  ) i_ring (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr_i  (window_awaddr),
    .s_axil_awvalid_i (window_awvalid[1]),
    .s_axil_awready_o (window_awready[1]),
    .s_axil_wdata_i   (window_wdata),
    .s_axil_wstrb_i   (window_wstrb),
    .s_axil_wvalid_i  (window_wvalid[1]),
    .s_axil_wready_o  (window_wready[1]),
    .s_axil_bresp_o   (window_bresp[1]),
    .s_axil_bvalid_o  (window_bvalid[1]),
    .s_axil_bready_i  (window_bready[1]),
    .s_axil_araddr_i  (window_araddr),
    .s_axil_arvalid_i (window_arvalid[1]),
    .s_axil_arready_o (window_arready[1]),
    .s_axil_rdata_o   (window_rdata[1]),
    .s_axil_rresp_o   (window_rresp[1]),
    .s_axil_rvalid_o  (window_rvalid[1]),
    .s_axil_rready_i  (window_rready[1]),
    .cpl_valid_i(told_valid),
    .cpl_ready_o(told_ready),
    .cpl_data_i (told),
    .m_axi_awaddr_o  (mem_awaddr[1]),
    .m_axi_awlen_o   (mem_awlen[1]),
    .m_axi_awvalid_o (mem_awvalid[1]),
    .m_axi_awready_i (mem_awready[1]),
    .m_axi_wdata_o   (mem_wdata[1]),
    .m_axi_wstrb_o   (mem_wstrb[1]),
    .m_axi_wlast_o   (mem_wlast[1]),
    .m_axi_wvalid_o  (mem_wvalid[1]),
    .m_axi_wready_i  (mem_wready[1]),
    .m_axi_bresp_i   (mem_bresp),
    .m_axi_bvalid_i  (mem_bvalid[1]),
    .m_axi_bready_o  (mem_bready[1]),
    .irq_o(barrier_irq_o)
  );

  assign irq_o                      = rdma_irq_o || queue_irq_o || barrier_irq_o;
  assign trace_barrier_arrived_o    = barrier_in_valid;
  assign trace_barrier_arrival_o    = barrier_in_data;
  assign trace_barrier_told_o       = told_valid && told_ready;
  assign trace_barrier_completion_o = told;

  `ASSERT(BarrierNeverBlocksNetwork, !barrier_in_valid || barrier_in_ready)
endmodule

// SPDX-License-Identifier: Apache-2.0
// Writes payload to host memory over AXI4 or discards it, one command per DATA packet, and counts the writes answered; of
// one answered with an error it says whose it was.
//
// One beat a clock without bubbles, also for commands of one beat. Addresses are multiples of PAYLOAD, so that no
// burst crosses 4 KiB. Write data may be offered before its address is taken, as AXI4 allows.
module rdma_host_write
  import rdma_pkg::*;
#(
  parameter int unsigned DATA_W   = 256,
  parameter int unsigned PAYLOAD  = 256,  // bytes
  parameter int unsigned ADDR_W   = 48,
  parameter int unsigned CID_W    = 10,
  parameter int unsigned AW_DEPTH = 4,    // addresses that may run ahead of the data
  parameter int unsigned UNDERWAY = 64    // writes that memory may owe an answer for, a power of two
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                cmd_valid_i,
  output logic                cmd_ready_o,
  input  logic                cmd_write_i,      // write the payload, else discard it
  input  logic [  ADDR_W-1:0] cmd_addr_i,
  input  logic [        15:0] cmd_len_i,        // bytes, 1 to PAYLOAD
  input  logic [   CID_W-1:0] cmd_cid_i,        // whose write it is
  input  logic                payload_valid_i,
  output logic                payload_ready_o,
  input  logic [  DATA_W-1:0] payload_i,
  output logic [WRITES_W-1:0] writes_done_o,    // commands answered by memory, wraps
  output logic                idle_o,           // memory has answered every write of the commands taken
  output logic                error_o,          // an answer was an error, before writes_done_o counts it
  output logic [   CID_W-1:0] error_cid_o,      // to a write of this context
  // AXI4 write channels
  output logic [  ADDR_W-1:0] m_axi_awaddr_o,
  output logic [         7:0] m_axi_awlen_o,
  output logic                m_axi_awvalid_o,
  input  logic                m_axi_awready_i,
  output logic [  DATA_W-1:0] m_axi_wdata_o,
  output logic [DATA_W/8-1:0] m_axi_wstrb_o,
  output logic                m_axi_wlast_o,
  output logic                m_axi_wvalid_o,
  input  logic                m_axi_wready_i,
  input  logic [         1:0] m_axi_bresp_i,
  input  logic                m_axi_bvalid_i,
  output logic                m_axi_bready_o
);
  localparam int unsigned BYTES   = DATA_W / 8;
  localparam int unsigned SHIFT   = $clog2(BYTES);
  localparam int unsigned BEATS   = PAYLOAD > BYTES ? PAYLOAD / BYTES : 1;
  localparam int unsigned BEAT_W  = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam int unsigned COUNT_W = $clog2(UNDERWAY + 1);

  typedef struct packed {
    logic [ADDR_W-1:0] addr;
    logic [7:0]        len;
  } aw_t;

  logic [7:0]        last_beat;  // index of the command's last beat
  logic [BEAT_W-1:0] beat_q;
  logic              at_last, aw_ready, list_ready, owner_ready, owner_valid, aw_sent_q, aw_push, beat_fire;
  logic [SHIFT-1:0]  tail;       // bytes in the last beat, 0 = all
  logic [COUNT_W-1:0] owed;      // answers
  aw_t               aw_in, aw;

  assign last_beat = 8'((cmd_len_i - 16'd1) >> SHIFT);
  assign tail      = cmd_len_i[SHIFT-1:0];
  assign at_last   = beat_q == BEAT_W'(last_beat);

  // The address goes out once, with the first beat or before it.
  assign aw_push  = cmd_valid_i && cmd_write_i && !aw_sent_q && aw_ready;
  assign aw_ready = list_ready && owner_ready;
  assign aw_in    = '{addr: cmd_addr_i, len: last_beat};

  sync_fifo #(
    .DEPTH(AW_DEPTH),
    .T    (aw_t)
  ) i_addresses (
    .clk_i,
    .rst_ni,
    .valid_i(aw_push),
    .ready_o(list_ready),
    .data_i (aw_in),
    .valid_o(m_axi_awvalid_o),
    .ready_i(m_axi_awready_i),
    .data_o (aw),
    .count_o()  // not needed
  );
  assign m_axi_awaddr_o = aw.addr;
  assign m_axi_awlen_o  = aw.len;

  // Answers come in the order of the addresses: there is one AXI ID.
  ram_fifo #(
    .DEPTH(UNDERWAY),
    .WIDTH(CID_W)
  ) i_owners (
    .clk_i,
    .rst_ni,
    .valid_i(aw_push),
    .ready_o(owner_ready),
    .data_i (cmd_cid_i),
    .valid_o(owner_valid),
    .ready_i(m_axi_bvalid_i),
    .data_o (error_cid_o),
    .count_o(owed)
  );
  assign idle_o = owed == '0;

  logic w_valid, w_go;
  assign w_go            = cmd_valid_i && payload_valid_i && (!cmd_write_i || aw_sent_q || aw_ready);
  assign w_valid         = w_go && cmd_write_i;
  assign beat_fire       = w_go && (!cmd_write_i || m_axi_wready_i);
  assign payload_ready_o = beat_fire;
  assign cmd_ready_o     = beat_fire && at_last;

  assign m_axi_wvalid_o = w_valid;
  assign m_axi_wdata_o  = payload_i;
  assign m_axi_wlast_o  = at_last;
  assign m_axi_wstrb_o  = (at_last && tail != '0) ? ~({BYTES{1'b1}} << tail) : '1;

  assign m_axi_bready_o = owner_valid;
  assign error_o        = m_axi_bvalid_i && m_axi_bready_o && m_axi_bresp_i[1];

  logic unused;
  assign unused = m_axi_bresp_i[0];  // OKAY or EXOKAY, SLVERR or DECERR

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beat_q        <= '0;
      aw_sent_q     <= 1'b0;
      writes_done_o <= '0;
    end else begin
      if (beat_fire) beat_q <= at_last ? '0 : beat_q + 1'b1;
      if (cmd_ready_o) aw_sent_q <= 1'b0;
      else if (aw_push) aw_sent_q <= 1'b1;
      if (m_axi_bvalid_i && m_axi_bready_o) writes_done_o <= writes_done_o + 1'b1;
    end
  end
endmodule

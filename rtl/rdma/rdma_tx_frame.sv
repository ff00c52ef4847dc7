// SPDX-License-Identifier: Apache-2.0
// Exit of the engine: chooses the next packet and lays it out as beats. Control packets of the receiver go first, then those
// of the sender, then DATA; a packet that has begun is finished. One packet of one beat a clock, no bubbles.
`include "weft_assert.svh"

module rdma_tx_frame
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned DATA_W  = 256,  // bits of a beat: a power of two of flits
  parameter int unsigned PAYLOAD = 256   // bytes of a full packet
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // control packets, without CRC
  input  logic                rx_ctl_valid_i,
  output logic                rx_ctl_ready_o,
  input  header_t             rx_ctl_i,
  input  logic                tx_ctl_valid_i,
  output logic                tx_ctl_ready_o,
  input  header_t             tx_ctl_i,
  // DATA packets with CRC; all of a packet's payload is there when its header is
  input  logic                data_valid_i,
  output logic                data_ready_o,
  input  header_t             data_hdr_i,
  input  logic                payload_valid_i,
  output logic                payload_ready_o,
  input  logic [  DATA_W-1:0] payload_i,
  // network
  output logic                m_axis_tvalid_o,
  input  logic                m_axis_tready_i,
  output logic [  DATA_W-1:0] m_axis_tdata_o,
  output logic [DATA_W/8-1:0] m_axis_tkeep_o,
  output logic                m_axis_tlast_o
);
  localparam int unsigned FLITS   = DATA_W / FLIT_W;  // per beat
  localparam int unsigned COUNT_W = $clog2(PAYLOAD / FLIT_BYTES + FLITS + 2);

  typedef struct packed {
    logic                last;
    logic [DATA_W/8-1:0] keep;
    logic [DATA_W-1:0]   data;
  } beat_t;

  logic               body_q;        // within a DATA packet, after its first beat
  logic [COUNT_W-1:0] flits_left_q;  // from this beat on
  logic [COUNT_W-1:0] words_left_q;  // payload words not yet taken
  logic [COUNT_W-1:0] flits, words, data_flits, data_words;
  logic               is_data, start, need_word, valid, ready, fire, last;
  header_t            ctl;
  beat_t              beat_in, beat_out;
  logic [DATA_W-1:0]  data;

  assign is_data = !rx_ctl_valid_i && !tx_ctl_valid_i;
  assign start   = !body_q;

  always_comb begin : p_control
    ctl     = rx_ctl_valid_i ? rx_ctl_i : tx_ctl_i;
    ctl.crc = ~crc_flit(CRC_INIT, FLIT_W'(without_crc(ctl)));
  end

  assign data_flits = COUNT_W'(1) + COUNT_W'((data_hdr_i.len + 16'(FLIT_BYTES - 1)) >> $clog2(FLIT_BYTES));
  assign data_words = COUNT_W'((data_hdr_i.len + 16'(DATA_W / 8 - 1)) >> $clog2(DATA_W / 8));

  always_comb begin : p_count
    if (body_q) begin
      flits = flits_left_q;
      words = words_left_q;
    end else if (is_data) begin
      flits = data_flits;
      words = data_words;
    end else begin
      flits = COUNT_W'(1);
      words = '0;
    end
  end
  assign last = flits <= COUNT_W'(FLITS);

  if (FLITS == 1) begin : g_one_flit
    assign need_word = body_q;
    assign data      = body_q ? payload_i : is_data ? DATA_W'(data_hdr_i) : DATA_W'(ctl);
  end else begin : g_flits
    logic [FLIT_W-1:0]        carry_q, low;
    logic [DATA_W-FLIT_W-1:0] high;
    assign need_word = words != '0;
    assign low       = body_q ? carry_q : is_data ? FLIT_W'(data_hdr_i) : FLIT_W'(ctl);
    assign high      = need_word ? payload_i[DATA_W-FLIT_W-1:0] : '0;
    assign data      = {high, low};
    always_ff @(posedge clk_i) if (fire) carry_q <= payload_i[DATA_W-1-:FLIT_W];
  end

  assign valid = (body_q || rx_ctl_valid_i || tx_ctl_valid_i || data_valid_i) && (!need_word || payload_valid_i);
  assign fire  = valid && ready;

  assign rx_ctl_ready_o  = start && ready;
  assign tx_ctl_ready_o  = start && ready && !rx_ctl_valid_i;
  assign data_ready_o    = start && ready && is_data && (!need_word || payload_valid_i);
  assign payload_ready_o = fire && need_word;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) body_q <= 1'b0;
    else if (fire) body_q <= !last;
    if (fire) begin
      flits_left_q <= flits - COUNT_W'(FLITS);
      words_left_q <= words - COUNT_W'(need_word);
    end
  end

  always_comb begin : p_beat
    beat_in.last = last;
    beat_in.data = data;
    beat_in.keep = '1;
    for (int f = 0; f < int'(FLITS); f++) begin
      if (COUNT_W'(f) >= flits) beat_in.keep[f*FLIT_BYTES+:FLIT_BYTES] = '0;
    end
  end

  skid_buffer #(
    .T(beat_t)
  ) i_out (
    .clk_i,
    .rst_ni,
    .valid_i(valid),
    .ready_o(ready),
    .data_i (beat_in),
    .valid_o(m_axis_tvalid_o),
    .ready_i(m_axis_tready_i),
    .data_o (beat_out)
  );
  assign m_axis_tdata_o = beat_out.data;
  assign m_axis_tkeep_o = beat_out.keep;
  assign m_axis_tlast_o = beat_out.last;

  `ASSERT(PayloadIsThere, !(body_q && need_word) || payload_valid_i)
endmodule

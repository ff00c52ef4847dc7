// SPDX-License-Identifier: Apache-2.0
// The control packet with which the receiver answers, and WVEC in order of PIDX: two stages of a pipeline that never waits.
module rdma_rx_answer
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned WINDOW = 128,
  parameter int unsigned PIDX_W = 24,
  parameter bit          TRANSFERS = 1'b0  // answers of docs/rdma_transfers.md
) (
  input  logic              clk_i,
  input  logic       [15:0] node_id_i,
  input  logic              weft_mode_i,
  // with the event
  input  rx_answer_e        answer_i,
  input  outcome_e          outcome_i,
  input  rx_to_t            to_i,
  input  logic [PIDX_W-1:0] base_i,      // WBASE after it
  input  logic [WINDOW-1:0] marks_i,     // the window's marks after it
  // two clocks later
  output logic              emit_o,
  output header_t           header_o,
  output logic [WINDOW-1:0] wvec_o       // wvec_o[i]: packet WBASE + 1 + i has arrived
);
  localparam int unsigned POS_W = $clog2(WINDOW);

  header_t           header;
  logic [2*WINDOW-1:1] doubled;
  logic [WINDOW-1:0] turned;

  always_comb begin : p_header
    header       = '0;
    header.src   = node_id_i;
    header.dst   = to_i.node;
    header.sid   = to_i.sid;
    header.msgid = to_i.msgid;
    if (answer_i != RX_REFUSAL) begin
      header.cid = to_i.cid;
      header.gen = to_i.gen;
    end
    unique case (answer_i)
      RX_REFUSAL: begin
        header.ptype = PTYPE_RSP;
        unique case (outcome_i)
          OUTCOME_REFUSE_LENGTH: header.arg = 64'(REFUSAL_BAD_LENGTH);
          OUTCOME_REFUSE_ALIGN:  header.arg = 64'(REFUSAL_MISALIGNED);
          OUTCOME_REFUSE_KEY:    header.arg = 64'(REFUSAL_BAD_KEY);
          OUTCOME_REFUSE_REGION: header.arg = 64'(REFUSAL_BAD_REGION);
          default:               header.arg = 64'(REFUSAL_NO_CONTEXT);
        endcase
        if (TRANSFERS) begin
          unique case (outcome_i)
            OUTCOME_REFUSE_QUEUE:      header.arg = 64'(REFUSAL_BAD_KEY);
            OUTCOME_REFUSE_NOT_READY:  header.arg = 64'(REFUSAL_NOT_READY);
            OUTCOME_REFUSE_TOO_LONG:   header.arg = 64'(REFUSAL_TOO_LONG);
            OUTCOME_REFUSE_NOT_WANTED: header.arg = 64'(REFUSAL_NOT_WANTED);
            OUTCOME_REFUSE_BUFFER:     header.arg = to_i.of_read ? 64'(REFUSAL_NOT_WANTED) : 64'(REFUSAL_NOT_READY);
            default: ;
          endcase
          if (to_i.is_read) header.flags = TRANSFER_FLAG_READ;
          else if (to_i.for_buffer) header.flags = TRANSFER_FLAG_SEND;
        end
      end
      RX_GRANT: begin
        header.ptype = PTYPE_RSP;
        if (TRANSFERS && to_i.for_buffer) begin
          header.flags      = TRANSFER_FLAG_SEND;
          header.arg[55:32] = to_i.rkey;
        end
        if (weft_mode_i) header.pidx = 32'(POS_W);
      end
      RX_DONE: header.ptype = PTYPE_DONE;
      RX_RESEND, RX_RESEND_HOLE: begin
        header.ptype = PTYPE_RESEND;
        header.pidx  = to_i.pidx;
        header.arg   = 64'(to_i.attempt);
      end
      RX_ACK_ONE: begin
        header.ptype = PTYPE_ACK;
        header.pidx  = to_i.pidx;
        header.arg   = 64'(to_i.slot);
      end
      RX_RESEND_FROM: begin
        header.ptype = PTYPE_RESEND;
        header.flags = FLAG_FROM;
        header.pidx  = to_i.pidx;
        header.arg   = 64'(to_i.attempt);
      end
      default: begin
        header.ptype = PTYPE_ACK;
        header.pidx  = 32'(base_i);
        header.arg   = {8'(POS_W), {ACK_MAP_W{1'b0}}};
        header.flags = to_i.ordered ? FLAG_ORDER : 8'd0;
      end
    endcase
  end

  // Slots from that behind WBASE on, each with the polarity of its lap.
  assign doubled = {~marks_i, marks_i[WINDOW-1:1]} ^ {2*WINDOW-1{base_i[POS_W]}};
  assign turned  = WINDOW'(doubled >> base_i[POS_W-1:0]);

  header_t           header_q;
  logic              emit_q, map_q, from_q, hole_q;
  logic [ POS_W-1:0] place, place_q;  // of the packet asked for, from WBASE on
  logic              arrived;
  logic [WINDOW-1:0] wvec_q;

  // Packets that are missing although a later one has come, from WBASE on.
  logic [WINDOW-1:0] later, missing;  // missing[i]: WBASE + 1 + i
  always_comb begin : p_missing
    later = wvec_q;  // of a packet that is missing its own bit does not matter
    for (int distance = 1; distance < int'(WINDOW); distance *= 2) later |= later >> distance;
    missing = ~wvec_q & later;
  end

  // The packet that one of the window is ahead of: WBASE, which is missing, or one behind it.
  assign place   = to_i.pidx[POS_W-1:0] - base_i[POS_W-1:0];
  assign arrived = place_q != '0 && wvec_q[place_q-1'b1];

  always_ff @(posedge clk_i) begin
    emit_q   <= answer_i != RX_NO_ANSWER;
    map_q    <= answer_i inside {RX_ACK_MAP, RX_ACK_FROM};
    from_q   <= answer_i == RX_ACK_FROM;
    header_q <= header;
    wvec_q   <= turned;
    hole_q   <= answer_i == RX_RESEND_HOLE;
    place_q  <= place;
    emit_o   <= emit_q && !(hole_q && arrived);
    header_o <= header_q;
    if (map_q) header_o.arg[ACK_MAP_W-1:0] <= ACK_MAP_W'({missing, 1'b1});
    if (from_q && wvec_q == '0) header_o.flags <= header_q.flags | FLAG_FROM;
    wvec_o   <= wvec_q;
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// What a receiver of the older scheme keeps of the packets of a transfer: how many have come (docs/rdma_baseline.md, Receiver counter). Stands in rdma_receiver.sv
// where the engine has rdma_rx_window, with the same stages: a packet is named in F, finds what is kept of its context in H, takes its step in I, and what is kept
// then leaves in J. The event in H takes over what the one in I or J of the same context leaves behind.
module rdma_rx_counter
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned  PIDX_W = 24,
  localparam int unsigned KEPT_W = counter_bits(PIDX_W)
) (
  input  logic              clk_i,
  input  logic [PIDX_W-1:0] f_pidx_i,
  // H
  input  logic              h_request_i,    // a grant: begins anew
  input  logic              h_same_i,       // of the context in I
  input  logic              h_same_as_j_i,  // ... in J
  input  header_t           h_hdr_i,
  input  logic [KEPT_W-1:0] h_kept_i,       // of its context, as memory has it
  // I
  input  logic              i_receive_i,    // DATA that fits
  input  logic [PIDX_W-1:0] i_last_i,       // PIDX of the last packet
  input  logic              i_asks_i,       // a timeout that may ask for what is missing
  output logic              i_advance_o,    // it counts
  output logic              i_behind_o,     // DATA of an older attempt, or of a transfer that is complete
  output logic              i_complete_o,   // nothing is missing before the step
  output logic              i_restart_o,    // it counts, there are as many as there should be, but not the right ones
  // J
  input  logic [PIDX_W-1:0] j_packets_i,    // of the transfer
  output logic [KEPT_W-1:0] j_kept_o,
  output logic [PIDX_W-1:0] j_count_o,
  output logic              j_complete_o    // nothing is missing after the step
);
  typedef struct packed {
    logic [7:0]        attempt;
    logic [PIDX_W-1:0] count;
    logic [31:0]       residue;  // sum of mix(PIDX), less what the last packet says that it should be
  } count_t;

  logic [31:0] g_mix_q, h_mix_q, i_term_q;  // half way; PIDX mixed; less the sum, in the last packet
  count_t      h_count, i_count_q, i_count_new, j_count_q;
  logic [ 7:0] i_attempt_q, i_behind_by;    // of the packet
  logic        i_right, i_reached;

  always_ff @(posedge clk_i) begin
    g_mix_q     <= mix_first(32'(f_pidx_i));
    h_mix_q     <= mix_second(g_mix_q);
    i_term_q    <= h_mix_q - ((h_hdr_i.flags & FLAG_LAST) != '0 ? h_hdr_i.arg[63:32] : 32'd0);
    i_attempt_q <= h_hdr_i.arg[31:24];
    if (h_request_i) i_count_q <= '0;
    else if (h_same_i) i_count_q <= i_count_new;
    else i_count_q <= h_same_as_j_i ? j_count_q : h_count;
    j_count_q <= i_count_new;
  end

  assign h_count  = h_kept_i;
  assign j_kept_o = j_count_q;

  // a + b is zero if no bit of the sum differs from the carry into it, which then is a | b of the bit below.
  assign i_right      = (i_count_q.residue ^ i_term_q) == ((i_count_q.residue | i_term_q) << 1);
  assign i_reached    = i_count_q.count == i_last_i;
  assign i_complete_o = i_count_q.count == PIDX_W'(i_last_i + 1'b1);
  assign i_behind_by  = i_count_q.attempt - i_attempt_q;
  assign i_advance_o  = i_receive_i && i_behind_by == '0 && !i_complete_o;
  assign i_behind_o   = i_complete_o || (i_behind_by != '0 && !i_behind_by[7]);
  assign i_restart_o  = i_advance_o && i_reached && !i_right;

  always_comb begin : p_step
    i_count_new = i_count_q;
    if (i_advance_o) begin
      i_count_new.count   = i_count_q.count + 1'b1;
      i_count_new.residue = i_count_q.residue + i_term_q;
    end
    if (i_restart_o || (i_asks_i && !i_complete_o)) i_count_new = '{attempt: i_count_q.attempt + 1'b1, count: '0, residue: '0};
  end

  assign j_count_o    = j_count_q.count;
  assign j_complete_o = j_count_q.count == j_packets_i;

  logic unused;
  assign unused = ^h_hdr_i;  // of which two fields are looked at
endmodule

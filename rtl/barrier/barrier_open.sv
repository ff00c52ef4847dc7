// SPDX-License-Identifier: Apache-2.0
// Goes through the table of a group that is to be opened: are its members nodes, each once, and this node one of them?
//
// For each node there is noted which number it was last seen with. A note is true only if the table has the node at that number, below the
// one looked at; so notes of other groups, and what is in the memory after power-up, do no harm and need not be cleared.
module barrier_open
  import barrier_formats_pkg::*;
  import barrier_pkg::*;
#(
  parameter int unsigned N_NODES = 1024
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       start_i,    // for one clock; what follows stays until done_o
  input  node_t      self_i,
  input  settings_t  settings_i,
  output logic       done_o,     // for one clock
  output refusal_e   refusal_o,  // with done_o
  output id_t        own_o,      // with done_o, if not refused: number of this node
  output logic [7:0] digest_o,   // likewise: of settings and table
  // table of members
  output logic       look_o,
  output id_t        number_o,
  input  node_t      node_i      // one clock later
);
  localparam int unsigned NODE_W = N_NODES > 1 ? $clog2(N_NODES) : 1;

  typedef enum logic [2:0] {
    S_IDLE,
    S_MEMBER,  // reads the table
    S_NOTE,    // reads the note on the node
    S_OTHER,   // reads the table at the number noted
    S_COMPARE,
    S_END
  } state_e;

  state_e     state_q;
  id_t        index_q, own_q, noted;
  node_t      member_q;
  logic [7:0] digest_q;
  logic       found_q, last, clash, bad_multicast;
  logic       unused;  // a record, of which parts are needed here

  assign unused = ^settings_i;

  ram_sdp #(.DEPTH(N_NODES), .WIDTH(ID_W)) i_notes (
    .clk_i, .we_i(state_q == S_COMPARE && !clash), .waddr_i(member_q[NODE_W-1:0]), .wdata_i(index_q),
    .re_i(state_q == S_NOTE && 32'(node_i) < N_NODES), .raddr_i(node_i[NODE_W-1:0]), .rdata_o(noted)
  );

  assign bad_multicast = settings_i.multicast != '0 && 32'(settings_i.multicast) < N_NODES;
  assign last     = {1'b0, index_q} + 1'b1 == settings_i.members;
  assign clash    = noted < index_q && node_i == member_q;
  assign look_o   = state_q == S_MEMBER || (state_q == S_OTHER && noted < index_q);
  assign number_o = state_q == S_MEMBER ? index_q : noted;
  assign own_o    = own_q;
  assign digest_o = digest_q;

  always_comb begin : p_end
    done_o    = 1'b0;
    refusal_o = REFUSAL_NONE;
    unique case (state_q)
      S_IDLE: begin
        done_o    = start_i && settings_i.members == '0;
        refusal_o = REFUSAL_EMPTY;
      end
      S_NOTE: begin
        done_o    = 32'(node_i) >= N_NODES;
        refusal_o = REFUSAL_UNKNOWN_NODE;
      end
      S_COMPARE: begin
        done_o    = clash;
        refusal_o = REFUSAL_REPEATED_NODE;
      end
      S_END: begin
        done_o    = 1'b1;
        refusal_o = !found_q ? REFUSAL_NOT_MEMBER : !has_whole_blocks(settings_i) ? REFUSAL_BAD_BLOCK : settings_i.stride > offsets_of(settings_i.members, settings_i.block_log2) ? REFUSAL_BAD_STRIDE : bad_multicast ? REFUSAL_BAD_MULTICAST : REFUSAL_NONE;
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= S_IDLE;
    end else if (done_o) begin
      state_q <= S_IDLE;
    end else begin
      unique case (state_q)
        S_IDLE:   if (start_i) state_q <= S_MEMBER;
        S_MEMBER: state_q <= S_NOTE;
        S_NOTE:   state_q <= S_OTHER;
        S_OTHER:  state_q <= S_COMPARE;
        default:  state_q <= last ? S_END : S_MEMBER;
      endcase
    end
    if (state_q == S_IDLE) begin
      index_q  <= '0;
      found_q  <= 1'b0;
      digest_q <= digest_begun(settings_i);
    end
    if (state_q == S_NOTE) begin
      member_q <= node_i;
      digest_q <= crc8(digest_q, node_i);
    end
    if (state_q == S_COMPARE) begin
      index_q <= index_q + 1'b1;
      if (member_q == self_i) begin
        found_q <= 1'b1;
        own_q   <= index_q;
      end
    end
  end
endmodule

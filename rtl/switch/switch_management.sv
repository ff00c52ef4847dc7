// SPDX-License-Identifier: Apache-2.0
// In-band loading: takes a management packet word by word, and at its end hands its words to the loader, or drops it as a whole (docs/switch.md).
//
// Words of a packet: the head (record management), lowest bits first, then the payload; s_last_i with the last one.
// Latency: a verdict two clocks after the last word, later while the loader clears tables or registers use it; then a word a clock. No packet is taken meanwhile.
`include "weft_assert.svh"

module switch_management
  import switch_lookup_formats_pkg::*;
  import switch_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [     63:0] key_i,         // 0: none is taken
  input  logic             s_valid_i,
  output logic             s_ready_o,
  input  logic [     31:0] s_data_i,
  input  logic             s_last_i,
  // loader
  input  load_state_e      state_i,
  input  logic [     31:0] words_i,       // of the image, so far
  input  logic             hold_i,        // registers use the loader in this clock
  output logic             begin_o,
  output logic             word_valid_o,
  output logic [     31:0] word_o,
  output logic             playing_o,     // words of a packet go to the loader: nobody else's may come between
  output logic             dropped_o,
  output management_drop_e drop_o
);
  localparam int unsigned HEAD_WORDS = MANAGEMENT_BITS / 32;
  localparam int unsigned COUNT_W = $clog2(HEAD_WORDS + MANAGEMENT_WORDS + 2);
  localparam int unsigned PLACE_W = $clog2(MANAGEMENT_WORDS);
  localparam logic [COUNT_W-1:0] TOO_MANY = COUNT_W'(HEAD_WORDS + MANAGEMENT_WORDS + 1);

  typedef enum logic [1:0] {
    TAKE,
    JUDGE,
    PLAY
  } state_e;

  state_e             state_q;
  management_t        head_q;
  logic [COUNT_W-1:0] count_q;    // words taken, at most TOO_MANY
  logic [PLACE_W-1:0] played_q;
  logic take, start, data, malformed, key_ok, in_order, judge, last_played;

  assign s_ready_o = state_q == TAKE;
  assign take      = s_valid_i && s_ready_o;

  // ------------------------------------------------------------------------------------------------- verdict
  assign start     = head_q.opcode == MANAGEMENT_OPCODE_START && head_q.words == '0 && head_q.offset == '0;
  assign data      = head_q.opcode == MANAGEMENT_OPCODE_DATA && head_q.words != '0 && 32'(head_q.words) <= MANAGEMENT_WORDS;
  assign malformed = head_q.magic != MANAGEMENT_MAGIC || head_q.reserved != '0 || head_q.reserved1 != '0 || !(start || data) ||
                     32'(count_q) != HEAD_WORDS + 32'(head_q.words);
  assign key_ok    = key_i != '0 && head_q.key == key_i;
  assign in_order  = start || (state_i == LOAD_STATE_LOAD && head_q.offset == words_i);
  assign judge     = state_q == JUDGE && !hold_i && state_i != LOAD_STATE_CLEAR;
  assign dropped_o = judge && (malformed || !key_ok || !in_order);
  assign drop_o    = malformed ? MANAGEMENT_DROP_MALFORMED : !key_ok ? MANAGEMENT_DROP_KEY : MANAGEMENT_DROP_ORDER;
  assign begin_o   = judge && !dropped_o && start;

  // A fault ends an image, and its last word does: what follows in the packet goes nowhere.
  assign playing_o    = state_q == PLAY;
  assign word_valid_o = playing_o && state_i == LOAD_STATE_LOAD;
  assign last_played  = 16'(played_q) + 16'd1 == head_q.words;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= TAKE;
    else if (take && s_last_i) state_q <= JUDGE;
    else if (judge) state_q <= dropped_o || begin_o ? TAKE : PLAY;
    else if (playing_o && (last_played || !word_valid_o)) state_q <= TAKE;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || judge) count_q <= '0;
    else if (take && count_q != TOO_MANY) count_q <= count_q + 1'b1;
    if (take && 32'(count_q) < HEAD_WORDS) head_q <= {s_data_i, head_q[MANAGEMENT_BITS-1:32]};
    played_q <= playing_o ? played_q + 1'b1 : '0;
  end

  // ------------------------------------------------------------------------------------------------- payload
  logic [COUNT_W-1:0] place;
  logic [PLACE_W-1:0] next;
  assign place = count_q - COUNT_W'(HEAD_WORDS);
  assign next  = playing_o ? played_q + 1'b1 : '0;
  ram_sdp #(
    .DEPTH(MANAGEMENT_WORDS),
    .WIDTH(32)
  ) i_payload (
    .clk_i,
    .we_i   (take && 32'(count_q) >= HEAD_WORDS && count_q != TOO_MANY),
    .waddr_i(place[PLACE_W-1:0]),
    .wdata_i(s_data_i),
    .re_i   (1'b1),
    .raddr_i(next),
    .rdata_o(word_o)
  );
  logic unused;
  assign unused = ^place;

  `ASSERT(PlaysOnlyItsWords, !playing_o || (head_q.opcode == MANAGEMENT_OPCODE_DATA && 16'(played_q) < head_q.words))
endmodule

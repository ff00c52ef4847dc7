// SPDX-License-Identifier: Apache-2.0
// switch_image keeps to what switch_lookup_proof asks of a loader: when an image comes into use, each entry of the banks not in use has been written since it was begun, all
// with what belongs to this image (cleared, or of its words), none in that clock; and only a whole image with its check word does. Settings are those of its head. They and the bank change in no
// other clock.
`include "proof.svh"

module switch_image_proof
  import switch_lookup_formats_pkg::*;
  import switch_pkg::*;
#(
  parameter int unsigned N_PORTS  = 3,
  parameter bit          PER_PORT = 1'b0,
  localparam int unsigned M_SIZE   = 2 * (PER_PORT ? N_PORTS : 1),                  // multicast entries of an image
  localparam int unsigned M_ADDR_W = 1 + (PER_PORT ? $clog2(N_PORTS) : 0)
) (
  input logic        clk_i, rst_ni, begin_i, valid_i,
  input logic [31:0] word_i
);
  load_state_e        state;
  load_fault_e        fault;
  config_t            settings, in_use_q, of_head;
  image_t             head_q;
  logic               ready, taken, refused, bank, m_load, u_load, take, u_addr;
  logic [M_ADDR_W-1:0] m_addr, m_place;
  logic [  N_PORTS:0] m_data;
  logic [N_PORTS+8:0] u_data;
  logic [       31:0] words;

  `PROOF_RESET

  switch_image #(.N_PORTS(N_PORTS), .N_COLOURS(2), .N_UNICAST(2), .PER_PORT(PER_PORT)) dut (
    .clk_i, .rst_ni, .switch_id_i(64'h0), .begin_i, .word_valid_i(valid_i), .word_ready_o(ready), .word_i, .state_o(state), .fault_o(fault), .words_o(words),
    .taken_o(taken), .refused_o(refused), .config_o(settings), .bank_o(bank), .m_load_o(m_load), .m_addr_o(m_addr), .m_data_o(m_data), .u_load_o(u_load), .u_addr_o(u_addr),
    .u_data_o(u_data)
  );

  // What has come since the beginning.
  logic        begun_q, bank_q;
  logic [(1<<M_ADDR_W)+1:0] written_q;  // entries: unicast, multicast
  logic [31:0] count_q, middle_q, low_q, crc_q;
  logic [31:0] multicast, entries;      // words of them
  assign take      = ready && valid_i && !begin_i;
  assign multicast = 32'd3 * head_q.multicast_entries;
  assign entries   = multicast + 32'd3 * head_q.unicast_entries;
  assign of_head   = '{loaded: 1'b1, role: role_e'(head_q.role), fine: head_q.fine, vc_max: head_q.vc_max, column_bits: head_q.column_bits, row_port: head_q.row_port,
                      column_port: head_q.column_port, row: head_q.row, column: head_q.column, version: head_q.table_version};
  if (PER_PORT) begin : g_port
    assign m_place = {low_q[16+:M_ADDR_W-1], low_q[0]};
  end else begin : g_switch
    assign m_place = low_q[0];
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      begun_q  <= 1'b0;
      bank_q   <= 1'b0;
      in_use_q <= '0;
    end else begin
      bank_q <= bank_q ^ taken;
      if (begin_i) begun_q <= 1'b1;
      else if (taken) begin
        begun_q  <= 1'b0;
        in_use_q <= of_head;
      end
    end
    if (begin_i) begin
      written_q <= '0;
      count_q   <= '0;
      crc_q     <= '1;
    end else begin
      written_q <= written_q | {2'(u_load) << u_addr, (1<<M_ADDR_W)'(m_load) << m_addr};
      if (take) begin
        count_q           <= count_q + 1'b1;
        {middle_q, low_q} <= {word_i, middle_q};  // the last two words
        crc_q             <= crc32_pkg::crc32_word(crc_q, word_i);
        for (int unsigned i = 0; i < 9; i++) if (count_q == i) head_q[32*i+:32] <= word_i;
      end
    end
  end

  // What holds in every clock, so that the rest does by induction.
  logic    clearing, loading;
  logic [1:0] part;                   // words of an entry that have come
  config_t next;
  assign clearing = dut.state_q == LOAD_STATE_CLEAR;
  assign loading  = dut.state_q == LOAD_STATE_LOAD;
  assign part   = dut.part_q;
  assign next     = dut.next_q;
  `PROVE(States, begun_q == (clearing || loading || dut.state_q == LOAD_STATE_REFUSED) && dut.state_q <= LOAD_STATE_REFUSED)
  for (genvar i = 0; i < 1 << M_ADDR_W; i++) begin : g_cleared
    `PROVE(Cleared, !clearing || 32'(dut.clear_q) <= i || written_q[i])
  end
  for (genvar i = 0; i < 2; i++) begin : g_cleared_unicast
    `PROVE(Cleared, !clearing || 32'(dut.clear_q) <= i || written_q[(1<<M_ADDR_W)+i])
  end
  `PROVE(AllCleared, !loading || written_q == '1)
  `PROVE(NothingYet, !clearing || (count_q == '0 && dut.words_q == '0 && part == '0 && dut.multicast_q == '0 && dut.unicast_q == '0))
  `PROVE(Counts, !loading || (dut.words_q == count_q && part <= 2'd2))
  `PROVE(Sums, !(clearing || loading) || (dut.crc_q == crc_q && next.loaded))
  `PROVE(Place, !loading || count_q <= 32'd4 || {next.role, next.fine, next.vc_max, next.column_bits, next.row_port, next.column_port} ==
         {of_head.role, of_head.fine, of_head.vc_max, of_head.column_bits, of_head.row_port, of_head.column_port})
  `PROVE(Column, !loading || count_q <= 32'd5 || {next.row, next.column} == {of_head.row, of_head.column})
  `PROVE(Version, !loading || count_q <= 32'd6 || next.version == of_head.version)
  `PROVE(Multicast, !loading || count_q <= 32'd7 || head_q.multicast_entries <= M_SIZE)
  `PROVE(Unicast, !loading || count_q <= 32'd8 || head_q.unicast_entries <= 32'd2)
  `PROVE(InHead, !loading || count_q >= 32'd9 ||
         (part == '0 && dut.multicast_q == (count_q == 32'd8 ? head_q.multicast_entries : '0) && dut.unicast_q == '0))
  `PROVE(Left, !loading || count_q < 32'd9 ||
         (dut.multicast_q <= head_q.multicast_entries && dut.unicast_q <= head_q.unicast_entries && (dut.multicast_q == '0 || dut.unicast_q == head_q.unicast_entries) &&
          (part == '0 || dut.multicast_q != '0 || dut.unicast_q != '0) && count_q == 32'd9 + entries - 32'd3 * (dut.multicast_q + dut.unicast_q) + 32'(part)))
  `PROVE(OneWord, !loading || part != 2'd1 || dut.low_q == middle_q)
  `PROVE(TwoWords, !loading || part != 2'd2 || {dut.middle_q, dut.low_q} == {middle_q, low_q})

  `PROVE(AllIsWritten, !taken || (begun_q && written_q == '1 && !m_load && !u_load))
  `PROVE(WholeImage, !taken || (count_q == 32'd9 + entries && word_i == ~crc_q))
  `PROVE(OnlySizesThatFit, !taken || (head_q.multicast_entries <= M_SIZE && head_q.unicast_entries <= 32'd2))
  `PROVE(ClearedOrItsWords, !m_load || m_data == '0 ||
         (take && count_q >= 32'd11 && count_q < 32'd9 + multicast && m_addr == m_place && m_data == {middle_q[N_PORTS-1:0], 1'b1}))
  `PROVE(ClearedOrItsWordsUnicast, !u_load || u_data == '0 ||
         (take && count_q >= 32'd11 + multicast && count_q < 32'd9 + entries && u_addr == low_q[0] && u_data == {middle_q[N_PORTS-1:0], low_q[31:24], 1'b1}))
  `PROVE(NothingElseChangesTheTables, bank == bank_q && settings == in_use_q)
  `PROVE(NotBothTakenAndRefused, !taken || !refused)
  logic unused;
  assign unused = ^{state, fault, words};
endmodule

// SPDX-License-Identifier: Apache-2.0
// switch_image keeps to what switch_lookup_proof asks of a loader: when an image comes into use, each entry of the banks not in use has been written since it was begun, all
// with what belongs to this image (cleared, or of its words), none in that clock; and only a whole image with its check word does. Settings and bank change in no other clock.
`include "proof.svh"

module switch_image_proof
  import switch_lookup_formats_pkg::*;
  import switch_pkg::*;
#(
  parameter int unsigned N_PORTS = 3
) (
  input logic        clk_i, rst_ni, begin_i, valid_i,
  input logic [31:0] word_i
);
  load_state_e        state;
  load_fault_e        fault;
  config_t            settings;
  logic               ready, taken, refused, bank, m_load, u_load, take;
  logic               m_addr, u_addr;
  logic [  N_PORTS:0] m_data;
  logic [N_PORTS+8:0] u_data;
  logic [       31:0] words;

  `PROOF_RESET

  switch_image #(.N_PORTS(N_PORTS), .N_COLOURS(2), .N_UNICAST(2)) dut (
    .clk_i, .rst_ni, .switch_id_i(64'h0), .begin_i, .word_valid_i(valid_i), .word_ready_o(ready), .word_i, .state_o(state), .fault_o(fault), .words_o(words),
    .taken_o(taken), .refused_o(refused), .config_o(settings), .bank_o(bank), .m_load_o(m_load), .m_addr_o(m_addr), .m_data_o(m_data), .u_load_o(u_load), .u_addr_o(u_addr),
    .u_data_o(u_data)
  );

  // What has come since the beginning.
  logic        begun_q, bank_q, loaded_q;
  logic [3:0]  written_q;               // entries: unicast, multicast
  logic [31:0] count_q, middle_q, low_q, crc_q, multicast_q, unicast_q, version_q, version_in_use_q;
  logic [31:0] entries;                 // words of them
  assign take    = ready && valid_i && !begin_i;
  assign entries = 32'd3 * (multicast_q + unicast_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      begun_q  <= 1'b0;
      bank_q   <= 1'b0;
      loaded_q <= 1'b0;
      version_in_use_q <= '0;
    end else begin
      bank_q <= bank_q ^ taken;
      if (begin_i) begun_q <= 1'b1;
      else if (taken) begin
        begun_q  <= 1'b0;
        loaded_q <= 1'b1;
        version_in_use_q <= version_q;
      end
    end
    if (begin_i) begin
      written_q <= '0;
      count_q   <= '0;
      crc_q     <= '1;
    end else begin
      written_q <= written_q | {2'(u_load) << u_addr, 2'(m_load) << m_addr};
      if (take) begin
        count_q           <= count_q + 1'b1;
        {middle_q, low_q} <= {word_i, middle_q};  // the last two words
        crc_q             <= crc32_pkg::crc32_word(crc_q, word_i);
        if (count_q == 32'd6) version_q <= word_i;
        if (count_q == 32'd7) multicast_q <= word_i;
        if (count_q == 32'd8) unicast_q <= word_i;
      end
    end
  end

  `PROVE(AllIsWritten, !taken || (begun_q && written_q == '1 && !m_load && !u_load))
  `PROVE(WholeImage, !taken || (count_q == 32'd9 + entries && word_i == ~crc_q))
  `PROVE(OnlySizesThatFit, !taken || (multicast_q <= 32'd2 && unicast_q <= 32'd2))
  `PROVE(ClearedOrItsWords, !m_load || m_data == '0 ||
         (take && count_q >= 32'd11 && count_q < 32'd9 + 32'd3 * multicast_q && m_addr == low_q[0] && m_data == {middle_q[N_PORTS-1:0], 1'b1}))
  `PROVE(ClearedOrItsWordsUnicast, !u_load || u_data == '0 ||
         (take && count_q >= 32'd11 + 32'd3 * multicast_q && count_q < 32'd9 + entries && u_addr == low_q[0] && u_data == {middle_q[N_PORTS-1:0], low_q[31:24], 1'b1}))
  `PROVE(NothingElseChangesTheTables, bank == bank_q && settings.loaded == loaded_q && settings.version == version_in_use_q)
  `PROVE(NotBothTakenAndRefused, !taken || !refused)
  logic unused;
  assign unused = ^{state, fault, words, settings};
endmodule

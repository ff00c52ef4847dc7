// SPDX-License-Identifier: Apache-2.0
// Loads a table image word by word into the banks not in use, and brings it into use with its last word, or refuses it as a whole.
//
// After begin_i all entries are cleared, one a clock, before the first word is taken.
`include "weft_assert.svh"

module switch_image
  import switch_lookup_formats_pkg::*;
  import switch_pkg::*;
#(
  parameter int unsigned N_PORTS   = 16,
  parameter int unsigned N_COLOURS = 128,
  parameter int unsigned N_UNICAST = 256,
  parameter bit          PER_PORT  = 1'b0,
  localparam int unsigned N_TABLES = PER_PORT ? N_PORTS : 1,
  localparam int unsigned PORT_W   = PER_PORT ? $clog2(N_PORTS) : 0,
  localparam int unsigned COLOUR_W = $clog2(N_COLOURS),
  localparam int unsigned M_ADDR_W = COLOUR_W + PORT_W,
  localparam int unsigned U_ADDR_W = $clog2(N_UNICAST)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [        63:0] switch_id_i,
  input  logic                begin_i,
  input  logic                word_valid_i,
  output logic                word_ready_o,
  input  logic [        31:0] word_i,
  output load_state_e         state_o,
  output load_fault_e         fault_o,
  output logic [        31:0] words_o,
  output logic                taken_o,      // in the clock after which it is in use
  output logic                refused_o,
  output config_t             config_o,     // in use
  output logic                bank_o,
  output logic                m_load_o,
  output logic [M_ADDR_W-1:0] m_addr_o,
  output logic [   N_PORTS:0] m_data_o,     // {ports, valid}
  output logic                u_load_o,
  output logic [U_ADDR_W-1:0] u_addr_o,
  output logic [ N_PORTS+8:0] u_data_o      // {ports, primary, valid}
);
  localparam int unsigned CLEAR_W = M_ADDR_W > U_ADDR_W ? M_ADDR_W : U_ADDR_W;
  localparam int unsigned HEAD_WORDS = IMAGE_BITS / 32;

  load_state_e        state_q;
  load_fault_e        fault_q, fault;
  logic [31:0]        words_q, crc_q, multicast_q, unicast_q, low_q, middle_q;
  logic [1:0]         part_q;                      // word of an entry
  logic [24:0]        last_q;                      // index of the entry before, + 1; 0: there is none
  logic               bank_q;
  logic [CLEAR_W-1:0] clear_q;
  config_t            next_q, config_q;

  logic        take, in_head, in_multicast, in_unicast, at_check, entry_ends, entry_ok, multicast_ok, unicast_ok, role_ok;
  logic [63:0] ports;
  logic [23:0] index;
  logic [7:0]  primary;
  logic        clearing;

  assign word_ready_o = state_q == LOAD_STATE_LOAD;
  assign take         = word_ready_o && word_valid_i && !begin_i;
  assign in_head      = words_q < HEAD_WORDS;
  assign in_multicast = !in_head && multicast_q != '0;
  assign in_unicast   = !in_head && multicast_q == '0 && unicast_q != '0;
  assign at_check     = !in_head && multicast_q == '0 && unicast_q == '0;
  assign entry_ends   = (in_multicast || in_unicast) && part_q == 2'd2;

  // The entry, in the clock of its last word.
  assign ports        = {word_i, middle_q};
  assign {primary, index} = low_q;
  assign multicast_ok = primary == '0 && 32'(index[15:0]) < N_COLOURS && 32'(index[23:16]) < N_TABLES;
  assign unicast_ok   = 32'(index) < N_UNICAST && 32'(primary) <= N_PORTS;
  if (N_PORTS < 64) begin : gen_less
    assign entry_ok = ports[63:N_PORTS] == '0 && 25'(index) >= last_q && (in_multicast ? multicast_ok : unicast_ok);
  end else begin : gen_all
    assign entry_ok = 25'(index) >= last_q && (in_multicast ? multicast_ok : unicast_ok);
  end

  logic [7:0] row_port, column_port;
  assign {column_port, row_port} = word_i[31:16];
  assign role_ok = role_e'(word_i[1:0]) == ROLE_LEAF
                       ? row_port != '0 && column_port != '0 && 32'(row_port) <= N_PORTS && 32'(column_port) <= N_PORTS && row_port != column_port
                       : row_port == '0 && column_port == '0;

  always_comb begin : p_fault
    fault = LOAD_FAULT_NONE;
    if (in_head) begin
      unique case (words_q[3:0])
        4'd0: if (word_i != IMAGE_MAGIC) fault = LOAD_FAULT_MAGIC;
        4'd1: if (word_i != 32'd1) fault = LOAD_FAULT_FORMAT;
        4'd2: if (word_i != switch_id_i[31:0]) fault = LOAD_FAULT_IDENTITY;
        4'd3: if (word_i != switch_id_i[63:32]) fault = LOAD_FAULT_IDENTITY;
        4'd4:
        if (word_i[3] != PER_PORT || word_i[7:6] != '0 || word_i[15:12] != '0 || word_i[5:4] == 2'd0 || word_i[5:4] == 2'd3 || word_i[11:8] > 4'd12 || !role_ok)
          fault = LOAD_FAULT_HEAD;
        4'd5: if (word_i[31:24] != '0) fault = LOAD_FAULT_HEAD;
        4'd7: if (word_i > N_COLOURS * N_TABLES) fault = LOAD_FAULT_HEAD;
        4'd8: if (word_i > N_UNICAST) fault = LOAD_FAULT_HEAD;
        default: ;
      endcase
    end else if (at_check) begin
      if (word_i != ~crc_q) fault = LOAD_FAULT_CHECK;
    end else if (entry_ends && !entry_ok) fault = LOAD_FAULT_ENTRY;
  end

  assign taken_o   = take && at_check && fault == LOAD_FAULT_NONE;
  assign refused_o = (take && fault != LOAD_FAULT_NONE) || (begin_i && (state_q == LOAD_STATE_LOAD || state_q == LOAD_STATE_CLEAR));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q  <= LOAD_STATE_IDLE;
      fault_q  <= LOAD_FAULT_NONE;
      words_q  <= '0;
      config_q <= '0;
      bank_q   <= 1'b0;
    end else begin
      if (begin_i) begin
        state_q <= LOAD_STATE_CLEAR;
        fault_q <= LOAD_FAULT_NONE;
        words_q <= '0;
      end else if (state_q == LOAD_STATE_CLEAR) begin
        if (clear_q == '1) state_q <= LOAD_STATE_LOAD;
      end else if (take) begin
        words_q <= words_q + 1'b1;
        fault_q <= fault;
        if (fault != LOAD_FAULT_NONE) state_q <= LOAD_STATE_REFUSED;
        else if (at_check) begin
          state_q  <= LOAD_STATE_DONE;
          bank_q   <= !bank_q;
          config_q <= next_q;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    clear_q <= begin_i ? '0 : clear_q + 1'b1;
    if (begin_i) begin
      crc_q  <= '1;
      part_q <= '0;
      last_q <= '0;
      next_q <= '0;
      next_q.loaded <= 1'b1;
      multicast_q <= '0;
      unicast_q   <= '0;
    end else if (take) begin
      crc_q <= crc32_pkg::crc32_word(crc_q, word_i);
      if (in_head) begin
        unique case (words_q[3:0])
          4'd4: begin
            next_q.role        <= role_e'(word_i[1:0]);
            next_q.fine        <= word_i[2];
            next_q.vc_max      <= word_i[5:4];
            next_q.column_bits <= word_i[11:8];
            next_q.row_port    <= row_port;
            next_q.column_port <= column_port;
          end
          4'd5: {next_q.column, next_q.row} <= word_i[23:0];
          4'd6: next_q.version <= word_i;
          4'd7: multicast_q <= word_i;
          4'd8: unicast_q <= word_i;
          default: ;
        endcase
      end else if (!at_check) begin
        part_q <= part_q == 2'd2 ? '0 : part_q + 1'b1;
        if (part_q == 2'd0) low_q <= word_i;
        if (part_q == 2'd1) middle_q <= word_i;
        if (entry_ends) begin
          last_q <= in_multicast && multicast_q == 32'd1 ? '0 : 25'(index) + 1'b1;
          if (in_multicast) multicast_q <= multicast_q - 1'b1;
          else unicast_q <= unicast_q - 1'b1;
        end
      end
    end
  end

  assign clearing = state_q == LOAD_STATE_CLEAR;
  assign m_load_o = clearing || (take && in_multicast && entry_ends && entry_ok);
  assign u_load_o = clearing || (take && in_unicast && entry_ends && entry_ok);
  assign m_data_o = clearing ? '0 : {ports[N_PORTS-1:0], 1'b1};
  assign u_data_o = clearing ? '0 : {ports[N_PORTS-1:0], primary, 1'b1};
  assign u_addr_o = clearing ? clear_q[U_ADDR_W-1:0] : index[U_ADDR_W-1:0];
  if (PER_PORT) begin : gen_per_port
    assign m_addr_o = clearing ? clear_q[M_ADDR_W-1:0] : {index[16+:PORT_W], index[COLOUR_W-1:0]};
  end else begin : gen_switch
    assign m_addr_o = clearing ? clear_q[M_ADDR_W-1:0] : index[COLOUR_W-1:0];
  end

  assign state_o  = state_q;
  assign fault_o  = fault_q;
  assign words_o  = words_q;
  assign config_o = config_q;
  assign bank_o   = bank_q;

  `ASSERT(EntriesComeWhole, state_q != LOAD_STATE_LOAD || (next_q.loaded && (in_multicast || in_unicast || part_q == '0)))
  `ASSERT(InUseOnlyWhole, state_q != LOAD_STATE_DONE || (config_q.loaded && multicast_q == '0 && unicast_q == '0 && part_q == '0))
endmodule

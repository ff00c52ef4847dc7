// SPDX-License-Identifier: Apache-2.0
// Stands for switch_image in proofs: loads anything at any time and brings it into use when it likes: as an input of the proof says, which its copy of switch_lookup has.
module switch_image
  import switch_lookup_formats_pkg::*;
  import switch_pkg::*;
#(
  parameter int unsigned N_PORTS   = 16,
  parameter int unsigned N_COLOURS = 128,
  parameter int unsigned N_UNICAST = 256,
  parameter bit          PER_PORT  = 1'b0,
  localparam int unsigned M_ADDR_W = $clog2(N_COLOURS) + (PER_PORT ? $clog2(N_PORTS) : 0),
  localparam int unsigned U_ADDR_W = $clog2(N_UNICAST)
) (
  input  logic [       127:0] deed_i,
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
  output logic                taken_o,
  output logic                refused_o,
  output config_t             config_o,
  output logic                bank_o,
  output logic                m_load_o,
  output logic [M_ADDR_W-1:0] m_addr_o,
  output logic [   N_PORTS:0] m_data_o,
  output logic                u_load_o,
  output logic [U_ADDR_W-1:0] u_addr_o,
  output logic [ N_PORTS+8:0] u_data_o
);
  typedef struct packed {
    logic                taken, m_load, u_load;
    logic [M_ADDR_W-1:0] m_addr;
    logic [   N_PORTS:0] m_data;
    logic [U_ADDR_W-1:0] u_addr;
    logic [ N_PORTS+8:0] u_data;
    config_t             next;
  } deed_t;
  deed_t   deed;
  config_t next, config_q;
  logic    bank_q;

  assign deed = deed_t'(deed_i[$bits(deed_t)-1:0]);
  assign next = deed.next;
  assign {taken_o, m_load_o, u_load_o} = {deed.taken, deed.m_load, deed.u_load};
  assign {m_addr_o, m_data_o, u_addr_o, u_data_o} = {deed.m_addr, deed.m_data, deed.u_addr, deed.u_data};
  assign {word_ready_o, refused_o, words_o} = '0;
  assign state_o = LOAD_STATE_IDLE;
  assign fault_o = LOAD_FAULT_NONE;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      bank_q   <= 1'b0;
      config_q <= '0;
    end else if (taken_o) begin
      bank_q   <= !bank_q;
      config_q <= next;
    end
  end
  assign bank_o   = bank_q;
  assign config_o = config_q;
  logic unused;
  assign unused = ^{deed_i, switch_id_i, begin_i, word_valid_i, word_i};
endmodule

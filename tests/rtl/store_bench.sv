// SPDX-License-Identifier: Apache-2.0
// The RAMs, free lists and counter banks of rtl/common in several sizes side by side: the ports of each kind are those
// of its lane lane_i, all other lanes rest.
module store_bench (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [ 2:0] lane_i,

  input  logic        ram_we_i,
  input  logic [ 3:0] ram_waddr_i,
  input  logic [15:0] ram_wdata_i,
  input  logic        ram_re_i,
  input  logic [ 3:0] ram_raddr_i,
  output logic [15:0] ram_rdata_o,

  output logic        list_ready_o,
  output logic        list_valid_o,
  output logic [ 3:0] list_id_o,
  input  logic        list_pop_i,
  input  logic        list_push_i,
  input  logic [ 3:0] list_push_id_i,
  output logic [ 7:0] list_count_o,

  output logic        bank_ready_o,
  input  logic        bank_inc_i,
  input  logic [ 3:0] bank_idx_i,
  input  logic [ 3:0] bank_raddr_i,
  output logic [ 7:0] bank_rdata_o
);

  localparam int unsigned LANES = 8;
  localparam int unsigned RAMS  = 4;  // ram_sdp, then ram_1r1w
  localparam int unsigned LISTS = 5;  // free_list
  localparam int unsigned BANKS = 3;  // counter_bank, 8 bits a counter

  localparam int unsigned RAM_DEPTHS[4] = '{5, 1, 5, 16};
  localparam int unsigned LIST_SIZES[5] = '{1, 2, 3, 5, 16};
  localparam int unsigned BANK_SIZES[3] = '{1, 5, 8};

  logic [LANES-1:0] lane;
  logic [     15:0] ram_rdata [LANES];
  logic [LANES-1:0] list_ready, list_valid, bank_ready;
  logic [      3:0] list_id   [LANES];
  logic [      7:0] list_count[LANES];
  logic [      7:0] bank_rdata[LANES];

  assign lane         = LANES'(1) << lane_i;
  assign ram_rdata_o  = ram_rdata[lane_i];
  assign list_ready_o = list_ready[lane_i];
  assign list_valid_o = list_valid[lane_i];
  assign list_id_o    = list_id[lane_i];
  assign list_count_o = list_count[lane_i];
  assign bank_ready_o = bank_ready[lane_i];
  assign bank_rdata_o = bank_rdata[lane_i];

  for (genvar i = 0; i < RAMS; i++) begin : gen_ram
    localparam int unsigned D = RAM_DEPTHS[i];
    localparam int unsigned A = (D > 1) ? $clog2(D) : 1;
    if (i == 0) begin : gen_sdp
      ram_sdp #(.DEPTH(D), .WIDTH(16)) i_dut (
        .clk_i, .we_i(ram_we_i && lane[i]), .waddr_i(ram_waddr_i[A-1:0]), .wdata_i(ram_wdata_i), .re_i(ram_re_i && lane[i]),
        .raddr_i(ram_raddr_i[A-1:0]), .rdata_o(ram_rdata[i])
      );
    end else begin : gen_1r1w
      ram_1r1w #(.DEPTH(D), .WIDTH(16)) i_dut (
        .clk_i, .we_i(ram_we_i && lane[i]), .waddr_i(ram_waddr_i[A-1:0]), .wdata_i(ram_wdata_i), .re_i(ram_re_i && lane[i]),
        .raddr_i(ram_raddr_i[A-1:0]), .rdata_o(ram_rdata[i])
      );
    end
  end

  for (genvar i = 0; i < LISTS; i++) begin : gen_list
    localparam int unsigned N = LIST_SIZES[i];
    localparam int unsigned W = (N > 1) ? $clog2(N) : 1;
    logic [W-1:0]           id;
    logic [$clog2(N+1)-1:0] count;
    free_list #(.N(N)) i_dut (
      .clk_i, .rst_ni, .ready_o(list_ready[i]), .valid_o(list_valid[i]), .id_o(id), .pop_i(list_pop_i && lane[i]),
      .push_i(list_push_i && lane[i]), .push_id_i(list_push_id_i[W-1:0]), .count_o(count)
    );
    assign list_id[i]    = 4'(id);
    assign list_count[i] = 8'(count);
  end

  for (genvar i = 0; i < BANKS; i++) begin : gen_bank
    localparam int unsigned N = BANK_SIZES[i];
    localparam int unsigned W = (N > 1) ? $clog2(N) : 1;
    counter_bank #(.N(N), .WIDTH(8)) i_dut (
      .clk_i, .rst_ni, .ready_o(bank_ready[i]), .inc_i(bank_inc_i && lane[i]), .idx_i(bank_idx_i[W-1:0]),
      .raddr_i(bank_raddr_i[W-1:0]), .rdata_o(bank_rdata[i])
    );
  end

endmodule

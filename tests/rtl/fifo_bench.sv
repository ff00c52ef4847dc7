// SPDX-License-Identifier: Apache-2.0
// Every FIFO of rtl/common in several depths side by side, one lane each: the ports are those of
// lane lane_i, all other lanes rest. The tests list the lanes in the same order.
module fifo_bench (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [ 3:0] lane_i,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [15:0] data_i,
  input  logic        commit_i,
  input  logic        rollback_i,
  output logic        valid_o,
  input  logic        ready_i,
  output logic [15:0] data_o,
  output logic [ 7:0] count_o,
  output logic [ 7:0] free_o
);

  localparam int unsigned LANES = 12;

  typedef logic [15:0] word_t;

  logic  [LANES-1:0] valid_in, ready_in, commit, rollback;
  logic  [LANES-1:0] ready_out, valid_out;
  word_t             data_out [LANES];
  logic  [      7:0] counts   [LANES];
  logic  [      7:0] frees    [LANES];

  assign valid_in = LANES'(valid_i) << lane_i;
  assign ready_in = LANES'(ready_i) << lane_i;
  assign commit   = LANES'(commit_i) << lane_i;
  assign rollback = LANES'(rollback_i) << lane_i;
  assign ready_o  = ready_out[lane_i];
  assign valid_o  = valid_out[lane_i];
  assign data_o   = data_out[lane_i];
  assign count_o  = counts[lane_i];
  assign free_o   = frees[lane_i];

  localparam int unsigned FLOP_LANES = 5;
  localparam int unsigned FLOP_DEPTHS[5] = '{1, 2, 3, 5, 8};
  localparam int unsigned RAM_LANES = 3;
  localparam int unsigned RAM_DEPTHS[3] = '{2, 4, 16};

  for (genvar i = 0; i < FLOP_LANES; i++) begin : gen_sync_fifo
    localparam int unsigned D = FLOP_DEPTHS[i];
    logic [$clog2(D+1)-1:0] count;
    sync_fifo #(.DEPTH(D), .T(word_t)) i_dut (
      .clk_i, .rst_ni, .valid_i(valid_in[i]), .ready_o(ready_out[i]), .data_i, .valid_o(valid_out[i]),
      .ready_i(ready_in[i]), .data_o(data_out[i]), .count_o(count)
    );
    assign counts[i] = 8'(count);
    assign frees[i]  = 8'(D) - counts[i];
  end

  for (genvar k = 0; k < RAM_LANES; k++) begin : gen_ram_fifo
    localparam int unsigned D = RAM_DEPTHS[k];
    localparam int unsigned I = FLOP_LANES + k;
    logic [$clog2(D+1)-1:0] count;
    ram_fifo #(.DEPTH(D), .WIDTH(16)) i_dut (
      .clk_i, .rst_ni, .valid_i(valid_in[I]), .ready_o(ready_out[I]), .data_i, .valid_o(valid_out[I]),
      .ready_i(ready_in[I]), .data_o(data_out[I]), .count_o(count)
    );
    assign counts[I] = 8'(count);
    assign frees[I]  = 8'(D) - counts[I];
  end

  for (genvar k = 0; k < RAM_LANES; k++) begin : gen_packet_fifo
    localparam int unsigned D = RAM_DEPTHS[k];
    localparam int unsigned I = FLOP_LANES + RAM_LANES + k;
    logic [$clog2(D+1)-1:0] count, free;
    packet_fifo #(.DEPTH(D), .WIDTH(16)) i_dut (
      .clk_i, .rst_ni, .valid_i(valid_in[I]), .ready_o(ready_out[I]), .data_i, .commit_i(commit[I]),
      .rollback_i(rollback[I]), .free_o(free), .valid_o(valid_out[I]), .ready_i(ready_in[I]), .data_o(data_out[I]),
      .count_o(count)
    );
    assign counts[I] = 8'(count);
    assign frees[I]  = 8'(free);
  end

  localparam int unsigned SKID = LANES - 1;
  skid_buffer #(.T(word_t)) i_skid (
    .clk_i, .rst_ni, .valid_i(valid_in[SKID]), .ready_o(ready_out[SKID]), .data_i,
    .valid_o(valid_out[SKID]), .ready_i(ready_in[SKID]), .data_o(data_out[SKID])
  );
  assign counts[SKID] = '0;  // has none
  assign frees[SKID]  = '0;

endmodule

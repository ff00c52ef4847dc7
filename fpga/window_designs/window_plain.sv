// SPDX-License-Identifier: Apache-2.0
// Receive window, one packet a clock, each on the result of the one before: WVEC is shifted, the run of ones counted one by one.
module window_plain #(
  parameter int unsigned WINDOW = 128,
  parameter int unsigned PIDX_W = 24
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              receive_i,
  input  logic [PIDX_W-1:0] pidx_i,
  output logic              taken_o,   // a clock later: it was new
  output logic [PIDX_W-1:0] wbase_o    // after it
);
  logic              receive_q;
  logic [PIDX_W-1:0] pidx_q, wbase_q, wbase;
  logic [WINDOW-1:0] wvec_q, wvec;
  logic [PIDX_W:0]   distance;
  logic              taken;
  logic [$clog2(WINDOW):0] ones;

  assign distance = {1'b0, pidx_q} - {1'b0, wbase_q};

  always_comb begin : p_update
    logic run;
    wbase = wbase_q;
    wvec  = wvec_q;
    taken = 1'b0;
    run   = 1'b1;
    ones  = '0;
    for (int i = 0; i < int'(WINDOW); i++) begin
      run = run && wvec_q[i];
      if (run) ones = ($bits(ones))'(i + 1);
    end
    if (distance == '0) begin
      taken = 1'b1;
      wbase = wbase_q + PIDX_W'(ones) + 1'b1;
      wvec  = wvec_q >> ones >> 1;
    end else if (!distance[PIDX_W] && distance <= (PIDX_W + 1)'(WINDOW)) begin
      taken = !wvec_q[distance[$clog2(WINDOW)-1:0]-1'b1];
      wvec[distance[$clog2(WINDOW)-1:0]-1'b1] = 1'b1;
    end
    if (!receive_q) begin
      wbase = wbase_q;
      wvec  = wvec_q;
      taken = 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    receive_q <= receive_i;
    pidx_q    <= pidx_i;
    taken_o   <= taken;
    wbase_q   <= wbase;
    wvec_q    <= wvec;
    if (!rst_ni) {wbase_q, wvec_q} <= '0;
  end
  assign wbase_o = wbase_q;
endmodule

// SPDX-License-Identifier: Apache-2.0
// rdma_rx_repeats: a request is known exactly if the last one granted in its place had its CRC, however close it is behind; with FORGETS only then, and never once what was
// there has been forgotten, unless the next one to be forgotten came while grants kept this one waiting. Places and CRCs by few bits, any requests and grants.
`include "proof.svh"

module rdma_rx_repeats_proof #(
  parameter int unsigned N       = 4,
  parameter bit          FORGETS = 1'b0,
  localparam int unsigned IDX_W  = $clog2(N)
) (
  input logic             clk_i, rst_ni, clear_i, request_i, take_i, forget_i,
  input logic [IDX_W-1:0] src_i, sid_i, cid_i, forget_src_i, forget_sid_i,
  input logic [1:0]       crc_i
);
  typedef struct packed {
    logic             granted;
    logic [1:0]       crc;
    logic [IDX_W-1:0] cid;
  } entry_t;

  logic             known, grant, cleared_q;
  logic [IDX_W-1:0] cid, place, place_q, place_qq, place_qqq, forget_place, clear_idx_q;
  logic [1:0]       crc_q, crc_qq, crc_qqq;
  logic             request_q, request_qq, request_qqq;
  entry_t           table_q[N], here;

  function automatic logic [IDX_W-1:0] place_of(logic [IDX_W-1:0] src, logic [IDX_W-1:0] sid);
    logic [IDX_W-1:0] reverse;
    for (int i = 0; i < int'(IDX_W); i++) reverse[i] = src[int'(IDX_W)-1-i];
    return sid ^ reverse;
  endfunction

  `PROOF_RESET
  // Clearing comes first, and only once.
  `GIVEN(clear_i == !cleared_q)
  `GIVEN(cleared_q || !(request_i || forget_i))
  `GIVEN(FORGETS || !forget_i)

  assign grant        = take_i && request_qqq && !known;
  assign place        = place_of(src_i, sid_i);
  assign forget_place = place_of(forget_src_i, forget_sid_i);

  rdma_rx_repeats #(.N(N)) dut (
    .clk_i, .rst_ni, .clear_i, .clear_idx_i(clear_idx_q), .request_i, .src_i, .sid_i, .crc_i(32'(crc_i)), .known_o(known), .cid_o(cid), .grant_i(grant),
    .grant_cid_i(cid_i), .forget_i, .forget_src_i, .forget_sid_i
  );

  assign here = table_q[place_qqq];

  always_ff @(posedge clk_i) begin
    {place_q, place_qq, place_qqq} <= {place, place_q, place_qq};
    {crc_q, crc_qq, crc_qqq}       <= {crc_i, crc_q, crc_qq};
    if (!rst_ni) begin
      {request_q, request_qq, request_qqq} <= '0;
      cleared_q   <= 1'b0;
      clear_idx_q <= '0;
    end else begin
      {request_q, request_qq, request_qqq} <= {request_i, request_q, request_qq};
      if (clear_i) clear_idx_q <= clear_idx_q + 1'b1;
      if (clear_idx_q == '1) cleared_q <= 1'b1;
    end
    for (int i = 0; i < int'(N); i++) if (!rst_ni) table_q[i] <= '0;
    if (rst_ni && grant) table_q[place_qqq] <= '{granted: 1'b1, crc: crc_qqq, cid: cid_i};
  end

  `PROVE(KnownOnlyIfGranted, !known || (request_qqq && here.granted && here.crc == crc_qqq && here.cid == cid))
  if (!FORGETS) begin : g_exact
    `PROVE(KnownIfGranted, !(request_qqq && here.granted && here.crc == crc_qqq) || known)
  end else begin : g_forgets
    // Of one place: from so many clocks without any grant after it was to be forgotten until the next grant there.
    logic             gone_q, waiting_q, granted_q;
    logic [2:0]       calm_q;
    localparam logic [IDX_W-1:0] watched = IDX_W'(1);
    `GIVEN(!(forget_i && waiting_q && granted_q))
    always_ff @(posedge clk_i) begin
      granted_q <= rst_ni && grant;
      waiting_q <= rst_ni && (forget_i || (waiting_q && granted_q));
      if (!rst_ni || (grant && place_qqq == watched)) {gone_q, calm_q} <= '0;
      else if (forget_i) {gone_q, calm_q} <= {gone_q || forget_place == watched, 3'd0};
      else if (!grant && calm_q != '1) calm_q <= calm_q + 1'b1;
    end
    `PROVE(ForgottenIsNotKnown, !(gone_q && calm_q >= 3'd6 && request_qqq && place_qqq == watched) || !known)
  end
endmodule

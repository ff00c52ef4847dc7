// SPDX-License-Identifier: Apache-2.0
// Requests of the network that were granted (docs/rdma.md, Receiver, Repeated requests): which context each one got, so that the same request once more gets the
// same answer and not a context of its own.
//
// N places; a request's place follows from its source and SID, so that those of one source never share one, nor those of N / 2**k sources with up to 2**k
// transfers each. A grant takes its place, whoever had it. "The same" means the same CRC, which covers all that a request says; whether the context is that
// request's still is for the receiver to find out, and for it to have the request forgotten if not.
//
// One request a clock, three clocks from request to answer, grants of the requests before it included.
`include "weft_assert.svh"

module rdma_rx_repeats #(
  parameter int unsigned N      = 1024,  // a power of two, at least 2
  localparam int unsigned IDX_W = $clog2(N)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              clear_i,       // after reset: each place once, nothing else meanwhile
  input  logic [ IDX_W-1:0] clear_idx_i,
  // a packet
  input  logic              request_i,     // it is a request of the network
  input  logic [ IDX_W-1:0] src_i,         // the lowest bits
  input  logic [ IDX_W-1:0] sid_i,         // likewise
  input  logic [      31:0] crc_i,
  // three clocks later
  output logic              known_o,       // it was granted before
  output logic [ IDX_W-1:0] cid_o,         // this context
  input  logic              grant_i,       // it is granted now
  input  logic [ IDX_W-1:0] grant_cid_i,
  // a request that was known, but has no context any more
  input  logic              forget_i,
  input  logic [ IDX_W-1:0] forget_src_i,
  input  logic [ IDX_W-1:0] forget_sid_i
);
  if (N < 2 || (N & (N - 1)) != 0) begin : g_bad_n
    $error("N must be a power of two of at least 2, is %0d", N);
  end

  typedef struct packed {
    logic             granted;
    logic [31:0]      crc;
    logic [IDX_W-1:0] cid;
  } entry_t;

  // Source with its bits in reverse order, so that low numbers of either do not meet.
  function automatic logic [IDX_W-1:0] place_of(logic [IDX_W-1:0] src, logic [IDX_W-1:0] sid);
    logic [IDX_W-1:0] place;
    for (int i = 0; i < int'(IDX_W); i++) place[i] = sid[i] ^ src[int'(IDX_W)-1-i];
    return place;
  endfunction

  // ------------------------------------------------------------------------------------------------- the request, clock by clock
  logic [IDX_W-1:0] place, place_q, place_qq, place_qqq, granted_place_q;
  logic [31:0]      crc_q, crc_qq, crc_qqq, granted_crc_q;
  logic             request_q, request_qq, request_qqq;
  entry_t           entry;                      // with place_qq
  logic             near_q, near_qq, near_same_q, near_same_qq;  // the one ahead has the same place; and CRC
  logic             far_q, far_same_q;          // the one two ahead has
  logic             hit_q;                      // granted by one before the one ahead
  logic [IDX_W-1:0] hit_cid_q;
  logic             granted_q;                  // the one ahead was granted
  logic [IDX_W-1:0] granted_cid_q;

  assign place = place_of(src_i, sid_i);

  always_ff @(posedge clk_i) begin
    {place_q, place_qq, place_qqq} <= {place, place_q, place_qq};
    {crc_q, crc_qq, crc_qqq}       <= {crc_i, crc_q, crc_qq};
    near_q        <= request_qq && place_q == place_qq;
    near_same_q   <= crc_q == crc_qq;
    near_qq       <= near_q;
    near_same_qq  <= near_same_q;
    far_q         <= request_qqq && place_q == place_qqq;
    far_same_q    <= crc_q == crc_qqq;
    hit_q         <= far_q && granted_q ? far_same_q : entry.granted && entry.crc == crc_qq;
    hit_cid_q     <= far_q && granted_q ? granted_cid_q : entry.cid;
    granted_cid_q   <= grant_cid_i;
    granted_place_q <= place_qqq;
    granted_crc_q   <= crc_qqq;
    if (!rst_ni) begin
      {request_q, request_qq, request_qqq} <= '0;
      granted_q <= 1'b0;
    end else begin
      {request_q, request_qq, request_qqq} <= {request_i, request_q, request_qq};
      granted_q <= grant_i;
    end
  end

  logic as_the_one_ahead;
  assign as_the_one_ahead = near_qq && granted_q;
  assign known_o          = request_qqq && (as_the_one_ahead ? near_same_qq : hit_q);
  assign cid_o            = as_the_one_ahead ? granted_cid_q : hit_cid_q;

  // ------------------------------------------------------------------------------------------------- the table
  // A grant is written a clock later: whether there is one is known late.
  logic             forget_q, write;  // forget_q: waits for a clock without a grant
  logic [IDX_W-1:0] forget_place_q, write_place;
  entry_t           written;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) forget_q <= 1'b0;
    else if (forget_i) forget_q <= 1'b1;
    else if (!granted_q || granted_place_q == forget_place_q) forget_q <= 1'b0;
    if (forget_i) forget_place_q <= place_of(forget_src_i, forget_sid_i);
  end

  assign write       = clear_i || granted_q || forget_q;
  assign write_place = clear_i ? clear_idx_i : granted_q ? granted_place_q : forget_place_q;
  assign written     = granted_q && !clear_i ? '{granted: 1'b1, crc: granted_crc_q, cid: granted_cid_q} : '0;

  ram_forward #(
    .DEPTH(N),
    .WIDTH($bits(entry_t))
  ) i_entries (
    .clk_i,
    .we_i   (write),
    .waddr_i(write_place),
    .wdata_i(written),
    .raddr_i(place),
    .rdata_o(entry)
  );

  `ASSERT(GrantsRequestsOnly, !grant_i || request_qqq)
  `ASSERT(GrantsNoneTwice, !grant_i || !known_o)
  `ASSERT(ForgetsOneAtATime, !clear_i || !(granted_q || forget_q))
endmodule

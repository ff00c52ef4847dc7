// SPDX-License-Identifier: Apache-2.0
// One timer per context, kept in a RAM and checked by a background scanner.
//
// A context's entry is {armed, class, time stamp}. The scanner visits one entry a clock. An expired entry is offered as an
// event; the scanner then waits at that entry, so that expired_now_o tells, in the clock in which the event is decided,
// whether the timer was restarted meanwhile. After reset the entries are cleared one a clock (ready_o low).
module rdma_timer #(
    parameter int unsigned N = 1024  // number of timers
) (
    input  logic                          clk_i,
    input  logic                          rst_ni,
    output logic                          ready_o,        // entries are cleared
    input  logic [ rdma_pkg::TICK_W-1:0]  now_i,          // ticks
    input  logic [rdma_pkg::LIMIT_W-1:0]  limit0_i,       // ticks, timers of class 0; 0 counts as 1
    input  logic [rdma_pkg::LIMIT_W-1:0]  limit1_i,       // ticks, timers of class 1; 0 counts as 1
    // set one timer; taken every clock
    input  logic                          set_i,
    input  logic [      $clog2(N)-1:0]    set_idx_i,
    input  logic                          set_armed_i,
    input  logic                          set_class_i,
    // expired timer
    output logic                          expired_valid_o,
    output logic [      $clog2(N)-1:0]    expired_idx_o,
    input  logic                          expired_ready_i, // event taken into the pipeline
    input  logic                          decided_i,       // ... and decided in this clock
    output logic                          expired_now_o    // still expired; valid with decided_i
);
  import rdma_pkg::*;
  localparam int unsigned IDX_W = $clog2(N);

  if (N < 2) begin : g_bad_n
    $error("N (number of timers) must be at least 2, is %0d", N);
  end

  typedef struct packed {
    logic              armed;
    logic              cls;
    logic [TICK_W-1:0] stamp;
  } entry_t;

  typedef enum logic [1:0] {
    CLEAR,   // after reset
    SCAN,    // one entry a clock
    OFFER,   // wait until the pipeline takes the event
    DECIDE   // wait until the event is decided
  } state_e;

  state_e           state_d, state_q;
  logic [IDX_W-1:0] idx_d, idx_q;      // address being read
  logic [IDX_W-1:0] seen_q;            // address of the entry at the RAM's output
  logic             seen_valid_q;
  entry_t           entry;
  logic [TICK_W-1:0] age;
  logic [LIMIT_W-1:0] limit;
  logic             expired;
  logic [IDX_W-1:0] idx_next;
  logic [IDX_W-1:0] raddr;

  assign idx_next = idx_q == IDX_W'(N - 1) ? '0 : idx_q + 1'b1;
  assign age      = now_i - entry.stamp;
  assign limit    = entry.cls ? limit1_i : limit0_i;
  assign expired  = entry.armed && age != '0 && age >= TICK_W'(limit);

  assign ready_o         = state_q != CLEAR;
  assign expired_valid_o = state_q == OFFER;
  assign expired_idx_o   = seen_q;
  assign expired_now_o   = expired;

  always_comb begin : p_scan
    state_d = state_q;
    idx_d   = idx_q;
    raddr   = idx_q;
    unique case (state_q)
      CLEAR: begin
        idx_d = idx_next;
        if (idx_q == IDX_W'(N - 1)) state_d = SCAN;
      end
      SCAN: begin
        if (seen_valid_q && expired) begin
          raddr   = seen_q;  // stay on it
          state_d = OFFER;
        end else begin
          idx_d = idx_next;
        end
      end
      OFFER: begin
        raddr = seen_q;
        if (expired_ready_i) state_d = DECIDE;
      end
      DECIDE: begin
        raddr = seen_q;
        if (decided_i) state_d = SCAN;
      end
      default: state_d = CLEAR;
    endcase
  end

  ram_1r1w #(
      .DEPTH(N),
      .WIDTH($bits(entry_t))
  ) i_ram (
      .clk_i,
      .we_i   (state_q == CLEAR || set_i),
      .waddr_i(state_q == CLEAR ? idx_q : set_idx_i),
      .wdata_i(state_q == CLEAR ? '0 : {set_armed_i, set_class_i, now_i}),
      .re_i   (1'b1),
      .raddr_i(raddr),
      .rdata_o(entry)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q      <= CLEAR;
      idx_q        <= '0;
      seen_q       <= '0;
      seen_valid_q <= 1'b0;
    end else begin
      state_q      <= state_d;
      idx_q        <= idx_d;
      seen_q       <= raddr;
      seen_valid_q <= state_d == SCAN && (state_q == SCAN);
    end
  end
endmodule

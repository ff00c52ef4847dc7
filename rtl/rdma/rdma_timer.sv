// SPDX-License-Identifier: Apache-2.0
// One timer per context, kept in a RAM and checked by a background scanner.
//
// A context's entry is {class, armed, time stamp}. The scanner reads one entry a clock and knows three clocks later whether it
// has expired. It then goes back to that entry and stays on it: offers it as an event, if it still is expired, and tells until
// the event is decided whether the timer was restarted meanwhile. After reset the entries are cleared one a clock (ready_o low).
//
// Groups of entries of which none is armed are passed over, so that few timers are looked at often. A group counts as armed from the first timer
// that is set in it until a pass through it has found none armed.
module rdma_timer #(
    parameter int unsigned N       = 1024,  // number of timers
    parameter int unsigned CLASSES = 1,     // limits to choose from
    localparam int unsigned CLASS_W = CLASSES > 1 ? $clog2(CLASSES) : 1
) (
    input  logic                          clk_i,
    input  logic                          rst_ni,
    output logic                          ready_o,        // entries are cleared
    input  logic [rdma_pkg::STAMP_W-1:0]  now_i,          // ticks
    input  logic [CLASSES-1:0][rdma_pkg::LIMIT_W-1:0] limits_i,  // ticks, by class; 0 counts as 1
    // set one timer; taken every clock
    input  logic                          set_i,
    input  logic [      $clog2(N)-1:0]    set_idx_i,
    input  logic                          set_armed_i,
    input  logic [           CLASS_W-1:0] set_class_i,
    // expired timer
    output logic                          expired_valid_o,
    output logic [      $clog2(N)-1:0]    expired_idx_o,
    input  logic                          expired_ready_i, // event taken into the pipeline
    input  logic                          decided_i,       // ... and decided in this clock
    output logic                          expired_now_o    // still expired, unless set in this very clock; from a flop
);
  import rdma_pkg::*;
  localparam int unsigned IDX_W = $clog2(N);

  if (N < 2) begin : g_bad_n
    $error("N (number of timers) must be at least 2, is %0d", N);
  end

  if (CLASSES < 1) begin : g_bad_classes
    $error("CLASSES must be at least 1, is %0d", CLASSES);
  end

  typedef struct packed {
    logic [CLASS_W-1:0] cls;
    logic               armed;
    logic [STAMP_W-1:0] stamp;
  } entry_t;

  localparam int unsigned KEPT_W = $bits(entry_t) - (CLASSES == 1 ? 1 : 0);  // of one class no bit is kept

  typedef enum logic [2:0] {
    CLEAR,   // after reset
    SCAN,    // one entry a clock
    RETURN,  // back to an entry that has expired, until the reads behind it have drained
    OFFER,   // wait until the pipeline takes the event
    DECIDE   // wait until the event is decided
  } state_e;

  localparam int unsigned READ = 3;  // clocks from an address to expired_q

  // At most 32 groups, of 32 entries or more; two from 8 entries on, so that small engines behave as large ones do.
  localparam bit          POWER    = (N & (N - 1)) == 0;
  localparam int unsigned GROUPS  = !POWER || N < 8 ? 1 : N < 64 ? 2 : N < 1024 ? N / 32 : 32;
  localparam int unsigned LENGTH  = N / GROUPS;  // entries of a group
  localparam int unsigned GROUP_W = GROUPS > 1 ? $clog2(GROUPS) : 1;

  state_e             state_d, state_q;
  logic [IDX_W-1:0]   idx_d, idx_q;     // being read
  logic [READ-1:0][IDX_W-1:0] read_q;   // read before; the last one is that of expired_q
  logic [READ-1:0]    scanned_q;        // ... by the scanner
  logic [1:0]         drained_d, drained_q;
  logic [KEPT_W-1:0]  kept;
  entry_t             entry;
  logic [STAMP_W-1:0] age;
  logic [LIMIT_W-1:0] limit;
  logic               expired_q, set_q;
  logic [IDX_W-1:0]   idx_next;

  // ------------------------------------------------------------------------------------------------- groups
  logic [GROUPS-1:0]  armed_groups_q, touched_q;  // may have a timer armed; had one set since the pass through it began
  logic [GROUPS-1:0]  set_group, begun_group, ended_group;  // one-hot or none
  logic [GROUPS-1:0]  behind_q;    // groups behind that of idx_q
  logic [GROUPS-1:0]  searched_q;  // where the lowest bit is the next group
  logic [GROUP_W-1:0] next_group, next_group_q;
  logic               armed_q, found, found_q;   // of the entry of expired_q; of its group so far
  logic               at_first, at_last;         // that entry in its group

  function automatic logic [GROUP_W-1:0] group_of(logic [IDX_W-1:0] idx);
    return GROUP_W'(32'(idx) / LENGTH);
  endfunction

  function automatic logic [GROUPS-1:0] one_hot(logic valid, logic [IDX_W-1:0] idx);
    return GROUPS'(valid) << group_of(idx);
  endfunction

  assign at_first    = 32'(read_q[READ-1]) % LENGTH == 0;
  assign at_last     = 32'(read_q[READ-1]) % LENGTH == LENGTH - 1;
  assign found       = armed_q || (found_q && !at_first);
  assign set_group   = one_hot(set_i && set_armed_i, set_idx_i);
  assign begun_group = one_hot(state_q == SCAN && 32'(idx_q) % LENGTH == 0, idx_q);
  assign ended_group = one_hot(scanned_q[READ-1] && at_last, read_q[READ-1]);

  // The next one that may be armed, the first of all if none is. Worked out while the group is passed, in a clock for each of behind_q,
  // searched_q and next_group_q: so a group has at least four entries.
  always_comb begin : p_next_group
    next_group = '0;
    for (int unsigned g = 0; g < GROUPS; g++) begin
      if (searched_q[g] && (searched_q & GROUPS'((64'd1 << g) - 1)) == '0) next_group |= GROUP_W'(g);
    end
  end

  // A pass through a group may begin while the last reads of the one before are under way, and so make touched_q forget what was set
  // during that one: it finds it itself, and marks the group again.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      armed_groups_q <= '0;
      touched_q      <= '0;
    end else begin
      armed_groups_q <= (armed_groups_q & ~ended_group) | (ended_group & ({GROUPS{found}} | touched_q)) | set_group;
      touched_q      <= (touched_q & ~begun_group) | set_group;
    end
    if (scanned_q[READ-1]) found_q <= found;
    for (int unsigned g = 0; g < GROUPS; g++) behind_q[g] <= g > 32'(group_of(idx_q));
    searched_q   <= (armed_groups_q & behind_q) != '0 ? armed_groups_q & behind_q : armed_groups_q;
    next_group_q <= next_group;
    armed_q      <= entry.armed;
  end

  // From the last of a group to the next one.
  always_comb begin : p_idx_next
    idx_next = idx_q + 1'b1;
    if (GROUPS > 1 && 32'(idx_q) % LENGTH == LENGTH - 1) idx_next = IDX_W'(32'(next_group_q) * LENGTH);
    else if (idx_q == IDX_W'(N - 1)) idx_next = '0;
  end

  assign entry    = $bits(entry_t)'(kept);
  assign age      = now_i - entry.stamp;
  assign limit    = limits_i[entry.cls];

  assign ready_o         = state_q != CLEAR;
  assign expired_valid_o = state_q == OFFER;
  assign expired_idx_o   = idx_q;
  assign expired_now_o   = expired_q && !set_q;

  always_comb begin : p_scan
    state_d   = state_q;
    idx_d     = idx_q;
    drained_d = '0;
    unique case (state_q)
      CLEAR: begin
        idx_d = idx_q + 1'b1;
        if (idx_q == IDX_W'(N - 1)) begin
          idx_d   = '0;
          state_d = SCAN;
        end
      end
      SCAN: begin
        idx_d = idx_next;
        if (scanned_q[READ-1] && expired_q) begin
          idx_d   = read_q[READ-1];
          state_d = RETURN;
        end
      end
      RETURN: begin
        drained_d = drained_q + 1'b1;
        if (drained_q == 2'(READ)) begin
          state_d = OFFER;
          if (!expired_now_o) begin
            state_d = SCAN;
            idx_d   = idx_next;
          end
        end
      end
      OFFER: if (expired_ready_i) state_d = DECIDE;
      DECIDE: begin
        if (decided_i) begin
          state_d = SCAN;
          idx_d   = idx_next;
        end
      end
      default: state_d = CLEAR;
    endcase
  end

  ram_forward #(
      .DEPTH(N),
      .WIDTH(KEPT_W)
  ) i_ram (
      .clk_i,
      .we_i   (state_q == CLEAR || set_i),
      .waddr_i(state_q == CLEAR ? idx_q : set_idx_i),
      .wdata_i(state_q == CLEAR ? '0 : KEPT_W'({set_class_i, set_armed_i, now_i})),
      .raddr_i(idx_q),
      .rdata_o(kept)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= CLEAR;
      idx_q     <= '0;
      scanned_q <= '0;
      drained_q <= '0;
    end else begin
      state_q   <= state_d;
      idx_q     <= idx_d;
      drained_q <= drained_d;
      scanned_q <= {scanned_q[READ-2:0] & {READ - 1{state_d == SCAN}}, state_q == SCAN && state_d == SCAN};
    end
    read_q    <= {read_q[READ-2:0], idx_q};
    expired_q <= entry.armed && age != '0 && age >= STAMP_W'(limit);
    set_q     <= set_i && set_idx_i == idx_q;
  end
endmodule

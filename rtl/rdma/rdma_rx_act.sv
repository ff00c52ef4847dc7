// SPDX-License-Identifier: Apache-2.0
// Last stage of the receiver: commands for the payload and control packets, each in a queue whose room is known some clocks ahead; DONE, and ACK of SCHEME_SENDER, waits
// there until all writes that were commanded before it are answered.
`include "weft_assert.svh"

module rdma_rx_act
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned ADDR_W    = 48,
  parameter int unsigned CID_W     = 10,
  parameter int unsigned SID_W     = 10,
  parameter int unsigned MSGID_W   = 20,
  parameter int unsigned NODE_W    = 16,
  parameter int unsigned PIDX_W    = 24,
  parameter int unsigned WINDOW    = 128,
  parameter bit          TRANSFERS = 1'b0,
  parameter int unsigned SCHEME    = SCHEME_WINDOW,
  parameter int unsigned CMD_DEPTH = 32,
  parameter int unsigned CTL_DEPTH = 32,
  parameter int unsigned UNDERWAY  = 12,  // events that may come without looking at cmd_room_o any more
  parameter int unsigned ANSWERING = 8    // ... at ctl_room_o
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  output logic                cmd_room_o,
  output logic                ctl_room_o,
  // an event, one a clock
  input  logic                command_i,  // there is payload
  input  logic                write_i,    // to be written
  input  logic [  ADDR_W-1:0] addr_i,
  input  logic [        15:0] len_i,
  input  logic [   CID_W-1:0] cid_i,
  input  logic                send_i,
  input  header_t             header_i,
  input  logic                grant_i,    // it grants a context, not for the second time
  output logic [WRITES_W-1:0] writes_o,   // count of all so far, this event's included
  // in order
  output logic                cmd_valid_o,
  input  logic                cmd_ready_i,
  output logic                cmd_write_o,
  output logic [  ADDR_W-1:0] cmd_addr_o,
  output logic [        15:0] cmd_len_o,
  output logic [   CID_W-1:0] cmd_cid_o,
  input  logic [WRITES_W-1:0] writes_done_i,
  output logic                ctl_valid_o,
  input  logic                ctl_ready_i,
  output header_t             ctl_o,
  output logic                ctl_grant_o,
  output logic                empty_o     // nothing waits
);
  if (CMD_DEPTH < UNDERWAY + 4 || CTL_DEPTH < ANSWERING + 4) begin : g_bad_depth
    $error("CMD_DEPTH (%0d) must be at least %0d and CTL_DEPTH (%0d) at least %0d, for what is under way", CMD_DEPTH, UNDERWAY + 4, CTL_DEPTH,
           ANSWERING + 4);
  end

  typedef struct packed {
    logic              write;
    logic [ADDR_W-1:0] addr;
    logic [15:0]       len;
    logic [CID_W-1:0]  cid;
  } cmd_t;

  // What the receiver's control packets say: numbers are no wider than the engine's, and only this much of arg is used.
  localparam int unsigned MAP_W = WINDOW < ACK_MAP_W ? WINDOW : ACK_MAP_W;
  localparam int unsigned ARG_W = TRANSFERS ? 56 : SCHEME != SCHEME_WINDOW ? 9 : MAP_W > 8 ? MAP_W : 8;  // RSP: code and key; ACK: map, slot; RESEND: attempt
  typedef struct packed {
    logic [2:0]         ptype;
    logic               from, order, send, read;  // flags
    logic [NODE_W-1:0]  dst;
    logic [15:0]        src;               // this node, which software may have numbered as it liked
    logic [SID_W-1:0]   sid;
    logic [CID_W-1:0]   cid;
    logic [7:0]         gen;
    logic [MSGID_W-1:0] msgid;
    logic [PIDX_W-1:0]  pidx;
    logic [ARG_W-1:0]   arg;
  } answer_t;

  function automatic header_t header_of(answer_t a);
    header_t h;
    h       = '0;
    h.ptype = 8'(a.ptype);
    h.flags = (a.from ? FLAG_FROM : 8'd0) | (a.order ? FLAG_ORDER : 8'd0) | (a.send ? TRANSFER_FLAG_SEND : 8'd0) | (a.read ? TRANSFER_FLAG_READ : 8'd0);
    h.dst   = 16'(a.dst);
    h.src   = a.src;
    h.sid   = 16'(a.sid);
    h.cid   = 16'(a.cid);
    h.gen   = a.gen;
    h.msgid = 24'(a.msgid);
    h.pidx  = 32'(a.pidx);
    h.arg   = 64'(a.arg);
    if (SCHEME != SCHEME_SENDER && h.ptype == PTYPE_ACK) h.arg[63:ACK_MAP_W] = 8'($clog2(WINDOW));
    return h;
  endfunction

  typedef struct packed {
    answer_t answer;
    logic    waits;  // until the writes before it are done
    logic    grant;
  } ctl_t;

  cmd_t                           cmd_in, cmd;
  ctl_t                           ctl_in, ctl, ctl_q;
  answer_t                        answer;
  logic [$clog2(CMD_DEPTH+1)-1:0] cmds;
  logic [$clog2(CTL_DEPTH+1)-1:0] ctls;
  logic                           cmd_ready, ctl_ready, ctl_valid, ctl_valid_q, ctl_next, ctl_free;
  logic [WRITES_W-1:0]            writes_q;
  logic                           fence_ready, fence_valid, fence_valid_q, fence_next, fence_passes, leaves;
  logic [WRITES_W-1:0]            fence, fence_q;
  logic [$clog2(CTL_DEPTH+1)-1:0] unused_fences;
  logic [$clog2(CTL_DEPTH+2)-1:0] passed_q;  // packets that wait in i_control or after it, and need not any more
  logic [WRITES_W-2:0]            unused_ahead;
  logic                           behind;

  // From flops, so one event more may have come meanwhile.
  always_ff @(posedge clk_i) begin
    cmd_room_o <= cmds <= ($bits(cmds))'(CMD_DEPTH - UNDERWAY - 2);
    ctl_room_o <= ctls <= ($bits(ctls))'(CTL_DEPTH - ANSWERING - 3) || (ctls == ($bits(ctls))'(CTL_DEPTH - ANSWERING - 2) && !ctl_valid_q);
  end

  assign writes_o = writes_q + WRITES_W'(command_i && write_i);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) writes_q <= '0;
    else writes_q <= writes_o;
  end

  assign cmd_in = '{write: write_i, addr: addr_i, len: len_i, cid: cid_i};
  ram_fifo #(
    .DEPTH(CMD_DEPTH),
    .WIDTH($bits(cmd_t))
  ) i_commands (
    .clk_i,
    .rst_ni,
    .valid_i(command_i),
    .ready_o(cmd_ready),
    .data_i (cmd_in),
    .valid_o(cmd_valid_o),
    .ready_i(cmd_ready_i),
    .data_o (cmd),
    .count_o(cmds)
  );
  assign cmd_write_o = cmd.write;
  assign cmd_addr_o  = cmd.addr;
  assign cmd_len_o   = cmd.len;
  assign cmd_cid_o   = cmd.cid;

  assign answer = '{
          ptype: header_i.ptype[2:0],
          from: (header_i.flags & FLAG_FROM) != '0,
          order: SCHEME == SCHEME_WINDOW && (header_i.flags & FLAG_ORDER) != '0,
          send: TRANSFERS && (header_i.flags & TRANSFER_FLAG_SEND) != '0,
          read: TRANSFERS && (header_i.flags & TRANSFER_FLAG_READ) != '0,
          dst: NODE_W'(header_i.dst),
          src: header_i.src,
          sid: SID_W'(header_i.sid),
          cid: CID_W'(header_i.cid),
          gen: header_i.gen,
          msgid: MSGID_W'(header_i.msgid),
          pidx: PIDX_W'(header_i.pidx),
          arg: ARG_W'(header_i.arg)
      };
  assign ctl_in = '{answer: answer, waits: header_i.ptype == PTYPE_DONE || (SCHEME == SCHEME_SENDER && header_i.ptype == PTYPE_ACK), grant: grant_i};
  ram_fifo #(
    .DEPTH(CTL_DEPTH),
    .WIDTH($bits(ctl_t))
  ) i_control (
    .clk_i,
    .rst_ni,
    .valid_i(send_i),
    .ready_o(ctl_ready),
    .data_i (ctl_in),
    .valid_o(ctl_valid),
    .ready_i(ctl_next),
    .data_o (ctl),
    .count_o(ctls)
  );

  // Of each packet that waits for writes, the count up to which they must be answered. It is looked at as soon as it is the oldest, also while the output
  // stands still: counts wrap, so one that has been reached may not be compared again much later.
  ram_fifo #(
    .DEPTH(CTL_DEPTH),
    .WIDTH(WRITES_W)
  ) i_fences (
    .clk_i,
    .rst_ni,
    .valid_i(send_i && ctl_in.waits),
    .ready_o(fence_ready),
    .data_i (writes_o),
    .valid_o(fence_valid),
    .ready_i(fence_next),
    .data_o (fence),
    .count_o(unused_fences)
  );

  // "answered" is at or past "fence" if it is less than half the range ahead
  assign {behind, unused_ahead} = writes_done_i - fence_q;
  assign fence_passes = fence_valid_q && !behind;
  assign fence_next   = !fence_valid_q || fence_passes;
  assign leaves       = ctl_valid_o && ctl_ready_i && ctl_q.waits;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fence_valid_q <= 1'b0;
      passed_q      <= '0;
    end else begin
      if (fence_next) fence_valid_q <= fence_valid;
      passed_q <= passed_q + ($bits(passed_q))'(fence_passes) - ($bits(passed_q))'(leaves);
    end
    if (fence_next) fence_q <= fence;
  end

  // The first one waits in flops, so that nothing from a RAM is looked at in the same clock.
  assign ctl_next = !ctl_valid_q || (ctl_ready_i && ctl_free);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) ctl_valid_q <= 1'b0;
    else if (ctl_next) ctl_valid_q <= ctl_valid;
    if (ctl_next) ctl_q <= ctl;
  end

  assign ctl_free    = !ctl_q.waits || passed_q != '0;
  assign ctl_valid_o = ctl_valid_q && ctl_free;
  assign ctl_o       = header_of(ctl_q.answer);
  assign ctl_grant_o = ctl_q.grant;
  assign empty_o     = ctls == '0 && !ctl_valid_q && cmds == '0;

  `ASSERT(CommandHasRoom, !command_i || cmd_ready)
  `ASSERT(ControlHasRoom, !send_i || ctl_ready)
  `ASSERT(FenceHasRoom, !send_i || fence_ready)
  `ASSERT(NoMorePassThanWait, passed_q <= ($bits(passed_q))'(CTL_DEPTH + 1))
  `ASSERT(NothingOfTheAnswerIsLost, !send_i || header_of(answer) == header_i)
endmodule

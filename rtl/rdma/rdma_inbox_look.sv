// SPDX-License-Identifier: Apache-2.0
// Compares an event with its ticket and its queue (docs/rdma_transfers.md, Inbox), one field beside the other.
//
// Timing: everything is looked at in data of step_i, looked_o is there in decide. key_changed is of the clock of data, in which key_i does not yet know it.
module rdma_inbox_look
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
  import rdma_inbox_pkg::*;
#(
  parameter int unsigned N_TICKETS = 64,
  parameter int unsigned PAYLOAD   = 256,
  parameter int unsigned NODE_W    = 16,
  parameter int unsigned ADDR_W    = 48,
  parameter type         kept_t    = logic,  // of rdma_inbox
  parameter type         message_t = logic
) (
  input  logic         clk_i,
  input  step_t        step_i,
  // event
  input  header_t      hdr_i,
  input  ticket_post_t post_i,
  input  logic         writes_i,     // the RQT is one for a write
  // ticket
  input  kept_t        kept_i,
  input  message_t     message_i,
  // queue
  input  logic         queue_set_i,  // one gets another key, perhaps
  input  logic [ 15:0] key_i,
  output looked_t      looked_o
);
  localparam int unsigned SHIFT = $clog2(PAYLOAD);

  looked_t     looked_q;
  logic        key_changed_q;
  logic [64:0] remote_end_q;  // behind the last byte

  always_comb begin : p_looked
    looked_o             = looked_q;
    looked_o.key_changed = key_changed_q;
  end

  always_ff @(posedge clk_i) begin
    key_changed_q <= queue_set_i;
    if (step_i.read) remote_end_q <= 65'(post_i.remote_addr) + 65'(post_i.bytes);
    if (step_i.data) begin
      // RQT
      looked_q.same        <= 16'(message_i.src) == hdr_i.src && 16'(message_i.sid) == hdr_i.sid && 24'(message_i.msgid) == hdr_i.msgid &&
                              message_i.immediate == writes_i;
      looked_q.key_ok      <= key_i == hdr_i.cid;
      looked_q.key_changed <= '0;
      looked_q.exists      <= hdr_i.cid < 16'(N_TICKETS);
      looked_q.wanted      <= hdr_i.arg == 64'(kept_i.number) && hdr_i.src == 16'(kept_i.node) && hdr_i.pidx == kept_i.bytes;
      looked_q.too_long    <= hdr_i.pidx > kept_i.bytes;
      // RSP
      looked_q.granted <= hdr_i.arg == 64'(REFUSAL_GRANTED);
      looked_q.busy    <= hdr_i.arg == 64'(REFUSAL_NO_CONTEXT);
      looked_q.fits    <= hdr_i.sid < 16'(N_TICKETS) && hdr_i.msgid == 24'(kept_i.number) && hdr_i.src == 16'(kept_i.node);
      unique case (hdr_i.arg)
        64'(REFUSAL_BAD_LENGTH): looked_q.status <= STATUS_BAD_LENGTH;
        64'(REFUSAL_MISALIGNED): looked_q.status <= STATUS_MISALIGNED;
        64'(REFUSAL_BAD_KEY):    looked_q.status <= STATUS_BAD_KEY;
        default:                 looked_q.status <= STATUS_BAD_REGION;
      endcase
      // post
      looked_q.misaligned <= (post_i.address[SHIFT-1:0] | (post_i.is_read ? post_i.remote_addr[SHIFT-1:0] : '0)) != '0;
      looked_q.bad_node   <= (post_i.node >> NODE_W) != '0;
      looked_q.beyond     <= remote_end_q > (65'd1 << ADDR_W);
    end
  end

  logic unused;
  assign unused = ^{step_i.decide, hdr_i, post_i, kept_i, message_i, looked_q.key_changed};
endmodule

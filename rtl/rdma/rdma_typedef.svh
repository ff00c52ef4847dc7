// SPDX-License-Identifier: Apache-2.0
// Context formats of the RDMA engine (docs/rdma.md, Receiver and Sender); widths are parameters of the engine.
`ifndef RDMA_TYPEDEF_SVH_
`define RDMA_TYPEDEF_SVH_

// Receive context. base: destination address without its low bits, which are zero; last: PIDX of the last packet; last_len: its payload bytes; asks: timeouts in a row that asked
// for one packet; silent: timeouts since the last new packet; wvec[i]: packet wbase + 1 + i has arrived.
`define RDMA_TYPEDEF_RX_CTX(ctx_t, NODE_W, SID_W, MSGID_W, BASE_W, PIDX_W, LEN_W, WINDOW) \
  typedef struct packed {            \
    rdma_pkg::rx_state_e state;      \
    logic [7:0]          gen;        \
    logic [NODE_W-1:0]   src;        \
    logic [SID_W-1:0]    sid;        \
    logic [MSGID_W-1:0]  msgid;      \
    logic [BASE_W-1:0]   base;       \
    logic [PIDX_W-1:0]   last;       \
    logic [LEN_W-1:0]    last_len;   \
    logic [1:0]          asks;       \
    logic [3:0]          silent;     \
    logic [PIDX_W-1:0]   wbase;      \
    logic [WINDOW-1:0]   wvec;       \
  } ctx_t;

// Send context. next: next PIDX to send; high: first PIDX never sent; span: log2 of the window to keep within, 0 = none;
// acked: WBASE as the receiver told it last; asked[i]: packet acked + i is to be sent again; turn: has a turn in the round robin.
`define RDMA_TYPEDEF_TX_CTX(ctx_t, NODE_W, CID_W, MSGID_W, ADDR_W, PIDX_W, LEN_W) \
  typedef struct packed {            \
    rdma_pkg::tx_state_e state;      \
    logic [NODE_W-1:0]   dst;        \
    logic [CID_W-1:0]    cid;        \
    logic [7:0]          gen;        \
    logic [MSGID_W-1:0]  msgid;      \
    logic [15:0]         tag;        \
    logic [ADDR_W-1:0]   src_addr;   \
    logic [ADDR_W-1:0]   dst_addr;   \
    logic [PIDX_W-1:0]   last;       \
    logic [LEN_W-1:0]    last_len;   \
    logic [PIDX_W-1:0]   next;       \
    logic [PIDX_W-1:0]   high;       \
    logic [rdma_pkg::SPAN_W-1:0] span; \
    logic [PIDX_W-1:0]   acked;      \
    logic [rdma_pkg::ACK_MAP_W-1:0] asked; \
    logic [3:0]          retries;    \
    logic                turn;       \
  } ctx_t;

`endif

// SPDX-License-Identifier: Apache-2.0
// Context formats of the RDMA engine (docs/rdma.md, Receiver and Sender); widths are parameters of the engine.
`ifndef RDMA_TYPEDEF_SVH_
`define RDMA_TYPEDEF_SVH_

// Memory region. open: there are bytes in it, and other nodes may use them, a bit for each of RIGHTS ways (with one: write them); base: its first
// payload, as address without its low bits; last: number of its last payload from there.
`define RDMA_TYPEDEF_REGION(region_t, BASE_W, OFFSET_W, RIGHTS) \
  typedef struct packed {            \
    logic [RIGHTS-1:0]   open;       \
    logic [15:0]         key;        \
    logic [BASE_W-1:0]   base;       \
    logic [OFFSET_W-1:0] last;       \
  } region_t;

// The same memory as the queues of its owner may use it; open: there are bytes in it, and they may.
`define RDMA_TYPEDEF_LOCAL_REGION(region_t, BASE_W, OFFSET_W) \
  typedef struct packed {            \
    logic                open;       \
    logic                local_use;  \
    logic [7:0]          owner;      \
    logic [15:0]         key;        \
    logic [BASE_W-1:0]   base;       \
    logic [OFFSET_W-1:0] last;       \
  } region_t;

// Event of the receiver as it goes from A to J. verdict: of the arrival checks, or what the inbox said, from F on also of a request; request: for a context,
// from F on it is granted; again: it was granted before; faulty: the inbox has seen a fault in it: has no ticket, so it must not be granted if there is none any
// more; asks: is one of a request, the same again, READ: needs room for an answer; answer_asked, answer_room: from F on; last: last byte of a request, from D
// on; len_less: payload bytes less one, from D on; writable, receivable: the region named is open to who names this key, for
// a write of another node or as a buffer, from D on; region_base, region_last: payloads, and
// payloads from there, from D on; offset: of a request in its region, payloads, from F on; room, over_quota: from F on.
`define RDMA_TYPEDEF_RX_EVENT(event_t, BASE_W, OFFSET_W, IDX_W) \
  typedef struct packed { \
    logic              timeout; \
    outcome_e          verdict; \
    logic              request, release_it, data; \
    logic              from_inbox; \
    admit_e            admit; \
    logic              again; \
    logic              faulty; \
    logic              read; \
    logic              asks; \
    logic              answer_asked, answer_room; \
    header_t           hdr; \
    logic [31:0]       last; \
    logic [15:0]       len_less; \
    logic              writable, receivable; \
    logic [BASE_W-1:0] region_base; \
    logic [OFFSET_W-1:0] region_last; \
    logic [OFFSET_W-1:0] offset; \
    logic              room; \
    logic              offer_valid; \
    logic [IDX_W-1:0]  offer; \
    logic              over_quota; \
  } event_t;

// Receive context, the part that a grant writes. region: its number, and with TRANSFERS above that whether it is granted for a buffer; offset: of the destination from the base of its region, in payloads; last: PIDX of the
// last packet; tail: bytes in the last packet, less one.
`define RDMA_TYPEDEF_RX_GRANT(grant_t, NODE_W, SID_W, MSGID_W, REGION_W, OFFSET_W, PIDX_W, TAIL_W) \
  typedef struct packed {            \
    logic [7:0]          gen;        \
    logic [NODE_W-1:0]   src;        \
    logic [SID_W-1:0]    sid;        \
    logic [MSGID_W-1:0]  msgid;      \
    logic [REGION_W-1:0] region;     \
    logic [OFFSET_W-1:0] offset;     \
    logic [PIDX_W-1:0]   last;       \
    logic [TAIL_W-1:0]   tail;       \
  } grant_t;

// Receive window as it is kept, docs/rdma_receiver.md. base: WBASE; first: the first hole behind it, modulo 2 * WINDOW; marks: for each slot
// (PIDX modulo WINDOW) whether the packet has arrived that has this slot among base + 1 to base + WINDOW; true is 1 for an even PIDX / WINDOW, else 0.
`define RDMA_TYPEDEF_WINDOW(kept_t, WINDOW, PIDX_W) \
  typedef struct packed {                  \
    logic [PIDX_W-1:0]       base;         \
    logic [$clog2(WINDOW):0] first;        \
    logic [WINDOW-1:0]       marks;        \
  } kept_t;

// What rdma_rx_window keeps of a receive context: timeouts in a row that asked for one packet (weft mode: 1 if there was one), and the window.
`define RDMA_TYPEDEF_RX_KEPT(kept_t, window_t) \
  typedef struct packed {            \
    logic [1:0]          asks;       \
    window_t             window;     \
  } kept_t;

// Receive context, the part that any packet may change. used: not free; came: a packet of it has come; silent: timeouts since the last new packet; kept: of its
// packets, RDMA_TYPEDEF_RX_KEPT or what rdma_rx_counter has.
`define RDMA_TYPEDEF_RX_STATE(state_t, kept_t) \
  typedef struct packed {            \
    logic                used;       \
    logic                came;       \
    logic [3:0]          silent;     \
    kept_t               kept;       \
  } state_t;

// Slots that are searched together.
`define RDMA_WINDOW_GROUP(WINDOW) ((WINDOW) < 8 ? (WINDOW) : 8)

// Receive window as it is worked on. next_top: base / (2 * WINDOW), plus one; first: the first hole behind base; first_after: the slots above its own;
// first_odd: its PIDX / WINDOW is; carry: its PIDX / (2 * WINDOW) is next_top; group_here, group_next: groups of slots with holes behind it (rdma_holes).
`define RDMA_TYPEDEF_OPEN_WINDOW(open_t, WINDOW, PIDX_W) \
  typedef struct packed {                          \
    logic [WINDOW-1:0]                lap_marks;   \
    logic [PIDX_W-1:0]                base;        \
    logic [PIDX_W-$clog2(WINDOW)-1:0] next_top;    \
    logic [WINDOW-1:0]                first_after; \
    logic                             first_odd;   \
    logic                             carry;       \
    logic [(WINDOW)/`RDMA_WINDOW_GROUP(WINDOW)-1:0] group_here; \
    logic [(WINDOW)/`RDMA_WINDOW_GROUP(WINDOW)-1:0] group_next; \
  } open_t;

// Where a packet lies in a receive window: it is the one at WBASE; it is one of the WINDOW behind that; and has not arrived before; of such a one: it is
// the first hole.
`define RDMA_TYPEDEF_PLACE(place_t) \
  typedef struct packed {      \
    logic at_base;             \
    logic in_window;           \
    logic is_new;              \
    logic is_first;            \
  } place_t;

// Send context. failed: with SCHEME_SENDER only, an answer says that a write was; attempt: with SCHEME_COUNTER only, the one at the whole transfer that is under
// way; second, hole, span, acked, asked: with SCHEME_WINDOW only, but for acked with SCHEME_SENDER: packets answered;
// next: next PIDX to send; high: first PIDX never sent; span: log2 of the window to keep within, 0 = none; second: twice that; hole: something is missing there, and WBASE has not moved since that was told;
// acked: WBASE as the receiver told it last; asked[i]: packet acked + i is to be sent again; busy: refusals while requested, then timeouts with nothing but repeats;
// heard: repeats since the last of these; turn: has a turn in the round robin;
// origin: who posted it; to: what it goes to; imm: its immediate, if any.
`define RDMA_TYPEDEF_TX_CTX(ctx_t, NODE_W, CID_W, MSGID_W, ADDR_W, PIDX_W, LEN_W) \
  typedef struct packed {            \
    logic                failed;     \
    logic [7:0]          attempt;    \
    logic                second;     \
    logic                hole;       \
    logic [rdma_pkg::SPAN_W-1:0] span; \
    logic [PIDX_W-1:0]   acked;      \
    logic [rdma_pkg::ACK_MAP_W-1:0] asked; \
    rdma_pkg::tx_state_e state;      \
    logic [NODE_W-1:0]   dst;        \
    logic [CID_W-1:0]    cid;        \
    logic [7:0]          gen;        \
    logic [MSGID_W-1:0]  msgid;      \
    logic [15:0]         tag;        \
    logic [ADDR_W-1:0]   src_addr;   \
    logic [ADDR_W-1:0]   dst_addr;   \
    logic [23:0]         rkey;       \
    logic [PIDX_W-1:0]   last;       \
    logic [LEN_W-1:0]    last_len;   \
    logic [PIDX_W-1:0]   next;       \
    logic [PIDX_W-1:0]   high;       \
    logic [3:0]          retries;    \
    logic [7:0]          busy;       \
    logic                heard;      \
    logic                turn;       \
    rdma_pkg::origin_e   origin;     \
    rdma_pkg::to_e       to;         \
    logic                has_imm;    \
    logic [31:0]         imm;        \
  } ctx_t;

`endif

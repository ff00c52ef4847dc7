// SPDX-License-Identifier: Apache-2.0
// Constants and small functions of the RDMA engine that do not depend on parameters. The packet header, codes
// and register addresses are in rdma_formats_pkg, generated from spec/rdma.json; the context formats, which
// depend on parameters, are macros in rdma_typedef.svh.
package rdma_pkg;
  import rdma_formats_pkg::*;

  // How a receiver knows what is missing, and what a sender does about it: docs/rdma.md, docs/rdma_baseline.md.
  localparam int unsigned SCHEME_WINDOW  = 0;
  localparam int unsigned SCHEME_COUNTER = 1;
  localparam int unsigned SCHEME_SENDER  = 2;  // the sender keeps the window

  localparam int unsigned FLIT_W = 256;  // bits of a flit, also of the header
  localparam int unsigned FLIT_BYTES = FLIT_W / 8;
  localparam int unsigned TICK_W = 16;  // bits of the tick counter
  localparam int unsigned STAMP_W = 15;  // bits of a time stamp
  localparam int unsigned LIMIT_W = 13;  // bits of a timer limit

  localparam int unsigned BACKOFFS = 4;  // a timeout doubles 0 to 3 times

  localparam int unsigned WRITES_W = 16;  // bits of a count of host writes: twice as many as can ever be under way, and more

  localparam logic [31:0] CRC_INIT = '1;

  // arg of an ACK: bit i of the map asks for packet WBASE + i; above it log2 of the window.
  localparam int unsigned ACK_MAP_W = 56;
  localparam int unsigned SPAN_W = 4;  // bits of log2 of a window

  // Kinds of events of the sender; of the receiver only the first two. Of a send buffer with SCHEME_SENDER only.
  typedef enum logic [2:0] {
    EV_PACKET  = 3'd0,
    EV_TIMEOUT = 3'd1,
    EV_POST    = 3'd2,
    EV_TURN    = 3'd3,
    EV_FAULT   = 3'd4,
    EV_BUFFER_TIMEOUT = 3'd5,
    EV_BUFFER_TURN    = 3'd6
  } event_e;

  // Where a post comes from, and its completion goes to.
  typedef enum logic [1:0] {
    ORIGIN_REGISTERS = 2'd0,
    ORIGIN_QUEUES    = 2'd1,
    ORIGIN_ANSWERS   = 2'd2   // to READs of other nodes
  } origin_e;

  // What a transfer goes to: a region of the peer, a buffer posted in a queue there, the buffer of a READ there.
  typedef enum logic [1:0] {
    TO_REGION = 2'd0,
    TO_QUEUE  = 2'd1,
    TO_TICKET = 2'd2
  } to_e;

  // A request to the sender. rkey: number and key of the region or queue there; of an answer the ticket there, whose number is dst_addr then.
  typedef struct packed {
    origin_e     origin;
    to_e         to;
    logic        has_imm;
    logic [31:0] imm;
    logic [23:0] rkey;
    logic [15:0] tag;
    logic [31:0] node;
    logic [31:0] bytes;
    logic [63:0] dst_addr;
    logic [63:0] src_addr;
  } post_t;

  // What tells a READ from all others that are answered at the same time.
  typedef struct packed {
    logic [15:0] node;
    logic [15:0] ticket;
    logic [23:0] number;
  } read_id_t;

  typedef struct packed {
    origin_e     origin;  // as in its post
    logic [7:0]  status;
    logic [15:0] tag;
  } completion_t;

  // A RECV or READ that is posted to the inbox (docs/rdma_transfers.md). address and rkey: of the local buffer; from node on: READ only.
  typedef struct packed {
    logic        is_read;
    logic [7:0]  qid;
    logic [15:0] tag;
    logic [63:0] address;
    logic [31:0] bytes;
    logic [23:0] rkey;
    logic [31:0] node;
    logic [63:0] remote_addr;
    logic [23:0] remote_rkey;
  } ticket_post_t;

  // The end of a RECV or READ. From imm_form on: of what has come only, else 0.
  typedef struct packed {
    logic [7:0]  qid;
    logic [15:0] tag;
    logic        is_read;
    logic [7:0]  status;
    logic [15:0] node;       // source of the message, or target of the READ; 0 if there was none
    logic        imm_form;   // it was a write with immediate, not a message into the buffer
    logic [31:0] bytes;
    logic        has_imm;
    logic [31:0] imm;
  } ticket_completion_t;

  // What the inbox says about a RQT with flag IMM, SEND or READ. Its header has then, in place of what the packet said:
  // BUFFER: arg, gen, cid: address, region and key of the buffer; AGAIN: cid: the context, arg[23:0]: RKEY of the buffer.
  typedef enum logic [2:0] {
    ADMIT_NONE   = 3'd0,  // nothing: decided as it stands
    ADMIT_TICKET = 3'd1,  // the same, and a ticket waits for the decision
    ADMIT_BUFFER = 3'd2,  // it is for the buffer of the ticket
    ADMIT_AGAIN  = 3'd3,  // granted before
    ADMIT_REFUSE = 3'd4,
    ADMIT_DROP   = 3'd5
  } admit_e;

  typedef struct packed {
    admit_e   kind;
    logic     of_read;  // the ticket is that of a READ
    outcome_e refusal;  // of ADMIT_REFUSE
    header_t  hdr;
  } admitted_t;

  // Events of the inbox. The last one is that the request of a ticket was decided, but not granted.
  typedef enum logic [2:0] {
    INBOX_POST    = 3'd0,
    INBOX_RQT     = 3'd1,
    INBOX_RSP     = 3'd2,
    INBOX_TIMEOUT = 3'd3,
    INBOX_LEAVE   = 3'd4,
    INBOX_CANCEL  = 3'd5,
    INBOX_DECIDED = 3'd6
  } inbox_event_e;

  typedef enum logic [2:0] {
    TICKET_FREE      = 3'd0,
    TICKET_WAITING   = 3'd1,
    TICKET_TAKEN     = 3'd2,
    TICKET_BOUND     = 3'd3,
    TICKET_ENDING    = 3'd4,
    TICKET_RETURNING = 3'd5
  } ticket_state_e;

  // What the receiver tells the inbox of an event.
  typedef struct packed {
    outcome_e            outcome;
    logic                decides;  // the event is the request that the inbox gave last
    logic [15:0]         cid;
    logic                has_imm;  // flag IMM of the packet
    logic [31:0]         imm;
    logic [WRITES_W-1:0] writes;   // host writes decided up to this event, including its own
  } rx_retired_t;

  // What the receiver knows of an event when it comes to the outcome; of a timeout only the lines that say so.
  typedef struct packed {
    logic     timeout;
    outcome_e verdict;          // of the arrival checks, or of the check of a request
    logic     request;          // it is a request, and there is a context for it
    logic     release_it;       // it is a RELEASE; otherwise DATA
    logic     failed;           // ... of a sender that could not read its memory
    logic     again;            // it is a request that was granted before
    logic     used;             // packet: its CID is that of a context in use
    logic     untouched;        // no packet of it has come
    logic     source_ok;        // it comes from the node that the context is for
    logic     sid_ok;           // ... from that send context
    logic     msgid_ok;         // ... and belongs to that transfer
    logic     match;            // all of these, and the context has not been granted anew since
    logic     key_ok;           // it names the region that was granted, and that is open to who names this key
    logic     outside;          // its address is not in that region
    logic     beyond_end;
    logic     good_length;
    logic     good_mark;        // the mark of the last packet is where it has to be
    logic     mark;             // new, beyond WBASE
    logic     advance;          // the one at WBASE
    logic     ahead;            // there is a packet in the window that it is RX_AHEAD ahead of
    logic     in_window;        // it is in the window beyond WBASE
    logic     behind;           // it is before WBASE
    logic     complete;         // nothing is missing after it
    logic     quarter;          // WBASE has passed a multiple of a quarter of the window
    logic     live;             // timeout: of a context in use, and its timer has not been restarted meanwhile
    logic     reclaim;          // timeout: it was one too many
    logic     asked;            // timeout: not the first since WBASE has moved by a packet sent once; and a packet has come
    logic     complete_before;  // timeout: nothing is missing
    logic     asked_enough;     // timeout: time to ask for all from WBASE on
    logic     restart;          // SCHEME_COUNTER: it is the last one to be counted, but others are missing
    logic     not_yet;          // SCHEME_SENDER, RELEASE: the context is of use
  } rx_facts_t;

  // Whom the receiver answers, and about what.
  typedef struct packed {
    logic [15:0] node;
    logic [15:0] sid;
    logic [23:0] msgid;
    logic [15:0] cid;
    logic [7:0]  gen;
    logic [31:0] pidx;
    logic [8:0]  attempt;     // older schemes: whether any packet has come; SCHEME_COUNTER: and the attempt to be asked for
    logic [7:0]  slot;        // SCHEME_SENDER: of the packet, in the sender's buffer
    logic        ordered;     // SCHEME_WINDOW: RX_AHEAD is known, and at most WINDOW + 1
    // what the RSP to a RQT or READ needs besides (docs/rdma_transfers.md)
    logic        for_buffer;  // RQT with flag SEND or READ
    logic        of_read;     // RQT with flag READ
    logic        is_read;     // READ
    logic [23:0] rkey;        // granted for a buffer: its key
  } rx_to_t;

  typedef enum logic [3:0] {
    RX_NO_ANSWER,
    RX_REFUSAL,
    RX_GRANT,
    RX_DONE,
    RX_RESEND,
    RX_RESEND_FROM,
    RX_ACK,
    RX_ACK_MAP,     // with a map of what is missing
    RX_RESEND_HOLE, // if it is missing
    RX_ACK_ONE,     // SCHEME_SENDER: of this packet, when it is in memory
    RX_ACK_FROM     // as RX_ACK_MAP; marked if nothing behind WBASE has come
  } rx_answer_e;

  // Bits that a receive context of SCHEME_COUNTER has of its packets: attempt, count, residue (rdma_rx_counter).
  function automatic int unsigned counter_bits(int unsigned pidx_w);
    return 8 + pidx_w + 32;
  endfunction

  // Half of a bijection that is not linear, two of the four rounds of Speck32 (Beaulieu et al., 2013) with fixed keys; the sum of such numbers tells whether
  // all packets have come.
  function automatic logic [31:0] mix_rounds(logic [31:0] from, logic [15:0] key0, logic [15:0] key1);
    logic [15:0] high, low;
    {high, low} = from;
    high = (16'({high, high} >> 7) + low) ^ key0;
    low  = {low[13:0], low[15:14]} ^ high;
    high = (16'({high, high} >> 7) + low) ^ key1;
    low  = {low[13:0], low[15:14]} ^ high;
    return {high, low};
  endfunction
  function automatic logic [31:0] mix_first(logic [31:0] pidx);
    return mix_rounds(pidx, 16'h243f, 16'h6a88);  // digits of pi
  endfunction
  function automatic logic [31:0] mix_second(logic [31:0] half);
    return mix_rounds(half, 16'h85a3, 16'h08d3);
  endfunction

  // Classes of the sender's timers: TX_RETRY, doubled so often, and TX_DEAD.
  localparam int unsigned TX_CLASSES = BACKOFFS + 1;
  localparam int unsigned TX_CLASS_W = $clog2(TX_CLASSES);
  localparam logic [TX_CLASS_W-1:0] TX_CLASS_DEAD = TX_CLASS_W'(BACKOFFS);

  // What an event of the sender finds in its buffer (rdma_send_buffers), and what it does there.
  typedef struct packed {
    logic       its_own;  // turn: it is the buffer of the transfer's destination
    logic       full;
    logic [7:0] next;     // slot of the next packet
    logic       open;     // the slot looked at waits for its answer
    logic       match;    // ACK: what the slot has is the packet that this answers
    logic [7:0] at;       // turn of the buffer: the slot
    logic       again;    // ... its turn has not passed meanwhile
  } buffer_facts_t;
  typedef struct packed {
    logic add;
    logic close;
    logic restart;
    logic again;
  } buffer_step_t;

  typedef enum logic [1:0] {
    TX_FREE   = 2'd0,
    TX_REQ    = 2'd1,
    TX_ACTIVE = 2'd2
  } tx_state_e;

  // Packets that go to the sender half; all other types are the receiver's.
  function automatic logic for_sender(logic [7:0] ptype);
    return ptype == PTYPE_RSP || ptype == PTYPE_RESEND || ptype == PTYPE_DONE || ptype == PTYPE_ACK;
  endfunction

  function automatic logic known_type(logic [7:0] ptype);
    return ptype >= PTYPE_RQT && ptype <= PTYPE_ACK;
  endfunction

  // Bits of the number of a payload in its region, of base_w bits that an address has of payloads: regions have up to 2**32.
  function automatic int unsigned offset_bits(int unsigned base_w);
    return base_w < 32 ? base_w : 32;
  endfunction

  // Limits of timers that have doubled 0, 1, ... times; the longest one is that of all bits one.
  function automatic logic [BACKOFFS-1:0][LIMIT_W-1:0] backoff_limits(logic [LIMIT_W-1:0] timeout);
    logic [BACKOFFS-1:0][LIMIT_W-1:0] limits;
    for (int i = 0; i < int'(BACKOFFS); i++) limits[i] = (timeout >> (int'(LIMIT_W) - i)) != '0 ? '1 : timeout << i;
    return limits;
  endfunction

  // How often a timeout doubles that came in vain so often.
  function automatic logic [1:0] doublings(logic [3:0] in_vain, logic [1:0] most);
    return in_vain > 4'(most) ? most : in_vain[1:0];
  endfunction

`ifdef WEFT_BARE
  // Engines without checks (rtl/common/weft_when.svh) have it from the program that they run in: it takes a quarter of their time.
  import "DPI-C" pure function int unsigned weft_crc_flit(input int unsigned crc, input bit [FLIT_W-1:0] flit);
  function automatic logic [31:0] crc_flit(logic [31:0] crc, logic [FLIT_W-1:0] flit);
    return weft_crc_flit(crc, flit);
  endfunction
`else
  localparam logic [31:0] CRC_POLY = 32'h82F6_3B78;  // CRC-32C, reflected

  // Row i, column j: does bit j of a flit (with the old CRC added to its low 32 bits) change bit i of the new CRC?
  function automatic logic [31:0][FLIT_W-1:0] crc_matrix();
    logic [31:0][FLIT_W-1:0] m;
    logic [31:0] c;
    c = 32'd1;
    m = '0;
    for (int j = int'(FLIT_W) - 1; j >= 0; j--) begin
      c = c[0] ? (c >> 1) ^ CRC_POLY : c >> 1;
      for (int i = 0; i < 32; i++) m[i][j] = c[i];
    end
    return m;
  endfunction

  localparam logic [31:0][FLIT_W-1:0] CRC_MATRIX = crc_matrix();

  // CRC state after one more flit, byte 0 first.
  function automatic logic [31:0] crc_flit(logic [31:0] crc, logic [FLIT_W-1:0] flit);
    logic [FLIT_W-1:0] x;
    logic [31:0] next;
    x = flit ^ FLIT_W'(crc);
    for (int i = 0; i < 32; i++) next[i] = ^(x & CRC_MATRIX[i]);
    return next;
  endfunction
`endif

  // The header as the CRC sees it: its own field is zero.
  function automatic header_t without_crc(header_t h);
    header_t r;
    r = h;
    r.crc = '0;
    return r;
  endfunction
endpackage

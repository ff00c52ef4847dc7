// SPDX-License-Identifier: Apache-2.0
// Types shared by the modules of the host queues (docs/rdma_queues.md).
package rdma_queues_pkg;
  import rdma_queues_formats_pkg::*;

  localparam int unsigned MAX_QUEUES = 64;
  localparam int unsigned QUEUE_W    = 6;   // bits of a queue number on the ports
  localparam int unsigned INDEX_W    = 16;  // bits of a ring index
  localparam int unsigned PAGE_SHIFT = 12;  // rings are multiples of 4 KiB
  localparam int unsigned LOG2_W     = 4;   // bits of log2 of a ring's size
  localparam int unsigned LOG2_MIN   = 4;   // at least as many entries as a burst may have

  localparam int unsigned SUBMISSION_SHIFT = $clog2(SUBMISSION_BITS / 8);
  localparam int unsigned COMPLETION_SHIFT = $clog2(COMPLETION_BITS / 8);

  typedef logic [QUEUE_W-1:0] queue_t;
  typedef logic [INDEX_W-1:0] index_t;
  typedef logic [LOG2_W-1:0]  log2_t;
  typedef logic [63-PAGE_SHIFT:0] page_t;

  // What the administrator says of a queue when it is enabled.
  typedef struct packed {
    page_t       sq_page;   // 4 KiB page of the submission ring
    page_t       cq_page;
    log2_t       sq_log2;   // entries
    log2_t       cq_log2;
    logic [7:0]  owner;
    irq_kind_e   irq;
    logic [61:0] msi_word;  // address of the message / 4
    logic [31:0] msi_data;
    logic [15:0] key;       // that SENDs must name
    logic [15:0] quota;     // requests of the sender under way, 0: no limit
  } queue_cfg_t;

  // A request that was accepted.
  typedef struct packed {
    queue_t      qid;
    logic [7:0]  owner;
    submission_t entry;
  } request_t;

  // A completion before it has a place in a ring.
  typedef struct packed {
    queue_t      qid;
    logic        signal;     // as the flag SIGNAL of the entry; of an arrival: as the engine likes
    logic [63:0] tag;
    logic [31:0] bytes;
    logic [31:0] immediate;  // 0 if there is none
    logic        has_immediate;
    logic [31:0] node;
    logic [7:0]  status;
    logic [7:0]  opcode;
  } outcome_t;

  // A completion entry was answered by memory, or discarded.
  typedef struct packed {
    queue_t qid;
    logic   discarded;
    logic   failed;     // memory answered with an error
    logic   urgent;     // SIGNAL, or a status other than OK
  } retired_t;

  // A request into a buffer here: it goes to the inbox, the others to the sender.
  function automatic logic is_ticket(logic [7:0] opcode);
    return opcode == OPCODE_READ || opcode == OPCODE_RECV;
  endfunction

  // A request that is the sender's: it counts in the quota of its queue until its completion is given a slot. The opcode in a completion says the same.
  function automatic logic is_of_sender(logic [7:0] opcode);
    return opcode == OPCODE_WRITE || opcode == OPCODE_WRITE_IMM || opcode == OPCODE_SEND;
  endfunction

  // Opcodes, one bit each, of an engine with or without transfers other than plain writes.
  function automatic logic [15:0] opcodes_of(logic transfers);
    logic [15:0] opcodes;
    opcodes = 16'd1 << OPCODE_WRITE;
    if (transfers) opcodes = opcodes | 16'd1 << OPCODE_WRITE_IMM | 16'd1 << OPCODE_SEND | 16'd1 << OPCODE_READ | 16'd1 << OPCODE_RECV;
    return opcodes;
  endfunction

  function automatic index_t ring_size(log2_t log2);
    return index_t'(1) << log2;
  endfunction

  // Offset of an entry in a ring of 2^log2 entries of 2^shift bytes.
  function automatic logic [63:0] ring_offset(index_t index, log2_t log2, int unsigned shift);
    index_t slot;
    slot = index & (ring_size(log2) - 1'b1);
    return 64'(slot) << shift;
  endfunction
endpackage

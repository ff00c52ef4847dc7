// SPDX-License-Identifier: Apache-2.0
// What the parts of the inbox tell each other (docs/rdma_transfers.md, RTL).
package rdma_inbox_pkg;
  import rdma_pkg::*;
  import rdma_formats_pkg::*;

  // Bits of the fingerprint of a message.
  localparam int unsigned PRINT_W = 8;

  typedef enum logic [2:0] {
    DO_LEAVE,
    DO_RQT,
    DO_RSP,
    DO_POST,
    DO_SWEEP,
    DO_DECIDED
  } job_e;

  // Those that take turns, by their number above.
  localparam int unsigned N_TURNS = 5;

  typedef enum logic [1:0] {
    ASKS_NOTHING,
    ASKS_WRITE,   // with immediate
    ASKS_SEND,
    ASKS_ANSWER
  } asks_e;

  // In which clock of an event the inbox is.
  typedef struct packed {
    logic read;
    logic data;
    logic decide;
  } step_t;

  // What was found out in front.
  typedef struct packed {
    asks_e    asks;
    logic     maybe;          // the ticket may have this message
    logic     queue_exists;   // that the RQT names
    logic     queue_changed;  // the region was set meanwhile, and has another one
    outcome_e verdict;        // of the region: NONE or what is wrong
  } found_t;

  // What the comparison of an event with its ticket has shown.
  typedef struct packed {
    // RQT
    logic    same;         // the ticket has this message
    logic    key_ok;
    logic    key_changed;  // perhaps, since key_ok
    logic    exists;       // the ticket that is named
    logic    wanted;       // this answer of a READ
    logic    too_long;
    // RSP
    logic    granted;
    logic    busy;
    logic    fits;
    status_e status;
    // post
    logic    misaligned;
    logic    bad_node;
    logic    beyond;
  } looked_t;

  // Of a ticket, known of all of them at once.
  typedef struct packed {
    ticket_state_e state;
    logic          is_read;
    logic          failed;
  } known_t;

  // Of the timer of a READ.
  typedef struct packed {
    logic due;
    logic last_try;
    logic too_busy;
  } timing_t;

  // How a request was decided that was not granted.
  typedef struct packed {
    logic no_buffer;
    logic busy;
  } undone_t;

  // What an event changes, all in one clock, and what is told of it.
  typedef struct packed {
    outcome_e      outcome;
    status_e       status;        // of its completion
    admit_e        admit;
    outcome_e      refusal;
    // RQT
    logic          hand_on;       // to the receiver
    logic          take;          // and it has the ticket
    logic          other_message; // the ticket has another one
    // ticket
    logic          put;           // it gets this state
    ticket_state_e state;
    logic          new_ticket;
    logic          end_it;
    // list
    logic          pop;
    logic          push_front;
    logic          push_back;
    // timer
    logic          back_off;
    logic          retry;
    // packets and completions
    logic          ask;
    logic          complete;
    logic          rejected;      // of a post
    logic          met;           // of a message
    logic          traced;
  } ops_t;
endpackage

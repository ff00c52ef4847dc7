// SPDX-License-Identifier: Apache-2.0
// What the parts of the switch lookup block share.
package switch_pkg;
  import switch_lookup_formats_pkg::*;

  // What the tables in use say of the switch itself.
  typedef struct packed {
    logic        loaded;       // there are tables
    role_e       role;
    logic        fine;
    logic [1:0]  vc_max;
    logic [3:0]  column_bits;
    logic [7:0]  row_port;
    logic [7:0]  column_port;
    logic [11:0] row;
    logic [11:0] column;
    logic [31:0] version;
  } config_t;

  localparam logic [31:0] IMAGE_MAGIC = 32'h31575357;
  localparam logic [31:0] MANAGEMENT_MAGIC = 32'h474d5753;
  localparam int unsigned MANAGEMENT_WORDS = 64;  // of payload, at most

  // The next of the random numbers that choose among backup ports.
  function automatic logic [31:0] random_step(logic [31:0] number);
    logic [31:0] next;
    next = number ^ (number << 13);
    next = next ^ (next >> 17);
    return next ^ (next << 5);
  endfunction
endpackage

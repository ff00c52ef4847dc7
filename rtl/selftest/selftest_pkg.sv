// SPDX-License-Identifier: Apache-2.0
// What the parts of the self-test share (docs/selftest.md).
package selftest_pkg;

  // What a unit's test has come to; index and signature are for the report.
  typedef struct packed {
    logic        done;
    logic        failed;
    logic [15:0] index;      // of the first wrong answer; SIGNATURE_WRONG, NO_ANSWER
    logic [31:0] signature;  // of all that the unit has said
  } result_t;

  localparam logic [15:0] SIGNATURE_WRONG = 16'hfffe;  // all answers right, something else was not
  localparam logic [15:0] NO_ANSWER       = 16'hffff;  // nothing came for a long time

  localparam logic [31:0] IMAGE_MARK = 32'ha5a5a5a5;  // in the signature of a lookup block, for an image that comes into use

endpackage

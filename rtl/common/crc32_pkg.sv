// SPDX-License-Identifier: Apache-2.0
// CRC-32 of IEEE 802.3 over words, little endian: begins with all ones, ends inverted.
package crc32_pkg;
  function automatic logic [31:0] crc32_word(logic [31:0] crc, logic [31:0] word);
    logic [31:0] next;
    next = crc ^ word;
    for (int i = 0; i < 32; i++) next = (next >> 1) ^ (next[0] ? 32'hedb88320 : 32'h0);
    return next;
  endfunction
endpackage

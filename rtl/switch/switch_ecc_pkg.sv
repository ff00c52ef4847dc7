// SPDX-License-Identifier: Apache-2.0
// Places of the bits in an extended Hamming code (Hamming 1950; Hsiao 1970 calls the property SECDED).
//
// A word of data has check bits at the places that are powers of two, data bits at all others from 3 up, and one more bit that makes the whole even.
package switch_ecc_pkg;
  // Check bits for so many bits of data, without the last one.
  function automatic int unsigned check_bits(int unsigned data_w);
    int unsigned r;
    r = 2;
    while ((32'd1 << r) < data_w + r + 32'd1) r++;
    return r;
  endfunction

  // Place of data bit i.
  function automatic int unsigned place_of(int unsigned i);
    int unsigned place, left;
    place = 3;
    left  = i;
    while (left != 0 || (place & (place - 32'd1)) == 0) begin
      if ((place & (place - 32'd1)) != 0) left--;
      place++;
    end
    return place;
  endfunction
endpackage

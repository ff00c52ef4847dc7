/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches to node 0 of a weft-node that is not there, as a C program beside weft would find out. */
#include <stdio.h>

#include "driver/weft.h"

int main(void) {
  char why[200] = "";
  if (weft_attach("nobody", 0, why, sizeof why)) return 1;
  puts(why);
  return 0;
}

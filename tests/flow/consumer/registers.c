/* SPDX-License-Identifier: Apache-2.0 */
/* What a driver in plain C has of the register map: nothing of it is to be linked. */
#include <stdio.h>

#include "weft/weft_registers.h"

static const unsigned char completion[WEFT_RDMA_QUEUES_COMPLETION_BYTES];

int main(void) {
  printf("%c%c%c%c %zu\n", WEFT_RDMA_RESET_ID >> 24, WEFT_RDMA_RESET_ID >> 16 & 0xff, WEFT_RDMA_RESET_ID >> 8 & 0xff, WEFT_RDMA_RESET_ID & 0xff,
         sizeof completion);
  return WEFT_SWITCH_LOOKUP_REG_ID;
}

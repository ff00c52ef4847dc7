/* SPDX-License-Identifier: Apache-2.0 */
/* weft-write-c FABRIC: one process, attached to nodes 0 and 1, writes from one to the other. In C. */
#include <stdio.h>

#include "driver/weft.h"

static int fail(const char* what, const char* why) {
  fprintf(stderr, "weft-write-c: %s: %s\n", what, why);
  return 2;
}

int main(int argc, char** argv) {
  char why[200] = "";
  const char* fabric = argc > 1 ? argv[1] : "weft";
  weft_context* here = weft_attach(fabric, 0, why, sizeof why);
  weft_context* there = here ? weft_attach(fabric, 1, why, sizeof why) : NULL;
  if (!there) return fail("attach", why);
  weft_region* source = weft_region_open(here, 4096, WEFT_SOURCE);
  weft_region* target = weft_region_open(there, 4096, WEFT_REMOTE_WRITE);
  weft_queue* queue = weft_queue_open(here, WEFT_ANY_QUEUE);
  if (!source || !queue) return fail("open", weft_error(here));
  if (!target) return fail("open", weft_error(there));
  const char text[] = "written in C";
  unsigned char* memory = weft_region_memory(source);
  for (size_t i = 0; i < sizeof text; ++i) memory[i] = (unsigned char)text[i];

  weft_completion done;
  if (weft_post_write(queue, 1, source, 0, 4096, weft_region_remote(target)) != 0 ||
      weft_poll(queue, 1000000, &done) != 1)
    return fail("write", weft_error(here));
  printf("%s: %s\n", weft_status_name(done.status), (const char*)weft_region_memory(target));

  weft_remote wrong = weft_region_remote(target);
  ++wrong.key;
  if (weft_post_write(queue, 2, source, 0, 4096, wrong) != 0 || weft_poll(queue, 1000000, &done) != 1)
    return fail("write", weft_error(here));
  printf("%s\n", weft_status_name(done.status));

  weft_queue_close(queue);
  weft_region_close(source);
  weft_region_close(target);
  weft_detach(here);
  weft_detach(there);
  return 0;
}

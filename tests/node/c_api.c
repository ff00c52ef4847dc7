/* SPDX-License-Identifier: Apache-2.0 */
/* weft-c-api-test FABRIC: every function of the host library for C, on a weft-node of two nodes. Exit code 1:
   not all as expected; each line on stderr says what. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/weft.h"

enum { bytes = 4096, clocks = 1000000, rounds = 20 };

static int failures = 0; /* of the thread of main only */

static void expect(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "weft-c-api-test: %s\n", what);
  ++failures;
}

static void expect_text(const char* got, const char* wanted) {
  if (strcmp(got, wanted) == 0) return;
  fprintf(stderr, "weft-c-api-test: \"%s\", expected \"%s\"\n", got, wanted);
  ++failures;
}

struct Side {
  weft_context* context;
  weft_region *memory, *buffer;
  weft_queue* queue;
};

static void open_side(struct Side* side, const char* fabric, uint32_t node) {
  char why[200] = "";
  side->context = weft_attach(fabric, node, why, sizeof why);
  expect_text(why, "");
  side->memory = weft_region_open(side->context, bytes, WEFT_SOURCE | WEFT_REMOTE_WRITE | WEFT_REMOTE_READ);
  side->buffer = weft_region_open(side->context, bytes, WEFT_BUFFER);
  side->queue = weft_queue_open(side->context, WEFT_ANY_QUEUE);
  memset(weft_region_memory(side->memory), 'a' + (int)node, bytes);
}

static void close_side(struct Side* side) {
  weft_queue_close(side->queue);
  weft_region_close(side->memory);
  weft_region_close(side->buffer);
  weft_detach(side->context);
}

static void expect_completion(weft_queue* queue, uint64_t tag, const char* status) {
  weft_completion done = {0};
  expect(weft_poll(queue, clocks, &done) == 1, "a completion has not come");
  expect(done.tag == tag, "the completion is of another request");
  expect_text(weft_status_name(done.status), status);
}

static int all_are(const weft_region* region, int value) {
  const unsigned char* memory = weft_region_memory((weft_region*)region);
  for (size_t i = 0; i < bytes; ++i) {
    if (memory[i] != value) return 0;
  }
  return 1;
}

static void attributes(struct Side* here, struct Side* there) {
  expect(weft_node(here->context) == 0 && weft_node(there->context) == 1, "a context is of another node");
  weft_attributes has = {0};
  expect(weft_query(here->context, &has) == 0, "attributes are refused");
  expect(has.queues == 8 && has.regions == 64 && has.payload == 256, "a NIC has other attributes");
  expect(has.memory_bytes == 32u << 20, "a node has other memory");
  const uint64_t own = weft_memory_bytes(here->context);
  expect(own > (2u << 20) && own * has.queues <= has.memory_bytes,
         "of its memory a context has another part");
  expect(weft_region_bytes(here->memory) == bytes, "a region is of another length");
  expect(weft_queue_number(here->queue) == weft_queue_remote(here->queue).address, "a queue has two numbers");
}

/* Clocks pass while something is waited for, and only then. */
static void waits(struct Side* here, struct Side* there) {
  const uint64_t before = weft_clock(here->context);
  expect(before != UINT64_MAX, "no clock");
  unsigned char* memory = weft_region_memory(there->memory);
  memory[9] = 3;
  expect(weft_wait_for_byte(there->memory, 9, 3, 5000) == 0, "a byte changes by itself");
  expect(weft_clock(here->context) >= before + 5000, "5,000 clocks take less");
  expect(weft_wait_for_byte(there->memory, 9, 4, 5000) == 1, "a byte that is another is waited for");
  expect(weft_wait_for_byte(there->memory, bytes, 0, 1) == -1, "a byte behind the region is waited for");
  expect_text(weft_error(there->context), "byte to wait for is not in the memory region");
  weft_remote none;
  expect(weft_find_within(here->context, 1, "nobody", 2000, &none) == -1, "what nobody publishes is found");
  expect_text(weft_error(here->context), "node 1: nothing published under 'nobody'");
  expect(weft_find_within(here->context, 9, "nobody", clocks, &none) == -1, "found on a node that is none");
  expect_text(weft_error(here->context), "the fabric has no node 9: 0 to 1");
  expect(weft_not_waited(here->context) != UINT64_MAX, "not told how often somebody was not waited for");
}

static void several_at_once(struct Side* here, struct Side* there) {
  enum { count = 5 };
  weft_completion done[count + 1];
  expect(weft_poll_several(here->queue, done, count) == 0, "completions of nothing");
  for (uint64_t tag = 0; tag < count; ++tag)
    weft_post_write(here->queue, tag, here->memory, 0, 256, weft_region_remote(there->memory));
  expect(weft_wait_for_byte(there->memory, 1, 0, 50000) == 1, "all bytes are 0");
  weft_wait_for_byte(there->buffer, 0, ((unsigned char*)weft_region_memory(there->buffer))[0], 50000);
  expect(weft_poll_several(here->queue, done, 2) == 2, "two of five are not there");
  expect(weft_poll_several(here->queue, done + 2, count) == 3, "the other three are not there");
  unsigned seen = 0;
  for (int n = 0; n < count; ++n) {
    if (done[n].status == 0 && done[n].opcode == WEFT_WRITE) seen |= 1u << done[n].tag;
  }
  expect(seen == (1u << count) - 1, "not each of five has ended well, once");

  weft_post_write(here->queue, 77, here->memory, 0, 256, weft_region_remote(there->memory));
  expect(weft_expect(here->queue, clocks, done) == 0 && done->tag == 77, "a WRITE is not expected");
  expect(weft_expect(here->queue, 1000, NULL) == -1, "a completion of nothing is expected");
  expect_text(weft_error(here->context), "no completion within 1000 clocks");
  weft_remote wrong = weft_region_remote(there->memory);
  ++wrong.key;
  weft_post_write(here->queue, 78, here->memory, 0, 256, wrong);
  expect(weft_expect(here->queue, clocks, NULL) == -1, "a wrong key is as expected");
  expect_text(weft_error(here->context), "request 78 to node 1 ended with BAD_KEY");
}

static void domains(struct Side* here, struct Side* there) {
  weft_domain* domain = weft_domain_open(here->context);
  weft_region* region = weft_region_open_in(domain, bytes, WEFT_SOURCE, NULL);
  weft_queue* queue = weft_queue_open_in(domain, WEFT_ANY_QUEUE);
  expect(region && queue, "nothing is opened in a second domain");
  if (!region || !queue) return;
  weft_post_write(queue, 11, region, 0, 256, weft_region_remote(there->memory));
  expect_completion(queue, 11, "OK");
  weft_post_write(queue, 12, here->memory, 0, 256, weft_region_remote(there->memory));
  expect_completion(queue, 12, "LOCAL_KEY");
  weft_post_write(here->queue, 13, region, 0, 256, weft_region_remote(there->memory));
  expect_completion(here->queue, 13, "LOCAL_KEY");
  weft_queue_close(queue);
  weft_region_close(region);
  weft_domain_close(domain);
}

static void barrier_in_steps(struct Side* here, struct Side* there) {
  static const uint32_t both[] = {0, 1};
  weft_barrier *mine = weft_barrier_open(here->context, 7, both, 2, 0),
               *other = weft_barrier_open(there->context, 7, both, 2, 0);
  expect(mine && other, "a barrier is not opened");
  if (!mine || !other) return;
  expect(weft_barrier_arrive(mine) == 0, "the first may not arrive");
  expect(weft_barrier_wait(mine, 1000) == 0, "the first leaves alone");
  expect(weft_barrier_arrive(mine) == -1, "it arrives twice");
  expect_text(weft_error(here->context), "node 0: barrier: ARRIVED");
  expect(weft_barrier_arrive(other) == 0, "the second may not arrive");
  expect(weft_barrier_wait(mine, clocks) == 1 && weft_barrier_wait(other, clocks) == 1, "not both leave");
  expect(weft_barrier_late(mine) == -1, "somebody is said to be late");
  weft_barrier_close(mine);
  weft_barrier_close(other);
}

static void transfers(struct Side* here, struct Side* there) {
  weft_completion none;
  expect(weft_poll(here->queue, 0, &none) == 0, "a completion of nothing");

  expect(weft_post_recv(there->queue, 1, there->buffer, 0, bytes) == 0, "RECV is refused");
  weft_remote queue;
  expect(weft_publish(there->context, "queue", weft_queue_remote(there->queue)) == 0, "publish is refused");
  expect(weft_find(here->context, 1, "queue", &queue) == 0, "what is published is not found");
  expect(weft_post_send(here->queue, 2, here->memory, 0, bytes, queue) == 0, "SEND is refused");
  expect_completion(here->queue, 2, "OK");
  expect_completion(there->queue, 1, "OK");
  expect(all_are(there->buffer, 'a'), "SEND: other bytes");

  expect(weft_post_read(here->queue, 3, here->buffer, 0, bytes, weft_region_remote(there->memory)) == 0,
         "READ is refused");
  expect_completion(here->queue, 3, "OK");
  expect(all_are(here->buffer, 'b'), "READ: other bytes");

  expect(weft_post_write(here->queue, 4, here->memory, 0, bytes, weft_region_remote(there->memory)) == 0,
         "WRITE is refused");
  expect_completion(here->queue, 4, "OK");
  expect(all_are(there->memory, 'a'), "WRITE: other bytes");

  weft_region* told = weft_region_open_told(there->context, bytes, WEFT_REMOTE_WRITE, there->queue);
  expect(told != NULL, "a region that tells a queue is not opened");
  expect(weft_post_recv(there->queue, 6, NULL, 0, 0) == 0, "RECV of nothing is refused");
  expect(weft_post_write_imm(here->queue, 7, here->memory, 0, bytes, weft_region_remote(told), 77) == 0,
         "WRITE with immediate is refused");
  weft_completion news = {0};
  expect(weft_poll(there->queue, clocks, &news) == 1 && news.tag == 6,
         "nobody is told of a WRITE with immediate");
  expect(news.immediate == 77 && news.bytes == bytes && news.node == 0 && news.has_immediate == 1 &&
             news.opcode == WEFT_RECEIVE_IMM,
         "of a WRITE with immediate other things are told");
  expect_completion(here->queue, 7, "OK");
  expect(all_are(told, 'a'), "WRITE with immediate: other bytes");
  weft_region_close(told);

  weft_remote wrong = weft_region_remote(there->memory);
  ++wrong.key;
  weft_post_write(here->queue, 5, here->memory, 0, bytes, wrong);
  expect_completion(here->queue, 5, "BAD_KEY");
}

static void refusals(const char* fabric, struct Side* here) {
  char why[200] = "";
  expect(weft_attach(fabric, 9, why, sizeof why) == NULL, "attached to a node that is none");
  expect(strstr(why, "has no node 9: 0 to 1") != NULL, "attach does not say why");
  char little[8];
  expect(weft_attach(fabric, 9, little, sizeof little) == NULL, "attached to a node that is none");
  expect(strlen(little) == sizeof little - 1, "a line that is cut is not ended");
  expect(weft_attach(fabric, 9, NULL, 0) == NULL, "attached to a node that is none");

  expect(weft_region_open(here->context, 0, WEFT_SOURCE) == NULL, "a region of nothing");
  expect_text(weft_error(here->context), "memory region of no bytes");
  expect(weft_region_open(here->context, bytes, 0) == NULL, "a region for nothing");
  expect_text(weft_error(here->context),
              "node 0: memory region of access 0, which is no sum of 1, 2, 4 and 8");
  expect(weft_region_open(here->context, bytes, WEFT_SOURCE | 16) == NULL, "a region for what is unknown");
  expect_text(weft_error(here->context),
              "node 0: memory region of access 17, which is no sum of 1, 2, 4 and 8");
  expect(weft_queue_open(here->context, 0) == NULL, "a queue has two owners");
  expect_text(weft_error(here->context), "node 0: queue 0 is in use");
  const char* long_name = "a name of more bytes than a name may have";
  expect(weft_publish(here->context, long_name, weft_region_remote(here->memory)) == -1, "a name too long");
  expect_text(weft_error(here->context),
              "'a name of more bytes than a name may have': longer than a name may be");
  weft_barrier* none = weft_barrier_open(here->context, 16, (const uint32_t[]){0, 1}, 2, 0);
  expect(none == NULL, "a barrier beyond the last");
  expect_text(weft_error(here->context), "node 0: no barrier 16: the node has 16");
  weft_region_close(NULL), weft_queue_close(NULL), weft_barrier_close(NULL), weft_domain_close(NULL),
      weft_detach(NULL);
}

/* One of two threads that go through barriers together. */
struct Member {
  const char* fabric;
  uint32_t node;
};

/* What went wrong, or NULL. Each tells the round that it enters: who leaves has to find the other in that round, or the next one. Not
   after the last round, when the other may have gone. */
static const char* go(weft_context* context, uint32_t node) {
  static const uint32_t both[] = {0, 1};
  weft_barrier* barrier = weft_barrier_open(context, 3, both, 2, 1);
  if (!barrier) return "the barrier is not opened";
  weft_remote round = {node, 0, 0}, other;
  if (weft_publish(context, "round", round) != 0 || weft_find(context, 1 - node, "round", &other) != 0)
    return "the other does not come";
  const char* fault = NULL;
  for (round.key = 1; round.key <= rounds && !fault; ++round.key) {
    weft_publish(context, "round", round);
    if (weft_barrier_enter(barrier, clocks) != 0) fault = "the barrier does not end";
    if (round.key == rounds) break;
    if (weft_find(context, 1 - node, "round", &other) != 0 || other.key < round.key)
      fault = "left before the other came";
  }
  weft_barrier_close(barrier);
  return fault;
}

static void* member_thread(void* argument) {
  struct Member* self = argument;
  weft_context* context = weft_attach(self->fabric, self->node, NULL, 0);
  const char* fault = context ? go(context, self->node) : "not attached";
  if (fault) { /* the other one might wait for ever */
    fprintf(stderr, "weft-c-api-test: member %u: %s\n", self->node, fault);
    exit(1);
  }
  weft_detach(context);
  return NULL;
}

static void barriers(const char* fabric) {
  struct Member members[] = {{fabric, 0}, {fabric, 1}};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, member_thread, &members[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
}

static void barrier_without_the_other(struct Side* here) {
  weft_barrier* barrier = weft_barrier_open(here->context, 4, (const uint32_t[]){0, 1}, 2, 0);
  expect(barrier != NULL, "a barrier is not opened");
  if (!barrier) return;
  expect(weft_barrier_enter(barrier, 1000) == -1, "a barrier of two ends with one");
  expect_text(weft_error(here->context), "barrier 4 has not ended within 1000 clocks");
  expect(weft_barrier_enter(barrier, clocks) == -1, "entered twice");
  expect_text(weft_error(here->context), "node 0: barrier: ARRIVED");
  weft_barrier_close(barrier);
  barrier = weft_barrier_open(here->context, 5, (const uint32_t[]){0, 1}, 2, 0);
  expect(weft_barrier_enter(barrier, clocks) == -1, "a barrier of two ends with one");
  expect_text(weft_error(here->context), "barrier 5: node 1 is dead");
  weft_barrier_close(barrier);
}

int main(int argc, char** argv) {
  const char* fabric = argc > 1 ? argv[1] : "weft";
  struct Side here, there;
  open_side(&here, fabric, 0);
  open_side(&there, fabric, 1);
  attributes(&here, &there);
  transfers(&here, &there);
  waits(&here, &there);
  several_at_once(&here, &there);
  domains(&here, &there);
  barrier_in_steps(&here, &there);
  refusals(fabric, &here);
  barrier_without_the_other(&here);
  close_side(&there);
  close_side(&here);
  barriers(fabric); /* no other application is attached that would be waited for */
  return failures == 0 ? 0 : 1;
}

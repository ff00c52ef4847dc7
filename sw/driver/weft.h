/* SPDX-License-Identifier: Apache-2.0 */
/* The host library for C (docs/driver.md): what verbs.hpp has, with objects that are opened and closed.

   Threads: a context and what was opened with it are for one thread at a time; unlike contexts have nothing
   in common. Calls sleep until the node has answered, but for posts, polls with 0 clocks and what only reads
   an object. Times are in clocks of the NIC. */
#ifndef WEFT_H
#define WEFT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names as C has them. NOLINTBEGIN(readability-identifier-naming) */
typedef struct weft_context weft_context;
typedef struct weft_domain weft_domain;
typedef struct weft_region weft_region;
typedef struct weft_queue weft_queue;
typedef struct weft_barrier weft_barrier;

enum weft_access {
  WEFT_SOURCE = 1,       /* WRITEs and SENDs from here */
  WEFT_REMOTE_WRITE = 2, /* WRITEs of others to here */
  WEFT_REMOTE_READ = 4,  /* READs of others from here */
  WEFT_BUFFER = 8        /* RECVs and READs into here */
};

#define WEFT_ANY_QUEUE UINT32_MAX

/* Memory of a peer, or one of its queues (then `address` is its number). */
typedef struct weft_remote {
  uint32_t node;
  uint32_t key;
  uint64_t address;
} weft_remote;

typedef struct weft_completion {
  uint64_t tag;
  uint32_t bytes;
  uint32_t node;
  uint32_t immediate;
  uint8_t status; /* 0: done; else weft_status_name tells */
  uint8_t opcode; /* a weft_opcode */
  uint8_t has_immediate;
} weft_completion;

/* What has ended. */
enum weft_opcode {
  WEFT_WRITE = 1,
  WEFT_WRITE_IMM = 2,
  WEFT_SEND = 3,
  WEFT_READ = 4,
  WEFT_RECV = 5,        /* for which nothing came */
  WEFT_RECEIVE = 16,    /* a RECV for which a SEND came */
  WEFT_RECEIVE_IMM = 17 /* a RECV that was told of a WRITE with immediate */
};

/* What a NIC and its node have, for all applications together. */
typedef struct weft_attributes {
  uint32_t queues, regions;
  uint32_t payload; /* bytes, to multiples of which addresses are */
  uint64_t memory_bytes;
} weft_attributes;

/* NULL: not attached, `why` (may be NULL) says in one line why. */
weft_context* weft_attach(const char* fabric, uint32_t node, char* why, size_t why_bytes);
/* After all regions and queues of it. NULL is let pass, as by all that closes or withdraws; by nothing else.
 */
void weft_detach(weft_context* context);
/* Why the last call that used this context failed, one line; until the next one that fails. */
const char* weft_error(const weft_context* context);

uint32_t weft_node(const weft_context* context);
/* Bytes that all regions of this context may have together. */
uint64_t weft_memory_bytes(const weft_context* context);
/* 0, or -1: failed. */
int weft_query(weft_context* context, weft_attributes* attributes);
/* Of the NIC, now; UINT64_MAX: failed. No clock passes for asking. */
uint64_t weft_clock(weft_context* context);
/* How often the clock went on without an application that computed longer than `weft-node --patience`;
   UINT64_MAX: failed. What is measured while it grows takes too many clocks. */
uint64_t weft_not_waited(weft_context* context);

/* NULL: failed. */
weft_region* weft_region_open(weft_context* context, uint64_t bytes, uint32_t access);
/* Queues use only regions of their own protection domain. These without one are of the context's own. NULL:
   failed. To be closed after what is in it. */
weft_domain* weft_domain_open(weft_context* context);
void weft_domain_close(weft_domain* domain);
weft_region* weft_region_open_in(weft_domain* domain, uint64_t bytes, uint32_t access,
                                 const weft_queue* told);
weft_queue* weft_queue_open_in(weft_domain* domain, uint32_t number);

/* With a queue that is told of WRITEs with immediate that come here, by a RECV of it (of no bytes is enough).
 */
weft_region* weft_region_open_told(weft_context* context, uint64_t bytes, uint32_t access,
                                   const weft_queue* told);
void weft_region_close(weft_region* region);
void* weft_region_memory(weft_region* region);
uint64_t weft_region_bytes(weft_region* region);
weft_remote weft_region_remote(const weft_region* region);

/* NULL: failed. */
weft_queue* weft_queue_open(weft_context* context, uint32_t number);
void weft_queue_close(weft_queue* queue);
uint32_t weft_queue_number(const weft_queue* queue);
weft_remote weft_queue_remote(const weft_queue* queue);

/* These return 0, or -1 if failed: weft_error says why. */
int weft_publish(weft_context* context, const char* name, weft_remote remote);
/* What a node's application has published; waits for it, 20,000,000 clocks or so many. */
int weft_find(weft_context* context, uint32_t node, const char* name, weft_remote* found);
int weft_find_within(weft_context* context, uint32_t node, const char* name, uint64_t clocks,
                     weft_remote* found);
int weft_post_write(weft_queue* queue, uint64_t tag, const weft_region* from, uint64_t offset, uint32_t bytes,
                    weft_remote to);
int weft_post_write_imm(weft_queue* queue, uint64_t tag, const weft_region* from, uint64_t offset,
                        uint32_t bytes, weft_remote to, uint32_t immediate);
int weft_post_read(weft_queue* queue, uint64_t tag, const weft_region* into, uint64_t offset, uint32_t bytes,
                   weft_remote from);
int weft_post_send(weft_queue* queue, uint64_t tag, const weft_region* from, uint64_t offset, uint32_t bytes,
                   weft_remote to_queue);
/* `into` may be NULL, with no bytes: to be told of a WRITE with immediate only. */
int weft_post_recv(weft_queue* queue, uint64_t tag, const weft_region* into, uint64_t offset, uint32_t bytes);
/* 1: there is a completion; 0: none within so many clocks (0 clocks: look only, so wait rather than loop);
   -1: failed, also if a peer has died. */
int weft_poll(weft_queue* queue, uint64_t clocks, weft_completion* completion);
/* Those that are there, at most so many; how many, or -1: failed. Looks only. */
int weft_poll_several(weft_queue* queue, weft_completion* completions, size_t count);
/* The next completion, which is of success: 0; -1: it does not come, or is not. `completion` may be NULL. */
int weft_expect(weft_queue* queue, uint64_t clocks, weft_completion* completion);
/* 1: the byte is another than `value`; 0: not within so many clocks; -1: failed, also if a peer has died. */
int weft_wait_for_byte(weft_region* region, uint64_t offset, uint8_t value, uint64_t clocks);

/* A barrier of some nodes, by the engines of their NICs; all open it with the same number (0 to 15), nodes
   (below 64) and instance (another one each time). Waits for 33,000 clocks at the most if the number was
   closed a short time ago. NULL: failed. */
weft_barrier* weft_barrier_open(weft_context* context, uint32_t number, const uint32_t* nodes, size_t count,
                                uint16_t instance);
void weft_barrier_close(weft_barrier* barrier);
/* 0, or -1: failed. */
int weft_barrier_arrive(weft_barrier* barrier);
/* 1: all have arrived; 0: not within so many clocks; -1: failed, also if a member is dead. */
int weft_barrier_wait(weft_barrier* barrier, uint64_t clocks);
/* Arrives; 0 when all have arrived, -1: not within so many clocks, or a member is dead. */
int weft_barrier_enter(weft_barrier* barrier, uint64_t clocks);
/* Node of the last member found not to have arrived 262,144 clocks after this one, as of the last wait: of
   the barrier that ended then, or of the one that had not; -1: none. */
int weft_barrier_late(const weft_barrier* barrier);

/* "OK", "BAD_KEY", ... */
const char* weft_status_name(uint8_t status);

/* NOLINTEND(readability-identifier-naming) */
#ifdef __cplusplus
}
#endif

#endif

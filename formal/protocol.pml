/* SPDX-License-Identifier: Apache-2.0
 * Transfers between one sender and one receiver of the RDMA engine (docs/rdma.md) over a network that loses, duplicates, reorders
 * and delays packets past the reuse of their context. `make formal` checks it.
 *
 * The network is a set: any packet in it may be delivered next, delivered and stay (duplicate), or be lost. A transfer has two
 * packets, the receiver two contexts. MSGID and generation are counted modulo small numbers, so that they wrap. What docs/rdma.md
 * asks for is assumed: no packet and no context of a transfer lives on when its MSGID is given again.
 *
 * Safety (default): against any network, with timers that end at any time: no byte of another transfer is written, none at all once
 * its post has completed with OK (software may use the memory for something else), exactly one completion for each post, OK only if all is in memory.
 * -DBOUNDED, progress: LOSSES packets are lost and DUPLICATES duplicated, timers end only when nothing else can happen. Every
 * transfer completes with OK, in the end all contexts are free and the network is empty.
 *
 * -DNO_ZOMBIE_CHECK, -DEARLY_DONE, -DDONE_TWICE, -DNO_RELEASE, -DFORGET_DONE, -DNO_GENERATION: the protocol without one of its parts; the check
 * must fail.
 */
#ifndef POSTS
#define POSTS 3
#endif
#ifndef NET
#define NET 3 /* packets under way; more are lost */
#endif
#ifndef LOSSES
#define LOSSES 2
#endif
#ifndef DUPLICATES
#define DUPLICATES 1
#endif
#define MSGIDS 2
#define GENS 3
#define ALL 3 /* both packets of a transfer */

/* Kinds of packets; 0: no packet. ASK stands for RESEND and for an ACK with a map. */
#define RQT 1
#define RSP 2
#define DATA 3
#define ASK 4
#define DONE 5
#define RELEASE 6
#define FOR_SENDER(p) (KIND(p) == RSP || KIND(p) == ASK || KIND(p) == DONE)
#define FOR_RECEIVER(p) (KIND(p) == RQT || KIND(p) == DATA || KIND(p) == RELEASE)

/* A packet is a number, so that the set can be kept in order. id is the true number of its transfer, which nobody looks at. */
#define PACKET(kind, cid, gen, pidx, id) (((((kind) * 2 + (cid)) * GENS + (gen)) * 2 + (pidx)) * 8 + (id))
#define ID(p) ((p) % 8)
#define PIDX(p) ((p) / 8 % 2)
#define GEN(p) ((p) / 16 % GENS)
#define CID(p) ((p) / (16 * GENS) % 2)
#define KIND(p) ((p) / (32 * GENS))
#define MSGID(id) ((id) % MSGIDS)

short net[NET]; /* descending, without repetition, then zeros */

/* Sender */
mtype = { IDLE, REQ, ACTIVE };
mtype tx = IDLE;
byte tx_id, tx_cid, tx_gen;
byte tx_sent; /* BOUNDED: packets sent since it was asked */
byte ends = 1; /* a bit for each id that has completed */
byte well;     /* likewise, with OK */
#define COMPLETED ((ends & (1 << tx_id)) != 0)

/* Receiver */
typedef context { bool used; byte gen; byte got; byte id };
context ctx[2];

byte written; /* packets of the transfer under way that are in memory */
#ifdef BOUNDED
byte losses, duplicates;
byte whose; /* turn to let its timer end: sender, context 0, context 1 */
#endif

#define EMPTY (net[0] == 0)
#define WAITING (tx == REQ || ctx[0].used || ctx[1].used)
#define FINISHED(c) (ctx[c].got == ALL)

inline put(packet) {
  p = packet;
  at = 0;
  do
  :: at < NET && net[at] > p -> at++
  :: else -> break
  od;
  if
  :: at < NET && net[at] == p -> p = 0
  :: else
  fi;
  do
  :: at < NET && p != 0 -> q = net[at]; net[at] = p; p = q; at++
  :: else -> break
  od;
  p = 0; q = 0; at = 0
}

inline remove(n) {
  at = n;
  do
  :: at < NET - 1 -> net[at] = net[at + 1]; at++
  :: else -> break
  od;
  net[NET - 1] = 0; at = 0
}

/* Packet n of the network arrives, and may stay to come again. */
inline take(n) {
  packet = net[n];
  if
  :: remove(n)
#ifdef BOUNDED
  :: duplicates < DUPLICATES -> duplicates++
#else
  :: skip
#endif
  fi
}

inline complete(ok) {
  assert(!COMPLETED);
  assert(!(ok) || written == ALL);
  ends = ends | (1 << tx_id); written = 0;
  if
  :: ok -> well = well | (1 << tx_id)
  :: else
  fi;
  tx = IDLE; tx_cid = 0; tx_gen = 0; tx_sent = 0
}

#define SAME(p) (MSGID(ID(p)) == MSGID(tx_id))

inline sender_gets(n) {
  take(n);
  if
  :: tx == REQ && SAME(packet) && KIND(packet) != DONE -> tx = ACTIVE; tx_cid = CID(packet); tx_gen = GEN(packet); tx_sent = 0
  :: tx == ACTIVE && SAME(packet) && CID(packet) == tx_cid && GEN(packet) == tx_gen ->
     if
     :: KIND(packet) == DONE -> complete(true); put(PACKET(RELEASE, CID(packet), GEN(packet), 0, ID(packet)))
     :: KIND(packet) == ASK -> tx_sent = 0
     :: else
     fi
#ifdef DONE_TWICE
  :: tx == IDLE && KIND(packet) == DONE && SAME(packet) -> complete(false)
#endif
#ifndef NO_RELEASE
  :: else -> put(PACKET(RELEASE, CID(packet), GEN(packet), 0, ID(packet))) /* fits nothing here */
#else
  :: else
#endif
  fi;
  packet = 0
}

/* Nothing is left of the transfer that had this MSGID before. */
#define GONE(id) ((id) == 0 || (id) + MSGIDS > tx_id + 1)

inline post() {
  assert(COMPLETED);
  tx_id++;
  at = 0;
  do
  :: at < NET && net[at] != 0 && ID(net[at]) + MSGIDS <= tx_id -> remove(at); at = 0
  :: at < NET && !(net[at] != 0 && ID(net[at]) + MSGIDS <= tx_id) -> at++
  :: at == NET -> break
  od;
  at = 0;
  tx = REQ;
  put(PACKET(RQT, 0, 0, 0, tx_id))
}

#define TX_DATA(pidx) PACKET(DATA, tx_cid, tx_gen, pidx, tx_id)

active proctype sender() {
  short packet, p, q;
  byte at;
  do
  :: atomic { tx == IDLE && tx_id < POSTS && GONE(ctx[0].id) && GONE(ctx[1].id) -> post() }
#ifdef BOUNDED
  :: atomic { tx == ACTIVE && tx_sent < 2 -> put(TX_DATA(tx_sent)); tx_sent++ }
  :: atomic { timeout && WAITING && whose == 0 -> whose = 1; if :: tx == REQ -> put(PACKET(RQT, 0, 0, 0, tx_id)) :: else fi }
#else
  :: atomic { tx == REQ -> put(PACKET(RQT, 0, 0, 0, tx_id)) }
  :: atomic { tx == ACTIVE -> put(TX_DATA(0)) }
  :: atomic { tx == ACTIVE -> put(TX_DATA(1)) }
  :: atomic { tx != IDLE -> complete(false) } /* gives up */
#endif
  :: atomic { FOR_SENDER(net[0]) -> sender_gets(0) }
  :: atomic { FOR_SENDER(net[1]) -> sender_gets(1) }
#if NET > 2
  :: atomic { FOR_SENDER(net[2]) -> sender_gets(2) }
#endif
  :: tx == IDLE && tx_id == POSTS && !ctx[0].used && !ctx[1].used && EMPTY -> assert(ends == (2 << POSTS) - 1); break
  od
}

inline answer(kind, c) { put(PACKET(kind, c, ctx[c].gen, 0, ctx[c].id)) }

inline grant(c) {
  ctx[c].used = true; ctx[c].gen = (ctx[c].gen + 1) % GENS; ctx[c].got = 0; ctx[c].id = ID(packet);
  answer(RSP, c)
}

/* The receiver may know a request that it has granted, or have forgotten it. */
#define OF_CONTEXT(c) (ctx[c].used && MSGID(ctx[c].id) == MSGID(ID(packet)))
#define KNOWN(c) (OF_CONTEXT(c) && ctx[c].got == 0)

inline free_context(c) { ctx[c].used = false; ctx[c].got = 0; ctx[c].id = 0 }

#ifdef NO_ZOMBIE_CHECK
#define FITS(p) (ctx[CID(p)].used)
#else
#ifdef NO_GENERATION
#define FITS(p) (ctx[CID(p)].used && MSGID(ctx[CID(p)].id) == MSGID(ID(p)))
#else
#define FITS(p) (ctx[CID(p)].used && MSGID(ctx[CID(p)].id) == MSGID(ID(p)) && ctx[CID(p)].gen == GEN(p))
#endif
#endif

#ifdef EARLY_DONE
#define ENOUGH(c) (ctx[c].got != 0)
#else
#define ENOUGH(c) FINISHED(c)
#endif

inline receiver_gets(n) {
  take(n);
  if
  :: KIND(packet) == RQT && !ctx[0].used -> grant(0)
  :: KIND(packet) == RQT && !ctx[1].used -> grant(1)
  :: KIND(packet) == RQT && KNOWN(0) -> answer(RSP, 0)
  :: KIND(packet) == RQT && KNOWN(1) -> answer(RSP, 1)
  :: KIND(packet) == RQT && (OF_CONTEXT(0) && !KNOWN(0) || OF_CONTEXT(1) && !KNOWN(1)) /* dropped, then forgotten */
  :: KIND(packet) == DATA && FITS(packet) && (ctx[CID(packet)].got & (1 << PIDX(packet))) == 0 ->
     assert(ctx[CID(packet)].id == ID(packet)); /* no byte of another transfer */
     assert((well & (1 << ID(packet))) == 0);         /* none after OK */
     if
     :: ID(packet) == tx_id && !COMPLETED -> written = written | (1 << PIDX(packet))
     :: else
     fi;
     ctx[CID(packet)].got = ctx[CID(packet)].got | (1 << PIDX(packet));
     if
     :: ENOUGH(CID(packet)) ->
        answer(DONE, CID(packet));
#ifdef FORGET_DONE
        free_context(CID(packet))
#endif
     :: else
     fi
  :: KIND(packet) == RELEASE && FITS(packet) -> free_context(CID(packet))
  :: else
  fi;
  packet = 0
}

inline timer(c) {
  if
  :: FINISHED(c) -> answer(DONE, c)
  :: else -> answer(ASK, c)
  fi
}

active proctype receiver() {
  short packet, p, q;
  byte at;
end:
  do
  :: atomic { FOR_RECEIVER(net[0]) -> receiver_gets(0) }
  :: atomic { FOR_RECEIVER(net[1]) -> receiver_gets(1) }
#if NET > 2
  :: atomic { FOR_RECEIVER(net[2]) -> receiver_gets(2) }
#endif
#ifdef BOUNDED
  :: atomic { timeout && WAITING && whose == 1 -> whose = 2; if :: ctx[0].used -> timer(0) :: else fi }
  :: atomic { timeout && WAITING && whose == 2 -> whose = 0; if :: ctx[1].used -> timer(1) :: else fi }
#else
  :: atomic { ctx[0].used -> timer(0) }
  :: atomic { ctx[1].used -> timer(1) }
  :: atomic { ctx[0].used -> free_context(0) } /* reclaims */
  :: atomic { ctx[1].used -> free_context(1) }
#endif
  od
}

#ifdef BOUNDED
#define MAY_LOSE (losses < LOSSES)
#define LOSE(n) losses++; remove(n)
#else
#define MAY_LOSE true
#define LOSE(n) remove(n)
#endif

active proctype network() {
  byte at;
end:
  do
  :: atomic { MAY_LOSE && net[0] != 0 -> LOSE(0) }
  :: atomic { MAY_LOSE && net[1] != 0 -> LOSE(1) }
#if NET > 2
  :: atomic { MAY_LOSE && net[2] != 0 -> LOSE(2) }
#endif
  od
}

/* SPDX-License-Identifier: Apache-2.0
 * READ (default) or SEND (-DSEND) of the RDMA engine (docs/rdma_transfers.md) over a network that loses, duplicates, reorders and
 * delays packets. `make formal` checks it.
 *
 * The holder has tickets (RECV or READ), each with a buffer, and two receive contexts; the peer has two send contexts. Transfers
 * have two packets. The network is a set: any packet in it may be delivered next, delivered and stay (duplicate), or be lost. Writes
 * land in memory at any time after they were decided. What protocol.pml shows (MSGID and generation that come again) is not shown
 * again: a transfer keeps its true number, and a context is granted at most GENS - 1 times.
 *
 * Safety (default), with timers that end, contexts that are reclaimed, transfers given up and queues closed at any time: exactly one
 * completion for each ticket; OK only if all of one message is in the buffer; nothing is written into it, or on its way to it,
 * afterwards; a SEND is delivered at most once, and OK of a SEND means that a ticket has ended with it.
 * -DBOUNDED, progress: LOSSES packets are lost and DUPLICATES duplicated, timers end only when nothing else can happen, nobody gives
 * up. Every READ, every SEND and one RECV for each ends with OK, in the end all contexts are free.
 *
 * Without one of its parts, the check must fail: -DBOUND_TWICE another answer takes a READ that is bound, -DNO_NUMBER an answer is
 * not asked for its READ, -DEARLY_END a READ ends while it is bound, -DNO_FENCE a ticket leaves before memory has answered,
 * -DFREED_ENDS a context that is freed takes its ticket back after the last packet, -DRELEASE_EARLY an ACK that overtakes its RSP is
 * answered with RELEASE, -DNO_AGAIN a repeated request is not answered.
 */
#ifndef POSTS
#define POSTS 2 /* tickets posted in all */
#endif
#ifndef SENDS
#define SENDS 2 /* transfers of the peer in all */
#endif
#ifndef NET
#define NET 2 /* packets under way; more are lost */
#endif
#ifndef LOSSES
#define LOSSES 1
#endif
#ifndef DUPLICATES
#define DUPLICATES 1
#endif
#ifdef SEND
#define TICKETS 2
#else
#define TICKETS 1
#endif
#ifndef GENS
#define GENS 3
#endif
#define ALL 3 /* both packets of a transfer */

/* Kinds of packets; 0: no packet. ASK stands for RESEND and for an ACK, NO for a RSP that says that the answer is not wanted. */
#define READ 1
#define RQT 2
#define RSP 3
#define NO 4
#define DATA 5
#define ASK 6
#define DONE 7
#define RELEASE 8
#define FOR_HOLDER(p) (KIND(p) == RQT || KIND(p) == DATA || KIND(p) == RELEASE)
#define FOR_PEER(p) (p != 0 && !FOR_HOLDER(p))

/* A packet is a number, so that the set can be kept in order. id: transfer, number: READ. */
#define PACKET(kind, cid, gen, pidx, id, number) ((((((kind) * 2 + (cid)) * GENS + (gen)) * 2 + (pidx)) * 8 + (id)) * 4 + (number))
#define NUMBER(p) ((p) % 4)
#define ID(p) ((p) / 4 % 8)
#define PIDX(p) ((p) / 32 % 2)
#define GEN(p) ((p) / 64 % GENS)
#define CID(p) ((p) / (64 * GENS) % 2)
#define KIND(p) ((p) / (128 * GENS))

short net[NET]; /* descending, without repetition, then zeros */

/* Holder */
mtype = { FREE, WAIT, BOUND, ENDING, RETURNING, REQ, ACTIVE };
typedef ticket_t {
  mtype state = FREE;
  bool owed;             /* a completion */
  byte number;           /* of the READ, or of the RECV */
  byte id;               /* of the message, from BOUND on */
  bit cid;
  byte way; byte memory; /* packets of the message on their way to memory, and there */
}
ticket_t ticket[TICKETS];
byte posted;

typedef context_t { bool used; byte gen; byte got; byte id; byte number }
context_t ctx[2];
byte released[2]; /* generation of each context that was freed by a RELEASE last */

/* Peer */
typedef send_t { mtype state = FREE; byte id; byte number; bit cid; byte gen }
send_t tx[2];
byte started;
byte delivered, arrived, told; /* SENDs, bit id: all has come; a ticket has ended with it; its sender knows */
byte done_ok;   /* BOUNDED: tickets that ended with OK */
#ifdef BOUNDED
byte losses, duplicates, whose;
#endif

inline put(packet_to_put) {
  p = packet_to_put;
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

/* --- Holder --- */

#define TICKET_OF(c) (ticket[0].state == BOUND && ticket[0].cid == c -> 0 : (TICKETS > 1 && ticket[TICKETS - 1].state == BOUND && ticket[TICKETS - 1].cid == c -> TICKETS - 1 : TICKETS))
#define ASKED(n) (ticket[0].state == BOUND && ticket[0].id == n -> 0 : (TICKETS > 1 && ticket[TICKETS - 1].state == BOUND && ticket[TICKETS - 1].id == n -> TICKETS - 1 : TICKETS))
#define WRITING (ticket[0].way != 0 || ticket[TICKETS - 1].way != 0)

/* A ticket has ended with this SEND, or will. */
#define ENDING_WITH(t, n) (ticket[t].state == ENDING && ticket[t].id == n)
#define HAS_TICKET(n) ((arrived & (1 << n)) != 0 || ENDING_WITH(0, n) || ENDING_WITH(TICKETS - 1, n))

inline complete(t, ok) {
  assert(ticket[t].owed);
  assert(ticket[t].way == 0); /* nothing comes afterwards */
  assert(!(ok) || ticket[t].memory == ALL);
#ifdef SEND
  if :: ok -> arrived = arrived | (1 << ticket[t].id) :: else fi;
#endif
  ticket[t].owed = false; ticket[t].state = FREE; ticket[t].id = 0; ticket[t].cid = 0; ticket[t].memory = 0; ticket[t].number = 0;
#ifdef BOUNDED
  if :: ok -> done_ok++ :: else fi
#endif
}

inline post_ticket(t) {
  posted++;
  ticket[t].state = WAIT; ticket[t].owed = true; ticket[t].number = posted;
#ifndef SEND
  put(PACKET(READ, 0, 0, 0, 0, posted))
#endif
}

#define RSP_OF(t) PACKET(RSP, ticket[t].cid, ctx[ticket[t].cid].gen, 0, ticket[t].id, 0)

/* A ticket for the request in `packet`, in a free context. */
inline grant(t, c) {
  ctx[c].used = true; ctx[c].gen++; ctx[c].got = 0; ctx[c].id = ID(packet); ctx[c].number = NUMBER(packet);
  ticket[t].state = BOUND; ticket[t].cid = c; ticket[t].id = ID(packet); ticket[t].memory = 0;
  put(RSP_OF(t))
}

#define CAN_GRANT(c) (!ctx[c].used && ctx[c].gen < GENS - 1)

inline grant_if_free(t) {
  if
  :: CAN_GRANT(0) -> grant(t, 0)
  :: !CAN_GRANT(0) && CAN_GRANT(1) -> grant(t, 1)
  :: else
  fi
}

#ifdef BOUND_TWICE
#define MAY_TAKE(t) (ticket[t].state == WAIT || ticket[t].state == BOUND)
#else
#define MAY_TAKE(t) (ticket[t].state == WAIT)
#endif
#ifdef NO_NUMBER
#define WANTED (ticket[0].owed)
#else
#define WANTED (ticket[0].owed && ticket[0].number == NUMBER(packet))
#endif

inline request() {
  if
  :: ASKED(ID(packet)) < TICKETS ->
#ifndef NO_AGAIN
     t = ASKED(ID(packet)); put(RSP_OF(t)); t = 0
#else
     skip
#endif
  :: else ->
#ifdef SEND
     if
     :: MAY_TAKE(0) -> grant_if_free(0)
     :: !MAY_TAKE(0) && MAY_TAKE(1) -> grant_if_free(1)
     :: else /* not ready */
     fi
#else
     if
     :: WANTED && MAY_TAKE(0) -> grant_if_free(0)
     :: !WANTED || ticket[0].state == ENDING -> put(PACKET(NO, 0, 0, 0, ID(packet), NUMBER(packet)))
     :: else
     fi
#endif
  fi
}

#define FITS(p) (ctx[CID(p)].used && ctx[CID(p)].id == ID(p) && ctx[CID(p)].gen == GEN(p))

inline data() {
  if
  :: (ctx[CID(packet)].got & (1 << PIDX(packet))) == 0 ->
     ctx[CID(packet)].got = ctx[CID(packet)].got | (1 << PIDX(packet));
     t = TICKET_OF(CID(packet));
#ifdef BOUND_TWICE
     if :: t == TICKETS -> t = 0 :: else fi; /* both contexts write into its buffer */
#endif
     assert(t < TICKETS && ticket[t].owed); /* into no buffer whose request is over */
#ifndef SEND
     assert(ticket[t].number == ctx[CID(packet)].number); /* nor into that of another READ */
#endif
     ticket[t].way = ticket[t].way | (1 << PIDX(packet));
     if
     :: ctx[CID(packet)].got == ALL && ticket[t].state == BOUND ->
#ifdef SEND
        assert((delivered & (1 << ID(packet))) == 0); /* at most once */
        delivered = delivered | (1 << ID(packet));
#endif
        ticket[t].state = ENDING
     :: else
     fi;
     t = 0
  :: else
  fi
}

inline free_context(c) {
  t = TICKET_OF(c);
#ifdef FREED_ENDS
  if
  :: t == TICKETS && ticket[0].state == ENDING && ticket[0].cid == c -> t = 0
  :: else
  fi;
#endif
  if
  :: t < TICKETS -> ticket[t].state = RETURNING
  :: else
  fi;
  t = 0;
  ctx[c].used = false; ctx[c].got = 0; ctx[c].id = 0; ctx[c].number = 0
}

#ifdef NO_FENCE
#define ANSWERED(t) true
#else
#define ANSWERED(t) (ticket[t].way == 0)
#endif
#define LEAVES(t) (ANSWERED(t) && (ticket[t].state == ENDING || ticket[t].state == RETURNING))

inline leave(t) {
  if
  :: ticket[t].state == ENDING -> complete(t, true)
  :: ticket[t].state == RETURNING ->
     assert((told & (1 << ticket[t].id)) == 0 || HAS_TICKET(ticket[t].id)); /* no message is lost; this may be a second grant for it */
     ticket[t].state = WAIT; ticket[t].id = 0; ticket[t].cid = 0; ticket[t].memory = 0
  fi
}

inline land(t) { ticket[t].memory = ticket[t].memory | ticket[t].way; ticket[t].way = 0 }

inline holder_gets(n) {
  take(n);
  if
  :: KIND(packet) == RQT -> request()
  :: KIND(packet) == DATA && FITS(packet) -> data()
  :: KIND(packet) == RELEASE && FITS(packet) -> released[CID(packet)] = GEN(packet); free_context(CID(packet))
  :: else
  fi;
  packet = 0
}

/* DONE waits until memory has answered. */
inline timer(c) {
  if
  :: ctx[c].got == ALL && !WRITING -> put(PACKET(DONE, c, ctx[c].gen, 0, ctx[c].id, 0))
  :: ctx[c].got != ALL -> put(PACKET(ASK, c, ctx[c].gen, 0, ctx[c].id, 0))
  :: else
  fi
}

/* Queue closed, READ refused or given up. */
#ifdef EARLY_END
#define MAY_END(t) (ticket[t].state == WAIT || ticket[t].state == BOUND)
#else
#define MAY_END(t) (ticket[t].state == WAIT)
#endif

#define HOLDER_IDLE (!ctx[0].used && !ctx[1].used && !ticket[0].owed && !ticket[TICKETS - 1].owed)
#define PEER_IDLE (tx[0].state == FREE && tx[1].state == FREE)
#define BUSY (!HOLDER_IDLE || !PEER_IDLE)

active proctype holder() {
  short packet, p, q;
  byte at, t;
end:
  do
  :: atomic { ticket[0].state == FREE && posted < POSTS -> post_ticket(0) }
#if TICKETS > 1
  :: atomic { ticket[1].state == FREE && posted < POSTS -> post_ticket(1) }
  :: atomic { ticket[1].way != 0 -> land(1) }
  :: atomic { LEAVES(1) -> leave(1) }
#endif
  :: atomic { ticket[0].way != 0 -> land(0) }
  :: atomic { LEAVES(0) -> leave(0) }
  :: atomic { FOR_HOLDER(net[0]) -> holder_gets(0) }
  :: atomic { FOR_HOLDER(net[1]) -> holder_gets(1) }
#if NET > 2
  :: atomic { FOR_HOLDER(net[2]) -> holder_gets(2) }
#endif
#ifdef BOUNDED
  :: atomic { timeout && whose == 0 && BUSY -> whose = 1; if :: ctx[0].used -> timer(0) :: else fi }
  :: atomic { timeout && whose == 1 && BUSY -> whose = 2; if :: ctx[1].used -> timer(1) :: else fi }
#ifndef SEND
  :: atomic { timeout && whose == 2 && BUSY -> whose = 3; if :: ticket[0].state == WAIT -> put(PACKET(READ, 0, 0, 0, 0, ticket[0].number)) :: else fi }
#else
  :: atomic { timeout && whose == 2 && BUSY -> whose = 3 }
#endif
#else
  :: atomic { ctx[0].used -> timer(0) }
  :: atomic { ctx[1].used -> timer(1) }
  :: atomic { ctx[0].used -> free_context(0) } /* reclaims */
  :: atomic { ctx[1].used -> free_context(1) }
  :: atomic { MAY_END(0) -> complete(0, false) }
#if TICKETS > 1
  :: atomic { MAY_END(1) -> complete(1, false) }
#endif
#ifndef SEND
  :: atomic { ticket[0].state == WAIT -> put(PACKET(READ, 0, 0, 0, 0, ticket[0].number)) }
#endif
#endif
  od
}

/* --- Peer --- */

#define TX_OF(n) (tx[0].state != FREE && tx[0].id == n -> 0 : (tx[1].state != FREE && tx[1].id == n -> 1 : 2))
#define TX_DATA(s, pidx) PACKET(DATA, tx[s].cid, tx[s].gen, pidx, tx[s].id, 0)
#define TX_RQT(s) PACKET(RQT, 0, 0, 0, tx[s].id, tx[s].number)

inline start(s, of_number) {
  started++;
  tx[s].state = REQ; tx[s].id = started; tx[s].number = of_number;
  put(TX_RQT(s))
}

inline end_transfer(s) { tx[s].state = FREE; tx[s].id = 0; tx[s].number = 0; tx[s].cid = 0; tx[s].gen = 0 }

inline release() { put(PACKET(RELEASE, CID(packet), GEN(packet), 0, ID(packet), 0)) }

inline send_all(s) { put(TX_DATA(s, 0)); put(TX_DATA(s, 1)) }

inline peer_gets(n) {
  take(n);
  if
  :: KIND(packet) == READ && started < SENDS && tx[0].state == FREE -> start(0, NUMBER(packet))
  :: KIND(packet) == READ && started < SENDS && tx[0].state != FREE && tx[1].state == FREE -> start(1, NUMBER(packet))
  :: KIND(packet) != READ ->
     s = TX_OF(ID(packet));
     if
     :: s < 2 && tx[s].state == REQ && KIND(packet) == RSP ->
        assert(released[CID(packet)] != GEN(packet)); /* who adopts a context has not let it go */
        tx[s].state = ACTIVE; tx[s].cid = CID(packet); tx[s].gen = GEN(packet)
#ifdef BOUNDED
        ; send_all(s)
#endif
     :: s < 2 && tx[s].state == REQ && KIND(packet) == NO -> end_transfer(s)
#ifndef RELEASE_EARLY
     :: s < 2 && tx[s].state == REQ && KIND(packet) == ASK -> skip /* no key: the RSP must come */
#endif
     :: s < 2 && tx[s].state == ACTIVE && KIND(packet) != NO && CID(packet) == tx[s].cid && GEN(packet) == tx[s].gen ->
        if
        :: KIND(packet) == DONE ->
#ifdef SEND
           assert(HAS_TICKET(ID(packet)));
           told = told | (1 << ID(packet));
#endif
           end_transfer(s); release()
#ifdef BOUNDED
        :: KIND(packet) == ASK -> send_all(s)
#endif
        :: else
        fi
     :: KIND(packet) == NO && (s == 2 || tx[s & 1].state == ACTIVE) -> skip
     :: else -> release() /* fits nothing here */
     fi;
     s = 0
  :: else
  fi;
  packet = 0
}

active proctype peer() {
  short packet, p, q;
  byte at, s;
end:
  do
#ifdef SEND
  :: atomic { started < SENDS && tx[0].state == FREE -> start(0, 0) }
  :: atomic { started < SENDS && tx[1].state == FREE && tx[0].state != FREE -> start(1, 0) }
#endif
  :: atomic { FOR_PEER(net[0]) -> peer_gets(0) }
  :: atomic { FOR_PEER(net[1]) -> peer_gets(1) }
#if NET > 2
  :: atomic { FOR_PEER(net[2]) -> peer_gets(2) }
#endif
#ifdef BOUNDED
  :: atomic { timeout && whose == 3 && BUSY -> whose = 4; if :: tx[0].state == REQ -> put(TX_RQT(0)) :: else fi }
  :: atomic { timeout && whose == 4 && BUSY -> whose = 0; if :: tx[1].state == REQ -> put(TX_RQT(1)) :: else fi }
#else
  :: atomic { tx[0].state == REQ -> put(TX_RQT(0)) }
  :: atomic { tx[1].state == REQ -> put(TX_RQT(1)) }
  :: atomic { tx[0].state == ACTIVE -> put(TX_DATA(0, 0)) }
  :: atomic { tx[0].state == ACTIVE -> put(TX_DATA(0, 1)) }
  :: atomic { tx[1].state == ACTIVE -> put(TX_DATA(1, 0)) }
  :: atomic { tx[1].state == ACTIVE -> put(TX_DATA(1, 1)) }
  :: atomic { tx[0].state != FREE -> end_transfer(0) } /* gives up */
  :: atomic { tx[1].state != FREE -> end_transfer(1) }
#endif
#ifdef BOUNDED
  :: atomic { timeout && !BUSY -> assert(done_ok == POSTS); break }
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

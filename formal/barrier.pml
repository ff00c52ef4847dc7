/* SPDX-License-Identifier: Apache-2.0
 * Barriers of NODES members (docs/barrier.md) over a network that loses, duplicates, reorders and delays packets. The root may choose
 * any offset for the next barrier. `make formal` checks it.
 *
 * A packet is known by kind, epoch and member: a Gather by who sends it, a Release by whom it is for; what it carries, the
 * offset, belongs to its epoch. The network is a set of them. Questions of parents, dead and late members are not modelled.
 *
 * Safety (default): whatever was sent may be delivered at any time, any number of times, or never: no member leaves a barrier
 * before all have arrived at it.
 * -DBOUNDED, progress: a packet is delivered once, LOSSES are lost, DUPLICATES stay; a Gather is repeated when nothing else can
 * happen. Every run ends with all barriers done by all (no invalid end state).
 * -DMULTICAST: the root's Release is for all members at once, each of which may miss it; nobody passes on what he gets
 * (the engine does what came for it alone; that adds nothing to what may be delivered).
 *
 * -DNO_EPOCH, -DNO_ANSWER: the protocol without one of its parts; the check must fail.
 */
#ifndef NODES
#define NODES 4
#endif
#ifndef BARRIERS
#define BARRIERS 3
#endif
#ifndef LOSSES
#define LOSSES 2
#endif
#ifndef DUPLICATES
#define DUPLICATES 1
#endif

#define ID(n, e) (((n) + offset[e]) % NODES)           /* the member's number in barrier e */
#define NODE(id, e) (((id) + NODES - offset[e]) % NODES)
#define PARENT(id) ((id) & ((id) - 1))
#define HAS(set, n) ((set) & (1 << (n)))

byte offset[BARRIERS + 1]; /* of each barrier, once its predecessor's root has chosen */
byte gathers[BARRIERS];    /* by epoch: a bit for each member whose Gather is under way */
byte releases[BARRIERS];

byte epoch[NODES]; /* barriers left */
byte got[NODES];   /* a bit for each child, by its number */
byte arrived[NODES];
byte waits; /* a bit for each member that has sent its Gather */

byte lost = 0, doubled = 0;
byte n, e, id, c; /* scratch */

inline children_of(number, mask) {
  mask = 0;
  c = 1;
  do
  :: c < NODES -> if :: PARENT(c) == number -> mask = mask | (1 << c) :: else fi; c++
  :: else -> break
  od;
  c = 0
}

byte wanted;

#define ALL ((1 << NODES) - 1)

inline leave(who) { /* releases its children */
#ifdef MULTICAST
  if
  :: ID(who, epoch[who]) == 0 -> releases[epoch[who]] = releases[epoch[who]] | (ALL & ~(1 << who))
  :: else
  fi;
#else
  children_of(ID(who, epoch[who]), wanted);
  c = 0;
  do
  :: c < NODES -> if :: HAS(wanted, c) -> releases[epoch[who]] = releases[epoch[who]] | (1 << NODE(c, epoch[who])) :: else fi; c++
  :: else -> break
  od;
#endif
  c = 0;
  do /* nobody leaves before all have arrived */
  :: c < NODES -> assert(arrived[c] > epoch[who]); c++
  :: else -> break
  od;
  c = 0; wanted = 0;
  epoch[who]++;
  got[who] = 0;
  waits = waits & ~(1 << who)
}

inline settle(who) { /* all below have arrived, and so has this one */
  children_of(ID(who, epoch[who]), wanted);
  if
  :: arrived[who] > epoch[who] && !HAS(waits, who) && got[who] == wanted ->
     wanted = 0;
     if
     :: ID(who, epoch[who]) == 0 -> /* the root chooses */
        select(id : 0 .. NODES - 1);
        offset[epoch[who] + 1] = id;
        id = 0;
        leave(who)
     :: else ->
        waits = waits | (1 << who);
        gathers[epoch[who]] = gathers[epoch[who]] | (1 << who)
     fi
  :: else -> wanted = 0
  fi
}

/* A packet that was delivered is gone, unless it was duplicated. */
inline consume(set) {
#ifdef BOUNDED
  if
  :: set = set & ~(1 << n)
  :: doubled < DUPLICATES -> doubled++
  fi
#else
  skip
#endif
}

/* A Gather of barrier e from member n comes to its parent. */
inline gathered(who) {
#ifdef NO_EPOCH
  id = ID(n, e);
  if
  :: epoch[who] < BARRIERS -> got[who] = got[who] | (1 << id); id = 0; settle(who)
  :: else -> id = 0
  fi
#else
  if
  :: epoch[who] + 1 == e -> /* who sent it has been released, and so is this one */
     assert(HAS(waits, who));
     leave(who)
  :: else
  fi;
  if
  :: epoch[who] == e ->
     got[who] = got[who] | (1 << ID(n, e));
     settle(who)
  :: epoch[who] == e + 1 ->
#ifndef NO_ANSWER
     releases[e] = releases[e] | (1 << n)
#else
     skip
#endif
  :: else
  fi
#endif
}

inline released() {
#ifdef NO_EPOCH
  if :: HAS(waits, n) -> leave(n) :: else fi
#else
  if :: epoch[n] == e && HAS(waits, n) -> leave(n) :: else fi
#endif
}

/* What changes nothing need not be delivered again. */
#ifdef NO_EPOCH
#define NEW_GATHER(m, b) (epoch[PARENT_OF(m, b)] < BARRIERS && !HAS(got[PARENT_OF(m, b)], ID(m, b)))
#define NEW_RELEASE(m, b) HAS(waits, m)
#else
#define NEW_GATHER(m, b) \
  ((epoch[PARENT_OF(m, b)] == b && !HAS(got[PARENT_OF(m, b)], ID(m, b))) || epoch[PARENT_OF(m, b)] + 1 == b || \
   (epoch[PARENT_OF(m, b)] == b + 1 && !HAS(releases[b], m)))
#define NEW_RELEASE(m, b) (epoch[m] == b && HAS(waits, m))
#endif
#define PARENT_OF(m, b) NODE(PARENT(ID(m, b)), b)

/* Packets of barrier b from and for this member. */
#ifdef BOUNDED
#define DELIVER(b) \
  :: atomic { HAS(gathers[b], _pid) -> n = _pid; e = b; consume(gathers[b]); gathered(PARENT_OF(n, e)); n = 0; e = 0 } \
  :: atomic { HAS(releases[b], _pid) -> n = _pid; e = b; consume(releases[b]); released(); n = 0; e = 0 } \
  :: atomic { lost < LOSSES && HAS(gathers[b], _pid) -> lost++; gathers[b] = gathers[b] & ~(1 << _pid) } \
  :: atomic { lost < LOSSES && HAS(releases[b], _pid) -> lost++; releases[b] = releases[b] & ~(1 << _pid) }
#else
#define DELIVER(b) \
  :: atomic { HAS(gathers[b], _pid) && NEW_GATHER(_pid, b) -> n = _pid; e = b; gathered(PARENT_OF(n, e)); n = 0; e = 0 } \
  :: atomic { HAS(releases[b], _pid) && NEW_RELEASE(_pid, b) -> n = _pid; e = b; released(); n = 0; e = 0 }
#endif

active [NODES] proctype member() {
  do
  :: atomic { arrived[_pid] == epoch[_pid] && epoch[_pid] < BARRIERS -> n = _pid; arrived[n]++; settle(n); n = 0 }
  DELIVER(0)
#if BARRIERS > 1
  DELIVER(1)
#endif
#if BARRIERS > 2
  DELIVER(2)
#endif
  :: epoch[_pid] == BARRIERS -> break
  od
}

#ifdef BOUNDED
/* Timers of all who wait end together, so that no run repeats one's Gather for ever and never another's. */
active proctype timers() {
  do
  :: atomic {
       timeout && waits != 0 ->
       do
       :: n < NODES -> if :: HAS(waits, n) -> gathers[epoch[n]] = gathers[epoch[n]] | (1 << n) :: else fi; n++
       :: else -> break
       od;
       n = 0
     }
  :: atomic { timeout && waits == 0 -> break }
  od
}
#endif

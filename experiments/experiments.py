# SPDX-License-Identifier: Apache-2.0
"""The experiments of docs/results/rdma.md as data: networks, schemes, and what is measured of them. Times are in clocks of the engines."""

import dataclasses
import typing

KIB = 1024


@dataclasses.dataclass(frozen=True, eq=False)
class Network:
    name: str
    words: str
    arguments: tuple
    timeouts: dict  # that sweeps try, by payload in bytes
    losses_of_counter: tuple  # per mille, at which they do so for the receiver counter: with more its runs take minutes, and it has the timeout of the most of these


@dataclasses.dataclass(frozen=True)
class Scheme:
    name: str
    words: str
    arguments: tuple
    colour: str
    marker: str
    measures: bool = True  # its timeouts; otherwise they are as set


PAIR = Network("pair", "two nodes, each sends to the other; 100 clocks and up to 100 more from node to node, packets stay in order, and receivers know it (`RX_AHEAD` 1); a round trip is 200 to 400 clocks, and 145 in engines and memory",
               ("--nodes", "2x1x1", "--delay", "100", "--jitter", "100"),
               {256: (150, 200, 250, 300, 350, 450, 600, 1200), 1024: (450, 600, 1200, 2400), 4096: (600, 1200, 2400, 4800)}, (0, 1, 2, 3))
TORUS = Network("torus", "torus of 4x2x2, node i sends to node i + 1; minimal adaptive routing, 4 channels of 16 flits (a packet of 256 bytes has 9: adaptive channels, which take whole packets, need buffers that hold more than one), links of 5 clocks, up to 100 clocks more before a packet "
                "enters, for which it may wait behind any number of its node's, answers behind data; order is not known (`RX_AHEAD` 0); a packet takes 24 clocks over one hop of a torus with nothing else in it, a round trip of these 50 to 250 clocks, and 145 in engines and memory", ("--nodes", "4x2x2", "--network", "torus", "--adaptive", "--buffer", "16", "--link", "5", "--delay", "1", "--jitter", "100"),
                {256: (75, 150, 200, 300, 450, 600, 900, 1200)}, (0, 1))
NETWORKS = (PAIR, TORUS)

WEFT = Scheme("weft", "receiver window, weft mode", ("--mode", "weft"), "#1f6fb4", "o")
PAPER = Scheme("paper", "receiver window, paper mode", ("--mode", "paper"), "#d95f02", "s", measures=False)
COUNTER = Scheme("rxcounter", "receiver counter", ("--scheme", "rxcounter"), "#666666", "^")
SENDER = Scheme("txwindow", "sender window", ("--scheme", "txwindow"), "#7b3294", "d")
SCHEMES = (WEFT, PAPER, COUNTER, SENDER)
OLDER = (COUNTER, SENDER)
MODES = (WEFT, PAPER)

SIZES = (32, 64, 128, 256)  # KiB
LOSSES = (0, 1, 2, 3, 4, 5)  # per mille
PAYLOADS = (256, 1024, 4096)
WINDOWS = (32, 64, 128, 256)
LARGEST_WINDOW_OF_LONG_PACKETS = 128  # of which there is an engine
DEGREES = (0, 8, 16, 32, 48, 64, 80, 96, 128, 192)
ROUND_TRIP_OF_REORDERED = 345  # clocks: twice 100 of the network, 145 in engines and memory
HELD = (0.1, 0.005)  # how many packets make a detour: the paper does not say
DEGREE_OF_REORDERED = 64  # at which timeouts are swept
LOSS_OF_SIZES = 2  # per mille
LOSS_OF_PAYLOADS = 1
SEEDS_OF_SWEEPS = tuple(range(1, 11))  # of each timeout that a sweep tries
SEEDS_OF_CROWDS = 5  # the first of these, for sweeps of crowds, whose runs are long
SEEDS = tuple(range(11, 31))  # of each point, so also of the timeout that a sweep finds best: others, or it would look better than it is
LONGEST_TIMEOUT_OF_COUNTER = 300  # clocks, where packets are lost: it waits for one before each attempt
TIMEOUTS_OF_REORDERED = {256: (25, 50, 100, 200, 400, 700), 1024: (100, 200, 400), 4096: (400, 800, 1600)}  # by payload, beside those from the network
EARLY_OF_REORDERED = {256: (100, 200, 400, 700), 1024: (200, 400), 4096: (800, 1600)}  # of weft mode, likewise
KNOWN_OF_REORDERED = {256: (400, 700, 1500), 1024: (1500, 3000), 4096: (6000, 12000)}  # likewise; a detour holds packets for up to 576, 2112, 8256 clocks
TIMEOUTS_OF_YARDSTICK = (200, 400, 600, 775, 900, 1200, 1800, 2500)  # a round trip is 745
TIMEOUTS_OF_CUT = {"pair": (100, 150, 200, 300, 600, 800, 1200), "torus": (100, 150, 200, 300, 450, 600, 800)}
INCAST_KIB = 32  # of each sender
TIMEOUTS_OF_INCAST = {8: (600, 1200, 2500, 5000), 32: (2500, 5000, 10000, 20000)}  # by senders
TIMEOUTS_OF_MANY = (1500, 3000, 6000)
AHEAD = (1, 0)  # RX_AHEAD: by how many packets one may overtake another before one counts as lost; 0: not known, only timers tell
LONGEST = 20_000_000  # clocks after which a run counts as unfinished
MOST_LOSS_OF_COUNTER_ON_TORUS = 2  # per mille, at which it still comes to an end there, in about 200,000 clocks
LONGEST_COUNTER_ON_TORUS = 60_000  # after which it has not finished with more; the others need 10,000 to 20,000
LONGEST_CUT_ON_TORUS = 45_000  # likewise, with a link cut for 10,000 clocks: whoever repairs is ready before 35,000
LONGEST_INCAST = 125_000  # likewise, where the link into the receiver needs 37,000 with 32 senders
LONGEST_MANY = 100_000  # ... and where any link needs about 6,000

# Ultra Ethernet's selective acknowledgement in published simulators: completion at 1 to 5 per mille relative to that without loss.
YARDSTICK = (1.015, 1.025, 1.038, 1.052, 1.061)


@dataclasses.dataclass(frozen=True, order=True)
class Early:
    """A timeout, and a packet is asked for as soon as one behind it has come, although it may only be late (RX_AHEAD 1)."""
    clocks: int
    RANK: typing.ClassVar[int] = 1  # sweeps.kind_of

    def __str__(self):
        return f"early {self.clocks}"


@dataclasses.dataclass(frozen=True, order=True)
class Known:
    """A timeout, and it is known by how much packets can overtake each other: RX_AHEAD is one more."""
    clocks: int
    RANK: typing.ClassVar[int] = 2

    def __str__(self):
        return f"known {self.clocks}"


def timer(timeout, overtaken=0):
    """Timeouts as set, as measured, or as weft-sim sets them for the network (in weft mode: measured), where so many packets can overtake one."""
    if timeout == "network":
        return ()
    if isinstance(timeout, Early):
        return (*timer(timeout.clocks), *ahead(1))
    if isinstance(timeout, Known):
        return (*timer(timeout.clocks), *ahead(overtaken + 1))
    return ("--adapt", "1") if timeout == "measured" else ("--adapt", "0", "--timeout", str(timeout))


def loss(per_mille):
    return ("--loss", f"{per_mille / 1000:g}") if per_mille else ()


def timeouts_of_transfer(network, scheme, per_mille, payload):
    """All that a sweep tries."""
    tried = network.timeouts[payload]
    if payload == PAYLOADS[0] and per_mille:  # where packets are lost long ones are of no use
        most = LONGEST_TIMEOUT_OF_COUNTER if scheme is COUNTER else tried[-2]
        tried = tuple(timeout for timeout in tried if timeout <= most)
    return timers_of(scheme, tried)


def swept_loss(network, scheme, per_mille):
    """That at which its timeout is chosen."""
    return min(per_mille, network.losses_of_counter[-1]) if scheme is COUNTER else per_mille


def transfer(network, scheme, timeout, kib, per_mille=0, payload=256, longest=LONGEST):
    """One transfer of each node."""
    if network is TORUS and scheme is COUNTER and per_mille > MOST_LOSS_OF_COUNTER_ON_TORUS:
        longest = LONGEST_COUNTER_ON_TORUS
    return (*network.arguments, *scheme.arguments, *timer(timeout), "--bytes", str(kib * KIB), *loss(per_mille), "--payload", str(payload), "--max-cycles", str(longest))


def timeouts_of_reordered(scheme, payload):
    """All that a sweep tries, beside those from the network: by timeouts alone, with retransmissions asked for early, with RX_AHEAD as the network is."""
    if scheme is not WEFT:
        return (TIMEOUTS_OF_REORDERED[payload],)
    return TIMEOUTS_OF_REORDERED[payload], tuple(map(Early, EARLY_OF_REORDERED[payload])), tuple(map(Known, KNOWN_OF_REORDERED[payload]))


def clocks_of_a_packet(payload):
    """A flit of 32 bytes a clock, and one for the header."""
    return payload // 32 + 1


def packets_of_reordered(payload):
    """Of larger ones fewer: they take longer."""
    return 4096 if payload == PAYLOADS[0] else 1024


def reordered(scheme, window, degree, held, timeout="network", payload=256):
    """Packets through a network with detours that take as long as so many of them."""
    return ("--nodes", "2x1x1", "--delay", "100", *scheme.arguments, *timer(timeout, degree), "--bytes", str(packets_of_reordered(payload) * payload), "--payload", str(payload), "--window", str(window),
            "--detour", str(degree * clocks_of_a_packet(payload)), "--held", str(held), "--max-cycles", str(LONGEST))


def ahead(packets):
    """The receiver's RX_AHEAD; weft-sim itself sets 1 for networks that keep order, 0 for a torus with several ways."""
    return ("--ahead", str(packets))


def yardstick(per_mille, packets_ahead, timeout):
    """1 KiB packets, 256 bits a clock: 100 Gb/s at 391 MHz."""
    return ("--nodes", "2x1x1", "--delay", "300", "--mode", "weft", *timer(timeout), "--payload", "1024", "--bytes", str(256 * KIB), *loss(per_mille), *ahead(packets_ahead), "--max-cycles", str(LONGEST))


def timers_of(scheme, timeouts):
    """All that a sweep tries."""
    return (*timeouts, *(("measured",) if scheme.measures else ()))


def incast(scheme, senders, timeout):
    return ("--nodes", f"{senders + 1}x1x1", "--pattern", "incast", "--delay", "100", *scheme.arguments, *timer(timeout), "--bytes", str(INCAST_KIB * KIB), "--loss", "0.001", "--max-cycles", str(LONGEST_INCAST))


def many(scheme, timeout):
    """10,048 transfers at once on 64 nodes."""
    return ("--nodes", "4x4x4", "--network", "torus", "--adaptive", "--buffer", "16", "--pattern", "uniform", *scheme.arguments, *timer(timeout), "--transfers", "157", "--bytes", str(157 * 1024), "--loss", "0.001",
            "--max-cycles", str(LONGEST_MANY))


def cut(network, scheme, timeout, until):
    """A link is cut 2,000 clocks after the first post, and healed at `until`."""
    longest = LONGEST_CUT_ON_TORUS if network is TORUS and until else LONGEST  # without a cut these are runs of other experiments
    return (*transfer(network, scheme, timeout, 256, longest=longest), *(("--cut", "2000", str(until)) if until else ()))

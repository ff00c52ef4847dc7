# SPDX-License-Identifier: Apache-2.0
"""Joins the traces of all nodes of a run (docs/trace.md) into the path of each packet: the event that ordered it, when it left, what the network did with it, which
event it led to wherever it arrived.

usage: packets.py FOLDER RESULT: FOLDER that `weft-sim rdma --trace` wrote, RESULT of its --json; says whether the packets joined are as many, by fate, as the run counted.
Exit status 0: they are, 1: they are not, 2: bad input.
"""

import collections
import dataclasses
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scripts"))
import traces  # noqa: E402

# What all traces tell of a packet. Not CID: an event of the receiver names the context that it touched.
HEADER = ("type", "src", "sid", "msgid", "gen", "pidx", "len", "flags", "arg")
FROM_THE_RECEIVER = {"RSP", "RESEND", "DONE", "ACK"}


class JoinError(Exception):
    """Traces that are not of one whole run."""


@dataclasses.dataclass
class Order:
    """What an event told the engine to send."""

    cycle: int
    outcome: str
    header: dict


@dataclasses.dataclass
class Arrival:
    """An event that a packet led to."""

    cycle: int
    outcome: str


@dataclasses.dataclass
class Packet:
    """One that was ordered; left is None if it never went out: its transfer was over before."""

    header: dict
    ordered: Order | None
    left: int | None = None
    lost: bool = False
    corrupted: bool = False
    duplicated: bool = False
    held_back: bool = False
    again: bool = False
    arrivals: list = dataclasses.field(default_factory=list)

    @property
    def start(self):
        return self.ordered.cycle if self.ordered else self.left

    @property
    def transfer(self):
        """Number of the sender's node and of the transfer there."""
        sender = "dst" if self.header["type"] in FROM_THE_RECEIVER else "src"
        return int(self.header[sender]), int(self.header["msgid"])

    @property
    def whole(self):
        """How many copies of it may arrive as they were."""
        if self.left is None:
            return 0
        return (not self.lost and not self.corrupted) + self.duplicated

    @property
    def results(self):
        """Everything that became of it, as words to look for."""
        words = [arrival.outcome for arrival in self.arrivals]
        if self.lost:
            words.append("LOST")
        elif self.left is None:
            words.append("NEVER_SENT")
        elif not words:
            words.append("UNDER_WAY")
        return list(dict.fromkeys(words))


@dataclasses.dataclass
class Transfer:
    """From its post to its completion, as its sender sees it; status is None without one."""

    node: int
    msgid: int
    to: int
    tag: int
    bytes: int
    posted: int
    completed: int | None = None
    status: str | None = None


@dataclasses.dataclass
class Timeout:
    """An event without a packet that brought it."""

    node: int
    unit: str
    cycle: int
    outcome: str
    transfer: tuple | None


@dataclasses.dataclass
class Run:
    nodes: list
    transfers: list
    packets: list
    timeouts: list


def header_of(record):
    return {key: record[key] for key in HEADER if key in record}


def header_of_word(word):
    """Of RSP,dst=1,src=2,... as events order it."""
    kind, *fields = word.split(",")
    return {"type": kind, **dict(field.split("=", 1) for field in fields)}


def same_packet(header):
    """Equal for the order of a packet, the packet that left, and its arrival. The exit adds FAILED to a DONE."""
    return tuple(header[key] for key in HEADER if not (key == "flags" and header["type"] == "DONE"))


def orders_of(events):
    for event in events:
        for word in (event.get("emit", "-"), event.get("data", "-")):
            if word != "-":
                yield Order(int(event["cycle"]), event["outcome"], header_of_word(word))


def packets_of(sent, orders):
    """Of one node: each packet with its order; those that were ordered and never left last."""
    waiting = collections.defaultdict(collections.deque)
    for order in orders:
        waiting[same_packet(order.header)].append(order)
    packets = []
    for record in sent:
        same = waiting[same_packet(record)]
        left = int(record["cycle"])
        order = same.popleft() if same and same[0].cycle <= left else None
        fate = {key: record[key] == "1" for key in ("lost", "corrupted", "duplicated", "held_back")}
        packets.append(Packet({**header_of(record), "dst": record["dst"], "cid": record["cid"]}, order, left, **fate))
    never = [Packet({key: order.header[key] for key in (*HEADER, "dst", "cid")}, order) for same in waiting.values() for order in same]
    return packets + sorted(never, key=lambda packet: packet.start)


def mark_repeats(packets):
    """The first order of a packet of a transfer is not a repeat, each later one of the same is."""
    seen = set()
    for packet in sorted(packets, key=lambda packet: packet.start):
        header = packet.header
        what = (header["src"], header["type"], packet.transfer, header["pidx"], header["gen"], header["arg"])
        packet.again = what in seen
        seen.add(what)


def find_arrivals(node, events, packets):
    """Gives every arrival at a node to the earliest packet for it that fits: the same header; of one whose header could not be trusted, damaged on the way."""
    coming = collections.defaultdict(list)
    damaged = []
    for packet in sorted((packet for packet in packets if packet.left is not None and int(packet.header["dst"]) == node), key=lambda packet: packet.left):
        coming[same_packet(packet.header)] += [packet] * packet.whole
        damaged += [packet] * packet.corrupted
    for event in events:
        if event["event"] != "packet":
            continue
        cycle = int(event["cycle"])
        candidates = coming[same_packet(event)] if "type" in event else damaged
        packet = next((packet for packet in candidates if packet.left <= cycle), None)
        if packet is None:
            raise JoinError(f"node {node}, cycle {cycle}: {event['outcome']} of a packet that no node has sent")
        candidates.remove(packet)
        packet.arrivals.append(Arrival(cycle, event["outcome"]))


def transfers_of(node, events):
    """Posts in their order, which is that of their MSGIDs, and their completions."""
    transfers = []
    of_context = {}
    for event in events:
        if event["unit"] != "tx":
            continue
        if event["event"] == "post" and event["outcome"] == "SUBMIT":
            posted = Transfer(node, len(transfers), int(event["node"]), int(event["tag"]), int(event["bytes"]), int(event["cycle"]))
            transfers.append(posted)
            of_context[event["sid"]] = posted
        if event["completion"] != "-" and event["outcome"] != "SUBMIT" and event["sid"] in of_context and not event["outcome"].startswith("REJECT_"):
            over = of_context.pop(event["sid"])
            over.completed, over.status = int(event["cycle"]), event["completion"].split(":", 1)[1]
    return transfers


def timeouts_of(node, events):
    """With the transfer that the context is of: at the receiver the one granted last, at the sender the one posted last."""
    posts = 0
    of_context = {}
    for event in events:
        unit = event["unit"]
        if event["outcome"] == "GRANT":
            of_context["rx", event["cid"]] = int(event["src"]), int(event["msgid"])
        elif event["outcome"] == "SUBMIT":
            of_context["tx", event["sid"]] = node, posts
            posts += 1
        elif event["event"] == "timeout" and unit in ("rx", "tx"):
            context = event["cid" if unit == "rx" else "sid"]
            yield Timeout(node, unit, int(event["cycle"]), event["outcome"], of_context.get((unit, context)))


def join(folder):
    """Everything that the golden traces and those of the network in a folder tell together."""
    folder = pathlib.Path(folder)
    files = {int(file.name.split(".")[1].removeprefix("node")): file for file in folder.glob("network.node*.trace")}
    if not files:
        raise JoinError(f"{folder}: has no network.node*.trace")
    run = Run(sorted(files), [], [], [])
    events = {node: list(traces.records(folder / f"golden.node{node}.trace")) for node in run.nodes}
    sent = {node: list(traces.records(files[node])) for node in run.nodes}
    for node in run.nodes:
        run.packets += packets_of(sent[node], orders_of(events[node]))
        run.transfers += transfers_of(node, events[node])
        run.timeouts += timeouts_of(node, events[node])
    for node in run.nodes:
        find_arrivals(node, events[node], run.packets)
    mark_repeats(run.packets)
    run.packets.sort(key=lambda packet: packet.start)
    return run


def counts(run):
    """As `weft-sim rdma --json` counts them, of the packets joined."""
    left = [packet for packet in run.packets if packet.left is not None]
    drops = collections.Counter(arrival.outcome for packet in left for arrival in packet.arrivals if arrival.outcome.startswith("DROP_"))
    return {
        "packets_sent": len(left),
        "packets_lost": sum(packet.lost for packet in left),
        "packets_duplicated": sum(packet.duplicated for packet in left),
        "packets_corrupted": sum(packet.corrupted for packet in left),
        "packets_held_back": sum(packet.held_back for packet in left),
        "packets_resent": sum(packet.again and packet.header["type"] == "DATA" for packet in left),
        "drops": dict(sorted(drops.items())),
    }


def differences(run, result):
    """Between what was joined and what the run has counted itself, as lines of text."""
    lines = [f"{key}: {ours} joined, {result[key]} counted" for key, ours in counts(run).items() if ours != result[key]]
    strays = sum(packet.ordered is None for packet in run.packets)
    if strays:
        lines.append(f"{strays} packets left that no event has ordered")
    late = sum(len(packet.arrivals) < packet.whole + packet.corrupted for packet in run.packets)
    if late:
        lines.append(f"{late} packets or copies of them have not arrived, and were not lost")
    failed = sum(transfer.status != "OK" for transfer in run.transfers)
    if failed != result["failed_transfers"]:
        lines.append(f"{failed} transfers without completion OK, {result['failed_transfers']} counted")
    return lines


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        run = join(arguments[0])
        result = json.loads(pathlib.Path(arguments[1]).read_text(encoding="utf-8"))
        wrong = differences(run, result)
    except (OSError, ValueError, KeyError, JoinError, traces.TraceError) as fault:
        print(f"packets.py: {fault}", file=sys.stderr)
        return 2
    for line in wrong:
        print(line)
    if not wrong:
        print(f"{len(run.packets)} packets of {len(run.transfers)} transfers, all as the run counted them")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

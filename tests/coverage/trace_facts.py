# SPDX-License-Identifier: Apache-2.0
"""What the events of a trace (docs/trace.md) tell, as plain facts that points of the testplan are made of.

Facts of both units: event, type, outcome, room, emit (type of the control packet, or none), flags; before, distance (outcome of the
event before of the same context, and clocks since), neighbour (outcome of the event of any context one clock before).
rx: offer, cid, pidx_at (where PIDX lay in the window), advance (how far WBASE went), marks (bits in WVEC), lap (WBASE came into
a new lap of the window), write, gen. tx: resend_room, retry, queue, completion, msgid_wraps.
"""

import dataclasses


@dataclasses.dataclass
class Sizes:
    """Of the engine that the trace is of."""

    window: int
    payload: int
    contexts: int


def records(file):
    """Every record of a trace as a dict, with its words as they are."""
    with open(file, encoding="ascii") as lines:
        for line in lines:
            if not line.startswith("#"):
                yield dict(word.split("=", 1) for word in line.split())


def sizes(file):
    """From the first line of a trace."""
    with open(file, encoding="ascii") as lines:
        words = dict(word.split("=", 1) for word in lines.readline().split() if "=" in word)
    return Sizes(int(words["window"]), int(words["payload"]), int(words["contexts"]))


def number(word):
    return int(word, 0)


class Unit:
    """What is common to both halves: which event came before."""

    def __init__(self, context_key):
        self.context_key = context_key
        self.last_of = {}  # by context: cycle, outcome
        self.last = (None, None)

    def facts(self, record):
        cycle, outcome, context = number(record["cycle"]), record["outcome"], record[self.context_key]
        facts = {"event": record["event"], "outcome": outcome, "room": record["room"], "emit": record["emit"].split(",")[0].replace("-", "none")}
        if "type" in record:
            facts["type"] = record["type"]
            facts["flags"] = number(record["flags"])
        if context in self.last_of:
            before_cycle, facts["before"] = self.last_of[context]
            facts["distance"] = cycle - before_cycle
        if self.last[0] == cycle - 1:
            facts["neighbour"] = self.last[1]
        self.last_of[context] = self.last = (cycle, outcome)
        return facts


class Receiver(Unit):
    """Facts of rx records."""

    def __init__(self, sizes):
        super().__init__("cid")
        self.sizes = sizes
        self.wbase = {}  # by context

    def facts(self, record):
        facts = super().facts(record)
        cid, outcome, wbase = record["cid"], record["outcome"], number(record["wbase"])
        facts["offer"] = "no" if record["offer"] == "-" else "yes"
        facts["cid"] = {0: "first", self.sizes.contexts - 1: "last"}.get(number(cid), "other")
        facts["write"] = self.write(record["write"])
        if "gen" in record:
            facts["gen"] = number(record["gen"])
        if outcome == "GRANT":
            facts["gen"] = int(record["emit"].split(",gen=")[1].split(",")[0])
            self.wbase[cid] = 0
        elif cid in self.wbase and record.get("type") == "DATA":
            facts["pidx_at"] = self.place(number(record["pidx"]) - self.wbase[cid])
        if outcome in ("ACCEPT", "ADVANCE", "FINISH"):
            facts["marks"] = bin(number(record["wvec"])).count("1")
            facts["advance"] = wbase - self.wbase.get(cid, 0)
            facts["lap"] = "new" if wbase // self.sizes.window != self.wbase.get(cid, 0) // self.sizes.window else "same"
            self.wbase[cid] = wbase
        return facts

    def place(self, offset):
        window = self.sizes.window
        names = {0: "base", 1: "base+1", window: "base+window", window + 1: "base+window+1"}
        return names.get(offset, "before" if offset < 0 else "inside" if offset < window else "beyond")

    def write(self, word):
        if word == "-":
            return "none"
        return "full" if int(word.split("+")[1]) == self.sizes.payload else "tail"


class Sender(Unit):
    """Facts of tx records."""

    def __init__(self):
        super().__init__("sid")
        self.msgid = None

    def facts(self, record):
        facts = super().facts(record)
        facts["resend_room"] = record["resend_room"]
        if record["data"] != "-":
            facts["queue"] = record["data"].split(",queue=")[1]
            facts["retry"] = number(record["data"].split(",flags=")[1].split(",")[0]) >> 1 & 1
        if record["completion"] != "-":
            facts["completion"] = record["completion"].split(":")[1]
        if record["outcome"] == "SUBMIT" and ",msgid=" in record["emit"]:
            msgid = int(record["emit"].split(",msgid=")[1].split(",")[0])
            facts["msgid_wraps"] = "yes" if self.msgid is not None and msgid < self.msgid else "no"
            self.msgid = msgid
        return facts


def events(file):
    """Unit and facts of every record."""
    units = {"rx": Receiver(sizes(file)), "tx": Sender()}
    for record in records(file):
        yield record["unit"], units[record["unit"]].facts(record)

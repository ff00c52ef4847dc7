# SPDX-License-Identifier: Apache-2.0
"""What events of engines of the older schemes (docs/rdma_baseline.md) tell: facts of the units rxcounter_rx, rxcounter_tx, txwindow_rx and txwindow_tx.

A trace is of one of them by the word scheme= of its first line. Facts that are not keys of the trace:

all: before, distance, emit, neighbour: as of rx and tx; what is said of a context is of a buffer if the event is a buffer's.
rxcounter_rx: attempt (that of DATA, beside the one under way), attempts (so many were begun before this one), write.
rxcounter_tx: attempt (that a RESEND asks for, beside the last one begun), retry, queue.
txwindow_rx: came (DATA: was it written before), write. txwindow_tx: retry, failed (FAILED in an ACK), slot (of an ACK: does any slot have that number).
"""

import pathlib
import sys

import specification

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"))
from traces import number  # noqa: E402

OUTCOMES = specification.names("rdma.outcome")
TYPES = specification.names("rdma.ptype")
FLAGS = {name: value for value, name in specification.ENUMS["rdma.flag"].items()}
YES_NO, BIT = {"yes", "no"}, {"0", "1"}
BESIDE = {"older", "same", "newer"}
OF_ALL = {"type": TYPES, "flags": int, "outcome": OUTCOMES, "room": BIT, "emit": TYPES | {"none"}, "before": OUTCOMES, "distance": int, "neighbour": OUTCOMES}
OF_RX = OF_ALL | {"event": {"packet", "timeout"}, "write": {"none", "full", "tail"}}
OF_TX = OF_ALL | {"event": {"packet", "timeout", "post", "turn", "fault"}, "retry": int, "queue": {"send", "resend"}, "completion": specification.names("rdma.status")}

FACTS = {
    "rxcounter_rx": OF_RX | {"attempt": BESIDE, "attempts": int},
    "rxcounter_tx": OF_TX | {"attempt": BESIDE},
    "txwindow_rx": OF_RX | {"came": YES_NO},
    "txwindow_tx": OF_TX | {"event": OF_TX["event"] | {"buffer_timeout", "buffer_turn"}, "failed": YES_NO, "slot": YES_NO},
}
SCHEMES = {"1": "rxcounter", "2": "txwindow"}  # parameter SCHEME
BUFFERS = ("buffer_timeout", "buffer_turn")
ATTEMPT = 24  # place in ARG of DATA


def beside(attempt, current):
    """Modulo 256."""
    behind = (current - attempt) % 256
    return "same" if behind == 0 else "older" if behind < 128 else "newer"


class Half:
    """Facts of one half of an engine; of_scheme adds those of a scheme."""

    def __init__(self, history, words):
        self.history, self.payload, self.window = history, int(words["payload"]), int(words["window"])
        self.context = None  # CID or SID of the event

    def facts(self, record):
        facts = {key: record[key] for key in ("event", "outcome", "room")}
        facts["emit"] = record["emit"].split(",", 1)[0].replace("-", "none")
        if record.get("type", "") in TYPES:
            facts["type"], facts["flags"] = record["type"], number(record["flags"])
        self.context = record["cid" if record["unit"] == "rx" else "sid"]
        whose = ("buffer" if record["event"] in BUFFERS else "context", self.context)
        facts |= self.history.facts(number(record["cycle"]), whose, record["outcome"])
        (self.of_receiver if record["unit"] == "rx" else self.of_sender)(facts, record)
        self.of_scheme(facts, record)
        return facts

    def of_receiver(self, facts, record):
        word = record["write"]
        facts["write"] = "none" if word == "-" else "full" if int(word.split("+")[1]) == self.payload else "tail"

    @staticmethod
    def of_sender(facts, record):
        if record["data"] != "-":
            facts["queue"] = record["data"].split(",queue=")[1]
            flags = record["data"].split(",flags=")[1].split(",")[0]
            facts["retry"] = int(number(flags) & FLAGS["RETRY"] != 0)
        if record["completion"] != "-":
            facts["completion"] = record["completion"].split(":")[1]

    def of_scheme(self, facts, record):
        raise NotImplementedError


class CounterReceiver(Half):
    def __init__(self, history, words):
        super().__init__(history, words)
        self.attempts = {}  # by CID: number of the one under way, not modulo 256

    def of_scheme(self, facts, record):
        if record["outcome"] == "GRANT":
            self.attempts[self.context] = 0
        if self.context not in self.attempts:
            return
        facts["attempts"] = self.attempts[self.context]
        if facts.get("type") == "DATA":
            facts["attempt"] = beside(number(record["arg"]) >> ATTEMPT & 255, facts["attempts"])
        self.attempts[self.context] += record["outcome"] == "ASK_FROM"


class CounterSender(Half):
    def __init__(self, history, words):
        super().__init__(history, words)
        self.attempt = {}  # by SID: the last one begun

    def of_scheme(self, facts, record):
        if record["outcome"] == "SUBMIT":
            self.attempt[self.context] = 0
        if facts.get("type") == "RESEND" and self.context in self.attempt:
            asked = number(record["arg"]) & 255
            facts["attempt"] = beside(asked, self.attempt[self.context])
            if record["outcome"] in ("RESEND_FROM", "GRANTED"):
                self.attempt[self.context] = asked


class WindowReceiver(Half):
    def __init__(self, history, words):
        super().__init__(history, words)
        self.came = {}  # by CID: PIDX of what was written

    def of_scheme(self, facts, record):
        if record["outcome"] == "GRANT":
            self.came[self.context] = set()
        if record["outcome"] == "ACCEPT" and self.context in self.came:
            facts["came"] = "yes" if record["pidx"] in self.came[self.context] else "no"
            self.came[self.context].add(record["pidx"])


class WindowSender(Half):
    def of_scheme(self, facts, record):
        if facts.get("type") == "ACK":
            facts["failed"] = "yes" if facts["flags"] & FLAGS["FAILED"] else "no"
            facts["slot"] = "yes" if number(record["arg"]) < self.window else "no"


HALVES = {"rxcounter_rx": CounterReceiver, "rxcounter_tx": CounterSender, "txwindow_rx": WindowReceiver, "txwindow_tx": WindowSender}


def halves(words, new_history):
    """By unit of its records, the unit of the plan and who tells its facts; nothing for an engine of the engine's own scheme. new_history makes a trace_facts.History."""
    if words.get("scheme") not in SCHEMES:
        return {}
    named = {half: f"{SCHEMES[words['scheme']]}_{half}" for half in ("rx", "tx")}
    return {half: (name, HALVES[name](new_history(), words)) for half, name in named.items()}

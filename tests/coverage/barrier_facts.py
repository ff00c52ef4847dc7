# SPDX-License-Identifier: Apache-2.0
"""What records of a barrier engine's trace (docs/trace.md) tell, as plain facts that points of the testplan are made of.

Those that are not keys of the trace: epoch (the packet's beside the group's); sent (what is sent, each kind once), copies (how many packets); place (the node's in the tree of this
epoch: alone, root, inner, leaf); last (nobody else was missing); blocks (two levels); size (members: one, two, some, most: all that the engine has room for); number (the group's: first,
last, other); before (the event before of the same group), behind (that of any group), did (what that one has done to its group), group (of that one, or another), since (clocks since that one), spare (those of them beyond what deciding and sending took); search (what judge does, seen at the root that releases: holds, begins, goes on,
ends); multicast (the packet is for all members at once), address (the group has one for that); backoff (the next repetition comes: after twice as long, or at most as long as software has said); wraps (the epoch begins anew at 0); late (somebody is named).
"""

import pathlib
import sys

import specification

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"))
from traces import number  # noqa: E402

EVENTS = {"open", "close", "arrive", "packet", "tick", "dropped", "reset"}
PHASES = {"closed", "idle", "gathering", "waiting", "failed"}
EPOCHS = 1 << 16
DONE = {"dropped", "ended", "failed", "gathered", "other"}
SENT = {"-", "GATHER", "RELEASE", "ASK", "WAIT", "GATHER!", "RELEASE!", "GATHER! RELEASE!", "GATHER RELEASE", "RELEASE WAIT", "RELEASE*"}

FACTS = {
    "event": EVENTS, "before": EVENTS - {"dropped"}, "behind": EVENTS - {"dropped", "reset"}, "did": DONE, "group": {"same", "another"}, "refusal": specification.names("barrier.refusal"), "packet": specification.names("barrier.packet_kind"), "failure": {"0", "1"}, "multicast": {"0", "1"},
    "epoch": {"same", "one behind", "one ahead", "older", "newer"}, "drop": specification.names("barrier.drop") | {"-"}, "phase": PHASES, "next": PHASES, "sent": SENT, "copies": int,
    "ending": specification.names("barrier.ending") | {"-"}, "late": {"yes", "no"}, "place": {"alone", "root", "inner", "leaf"}, "last": {"yes", "no"}, "shape": specification.names("barrier.shape"),
    "blocks": {"yes", "no"}, "address": {"yes", "no"}, "size": {"one", "two", "some", "most"}, "number": {"first", "last", "other", "none"}, "since": int, "spare": int, "search": {"holds", "begins", "goes on", "ends"},
    "backoff": {"doubled", "largest"}, "wraps": {"yes", "no"}, "pending": {"0", "1"},
}


class Barrier:
    """Facts of records of a barrier engine."""

    def __init__(self, words):
        self.groups, self.members = int(words["groups"]), int(words["members"])
        self.largest = min(self.members, int(words["nodes"]))
        self.last_events, self.last = {}, None

    def facts(self, record):
        facts = {"event": record["event"]}
        if record["event"] == "reset":
            self.last_events, self.last = {str(group): "reset" for group in range(self.groups)}, None
            return facts
        if record["event"] == "dropped":
            return facts | {"drop": record["drop"]}
        self.times(facts, record)
        facts["number"] = self.number(int(record["group"]))
        facts |= {key: record[key] for key in ("refusal", "packet", "failure", "multicast", "drop", "phase", "next", "shape", "pending") if key in record}
        facts["ending"] = record["ending"]
        facts["copies"], facts["sent"] = self.copies(record), " ".join(sorted(set(record["sent"].split(","))))
        if "phase" in record:
            self.group(facts, record)
        return facts

    def times(self, facts, record):
        cycle, group = number(record["cycle"]), record["group"]
        if self.last is not None:
            last_cycle, last_group, facts["did"], busy = self.last
            facts["since"], facts["behind"] = cycle - last_cycle, self.last_events[last_group]
            facts["spare"] = facts["since"] - busy
            facts["group"] = "same" if group == last_group else "another"
        if group in self.last_events:
            facts["before"] = self.last_events[group]
        self.last, self.last_events[group] = (cycle, group, self.done(record), 1 + max(1, self.copies(record))), record["event"]

    @staticmethod
    def copies(record):
        return 0 if record["sent"] == "-" else len(record["sent"].split(","))

    @staticmethod
    def done(record):
        """To its group: gathered all below it and told its parent, ended the epoch, failed."""
        if record.get("drop", "-") != "-":
            return "dropped"
        if record["ending"] == "OK":
            return "ended"
        return {("gathering", "waiting"): "gathered", ("idle", "failed"): "failed", ("gathering", "failed"): "failed", ("waiting", "failed"): "failed"}.get((record.get("phase"), record.get("next")), "other")

    def number(self, group):
        if group >= self.groups:
            return "none"
        return {0: "first", self.groups - 1: "last"}.get(group, "other")

    def group(self, facts, record):
        members = int(record["members"])
        facts["blocks"] = "no" if record["block_log2"] == "0" else "yes"
        facts["address"] = "no" if record["multicast_address"] == "0" else "yes"
        facts["size"] = {1: "one", 2: "two", self.largest: "most"}.get(members, "some")
        facts["place"] = self.place(record, members)
        facts["last"] = "yes" if record["missing"] == "1" else "no"
        if "of_epoch" in record:
            facts["epoch"] = self.epoch((int(record["of_epoch"]) - int(record["epoch"])) % EPOCHS)
        if record["event"] == "tick" and facts["copies"] and facts["next"] == facts["phase"]:
            facts["backoff"] = "doubled" if int(record["interval"]) == 2 * int(record["interval_before"]) else "largest"
        if record["ending"] == "-":
            return
        facts["late"] = "no" if record["late"] == "-" else "yes"
        if record["ending"] == "OK":
            facts["wraps"] = "yes" if int(record["epoch"]) == EPOCHS - 1 else "no"
            if record["id"] == "0":
                facts["search"] = {("1", "1"): "holds", ("1", "0"): "begins", ("0", "0"): "goes on", ("0", "1"): "ends"}[record["holding_before"], record["holding"]]

    @staticmethod
    def place(record, members):
        if members == 1:
            return "alone"
        if record["id"] == "0":
            return "root"
        return "leaf" if record["children"] == "0" else "inner"

    @staticmethod
    def epoch(ahead):
        if ahead in (0, 1, EPOCHS - 1):
            return {0: "same", 1: "one ahead", EPOCHS - 1: "one behind"}[ahead]
        return "newer" if ahead < EPOCHS // 2 else "older"

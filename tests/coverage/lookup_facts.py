# SPDX-License-Identifier: Apache-2.0
"""What records of a switch lookup block's trace (docs/trace.md) tell, as plain facts that points of the testplan are made of.

Those that are not keys of the trace: way (LEAF: for here, out of the port to row or column, or injected; ROW, COLUMN: for the own row or column, or another);
port (the input's); primary (it is none, alive, dead, the input); candidates (live backups), chosen (which of them); copies (ports of the result); pruned
(what the entry's ports lost); turn (the VC rises); neighbour (outcome one clock before), kind_before (its kind); since_tables (clocks since they came into
use); role_before (of the tables before); live (ports).
"""

import pathlib
import sys

import specification

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"))
from traces import number  # noqa: E402

ROLES = specification.names("switch_lookup.role")

FACTS = {
    "event": {"lookup", "tables", "refused", "management", "scrubbed", "reset"}, "outcome": specification.names("switch_lookup.outcome"),
    "kind": specification.names("switch_lookup.kind") | {"undefined"}, "kind_before": specification.names("switch_lookup.kind") | {"undefined"},
    "role": ROLES | {"-"}, "role_before": ROLES | {"-"}, "entry": {"-", "empty", "valid", "corrupt"}, "way": {"here", "row", "column", "injected", "own", "other"},
    "port": {"first", "last", "other", "none", "beyond"}, "primary": {"none", "alive", "dead", "input"}, "candidates": int,
    "chosen": {"the only one", "first", "last", "between"}, "copies": int, "pruned": {"nothing", "input", "dead ports", "input and dead ports"}, "turn": {"yes", "no"}, "in_vc": int,
    "vc_max": int, "neighbour": specification.names("switch_lookup.outcome"), "since_tables": int, "live": {"all", "some", "none"}, "fine": {"0", "1"}, "by": {"registers", "packets"},
    "entries": {"no entry", "multicast", "unicast", "both"}, "fault": specification.names("switch_lookup.load_fault"), "opcode": specification.names("switch_lookup.management_opcode") | {"undefined"},
    "drop": specification.names("switch_lookup.management_drop") | {"-"}, "words": int, "corrected": {"0", "1"}, "table": {"multicast", "unicast"}, "mended": {"0", "1"},
    "meanwhile": {"lookups", "pauses", "loading", "clearing", "nothing"},
}


def ones(bits):
    return bin(bits).count("1")


class Lookup:
    """Facts of records of a switch lookup block."""

    def __init__(self, ports):
        self.ports = ports
        self.tables, self.tables_at = {}, None
        self.last = (None, None, None)  # cycle, outcome, kind

    def facts(self, record):
        facts = {"event": record["event"]}
        of = {"lookup": self.lookup, "tables": self.new_tables, "refused": self.refused, "management": self.management, "scrubbed": self.scrubbed, "reset": self.reset}
        of[record["event"]](facts, record)
        return facts

    def reset(self, *_):
        self.tables, self.tables_at = {}, None

    @staticmethod
    def refused(facts, record):
        facts["fault"], facts["words"] = record["fault"], int(record["words"])

    @staticmethod
    def scrubbed(facts, record):
        facts |= {key: record[key] for key in ("table", "mended", "meanwhile")}

    @staticmethod
    def management(facts, record):
        facts["drop"], facts["words"] = record["drop"], int(record["words"])
        facts["opcode"] = "undefined" if record["opcode"].isdigit() else record["opcode"]

    def new_tables(self, facts, record):
        facts["role_before"], facts["role"], facts["by"], facts["fine"] = self.tables.get("role", "-"), record["role"], record["by"], record["fine"]
        facts["entries"] = {(False, False): "no entry", (True, False): "multicast", (False, True): "unicast", (True, True): "both"}[record["multicast"] != "0", record["unicast"] != "0"]
        self.tables, self.tables_at = record, number(record["cycle"])

    def lookup(self, facts, record):
        cycle, outcome, kind = number(record["cycle"]), record["outcome"], "undefined" if record["kind"].isdigit() else record["kind"]
        facts |= {"outcome": outcome, "kind": kind, "role": record["role"], "entry": record["entry"], "corrected": record["corrected"], "in_vc": int(record["in_vc"])}
        facts["port"] = self.port(int(record["in_port"]))
        alive, result = number(record["alive"]), number(record["ports"])
        facts["live"] = "none" if alive == 0 else "all" if ones(alive) == self.ports else "some"
        facts["copies"] = ones(result)
        if self.last[0] == cycle - 1:
            facts["neighbour"], facts["kind_before"] = self.last[1:]
        self.last = (cycle, outcome, kind)
        if self.tables_at is not None:
            facts["since_tables"] = cycle - self.tables_at
        if record["role"] == self.tables.get("role"):  # else of the tables before
            facts["fine"], facts["vc_max"] = self.tables["fine"], int(self.tables["vc_max"])
        if kind == "MULTICAST" and record["entry"] == "valid":
            facts["pruned"] = self.pruned(number(record["entry_ports"]), alive, self.bit(record["in_port"]))
        if kind == "UNICAST":
            self.unicast(facts, record, alive, result)

    def unicast(self, facts, record, alive, result):
        facts["turn"] = "yes" if facts["outcome"] == "FORWARD" and int(record["vc"]) == facts["in_vc"] + 1 else "no"
        if "vc_max" in facts and facts["port"] not in ("none", "beyond"):
            facts |= self.way(record)
        if record["entry"] == "valid" and facts.get("way") not in ("here", "row", "column"):
            backups = number(record["entry_ports"]) & alive & ~self.bit(record["in_port"])
            facts["primary"] = self.primary(record, alive)
            facts["candidates"] = ones(backups)
            if facts["primary"] in ("none", "dead") and result & backups:
                facts["chosen"] = self.chosen(backups, result)

    def way(self, record):
        tables, own = self.tables, {"row": record["row"] == self.tables["own_row"], "column": record["column"] == self.tables["own_column"]}
        if record["role"] == "LEAF":
            by_port = {tables["row_port"]: "row", tables["column_port"]: "column"}
            return {"way": "here" if own["row"] and own["column"] else by_port.get(record["in_port"], "injected")}
        if record["role"] == "PLAIN":
            return {}
        return {"way": "own" if own[record["role"].lower()] else "other"}

    def port(self, in_port):
        if in_port == 0 or in_port > self.ports:
            return "none" if in_port == 0 else "beyond"
        return {1: "first", self.ports: "last"}.get(in_port, "other")

    @staticmethod
    def bit(port):
        return 1 << int(port) >> 1

    def primary(self, record, alive):
        if record["primary"] == "0":
            return "none"
        if not self.bit(record["primary"]) & alive:
            return "dead"
        return "input" if record["primary"] == record["in_port"] else "alive"

    @staticmethod
    def chosen(backups, result):
        if ones(backups) == 1:
            return "the only one"
        below, above = backups & (result - 1), backups & ~(2 * result - 1)
        return "first" if not below else "last" if not above else "between"

    @staticmethod
    def pruned(entry, alive, in_bit):
        dead = entry & ~alive & ~in_bit
        return {(False, False): "nothing", (True, False): "input", (False, True): "dead ports", (True, True): "input and dead ports"}[bool(entry & in_bit), bool(dead)]

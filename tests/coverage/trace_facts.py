# SPDX-License-Identifier: Apache-2.0
"""What the events of a trace (docs/trace.md) tell, as plain facts that points of the testplan are made of.

FACTS names every fact of each unit and its values. Those that are not keys of the trace:

all: before, distance (outcome of the event before of the same context or ticket, and clocks since), emit (type of the control packet).
rx, tx: neighbour (outcome of the event of any context one clock before); form (what the transfer is), of tx also answer.
rx: mode (of the receiver at the grant); pidx_at (where PIDX lay in the window); advance (how far WBASE went); marks (bits in WVEC); lap
(WBASE came into a new lap of the window); asks_from, order (flags FROM and ORDER of the ACK that is sent); silent (timeouts since something new came); cid (first or last context, or another).
tx: went (NEXT, with this event); ahead (NEXT lies in a second window, as far as ACKs told WBASE and the window); asked (a packet has been asked for again before); retries, busy (repeats of the RQT, refusals for want of a context, so far); origin_before (of the post before); imm (a SEND with one).
inbox: message, imm (of the completion), form (of the RQT), bound (what became meanwhile of the context that the ticket had).
queues: register, arm (of a write); ring (does the burst or slot begin a new lap), full (the ring has no slot left), quota, waits (entries
announced but not asked for), unseen (completions), since_head (clocks since the last CQ_HEAD), message_sent (not answered yet).
lookup: those of tests/coverage/lookup_facts.py; barrier: of barrier_facts.py; rxcounter_rx, rxcounter_tx, txwindow_rx, txwindow_tx: of older_facts.py.
"""

import dataclasses
import pathlib
import sys

import specification

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"))
import barrier_facts  # noqa: E402
import lookup_facts  # noqa: E402
import older_facts  # noqa: E402
import traces  # noqa: E402
from traces import number  # noqa: E402

OUTCOMES = specification.names("rdma.outcome")
TYPES = specification.names("rdma.ptype")
STATUSES = specification.names("rdma.status")
YES_NO = {"yes", "no"}
BIT = {"0", "1"}
FORMS = {"write", "imm", "send", "read"}
STATES = {"FREE", "WAITING", "TAKEN", "BOUND", "ENDING", "RETURNING"}
ADMISSIONS = {"nothing", "with_ticket", "buffer", "again", "refuse", "drop"}
REGISTERS = specification.registers("rdma_queues")
PAGE = 4096

FACTS = {
    "rx": {
        "event": {"packet", "timeout"}, "type": TYPES, "flags": int, "gen": int, "outcome": OUTCOMES, "room": BIT, "offer": YES_NO, "over_quota": BIT,
        "answer_room": BIT, "admit": ADMISSIONS | {"-"}, "emit": TYPES | {"none"}, "before": OUTCOMES, "distance": int, "neighbour": OUTCOMES,
        "cid": {"first", "last", "other"}, "form": FORMS, "mode": {"paper", "weft"}, "write": {"none", "full", "tail"}, "silent": int,
        "pidx_at": {"before", "base", "base+1", "inside", "base+window", "base+window+1", "beyond"}, "advance": int, "marks": int, "lap": {"new", "same"}, "asks_from": BIT, "order": BIT,
    },
    "tx": {
        "event": {"packet", "timeout", "post", "turn", "fault"}, "type": TYPES, "flags": int, "outcome": OUTCOMES, "room": BIT, "resend_room": BIT,
        "emit": TYPES | {"none"}, "before": OUTCOMES, "distance": int, "neighbour": OUTCOMES, "retry": int, "queue": {"send", "resend"},
        "completion": STATUSES, "msgid_wraps": YES_NO, "form": {"write", "imm", "send", "answer"}, "imm": YES_NO, "retries": int, "busy": int,
        "origin": {"registers", "queues", "answers"}, "origin_before": {"registers", "queues", "answers"},
        "went": {"on", "same", "back"}, "ahead": YES_NO, "asked": YES_NO,
    },
    "inbox": {
        "event": {"post", "RQT", "RSP", "timeout", "leave", "cancel", "decision"}, "outcome": OUTCOMES, "room": BIT, "offer": YES_NO, "finds": STATES | {"-"},
        "admit": ADMISSIONS, "refusal": OUTCOMES, "decision": OUTCOMES, "kind": {"recv", "read"}, "was": STATES, "state": STATES, "open": BIT,
        "retries": int, "busy": int, "emit": {"READ", "none"}, "completion": STATUSES, "message": {"buffer", "immediate"}, "imm": YES_NO,
        "form": {"imm", "send", "read"}, "before": OUTCOMES, "distance": int, "bound": {"in use", "over", "granted again"},
    },
    "queues": {
        "event": {"order", "entry", "fetch_error", "request", "slot", "retired", "fire", "message", "write", "told", "off"},
        "state": specification.names("rdma_queues.queue_state"), "was": specification.names("rdma_queues.queue_state") | {"-"},
        "verdict": specification.names("rdma_queues.verdict"), "opcode": specification.names("rdma_queues.opcode") | {"undefined"},
        "status": STATUSES | specification.names("rdma_queues.queue_status"),
        "fault": {"-", "flags", "imm", "reserved", "remote_addr", "node", "remote_key"}, "signal": BIT, "imm": BIT, "discarded": BIT, "urgent": BIT,
        "failed": BIT, "irq": specification.names("rdma_queues.irq_kind"), "cause": {"error", "at_once", "urgent", "count", "time"}, "open": BIT, "ok": BIT,
        "register": set(REGISTERS.values()) | {"none"}, "arm": YES_NO, "value": int, "armed": BIT, "queue": int, "count": int,
        "ring": {"first lap", "new lap", "later"}, "full": YES_NO, "quota": {"none", "below", "reached"}, "waits": YES_NO, "unseen": int,
        "since_head": int, "message_sent": YES_NO,
    },
    "lookup": lookup_facts.FACTS,
    "barrier": barrier_facts.FACTS,
    **older_facts.FACTS,
}


@dataclasses.dataclass
class Sizes:
    """Of the engine that the trace is of."""

    window: int
    payload: int
    contexts: int


def about(file):
    """The words of the first line of a trace."""
    with open(file, encoding="ascii") as lines:
        return dict(word.split("=", 1) for word in lines.readline().split() if "=" in word)


def sizes(words):
    return Sizes(int(words["window"]), int(words["payload"]), int(words["contexts"]))


def part(word, key):
    """Value of a key in a word such as RSP,dst=1,src=2."""
    return word.split(f",{key}=", 1)[1].split(",", 1)[0]


def emitted(record):
    return record["emit"].split(",", 1)[0].replace("-", "none")


FLAGS = {value: name for value, name in specification.ENUMS["rdma.transfer_flag"].items()}


def form_of(flags):
    """What a RQT asks for: of several flags READ counts before SEND before IMM."""
    named = {name for value, name in FLAGS.items() if flags & value}
    return next((form for form in ("read", "send", "imm") if form.upper() in named), "write")


class History:
    """Which event came before, of the same context and of any."""

    def __init__(self):
        self.last_of = {}  # by context: cycle, outcome
        self.last = (None, None)

    def facts(self, cycle, context, outcome):
        facts = {}
        if context in self.last_of:
            before_cycle, facts["before"] = self.last_of[context]
            facts["distance"] = cycle - before_cycle
        if self.last[0] == cycle - 1:
            facts["neighbour"] = self.last[1]
        self.last_of[context] = self.last = (cycle, outcome)
        return facts


def common_facts(record):
    """Of both halves."""
    facts = {"event": record["event"], "outcome": record["outcome"], "room": record["room"], "emit": emitted(record)}
    if record.get("type", "") in TYPES:
        facts["type"] = record["type"]
        facts["flags"] = number(record["flags"])
    return facts


MAP = (1 << 56) - 1  # of the arg of ACK
NEWS = ("GRANT", "ACCEPT", "ADVANCE", "FINISH")
RX_TIMEOUTS = ("ASK_ONE", "ASK_FROM", "ASK_MAP", "DONE_AGAIN", "RECLAIM")


@dataclasses.dataclass
class Transfer:
    """What holds a receive context."""

    form: str
    mode: str
    grant: int  # counts up
    wbase: int = 0
    silent: int = 0
    over: bool = False


class Receiver:
    """Facts of rx records."""

    def __init__(self, sizes):
        self.sizes = sizes
        self.history = History()
        self.held = {}  # by context
        self.grants = 0
        self.grant_of_ticket = {}

    def facts(self, record):
        outcome, cid = record["outcome"], record["cid"]
        facts = common_facts(record) | self.history.facts(number(record["cycle"]), cid, outcome)
        facts["offer"] = "no" if record["offer"] == "-" else "yes"
        facts["over_quota"], facts["answer_room"], facts["admit"] = record["over_quota"], record["answer_room"], record["admit"]
        facts["cid"] = {0: "first", self.sizes.contexts - 1: "last"}.get(number(cid), "other")
        facts["write"] = self.write(record["write"])
        if facts["emit"] == "ACK":
            flags = number(part(record["emit"], "flags"))
            facts["asks_from"], facts["order"] = flags >> 2 & 1, flags >> 7 & 1
        if outcome == "GRANT":
            self.grant(record)
        elif "gen" in record:
            facts["gen"] = number(record["gen"])
        if record.get("type") in ("RQT", "READ"):
            facts["form"] = "read" if record["type"] == "READ" else form_of(facts["flags"])
        if cid in self.held and record.get("type") != "READ":
            self.transfer_facts(facts, record, self.held[cid])
        return facts

    def grant(self, record):
        self.grants += 1
        mode = "paper" if part(record["emit"], "pidx") == "0" else "weft"
        self.held[record["cid"]] = Transfer(form_of(number(record["flags"])), mode, self.grants)
        self.grant_of_ticket[record["ticket"]] = (record["cid"], self.grants)

    def transfer_facts(self, facts, record, transfer):
        """Of an event of a context that was granted at some time."""
        outcome, wbase = record["outcome"], number(record["wbase"])
        facts.setdefault("form", transfer.form)
        facts["mode"] = transfer.mode
        if outcome == "GRANT":
            facts["gen"] = int(part(record["emit"], "gen"))
        if outcome in RX_TIMEOUTS:
            transfer.silent += 1
        elif outcome in NEWS:
            transfer.silent = 0
        facts["silent"] = transfer.silent
        transfer.over = transfer.over or outcome in ("RELEASED", "RELEASED_FAILED", "RECLAIM")
        if record.get("type") == "DATA":
            facts["pidx_at"] = self.place(number(record["pidx"]) - transfer.wbase)
        if outcome in ("ACCEPT", "ADVANCE", "FINISH"):
            facts["marks"] = bin(number(record["wvec"])).count("1")
            facts["advance"] = wbase - transfer.wbase
            facts["lap"] = "new" if wbase // self.sizes.window != transfer.wbase // self.sizes.window else "same"
            transfer.wbase = wbase

    def bound(self, ticket):
        """What has become of the context that was granted to this ticket."""
        if ticket not in self.grant_of_ticket:
            return None
        cid, grant = self.grant_of_ticket[ticket]
        if self.held[cid].grant != grant:
            return "granted again"
        return "over" if self.held[cid].over else "in use"

    def place(self, offset):
        window = self.sizes.window
        names = {0: "base", 1: "base+1", window: "base+window", window + 1: "base+window+1"}
        return names.get(offset, "before" if offset < 0 else "inside" if offset < window else "beyond")

    def write(self, word):
        if word == "-":
            return "none"
        return "full" if int(word.split("+")[1]) == self.sizes.payload else "tail"


@dataclasses.dataclass
class Request:
    """What holds a send context."""

    form: str
    imm: str
    origin: str
    retries: int = 0
    busy: int = 0
    next: int = 0
    acked: int = 0
    window: int = 0  # 0: no ACK has told it
    asked: str = "no"


class Sender:
    """Facts of tx records."""

    def __init__(self):
        self.history = History()
        self.held = {}  # by context
        self.msgid = None
        self.origin = None

    def facts(self, record):
        outcome, sid = record["outcome"], record["sid"]
        facts = common_facts(record) | self.history.facts(number(record["cycle"]), sid, outcome)
        facts["resend_room"] = record["resend_room"]
        if record["data"] != "-":
            facts["queue"] = record["data"].split(",queue=")[1]
            facts["retry"] = number(part(record["data"], "flags")) >> 1 & 1
        if record["completion"] != "-":
            facts["completion"] = record["completion"].split(":")[1]
        if record["event"] == "post":
            self.post(facts, record)
        elif sid in self.held and outcome != "STALE":
            self.request_facts(facts, outcome, self.held[sid])
            self.window_facts(facts, record, self.held[sid])
        return facts

    def post(self, facts, record):
        form = {"queue": "send", "ticket": "answer"}.get(record["for"], "write" if record["imm"] == "-" else "imm")
        facts["form"], facts["imm"], facts["origin"] = form, "no" if record["imm"] == "-" else "yes", record["origin"]
        if self.origin:
            facts["origin_before"] = self.origin
        self.origin = record["origin"]
        if record["outcome"] != "SUBMIT":
            return
        self.held[record["sid"]] = Request(form, facts["imm"], record["origin"])
        if record["emit"] != "-":
            msgid = int(part(record["emit"], "msgid"))
            facts["msgid_wraps"] = "yes" if self.msgid is not None and msgid < self.msgid else "no"
            self.msgid = msgid

    @staticmethod
    def request_facts(facts, outcome, request):
        if outcome == "RETRY_RQT":
            request.retries += 1
        elif outcome == "BACKOFF":
            request.busy += 1
            request.retries = 0
        facts |= {"form": request.form, "imm": request.imm, "origin": request.origin, "retries": request.retries, "busy": request.busy}

    @staticmethod
    def window_facts(facts, record, request):
        if facts.get("type") == "ACK":
            request.acked = max(request.acked, number(record["pidx"]))
            request.window = 1 << (number(record["arg"]) >> 56)
        facts["asked"] = request.asked
        if facts.get("type") == "RESEND" or (facts.get("type") == "ACK" and number(record["arg"]) & MAP):
            request.asked = "yes"
        before, request.next = request.next, number(record["next"])
        facts["went"] = "back" if request.next < before else "on" if request.next > before else "same"
        facts["ahead"] = "yes" if request.window and request.next > request.acked + request.window else "no"


class Inbox:
    """Facts of inbox records."""

    def __init__(self, receiver):
        self.receiver = receiver
        self.history = History()

    def facts(self, record):
        outcome, ticket = record["outcome"], record["ticket"]
        facts = {"event": record["event"], "outcome": outcome, "room": record["room"], "emit": emitted(record), "finds": record["finds"]}
        facts["offer"] = "no" if record["offer"] == "-" else "yes"
        facts |= {key: record[key] for key in ("admit", "refusal", "decision", "kind", "was", "state", "open") if record[key] != "-"}
        facts |= {key: int(record[key]) for key in ("retries", "busy") if record[key] != "-"}
        if record["event"] == "RQT":
            facts["form"] = form_of(number(record["flags"]))
        if record["completion"] != "-":
            facts["completion"] = record["completion"].split(":")[1].split(",")[0]
            facts["message"] = part(record["completion"], "form")
            facts["imm"] = "no" if part(record["completion"], "imm") == "-" else "yes"
        if ticket != "-":
            facts |= self.history.facts(number(record["cycle"]), ticket, outcome)
            facts.pop("neighbour", None)
        if record["event"] == "leave" and (bound := self.receiver.bound(ticket)):
            facts["bound"] = bound
        return facts


class Queues:
    """Facts of queues records."""

    OF_TRACE = ("verdict", "status", "fault", "signal", "imm", "discarded", "urgent", "failed", "irq", "cause", "open", "ok", "armed", "state", "was")

    def __init__(self):
        self.head_at = {}  # by queue: clock of the last CQ_HEAD
        self.messages = set()  # queues whose message is under way

    def facts(self, record):
        event, queue = record["event"], record["queue"]
        facts = {"event": event} | {key: record[key] for key in self.OF_TRACE if key in record}
        if "opcode" in record:
            facts["opcode"] = record["opcode"] if not record["opcode"].isdigit() else "undefined"
        if "count" in record:
            facts["count"] = int(record["count"])
        if event == "write":
            self.write(facts, record)
        if queue != "-":
            self.queue_facts(facts, record, int(queue))
        if event == "order":
            facts["ring"] = self.lap(int(record["index"]), int(record["entries"]))
        elif event == "slot" and record["discarded"] == "0":
            facts["ring"] = self.lap((int(record["written"]) - 1) % 65536, int(record["completions"]))
        return facts

    def write(self, facts, record):
        offset, data = number(record["offset"]), number(record["data"])
        register = REGISTERS.get(offset % PAGE + (PAGE if offset >= PAGE else 0), "none")
        facts["register"] = register
        if register == "Q_CTL":
            facts["value"] = data
        if register == "CQ_HEAD":
            facts["arm"] = "yes" if data >> 31 else "no"
            if record["ok"] == "1":
                self.head_at[record["queue"]] = number(record["cycle"])

    def queue_facts(self, facts, record, queue):
        def count(later, earlier):
            return (int(record[later]) - int(record[earlier])) % 65536

        quota = int(record["quota"])
        facts["queue"] = queue
        facts["quota"] = "none" if quota == 0 else "reached" if int(record["held"]) == quota else "below"
        facts["waits"] = "yes" if count("tail", "asked") else "no"
        facts["unseen"] = count("retired", "cq_head")
        facts["full"] = "yes" if count("promised", "cq_head") == int(record["completions"]) else "no"
        facts["message_sent"] = "yes" if queue in self.messages else "no"
        if record["queue"] in self.head_at:
            facts["since_head"] = number(record["cycle"]) - self.head_at[record["queue"]]
        if record["event"] == "fire" and record["irq"] == "MESSAGE":
            self.messages.add(queue)
        elif record["event"] == "message":
            self.messages.discard(queue)

    @staticmethod
    def lap(index, size):
        if index < size:
            return "first lap"
        return "new lap" if index % size == 0 else "later"


def events(file):
    """Unit and facts of every record."""
    units = units_of(about(file))
    for record in traces.records(file):
        unit, teller = units[record["unit"]]
        yield unit, teller.facts(record)


def units_of(words):
    """By unit of a record: unit of the plan, and who tells its facts."""
    if words["unit"] == "switch":
        units = {"lookup": lookup_facts.Lookup(int(words["ports"]))}
    elif words["unit"] == "barrier":
        units = {"barrier": barrier_facts.Barrier(words)}
    elif older := older_facts.halves(words, History):
        return older
    else:
        receiver = Receiver(sizes(words))
        units = {"rx": receiver, "tx": Sender(), "inbox": Inbox(receiver), "queues": Queues()}
    return {unit: (unit, teller) for unit, teller in units.items()}

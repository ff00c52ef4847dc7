# SPDX-License-Identifier: Apache-2.0
"""A design as one flat netlist with mutants built in, by Yosys: each mutant changes one bit at one cell while the port `mutant` has its number.

Needs the Python of `make verilog`.
"""

import collections
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import typing

import equivalence

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "fpga"))
import elaborate  # noqa: E402  pylint: disable=wrong-import-position
WORK = ROOT / "build" / "mutation"
PARAMETERS = ROOT / "tests" / "rtl" / "receivers.txt"
SELECTOR = ("mutant", 12)  # port, bits
VERDICTS = ["NONE", "DROP_CRC", "DROP_MALFORMED", "DROP_NOT_MINE"]  # of the arrival checks
WIDTHS = {"src": "NODE_W", "sid": "SID_W", "msgid": "MSGID_W"}  # they let no wider ones through

# Leaves no cell that constants or unused outputs make superfluous: a mutant of it would be equivalent. Cells stay words.
FLATTEN = ["flatten", *["opt -full -nosdff -nodffe", "wreduce", "splitcells"] * 2, "opt -full -nosdff -nodffe", "opt_clean -purge", "check -assert"]
# setundef: what an index beyond the last one of an array chooses; the nets that follow from it have no drivers.
TO_GATES = ["memory -nomap", "memory_map", "opt_clean", "setundef -undriven -zero", "async2sync", "dffunmap", "simplemap", "techmap", "aigmap", "opt_clean"]

CELL = re.compile(r"((?:^  attribute .*\n)*)^  cell (\S+) (\S+)\n((?:^    .*\n)*)^  end$", re.MULTILINE)  # of Yosys's own format
KINDS = {"inv": "inverted", "const0": "stuck at 0", "const1": "stuck at 1", "cnot0": "inverted while another bit is 0",
         "cnot1": "inverted while another bit is 1"}
WIRE_MUTANTS = 3
ALL = 1_000_000  # more mutants than there are
UNTOUCHED_PORTS = {"CLK", "ARST", "SRST"}  # a clock is no logic, and our RAMs have no resets: Yosys ties them to 0
UNTOUCHED_OF_CELLS = {("$memrd_v2", "EN")}  # a read without a clock is always on: Yosys demands it


class ToolError(Exception):
    """A tool failed."""


@dataclasses.dataclass(frozen=True)
class Design:
    """What is mutated, and where its mutants are drawn."""
    name: str
    mutants: int  # to draw evenly, if not told otherwise
    wires: list   # WIRE_MUTANTS at each of them besides: where a fault shows only in rare events
    beyond: typing.Optional["Design"] = None  # those that are drawn evenly are at cells which that one has not
    top: str = "rdma_receiver"  # of which the parameters stand in tests/rtl/receivers.txt, if not here
    sources: tuple = ()  # file list, generated package; none: those of the engine
    sizes: tuple = ()  # NAME=value

    @property
    def work(self):
        return WORK / self.name

    @property
    def flat(self):
        """Without mutants."""
        return self.work / "flat.il"

    @property
    def verilog(self):
        """With mutants, for simulation."""
        return self.work / "mutants.v"


# Races of timeouts with packets, rooms of queues, how often something was asked for.
SMALL = Design("small_receiver", 310, [
    "i_restarted_q", "i_expired_q", "i_same_q", "i_silent_q", "g_window.i_window.i_asks_q", "g_window.i_window.i_ask_one", "a_room", "i_act.ctls", "i_front.e_grantable", "h_beyond_end", "i_timer.set_q",
    "i_timer.scanned_q", "i_timer.drained_q", "i_reclaim", "i_front.starved_q"])
# Who comes first, rights, rooms for answers.
TRANSFERS = Design("transfers_receiver", 130, [
    "req_ready_o", "hdr_ready_o", "i_front.timeout_first", "i_front.starved_q", "i_front.c_right", "ctl_room", "i_front.e_grantable", "answer_take_o", "read_valid_o"], beyond=SMALL)
# As in tests/rtl/CMakeLists.txt. Races of images with scrubber and management packets.
SWITCH_SOURCES = (ROOT / "rtl" / "switch" / "switch.f", ROOT / "build" / "gen" / "rtl" / "switch_lookup_formats_pkg.sv")
SWITCH = Design("switch_lookup", 300, ["b_current_q", "i_management.playing_o", "i_management.hold_i"], top="switch_lookup", sources=SWITCH_SOURCES,
                sizes=("N_IN=3", "N_PORTS=8", "N_COLOURS=16", "N_UNICAST=64"))
# Tables of input ports, which of them an entry is in.
PER_PORT = Design("switch_per_port", 60, [], beyond=SWITCH, top="switch_lookup", sources=SWITCH_SOURCES,
                  sizes=("N_IN=3", "N_PORTS=6", "N_COLOURS=8", "N_UNICAST=64", "PER_PORT=1'b1"))
# As in tests/rtl/CMakeLists.txt. Races of packets with commands and ticks, of completions with software.
BARRIER = Design("barrier_engine", 300, ["i_core.before_tick_q", "i_core.ticks_q", "i_core.timed_q", "i_completions.pending_o", "i_core.open_o"], top="barrier_engine",
                 sources=(ROOT / "rtl" / "barrier" / "barrier.f", ROOT / "build" / "gen" / "rtl" / "barrier_formats_pkg.sv"),
                 sizes=("N_GROUPS=4", "N_MEMBERS=32", "N_NODES=24", "IN_DEPTH=4"))
# Blocks of the older schemes (docs/rdma_baseline.md), as in tests/rtl/CMakeLists.txt; of their senders what they have beyond the engine's own of the same size.
NARROW = ("N_TX_CTX=8", "PAYLOAD=64", "PIDX_W=8", "CID_W=5", "SID_W=4", "MSGID_W=6", "NODE_W=4", "ADDR_W=24", "RESEND_DEPTH=8")
WIDE = ("N_TX_CTX=8", "PAYLOAD=64", "PIDX_W=24", "CID_W=16", "SID_W=16", "MSGID_W=24", "NODE_W=16", "ADDR_W=63", "RESEND_DEPTH=8")
RX_COUNTER = Design("rdma_rx_counter", 50, [], top="rdma_rx_counter", sizes=("PIDX_W=8",))
SEND_LISTS = Design("rdma_send_lists", 50, [], top="rdma_send_lists", sizes=("N_TX_CTX=8", "N_BUFFERS=4"))
SEND_COPIES = Design("rdma_send_copies", 50, [], top="rdma_send_copies", sizes=("DATA_W=256", "PAYLOAD=64", "ADDR_W=16", "N_BUFFERS=2", "WINDOW=4", "DEPTH=4"))
COUNTER_SENDER = Design("counter_sender", 50, [], beyond=Design("wide_sender", 0, [], top="rdma_sender", sizes=WIDE), top="rdma_sender", sizes=(*WIDE, "SCHEME=1"))
# Races of timeouts, turns and answers of a buffer.
KEEPING_SENDER = Design("keeping_sender", 110, ["g_buffers.i_buffers.turn_q"], beyond=Design("narrow_sender", 0, [], top="rdma_sender", sizes=NARROW), top="rdma_sender",
                        sizes=(*NARROW, "SCHEME=2", "WINDOW=4", "N_BUFFERS=2"))


@dataclasses.dataclass(frozen=True)
class Unit:
    """Designs of which the results stand on one page."""
    title: str
    command: str
    page: str
    designs: list


UNITS = {"receiver": Unit("the receiver", "make mutate", "mutation.md", [SMALL, TRANSFERS]),
         "switch": Unit("the switch lookup block", "make switch-mutate", "switch_mutation.md", [SWITCH, PER_PORT]),
         "barrier": Unit("the barrier engine", "make barrier-mutate", "barrier_mutation.md", [BARRIER]),
         "older": Unit("the older schemes", "make older-mutate", "older_mutation.md", [RX_COUNTER, SEND_LISTS, SEND_COPIES, COUNTER_SENDER, KEEPING_SENDER])}


@dataclasses.dataclass(frozen=True)
class Cell:
    name: str
    type: str
    width: int  # of its output
    place: str  # rtl/...:line.column-line.column; nothing for a cell that Yosys has put together from others

    @property
    def site(self):
        """Where it is in the source; the same in another design. Pieces of one cell share theirs."""
        return self.type, self.place, instance(self.name), register(self.name)

    @property
    def bits(self):
        """Those of the whole cell that this piece has."""
        first = sum(int(each.split(":")[-1]) for each in re.findall(r"\[([\d:]+)\]", pieces(self.name)))
        return set(range(first, first + self.width))


@dataclasses.dataclass(frozen=True)
class Mutant:
    number: int
    mode: str     # of Yosys's mutate
    cell: str
    cell_type: str
    port: str
    bit: int
    control: int  # bit of the port that decides, or -1
    wire: str     # name[bit] of what is connected there, if it has one
    place: str    # as Cell has it

    @property
    def file(self):
        return self.place.split(":")[0]

    def text(self):
        """What stands in the source there; of several lines the first."""
        if not self.place:
            return "made by Yosys"
        file, span = self.place.split(":")
        line, start, last, end = map(int, re.fullmatch(r"(\d+)\.(\d+)(?:-(\d+)\.(\d+))?", span).groups(default=0))
        words = lines_of(file)[line - 1]
        return words[start - 1:end - 1].strip() if last == line else words[start - 1:].strip() if last else words.strip()

    def site(self):
        """Where it is in the source, whatever its line."""
        return f"{pathlib.Path(self.file).name} {instance(self.cell) or '-'} {self.what()}"

    def what(self):
        """Its register, or what stands in the source."""
        return register(self.cell) or self.text()

    def kind(self):
        """Who it is but for names of nets and the bit that decides, which both may be others after a change elsewhere."""
        return f"{self.site()} {self.cell_type}{pieces(self.cell)}.{self.port}[{self.bit}] {self.mode}"

    def identity(self):
        """Who it is, whatever its number and its line: for the list of reviewed mutants."""
        control = f"/{self.control}" if self.control >= 0 else ""
        at = f"{self.cell_type}{pieces(self.cell)}.{self.port}[{self.bit}]" + (f" ({self.wire})" if self.wire else "")
        return f"{pathlib.Path(self.file).name} {instance(self.cell) or '-'} `{self.what()}` {at} {self.mode}{control}"


@functools.cache
def lines_of(file):
    return (ROOT / file).read_text(encoding="utf-8").splitlines()


def instance(cell):
    """In which module of the flattened ones a cell of this name was."""
    return ".".join(re.findall(r"\\([A-Za-z]\w*)\.", cell))


def register(cell):
    """Which it is, or nothing."""
    match = re.search(r"\$driver\$([\w.]+)", cell)
    return match.group(1) if match else ""


def pieces(cell):
    """[last:first] of each time that it was split."""
    return re.search(r"(?:\[[\d:]+\])*$", cell).group()


def yosys(commands):
    if error := elaborate.run_yosys_apart(commands):
        raise ToolError(f"yosys: {error[-300:]}")


def below_root(path):
    return str(path.relative_to(ROOT))


def parameters(design):
    """name=value"""
    if design.sizes:
        return list(design.sizes)
    lines = [line.split() for line in PARAMETERS.read_text(encoding="utf-8").splitlines()]
    return next(rest for name, *rest in filter(None, lines) if name == design.name)


def checked(design):
    """The inputs that rdma_rx_check.sv drives; nothing if inputs can be anything."""
    if design.top != "rdma_receiver":
        return None
    spec = json.loads((ROOT / "spec" / "rdma.json").read_text(encoding="utf-8"))
    outcome = {value["name"]: value["value"] for value in next(enum for enum in spec["enums"] if enum["name"] == "outcome")["values"]}
    size = dict(each.split("=") for each in parameters(design))
    zero, place = [], 0
    for field in spec["header"]["fields"]:
        if field["name"] in WIDTHS:
            zero += range(place + int(size[WIDTHS[field["name"]]]), place + field["width"])
        place += field["width"]
    return equivalence.Checked("hdr_valid_i", "verdict_i", [outcome[name] for name in VERDICTS], "hdr_i", zero)


def flatten(design):
    """Makes design.flat."""
    design.work.mkdir(parents=True, exist_ok=True)
    sizes = [word for each in parameters(design) for word in ("-G", each)]
    sources = [word for option, path in zip(("--list", "--formats"), design.sources) for word in (option, str(path))]
    command = [sys.executable, str(ROOT / "fpga" / "elaborate.py"), "--rtlil", "--out", str(design.work), *sources, *sizes, design.top]
    if subprocess.run(command, check=False).returncode:
        raise ToolError("elaboration failed")
    yosys([f"read_rtlil {below_root(design.work / (design.top + '.il'))}", f"hierarchy -check -top {design.top}", *FLATTEN, f"write_rtlil {below_root(design.flat)}"])


def cells(design):
    """By name."""
    found = {}
    for attributes, cell_type, name, body in CELL.findall(design.flat.read_text(encoding="utf-8")):
        place, width = re.search(r'\\src "(?:.*\|)?(.*)"', attributes), re.search(r"^    parameter \\(?:Y_)?WIDTH (\d+)$", body, re.MULTILINE)
        found[name] = Cell(name, cell_type, int(width[1]) if width else 1, place[1] if place else "")
    return found


def added(design):
    """Names of the cells which design.beyond has not, or not as wide."""
    known = collections.defaultdict(set)
    for cell in cells(design.beyond).values():
        known[cell.site] |= cell.bits
    return [cell.name for cell in cells(design).values() if not cell.bits <= known.get(cell.site, set())]


def draw(design, count, seed):
    """So many mutants, spread evenly over the places in the source; then WIRE_MUTANTS at each of the wires.

    Which one follows from what it is and the seed: a change of the RTL elsewhere draws no others.
    """
    everywhere, at_wire = design.work / "all.ys", {wire: design.work / f"all_{wire}.ys" for wire in design.wires}
    yosys([f"read_rtlil {below_root(design.flat)}", f"mutate -list {ALL} -o {below_root(everywhere)}",
           *(f"mutate -list {ALL} -wire {wire} -o {below_root(listing)}" for wire, listing in at_wire.items())])
    cell_of = cells(design)
    chosen = set(added(design)) if design.beyond else set(cell_of)
    mutants = candidates(everywhere, cell_of)
    widths = collections.Counter((mutant.cell, mutant.port) for mutant in mutants if mutant.mode == "inv")
    drawn = evenly([mutant for mutant in mutants if mutant.cell in chosen], count, seed)
    for wire, listing in at_wire.items():
        there = candidates(listing, cell_of)
        if not there:
            raise ToolError(f"no mutant at the wire {wire} of {design.name}: it has another name now")
        drawn += sorted(there, key=lambda mutant: lot(seed, mutant.kind()))[:WIRE_MUTANTS]
    drawn = {mutant.kind(): mutant for mutant in reversed(drawn)}  # each one once
    mutants = [with_control(mutant, widths[mutant.cell, mutant.port], seed, number) for number, mutant in enumerate(reversed(drawn.values()), 1)]
    if len(mutants) >= 1 << SELECTOR[1]:
        raise ToolError(f"{len(mutants)} mutants are too many for {SELECTOR[1]} bits")
    return mutants


def lot(seed, what):
    """A number that is random, but always the same."""
    return int.from_bytes(hashlib.sha256(f"{seed} {what}".encode()).digest()[:8], "little")


def evenly(mutants, count, seed):
    """One of each place in the source, then a second one, and so on; places and mutants by lot."""
    places = collections.defaultdict(list)
    for mutant in mutants:
        places[mutant.site()].append((lot(seed, mutant.kind()), mutant))
    rounds = [(turn, lot(seed, site), mutant) for site, there in places.items()
              for turn, (_, mutant) in enumerate(sorted(there, key=lambda each: each[0])[:count])]
    return [mutant for *_, mutant in sorted(rounds, key=lambda each: each[:2])[:count]]


def candidates(listing, cell_of):
    """From commands of Yosys's mutate, each once; which bit decides is left open."""
    found = {}
    for line in listing.read_text(encoding="utf-8").splitlines():
        words = line.split()[1:]
        options = dict(zip(words[::2], words[1::2]))  # of several -src the last one: the cell's
        cell_type = cell_of[options["-cell"]].type
        if options["-port"] in UNTOUCHED_PORTS or (cell_type, options["-port"]) in UNTOUCHED_OF_CELLS:
            continue
        wire = f"{options['-wire']}[{options['-wirebit']}]" if "-wire" in options else ""
        mutant = Mutant(0, options["-mode"], options["-cell"], cell_type, options["-port"], int(options["-portbit"]), -1, wire,
                        options.get("-src", ""))
        found.setdefault((mutant.mode, mutant.cell, mutant.port, mutant.bit), mutant)  # a bit may have several names
    return list(found.values())


def with_control(mutant, width, seed, number):
    """With another bit of its port, by lot, that decides, if it needs one."""
    control = lot(seed, mutant.kind() + " decides") % (width - 1) if mutant.mode.startswith("cnot") else -1
    return dataclasses.replace(mutant, number=number, control=control + 1 if control >= mutant.bit else control)


def build(design, mutants):
    """Makes design.verilog; gives the file of the same as an and-inverter graph, for proofs."""
    script = design.work / "mutants.ys"
    port, width = SELECTOR
    lines = []
    for mutant in mutants:
        control = f" -ctrlbit {mutant.control}" if mutant.control >= 0 else ""
        lines.append(f"mutate -ctrl {port} {width} {mutant.number} -mode {mutant.mode} -module {design.top} -cell {mutant.cell} -port {mutant.port} "
                     f"-portbit {mutant.bit}{control}\n")
    script.write_text("".join(lines), encoding="utf-8")
    graph, new = design.work / "mutants.aag", design.work / "new.v"
    # splitnets: Verilator 5.006 does not settle vectors of which one bit depends on another.
    yosys([f"read_rtlil {below_root(design.flat)}", f"script {below_root(script)}", "splitnets", f"write_verilog -noattr {below_root(new)}", *TO_GATES,
           f"write_aiger -ascii -symbols {below_root(graph)}"])
    if not design.verilog.exists() or design.verilog.read_bytes() != new.read_bytes():
        os.replace(new, design.verilog)  # else nothing is to be compiled again
    return graph

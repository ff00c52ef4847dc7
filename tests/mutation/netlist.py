# SPDX-License-Identifier: Apache-2.0
"""The receiver as one flat netlist with mutants built in, by Yosys: each mutant changes one bit at one cell while the port `mutant` has its number.

Needs the Python of `make verilog`.
"""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys

import equivalence

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "fpga"))
import elaborate  # noqa: E402  pylint: disable=wrong-import-position
WORK = ROOT / "build" / "mutation"
TOP = "rdma_receiver"
RECEIVERS = ROOT / "tests" / "rtl" / "receivers.txt"
RECEIVER = "small_receiver"  # the one of them that is mutated
SELECTOR = ("mutant", 12)  # port, bits
VERDICTS = ["NONE", "DROP_CRC", "DROP_MALFORMED", "DROP_NOT_MINE"]  # of the arrival checks
WIDTHS = {"src": "NODE_W", "sid": "SID_W", "msgid": "MSGID_W"}  # they let no wider ones through

# Leaves no cell that constants or unused outputs make superfluous: a mutant of it would be equivalent. Cells stay words.
FLATTEN = ["flatten", *["opt -full -nosdff -nodffe", "wreduce", "splitcells"] * 2, "opt -full -nosdff -nodffe", "opt_clean -purge", "check -assert"]
TO_GATES = ["memory -nomap", "memory_map", "opt_clean", "async2sync", "dffunmap", "simplemap", "techmap", "aigmap", "opt_clean"]

KINDS = {"inv": "inverted", "const0": "stuck at 0", "const1": "stuck at 1", "cnot0": "inverted while another bit is 0",
         "cnot1": "inverted while another bit is 1"}
# Where a fault shows only in rare events: races of timeouts with packets, rooms of queues, how often something was asked for.
WIRES = ["i_restarted_q", "i_expired_q", "i_same_q", "i_silent_q", "i_asks_q", "i_ask_one", "a_room", "i_act.ctls", "e_grantable", "h_beyond_end", "i_timer.set_q",
         "i_timer.scanned_q", "i_timer.drained_q", "i_reclaim", "starved_q"]
WIRE_MUTANTS = 3
UNTOUCHED_PORTS = {"CLK", "ARST", "SRST"}  # a clock is no logic, and our RAMs have no resets: Yosys ties them to 0


class ToolError(Exception):
    """A tool failed."""


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
    place: str    # rtl/...:line.column-line.column; nothing for a cell that Yosys has put together from others

    @property
    def file(self):
        return self.place.split(":")[0]

    @property
    def instance(self):
        return ".".join(re.findall(r"\\([A-Za-z]\w*)\.", self.cell))

    def text(self):
        """What stands in the source there; of several lines the first."""
        if not self.place:
            return "made by Yosys"
        file, span = self.place.split(":")
        line, start, last, end = map(int, re.fullmatch(r"(\d+)\.(\d+)(?:-(\d+)\.(\d+))?", span).groups(default=0))
        words = (ROOT / file).read_text(encoding="utf-8").splitlines()[line - 1]
        return words[start - 1:end - 1].strip() if last == line else words[start - 1:].strip() if last else words.strip()

    def identity(self):
        """Who it is, whatever its number and its line: for the list of reviewed mutants."""
        piece = re.search(r"(?:\[[\d:]+\])*$", self.cell).group()
        control = f"/{self.control}" if self.control >= 0 else ""
        register = re.search(r"\$driver\$([\w.]+)", self.cell)
        what = register.group(1) if register else self.text()
        at = f"{self.cell_type}{piece}.{self.port}[{self.bit}]" + (f" ({self.wire})" if self.wire else "")
        return f"{pathlib.Path(self.file).name} {self.instance or '-'} `{what}` {at} {self.mode}{control}"


def yosys(commands):
    if error := elaborate.run_yosys_apart(commands):
        raise ToolError(f"yosys: {error[-300:]}")


def below_root(path):
    return str(path.relative_to(ROOT))


def parameters():
    """name=value"""
    lines = [line.split() for line in RECEIVERS.read_text(encoding="utf-8").splitlines()]
    return next(rest for name, *rest in filter(None, lines) if name == RECEIVER)


def checked():
    """The inputs that rdma_rx_check.sv drives."""
    spec = json.loads((ROOT / "spec" / "rdma.json").read_text(encoding="utf-8"))
    outcome = {value["name"]: value["value"] for value in next(enum for enum in spec["enums"] if enum["name"] == "outcome")["values"]}
    size = dict(each.split("=") for each in parameters())
    zero, place = [], 0
    for field in spec["header"]["fields"]:
        if field["name"] in WIDTHS:
            zero += range(place + int(size[WIDTHS[field["name"]]]), place + field["width"])
        place += field["width"]
    return equivalence.Checked("hdr_valid_i", "verdict_i", [outcome[name] for name in VERDICTS], "hdr_i", zero)


def flatten():
    """WORK/flat.il."""
    sizes = [word for each in parameters() for word in ("-G", each)]
    command = [sys.executable, str(ROOT / "fpga" / "elaborate.py"), "--rtlil", "--out", str(WORK), *sizes, TOP]
    if subprocess.run(command, check=False).returncode:
        raise ToolError("elaboration failed")
    yosys([f"read_rtlil {below_root(WORK / (TOP + '.il'))}", f"hierarchy -check -top {TOP}", *FLATTEN, f"write_rtlil {below_root(WORK / 'flat.il')}"])


def cell_types():
    return {match[2]: match[1] for match in re.finditer(r"^  cell (\S+) (\S+)$", (WORK / "flat.il").read_text(encoding="utf-8"), re.MULTILINE)}


def draw(count, seed):
    """So many mutants or a few less, spread evenly over sources, wires and cells; then WIRE_MUTANTS at each of WIRES."""
    listings = [WORK / "drawn.ys", *(WORK / f"drawn_{wire}.ys" for wire in WIRES)]
    yosys([f"read_rtlil {below_root(WORK / 'flat.il')}", f"mutate -list {count} -seed {seed} -o {below_root(listings[0])}",
           *(f"mutate -list {WIRE_MUTANTS} -seed {seed} -wire {wire} -o {below_root(listing)}" for wire, listing in zip(WIRES, listings[1:]))])
    for wire, listing in zip(WIRES, listings[1:]):
        if not listing.stat().st_size:
            raise ToolError(f"no mutant at the wire {wire}: it has another name now")
    types, mutants = cell_types(), []
    lines = dict.fromkeys(line for listing in listings for line in listing.read_text(encoding="utf-8").splitlines())  # each one once
    for line in lines:
        words = line.split()[1:]
        options = dict(zip(words[::2], words[1::2]))  # of several -src the last one: the cell's
        if options["-port"] in UNTOUCHED_PORTS:
            continue
        wire = f"{options['-wire']}[{options['-wirebit']}]" if "-wire" in options else ""
        mutants.append(Mutant(len(mutants) + 1, options["-mode"], options["-cell"], types[options["-cell"]], options["-port"], int(options["-portbit"]),
                              int(options.get("-ctrlbit", -1)), wire, options.get("-src", "")))
    if len(mutants) >= 1 << SELECTOR[1]:
        raise ToolError(f"{len(mutants)} mutants are too many for {SELECTOR[1]} bits")
    return mutants


def build(mutants):
    """WORK/mutants.v for simulation and WORK/mutants.aag for proofs."""
    script = WORK / "mutants.ys"
    port, width = SELECTOR
    lines = []
    for mutant in mutants:
        control = f" -ctrlbit {mutant.control}" if mutant.control >= 0 else ""
        lines.append(f"mutate -ctrl {port} {width} {mutant.number} -mode {mutant.mode} -module {TOP} -cell {mutant.cell} -port {mutant.port} "
                     f"-portbit {mutant.bit}{control}\n")
    script.write_text("".join(lines), encoding="utf-8")
    verilog, graph, new = WORK / "mutants.v", WORK / "mutants.aag", WORK / "new.v"
    yosys([f"read_rtlil {below_root(WORK / 'flat.il')}", f"script {below_root(script)}", f"write_verilog -noattr {below_root(new)}", *TO_GATES,
           f"write_aiger -ascii -symbols {below_root(graph)}"])
    if not verilog.exists() or verilog.read_bytes() != new.read_bytes():
        os.replace(new, verilog)  # else nothing is to be compiled again
    return verilog, graph

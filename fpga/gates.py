# SPDX-License-Identifier: Apache-2.0
"""From a module to a flat netlist of OSU 0.18 um cells that Verilator runs: elaboration, synthesis as in `make synth`, models of
cells and RAMs, and netlists in which gates can be swapped for others.
"""

import random
import re
import sys

import area

ELABORATE = area.ROOT / "fpga" / "elaborate.py"
# Gates and what each is swapped for: another function of the same pins.
SWAPS = {
    "AND2X1": "OR2X1", "AND2X2": "OR2X2", "OR2X1": "AND2X1", "OR2X2": "AND2X2", "NAND2X1": "NOR2X1", "NOR2X1": "NAND2X1",
    "NAND3X1": "NOR3X1", "NOR3X1": "NAND3X1", "XOR2X1": "XNOR2X1", "XNOR2X1": "XOR2X1", "AOI21X1": "OAI21X1", "OAI21X1": "AOI21X1",
    "AOI22X1": "OAI22X1", "OAI22X1": "AOI22X1", "INVX1": "BUFX2", "INVX2": "BUFX2",
}
GATE = re.compile(rf"^  ({'|'.join(SWAPS)}) (?=\S+ \($)", re.M)


def elaborate(module, folder, listing=None, parameters=(), formats=None):
    """Plain Verilog of the module, in its folder. Generated package: the engine's, if not told otherwise."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(ELABORATE), "--force", "--out", str(folder)]
    for parameter in parameters:
        command += ["-G", parameter]
    if listing:
        command += ["--list", str(listing)]
    if formats:
        command += ["--formats", str(formats)]
    area.run_tool([*command, module], folder / "elaborate.log")
    return folder / f"{module}.v"


def synthesize(module, source, folder):
    """Netlist and how many gates and flops it has; RAMs stay modules."""
    netlist, stat = folder / "netlist.v", folder / "netlist.stat"
    area.yosys(
        [*area.osu018_commands(module, folder, source), f"tee -q -o {stat} stat", f"write_verilog -noattr -noexpr -nohex -simple-lhs {netlist}"],
        folder, "synth")
    cells = {kind: count for kind, count in area.cell_counts(stat).items() if re.fullmatch(r"[A-Z]+\d*[A-Z]*X?\d+|DFFSR|LATCH", kind)}
    flops = sum(count for kind, count in cells.items() if kind.startswith("DFF"))
    return netlist, sum(cells.values()) - flops, flops


def write_cell_models(path):
    """What each cell does, as the liberty file says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    area.yosys([f"read_liberty -ignore_miss_func {area.LIBERTY}", "proc", f"write_verilog -noattr {path}"], path.parent, "cells")


def write_ram_models(source, path):
    """The RAM modules of plain Verilog, which the netlist has as black boxes."""
    modules = re.findall(r"^module \\?" + re.escape(area.RAM_PREFIX) + r".*?^endmodule$", source.read_text(encoding="utf-8"), re.M | re.S)
    if not modules:
        raise area.ToolError(f"{source.name} has no RAMs")
    path.write_text("\n\n".join(modules) + "\n", encoding="utf-8")


def pick_gates(netlist, count, seed):
    """Positions of so many gates, at random."""
    gates = list(GATE.finditer(netlist))
    if len(gates) < count:
        raise area.ToolError(f"the netlist has only {len(gates)} gates to swap, not {count}")
    return sorted(random.Random(seed).sample(gates, count), key=lambda gate: gate.start())


def swap_words(gate):
    return f"{gate[1]} {gate.string[gate.end():gate.string.index(' ', gate.end())]} made {SWAPS[gate[1]]}"


def with_swapped_gate(gate):
    """The netlist with this one swapped."""
    return gate.string[: gate.start(1)] + SWAPS[gate[1]] + gate.string[gate.end(1):]


def with_swappable_gates(netlist, gates):
    """The netlist in which each of these gates can be swapped when it runs: number 1 is the first, as weft_swapped_gate() says."""
    parts, last = [], 0
    for number, gate in enumerate(gates, 1):
        parts += [netlist[last:gate.start(1)], f"swappable_{gate[1]} #(.NUMBER({number}))"]
        last = gate.end(1)
    models = [swappable_model(kind) for kind in sorted({gate[1] for gate in gates})]
    return "".join([*parts, netlist[last:]]) + "\n" + "\n".join(models)


def swappable_model(kind):
    pins = {"2": "AB", "3": "ABC", "21": "ABC", "22": "ABCD", "": "A"}[re.fullmatch(r"[A-Z]+?(\d*)X\d", kind)[1]]
    inputs = "".join(f", .{pin}({pin})" for pin in pins)
    return f"""module swappable_{kind} #(parameter NUMBER = 0) (input {', '.join(pins)}, output Y);
  import "DPI-C" function int weft_swapped_gate();
  wire right, wrong;
  integer swapped;
  initial swapped = weft_swapped_gate();
  {kind} i_right (.Y(right){inputs});
  {SWAPS[kind]} i_wrong (.Y(wrong){inputs});
  assign Y = swapped == NUMBER ? wrong : right;
endmodule
"""


def read_as_graph(module, files):
    """Commands that make one flat module of and-gates and inverters."""
    return [*(f"read_verilog {file}" for file in files), f"hierarchy -check -top {module}", "proc", "flatten", "opt_clean", "setundef -zero", "techmap",
            "opt_clean", "aigmap", "opt_clean"]


def write_graph(module, files, folder, name):
    """That module as RTLIL, to be compared with others."""
    graph = folder / f"{name}.il"
    area.yosys([*read_as_graph(module, files), f"rename {module} gold", f"write_rtlil {graph}"], folder, name)
    return graph


def equal(gold, module, files, folder, name):
    """Whether a module without flops does for all inputs what the graph says; by ABC: sweeping of equal nodes, then SAT."""
    miter = folder / f"{name}.aig"
    area.yosys(
        [*read_as_graph(module, files), f"rename {module} gate", f"read_rtlil {gold}", "miter -equiv -flatten gold gate miter",
         "hierarchy -top miter", "techmap", "opt_clean", "aigmap", "opt_clean", f"write_aiger {miter}"],
        folder, name)
    text = area.run_tool(["yosys-abc", "-c", f"read {miter}; strash; ifraig; iprove"], folder / f"{name}.abc.log")
    proved, refuted = re.search(r"^UNSATISFIABLE", text, re.M), re.search(r"^SATISFIABLE", text, re.M)
    if bool(proved) == bool(refuted):
        raise area.ToolError(f"abc came to no result, see {(folder / name).relative_to(area.ROOT)}.abc.log")
    return bool(proved)

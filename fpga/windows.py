# SPDX-License-Identifier: Apache-2.0
"""Compares designs of the receive window that take one packet a clock, each on the result of the one before.

On the plain Verilog of `make verilog`: OSU 0.18 um standard cells with static timing, and place and route on an iCE40 HX8K.
Writes build/synth/window.json and docs/results/window.md. Needs Debian's yosys, opensta, qflow-tech-osu018 and nextpnr-ice40.
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import sys

import area

PAGE = area.ROOT / "docs" / "results" / "window.md"
SEEDS = (1, 2, 3)  # of the placer; the best counts

DESIGNS = {
    "window_plain": "shifted WVEC, run of ones counted one by one",
    "window_tree": "shifted WVEC, run of ones counted by halving",
    "window_round": "circular bitmap, hole searched in each clock",
    "window_holes": "circular bitmap, first hole remembered, next packet looked up ahead (the engine's)",
}


def place(top, folder):
    """Logic cells and frequency on an iCE40 HX8K, after routing."""
    netlist = folder / "hx8k.json"
    area.yosys([f"read_verilog {area.VERILOG / (top + '.v')}", f"synth_ice40 -device hx -abc9 -top {top} -json {netlist}"], folder, "hx8k")
    best = None
    for seed in SEEDS:
        log = area.run_tool(
            ["nextpnr-ice40", "--hx8k", "--package", "ct256", "--json", str(netlist), "--pcf-allow-unconstrained", "--freq", "100",
             "--timing-allow-fail", "--seed", str(seed)], folder / f"nextpnr{seed}.log")
        mhz = float(re.findall(r"Max frequency for clock +'[^']*': ([\d.]+) MHz", log)[-1])
        cells = int(re.search(r"ICESTORM_LC: +(\d+)/", log).group(1))
        if best is None or mhz > best["fmax_mhz"]:
            best = {"fmax_mhz": mhz, "cells": cells, "seed": seed}
    return best


def run_job(top, flow):
    folder = area.WORK / top
    files = [pathlib.Path(area.__file__), pathlib.Path(__file__), area.VERILOG / f"{top}.v"]
    return area.kept(folder, flow, files, lambda: area.standard_cells(top, folder) if flow == "osu018" else place(top, folder))


def page(results):
    lines = [
        "# Designs of the receive window",
        "",
        f"Written by `make synth` with {results['yosys']}, OpenSTA (OSU 0.18 µm, typical corner, no wires) and nextpnr-ice40 (HX8K, routed, best of "
        f"{len(SEEDS)} seeds). Window of 128, PIDX of 24 bits.",
        "Each design is a loop: one packet a clock, decided on the window that the packet before it left behind. So the frequency is that at which "
        "packets of one and the same transfer can follow each other. [fpga.md](fpga.md) has the engine's on the HX8K with another mapping and more seeds.",
        "",
        "| design | OSU 0.18 µm² | flops | MHz | critical path, ns | HX8K cells | MHz |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, design in results["designs"].items():
        cell, placed = design["osu018"], design["hx8k"]
        lines.append(f"| {DESIGNS[name]} (`{name}`) | {area.thousands(cell['area_um2'])} | {area.thousands(cell['flops'])} | {cell['fmax_mhz']:.0f} | "
                     f"{cell['min_period_ns']:.2f} | {area.thousands(placed['cells'])} | {placed['fmax_mhz']:.0f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default: %(default)s)")
    args = parser.parse_args()
    area.need([area.LIBERTY, *(area.VERILOG / f"{top}.v" for top in DESIGNS)])
    todo = [(top, flow) for top in DESIGNS for flow in ("osu018", "hx8k")]
    try:
        results = {"yosys": area.yosys_version(), "designs": {top: {} for top in DESIGNS}}
        with concurrent.futures.ThreadPoolExecutor(max_workers=args.jobs) as pool:
            futures = {pool.submit(run_job, *job): job for job in todo}
            for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
                top, flow = futures[future]
                results["designs"][top][flow] = future.result()
                print(f"windows: {done}/{len(todo)} {top} {flow}", flush=True)
    except area.ToolError as error:
        sys.exit(f"windows: {error}")
    area.write_file(area.WORK / "window.json", json.dumps(results, indent=2) + "\n")
    text = page(results)
    area.write_file(PAGE, text)
    print(text)


if __name__ == "__main__":
    main()

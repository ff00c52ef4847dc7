# SPDX-License-Identifier: Apache-2.0
"""Latency and throughput of the network model against load, in dimension order and minimal adaptive, from runs of `weft-sim fabric`: docs/results/load_curves.md and docs/img/load_*.svg. Exit code 1
if adaptive routing carries less beyond saturation than before it, or a network stands still.

usage: experiments/load_curves.py WEFT_SIM [--jobs N] [--quick]
In the quick form few points, into build/figures.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import pathlib
import subprocess
import sys
import tempfile

import evaluation_page
import files
import plot
import runs

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOADS = (0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 1.0)
QUICK_LOADS = (0.2, 0.5, 1.0)
LIMITED = "minimal adaptive"
KEPT_BEYOND = 0.95  # of the most that this carries, at load 1
CARRIED = 0.97  # of the load: with less, queues grow as long as it runs, and a latency says nothing
ALGORITHMS = {"dimension order": ((), "#666666", "^"), LIMITED: (("--adaptive",), "#1f6fb4", "o"), "adaptive, not limited": (("--adaptive", "--patience", "0"), "#d95f02", "s")}


@dataclasses.dataclass(frozen=True)
class Case:
    nodes: str
    flits: int
    buffer: int
    mesh: bool = False
    link: int = 1
    clocks: int = 10_000

    @property
    def title(self):
        return f"{'mesh' if self.mesh else 'torus'} of {self.nodes}, packets of {self.flits} flit{'s' if self.flits > 1 else ''}, buffers of {self.buffer}, links of {self.link} clock{'s' if self.link > 1 else ''}"

    @property
    def name(self):
        return f"load_{'mesh' if self.mesh else 'torus'}_{self.nodes}_{self.flits}_{self.link}"

    def arguments(self, algorithm, load):
        return ("fabric", "--nodes", self.nodes, *(("--mesh",) if self.mesh else ()), *ALGORITHMS[algorithm][0], "--buffer", str(self.buffer), "--link", str(self.link), "--packet", str(self.flits), "--load", f"{load:g}",
                "--warmup", str(self.clocks // 2), "--clocks", str(self.clocks))


CASES = (Case("8x8x1", 1, 8, mesh=True), Case("8x8x1", 1, 8), Case("8x8x1", 9, 16, mesh=True), Case("8x8x1", 9, 16), Case("4x4x4", 9, 16), Case("16x16x1", 9, 16, mesh=True, clocks=5_000), Case("8x8x1", 64, 16),
         Case("8x8x1", 1, 8, link=20), Case("8x8x1", 9, 64, link=20), Case("8x8x8", 1, 8, clocks=2_000))


def measure(program, arguments):
    """What weft-sim says of a load; a network that stands still is a result, too."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "result.json"
        done = subprocess.run([program, *arguments, "--json", str(file)], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1) or not file.exists():
            sys.exit(f"load_curves: {program} {' '.join(arguments)}: exit code {done.returncode}: {done.stderr.strip()}")
        return json.loads(file.read_text(encoding="utf-8"))


def cell(result, load):
    latency = f"{result['latency']:.1f}" if result["accepted_flits"] >= CARRIED * load else "–"
    return [f"{result['accepted_flits']:.3f}", latency]


def faults_of(title, algorithm, results):
    if any(result["stands_still"] for result in results):
        return [f"{title}, {algorithm}: stands still"]
    most, last = max(result["accepted_flits"] for result in results), results[-1]["accepted_flits"]
    return [f"{title}, {algorithm}: carries {last:.3f} at load 1, and {most:.3f} before"] if algorithm == LIMITED and last < KEPT_BEYOND * most else []


def section(case, loads, results, image):
    """results: by algorithm and load. Returns the section and draws its figure."""
    series = [(name, colour, marker, loads, [runs.exactly(results[name, load]["accepted_flits"]) for load in loads]) for name, (_, colour, marker) in ALGORITHMS.items()]
    plot.lines(image, f"What comes out: {case.title}", "load, flits a clock and node", "flits a clock and node", series, "uniform random traffic, 4 virtual channels; weft-sim fabric, seed 1")
    rows = [[f"{load:g}", *(each for name in ALGORITHMS for each in cell(results[name, load], load))] for load in loads]
    head = ["load", *(text for name in ALGORITHMS for text in (name, "latency"))]
    return "\n".join([f"## {case.title[0].upper()}{case.title[1:]}", "", f"![{case.title}](../img/{image.name})", "", *evaluation_page.table(head, rows)])


INTRODUCTION = f"""# Load and latency

Written by `make load-curves`. Uniform random traffic: packets of one length, each to a node drawn at random; how many flits come out, a clock and node, and the mean latency in clocks from the clock in which a packet is made to its last flit (–: less than {CARRIED:.0%} of the load comes out, so queues grow, and a latency would say how long the run was). 4 virtual
channels, one seed. *{LIMITED}*: what nodes send in is limited ([how](../fabric.md#theory-of-operation)); *not limited*: `--patience 0`. The command fails if it carries less than {KEPT_BEYOND:.0%} of its most at load 1. The limit costs a little just before saturation, where packets wait that would have got through. Dimension order in a torus, too, carries less at load 1 than before, as much as [BookSim](booksim.md) does.

One point by itself: `build/bin/weft-sim fabric --nodes 8x8x1 --mesh --adaptive --buffer 8 --packet 1 --load 1 --warmup 5000 --clocks 10000`."""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weft_sim")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="few points, into build/figures instead of docs")
    args = parser.parse_args()
    if args.jobs < 1:
        parser.error(f"--jobs {args.jobs}: must be at least 1")
    cases, loads = (CASES[:2], QUICK_LOADS) if args.quick else (CASES, LOADS)
    images, page = (ROOT / "build" / "figures", ROOT / "build" / "figures" / "load_curves.md") if args.quick else (ROOT / "docs" / "img", ROOT / "docs" / "results" / "load_curves.md")
    images.mkdir(parents=True, exist_ok=True)
    wanted = [(case, name, load) for case in cases for name in ALGORITHMS for load in loads]
    with concurrent.futures.ThreadPoolExecutor(max_workers=args.jobs) as pool:
        found = dict(zip(wanted, pool.map(lambda each: measure(args.weft_sim, each[0].arguments(*each[1:])), wanted)))
    sections = [section(case, loads, {key[1:]: result for key, result in found.items() if key[0] == case}, images / f"{case.name}.svg") for case in cases]
    files.write_whole(page, "\n\n".join([INTRODUCTION, *sections]) + "\n")
    print(f"load_curves: {page.relative_to(ROOT)}")
    faults = [fault for case in cases for name in ALGORITHMS for fault in faults_of(case.title, name, [found[case, name, load] for load in loads])]
    if faults:
        sys.exit("load_curves: " + "; ".join(faults))


if __name__ == "__main__":
    main()

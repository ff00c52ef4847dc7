# SPDX-License-Identifier: Apache-2.0
"""Multicast trees on the topologies and communication patterns of the MR4LMS paper: runs of `weft mcast`, into docs/results/mcast.md.

usage: experiments/mcast.py WEFT MARKDOWN [--optimize SECONDS] [--only TEXT] [--json FILE]
       experiments/mcast.py WEFT MARKDOWN --growth
Cases that FILE has already are taken from there. --growth: how time and memory grow with the fabric and with the number of groups, into MARKDOWN.
"""

import argparse
import json
import math
import os
import pathlib
import platform
import subprocess
import tempfile
import typing

import files

# Topology, the paper's limit of colours, patterns: those that the paper's text names, and of the same kinds where it does not.
CASES = (
    ("fattree3:40", 128, ("128x125", "126x126", "40x20x20", "25x25x25", "random:2000:32:1", "40x40x40@4")),
    ("torus3d:30x20x20:2", 256, ("240x100", "154x154", "60x20x20", "28x28x28", "random:2000:32:1", "60x40x40@4")),
    ("dragonfly:18,9,9", 256, ("163x162", "162x162", "18x9x163", "29x29x31", "random:2000:32:1", "47x47x47@4")),
    ("random:2048,40,20,1", 256, ("256x160", "202x202", "32x32x40", "34x34x34", "random:2000:32:1", "128x32x40@4")),
    ("bluelight", 128, ("256x34", "90x90", "64x16x8", "20x20x20", "random:2000:32:1", "64x16x34@4")),
    ("taihulight", 128, ("256x160", "200x200", "64x16x40", "34x34x34", "random:2000:32:1", "128x32x40@4")),
)
# Colours and EFI of a greedy prototype: the least loaded of the best roots, each hop the least loaded shortest link, first-fit colours.
GREEDY = {
    ("fattree3:40", "40x40x40@4"): (126, 13), ("fattree3:40", "25x25x25"): (63, 9), ("fattree3:40", "128x125"): (31, 6),
    ("random:2048,40,20,1", "256x160"): (280, 19), ("random:2048,40,20,1", "32x32x40"): (728, 30), ("dragonfly:18,9,9", "29x29x31"): (217, 22),
    ("torus3d:30x20x20:2", "28x28x28"): (549, 49), ("torus3d:30x20x20:2", "240x100"): (9, 5),
}

# What the paper's text names, and states: colors without a limit, of the worst pattern of a topology, largest EFI without and with the limit.
NAMED = {("random:2048,40,20,1", pattern) for pattern in ("256x160", "32x32x40", "128x32x40@4")} | {("bluelight", pattern) for pattern in ("256x34", "90x90", "64x16x34@4")} | {
    ("taihulight", pattern) for pattern in ("34x34x34", "128x32x40@4")}
PAPER_COLORS = {("taihulight", "128x32x40@4"): 269, ("bluelight", "256x34"): 29, ("bluelight", "90x90"): 50}
PAPER_WORST = {"torus3d:30x20x20:2": 2166, "dragonfly:18,9,9": 486, "random:2048,40,20,1": 2852}
PAPER_EFI = {("bluelight", "64x16x34@4"): (24, 58), ("random:2048,40,20,1", "256x160"): (20, 34), ("taihulight", "128x32x40@4"): (37, 300),
             ("random:2048,40,20,1", "128x32x40@4"): (139, 4687)}
# Bounds that docs/mcast.md proves by hand.
BY_HAND = {("torus3d:30x20x20:2", "240x100"): 9}
BASELINES = ("minhop", "sssp", "sssp-load")
REPEATS = 3

# What grows, from small to large; groups of 32 hosts over fabrics, groups of 8 hosts over their number.
GROWTH = (
    ("Fat trees, 2,000 groups of 32 hosts", "hosts", [(f"fattree3:{ports}", "random:2000:32:1") for ports in (16, 24, 40, 64, 86)]),
    ("Random fabrics, 2,000 groups of 32 hosts", "hosts", [(f"random:{switches},40,20,1", "random:2000:32:1") for switches in (64, 256, 1024, 4096, 8192)]),
    ("Tori, 2,000 groups of 32 hosts", "hosts", [(f"torus3d:{edge}:2", "random:2000:32:1") for edge in ("8x8x8", "16x16x16", "24x20x20", "32x32x32")]),
    ("Number of groups of 8 hosts on a fat tree of 16,000", "groups", [("fattree3:40", f"random:{count}:8:1") for count in (100, 1000, 10000, 100000)]),
    ("Number of groups of 8 hosts on a random fabric of 40,960", "groups", [("random:2048,40,20,1", f"random:{count}:8:1") for count in (100, 1000, 10000, 100000)]),
)


def run(weft, topology, pattern, *arguments, may_fail=False):
    """Results of one run; peak_mib is its peak of memory. None if it may be refused, and is."""
    groups = pattern if pattern.startswith("random:") else f"grid:{pattern}"
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "results.json"
        command = [weft, "mcast", "--topology", topology, "--groups", groups, "--check", "--json", str(file), *arguments]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL if may_fail else None)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0 and may_fail:
            return None
        if status != 0:
            raise SystemExit(f"{' '.join(command)}: failed")
        return json.loads(file.read_text(encoding="utf-8")) | {"peak_mib": usage.ru_maxrss / 1024}


def fastest(weft, topology, pattern, *arguments):
    """The run that took the least time of processor; all have the same trees."""
    return min((run(weft, topology, pattern, *arguments) for _ in range(REPEATS)), key=lambda results: results["cpu_seconds"])


def measured(weft, topology, pattern, limit, seconds):
    """Results by what was asked for; a baseline that is refused is missing."""
    found = {"free": fastest(weft, topology, pattern), "two": min((run(weft, topology, pattern, "--threads", "2") for _ in range(REPEATS)), key=lambda results: results["route_seconds"]),
             "one": min((run(weft, topology, pattern) for _ in range(REPEATS)), key=lambda results: results["route_seconds"]),
             "better": run(weft, topology, pattern, "--optimize", seconds), "limited": fastest(weft, topology, pattern, "--colors", str(limit))}
    return found | {engine: results for engine in BASELINES if (results := run(weft, topology, pattern, "--engine", engine, may_fail=engine == "sssp"))}


class Case(typing.NamedTuple):
    """One row."""

    topology: str
    pattern: str
    limit: int
    found: dict

    @property
    def name(self):
        return f"`{self.topology}` {self.pattern}"

    @property
    def is_tree(self):
        return self.topology.startswith("fattree") or self.topology in ("bluelight", "taihulight")

    @property
    def free(self):
        return self.found["free"]

    @property
    def limited(self):
        return self.found["limited"]

    @property
    def greedy(self):
        return GREEDY.get((self.topology, self.pattern), (None, None))

    def milliseconds(self, kind):
        return 1000 * self.found[kind]["cpu_seconds"] / self.found[kind]["groups"]

    def slowest(self, unmerged):
        """Without merging: without the limit, and with it where all keep to it anyway."""
        kinds = ("free", "limited") if self in unmerged and self.free["colors_used"] <= self.limit else ("free",)
        return max(self.milliseconds(kind) for kind in kinds)

    @property
    def least_colors(self):
        """That are proven by hand."""
        return BY_HAND.get((self.topology, self.pattern), 0)

    @property
    def speedup(self):
        return self.found["one"]["route_seconds"] / self.found["two"]["route_seconds"]


def row(case):
    free, better, limited = case.free, case.found["better"], case.limited
    baselines = [case.found[engine]["max_efi"] if engine in case.found else None for engine in BASELINES]
    cells = (f"`{case.topology}`", case.pattern, "yes" if (case.topology, case.pattern) in NAMED else "", free["groups"], max(free["colors_lower_bound"], case.least_colors), free["bound_members"],
             free["most_trees_in_a_switch"], case.greedy[0], free["colors_used"], better["colors_used"], case.greedy[1], free["max_efi"], better["max_efi"], *baselines, free["max_tree_height"],
             f"{case.milliseconds('free'):.3f}", f"{case.speedup:.2f}", f"{free['start_seconds']:.2f}", f"{free['peak_mib']:.0f}",
             case.limit, limited["merged_groups"], limited["max_tfi"], limited["max_efi"], limited["max_tree_height"], f"{case.milliseconds('limited'):.2f}")
    return "| " + " | ".join("" if cell is None else str(cell) for cell in cells) + " |"


def goal(text, cases, is_met, shown):
    """A row: in how many cases it is met, and what it is where it is not."""
    missed = [f"{case.name} {shown(case)}" for case in cases if not is_met(case)]
    return f"| {text} | {len(cases) - len(missed)} of {len(cases)} | {'; '.join(missed)} |"


def goals(cases):
    trees = [case for case in cases if case.is_tree]
    known = [case for case in cases if case.greedy[0]]
    single = [case for case in cases if "@" not in case.pattern]
    stated = [case for case in cases if (case.topology, case.pattern) in PAPER_COLORS]
    paper_efi = [case for case in cases if (case.topology, case.pattern) in PAPER_EFI]
    unmerged = [case for case in cases if not case.limited["merged_groups"]]
    merged = [case for case in cases if case.limited["merged_groups"]]
    worst = [max((case for case in cases if case.topology == topology), key=lambda case: case.free["colors_used"], default=None) for topology in PAPER_WORST]
    rows = [
        goal("colors on fat trees at most 1.1 times *members*", trees, lambda case: case.free["colors_used"] <= 1.1 * case.free["bound_members"], lambda case: f"{case.free['colors_used']} / {case.free['bound_members']}"),
        goal("colors elsewhere 40 % below the prototype", [case for case in known if not case.is_tree], lambda case: case.free["colors_used"] <= 0.6 * case.greedy[0],
             lambda case: f"{case.free['colors_used']} / {case.greedy[0]}" + (", the least there can be" if case.least_colors == case.free["colors_used"] else f", {case.found['better']['colors_used']} improved")),
        goal("colors at most the paper's", stated, lambda case: case.free["colors_used"] <= PAPER_COLORS[case.topology, case.pattern], lambda case: f"{case.free['colors_used']}"),
        goal("colors of the worst pattern at most the paper's (other patterns)", [case for case in worst if case], lambda case: case.free["colors_used"] <= PAPER_WORST[case.topology],
             lambda case: f"{case.free['colors_used']} / {PAPER_WORST[case.topology]}, {case.found['better']['colors_used']} improved"),
        goal("one process a host: nothing merged with 128 (fat trees) or 256 colors", single, lambda case: not case.limited["merged_groups"], lambda case: f"{case.limited['merged_groups']} merged, {case.free['colors_used']} colors without"),
        goal("EFI at most the prototype's", known, lambda case: case.free["max_efi"] <= case.greedy[1], lambda case: f"{case.free['max_efi']} / {case.greedy[1]}"),
        *(goal(f"EFI at most that of {engine}" + (" (where OpenSM has one)" if engine == "sssp" else ""), [case for case in cases if engine in case.found], lambda case, engine=engine: case.free["max_efi"] <= case.found[engine]["max_efi"],
               lambda case, engine=engine: f"{case.free['max_efi']} / {case.found[engine]['max_efi']}") for engine in BASELINES),
        goal("EFI with the limit at most the paper's", paper_efi, lambda case: case.limited["max_efi"] <= PAPER_EFI[case.topology, case.pattern][1], lambda case: f"{case.limited['max_efi']}"),
        goal("groups on one tree at most the paper's 10, with four processes a host 66", cases, lambda case: case.limited["max_tfi"] <= (66 if "@" in case.pattern else 10), lambda case: f"{case.limited['max_tfi']}"),
        goal("at most 0.05 ms a group without merging on fat trees and the dragonfly, 0.1 on torus and random, with or without the limit", cases,
             lambda case: case.slowest(unmerged) <= (0.05 if case.is_tree or case.topology.startswith("dragonfly") else 0.1), lambda case: f"{case.slowest(unmerged):.3f}"),
        goal("at most 1 ms a group with merging, or tries to do without", [case for case in cases if case in merged or case.free["colors_used"] > case.limit], lambda case: case.milliseconds("limited") <= 1, lambda case: f"{case.milliseconds('limited'):.2f}"),
        goal("two threads 1.6 times as fast", cases, lambda case: case.speedup >= 1.6, lambda case: f"{case.speedup:.2f}"),
        goal("at most 2 GiB, start within 10 s", cases, lambda case: case.free["peak_mib"] <= 2048 and case.free["start_seconds"] <= 10, lambda case: f"{case.free['peak_mib']:.0f} MiB, {case.free['start_seconds']:.1f} s"),
    ]
    return "\n".join(["| goal | met in | missed |", "|---|---|---|", *rows])


def page(cases, seconds):
    head = ("topology", "pattern", "named", "groups", "bound", "members", "carry", "greedy colors", "colors", f"after {seconds} s", "greedy EFI", "EFI", f"after {seconds} s",
            *(f"EFI of {engine}" for engine in BASELINES), "height", "CPU ms a group", "two threads", "start s", "MiB", "limit", "merged groups", "TFI", "EFI", "height", "CPU ms a group")
    return f"""# Multicast trees: colours, EFI, time

Written by `make mcast` ({platform.machine()}, {os.cpu_count()} cores). [What the words mean](../mcast.md). Every run was checked: a packet from every member of every group along the tables.
*named*: the paper's text names this pattern; the others are ours, of the same kinds. *bound*: no trees have fewer colors. *carry*: the most trees that a switch has, below which these trees cannot be colored.
*greedy*: colors and EFI of a prototype (least loaded of the best roots, least loaded shortest links, first-fit colors) for the cases for which it was measured. *after*: with `--optimize`. *two threads*: how much faster they are, by the clock. From *limit* on: with `--colors limit`; groups are merged only
where fewer colors could not be had otherwise. *EFI of*: of weft's engine of this name, where OpenSM's own weights do not overflow. CPU times are of one thread, the least of {REPEATS} runs, beside whatever else the machine did.

## Goals

[Why some are missed](../mcast.md#what-is-missed).

{goals(cases)}

## All cases

| {' | '.join(head)} |
|{'|'.join('---' for _ in head)}|
""" + "\n".join(row(case) for case in cases) + "\n"


def exponent(points):
    """The slope of the line that fits the logarithms best."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs))
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def growth_page(weft):
    lines = ["# Multicast trees: how time and memory grow", "",
             f"Written by `make mcast-growth` ({platform.machine()}, {os.cpu_count()} cores, one thread; the least of {REPEATS} runs, beside whatever else the machine did). [What the words mean](../mcast.md). `start`: minimal hops, by the clock on the wall. Exponent: of the power of "
             "what grows that fits a column best, in the last row."]
    for title, what, cases in GROWTH:
        lines += ["", f"## {title}", "", "| topology | groups | hosts | switches | colors | start s | CPU s of all groups | CPU ms a group | MiB |", "|---" * 9 + "|"]
        runs = []
        for topology, pattern in cases:
            several = [run(weft, topology, pattern) for _ in range(REPEATS)]
            result = min(several, key=lambda results: results["cpu_seconds"]) | {"start_seconds": min(results["start_seconds"] for results in several)}
            runs.append(result)
            print(topology, pattern, result["cpu_seconds"], flush=True)
            lines.append(f"| `{topology}` | {pattern} | {result['hosts']} | {result['switches']} | {result['colors_used']} | {result['start_seconds']:.3f} | {result['cpu_seconds']:.3f} | "
                         f"{1000 * result['cpu_seconds'] / result['groups']:.4f} | {result['peak_mib']:.0f} |")
        fits = [exponent([(result[what], value(result)) for result in runs])
                for value in (lambda result: result["start_seconds"], lambda result: result["cpu_seconds"], lambda result: result["cpu_seconds"] / result["groups"], lambda result: result["peak_mib"])]
        lines.append(f"| *exponent over {what}* | | | | | " + " | ".join(f"*{fit:.2f}*" for fit in fits) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("markdown", type=pathlib.Path)
    parser.add_argument("--optimize", default="10")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--growth", action="store_true")
    arguments = parser.parse_args()
    if arguments.growth:
        files.write_whole(arguments.markdown, growth_page(arguments.weft))
        return
    known = {}
    if arguments.json and arguments.json.exists():
        known = {(found["free"]["topology"], found["free"]["group_spec"].removeprefix("grid:")): found for found in json.loads(arguments.json.read_text(encoding="utf-8"))}
    for topology, limit, patterns in CASES:
        for pattern in patterns:
            if arguments.only not in f"{topology} {pattern}" or (topology, pattern) in known:
                continue
            known[topology, pattern] = measured(arguments.weft, topology, pattern, limit, arguments.optimize)
            print(topology, pattern, *(results["colors_used"] for results in known[topology, pattern].values()), flush=True)
            if arguments.json:
                files.write_whole(arguments.json, json.dumps(list(known.values()), indent=1))
    cases = [Case(topology, pattern, limit, known[topology, pattern]) for topology, limit, patterns in CASES for pattern in patterns if (topology, pattern) in known]
    files.write_whole(arguments.markdown, page(cases, arguments.optimize))


if __name__ == "__main__":
    main()

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

# What grows, from small to large; groups of 32 hosts over fabrics, groups of 8 hosts over their number.
GROWTH = (
    ("Fat trees, 2,000 groups of 32 hosts", "hosts", [(f"fattree3:{ports}", "random:2000:32:1") for ports in (16, 24, 40, 64, 86)]),
    ("Random fabrics, 2,000 groups of 32 hosts", "hosts", [(f"random:{switches},40,20,1", "random:2000:32:1") for switches in (64, 256, 1024, 4096, 8192)]),
    ("Tori, 2,000 groups of 32 hosts", "hosts", [(f"torus3d:{edge}:2", "random:2000:32:1") for edge in ("8x8x8", "16x16x16", "24x20x20", "32x32x32")]),
    ("Number of groups of 8 hosts on a fat tree of 16,000", "groups", [("fattree3:40", f"random:{count}:8:1") for count in (100, 1000, 10000, 100000)]),
    ("Number of groups of 8 hosts on a random fabric of 40,960", "groups", [("random:2048,40,20,1", f"random:{count}:8:1") for count in (100, 1000, 10000, 100000)]),
)


def run(weft, topology, pattern, *arguments):
    """Results of one run; peak_mib is its peak of memory."""
    groups = pattern if pattern.startswith("random:") else f"grid:{pattern}"
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "results.json"
        command = [weft, "mcast", "--topology", topology, "--groups", groups, "--check", "--json", str(file), *arguments]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            raise SystemExit(f"{' '.join(command)}: failed")
        return json.loads(file.read_text(encoding="utf-8")) | {"peak_mib": usage.ru_maxrss / 1024}


def number(value):
    return "" if value is None else str(value)


def row(topology, pattern, limit, fast, better, limited, minhop):
    greedy = GREEDY.get((topology, pattern), (None, None))
    cells = (f"`{topology}`", pattern, fast["groups"], fast["colors_lower_bound"], fast["bound_members"], greedy[0], fast["colors_used"], better["colors_used"],
             greedy[1], fast["max_efi"], better["max_efi"], minhop["max_efi"],
             f"{1000 * fast['cpu_seconds'] / fast['groups']:.3f}", f"{fast['start_seconds']:.2f}", f"{fast['peak_mib']:.0f}",
             limit, limited["merged_groups"], limited["max_tfi"], limited["max_efi"], f"{1000 * limited['cpu_seconds'] / limited['groups']:.2f}")
    return "| " + " | ".join(number(cell) for cell in cells) + " |"


def page(rows, seconds):
    head = ("topology", "pattern", "groups", "bound", "members", "greedy colors", "colors", f"after {seconds} s", "greedy EFI", "EFI", f"after {seconds} s",
            "EFI of minhop", "CPU ms a group", "start s", "MiB", "limit", "merged groups", "TFI", "EFI", "CPU ms a group")
    return f"""# Multicast trees: colours, EFI, time

Written by `experiments/mcast.py` ({platform.machine()}, {os.cpu_count()} cores, one thread). [What the words mean](../mcast.md). Every run was checked: a packet from every member of every group along the tables.
`greedy`: colours and EFI of a prototype (least loaded of the best roots, least loaded shortest links, first-fit colours) for the cases for which it was measured. `after`: with `--optimize`. From `limit` on: with `--colors limit`; groups are merged only
where fewer colours could not be had otherwise. `EFI of minhop`: of this engine, not of OpenSM itself. CPU times are of runs beside whatever else the machine did; cases that are not in the table were not run.

| {' | '.join(head)} |
|{'|'.join('---' for _ in head)}|
""" + "\n".join(rows) + "\n"


def exponent(points):
    """The slope of the line that fits the logarithms best."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs))
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def growth_page(weft):
    lines = ["# Multicast trees: how time and memory grow", "",
             f"Written by `make mcast-growth` ({platform.machine()}, {os.cpu_count()} cores, one thread, beside whatever else the machine did). [What the words mean](../mcast.md). `start`: minimal hops, by the clock on the wall, so what else ran counts. Exponent: of the power of "
             "what grows that fits a column best, in the last row."]
    for title, what, cases in GROWTH:
        lines += ["", f"## {title}", "", "| topology | groups | hosts | switches | colors | start s | CPU s of all groups | CPU ms a group | MiB |", "|---" * 9 + "|"]
        runs = []
        for topology, pattern in cases:
            runs.append(run(weft, topology, pattern))
            result = runs[-1]
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
    parser.add_argument("--optimize", default="20")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--growth", action="store_true")
    arguments = parser.parse_args()
    if arguments.growth:
        files.write_whole(arguments.markdown, growth_page(arguments.weft))
        return
    known = {}
    if arguments.json and arguments.json.exists():
        known = {(results[0]["topology"], results[0]["group_spec"].removeprefix("grid:")): results for results in json.loads(arguments.json.read_text(encoding="utf-8"))}
    for topology, limit, patterns in CASES:
        for pattern in patterns:
            if arguments.only not in f"{topology} {pattern}" or (topology, pattern) in known:
                continue
            known[topology, pattern] = [run(arguments.weft, topology, pattern, *more) for more in
                                        ((), ("--optimize", arguments.optimize), ("--colors", str(limit)), ("--engine", "minhop"))]
            print(topology, pattern, *(results["colors_used"] for results in known[topology, pattern]), flush=True)
            if arguments.json:
                files.write_whole(arguments.json, json.dumps(list(known.values()), indent=1))
    rows = [row(topology, pattern, limit, *known[topology, pattern]) for topology, limit, patterns in CASES for pattern in patterns if (topology, pattern) in known]
    files.write_whole(arguments.markdown, page(rows, arguments.optimize))


if __name__ == "__main__":
    main()

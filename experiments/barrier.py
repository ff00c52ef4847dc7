# SPDX-License-Identifier: Apache-2.0
"""Barrier algorithms on meshes with broken links: runs of `weft barrier`, into docs/results/barrier.md.

usage: experiments/barrier.py WEFT MARKDOWN [--seeds N]
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

ALGORITHMS = "dlct,dlct-multicast,ms,tree,tree-rebuilt,tournament,dissemination,dissemination-tree,id1,id2,butterfly"
BROKEN = "0,0.1,0.2,0.3,0.4,0.5"
# Title, arguments.
CASES = (
    ("4 links a node, numbers along the S-curve", ["--mesh", "4x4,8x8", "--links", "4", "--numbering", "s-curve", "--algorithm", ALGORITHMS]),
    ("8 links a node, numbers along the S-curve", ["--mesh", "4x4,8x8", "--links", "8", "--numbering", "s-curve", "--algorithm", ALGORITHMS]),
    ("4 links a node, numbers from the centre", ["--mesh", "4x4,8x8,16x16", "--links", "4", "--numbering", "centre", "--algorithm", "all"]),
)


def run(weft, arguments, seeds):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "results.json"
        subprocess.run([weft, "barrier", *arguments, "--broken", BROKEN, "--seeds", str(seeds), "--json", str(file)], check=True, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text(encoding="utf-8"))["runs"]


def table(runs):
    """A row for each mesh and algorithm, cycles in a column for each fraction of broken links."""
    fractions = [float(fraction) for fraction in BROKEN.split(",")]
    cells = {(run["mesh"], run["algorithm"], run["broken_fraction"]): run for run in runs}
    lines = ["| mesh | algorithm | " + " | ".join(f"{fraction:.0%}" for fraction in fractions) + " | last, 50% | messages | hops, 0% |",
             "|---" * (len(fractions) + 5) + "|"]
    for mesh, algorithm in dict.fromkeys((run["mesh"], run["algorithm"]) for run in runs):
        row = [cells[mesh, algorithm, fraction] for fraction in fractions]
        lines.append(f"| {mesh} | {algorithm} | " + " | ".join(f"{run['cycles']:.0f}" for run in row) +
                     f" | {row[-1]['cycles_last']:.0f} | {row[0]['messages']:.0f} | {row[0]['hops']:.0f} |")
    for mesh in dict.fromkeys(run["mesh"] for run in runs):
        row = [run for run in runs if run["mesh"] == mesh and run["algorithm"] == runs[0]["algorithm"]]
        lines.append(f"| {mesh} | *lower bound* | " + " | ".join(f"{run['lower_bound']:.0f}" for run in row) + " | | | |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weft")
    parser.add_argument("markdown", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    lines = ["# Barriers on meshes with broken links", "",
             f"Written by `make barrier-figures`: runs of `weft barrier`, seeds 1 to {options.seeds}. [What is compared and how](../barrier.md). Cycles of a model of network and engines, not of RTL: mean over "
             "3 barriers after links broke (where not said otherwise) and over seeds, by fraction of links wanted broken; on meshes with 4 links a node, 40 and 50 % break all but a spanning tree or nearly so. "
             "Meshes of 1,024 nodes, background traffic and software barriers are not in the tables."]
    for title, arguments in CASES:
        lines += ["", f"## {title}", "", f"`weft barrier {' '.join(arguments)}`", "", *table(run(options.weft, arguments, options.seeds))]
    part = options.markdown.with_suffix(".part")
    part.write_text("\n".join(lines) + "\n", encoding="utf-8")
    part.rename(options.markdown)


if __name__ == "__main__":
    main()

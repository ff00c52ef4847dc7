# SPDX-License-Identifier: Apache-2.0
"""Barrier algorithms on meshes with broken links, and counterparts of figures 5 to 7 of the DLCT paper: runs of `weft barrier`, into docs/results/barrier.md and docs/img/barrier_*.svg.

usage: experiments/barrier.py WEFT WEFT_SIM MARKDOWN [--seeds N] [--jobs N] [--figures FOLDER]
"""

import argparse
import concurrent.futures
import json
import pathlib
import statistics
import subprocess
import tempfile

import files
import plot
import runs as points

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALGORITHMS = "dlct,dlct-multicast,dlct-mr4lms,dlct4,dlct4-mr4lms,dlct8,dlct8-mr4lms,dlct-blocks,dlct4-blocks,ms,tree,tree-rebuilt,tree-mr4lms,tree-rebuilt-mr4lms,tournament,dissemination,dissemination-tree,id1,id2,butterfly,dissemination4,butterfly4"
FEW = "dlct,dlct-mr4lms,dlct4,dlct4-mr4lms,dlct8,dlct8-mr4lms,ms,tree,tree-rebuilt,tree-mr4lms,tree-rebuilt-mr4lms,tournament,dissemination,dissemination-tree,id1,id2,butterfly,butterfly4"
BROKEN = "0,0.1,0.2,0.3,0.4,0.5"
FRACTIONS = tuple(float(fraction) for fraction in BROKEN.split(","))
# Title, arguments; maybe other fractions of broken links.
CASES = (
    ("4 links a node, numbers along the S-curve", ["--mesh", "4x4,8x8,16x16", "--links", "4", "--numbering", "s-curve", "--algorithm", ALGORITHMS]),
    ("8 links a node, numbers along the S-curve", ["--mesh", "4x4,8x8,16x16", "--links", "8", "--numbering", "s-curve", "--algorithm", ALGORITHMS]),
    ("4 links a node, numbers from the centre", ["--mesh", "4x4,8x8,16x16", "--links", "4", "--numbering", "centre", "--algorithm", "all"]),
    ("8 links a node, numbers from the centre", ["--mesh", "4x4,8x8,16x16", "--links", "8", "--numbering", "centre", "--algorithm", ALGORITHMS]),
)


MORE = (
    ("1,024 nodes", ["--mesh", "32x32", "--links", "4", "--numbering", "centre", "--algorithm", ALGORITHMS]),
    ("Background traffic: each node injects 10 % of what it could (beyond 30 % of broken links more than those that are left can carry: queues grow for as long as it lasts, here 2,000 cycles before the barrier)",
     ["--mesh", "8x8", "--links", "4", "--numbering", "centre", "--algorithm", "all", "--load", "0.1"]),
    ("Background traffic of 2 %, 16 to 256 nodes (with 256, and half of the links broken, more than those that are left can carry)",
     ["--mesh", "4x4,8x8,16x16", "--links", "4", "--numbering", "centre", "--algorithm", "all", "--load", "0.02"]),
    ("Background traffic of 2 %, 1,024 nodes (beyond 20 % of broken links more than those that are left can carry)",
     ["--mesh", "32x32", "--links", "4", "--numbering", "centre", "--algorithm", FEW, "--load", "0.02"], "0,0.1,0.2"),
    ("Background traffic of 0.2 %, 1,024 nodes", ["--mesh", "32x32", "--links", "4", "--numbering", "centre", "--algorithm", FEW, "--load", "0.002"]),
    ("1,024 nodes, numbers along the S-curve", ["--mesh", "32x32", "--links", "4", "--numbering", "s-curve", "--algorithm", FEW]),
)
MOST_APART = 0.07  # of the model from RTL
SHORT = ("negative: slower. The paper says 30 to 50 % of DLCT (`dlct`, numbers along the S-curve). `dlct8` and `dlct8-mr4lms` are weft's own; with multicast Release (`-mr4lms`) beside a rival that has it, too, the difference is of tree and numbers alone.")
JUDGES = ("searching", "fixed", "oracle")
JUDGED = ("dlct", "dlct4", "dlct4-mr4lms", "dlct8-mr4lms")
TREES = ("tree", "tree-rebuilt", "tree-mr4lms", "tree-rebuilt-mr4lms")  # beside them
ROUNDS_OF_JUDGES = (3, 100)
WHERE_JUDGED = (("8x8", "4", "centre"), ("16x16", "4", "centre"), ("8x8", "4", "s-curve"), ("8x8", "8", "s-curve"))
ON_RTL, ROUNDS_ON_RTL = "8x8", 10
ENGINES_ON_RTL = (("dlct", ["--tree", "lct"]), ("dlct4", ["--tree", "lct4"]), ("dlct-mr4lms", ["--tree", "lct", "--multicast"]), ("dlct4-mr4lms", ["--tree", "lct4", "--multicast"]), ("dlct8", ["--tree", "lct8"]), ("dlct8-mr4lms", ["--tree", "lct8", "--multicast"]),
                 ("dlct-blocks", ["--tree", "lct", "--block-log2", "4"]), ("dlct4-blocks", ["--tree", "lct4", "--block-log2", "4"]))
# Of these the figures are drawn: all algorithms, DLCT with numbers for which it has short ways.
DRAWN = CASES[2]
LARGEST = MORE[0]  # in figure 6 as well
IMAGES = ("barrier_figure5.svg", "barrier_figure6_0.svg", "barrier_figure6_10.svg", "barrier_figure6_20.svg", "barrier_figure7_8x8.svg", "barrier_figure7_16x16.svg")
COLOURS = {"dlct": "#1f6fb4", "dlct-multicast": "#6baed6", "dlct-mr4lms": "#9ecae1", "dlct4": "#08306b", "dlct4-mr4lms": "#4292c6", "dlct8": "#54278f", "dlct8-mr4lms": "#9e9ac8", "dlct-blocks": "#c6dbef", "dlct4-blocks": "#756bb1", "ms": "#666666", "tree": "#d95f02", "tree-rebuilt": "#fdae6b", "tree-mr4lms": "#a63603", "tree-rebuilt-mr4lms": "#e6550d", "tournament": "#7b3294", "dissemination": "#1b7837",
           "dissemination-tree": "#a6dba0", "id1": "#b2182b", "id2": "#ef8a62", "butterfly": "#8c510a", "dissemination4": "#5aae61", "butterfly4": "#bf812d", "all-to-all": "#bbbbbb"}
MARKERS = {name: "os^DvP*"[place] for family in (("dlct", "dlct4", "dlct-mr4lms", "dlct4-mr4lms", "dlct4-blocks", "dlct8", "dlct8-mr4lms"), ("tree", "tree-rebuilt", "tree-mr4lms", "tree-rebuilt-mr4lms", "ms"), ("id1", "id2", "tournament"),
                                               ("dissemination", "dissemination-tree", "dissemination4"), ("butterfly", "butterfly4", "all-to-all")) for place, name in enumerate(family)}
IN_FIGURE_6 = ("dlct", "dlct4", "dlct8", "dlct8-mr4lms", "dlct4-blocks", "ms", "tree", "tree-rebuilt", "tree-rebuilt-mr4lms", "id1", "id2", "tournament", "dissemination", "dissemination-tree", "butterfly", "butterfly4", "all-to-all")
IN_FIGURE_7 = ("dlct", "dlct4", "dlct8", "dlct8-mr4lms", "dlct4-blocks", "id1", "id2", "tree", "tree-rebuilt", "tree-mr4lms", "tree-rebuilt-mr4lms")


def run(weft, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "results.json"
        subprocess.run([weft, "barrier", *arguments, "--json", str(file)], check=True, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text(encoding="utf-8"))


def arguments_of(case, seeds):
    _, arguments, *fractions = case
    return [*arguments, "--broken", *(fractions or [BROKEN]), "--seeds", str(seeds)]


def point(cycles):
    return points.Point(cycles, cycles, cycles, 1, 0)


class Drawn:
    """Cycles by mesh, algorithm and fraction of broken links."""

    def __init__(self, found):
        self.cycles = {(each["mesh"], each["algorithm"], each["broken_fraction"]): each["cycles"] for each in found}
        self.bound = {each["mesh"]: each["lower_bound"] for each in found if each["broken_fraction"] == 0}
        self.nodes = {each["mesh"]: each["nodes"] for each in found}
        self.algorithms = list(dict.fromkeys(each["algorithm"] for each in found))

    def over_nodes(self, fraction):
        lines = []
        for name in IN_FIGURE_6:
            meshes = [mesh for mesh in self.nodes if (mesh, name, fraction) in self.cycles]  # blocks need two of them
            lines.append((name, COLOURS[name], MARKERS[name], [self.nodes[mesh] for mesh in meshes], [point(self.cycles[mesh, name, fraction]) for mesh in meshes]))
        return lines

    def over_broken(self, mesh):
        return [(name, COLOURS[name], MARKERS[name], [100 * fraction for fraction in FRACTIONS], [point(self.cycles[mesh, name, fraction]) for fraction in FRACTIONS]) for name in IN_FIGURE_7]

    def fractions(self, mesh):
        return sorted({fraction for at, _, fraction in self.cycles if at == mesh and fraction > 0})

    def fastest_other(self, mesh, fraction):
        others = [rival for rival in self.algorithms if not rival.startswith(("dlct", "id")) and (mesh, rival, fraction) in self.cycles]
        return min(others, key=lambda rival: self.cycles[mesh, rival, fraction])

    def gain(self, name, mesh, rival, fraction):
        return 1 - self.cycles[mesh, name, fraction] / self.cycles[mesh, rival, fraction]

    def gains_of(self, name, mesh, rival):
        return [self.gain(name, mesh, rival or self.fastest_other(mesh, fraction), fraction) for fraction in self.fractions(mesh)]

    def gains(self, name, mesh, rival_of, where, claim):
        """(claim, gains in words, whether all are large enough), at each fraction of broken links."""
        fractions = self.fractions(mesh)
        words, gains = [], []
        for fraction in fractions:
            rival = rival_of(fraction)
            gains.append(self.gain(name, mesh, rival, fraction))
            words.append(f"{gains[-1]:+.1%}" + ("" if rival == "tree" else f" ({rival})"))
        ours = "" if name in OF_THE_PAPER else "(ours) "
        return f"{ours}{claim}: {name}, {mesh}, {where}", ", ".join(words) + " at " + ", ".join(f"{f:.0%}" for f in fractions), all(gain >= 0.3 for gain in gains)

    def beside_tree(self, name, mesh, where):
        return self.gains(name, mesh, lambda _: "tree", where, "30 to 50 % faster than the tree with broken links")

    def beside_fastest(self, name, mesh, where):
        return self.gains(name, mesh, lambda fraction: self.fastest_other(mesh, fraction), where, "... than the fastest of all others, those with multicast too")


def claims_elsewhere(found):
    """Of links, numberings, sizes and loads that are not drawn."""
    places = ((CASES[0], "8x8", CASES[0][0]), (CASES[0], "16x16", CASES[0][0]), (MORE[-1], "32x32", CASES[0][0]), (CASES[1], "8x8", CASES[1][0]), (CASES[3], "8x8", CASES[3][0]), (CASES[3], "16x16", CASES[3][0]), (MORE[0], "32x32", DRAWN[0]), (MORE[2], "8x8", "background traffic of 2 %"),
              (MORE[1], "8x8", "background traffic of 10 %"), (MORE[2], "16x16", "background traffic of 2 %"), (MORE[3], "32x32", "background traffic of 2 %"))
    claims = []
    for case, mesh, where in places:
        runs = Drawn(found[(*CASES, *MORE).index(case)])
        for name in ("dlct", "dlct8-mr4lms"):
            claims += [runs.beside_tree(name, mesh, where), runs.beside_fastest(name, mesh, where)]
    return claims


# Of the summary: which case, which mesh, how it is called.
PLACES = ((CASES[0], "8x8", "8x8, 4 links, S-curve"), (CASES[0], "16x16", "16x16, 4 links, S-curve"), (MORE[-1], "32x32", "32x32, 4 links, S-curve"), (CASES[1], "8x8", "8x8, 8 links, S-curve"), (CASES[2], "8x8", "8x8, 4 links, centre"), (CASES[2], "16x16", "16x16, 4 links, centre"),
          (MORE[0], "32x32", "32x32, 4 links, centre"), (CASES[3], "8x8", "8x8, 8 links, centre"), (CASES[3], "16x16", "16x16, 8 links, centre"))
OF_THE_PAPER = ("dlct", "id1", "id2")
RIVALS_OF_THE_PAPER = ("tree", "ms", "tournament", "dissemination", "dissemination-tree", "id1", "id2", "butterfly")
SUMMARY = (*(("dlct", rival) for rival in RIVALS_OF_THE_PAPER), ("dlct8", "tree"), ("dlct8", "tree-rebuilt"), ("dlct8", "butterfly4"), ("dlct8-mr4lms", "tree"), ("dlct8-mr4lms", "tree-mr4lms"), ("dlct8-mr4lms", "tree-rebuilt-mr4lms"),
           ("dlct8-mr4lms", "butterfly4"), ("dlct8-mr4lms", ""))


def summary(found):
    """Gains at 10 to 50 % of broken links, from the least to the most: lines of a table. No rival: the fastest of all others at each."""
    lines = ["| faster than | | " + " | ".join(name for _, _, name in PLACES) + " |", "|---" * (len(PLACES) + 2) + "|"]
    for name, rival in SUMMARY:
        cells = []
        for case, mesh, _ in PLACES:
            gains = Drawn(found[(*CASES, *MORE).index(case)]).gains_of(name, mesh, rival)
            cells.append(f"{min(gains):+.0%} to {max(gains):+.0%}".replace("%", " %"))
        lines.append(f"| {name} | {rival or 'the fastest of all others'} | " + " | ".join(cells) + " |")
    return lines


def widest(found):
    """Half of the 95 % interval of a mean over the seeds, as a part of it: the median over all points, and the largest; of normal means."""
    parts = sorted(1.96 * statistics.stdev(each["cycles_of_seeds"]) / len(each["cycles_of_seeds"]) ** 0.5 / each["cycles"] for runs in found for each in runs if len(each["cycles_of_seeds"]) > 1)
    return (statistics.median(parts), parts[-1]) if parts else (0, 0)


def figure_5(weft, image):
    """UQ of LCT less that of BST, for each of the 256 changes."""
    lct, bst = ([value for row in run(weft, "--mesh", "4x4", "--links", "8", "--updates", "--tree", tree)["uq"] for value in row] for tree in ("lct", "bst"))
    less = [one - other for one, other in zip(lct, bst)]
    plot.columns(image, "Update quantity of LCT less that of BST", "change, from offset x div 16 to x mod 16", "UQ(LCT) − UQ(BST)", [("difference", "#1f6fb4", less)],
                 "4x4 nodes, 8 links each, numbers along the S-curve, ways of Gather as undirected links", bottom=None)
    more, fewer = sum(value > 0 for value in less), sum(value < 0 for value in less)
    return f"LCT changes more links than BST in {more} of 256 changes, fewer in {fewer}; mean UQ {sum(lct) / 256:.4f} and {sum(bst) / 256:.4f}", more > fewer


def draw(weft, drawn, folder, note):
    """The figures. Returns claims: (claim, what is found, whether it agrees)."""
    folder.mkdir(parents=True, exist_ok=True)
    found, agrees = figure_5(weft, folder / IMAGES[0])
    claims = [("LCT changes more of its links than BST", found, agrees)]
    for image, fraction in zip(IMAGES[1:4], FRACTIONS):
        plot.lines(folder / image, f"Barriers with {fraction:.0%} of links broken", "nodes", "cycles", drawn.over_nodes(fraction), note, log_x=True, log_y=True, ticks=list(drawn.nodes.values()), legend_beside=True)
    for image, mesh in zip(IMAGES[4:], ("8x8", "16x16")):
        plot.lines(folder / image, f"DLCT and trees on {mesh}", "links wanted broken, %", "cycles", drawn.over_broken(mesh), note, legend_beside=True)
    for mesh in ("8x8", "16x16"):
        claims += [drawn.beside_tree(name, mesh, DRAWN[0]) for name in ("dlct", "id1", "id2", "dlct4", "dlct8", "dlct-blocks", "dlct4-blocks", "dlct-mr4lms", "dlct4-mr4lms", "dlct8-mr4lms")]
    for mesh in ("8x8", "16x16"):
        claims += [drawn.beside_fastest(name, mesh, DRAWN[0]) for name in ("dlct", "dlct4", "dlct4-mr4lms", "dlct8-mr4lms")]
    for name in ("dlct", "dlct-multicast", "dlct-mr4lms", "dlct4", "dlct4-mr4lms", "dlct8", "dlct8-mr4lms"):
        ratio = drawn.cycles["8x8", name, 0] / drawn.bound["8x8"]
        claims.append((f"(ours) 64 nodes without broken links within 1.3 times the lower bound: {name}", f"{ratio:.2f} times", ratio <= 1.3))
    return claims


def table(runs):
    """A row for each mesh and algorithm, cycles in a column for each fraction of broken links."""
    cells = {(run["mesh"], run["algorithm"], run["broken_fraction"]): run for run in runs}
    fractions = sorted({run["broken_fraction"] for run in runs})
    most = f"{fractions[-1]:.0%}"
    lines = ["| mesh | algorithm | " + " | ".join(f"{fraction:.0%}" for fraction in fractions) + f" | last, {most} | messages, 0% | {most} | hops, 0% | {most} | UQ |",
             "|---" * (len(fractions) + 8) + "|"]
    for mesh, algorithm in dict.fromkeys((run["mesh"], run["algorithm"]) for run in runs):
        row = [cells[mesh, algorithm, fraction] for fraction in fractions]
        counts = [f"{run[what]:.0f}" for what in ("messages", "hops") for run in (row[0], row[-1])]
        lines.append(f"| {mesh} | {algorithm} | " + " | ".join([*(f"{run['cycles']:.0f}" for run in row), f"{row[-1]['cycles_last']:.0f}", *counts, "–" if row[0]["uq_mean"] is None else f"{row[0]['uq_mean']:.3f}"]) + " |")
    for mesh in dict.fromkeys(run["mesh"] for run in runs):
        row = [run for run in runs if run["mesh"] == mesh and run["algorithm"] == runs[0]["algorithm"]]
        lines.append(f"| {mesh} | *lower bound* | " + " | ".join(f"{run['lower_bound']:.0f}" for run in row) + " |" * 7)
    return lines


def simulated(sim, arguments, fraction, seed):
    """Mean cycles of a barrier of engines as RTL."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "results.json"
        subprocess.run([sim, "barrier", "--mesh", ON_RTL, "--together", *arguments, "--broken", str(fraction), "--barriers", str(ROUNDS_ON_RTL), "--seed", str(seed), "--json", str(file)], check=True, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text(encoding="utf-8"))["cycles"]


def judges(weft, seeds):
    """Rows: mesh, links, numbers, barriers, and for each fraction of broken links the cycles with each judge, and of rivals."""
    lines = ["| mesh | links | numbers | barriers | algorithm | who judges | " + " | ".join(f"{fraction:.0%}" for fraction in FRACTIONS) + " |", "|---" * (len(FRACTIONS) + 6) + "|"]
    for mesh, links, numbering in WHERE_JUDGED:
        for rounds in ROUNDS_OF_JUDGES:
            for algorithm, judge in (*((algorithm, judge) for algorithm in JUDGED for judge in JUDGES), *((tree, "") for tree in TREES)):
                choice = ["--judge", judge] if judge else []
                found = run(weft, "--mesh", mesh, "--links", links, "--numbering", numbering, "--algorithm", algorithm, *choice, "--broken", BROKEN, "--rounds", str(rounds), "--seeds", str(seeds))["runs"]
                lines.append(f"| {mesh} | {links} | {numbering} | {rounds} | {algorithm} | {judge} | " + " | ".join(f"{each['cycles']:.0f}" for each in found) + " |")
    return lines


def on_busy_rtl(sim, weft, seeds, jobs):
    """Likewise with background traffic: rows of a table."""
    lines = ["| background | algorithm | | " + " | ".join(f"{fraction:.0%}" for fraction in FRACTIONS[:4]) + " |", "|---" * 7 + "|"]
    with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
        for load, fractions in ("0.02", FRACTIONS[:4]), ("0.1", FRACTIONS[:3]):  # beyond, more than links can carry
            for algorithm, arguments in ENGINES_ON_RTL[0], ENGINES_ON_RTL[3], ENGINES_ON_RTL[5]:
                rtl = [statistics.mean(pool.map(lambda seed: simulated(sim, [*arguments, "--load", load], fraction, seed), range(1, seeds + 1))) for fraction in fractions]  # noqa: B023  pylint: disable=cell-var-from-loop
                model = run(weft, "--mesh", ON_RTL, "--numbering", "centre", "--algorithm", algorithm, "--rounds", str(ROUNDS_ON_RTL), "--load", load, "--broken", ",".join(map(str, fractions)), "--seeds", str(seeds))["runs"]
                for name, cycles in (("RTL", rtl), ("model", [each["cycles"] for each in model])):
                    lines.append(f"| {float(load):.0%} | {algorithm} | {name} | " + " | ".join(f"{each:.0f}" for each in cycles) + " | –" * (4 - len(fractions)) + " |")
    return lines


def on_rtl(sim, weft, seeds, jobs):
    """The engines as RTL beside the model, on meshes with the same broken links: rows of a table, largest difference of the means, how many times the lower bound each takes without breaks."""
    largest, times = 0, {}
    lines = ["| algorithm | | " + " | ".join(f"{fraction:.0%}" for fraction in FRACTIONS) + " |", "|---" * (len(FRACTIONS) + 2) + "|"]
    with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
        for algorithm, arguments in ENGINES_ON_RTL:
            rtl = [statistics.mean(pool.map(lambda seed: simulated(sim, arguments, fraction, seed), range(1, seeds + 1))) for fraction in FRACTIONS]  # noqa: B023  pylint: disable=cell-var-from-loop
            found = run(weft, "--mesh", ON_RTL, "--numbering", "centre", "--algorithm", algorithm, "--rounds", str(ROUNDS_ON_RTL), "--broken", BROKEN, "--seeds", str(seeds))["runs"]
            model = [each["cycles"] for each in found]
            times[algorithm] = rtl[0] / found[0]["lower_bound"]
            largest = max(largest, *(abs(one / other - 1) for one, other in zip(model, rtl)))
            for name, cycles in (("RTL", rtl), ("model", model)):
                lines.append(f"| {algorithm} | {name} | " + " | ".join(f"{each:.0f}" for each in cycles) + " |")
    return lines, largest, times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weft")
    parser.add_argument("sim", help="weft-sim")
    parser.add_argument("markdown", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default: %(default)s)")
    parser.add_argument("--figures", type=pathlib.Path, default=ROOT / "docs" / "img", metavar="FOLDER", help="for the figures (default: docs/img)")
    options = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        found = list(pool.map(lambda case: run(options.weft, *arguments_of(case, options.seeds))["runs"], (*CASES, *MORE)))
    note = f"means of 3 barriers and {options.seeds} seeds, {DRAWN[0]}; a model of network and engines"
    drawn = found[CASES.index(DRAWN)] + found[(*CASES, *MORE).index(LARGEST)]
    claims = draw(options.weft, Drawn(drawn), options.figures, note) + claims_elsewhere(found)
    rtl, apart, times = on_rtl(options.sim, options.weft, options.seeds, options.jobs)
    claims += [(f"(ours) likewise, engines as RTL, mean of 10 barriers: {name}", f"{ratio:.2f} times", ratio <= 1.3) for name, ratio in times.items()]
    claims.append((f"(ours) this model, 8x8, beside the engines as RTL: within {MOST_APART:.0%}", f"at most {apart:.1%} apart", apart <= MOST_APART))
    lines = ["# Barriers on meshes with broken links", "",
             f"Written by `make barrier-figures`: runs of `weft barrier`, seeds 1 to {options.seeds}. [What is compared and how](../barrier.md). Cycles of a model of network and engines, but where RTL is said: mean over "
             "3 barriers after links broke (where not said otherwise) and over seeds, by fraction of links wanted broken; on meshes with 4 links a node, 40 and 50 % break all but a spanning tree or nearly so. UQ: mean over all changes of offset, of algorithms that change it (without breaks; of a block for ID1 and ID2; not computed for dlct-blocks, dlct4-blocks). "
             "Software barriers over RDMA, on RTL: [hardware and software](barrier_software.md).",
             f"Half of the 95 % interval of a mean over seeds is {widest(found)[0]:.1%} of it in the median of all points, {widest(found)[1]:.0%} at most (where links are asked for more than they can carry).",
             "", "## In short", "", f"How much faster, with 10 to 50 % of links broken, from the least to the most; {SHORT}", "", *summary(found),
             "", "## Claims, and what is found", "", "The paper's claims, of its own algorithms; *(ours)*: the same asked of weft's, and weft's own goals.", "", "| claim | found | agrees |", "|---|---|---|",
             *(f"| {claim} | {words} | {'yes' if agrees else 'no'} |" for claim, words, agrees in claims),
             "", "## Counterparts of the paper's figures", "", f"Figure 5: update quantity; figure 6: algorithms by number of nodes, with 0, 10 and 20 % of links broken (all of them in the tables); figure 7: DLCT and trees. {DRAWN[0].capitalize()}.", "",
             *(f"![{image}](../img/{image})" for image in IMAGES)]
    lines += ["", "## Who judges", "", "Mean over so many barriers after links broke, the rebuilding of tree-rebuilt counted. *Searching*: judge as it is, which tries offsets and keeps the best; *fixed*: the offset stays 0; *oracle*: the "
              "offset with the shortest ways of Gather from the first barrier on, known from the links that are broken; Release as one packet does not count in it. A search costs slow barriers at first, so over three barriers it gains little. While no link is broken nobody searches, as `good` is the length at offset 0: along the S-curve, where that has its root in a corner, others are better, as the oracle shows.", "", *judges(options.weft, options.seeds)]
    lines += ["", "## The engines as RTL", "", "`weft-sim barrier --mesh 8x8 --together --barriers 10 --tree lct8 --multicast --broken 0.2 --seed 1` and so on, `--multicast` for mr4lms, `--block-log2 4` for blocks, all seeds: 64 engines, RTL in lockstep with their golden model, on the same meshes; mean cycles of 10 barriers. Its engines repeat what is not answered within 192 clocks, as on "
              "a network that may lose packets; the model sends each message once.", "", *rtl, "",
              "Likewise with background traffic (`--load`), which the model has anew for each barrier, the engines from the first to the last; what they repeat is traffic, too:", "", *on_busy_rtl(options.sim, options.weft, options.seeds, options.jobs)]
    for case, runs in zip((*CASES, *MORE), found):
        lines += ["", f"## {case[0]}", "", f"`weft barrier {' '.join(arguments_of(case, options.seeds))}`", "", *table(runs)]
    files.write_whole(options.markdown, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Counterparts of figures 6 to 12 of the MR4LMS paper, from runs of `weft mcast`: docs/img/mcast_*.svg and docs/results/mcast_figures.md.

usage: experiments/mcast_figures.py WEFT [--quick] [--done] [--jobs N] [--out FOLDER]
In the quick form: one pattern of each topology, into FOLDER (build/figures if not given).
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import pathlib
import tempfile

import files
import mcast
import plot
import runs

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLUE, RED, GREEN, GREY = "#2166ac", "#b2182b", "#1b7837", "#bbbbbb"
# Topology, pattern, limits of colours: for the paper's figure 8.
SWEEPS = (("taihulight", "34x34x34", (4, 8, 16, 32, 64, 128)), ("random:2048,40,20,1", "32x32x40", (16, 32, 64, 128, 256, 512)))
OF_EACH_COLOUR = ("taihulight", "128x32x40@4", 128)  # of figure 11
QUICK_OF_EACH_COLOUR = ("bluelight", "64x16x34@4", 128)


class Runner:
    """Runs of `weft mcast`, each once; what an interrupted run of the same program has done is not done again."""

    def __init__(self, weft, jobs, folder):
        self.weft = weft
        self.folder = folder / hashlib.sha256(pathlib.Path(weft).read_bytes()).hexdigest()[:16]
        self.folder.mkdir(parents=True, exist_ok=True)
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.started = {}

    def start(self, topology, pattern, *arguments):
        key = (topology, pattern, *arguments)
        if key not in self.started:
            self.started[key] = self.pool.submit(self.run, key)
        return self.started[key]

    def file_of(self, key):
        return self.folder / (hashlib.sha256(" ".join(key).encode()).hexdigest()[:16] + ".json")

    def run(self, key):
        """With the number of trees and groups of each color if a limit is given."""
        file = self.file_of(key)
        if not file.exists():
            with tempfile.TemporaryDirectory() as folder:
                mft = pathlib.Path(folder) / "mft"
                results = mcast.run(self.weft, *key, *(("--mft", str(mft)) if "--colors" in key else ()))
                if mft.exists():
                    results["of_colors"] = of_colours(json.loads(mft.read_text(encoding="utf-8"))["groups"])
            files.write_whole(file, json.dumps(results))
        return json.loads(file.read_text(encoding="utf-8"))

    def result(self, *key):
        return self.start(*key).result()


def of_colours(uses):
    """(groups, trees) of each color."""
    groups = collections.Counter(use["color"] for use in uses if use["color"] is not None)
    trees = collections.Counter(colour for colour, _ in {(use["color"], use["tree"]) for use in uses if use["color"] is not None})
    return [(groups[colour], trees[colour]) for colour in range(max(groups) + 1)]


def kinds_of(limit):
    """Arguments of the runs that each pattern needs."""
    return (), ("--engine", "minhop"), ("--engine", "sssp-load"), ("--colors", limit)


class Figures:
    def __init__(self, runner, out, page_images, quick):
        self.runner = runner
        self.out = out
        self.page_images = page_images
        self.cases = [(topology, str(limit), patterns[:1] if quick else patterns) for topology, limit, patterns in mcast.CASES]
        self.sweeps = [(topology, pattern, limits[-2:] if quick else limits) for topology, pattern, limits in SWEEPS]
        self.of_each = QUICK_OF_EACH_COLOUR if quick else OF_EACH_COLOUR
        self.sections = []
        self.claims = []

    def leave_out_what_was_not_run(self):
        """Only whole patterns are left; names of the others."""
        def is_there(*key):
            return self.runner.file_of(key).exists()

        missing = [f"`{topology}` {pattern}" for topology, limit, patterns in self.cases for pattern in patterns if not all(is_there(topology, pattern, *more) for more in kinds_of(limit))]
        self.cases = [(topology, limit, [pattern for pattern in patterns if f"`{topology}` {pattern}" not in missing]) for topology, limit, patterns in self.cases]
        missing += [f"`{topology}` {pattern} with {limit} colors" for topology, pattern, limits in self.sweeps for limit in limits if not is_there(topology, pattern, "--colors", str(limit))]
        self.sweeps = [(topology, pattern, [limit for limit in limits if is_there(topology, pattern, "--colors", str(limit))]) for topology, pattern, limits in self.sweeps]
        if not is_there(*self.of_each[:2], "--colors", str(self.of_each[2])):
            self.of_each = QUICK_OF_EACH_COLOUR
        return missing

    def start_all(self):
        self.runner.start(*self.of_each[:2], "--colors", str(self.of_each[2]))  # the longest
        for topology, limit, patterns in self.cases:
            for pattern in patterns:
                for more in kinds_of(limit):
                    self.runner.start(topology, pattern, *more)
        for topology, pattern, limits in self.sweeps:
            for limit in limits:
                self.runner.start(topology, pattern, "--colors", str(limit))

    def values(self, topology, patterns, key, *arguments):
        return [self.runner.result(topology, pattern, *arguments)[key] for pattern in patterns]

    def claim(self, text, ours, agrees):
        self.claims.append((text, ours, "yes" if agrees else "no"))

    def section(self, figure, title, words):
        self.sections.append(f"## Figure {figure}: {title}\n\n{words}\n\n![{title}]({self.page_images}/mcast_figure{figure}.svg)")

    def image(self, figure):
        return self.out / f"mcast_figure{figure}.svg"

    def panels(self, figure, title, y_label, words, series_of, limited=False):
        """A panel for each topology. @param series_of: topology, patterns, limit -> (label, colour, values)"""
        panels = [(topology, patterns, series_of(topology, patterns, limit)) for topology, limit, patterns in self.cases]
        plot.bars(self.image(figure), title, y_label, panels, words, limits=[int(limit) for _, limit, _ in self.cases] if limited else None)
        self.section(figure, title, words)

    def colours(self):
        self.panels(6, "Groups and colors without a limit", "number", "Dashed: the limit that the paper recommends. Bound: below which no trees at all can be colored.",
                    lambda topology, patterns, _: [("groups", GREY, self.values(topology, patterns, "groups")), ("colors", BLUE, self.values(topology, patterns, "colors_used")),
                                                   ("bound", GREEN, self.values(topology, patterns, "colors_lower_bound"))], limited=True)
        used = {(topology, pattern): self.runner.result(topology, pattern)["colors_used"] for topology, _, patterns in self.cases for pattern in patterns}
        for (topology, pattern), theirs in mcast.PAPER_COLORS.items():
            if (topology, pattern) in used:
                self.claim(f"`{topology}` {pattern}: {theirs} colors", used[topology, pattern], used[topology, pattern] <= theirs)
        for topology, theirs in mcast.PAPER_WORST.items():
            worst = max(colours for (of, _), colours in used.items() if of == topology)
            self.claim(f"`{topology}`, worst pattern: {theirs} colors", worst, worst <= theirs)

    def efi(self):
        self.panels(7, "Largest EFI without a limit", "groups on the fullest link",
                    "minhop: exactly stock OpenSM's. sssp-load: shortest ways by weights that count groups, as the paper describes SSSP-MC.",
                    lambda topology, patterns, _: [("weft", BLUE, self.values(topology, patterns, "max_efi")), ("minhop", RED, self.values(topology, patterns, "max_efi", "--engine", "minhop")),
                                                   ("sssp-load", GREEN, self.values(topology, patterns, "max_efi", "--engine", "sssp-load"))])
        pairs = {engine: [(self.runner.result(topology, pattern)["max_efi"], self.runner.result(topology, pattern, "--engine", engine)["max_efi"])
                          for topology, _, patterns in self.cases for pattern in patterns] for engine in ("minhop", "sssp-load")}
        below = sum(ours < theirs for ours, theirs in pairs["minhop"])
        self.claim("EFI mostly well below that of minhop", f"below in {below} of {len(pairs['minhop'])} cases", 2 * below > len(pairs["minhop"]))
        level = sum(ours <= theirs for ours, theirs in pairs["sssp-load"])
        self.claim("EFI as SSSP's", f"at most that of sssp-load in {level} of {len(pairs['sssp-load'])} cases", 2 * level > len(pairs["sssp-load"]))

    def sweep(self):
        series = []
        for (topology, pattern, limits), colour in zip(self.sweeps, (BLUE, RED)):
            found = [self.runner.result(topology, pattern, "--colors", str(limit))["max_efi"] for limit in limits]
            series.append((f"{topology} {pattern}", colour, "o", limits, [runs.Point(value, value, value, 1, 0) for value in found]))
            if len(limits) > 1:
                self.claim(f"`{topology}` {pattern}: few colors make a large EFI", f"{found[0]} with {limits[0]} colors, {found[-1]} with {limits[-1]}", found[0] > found[-1])
        words = "The same groups with ever fewer colors: groups that share a tree load its links together."
        plot.lines(self.image(8), "Largest EFI against the limit of colors", "limit of colors", "groups on the fullest link", series, words, log_x=True, log_y=True,
                   ticks=sorted({limit for _, _, limits in self.sweeps for limit in limits}))
        self.section(8, "Largest EFI against the limit of colors", words)

    def limited_efi(self):
        self.panels(9, "Largest EFI with the recommended limit", "groups on the fullest link", "128 colors on fat trees, 256 elsewhere.",
                    lambda topology, patterns, limit: [("no limit", GREY, self.values(topology, patterns, "max_efi")), ("limit", BLUE, self.values(topology, patterns, "max_efi", "--colors", limit))])
        for topology, limit, patterns in self.cases:
            for pattern in patterns:
                if (topology, pattern) in mcast.PAPER_EFI:
                    without, with_limit = mcast.PAPER_EFI[topology, pattern]
                    ours = [self.runner.result(topology, pattern, *more)["max_efi"] for more in ((), ("--colors", limit))]
                    self.claim(f"`{topology}` {pattern}: EFI {without} without, {with_limit} with a limit", f"{ours[0]}, {ours[1]}", ours[0] <= without and ours[1] <= with_limit)

    def shared(self):
        self.panels(10, "Groups on one tree with the recommended limit", "largest TFI", "128 colors on fat trees, 256 elsewhere. 1: nothing was merged.",
                    lambda topology, patterns, limit: [("TFI", BLUE, self.values(topology, patterns, "max_tfi", "--colors", limit))])
        for text, processes, most in (("one process a host: at most 10 groups share a tree", False, 10), ("four processes a host: at most 66", True, 66)):
            found = {f"`{topology}` {pattern}": self.runner.result(topology, pattern, "--colors", limit)["max_tfi"]
                     for topology, limit, patterns in self.cases for pattern in patterns if ("@" in pattern) == processes}
            if found:
                worst = max(found, key=found.get)
                self.claim(text, f"{found[worst]} ({worst})", found[worst] <= most)

    def of_each_colour(self):
        topology, pattern, limit = self.of_each
        results = self.runner.result(topology, pattern, "--colors", str(limit))
        groups, trees = zip(*results["of_colors"])
        words = f"`{topology}` {pattern}, {limit} colors: {results['groups'] - results['local_groups']} groups on {results['trees']} trees; the most on one {results['max_tfi']}, mean {results['mean_tfi']:.2f}."
        plot.columns(self.image(11), "Trees and groups of each color", "color", "number", [("groups", RED, groups), ("trees", BLUE, trees)], words)
        self.section(11, "Trees and groups of each color", words)
        self.claim("`taihulight` 128x32x40@4 with 128 colors: mean TFI 1.36, largest 66", f"`{topology}` {pattern}: {results['mean_tfi']:.2f}, {results['max_tfi']}",
                   results["mean_tfi"] <= 1.36 and results["max_tfi"] <= 66)
        self.claim("groups spread evenly over colors", f"{min(groups)} to {max(groups)} a color, mean {sum(groups) / len(groups):.0f}", max(groups) <= 2 * sum(groups) / len(groups))

    def milliseconds(self, topology, patterns, *arguments):
        found = [self.runner.result(topology, pattern, *arguments) for pattern in patterns]
        return [1000 * results["cpu_seconds"] / results["groups"] for results in found]

    def times(self):
        self.panels(12, "Time to route a group", "CPU ms a group", "Processor time of one thread, without the start; with other work on the machine.",
                    lambda topology, patterns, limit: [("no limit", GREY, self.milliseconds(topology, patterns)), ("limit", BLUE, self.milliseconds(topology, patterns, "--colors", limit))])
        for text, most, kinds in (("fat trees, dragonfly: 5 ms a group", 5, ("fattree", "bluelight", "taihulight", "dragonfly")), ("torus, random: 9 ms a group", 9, ("torus", "random"))):
            worst = max(max(self.milliseconds(topology, patterns, *more)) for topology, limit, patterns in self.cases if topology.startswith(kinds) for more in ((), ("--colors", limit)))
            self.claim(text + " (48 cores)", f"at most {worst:.2f} ms (one)", worst <= most)

    def draw(self):
        self.start_all()
        for draw in (self.colours, self.efi, self.sweep, self.limited_efi, self.shared, self.of_each_colour, self.times):
            draw()

    def page(self, quick, missing):
        lines = ["# Paper 2's figures, drawn again", "",
                 "Written by `make mcast-figures`. Counterparts of figures 6 to 12 of the MR4LMS paper from runs of `weft mcast`, each checked: a packet from every member of every group along the tables. "
                 "[What the words mean](../mcast.md); [all numbers](mcast.md). Topologies of the paper's sizes; BlueLight and TaihuLight are [wired by guess](../topology.md). The paper's text names some patterns and "
                 "numbers; its pictures did not survive, so other patterns are ours, of the same kinds.", ""]
        if quick:
            lines += ["**Quick form: few patterns.**", ""]
        if missing:
            lines += [f"**Not yet run, so not in the figures: {', '.join(missing)}.**", ""]
        lines += ["## What the paper states, and what is found", "", "| paper | weft | at least as good |", "|---|---|---|"]
        lines += [f"| {text} | {ours} | {agrees} |" for text, ours, agrees in self.claims]
        return "\n".join(lines) + "\n\n" + "\n\n".join(self.sections) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--done", action="store_true", help="draw what an interrupted run of the same program has done, name what it has not")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/figures")
    arguments = parser.parse_args()
    out, page = (arguments.out, arguments.out / "mcast_figures.md") if arguments.quick else (ROOT / "docs/img", ROOT / "docs/results/mcast_figures.md")
    out.mkdir(parents=True, exist_ok=True)
    figures = Figures(Runner(arguments.weft, arguments.jobs, ROOT / "build/figures/mcast_runs"), out, "." if arguments.quick else "../img", arguments.quick)
    missing = figures.leave_out_what_was_not_run() if arguments.done else []
    figures.draw()
    files.write_whole(page, figures.page(arguments.quick, missing))


if __name__ == "__main__":
    main()

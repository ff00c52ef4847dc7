# SPDX-License-Identifier: Apache-2.0
"""How reliable VTFTR's tables are: exact probabilities, samples with intervals (route_reliability.py), what masks cut and new faults cost; and traffic through them
(route_traffic.py). Into docs/results/vtftr.md and docs/img.

usage: experiments/route.py WEFT [--quick] [--done] [--jobs N] [--out FOLDER] [--samples N] [--draws N] [--seed N]
Fails where something happened that never must: a packet delivered twice, a deadlock of VTFTR. In the quick form: few runs and draws, into FOLDER (build/figures if not given). Faults are leaf switches, every set of k of n x n equally likely. "Cut": some two leaves that are alive cannot talk.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import files
import route_figures
import route_reliability as reliability
import route_traffic

SIZES = (8, 16, 32)
MASKS = (("--rules", "literal", "--masks", "line"), ("--masks", "line"), ("--masks", "destination"))
REST = "## That some live pair is cut\n"  # begins what is not of traffic


def scientific(value):
    return "0" if value == 0 else f"{float(value):.3e}"


def probabilities(samples, rng):
    rows = []
    for n in SIZES:
        for k in sorted({n - 1, n, n + n // 4, 3 * n // 2, 2 * n - 3, 2 * n - 2, 2 * n - 1, 2 * n}):
            ours, line = reliability.exact_masks(n, k, samples, rng), reliability.line_masks(n, k, min(samples, 300), rng)
            columns, both = reliability.covered(n, k), reliability.both_covered(n, k)
            cells = (f"{n}×{n}", k, scientific(reliability.printed(n, k)), scientific(both), scientific(columns), scientific(2 * columns - both),
                     f"{line[0]:.3e} ({line[1]:.2e}–{line[2]:.2e})" if line else "0",
                     f"{ours[0]:.3e} ± {ours[1]:.0e}" if ours else "0", scientific(ours[2]) if ours else "0", scientific(reliability.isolated(n, k)))
            rows.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return rows


def run(weft, n, dead, *options):
    """Results of `weft route`; the last option takes the dead leaves. It fails, and so does this, where packets can wait in a ring."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "results.json"
        command = [weft, "route", "--topology", f"kfat2d:{n}x{n}:1", "--json", str(file), *options, *(f"{y},{x}" for x, y in sorted(dead))]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        return json.loads(file.read_text(encoding="utf-8"))


def draw(n, k, rng):
    """Any dead leaves."""
    return {(leaf % n, leaf // n) for leaf in rng.sample(range(n * n), k)}


def masks_cut(weft, draws, rng):
    """Of sets of dead leaves, any and those that hold every column: of how many some pair is cut, and the mean share of pairs cut. Each set is given to all rules."""
    rows = []
    for n, k in ((8, 8), (8, 12), (8, 16), (16, 16), (16, 20)):
        for name, one in (("any", draw), ("every column", reliability.draw_covered)):
            drawn = [one(n, k, rng) for _ in range(draws)]
            expected = [reliability.cut_by(n, dead) for dead in drawn]
            cells = [f"{n}×{n}", str(k), name]
            for i, options in enumerate(MASKS):
                results = [run(weft, n, dead, *options, "--fail") for dead in drawn]
                cut = [r["unreachable_pairs"] > 0 for r in results]
                if cut != [e[i] for e in expected]:
                    raise SystemExit(f"{n}x{n}, {k} faults, {' '.join(options)}: weft route cuts pairs where route_reliability.py does not, or the other way round")
                low, high = reliability.share_interval(sum(cut), draws)
                cells += [f"{100 * sum(cut) / draws:.1f} % ({100 * low:.1f}–{100 * high:.1f})", f"{100 * sum(r['unreachable_pairs'] / r['pairs'] for r in results) / draws:.3f} %"]
            rows.append("| " + " | ".join(cells) + " |")
    return rows


def news(weft, draws, rng):
    """Pairs of which a packet can be lost: while all tables are old, and in any mixture of old and new ones."""
    rows = []
    for n in (8, 16):
        for count in (1, 2, 3):
            drawn = [draw(n, count, rng) for _ in range(draws)]
            results = {}
            for masks in ("destination", "line"):
                for channels in ("2", "3"):
                    results[masks, channels] = [run(weft, n, dead, "--check", "--channels", channels, "--masks", masks, "--new-fail")["news"] for dead in drawn]
            for name, key in (("all old", "lossy_pairs_before"), ("any mixture", "lossy_pairs")):
                shares = [reliability.interval([r[key] / r["pairs"] for r in of]) for of in results.values()]
                rows.append("| " + " | ".join([f"{n}×{n}", str(count), name, *(f"{100 * share:.3f} ± {100 * half:.3f} %" for share, half in shares)]) + " |")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--done", action="store_true", help="no more traffic: what an interrupted run of the same program has done, and how much it has not")
    parser.add_argument("--traffic-only", action="store_true", help="the rest of the page stays as it is")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, default=route_traffic.ROOT / "build/figures")
    parser.add_argument("--samples", type=int)
    parser.add_argument("--draws", type=int)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    samples, draws = arguments.samples or (100 if arguments.quick else 2000), arguments.draws or (5 if arguments.quick else 100)
    rng = random.Random(arguments.seed)
    images, page = (arguments.out, arguments.out / "vtftr.md") if arguments.quick else (route_traffic.ROOT / "docs/img", route_traffic.ROOT / "docs/results/vtftr.md")
    images.mkdir(parents=True, exist_ok=True)
    sweep = route_traffic.Sweep(arguments.weft)
    if not arguments.done:
        sweep.run_part(route_traffic.points(arguments.quick), 0, 1, arguments.jobs)
    report = route_figures.Report(sweep, images, "." if arguments.quick else "../img", arguments.quick)
    traffic = report.page()
    rest = REST + page.read_text(encoding="utf-8").partition(REST)[2] if arguments.traffic_only else without_traffic(arguments, samples, draws, rng)
    files.write_whole(page, f"""# VTFTR: throughput with faults, who is cut off, and what new faults cost

Written by `make route-figures` (seed {arguments.seed}). [What the words mean](../route.md).

{traffic}

{rest}""")
    if report.failures:
        sys.exit("\n".join(report.failures))


def without_traffic(arguments, samples, draws, rng):
    return f"""{REST}
Faults are leaf switches; every set of k of n × n is as likely as any other. `printed`: the paper's formula, C(n²−n, k−n) / C(n², k), the chance that one fixed diagonal is among the faults; for 16×16 and 20 faults its 4.807e-22. The corrected values beside it are exact: a fault in every row and every column (what the paper means to compute), in every column, in every
row or every column. `masks of columns`: the paper's tables, row first as printed; a pair is cut exactly if every column holds a fault and a live pair has both its corners dead: the exact chance of the first times the sampled share of the second ({min(samples, 300)} draws among the sets that hold every column), in brackets a 95 % interval (exact binomial, after Clopper and
Pearson: where all draws ask for a backup, its lower end says how many sets may not). It is not of `weft route --masks line`, which cuts fewer pairs ([below](#masks-what-each-cuts)): there a leaf chooses row or column first for each pair, so every row has to hold a fault too, and the column `every row and column` is a bound. `masks of
destinations`: no way of three steps, which is what `weft route` cuts by itself: 0, exactly, below 2n − 2 faults; from there on sampled ({samples} draws among the sets that cut a pair, after Karp and Luby) with a 95 % interval, beside the exact expected number of cut pairs, which is a bound. `graph`: no
live links join the pair, exact.

| n×n | faults k | printed | every row and column | every column | every row or column | masks of columns | masks of destinations | bound | graph |
|---|---|---|---|---|---|---|---|---|---|
""" + "\n".join(probabilities(samples, rng)) + f"""

## Masks: what each cuts

Sets of k dead leaves through `weft route` ({draws} draws each, the same for all three): any, as likely as any other; and those that hold every column, under which alone the paper's rules can cut a pair. `as printed`: `--rules literal --masks line`; then `--masks line` and `--masks destination`, of the rules that weft has by itself. Sets: share of those under which some live
pair is cut, with a 95 % interval (exact binomial). Pairs: mean share of the ordered live pairs that are cut. Of each set the program and the arithmetic of the table above agree whether a pair is cut. So `line` gains the sets that leave a row without a fault, and `destination` cuts nothing below 2n − 2 faults (exactly, whatever the draws
leave open).

| n×n | faults k | sets drawn | as printed: sets | pairs | `line`: sets | pairs | `destination`: sets | pairs |
|---|---|---|---|---|---|---|---|---|
""" + "\n".join(masks_cut(arguments.weft, draws, random.Random(arguments.seed))) + f"""

## Before the tables know

Share of ordered live pairs of which a packet *can* be dropped ({draws} draws, mean ± 95 %), by masks and virtual channels: while all tables still are those without faults, and in any mixture of these and the new ones, as while switches are rewritten one by one, in any order. `weft route --check` finds no cycle in any of them.

| n×n | new faults | tables | destinations, 2 channels | destinations, 3 | columns, 2 | columns, 3 |
|---|---|---|---|---|---|---|
""" + "\n".join(news(arguments.weft, draws, rng)) + "\n"


if __name__ == "__main__":
    main()

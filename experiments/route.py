# SPDX-License-Identifier: Apache-2.0
"""How reliable VTFTR's tables are: exact probabilities, samples with intervals, and what new faults cost; and traffic through them (route_traffic.py). Into
docs/results/vtftr.md and docs/img.

usage: experiments/route.py WEFT [--quick] [--done] [--jobs N] [--out FOLDER] [--samples N] [--draws N] [--seed N]
In the quick form: few runs and draws, into FOLDER (build/figures if not given). Faults are leaf switches, every set of k of n x n equally likely. "Cut": some two leaves that are alive cannot talk.
"""

import argparse
import json
import math
import pathlib
import random
import subprocess
import tempfile
from fractions import Fraction
from math import comb

import files
import plot
import route_figures
import route_traffic

SIZES = (8, 16, 32)
REST = "## That some live pair is cut\n"  # begins what is not of traffic


def covered(n, k):
    """Every column holds a fault: inclusion and exclusion."""
    return Fraction(sum((-1) ** i * comb(n, i) * comb(n * (n - i), k) for i in range(n + 1)), comb(n * n, k))


def both_covered(n, k):
    """Every row and every column holds a fault."""
    return Fraction(sum((-1) ** (i + j) * comb(n, i) * comb(n, j) * comb((n - i) * (n - j), k) for i in range(n + 1) for j in range(n + 1)), comb(n * n, k))


def printed(n, k):
    """As the paper has it: the faults hold one fixed diagonal."""
    return Fraction(comb(n * n - n, k - n), comb(n * n, k)) if k >= n else Fraction(0)


def isolated(n, k):
    """Live links join not all leaves that are alive. For n >= 8 and k <= 2n only a leaf alone can be cut: other cuts, and two such leaves, need more faults."""
    return Fraction(n * n * comb((n - 1) ** 2, k - 2 * n + 2), comb(n * n, k)) if k >= 2 * n - 2 else Fraction(0)


def cut_sets(n, k):
    """Sets of k faults that leave a given pair in no common row or column without a way of three steps, by how many of the 2(n-2) backup pairs lose both leaves."""
    pairs, free = 2 * (n - 2), n * n - 4 - 4 * (n - 2)
    sets = {}
    for both in range(pairs + 1):
        rest = k - 2 - pairs - both
        if 0 <= rest <= free:
            sets[both] = comb(pairs, both) * 2 ** (pairs - both) * comb(free, rest)
    return sets


def draw_cut(n, k, rng):
    """One of cut_sets for the pair (0, 0), (1, 1), each as likely: the dead leaves."""
    sets = cut_sets(n, k)
    both = rng.choices(list(sets), [float(Fraction(s, max(sets.values()))) for s in sets.values()])[0]
    backups = [((i, 0), (i, 1)) for i in range(2, n)] + [((0, i), (1, i)) for i in range(2, n)]
    dead = {(0, 1), (1, 0)}
    twice = set(rng.sample(range(len(backups)), both))
    for i, leaves in enumerate(backups):
        dead.update(leaves if i in twice else (rng.choice(leaves),))
    free = [(x, y) for x in range(2, n) for y in range(2, n)]
    dead.update(rng.sample(free, k - len(dead)))
    return dead


def cut_pairs(n, dead):
    """Unordered pairs without a way of three steps."""
    rows = [sum(1 << x for x in range(n) if (x, y) not in dead) for y in range(n)]
    columns = [sum(1 << y for y in range(n) if (x, y) not in dead) for x in range(n)]
    cut = 0
    for a in range(n):
        for b in range(a + 1, n):
            if rows[a] & rows[b]:
                continue
            cut += sum(1 for i in range(n) if rows[a] >> i & 1 for j in range(n) if rows[b] >> j & 1 and not columns[i] & columns[j])
    return cut


def interval(values):
    """Mean and half of a 95 % interval."""
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / max(len(values) - 1, 1))
    return mean, 1.96 * deviation / math.sqrt(len(values))


def exact_masks(n, k, samples, rng):
    """Some pair is cut under masks of destinations: 0 below 2n - 2 faults. Else as Karp and Luby: of the sum over pairs, each set counts once."""
    pair = Fraction(sum(cut_sets(n, k).values()), comb(n * n, k))
    total = pair * (n * n * (n - 1) ** 2 // 2)
    if total == 0:
        return None
    mean, half = interval([1 / cut_pairs(n, draw_cut(n, k, rng)) for _ in range(samples)])
    return float(total) * mean, float(total) * half, float(total)


def draw_covered(n, k, rng):
    """Faults that hold every column, each such set as likely: faults a column by their numbers of ways."""
    ways = [[0] * (k + 1) for _ in range(n + 1)]
    ways[0][0] = 1
    for column in range(n):
        for used in range(k + 1):
            for here in range(1, min(n, k - used) + 1):
                ways[column + 1][used + here] += ways[column][used] * comb(n, here)
    dead, left = set(), k
    for column in reversed(range(n)):
        options = [here for here in range(1, min(n, left) + 1) if ways[column][left - here]]
        weights = [ways[column][left - here] * comb(n, here) for here in options]
        here = rng.choices(options, [float(Fraction(w, sum(weights))) for w in weights])[0]
        dead.update((column, y) for y in rng.sample(range(n), here))
        left -= here
    return dead


def needs_backup(n, dead):
    """Two live leaves both of whose corners are dead."""
    return any(a[0] != b[0] and a[1] != b[1] and (a[0], b[1]) not in dead and (b[0], a[1]) not in dead for a in dead for b in dead)


def line_masks(n, k, samples, rng):
    """Some pair is cut under masks of whole columns, row first as printed: every column holds a fault, and some pair asks for a backup."""
    if k < n:
        return None
    cut = sum(needs_backup(n, draw_covered(n, k, rng)) for _ in range(samples))
    return float(covered(n, k)) * cut / samples, cut, samples


def scientific(value):
    return "0" if value == 0 else f"{float(value):.3e}"


def reliability(samples, rng):
    rows = []
    for n in SIZES:
        for k in sorted({n - 1, n, n + n // 4, 3 * n // 2, 2 * n - 3, 2 * n - 2, 2 * n - 1, 2 * n}):
            ours, line = exact_masks(n, k, samples, rng), line_masks(n, k, min(samples, 300), rng)
            cells = (f"{n}×{n}", k, scientific(printed(n, k)), scientific(both_covered(n, k)), scientific(covered(n, k)),
                     scientific(2 * covered(n, k) - both_covered(n, k)), f"{line[0]:.3e} ({line[1]} of {line[2]})" if line else "0",
                     f"{ours[0]:.3e} ± {ours[1]:.0e}" if ours else "0", scientific(ours[2]) if ours else "0", scientific(isolated(n, k)))
            rows.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return rows


def run(weft, n, known, news, channels, masks):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "results.json"
        command = [weft, "route", "--topology", f"kfat2d:{n}x{n}:1", "--check", "--channels", str(channels), "--masks", masks, "--json", str(file)]
        for option, leaves in (("--fail", known), ("--new-fail", news)):
            if leaves:
                command += [option, *(f"{leaf // n},{leaf % n}" for leaf in leaves)]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        return json.loads(file.read_text(encoding="utf-8"))


def news(weft, draws, rng):
    """Pairs of which a packet can be lost between a fault and the last table rewritten."""
    rows = []
    for n in (8, 16):
        for count in (1, 2, 3):
            cells = [f"{n}×{n}", str(count)]
            drawn = [rng.sample(range(n * n), count) for _ in range(draws)]
            for masks in ("destination", "line"):
                for channels in (2, 3):
                    results = [run(weft, n, [], dead, channels, masks)["news"] for dead in drawn]
                    share, half = interval([r["lossy_pairs_before"] / r["pairs"] for r in results])
                    free = all(r["deadlock_free"] for r in results)
                    cells.append(f"{100 * share:.3f} ± {100 * half:.3f} %{'' if free else ', deadlock'}")
            rows.append("| " + " | ".join(cells) + " |")
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
    traffic = route_figures.Report(sweep, images, "." if arguments.quick else "../img", arguments.quick).page()
    rest = REST + page.read_text(encoding="utf-8").partition(REST)[2] if arguments.traffic_only else without_traffic(arguments, samples, draws, rng)
    files.write_whole(page, f"""# VTFTR: throughput with faults, who is cut off, and what new faults cost

Written by `make route-figures` (seed {arguments.seed}). [What the words mean](../route.md).

{traffic}

{rest}""")


def without_traffic(arguments, samples, draws, rng):
    return f"""{REST}
Faults are leaf switches; every set of k of n × n is as likely as any other. `printed`: the paper's formula, C(n²−n, k−n) / C(n², k), the chance that one fixed diagonal is among the faults; for 16×16 and 20 faults its 4.807e-22. The corrected values beside it are exact: a fault in every row and every column (what the paper means to compute), in every column, in every
row or every column. `masks of columns`: the paper's tables, row first; a pair is cut exactly if every column holds a fault and a live pair has both its corners dead: the exact chance of the first times the sampled share of the second ({min(samples, 300)} draws; in brackets). `masks of
destinations`: no way of three steps, which is what `weft route` cuts: 0, exactly, below 2n − 2 faults; from there on sampled ({samples} draws among the sets that cut a pair, after Karp and Luby) with a 95 % interval, beside the exact expected number of cut pairs, which is a bound. `graph`: no
live links join the pair, exact.

| n×n | faults k | printed | every row and column | every column | every row or column | masks of columns | masks of destinations | bound | graph |
|---|---|---|---|---|---|---|---|---|---|
""" + "\n".join(reliability(samples, rng)) + f"""

## Before the tables know

Share of ordered live pairs of which a packet *can* be dropped while all tables still are those without faults ({draws} draws, mean ± 95 %), by masks and virtual channels. `weft route --check` finds no cycle in any of them, nor in any mixture of old and new tables.

| n×n | new faults | destinations, 2 channels | destinations, 3 | columns, 2 | columns, 3 |
|---|---|---|---|---|---|
""" + "\n".join(news(arguments.weft, draws, rng)) + "\n"


if __name__ == "__main__":
    main()

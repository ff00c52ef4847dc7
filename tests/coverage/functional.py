# SPDX-License-Identifier: Apache-2.0
"""Counts which points of the testplan the traces of some runs hit; every hole needs its reason in holes.json.

usage: functional.py [--plan FILE] [--jobs N] [--units UNIT,... --page NAME] FOLDER RUN=FOLDER...: all golden traces below the folder of each run. Writes FOLDER/functional.json,
docs/results/NAME.md and docs/results/NAME_points.md. Exit status 0: every point is hit by each run that it is tied to, or explained; 1: some are not, an
explanation is of a point that is hit, or fewer than 95 % are hit; 2: bad input.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import testplan  # noqa: E402
import trace_facts  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PLAN = ROOT / "docs" / "testplan.json"
HOLES = pathlib.Path(__file__).resolve().parent / "holes.json"
LEAST_HIT = 0.95
PAGES = ROOT / "docs" / "results"
COMMANDS = {"coverage": "make coverage", "switch_coverage": "make switch-coverage", "barrier_coverage": "make barrier-coverage", "older_coverage": "make older-coverage"}  # by page
WHAT = {"coverage": "RDMA engine and NIC", "switch_coverage": "switch lookup block", "barrier_coverage": "barrier engine", "older_coverage": "older schemes"}  # likewise
FACTS_OF = {"coverage": "trace_facts", "switch_coverage": "lookup_facts", "barrier_coverage": "barrier_facts", "older_coverage": "older_facts"}  # likewise
MOST_NAMED = 3  # tests of a point


def traces(folder):
    found = sorted(pathlib.Path(folder).rglob("golden.node*.trace"))
    if not found:
        raise testplan.BadPlan(f"{folder}: has no golden.node*.trace")
    return found


def test_of(run, file):
    """The test that left a trace: tests name the folder of each simulation after themselves, with a number behind. Other programs after their process."""
    name = file.parent.name.rpartition(".")[0]
    return run if name.rpartition(".")[2].isdigit() else name.replace(",", "/")


def points_of(plan, units):
    return [point for point in testplan.load(plan, trace_facts.FACTS) if point.unit in units]


class Counter:
    """What a process that counts has of its own."""

    points, index = [], None

    @classmethod
    def start(cls, plan, units):
        cls.points = points_of(plan, units)
        cls.index = testplan.Index(cls.points)


def count_file(task):
    """Hits of one trace by number of the point, and how many events there were."""
    run, file = task
    for point in Counter.points:
        point.hits = {}
    events = testplan.count(Counter.index, run, trace_facts.events(file))
    return run, test_of(run, file), {number: point.hits[run] for number, point in enumerate(Counter.points) if point.hits}, events


def count_runs(plan, units, points, runs, jobs):
    """How many events there were, by run."""
    events = {run: 0 for run, _ in runs}
    tasks = [(run, file) for run, folder in runs for file in traces(folder)]
    with multiprocessing.Pool(jobs, Counter.start, (plan, units)) as pool:
        for run, test, hits, seen in pool.imap_unordered(count_file, tasks, chunksize=4):
            events[run] += seen
            for number, count in hits.items():
                points[number].hits[run] = points[number].hits.get(run, 0) + count
                by_test = points[number].tests_that_hit
                by_test[run, test] = by_test.get((run, test), 0) + count
    return events


def check_runs(points, runs):
    """Every run that points are tied to is there."""
    unknown = {run for point in points for test in point.tests for run in test.split("|")} - {run for run, _ in runs}
    if unknown:
        raise testplan.BadPlan(f"points are tied to {', '.join(sorted(unknown))}, of which there are no traces")


class Holes:
    """Patterns of names of points, and why they are not hit."""

    def __init__(self, file):
        with open(file, encoding="utf-8") as text:
            self.reasons = [(re.compile(entry["pattern"]), entry["why"]) for entry in json.load(text)["holes"]]

    def reason(self, point):
        return next((why for pattern, why in self.reasons if pattern.fullmatch(point.name)), None)

    def unused(self, holes, others):
        """Patterns of no hole, but for those of other points, which were not counted."""
        return [pattern.pattern for pattern, _ in self.reasons if not any(pattern.fullmatch(point.name) for point in [*holes, *others])]


def groups(points):
    """Points by the entry of the plan that they come from, in its order."""
    found = {}
    for point in points:
        found.setdefault(point.entry, []).append(point)
    return found


def page(name, points, holes, events):
    hit = sum(not point.missing() for point in points)
    runs = ", ".join(f"{run} ({count:,} events)" for run, count in events.items())
    lines = [f"# Coverage of the {WHAT[name]}", "", f"Written by `{COMMANDS[name]}`; points: [testplan.json](../testplan.json), how they are seen: `tests/coverage/{FACTS_OF[name]}.py`,",
             "runs: [verification.md](../verification.md#coverage).", "",
             "## Functional", "", f"{hit} of {len(points)} points hit ({100 * hit / len(points):.1f} %), by the runs {runs}.", "",
             "| points | of | what | by | hit | of | fewest hits of one that is hit |", "|---|---|---|---|---:|---:|---:|"]
    for name, group in groups(points).items():
        counts = [sum(point.hits.values()) for point in group if not point.missing()]
        by = ", ".join(test.replace("|", " or ") for test in group[0].tests)
        lines.append(f"| {name} | {group[0].unit} | {group[0].what} | {by} | {len(counts)} | {len(group)} | {min(counts, default=0):,} |")
    missing = [f"| {point.name} | {holes.reason(point) or '**not explained**'} |" for point in points if point.missing()]
    lines += ["", "## Holes", "", *(["| point | why |", "|---|---|", *missing] if missing else ["None."])]
    return "\n".join(lines) + "\n"


def named_tests(point):
    """Those with most hits, and how many more."""
    most = sorted(point.tests_that_hit.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{run}: `{test}` ({count:,})" if test != run else f"{run} ({count:,})" for (run, test), count in most[:MOST_NAMED]]
    if len(most) > MOST_NAMED:
        named.append(f"and {len(most) - MOST_NAMED} more")
    return ", ".join(named)


def points_page(name, points):
    """Which tests hit a point: whoever takes one away sees here what is lost."""
    lines = [f"# Testplan of the {WHAT[name]}, point by point", "", f"Written by `{COMMANDS[name]}`, as [{name}.md]({name}.md): hits of each point, and the tests that have most of them, by run.", "",
             "| point | hits | tests |", "|---|---:|---|"]
    lines += [f"| {point.name} | {sum(point.hits.values()):,} | {named_tests(point)} |" for point in points]
    return "\n".join(lines) + "\n"


def write_whole(file, text):
    temporary = file.with_suffix(".part")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, file)


def run_of(text):
    name, equals, folder = text.partition("=")
    if not equals or not name or not folder:
        raise argparse.ArgumentTypeError(f"'{text}' is not RUN=FOLDER")
    return name, folder


def judge(points, others, holes):
    """Whether every hole is explained, and every explanation is of a hole."""
    missed = [point for point in points if point.missing()]
    unexplained = [point for point in missed if not holes.reason(point)]
    for point in unexplained:
        print(f"coverage: not hit by {', '.join(point.missing())}: {point.name}")
    unused = holes.unused(missed, others)
    for pattern in unused:
        print(f"coverage: holes.json explains '{pattern}', which is no hole")
    print(f"coverage: {len(points) - len(missed)} of {len(points)} points hit, {len(missed) - len(unexplained)} holes explained")
    enough = len(missed) <= (1 - LEAST_HIT) * len(points)
    if not enough:
        print(f"coverage: fewer than {100 * LEAST_HIT:.0f} % of the points are hit")
    return not unexplained and not unused and enough


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plan", type=pathlib.Path, default=PLAN, help="instead of docs/testplan.json")
    parser.add_argument("--jobs", type=int, default=2, help="traces read at once")
    parser.add_argument("--units", type=lambda text: text.split(","), default=list(trace_facts.FACTS), help="only their points, as UNIT,UNIT")
    parser.add_argument("--page", choices=COMMANDS, default="coverage", help="which is written")
    parser.add_argument("folder", type=pathlib.Path, help="where functional.json goes: the hits of each point by run")
    parser.add_argument("runs", nargs="+", type=run_of, metavar="RUN=FOLDER", help="name of a run, and where its traces are")
    args = parser.parse_args()
    try:
        points, holes = points_of(args.plan, args.units), Holes(HOLES)
        others = points_of(args.plan, trace_facts.FACTS.keys() - args.units)
        check_runs(points, args.runs)
        events = count_runs(args.plan, args.units, points, args.runs, args.jobs)
        result = [{"name": point.name, "hits": point.hits, "missing": point.missing(), "why": holes.reason(point)} for point in points]
        write_whole(args.folder / "functional.json", json.dumps({"events": events, "points": result}, indent=1) + "\n")
        write_whole(PAGES / f"{args.page}.md", page(args.page, points, holes, events))
        write_whole(PAGES / f"{args.page}_points.md", points_page(args.page, points))
    except (OSError, KeyError, ValueError, re.error, testplan.BadPlan) as error:
        print(f"coverage: {error}", file=sys.stderr)
        return 2
    return 0 if judge(points, others, holes) else 1


if __name__ == "__main__":
    sys.exit(main())

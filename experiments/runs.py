# SPDX-License-Identifier: Apache-2.0
"""Runs of weft-sim: many at a time, each command once, results as JSON; what an interrupted run has done is not done again. And what is told of a point: the median of
its seeds, with an interval."""

import concurrent.futures
import dataclasses
import hashlib
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile


class RunError(Exception):
    """weft-sim did something that no result can be made of."""


@dataclasses.dataclass(frozen=True)
class Point:
    """Median over all seeds, with an interval that holds it with at least 95 % (of fewer than six seeds: their range), mean and largest. A run that did not finish, or ended with an error, counts as
    longer than all others: no median if they are half of all or more, no bound above if it is one of them, no mean if there is one."""

    median: float | None
    low: float | None
    high: float | None  # infinite: a run that did not finish
    seeds: int
    unfinished: int
    mean: float | None = None
    largest: float | None = None
    failed: int = 0  # of those unfinished: a transfer ended with an error, before the clocks were over

    @property
    def text(self):
        errors = f", {self.failed} with an error" if self.failed else ""
        if self.median is None:
            return (f"none of {self.seeds} finished" if self.unfinished == self.seeds else f"{self.unfinished} of {self.seeds} unfinished") + errors
        rest = f", {self.unfinished} of {self.seeds} unfinished{errors}" if self.unfinished else ""
        return f"{number(self.median)} ({number(self.low)}–{number(self.high)}{rest})"

    @property
    def tail(self):
        """Mean and largest."""
        return "–" if self.mean is None else f"{number(self.mean)}, {number(self.largest)}"

    def over(self, other):
        """The same in parts of another point's median; its interval from the lowest over the highest of the other's to the highest over the lowest, so it holds the ratio at least as often as both hold theirs. Mean and largest: in parts of the median."""
        def part(value, of):
            return value / of if value is not None and of else None

        return dataclasses.replace(self, median=part(self.median, other.median), low=part(self.low, other.high), high=part(self.high, other.low), mean=part(self.mean, other.median), largest=part(self.largest, other.median))

    def rate(self, ideal):
        """What takes this long as a rate, of that of another point."""
        if self.median is None or ideal.median is None:
            return dataclasses.replace(self, median=None, mean=None, largest=None)
        return dataclasses.replace(self, median=ideal.median / self.median, low=ideal.low / self.high, high=ideal.high / self.low, mean=None, largest=None)


def number(value):
    if math.isinf(value):
        return "∞"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"


def ranks_of_median(count):
    """Places, from 0 on, between which the median of a distribution lies with at least 95 %, of so many sorted samples; the outermost if there are too few."""
    below, low = 0.0, 0
    for place in range(count // 2):
        below += math.comb(count, place) / 2**count
        if 2 * below > 0.05:
            break
        low = place + 1
    low = max(0, low - 1)
    return low, count - 1 - low


def summary(values, seeds, failed=0):
    """Of the seeds that finished, out of so many, of which so many ended with an error; no seeds: a point that was not run."""
    if not seeds:
        return Point(None, None, None, 0, 0)
    values = sorted(values)
    unfinished = seeds - len(values)
    ranked = values + [math.inf] * unfinished
    middle = seeds // 2
    median = ranked[middle] if seeds % 2 else (ranked[middle - 1] + ranked[middle]) / 2
    if math.isinf(median):
        return Point(None, None, None, seeds, unfinished, failed=failed)
    low, high = ranks_of_median(seeds)
    mean, largest = (sum(values) / seeds, values[-1]) if not unfinished else (None, None)
    return Point(median, ranked[low], ranked[high], seeds, unfinished, mean, largest, failed)


def exactly(value):
    """A point that is known, not measured."""
    return Point(value, value, value, 1, 0)


def result_of(command, codes):
    """What this command of weft-sim writes to --json. Raises RunError if it ends with another code."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "result.json"
        command = [*command, "--json", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in codes or not file.exists():
            raise RunError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()}")
        return json.loads(file.read_text(encoding="utf-8"))


class Runner:
    """Runs commands of weft-sim with several seeds, jobs at a time, each once; remembers of their results what KEPT says, for the same program also in a folder, if there is one."""

    KEPT = ("ok", "cycles", "largest_gap", "failed_transfers", "packets_resent")

    def __init__(self, program, jobs, seeds, folder=None):
        self.program = pathlib.Path(program)
        self.jobs = jobs
        self.seeds = seeds
        self.results = {}
        self.folder = None
        if folder is not None:
            self.folder = pathlib.Path(folder) / hashlib.sha256(self.program.read_bytes()).hexdigest()[:16]
            self.folder.mkdir(parents=True, exist_ok=True)

    def one(self, arguments):
        """Looked up, if it has been run before."""
        file = self.folder / (hashlib.sha256(json.dumps(arguments).encode()).hexdigest()[:32] + ".json") if self.folder else None
        if file and file.exists():
            kept = json.loads(file.read_text(encoding="utf-8"))
            if kept.keys() >= set(self.KEPT):  # else it is of an older form of this
                return kept
        result = self.run_one(arguments)
        kept = {key: result[key] for key in self.KEPT}
        if file:
            part = file.with_suffix(".part")
            part.write_text(json.dumps(kept), encoding="utf-8")
            os.replace(part, file)
        return kept

    def run_one(self, arguments):
        command = [str(self.program), "rdma", "--bare", *arguments]
        result = result_of(command, (0, 1))
        if result["wrong_bytes"]:  # of transfers that are said to have arrived
            raise RunError(f"{' '.join(command)}: {result['wrong_bytes']} wrong bytes")
        return result

    def run(self, wanted, what, seeds=None):
        """All of these commands with all seeds, or with these."""
        todo = [(*arguments, "--seed", str(seed)) for arguments in dict.fromkeys(wanted) for seed in seeds or self.seeds]
        todo = [arguments for arguments in todo if arguments not in self.results]
        with concurrent.futures.ThreadPoolExecutor(max_workers=self.jobs) as pool:
            futures = {pool.submit(self.one, arguments): arguments for arguments in todo}
            for count, future in enumerate(concurrent.futures.as_completed(futures), 1):
                self.results[futures[future]] = future.result()
                if sys.stderr.isatty():
                    print(f"\r  {what}: {count} of {len(todo)} runs ", end="", file=sys.stderr, flush=True)
        if todo and sys.stderr.isatty():
            print(file=sys.stderr)

    def results_of(self, arguments, seeds=None):
        return [self.results[(*arguments, "--seed", str(seed))] for seed in seeds or self.seeds]

    def point(self, arguments, field="cycles", seeds=None):
        """Of a command that has run with these seeds."""
        results = self.results_of(arguments, seeds)
        return summary([each[field] for each in results if each["ok"]], len(results), sum(each["failed_transfers"] > 0 for each in results))

# SPDX-License-Identifier: Apache-2.0
"""Traffic through two-dimensional fat trees with faults: throughput, latency and what is lost while faults strike, as runs of `weft route --load`.

usage: experiments/route_traffic.py WEFT [--part I --of N] [--quick | --smoke]   runs the I-th of N parts of the sweep, from 0 on
Each run is a line of JSON in build/figures/route_runs; runs of the same program that are there already are not done again, whoever did them.
"""

import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile
import threading
import time

import runs

ROOT = pathlib.Path(__file__).resolve().parent.parent
STANDS_STILL = 1  # exit code if packets wait for each other for ever: a result, too
RUNS = ROOT / "build/figures/route_runs"
LOADS = tuple(round(0.1 * i, 1) for i in range(1, 11))
PLACEMENTS = ("all", "c", "r", "r1", "r2")
PATTERNS = ("uniform", "transpose", "hotspot", "all-to-all")
FAULTS = (0, 1, 5, 10, 15, 20)
CLAIMED_FAULTS = (0, 5, 10)  # of which the paper says what they cost


@dataclasses.dataclass(frozen=True)
class Fabric:
    """n x n leaves of n hosts."""

    n: int
    clocks: int
    buffer: int
    seeds: int  # of each point

    @property
    def arguments(self):
        return ("--topology", f"kfat2d:{self.n}x{self.n}:{self.n}", "--clocks", str(self.clocks), "--buffer", str(self.buffer))


HOST_LOOP = 62 + 35  # clocks of a host's link and of the news that there is room again: with smaller buffers it carries less than a packet a clock
# Larger buffers take longer to fill, during which throughput at full load still falls. The second half of the clocks is measured; `twice` tells whether that is steady.
SMALL = Fabric(8, 6000, 104, 6)
LARGE = Fabric(16, 4000, 104, 1)
SEEDS_CLAIMED = 6  # of points of the large fabric of which claims are made
SEEDS_DECIDING = 20  # of what two claims turn on: 0, 5 and 10 faults, no two in a line
SEEDS_OF_PATTERNS = 2  # others than uniform, at load 1
DEEP_BUFFER, DEEP_CLOCKS = 128, 6000  # of runs that tell what buffers do
SERIES = (("no fault, 1 VC (the other is kept)", ()), ("no fault, 2 VCs", ("--any-channel",)), ("1 fault, VTFTR", ("--fail", "3,4")),
          ("1 fault, algorithm A", ("--fail", "3,4", "--rules", "detour")))
FEWER_LOADS = (0.1, 0.3, 0.5, 0.7, 1.0)  # of other patterns and placements
LOADS_OF_ONE_LARGE_PLANE = (0.02, 0.03, 0.04, 0.05, 0.06, 0.08)
LOADS_OF_ONE_PLANE = tuple(round(0.02 * i, 2) for i in range(1, 11))


def faults(n, count, placement):
    """Dead leaves "R,C": in one column (c), one row (r), no two in a row or column while that can be (all), drawn (r1, r2). At most n - 1 in a line."""
    lines = -(-count // (n - 1))
    in_line = [(i % lines, i // lines) for i in range(count)]
    if placement == "all":
        leaves = [(i % n, (i + i // n) % n) for i in range(count)]
    elif placement == "c":
        leaves = [(along, line) for line, along in in_line]
    elif placement == "r":
        leaves = in_line
    else:
        leaves = [divmod(leaf, n) for leaf in random.Random(placement).sample(range(n * n), count)]
    return tuple(f"{row},{column}" for row, column in leaves)


def small(planes, series, load):
    return (*SMALL.arguments, "--planes", str(planes), "--load", str(load), *series)


def large(count, placement, pattern, load, planes=LARGE.n):
    dead = ("--fail", *faults(LARGE.n, count, placement)) if count else ()
    return (*LARGE.arguments, "--planes", str(planes), "--load", str(load), "--pattern", pattern, *dead)


def changed(arguments, option, value):
    """The same run with another value of an option that it has."""
    place = arguments.index(option) + 1
    return (*arguments[:place], str(value), *arguments[place + 1:])


def twice(arguments):
    """For twice as many clocks: is what is measured steady?"""
    return changed(arguments, "--clocks", 2 * int(arguments[arguments.index("--clocks") + 1]))


def deep(count):
    """With larger buffers, and the time that they take to fill."""
    return changed(changed(large(count, "all", "uniform", 1.0), "--buffer", DEEP_BUFFER), "--clocks", DEEP_CLOCKS)


def steady():
    """(what, arguments) of runs that are compared with runs of twice the clocks."""
    return [(f"8×8, {name}", small(8, series, 1.0)) for name, series in SERIES] + [
        (f"4,096 nodes, {pattern}, {count} faults", large(count, "all", pattern, 1.0)) for pattern in PATTERNS for count in (0, 10)]


def loads_of(pattern):
    """In 4,096 nodes."""
    return LOADS if pattern == "uniform" else FEWER_LOADS


def placements(count):
    """With one fault or none they are all the same."""
    return PLACEMENTS if count > 1 else PLACEMENTS[:1]


# Settings of the comparison with BookSim2 (docs/route.md), and what its router is told there to take a clock.
BESIDE = ("--buffer", "16", "--switch-clocks", "3", "--end-clocks", "2", "--credit-clocks", "2", "--clocks", "1500", "--load", "1.0")
BESIDE_CASES = ((8, ("--any-channel",), 0, 0.933), (8, (), 0, 0.623), (8, (), 1, 0.621), (8, (), 5, 0.584), (16, ("--any-channel",), 0, 0.914), (16, (), 0, 0.556),
                (16, (), 5, 0.555), (16, (), 10, 0.544))
SPEEDUPS = (1, 2, 3)


def beside(n, more, count, speedup):
    dead = ("--fail", *faults(n, count, "all")) if count else ()
    clocks = BESIDE if speedup > 1 else tuple("4" if before == "--switch-clocks" else value for before, value in zip(("", *BESIDE), BESIDE))
    return ("--topology", f"kfat2d:{n}x{n}:{n}", "--planes", str(n), "--speedup", str(speedup), *clocks, *more, *dead)


# Faults that strike from clock 2,000 on; the manager hears of each some clocks later and rewrites a switch every few clocks. By n: clocks, until it hears, between switches.
LIVE_CLOCKS = {8: (12000, 2000, 20), 16: (14000, 4000, 5)}
LIVE_STRIKE = 2000
LIVE_GAP_CLOCKS = 4000  # more, if faults come one after the other
@dataclasses.dataclass(frozen=True)
class Live:
    rules: str
    channels: int
    what: str  # that dies
    count: int
    load: float = 0.5
    n: int = 8
    gap: int = 0  # clocks from one fault to the next
    seeds: int = 20

    @property
    def arguments(self):
        """The dead drawn anew for each count."""
        option, named = WHAT_DIES[self.what]
        dead = map(named, faults(self.n, self.count, f"live{self.count}"))
        clocks, notice, between = LIVE_CLOCKS[self.n]
        gap = ("--strike-gap", str(self.gap)) if self.gap else ()
        return ("--topology", f"kfat2d:{self.n}x{self.n}:{self.n}", "--planes", str(self.n), "--clocks", str(clocks + (LIVE_GAP_CLOCKS if gap else 0)), "--strike", str(LIVE_STRIKE), *gap,
                "--notice-clocks", str(notice), "--rewrite-clocks", str(between), "--rules", self.rules, "--channels", str(self.channels), "--load", str(self.load), f"--new-fail{option}", *dead)


WHAT_DIES = {  # its option, and how that names it at (of) a leaf "R,C"
    "leaf": ("", str),
    "row switch": ("-row", lambda leaf: leaf.split(",")[0]),
    "column switch": ("-column", lambda leaf: leaf.split(",")[1]),
    "row link": ("-row-link", str),
    "column link": ("-column-link", str),
}
LIVE_CASES = (tuple(Live(rules, channels, "leaf", count) for rules, channels in (("vtftr", 2), ("vtftr", 3), ("literal", 2)) for count in (1, 2, 3)) +
              tuple(Live("vtftr", 2, "leaf", count, load) for load in (0.2, 0.8) for count in (1, 2, 3)) +
              tuple(Live("vtftr", 2, what, count) for what, count in (("row link", 1), ("column link", 1), ("column link", 3), ("row switch", 1), ("column switch", 1))) +
              (Live("vtftr", 2, "leaf", 3, gap=2500),) +
              tuple(Live("vtftr", 2, "leaf", count, load, n=16, seeds=3) for count, load in ((5, 0.5), (5, 0.7), (10, 0.7))))


def points(quick):
    """(arguments, seeds) of the whole sweep, those first of which the most is told."""
    few = LOADS[::3]  # in the quick form
    wanted = [(small(8, series, load), SMALL.seeds) for load in (few if quick else LOADS) for _, series in SERIES]
    if quick:
        return [(arguments, 2) for arguments, _ in wanted] + [(case.arguments, 2) for case in LIVE_CASES if case.n == 8]
    wanted += [(case.arguments, 1) for case in LIVE_CASES]
    wanted += [(large(count, "all", "uniform", 1.0), 1) for count in (0, 5, 10)]
    wanted += [(twice(arguments), 1) for _, arguments in steady()] + [(deep(count), 3) for count in CLAIMED_FAULTS]
    wanted += [(small(1, series, load), 1) for load in LOADS_OF_ONE_PLANE for _, series in SERIES]
    wanted += [(large(count, placement, "uniform", 1.0), 1) for count in (5, 10) for placement in PLACEMENTS]
    wanted += [(large(count, "all", "uniform", 1.0), 1) for count in FAULTS]
    wanted += [(case.arguments, case.seeds) for case in LIVE_CASES]
    wanted += [(small(1, series, load), SMALL.seeds) for load in LOADS_OF_ONE_PLANE for _, series in SERIES]
    wanted += [(beside(n, more, count, speedup), 1) for n, more, count, _ in BESIDE_CASES for speedup in SPEEDUPS if n == 8]
    wanted += [(large(count, "all", "uniform", load), 1) for load in (0.7, 0.4, 0.8) for count in (0, 10, 5)]
    wanted += [(large(count, "all", pattern, load), 1) for load in (1.0, 0.5) for pattern in PATTERNS for count in (0, 10)]
    wanted += [(beside(n, more, count, 3), 1) for n, more, count, _ in BESIDE_CASES if n == 16]
    wanted += [(large(count, placement, "uniform", 1.0), SEEDS_CLAIMED if count in CLAIMED_FAULTS else 2) for count in FAULTS for placement in placements(count)]
    wanted += [(large(count, "all", "uniform", load, planes=1), LARGE.seeds) for load in LOADS_OF_ONE_LARGE_PLANE for count in CLAIMED_FAULTS]
    wanted += [(large(count, "all", "uniform", 1.0), SEEDS_DECIDING) for count in CLAIMED_FAULTS]
    wanted += [(large(count, "all", pattern, load), LARGE.seeds) for pattern in PATTERNS for load in loads_of(pattern) for count in FAULTS]
    wanted += [(large(count, "all", pattern, 1.0), SEEDS_OF_PATTERNS) for pattern in PATTERNS[1:] for count in FAULTS]
    wanted += [(large(count, placement, "uniform", load), LARGE.seeds) for load in FEWER_LOADS for count in FAULTS for placement in placements(count)]
    wanted += [(beside(n, more, count, speedup), 1) for n, more, count, _ in BESIDE_CASES for speedup in SPEEDUPS]
    return wanted


def smoke():
    """A few short runs, to try the machinery."""
    return [(("--topology", "kfat2d:4x4:2", "--clocks", "300", "--load", load, *more), 2) for load in ("0.1", "0.2") for more in ((), ("--fail", "1,1"))]


class Sweep:
    """Runs and their results."""

    def __init__(self, weft, folder=RUNS):
        program = pathlib.Path(weft).read_bytes()
        self.folder = folder / hashlib.sha256(program).hexdigest()[:16]
        self.folder.mkdir(parents=True, exist_ok=True)
        self.weft = self.folder / "weft"  # a copy: the program may be built anew meanwhile
        if not self.weft.exists():
            with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as part:
                part.write(program)
            part = pathlib.Path(part.name)
            part.chmod(0o755)
            part.replace(self.weft)
        self.lock = threading.Lock()
        self.results = {}
        for file in sorted(self.folder.glob("*.jsonl")):
            for line in file.read_text(encoding="utf-8").splitlines():
                self.remember(line)

    def remember(self, line):
        """The last line of an interrupted run may be half a line."""
        try:
            told = json.loads(line)
        except json.JSONDecodeError:
            return
        self.results[tuple(told["arguments"])] = told["results"]

    def run(self, arguments):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "results.json"
            done = subprocess.run([self.weft, "route", *arguments, "--json", file], stdout=subprocess.DEVNULL, check=False)
            if done.returncode not in (0, STANDS_STILL):
                raise SystemExit(f"failed: {shlex.join(map(str, done.args))}")
            return json.loads(file.read_text(encoding="utf-8"))["traffic"]

    def keep(self, file, arguments):
        results = self.run(arguments)
        line = json.dumps({"arguments": arguments, "results": results})
        with self.lock, file.open("a", encoding="utf-8") as out:
            out.write(line + "\n")
        self.results[arguments] = results

    def run_part(self, wanted, part, parts, jobs=1, seconds=None):
        """What is not there yet; begins nothing after so many seconds."""
        todo = list(dict.fromkeys(with_seed(arguments, seed) for arguments, seeds in wanted for seed in range(1, seeds + 1)))[part::parts]
        todo = [arguments for arguments in todo if arguments not in self.results]
        file = self.folder / f"{part}_of_{parts}.jsonl"
        if file.exists() and not file.read_bytes().endswith(b"\n"):
            with file.open("a", encoding="utf-8") as out:
                out.write("\n")
        end = time.monotonic() + seconds if seconds else None

        def one(arguments):
            if end is None or time.monotonic() < end:
                self.keep(file, arguments)

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for done, future in enumerate(concurrent.futures.as_completed([pool.submit(one, arguments) for arguments in todo]), 1):
                future.result()
                if sys.stderr.isatty():
                    print(f"\r  traffic: {done} of {len(todo)} runs ", end="", file=sys.stderr, flush=True)

    def of_seeds(self, arguments):
        """Results of all seeds that are there."""
        found = []
        while with_seed(arguments, len(found) + 1) in self.results:
            found.append(self.results[with_seed(arguments, len(found) + 1)])
        return found

    def point(self, arguments, field):
        found = self.of_seeds(arguments)
        return runs.summary([results[field] for results in found], len(found))

    def missing(self, wanted):
        return len({with_seed(arguments, seed) for arguments, seeds in wanted for seed in range(1, seeds + 1)} - set(self.results))


def with_seed(arguments, seed):
    return (*arguments, "--seed", str(seed))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--of", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, help="begin no run after so many")
    parser.add_argument("--folder", type=pathlib.Path, default=RUNS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--smoke", action="store_true", help="a few short runs")
    arguments = parser.parse_args()
    if not pathlib.Path(arguments.weft).is_file():
        parser.error(f"{arguments.weft}: there is no such program")
    if not 0 <= arguments.part < arguments.of:
        parser.error("--part must be 0 to --of less 1")
    Sweep(arguments.weft, arguments.folder).run_part(smoke() if arguments.smoke else points(arguments.quick), arguments.part, arguments.of, arguments.jobs, arguments.seconds)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""The network model beside BookSim2: the same torus or mesh, router settings and traffic, one program after the other; latency, saturation, speed and memory of both, into a page.

usage: experiments/beside_booksim.py WEFT_SIM MARKDOWN [--booksim SOURCE] [--folder FOLDER] [--jobs N] [--quick]

SOURCE is what BookSim2 comes from: an address or directory that git can clone, or the program itself. It is built in FOLDER, once. What an interrupted run has measured of the same programs is in
FOLDER as well, and is not measured again. Exit code 1 if a goal is missed. Speed is that of the fastest of several runs of each program, by turns: other work on the machine makes all slower, none faster.
"""

import argparse
import dataclasses
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import typing

import files

SOURCE = "https://github.com/booksim/booksim2"
COMMIT = "28f4329"
SETTINGS = ("routing_function=dim_order", "num_vcs=4", "vc_buf_size=8", "use_noc_latency=0", "traffic=uniform", "injection_rate_uses_flits=1", "seed=1")
WARMUP, MOST = 3, 10  # periods
RUNS = 3
# Clocks a second of BookSim2 on another machine of this class with nothing beside it, by side and load: packets of one flit, torus.
ELSEWHERE = {(4, 0.1): 12_206, (4, 0.5): 5_182, (10, 0.1): 186, (10, 0.5): 52, (16, 0.1): 26}
# Of a run below saturation, so that the shortest is long enough to be timed.
LEAST_NODE_CLOCKS = 4_000_000

TIMES_FASTER, LATENCY_OFF, SATURATION_OFF = 5, 0.05, 0.03  # the goals


@dataclasses.dataclass(frozen=True)
class Case:
    """A network of side x side x side nodes and its load, in flits a clock and node. BookSim measures period by period."""

    side: int
    load: float
    period: int
    flits: int = 1
    joined: bool = True
    saturated: bool = False  # more than the network carries: only what comes out has a meaning

    @property
    def nodes(self):
        return self.side**3

    @property
    def network(self):
        return f"{'torus' if self.joined else 'mesh'} {self.side}³"

    @property
    def hops(self):
        """Links that a packet takes, mean: sides are even, it goes anywhere with the same chance, and one more link to its node."""
        return 3 * (self.side / 4 if self.joined else (self.side**2 - 1) / (3 * self.side)) + 1

    @property
    def elsewhere(self):
        """BookSim2's clocks a second on another machine, if known."""
        return ELSEWHERE.get((self.side, self.load)) if self.joined and self.flits == 1 else None

    @property
    def settings(self):
        """Of BookSim."""
        return (f"topology={'torus' if self.joined else 'mesh'}", f"k={self.side}", "n=3", f"packet_size={self.flits}", f"injection_rate={self.load}",
                f"sim_type={'throughput' if self.saturated else 'latency'}", f"warmup_periods={WARMUP}", f"sample_period={self.period}", f"max_samples={MOST}", *SETTINGS)

    @property
    def warmup(self):
        """Clocks before those that are measured, in both."""
        return WARMUP * self.period

    def measured(self, clocks):
        """By weft-sim: as many as BookSim took, or more, so that the run can be timed."""
        return max(clocks - self.warmup, self.period, 0 if self.saturated else LEAST_NODE_CLOCKS // self.nodes)

    def arguments(self, clocks):
        """Of weft-sim, beside a run of so many clocks of BookSim."""
        return ("fabric", "--nodes", "x".join([str(self.side)] * 3), *(() if self.joined else ("--mesh",)), "--channels", "4", "--buffer", "8", "--link", "1", "--packet",
                str(self.flits), "--load", str(self.load), "--warmup", str(self.warmup), "--clocks", str(self.measured(clocks)), "--seed", "1")


QUICK = (Case(4, 0.02, 1000), Case(4, 0.1, 1000), Case(4, 0.5, 1000), Case(4, 1.0, 1000, saturated=True))
CASES = (
    Case(4, 0.02, 3000), Case(4, 0.1, 3000), Case(4, 0.3, 3000), Case(4, 0.5, 3000), Case(4, 0.7, 3000), Case(4, 1.0, 2000, saturated=True),
    Case(4, 0.1, 3000, flits=9), Case(4, 0.4, 3000, flits=9), Case(4, 1.0, 2000, flits=9, saturated=True),
    Case(4, 0.4, 3000, joined=False), Case(4, 1.0, 2000, joined=False, saturated=True),
    Case(8, 1.0, 300, saturated=True),
    # The last one takes longer than 600 clocks to become steady.
    Case(10, 0.02, 200), Case(10, 0.1, 200), Case(10, 0.5, 600, saturated=True),
    Case(16, 0.02, 80), Case(16, 0.1, 80),
)


class Result(typing.NamedTuple):
    latency: float  # clocks, mean
    accepted: float  # flits a clock and node
    clocks: int
    seconds: float  # of processor
    megabytes: float  # at most

    @property
    def speed(self):
        return self.clocks / self.seconds


class Failed(Exception):
    """In one line, what could not be done."""


def peak_megabytes(process, before):
    """The most that a process has had, from the kernel's own count; the last value that was known of one that has ended. (What wait4 tells begins with the memory of Python.)"""
    try:
        status = pathlib.Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return before
    found = re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE)
    return int(found[1]) / 1024 if found else before


def called(command, good=(0,)):
    """Its output, seconds of processor and megabytes; `good`: exit codes."""
    words = [str(word) for word in command]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        process = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT)  # pylint: disable=consider-using-with
        ended, status, megabytes = 0, 0, 0.0
        while not ended:
            time.sleep(0.02)
            megabytes = peak_megabytes(process.pid, megabytes)
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        said = output.read()
    if process.returncode not in good:
        raise Failed(f"'{' '.join(words)}' ended with {process.returncode}: {(said.strip().splitlines() or ['nothing said'])[-1]}")
    return said, usage.ru_utime + usage.ru_stime, megabytes


def peer(source, folder, jobs, more=None):
    """Path of the program, built if it is not there yet. `more`: a directory with a patch of BookSim2 and files of networks, which go in."""
    given = pathlib.Path(source)
    if given.is_file():
        return given.resolve()
    tree, program = folder / "tree", folder / "tree/src/booksim"
    if program.exists():
        return program.resolve()
    try:
        if not tree.exists():
            called(["git", "clone", "--quiet", source, tree])
        called(["git", "-C", tree, "checkout", "--quiet", COMMIT])
        if more:
            called(["git", "-C", tree, "apply", *(patch.resolve() for patch in more.glob("*.patch"))])
            for file in more.glob("*.[ch]pp"):
                shutil.copy(file, tree / "src/networks")
    except (Failed, OSError) as error:
        raise Failed(f"BookSim2 cannot be had from {source} (BOOKSIM= names another clone of it, or the program): {error}") from error
    called(["make", "-C", tree / "src", "-j", jobs])
    return program.resolve()


def value(output, name):
    """The last one of that name which BookSim writes."""
    found = re.findall(rf"^{re.escape(name)} *= *([0-9.e+-]+)", output, re.MULTILINE)
    if not found:
        raise Failed(f"BookSim2 says nothing of '{name}'")
    return float(found[-1])


def of_booksim(output, seconds, megabytes):
    taken = re.search(r"^Time taken is (\d+) cycles", output, re.MULTILINE)
    if not taken:
        raise Failed("BookSim2 does not say how many cycles it took")
    return Result(value(output, "Packet latency average"), value(output, "Accepted flit rate average"), int(taken[1]), seconds, megabytes)


def run_booksim(program, case, folder):
    file = folder / "case.cfg"
    file.write_text("".join(f"{setting};\n" for setting in case.settings), encoding="utf-8")
    return of_booksim(*called([program, file], good=(0, 255)))  # 255 when all went well; what it says tells if not


def run_weft(program, case, clocks, folder):
    file = folder / "weft.json"
    arguments = case.arguments(clocks)
    _, seconds, megabytes = called([program, *arguments, "--json", file])
    result = json.loads(file.read_text(encoding="utf-8"))
    ran = sum(int(arguments[arguments.index(name) + 1]) for name in ("--warmup", "--clocks"))
    return Result(result["latency"], result["accepted_flits"], ran, seconds, megabytes)


def compared(case, theirs, ours):
    """Values of both and the difference of the one that counts, in parts of BookSim's."""
    pair = (theirs.accepted, ours.accepted) if case.saturated else (theirs.latency, ours.latency)
    return *pair, pair[1] / pair[0] - 1


def faults(case, theirs, ours):
    """What is missed of the goals."""
    missed = []
    off = compared(case, theirs, ours)[2]
    if abs(off) > (SATURATION_OFF if case.saturated else LATENCY_OFF):
        missed.append("saturation" if case.saturated else "latency")
    if ours.speed < TIMES_FASTER * theirs.speed:
        missed.append("speed")
    return missed


def number(amount):
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.1f}"


def flit_hops(case, result):
    """A second, in millions."""
    return result.accepted * case.nodes * case.hops * result.speed / 1e6


def work(results):
    """The same speeds as work done, and beside what BookSim2 did elsewhere."""
    rows = ["| network | flits a packet | load | million flit-hops a second: BookSim2 | weft | BookSim2's clocks a second elsewhere | weft's here, times as many | clocks before | measured: BookSim2 | weft |", "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for case, theirs, ours in results:
        elsewhere = (number(case.elsewhere), f"{ours.speed / case.elsewhere:.1f}") if case.elsewhere else ("", "")
        rows.append(f"| {case.network} | {case.flits} | {case.load:g} | {flit_hops(case, theirs):.2f} | {flit_hops(case, ours):.2f} | {' | '.join(elsewhere)} | "
                    f"{case.warmup:,} | {theirs.clocks - case.warmup:,} | {case.measured(theirs.clocks):,} |")
    return "\n".join(rows)


def table(results, missed_of=faults):
    """@param missed_of what is missed of the goals"""
    rows = ["| network | flits a packet | load | | BookSim2 | weft | difference | clocks a second: BookSim2 | weft | ratio | memory, MB: BookSim2 | weft | |",
            "|---|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---|"]
    for case, theirs, ours in results:
        their_value, our_value, off = compared(case, theirs, ours)
        digits = 3 if case.saturated else 2
        missed = missed_of(case, theirs, ours)
        rows.append(f"| {case.network} | {case.flits} | {case.load:g} | {'accepted' if case.saturated else 'latency'} | {their_value:.{digits}f} | {our_value:.{digits}f} | {off * 100:+.1f} % | "
                    f"{number(theirs.speed)} | {number(ours.speed)} | {ours.speed / theirs.speed:.1f} | {theirs.megabytes:.0f} | {ours.megabytes:.0f} | "
                    f"{'missed: ' + ', '.join(missed) if missed else ''} |")
    return "\n".join(rows)


def growth(results):
    """Memory of a node, from the smallest and the largest network with one load."""
    ends = sorted((entry for entry in results if entry[0].load == 0.1 and entry[0].flits == 1), key=lambda entry: entry[0].nodes)
    if len(ends) < 2:
        return ""
    (small, their_small, our_small), (large, their_large, our_large) = ends[0], ends[-1]
    more = large.nodes - small.nodes
    theirs, ours = ((after.megabytes - before.megabytes) / more * 1024 for before, after in ((their_small, their_large), (our_small, our_large)))
    return (f"\nFrom {small.nodes} to {large.nodes:,} nodes a node more takes {ours:.1f} KB here and {theirs:.0f} KB in BookSim2, at load 0.1; a node and clock "
            f"{1e9 / our_small.speed / small.nodes:.0f} ns in the smallest and {1e9 / our_large.speed / large.nodes:.0f} ns in the largest network here, "
            f"{1e6 / their_small.speed / small.nodes:.1f} and {1e6 / their_large.speed / large.nodes:.1f} µs in BookSim2.\n")


def page(results, weft_sim, machine):
    case, theirs, _ = next((entry for entry in results if entry[0].load == 0.1), results[0])
    missed = sum(bool(faults(*entry)) for entry in results)
    return f"""# The network model beside BookSim2

Written by `make booksim`: [BookSim2]({SOURCE}) (commit {COMMIT}), which is not part of this repository, and `weft-sim fabric` at equal settings: dimension order, four channels of eight flits, links of one clock, uniform traffic, one round of iSLIP.
*Latency*: mean of all packets, in clocks, from the clock in which they are made. A load of 0.02 stands for zero load; the mesh, the torus of 8³ and packets of 9 flits have none, and 16³ none at full load, as BookSim takes long. *Accepted*, at the highest load, stands for saturation: flits a clock and node that come out when nodes send more than the network carries (BookSim: `sim_type=throughput`). *Clocks a second*: of processor, of the
whole process, on one core ({machine}); *memory*: the most that the process had, in weft with the latency of each packet. The fastest of {RUNS} runs each, by turns. Below full load weft measures more clocks (the second table), so starting counts less for it; at full load both have the same.
Goals: latency within {LATENCY_OFF * 100:.0f} %, accepted within {SATURATION_OFF * 100:.0f} %, {TIMES_FASTER} times as many clocks a second. {f"Missed in {missed} of {len(results)} rows." if missed else f"All {len(results)} rows meet them."}

{table(results)}
{growth(results)}
Speeds as work done: a flit-hop is a flit on a link, that to its node counts. *Elsewhere*: another machine of this class with nothing beside it, BookSim2 alone, measured once.

{work(results)}

The command lines of {case.network}, load {case.load:g}; the other rows differ in what the tables show (`sample_period` is a third of the clocks before):

```
booksim FILE    # {'; '.join(case.settings)}
{weft_sim} {' '.join(case.arguments(theirs.clocks))}
```
"""


def machine_name():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = re.findall(r"^model name\s*: (.*)$", file.read(), re.MULTILINE)
    return f"{names[0] if names else platform.machine()}, {len(os.sched_getaffinity(0))} cores"


class Kept:
    """Results of these two programs, in a file until the page is written."""

    def __init__(self, folder, programs):
        key = hashlib.sha256(b"".join(pathlib.Path(program).read_bytes() for program in programs)).hexdigest()[:16]
        self.file = folder / f"measured-{key}.json"
        self.results = json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else {}

    def get(self, case):
        pair = self.results.get(str(case))
        return pair and tuple(Result(*values) for values in pair)

    def add(self, case, *pair):
        self.results[str(case)] = pair
        files.write_whole(self.file, json.dumps(self.results, indent=1))

    def forget(self):
        self.file.unlink(missing_ok=True)


def fastest(results):
    """Of runs of the same command, which differ in nothing else."""
    return min(results, key=lambda result: result.seconds)


def both(case, booksim, weft, folder, ours_of, runs):
    """Results of both programs, by turns: what else the machine does meets both."""
    theirs, ours = [], []
    for _ in range(runs):
        theirs.append(run_booksim(booksim, case, folder))
        ours.append(ours_of(weft, case, theirs[0].clocks, folder))
    return fastest(theirs), fastest(ours)


def measured(cases, booksim, weft, folder, ours_of, runs):
    """(case, theirs, ours) of each case. `ours_of`: run_weft or its like."""
    kept = Kept(folder, (booksim, weft))
    results = []
    for case in cases:
        pair = kept.get(case)
        if not pair:
            pair = both(case, booksim, weft, folder, ours_of, runs)
            kept.add(case, *pair)
        results.append((case, *pair))
        print(f"{case.network}, packets of {case.flits}, load {case.load:g}: BookSim2 {pair[0]}, weft {pair[1]}", flush=True)
    return results, kept


def arguments_of(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("markdown", type=pathlib.Path)
    parser.add_argument("--booksim", default=SOURCE)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/booksim"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    return options


def compare(description, cases, quick, ours_of, page_of, missed_of, *, runs=1, more=None):
    """A main program: exit code 1 if a goal is missed. runs: of each program, of which the fastest counts."""
    options = arguments_of(description)
    program = peer(options.booksim or SOURCE, options.folder, options.jobs, more)
    results, kept = measured(quick if options.quick else cases, program, options.weft, options.folder, ours_of, 1 if options.quick else runs)
    files.write_whole(options.markdown, page_of(results, options.weft, machine_name()))
    kept.forget()
    return 1 if any(missed_of(*entry) for entry in results) else 0


def main():
    return compare(__doc__, CASES, QUICK, run_weft, page, faults, runs=RUNS)


def run(command):
    """Exit code of a main program."""
    try:
        return command()
    except (Failed, OSError) as fault:
        print(f"{pathlib.Path(sys.argv[0]).stem}: {fault}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(run(main))

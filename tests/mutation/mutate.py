# SPDX-License-Identifier: Apache-2.0
"""Puts mutants into the designs of a unit and runs their tests on each; writes its page of docs/results and build/mutation/results_UNIT.json.

Each mutant has to be caught by a test, proven equivalent, or named with a reason in equivalents.json; else exit status 1. Needs
z3, yosys-abc and the Python of `make verilog`. With --only the mutants have the same numbers. Only a run of all designs writes the page.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

import equivalence
import netlist

ROOT = netlist.ROOT
PAGES = ROOT / "docs" / "results"
REVIEWED = pathlib.Path(__file__).with_name("equivalents.json")
TESTS = ROOT / "build-mutation" / "bin"
SEED = 1  # of the draw that has been reviewed
CPU_SECONDS = 120  # of any tests for one mutant, and four times what they take without a fault
QUICK_CPU_SECONDS = 1  # within which nearly all faults show
SHORT_SECONDS = 10  # of one test: those which take longer come after proofs
PROOF_SECONDS = 5  # for each of several questions

CAUGHT, PROVEN, REVIEWED_ONE, BEYOND, SURVIVED = "caught", "equivalent, proven", "equivalent, reviewed", "beyond tests", "SURVIVED"


class Unfinished(Exception):
    """Tests that were stopped; says which one was running."""


@dataclasses.dataclass
class Result:
    verdict: str
    how: str  # the test, or why it is equivalent
    seconds: float = 0.0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    every = [design for unit in netlist.UNITS.values() for design in unit.designs]
    parser.add_argument("--unit", choices=netlist.UNITS, default="receiver", help="whose designs (default: %(default)s)")
    parser.add_argument("--design", "--receiver", dest="design", choices=[design.name for design in every], help="only this one; no page is written")
    defaults = ", ".join(f"{design.mutants} of {design.name}" for design in every)
    parser.add_argument("--mutants", type=int, help=f"how many to draw evenly of each design (default: {defaults})")
    parser.add_argument("--seed", type=int, default=SEED, help="of the draw (default: %(default)s)")
    parser.add_argument("--only", type=int, nargs="+", metavar="NUMBER", help="only these of the mutants of --design")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time (default: %(default)s)")
    args = parser.parse_args()
    if (args.mutants is not None and args.mutants < 1) or args.jobs < 1:
        parser.error("--mutants and --jobs must be at least 1")
    if args.design and args.design not in [design.name for design in netlist.UNITS[args.unit].designs]:
        parser.error(f"--design: {args.design} is not of the unit {args.unit}")
    if args.only and not args.design:
        parser.error("--only: numbers of which --design?")
    return args


def test_of(design):
    """The program that runs its tests on its mutants."""
    return TESTS / f"test_{design.name}_mutants"


def build_tests(designs, jobs):
    targets = [test_of(design).name for design in designs]
    for command in (["cmake", "--preset", "mutation", "--log-level=NOTICE"],
                    ["cmake", "--build", "--preset", "mutation", "-j", str(jobs), "--target", *targets]):
        run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if run.returncode:
            raise netlist.ToolError(f"{' '.join(command)}: {run.stdout.strip()[-500:]}")


def seconds_of_tests(test):
    """Name -> seconds, without a mutant."""
    run = subprocess.run([test, "--gtest_color=no"], env={**os.environ, "WEFT_MUTANT": "0"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if run.returncode:
        raise netlist.ToolError(f"a test fails without a mutant: {repeat(test, 0)}")
    return {name: int(milliseconds) / 1000 for name, milliseconds in re.findall(r"^\[       OK \] (\S+) \((\d+) ms\)", run.stdout, re.MULTILINE)}


class Tests:
    """Of a design, in batches: first all that take less than a second together, then one after the other, the longest last."""

    def __init__(self, program, seconds):
        self.program = program
        self._seconds = seconds
        self._batches = [names for names in ([name for name in seconds if seconds[name] < 1], *([name] for name in sorted(seconds, key=seconds.get) if seconds[name] >= 1)) if names]

    def quickly(self, number):
        """The one that catches it within a second, in their own order."""
        try:
            return self._run(number, QUICK_CPU_SECONDS)
        except Unfinished:
            return None

    def short(self, number):
        return self._first(number, [names for names in self._batches if not self._is_long(names)])

    def long(self, number):
        return self._first(number, [names for names in self._batches if self._is_long(names)])

    def one(self, name, number):
        return self._first(number, [[name]]) if name in self._seconds else None

    def _is_long(self, names):
        return len(names) == 1 and self._seconds[names[0]] > SHORT_SECONDS

    def _first(self, number, batches):
        """The first one that catches it, or does not end."""
        for names in batches:
            try:
                if failed := self._run(number, CPU_SECONDS + 4 * round(sum(self._seconds[name] for name in names)), names):
                    return failed
            except Unfinished as last:
                return f"{last} (does not end)"
        return None

    def _run(self, number, cpu_seconds, names=("*",)):
        """The test that catches it, and how; nothing if all pass. Unfinished if there is no result in the time."""
        run = subprocess.run([self.program, "--gtest_fail_fast", "--gtest_color=no", f"--gtest_filter={':'.join(names)}"], env={**os.environ, "WEFT_MUTANT": str(number)},
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 10)),
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if run.returncode == 0:
            return None
        if failed := re.search(r"^\[  FAILED  \] (\S+?),? ", run.stdout, re.MULTILINE):
            return failed[1]
        started = re.findall(r"^\[ RUN      \] (\S+)", run.stdout, re.MULTILINE)
        last = started[-1] if started else "start"
        if run.returncode == -signal.SIGXCPU:
            raise Unfinished(last)
        if run.returncode == -signal.SIGKILL:  # says nothing of the mutant: want of memory, for instance
            raise netlist.ToolError(f"{self.program.name}, mutant {number}: killed in {last}")
        return f"{last} (crash, status {run.returncode})"


def load_reviewed(design):
    """Identity of one of its mutants -> what was found: it is equivalent, or what differs takes longer than any test; and why."""
    try:
        entries = json.loads(REVIEWED.read_text(encoding="utf-8"))
        return {mutant: Result(BEYOND if entry.get("beyond_tests") else REVIEWED_ONE, entry["why"]) for entry in entries if entry["design"] == design.name for mutant in entry["mutants"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise netlist.ToolError(f"{REVIEWED.relative_to(ROOT)}: {error}") from error


def check_reviewed(design, mutants):
    """That what was reviewed is still drawn; of a draw that the reviews are for."""
    gone = sorted(load_reviewed(design).keys() - {mutant.identity() for mutant in mutants})
    if gone:
        raise netlist.ToolError(f"{REVIEWED.relative_to(ROOT)}: no mutants of {design.name} any more: {'; '.join(gone)}")


class Earlier:
    """Results of earlier runs of the same netlist: an interrupted run goes on, and new tests or a review cost no whole second one."""

    def __init__(self, design, seed):
        def digest(path):
            return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        self._of_netlist = f"results_{seed}_{digest(design.verilog)}_"
        self._file = design.work / f"{self._of_netlist}{digest(test_of(design))}.json"
        self._passed_file = self._file.with_name(f"passed{self._file.name.removeprefix('results')}")
        self._passed = json.loads(self._passed_file.read_text(encoding="utf-8")) if self._passed_file.exists() else {}

    def load(self):
        """By number, what still holds: all of these tests, and proofs."""
        proven = {number: result for number, result in self._before().items() if result.verdict == PROVEN}
        return proven | self._read(self._file)

    def caught(self):
        """By number, which test caught it, in whichever run."""
        return {number: result.how for number, result in self._before().items() if result.verdict == CAUGHT}

    def passes(self, title, number):
        """Have these tests, all of that title, not caught it before?"""
        return number in self._passed.get(title, [])

    def note_pass(self, title, number):
        self._passed.setdefault(title, []).append(number)

    def save(self, results):
        """Of those caught or proven; all others are judged again, but meet no test twice."""
        write(self._file, json.dumps({number: dataclasses.asdict(result) for number, result in results.items()}))
        write(self._passed_file, json.dumps(self._passed))

    def _before(self):
        """Of runs with any tests, the newest last."""
        files = sorted(self._file.parent.glob(f"{self._of_netlist}*.json"), key=lambda file: file.stat().st_mtime)
        return {number: result for file in files for number, result in self._read(file).items()}

    @staticmethod
    def _read(file):
        if not file.exists():
            return {}
        return {int(number): Result(**fields) for number, fields in json.loads(file.read_text(encoding="utf-8")).items()}


def stages(tests, graph, reviewed, before):
    """What says of a mutant's number that it is caught or equivalent, each with its verdict; those that are reviewed meet short tests only."""
    def again(number):
        return tests.one(before[number].split()[0], number) if number in before else None

    def proven(number):
        return None if number in reviewed else graph.equivalent(number, PROOF_SECONDS)

    def long(number):
        return None if number in reviewed else tests.long(number)

    return [(CAUGHT, "tests that caught them before", again), (CAUGHT, "tests, quickly", tests.quickly), (CAUGHT, "short tests", tests.short),
            (PROVEN, "proofs", proven), (CAUGHT, "long tests", long)]


def timed(decide, number):
    start = time.monotonic()
    return decide(number), time.monotonic() - start


def judge_all(design, mutants, graph, args):
    """Results in the order of the mutants."""
    reviewed, earlier, program = load_reviewed(design), Earlier(design, args.seed), test_of(design)
    tests = Tests(program, seconds_of_tests(program))
    results, seconds = earlier.load(), collections.Counter()
    reviewed_numbers = {mutant.number for mutant in mutants if mutant.identity() in reviewed}
    for verdict, title, decide in stages(tests, graph, reviewed_numbers, earlier.caught()):
        left = [mutant.number for mutant in mutants if mutant.number not in results and not earlier.passes(title, mutant.number)]
        with concurrent.futures.ThreadPoolExecutor(max_workers=args.jobs) as pool:
            waiting = {pool.submit(timed, decide, number): number for number in left}
            for done, future in enumerate(concurrent.futures.as_completed(waiting), 1):
                number = waiting[future]
                how, taken = future.result()
                seconds[number] += taken
                if how:
                    results[number] = Result(verdict, how, round(seconds[number], 2))
                elif verdict == CAUGHT and number not in reviewed_numbers:
                    earlier.note_pass(title, number)
                if done % 20 == 0 or done == len(left):
                    earlier.save(results)
                    print(f"mutate: {design.name}, {title}: {done} of {len(left)}", flush=True)
    for mutant in mutants:
        if mutant.number not in results:
            results[mutant.number] = without_proof(program, mutant, reviewed)
    return {mutant: results[mutant.number] for mutant in mutants}


def repeat(test, number):
    return f"WEFT_MUTANT={number} {test.relative_to(ROOT)}"


def without_proof(test, mutant, reviewed):
    """No test has caught it, no proof was found."""
    if review := reviewed.get(mutant.identity()):
        return review
    print(f"mutate: {mutant.number} SURVIVED: {mutant.identity()} at {mutant.place}\n  repeat: {repeat(test, mutant.number)}", flush=True)
    return Result(SURVIVED, f"at {mutant.place}: no test fails, and it is neither proven equivalent nor in equivalents.json")


def table(title, columns, rows):
    return [f"| {' | '.join([title, *columns])} |", f"|{'---|'}{'---:|' * len(columns)}", *(f"| {' | '.join(map(str, row))} |" for row in rows), ""]


def counts_by(results, key, verdicts):
    """Rows: key, mutants, and how many have each of the verdicts."""
    counts = collections.defaultdict(collections.Counter)
    for mutant, result in results.items():
        counts[key(mutant)][result.verdict] += 1
        counts["all"][result.verdict] += 1
    names = sorted(set(counts) - {"all"}) + ["all"]
    return [[name, sum(counts[name].values()), *(counts[name][verdict] for verdict in verdicts)] for name in names]


VERDICTS = [CAUGHT, PROVEN, REVIEWED_ONE, BEYOND, SURVIVED]


def page(unit, results, seed):
    """Of the results of all its designs."""
    lines = [f"# Mutation of {unit.title}", "",
             f"Written by `{unit.command}` (seed {seed}); what a mutant is and how it is judged: [verification](../verification.md#mutation).", ""]
    for name, each in results.items():
        lines += [f"## `{name}`", "", *section(each)]
    return "\n".join(lines)


def section(results):
    verdicts = [verdict for verdict in VERDICTS if verdict != BEYOND or any(result.verdict == BEYOND for result in results.values())]
    columns = ["mutants", *verdicts]
    tests = collections.Counter(re.sub(r"(\.\w+)/\d+", r"\1", result.how) for result in results.values() if result.verdict == CAUGHT).most_common()
    lines = [*table("module", columns, counts_by(results, lambda mutant: pathlib.Path(mutant.file).stem, verdicts)),
             *table("change of one bit", columns, counts_by(results, lambda mutant: netlist.KINDS[mutant.mode], verdicts)),
             *table("first test that fails", ["mutants"], [(f"`{test}`", count) for test, count in tests])]
    for verdict, title in ((PROVEN, "Proven equivalent"), (REVIEWED_ONE, "Reviewed: equivalent"), (BEYOND, "Reviewed: not equivalent, but no test can see it"), (SURVIVED, "Survived")):
        chosen = [(mutant, result) for mutant, result in results.items() if result.verdict == verdict]
        if chosen:
            lines += [f"### {title}", ""]
            lines += [f"* {mutant.number}: {mutant.identity()}: {result.how}" for mutant, result in chosen] + [""]
    return lines


def write(path, text):
    temporary = path.with_suffix(".tmp" + path.suffix)
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def machine_readable(results, seed):
    rows = {name: [{**dataclasses.asdict(mutant), "identity": mutant.identity(), **dataclasses.asdict(result)} for mutant, result in each.items()]
            for name, each in results.items()}
    return json.dumps({"seed": seed, "mutants": rows}, indent=1) + "\n"


def prepare(design, args):
    """Its mutants, and the graph to prove them equivalent with."""
    mutants = netlist.draw(design, args.mutants or design.mutants, args.seed)
    if args.mutants is None and args.seed == SEED:
        check_reviewed(design, mutants)
    graph = netlist.build(design, mutants)
    print(f"mutate: {design.name}: {len(mutants)} mutants, seed {args.seed}", flush=True)
    return mutants, graph


def judge(design, mutants, graph, args):
    """All of them, or those of --only."""
    chosen = [mutant for mutant in mutants if not args.only or mutant.number in args.only]
    if args.only and len(chosen) != len(set(args.only)):
        raise netlist.ToolError(f"--only: there are mutants 1 to {len(mutants)}")
    results = judge_all(design, chosen, equivalence.Netlist(graph, netlist.checked(design)), args)
    counts = collections.Counter(result.verdict for result in results.values())
    print(f"mutate: {design.name}: " + ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS), flush=True)
    return results


def run(args):
    unit = netlist.UNITS[args.unit]
    for design in {each.name: each for design in unit.designs for each in (design, design.beyond) if each}.values():
        netlist.flatten(design)
    designs = [design for design in unit.designs if args.design in (None, design.name)]
    prepared = [(design, *prepare(design, args)) for design in designs]
    build_tests(designs, args.jobs)
    results = {design.name: judge(design, mutants, graph, args) for design, mutants, graph in prepared}
    if not args.design:
        write(netlist.WORK / f"results_{args.unit}.json", machine_readable(results, args.seed))
        write(PAGES / unit.page, page(unit, results, args.seed))
    return 1 if any(result.verdict == SURVIVED for each in results.values() for result in each.values()) else 0


def main():
    try:
        sys.exit(run(arguments()))
    except (netlist.ToolError, equivalence.SolverError) as error:
        print(f"mutate: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()

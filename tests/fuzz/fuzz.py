# SPDX-License-Identifier: Apache-2.0
"""Fuzzes the packet input: first engines with a fault put in, which must be found, then the engine itself and those of the older schemes, which must not differ.

Writes FOLDER/fuzz.json and, once it has all parts, docs/results/fuzz.md. Exit status 0: all as expected, 1: a difference, or
a fault that was not found, 2: bad input.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "results" / "fuzz.md"
MOST_BYTES = 1032  # max_bytes in course.hpp
PROGRESS_SECONDS = 10
SOURCES = ("rtl", "model", "spec", "tb/rdma", "tests/fuzz")
MOST_ROUNDS = 10

# build (tb/rdma/CMakeLists.txt), what is wrong in it, has it to be found?
FAULTS = [
    ("window", "WBASE moves on by one too few (the formula as the paper prints it)", True),
    ("zombie", "the generation is not compared", True),
    ("stall", "a timeout does not see that the event right before it restarted the timer", True),
    ("gap", "only the last beat's tkeep counts", True),
    ("lap", "the second hole keeps its lap when the window wraps: wrong only for steps in consecutive clocks; here a full packet takes three", False),
]
# Engines of the older schemes: build, what it is.
OLDER = {"rxcounter_small": "receiver counter", "txwindow_small": "sender window"}


class BadInput(Exception):
    """Something is missing that has to be there."""


class Fuzzer:
    """One run of libFuzzer."""

    def __init__(self, folder, name, program):
        self.folder, self.name, self.program = folder, name, folder / "bin" / program
        self.findings = folder / "findings" / name
        self.log = folder / "findings" / f"{name}.log"
        if not self.program.exists():
            raise BadInput(f"{self.program}: is missing, build it first (make fuzz)")
        shutil.rmtree(self.findings, ignore_errors=True)
        self.findings.mkdir(parents=True)

    def run(self, corpus, seconds, seed, build=None):
        """What came out, with the first difference or nothing."""
        corpus.mkdir(parents=True, exist_ok=True)
        command = [str(self.program), str(corpus), f"-max_total_time={seconds}", f"-max_len={MOST_BYTES}", "-print_final_stats=1",
                   f"-artifact_prefix={self.findings}/", "-timeout=60", f"-seed={seed}"]
        if build:
            command.append(f"--build={build}")
        start, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        with open(self.log, "w", encoding="utf-8", errors="replace") as log, subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as process:
            self.follow(process.stdout, log, start)
            status = process.wait()
        result = self.numbers()
        result["seconds"] = round(time.monotonic() - start, 1)
        result["cpu_seconds"] = round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - used, 1)
        files = sorted(self.findings.iterdir())
        if status and not files:
            raise BadInput(f"{self.program.name} failed without a finding, see {self.log}")
        result["finding"] = str(files[0]) if files else None
        result["difference"] = self.difference() if files else None
        return result

    def follow(self, lines, log, start):
        told = start
        for line in lines:
            log.write(line)
            if line.startswith("#") and time.monotonic() - told > PROGRESS_SECONDS:
                told = time.monotonic()
                print(f"fuzz: {self.name}: {told - start:.0f} s, {line.split()[0][1:]} courses", flush=True)

    def numbers(self):
        text = self.log.read_text(encoding="utf-8", errors="replace")
        states = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)/", text)
        total = re.search(r"Loaded \d+ modules? +\((\d+) ", text)
        courses = re.search(r"stat::number_of_executed_units: (\d+)", text)
        if not total or not courses:
            raise BadInput(f"{self.program.name} came to no result, see {self.log}")
        edges, features, corpus = map(int, states[-1]) if states else (0, 0, 0)
        return {"courses": int(courses.group(1)), "edges": edges, "all_edges": int(total.group(1)), "features": features,
                "corpus": corpus}

    def difference(self):
        text = self.log.read_text(encoding="utf-8", errors="replace")
        found = re.search(r"weft-fuzzer: first difference:\n(.*(?:\n  .*)*)", text)
        return found.group(1) if found else "the fuzzer itself stopped, see " + str(self.log)


def write_seeds(folder, corpus):
    program = folder / "bin" / "weft-fuzz"
    if not program.exists():
        raise BadInput(f"{program}: is missing, build it first (make fuzz)")
    subprocess.run([str(program), "--seeds", str(corpus)], check=True)


def hunt(folder, name, seconds, seed, with_seeds):
    """Looks for the fault of this build, from the seeds or from nothing."""
    title = f"{name}.{'seeds' if with_seeds else 'nothing'}"
    corpus = folder / "hunts" / title
    shutil.rmtree(corpus, ignore_errors=True)
    corpus.mkdir(parents=True)
    if with_seeds:
        write_seeds(folder, corpus)
    result = Fuzzer(folder, title, "weft-fuzzer-faulty").run(corpus, seconds, seed, name)
    found = f"found in course {result['courses']}, {result['seconds']} s" if result["finding"] else f"NOT FOUND in {seconds} s"
    print(f"fuzz: fault {title}: {found}", flush=True)
    return result


def found_text(result):
    if not result["finding"]:
        return f"not found: {result['courses']:,}, {result['cpu_seconds']} s"
    return f"{result['courses']:,}, {result['cpu_seconds']} s"


def first_line(difference):
    return (difference or "").splitlines()[0].removeprefix("node 0: ") if difference else "–"


def rows_of(result):
    per_second = result["courses"] / max(result["cpu_seconds"], 0.1)
    return [
        ("courses played", f"{result['courses']:,}"),
        ("seconds", f"{result['seconds']:,.0f}, of which {result['cpu_seconds']:,.0f} on the processor (one core)"),
        ("courses a second of processor", f"{per_second:.0f}"),
        ("edges of the Verilated engines and the golden model", f"{result['edges']:,} of {result['all_edges']:,}"),
        ("features (edges, and kinds of events in sequence)", f"{result['features']:,}"),
        ("courses kept", f"{result['corpus']:,}"),
        ("differences", "none" if not result["finding"] else first_line(result["difference"])),
    ]


def page(clean, faults, older):
    lines = ["# Fuzzing", "", "Written by `make fuzz`; what a course is and what is compared: [verification](../verification.md#fuzzing).", "",
             "## The engine", "", f"Seed {clean['seed']}. The number of courses depends on the machine.", "", "| | |", "|---|---:|"]
    lines += [f"| {name} | {value} |" for name, value in rows_of(clean)]
    lines += ["", "## The older schemes", "", "[Engines of these](../rdma_baseline.md), with packets as theirs have them, from the same courses to begin with. One program has both: an edge of the other one counts as not reached.", "",
              f"| | {' | '.join(OLDER.values())} |", f"|---|{'---:|' * len(OLDER)}"]
    lines += [f"| {columns[0][0]} | {' | '.join(value for _, value in columns)} |" for columns in zip(*(rows_of(older[build]) for build in OLDER), strict=True)]
    lines += ["", "## Faults put in", "", "Until the first difference: courses played and seconds of processor; from the courses of `weft-fuzz --seeds`, and from nothing.",
              "", "| fault | from seeds | from nothing | first difference |", "|---|---:|---:|---|"]
    for name, what, _ in FAULTS:
        seeds, nothing = faults[name]["seeds"], faults[name]["nothing"]
        lines.append(f"| {what} | {found_text(seeds)} | {found_text(nothing)} | {first_line(seeds['difference'] or nothing['difference'])} |")
    return "\n".join(lines) + "\n"


def write_whole(file, text):
    temporary = file.with_suffix(".part")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, file)


def digest():
    """Of all that is fuzzed, and how."""
    files = sorted(file for folder in SOURCES for file in (ROOT / folder).rglob("*") if file.is_file())
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def keep(folder, part, result):
    """Results of all parts so far, of the same sources; each run replaces its own."""
    file = folder / "fuzz.json"
    results = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if results.get("sources") != digest():
        results = {"sources": digest()}
    results[part] = result
    write_whole(file, json.dumps(results, indent=2) + "\n")
    if set(PARTS) <= set(results):
        write_whole(PAGE, page(results["engine"], results["faults"], results["older"]))


def fuzz_faults(args):
    """Whether all that can be found were, from the seeds."""
    results = {name: {start: hunt(args.folder, name, args.fault_seconds, args.seed, start == "seeds") for start in ("seeds", "nothing")}
               for name, _, _ in FAULTS}
    keep(args.folder, "faults", results)
    missed = [name for name, _, can_be_found in FAULTS if can_be_found and not results[name]["seeds"]["finding"]]
    if missed:
        print(f"fuzz: faults not found: {', '.join(missed)}", file=sys.stderr)
    return not missed


def fuzz_for(fuzzer, corpus, seconds, seed, build=None):
    """So many seconds of processor; more than one round if there was other work."""
    result = fuzzer.run(corpus, seconds, seed, build)
    for round_ in range(1, MOST_ROUNDS):
        missing = seconds - result["cpu_seconds"]
        if result["finding"] or missing < 1:
            break
        more = fuzzer.run(corpus, max(1, round(missing)), seed + round_, build)
        result = more | {key: result[key] + more[key] for key in ("courses", "seconds", "cpu_seconds")}
    return result


def fuzz_engine(args):
    """Whether no difference was found."""
    corpus = args.folder / "corpus"
    write_seeds(args.folder, corpus)
    result = fuzz_for(Fuzzer(args.folder, "engine", "weft-fuzzer"), corpus, args.seconds, args.seed)
    keep(args.folder, "engine", result | {"seed": args.seed})
    return is_clean(result, f"{args.folder}/bin/weft-fuzz")


def fuzz_older(args):
    """Whether no difference was found."""
    results = {}
    for build in OLDER:
        corpus = args.folder / "corpus_of" / build
        corpus.mkdir(parents=True, exist_ok=True)
        write_seeds(args.folder, corpus)
        results[build] = fuzz_for(Fuzzer(args.folder, build, "weft-fuzzer-older"), corpus, args.older_seconds, args.seed, build)
    keep(args.folder, "older", results)
    return all([is_clean(result, f"{args.folder}/bin/weft-fuzz-older --build {build}") for build, result in results.items()])


def is_clean(result, player):
    """Tells what came out."""
    print(f"fuzz: {result['courses']} courses in {result['seconds']} s, {result['edges']} of {result['all_edges']} edges, "
          f"{result['features']} features, {result['corpus']} courses kept", flush=True)
    if result["finding"]:
        print(f"fuzz: {result['difference']}\nfuzz: to see it: {player} {result['finding']}", file=sys.stderr)
    return not result["finding"]


PARTS = {"faults": fuzz_faults, "engine": fuzz_engine, "older": fuzz_older}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="where the fuzzer was built; the corpus stays there from run to run")
    parser.add_argument("--seconds", type=int, default=600, help="on the engine itself (default: %(default)s)")
    parser.add_argument("--fault-seconds", type=int, default=120, help="at most, on each engine with a fault (default: %(default)s)")
    parser.add_argument("--older-seconds", type=int, default=120, help="on each engine of an older scheme (default: %(default)s)")
    parser.add_argument("--part", choices=PARTS, help="only this (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="of libFuzzer (default: %(default)s)")
    args = parser.parse_args()
    if min(args.seconds, args.fault_seconds, args.older_seconds) < 1:
        parser.error("seconds must be at least 1")
    try:
        good = [PARTS[part](args) for part in ([args.part] if args.part else PARTS)]
        return 0 if all(good) else 1
    except (BadInput, OSError, subprocess.CalledProcessError) as error:
        print(f"fuzz: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Runs the receiver's tests on its netlist of OSU 0.18 um cells and proves the window unit's netlist equal to its source.

Both are also done with gates swapped: the proof must find each, the tests at least one; those they do not find are named. Writes
build/netlist/results.json and docs/results/netlist.md. Needs Debian's yosys, verilator and qflow-tech-osu018, and the Python of
`make verilog` (elaboration). Exit status 1 if a check failed.
"""

import argparse
import json
import os
import subprocess
import sys
import time

import area
import gates

ROOT = area.ROOT
WORK = ROOT / "build" / "netlist"
PAGE = ROOT / "docs" / "results" / "netlist.md"
RECEIVERS = ROOT / "tests" / "rtl" / "receivers.txt"
RECEIVER = "rdma_receiver"
LEAST_FOUND = 0.8  # of the gates swapped in it; all of those in the window unit
SWAPPABLE = "small_receiver"  # the one in which gates are swapped; tests/gates/CMakeLists.txt knows it too
UNIT = "window_unit"
UNIT_LIST = ROOT / "formal" / "window_unit.f"
UNIT_WINDOW, UNIT_PIDX_W = 128, 24
CELLS = WORK / "cells.v"


class Progress:
    """Says what was done, and how long it took since the start."""

    def __init__(self):
        self.start = time.monotonic()

    def __call__(self, text):
        print(f"netlist: {text} ({time.monotonic() - self.start:.0f} s)", flush=True)


def receivers():
    """Name and parameters of each receiver that the tests run."""
    lines = [line.split() for line in RECEIVERS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return {name: parameters for name, *parameters in lines}


def make_netlist(top, name, parameters, listing=None, formats=None):
    folder = WORK / name
    source = gates.elaborate(top, folder, listing, parameters, formats)
    netlist, logic, flops = gates.synthesize(top, source, folder)
    gates.write_ram_models(source, folder / "rams.v")
    return {"parameters": " ".join(parameters), "gates": logic, "flops": flops}, netlist.read_text(encoding="utf-8")


def check_unit(swaps, seed, progress):
    """Is the window unit's netlist its source, and is each of some swapped gates found?"""
    folder = WORK / UNIT
    source = gates.elaborate(UNIT, folder, UNIT_LIST, [f"WINDOW={UNIT_WINDOW}", f"PIDX_W={UNIT_PIDX_W}"])
    netlist, logic, _ = gates.synthesize(UNIT, source, folder)

    gold = gates.write_graph(UNIT, [source], folder, "source")

    def equal(file, name):
        return gates.equal(gold, UNIT, [file, CELLS], folder, name)

    result = {"window": UNIT_WINDOW, "pidx_w": UNIT_PIDX_W, "gates": logic, "equal": equal(netlist, "equal"), "swapped": []}
    progress(f"{UNIT}: netlist {'equals' if result['equal'] else 'DIFFERS FROM'} its source")
    for number, gate in enumerate(gates.pick_gates(netlist.read_text(encoding="utf-8"), swaps, seed), 1):
        file = folder / f"swapped{number}.v"
        file.write_text(gates.with_swapped_gate(gate), encoding="utf-8")
        found = not equal(file, f"swapped{number}")
        result["swapped"].append({"gate": gates.swap_words(gate), "found": found})
        progress(f"{UNIT}: {gates.swap_words(gate)}: {'found' if found else 'NOT FOUND'}")
    return result


def make_swappable(name, netlist, args):
    """The gates that can be swapped."""
    picked = gates.pick_gates(netlist, args.swaps, args.seed)
    (WORK / name / "swappable.v").write_text(gates.with_swappable_gates(netlist, picked), encoding="utf-8")
    return picked


def build_tests(targets, jobs):
    log = WORK / "build.log"
    # Verilator reads the netlists when CMake configures.
    # -Wno-dev: as in the Makefile.
    area.run_tool(["cmake", "--preset", "gates", f"-DWEFT_GATES={WORK}"], log)
    area.run_tool(["cmake", "--build", "--preset", "gates", "-j", str(jobs), "--target", *targets], log)


def run_tests(target, name, seed, swapped=0, options=()):
    """Names of the tests that ran, and of those that failed."""
    report = WORK / f"{name}.json"
    report.unlink(missing_ok=True)
    command = [ROOT / "build-gates" / "bin" / target, f"--gtest_output=json:{report}", f"--gtest_random_seed={seed}", *options]
    with open(WORK / f"{name}.log", "w", encoding="utf-8") as log:
        environment = os.environ | {"WEFT_SWAPPED_GATE": str(swapped)}
        status = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False, env=environment).returncode
    if not report.exists():
        raise area.ToolError(f"{target} ended with status {status} and no report, see {(WORK / name).relative_to(ROOT)}.log")
    suites = json.loads(report.read_text(encoding="utf-8"))["testsuites"]
    ran = [test for suite in suites for test in suite["testsuite"] if test["result"] == "COMPLETED"]
    failed = [f"{test['classname']}.{test['name']}" for test in ran if test.get("failures")]
    if bool(failed) != bool(status) or not ran:
        raise area.ToolError(f"{target} ended with status {status} with {len(failed)} of {len(ran)} tests failed, see {(WORK / name).relative_to(ROOT)}.log")
    return len(ran), failed


def check_swapped(target, name, picked, seed, progress):
    """Does a test fail when a gate is swapped?"""
    results, log = [], target.removeprefix("test_").removesuffix("_gates")
    for number, gate in enumerate(picked, 1):
        _, failed = run_tests(target, f"{log}{number}", seed, number, ["--gtest_fail_fast"])
        results.append({"gate": gates.swap_words(gate), "found_by": failed[0] if failed else None})
        progress(f"{name}: {gates.swap_words(gate)}: {'found by ' + failed[0] if failed else 'NOT FOUND'}")
    return results


def tests_words(what, tests):
    verdict = "all passed" if not tests["failed"] else "failed: " + ", ".join(f"`{test}`" for test in tests["failed"])
    return f"All tests of {what}, {tests['ran']} tests against the golden model: {verdict}."


def swapped_table(name, swapped, seed):
    found = sum(1 for swap in swapped if swap["found_by"])
    return [f"The same tests with one gate of `{name}` swapped, picked at random (seed {seed}): {found} of {len(swapped)} found.", "",
            "| gate | first test that failed |", "|---|---|",
            *(f"| {swap['gate']} | {'`' + swap['found_by'] + '`' if swap['found_by'] else '**none**'} |" for swap in swapped)]


def page(results):
    unit = results["unit"]
    lines = [
        "# The receiver's gates", "",
        f"Written by `make netlist` with {results['yosys']}, OSU 0.18 µm, the synthesis of `make synth`; what is checked: [verification](../verification.md). RAMs "
        "are models, all else is gates.", "",
        "## Tests on the netlist", "",
        "| netlist | parameters of `rdma_receiver` that are not the default | gates | flops |", "|---|---|---:|---:|",
    ]
    for name, receiver in results["receivers"].items():
        lines.append(f"| `{name}` | {receiver['parameters']} | {receiver['gates']:,} | {receiver['flops']:,} |")
    lines += ["", tests_words("the receiver (`tests/rtl/test_rdma_receiver*.cpp`)", results["tests"]), "", *swapped_table(SWAPPABLE, results["swapped"], results["seed"])]
    lines += ["", "## Netlist against source: the window unit", "",
              f"`rdma_window_open`, `rdma_window_keep` and `rdma_window_step`, WINDOW = {unit['window']}, PIDX of {unit['pidx_w']} bits, {unit['gates']:,} gates, all inputs "
              f"(SAT): {'equal' if unit['equal'] else '**different**'}.", "",
              "| gate | difference |", "|---|---|"]
    lines += [f"| {swap['gate']} | {'found' if swap['found'] else '**not found**'} |" for swap in unit["swapped"]]
    return "\n".join(lines) + "\n"


def run_all(args, progress):
    gates.write_cell_models(CELLS)
    unit = check_unit(args.swaps, args.seed, progress)
    made, picked = {}, []
    for name, parameters in receivers().items():
        made[name], netlist = make_netlist(RECEIVER, name, parameters)
        progress(f"{name}: {made[name]['gates']:,} gates, {made[name]['flops']:,} flops")
        if name == SWAPPABLE:
            picked = make_swappable(name, netlist, args)
    build_tests(["test_gates", "test_swapped_gates"], args.jobs)
    progress("tests built")
    ran, failed = run_tests("test_gates", "tests", args.seed)
    progress(f"{ran} tests on the netlists, {len(failed)} failed")
    return {"yosys": area.yosys_version(), "seed": args.seed, "unit": unit, "receivers": made, "tests": {"ran": ran, "failed": failed},
            "swapped": check_swapped("test_swapped_gates", SWAPPABLE, picked, args.seed, progress)}


def tests_complaints(name, tests, swapped):
    """Of tests on netlists, and on one with swapped gates. A few gates are only seen in cases that the tests do not reach; the page names them."""
    result = [f"{test} failed on the netlist" for test in tests["failed"]]
    found = sum(swap["found_by"] is not None for swap in swapped)
    if found < LEAST_FOUND * len(swapped):
        result.append(f"{name}: only {found} of {len(swapped)} swapped gates were found")
    return result


def complaints(results):
    """What is not as it should be."""
    result = tests_complaints(SWAPPABLE, results["tests"], results["swapped"])
    if not results["unit"]["equal"]:
        result.append("the window unit's netlist differs from its source")
    result += [f"{UNIT}: {swap['gate']}: not found" for swap in results["unit"]["swapped"] if not swap["found"]]
    return result


def arguments(words):
    parser = argparse.ArgumentParser(description=words)
    parser.add_argument("--jobs", type=int, default=2, help="compilations at a time (default: %(default)s)")
    parser.add_argument("--swaps", type=int, default=10, help="gates to swap, one at a time (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="picks the gates, and of the tests (default: %(default)s)")
    return parser.parse_args()


def main():
    args = arguments(__doc__.splitlines()[0])
    area.need([area.LIBERTY])
    try:
        results = run_all(args, Progress())
    except area.ToolError as error:
        sys.exit(f"netlist: {error}")
    area.write_file(WORK / "results.json", json.dumps(results, indent=2) + "\n")
    area.write_file(PAGE, page(results))
    wrong = complaints(results)
    for complaint in wrong:
        print(f"netlist: {complaint} (seed {args.seed})", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

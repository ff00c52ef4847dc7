# SPDX-License-Identifier: Apache-2.0
"""Checks the protocol with SPIN, proves the receive window and other RTL blocks; writes docs/results/formal.md.

Every check is also run on something broken on purpose, where it must find a fault. Needs spin, gcc, yosys, z3 and the
Python of `make verilog` (elaboration). Exit status 1 if any result is not the expected one. With --changed only those checks
are run whose result the page does not have for what they are made of now (record.py).
"""

import argparse
import concurrent.futures
import dataclasses
import os
import re
import sys
import time
import typing

import blocks
import record
from tools import ROOT, WORK, ToolError, must, read_list, write_changed, write_list

PAGE = ROOT / "docs" / "results" / "formal.md"
STEP = "rdma_window_step.sv"

# title, model, its defines, progress (else safety), the fault that has to be found (a value of FAULTS) or nothing
PROTOCOL = [
    ("safety", "protocol", ["NET=2"], False, None),
    ("safety without the zombie check", "protocol", ["NET=2", "NO_ZOMBIE_CHECK"], False, "assertion"),
    ("safety without the generation", "protocol", ["NET=2", "NO_GENERATION"], False, "assertion"),
    ("safety with DONE after the first packet", "protocol", ["NET=2", "EARLY_DONE"], False, "assertion"),
    ("safety with each DONE taken for a completion", "protocol", ["NET=2", "DONE_TWICE"], False, "assertion"),
    ("progress: 2 lost, 1 duplicated", "protocol", ["BOUNDED"], True, None),
    ("progress: 4 lost, 2 duplicated", "protocol", ["BOUNDED", "LOSSES=4", "DUPLICATES=2"], True, None),
    ("progress without RELEASE for what fits nothing", "protocol", ["BOUNDED", "NO_RELEASE"], True, "cycle"),
    ("progress with a context that is free when DONE is sent", "protocol", ["BOUNDED", "FORGET_DONE"], True, "deadlock"),
    ("READ, safety", "transfers", [], False, None),
    ("READ, safety, bound twice", "transfers", ["BOUND_TWICE"], False, "assertion"),
    ("READ, safety, without its number", "transfers", ["NO_NUMBER"], False, "assertion"),
    ("READ, safety, ends while it is bound", "transfers", ["POSTS=1", "SENDS=1", "EARLY_END"], False, "assertion"),
    ("READ, safety, leaves before memory has answered", "transfers", ["POSTS=1", "SENDS=1", "NO_FENCE"], False, "assertion"),
    ("READ, progress: 2 lost, 1 duplicated", "transfers", ["BOUNDED", "NET=3", "POSTS=1", "SENDS=3", "LOSSES=2"], True, None),
    ("SEND, safety, two SENDs for one ticket", "transfers", ["SEND", "POSTS=1"], False, None),
    ("SEND, safety, two tickets for one SEND", "transfers", ["SEND", "SENDS=1"], False, None),
    ("SEND, safety, a ticket is taken back after the last packet", "transfers", ["SEND", "POSTS=1", "SENDS=1", "FREED_ENDS"], False, "assertion"),
    ("SEND, safety, an early ACK is answered with RELEASE", "transfers", ["SEND", "POSTS=1", "SENDS=1", "RELEASE_EARLY"], False, "assertion"),
    ("SEND, progress: 2 lost, 1 duplicated", "transfers", ["BOUNDED", "SEND", "NET=3", "POSTS=1", "SENDS=1", "LOSSES=2"], True, None),
    ("SEND, progress, a repeated request is not answered", "transfers", ["BOUNDED", "SEND", "NET=3", "POSTS=1", "SENDS=1", "NO_AGAIN"], True, "cycle"),
    ("barrier, safety: 4 members, 3 barriers, any offsets", "barrier", [], False, None),
    ("barrier, safety, without epochs", "barrier", ["NO_EPOCH"], False, "assertion"),
    ("barrier, progress: 3 members, 2 lost, 1 duplicated", "barrier", ["BOUNDED", "NODES=3"], True, None),
    ("barrier, progress: 4 members, 2 lost, 1 duplicated", "barrier", ["BOUNDED", "BARRIERS=2"], True, None),
    ("barrier, multicast Release, safety: 4 members, 3 barriers, any offsets", "barrier", ["MULTICAST"], False, None),
    ("barrier, multicast Release, safety, without epochs", "barrier", ["MULTICAST", "NO_EPOCH"], False, "assertion"),
    ("barrier, multicast Release, progress: 4 members, 2 lost, 1 duplicated", "barrier", ["BOUNDED", "MULTICAST", "BARRIERS=2"], True, None),
    ("barrier, multicast Release, progress, a Gather that is repeated late is not answered", "barrier", ["BOUNDED", "MULTICAST", "BARRIERS=2", "NO_ANSWER"], True, "cycle"),
    ("barrier, progress, a Gather that is repeated late is not answered", "barrier", ["BOUNDED", "NODES=3", "NO_ANSWER"], True, "cycle"),
]

# window, bits of PIDX, fault put into rdma_window_step.sv (what, by what) or nothing
WINDOWS = [
    (4, 5, None),
    (8, 6, None),
    (16, 8, None),
    (8, 6, ("move_o   = advance || (mark && place_i.is_first)", "move_o   = advance")),
    (8, 6, ("move_o ? next_is_it : stays.is_first", "base_same")),
    (16, 7, ("= found_group_here;", "= window_i.group_here;")),
    (8, 6, ("(window_i.carry && !advance)", "window_i.carry")),
    (8, 6, ("top_same  = window_i.carry ? tops[1] : tops[0];", "top_same  = tops[0];")),
    (8, 6, ("assign next_base = {window_i.first_odd, first};", "assign next_base = {window_i.first_odd, first} - 1'b1;")),
]


# What pan says of a fault. Progress: a model is searched for cycles without an end of a transfer, and for states in which nothing
# can happen any more (which a search for cycles does not see).
FAULTS = {"assertion": "assertion violated", "deadlock": "invalid end state", "cycle": "non-progress cycle"}
SEARCHES = {True: [("-DSAFETY", []), ("-DNP", ["-l"])], False: [("-DSAFETY", [])]}


def search(folder, define, options):
    """The fault that pan finds first, or nothing; and how many states it has seen."""
    must(["gcc", "-O2", "-w", define, "-DCOLLAPSE", "-DMEMLIM=4000", "-o", "pan", "pan.c"], folder, "gcc.log")
    text = must(["./pan", *options, "-m2000000", "-w24"], folder, f"pan{define}.log")
    errors = re.search(r"errors: (\d+)", text)
    states = re.search(r"(\d+(?:\.\d+)?(?:e\+\d+)?) states, stored", text)
    if not errors or not states or "max search depth too small" in text or "out of memory" in text:
        raise ToolError(f"pan came to no result, see {(folder / f'pan{define}.log').relative_to(ROOT)}")
    if errors.group(1) == "0":
        return None, int(float(states.group(1)))
    first = re.search(r"^pan:\d+: (.*)", text, re.M).group(1)
    return next((fault for fault, words in FAULTS.items() if first.startswith(words)), first), 0


def check_protocol(title, model, defines, progress, expected):
    """Does it hold, and a few words on how much was searched."""
    folder = WORK / re.sub(r"\W+", "_", title)
    folder.mkdir(parents=True, exist_ok=True)
    must(["spin", *(f"-D{define}" for define in defines), "-a", str(ROOT / "formal" / f"{model}.pml")], folder, "spin.log")
    most = 0
    for define, options in SEARCHES[progress]:
        fault, states = search(folder, define, options)
        if fault and fault != expected:
            raise ToolError(f"pan finds another fault ({fault}, not {expected}), see {(folder / f'pan{define}.log').relative_to(ROOT)}")
        if fault:
            return False, ""
        most = max(most, states)
    return True, f"{most:,} states"


def window_sources(folder, fault):
    """The file list of the proof, with the fault put in."""
    listing = ROOT / "formal" / "window_proof.f"
    if not fault:
        return listing
    write_list(folder / "sources.f", [(prefix, write_changed(file, folder, *fault) if file.name == STEP else file) for prefix, file in read_list(listing)])
    return folder / "sources.f"


def check_window(window, bits, fault):
    folder = WORK / f"window{window}_{WINDOWS.index((window, bits, fault))}"
    folder.mkdir(parents=True, exist_ok=True)
    must([sys.executable, str(ROOT / "fpga" / "elaborate.py"), "--force", "--out", str(folder), "--list", str(window_sources(folder, fault)),
          "-G", f"WINDOW={window}", "-G", f"PIDX_W={bits}", "window_proof"], folder, "elaborate.log")
    script = ("read_verilog window_proof.v; hierarchy -check -top window_proof; proc; flatten; opt -full; techmap; opt -full; "
              "sat -prove ok_o 1 -show-inputs window_proof")
    text = must(["yosys", "-p", script], folder, "sat.log")
    holds, fails = "SAT proof finished - no model found: SUCCESS!" in text, "SAT proof finished - model found: FAIL!" in text
    if holds == fails:
        raise ToolError(f"yosys sat came to no result, see {(folder / 'sat.log').relative_to(ROOT)}")
    return holds, "all states and packets"


@dataclasses.dataclass(frozen=True)
class Job:
    """One check of the page."""

    subject: str
    title: str
    expected: bool  # holds; else a fault has to be found
    of: str  # its fingerprint
    check: typing.Callable
    arguments: tuple


def jobs():
    for entry in PROTOCOL:
        title, model, *_, fault = entry
        of = record.fingerprint((entry, SEARCHES, FAULTS), [ROOT / "formal" / f"{model}.pml"], [search, check_protocol], ["spin"])
        yield Job("protocol", title, fault is None, of, check_protocol, entry)
    for entry in WINDOWS:
        window, bits, fault = entry
        title = f"window of {window}, PIDX of {bits} bits" + (f", `{fault[0]}` made `{fault[1]}`" if fault else "")
        files = [file for prefix, file in read_list(ROOT / "formal" / "window_proof.f") if not prefix]
        needed = record.needed(files[-1], [*files, *blocks.headers()])
        of = record.fingerprint(entry, [*needed, *blocks.ELABORATION], [window_sources, check_window], ["yosys"])
        yield Job("receive window", title, fault is None, of, check_window, entry)
    for number, (proof, fault) in enumerate(blocks.BLOCKS):
        yield Job("block", blocks.title(proof, fault), fault is None, blocks.fingerprint(proof, fault), blocks.check_block, (number, proof, fault))


def timed(check, arguments):
    start = time.monotonic()
    holds, extent = check(*arguments)
    return holds, extent, time.monotonic() - start


def page(rows):
    return "\n".join(["# Formal checks", "", "Written by `make formal`; what is checked and under which assumptions: [verification](../verification.md). The last column is of all that a result",
                      "depends on (sources, limits, code of the check, versions of its tools): `make formal FORMAL_ARGS=--changed` leaves out what is here with the same one.", "",
                      "| what | check | result | expected | searched | of |", "|---|---|---|---|---|---|", *rows]) + "\n"


def write_page(rows):
    temporary = PAGE.with_suffix(".tmp")
    temporary.write_text(page(rows), encoding="utf-8")
    os.replace(temporary, PAGE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="TEXT", default="", help="checks whose name has this text; leaves docs/ alone")
    parser.add_argument("--changed", action="store_true", help="only checks that the page does not have as they are now")
    parser.add_argument("--jobs", type=int, default=2, help="checks at a time (default: %(default)s)")
    args = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    wanted = [job for job in jobs() if args.only in f"{job.subject}: {job.title}"]
    if not wanted:
        sys.exit(f"formal: --only {args.only}: no check has this in its name")
    lines = PAGE.read_text(encoding="utf-8").splitlines() if args.changed else []
    rows, good = [record.recorded(job, lines) for job in wanted], True
    todo = [place for place, row in enumerate(rows) if row is None]
    if args.changed:
        print(f"formal: {len(wanted) - len(todo)} of {len(wanted)} checks are on the page as they are now, {len(todo)} to be run", flush=True)
    with concurrent.futures.ThreadPoolExecutor(max_workers=args.jobs) as pool:
        futures = {place: pool.submit(timed, wanted[place].check, wanted[place].arguments) for place in todo}
        for place, future in futures.items():
            job = wanted[place]
            try:
                holds, extent, seconds = future.result()
            except ToolError as error:
                pool.shutdown(cancel_futures=True)
                sys.exit(f"formal: {job.title}: {error}")
            good = good and holds == job.expected
            verdict = "as expected" if holds == job.expected else "NOT AS EXPECTED"
            print(f"formal: {job.subject}: {job.title}: {record.WORDS[holds]}, {verdict} ({seconds:.0f} s)", flush=True)
            rows[place] = record.row(job, holds, extent)
    if not args.only:
        write_page(rows)
    if not good:
        sys.exit("formal: some results are not the expected ones")


if __name__ == "__main__":
    main()

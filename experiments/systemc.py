# SPDX-License-Identifier: Apache-2.0
"""Speed of the SystemC platform beside the plain C++ harness, with the same NIC and the same transfers.

usage: systemc.py BUILD PAGE [--runs N]. Runs both in turn; writes medians to PAGE.
"""

import argparse
import pathlib
import re
import statistics
import subprocess
import sys

import files

RESULT = re.compile(r"^(\d+) clocks of two NICs in ([\d.]+) s: (\d+) clocks a second$", re.M)
SIZES = ((64, 300), (4096, 100), (65536, 20))  # bytes of a request, rounds
PROGRAMS = ("weft-systemc", "weft-nic-plain")


def measure(program, size, rounds):
    """Clocks, and clocks a second."""
    command = [program, "--bytes", str(size), "--repeat", str(rounds)]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = RESULT.search(done.stdout)
    if done.returncode or not found:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}")
    return int(found[1]), int(found[3])


def row(build, size, rounds, runs):
    results = {name: [] for name in PROGRAMS}
    for _ in range(runs):
        for name in PROGRAMS:  # in turn, so that both meet the same machine
            results[name].append(measure(build / "bin" / name, size, rounds))
    clocks = {name: results[name][0][0] for name in PROGRAMS}
    speeds = {name: statistics.median(speed for _, speed in results[name]) for name in PROGRAMS}
    ratios = [systemc[1] / plain[1] for systemc, plain in zip(*(results[name] for name in PROGRAMS))]
    print(f"{size} bytes: " + ", ".join(f"{name} {speeds[name]:,.0f} clocks a second" for name in PROGRAMS), flush=True)
    cells = [f"{size:,}", f"{rounds}", *(f"{clocks[name]:,}" for name in PROGRAMS), *(f"{speeds[name]:,.0f}" for name in PROGRAMS),
             f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"]
    return f"| {' | '.join(cells)} |"


def page(rows, runs):
    return f"""# SystemC beside the plain harness

Written by `make systemc-bench`. Two NICs of the same size ([SystemC](../systemc.md)), a WRITE, a SEND and a READ a round and a barrier at the end, with the same driver; clocks of both NICs simulated a second
of wall time on one core, medians of {runs} runs in turn. Both check that bytes are right and have the RTL's assertions; neither has a golden model beside it. Memories, links and how
software waits differ, so a round takes other clocks.

| bytes of a request | rounds | clocks, SystemC | clocks, plain | clocks a second, SystemC | plain | SystemC / plain |
|---:|---:|---:|---:|---:|---:|---:|
{chr(10).join(rows)}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    text = page([row(args.build, size, rounds, args.runs) for size, rounds in SIZES], args.runs)
    files.write_whole(args.page, text)


if __name__ == "__main__":
    main()

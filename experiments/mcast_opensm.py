# SPDX-License-Identifier: Apache-2.0
"""Time of `weft mcast` beside that of stock OpenSM's min-hop for the same groups on the same fabric, in one run, into docs/results/mcast_opensm.md.

usage: experiments/mcast_opensm.py BUILD MARKDOWN [--cases TOPOLOGY=GRID ...]

OpenSM (Debian) manages a fabric that ibsim holds; hosts join by SubnAdmSet(MCMemberRecord); then it is told to compute everything anew (SIGHUP). Its log says when it has a group's root, and when its
tree.
"""

import argparse
import itertools
import json
import math
import os
import pathlib
import re
import signal
import statistics
import subprocess
import tempfile
import time

import files

DONE = b"mcast_mgr_build_spanning_tree: Configured MLID"
ROOT = b"mcast_mgr_find_optimal_switch: Best switch"
CASES = ("fattree3:16=8x8x16", "fattree3:28=14x14x28", "fattree3:40=25x25x25")
PORT_GUID = 0x2000000001  # of host 0; the next one's is 16 more


def lines_of(sides):
    """Every line along every dimension of a grid of hosts; the first index runs fastest."""
    strides = [math.prod(sides[:i]) for i in range(len(sides))]
    for axis, side in enumerate(sides):
        others = [range(s) for i, s in enumerate(sides) if i != axis]
        weights = [w for i, w in enumerate(strides) if i != axis]
        for place in itertools.product(*others):
            start = sum(p * w for p, w in zip(place, weights))
            yield [start + i * strides[axis] for i in range(side)]


def wait_for(question, seconds, what):
    end = time.monotonic() + seconds
    while not question():
        if time.monotonic() > end:
            raise SystemExit(f"{what}: not within {seconds} s")
        time.sleep(0.2)


def cpu_seconds(process):
    """Of all its threads."""
    return sum(int((task / "schedstat").read_text(encoding="ascii").split()[0]) for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir()) / 1e9


class Subnet:
    def __init__(self, build, topology, folder):
        self.build, self.folder = build, folder
        net = folder / "net"
        summary = folder / "summary.json"
        subprocess.run([build / "bin/weft", "topology", topology, "--json", summary], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([build / "bin/weft", "topology", topology, "--format", "ibnet", "-o", net], check=True)
        self.sizes = json.loads(summary.read_text(encoding="utf-8"))
        nodes = self.sizes["switches"] + self.sizes["hosts"]
        ports = self.sizes["switches"] * (self.sizes["most_ports"] + 1) + 2 * self.sizes["hosts"]
        self.environment = os.environ | {"IBSIM_SOCKNAME": f"weft-{os.getpid()}", "SIM_HOST": "H-0000002000000000", "OSM_CACHE_DIR": str(folder), "OSM_TMP_DIR": str(folder),
                                         "PATH": os.environ["PATH"] + ":/usr/sbin"}
        options = ["-N", str(nodes), "-S", str(self.sizes["switches"]), "-P", str(ports), "-L", "49152", "-M", "16384"]
        self.ibsim = self.start(["ibsim", "-s", "-n", *options, net], "ibsim.log")
        wait_for(lambda: f"@weft-{os.getpid()}:ctl" in pathlib.Path("/proc/net/unix").read_text(encoding="ascii"), 120, "ibsim")
        (folder / "opensm.conf").write_text("force_log_flush TRUE\nsweep_interval 0\nmax_wire_smps 64\n", encoding="ascii")
        self.log = folder / "opensm.log"
        self.opensm = self.start(["ibsim-run", "opensm", "-F", folder / "opensm.conf", "-R", "minhop", "-D", "0x07", "-f", self.log], "opensm.out")
        self.wait_for_log(b"SUBNET UP", 1800)

    def wait_for_log(self, words, seconds):
        wait_for(self.log.exists, 60, "OpenSM")
        with open(self.log, "rb") as log:
            for _ in range(seconds):
                if words in b"".join(log.readlines()):  # OpenSM writes whole lines
                    return
                time.sleep(1)
        raise SystemExit(f"OpenSM: not within {seconds} s")

    def start(self, command, log):
        with open(self.folder / log, "wb") as out:
            return subprocess.Popen(command, env=self.environment, stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd=self.folder)

    def stop(self):
        for process in (self.opensm, self.ibsim):
            process.kill()
            process.wait()

    def join(self, groups):
        requests = "".join(f"join {number} {PORT_GUID + 16 * host:x}\n" for number, hosts in enumerate(groups) for host in hosts)
        answers = subprocess.run(["ibsim-run", self.build / "bin/weft_join"], env=self.environment | {"SIM_HOST": "H-0000002000000010"}, input=requests, text=True,
                                 check=True, stdout=subprocess.PIPE).stdout
        return len(set(re.findall(r"0x[0-9a-f]+", answers)))

    def recompute(self, groups):
        """Lines of the log about trees, from when OpenSM computes all of them anew."""
        wait_for(self.is_idle, 300, "OpenSM after the joins")
        lines, trees = [], 0
        with open(self.log, "rb") as log:
            log.seek(0, os.SEEK_END)
            self.opensm.send_signal(signal.SIGHUP)
            while trees < groups:
                time.sleep(0.2)
                new = [line for line in log.readlines() if b" mcast_mgr_" in line]
                trees += sum(DONE in line for line in new)
                lines += new
                if self.opensm.poll() is not None:
                    raise SystemExit("OpenSM has ended")
        return lines

    def is_idle(self):
        before = cpu_seconds(self.opensm)
        time.sleep(1)
        return cpu_seconds(self.opensm) - before < 0.02


def clock(line):
    """Seconds of the day: "Nov 25 12:47:19 975492 [..."."""
    _, _, time_of_day, microseconds = line.split(b" [")[0].split()
    hours, minutes, seconds = time_of_day.split(b":")
    return 3600 * int(hours) + 60 * int(minutes) + int(seconds) + int(microseconds) / 1e6


def times_of(lines):
    """Medians over the trees, in seconds: for choosing a root; for all, with the lines that OpenSM writes meanwhile; and how many these are."""
    roots, wholes, written = [], [], []
    begin = None
    for number, line in enumerate(lines):
        if ROOT in line and begin is not None:
            roots.append(clock(line) - clock(lines[begin]))
        if DONE in line:
            if begin is not None:
                wholes.append(clock(line) - clock(lines[begin]))
                written.append(number - begin)
            begin = number
    return statistics.median(roots), statistics.median(wholes), statistics.median(written)


def weft(build, topology, grid, engine, folder):
    """Results; the processor time has the minimal hops in it, which OpenSM's has not."""
    file = folder / "weft.json"
    subprocess.run([build / "bin/weft", "mcast", "--topology", topology, "--groups", f"grid:{grid}", "--engine", engine, "--json", file], check=True, stdout=subprocess.DEVNULL)
    return json.loads(file.read_text(encoding="utf-8"))


def measure(build, topology, grid):
    groups = list(lines_of([int(side) for side in grid.split("x")]))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subnet = Subnet(build, topology, folder)
        try:
            if subnet.join(groups) != len(groups):
                raise SystemExit(f"{topology} {grid}: not every group has an MLID of its own")
            root, whole, written = times_of(subnet.recompute(len(groups)))
        finally:
            subnet.stop()
        ours = weft(build, topology, grid, "mr4lms", folder)
        minhop = weft(build, topology, grid, "minhop", folder)
    assert ours["groups"] == len(groups), "the grid of weft is another one"
    per_group = [1e6 * s for s in (root, whole, ours["cpu_seconds"] / len(groups), (ours["cpu_seconds"] + ours["start_seconds"]) / len(groups), minhop["cpu_seconds"] / len(groups))]
    cells = (f"`{topology}`", grid, subnet.sizes["hosts"], len(groups), *(f"{value:.1f}" for value in per_group[:2]), f"{written:.0f}", *(f"{value:.1f}" for value in per_group[2:]),
             f"{per_group[0] / per_group[2]:.1f}", f"{per_group[0] / per_group[3]:.1f}", ours["max_efi_switch"], minhop["max_efi_switch"], ours["colors_used"], minhop["colors_used"])
    print(*cells, flush=True)
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def page(rows):
    head = ("topology", "groups", "hosts", "number", "OpenSM: root", "whole tree", "lines", "weft", "with hops", "weft's minhop", "root / weft", "root / with hops", "EFI", "of minhop", "colors", "of minhop")
    return f"""# Multicast routing: time beside OpenSM's

Written by `make mcast-opensm`. Stock OpenSM 3.3.23 (min-hop) in a fabric of ibsim, hosts joined by SubnAdmSet(MCMemberRecord), all trees computed anew after SIGHUP; then `weft mcast` for the same groups, one thread. Microseconds a group.

*OpenSM*: by the times in its log, median over all groups. *root*: from the line that one tree is done to that which names the next one's root: the old tree is cleared and a root chosen, nothing is written meanwhile. *whole tree*: until it is done, with as many *lines* written meanwhile as stand beside, so too much. Sweeping, joining and sending are not
in it. OpenSM's clock runs on when others have the processor; the median leaves such groups out as long as they are few. *weft*: processor time, trees and colours. *with hops*: and the minimal hops from which it begins, which OpenSM has from its unicast routing. The ratios compare OpenSM's choice of roots alone with all that weft does.
*EFI*: largest between switches; *of minhop*: by weft's engine of this name, which makes [the same tables](../mcast_opensm.md#what-stock-opensm-does) as OpenSM.

| {' | '.join(head)} |
|{'---|' * len(head)}
""" + "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("markdown", type=pathlib.Path)
    parser.add_argument("--cases", nargs="+", default=CASES, metavar="TOPOLOGY=GRID")
    arguments = parser.parse_args()
    rows = []
    for case in arguments.cases:
        rows.append(measure(arguments.build, *case.split("=")))
        files.write_whole(arguments.markdown, page(rows))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Packets of all groups and pairs through the Verilated lookup blocks of whole fabrics: runs of `weft-sim switch`, into docs/results/switch.md.

usage: experiments/switch.py BUILD MARKDOWN [--quick] [--threads N]

Two of the fabrics are dumps: what ibnetdiscover wrote of a real cluster, and what it (Debian) writes of a random fabric that ibsim holds. --quick: small fabrics.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys
import tempfile
import time

import files

DUMPED = "random:48,36,12,1"
REAL = "tests/data/topology/ndr_cluster.ibnetdiscover"
SOURCE = "tests/output/ibnetdiscover/example.out of NVIDIA/topograph, Apache License 2.0"
DATA = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "topology"
# Name on the page, topology, groups, more arguments.
CASES = (
    ("kfat2d:16x16:16", "kfat2d:16x16:16", "random:256:32:1", ()),
    ("kfat2d:16x16:16, tables replaced", "kfat2d:16x16:16", "random:128:32:1", ("--update",)),
    ("kfat2d:16x16:16, 3 dead leaves, 1 new one", "kfat2d:16x16:16", "random:128:32:1", ("--fail", "3,4", "9,2", "12,12", "--new-fail", "9,9")),
    ("kfat2d:16x16:16, dead row switches, links", "kfat2d:16x16:16", "random:128:32:1",
     ("--fail-row", "3", "--fail-column-link", "5,6", "--new-fail-row", "9", "--new-fail-row-link", "7,8")),
    ("kfat2d:16x16:16, third virtual channel", "kfat2d:16x16:16", "random:128:32:1", ("--channels", "3", "--fail", "3,4", "9,2", "--new-fail", "9,9", "12,12")),
    ("kfat2d:16x16:16, masks of lines", "kfat2d:16x16:16", "random:128:32:1", ("--masks", "line", "--fail", "3,4", "--new-fail", "9,9")),
    ("kfat2d:16x16:16, multicast tables of input ports", "kfat2d:16x16:16", "random:256:32:1", ("--per-port",)),
    ("the same, tables replaced", "kfat2d:16x16:16", "random:128:32:1", ("--per-port", "--update")),
    ("torus3d:8x8x8:2, multicast tables of input ports", "torus3d:8x8x8:2", "random:128:16:1", ("--per-port", "--update")),
    ("torus3d:8x8x8:2", "torus3d:8x8x8:2", "random:128:16:1", ("--update",)),
    ("torus3d:8x8x8:2, dead switches, links", "torus3d:8x8x8:2", "random:128:16:1",
     ("--fail-switch", "100", "--fail-link", "300,1", "--new-fail-switch", "77", "--new-fail-link", "200,3")),
    ("fattree3:16", "fattree3:16", "random:128:32:1", ("--update",)),
    ("fattree3:16, dead edge switches, links", "fattree3:16", "random:120:32:1",
     ("--fail-switch", "edge-0-1", "300", "--new-fail-switch", "edge-2-3", "140", "--new-fail-link", "5,12")),
    ("a real cluster", f"file:{DATA / 'ndr_cluster.ibnetdiscover'}", "random:64:32:1", ("--update",)),
    ("a real cluster, dead switches, link", f"file:{DATA / 'ndr_cluster.ibnetdiscover'}", "random:64:32:1",
     ("--fail-switch", "MF0;A10-P1-IBSPINE-02:MQM9701/U1", "--new-fail-switch", "MF0;A09-P1-IBLEAF-04-04:MQM9701/U1", "--new-fail-link", "1,37")),
    ("dump of ibsim", "DUMP", "random:128:32:1", ("--update",)),
    ("tests/data/topology/two_leaves.ibnetdiscover", f"file:{DATA / 'two_leaves.ibnetdiscover'}", "random:4:3:1", ("--update",)),
)
QUICK = (
    ("kfat2d:4x4:4, 1 dead leaf, 1 new one", "kfat2d:4x4:4", "random:16:8:1", ("--fail", "1,2", "--new-fail", "3,0")),
    ("kfat2d:4x4:4, a dead row switch, then a link, multicast tables of input ports", "kfat2d:4x4:4", "random:16:8:1", ("--per-port", "--fail-row", "1", "--new-fail-column-link", "0,2")),
    ("torus3d:3x3x3:2, a dead switch, then a link", "torus3d:3x3x3:2", "random:16:8:1", ("--fail-switch", "4", "--new-fail-link", "7,1")),
    CASES[-1],
)


def dump(build, folder):
    """A file as ibnetdiscover writes it."""
    net, result, socket = folder / "net", folder / "dump.ibnetdiscover", f"weft-switch-{os.getpid()}"
    subprocess.run([build / "bin/weft", "topology", DUMPED, "--format", "ibnet", "-o", net], check=True, stdout=subprocess.DEVNULL)
    host = re.search(r'"(H-[0-9a-f]+)"', net.read_text(encoding="utf-8"))[1]
    environment = os.environ | {"IBSIM_SOCKNAME": socket, "SIM_HOST": host, "PATH": os.environ["PATH"] + ":/usr/sbin"}
    with open(folder / "ibsim.log", "wb") as log:
        ibsim = subprocess.Popen(["ibsim", "-s", "-n", "-N", "4096", "-S", "512", "-P", "65536", net], env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=folder)
    try:
        for _ in range(300):
            if f"@{socket}:ctl" in pathlib.Path("/proc/net/unix").read_text(encoding="ascii"):
                break
            time.sleep(0.1)
        with open(result, "wb") as out:
            subprocess.run(["ibsim-run", "ibnetdiscover"], env=environment, stdout=out, stderr=subprocess.DEVNULL, check=True, timeout=300)
    finally:
        ibsim.kill()
        ibsim.wait()
    return result


def run(build, topology, groups, arguments, folder):
    """Result of one run, and whether all was as it should be."""
    file = folder / "result.json"
    file.unlink(missing_ok=True)
    command = [build / "bin/weft-sim", "switch", "--topology", topology, "--groups", groups, "--json", file, *arguments]
    started = time.monotonic()
    status = subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode
    if status not in (0, 1) or not file.exists():
        raise SystemExit(f"{' '.join(map(str, command))}: exit code {status}")
    return json.loads(file.read_text(encoding="utf-8")) | {"wall_seconds": time.monotonic() - started}


def rows(name, result):
    """One for each pass."""
    for number, each in enumerate(result["passes"]):
        first = [name, f"{result['switches']:,} × {result['block_ports']}", f"{result['hosts']:,}", f"{result['groups']:,} / {result['colors']}"] if number == 0 else [""] * 4
        flying = f"{each['updates_in_flight']:,} of {each['updates']:,}" if each["updates"] else ""
        yield [*first, each["pass"], f"{each['multicast_packets']:,}", f"{each['by_new_trees']:,}", f"{each['copies']:,}", f"{each['cut_off_copies']:,}", f"{each['foreign_copies']:,}",
               f"{each['unicast_packets']:,} of {each['pairs']:,}", f"{each['lost']:,}", f"{each['pairs_without_promise']:,}", f"{each['max_hops']} / {each['promised_hops']}", flying,
               f"{each['wrong']:,}", f"{each['lookups']:,}", f"{result['lookups_per_second'] / 1000:,.0f}" if number == 0 else ""]


def changes(cases, results):
    """How far new tables are others, of each case with an update."""
    yield "| fabric | images that differ | in unicast | trees that differ |"
    yield "|---|---:|---:|---:|"
    for (name, *_), result in zip(cases, results):
        if result["images_changed"]:
            yield (f"| {name} | {result['images_changed']:,} of {result['passes'][1]['updates']:,} | {result['unicast_images_changed']:,} | "
                   f"{result['trees_changed']:,} of {result['groups']:,} |")


def page(cases, results, threads):
    head = ("fabric", "switches × ports of a block", "hosts", "groups / colors", "pass", "multicast packets", "by new trees", "copies at members", "cut off", "copies at others", "unicast packets", "lost",
            "without promise", "hops / promised", "updates between lookups", "wrong", "lookups", "thousand lookups a second")
    lines = ["# Whole fabrics through Verilated lookup blocks", "",
             f"Written by `make switch-figures`: runs of `weft-sim switch` ({platform.machine()}, {os.cpu_count()} cores, {threads} thread{'s' if threads > 1 else ''}, beside whatever else the machine did). "
             "[What is sent and judged](../switch.md#a-whole-fabric). Every switch has a lookup block of its own (RTL by Verilator, assertions on), loaded by registers with the tables of the generators; each result "
             "is compared with the golden model. A packet from every member of every group, and for every pair of hosts (at most 10 million drawn at random, fewer where tables change on the larger fabrics). "
             "`cut off`: copies that old trees do not bring any more, as something on their way has died. `copies at others`: at hosts of groups that share a tree. `without promise`: pairs of a switch and a host of "
             "which the tables, or old and new ones mixed, may lose packets; `lost`: packets of these that were. `hops / promised`: the most of all packets with a promise; each is judged by its own pair's. "
             "`updates between lookups`: of switches that looked up packets of the pass before the new image came into use and after. `wrong`: packets that came not once to each that should have them, or to "
             "others, or after more links between switches than promised for their pair. Lookups a second: of all passes, each compared; with two threads they share the blocks. "
             f"The real cluster is `{REAL}` ({SOURCE}); hosts at port 65 are left out. The dump of ibsim is what ibnetdiscover writes of `{DUMPED}`.", "",
             f"| {' | '.join(head)} |", "|---" * 5 + "|---:" * 13 + "|"]
    for (name, *_), result in zip(cases, results):
        lines += [f"| {' | '.join(row)} |" for row in rows(name, result)]
    lines += ["", "New tables beside those before:", "", *changes(cases, results)]
    lines += ["", f"{'Nothing is wrong' if all(result['ok'] for result in results) else 'SOMETHING IS WRONG'}: {sum(result['lookups'] for result in results):,} lookups.", "", "Commands:", "", "```"]
    for _, topology, groups, arguments in cases:
        place = topology.replace(str(DATA), "tests/data/topology").replace("DUMP", "file:DUMP")
        lines.append(shlex.join(["weft-sim", "switch", "--topology", place, "--groups", groups, *arguments]))
    return "\n".join([*lines, "```", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("markdown", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--threads", type=int, default=2, help="that look up (default: %(default)s)")
    options = parser.parse_args()
    options.build = options.build.resolve()
    cases, results = QUICK if options.quick else CASES, []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        dumped = None if options.quick else f"file:{dump(options.build, folder)}"
        for title, topology, groups, arguments in cases:
            topology = dumped if topology == "DUMP" else topology
            results.append(run(options.build, topology, groups, (*arguments, "--threads", str(options.threads)), folder))
            print(f"{title}: {results[-1]['lookups']:,} lookups in {results[-1]['wall_seconds']:.0f} s, {'ok' if results[-1]['ok'] else 'WRONG'}", flush=True)
    files.write_whole(options.markdown, page(cases, results, options.threads))
    sys.exit(0 if all(result["ok"] for result in results) else 1)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Boots of the paper's machine and of larger ones, from runs of `weft boot`: docs/results/boot.md and docs/img/boot_*.svg. Exit code 1 if a number of the paper is not met, a plan is worse than
BCDA, a plan or a simulation is above its bound, a node that lives is left without the image, or something takes longer than it should; the page is then not written.

usage: experiments/boot.py WEFT [--quick] [--out FOLDER]
In the quick form few points, into FOLDER (build/figures if not given).
"""

import argparse
import collections
import json
import math
import os
import pathlib
import platform
import random
import subprocess
import sys
import tempfile

import files
import plot
import runs

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLOURS = {"scda": "#b2182b", "bcda": "#2166ac", "balanced": "#1b7837", "peers": "#762a83", "multicast": "#e08214", "bound": "#888888"}
MARKERS = {"scda": "s", "bcda": "o", "balanced": "^", "peers": "v", "multicast": "d", "bound": "x"}
ONE_BY_ONE, ALL = ("scda", "bcda", "balanced"), ("scda", "bcda", "balanced", "peers", "multicast")
# What the paper prints in its tables 1 to 3, and in its text, corrected where the text contradicts the tables: Mb/s a CPU and seconds of SCDA and of BCDA.
PAPER = {"cpus:1": ((1000, 0.4), (1000, 0.4)), "boards:1": ((125, 3.2), (125, 3.2)), "boards:10": ((12.5, 32), (125, 3.2)), "boards:20": ((6.25, 64), (125, 3.2)),
         "boards:21": ((5.95, 67.2), (119.05, 3.36)), "supernodes:1": ((3.91, 102.4), (78.13, 5.12)), "supernodes:5": ((3.91, 102.4), (78.13, 5.12)),
         "supernodes:10": ((3.91, 102.4), (62.5, 6.4)), "supernodes:20": ((3.91, 102.4), (31.25, 12.8)), "supernodes:40": ((3.91, 102.4), (15.63, 25.6)),
         "supernodes:80": ((3.91, 102.4), (7.81, 51.2)), "supernodes:160": ((3.91, 102.4), (3.91, 102.4))}
BOARDS = 5120
SMALL = ("2 × 4 boards × 2 CPUs, 4 servers", ("--supernodes", "2", "--boards", "4", "--cpus", "2", "--servers", "4", "--servers-per-edge", "2"))
SEEDS = 5
LARGE = 391  # supernodes of 256 CPUs: 100,096
PLANNED, PLAN_SECONDS, PLAN_MIB = 3907, 2, 1024  # 1,000,192 nodes
SIMULATION_SECONDS = 10
SLACK = 1e-9  # rounding


def half_up(value):
    """Hundredths as the paper rounds."""
    return math.floor(value * 100 + 0.5) / 100


def bound_seconds(run):
    """When all can have the image at the earliest."""
    return run["fraction_of_bound"] * run["boot_seconds"]


def exactly(value):
    return runs.Point(value, value, value, 1, 0)


def table(head, rows, left=1):
    marks = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [head, marks, *rows])


class Boots:
    def __init__(self, weft, folder):
        self.weft = weft
        self.folder = folder
        self.faults = []
        self.checked = collections.Counter()

    def run(self, *arguments):
        """{algorithm: result}"""
        return self.measure(*arguments)[0]

    def measure(self, *arguments):
        """({algorithm: result}, CPU seconds, MiB)"""
        file = self.folder / "result.json"
        process = subprocess.Popen([self.weft, "boot", *arguments, "--json", str(file)], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            raise SystemExit(f"weft boot {' '.join(arguments)}: failed")
        result = json.loads(file.read_text(encoding="utf-8"))
        found = {run["algorithm"]: run for run in result.get("runs", [result])}
        self.check(arguments, found)
        return found, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    def check(self, arguments, found):
        """Of every run: nobody is faster than the bound, neither planned nor simulated, and everyone who lives has the image."""
        for name, run in found.items():
            what = f"{' '.join(arguments)}: {name}"
            self.expect(run["fraction_of_bound"] <= 1 + SLACK, f"{what}: the plan is above its bound")
            for kind in ("simulated", "packets"):
                if kind not in run:
                    self.expect("--" + {"simulated": "simulate"}.get(kind, kind) not in arguments, f"{what}: not {kind}")
                    continue
                times = run[kind]
                self.expect(times["last_seconds"] >= bound_seconds(run) * (1 - SLACK), f"{what}, {kind}: {times['last_seconds']} s, the bound {bound_seconds(run)}")
                self.expect(times["without_image"] == 0, f"{what}, {kind}: {times['without_image']} nodes have no image")
                self.checked[kind] += 1
            self.checked["plans"] += 1
        if "bcda" in found:
            for name in set(found) - set(ONE_BY_ONE[:2]):
                self.expect(found[name]["boot_seconds"] <= found["bcda"]["boot_seconds"] * (1 + 1e-9), f"{' '.join(arguments)}: {name} is worse than bcda")

    def expect(self, true, fault):
        if not true:
            self.faults.append(fault)

    def write(self, name, text):
        file = self.folder / name
        file.write_text(text, encoding="utf-8")
        return str(file)


class Page:
    def __init__(self, boots, out, page_images, quick):
        self.boots = boots
        self.out = out
        self.page_images = page_images
        self.quick = quick
        self.sections = []

    def section(self, title, *parts):
        self.sections.append("\n\n".join([f"## {title}", *parts]))

    def figure(self, name, title, x_label, y_label, series, note):
        plot.lines(self.out / f"boot_{name}.svg", title, x_label, y_label, series, note, log_x=True, log_y=True)
        return f"![{title}]({self.page_images}/boot_{name}.svg)"

    def tables(self):
        """Tables 1 to 3."""
        rows = []
        for nodes, printed in PAPER.items():
            found = self.boots.run("--nodes", nodes, "--algorithm", "scda,bcda")
            for name, (mbps, seconds) in zip(("scda", "bcda"), printed):
                run = found[name]
                ours = half_up(run["min_mbps_per_cpu"]), half_up(run["boot_seconds"])
                self.boots.expect(ours == (mbps, seconds), f"{nodes}, {name}: {ours}, the paper has {(mbps, seconds)}")
                segments = [f"{half_up(each):g}" for each in run["segment_mbps_per_cpu"]]
                rows.append([nodes, name, *segments, f"**{ours[0]:g}**", f"**{ours[1]:g}**", run["limiting_segment"], "yes" if ours == (mbps, seconds) else "no"])
        self.section("The paper's tables 1 to 3", "Its machine: 160 supernodes of 32 boards of 8 CPUs, 160 servers, 50 MB. Mb/s a CPU in N1 to N5, their least, seconds until all have booted. Last column: the least and "
                     "the seconds are what the paper prints, to the digit.", table(("nodes", "algorithm", "N1", "N2", "N3", "N4", "N5", "least", "seconds", "limit", "as printed"), rows, 2))

    def counts(self, most):
        points = [1, 2, 5, 10, 20, 21, 32, 64, 160, 161, 320, 640, 1280, 2560, 5120, 10240]
        return [count for count in (points[::5] if self.quick else points) if count < most] + [most]

    def course(self, name, title, machine, most):
        """Boards that boot together, all algorithms."""
        counts = self.counts(most)
        found = [self.boots.run(*machine, "--nodes", f"boards:{count}", "--algorithm", ",".join(ALL)) for count in counts]
        series = {key: [[COLOURS[algorithm], MARKERS[algorithm], algorithm, [run[algorithm][key] for run in found]] for algorithm in ALL] for key in ("min_mbps_per_cpu", "boot_seconds")}
        bound = [run["balanced"]["bound_mbps_per_cpu"] for run in found]
        megabits = 400
        series["min_mbps_per_cpu"].append([COLOURS["bound"], MARKERS["bound"], "maximum flow", bound])
        series["boot_seconds"].append([COLOURS["bound"], MARKERS["bound"], "maximum flow", [megabits / each for each in bound]])
        note = "maximum flow: bound of those that fetch one by one from servers (scda, bcda, balanced). peers: chains of nodes, 64 KiB pieces; its Mb/s are those of each transfer. multicast: without losses."
        images = [self.figure(f"{name}_{key}", f"{title}: {label}", "boards of 8 CPUs that boot", label,
                              [(text, colour, marker, counts, [exactly(value) for value in values]) for colour, marker, text, values in series[key]], note)
                  for key, label in (("min_mbps_per_cpu", "least Mb/s a CPU"), ("boot_seconds", "seconds"))]
        rows = [[f"{8 * count:,}", *(f"{half_up(run[algorithm]['boot_seconds']):g}" for algorithm in ALL), f"{half_up(megabits / flow):g}", f"{100 * run['bcda']['fraction_of_bound']:.1f} %",
                 f"{100 * run['balanced']['fraction_of_bound']:.1f} %"] for count, run, flow in zip(counts, found, bound)]
        return [*images, "Seconds; the last two columns: how near to the maximum flow.", table(("CPUs", *ALL, "maximum flow", "bcda", "balanced"), rows, 0)]

    def paper_machine(self):
        self.section("All ways on the paper's machine", *self.course("paper", "160 supernodes, 160 servers", (), BOARDS))

    def large_machine(self):
        machine = ("--supernodes", str(LARGE), "--servers", str(LARGE))
        self.section(f"A machine of {256 * LARGE:,} CPUs", f"{LARGE} supernodes and as many servers, the rest as in the paper.", *self.course("large", f"{LARGE} supernodes, {LARGE} servers", machine, 32 * LARGE))

    def over_seeds(self, make):
        """{algorithm: (mean seconds, mean fraction of the bound)}; make: random stream -> arguments."""
        found = [self.boots.run(*make(random.Random(seed)), "--algorithm", ",".join(ONE_BY_ONE)) for seed in range(1, (2 if self.quick else SEEDS) + 1)]
        return {name: tuple(sum(run[name][key] for run in found) / len(found) for key in ("boot_seconds", "fraction_of_bound")) for name in ONE_BY_ONE}

    def adverse(self, title, words, cases):
        """cases: (name, make)"""
        rows = []
        for name, make in cases:
            found = self.over_seeds(make)
            rows.append([name, *(f"{found[each][0]:.2f}" for each in ONE_BY_ONE), *(f"{100 * found[each][1]:.1f} %" for each in ONE_BY_ONE), f"{found['bcda'][0] / found['balanced'][0]:.2f}"])
        head = ("", *(f"{name}, s" for name in ONE_BY_ONE), *(f"{name} of bound" for name in ONE_BY_ONE), "bcda / balanced")
        self.section(title, f"{words} Means over {2 if self.quick else SEEDS} seeds.", table(head, rows))

    def failed(self):
        def without(count):
            return lambda stream: ("--fail", ",".join(map(str, stream.sample(range(160), count))))

        self.adverse("Failed servers", "So many of 160, drawn at random; the whole machine boots.", [(f"{count} failed", without(count)) for count in (1, 5, 20, 40, 80)])

    def unequal(self):
        def machine(servers, **more):
            return ("--machine", self.boots.write("machine.json", json.dumps({"unequal_servers": servers, **more})))

        def faster(stream):
            return machine([{"number": server, "mbps": 10000} for server in stream.sample(range(160), 40)])

        def slow_disks(stream):
            return machine([{"number": server, "disk_mbps": 200} for server in stream.sample(range(160), 40)])

        def any_speed(stream):
            return machine([{"number": server, "mbps": stream.choice((100, 1000, 2500, 10000))} for server in range(160)])

        self.adverse("Unequal servers", "The whole machine boots.", [("40 of 160 with 10 Gb/s", faster), ("40 of 160 with disks of 200 Mb/s", slow_disks), ("each of 0.1, 1, 2.5 or 10 Gb/s", any_speed)])

    def partial(self):
        def boards(count):
            return lambda stream: ("--nodes", "file:" + self.boots.write("nodes", "".join(f"{8 * board + cpu}\n" for board in stream.sample(range(BOARDS), count) for cpu in range(8))))

        def cpus(count):
            return lambda stream: ("--nodes", "file:" + self.boots.write("nodes", "".join(f"{cpu}\n" for cpu in stream.sample(range(8 * BOARDS), count))))

        def every(stride):
            return lambda stream: ("--nodes", "file:" + self.boots.write("nodes", "".join(f"{8 * board + cpu}\n" for board in range(0, BOARDS, stride) for cpu in range(8))))

        self.adverse("Partial boots", "Nodes that are not side by side: boards or CPUs drawn at random, or one board in so many.",
                     [*((f"{count} boards", boards(count)) for count in (20, 160, 640, 2560)), *((f"{count} CPUs", cpus(count)) for count in (160, 1280, 10240)),
                      *((f"every {stride}th board", every(stride)) for stride in (10, 32, 160))])

    def simulated(self):
        nodes = ("--nodes", "supernodes:2" if self.quick else "all")
        rows = []

        def add(name, *arguments):
            for algorithm, run in self.boots.run(*nodes, "--simulate", *arguments).items():
                times = run["simulated"]
                rows.append([name, algorithm, f"{bound_seconds(run):.2f}", f"{run['boot_seconds']:.2f}", *(f"{times[key]:.2f}" for key in ("first_seconds", "median_seconds", "p99_seconds", "last_seconds"))])

        every = ",".join(ALL)
        add("all at once, no protocol", "--protocol", "none", "--algorithm", every)
        add("all at once, HTTP", "--algorithm", every)
        add("all at once, TFTP, a block a round trip of 1 ms", "--protocol", "tftp", "--round-trip-ms", "1", "--algorithm", ",".join(ONE_BY_ONE))
        add("the same, 16 blocks", "--protocol", "tftp", "--tftp-window", "16", "--round-trip-ms", "1", "--algorithm", ",".join(ONE_BY_ONE))
        add("within a minute, HTTP", "--begin-within", "60", "--algorithm", every)
        add("a server dies after 10 s, noticed after 5", "--kill", "3", "--kill-after", "10", "--algorithm", ",".join(ONE_BY_ONE))
        self.section("Simulated", f"{'The whole paper machine' if not self.quick else 'Two supernodes'} as flows that share links max-min fairly (chains: pieces; multicast waits until all have begun). Seconds: of the bound; of the plan; when the "
                     "first, the median, 99 % and the last node have their image.", table(("", "algorithm", "bound", "plan", "first", "median", "99 %", "last"), rows, 2))

    def packets(self):
        rows = []
        for name, machine in (SMALL, ("the paper's, one supernode boots", ("--nodes", "supernodes:1")),
                              ("the paper's, 10 supernodes boot", ("--nodes", "supernodes:10")))[:2 if self.quick else 3]:
            for algorithm, run in self.boots.run(*machine, "--image-size", "2MB", "--simulate", "--round-trip-ms", "0", "--packets", "--piece-size", "1448B", "--algorithm", ",".join(ALL)).items():
                flows, packets = (run[key]["last_seconds"] for key in ("simulated", "packets"))
                self.boots.expect(abs(packets / flows - 1) < 0.05, f"{name}, {algorithm}: {packets} s packet by packet, {flows} s as flows")
                rows.append([name, algorithm, f"{bound_seconds(run):.4f}", f"{run['boot_seconds']:.4f}", f"{flows:.4f}", f"{packets:.4f}", f"{100 * (packets / flows - 1):+.2f} %"])
        self.section("Packet by packet", "The same plans as packets of 1,448 bytes through queues on every link (`model/fabric`, first in, first out; 22 packets under way to each node; nodes of chains and switches of trees pass on each packet), an image of 2 MB: seconds until the last node has it. "
                     "Flows and packets carry headers, the plan does not.", table(("machine", "algorithm", "bound", "plan", "flows", "packets", "difference"), rows, 2))

    def deaths(self):
        rows = []
        for name, machine, kinds in ((*SMALL, ("simulated", "packets")), ("the paper's, all boot", (), ("simulated",)))[:1 if self.quick else 2]:
            for algorithm in ALL:
                calm = self.boots.run(*machine, "--simulate", "--algorithm", algorithm)[algorithm]
                last = calm["simulated"]["last_seconds"]
                sender = calm.get("senders", [{"server": 0}])[0]["server"]
                for what, who in (("server", ("--kill", str(sender))), ("node", ("--kill-node", "1")))[:2 if algorithm == "peers" else 1]:
                    run = self.boots.run(*machine, "--simulate", *(["--packets"] if "packets" in kinds else []), *who, "--kill-after", str(last / 2), "--notice-seconds", "1", "--algorithm", algorithm)[algorithm]
                    seconds = [f"{run[kind]['last_seconds']:.2f}" if kind in kinds else "" for kind in ("simulated", "packets")]
                    rows.append([name, algorithm, f"{what} {who[1]}", f"{bound_seconds(run):.2f}", f"{last:.2f}", f"{last / 2:.2f}", *seconds, run["simulated"]["begun_again"], f"{run['nodes'] - run['simulated']['died']:,}"])
        self.section("When a server or a node dies", "In the middle of the boot; who fetched from it notices that a second later and goes where the plan says: `scda`, `bcda`, `balanced` begin again at their backups, nodes of chains go on with the next "
                     "piece, of a multicast the sender's part comes from the planned servers. 50 MB, HTTP, all begin at once; seconds until the last node that lives has the image. A run fails if one has not.",
                     table(("machine", "algorithm", "dies", "bound", "undisturbed", "dies after", "flows", "packets", "went elsewhere", "have the image"), rows, 3))

    def lossy(self):
        rows = []
        for loss in ((0, 0.01) if self.quick else (0, 0.0001, 0.001, 0.01, 0.05)):
            for nodes in ("boards:1", "supernodes:4") + (() if self.quick else ("supernodes:160",)):
                run = self.boots.run("--nodes", nodes, "--algorithm", "multicast", "--simulate", "--loss", str(loss))["multicast"]
                rounds = run["simulated"]["rounds"]
                rows.append([f"{loss:g}", f"{run['nodes']:,}", len(rounds), f"{sum(rounds) / rounds[0]:.2f}", f"{run['simulated']['last_seconds']:.3f}", run["trees"]["trees"], run["trees"]["max_tree_height"]])
        self.section("Multicast with losses", "Each packet is lost on each of the links N1 to N5 with this probability; what anyone misses goes to all again. Sent: packets of all rounds in parts of the image's.",
                     table(("loss a link", "CPUs", "rounds", "sent", "seconds", "trees", "height"), rows, 0))

    def speed(self):
        rows = []

        def add(what, seconds, most_seconds, mib, most_mib):
            holds = seconds < most_seconds and (most_mib is None or mib < most_mib)
            self.boots.expect(holds, f"{what}: {seconds:.2f} s, {mib:.0f} MiB")
            rows.append([what, f"{seconds:.2f} s of {most_seconds} s", f"{mib:.0f} MiB" + (f" of {most_mib} MiB" if most_mib else ""), "yes" if holds else "no"])

        million = ("--supernodes", str(PLANNED), "--servers", str(PLANNED))
        for algorithm in ALL:
            _, seconds, mib = self.boots.measure(*million, "--algorithm", algorithm)
            add(f"plan {256 * PLANNED:,} nodes, {algorithm}", seconds, PLAN_SECONDS, mib, PLAN_MIB)
        _, seconds, mib = self.boots.measure(*million, "--algorithm", ",".join(ALL))
        add("all five in one run", seconds, len(ALL) * PLAN_SECONDS, mib, PLAN_MIB)
        for algorithm in ALL[:4]:
            _, seconds, mib = self.boots.measure("--simulate", "--begin-within", "60", "--algorithm", algorithm)
            add(f"simulate 40,960 nodes that begin within a minute, {algorithm}", seconds, SIMULATION_SECONDS, mib, None)
        _, seconds, mib = self.boots.measure("--simulate", "--loss", "0.01", "--algorithm", "multicast")
        add("simulate 40,960 nodes, multicast with 1 % loss a link", seconds, SIMULATION_SECONDS, mib, None)
        self.section("Speed", f"Processor time of whole runs of one thread, with other work on the machine ({platform.machine()}, {os.cpu_count()} cores), and peak of memory (that of the measuring program, if it has more), beside what is wanted.",
                     table(("", "time", "memory", "holds"), rows))

    def text(self):
        lines = ["# Booting the machine: results", "", "Written by `make boot-figures`: runs of `weft boot`. [What the words mean](../boot.md). A run fails, and leaves the page as it was, if a number of the paper is not met, a plan is worse than BCDA's, anybody "
                 f"is without the image, or a plan or a simulation beats its bound ({self.boots.checked['plans']} plans, {self.boots.checked['simulated']} simulations by flows and {self.boots.checked['packets']} packet by packet are compared "
                 "with it)."]
        if self.quick:
            lines += ["", "**Quick form: few points.**"]
        return "\n".join(lines) + "\n\n" + "\n\n".join(self.sections) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/figures")
    arguments = parser.parse_args()
    out, file = (arguments.out, arguments.out / "boot.md") if arguments.quick else (ROOT / "docs/img", ROOT / "docs/results/boot.md")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        boots = Boots(arguments.weft, pathlib.Path(folder))
        page = Page(boots, out, "." if arguments.quick else "../img", arguments.quick)
        for part in (page.tables, page.paper_machine, page.large_machine, page.failed, page.unequal, page.partial, page.simulated, page.packets, page.deaths, page.lossy, page.speed):
            part()
        if not boots.faults:
            files.write_whole(file, page.text())
    for fault in boots.faults:
        print(fault, file=sys.stderr)
    sys.exit(1 if boots.faults else 0)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""The paper's evaluation on the RTL: runs the experiments of experiments.py, draws the figures of docs/img/rdma_*.svg and writes docs/results/rdma.md.

Each point is the median of its seeds with an interval that holds the median with at least 95 % (order statistics). Engines run without the golden model beside
them (weft-sim rdma --bare), of which a test shows that it changes nothing; the bytes in memory are compared at the end of each run.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import bound
import experiments as e
import plot
import runs

ROOT = pathlib.Path(__file__).resolve().parent.parent


def faster(one, other):
    """Whether its median is the smaller one; what never finished is slower than all."""
    return one.median is not None and (other.median is None or one.median < other.median)


def number_of(point):
    return "–" if point.median is None else runs.number(point.median)


class Report:
    """Sections of the page, claims, and all numbers for machines."""

    def __init__(self, folder):
        self.folder = folder
        self.sections = []
        self.claims = []
        self.numbers = {}

    def claim(self, text, ours, agrees):
        self.claims.append((text, ours, "yes" if agrees else "no"))

    def table(self, title, words, head, rows, figure=None):
        lines = [f"## {title}", "", words, ""]
        if figure:
            lines += [f"![{title}](../img/{figure.name})", ""]
        lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
        self.sections.append("\n".join(lines))
        self.numbers[title] = [dict(zip(head, row)) for row in rows]

    def page(self, runner, quick):
        lines = ["# Paper 1's evaluation on the RTL", "",
                 f"Written by `make figures`. Every point: median of {runner.seeds} seeds, and in brackets an interval that holds the median with at least 95 % (order statistics). Times are clocks of "
                 "the engines from the first post to the last completion. Runs that did not finish, or ended with an error, are counted, not dropped: the median is of the others, and their share stands "
                 "beside it. Verilated engines (`weft-sim rdma --bare`), 256-bit links, one flit of 32 bytes a clock; a packet of 256 bytes takes 9 clocks.", ""]
        if quick:
            lines += ["**Quick form: few seeds and points.**", ""]
        lines += ["## What the paper claims, and what is found", "", "| claim | found | agrees |", "|---|---|---|"]
        lines += [f"| {claim} | {ours} | {agrees} |" for claim, ours, agrees in self.claims]
        return "\n".join(lines) + "\n\n" + "\n\n".join(self.sections) + "\n"


class Figures:
    def __init__(self, runner, report, quick):
        self.runner = runner
        self.report = report
        self.quick = quick
        self.best = {}  # (network, scheme): timeout

    def few(self, values):
        """In the quick form: the first, one in the middle, the last."""
        return values if not self.quick or len(values) < 4 else (values[0], values[len(values) // 2], values[-1])

    def image(self, name):
        return self.report.folder / f"rdma_{name}.svg"

    def timers(self):
        """Each scheme with several timers on each network, with and without loss; the one with the least median is taken from here on."""
        payloads = {"pair": e.PAYLOADS, "torus": e.PAYLOADS[:1]}
        cases = [(net, scheme, payload, per_mille) for net in e.NETWORKS for payload in payloads[net.name] for scheme in e.SCHEMES for per_mille in (0, e.LOSS_OF_SWEEP)]
        choices = {case: (*self.few(case[0].timeouts_for(case[2])), *(("measured",) if case[1].measures else ())) for case in cases}
        shown = [*self.few(e.PAIR.timeouts), "measured"]
        commands = {(case, timeout): e.transfer(case[0], case[1], timeout, 256, case[3], case[2]) for case in cases for timeout in choices[case]}
        self.runner.run(commands.values(), "timers")
        rows = []
        for case in cases:
            net, scheme, payload, per_mille = case
            points = {timeout: self.runner.point(commands[case, timeout]) for timeout in choices[case]}
            finished = {timeout: point for timeout, point in points.items() if point.median is not None}
            best = min(finished, key=lambda timeout: (finished[timeout].unfinished, finished[timeout].median), default=choices[case][-1])
            self.best[net.name, scheme.name, payload, per_mille != 0] = best
            rows.append([net.name, str(payload), str(per_mille), scheme.words, str(best), *(points[timeout].text if timeout in points else "" for timeout in shown)])
        words = "256 KiB. Timeouts in clocks, of receiver and sender alike (`RX_TIMEOUT`, `TX_RETRY`); *measured*: register `ADAPT`, which paper mode does not heed. Below, each scheme has the best of these for its network, payload, and " + \
            "for a network that loses packets or one that does not. Networks: " + "; ".join(f"*{net.name}*: {net.words}" for net in e.NETWORKS) + "."
        self.report.table("Timers", words, ["network", "payload", "loss, ‰", "scheme", "best", *(str(timeout) for timeout in shown)], rows)

    def timer(self, net, scheme, lossy, payload=256):
        return self.best[net.name, scheme.name, payload, lossy]

    def note(self, net, payload=256):
        timers = ", ".join(f"{s.name} {self.timer(net, s, True)} (without loss {self.timer(net, s, False)})" for s in e.SCHEMES)
        return f"{net.words}; payload {payload} bytes; timeouts: {timers}"

    def compare(self, title, name, net, xs, x_label, command, relative=False, **axes):
        """One line a scheme. Returns the points by scheme and x."""
        commands = {(scheme.name, x): command(scheme, x) for scheme in e.SCHEMES for x in xs}
        self.runner.run(commands.values(), name)
        points = {key: self.runner.point(arguments) for key, arguments in commands.items()}
        shown = {key: point.over(points[key[0], xs[0]]) if relative else point for key, point in points.items()}
        y_label = "times as long as without" if relative else "clocks"
        plot.lines(self.image(name), title, x_label, y_label, [(s.words, s.colour, s.marker, xs, [shown[s.name, x] for x in xs]) for s in e.SCHEMES], self.note(net), ticks=xs, **axes)
        rows = [[str(x), *(shown[scheme.name, x].text for scheme in e.SCHEMES)] for x in xs]
        self.report.table(title, self.note(net) + ".", [x_label, *(scheme.words for scheme in e.SCHEMES)], rows, self.image(name))
        return points

    def sizes(self):
        net = e.TORUS
        for per_mille, name in ((0, "sizes"), (e.LOSS_OF_SIZES, "sizes_loss")):
            title = "Latency without loss" if not per_mille else f"Latency with {per_mille} ‰ of loss"
            points = self.compare(title, name, net, self.few(e.SIZES), "KiB", lambda scheme, kib, p=per_mille: e.transfer(net, scheme, self.timer(net, scheme, p != 0), kib, p), log_x=True, log_y=bool(per_mille))
            sizes = self.few(e.SIZES)
            if not per_mille:
                worst = max(points["weft", kib].median / points["rxcounter", kib].median for kib in sizes)
                self.report.claim("without loss, receiver window within 5 % of receiver counter", f"at most {worst:.3f} times as long (weft mode)", worst <= 1.05)
                least = min(points["txwindow", kib].median / points[s.name, kib].median for kib in sizes for s in (e.WEFT, e.COUNTER))
                self.report.claim("without loss, both faster than sender window", f"sender window at least {least:.3f} times as long", least > 1)
            else:
                fastest = all(faster(points["weft", kib], points[s.name, kib]) for kib in sizes for s in e.OLDER)
                self.report.claim("with loss, receiver window fastest at every size", f"{per_mille} ‰, weft mode: {'at every size' if fastest else 'not at every size'}", fastest)

    def losses(self):
        net = e.PAIR
        rates = self.few(e.LOSSES)
        points = self.compare("256 KiB against loss", "loss", net, rates, "packets lost, ‰", lambda scheme, p: e.transfer(net, scheme, self.timer(net, scheme, p != 0), 256, p), relative=True, log_y=True)
        slower = {(s.name, p): points[s.name, p].over(points[s.name, 0]) for s in e.SCHEMES for p in rates if p}
        fastest = all(faster(points["weft", p], points[s.name, p]) and faster(slower["weft", p], slower[s.name, p]) for p in rates if p for s in e.OLDER)
        largest = all(faster(slower["txwindow", p], slower["rxcounter", p]) for p in rates if p)
        found = "; ".join(f"{s.words} " + ", ".join(number_of(slower[s.name, p]) for p in rates if p) for s in e.SCHEMES)
        self.report.claim("with loss, receiver window fastest at every rate; its slow-down the smallest, the counter's the largest",
                          f"times as long as without loss, at {', '.join(str(p) for p in rates if p)} ‰: {found}", fastest and largest)

    def payloads(self):
        net, per_mille = e.PAIR, e.LOSS_OF_PAYLOADS
        commands = {(s.name, size, p): e.transfer(net, s, self.timer(net, s, p != 0, size), 256, p, size) for s in e.SCHEMES for size in e.PAYLOADS for p in (0, per_mille)}
        self.runner.run(commands.values(), "payloads")
        rows = []
        for size in e.PAYLOADS:
            cells = [self.runner.point(commands[s.name, size, per_mille]).over(self.runner.point(commands[s.name, size, 0])).text for s in e.SCHEMES]
            rows.append([str(size), str(256 * e.KIB // size), *cells])
        words = f"256 KiB with {per_mille} ‰ of packets lost, times as long as without loss. Whoever repeats whole transfers of N packets needs (1 − p)^−N attempts. {net.words}; timeouts as in the table of timers."
        self.report.table("Payload", words, ["payload, bytes", "packets", *(s.words for s in e.SCHEMES)], rows)

    def reorder(self):
        for held in e.HELD:
            for scheme in (e.PAPER, e.WEFT):
                self.reorder_of(scheme, held)

    def reorder_of(self, scheme, held):
        degrees, windows = self.few(e.DEGREES), self.few(e.WINDOWS)
        commands = {(window, degree): e.reordered(scheme, window, degree, held) for window in windows for degree in degrees}
        self.runner.run(commands.values(), f"reorder, {scheme.name} mode, {held:g} on detours")
        # What the network does, seen by the receiver that sees most of it.
        gaps = {degree: round(self.runner.point(commands[windows[-1], degree], "largest_gap").median or 0) for degree in degrees}
        share = {(window, degree): self.throughput(commands[window, degree], commands[window, 0]) for window in windows for degree in degrees}
        colours = ("#9ecae1", "#6baed6", "#3182bd", "#08519c")
        series = [(f"window {window}", colours[index % 4], "osd^"[index % 4], [gaps[d] for d in degrees], [share[window, d] for d in degrees]) for index, window in enumerate(windows)]
        name = f"reorder_{scheme.name}_{'often' if held > 0.05 else 'seldom'}"
        title = f"Throughput against reordering, {scheme.name} mode, {held * 100:g} % of packets on detours"
        note = f"1 MiB each way; 100 clocks from node to node, {held * 100:g} % of packets take up to as much longer as so many others need on the link; a round trip of the others is 200 clocks, and 145 in engines and memory; packets of 256 bytes; timeouts from the network{', measured' if scheme.measures else ''}"
        plot.lines(self.image(name), title, "reorder degree: largest gap of PIDX between packets that arrive one after the other", "of that without reordering", series, note)
        rows = [[str(degree), str(gaps[degree]), *(share[window, degree].text for window in windows)] for degree in degrees]
        self.report.table(title, note + ". *Degree*: the largest gap of PIDX between two packets of a transfer that arrive one after the other (median, largest window).",
                          ["detour of up to, packets", "degree", *(f"window {window}" for window in windows)], rows, self.image(name))
        near = min(degrees, key=lambda degree: abs(gaps[degree] - 64))
        for window, paper in ((32, 0.70), (64, 0.95)):
            if (window, near) not in share or share[window, near].median is None:
                continue
            found = share[window, near].median
            most = bound.share(window, near, held, round(e.ROUND_TRIP_OF_REORDERED / e.clocks_of_a_packet(256)))
            words = f"{found:.1%} at degree {gaps[near]}, {held * 100:g} % of packets on detours; bound of all that sends nothing twice: {most:.1%}"
            if scheme is e.PAPER:
                self.report.claim(f"reorder degree 64, window {window}: near {paper:.0%} of ideal (paper mode)", words, abs(found - paper) <= 0.05)
            else:
                self.report.claim(f"reorder degree 64, window {window}: at least 95 % (weft mode, ours)", words, found >= 0.95)

    def throughput(self, command, ideal):
        """Of that of another command's median."""
        clocks = self.runner.point(ideal).median
        return runs.summary([clocks / each["cycles"] for each in self.runner.results_of(command) if each["ok"] and clocks], self.runner.seeds)

    def reorder_by_payload(self):
        """What a window holds of a round trip depends on how long a packet is."""
        held, schemes, windows = e.HELD[-1], (e.PAPER, e.WEFT), (32, 64)
        commands = {(payload, scheme.name, window, degree): e.reordered(scheme, window, degree, held, payload)
                    for payload in e.PAYLOADS for scheme in schemes for window in windows for degree in (0, e.DEGREE_OF_PAYLOADS)}
        self.runner.run(commands.values(), "reorder, by payload")
        rows = []
        for payload in e.PAYLOADS:
            round_trip = round(e.ROUND_TRIP_OF_REORDERED / e.clocks_of_a_packet(payload))
            cells = [self.throughput(commands[payload, s.name, w, e.DEGREE_OF_PAYLOADS], commands[payload, s.name, w, 0]) for s in schemes for w in windows]
            gap = self.runner.point(commands[payload, e.WEFT.name, 64, e.DEGREE_OF_PAYLOADS], "largest_gap")
            bounds = [f"{bound.share(window, e.DEGREE_OF_PAYLOADS, held, round_trip):.1%}" for window in windows]
            rows.append([str(payload), str(round_trip), number_of(gap), *(cell.text for cell in cells), *bounds])
            if payload != e.PAYLOADS[0] and all(cell.median is not None for cell in cells[2:]):
                ours = ", ".join(f"{cell.median:.1%}" for cell in cells[2:])
                self.report.claim(f"(ours) reorder degree 64, packets of {payload:,} bytes: at least 95 % with windows of 32 and 64 (weft mode)", ours, min(cell.median for cell in cells[2:]) >= 0.95)
        words = f"4,096 packets each way, of that without reordering; {held * 100:g} % of packets take up to {e.DEGREE_OF_PAYLOADS} packets longer; 100 clocks from node to node. *Bound*: of all that sends nothing twice. " + \
            "With small packets more of them fit into a round trip, and a window is full before its sender can hear that it has moved."
        self.report.table("Reordering, by payload", words, ["payload, bytes", "round trip, packets", "degree", *(f"{s.name}, window {w}" for s in schemes for w in windows), *(f"bound, window {w}" for w in windows)], rows)

    def yardstick(self):
        self.runner.run([e.yardstick(p) for p in e.LOSSES], "yardstick")
        ideal = self.runner.point(e.yardstick(0))
        rows, met = [], True
        for p, best in zip(e.LOSSES[1:], e.YARDSTICK):
            point = self.runner.point(e.yardstick(p)).over(ideal)
            ok = point.median is not None and point.median <= best
            met = met and ok
            rows.append([str(p), f"{best:.3f}", point.text, "yes" if ok else "no"])
        words = "256 KiB in packets of 1 KiB over a link of 256 bits a clock (100 Gb/s at 391 MHz), 300 clocks from node to node (a round trip of 600, and about 145 in engines and memory), relative to the case without loss; weft mode, timeouts measured. Beside it the best that published " + \
            "simulators of Ultra Ethernet's selective acknowledgement reach; 1.4 to 2.2 where only a timer repairs."
        self.report.table("A modern yardstick", words, ["loss, ‰", "best published", "here", "at or below"], rows)
        self.report.claim("(ours) completion at 1–5 ‰ at or below the best published selective acknowledgement", ", ".join(row[2].split(" ")[0] for row in rows), met)

    def crowds(self):
        commands = {(s.name, senders): e.incast(s, senders) for s in e.SCHEMES for senders in (8, 32)} | {(s.name, "many"): e.many(s) for s in (e.SCHEMES[:2] if self.quick else e.SCHEMES)}
        self.runner.run(commands.values(), "crowds")
        rows = []
        for what, words in ((8, "8 senders into one receiver, 64 KiB each"), (32, "32 senders"), ("many", "10,048 transfers of 1 KiB at once, 64 nodes of a torus, any to any")):
            cells = []
            for s in e.SCHEMES:
                cells.append(self.runner.point(commands[s.name, what]).text if (s.name, what) in commands else "")
            rows.append([words, *cells])
        self.report.table("Crowds", "1 ‰ of packets lost, 100 clocks from node to node (torus: 20, links of 1 clock), timeouts from the network, measured but in paper mode. Clocks until all have completed, " + f"{e.LONGEST_INCAST:,} at the most; of the transfers at once {e.LONGEST_MANY:,}.",
                          ["", *(s.words for s in e.SCHEMES)], rows)

    def cuts(self):
        net = e.PAIR
        untils = (None, 4000, 12000)
        timers = {s.name: "measured" if s is e.WEFT else 1200 for s in e.SCHEMES}
        commands = {(s.name, until): e.cut(net, s, timers[s.name], until) for s in e.SCHEMES for until in untils}
        self.runner.run(commands.values(), "cuts")
        rows = [["never" if until is None else f"2,000 to {until:,}", *(self.runner.point(commands[s.name, until]).text for s in e.SCHEMES)] for until in untils]
        words = "256 KiB each way; the way from node 0 to node 1 is cut meanwhile, clocks after the first post. Timeouts: weft mode as measured; the others, which do not back off, 1,200 clocks, 15 of which outlast the cut. "
        self.report.table("A link cut and healed", words + net.words + ".", ["cut", *(s.words for s in e.SCHEMES)], rows)

    EXPERIMENTS = ("sizes", "losses", "payloads", "reorder", "reorder_by_payload", "yardstick", "crowds", "cuts")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "build" / "bin" / "weft-sim-experiments"), help="weft-sim (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=20, help="of each point (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="3 seeds, few points, into build/figures instead of docs")
    parser.add_argument("--only", choices=Figures.EXPERIMENTS, help="this experiment (and the timers); leaves docs alone")
    args = parser.parse_args()
    draft = args.quick or args.only is not None
    folder = ROOT / "build" / "figures" if draft else ROOT / "docs" / "img"
    folder.mkdir(parents=True, exist_ok=True)
    runner = runs.Runner(args.program, args.jobs, 3 if args.quick else args.seeds, ROOT / "build" / "figures" / "runs")
    report = Report(folder)
    figures = Figures(runner, report, args.quick)
    try:
        figures.timers()
        for name in Figures.EXPERIMENTS:
            if args.only in (None, name):
                print(f"figures: {name}", flush=True)
                getattr(figures, name)()
    except (runs.RunError, OSError, subprocess.SubprocessError) as error:
        sys.exit(f"figures: {error}")
    page = ROOT / "build" / "figures" / "rdma.md" if draft else ROOT / "docs" / "results" / "rdma.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    plot.write_file(page, report.page(runner, args.quick))
    (ROOT / "build" / "figures").mkdir(parents=True, exist_ok=True)
    plot.write_file(ROOT / "build" / "figures" / "rdma.json", json.dumps({"claims": report.claims, **report.numbers}, indent=2) + "\n")
    print(f"figures: {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()

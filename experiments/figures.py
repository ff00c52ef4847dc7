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
import files
import plot
import runs

ROOT = pathlib.Path(__file__).resolve().parent.parent


def faster(one, other):
    """Whether its median is the smaller one; what never finished is slower than all."""
    return one.median is not None and (other.median is None or one.median < other.median)


def before(others, one):
    """Words for those of the schemes that complete before one does; `others` and `one` with their points."""
    return [scheme.words for scheme, point in others if faster(point, one)]


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
                 "Three schemes for transfers over a network that loses packets: the *receiver window* of Wang et al. (2015) in its two modes, as printed and as [weft](../rdma.md) has it, and [two older ones](../rdma_baseline.md), the *receiver counter*, "
                 "which sends a whole transfer again, and the *sender window*, which keeps packets until each is answered. Each is an engine of its own as RTL; here they run over the same networks, each with the timeout that suits it best at one size, rate and degree, which the tables of timeouts say. All delays are drawn uniformly.", "",
                 f"Written by `make figures`. Every point: median of {runner.seeds} seeds (of timeouts that are tried: {min(runner.seeds, e.SEEDS_OF_SWEEPS)}), and in brackets an interval that holds the median with at least 95 % (order statistics). Times are clocks of "
                 "the engines from the first post to the last completion. A run that did not finish, or ended with an error, counts as longer than all others: "
                 "there is no median if they are half of all, and the interval is open (∞) if one of its ends is such a run. Verilated engines (`weft-sim rdma --bare`), 256-bit links, one flit of 32 bytes a clock; a packet of 256 bytes takes 9 clocks.", ""]
        if quick:
            lines += [f"**Quick form: few points, and {runner.seeds} seeds, of which the interval is the range.**", ""]
        lines += ["## What the paper claims, and what is found", "", "| claim | found | agrees |", "|---|---|---|"]
        lines += [f"| {claim} | {ours} | {agrees} |" for claim, ours, agrees in self.claims]
        return "\n".join(lines) + "\n\n" + "\n\n".join(self.sections) + "\n"


class Figures:
    def __init__(self, runner, report, quick):
        self.runner = runner
        self.report = report
        self.quick = quick
        self.best = {}  # (network, scheme, payload, whether packets are lost): timeout
        self.sweep_seeds = min(runner.seeds, e.SEEDS_OF_SWEEPS)

    def few(self, values):
        """In the quick form: the first, one in the middle, the last."""
        return values if not self.quick or len(values) < 4 else (values[0], values[len(values) // 2], values[-1])

    def first(self, count, values):
        """In the quick form no more than these: what comes behind takes longer."""
        return values[:count] if self.quick else values

    def image(self, name):
        return self.report.folder / f"rdma_{name}.svg"

    def timers(self):
        """Each scheme with several timers on each network, with and without loss; the one with the least median is taken from here on."""
        payloads = {"pair": e.PAYLOADS, "torus": e.PAYLOADS[:1]}
        cases = [(net, scheme, payload, per_mille) for net in e.NETWORKS for payload in payloads[net.name] for scheme in e.SCHEMES for per_mille in (0, e.LOSS_OF_SWEEP)]
        choices = {case: (*self.few(case[0].timeouts_for(case[2])), *(("measured",) if case[1].measures else ())) for case in cases}
        shown = [*sorted({timeout for each in choices.values() for timeout in each if timeout != "measured"}), "measured"]
        kib = self.first(2, e.SIZES)[-1]
        commands = {(case, timeout): e.transfer(case[0], case[1], timeout, kib, case[3], case[2]) for case in cases for timeout in choices[case]}
        self.runner.run(commands.values(), "timers", self.sweep_seeds)
        rows = []
        for case in cases:
            net, scheme, payload, per_mille = case
            points = {timeout: self.swept_point(commands[case, timeout]) for timeout in choices[case]}
            finished = {timeout: point for timeout, point in points.items() if point.median is not None}
            best = min(finished, key=lambda timeout: (finished[timeout].unfinished, finished[timeout].median), default=choices[case][-1])
            self.best[net.name, scheme.name, payload, per_mille != 0] = best
            rows.append([net.name, str(payload), str(per_mille), scheme.words, str(best), *(points[timeout].text if timeout in points else "" for timeout in shown)])
        words = f"{kib} KiB, {self.sweep_seeds} seeds each. Timeouts in clocks, of receiver and sender alike (`RX_TIMEOUT`, `TX_RETRY`); *measured*: register `ADAPT`, which paper mode does not heed. The least ones, 75 and 150, are shorter than a round trip: where they are the best, packets are sent twice for nothing, and that costs less than to wait. Below, each scheme has the best of these for its network, payload, and " + \
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
            points = self.compare(title, name, net, self.first(2, e.SIZES), "KiB", lambda scheme, kib, p=per_mille: e.transfer(net, scheme, self.timer(net, scheme, p != 0), kib, p), log_x=True, log_y=bool(per_mille))
            sizes = self.first(2, e.SIZES)
            if not per_mille:
                worst = max(points["weft", kib].median / points["rxcounter", kib].median for kib in sizes)
                self.report.claim("without loss, receiver window within 5 % of receiver counter (packets of 256 bytes)", f"at most {worst:.3f} times as long (weft mode)", worst <= 1.05)
                least = min(points["txwindow", kib].median / points[s.name, kib].median for kib in sizes for s in (e.WEFT, e.COUNTER))
                self.report.claim("without loss, both faster than sender window", f"sender window at least {least:.3f} times as long", least > 1)
            else:
                for mode in e.MODES:
                    behind = [f"{kib} KiB" for kib in sizes if not all(faster(points[mode.name, kib], points[s.name, kib]) for s in e.OLDER)]
                    self.report.claim(f"with loss, receiver window fastest at every size ({mode.name} mode, packets of 256 bytes)", f"{per_mille} ‰: " + (f"not with {', '.join(behind)}" if behind else "at every size"), not behind)

    def losses(self):
        net = e.PAIR
        rates = self.first(3, e.LOSSES)
        points = self.compare("256 KiB against loss", "loss", net, rates, "packets lost, ‰", lambda scheme, p: e.transfer(net, scheme, self.timer(net, scheme, p != 0), 256, p), relative=True, log_y=True)
        slower = {(s.name, p): points[s.name, p].over(points[s.name, 0]) for s in e.SCHEMES for p in rates if p}
        lossy = [p for p in rates if p]
        for mode in e.MODES:
            behind = [str(p) for p in lossy if not all(faster(points[mode.name, p], points[s.name, p]) for s in e.OLDER)]
            steeper = [str(p) for p in lossy if not all(faster(slower[mode.name, p], slower[s.name, p]) for s in e.OLDER)]
            found = ", ".join(number_of(slower[mode.name, p]) for p in lossy)
            self.report.claim(f"with loss, receiver window fastest at every rate, and slowed down the least ({mode.name} mode, packets of 256 bytes)",
                              f"times as long as without loss, at {', '.join(str(p) for p in lossy)} ‰: {found}" + (f"; not the fastest at {', '.join(behind)} ‰" if behind else "") +
                              (f"; slowed down more than another at {', '.join(steeper)} ‰" if steeper else ""), not behind and not steeper)
        largest = all(faster(slower["txwindow", p], slower["rxcounter", p]) for p in lossy)
        found = "; ".join(f"{s.words} " + ", ".join(number_of(slower[s.name, p]) for p in lossy) for s in e.OLDER)
        self.report.claim("with loss, the counter is slowed down the most", found, largest)

    def order_known(self):
        """What it is worth to know that a network keeps order, and what a timer is worth then."""
        rates = self.first(3, e.LOSSES)
        kinds = [(packets, timeout) for packets in e.AHEAD for timeout in (self.timer(e.PAIR, e.WEFT, True), "measured")]
        commands = {(kind, p): (*e.transfer(e.PAIR, e.WEFT, kind[1], 256, p), *e.ahead(kind[0])) for kind in kinds for p in rates}
        self.runner.run(commands.values(), "order known or not")
        rows = []
        for p in rates:
            points = [self.runner.point(commands[kind, p]) for kind in kinds]
            rows.append([str(p), *(cell for point in points for cell in (point.text, point.tail))])
        heads = [f"RX_AHEAD {packets}, timeout {timeout}" for packets, timeout in kinds]
        words = "256 KiB in weft mode, clocks. *RX_AHEAD*: by how many packets one may overtake another before one counts as lost. A network with one way for each pair keeps order, so that 1 is right, and `weft-sim` sets it: also in all other " + \
            f"tables with the network *pair*. Where packets take several ways (adaptive routing, spraying) it is 0: nobody knows, and only timers tell of a loss. {e.PAIR.words}."
        self.report.table("If order is not known", words, ["packets lost, ‰", *(cell for head in heads for cell in (head, "mean, largest"))], rows)

    def payloads(self):
        net, per_mille = e.PAIR, e.LOSS_OF_PAYLOADS
        commands = {(s.name, size, p): e.transfer(net, s, self.timer(net, s, p != 0, size), 256, p, size) for s in e.SCHEMES for size in e.PAYLOADS for p in (0, per_mille)}
        self.runner.run(commands.values(), "payloads")
        rows, series = [], {s.name: [] for s in e.SCHEMES}
        for size in e.PAYLOADS:
            clocks = {s.name: self.runner.point(commands[s.name, size, per_mille]) for s in e.SCHEMES}
            points = [clocks[s.name].over(self.runner.point(commands[s.name, size, 0])) for s in e.SCHEMES]
            for scheme, point in zip(e.SCHEMES, points):
                series[scheme.name].append(point)
            for mode in e.MODES:
                behind = [s.words for s in e.OLDER if not faster(clocks[mode.name], clocks[s.name])]
                found = "; ".join(f"{s.words} {number_of(clocks[s.name])}" for s in (mode, *e.OLDER))
                self.report.claim(f"with {per_mille} ‰ of loss, receiver window fastest with packets of {size:,} bytes ({mode.name} mode)", f"clocks: {found}", not behind)
            unhurt = (1 - per_mille / 1000) ** (2 * 256 * e.KIB // size)
            rows.append([str(size), str(256 * e.KIB // size), f"{unhurt:.0%}", *(cell for point in points for cell in (point.text, point.tail))])
        words = f"256 KiB each way with {per_mille} ‰ of packets lost, times as long as the median without loss. *No loss*: share of runs that lose no packet of data, so that a median says little; mean and largest stand beside it. Whoever repeats whole transfers of N packets needs (1 − p)^−N attempts. {net.words}; timeouts as in the table of timers."
        note = f"256 KiB each way, {net.words}; timeouts: " + "; ".join(f"{size} bytes " + ", ".join(f"{s.name} {self.timer(net, s, True, size)}" for s in e.SCHEMES) for size in e.PAYLOADS)
        plot.lines(self.image("payload"), f"256 KiB with {per_mille} ‰ of loss, by payload", "payload, bytes", "times as long as without", [(s.words, s.colour, s.marker, e.PAYLOADS, series[s.name]) for s in e.SCHEMES], note, log_x=True, ticks=e.PAYLOADS)
        self.report.table("Payload", words, ["payload, bytes", "packets", "no loss", *(cell for s in e.SCHEMES for cell in (s.words, "mean, largest"))], rows, self.image("payload"))

    def timers_of_reordered(self, schemes, helds, windows, payload):
        """The best timeout at a detour of 64 packets, and the table that shows it: by scheme, share of packets on detours, window."""
        timeouts = (*self.few(e.TIMEOUTS_OF_REORDERED[payload]), "network")
        cases = [(s, held, window) for held in helds for s in schemes for window in windows]
        commands = {(s.name, held, window): {t: e.reordered(s, window, e.DEGREE_OF_REORDERED, held, t, payload) for t in timeouts} for s, held, window in cases}
        ideals = {(s.name, held, window): e.reordered(s, window, 0, held, "network", payload) for s, held, window in cases}
        self.runner.run(ideals.values(), f"no reordering, {payload} bytes")
        best = {case: timeout for case, (_, timeout) in self.swept(commands, f"timers of reordering, {payload} bytes").items()}
        rows = [[str(payload), s.words, f"{held * 100:g}", str(window), str(best[s.name, held, window]),
                 *(self.swept_point(commands[s.name, held, window][t]).rate(self.runner.point(ideals[s.name, held, window]).median).text for t in timeouts)] for s, held, window in cases]
        return best, ["payload, bytes", "scheme", "on detours, %", "window", "best", *(str(t) for t in timeouts)], rows

    def reorder(self):
        best, head, rows = self.timers_of_reordered((e.PAPER, e.WEFT), e.HELD, self.first(2, e.WINDOWS), 256)
        for held in e.HELD:
            for scheme in (e.PAPER, e.WEFT):
                self.reorder_of(scheme, held, {window: timeout for (name, share, window), timeout in best.items() if (name, share) == (scheme.name, held)})
        words = f"Throughput with detours of up to {e.DEGREE_OF_REORDERED} packets, {self.sweep_seeds} seeds each, of that without reordering and with timeouts from the network (*network*; in weft mode they are measured). The least are far shorter than a round trip of {e.ROUND_TRIP_OF_REORDERED} clocks: what is late " + \
            "is asked for before it could have come, and the second copy often overtakes the first. That costs packets that come twice."
        self.report.table("Timeouts of reordering", words, head, rows)

    def reorder_of(self, scheme, held, timeouts):
        """Timeouts by window."""
        degrees, windows = self.few(e.DEGREES), list(timeouts)
        commands = {(window, degree): e.reordered(scheme, window, degree, held, timeouts[window]) for window in windows for degree in degrees}
        ideals = {window: e.reordered(scheme, window, 0, held) for window in windows}
        self.runner.run([*commands.values(), *ideals.values()], f"reorder, {scheme.name} mode, {held:g} on detours")
        # What the network does, seen by the receiver that sees most of it.
        gaps = {degree: round(self.runner.point(commands[windows[-1], degree], "largest_gap").median or 0) for degree in degrees}
        share = {(window, degree): self.throughput(commands[window, degree], ideals[window]) for window in windows for degree in degrees}
        colours = ("#9ecae1", "#6baed6", "#3182bd", "#08519c")
        series = [(f"window {window}", colours[index % 4], "osd^"[index % 4], [gaps[d] for d in degrees], [share[window, d] for d in degrees]) for index, window in enumerate(windows)]
        name = f"reorder_{scheme.name}_{'often' if held > 0.05 else 'seldom'}"
        title = f"Throughput against reordering, {scheme.name} mode, {held * 100:g} % of packets on detours"
        note = f"1 MiB each way; 100 clocks from node to node, {held * 100:g} % of packets take up to as much longer as so many others need on the link, each length as likely; a round trip of the others is 200 clocks, and 145 in engines and memory; packets of 256 bytes; best timeouts at a detour of {e.DEGREE_OF_REORDERED} packets: " + \
            ", ".join(f"window {window} {timeout}" for window, timeout in timeouts.items())
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
            words = f"{found:.1%} at degree {gaps[near]}"
            if scheme is e.PAPER:
                self.report.claim(f"reorder degree 64, window {window}, {held * 100:g} % of packets on detours: near {paper:.0%} of ideal (paper mode)", words, abs(found - paper) <= 0.05)
            else:
                self.report.claim(f"reorder degree 64, window {window}, {held * 100:g} % of packets on detours: at least 95 % (weft mode, ours)", f"{words}; who stops at the end of the window and sends nothing twice could have, estimated: {most:.1%}", found >= 0.95)

    def throughput(self, command, ideal):
        """Of that of another command's median."""
        return self.runner.point(command).rate(self.runner.point(ideal).median)

    def reorder_by_payload(self):
        """What a window holds of a round trip depends on how long a packet is."""
        held, schemes, windows = e.HELD[-1], (e.PAPER, e.WEFT), (32, 64)
        rows, sweeps = [], []
        for payload in self.first(2, e.PAYLOADS):
            best, head, sweep = self.timers_of_reordered(schemes, (held,), windows, payload)
            sweeps += [[*row[:5], ", ".join(f"{t}: {cell}" for t, cell in zip(head[5:], row[5:]))] for row in sweep]
            chosen = {(s.name, window): e.reordered(s, window, e.DEGREE_OF_REORDERED, held, best[s.name, held, window], payload) for s in schemes for window in windows}
            round_trip = round(e.ROUND_TRIP_OF_REORDERED / e.clocks_of_a_packet(payload))
            cells = {key: self.throughput(command, e.reordered(next(s for s in schemes if s.name == key[0]), key[1], 0, held, "network", payload)) for key, command in chosen.items()}
            gap = self.runner.point(chosen[e.WEFT.name, 64], "largest_gap")
            bounds = [f"{bound.share(window, e.DEGREE_OF_REORDERED, held, round_trip):.1%}" for window in windows]
            rows.append([str(payload), str(round_trip), number_of(gap), *(f"{cell.text}; {best[key[0], held, key[1]]}" for key, cell in cells.items()), *bounds])
            ours = [cells[e.WEFT.name, window].median for window in windows]
            if payload != e.PAYLOADS[0] and None not in ours:
                self.report.claim(f"(ours) reorder degree 64, packets of {payload:,} bytes: at least 95 % with windows of 32 and 64 (weft mode)", ", ".join(f"{value:.1%}" for value in ours), min(ours) >= 0.95)
        words = f"4,096 packets each way, of that without reordering; {held * 100:g} % of packets take up to {e.DEGREE_OF_REORDERED} packets longer; 100 clocks from node to node. Behind each share stands its timeout, the best of those below. *Bound*: of a sender that stops at the end of the window, as in weft mode, and sends nothing twice, estimated: mean of 20 draws of detours. In paper mode it does not stop, and may have more. " + \
            "With small packets more of them fit into a round trip, and a window is full before its sender can hear that it has moved."
        self.report.table("Reordering, by payload", words, ["payload, bytes", "round trip, packets", "degree", *(f"{s.name}, window {w}" for s in schemes for w in windows), *(f"bound, window {w}" for w in windows)], rows)
        self.report.table("Timeouts of reordering, by payload", "As above.", ["payload, bytes", "scheme", "on detours, %", "window", "best", "by timeout"], sweeps)

    def yardstick(self):
        rates = self.first(3, e.LOSSES)
        timeouts = self.few(e.timers_of(e.WEFT, e.TIMEOUTS_OF_YARDSTICK))
        self.runner.run([e.yardstick(p, packets, t) for packets in e.AHEAD for p in rates for t in timeouts], "yardstick")
        titles = dict(zip(e.AHEAD, ("order kept", "order not known")))
        relative = {(packets, t, p): self.runner.point(e.yardstick(p, packets, t)).over(self.runner.point(e.yardstick(0, packets, "measured"))) for packets in e.AHEAD for t in timeouts for p in rates}
        best = {packets: min(timeouts, key=lambda t, packets=packets: (relative[packets, t, rates[-1]].median is None, relative[packets, t, rates[-1]].median or 0)) for packets in e.AHEAD}
        lossy = [(p, e.YARDSTICK[e.LOSSES.index(p) - 1]) for p in rates[1:]]
        rows = [[str(p), f"{most:.3f}", f"{(1 - p / 1000) ** 512:.0%}", *(cell for packets in e.AHEAD for cell in (relative[packets, best[packets], p].text, relative[packets, best[packets], p].tail))] for p, most in lossy]
        note = "256 KiB each way in packets of 1 KiB over a link of 256 bits a clock (100 Gb/s at 391 MHz), 300 clocks from node to node (a round trip of 600, and about 145 in engines and memory), relative to the median without loss and with timeouts measured; weft mode; timeouts: " + \
            ", ".join(f"{titles[packets]} {best[packets]}" for packets in e.AHEAD)
        words = note + ", those of the table below that do best at the highest loss. Beside it the best that published " + \
            "simulators of Ultra Ethernet's selective acknowledgement reach; 1.4 to 2.2 where only a timer repairs. *No loss*: share of runs that lose no packet of data. *Order kept*: `RX_AHEAD` is 1, as this network allows; *not known*: it is 0, as where packets are sprayed."
        series = [("best published selective acknowledgement", "#666666", "^", rates, [runs.exactly(1.0), *(runs.exactly(most) for _, most in lossy)])]
        series += [(f"weft mode, {titles[packets]}", colour, marker, rates, [relative[packets, best[packets], p] for p in rates]) for packets, colour, marker in zip(e.AHEAD, ("#1f6fb4", "#d95f02"), "os")]
        plot.lines(self.image("yardstick"), "256 KiB beside Ultra Ethernet's selective acknowledgement", "packets lost, ‰", "times as long as without", series, note, ticks=rates)
        self.report.table("A modern yardstick", words, ["loss, ‰", "best published", "no loss", "order kept", "mean, largest", "not known", "mean, largest"], rows, self.image("yardstick"))
        self.report.table("Timeouts of the yardstick", "The sweep that they are from, at the highest loss; 775 is just more than a round trip, less than that costs packets that come twice.", ["timeout", *titles.values()],
                          [[str(t), *(relative[packets, t, rates[-1]].text for packets in e.AHEAD)] for t in timeouts])
        for packets, timeout, title in [*((packets, best[packets], title) for packets, title in titles.items()), (0, "measured", "order not known, timeouts as measured")]:
            points = [relative[packets, timeout, p] for p, _ in lossy]
            for field in ("median", "mean"):
                values = [getattr(point, field) for point in points]
                met = all(value is not None and value <= most for value, (_, most) in zip(values, lossy))
                self.report.claim(f"(ours) completion at {', '.join(str(p) for p, _ in lossy)} ‰ at or below the best published selective acknowledgement, {field}, {title}", ", ".join("–" if value is None else runs.number(value) for value in values), met)

    def swept_point(self, command):
        return self.runner.point(command, seeds=self.sweep_seeds)

    def swept(self, sweeps, what):
        """Of sweeps, by case: commands by timeout. The timeout of the least median of few seeds, with its point of all seeds."""
        self.runner.run([command for sweep in sweeps.values() for command in sweep.values()], what, self.sweep_seeds)

        def best(sweep):
            points = {timeout: self.swept_point(command) for timeout, command in sweep.items()}
            return min(points, key=lambda each: (points[each].median is None, points[each].median or 0))

        chosen = {case: best(sweep) for case, sweep in sweeps.items()}
        self.runner.run([sweeps[case][timeout] for case, timeout in chosen.items()], f"{what}, the best")
        return {case: (self.runner.point(sweeps[case][timeout]), timeout) for case, timeout in chosen.items()}

    def crowds(self):
        sizes = self.first(1, list(e.TIMEOUTS_OF_INCAST))
        timeouts = {**{size: e.TIMEOUTS_OF_INCAST[size] for size in sizes}, "many": self.first(1, e.TIMEOUTS_OF_MANY)}
        schemes = {what: self.first(1, e.SCHEMES) if what == "many" else e.SCHEMES for what in timeouts}
        commands = {(s.name, what): {t: e.many(s, t) if what == "many" else e.incast(s, what, t) for t in self.few(e.timers_of(s, timeouts[what]))} for what in timeouts for s in schemes[what]}
        found = self.swept(commands, "crowds")
        rows, sweep_rows, panels, chosen = [], [], [], []
        titles = {8: "8 senders into one receiver, 64 KiB each", 32: "32 senders", "many": "10,048 transfers of 1 KiB at once, 64 nodes of a torus, any to any"}
        for what in timeouts:
            words = titles[what]
            best = {s.name: found[s.name, what] for s in schemes[what]}
            rows.append([words, *(f"{best[s.name][0].text}; {best[s.name][1]}" if s.name in best else "" for s in e.SCHEMES)])
            panels.append((words, [""], [(s.words, s.colour, [best[s.name][0].median if s.name in best else None]) for s in e.SCHEMES]))
            chosen.append(f"{words}: " + ", ".join(f"{name} {timeout}" for name, (_, timeout) in best.items()))
            for timeout in (*timeouts[what], "measured"):
                sweep_rows.append([words if timeout == timeouts[what][0] else "", str(timeout), *(self.swept_point(commands[s.name, what][timeout]).text if timeout in commands.get((s.name, what), {}) else "" for s in e.SCHEMES)])
            sooner = before([(s, best[s.name][0]) for s in schemes[what][1:]], best["weft"][0])
            self.report.claim(f"(ours) {words}: no scheme completes before weft mode", f"later than {'; '.join(sooner)}" if sooner else "none", not sooner)
        words = "1 ‰ of packets lost, 100 clocks from node to node (torus: 20, links of 1 clock). Clocks until all have completed, " + f"{e.LONGEST_INCAST:,} at the most; of the transfers at once {e.LONGEST_MANY:,}. "
        plot.bars(self.image("crowds"), "Many at once", "clocks", panels, f"{words}Median; no bar: less than half of the runs finished, or not run. Payload 256 bytes. Timeouts: {'; '.join(chosen)}")
        self.report.table("Crowds", words + "Each scheme with its best timeout, which stands behind its clocks.", ["", *(s.words for s in e.SCHEMES)], rows, self.image("crowds"))
        self.report.table("Timeouts of crowds", f"The sweep that they are from, {self.sweep_seeds} seeds each; paper mode does not measure.", ["", "timeout", *(s.words for s in e.SCHEMES)], sweep_rows)

    def cuts(self):
        networks = self.first(1, e.NETWORKS)
        cases = [(net, until) for net in networks for until in (None, 4000, 12000)]
        commands = {(net.name, s.name, until): {t: e.cut(net, s, t, until) for t in self.few(e.timers_of(s, e.TIMEOUTS_OF_CUT[net.name]))} for s in e.SCHEMES for net, until in cases}
        found = self.swept(commands, "cuts")
        rows, panels, chosen = [], [], []
        for net, until in cases:
            best = {s.name: found[net.name, s.name, until] for s in e.SCHEMES}
            title = f"{net.name}, " + ("no cut" if until is None else f"cut from 2,000 to {until:,}")
            panels.append((title, [""], [(s.words, s.colour, [best[s.name][0].median]) for s in e.SCHEMES]))
            chosen.append(f"{title}: " + ", ".join(f"{name} {timeout}" for name, (_, timeout) in best.items()))
            rows.append([net.name, "never" if until is None else f"2,000 to {until:,}", *(f"{best[s.name][0].text}; {best[s.name][1]}" for s in e.SCHEMES)])
            if until:
                sooner = before([(s, best[s.name][0]) for s in e.SCHEMES[1:]], best["weft"][0])
                self.report.claim(f"(ours) a link cut for {until - 2000:,} clocks ({net.name}): no scheme completes before weft mode", f"later than {'; '.join(sooner)}" if sooner else "none", not sooner)
        tried = "; ".join(f"{net.name} {', '.join(str(t) for t in e.TIMEOUTS_OF_CUT[net.name])}" for net in networks)
        words = f"256 KiB each way; the link from node 0 to node 1 is cut in that direction meanwhile, clocks after the first post. Each scheme with the best of these timeouts, which stands behind its clocks: {tried}; and, but for paper mode, measured. " + \
            "After 15 timeouts without an answer a transfer ends with an error: 600 clocks do not outlast the longer cut, unless they back off as in weft mode. " + \
            "Why weft mode is later, as its traces show: its sender stops at the end of the window, all of which is lost; so nothing comes from which the receiver could see a gap. Its timeouts, doubled meanwhile, ask for the first missing packet only, one after the other, until the window moves and a new packet shows that all before it are missing. "
        where = "; ".join(f"*{net.name}*: {net.words}" for net in networks)
        plot.bars(self.image("cuts"), "A link cut and healed", "clocks", panels, f"256 KiB each way, payload 256 bytes; {where}. Median; no bar: less than half of the runs finished. Timeouts: {'; '.join(chosen)}")
        tries = [[name, scheme.words, "never" if until is None else f"2,000 to {until:,}", ", ".join(f"{t}: {self.swept_point(command).text}" for t, command in commands[name, scheme.name, until].items())]
                 for name, until in ((net.name, until) for net, until in cases) for scheme in e.SCHEMES]
        self.report.table("A link cut and healed", words + where + ".", ["network", "cut", *(s.words for s in e.SCHEMES)], rows, self.image("cuts"))
        self.report.table("Timeouts of cuts", f"The sweep that they are from, {self.sweep_seeds} seeds each. When a timeout happens to end beside the end of the cut decides much.", ["network", "scheme", "cut", "by timeout"], tries)

    EXPERIMENTS = ("sizes", "losses", "order_known", "payloads", "reorder", "reorder_by_payload", "yardstick", "crowds", "cuts")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "build" / "bin" / "weft-sim-experiments"), help="weft-sim (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=e.SEEDS, help="of each point (default: %(default)s); fewer leave docs alone")
    parser.add_argument("--quick", action="store_true", help="3 seeds, few points, into build/figures instead of docs")
    parser.add_argument("--only", choices=Figures.EXPERIMENTS, help="this experiment (and the timers); leaves docs alone")
    args = parser.parse_args()
    if args.seeds < 1 or args.jobs < 1 or not pathlib.Path(args.program).is_file():
        parser.error(f"--seeds and --jobs are at least 1, and there must be a program {args.program}")
    draft = args.quick or args.only is not None or args.seeds < e.SEEDS
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
    files.write_whole(page, report.page(runner, args.quick))
    (ROOT / "build" / "figures").mkdir(parents=True, exist_ok=True)
    files.write_whole(ROOT / "build" / "figures" / "rdma.json", json.dumps({"claims": report.claims, **report.numbers}, indent=2) + "\n")
    print(f"figures: {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""The paper's evaluation on the RTL: runs the experiments of experiments.py, draws the figures of docs/img/rdma_*.svg and writes docs/results/rdma.md.

Each point is the median of its seeds with an interval that holds the median with at least 95 % (order statistics). Engines run without the golden model beside
them (weft-sim rdma --bare): engines.py runs each of them with it first. The bytes in memory are compared at the end of each run.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import bound
import claims
import engines
import evaluation_page
import experiments as e
import files
import plot
import runs
import scheme_costs
import sweeps

ROOT = pathlib.Path(__file__).resolve().parent.parent


def number_of(point):
    return "–" if point.median is None else runs.number(point.median)


def share_of(point):
    """In percent, with its interval."""
    return "–" if point.median is None else f"{point.median:.1%} ({point.low:.1%}–{point.high:.1%})"


def beside(one, others):
    """Answer to whether a point is below others, and words for who is not above it; `others`: schemes with their points."""
    answers = [(scheme.words, claims.less(one, point)) for scheme, point in others]
    words = [f"{name} as fast" if answer == "open" else f"later than {name}" for name, answer in answers if answer != "yes"]
    return claims.worst(answer for _, answer in answers), words


def not_met(answers):
    """Words for what is open or not met; answers by what they are of."""
    words = [f"{text} at {', '.join(str(x) for x, answer in answers.items() if answer == wanted)}" for wanted, text in (("open", "open"), ("no", "not")) if wanted in answers.values()]
    return "; ".join(words)


class Figures:
    TIMERS = "Timeouts of transfers"

    def __init__(self, runner, report, quick, sweep_seeds=e.SEEDS_OF_SWEEPS):
        self.runner = runner
        self.report = report
        self.quick = quick
        self.sweep_seeds = sweep_seeds
        self.of_transfers = {}  # (network, scheme, payload, packets lost in per mille): timeout
        self.losses = self.first(3, e.LOSSES)

    def few(self, values):
        """In the quick form: the first, one in the middle, the last."""
        return values if not self.quick or len(values) < 4 else (values[0], values[len(values) // 2], values[-1])

    def first(self, count, values):
        """In the quick form no more than these: what comes behind takes longer."""
        return values[:count] if self.quick else values

    def image(self, name):
        return self.report.folder / f"rdma_{name}.svg"

    def sweep(self, commands, what, seeds=None):
        """Of commands by case and timeout: sweeps by case. The best ones run with the seeds of points, too."""
        seeds = seeds or self.sweep_seeds
        self.runner.run([command for by_timeout in commands.values() for command in by_timeout.values()], what, seeds)
        found = {case: sweeps.Sweep({timeout: self.runner.point(command, seeds=seeds) for timeout, command in by_timeout.items()}) for case, by_timeout in commands.items()}
        self.runner.run([commands[case][sweep.best] for case, sweep in found.items()], f"{what}, the best")
        return found

    # Timeouts of transfers

    def kib(self, net):
        """Of the transfers by which timeouts are chosen, and which are shown against loss."""
        return e.SIZES[-1] if not self.quick or net is e.PAIR else e.SIZES[1]

    def timers(self):
        """Each scheme with several timeouts on each network, by payload and loss."""
        cases = [(net, 256, per_mille) for net in e.NETWORKS for per_mille in self.losses]
        cases += [(e.PAIR, payload, per_mille) for payload in e.PAYLOADS[1:] for per_mille in (0, e.LOSS_OF_PAYLOADS)]
        commands = {(net, scheme, payload, p): {t: e.transfer(net, scheme, t, self.kib(net), p, payload) for t in self.few(e.timeouts_of_transfer(net, scheme, p, payload))}
                    for net, payload, p in cases for scheme in e.SCHEMES if e.swept_loss(net, scheme, p) == p}
        found = self.sweep(commands, "timers")
        self.of_transfers = {(net.name, scheme.name, payload, p): sweep.best for (net, scheme, payload, p), sweep in found.items()}
        rows = [[net.name, str(payload), str(p), scheme.words, sweep.listing()] for (net, scheme, payload, p), sweep in found.items()]
        words = f"{e.SIZES[-1]} KiB, {len(self.sweep_seeds)} seeds each. Timeouts in clocks, of receiver and sender alike (`RX_TIMEOUT`, `TX_RETRY`); *measured*: register `ADAPT`, which paper mode does not heed. The least ones, 75 to 200, are shorter than most round trips: where they are the best, packets are sent twice for nothing, and that costs less than to wait. " + \
            "Above, each scheme has the best of these for its network, payload and rate of loss. The receiver counter's runs take minutes where much is lost: with more than is here it has the timeout of the most. Networks: " + "; ".join(f"*{net.name}*: {net.words}" for net in e.NETWORKS) + "."
        experiment, self.report.experiment = self.report.experiment, None  # of several
        self.report.table(self.TIMERS, words, ["network", "payload", "lost, ‰", "scheme", "by timeout"], rows)
        self.report.experiment = experiment

    @property
    def best(self):
        """Timeouts of transfers, swept when the first is asked for."""
        if not self.of_transfers:
            self.timers()
        return self.of_transfers

    def timer(self, net, scheme, per_mille, payload=256):
        return self.best[net.name, scheme.name, payload, e.swept_loss(net, scheme, per_mille) if payload == 256 else per_mille]

    def note(self, net, rates, payload=256):
        timeouts = "; ".join(f"{scheme.name} {', '.join(str(self.timer(net, scheme, p, payload)) for p in rates)}" for scheme in e.SCHEMES)
        return f"{net.words}; payload {payload} bytes; timeouts" + (f" at {', '.join(str(p) for p in rates)} ‰" if len(rates) > 1 else "") + f": {timeouts}"

    def compare(self, title, name, note, commands, xs, x_label, relative=False, columns=None, **axes):
        """One line a scheme, of commands by scheme and x; relative: drawn as times as long as at the first x, which stands behind the clocks. columns: more of them, by x. Returns the points by scheme and x."""
        self.runner.run(commands.values(), name)
        points = {key: self.runner.point(arguments) for key, arguments in commands.items()}
        shown = {key: point.over(points[key[0], xs[0]]) if relative else point for key, point in points.items()}
        cells = {key: point.text + (f"; {number_of(shown[key])}" if relative else "") for key, point in points.items()}
        y_label = "times as long as without" if relative else "clocks"
        plot.lines(self.image(name), title, x_label, y_label, [(s.words, s.colour, s.marker, xs, [shown[s.name, x] for x in xs]) for s in e.SCHEMES], note, ticks=xs, **axes)
        more = columns or {}
        rows = [[str(x), *(cells[scheme.name, x] for scheme in e.SCHEMES), *(of_x(x) for of_x in more.values())] for x in xs]
        self.report.table(title, note + (". Clocks; times as long as without." if relative else "."), [x_label, *(scheme.words for scheme in e.SCHEMES), *more], rows, self.image(name))
        return points

    # Experiments

    def sizes(self):
        net, sizes = e.TORUS, self.first(2, e.SIZES)
        for per_mille, name in ((0, "sizes"), (e.LOSS_OF_SIZES, "sizes_loss")):
            title = "Latency without loss" if not per_mille else f"Latency with {per_mille} ‰ of loss"
            commands = {(scheme.name, kib): e.transfer(net, scheme, self.timer(net, scheme, per_mille), kib, per_mille) for scheme in e.SCHEMES for kib in sizes}
            points = self.compare(title, name, self.note(net, (per_mille,)), commands, sizes, "KiB", log_x=True, log_y=bool(per_mille))
            if not per_mille:
                for mode in e.MODES:
                    ratios = {kib: points[mode.name, kib].over(points["rxcounter", kib]) for kib in sizes}
                    found = "times as long: " + ", ".join(f"{kib} KiB {ratio.text}, mean {runs.number(ratio.mean) if ratio.mean else '–'}" for kib, ratio in ratios.items())
                    self.report.claim(f"without loss, receiver window within 5 % of receiver counter ({mode.name} mode, packets of 256 bytes)", found, claims.worst(claims.at_most(ratio, 1.05) for ratio in ratios.values()))
                least = min(points["txwindow", kib].median / points[s.name, kib].median for kib in sizes for s in (e.WEFT, e.COUNTER))
                answer = claims.worst(claims.less(points[s.name, kib], points["txwindow", kib]) for kib in sizes for s in (e.WEFT, e.COUNTER))
                self.report.claim("without loss, both faster than sender window", f"sender window at least {least:.3f} times as long", answer)
            else:
                for mode in e.MODES:
                    answers = {f"{kib} KiB": beside(points[mode.name, kib], [(s, points[s.name, kib]) for s in e.OLDER])[0] for kib in sizes}
                    self.report.claim(f"with {per_mille} ‰ of loss, receiver window fastest at every size ({mode.name} mode, packets of 256 bytes)", not_met(answers) or "at every size", claims.worst(answers.values()))

    def loss(self):
        for net in e.NETWORKS:
            points = self.loss_on(net)
            if net is e.PAIR:
                self.costs(points)

    def loss_on(self, net):
        rates, kib = self.losses, self.kib(net)
        commands = {(scheme.name, p): e.transfer(net, scheme, self.timer(net, scheme, p), kib, p) for scheme in e.SCHEMES for p in rates}
        packets = kib * e.KIB // 256
        note = self.note(net, rates) + (f"; the receiver counter's runs are cut off at {e.LONGEST_COUNTER_ON_TORUS:,} clocks from {e.MOST_LOSS_OF_COUNTER_ON_TORUS + 1} ‰ on, which is less than it needs with {e.MOST_LOSS_OF_COUNTER_ON_TORUS} ‰: whether it would finish is not known" if net is e.TORUS else "")
        points = self.compare(f"{e.SIZES[-1]} KiB against loss, {net.name}", f"loss_{net.name}", note, commands, rates, "packets lost, ‰", relative=True, log_y=True,
                              columns={"packets sent again: " + ", ".join(s.words for s in e.SCHEMES): lambda p: ", ".join(number_of(self.runner.point(commands[s.name, p], "packets_resent")) for s in e.SCHEMES), f"(1 − p)^−{packets:,}, the attempts that whoever repeats the whole transfer needs, mean": lambda p: runs.number((1 - p / 1000) ** -packets)})
        slower = {(s.name, p): points[s.name, p].over(points[s.name, 0]) for s in e.SCHEMES for p in rates}
        lossy = rates[1:]
        at = f"at {', '.join(str(p) for p in lossy)} ‰"
        for mode in e.MODES:
            for what, of in (("fastest at every rate", points), ("slowed down the least", slower)):
                answers = {f"{p} ‰": beside(of[mode.name, p], [(s, of[s.name, p]) for s in e.OLDER])[0] for p in lossy}
                found = ("clocks" if of is points else "times as long as without loss") + f", {at}: {', '.join(number_of(of[mode.name, p]) for p in lossy)}"
                told = ", told that order is kept" if net is e.PAIR and mode is e.WEFT else ""
                self.report.claim(f"with loss, receiver window {what} ({net.name}, {mode.name} mode{told}, packets of 256 bytes)", "; ".join(filter(None, (found, not_met(answers)))), claims.worst(answers.values()))
        if net is e.TORUS:
            self.claim_of_measured(lossy, kib, points)
        finishing = [p for p in lossy if net is e.PAIR or p <= e.MOST_LOSS_OF_COUNTER_ON_TORUS]  # else its runs are cut off
        answer = claims.worst(claims.less(slower["txwindow", p], slower["rxcounter", p]) for p in finishing)
        found = f"at {', '.join(str(p) for p in finishing)} ‰: " + "; ".join(f"{s.words} " + ", ".join(number_of(slower[s.name, p]) for p in finishing) for s in e.OLDER)
        self.report.claim(f"with loss, the counter is slowed down the most ({net.name})", found, answer)
        return points

    def claim_of_measured(self, lossy, kib, points):
        """Of weft mode as it is if nobody sets its timeouts, on a network whose order nobody knows; points of the others, as they are at their best."""
        measured = {p: e.transfer(e.TORUS, e.WEFT, "measured", kib, p) for p in lossy}
        self.runner.run(measured.values(), "timeouts as measured")
        clocks = {p: self.runner.point(command) for p, command in measured.items()}
        answers = {f"{p} ‰": beside(clocks[p], [(s, points[s.name, p]) for s in e.OLDER])[0] for p in lossy}
        found = f"clocks, at {', '.join(str(p) for p in lossy)} ‰: {', '.join(number_of(point) for point in clocks.values())}"
        self.report.claim("with loss, timeouts as measured, receiver window before the older schemes at their best at every rate (torus, weft mode, packets of 256 bytes)", "; ".join(filter(None, (found, not_met(answers)))), claims.worst(answers.values()))

    def costs(self, points):
        """What the clocks of these points, by scheme's name and loss, are in time and in area."""
        areas = scheme_costs.read()
        shown = (self.losses[0], *self.losses[1::2])
        window = areas["receiver window"]
        rows = []
        for scheme in e.SCHEMES:
            cost = window if scheme in e.MODES else areas[scheme.words]
            row = [scheme.words, f"{cost.nand2:,}", f"{cost.ram_bits:,}", f"{cost.mhz}"]
            for p in shown:
                clocks, of_weft = points[scheme.name, p].median, points[e.WEFT.name, p].median
                row.append("–" if clocks is None else f"{cost.microseconds(clocks):,.1f}; {runs.number(cost.area_time(clocks) / window.area_time(of_weft))}")
            rows.append(row)
        words = f"the medians above at the fastest clock that [each engine](schemes.md) has with RAMs and without wires, OSU 0.18 µm, with {scheme_costs.CONTEXTS:,} contexts on each side, microseconds, as if links and network had the same clock; behind them gates times microseconds, of weft mode 1. Gates are NAND2 of the logic of both halves, RAMs beside them."
        self.report.table(f"Area and time, {e.PAIR.name}", words, ["scheme", "NAND2", "RAM bits", "MHz", *(f"{p} ‰" for p in shown)], rows)

    def order_known(self):
        """What it is worth to know that a network keeps order, and what a timer is worth then."""
        tried = self.few(e.timeouts_of_transfer(e.PAIR, e.WEFT, 1, 256))
        unknown = {p: {t: (*e.transfer(e.PAIR, e.WEFT, t, 256, p), *e.ahead(0)) for t in tried} for p in self.losses}
        found = self.sweep(unknown, "order not known")
        known = {p: e.transfer(e.PAIR, e.WEFT, self.timer(e.PAIR, e.WEFT, p), 256, p) for p in self.losses}
        measured = {p: e.transfer(e.PAIR, e.WEFT, "measured", 256, p) for p in self.losses}
        columns = {"known": known, "known, measured": measured, "not known": {p: unknown[p][found[p].best] for p in self.losses}, "not known, measured": {p: unknown[p]["measured"] for p in self.losses}}
        self.runner.run([command for commands in columns.values() for command in commands.values()], "order known or not")
        self.claim_of_order(columns)
        rows = []
        for p in self.losses:
            points = {head: self.runner.point(commands[p]) for head, commands in columns.items()}
            rows.append([str(p), *(cell for point in points.values() for cell in (point.text, point.tail)), found[p].listing(number_of)])
        words = "256 KiB in weft mode, clocks, with the best timeout (of *known* in the table of transfers) and with timeouts as measured. *Known*: `RX_AHEAD` (by how many packets one may overtake another before one counts as lost) is 1. A network with one way for each pair keeps order, so that this is right, and `weft-sim` sets it: also in all other " + \
            f"tables with the network *pair*. *Not known*: it is 0. Where packets take several ways (adaptive routing, spraying) nobody knows, and only timers tell of a loss. Network: {e.PAIR.words}."
        self.report.table("If order is not known", words, ["packets lost, ‰", *(cell for head in columns for cell in (head, "mean, largest")), f"not known, by timeout (medians of {len(self.sweep_seeds)} seeds)"], rows)

    def claim_of_order(self, columns):
        """The older schemes, as built, make no use of it that order is known: so how weft mode stands without, beside them."""
        lossy = self.losses[1:]
        older = {(s.name, p): e.transfer(e.PAIR, s, self.timer(e.PAIR, s, p), 256, p) for s in e.OLDER for p in lossy}
        self.runner.run(older.values(), "older schemes beside it")
        for head, words in (("not known", "best timeouts"), ("not known, measured", "timeouts as measured")):
            points = {p: self.runner.point(columns[head][p]) for p in lossy}
            answers = {f"{p} ‰": beside(points[p], [(s, self.runner.point(older[s.name, p])) for s in e.OLDER])[0] for p in lossy}
            found = f"clocks, at {', '.join(str(p) for p in lossy)} ‰: {', '.join(number_of(point) for point in points.values())}"
            self.report.claim(f"with loss, order not known, {words}: receiver window before the older schemes at every rate (pair, weft mode, packets of 256 bytes)", "; ".join(filter(None, (found, not_met(answers)))), claims.worst(answers.values()))

    def payloads(self):
        net, per_mille = e.PAIR, e.LOSS_OF_PAYLOADS
        commands = {(s.name, size, p): e.transfer(net, s, self.timer(net, s, p, size), 256, p, size) for s in e.SCHEMES for size in e.PAYLOADS for p in (0, per_mille)}
        self.runner.run(commands.values(), "payloads")
        rows, series = [], {s.name: [] for s in e.SCHEMES}
        for size in e.PAYLOADS:
            clocks = {s.name: self.runner.point(commands[s.name, size, per_mille]) for s in e.SCHEMES}
            points = [clocks[s.name].over(self.runner.point(commands[s.name, size, 0])) for s in e.SCHEMES]
            for scheme, point in zip(e.SCHEMES, points):
                series[scheme.name].append(point)
            for mode in e.MODES:
                answer, words = beside(clocks[mode.name], [(s, clocks[s.name]) for s in e.OLDER])
                found = "; ".join([*(f"{s.words} {number_of(clocks[s.name])}" for s in (mode, *e.OLDER)), *words])
                self.report.claim(f"with {per_mille} ‰ of loss, receiver window fastest with packets of {size:,} bytes ({mode.name} mode)", f"clocks: {found}", answer)
            packets = 256 * e.KIB // size
            rows.append([str(size), str(packets), f"{(1 - per_mille / 1000) ** (2 * packets):.0%}", runs.number((1 - per_mille / 1000) ** -packets), *(cell for point in points for cell in (point.text, point.tail))])
        words = f"256 KiB each way with {per_mille} ‰ of packets lost, times as long as the median without loss. *No loss*: share of runs that lose no packet of data, so that a median says little; mean and largest stand beside it. *Attempts*: whoever repeats whole transfers of N packets needs (1 − p)^−N, mean; a run is over when both transfers are. Network: {net.words}; timeouts as in the table of transfers."
        note = f"256 KiB each way, {net.words}; timeouts: " + "; ".join(f"{size} bytes " + ", ".join(f"{s.name} {self.timer(net, s, per_mille, size)}" for s in e.SCHEMES) for size in e.PAYLOADS)
        plot.lines(self.image("payload"), f"256 KiB with {per_mille} ‰ of loss, by payload", "payload, bytes", "times as long as without", [(s.words, s.colour, s.marker, e.PAYLOADS, series[s.name]) for s in e.SCHEMES], note, log_x=True, ticks=e.PAYLOADS)
        self.report.table("Payload", words, ["payload, bytes", "packets", "no loss", "attempts", *(cell for s in e.SCHEMES for cell in (s.words, "mean, largest"))], rows, self.image("payload"))

    def sweep_of_reordered(self, helds, windows, payload):
        """At a detour of 64 packets, of both modes: sweeps, commands and points without reordering by mode, share of packets on detours and window."""
        cases = [(s, held, window) for held in helds for s in e.MODES for window in windows]
        timeouts = {s: [*(t for some in e.timeouts_of_reordered(s, payload) for t in self.few(some)), "network"] for s in e.MODES}
        commands = {(s, held, window): {t: e.reordered(s, window, e.DEGREE_OF_REORDERED, held, t, payload) for t in timeouts[s]} for s, held, window in cases}
        ideals = {(s, held, window): e.reordered(s, window, 0, held, "network", payload) for s, held, window in cases}
        self.runner.run(ideals.values(), f"no reordering, {payload} bytes")
        found = self.sweep(commands, f"timers of reordering, {payload} bytes")
        return found, commands, {case: self.runner.point(command) for case, command in ideals.items()}

    def reorder(self):
        found, _, ideals = self.sweep_of_reordered(e.HELD, self.first(2, e.WINDOWS), 256)
        for held in e.HELD:
            for mode in e.MODES:
                self.reorder_of(mode, held, {case[2]: (sweep.best, ideals[case]) for case, sweep in found.items() if case[:2] == (mode, held)}, self.full_link(ideals))
        words = f"Throughput with detours of up to {e.DEGREE_OF_REORDERED} packets, {len(self.sweep_seeds)} seeds each, of that without reordering and with timeouts from the network (*network*; in weft mode they are measured). The least are far shorter than a round trip of {e.ROUND_TRIP_OF_REORDERED} clocks: what is late " + \
            f"is asked for before it could have come, and the second copy often overtakes the first. That costs packets that come twice. So does *early*, weft mode: a packet is asked for as soon as one from behind it has come (`RX_AHEAD` 1 where packets overtake each other by up to {e.DEGREE_OF_REORDERED}), and its sender goes on by " + \
            f"[a second window](../rdma.md#a-second-window). *Known*, weft mode: `RX_AHEAD` is {e.DEGREE_OF_REORDERED + 1}, as it should be here; a window of that less one or more is then as good as two, and with timeouts above what detours take nothing comes twice."
        rows = [[mode.words, f"{held * 100:g}", str(window), sweep.listing(lambda point, case=(mode, held, window): point.rate(ideals[case]).text)] for (mode, held, window), sweep in found.items()]
        self.report.table("Timeouts of reordering", words, ["scheme", "on detours, %", "window", "by timeout"], rows)

    @staticmethod
    def full_link(ideals):
        """Paper mode without reordering: it does not stop at the end of its window."""
        return min((point for (mode, _, _), point in ideals.items() if mode is e.PAPER), key=lambda point: point.median)

    def reorder_of(self, mode, held, chosen, full):
        """chosen: timeout and point without reordering, by window; full: the point of a full link."""
        degrees, windows = self.few(e.DEGREES), list(chosen)
        commands = {(window, degree): e.reordered(mode, window, degree, held, chosen[window][0]) for window in windows for degree in degrees}
        self.runner.run(commands.values(), f"reorder, {mode.name} mode, {held:g} on detours")
        # What the network does, seen by the receiver that sees most of it.
        gaps = {degree: round(self.runner.point(commands[windows[-1], degree], "largest_gap").median or 0) for degree in degrees}
        share = {(window, degree): self.runner.point(commands[window, degree]).rate(chosen[window][1]) for window in windows for degree in degrees}
        of_link = {(window, degree): self.runner.point(commands[window, degree]).rate(full) for window in windows for degree in degrees}
        colours = ("#9ecae1", "#6baed6", "#3182bd", "#08519c")
        series = [(f"window {window}", colours[index % 4], "osd^"[index % 4], [gaps[d] for d in degrees], [share[window, d] for d in degrees]) for index, window in enumerate(windows)]
        name = f"reorder_{mode.name}_{'often' if held > 0.05 else 'seldom'}"
        title = f"Throughput against reordering, {mode.name} mode, {held * 100:g} % of packets on detours"
        note = f"1 MiB each way; 100 clocks from node to node, {held * 100:g} % of packets take up to as much longer as so many others need on the link, each length as likely; a round trip of the others is 200 clocks, and 145 in engines and memory; packets of 256 bytes; best timeouts at a detour of {e.DEGREE_OF_REORDERED} packets: " + \
            ", ".join(f"window {window} {timeout}" for window, (timeout, _) in chosen.items())
        plot.lines(self.image(name), title, "reorder degree: largest gap of PIDX between packets that arrive one after the other", "of that without reordering", series, note)
        again = {degree: ", ".join(number_of(self.runner.point(commands[window, degree], "packets_resent")) for window in windows) for degree in degrees}
        rows = [[str(degree), str(gaps[degree]), *(f"{share[window, degree].text}; {number_of(of_link[window, degree])}" for window in windows), again[degree]] for degree in degrees]
        self.report.table(title, note + "; at others another one may do better, so a larger window may be behind a smaller one. Throughput of that without reordering, in the same mode and with the same window; behind it of a full link (paper mode, without reordering). *Degree*: the largest gap of PIDX between two packets of a transfer that arrive one after the other (median, largest window).",
                          ["detour of up to, packets", "degree", *(f"window {window}" for window in windows), f"packets sent again of {2 * e.packets_of_reordered(256):,}: " + ", ".join(f"window {window}" for window in windows)], rows, self.image(name))
        degree = min(degrees, key=lambda degree: abs(gaps[degree] - 64))
        for window, paper in ((32, 0.70), (64, 0.95)):
            if window in windows:
                self.claim_of_reorder(mode, held, window, paper, share[window, degree], of_link[window, degree], gaps[degree], degree)

    def claim_of_reorder(self, mode, held, window, paper, share, of_link, gap, degree):
        found = f"{share_of(share)} at degree {gap}"
        what = f"reorder degree 64, window {window}, {held * 100:g} % of packets on detours:"
        if mode is e.PAPER:
            self.report.claim(f"{what} near {paper:.0%} of ideal, by 5 (paper mode)", found, claims.near(share, paper, 0.05))
            return
        most = bound.share(window, degree, held, round(e.ROUND_TRIP_OF_REORDERED / e.clocks_of_a_packet(256)))
        self.report.claim(f"{what} at least 95 % of that without detours (weft mode, ours)", found, claims.at_least(share, 0.95))
        self.report.claim(f"{what} at least 95 % of a full link (weft mode, ours)", f"{share_of(of_link)}; who never leaves its window, and sends nothing twice, could have, estimated: {most:.1%}", claims.at_least(of_link, 0.95))

    def reorder_by_payload(self):
        """What a window holds of a round trip depends on how long a packet is."""
        held, windows = e.HELD[-1], (32, 64)
        rows, tries = [], []
        for payload in self.first(2, e.PAYLOADS):
            found, commands, ideals = self.sweep_of_reordered((held,), windows, payload)
            best = {case: commands[case][sweep.best] for case, sweep in found.items()}
            shares = {case: self.runner.point(command).rate(ideals[case]) for case, command in best.items()}
            of_link = {case: self.runner.point(command).rate(self.full_link(ideals)) for case, command in best.items()}
            round_trip = round(e.ROUND_TRIP_OF_REORDERED / e.clocks_of_a_packet(payload))
            gap = self.runner.point(best[e.WEFT, held, 64], "largest_gap")
            bounds = [f"{bound.share(window, e.DEGREE_OF_REORDERED, held, round_trip):.1%}" for window in windows]
            rows.append([str(payload), str(round_trip), number_of(gap), *(f"{share.text}; {number_of(of_link[case])}; {found[case].best}" for case, share in shares.items()), *bounds])
            tries += [[str(payload), mode.words, str(window), sweep.listing(lambda point, case=(mode, held, window), ideals=ideals: point.rate(ideals[case]).text)] for (mode, _, window), sweep in found.items()]
            if payload != e.PAYLOADS[0]:
                ours = [shares[e.WEFT, held, window] for window in windows]
                self.report.claim(f"(ours) reorder degree 64, packets of {payload:,} bytes: at least 95 % with windows of 32 and 64 (weft mode)", ", ".join(share_of(share) for share in ours) + "; of a full link " + ", ".join(f"{of_link[e.WEFT, held, window].median:.1%}" for window in windows), claims.worst(claims.at_least(share, 0.95) for share in ours))
        sizes = "; ".join(f"{e.packets_of_reordered(payload):,} of {payload:,} bytes" for payload in e.PAYLOADS)
        words = f"Packets each way: {sizes}. Throughput of that without reordering; {held * 100:g} % of packets take up to {e.DEGREE_OF_REORDERED} packets longer; 100 clocks from node to node. Behind each share stands that of a full link (paper mode, without reordering), and the timeout, the best of those below. *Bound*: of a full link, of a sender that never leaves its window and sends nothing twice, estimated: mean of 20 draws of detours. In weft mode it leaves it with [a second window](../rdma.md#a-second-window), in paper mode always, and may have more. " + \
            "With small packets more of them fit into a round trip, and a window is full before its sender can hear that it has moved."
        self.report.table("Reordering, by payload", words, ["payload, bytes", "round trip, packets", "degree", *(f"{s.name}, window {w}" for s in e.MODES for w in windows), *(f"bound, window {w}" for w in windows)], rows)
        self.report.table("Timeouts of reordering, by payload", "As above.", ["payload, bytes", "scheme", "window", "by timeout"], tries)

    def yardstick(self):
        rates, worst = self.losses, self.losses[-1]
        timeouts = self.few(e.timers_of(e.WEFT, e.TIMEOUTS_OF_YARDSTICK))
        found = self.sweep({packets: {t: e.yardstick(worst, packets, t) for t in timeouts} for packets in e.AHEAD}, "timeouts of the yardstick")
        shown = {"order kept": (1, found[1].best), "order not known": (0, found[0].best), "order not known, timeouts as measured": (0, "measured")}
        self.runner.run([e.yardstick(p, packets, t) for packets, t in shown.values() for p in rates] + [e.yardstick(0, packets, "measured") for packets in e.AHEAD], "yardstick")
        ideals = {packets: self.runner.point(e.yardstick(0, packets, "measured")) for packets in e.AHEAD}
        relative = {(title, p): self.runner.point(e.yardstick(p, packets, t)).over(ideals[packets]) for title, (packets, t) in shown.items() for p in rates}
        lossy = [(p, e.YARDSTICK[e.LOSSES.index(p) - 1]) for p in rates if p]
        rows = [[str(p), f"{most:.3f}", f"{(1 - p / 1000) ** 512:.0%}", *(cell for title in shown for cell in (relative[title, p].text, relative[title, p].tail))] for p, most in lossy]
        note = "256 KiB each way in packets of 1 KiB over a link of 256 bits a clock (100 Gb/s at 391 MHz; in the old process of [the area table](schemes.md) the engine reaches less, but times here are relative), 300 clocks from node to node (a round trip of 600, and about 145 in engines and memory), relative to the median without loss and with timeouts measured; weft mode; timeouts: " + \
            ", ".join(f"{title} {timeout}" for title, (_, timeout) in list(shown.items())[:2])
        words = note + f", those of the table below that do best at {worst} ‰. Beside it the best that published " + \
            "simulators of Ultra Ethernet's selective acknowledgement are said to reach, figures that were given to us without their source; 1.4 to 2.2 where only a timer repairs. *No loss*: share of runs that lose no packet of data. *Order kept*: `RX_AHEAD` is 1, as this network allows; *not known*: it is 0, as where packets are sprayed."
        series = [("best published selective acknowledgement", "#666666", "^", rates, [runs.exactly(1.0), *(runs.exactly(most) for _, most in lossy)])]
        series += [(f"weft mode, {title}", colour, marker, rates, [relative[title, p] for p in rates]) for title, colour, marker in zip(shown, ("#1f6fb4", "#d95f02", "#7b3294"), "osd")]
        plot.lines(self.image("yardstick"), "256 KiB beside Ultra Ethernet's selective acknowledgement", "packets lost, ‰", "times as long as without", series, note, ticks=rates)
        self.report.table("A modern yardstick", words, ["loss, ‰", "best published", "no loss", *(cell for title in shown for cell in (title, "mean, largest"))], rows, self.image("yardstick"))
        self.report.table("Timeouts of the yardstick", f"The sweep that they are from, at {worst} ‰, {len(self.sweep_seeds)} seeds; 775 is just more than a round trip, less than that costs packets that come twice.", ["order", "by timeout"],
                          [[title, found[packets].listing(lambda point, ideal=ideals[packets]: point.over(ideal).text)] for title, packets in (("kept", 1), ("not known", 0))])
        for title in shown:
            points = [(relative[title, p], most) for p, most in lossy]
            of_means = claims.met(all(point.mean is not None and point.mean <= most for point, most in points))
            for field, answer in (("median", claims.worst(claims.at_most(point, most) for point, most in points)), ("mean", of_means)):
                values = [getattr(point, field) for point, _ in points]
                self.report.claim(f"(ours) completion at {', '.join(str(p) for p, _ in lossy)} ‰ at or below the best published selective acknowledgement, {field}, {title}", ", ".join("–" if value is None else runs.number(value) for value in values), answer)

    def beside_weft(self, what, points):
        """Claims that weft mode completes before all others; points by name of scheme. None if nothing else was run."""
        others = [(scheme, points[scheme.name]) for scheme in e.SCHEMES[1:] if scheme.name in points]
        if others:
            answer, words = beside(points["weft"], others)
            self.report.claim(f"(ours) {what}: weft mode completes before all others", "; ".join(words) or "before all", answer)

    def crowds(self):
        sizes = self.first(1, list(e.TIMEOUTS_OF_INCAST))
        timeouts = {**{size: e.TIMEOUTS_OF_INCAST[size] for size in sizes}, "many": self.first(1, e.TIMEOUTS_OF_MANY)}
        schemes = {what: self.first(1, e.SCHEMES) if what == "many" else e.SCHEMES for what in timeouts}
        commands = {(what, s): {t: e.many(s, t) if what == "many" else e.incast(s, what, t) for t in self.few(e.timers_of(s, timeouts[what]))} for what in timeouts for s in schemes[what]}
        seeds = self.sweep_seeds[:e.SEEDS_OF_CROWDS]
        found = self.sweep(commands, "crowds", seeds)
        points = {case: self.runner.point(commands[case][sweep.best]) for case, sweep in found.items()}
        titles = {8: f"8 senders into one receiver, {e.INCAST_KIB} KiB each", 32: "32 senders", "many": "10,048 transfers of 1 KiB at once, 64 nodes of a torus, any to any"}
        rows, panels, chosen = [], [], []
        for what in timeouts:
            rows.append([titles[what], *(f"{points[what, s].text}; {found[what, s].best}" if (what, s) in found else "" for s in e.SCHEMES)])
            panels.append((titles[what], [""], [(s.words, s.colour, [points.get((what, s))]) for s in e.SCHEMES]))
            chosen.append(f"{titles[what]}: " + ", ".join(f"{s.name} {found[what, s].best}" for s in schemes[what]))
            self.beside_weft(titles[what], {s.name: points[what, s] for s in schemes[what]})
        words = "1 ‰ of packets lost. Senders to one receiver: 100 clocks from node to node, so a round trip of 200, and 145 in engines and memory, and what packets wait for the receiver's link, of which a window of every sender is thousands of clocks. Torus of 4x4x4: minimal adaptive routing, links of 1 clock, 20 clocks before a packet enters; a round trip of 40 and 7 a hop, 145 in engines and memory, and what packets wait. " + \
            f"Nothing is drawn of delays. Clocks until all have completed, {e.LONGEST_INCAST:,} at the most; of the transfers at once {e.LONGEST_MANY:,}. "
        plot.bars(self.image("crowds"), "Many at once", "clocks", panels, f"{words}Median and its interval; no bar: less than half of the runs finished, or not run. Payload 256 bytes. Timeouts: {'; '.join(chosen)}", log=False)
        self.report.table("Crowds", words + "Each scheme with its best timeout, which stands behind its clocks.", ["", *(s.words for s in e.SCHEMES)], rows, self.image("crowds"))
        self.report.table("Timeouts of crowds", f"The sweep that they are from, {len(seeds)} seeds each; paper mode does not measure.", ["", "scheme", "by timeout"], [[titles[what], s.words, sweep.listing()] for (what, s), sweep in found.items()])

    def cuts(self):
        networks = self.first(1, e.NETWORKS)
        cases = [(net, until) for net in networks for until in (None, 4000, 12000)]
        commands = {(net, until, s): {t: e.cut(net, s, t, until) for t in self.few(e.timers_of(s, e.TIMEOUTS_OF_CUT[net.name]))} for net, until in cases for s in e.SCHEMES}
        found = self.sweep(commands, "cuts")
        points = {case: self.runner.point(commands[case][sweep.best]) for case, sweep in found.items()}
        spans = {until: "never" if until is None else f"2,000 to {until:,}" for _, until in cases}
        rows, panels, chosen = [], [], []
        for net, until in cases:
            title = f"{net.name}, " + ("no cut" if until is None else f"cut from {spans[until]}")
            panels.append((title, [""], [(s.words, s.colour, [points[net, until, s]]) for s in e.SCHEMES]))
            chosen.append(f"{title}: " + ", ".join(f"{s.name} {found[net, until, s].best}" for s in e.SCHEMES))
            rows.append([net.name, spans[until], *(f"{points[net, until, s].text}; {found[net, until, s].best}" for s in e.SCHEMES)])
            if until:
                self.beside_weft(f"a link cut for {until - 2000:,} clocks ({net.name})", {s.name: points[net, until, s] for s in e.SCHEMES})
                self.claim_of_cut_measured(net, until, commands[net, until, e.WEFT]["measured"], [(s, points[net, until, s]) for s in e.OLDER])
        words = "256 KiB each way; the link from node 0 to node 1 is cut in that direction meanwhile, clocks after the first post. Each scheme with the best of the timeouts below, which stands behind its clocks. " + \
            "After 15 timeouts without an answer a transfer ends with an error: 600 clocks do not outlast the longer cut, unless they back off as in weft mode. " + \
            "In weft mode the sender stops at the end of the window, all of which is lost, and nothing comes from which the receiver could see a gap; the second of its timeouts, which double meanwhile, says so, and all is sent again. "
        where = "; ".join(f"*{net.name}*: {net.words}" for net in networks)
        plot.bars(self.image("cuts"), "A link cut and healed", "clocks", panels, f"256 KiB each way, payload 256 bytes; {where}. Median and its interval; no bar: less than half of the runs finished. Timeouts: {'; '.join(chosen)}", log=False)
        self.report.table("A link cut and healed", words + where + ".", ["network", "cut", *(s.words for s in e.SCHEMES)], rows, self.image("cuts"))
        self.report.table("Timeouts of cuts", f"The sweep that they are from, {len(self.sweep_seeds)} seeds each. When a timeout happens to end beside the end of the cut decides much.", ["network", "scheme", "cut", "by timeout"],
                          [[net.name, s.words, spans[until], sweep.listing()] for (net, until, s), sweep in found.items()])

    def claim_of_cut_measured(self, net, until, command, older):
        """Of weft mode as it is if nobody knows how long a link will be cut, which is what sets the best timeout; older: the others at their best."""
        self.runner.run([command], "cuts, timeouts as measured")
        measured = self.runner.point(command)
        answer, words = beside(measured, older)
        found = ", ".join(f"{name} {number_of(point)}" for name, point in [("weft mode", measured), *((s.words, point) for s, point in older)])
        self.report.claim(f"(ours) a link cut for {until - 2000:,} clocks ({net.name}), timeouts as measured: weft mode completes before the older schemes at their best", "; ".join([f"clocks: {found}", *words]), answer)

    EXPERIMENTS = ("sizes", "loss", "order_known", "payloads", "reorder", "reorder_by_payload", "yardstick", "crowds", "cuts")

    def make(self, only=None):
        """These experiments, or one."""
        for name in self.EXPERIMENTS:
            if only in (None, name):
                print(f"figures: {name}", flush=True)
                self.report.experiment = name
                getattr(self, name)()
        self.report.sections.sort(key=lambda section: section.startswith(f"## {self.TIMERS}"))  # long: last on the page


def arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "build" / "bin" / "weft-sim-experiments"), help="weft-sim (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=len(e.SEEDS), help="of each point (default: %(default)s); fewer leave docs alone")
    parser.add_argument("--quick", action="store_true", help="3 seeds, few points, into build/figures instead of docs")
    parser.add_argument("--only", choices=Figures.EXPERIMENTS, help="this experiment (and the timeouts of transfers, if it takes some); leaves docs alone")
    parser.add_argument("--accept", action="store_true", help="answers to claims as they are now are what is expected from now on (claims.json)")
    args = parser.parse_args(words)
    if args.jobs < 1:
        parser.error(f"--jobs {args.jobs}: must be at least 1")
    if not 1 <= args.seeds <= len(e.SEEDS):
        parser.error(f"--seeds {args.seeds}: must be from 1 to {len(e.SEEDS)}")
    if not pathlib.Path(args.program).is_file():
        parser.error(f"--program {args.program}: there is no such file")
    if args.accept and (args.only or args.seeds != len(e.SEEDS)):
        parser.error("--accept: not with --only or --seeds, which do not answer all claims")
    return args


def main():
    args = arguments()
    partial = args.only is not None or args.seeds < len(e.SEEDS)
    draft = args.quick or partial
    folder = ROOT / "build" / "figures" if draft else ROOT / "docs" / "img"
    folder.mkdir(parents=True, exist_ok=True)
    seeds, sweep_seeds = (each[:3 if args.quick else args.seeds] for each in (e.SEEDS, e.SEEDS_OF_SWEEPS))
    report = evaluation_page.Report(folder)
    try:
        report.engines = engines.check(args.program, args.jobs)
        report.example = " ".join((*e.transfer(e.PAIR, e.WEFT, 300, 256, 5), "--seed", str(seeds[0])))
        Figures(runs.Runner(args.program, args.jobs, seeds, ROOT / "build" / "figures" / "runs"), report, args.quick, sweep_seeds).make(args.only)
    except (runs.RunError, scheme_costs.CostError, OSError, subprocess.SubprocessError) as error:
        sys.exit(f"figures: {error}")
    page = ROOT / "build" / "figures" / "rdma.md" if draft else ROOT / "docs" / "results" / "rdma.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    files.write_whole(page, report.page(seeds, sweep_seeds, args.quick))
    (ROOT / "build" / "figures").mkdir(parents=True, exist_ok=True)
    files.write_whole(ROOT / "build" / "figures" / "rdma.json", json.dumps({"claims": report.claims, **report.numbers}, indent=2) + "\n")
    print(f"figures: {page.relative_to(ROOT)}")
    form = "quick" if args.quick else "whole"
    if args.accept:
        claims.accept(form, report.claims)
    elif not partial and (turned := claims.turned(form, report.claims)):
        sys.exit("\n".join(["figures: answers to claims are not as expected (experiments/claims.json, --accept):", *turned]))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""What the runs of route_traffic.py say: the paper's claims beside ours, tables, figures in docs/img."""

import statistics

import plot
import route_traffic as traffic

COLOURS = ("#2166ac", "#1b7837", "#b2182b", "#e08214", "#762a83", "#777777")
MARKERS = "osD^vx"
SATURATED = 0.98  # of what is offered: where less arrives, packets wait in their hosts ever longer, and latency grows with the clocks of the run
SLIGHT = 0.02  # what "slightly less" may be at most
STEADY = 0.01  # what twice the clocks may change
LIMITS = ((5, 0.01), (10, 0.02))  # faults, what they may cost
LEFT_OUT = "–"
PHASES = ("before", "news", "rewriting", "after")


def percent(part):
    return f"{100 * part:.2f} %"


def signed(part):
    """Such a change."""
    return f"{round(100 * part, 2) + 0.0:+.2f} %".replace("-", "−")


def faults_of(count):
    return f"{count} fault{'' if count == 1 else 's'}"


def dying(case):
    """What dies in such a run."""
    plural = {"leaf": "leaves", "row switch": "row switches", "column switch": "column switches"}.get(case.what, f"{case.what}s")
    return f"{case.count} {case.what if case.count == 1 else plural}"


def seeds_of(point):
    return f"{point.seeds} seed{'' if point.seeds == 1 else 's'}"


def spread_of(points):
    """How many seeds the points have, and how far those of one are apart."""
    seeds = sorted({point.seeds for point in points})
    many = f"{seeds[0]} to {seeds[-1]} seeds" if len(seeds) > 1 else seeds_of(points[0])
    return f"{many} a point" + (f", which differ by up to {percent(max((point.high - point.low) / point.median for point in points))}" if seeds[-1] > 1 else "")


def at_loads(texts):
    return ", ".join(f"{text} at {load}" for load, text in texts.items())


def load_of(arguments):
    return float(arguments[arguments.index("--load") + 1])


class Report:
    def __init__(self, sweep, images, page_images, quick):
        self.sweep = sweep
        self.images = images
        self.page_images = page_images
        self.quick = quick
        self.sections = []
        self.claims = []
        self.failures = []  # what must be 0 and is not

    def claim(self, text, ours, agrees):
        """agrees: None if what is there cannot tell."""
        self.claims.append((text, ours, {True: "yes", False: "no", None: "open"}[agrees]))

    def accepted(self, arguments):
        return self.sweep.point(arguments, "accepted")

    def latency(self, arguments):
        return self.sweep.point(arguments, "mean_latency_clocks")

    def saturated(self, arguments):
        """`accepted` is of hosts that send, so this holds for patterns in which not all do, too."""
        return self.accepted(arguments).median < SATURATED * load_of(arguments)

    def cells(self, arguments):
        """Throughput and, below saturation, latency."""
        found = self.accepted(arguments)
        return [found.text, LEFT_OUT if self.saturated(arguments) else self.latency(arguments).text] if found.seeds else ["", ""]

    def change(self, arguments, base):
        """(throughput per live host that sends, throughput of the fabric) in parts of another run's, less 1; nothing if one of them was not made."""
        found, whole = self.accepted(arguments), self.accepted(base)
        if found.median is None or whole.median is None:
            return None
        senders, senders_whole = (self.sweep.point(each, "senders").median for each in (arguments, base))
        return found.median / whole.median - 1, found.median * senders / (whole.median * senders_whole) - 1

    def cost(self, count, placement="all", pattern="uniform"):
        """`change` by so many faults among 4,096 nodes at load 1."""
        return self.change(traffic.large(count, placement, pattern, 1.0), traffic.large(0, "all", pattern, 1.0))

    def lines(self, name, title, loads, series):
        """Throughput and latency against load. series: (label, load -> arguments). @return links to the figures, nothing for no runs"""
        links = []
        for kind, y_label, point in (("throughput", "packets a clock and live host that arrive", self.accepted), ("latency", "mean latency, ns", self.latency)):
            drawn = []
            for (label, arguments_of), colour, marker in zip(series, COLOURS, MARKERS):
                points = [(load, point(arguments_of(load))) for load in loads]
                points = [(load, found) for load, found in points if found.median is not None]
                if points:
                    drawn.append((label, colour, marker, [load for load, _ in points], [found for _, found in points]))
            if not drawn:
                return ""
            note = "Median of seeds with an interval. " + ("Above saturation packets wait in their hosts ever longer: latency there is that of the clocks measured." if kind == "latency" else "")
            plot.lines(self.images / f"vtftr_{name}_{kind}.svg", title, "offered packets a clock and host", y_label, drawn, note, log_y=kind == "latency")
            links.append(f"![{title}, {kind}]({self.page_images}/vtftr_{name}_{kind}.svg)")
        return "\n\n".join(links)

    def small(self, planes, loads):
        series = [(label, lambda load, more=more: traffic.small(planes, more, load)) for label, more in traffic.SERIES]
        figures = self.lines(f"8x8_q{planes}", f"8×8 leaves of 8 hosts, q = {planes}", loads, series)
        if not figures:
            return
        rows = ["| offered | " + " | ".join(f"{label}: throughput | latency" for label, _ in series) + " |", "|---|" + "---|---|" * len(series)]
        for load in loads:
            rows.append(f"| {load} | " + " | ".join(cell for _, of in series for cell in self.cells(of(load))) + " |")
        seeds = max(self.accepted(of(load)).seeds for load in loads for _, of in series)
        self.sections.append(f"## 8×8 leaves of 8 hosts, q = {planes}\n\nAt most {seeds} seeds a point; the fault is leaf (4, 3).\n\n{figures}\n\n" + "\n".join(rows))

    def claims_small(self):
        """Of the loads that were run with all series: in the quick form a few."""
        at = [{load: traffic.small(8, more, load) for load in traffic.LOADS} for _, more in traffic.SERIES]
        loads = [load for load in traffic.LOADS if all(self.accepted(each[load]).seeds for each in at)]
        if not loads:
            return
        one, two, ours, theirs = ({load: self.accepted(each[load]) for load in loads} for each in at)
        high = [load for load in loads if load > 0.5]
        gains = {load: percent(ours[load].median / theirs[load].median - 1) for load in high}
        higher = [load for load in high if ours[load].low > theirs[load].high]
        self.claim("8×8, one fault: VTFTR's throughput above algorithm A's beyond 50 % load", f"q = 8: {at_loads(gains)}; intervals apart at {', '.join(map(str, higher)) or 'no load'}", len(higher) == len(high) if high else None)
        one_below, two_below, ours_below, theirs_below = ([load for load in loads if not self.saturated(each[load])] for each in at)
        self.claim_latency(at[2], at[3], [load for load in loads if load in ours_below and load in theirs_below], [load for load in loads if load in ours_below and load not in theirs_below])
        if 1.0 not in loads:
            return
        losses = {load: 1 - one[load].median / two[load].median for load in loads}
        below = [load for load in loads if load in one_below and load in two_below]
        slow = [f"{self.latency(each[below[-1]]).median:.0f}" for each in at[:2]] if below else []
        self.claim(f"8×8, no fault: a virtual channel kept for faults costs throughput only slightly (read as: at most {round(100 * SLIGHT)} % at each load compared)",
                   f"throughput at load 1: {one[1.0].text} with, {two[1.0].text} without one kept ({signed(-losses[1.0])})" +
                   (f"; below saturation, up to {below[-1]}, at worst {signed(-max(losses[load] for load in below))}, and latency {slow[0]} against {slow[1]} ns at {below[-1]}" if below else ""), max(losses.values()) <= SLIGHT)
        per_host, total = self.change(at[2][1.0], at[0][1.0])
        self.claim("8×8, one fault: only a little less throughput, at high load (read as: at most 1 %, per live host)",
                   f"throughput at load 1: {ours[1.0].text} against {one[1.0].text} without a fault ({signed(per_host)}; in total {signed(total)})", per_host >= -0.01)

    def claim_latency(self, ours, theirs, below, apart):
        """below: loads at which neither is saturated; apart: loads at which only algorithm A is."""
        points = {load: (self.latency(ours[load]), self.latency(theirs[load])) for load in below}
        texts = {load: f"{a.median:.0f} against {b.median:.0f} ns" for load, (a, b) in points.items()}
        compared = [load for load in below if load > 0.5]
        later = [load for load in compared if points[load][1].low > points[load][0].high]
        text = at_loads({load: texts[load] for load in compared}) or "at no load beyond 0.5" + (f"; {texts[below[-1]]} at {below[-1]}" if below else "")
        self.claim("and its latency below, where both are below saturation", text + (f"; only A is saturated at {', '.join(map(str, apart))}" if apart else ""), len(later) == len(compared) if compared else None)

    def large(self):
        if not self.accepted(traffic.large(0, "all", "uniform", 1.0)).seeds:
            return
        for count, most in LIMITS:
            self.claim_cost(count, most)
        for count, _ in LIMITS:
            found = {placement: self.accepted(traffic.large(count, placement, "uniform", 1.0)) for placement in traffic.PLACEMENTS}
            if all(point.median is not None for point in found.values()):
                medians = [point.median for point in found.values()]
                spread = 1 - min(medians) / max(medians)
                self.claim(f"4,096 nodes, {count} faults: their placement matters less than 2 %", f"{percent(spread)} between the best and the worst of five", spread < 0.02)
        series = [(faults_of(count), lambda load, count=count: traffic.large(count, "all", "uniform", load)) for count in traffic.FAULTS]
        figures = self.lines("4096", "16×16 leaves of 16 hosts, q = 16, uniform", traffic.LOADS, series)
        rows = ["| faults | " + " | ".join(traffic.PLACEMENTS) + " |", "|---|" + "---|" * len(traffic.PLACEMENTS)]
        for count in traffic.FAULTS:
            found = [self.accepted(traffic.large(count, placement, "uniform", 1.0)) for placement in traffic.placements(count)]
            rows.append(f"| {count} | " + " | ".join([f"{point.text}, {seeds_of(point)}" if point.seeds else "" for point in found] + [""] * (5 - len(found))) + " |")
        words = "Throughput at load 1 by placement: all: no two in a row or column while that can be; c: in one column, r: in one row, of which at most 15 are dead; r1, r2: drawn. Figures: placement all."
        self.sections.append(f"## 4,096 nodes: 16×16 leaves of 16 hosts, q = 16\n\n{words}\n\n" + "\n".join(rows) + f"\n\n{figures}")
        self.placed()
        self.one_plane()
        self.costs()
        self.patterns()

    def placed(self):
        """Where the faults are, at loads below full."""
        loads = [load for load in traffic.FEWER_LOADS if load < 1]
        rows = ["| faults | placement | " + " | ".join(f"{load}: throughput | latency" for load in loads) + " |", "|---|---|" + "---|---|" * len(loads)]
        for count in traffic.FAULTS:
            for placement in traffic.placements(count):
                cells = [cell for load in loads for cell in self.cells(traffic.large(count, placement, "uniform", load))]
                if any(cells):
                    rows.append(f"| {count} | {placement} | " + " | ".join(cells) + " |")
        if len(rows) > 2:
            self.sections.append("### Placements below full load\n\nUniform traffic, by offered load; one seed where there is no interval.\n\n" + "\n".join(rows))

    def one_plane(self):
        """With one row and column switch for each line."""
        counts, rows = traffic.CLAIMED_FAULTS, []
        for load in traffic.LOADS_OF_ONE_LARGE_PLANE:
            cells = [cell for count in counts for cell in self.cells(traffic.large(count, "all", "uniform", load, planes=1))]
            rows += [f"| {load} | " + " | ".join(cells) + " |"] if any(cells) else []
        if rows:
            heads = "| offered | " + " | ".join(f"{faults_of(count)}: throughput | latency" for count in counts) + " |\n|---|" + "---|---|" * len(counts)
            self.sections.append(f"### One switch for each row and column (q = 1)\n\nUniform traffic, placement all, one seed. All {traffic.LARGE.n} hosts of a leaf share one link to their row switch and one to their column switch.\n\n{heads}\n" + "\n".join(rows))

    def claim_cost(self, count, most):
        found = {placement: self.cost(count, placement) for placement in traffic.PLACEMENTS}
        there = {placement: cost for placement, cost in found.items() if cost}
        if not there:
            return
        worst, best = (pick(there, key=lambda placement: there[placement][0]) for pick in (min, max))
        totals = [total for _, total in there.values()]
        whole = self.accepted(traffic.large(0, "all", "uniform", 1.0))
        points = {placement: self.accepted(traffic.large(count, placement, "uniform", 1.0)) for placement in there}
        apart = [placement for placement, point in points.items() if point.high < whole.low]
        text = f"q = 16, load 1: {signed(there[worst][0])} ({worst}) to {signed(there[best][0])} ({best}), {len(there)} of {len(found)} placements, intervals below that without faults: {', '.join(apart) or 'none'}; in total {signed(min(totals))} to {signed(max(totals))}" + (", which is beyond it" if min(totals) < -most else "")
        others = {pattern: self.cost(count, "all", pattern) for pattern in traffic.PATTERNS[1:] if not self.unsteady(pattern)}
        beyond = [f"{pattern} {signed(cost[0])}" for pattern, cost in others.items() if cost and cost[0] < -most]
        within = [pattern for pattern, cost in others.items() if cost and cost[0] >= -most]
        text += (f"; other patterns beyond it: {', '.join(beyond)}" if beyond else "") + (f"; within it: {', '.join(within)}" if within else "")
        deep = self.change(traffic.deep(count), traffic.deep(0)) if count in traffic.CLAIMED_FAULTS else None
        compared = [(point, whole) for point in points.values()]
        if deep:
            compared.append((self.accepted(traffic.deep(count)), self.accepted(traffic.deep(0))))
            text += f"; placement all with buffers of {traffic.DEEP_BUFFER}: {signed(deep[0])}, {seeds_of(compared[-1][0])}"
        self.claim(f"4,096 nodes, {faults_of(count)}: at most {round(100 * most)} % less throughput (read as: uniform traffic, per live host, wherever the faults are)", text,
                   False if any(point.high < (1 - most) * base.low for point, base in compared) else
                   True if len(there) == len(found) and all(point.low >= (1 - most) * base.high for point, base in compared) else None)

    def unsteady(self, pattern):
        """Twice the clocks change it."""
        drifts = [self.drift(arguments) for _, arguments in traffic.steady() if "--pattern" in arguments and arguments[arguments.index("--pattern") + 1] == pattern]
        return any(drift is not None and abs(drift) > STEADY for drift in drifts)

    def drift(self, arguments):
        """Throughput of twice the clocks in parts of it, less 1, of the first seed; nothing if one of them was not run."""
        short, long = (self.sweep.of_seeds(each)[:1] for each in (arguments, traffic.twice(arguments)))
        return long[0]["accepted"] / short[0]["accepted"] - 1 if short and long else None

    def costs(self):
        """A table of what faults cost in every placement and pattern."""
        counts = traffic.FAULTS[1:]
        rows = ["| pattern, placement | " + " | ".join(f"{faults_of(count)}: per live host | in total" for count in counts) + " |", "|---|" + "---|---|" * len(counts)]
        uniform, others, rises = [], [], False
        for pattern, placement in [("uniform", placement) for placement in traffic.PLACEMENTS] + [(pattern, "all") for pattern in traffic.PATTERNS[1:]]:
            there = [count for count in counts if placement in traffic.placements(count) and self.cost(count, placement, pattern)]
            if there:
                costs = {count: self.cost(count, placement, pattern) for count in there}
                rows.append(f"| {pattern}, {placement} | " + " | ".join(f"{signed(costs[count][0])} | {signed(costs[count][1])}" if count in costs else " | " for count in counts) + " |")
                points = [self.accepted(traffic.large(count, placement, pattern, 1.0)) for count in there]
                whole = self.accepted(traffic.large(0, "all", pattern, 1.0))
                (uniform if pattern == "uniform" else others).extend([whole, *points])
                rises = rises or pattern == "uniform" and any(point.low > whole.high for point in points)
        words = ("Throughput against that without faults, same pattern, medians of seeds. *Per live host*: of those that send; with transpose a host whose partner is dead sends nothing. *In total*: all packets of the fabric, so dead hosts count as loss. Hotspot draws its leaves anew "
                 "when others are alive. What is smaller than what twice the clocks (*Is it steady?*) or another seed change says nothing.")
        words += "".join(f" {name}: {spread_of(points)}." for name, points in (("Uniform", uniform), ("Other patterns", others)) if points)
        words += " Throughput per live host can rise with faults: fewer hosts send through as many row and column switches." if rises else ""
        if len(rows) > 2:
            self.sections.append(f"### What faults cost at load 1\n\n{words}\n\n" + "\n".join(rows))

    def steady(self):
        """Runs of twice the clocks, and with larger buffers."""
        rows, beyond, largest = [], [], 0.0
        for what, arguments in traffic.steady():
            short, long = (self.sweep.of_seeds(each)[:1] for each in (arguments, traffic.twice(arguments)))
            drift = self.drift(arguments)
            if drift is not None:
                largest = max(largest, abs(drift))
                beyond += [f"{what} ({signed(drift)})"] if abs(drift) > STEADY else []
                mark = "**" if abs(drift) > STEADY else ""
                rows.append(f"| {what} | {short[0]['accepted']:.4f} | {long[0]['accepted']:.4f} | {mark}{signed(drift)}{mark} |")
        if rows:
            clocks = traffic.LARGE.clocks
            self.claim(f"Twice the clocks change no throughput at load 1 by more than {round(100 * STEADY)} % (goal)", (f"beyond it: {', '.join(beyond)}" if beyond else f"at most {percent(largest)}") + f"; {len(rows)} of {len(traffic.steady())} compared",
                       False if beyond else True if len(rows) == len(traffic.steady()) else None)
            words = (f"Load 1, seed 1; measured is the second half of {traffic.SMALL.clocks:,} clocks in 8×8 leaves, of {clocks:,} in 4,096 nodes. Where twice the clocks change more than {round(100 * STEADY)} % (**bold**), the page's figures of that traffic are not of a steady "
                     "state; no claim about 4,096 nodes uses them.")
            self.sections.append(f"## Is it steady?\n\n{words}\n\n| what | throughput | with twice the clocks | difference |\n|---|---|---|---|\n" + "\n".join(rows))
        self.deep()

    def deep(self):
        makers = {traffic.LARGE.buffer: lambda count: traffic.large(count, "all", "uniform", 1.0), traffic.DEEP_BUFFER: traffic.deep}
        if not self.accepted(traffic.deep(0)).seeds:
            return
        clocks = {traffic.LARGE.buffer: traffic.LARGE.clocks, traffic.DEEP_BUFFER: traffic.DEEP_CLOCKS}
        rows = ["| faults | " + " | ".join(f"buffers of {buffer}, {clocks[buffer]:,} clocks: throughput | per live host | in total" for buffer in makers) + " |", "|---|" + "---|---|---|" * len(makers)]
        changes = {}
        for count in traffic.CLAIMED_FAULTS:
            cells = []
            for buffer, arguments_of in makers.items():
                changes[buffer, count] = self.change(arguments_of(count), arguments_of(0))
                found = self.accepted(arguments_of(count))
                cells += [f"{found.text}, {seeds_of(found)}" if found.seeds else "", *(map(signed, changes[buffer, count]) if count and changes[buffer, count] else ("", ""))]
            rows.append(f"| {count} | " + " | ".join(cells) + " |")
        words = f"Uniform, load 1, placement all. Buffers of {traffic.DEEP_BUFFER} packets need thousands of clocks to fill, so these runs have {traffic.DEEP_CLOCKS:,}; twice as many were not run."
        for count in traffic.CLAIMED_FAULTS[1:]:
            deep, usual = changes[traffic.DEEP_BUFFER, count], changes[traffic.LARGE.buffer, count]
            if deep and usual:
                words += f" With them {faults_of(count)} cost {'more' if deep[0] < usual[0] else 'no more'}: {signed(deep[0])} against {signed(usual[0])} per live host."
        self.sections.append(f"## Larger buffers\n\n{words}\n\n" + "\n".join(rows))

    def patterns(self):
        loads = [load for load in traffic.LOADS if any(self.accepted(traffic.large(0, "all", pattern, load)).seeds for pattern in traffic.PATTERNS[1:])]
        rows = ["| pattern | offered | " + " | ".join(f"{faults_of(count)}: throughput | latency" for count in traffic.FAULTS) + " |", "|---|---|" + "---|---|" * len(traffic.FAULTS)]
        for pattern in traffic.PATTERNS[1:]:
            for load in loads:
                cells = [cell for count in traffic.FAULTS for cell in self.cells(traffic.large(count, "all", pattern, load))]
                rows.append(f"| {pattern} | {load} | " + " | ".join(cells) + " |")
        if loads:
            words = ("Uniform: each packet to any live host, which may be the sender itself. Transpose: leaf (x, y) to (y, x), host by host, where both are alive; hosts of the leaves of the diagonal send to themselves. Rows come first, so all packets of a row turn at its leaf of the diagonal, which limits them; these leaves are the dead ones here: with some of them throughput changes by far, up and down (why so was not looked into), with all of them (16 faults and more) packets turn at many others. Hotspot: one packet in four goes to any host of an eighth of the "
                     "leaves, others as uniform. All-to-all: phases of 64 clocks, in each all hosts send as far, the distance drawn. "
                     f"Some {traffic.LARGE.clocks // 2 // 64} such phases are measured, so throughput is also a matter of the distances drawn. Throughput is that of hosts that send.")
            self.sections.append("### Other patterns\n\n" + words + "\n\n" + "\n".join(rows))

    def beside(self):
        rows = ["| fabric | VCs in use | faults | BookSim2, settings unknown | " + " | ".join(f"here, speedup {speedup}" for speedup in traffic.SPEEDUPS) + " |", "|---|---|---|---|" + "---|" * len(traffic.SPEEDUPS)]
        for n, more, count, theirs in traffic.BESIDE_CASES:
            found = [self.accepted(traffic.beside(n, more, count, speedup)) for speedup in traffic.SPEEDUPS]
            rows.append(f"| {n}×{n}×{n} | {'both' if more else 'one, the other for faults'} | {count} | {theirs} | " + " | ".join(f"{point.median:.3f}" if point.seeds else "" for point in found) + " |")
        words = ("Packets a clock and live host at offered 1.0, one run each, beside figures of a run of BookSim2 made when this work was planned. Settings of that run (buffers, speedup, allocator, planes) are not known, so a difference says nothing "
                 "of either; what the two do at equal settings is in [its page](../route.md#traffic). Here: q as many planes as a leaf has hosts, buffers of 16, short links. With a speedup of 1 or 2 a host sends no more than 0.333 or 0.667: a packet takes three turns.")
        self.sections.append(f"## Beside BookSim2's figures\n\n{words}\n\n" + "\n".join(rows))

    def live(self):
        rows = ["| leaves | rules | VCs | what dies | load | runs | sent | aside | twice | lost in what died | dropped to the dead | dropped to the living | last loss to the dead | last loss to the living | tables done | deadlocked runs |",
                "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
        all_found, by_phase = [], []
        for case in traffic.LIVE_CASES:
            found = [results["live"] for results in self.sweep.of_seeds(case.arguments)]
            if found:
                all_found += [(case, each) for each in found]
                rows.append(f"| {name_of(case)} | {len(found)} | " + " | ".join(live_cells(found)) + " |")
                by_phase += [f"| {name_of(case)} | " + " | ".join(phase_cells(found)) + " |"] if not any(each["deadlock"] for each in found) else []
                self.failures += live_failures(case, found)
        if not all_found:
            return
        self.claim("Live faults: nothing is delivered twice", f"{sum(each['twice'] for _, each in all_found)} packets in {len(all_found)} runs of all rules", not any(each["twice"] for _, each in all_found))
        ours = [each for case, each in all_found if case.rules == "vtftr"]
        self.claim("Live faults: VTFTR never deadlocks", f"{sum(bool(each['deadlock']) for each in ours)} of {len(ours)} runs", not any(each["deadlock"] for each in ours) if ours else None)
        one = [each for case, each in all_found if case.rules == "vtftr" and one_leaf(case)]
        self.claim("One new dead leaf cuts nobody off before tables are rewritten", f"{sum(map(dropped, one))} packets to live leaves dropped in {len(one)} runs", not any(map(dropped, one)) if one else None)
        printed = [each for case, each in all_found if case.rules == "literal"]
        self.claim("As printed: no deadlock while a fault is news", f"{sum(bool(each['deadlock']) for each in printed)} of {len(printed)} runs deadlocked", not any(each["deadlock"] for each in printed) if printed else None)
        (_, notice, between), (_, notice_large, between_large) = (traffic.LIVE_CLOCKS[n] for n in (8, 16))
        words = (f"q is the hosts of a leaf, buffers have 128 packets. Faults strike from clock {traffic.LIVE_STRIKE:,} on, all at once if nothing else is said (of a row or column switch: all its planes); the subnet manager hears of each {notice:,} clocks later ({notice_large:,} in 16×16), makes tables and rewrites a switch every {between} ({between_large}) clocks, in an order drawn anew; hosts send to the dead until it is done. "
                 "Sums over runs. *Lost in what died*, in the clock of the strike: packets in what died, on its links or looked up for them, whoever they were for. *Dropped*: by the rules later, by whether the leaf that a packet was for is dead. *Last loss*: clocks after the strike, "
                 "the latest of any run, of a packet for a dead and for a living leaf, struck ones too: 1 is the strike itself. *Aside*: arrived through more switches than without faults. Runs with a third channel are those with two again, unless a packet turns twice. A run that deadlocks (a ring of full buffers, each "
                 "with a first packet that waits for the next) is stopped, so its other numbers are of its beginning.")
        self.sections.append(f"## Faults in the middle of traffic\n\n{words}\n\n" + "\n".join(rows))
        heads = " | ".join(f"{phase}: throughput | latency" for phase in PHASES)
        words = ("Medians of seeds, by what the manager does: *before*, from half of the time until the strike; *news*, until the first switch is rewritten; *rewriting*, until the last one is; *after*, while hosts send. Throughput is of live hosts; while some send to the dead, as many packets less arrive. "
                 "A real manager takes milliseconds and more where this one takes microseconds, so its *news* and *rewriting* last longer; what they do to traffic does not depend on that, once buffers have filled.")
        if by_phase:
            self.sections.append(f"### Between the fault and the new tables\n\n{words}\n\n| leaves | rules | VCs | what dies | load | {heads} |\n|---|---|---|---|---|" + "---|---|" * len(PHASES) + "\n" + "\n".join(by_phase))

    def standstills(self, wanted):
        """Deadlocks of VTFTR without strikes."""
        found = {arguments: [bool(results.get("deadlock")) for results in self.sweep.of_seeds(arguments)] for arguments, _ in wanted if "--rules" not in arguments and "--strike" not in arguments}
        return [f"{' '.join(arguments)}: {sum(rings)} of {len(rings)} runs deadlocked" for arguments, rings in found.items() if any(rings)]

    def page(self):
        """Claims, sections, and what of the whole sweep was not run."""
        self.claims_small()
        if not self.quick:
            self.large()
            self.steady()
        self.small(8, traffic.LOADS)
        self.small(1, traffic.LOADS_OF_ONE_PLANE)
        self.live()
        if not self.quick:
            self.beside()
        wanted = traffic.points(self.quick)
        runs_of_all = {traffic.with_seed(arguments, seed) for arguments, seeds in wanted for seed in range(1, seeds + 1)}
        missing = self.sweep.missing(wanted)
        self.failures += self.standstills(wanted)
        head = [f"Of the sweep's {len(runs_of_all)} runs {len(runs_of_all) - missing} were made" + (f"; **{missing} were not, so points, seeds and placements are missing below**" if missing else "") + ". "
                "A clock is 1 ns and carries a packet on each link. A lone packet takes 97 ns in its leaf, 167, 237, 307 and 377 with one to four steps, exactly: [tests](../route.md#testplan). Measured is the second half of "
                f"{traffic.SMALL.clocks:,} clocks in 8×8 leaves, of {traffic.LARGE.clocks:,} in 16×16; an input has room for {' and '.join(map(str, dict.fromkeys((traffic.SMALL.buffer, traffic.LARGE.buffer))))} packets of each virtual channel, if nothing else is said: "
                f"a host's link and the news that there is room take {traffic.HOST_LOOP} clocks, so less would slow hosts down. Where less than {round(100 * SATURATED)} % of what is offered arrives, packets wait in their hosts ever longer, and latency is left "
                f"out ({LEFT_OUT}). Intervals hold the median with 95 %, where there are six seeds or more; with fewer they are the least and the most. With one row and column switch for each line (q = 1) 8×8 leaves of 8 hosts carry little more than a tenth of what hosts can send; the paper loads them beyond one "
                "half, so it must have had about as many as a leaf has hosts."]
        if any(agrees == "open" for _, _, agrees in self.claims):
            head[0] += " *Open*: what was run cannot tell."
        head += ["", "| the paper, or weft's goal | here | agrees |", "|---|---|---|"]
        head += [f"| {text} | {ours} | {agrees} |" for text, ours, agrees in self.claims]
        return "## What is claimed, and what is found\n\n" + "\n".join(head) + "\n\n" + "\n\n".join(self.sections)


def dropped(live):
    """By rules, on the way to live leaves."""
    return sum(live["dropped"].values())


def one_leaf(case):
    """One dead leaf cuts nobody off; other faults may."""
    return case.what == "leaf" and case.count == 1


def live_failures(case, found):
    """What must be 0 in such runs and is not."""
    name = f"live faults, {name_of(case).replace(' | ', ', ')}"
    twice, deadlocked, lost = sum(each["twice"] for each in found), sum(bool(each["deadlock"]) for each in found), sum(map(dropped, found))
    failures = [f"{name}: {twice} packets arrived twice"] if twice else []
    failures += [f"{name}: {deadlocked} of {len(found)} runs deadlocked"] if deadlocked and case.rules == "vtftr" else []
    return failures + ([f"{name}: {lost} packets to live leaves dropped"] if lost and case.rules == "vtftr" and one_leaf(case) else [])


def name_of(case):
    every = f", one every {case.gap:,} clocks" if case.gap else ""
    return f"{case.n}×{case.n} | {case.rules} | {case.channels} | {dying(case)}{every} | {case.load}"


def phase_cells(found):
    """Of throughput and latency."""
    for phase in PHASES:
        for key, digits in (("accepted", 3), ("mean_latency_clocks", 0)):
            values = [each["phases"][phase][key] for each in found if each["phases"][phase][key] is not None]
            yield f"{statistics.median(values):.{digits}f}" if values else ""


def live_cells(found):
    def latest(key):
        values = [each[key] for each in found if each[key] is not None]
        return f"{max(values):,}" if values else ""

    sums = [sum(each[key] for each in found) for key in ("sent", "detoured", "twice", "struck", "to_dead")] + [sum(map(dropped, found))]
    return [*(f"{value:,}" for value in sums), *map(latest, ("last_loss_to_dead_clocks", "last_loss_clocks", "tables_done_clocks")), f"{sum(bool(each['deadlock']) for each in found)}"]

# SPDX-License-Identifier: Apache-2.0
"""What the runs of route_traffic.py say: the paper's claims beside ours, tables, figures in docs/img."""

import plot
import route_traffic as traffic

COLOURS = ("#2166ac", "#1b7837", "#b2182b", "#e08214", "#762a83", "#777777")
MARKERS = "osD^vx"


def percent(part):
    return f"{100 * part:.2f} %"


class Report:
    def __init__(self, sweep, images, page_images, quick):
        self.sweep = sweep
        self.images = images
        self.page_images = page_images
        self.quick = quick
        self.sections = []
        self.claims = []

    def claim(self, text, ours, agrees):
        self.claims.append((text, ours, "yes" if agrees else "no"))

    def accepted(self, arguments):
        return self.sweep.point(arguments, "accepted")

    def latency(self, arguments):
        return self.sweep.point(arguments, "mean_latency_clocks")

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
            cells = [(self.accepted(of(load)), self.latency(of(load))) for _, of in series]
            rows.append(f"| {load} | " + " | ".join(f"{a.text if a.seeds else ''} | {b.text if b.seeds else ''}" for a, b in cells) + " |")
        seeds = max(self.accepted(of(load)).seeds for load in loads for _, of in series)
        self.sections.append(f"## 8×8 leaves of 8 hosts, q = {planes}\n\nAt most {seeds} seeds a point; the fault is leaf (4, 3).\n\n{figures}\n\n" + "\n".join(rows))

    def claims_small(self):
        names = [label for label, _ in traffic.SERIES]
        at = {(label, load): traffic.small(8, more, load) for label, more in traffic.SERIES for load in traffic.LOADS}
        one, two, ours, theirs = ({load: (self.accepted(at[name, load]), self.latency(at[name, load])) for load in traffic.LOADS} for name in names)
        if any(each[1.0][0].median is None for each in (one, two, ours, theirs)):
            return
        high = [load for load in traffic.LOADS if load > 0.5 and ours[load][0].median is not None and theirs[load][0].median is not None]
        gains = {load: ours[load][0].median / theirs[load][0].median - 1 for load in high}
        higher = [load for load in high if ours[load][0].low > theirs[load][0].high]
        self.claim("8×8, one fault: VTFTR's throughput above algorithm A's beyond 50 % load",
                   f"q = 8: {', '.join(f'{percent(gain)} at {load}' for load, gain in gains.items())}; intervals apart at {', '.join(map(str, higher)) or 'no load'}", len(higher) == len(high))
        later = [load for load in high if theirs[load][1].low > ours[load][1].high]
        self.claim("and its latency below", f"{', '.join(f'{ours[load][1].median:.0f} against {theirs[load][1].median:.0f} ns at {load}' for load in high)}", len(later) == len(high))
        self.claim("8×8, no fault: a virtual channel kept for faults costs a little", f"throughput at load 1: {one[1.0][0].text} with, {two[1.0][0].text} without one kept", one[1.0][0].median < two[1.0][0].median)
        self.claim("8×8, one fault: only a little less throughput, at high load", f"throughput at load 1: {ours[1.0][0].text} against {one[1.0][0].text} without a fault", ours[1.0][0].median >= 0.99 * one[1.0][0].median)

    def large(self):
        at = {count: traffic.large(count, "all", "uniform", 1.0) for count in traffic.FAULTS}
        whole = self.accepted(at[0])
        if whole.median is None:
            return
        for count, most in ((5, 0.01), (10, 0.02)):
            found = self.accepted(at[count])
            if found.median is not None:
                loss = 1 - found.median / whole.median
                self.claim(f"4,096 nodes, {count} faults: at most {round(100 * most)} % less throughput", f"q = 16, load 1, no two faults in a row or column: throughput {found.text} with, {whole.text} without ({percent(-loss)}; {found.seeds} seeds)",
                           loss <= most)
        for count in (5, 10):
            found = {placement: self.accepted(traffic.large(count, placement, "uniform", 1.0)) for placement in traffic.PLACEMENTS}
            if all(point.median is not None for point in found.values()):
                medians = [point.median for point in found.values()]
                spread = 1 - min(medians) / max(medians)
                self.claim(f"4,096 nodes, {count} faults: their placement matters less than 2 %", f"{percent(spread)} between the best and the worst of five", spread < 0.02)
        series = [(f"{count} faults", lambda load, count=count: traffic.large(count, "all", "uniform", load)) for count in traffic.FAULTS]
        figures = self.lines("4096", "16×16 leaves of 16 hosts, q = 16, uniform", traffic.LOADS, series)
        rows = ["| faults | " + " | ".join(traffic.PLACEMENTS) + " |", "|---|" + "---|" * len(traffic.PLACEMENTS)]
        for count in traffic.FAULTS:
            found = [self.accepted(traffic.large(count, placement, "uniform", 1.0)) for placement in traffic.placements(count)]
            rows.append(f"| {count} | " + " | ".join([f"{point.text}, {point.seeds} seeds" if point.seeds else "" for point in found] + [""] * (5 - len(found))) + " |")
        words = "Throughput at load 1 by placement: all: no two in a row or column while that can be; c: in one column, r: in one row, of which at most 15 are dead; r1, r2: drawn. Figures: placement all."
        self.sections.append(f"## 4,096 nodes: 16×16 leaves of 16 hosts, q = 16\n\n{words}\n\n" + "\n".join(rows) + f"\n\n{figures}")
        self.patterns()

    def patterns(self):
        loads = [load for load in traffic.LOADS if any(self.accepted(traffic.large(0, "all", pattern, load)).seeds for pattern in traffic.PATTERNS[1:])]
        rows = ["| pattern | offered | " + " | ".join(f"{count} faults: throughput | latency" for count in traffic.FAULTS) + " |", "|---|---|" + "---|---|" * len(traffic.FAULTS)]
        for pattern in traffic.PATTERNS[1:]:
            for load in loads:
                cells = []
                for count in traffic.FAULTS:
                    found = traffic.large(count, "all", pattern, load)
                    cells += [self.accepted(found).text, self.latency(found).text] if self.accepted(found).seeds else ["", ""]
                rows.append(f"| {pattern} | {load} | " + " | ".join(cells) + " |")
        if loads:
            words = "Transpose: leaf (x, y) to (y, x), where both are alive. Hotspot: one packet in four goes to an eighth of the leaves. All-to-all: phases of 64 clocks, in each all hosts send as far, the distance drawn."
            self.sections.append("### Other patterns\n\n" + words + "\n\n" + "\n".join(rows))

    def beside(self):
        rows = ["| fabric | VCs in use | faults | BookSim2, settings unknown | " + " | ".join(f"here, speedup {speedup}" for speedup in traffic.SPEEDUPS) + " |", "|---|---|---|---|" + "---|" * len(traffic.SPEEDUPS)]
        for n, more, count, theirs in traffic.BESIDE_CASES:
            found = [self.accepted(traffic.beside(n, more, count, speedup)) for speedup in traffic.SPEEDUPS]
            rows.append(f"| {n}×{n}×{n} | {'both' if more else 'one, the other for faults'} | {count} | {theirs} | " + " | ".join(f"{point.median:.3f}" if point.seeds else "" for point in found) + " |")
        words = ("Packets a clock and live host at offered 1.0, one run each, beside figures of a run of BookSim2 made when this work was planned. Settings of that run (buffers, speedup, allocator, planes) are not known, so a difference says nothing "
                 "of either; what the two do at equal settings is in [its page](../route.md#traffic). Here: q as many planes as a leaf has hosts, buffers of 16, short links.")
        self.sections.append(f"## Beside BookSim2's figures\n\n{words}\n\n" + "\n".join(rows))

    def live(self):
        rows = ["| rules | VCs | faults | load | runs | sent | aside | twice | lost in what died | lost to the dead | lost between the living | last of these, clocks after the strike | tables done | deadlocked runs |", "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
        all_found = []
        for case in traffic.LIVE_CASES:
            for load in traffic.LIVE_LOADS:
                found = [results["live"] for results in self.sweep.of_seeds(traffic.live(*case, load))]
                if found:
                    all_found += [(case, each) for each in found]
                    rows.append(f"| {' | '.join(map(str, case))} | {load} | {len(found)} | " + " | ".join(live_cells(found)) + " |")
        if not all_found:
            return
        self.claim("Live faults: VTFTR delivers nothing twice", f"{sum(each['twice'] for _, each in all_found)} packets in {len(all_found)} runs", not any(each["twice"] for _, each in all_found))
        ours = [each for (rules, _, _), each in all_found if rules == "vtftr"]
        self.claim("Live faults: VTFTR never deadlocks", f"{sum(bool(each['deadlock']) for each in ours)} of {len(ours)} runs", not any(each["deadlock"] for each in ours))
        one = [each for (rules, _, count), each in all_found if rules == "vtftr" and count == 1]
        self.claim("One new fault cuts nobody off before tables are rewritten", f"{sum(sum(each['dropped'].values()) for each in one)} packets between live leaves dropped in {len(one)} runs",
                   not any(each["dropped"] for each in one))
        printed = [each for (rules, _, _), each in all_found if rules == "literal"]
        self.claim("As printed: no deadlock while a fault is news", f"{sum(bool(each['deadlock']) for each in printed)} of {len(printed)} runs deadlocked", not any(each["deadlock"] for each in printed))
        words = ("8×8 leaves of 8 hosts, q = 8. Leaves die in clock 2,000, all at once; the subnet manager hears of it 2,000 clocks later, makes tables and rewrites a switch every 20 clocks, in an order drawn anew; hosts send to the dead until it is done. "
                 "Sums over runs, the last loss the latest of any. *Lost in what died*: packets in a dead leaf, on its links or looked up for them. *Aside*: arrived through more switches than without faults. A run that deadlocks (a ring of full buffers, each "
                 "with a first packet that waits for the next) is stopped, so its other numbers are of its beginning.")
        self.sections.append(f"## Faults in the middle of traffic\n\n{words}\n\n" + "\n".join(rows))

    def page(self):
        """Claims, sections, and what of the whole sweep was not run."""
        if not self.quick:
            self.claims_small()
            self.large()
        self.small(8, traffic.LOADS)
        self.small(1, traffic.LOADS_OF_ONE_PLANE)
        self.live()
        if not self.quick:
            self.beside()
        wanted = traffic.points(self.quick)
        runs_of_all = {traffic.with_seed(arguments, seed) for arguments, seeds in wanted for seed in range(1, seeds + 1)}
        missing = self.sweep.missing(wanted)
        head = [f"Of the sweep's {len(runs_of_all)} runs {len(runs_of_all) - missing} were made" + (f"; **{missing} were not, so points, seeds and placements are missing below**" if missing else "") + ". "
                "A clock is 1 ns and carries a packet on each link. A lone packet takes 97 ns in its leaf, 167, 237, 307 and 377 with one to four steps, exactly: [tests](../route.md#testplan). Measured is the second half of "
                f"{traffic.SMALL.clocks} clocks. Intervals hold the median with 95 %, where there are six seeds or more; with fewer they are the least and the most. With one row and column switch for each line (q = 1) 8×8 leaves of 8 hosts carry little more than a tenth of what hosts can send; the paper loads them beyond one "
                "half, so it must have had about as many as a leaf has hosts."]
        head += ["", "| the paper, or weft's goal | here | agrees |", "|---|---|---|"]
        head += [f"| {text} | {ours} | {agrees} |" for text, ours, agrees in self.claims]
        return "## What is claimed, and what is found\n\n" + "\n".join(head) + "\n\n" + "\n\n".join(self.sections)


def live_cells(found):
    last = [each["last_loss_clocks"] for each in found if sum(each["dropped"].values()) and each["last_loss_clocks"] is not None]
    done = [each["tables_done_clocks"] for each in found if each["tables_done_clocks"] is not None]
    sums = [sum(each[key] for each in found) for key in ("sent", "detoured", "twice", "struck", "to_dead")]
    lost = sum(sum(each["dropped"].values()) for each in found)
    return [*(f"{value:,}" for value in sums), f"{lost:,}", f"{max(last):,}" if last else "", f"{max(done):,}" if done else "", f"{sum(bool(each['deadlock']) for each in found)}"]

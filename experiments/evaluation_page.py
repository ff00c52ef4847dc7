# SPDX-License-Identifier: Apache-2.0
"""The page docs/results/rdma.md: claims with their answers, sections with tables and figures, all numbers for machines."""

INTRODUCTION = (
    "Three schemes for transfers over a network that loses packets: the *receiver window* of Wang et al. (2015) in its two modes, as printed and as [weft](../rdma.md) has it, and [two older ones](../rdma_baseline.md), the *receiver counter*, "
    "which sends a whole transfer again, and the *sender window*, which keeps packets until each is answered. Each is an engine of its own as RTL; here they run over the same networks, each with the timeout that suits it best of those that were tried (each 1.2 to 2.1 times the one before), which the tables of timeouts say. *pair* keeps order, and weft mode is told so (`RX_AHEAD`); the older schemes, as built, make no use of that ([though they could](../rdma_baseline.md)), so a claim and [a table](#if-order-is-not-known) say how weft mode does without. All delays are drawn uniformly.")
ANSWERS = (
    "*Agrees* goes by intervals: *open* where two overlap, or one holds the limit; an interval of a ratio goes from the lowest over the highest to the highest over the lowest; means, and *at most* and *at least* of medians, have none. What each is expected to be is in [claims.json](../../experiments/claims.json): if an answer turns, `make figures` fails, in its quick form also CI.")


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows)]


class Report:
    def __init__(self, folder):
        self.folder = folder
        self.experiment = None  # by which sections and claims come from now on
        self.sections = []
        self.claims = []  # (text, found, answer)
        self.numbers = {}
        self.engines = (0, 0)  # checked before, and events compared
        self.example = ""  # arguments of one run

    def claim(self, text, found, answer):
        self.claims.append((text, found, answer))

    def table(self, title, words, head, rows, figure=None):
        alone = f' Alone: `make rdma-figures FIGURES_ARGS="--only {self.experiment}"`.' if self.experiment else ""
        lines = [f"## {title}", "", words[0].upper() + words[1:] + alone, ""]
        if figure:
            lines += [f"![{title}](../img/{figure.name})", ""]
        self.sections.append("\n".join(lines + table(head, rows)))
        self.numbers[title] = [dict(zip(head, row)) for row in rows]

    def page(self, seeds, sweep_seeds, quick):
        lines = ["# Paper 1's evaluation on the RTL", "", INTRODUCTION, "",
                 f"Written by `make figures`. Every point: median of {len(seeds)} seeds ({seeds[0]} to {seeds[-1]}; timeouts are chosen by others, {sweep_seeds[0]} to {sweep_seeds[-1]}), and in brackets an interval that holds the median with at least 95 % (order statistics). Times are clocks of "
                 "the engines from the first post to the last completion. A run that did not finish, or ended with an error, counts as longer than all others (*with an error*: of those not finished, the runs in which a transfer gave up; in the rest the clocks were over): "
                 "there is no median if they are half of all, and the interval is open (∞) if one of its ends is such a run. Verilated engines, alone (`build/bin/weft-sim-experiments rdma --bare`); before, each of them, of every scheme, window, payload and mode, runs beside the golden model, with packets lost, on the torus with the least of its timeouts and with detours "
                 f"({self.engines[0]} runs, {self.engines[1]:,} events, no difference) and alone in as many clocks. One run, for example: `build/bin/weft-sim-experiments rdma --bare {self.example}`. 256-bit links, one flit of 32 bytes a clock; a packet of 256 bytes takes 9 clocks. Timeouts are rounded up to ticks of 16 clocks (from 1,088 clocks on of a 64th): 75 is 80, 100 is 112; and a timer may be late by a tick and a pass over its engine's. "
                 "Where packets are lost, each one of any type, answers too, is lost with that probability, drawn once, as it enters the network, whatever its way. "
                 "In tables of timeouts the best one is bold: the least median; of all within half a hundredth of that those with the least mean, by as much; of these the longest; † marks it where it is the least or the largest that was tried, and clearly better than the next.", ""]
        if quick:
            lines += [f"**Quick form: few points, and {len(seeds)} seeds, of which the interval is the range.**", ""]
        lines += ["## What the paper claims, and what is found", "", ANSWERS, "", *table(["claim", "found", "agrees"], self.claims)]
        return "\n".join(lines) + "\n\n" + "\n\n".join(self.sections) + "\n"

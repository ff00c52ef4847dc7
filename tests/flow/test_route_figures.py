# SPDX-License-Identifier: Apache-2.0
"""The page of traffic through fat trees with faults, from made-up results: a claim that does not hold is not called true, what must be 0 and is not is collected, latency
is told below saturation only.

usage: test_route_figures.py REPOSITORY
"""

import functools
import pathlib
import sys
import types
import unittest
import unittest.mock

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "experiments"))
sys.modules["plot"] = types.SimpleNamespace(lines=lambda *_, **__: None)  # needs matplotlib
import route_figures  # noqa: E402
import route_traffic as traffic  # noqa: E402

LIVE = {"sent": 1000, "arrived": 990, "detoured": 1, "twice": 0, "struck": 7, "to_dead": 3, "dropped": {}, "left": 0, "last_loss_clocks": 1, "last_loss_to_dead_clocks": 5883, "tables_done_clocks": 5820,
        "rewritten_switches": 192, "deadlock": [], "deadlock_clocks": None, "phases": {phase: {"clocks": 1000, "accepted": 0.5, "mean_latency_clocks": 250.0} for phase in ("before", "news", "rewriting", "after")}}


class Run:
    """What a command line asks for."""

    planes = property(lambda self: int(self.told["--planes"]))

    def __init__(self, arguments):
        self.told = told = dict(zip(arguments, arguments[1:]))
        self.n = 8 if "8x8" in told["--topology"] else 16
        self.load, self.clocks, self.seed = float(told["--load"]), int(told["--clocks"]), int(told["--seed"])
        self.buffer, self.pattern, self.rules = int(told.get("--buffer", 128)), told.get("--pattern", "uniform"), told.get("--rules", "vtftr")
        self.live, self.free, self.channels = "--strike" in arguments, "--any-channel" in arguments, told.get("--channels")
        start = next((place + 1 for place, each in enumerate(arguments) if each in ("--fail", "--new-fail")), len(arguments))
        self.dead = tuple(each for each in arguments[start:] if each[0].isdigit() and "," in each)
        self.placement = next((each for each in traffic.PLACEMENTS if self.dead == traffic.faults(self.n, len(self.dead), each)), "all")


def most(run):
    """Throughput at saturation if all claims hold. Algorithm A loses a little below it, too."""
    return min(0.7, 0.99 * run.load) if run.rules == "detour" else 0.8


def latency(run):
    return 225.0 if run.rules == "detour" else 220.0


@functools.cache
def wanted(quick):
    arguments = dict.fromkeys(traffic.with_seed(arguments, seed) for arguments, seeds in traffic.points(quick) for seed in range(1, seeds + 1))
    return [(each, Run(each)) for each in arguments]


def results(quick=False, most=most, latency=latency, live=lambda run: {}, made=lambda run: True, deadlock=lambda run: False):
    """Of the whole sweep: seeds differ a little."""
    found = {}
    for arguments, run in wanted(quick):
        if made(run):
            found[arguments] = {"accepted": min(run.load, most(run)) * (1 + 0.0001 * (run.seed % 3)), "mean_latency_clocks": latency(run), "senders": run.n * (run.n**2 - len(run.dead))}
            if not run.live:
                found[arguments]["deadlock"] = ["a", "b"] if deadlock(run) else []
            else:
                found[arguments]["live"] = {**LIVE, **live(run)}
    return found


class Pages(unittest.TestCase):
    def report(self, quick=False, **made_up):
        sweep = traffic.Sweep.__new__(traffic.Sweep)
        sweep.results = results(quick, **made_up)
        self.made = route_figures.Report(sweep, pathlib.Path("nowhere"), ".", quick)
        self.page = self.made.page()
        return self.made

    def claim(self, text):
        """(ours, agrees) of the only claim with this text; it is on the page."""
        found = [claim for claim in self.made.claims if text in claim[0]]
        self.assertEqual(len(found), 1, text)
        self.assertTrue(f"| {' | '.join(found[0])} |" in self.page)
        return found[0][1:]

    def section(self, title):
        """Rows of its table, as cells, by the first one."""
        self.assertTrue(f"# {title}\n" in self.page)
        lines = self.page.partition(f"# {title}\n")[2].partition("\n#")[0].splitlines()
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        return {row[0]: dict(zip(rows[0], row)) for row in rows[2:]}, rows


class Claims(Pages):
    def test_all_hold(self):
        self.report()
        self.assertEqual([claim for claim in self.made.claims if claim[2] != "yes"], [])
        self.assertEqual(len(self.made.claims), 13)
        self.assertEqual(self.made.failures, [])
        self.assertTrue("Of the sweep's" in self.page)
        self.assertFalse("were not, so" in self.page or "*Open*" in self.page)

    def test_throughput_of_algorithm_a(self):
        for cap, agrees in ((0.55, "yes"), (0.8, "no")):
            self.report(most=lambda run, cap=cap: cap if run.rules == "detour" else 0.8)
            self.assertEqual(self.claim("above algorithm A's")[1], agrees)

    def test_five_faults_cost_too_much(self):
        for loss, agrees in ((0.008, "yes"), (0.011, "no"), (0.015, "no")):
            self.report(most=lambda run, loss=loss: most(run) * (1 - loss if len(run.dead) == 5 else 1))
            self.assertEqual(self.claim("5 faults: at most 1 %")[1], agrees)
            self.assertEqual(self.claim("10 faults: at most 2 %")[1], "yes")

    def test_one_placement_out_of_line(self):
        self.report(most=lambda run: most(run) * (0.985 if len(run.dead) == 5 and run.placement == "r" else 1))
        ours, agrees = self.claim("5 faults: at most 1 %")
        self.assertEqual(agrees, "no")
        self.assertIn("−1.50 % (r) to +0.00 % (all), 5 of 5 placements, intervals below that without faults: r; ", ours)
        self.assertEqual(self.claim("5 faults: their placement matters")[1], "yes")
        self.report(most=lambda run: most(run) * (0.975 if len(run.dead) == 5 and run.placement == "r" else 1))
        self.assertEqual(self.claim("5 faults: their placement matters")[1], "no")

    def test_a_placement_that_was_not_run(self):
        self.report(made=lambda run: not (len(run.dead) == 5 and run.placement == "r2"))
        self.assertEqual(self.claim("5 faults: at most 1 %")[1], "open")
        self.assertTrue("*Open*" in self.page and "were not, so points" in self.page)

    def test_patterns_and_larger_buffers_that_lose_more_are_named(self):
        self.report(most=lambda run: most(run) * (0.7 if run.pattern == "transpose" and len(run.dead) == 10 else 0.96 if run.buffer == 128 and len(run.dead) == 10 else 1))
        ours, agrees = self.claim("10 faults: at most 2 %")
        self.assertEqual(agrees, "no")
        for text in ("other patterns beyond it: transpose −30.00 %; within it: hotspot, all-to-all", "buffers of 128: −4.00 %", "in total −3.91 % to −3.91 %, which is beyond it"):
            self.assertIn(text, ours)

    def test_patterns_that_are_not_steady_are_in_no_claim(self):
        self.report(most=lambda run: most(run) * (0.7 if run.pattern == "transpose" and run.dead else 1.1 if run.pattern == "transpose" and run.clocks == 2 * traffic.LARGE.clocks else 1))
        for count in (5, 10):
            self.assertNotIn("transpose", self.claim(f"4,096 nodes, {count} faults: at most")[0])

    def test_less_than_seeds_differ_is_open(self):
        self.report(most=lambda run: most(run) * (0.988 if len(run.dead) == 5 else 1) * (1 + 0.002 * (run.seed % 3)))
        self.assertEqual(self.claim("5 faults: at most 1 %")[1], "open")
        self.assertEqual(self.claim("10 faults: at most 2 %")[1], "yes")

    def test_a_channel_kept_for_faults(self):
        for cap, agrees, loss in ((0.81, "yes", "−1.23 %"), (0.94, "no", "−14.89 %")):
            self.report(most=lambda run, cap=cap: cap if run.free else most(run))
            ours, found = self.claim("a virtual channel kept for faults")
            self.assertEqual(found, agrees)
            self.assertIn(loss, ours)
            self.assertIn("below saturation, up to 0.8, at worst +0.00 %", ours)

    def test_latency_beyond_saturation_tells_nothing(self):
        def slow(run):
            return latency(run) + (1000 if run.rules == "detour" and run.load > 0.5 else 0)

        self.report(latency=slow, most=lambda run: 0.5 if run.rules == "detour" else 0.8)
        ours, agrees = self.claim("and its latency below")
        self.assertEqual(agrees, "open")
        self.assertEqual(ours, "at no load beyond 0.5; 220 against 225 ns at 0.5; only A is saturated at 0.6, 0.7, 0.8")

    def test_latency_below_saturation(self):
        for theirs, agrees in ((230.0, "yes"), (220.0, "no"), (210.0, "no")):
            self.report(latency=lambda run, theirs=theirs: 9999.0 if run.load > (0.75 if run.rules == "detour" else 0.85) else theirs if run.rules == "detour" else 220.0)
            ours, found = self.claim("and its latency below")
            self.assertEqual((ours, found), (f"220 against {theirs:.0f} ns at 0.6, 220 against {theirs:.0f} ns at 0.7; only A is saturated at 0.8", agrees))
            self.assertFalse("9,999" in self.page)

    def test_quick_form_has_those_of_8x8(self):
        self.report(quick=True, most=lambda run: 0.95 if run.free else 0.75 if run.rules == "detour" else 0.8)
        self.assertEqual(self.claim("and its latency below"), ("220 against 225 ns at 0.7", "yes"))
        self.assertEqual(self.claim("a virtual channel kept for faults")[1], "no")
        self.assertEqual(self.claim("one fault: only a little less")[1], "yes")
        self.assertFalse([claim for claim in self.made.claims if "4,096" in claim[0]])


class Steadiness(Pages):
    def test_a_drift_is_flagged(self):
        long, count = 2 * traffic.LARGE.clocks, len(traffic.steady())
        for drift, agrees in ((0.008, "yes"), (-0.05, "no"), (0.05, "no")):
            self.report(most=lambda run, drift=drift: most(run) * (1 + drift if run.clocks == long and run.pattern == "transpose" and not run.dead else 1))
            ours, found = self.claim("Twice the clocks")
            self.assertEqual(found, agrees)
            rows, _ = self.section("Is it steady?")
            self.assertEqual(len(rows), count)
            cell = rows["4,096 nodes, transpose, 0 faults"]["difference"]
            if agrees == "no":
                self.assertEqual(ours, f"beyond it: 4,096 nodes, transpose, 0 faults ({route_figures.signed(drift)}); {count} of {count} compared")
                self.assertEqual(cell, f"**{route_figures.signed(drift)}**")
            else:
                self.assertEqual((ours, cell), (f"at most 0.80 %; {count} of {count} compared", "+0.80 %"))
            self.assertEqual(rows["4,096 nodes, transpose, 10 faults"]["difference"], "+0.00 %")

    def test_not_all_were_run(self):
        long = 2 * traffic.LARGE.clocks
        self.report(made=lambda run: run.clocks != long or run.pattern != "hotspot")
        count = len(traffic.steady())
        self.assertEqual(self.claim("Twice the clocks"), (f"at most 0.00 %; {count - 2} of {count} compared", "open"))

    def test_larger_buffers(self):
        for loss, word in ((0.03, "more"), (0.0, "no more")):
            self.report(most=lambda run, loss=loss: most(run) * (1 - loss if run.buffer == traffic.DEEP_BUFFER and len(run.dead) == 10 else 1))
            _, rows = self.section("Larger buffers")
            self.assertEqual(rows[-1][0], "10")
            self.assertEqual(rows[-1][-2:], [route_figures.signed(-loss), route_figures.signed((1 - loss) * 246 / 256 - 1)])
            self.assertTrue(f"10 faults cost {word}: {route_figures.signed(-loss)} against +0.00 % per live host" in self.page)


class Tables(Pages):
    def test_what_faults_cost(self):
        rise = "can rise with faults"
        self.report(most=lambda run: most(run) * (1.004 if len(run.dead) == 10 else 0.98 if run.pattern == "hotspot" and run.dead else 1))
        rows, cells = self.section("What faults cost at load 1")
        self.assertEqual(list(rows), [f"uniform, {placement}" for placement in traffic.PLACEMENTS] + ["transpose, all", "hotspot, all", "all-to-all, all"])
        self.assertEqual(cells[2][1:], ["+0.00 %", "−0.39 %", "+0.00 %", "−1.95 %", "+0.40 %", "−3.52 %", "+0.00 %", "−5.85 %", "+0.00 %", "−7.81 %"])
        self.assertEqual(cells[3][1:3], ["", ""])
        self.assertEqual(cells[8][1:3], ["−2.00 %", "−2.38 %"])
        self.assertTrue(rise in self.page)
        self.assertTrue(f"Uniform: 2 to {traffic.SEEDS_DECIDING} seeds a point, which differ by up to 0.02 %. Other patterns: {traffic.SEEDS_OF_PATTERNS} seeds a point, which differ by up to 0.01 %." in self.page)
        self.report()
        self.assertFalse(rise in self.page)

    def test_latency_is_left_out_beyond_saturation(self):
        self.report()
        rows, _ = self.section("8×8 leaves of 8 hosts, q = 8")
        self.assertEqual(rows["0.7"]["latency"], "225 (225–225)")
        self.assertEqual(rows["0.8"]["latency"], "–")  # of algorithm A, the last column of that name
        _, patterns = self.section("Other patterns")
        saturated = [row for row in patterns[2:] if row[1] == "1.0"]
        self.assertEqual({row[3] for row in saturated}, {"–"})
        self.assertEqual({row[3] for row in patterns[2:] if row[1] == "0.5"}, {"220 (220–220)"})

    def test_last_losses(self):
        self.report(live=lambda run: {"last_loss_to_dead_clocks": None} if run.rules == "literal" else {"last_loss_clocks": 10 * run.seed, "last_loss_to_dead_clocks": 5000 + run.seed})
        _, rows = self.section("Faults in the middle of traffic")
        places = [rows[0].index(name) for name in ("last loss to the dead", "last loss to the living", "tables done")]
        by_rules = {row[1]: [row[place] for place in places] for row in reversed(rows[2:])}  # the first of each
        self.assertEqual(by_rules, {"vtftr": ["5,020", "200", "5,820"], "literal": ["", "1", "5,820"]})


    def test_one_plane(self):
        self.report(most=lambda run: 0.05 - 0.001 * len(run.dead) if run.planes == 1 and run.n == 16 else most(run))
        _, rows = self.section("One switch for each row and column (q = 1)")
        self.assertEqual([row[0] for row in rows[2:]], [str(load) for load in traffic.LOADS_OF_ONE_LARGE_PLANE])
        self.assertEqual([cell.split()[0] for cell in rows[-1][1:]], ["0.050", "–", "0.045", "–", "0.040", "–"])
        self.assertEqual(rows[2][2].split()[0], "220")

    def test_phases(self):
        def phases(run):
            return {"phases": {**LIVE["phases"], "news": {"clocks": 1, "accepted": 0.4 + 0.001 * (run.seed % 3), "mean_latency_clocks": 300.0 + run.seed}}, "deadlock": ["a", "b"] if run.rules == "literal" else []}

        self.report(live=phases)
        _, rows = self.section("Between the fault and the new tables")
        self.assertEqual({row[1] for row in rows[2:]}, {"vtftr"})
        self.assertEqual(rows[2][5:], ["0.500", "250", "0.401", "310", "0.500", "250", "0.500", "250"])  # the median of 301 to 320, to even

    def test_what_dies_is_named(self):
        self.report()
        _, rows = self.section("Faults in the middle of traffic")
        self.assertEqual(len(rows) - 2, len(traffic.LIVE_CASES))
        self.assertEqual({row[3] for row in rows[2:]}, {"1 leaf", "2 leaves", "3 leaves", "5 leaves", "10 leaves", "3 leaves, one every 2,500 clocks", "1 row link", "1 column link", "3 column links", "1 row switch", "1 column switch"})


class Live(unittest.TestCase):
    def test_faults_are_told_as_the_program_wants_them(self):
        for what, told in (("leaf", ("--new-fail", "2,5")), ("row link", ("--new-fail-row-link", "2,5")), ("column link", ("--new-fail-column-link", "2,5")), ("row switch", ("--new-fail-row", "2")), ("column switch", ("--new-fail-column", "5"))):
            with unittest.mock.patch.object(traffic, "faults", return_value=("2,5",)):
                self.assertEqual(traffic.Live("vtftr", 2, what, 1).arguments[-2:], told)


class Failures(Pages):
    def test_twice(self):
        self.report(live=lambda run: {"twice": 2} if run.rules == "literal" and len(run.dead) == 3 and run.seed == 2 else {})
        self.assertEqual(self.made.failures, ["live faults, 8×8, literal, 2, 3 leaves, 0.5: 2 packets arrived twice"])
        self.assertEqual(self.claim("nothing is delivered twice")[1], "no")

    def test_deadlock(self):
        self.report(live=lambda run: {"deadlock": ["a", "b"]} if run.rules == "literal" else {})
        self.assertEqual((self.made.failures, self.claim("never deadlocks")[1], self.claim("As printed")[1]), ([], "yes", "no"))
        self.report(live=lambda run: {"deadlock": ["a", "b"]} if run.channels == "3" and len(run.dead) == 2 and run.seed == 1 else {})
        self.assertEqual(self.made.failures, [f"live faults, 8×8, vtftr, 3, 2 leaves, 0.5: 1 of 20 runs deadlocked"])
        self.assertEqual(self.claim("never deadlocks")[1], "no")

    def test_deadlock_without_strikes(self):
        self.report(deadlock=lambda run: run.rules == "detour")
        self.assertEqual(self.made.failures, [])
        self.report(deadlock=lambda run: run.n == 16 and len(run.dead) == 15 and run.placement == "all" and run.pattern == "uniform" and run.load == 1 and run.seed == 2)
        self.assertEqual(len(self.made.failures), 1)
        self.assertRegex(self.made.failures[0], r"--load 1.0 .*: 1 of \d runs deadlocked$")

    def test_dropped(self):
        self.report(live=lambda run: {"dropped": {"DEAD": 5}} if len(run.dead) != 1 else {})  # two leaves, links, a row switch
        self.assertEqual((self.made.failures, self.claim("One new dead leaf")[1]), ([], "yes"))
        self.report(quick=True, live=lambda run: {"dropped": {"DEAD": 2, "NO_BACKUP": 1}} if len(run.dead) == 1 and run.rules == "vtftr" and run.channels == "2" else {})
        self.assertEqual(self.made.failures, [f"live faults, 8×8, vtftr, 2, 1 leaf, {load}: 6 packets to live leaves dropped" for load in (0.5, 0.2, 0.8)])
        self.assertEqual(self.claim("One new dead leaf")[1], "no")


if __name__ == "__main__":
    unittest.main()

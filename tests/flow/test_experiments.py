# SPDX-License-Identifier: Apache-2.0
"""What the experiments tell of a point: the median of its seeds, its interval, what did not finish; what happens if weft-sim cannot be run; what a
window cannot beat; answers to claims, the best of a sweep; and the page of the evaluation, from results that are made up.

usage: test_experiments.py REPOSITORY
"""

import contextlib
import io
import math
import pathlib
import re
import stat
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "experiments"))
drawn = {}  # names of figures, and what is drawn: no library for plots is needed here
sys.modules["plot"] = types.SimpleNamespace(
    lines=lambda path, title, x_label, y_label, series, note, **_: drawn.update({path.name: (series, note)}),
    bars=lambda path, title, y_label, panels, note, **_: drawn.update({path.name: (panels, note)}))
import bound  # noqa: E402
import claims  # noqa: E402
import evaluation_page  # noqa: E402
import experiments  # noqa: E402
import figures  # noqa: E402
import runs  # noqa: E402
import scheme_costs  # noqa: E402
import sweeps  # noqa: E402

NUMBERS = re.compile(r"\b(?:\d{1,3}(?:,\d{3})+|\d+\.\d+)\b")  # with a comma or a point: others are in every text

FAKE = """#!/bin/sh
for argument in "$@"; do last="$argument"; done
seed=$(echo "$*" | sed 's/.*--seed \\([0-9]*\\).*/\\1/')
echo "{\\"largest_gap\\": 1, \\"wrong_bytes\\": 0, \\"hang\\": false, \\"failed_transfers\\": $((seed / 5)), \\"packets_resent\\": 0, \\"ok\\": $([ "$seed" -lt 4 ] && echo true || echo false), \\"cycles\\": $((seed * 100))}" >"$last"
exit $([ "$seed" -lt 4 ] && echo 0 || echo 1)
"""


class Points(unittest.TestCase):
    def test_interval_holds_the_median_as_often_as_said(self):
        for count in range(6, 60):
            low, high = runs.ranks_of_median(count)
            self.assertEqual(low + high, count - 1)
            missed = 2 * sum(math.comb(count, k) for k in range(low + 1)) / 2**count
            self.assertLessEqual(missed, 0.05, count)
            tighter = 2 * sum(math.comb(count, k) for k in range(low + 2)) / 2**count
            self.assertTrue(tighter > 0.05 or low + 1 >= (count + 1) // 2, count)
        self.assertEqual(runs.ranks_of_median(20), (5, 14))

    def test_what_did_not_finish_is_counted(self):
        point = runs.summary([3, 1, 2], 5)
        self.assertEqual((point.median, point.high, point.unfinished, point.mean), (3, math.inf, 2, None))
        self.assertEqual(point.text, "3.000 (1.000–∞, 2 of 5 unfinished)")
        self.assertEqual(runs.summary([], 5).text, "none of 5 finished")
        self.assertEqual([runs.summary(values, 5, 2).text for values in ([1, 2, 3], [1, 2], [])],
                         ["3.000 (1.000–∞, 2 of 5 unfinished, 2 with an error)", "3 of 5 unfinished, 2 with an error", "none of 5 finished, 2 with an error"])
        self.assertEqual((runs.summary([], 0).median, runs.summary([], 0).seeds), (None, 0))

    def test_half_unfinished_has_no_median(self):
        self.assertEqual(runs.summary([1, 2], 4).text, "2 of 4 unfinished")
        self.assertIsNone(runs.summary([1], 20).median)
        self.assertEqual(runs.summary([1] * 11, 20).median, 1)

    def test_mean_and_largest(self):
        self.assertEqual(runs.summary([1, 2, 6], 3).tail, "3.000, 6.000")
        self.assertEqual(runs.summary([1, 2], 3).tail, "–")

    def test_a_rate_is_the_less_the_longer(self):
        rate = runs.summary([10, 20, 40], 3).rate(runs.exactly(20))
        self.assertEqual((rate.median, rate.low, rate.high), (1, 0.5, 2))
        self.assertEqual(runs.summary([10, 20], 3).rate(runs.exactly(20)).low, 0)
        wide = runs.summary([10, 20, 40], 3).rate(runs.summary([10, 20, 30], 3))
        self.assertEqual((wide.median, wide.low, wide.high), (1, 0.25, 3))

    def test_in_parts_of_another(self):
        self.assertEqual(runs.summary([20, 30, 40], 3).over(runs.summary([10], 1)).median, 3)
        ratio = runs.summary([20, 30, 40], 3).over(runs.summary([5, 10, 20], 3))
        self.assertEqual((ratio.median, ratio.low, ratio.high), (3, 1, 8))
        self.assertIsNone(runs.summary([20], 1).over(runs.summary([], 1)).median)


class Bound(unittest.TestCase):
    def test_nothing_stops_a_sender_in_order_or_with_a_window_as_long_as_the_detours(self):
        self.assertEqual(bound.duration(32, 0, 1, 0, 1000, 1), 1001)
        self.assertAlmostEqual(bound.duration(10, 0, 1, 21, 1000, 1), 1000 / 11 * 22, delta=22)  # eleven packets each time that one is heard of
        self.assertGreaterEqual(bound.share(64, 64, 0.1, packets=1000), 1001 / 1065)
        self.assertAlmostEqual(bound.share(10, 0, 1, 21, packets=1000), 11 / 22, delta=0.02)  # of a full link

    def test_smaller_windows_wait_longer(self):
        shares = [bound.share(window, 64, 0.1) for window in (1, 8, 32, 64)]
        self.assertEqual(shares, sorted(shares))
        self.assertLess(shares[0], 0.3)


def program_of(folder, text):
    """A script in place of weft-sim."""
    program = pathlib.Path(folder) / "weft-sim"
    program.write_text(text, encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


class Runs(unittest.TestCase):
    def test_runs_each_seed_and_counts_what_failed(self):
        with tempfile.TemporaryDirectory() as folder:
            program = program_of(folder, FAKE)
            runner = runs.Runner(program, 2, range(1, 6))
            runner.run([("--bytes", "1")], "test")
            point = runner.point(("--bytes", "1"))
            self.assertEqual((point.median, point.seeds, point.unfinished, point.failed), (300, 5, 2, 1))

    def test_what_was_run_by_the_same_program_is_not_run_again(self):
        with tempfile.TemporaryDirectory() as folder:
            for cycles, before in ((100, 0), (200, 1)):
                text = ('#!/bin/sh\nfor last; do :; done\necho run >>' + folder + '/runs\n'
                        f'echo \'{{"ok": true, "cycles": {cycles}, "largest_gap": 1, "largest_gap": 1, "wrong_bytes": 0, "hang": false, "failed_transfers": 0, "packets_resent": 7}}\' >"$last"\n')
                program = program_of(folder, text)
                for _ in range(2):
                    runner = runs.Runner(program, 1, (1,), pathlib.Path(folder) / "kept")
                    runner.run([("--bytes", "1")], "test")
                    self.assertEqual(runner.point(("--bytes", "1")).median, cycles)
                self.assertEqual(len((pathlib.Path(folder) / "runs").read_text(encoding="utf-8").split()), before + 1)
            (file,) = runner.folder.iterdir()
            file.write_text('{"ok": true, "cycles": 5}', encoding="utf-8")  # of a form that kept less
            runner = runs.Runner(program, 1, (1,), pathlib.Path(folder) / "kept")
            runner.run([("--bytes", "1")], "test")
            self.assertEqual(runner.point(("--bytes", "1")).median, 200)

    def test_wrong_bytes_end_it_whatever_else_failed(self):
        with tempfile.TemporaryDirectory() as folder:
            program = program_of(folder, '#!/bin/sh\nfor last; do :; done\necho \'{"ok": false, "wrong_bytes": 1, "hang": true, "failed_transfers": 2}\' >"$last"\nexit 1\n')
            with self.assertRaisesRegex(runs.RunError, "1 wrong bytes"):
                runs.Runner(program, 1, (1,)).run([("--bytes", "1")], "test")

    def test_says_what_weft_sim_says(self):
        with tempfile.TemporaryDirectory() as folder:
            program = program_of(folder, "#!/bin/sh\necho 'weft-sim: no such thing' >&2\nexit 2\n")
            with self.assertRaisesRegex(runs.RunError, "exit code 2: weft-sim: no such thing"):
                runs.Runner(program, 1, (1,)).run([("--bytes", "1")], "test")

    def test_schemes_and_networks_have_names_of_their_own(self):
        self.assertEqual(len({scheme.name for scheme in experiments.SCHEMES}), len(experiments.SCHEMES))
        self.assertEqual(len({network.name for network in experiments.NETWORKS}), len(experiments.NETWORKS))


class MadeUp(runs.Runner):
    """Clocks by what a function makes of a command's arguments; none: unfinished."""

    def __init__(self, clocks):
        super().__init__("/bin/true", 1, (4, 5, 6))
        self.clocks = clocks

    def run_one(self, arguments):
        cycles = self.clocks(arguments)
        return {"ok": cycles is not None, "cycles": cycles or 0, "largest_gap": value_of(arguments, "--detour", 0) // 9, "failed_transfers": 0, "packets_resent": 7}


def value_of(arguments, option, default):
    return int(arguments[arguments.index(option) + 1]) if option in arguments else default


def point(low, median, high, unfinished=0):
    return runs.Point(median, low, high, 3, unfinished)


class Claims(unittest.TestCase):
    def test_answers_go_by_intervals(self):
        one, never = point(10, 11, 12), runs.summary([], 3)
        self.assertEqual([claims.less(one, other) for other in (point(13, 14, 15), point(12, 14, 15), point(7, 8, 9), never)], ["yes", "open", "no", "yes"])
        self.assertEqual(claims.less(never, one), "no")
        self.assertEqual([claims.at_most(one, limit) for limit in (12, 11, 9)] + [claims.at_most(never, 9)], ["yes", "open", "no", "no"])
        self.assertEqual([claims.at_least(one, limit) for limit in (10, 11, 13)] + [claims.at_least(never, 0)], ["yes", "open", "no", "no"])
        self.assertEqual([claims.near(one, value, 2) for value in (11, 13, 15)], ["yes", "open", "no"])
        self.assertEqual((claims.worst(["yes", "no", "open"]), claims.worst(["open", "yes"]), claims.worst([])), ("no", "open", "yes"))

    def test_answers_that_turn_are_told(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "claims.json"
            claims.accept("quick", [("one", "1", "yes"), ("two", "2", "no")], file)
            claims.accept("whole", [("one", "1", "open")], file)
            self.assertEqual(claims.turned("quick", [("one", "3", "yes"), ("two", "4", "no")], file), [])
            self.assertEqual(claims.turned("quick", [("one", "1", "no"), ("three", "3", "yes")], file),
                             ["one: no, expected yes", "three: yes, expected nothing", "two: not asked, expected no"])
            self.assertEqual(claims.expected("whole", file), {"one": "open"})

    def test_the_page_has_the_answers_that_are_expected(self):
        page = (ROOT / "docs" / "results" / "rdma.md").read_text(encoding="utf-8")
        self.assertNotIn("Quick form", page)
        section = page.split("## What the paper claims, and what is found")[1].split("\n## ")[0]
        rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")][1:]
        self.assertEqual({row[0]: row[2] for row in rows}, claims.expected("whole"))


class Quoted(unittest.TestCase):
    """Numbers of the evaluation that other pages quote are on its page, in one of the sections that they name."""

    LINK = re.compile(r"results/rdma\.md#([a-z0-9-]+)")

    def sections(self):
        page = (ROOT / "docs" / "results" / "rdma.md").read_text(encoding="utf-8")
        for section in page.split("\n## ")[1:]:
            title = section.splitlines()[0].lower()
            yield re.sub(r"[^a-z0-9 -]", "", title).replace(" ", "-"), set(NUMBERS.findall(section))

    def test_numbers_are_those_of_the_sections(self):
        sections = dict(self.sections())
        rows = [line for page in ("README.md", "docs/verification.md", "docs/first_results.md") for line in (ROOT / page).read_text(encoding="utf-8").splitlines() if line.startswith("|") and "results/rdma.md#" in line]
        self.assertGreaterEqual(len(rows), 10)
        for row in rows:
            named = set().union(*(sections[anchor] for anchor in self.LINK.findall(row)))
            quoted = NUMBERS.findall(row)
            self.assertTrue(quoted, row)
            for number in quoted:
                self.assertIn(number, named, row)


class Costs(unittest.TestCase):
    HEAD = "| contexts on each side | scheme | NAND2 | RAM bits | with RAMs |\n|---:|---|---:|---:|---:|\n"

    def read(self, text, contexts=256):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "schemes.md"
            page.write_text(text, encoding="utf-8")
            return scheme_costs.read(page, contexts)

    def test_areas_are_those_of_the_first_table_and_these_contexts(self):
        costs = self.read(f"# Area\n\n{self.HEAD}| 64 | receiver window | 1 | 2 | 3 |\n| 256 | receiver window | 12,000 | 1,000,000 | 150 |\n\n| 256 | receiver window | 7 | 7 | 7 |\n")
        self.assertEqual(costs, {"receiver window": scheme_costs.Cost(12000, 1000000, 150)})
        self.assertEqual(costs["receiver window"].microseconds(300), 2.0)
        self.assertEqual(costs["receiver window"].area_time(300), 24000.0)

    def test_what_is_no_page_of_areas_is_told(self):
        for text, error in (("# Area\n", "has no table"), (self.HEAD, "has nothing of 256 contexts"), (f"{self.HEAD}| 256 | receiver window | many | 2 | 3 |\n", "no number in column 'NAND2'")):
            with self.assertRaisesRegex(scheme_costs.CostError, error):
                self.read(text)

    def test_the_page_has_the_areas_of_now(self):
        section = (ROOT / "docs" / "results" / "rdma.md").read_text(encoding="utf-8").split("## Area and time, pair")[1].split("\n## ")[0]
        for scheme, cost in scheme_costs.read().items():
            rows = [line for line in section.splitlines() if line.startswith(f"| {scheme}")]
            self.assertTrue(rows, scheme)
            for row in rows:
                self.assertIn(f"| {cost.nand2:,} | {cost.ram_bits:,} | {cost.mhz} |", row)


class Sweeps(unittest.TestCase):
    def test_the_best_has_the_fewest_unfinished_runs_then_the_least_median(self):
        points = {100: point(1, 2, math.inf, 1), 200: point(7, 8, 9), 300: point(4, 5, 6), "measured": runs.summary([], 3)}
        self.assertEqual(sweeps.Sweep(points).best, 300)
        self.assertEqual(sweeps.Sweep({**points, 400: point(3, 5, 5)}).best, 400)
        self.assertEqual(sweeps.Sweep({"measured": runs.summary([], 3), 100: runs.summary([1], 3)}).best, 100)

    def test_of_what_is_as_good_the_longest_is_the_best(self):
        almost = {100: point(0, 1000, 9999), 200: point(0, 1004, 9999), 300: point(0, 1006, 9999), "measured": point(0, 1001, 9999)}
        self.assertEqual(sweeps.Sweep(almost).best, 200)
        self.assertEqual(sweeps.Sweep({**almost, experiments.Early(700): point(0, 1000, 9999)}).best, 200, "early ones send more twice")
        self.assertEqual(sweeps.Sweep({experiments.Known(400): point(0, 1001, 9999), experiments.Early(700): point(0, 1000, 9999)}).best, experiments.Known(400), "likewise")
        self.assertEqual(sweeps.Sweep({"measured": point(0, 100, 999), 100: point(0, 101, 999)}).best, "measured")

    def test_of_what_has_the_same_median_the_mean_decides(self):
        often = {100: runs.summary([90, 100, 100, 100, 110], 5), 200: runs.summary([90, 100, 100, 100, 112], 5), 300: runs.summary([90, 100, 100, 100, 400], 5)}
        self.assertEqual(sweeps.Sweep(often).best, 200)
        self.assertEqual(sweeps.Sweep({**often, 50: runs.summary([95, 95, 95, 400, 900], 5)}).best, 50, "the median first")
        never = {timeout: runs.summary([90, 100, 100, 100], 5) for timeout in (100, 200)}  # neither has a mean
        self.assertEqual(sweeps.Sweep(never).best, 200)

    def test_an_edge_is_marked_if_it_is_clearly_better(self):
        inside = {100: point(7, 8, 9), 200: point(1, 2, 3), 300: point(4, 5, 6), "measured": point(7, 7, 7)}
        self.assertFalse(sweeps.Sweep(inside).at_edge)
        for best in (100, 300):
            self.assertTrue(sweeps.Sweep({**inside, best: point(0, 0, 0)}).at_edge, best)
            self.assertFalse(sweeps.Sweep({**inside, best: point(0, 0, 1)}).at_edge, best)  # as good as the next, by their intervals
        self.assertFalse(sweeps.Sweep({**inside, "measured": point(0, 0, 0)}).at_edge)
        early = {experiments.Early(clocks): point(5, 5, 5) for clocks in (100, 200)}
        self.assertFalse(sweeps.Sweep({**inside, **early}).at_edge)
        self.assertTrue(sweeps.Sweep({**inside, **early, experiments.Early(400): point(0, 0, 0)}).at_edge, "of its kind")
        self.assertFalse(sweeps.Sweep({**inside, experiments.Early(400): point(0, 0, 0)}).at_edge, "the only one of its kind")
        self.assertEqual(sweeps.Sweep({100: point(1, 2, 3), 200: point(7, 8, 9)}).listing(lambda each: f"{each.median}"), "**100: 2** †, 200: 8")


class Page(unittest.TestCase):
    def figures(self, clocks, quick=True):
        drawn.clear()
        runner = MadeUp(clocks)
        report = evaluation_page.Report(pathlib.Path("/nowhere"))
        made = figures.Figures(runner, report, quick, (1, 2, 3))
        with contextlib.redirect_stdout(io.StringIO()):
            made.make()
        return made, report.page(runner.seeds, made.sweep_seeds, quick), report

    def test_every_figure_is_drawn_and_every_timer_is_the_best_of_a_sweep(self):
        made, page, report = self.figures(lambda arguments: 10_000 + abs(value_of(arguments, "--timeout", 9_999) - 300))
        self.assertEqual({line.split("/")[-1].rstrip(")") for line in page.splitlines() if line.startswith("![")}, set(drawn))
        self.assertEqual(len(drawn), 12)
        for (network, scheme, payload, loss), timeout in made.best.items():
            of = [next(each for each in all_of if each.name == name) for all_of, name in ((experiments.NETWORKS, network), (experiments.SCHEMES, scheme))]
            tried = [t for t in made.few(experiments.timeouts_of_transfer(*of, loss, payload)) if t != "measured"]
            self.assertEqual(timeout, min(tried, key=lambda t: abs(t - 300)), (network, scheme, payload, loss))
        self.assertNotIn("None", page)
        self.assertEqual(len(report.claims), len({text for text, _, _ in report.claims}))
        self.assertEqual({text for text, _, _ in report.claims}, set(claims.expected("quick")))

    def test_every_section_says_how_it_is_made_alone(self):
        page = self.figures(lambda arguments: 10_000)[1]
        for name in figures.Figures.EXPERIMENTS:
            self.assertIn(f"--only {name}", page)

    def test_timeouts_are_chosen_by_other_seeds_than_points(self):
        chosen_by = lambda arguments: 10_000 + value_of(arguments, "--timeout", 9_999) * (1 if value_of(arguments, "--seed", 0) <= 3 else -1)  # noqa: E731
        made = self.figures(chosen_by)[0]
        self.assertEqual(made.best["torus", "weft", 256, 0], 75)
        self.assertFalse(set(experiments.SEEDS) & set(experiments.SEEDS_OF_SWEEPS))

    def test_claims_fail_where_weft_mode_is_slower(self):
        reports = [self.figures(clocks)[2] for clocks in (lambda arguments: 20_000 if "weft" in arguments and "--loss" in arguments else 10_000, lambda arguments: 10_000,
                                                          lambda arguments: 10_000 if "weft" in arguments else 20_000)]
        for text, answers in (("with 2 ‰ of loss, receiver window fastest at every size (weft mode, packets of 256 bytes)", ["no", "open", "yes"]),
                              ("(ours) 8 senders into one receiver, 32 KiB each: weft mode completes before all others", ["no", "open", "yes"]),
                              ("with 1 ‰ of loss, receiver window fastest with packets of 4,096 bytes (weft mode)", ["no", "open", "yes"])):
            self.assertEqual([(claim[2]) for report in reports for claim in report.claims if claim[0] == text], answers, text)

    def test_what_never_finishes_is_shown(self):
        page = self.figures(lambda arguments: None if "txwindow" in arguments and "incast" in arguments else 10_000)[1]
        row = next(line for line in page.splitlines() if line.startswith("| 8 senders"))
        self.assertTrue(row.split("|")[-2].strip().startswith("none of 3 finished"), row)

    def test_options_that_cannot_be_are_refused(self):
        for line, wrong in (("--jobs 0", "--jobs 0: must be at least 1"), ("--seeds 0", "--seeds 0: must be from 1 to 20"), ("--seeds 21", "--seeds 21: must be from 1 to 20"),
                            ("--program /no/such", "--program /no/such: there is no such file"), ("--only magic", "invalid choice: 'magic'"),
                            ("--program /bin/true --accept --seeds 5", "--accept: not with --only or --seeds")):
            told = io.StringIO()
            with contextlib.redirect_stderr(told), self.assertRaises(SystemExit) as left:
                figures.arguments(line.split())
            self.assertEqual(left.exception.code, 2)
            self.assertIn(wrong, told.getvalue())


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""What the experiments tell of a point: the median of its seeds, its interval, what did not finish; what happens if weft-sim cannot be run; and what a
window cannot beat; and the page of the evaluation, from results that are made up.

usage: test_experiments.py REPOSITORY
"""

import math
import pathlib
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
import experiments  # noqa: E402
import figures  # noqa: E402
import runs  # noqa: E402

FAKE = """#!/bin/sh
for argument in "$@"; do last="$argument"; done
seed=$(echo "$*" | sed 's/.*--seed \\([0-9]*\\).*/\\1/')
echo "{\\"largest_gap\\": 1, \\"wrong_bytes\\": 0, \\"hang\\": false, \\"failed_transfers\\": 0, \\"ok\\": $([ "$seed" -lt 4 ] && echo true || echo false), \\"cycles\\": $((seed * 100))}" >"$last"
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
        self.assertEqual((runs.summary([], 0).median, runs.summary([], 0).seeds), (None, 0))

    def test_half_unfinished_has_no_median(self):
        self.assertEqual(runs.summary([1, 2], 4).text, "2 of 4 unfinished")
        self.assertIsNone(runs.summary([1], 20).median)
        self.assertEqual(runs.summary([1] * 11, 20).median, 1)

    def test_mean_and_largest(self):
        self.assertEqual(runs.summary([1, 2, 6], 3).tail, "3.000, 6.000")
        self.assertEqual(runs.summary([1, 2], 3).tail, "–")

    def test_a_rate_is_the_less_the_longer(self):
        rate = runs.summary([10, 20, 40], 3).rate(20)
        self.assertEqual((rate.median, rate.low, rate.high), (1, 0.5, 2))
        self.assertEqual(runs.summary([10, 20], 3).rate(20).low, 0)

    def test_in_parts_of_another(self):
        self.assertEqual(runs.summary([20, 30, 40], 3).over(runs.summary([10], 1)).median, 3)
        self.assertIsNone(runs.summary([20], 1).over(runs.summary([], 1)).median)


class Bound(unittest.TestCase):
    def test_nothing_stops_a_sender_in_order_or_with_a_window_as_long_as_the_detours(self):
        self.assertEqual(bound.duration(32, 0, 1, 0, 1000, 1), 1001)
        self.assertAlmostEqual(bound.duration(10, 0, 1, 21, 1000, 1), 1000 / 11 * 22, delta=22)  # eleven packets each time that one is heard of
        self.assertGreaterEqual(bound.share(64, 64, 0.1, packets=1000), 1001 / 1065)

    def test_smaller_windows_wait_longer(self):
        shares = [bound.share(window, 64, 0.1) for window in (1, 8, 32, 64)]
        self.assertEqual(shares, sorted(shares))
        self.assertLess(shares[0], 0.3)


class Runs(unittest.TestCase):
    def test_runs_each_seed_and_counts_what_failed(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "weft-sim"
            program.write_text(FAKE, encoding="utf-8")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            runner = runs.Runner(program, 2, 5)
            runner.run([("--bytes", "1")], "test")
            point = runner.point(("--bytes", "1"))
            self.assertEqual((point.median, point.seeds, point.unfinished), (300, 5, 2))

    def test_what_was_run_by_the_same_program_is_not_run_again(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "weft-sim"
            for cycles, before in ((100, 0), (200, 1)):
                text = ('#!/bin/sh\nfor last; do :; done\necho run >>' + folder + '/runs\n'
                        f'echo \'{{"ok": true, "cycles": {cycles}, "largest_gap": 1, "largest_gap": 1, "wrong_bytes": 0, "hang": false, "failed_transfers": 0}}\' >"$last"\n')
                program.write_text(text, encoding="utf-8")
                program.chmod(program.stat().st_mode | stat.S_IXUSR)
                for _ in range(2):
                    runner = runs.Runner(program, 1, 1, pathlib.Path(folder) / "kept")
                    runner.run([("--bytes", "1")], "test")
                    self.assertEqual(runner.point(("--bytes", "1")).median, cycles)
                self.assertEqual(len((pathlib.Path(folder) / "runs").read_text(encoding="utf-8").split()), before + 1)

    def test_says_what_weft_sim_says(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "weft-sim"
            program.write_text("#!/bin/sh\necho 'weft-sim: no such thing' >&2\nexit 2\n", encoding="utf-8")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            with self.assertRaisesRegex(runs.RunError, "exit code 2: weft-sim: no such thing"):
                runs.Runner(program, 1, 1).run([("--bytes", "1")], "test")

    def test_schemes_and_networks_have_names_of_their_own(self):
        self.assertEqual(len({scheme.name for scheme in experiments.SCHEMES}), len(experiments.SCHEMES))
        self.assertEqual(len({network.name for network in experiments.NETWORKS}), len(experiments.NETWORKS))


class MadeUp(runs.Runner):
    """Clocks by what a function makes of a command's arguments; none: unfinished."""

    def __init__(self, clocks):
        super().__init__("/bin/true", 1, 3)
        self.clocks = clocks

    def run_one(self, arguments):
        cycles = self.clocks(arguments)
        return {"ok": cycles is not None, "cycles": cycles or 0, "largest_gap": value_of(arguments, "--detour", 0) // 9}


def value_of(arguments, option, default):
    return int(arguments[arguments.index(option) + 1]) if option in arguments else default


class Page(unittest.TestCase):
    def figures(self, clocks, quick=True):
        drawn.clear()
        runner = MadeUp(clocks)
        report = figures.Report(pathlib.Path("/nowhere"))
        made = figures.Figures(runner, report, quick)
        made.timers()
        for name in figures.Figures.EXPERIMENTS:
            getattr(made, name)()
        return made, report.page(runner, quick), report

    def test_every_figure_is_drawn_and_every_timer_is_the_best_of_a_sweep(self):
        made, page, report = self.figures(lambda arguments: 10_000 + abs(value_of(arguments, "--timeout", 9_999) - 300))
        self.assertEqual({line.split("/")[-1].rstrip(")") for line in page.splitlines() if line.startswith("![")}, set(drawn))
        self.assertEqual(len(drawn), 11)
        for (network, scheme, payload, _), timeout in made.best.items():
            tried = [t for t in made.few(next(n for n in experiments.NETWORKS if n.name == network).timeouts_for(payload))]
            self.assertEqual(timeout, min(tried, key=lambda t: abs(t - 300)), (network, scheme, payload))
        self.assertNotIn("None", page)
        self.assertEqual(len(report.claims), len({text for text, _, _ in report.claims}))

    def test_claims_fail_where_weft_mode_is_slower(self):
        slow = self.figures(lambda arguments: 20_000 if "weft" in arguments and "--loss" in arguments else 10_000)[2]
        fast = self.figures(lambda arguments: 10_000 if "weft" in arguments else 20_000)[2]
        for text in ("with loss, receiver window fastest at every size (weft mode, packets of 256 bytes)", "(ours) 8 senders into one receiver, 64 KiB each: no scheme completes before weft mode",
                     "with 1 ‰ of loss, receiver window fastest with packets of 4,096 bytes (weft mode)"):
            self.assertEqual([(claim[2]) for report in (slow, fast) for claim in report.claims if claim[0] == text], ["no", "yes"], text)

    def test_what_never_finishes_is_shown(self):
        page = self.figures(lambda arguments: None if "txwindow" in arguments and "incast" in arguments else 10_000)[1]
        row = next(line for line in page.splitlines() if line.startswith("| 8 senders"))
        self.assertTrue(row.split("|")[-2].strip().startswith("none of 3 finished"), row)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The comparison with BookSim2: what is read of its output, which differences miss the goals, what both programs are told, and what is said if there is no BookSim2.

usage: test_beside_booksim.py REPOSITORY
"""

import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "experiments"))
import beside_booksim as beside  # noqa: E402

OUTPUT = """Packet latency average = 21
Accepted flit rate average= 0.08
Time taken is 12061 cycles
====== Traffic class 0 ======
Packet latency average = 22.5 (1 samples)
Network latency average = 20 (1 samples)
Accepted flit rate average = 0.1 (1 samples)
"""
# Both end as their originals do: BookSim2 with 255 when all went well.
BOOKSIM = f"#!/bin/sh\ncat <<'END'\n{OUTPUT}END\nexit 255\n"
WEFT = """#!/bin/sh
for argument in "$@"; do last="$argument"; done
echo '{"latency": LATENCY, "accepted_flits": 0.1}' >"$last"
"""
CASE = beside.Case(4, 0.1, 3000)
FULL = beside.Case(4, 1.0, 3000, saturated=True)


def result(latency=20.0, accepted=0.8, clocks=1000, seconds=1.0):
    return beside.Result(latency, accepted, clocks, seconds, 8)


class Reading(unittest.TestCase):
    def test_the_last_values_count(self):
        read = beside.of_booksim(OUTPUT, 2.0, 9.0)
        self.assertEqual((read.latency, read.accepted, read.clocks), (22.5, 0.1, 12061))
        self.assertEqual(read.speed, 12061 / 2)

    def test_what_says_nothing_is_told(self):
        with self.assertRaisesRegex(beside.Failed, "how many cycles"):
            beside.of_booksim("Error: Unknown topology", 1.0, 1.0)
        with self.assertRaisesRegex(beside.Failed, "Packet latency average"):
            beside.of_booksim("Time taken is 5 cycles", 1.0, 1.0)


class Goals(unittest.TestCase):
    FAST = {"clocks": 5000}

    def test_latency_counts_below_saturation(self):
        self.assertEqual(beside.faults(CASE, result(), result(20.9, 0.1, **self.FAST)), [])
        self.assertEqual(beside.faults(CASE, result(), result(21.1, **self.FAST)), ["latency"])
        self.assertEqual(beside.faults(CASE, result(), result(18.9, **self.FAST)), ["latency"])

    def test_what_comes_out_counts_beyond_it(self):
        self.assertEqual(beside.faults(FULL, result(), result(99.0, 0.78, **self.FAST)), [])
        self.assertEqual(beside.faults(FULL, result(), result(20.0, 0.77, **self.FAST)), ["saturation"])

    def test_five_times_as_fast(self):
        self.assertEqual(beside.faults(CASE, result(), result(clocks=4999)), ["speed"])


class Speed(unittest.TestCase):
    def test_the_fastest_run_counts(self):
        self.assertEqual(beside.fastest([result(seconds=2), result(seconds=1), result(seconds=3)]).seconds, 1)

    def test_both_run_by_turns(self):
        turns = []
        theirs, ours = iter((3.0, 1.0, 2.0)), iter((0.4, 0.3, 0.2))

        def run_booksim(*_):
            turns.append("theirs")
            return result(seconds=next(theirs))

        def run_weft(*_):
            turns.append("ours")
            return result(seconds=next(ours))

        kept, beside.run_booksim = beside.run_booksim, run_booksim
        try:
            pair = beside.both(CASE, "booksim", "weft", None, run_weft, 3)
        finally:
            beside.run_booksim = kept
        self.assertEqual([each.seconds for each in pair], [1.0, 0.2])
        self.assertEqual(turns, ["theirs", "ours"] * 3)

    def test_flit_hops_are_those_of_booksim_elsewhere(self):
        for (side, load), clocks, millions in zip(beside.ELSEWHERE, beside.ELSEWHERE.values(), (0.31, 0.66, 0.16, None, 0.14)):
            if millions:
                hops = beside.flit_hops(beside.Case(side, load, 100), result(accepted=load, clocks=clocks))
                self.assertAlmostEqual(hops, millions, delta=0.01)
        self.assertIsNone(beside.Case(4, 0.1, 100, flits=9).elsewhere)


class Settings(unittest.TestCase):
    def test_both_are_told_the_same(self):
        for case in (*beside.CASES, *beside.QUICK):
            theirs = dict(setting.split("=") for setting in case.settings)
            ours = case.arguments(10_000)
            told = dict(zip(ours[1:], ours[2:]))
            self.assertEqual(told["--nodes"], "x".join([theirs["k"]] * int(theirs["n"])))
            self.assertEqual((told["--channels"], told["--buffer"], told["--packet"]), (theirs["num_vcs"], theirs["vc_buf_size"], theirs["packet_size"]))
            self.assertEqual(float(told["--load"]), float(theirs["injection_rate"]))
            self.assertEqual("--mesh" in ours, theirs["topology"] == "mesh")
            self.assertEqual(int(told["--warmup"]), int(theirs["warmup_periods"]) * int(theirs["sample_period"]))

    def test_the_rows_that_are_wanted_are_there(self):
        rows = {(case.side, case.load) for case in beside.CASES if case.flits == 1 and case.joined}
        self.assertLessEqual({(4, 0.1), (4, 0.5), (10, 0.1), (10, 0.5), (16, 0.1)}, rows)


class Command(unittest.TestCase):
    def run_it(self, folder, latency, source=None):
        programs = {"booksim": BOOKSIM, "weft-sim": WEFT.replace("LATENCY", str(latency))}
        for name, text in programs.items():
            (folder / name).write_text(text, encoding="utf-8")
            (folder / name).chmod((folder / name).stat().st_mode | stat.S_IXUSR)
        command = [sys.executable, "-B", ROOT / "experiments/beside_booksim.py", folder / "weft-sim", folder / "page.md", "--quick", "--folder", folder / "build", "--booksim",
                   source or folder / "booksim"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_a_goal_that_is_missed_is_told_and_fails(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            done = self.run_it(folder, 30)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("missed: latency", (folder / "page.md").read_text(encoding="utf-8"))

    def test_the_page_has_both_command_lines(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            self.run_it(folder, 22.5)
            page = (folder / "page.md").read_text(encoding="utf-8")
            self.assertIn("booksim FILE    # topology=torus; k=4; n=3; packet_size=1; injection_rate=0.1", page)
            self.assertIn("fabric --nodes 4x4x4 --channels 4 --buffer 8 --link 1 --packet 1 --load 0.1", page)
            self.assertIn("| torus 4³ | 1 | 0.1 | latency | 22.50 | 22.50 | +0.0 % |", page)

    def test_no_booksim_is_one_line(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            done = self.run_it(folder, 22, folder / "nowhere")
            self.assertEqual(done.returncode, 2)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn("BOOKSIM=", done.stderr)


if __name__ == "__main__":
    unittest.main()

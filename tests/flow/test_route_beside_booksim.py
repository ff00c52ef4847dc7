# SPDX-License-Identifier: Apache-2.0
"""The comparison of fat trees with BookSim2: which memory misses the goal, what both programs are told, and the page of two that answer.

usage: test_route_beside_booksim.py REPOSITORY
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
import route_beside_booksim as route  # noqa: E402

BOOKSIM = """#!/bin/sh
cat <<'END'
Time taken is 1000 cycles
Packet latency average = 20
Accepted flit rate average = 0.5
END
exit 255
"""
WEFT = """#!/bin/sh
for argument in "$@"; do last="$argument"; done
echo '{"traffic": {"mean_latency_clocks": LATENCY, "accepted": 0.5, "clocks": 1000000}}' >"$last"
"""


class Goals(unittest.TestCase):
    def test_twice_the_memory(self):
        theirs, case = beside.Result(20, 0.5, 1000, 1.0, 10), route.Case(8, 0.5, 1000)
        for megabytes, missed in ((20, []), (21, ["memory"])):
            self.assertEqual(route.missed(case, theirs, beside.Result(20, 0.5, 5000, 1.0, megabytes)), missed)
        self.assertEqual(route.missed(case, theirs, beside.Result(22, 0.5, 4000, 1.0, 21)), ["latency", "speed", "memory"])


class Settings(unittest.TestCase):
    def test_both_are_told_the_same(self):
        for case in (*route.CASES, *route.QUICK):
            theirs = dict(setting.split("=") for setting in case.settings)
            ours = case.arguments(10_000)
            told = dict(zip(ours[1:], ours[2:]))
            size = theirs["kfat_rows"]
            self.assertEqual({theirs[f"kfat_{name}"] for name in ("columns", "hosts", "planes")}, {size})
            self.assertEqual((told["--topology"], told["--planes"]), (f"kfat2d:{size}x{size}:{size}", size))
            self.assertEqual((told["--buffer"], float(told["--speedup"])), (theirs["vc_buf_size"], float(theirs["internal_speedup"])))
            self.assertEqual(told["--load"], theirs["injection_rate"])
            self.assertEqual("--any-channel" in ours, theirs["routing_function"] == "free")

    def test_dead_leaves_are_the_same_ones(self):
        case = route.Case(8, 1.0, 500, dead=2, saturated=True)
        self.assertEqual(case.leaves, ("0,0", "1,1"))
        ours = case.arguments(1000)
        self.assertEqual(ours[ours.index("--fail") + 1 : ours.index("--seed")], ("0,0", "1,1"))
        self.assertIn("kfat_faults={0,0,1,1}", case.settings)
        drawn = next(case for case in route.CASES if case.dead == 10)
        numbers = next(setting for setting in drawn.settings if setting.startswith("kfat_faults"))[13:-1].split(",")
        self.assertEqual([f"{row},{column}" for column, row in zip(numbers[::2], numbers[1::2])], list(drawn.leaves))

    def test_fabrics_and_loads_of_the_goals_are_there(self):
        self.assertLessEqual({(8, 0.5, 0), (8, 1.0, 5), (16, 0.5, 0), (16, 1.0, 10)}, {(case.n, case.load, case.dead) for case in route.CASES})


class Command(unittest.TestCase):
    def test_a_goal_that_is_missed_is_told_and_fails(self):
        for latency, code in ((20.5, 0), (30, 1)):
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                for program, text in (("booksim", BOOKSIM), ("weft", WEFT.replace("LATENCY", str(latency)))):
                    (folder / program).write_text(text, encoding="utf-8")
                    (folder / program).chmod((folder / program).stat().st_mode | stat.S_IXUSR)
                done = subprocess.run([sys.executable, "-B", ROOT / "experiments/route_beside_booksim.py", folder / "weft", folder / "page.md", "--quick", "--folder", folder / "build", "--booksim",
                                       folder / "booksim"], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                page = (folder / "page.md").read_text(encoding="utf-8")
                self.assertIn(f"| 4×4×4, one VC kept | 1 | 0.5 | latency | 20.00 | {latency:.2f} |", page)
                self.assertEqual("missed: latency" in page, code == 1)
                self.assertIn("booksim FILE    # topology=kfat2d; num_vcs=2", page)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The sweep of traffic through fat trees with faults: each run once, whoever did it; half a line is no run; placements are what their names say.

usage: test_route_traffic.py REPOSITORY
"""

import pathlib
import stat
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "experiments"))
import route_traffic as traffic  # noqa: E402

FAKE = """#!/bin/sh
for argument in "$@"; do last="$argument"; done
echo "$*" >>"$(dirname "$0")/calls"
seed=$(echo "$*" | sed 's/.*--seed \\([0-9]*\\).*/\\1/')
echo "{\\"traffic\\": {\\"accepted\\": $seed}}" >"$last"
"""
WANTED = [(("--load", str(load)), 2) for load in (1, 2, 3)]


class Sweeps(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.weft = pathlib.Path(self.folder.name) / "weft"
        self.weft.write_text(FAKE, encoding="utf-8")
        self.weft.chmod(self.weft.stat().st_mode | stat.S_IXUSR)

    def sweep(self):
        return traffic.Sweep(self.weft, pathlib.Path(self.folder.name) / "runs")

    def calls(self):
        """Of the program's copy, beside its results."""
        calls = list((pathlib.Path(self.folder.name) / "runs").glob("*/calls"))
        return len(calls[0].read_text(encoding="utf-8").splitlines()) if calls else 0

    def test_each_run_once(self):
        self.sweep().run_part(WANTED, 0, 1, jobs=3)
        self.assertEqual(self.calls(), 6)
        again = self.sweep()
        self.assertEqual(again.missing(WANTED), 0)
        again.run_part(WANTED, 0, 1)
        self.assertEqual(self.calls(), 6)
        self.assertEqual(again.point(("--load", "1"), "accepted").median, 1.5)

    def test_parts_make_the_whole(self):
        for part in range(4):
            self.sweep().run_part(WANTED, part, 4)
        self.assertEqual(self.calls(), 6)
        self.assertEqual(self.sweep().missing(WANTED), 0)

    def test_half_a_line_is_run_again(self):
        sweep = self.sweep()
        sweep.run_part(WANTED, 0, 1)
        file = sweep.folder / "0_of_1.jsonl"
        file.write_text(file.read_text(encoding="utf-8")[:-10], encoding="utf-8")
        again = self.sweep()
        self.assertEqual(again.missing(WANTED), 1)
        again.run_part(WANTED, 0, 1)
        self.assertEqual(self.calls(), 7)
        self.assertEqual(self.sweep().missing(WANTED), 0)

    def test_another_program_has_runs_of_its_own(self):
        self.sweep().run_part(WANTED, 0, 1)
        self.weft.write_text(FAKE + "\n", encoding="utf-8")
        self.assertEqual(self.sweep().missing(WANTED), 6)


class Placements(unittest.TestCase):
    def test_as_named(self):
        for n in (8, 16):
            for count in (1, 5, 10, 15, 20):
                for placement in traffic.PLACEMENTS:
                    leaves = [tuple(map(int, leaf.split(","))) for leaf in traffic.faults(n, count, placement)]
                    self.assertEqual(len(set(leaves)), count)
                    self.assertTrue(all(0 <= row < n and 0 <= column < n for row, column in leaves))
                    rows, columns = ({leaf[place] for leaf in leaves} for place in (0, 1))
                    lines = -(-count // (n - 1))
                    if placement in "rc":
                        self.assertEqual(len(rows if placement == "r" else columns), lines)
                    if placement == "all":
                        self.assertEqual((len(rows), len(columns)), (min(count, n), min(count, n)))

    def test_quick_form_is_part_of_the_whole(self):
        whole = {traffic.with_seed(arguments, seed) for arguments, seeds in traffic.points(False) for seed in range(1, seeds + 1)}
        quick = {traffic.with_seed(arguments, seed) for arguments, seeds in traffic.points(True) for seed in range(1, seeds + 1)}
        self.assertLess(quick, whole)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Load curves: what is told of a load, when the command fails, and that the page in docs has what it would write of its cases.

usage: test_load_curves.py REPOSITORY
"""

import pathlib
import sys
import types
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "experiments"))
sys.modules["plot"] = types.SimpleNamespace(lines=lambda *_, **__: None)  # no library for plots is needed here
import load_curves  # noqa: E402


def result(accepted, latency=20.0, stands_still=False):
    return {"accepted_flits": accepted, "latency": latency, "stands_still": stands_still}


class LoadCurves(unittest.TestCase):
    def test_a_latency_beyond_saturation_says_nothing(self):
        self.assertEqual(load_curves.cell(result(0.5, 41.26), 0.5), ["0.500", "41.3"])
        self.assertEqual(load_curves.cell(result(0.4, 900), 0.5), ["0.400", "–"])

    def test_fails_if_adaptive_routing_collapses_or_a_network_stands_still(self):
        limited = load_curves.LIMITED
        self.assertEqual(load_curves.faults_of("mesh", limited, [result(0.2), result(0.4), result(0.39)]), [])
        self.assertEqual(load_curves.faults_of("mesh", limited, [result(0.2), result(0.4), result(0.37)]), [f"mesh, {limited}: carries 0.370 at load 1, and 0.400 before"])
        self.assertEqual(load_curves.faults_of("mesh", "dimension order", [result(0.2), result(0.4), result(0.37)]), [])
        self.assertEqual(load_curves.faults_of("mesh", "dimension order", [result(0.2), result(0.1, stands_still=True)]), ["mesh, dimension order: stands still"])

    def test_a_section_has_a_row_for_each_load(self):
        case = load_curves.CASES[0]
        found = {(name, load): result(load) for name in load_curves.ALGORITHMS for load in (0.2, 1.0)}
        lines = load_curves.section(case, (0.2, 1.0), found, pathlib.Path("load.svg")).splitlines()
        self.assertEqual(lines[-2:], ["| 0.2 | 0.200 | 20.0 | 0.200 | 20.0 | 0.200 | 20.0 |", "| 1 | 1.000 | 20.0 | 1.000 | 20.0 | 1.000 | 20.0 |"])

    def test_the_page_has_these_cases_and_the_command_would_not_fail(self):
        page = (ROOT / "docs" / "results" / "load_curves.md").read_text(encoding="utf-8")
        introduction, *sections = page.split("\n\n## ")
        self.assertEqual(introduction, load_curves.INTRODUCTION)
        self.assertEqual(len(sections), len(load_curves.CASES))
        for case, text in zip(load_curves.CASES, sections):
            self.assertIn(f"![{case.title}](../img/{case.name}.svg)", text)
            self.assertTrue((ROOT / "docs" / "img" / f"{case.name}.svg").is_file())
            rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")][1:]
            self.assertEqual([row[0] for row in rows], [f"{load:g}" for load in load_curves.LOADS])
            for column, name in enumerate(load_curves.ALGORITHMS):
                self.assertEqual(load_curves.faults_of(case.title, name, [result(float(row[1 + 2 * column])) for row in rows]), [])


if __name__ == "__main__":
    unittest.main()

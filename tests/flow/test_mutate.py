# SPDX-License-Identifier: Apache-2.0
"""How mutants are judged (tests/mutation/mutate.py), with a program that behaves like tests of GoogleTest: which tests are put to a mutant in which order, what a
test that does not end is called, and what of an earlier run holds after tests have changed.

usage: test_mutate.py REPOSITORY
"""

import argparse
import dataclasses
import pathlib
import stat
import sys
import tempfile
import types
import unittest
import unittest.mock

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "tests" / "mutation"))
import mutate  # noqa: E402  pylint: disable=wrong-import-position

# Of each test: its seconds, and the mutants that it catches, hangs on or crashes on. Tests that run are written to a log, one line a process.
PROGRAM = '''#!{python}
import fnmatch, os, sys
TESTS = {tests!r}
number = int(os.environ["WEFT_MUTANT"])
chosen = next(a for a in sys.argv + ["--gtest_filter=*"] if a.startswith("--gtest_filter=")).partition("=")[2].split(":")
names = [name for name in TESTS if any(fnmatch.fnmatch(name, one) for one in chosen)]
with open({log!r}, "a") as log:
    print(number, *names, file=log)
for name in names:
    seconds, catches, hangs, crashes = TESTS[name]
    print("[ RUN      ]", name, flush=True)
    while number in hangs:
        pass
    if number in crashes:
        os.abort()
    if number in catches:
        print("[  FAILED  ] " + name + (", where GetParam() = 1" if "/" in name else "") + " (3 ms)", flush=True)
        sys.exit(1)
    print("[       OK ] " + name + f" ({{int(1000 * seconds)}} ms)", flush=True)
'''


@dataclasses.dataclass(frozen=True)
class Mutant:
    """What judging needs of one."""
    number: int
    place: str = "here"

    def identity(self):
        return f"mutant {self.number}"


class Mutate(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.work = pathlib.Path(directory.name)
        self.log = self.work / "log"
        in_place = {"CPU_SECONDS": 1, "test_of": lambda design: self.work / "tests", "load_reviewed": lambda design: {}, "repeat": lambda test, number: str(number)}
        patch = unittest.mock.patch.multiple(mutate, **in_place)
        patch.start()
        self.addCleanup(patch.stop)

    def program(self, tests):
        path = self.work / "tests"
        path.write_text(PROGRAM.format(python=sys.executable, tests=tests, log=str(self.log)), encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def put_to(self):
        """Each process: mutant and tests."""
        return [line.split() for line in self.log.read_text(encoding="utf-8").splitlines()]

    def loaded(self, tests):
        program = self.program(tests)
        seconds = mutate.seconds_of_tests(program)
        self.log.unlink()
        return mutate.Tests(program, seconds)

    def judge(self, tests, mutants, equivalent):
        """Results by number; the log is of this run. `equivalent` is asked for proofs."""
        self.program(tests)
        verilog = self.work / "mutants.v"
        verilog.write_text("module", encoding="utf-8")
        self.log.unlink(missing_ok=True)
        chosen = [Mutant(number) for number in mutants]
        design = types.SimpleNamespace(name="design", work=self.work, verilog=verilog)
        graph = types.SimpleNamespace(equivalent=lambda number, seconds: equivalent(number))
        results = mutate.judge_all(design, chosen, graph, argparse.Namespace(seed=1, jobs=1))
        return {mutant.number: result for mutant, result in results.items()}

    def test_short_ones_together_then_one_by_one_the_longest_last(self):
        tests = self.loaded({"A.Longest": (30, [], [], []), "A.B": (0.1, [], [], []), "A.Middle": (5, [], [], []), "P/A.C/0": (0.2, [], [], []), "A.Long": (20, [7], [], [])})
        self.assertIsNone(tests.short(7))
        self.assertEqual(self.put_to(), [["7", "A.B", "P/A.C/0"], ["7", "A.Middle"]])
        self.assertEqual(tests.long(7), "A.Long")
        self.assertEqual(self.put_to()[2:], [["7", "A.Long"]])
        self.assertIsNone(tests.long(8))
        self.assertEqual(self.put_to()[3:], [["8", "A.Long"], ["8", "A.Longest"]])

    def test_how_it_was_caught(self):
        tests = self.loaded({"A.B": (0, [1], [2], [3]), "P/A.C/0": (0, [4], [], [])})
        self.assertEqual(tests.short(1), "A.B")
        self.assertEqual(tests.short(2), "A.B (does not end)")
        self.assertEqual(tests.short(3), "A.B (crash, status -6)")
        self.assertEqual(tests.short(4), "P/A.C/0")
        self.assertIsNone(tests.short(5))
        self.assertIsNone(tests.quickly(2))  # a second says nothing
        self.assertEqual(tests.quickly(1), "A.B")

    def test_no_mutant_has_to_pass(self):
        with self.assertRaisesRegex(mutate.netlist.ToolError, "fails without a mutant"):
            mutate.seconds_of_tests(self.program({"A.B": (0, [0], [], [])}))

    def test_proofs_come_before_long_tests(self):
        asked = []

        def equivalent(number):
            asked.append(number)
            return "in any state" if number == 2 else None

        tests = {"A.Short": (0, [1], [], []), "A.Long": (20, [3], [], [])}
        with unittest.mock.patch.object(mutate.Tests, "quickly", lambda tests, number: None):
            results = self.judge(tests, [1, 2, 3, 4], equivalent)
        self.assertEqual([(number, result.verdict, result.how.split(":")[0]) for number, result in results.items()],
                         [(1, mutate.CAUGHT, "A.Short"), (2, mutate.PROVEN, "in any state"), (3, mutate.CAUGHT, "A.Long"), (4, mutate.SURVIVED, "at here")])
        self.assertEqual(asked, [2, 3, 4])
        self.assertEqual(self.put_to()[-2:], [["3", "A.Long"], ["4", "A.Long"]])

    def test_what_is_reviewed_meets_short_tests_only(self):
        reviewed = {Mutant(number).identity(): mutate.Result(mutate.REVIEWED_ONE, "why") for number in (1, 2)}
        tests = {"A.Short": (0, [1], [], []), "A.Long": (20, [2, 3], [], [])}
        asked = []
        with unittest.mock.patch.multiple(mutate, load_reviewed=lambda design: reviewed), unittest.mock.patch.object(mutate.Tests, "quickly", lambda tests, number: None):
            results = self.judge(tests, [1, 2, 3], asked.append)
        self.assertEqual([result.verdict for result in results.values()], [mutate.CAUGHT, mutate.REVIEWED_ONE, mutate.CAUGHT])
        self.assertEqual(asked, [3])
        self.assertNotIn(["2", "A.Long"], self.put_to())

    def test_a_second_run_asks_again_only_for_proofs_of_what_survived(self):
        tests = {"A.Short": (0, [1], [], []), "A.Long": (20, [], [], [])}
        self.judge(tests, [1, 2, 3], lambda number: "proof" if number == 2 else None)
        asked = []
        results = self.judge(tests, [1, 2, 3], asked.append)
        self.assertEqual([result.verdict for result in results.values()], [mutate.CAUGHT, mutate.PROVEN, mutate.SURVIVED])
        self.assertEqual(asked, [3])
        self.assertEqual({line[0] for line in self.put_to()}, {"0"})

    def test_after_a_change_of_tests_proofs_hold_and_each_mutant_meets_its_test_first(self):
        self.judge({"A.B": (0, [1, 4], [], []), "A.C": (0, [], [], [])}, [1, 2, 3, 4], lambda number: "proof" if number == 2 else None)
        asked = []
        results = self.judge({"A.C": (0, [3, 4], [], []), "A.B": (0, [1], [], [])}, [1, 2, 3, 4], asked.append)
        self.assertEqual([(result.verdict, result.how.split()[0]) for result in results.values()],
                         [(mutate.CAUGHT, "A.B"), (mutate.PROVEN, "proof"), (mutate.CAUGHT, "A.C"), (mutate.CAUGHT, "A.C")])
        self.assertEqual(asked, [])
        self.assertEqual(self.put_to(), [["0", "A.C", "A.B"], ["1", "A.B"], ["4", "A.B"], ["3", "A.C", "A.B"], ["4", "A.C", "A.B"]])


if __name__ == "__main__":
    unittest.main()

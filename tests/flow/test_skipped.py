# SPDX-License-Identifier: Apache-2.0
"""Skips are listed with their reasons, as ctest writes them, and can be refused; so do the tests of boots.

usage: test_skipped.py REPOSITORY
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
TESTS = r"""
add_test(whole "/bin/sh" "-c" "echo SKIPPED: not root; exit 77")
add_test(parts "/bin/sh" "-c" "echo .SKIPPED; echo 'SKIPPED: test_kea: no kea'; echo 'SKIPPED: test_uftp: no uftp'")
add_test(silent "/bin/sh" "-c" "exit 77")
set_tests_properties(whole silent PROPERTIES SKIP_RETURN_CODE 77)
add_test(google "/bin/sh" "-c" "echo 'x.cpp:84: Skipped'; echo 'no ibsim'; echo; echo '[  SKIPPED ] A.B (0 ms)'")
set_tests_properties(google PROPERTIES SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
add_test(fine "/bin/sh" "-c" "echo fine; exit 0")
"""
LISTED = """Skipped, 5 in all:
  whole: not root
  parts: test_kea: no kea
  parts: test_uftp: no uftp
  silent: SKIP_RETURN_CODE=77
  google: no ibsim
"""


def run(*command, refused=None, **more):
    environment = {key: value for key, value in os.environ.items() if key != "WEFT_MUST_NOT_SKIP"}
    if refused is not None:
        environment["WEFT_MUST_NOT_SKIP"] = refused
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**environment, **more})


class Skipped(unittest.TestCase):
    def listed(self, tests, refused=None):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "CTestTestfile.cmake").write_text(tests, encoding="utf-8")
            ctest = run("ctest", "--test-dir", folder, "--output-junit", "tests.xml")
            self.assertEqual(ctest.returncode, 0, ctest.stdout + ctest.stderr)
            return run(sys.executable, ROOT / "scripts" / "skipped.py", pathlib.Path(folder) / "tests.xml", refused=refused)

    def test_lists_what_was_skipped_and_why(self):
        for refused in (None, "", "0"):
            found = self.listed(TESTS, refused)
            self.assertEqual((found.returncode, found.stdout), (0, LISTED), found.stderr)

    def test_a_skip_is_a_failure_where_it_is_refused(self):
        found = self.listed(TESTS, "1")
        self.assertEqual((found.returncode, found.stdout), (1, LISTED + "WEFT_MUST_NOT_SKIP is set: that is a failure\n"))

    def test_says_nothing_if_all_was_run(self):
        found = self.listed(TESTS.splitlines()[-1], "1")
        self.assertEqual((found.returncode, found.stdout), (0, ""))

    def test_boots_that_cannot_be_tried_here_are_skipped_or_failures(self):
        """Without any of the programs that they need."""
        for name, more in (("test_boot_network.py", ("weft", "weft-relay")), ("test_boot_ipxe.py", ("weft",)), ("test_boot_files.py", ("weft", "kea"))):
            command = (sys.executable, "-B", ROOT / "tests" / "interop" / name, *more)
            found = run(*command, WEFT_SBIN="/none", PATH="/none")
            self.assertEqual(found.returncode, 77, name + found.stdout + found.stderr)
            self.assertTrue(found.stdout.startswith("SKIPPED: not installed: "), found.stdout)
            refused = run(*command, refused="1", WEFT_SBIN="/none", PATH="/none")
            self.assertEqual(refused.returncode, 1, name + refused.stdout)
            self.assertIn("and WEFT_MUST_NOT_SKIP is set", refused.stdout)


if __name__ == "__main__":
    unittest.main()

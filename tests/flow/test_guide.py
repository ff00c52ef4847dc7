# SPDX-License-Identifier: Apache-2.0
"""What a guide shows is what a test runs: each block of C++ of the guide (of nic_guide.md: each block) stands there, but for blanks.

usage: test_guide.py REPOSITORY
"""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))


def without_blanks(text):
    return "".join(text.split())


def blocks(text, language=r"\w*"):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


class Guide(unittest.TestCase):
    def assert_run(self, found, least, test):
        program = without_blanks((ROOT / test).read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(found), least)
        for block in found:
            with self.subTest(block=block):
                self.assertIn(without_blanks(block), program)

    def test_nic_guide(self):
        guide = (ROOT / "docs" / "nic_guide.md").read_text(encoding="utf-8")
        self.assert_run(blocks(guide), 9, "tb/rdma/nic_guide_test.cpp")

    def test_driver(self):
        guide = (ROOT / "docs" / "driver.md").read_text(encoding="utf-8")
        self.assert_run(blocks(guide, "cpp"), 1, "tb/node/verbs_test.cpp")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""What docs/nic_guide.md shows is what tb/rdma/nic_guide_test.cpp runs: each block of code stands there, but for blanks.

usage: test_guide.py REPOSITORY
"""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
GUIDE = ROOT / "docs" / "nic_guide.md"
TEST = ROOT / "tb" / "rdma" / "nic_guide_test.cpp"


def without_blanks(text):
    return "".join(text.split())


def blocks(text):
    return re.findall(r"^```\w*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


class Guide(unittest.TestCase):
    def test_each_block_is_run(self):
        program = without_blanks(TEST.read_text(encoding="utf-8"))
        found = blocks(GUIDE.read_text(encoding="utf-8"))
        self.assertGreater(len(found), 8)
        for block in found:
            with self.subTest(block=block):
                self.assertIn(without_blanks(block), program)


if __name__ == "__main__":
    unittest.main()

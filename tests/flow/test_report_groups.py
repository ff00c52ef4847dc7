# SPDX-License-Identifier: Apache-2.0
"""Each page of docs/results has its place in the report, and no place is that of a page which nothing writes.

usage: test_report_groups.py REPOSITORY
"""

import collections
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "report"))
import groups  # noqa: E402

PAGES = {page.stem for page in (ROOT / "docs" / "results").glob("*.md")}
NAMES = [name for _, members in groups.GROUPS for name in members]


class Groups(unittest.TestCase):
    def test_each_page_is_in_a_group(self):
        self.assertEqual(sorted(PAGES - set(NAMES)), [])

    def test_none_is_in_two(self):
        self.assertEqual([name for name, count in collections.Counter(NAMES).items() if count > 1], [])

    def test_each_name_is_a_page_or_will_be_one(self):
        """Of the Makefile: which page each target says that it writes."""
        written = set(re.findall(r"docs/results/(\w+)\.md", (ROOT / "Makefile").read_text(encoding="utf-8")))
        self.assertEqual(sorted(set(NAMES) - PAGES - written), [])

    def test_pages_of_no_group_come_last(self):
        self.assertEqual([each for each in groups.grouped({"stray", "area", "fuzz"}) if each[1]], [("Area and timing", ["area"]), ("Faults", ["fuzz"]), (groups.OTHERS, ["stray"])])


if __name__ == "__main__":
    unittest.main()

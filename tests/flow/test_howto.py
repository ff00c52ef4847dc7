# SPDX-License-Identifier: Apache-2.0
"""Commands of how-to pages do what the pages show: each block `sh` is run, in order, in one folder; each line of the block `text` behind it occurs in what was printed.

usage: test_howto.py BUILD PAGE...
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
PAGES = [pathlib.Path(name) for name in sys.argv[2:]]
BLOCK = re.compile(r"^```sh\n(?P<commands>.*?)^```$(?:\s*^```text\n(?P<text>.*?)^```$)?", re.DOTALL | re.MULTILINE)


class Howto(unittest.TestCase):
    def run_page(self, page):
        blocks = list(BLOCK.finditer(page.read_text(encoding="utf-8")))
        self.assertTrue(blocks, page)
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "build").symlink_to(BUILD)
            for block in blocks:
                result = subprocess.run(["bash", "-eu", "-o", "pipefail", "-c", block["commands"]], cwd=folder, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                self.assertEqual(result.returncode, 0, f"{page}: {block['commands']}\n{result.stdout}")
                for line in (block["text"] or "").splitlines():
                    self.assertIn(line, result.stdout, f"{page}: {block['commands']}")

    def test_pages(self):
        for page in PAGES:
            with self.subTest(page=page.name):
                self.run_page(page)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

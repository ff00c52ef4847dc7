# SPDX-License-Identifier: Apache-2.0
"""What a guide shows is what a test runs: each block of C++ of the guide (of nic_guide.md: each block) stands there, but for blanks. Each page can be reached from
docs/README.md; words that pages define in tables of terms stand in the glossary; each block of code is run by a test, or is named with the reason why not.

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
    def assert_run(self, found, least, *tests):
        program = "".join(without_blanks((ROOT / test).read_text(encoding="utf-8")) for test in tests)
        self.assertGreaterEqual(len(found), least)
        for block in found:
            with self.subTest(block=block):
                self.assertIn(without_blanks(block), program)

    def test_nic_guide(self):
        guide = (ROOT / "docs" / "nic_guide.md").read_text(encoding="utf-8")
        self.assert_run(blocks(guide), 9, "tb/rdma/nic_guide_test.cpp")

    def test_driver(self):
        guide = (ROOT / "docs" / "driver.md").read_text(encoding="utf-8")
        self.assert_run(blocks(guide, "cpp"), 1, "tb/node/verbs_test.cpp", "tb/node/verbs_barrier_test.cpp")

    def test_barrier(self):
        guide = (ROOT / "docs" / "barrier.md").read_text(encoding="utf-8")
        self.assert_run(blocks(guide, "text"), 1, "tests/sw/test_drivers.cpp")


# Blocks of code that no test of docs runs, by page and first words, and why.
NOT_RUN = {
    ("docs/barrier.md", "driver::BarrierDriver barriers("): "its bus, memory and function are the reader's",
    ("docs/barrier.md", "write 0x10010"): "above",
    ("docs/boot.md", "{"): "a file that the commands of the page read",
    ("docs/fabric.md", "node ──send──>"): "a picture",
    ("docs/howto_extend.md", "Graph hypercube("): "tests/flow/test_page_code.py compiles and runs it",
    ("docs/howto_extend.md", '{"hypercube"'): "tests/flow/test_page_code.py compiles and runs it",
    ("docs/mcast_opensm.md", ""): "lines of a file of OpenSM",
    ("docs/mcast_opensm.md", "cp build/lib/libweftmcast.so"): "needs a subnet; the tests of the plugin in test_interop do it",
    ("docs/rdma.md", "sender "): "a picture",
    ("docs/rdma_baseline.md", "DATA("): "a picture",
    ("docs/rdma_queues.md", "owner writes entries"): "a picture",
    ("docs/rdma_queues.md", "rdma_queues ── request"): "a picture",
    ("docs/rdma_transfers.md", "RECV "): "a picture",
    ("docs/rdma_transfers.md", "RQT with a flag"): "a picture",
    ("docs/selftest.md", "R PASS"): "what a board says; `make fpga` compares it",
    ("docs/selftest.md", "receiver.hex"): "a picture",
    ("docs/switch.md", "#include <stdint.h>"): "tests/flow/test_page_code.py compiles and runs it",
    ("docs/systemc.md", "#include <cstdio>"): "tests/systemc/page.py builds and runs it",
    ("docs/route.md", "leaf-0-0 "): "a picture",
    ("docs/route.md", "sbatch --array"): "tests/flow/local_slurm.sh runs the like",
    ("docs/systemc.md", "g++ -std=c++20"): "tests/systemc/page.py runs it",
    ("docs/topology.md", "switchguid="): "lines of a file",
    ("docs/trace.md", "# weft-trace 1"): "lines of a file",
}
COMMAND = re.compile(r"^(build/bin/|make|ninja |ctest )", re.M)  # tests/docs/run_commands.py: each such line is run, or is named there
CPP_PAGES = ("docs/nic_guide.md", "docs/driver.md")  # above


def pages():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def links(page):
    """Pages of the repository that a page names in links."""
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^()\s]+)\)", page.read_text(encoding="utf-8"))]
    return {(page.parent / target).resolve() for target in targets if target.endswith(".md")}


class Pages(unittest.TestCase):
    def test_each_can_be_reached_from_the_index(self):
        seen, left = set(), [(ROOT / "docs" / "README.md").resolve()]
        while left:
            page = left.pop()
            if page not in seen and page.exists():
                seen.add(page)
                left += links(page)
        self.assertEqual([str(page.relative_to(ROOT)) for page in pages() if page.resolve() not in seen], [])

    def test_each_block_of_code_is_run_or_said_why_not(self):
        sys.path.insert(0, str(ROOT / "tests" / "docs"))
        from run_commands import OTHER_TESTS  # pylint: disable=import-outside-toplevel

        named = set()
        for page in pages():
            name = page.relative_to(ROOT).as_posix()
            if name.startswith("docs/results/") or name in OTHER_TESTS:
                continue
            for language, body in re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S):
                if language == "wavedrom" or (language == "cpp" and name in CPP_PAGES) or (language != "cpp" and COMMAND.search(body)):
                    continue
                reasons = [key for key in NOT_RUN if key[0] == name and body.splitlines()[0].strip().startswith(key[1])]
                self.assertTrue(reasons, f"{name}: no test runs the block that begins with: {body.splitlines()[0]}")
                named.add(max(reasons, key=lambda key: len(key[1])))
        self.assertEqual(sorted(set(NOT_RUN) - named), [], "no such block is left")

    def test_terms_of_pages_are_in_the_glossary(self):
        glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").lower()
        checked = 0
        for page in sorted((ROOT / "docs").glob("*.md")):
            for table in re.findall(r"^## Terms\n+(?:[^|\n].*\n+)*((?:\|.*\n)+)", page.read_text(encoding="utf-8"), re.M):
                for row in table.splitlines()[2:]:
                    for term in re.split(r",|\(", row.split("|")[1]):
                        term = term.replace("`", "").replace(")", "").strip().lower()
                        if re.fullmatch(r"[a-z][a-z -]+", term):
                            checked += 1
                            self.assertIn(term, glossary, f"{page.name}: {term}")
        self.assertGreater(checked, 8)


if __name__ == "__main__":
    unittest.main()

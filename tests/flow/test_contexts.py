# SPDX-License-Identifier: Apache-2.0
"""What the engines keep is the same in spec/contexts.json, RTL, golden models and page; each changed alone is found and named.

usage: test_contexts.py REPOSITORY BUILD
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(2))
ROOT = pathlib.Path(sys.argv.pop(1))
PAGE = "docs/contexts.md"


def compare(root, *options):
    command = [sys.executable, "-B", ROOT / "scripts" / "contexts.py", "--root", root, "--gen", BUILD / "gen" / "rtl", *options]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode, result.stderr


class Contexts(unittest.TestCase):
    def copy(self, *parts):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        root = pathlib.Path(holder.name)
        for part in ("spec", "docs/contexts.md", *parts):
            target = root / part
            target.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, target)
            else:
                shutil.copy(ROOT / part, target)
        return root

    def alone(self, part, file, old, new, options, *words):
        """One change in a copy of the part is found, in one line that has these words."""
        root = self.copy(part)
        text = (root / file).read_text(encoding="utf-8")
        self.assertEqual(text.count(old), 1, f"{file}: {old}")
        (root / file).write_text(text.replace(old, new), encoding="utf-8")
        code, errors = compare(root, *[option if option != PAGE else root / PAGE for option in options])
        self.assertEqual(code, 1, errors)
        for word in words:
            self.assertIn(word, errors.splitlines()[0])
        return errors

    def test_all_say_the_same(self):
        self.assertEqual(compare(ROOT, "--rtl", "--model", "--check", "--page", ROOT / PAGE), (0, ""))

    def test_a_width_changed_in_the_rtl(self):
        self.alone("rtl", "rtl/rdma/rdma_typedef.svh", "    logic [3:0]          silent; ", "    logic [4:0]          silent; ", ["--rtl"], "rx_state.silent", "4 bits", "silent, 5 bits")

    def test_a_constant_changed_in_the_rtl_package(self):
        self.alone("rtl", "rtl/rdma/rdma_pkg.sv", "localparam int unsigned SPAN_W = 4;", "localparam int unsigned SPAN_W = 5;", ["--rtl"], "tx_context.span")

    def test_the_order_changed_in_the_rtl(self):
        self.alone("rtl", "rtl/barrier/barrier_pkg.sv", "    logic [15:0] timer;\n    logic [15:0] interval;", "    logic [15:0] interval;\n    logic [15:0] timer;", ["--rtl"],
                   "barrier_group.interval", "in its place timer")

    def test_a_ram_that_keeps_less(self):
        self.alone("rtl", "rtl/rdma/rdma_receiver.sv", ".WIDTH($bits(grant_t))", ".WIDTH($bits(grant_t) - 1)", ["--rtl"], "rx_grant: 125 bits stored", "i_grants has 124")

    def test_a_default_changed_in_the_model(self):
        self.alone("model", "model/rdma/params.hpp", "uint32_t pidx_bits = 24;", "uint32_t pidx_bits = 23;", ["--model"], "PIDX_W", "24", "23")

    def test_a_member_changed_in_the_model(self):
        errors = self.alone("model", "model/rdma/sender.hpp", "  uint16_t tag = 0;\n  uint64_t src_addr = 0;", "  uint8_t tag = 0;\n  uint64_t src_addr = 0;", ["--model"], "tx_context.tag", "uint16_t", "uint8_t in the model")
        self.assertEqual(len(errors.splitlines()), 1, errors)

    def test_the_page_changed(self):
        self.alone("model", PAGE, "| 124:117 | `gen` | 8 |", "| 124:117 | `gen` | 9 |", ["--check", "--page", PAGE], "contexts.md", "make formats")

    def test_the_description_changed(self):
        old, new = '{"name": "gen", "width": "8", "model": "uint8_t RxContext::gen"', '{"name": "gen", "width": "9", "model": "uint8_t RxContext::gen"'
        self.alone("model", "spec/contexts.json", old, new, ["--check", "--page", PAGE], "contexts.md")
        self.alone("model", "spec/contexts.json", old, new, ["--model"], "rx_grant.gen", "too narrow for 9 bits")
        self.alone("rtl", "spec/contexts.json", old, new, ["--rtl"], "rx_grant.gen: 9 bits in the description", "gen, 8 bits")

    def test_faults_of_the_description(self):
        root = self.copy()
        text = (root / "spec/contexts.json").read_text(encoding="utf-8")
        for old, new, word in (('"width": "SHIFT"', '"width": "SHIFTS"', "SHIFTS"), ('"ram": "i_grants"', '"rams": "i_grants"', "unknown key 'rams'"), ('"records": [', '"records": [[', "cannot be read")):
            self.assertGreaterEqual(text.count(old), 1)
            (root / "spec/contexts.json").write_text(text.replace(old, new), encoding="utf-8")
            code, errors = compare(root, "--model")
            self.assertEqual((code, len(errors.splitlines())), (2, 1), errors)
            self.assertIn(word, errors)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""gen_formats.py names the fault of a bad description and leaves right files alone.

usage: test_gen_formats.py REPOSITORY
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
GENERATOR = ROOT / "scripts" / "gen_formats.py"


def good_spec(unit="rdma"):
    return json.loads((ROOT / "spec" / f"{unit}.json").read_text(encoding="utf-8"))


class GenFormats(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.spec = self.folder / "unit.json"

    def generate(self, *options):
        return subprocess.run([sys.executable, GENERATOR, self.spec, *options], capture_output=True, text=True, check=False)

    def expect_fault(self, spec, *words):
        self.spec.write_text(spec if isinstance(spec, str) else json.dumps(spec), encoding="utf-8")
        result = self.generate("--cpp", self.folder / "out.hpp")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for word in ("unit.json", *words):
            self.assertIn(word, result.stderr)
        self.assertFalse((self.folder / "out.hpp").exists())

    def test_duplicate_value(self):
        spec = good_spec()
        spec["enums"][0]["values"][1]["value"] = 1
        self.expect_fault(spec, "ptype", "RSP", "RQT", "same value 1")

    def test_value_beyond_width(self):
        spec = good_spec()
        spec["enums"][0]["values"][1]["value"] = 256
        self.expect_fault(spec, "ptype", "RSP", "256", "8 bits")

    def test_duplicate_offset(self):
        spec = good_spec()
        spec["registers"]["list"][1]["offset"] = 0
        self.expect_fault(spec, "VERSION", "0x0", "ID")

    def test_offset_inside_a_bank(self):
        spec = good_spec()
        spec["registers"]["list"][1]["offset"] = 0x404
        self.expect_fault(spec, "OUTCOME", "0x404", "VERSION")

    def test_unaligned_offset(self):
        spec = good_spec()
        spec["registers"]["list"][1]["offset"] = 6
        self.expect_fault(spec, "VERSION", "multiple of 4")

    def test_header_sum(self):
        spec = good_spec()
        spec["header"]["fields"][0]["width"] = 9
        self.expect_fault(spec, "257", "256")

    def test_field_too_wide(self):
        spec = good_spec()
        spec["header"]["fields"][0]["width"] = 65
        self.expect_fault(spec, "ptype", "65")

    def test_record_sum(self):
        spec = good_spec("rdma_queues")
        spec["records"][1]["fields"][0]["width"] = 63
        self.expect_fault(spec, "record 'completion'", "255", "256")

    def test_record_twice(self):
        spec = good_spec("rdma_queues")
        spec["records"][1]["name"] = "submission"
        self.expect_fault(spec, "record 1", "submission", "twice")

    def test_record_named_like_the_header(self):
        spec = good_spec()
        spec["records"] = [dict(spec["header"], name="header")]
        self.expect_fault(spec, "record 0", "header", "twice")

    def test_neither_header_nor_record(self):
        spec = good_spec("rdma_queues")
        del spec["records"]
        self.expect_fault(spec, "neither", "header", "record")

    def test_record_becomes_struct_and_type(self):
        self.spec.write_text(json.dumps(good_spec("rdma_queues")), encoding="utf-8")
        cpp, sv, doc = (self.folder / name for name in ("out.hpp", "out.sv", "out.md"))
        self.assertEqual(self.generate("--cpp", cpp, "--sv", sv, "--doc", doc).returncode, 0)
        self.assertIn("unpack_completion(", cpp.read_text(encoding="utf-8"))
        self.assertIn("} submission_t;", sv.read_text(encoding="utf-8"))
        self.assertIn("## Submission entry (512 bits)", doc.read_text(encoding="utf-8"))

    def test_page_says_an_entry_once_and_one_bit(self):
        for unit, line in (("barrier_ring", "## Entry (256 bits)"), ("barrier", "1 bit. SystemVerilog: `ENDING_*`")):
            self.spec.write_text(json.dumps(good_spec(unit)), encoding="utf-8")
            doc = self.folder / "out.md"
            self.assertEqual(self.generate("--doc", doc).returncode, 0)
            self.assertIn(f"\n{line}", doc.read_text(encoding="utf-8"))

    def test_writable_register_without_reset(self):
        spec = good_spec()
        register = next(r for r in spec["registers"]["list"] if r["name"] == "NODE_ID")
        del register["reset"]
        self.expect_fault(spec, "NODE_ID", "reset")

    def test_counters_too_few_for_the_enum(self):
        spec = good_spec()
        next(r for r in spec["registers"]["list"] if r["name"] == "OUTCOME")["count"] = 8
        self.expect_fault(spec, "OUTCOME", "too few")

    def test_values_without_a_counter(self):
        spec = good_spec()
        outcome = next(e for e in spec["enums"] if e["name"] == "outcome")
        outcome["values"].append({"name": "TOO_HIGH", "value": 255, "doc": "x"})
        self.expect_fault(spec, "OUTCOME", "too few")

    def test_missing_and_unknown_keys(self):
        spec = good_spec()
        del spec["registers"]["list"][0]["access"]
        self.expect_fault(spec, "ID", "'access' is missing")
        spec = good_spec()
        spec["registers"]["list"][0]["acess"] = "ro"
        self.expect_fault(spec, "ID", "acess")

    def test_duplicate_key_and_syntax(self):
        self.expect_fault('{"unit": "a", "unit": "b"}', "'unit'", "twice")
        self.expect_fault('{\n"unit": }', "line 2")

    def test_missing_file(self):
        result = self.generate()
        self.assertEqual(result.returncode, 2)
        self.assertIn("unit.json", result.stderr)

    def test_unchanged_files_are_not_touched(self):
        self.spec.write_text(json.dumps(good_spec()), encoding="utf-8")
        out = self.folder / "out.hpp"
        self.assertEqual(self.generate("--cpp", out).returncode, 0)
        os.utime(out, (1, 1))
        self.assertEqual(self.generate("--cpp", out).returncode, 0)
        self.assertEqual(out.stat().st_mtime, 1)
        self.assertEqual(self.generate("--cpp", out, "--check").returncode, 0)
        out.write_text("other", encoding="utf-8")
        self.assertEqual(self.generate("--cpp", out, "--check").returncode, 1)
        self.assertEqual(out.read_text(encoding="utf-8"), "other")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""A result of `make formal` is left out only if it was as expected and nothing that it depends on has changed.

usage: test_formal_record.py REPOSITORY
"""

import collections
import dataclasses
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "formal"))
import blocks  # noqa: E402
import prove  # noqa: E402
import record  # noqa: E402

Job = collections.namedtuple("Job", "subject title expected of")
CORE = """module core (input logic a_i);
  part i_part (.a_i);  // in a comment: remark
endmodule
"""


class Sources(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        texts = {"core.sv": CORE, "part.sv": '`include "macros.svh"\nmodule part import words_pkg::*; (input word_t a_i);\nendmodule\n',
                 "words_pkg.sv": "package words_pkg;\nendpackage\n", "macros.svh": "`define X 1\n", "remark.sv": "module remark;\nendmodule\n",
                 "other.sv": "module other;\nendmodule\n", "two.sv": "module two;\nendmodule\nmodule three;\n  deep i_deep ();\nendmodule\n", "deep.sv": "module deep;\nendmodule\n"}
        self.files = {name: folder / name for name in texts}
        for name, text in texts.items():
            self.files[name].write_text(text, encoding="utf-8")

    def needed(self, *names):
        return [file.name for file in record.needed(self.files["core.sv"], [self.files[name] for name in names])]

    def test_what_is_named_is_needed(self):
        self.assertEqual(self.needed("core.sv", "part.sv", "words_pkg.sv", "macros.svh", "remark.sv", "other.sv"),
                         ["core.sv", "macros.svh", "part.sv", "remark.sv", "words_pkg.sv"])

    def test_a_file_of_several_modules_is_needed_and_what_it_names(self):
        self.assertEqual(self.needed("core.sv", "other.sv", "two.sv", "deep.sv"), ["core.sv", "deep.sv", "two.sv"])

    def test_each_source_counts(self):
        def of(text):
            self.files["part.sv"].write_text(text, encoding="utf-8")
            record.text_of.cache_clear()
            return record.fingerprint("entry", [self.files["core.sv"], self.files["part.sv"]], [], [])
        self.assertEqual(of("module part;\n"), of("module part;\n"))
        self.assertNotEqual(of("module part;\n"), of("module part; \n"))

    def test_entry_and_code_count(self):
        def fingerprint(entry, *functions):
            return record.fingerprint(entry, [], functions, [])
        self.assertNotEqual(fingerprint("a"), fingerprint("b"))
        self.assertNotEqual(fingerprint("a", record.needed), fingerprint("a", record.cell))


class Lines(unittest.TestCase):
    def test_the_expected_result_of_this_very_check(self):
        for expected in (True, False):
            job = Job("block", "a | b, `c | d`", expected, "0123")
            line = record.row(job, expected, "all")
            self.assertEqual(record.recorded(job, ["| other |", line]), line)
            self.assertIsNone(record.recorded(job, [record.row(job, not expected, "all")]))
            self.assertIsNone(record.recorded(job, [record.row(job._replace(of="4567"), expected, "all")]))
            self.assertIsNone(record.recorded(job._replace(title="a"), [line]))
            self.assertIsNone(record.recorded(job._replace(expected=not expected), [line]))


class Repository(unittest.TestCase):
    def test_a_file_is_called_as_its_module_or_stands_in_for_it(self):
        for proof in {proof for proof, _ in blocks.BLOCKS}:
            odd = [file.name for file in blocks.plain_sources(proof) if record.declares_another(file)]
            self.assertEqual(odd, [stands_in for _, stands_in in proof.instead])

    def test_checks_differ(self):
        jobs = list(prove.jobs())
        self.assertEqual(len({job.of for job in jobs}), len(jobs))

    def test_limits_and_faults_count(self):
        proof, fault = blocks.SYNC_FIFO, next(fault for proof, fault in blocks.BLOCKS if proof == blocks.SYNC_FIFO and fault)
        seen = {blocks.fingerprint(proof, None), blocks.fingerprint(proof, fault), blocks.fingerprint(dataclasses.replace(proof, bound=13), None),
                blocks.fingerprint(dataclasses.replace(proof, parameters=("DEPTH=3",)), None)}
        self.assertEqual(len(seen), 4)

    def test_the_page_has_each_check(self):
        lines = prove.PAGE.read_text(encoding="utf-8").splitlines()
        for job in prove.jobs():
            start = f"| {record.cell(job.subject)} | {record.cell(job.title)} | "
            self.assertTrue(any(line.startswith(start) for line in lines), f"{start}: not on {prove.PAGE}; run make formal FORMAL_ARGS=--changed")


if __name__ == "__main__":
    unittest.main()

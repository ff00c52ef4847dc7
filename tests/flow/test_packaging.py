# SPDX-License-Identifier: Apache-2.0
"""What needs nothing built is installed from a fresh configuration; an installation of what is not built fails; all that is installed is of the default target; versions agree.

usage: test_packaging.py REPOSITORY BUILD
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(2))
ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "scripts"))
import manifests  # noqa: E402


def run(*command):
    return subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Fresh(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.holder.cleanup)
        cls.build = pathlib.Path(cls.holder.name) / "build"
        result = run("cmake", "-G", "Ninja", "-S", ROOT, "-B", cls.build, "-DWEFT_TESTS=OFF")
        assert result.returncode == 0, result.stdout

    def install(self, *options):
        prefix = pathlib.Path(tempfile.mkdtemp(dir=self.holder.name))
        result = run("cmake", "--install", self.build, "--prefix", prefix, *options)
        return result, {file.relative_to(prefix).as_posix() for file in prefix.rglob("*") if file.is_file()}

    def test_parts_that_need_nothing_built(self):
        for component, files in {"registers": {"include/weft/weft_registers.h"},
                                 "rtl": {"share/weft/rtl/rdma/rdma.f", "share/weft/rtl/formats/rdma_formats_pkg.sv", "share/weft/rtl/common/weft_assert.svh"},
                                 "docs": {"share/doc/weft/copyright", "share/doc/weft/NOTICE", "share/doc/weft/CHANGELOG.md", "share/doc/weft/docs/rdma.md"}}.items():
            with self.subTest(component=component):
                result, installed = self.install("--component", component)
                self.assertEqual(result.returncode, 0, result.stdout)
                self.assertLessEqual(files, installed)
                self.assertEqual({file for file in installed if file.startswith(("bin/", "lib/"))}, set())
        self.assertEqual(self.install("--component", "registers")[1], {"include/weft/weft_registers.h"})

    def test_what_is_not_built_is_not_left_out_silently(self):
        result, _ = self.install("--component", "programs")
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"cannot find\s.*bin/weft")

    def test_each_installed_program_and_its_page_is_of_the_default_target(self):
        result = run("ninja", "-C", self.build, "-t", "query", "all")
        self.assertEqual(result.returncode, 0, result.stdout)
        parts = {line.strip() for line in result.stdout.splitlines()}
        self.assertIn("man", parts)
        commands = run("ninja", "-C", self.build, "-t", "commands", "all").stdout
        for program in ("weft", "weft-sim", "weft-node", "weft_write_bw", "weft-sim-bare"):
            self.assertRegex(commands, rf"-o bin/{program} ", program)
        self.assertIn("manual_pages.py", commands)


class Versions(unittest.TestCase):
    def test_all_are_that_of_cmake(self):
        version = manifests.version()
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")
        self.assertEqual(re.search(r"^## (\S+?)(?:,|$)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)[1], version)
        self.assertIn(f"name: weft::weft:{version}\n", (ROOT / "weft.core").read_text(encoding="utf-8"))
        self.assertEqual(run(BUILD / "bin" / "weft", "--version").stdout.split()[-1], version)


if __name__ == "__main__":
    unittest.main()

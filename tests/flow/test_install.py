# SPDX-License-Identifier: Apache-2.0
"""What `cmake --install` puts down: programs run there, another project finds the libraries, Verilator reads the RTL by its lists, bash completes.

usage: test_install.py REPOSITORY BUILD
"""

import gzip
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(2))
ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "scripts"))
import manifests  # noqa: E402

# Tops whose sources are one list.
TOPS = {top: units[0] for top, units in manifests.TOPS.items() if len(units) == 1}


def run(*command, **options):
    result = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if result.returncode:
        raise AssertionError(f"{' '.join(map(str, command))}: exit code {result.returncode}\n{result.stdout}")
    return result.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.prefix = pathlib.Path(cls.folder.name) / "usr"
        run("cmake", "--build", BUILD, "--target", "man")  # the rest is there
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)

    def completions(self, *words):
        script = (f"export PATH={self.prefix}/bin:$PATH; . {self.prefix}/share/bash-completion/completions/weft; "
                  'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _weft; printf "%s\\n" "${COMPREPLY[@]}"')
        return run("bash", "-c", script, "bash", *words).split()

    def test_programs_run(self):
        self.assertRegex(run(self.prefix / "bin" / "weft", "topology", "fattree3:4", cwd="/"), r"hosts +16\n")
        self.assertIn("ok", run(self.prefix / "bin" / "weft-sim", "rdma", "--bytes", "1000", "--bare", cwd="/"))

    def test_another_project_builds(self):
        build = pathlib.Path(self.folder.name) / "consumer"
        run("cmake", "-G", "Ninja", "-S", ROOT / "tests" / "flow" / "consumer", "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        self.assertEqual(run(build / "consumer"), "16 hosts, 10 words\n")
        self.assertIn("weft-node 'nobody': is not running", run(build / "consumer_of_driver"))
        self.assertEqual(run(build / "consumer_of_registers"), "weft 32\n")

    def test_programs_of_another_folder_meet_on_a_node(self):
        programs, fabric = self.prefix / "bin", f"installed-{os.getpid()}"
        with subprocess.Popen([programs / "weft-node", "--nodes", "2", "--fabric", fabric], cwd="/", stdout=subprocess.PIPE) as node:
            try:
                self.assertIn(fabric.encode(), node.stdout.readline())
                with subprocess.Popen([programs / "weft-pingpong", "--fabric", fabric, "--node", "1"], stdout=subprocess.DEVNULL) as server:
                    run(programs / "weft-pingpong", "--fabric", fabric, "--node", "0", "1", timeout=60)
                    self.assertEqual(server.wait(timeout=60), 0)
            finally:
                node.terminate()

    def test_rtl_is_whole(self):
        rtl = self.prefix / "share" / "weft" / "rtl"
        for top, unit in TOPS.items():
            with self.subTest(top=top):
                run("verilator", "--lint-only", "-Wall", "--top-module", top, rtl / "lint.vlt",
                    rtl / "formats" / f"{manifests.SPECS[unit]}_formats_pkg.sv", "-F", rtl / unit / f"{unit}.f")

    def test_completion(self):
        self.assertEqual(self.completions("weft", "to"), ["topology"])
        self.assertEqual(self.completions("weft", "trace", "d"), ["diff"])
        self.assertIn("--topology", self.completions("weft", "mcast", "--to"))
        self.assertEqual(self.completions("weft", "mcast", "--topology", "fattree3:4", "--merge-w"), ["--merge-with"])
        self.assertEqual(self.completions("weft-sim", "rdma", "--los"), ["--loss"])
        self.assertEqual(self.completions("weft-node", "--fab"), ["--fabric"])
        self.assertEqual(self.completions("weft-relay", "--li"), ["--linger"])
        self.assertEqual(self.completions("weft", "nothing", "--frob"), [])

    def test_manual_pages(self):
        pages = {page.name for page in (self.prefix / "share" / "man" / "man1").iterdir()}
        self.assertLessEqual({"weft.1.gz", "weft-images.1.gz", "weft-mcast.1.gz", "weft-boot.1.gz", "weft-relay.1.gz", "weft-sim-rdma.1.gz", "weft-node.1.gz", "weft_write_bw.1.gz"}, pages)
        relay = gzip.decompress((self.prefix / "share" / "man" / "man1" / "weft-relay.1.gz").read_bytes()).decode()
        self.assertIn("weft-relay \\- a node's image from its chain", relay)
        self.assertIn("2 bad input", relay)


if __name__ == "__main__":
    unittest.main()

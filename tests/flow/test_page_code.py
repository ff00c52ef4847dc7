# SPDX-License-Identifier: Apache-2.0
"""Code that pages show and no other test compiles, compiled and run: the new topology of docs/howto_extend.md, added as the page says,
is the fabric that it should be; the loader of docs/switch.md makes the accesses that it should make.

usage: test_page_code.py REPOSITORY BUILD
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(2))
ROOT = pathlib.Path(sys.argv.pop(1))

# What `weft topology` says of a SPEC, and each link between switches.
MAIN = """
#include <cstdio>
#include "topology/distances.hpp"
#include "topology/spec.hpp"
int main(int, char** argv) try {
  const auto fabric = weft::topology::load(argv[1]);
  std::printf("%u switches, %u hosts, %u links between switches, diameter %u\\n", fabric.switches(), fabric.hosts(), fabric.switch_links(),
              weft::topology::diameter(fabric));
  for (uint32_t i = 0; i < fabric.links(); ++i)
    if (!fabric.is_host_link(i)) std::printf("%u/%u-%u/%u\\n", fabric.link(i).a, fabric.link(i).a_port, fabric.link(i).b, fabric.link(i).b_port);
} catch (const std::exception& error) { std::puts(error.what()); return 2; }
"""


def block(page, language, start):
    """The only block on the page in that language that begins so."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    [code] = [body for body in re.findall(rf"^```{language}\n(.*?)^```$", text, re.S | re.M) if body.lstrip().startswith(start)]
    return code


def compile_in(folder, *command):
    compiled = subprocess.run(command, cwd=folder, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if compiled.returncode:
        raise AssertionError(compiled.stdout)


def changed(file, *changes):
    """Text of a source in which each pattern is found once and replaced."""
    text = (ROOT / "model" / "topology" / file).read_text(encoding="utf-8")
    for pattern, new in changes:
        text, times = re.subn(pattern, new, text, flags=re.M)
        if times != 1:
            raise AssertionError(f"{file}: {pattern} stands there {times} times")
    return text


class Hypercube(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.kept.cleanup)
        cls.folder = pathlib.Path(cls.kept.name)
        (cls.folder / "topology").mkdir()
        generator = block("howto_extend.md", "cpp", "Graph hypercube")
        signature = generator.split(" {")[0]
        head = '#include <fmt/format.h>\n#include "topology/generate.hpp"\n#include "topology/maker.hpp"\nnamespace weft::topology {\n'
        sources = {
            "topology/generate.hpp": changed("generate.hpp", (r"^(Graph kfat2d\(.*)$", rf"\1\n{signature};")),
            "spec.cpp": changed("spec.cpp", (r"Form, 7> forms\{\{\n", r"Form, 8> forms{{\n" + block("howto_extend.md", "cpp", '{"hypercube"').replace("\\", r"\\"))),
            "hypercube.cpp": head + generator + "}\n",
            "main.cpp": MAIN,
        }
        for name, text in sources.items():
            (cls.folder / name).write_text(text, encoding="utf-8")
        compile_in(
            cls.folder, "g++", *os.environ.get("CXXFLAGS", "").split(), "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{cls.folder}", f"-I{ROOT}/model",
            *(name for name in sources if name.endswith(".cpp")), BUILD / "lib" / "libweft_topology.a", "-lfmt", "-o", "fabric")

    def said(self, spec):
        run = subprocess.run([self.folder / "fabric", spec], check=False, stdout=subprocess.PIPE, text=True)
        return run.returncode, run.stdout.splitlines()

    def test_is_one(self):
        for dimensions, hosts in ((1, 1), (4, 2), (6, 3)):
            switches = 2**dimensions
            code, (sizes, *links) = self.said(f"hypercube:{dimensions}:{hosts}")
            self.assertEqual(code, 0)
            self.assertEqual(sizes, f"{switches} switches, {switches * hosts} hosts, {switches * dimensions // 2} links between switches, diameter {dimensions}")
            wanted = [f"{sw}/{hosts + 1 + d}-{sw | 1 << d}/{hosts + 1 + d}" for sw in range(switches) for d in range(dimensions) if not sw >> d & 1]
            self.assertEqual(sorted(links), sorted(wanted))

    def test_refuses_what_is_none(self):
        for spec in ("hypercube:0:1", "hypercube:19:1", "hypercube:4:0"):
            code, lines = self.said(spec)
            self.assertEqual(code, 2)
            self.assertEqual(len(lines), 1)
            self.assertIn(spec, lines[0])

    def test_others_are_still_there(self):
        self.assertEqual(self.said("fattree3:4")[1][0], "20 switches, 16 hosts, 32 links between switches, diameter 4")


# A block that writes down what it is told, and whose LOAD_STATUS is an argument.
BLOCK = """
#include <stdio.h>
#include <stdlib.h>
static uint32_t status;
void put(uint32_t address, uint32_t value) { printf("%#x %#x\\n", address, value); }
uint32_t get(uint32_t address) { return address == WEFT_SWITCH_LOOKUP_REG_LOAD_STATUS ? status : 0xffffffff; }
int main(int count, char **words) {
  uint32_t image[2] = {0xaaaa, 0xbbbb};
  status = (uint32_t)strtoul(words[count - 1], 0, 0);
  printf("%u\\n", load_tables(0x1122334455667788, 5, image, 2));
}
"""


class LoadTables(unittest.TestCase):
    def test_is_as_the_page_says(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "load.c").write_text(block("switch.md", "c", "#include <stdint.h>") + BLOCK, encoding="utf-8")
            compile_in(folder, "gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{BUILD}/gen/include", "load.c", "-o", "load")
            for status, wanted in ((3, "0"), (0x34, "3"), (2, "7")):  # DONE; REFUSED, IDENTITY; LOAD
                said = subprocess.run([f"{folder}/load", str(status)], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
                self.assertEqual(said, ["0x10 0x55667788", "0x14 0x11223344", "0x34 0x5", "0x40 0x3", "0x20 0", "0x24 0xaaaa", "0x24 0xbbbb", wanted])


unittest.main(verbosity=2)

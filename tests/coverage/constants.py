# SPDX-License-Identifier: Apache-2.0
"""Which bits of the simulated RTL are constant by construction, for code_coverage.py: no test can make them rise and fall.

usage: constants.py BUILD FOLDER [--jobs N]: elaborates each top that BUILD (a CMake folder) has Verilated, with its parameters, as one flat design, and has Yosys
work out what is constant. A bit counts if it is so wherever it stands, in all instances of all tops. Writes FOLDER/constants.json: file, signal, mask of bits.
Needs the Python of `make verilog`. Exit status 1 if a top cannot be elaborated.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import shlex
import sys

import code_coverage as coverage

sys.path.insert(0, str(coverage.ROOT / "fpga"))
import elaborate  # noqa: E402  pylint: disable=wrong-import-position

Top = collections.namedtuple("Top", "name module parameters files includes")

# A piece of a signal, lowest bit first: name, or None for a constant; first bit; bits.
Piece = collections.namedtuple("Piece", "name low width")
PIECE = re.compile(r"(?P<value>\d+'[01xzm-]+)|(?P<name>[\\$]\S+)(?: \[(?P<high>\d+)(?::(?P<low>\d+))?\])?")


class ToolError(Exception):
    """Elaboration failed."""


def tops(build):
    """Each once, from the commands that Verilate them."""
    found = {}
    for command in re.findall(r"^  COMMAND = .*?verilate\.py (.*?)(?: && .*)?$", (build / "build.ninja").read_text(encoding="utf-8"), re.MULTILINE):
        words = shlex.split(command.replace("$ ", "\\ "))
        found[words[1]] = Top(
            words[1], words[words.index("--top") + 1], [word.removeprefix("-G") for word in words if word.startswith("-G")],
            [pathlib.Path(word) for word in words if word.endswith(".sv")], [pathlib.Path(word.removeprefix("+incdir+")) for word in words if word.startswith("+incdir+")])
    return [found[name] for name in sorted(found)]


def flatten(top, result):
    """All of it as one module, with what is constant worked out; signals keep their names."""
    options = ["-j", "1", "--keep-hierarchy", "-D", "SYNTHESIS=1", "--top", top.module]
    for folder in top.includes:
        options += ["-I", elaborate.relative(folder)]
    for parameter in top.parameters:
        options += ["-G", parameter]
    error = elaborate.run_yosys_apart([" ".join(["read_slang", *options, *map(elaborate.relative, top.files)]), f"hierarchy -check -top {top.module}", "proc", "flatten",
                                       "opt -full", "opt_clean", f"write_rtlil {elaborate.relative(result)}"])
    if error:
        raise ToolError(f"{top.name}: {error[-300:]}")


class Netlist:
    """A flat module in Yosys's own format: its signals, and what they are connected to."""

    def __init__(self, text):
        self.widths = {name: int(width or 1) for width, name in re.findall(r"^  wire (?:.*?width (\d+) )?.*?(\S+)$", text, re.MULTILINE)}
        self.source = {}
        for line in re.findall(r"^  connect (.*)$", text, re.MULTILINE):
            pieces = re.match(r"(\{.*?\}|[\\$]\S+(?: \[[\d:]+\])?) (.*)$", line)
            self.source.update(zip(self._bits(pieces[1]), self._bits(pieces[2])))

    def _bits(self, text):
        """(name, bit), or (None, value)."""
        bits = []
        for piece in reversed(list(PIECE.finditer(text))):
            if piece["value"]:
                bits += [(None, value) for value in reversed(piece["value"].split("'")[1])]
            else:
                low = int(piece["low"] or piece["high"] or 0)
                high = int(piece["high"]) if piece["high"] else self.widths[piece["name"]] - 1
                bits += [(piece["name"], bit) for bit in range(low, high + 1)]
        return bits

    def is_constant(self, name, bit):
        at = (name, bit)
        while at in self.source:
            at = self.source[at]
        return at[0] is None

    def constants(self):
        """Of each signal with a name in the source: width, mask of constant bits."""
        for name, width in self.widths.items():
            if name.startswith("\\"):
                yield name[1:], width, sum(1 << bit for bit in range(width) if self.is_constant(name, bit))


def collect(top, text, modules, result):
    """Adds this top's signals to result: file and signal to width and mask of what is not constant somewhere."""
    for name, width, constant in Netlist(text).constants():
        scope, _, signal = f"{top.module}.{name}".rpartition(".")
        if place := modules.signal(scope, signal):
            old_width, old_varies = result.get(place, (0, 0))
            result[place] = (max(width, old_width), old_varies | (((1 << width) - 1) & ~constant))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="CMake folder")
    parser.add_argument("folder", type=pathlib.Path, help="for constants.json")
    parser.add_argument("--jobs", type=int, default=2, help="elaborations at a time (default: %(default)s)")
    args = parser.parse_args()
    folder, modules, result = args.folder.resolve(), coverage.Modules(), {}
    folder.mkdir(parents=True, exist_ok=True)
    todo = tops(args.build)
    try:
        with concurrent.futures.ThreadPoolExecutor(max_workers=args.jobs) as pool:
            results = [folder / f"{top.name}.il" for top in todo]
            for done, (top, file, _) in enumerate(zip(todo, results, pool.map(flatten, todo, results)), 1):
                collect(top, file.read_text(encoding="utf-8"), modules, result)
                file.unlink()
                print(f"constants: {done} of {len(todo)}: {top.name}", flush=True)
    except ToolError as error:
        sys.exit(f"constants: {error}")
    masks = collections.defaultdict(dict)
    for (file, signal), (width, varies) in sorted(result.items()):
        if constant := ((1 << width) - 1) & ~varies:
            masks[file][signal] = f"{constant:x}"
    coverage.write_whole(folder / "constants.json", json.dumps(masks, indent=1) + "\n")


if __name__ == "__main__":
    main()

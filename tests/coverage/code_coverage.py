# SPDX-License-Identifier: Apache-2.0
"""Which lines and bits of the RTL the simulations exercise, from the files that they have written (tb/common/coverage.hpp).

usage: code_coverage.py FOLDER: all files *.cov in it are added up. A line is hit if each block and branch that Verilator sees on it was executed; a bit, if it has
risen and fallen within one simulation. All instances and parameterisations of a module count as one. Every hole needs its reason in code_holes.json.
Writes FOLDER/code.json and docs/results/code_coverage.md. Exit status 0: 95 % of lines and of bits are hit, the rest is explained; 1: less, or holes
without a reason, or a reason without a hole; 2: bad input. Bits that are constant by construction (FOLDER/constants.json, made by constants.py) are no points, unless they
are hit.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RTL = ROOT / "rtl"
NOT_MEASURED = RTL / "selftest"  # tests of the blocks themselves, for FPGA boards: not part of a coverage build
SOURCES = (RTL, ROOT / "tests" / "rtl", ROOT / "fpga" / "window_designs")  # of all modules that are simulated
HOLES = pathlib.Path(__file__).resolve().parent / "code_holes.json"
PAGE = ROOT / "docs" / "results" / "code_coverage.md"
LONGEST = 400  # characters of a list on the page; all of it is in code.json
GOAL = 95  # percent hit, of lines and of bits

RECORD = re.compile(r"C '(?P<fields>.*)' (?P<count>\d+)")
BITS = re.compile(r"B (?P<scope>\S+) (?P<signal>\S+) (?P<width>\d+) (?P<hit>[0-9a-f]+)")
COMMENT = re.compile(r"//.*?$|/\*.*?\*/", re.DOTALL | re.MULTILINE)
GENERATED = re.compile(r"g(en)?_")  # names of generate blocks; variables of other blocks are no signals
INDEX = re.compile(r"\[\d+\]|__BRA__\d+__KET__")

Line = collections.namedtuple("Line", "file line")
Bit = collections.namedtuple("Bit", "file signal bit")


class BadInput(Exception):
    """A file that cannot be used; the text says which and why."""


# --- Which module an instance is of ------------------------------------------------------------------------------------


def after_parentheses(text, start):
    """Where what opens at start is closed."""
    depth = 0
    for position in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return position + 1
    raise BadInput(f"no end of '{text[start:start + 40]}'")


def instance_at(text, start):
    """Name of the instance whose module's name ends here, if it is one."""
    parameters = re.compile(r"\s+#\s*(?=\()").match(text, start)
    if parameters:
        start = after_parentheses(text, parameters.end())
    name = re.compile(r"\s*(\w+)\s*\(").match(text, start)
    return name and name[1]


class Modules:
    """Modules by name, each in a file of its name, and what they contain."""

    def __init__(self):
        self.files = {file.stem: file for folder in SOURCES for file in sorted(folder.rglob("*.sv"))}
        self.instances = {module: self._instances(module, file) for module, file in self.files.items()}

    def _instances(self, module, file):
        text = COMMENT.sub("", file.read_text(encoding="utf-8"))
        names = re.finditer(r"\b(" + "|".join(sorted(self.files, key=len, reverse=True)) + r")\b(?!\s*::)", text)
        found = collections.defaultdict(dict)
        for name in names:
            instance = instance_at(text, name.end()) if name[1] != module else None
            if instance:
                found[instance][self._block_before(text, name.start())] = name[1]
        return found

    @staticmethod
    def _block_before(text, position):
        """The generate block that began last: tells apart instances of one name."""
        blocks = re.findall(r"begin\s*:\s*(g\w*)", text[:position])
        return blocks[-1] if blocks else ""

    def _instance(self, module, name, blocks):
        found = self.instances[module].get(name, {})
        fits = {of for block, of in found.items() if block in blocks} or set(found.values())
        if len(fits) > 1:
            raise BadInput(f"'{name}' in {module} is one of {', '.join(sorted(fits))}")
        return fits.pop() if fits else None

    def locate(self, scope):
        """Module, and generate blocks inside; nothing for what is in no module or only in a process of it."""
        module, *inside = [INDEX.sub("", part) for part in scope.split(".")]
        if module not in self.files:
            if module == "TOP" or module.endswith("_pkg"):
                return None
            raise BadInput(f"no module '{module}'")
        blocks = []
        for part in inside:
            if instance := self._instance(module, part, blocks):
                module, blocks = instance, []
            elif GENERATED.match(part):
                blocks.append(part)
            else:
                return None
        return module, blocks

    def signal(self, scope, name):
        """File of the RTL, and name with the generate blocks around it; nothing for what does not count."""
        place = self.locate(scope)
        if not place or not in_rtl(self.files[place[0]]) or name == "clk_i":
            return None
        return short(self.files[place[0]]), ".".join([*place[1], name])


# --- What the simulations have noted -----------------------------------------------------------------------------------


def fields_of(text):
    """Verilator's key-value pairs, between control characters."""
    return dict(pair.split("\x02", 1) for pair in text.split("\x01") if "\x02" in pair)


def lines_of(fields):
    """The lines of a block, '12,14-16'; a missing else is its if's."""
    spans = [span.split("-") for span in fields.get("S", "").split(",") if span]
    return [line for span in spans for line in range(int(span[0]), int(span[-1]) + 1)] or [int(fields["l"])]


def in_rtl(file):
    return pathlib.Path(file).resolve().is_relative_to(RTL)


def short(file):
    return str(pathlib.Path(file).resolve().relative_to(ROOT))


class Coverage:
    """Sums over all files."""

    def __init__(self):
        self.blocks = collections.Counter()  # file, line, column, kind
        self.block_lines = {}
        self.signals = {}  # module and signal: width, mask of hit bits
        self.modules = Modules()

    def add(self, file):
        for number, record in enumerate(file.read_text(encoding="latin-1").splitlines(), 1):
            if block := RECORD.fullmatch(record):
                self._add_block(fields_of(block["fields"]), int(block["count"]))
            elif bits := BITS.fullmatch(record):
                self._add_bits(bits["scope"], bits["signal"], int(bits["width"]), int(bits["hit"], 16))
            else:
                raise BadInput(f"{file}:{number}: neither a block nor bits")

    def _add_block(self, fields, count):
        if in_rtl(fields["f"]):
            block = (short(fields["f"]), int(fields["l"]), fields.get("n", "0"), fields["o"])
            self.blocks[block] += count
            self.block_lines[block] = lines_of(fields)

    def _add_bits(self, scope, signal, width, hit):
        name = self.modules.signal(scope, signal)
        if not name:
            return
        old_width, old_hit = self.signals.get(name, (0, 0))
        self.signals[name] = (max(width, old_width), hit | old_hit)

    def lines(self):
        """Line: whether all on it was executed."""
        hit = {}
        for block, count in self.blocks.items():
            for line in self.block_lines[block]:
                point = Line(block[0], line)
                hit[point] = hit.get(point, True) and count > 0
        return hit

    def bits(self, constants):
        """Bit: whether it was hit; those that are constant are left out."""
        points = {Bit(file, signal, bit): bool(hit >> bit & 1) for (file, signal), (width, hit) in self.signals.items() for bit in range(width)}
        return {point: is_hit for point, is_hit in points.items() if is_hit or not int(constants.get(point.file, {}).get(point.signal, "0"), 16) >> point.bit & 1}


def read(folder):
    coverage = Coverage()
    files = sorted(folder.glob("*.cov"))
    if not files:
        raise BadInput(f"{folder}: no coverage files")
    for file in files:
        coverage.add(file)
    return coverage


# --- Reasons -----------------------------------------------------------------------------------------------------------


def source_line(point):
    return (ROOT / point.file).read_text(encoding="utf-8").splitlines()[point.line - 1].strip()


class Holes:
    """Why points are not hit: patterns of the file and of the line's text, or of the signal and its bits (all, or from one to one).

    Rare ones are hit by random packets now and then, so that it is no fault when they are.
    """

    def __init__(self, file):
        with open(file, encoding="utf-8") as text:
            self.entries = json.load(text)["holes"]
        self.used = set()

    @staticmethod
    def fits(entry, point):
        if not re.fullmatch(entry["file"], point.file):
            return False
        if isinstance(point, Line):
            return "line" in entry and bool(re.fullmatch(entry["line"], source_line(point)))
        low, high = entry.get("bits", [0, point.bit])
        return "signal" in entry and bool(re.fullmatch(entry["signal"], point.signal)) and low <= point.bit <= high

    def reason(self, point):
        for index, entry in enumerate(self.entries):
            if self.fits(entry, point):
                self.used.add(index)
                return entry["why"]
        return None

    def unused(self):
        return [json.dumps(entry) for index, entry in enumerate(self.entries) if index not in self.used and not entry.get("rare")]


# --- Results -----------------------------------------------------------------------------------------------------------


def percent(hit, total):
    return 100 * hit / total if total else 100.0


def count(points, reasons):
    """All, hit, explained; by file."""
    table = collections.defaultdict(lambda: [0, 0, 0])
    for point, is_hit in points.items():
        row = table[point.file]
        row[0] += 1
        row[1] += is_hit
        row[2] += reasons.get(point) is not None
    return table


def total(table):
    return [sum(row[i] for row in table.values()) for i in range(3)]


def ranges(numbers):
    """[1, 2, 3, 7] -> '1-3, 7'"""
    spans = []
    for number in sorted(numbers):
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in spans)


def holes_by_reason(reasons):
    """(file, why): how many lines and bits, and which."""
    grouped = collections.defaultdict(lambda: ([], collections.defaultdict(list)))
    for point, why in reasons.items():
        lines, bits = grouped[point.file, why]
        if isinstance(point, Line):
            lines.append(point.line)
        else:
            bits[point.signal].append(point.bit)
    return grouped


def shortened(text):
    return text if len(text) <= LONGEST else text[:LONGEST].rpartition(";")[0] + "; ..."


def hole_rows(reasons):
    for (file, why), (lines, bits) in sorted(holes_by_reason(reasons).items(), key=lambda item: (item[0][0], item[0][1] or "")):
        which = ([f"lines {ranges(lines)}"] if lines else []) + [f"`{signal}`[{ranges(numbers)}]" for signal, numbers in sorted(bits.items())]
        yield f"| {file} | {len(lines)} | {sum(map(len, bits.values()))} | {why or '**none yet**'} | {shortened('; '.join(which))} |"


def page(lines, bits, constant, reasons, programs):
    text = ["# Lines and bits of the RTL that the tests exercise", "",
            f"Written by `make code-coverage` (`tests/coverage/code_coverage.py`), from {', '.join(programs)}. A line is hit if each block and branch on it was executed; a bit of a "
            "signal, if it has risen and fallen within one simulation, as seen at rising clock edges and not counting start values. All instances and parameterisations of a "
            "module together; every port counts in its module. Contents of unpacked arrays (RAMs, tables) and variables inside processes are not counted. "
            f"Not counted either: {constant:,} bits that are constant by construction wherever they stand, which Yosys has worked out (`tests/coverage/constants.py`): fields that only later stages "
            "fill, upper bits that no width uses. Explained: not hit, for the reason given below: it cannot be, or no simulation comes so far.", "",
            "| | points | hit | explained | neither |", "|---|---:|---:|---:|---:|"]
    for name, table in (("lines", lines), ("bits", bits)):
        points, hit, explained = total(table)
        text.append(f"| {name} | {points:,} | {hit:,} ({percent(hit, points):.2f} %) | {explained:,} | {points - hit - explained:,} |")
    text += ["", "| file | lines | hit | explained | bits | hit | explained |", "|---|---:|---:|---:|---:|---:|---:|"]
    for file in sorted({*lines, *bits}):
        row = "".join(f" {p:,} | {percent(h, p):.1f} % | {e:,} |" for p, h, e in (lines.get(file, [0, 0, 0]), bits.get(file, [0, 0, 0])))
        text.append(f"| {file} |{row}")
    if missing := unseen(lines, bits):
        text += ["", f"In no simulation, and not counted above: {', '.join(missing)}."]
    text += ["", "## Holes", "", "| file | lines | bits | why | which |", "|---|---:|---:|---|---|", *hole_rows(reasons)]
    return "\n".join(text) + "\n"


def write_whole(file, text):
    temporary = file.with_suffix(".part")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, file)


def unseen(lines, bits):
    """Files of modules that no program has simulated."""
    return [file for file in sorted(short(file) for file in RTL.rglob("*.sv") if NOT_MEASURED not in file.parents) if file not in lines and file not in bits and not file.endswith("_pkg.sv")]


def judge(lines, bits, reasons, holes):
    """Whether enough is hit, every hole is explained, and every explanation is of a hole."""
    enough = not unseen(lines, bits)
    for file in unseen(lines, bits):
        print(f"coverage: {file}: in no simulation")
    for name, table in (("lines", lines), ("bits", bits)):
        points, hit, explained = total(table)
        print(f"coverage: {hit} of {points} {name} hit ({percent(hit, points):.2f} %), {explained} explained, {points - hit - explained} neither")
        enough = enough and percent(hit, points) >= GOAL
    unexplained = {point: why for point, why in reasons.items() if why is None}
    for (file, _), (line_numbers, signals) in sorted(holes_by_reason(unexplained).items()):
        print(f"coverage: {file}: {len(line_numbers)} lines and {sum(map(len, signals.values()))} bits are not hit for no known reason")
    for entry in holes.unused():
        print(f"coverage: code_holes.json explains what is no hole: {entry}")
    if not enough:
        print(f"coverage: less than {GOAL} % hit, or modules that are in no simulation")
    return enough and not unexplained and not holes.unused()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="of coverage files; code.json, all holes, goes there")
    parser.add_argument("--page", type=pathlib.Path, default=PAGE, help="where the results go, default docs/results/code_coverage.md")
    args = parser.parse_args()
    try:
        coverage, holes = read(args.folder), Holes(HOLES)
        constants = json.loads((args.folder / "constants.json").read_text(encoding="utf-8"))
        line_points, bit_points = coverage.lines(), coverage.bits(constants)
        constant = len(coverage.bits({})) - len(bit_points)
        reasons = {point: holes.reason(point) for points in (line_points, bit_points) for point, is_hit in points.items() if not is_hit}
        lines, bits = count(line_points, reasons), count(bit_points, reasons)
        programs = sorted({file.name.split(".")[0] for file in args.folder.glob("*.cov")})
        result = [{**point._asdict(), "why": why} for point, why in sorted(reasons.items(), key=lambda item: (isinstance(item[0], Bit), item[0]))]
        write_whole(args.folder / "code.json", json.dumps(result, indent=0) + "\n")
        write_whole(args.page, page(lines, bits, constant, reasons, programs))
    except (OSError, KeyError, ValueError, re.error, BadInput) as error:
        print(f"coverage: {error}", file=sys.stderr)
        return 2
    return 0 if judge(lines, bits, reasons, holes) else 1


if __name__ == "__main__":
    sys.exit(main())

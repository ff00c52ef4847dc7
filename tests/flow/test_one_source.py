# SPDX-License-Identifier: Apache-2.0
"""Registers, packets, records and codes are the same in spec/, the RTL package, the C++ header, the C header and the page; each changed alone is found.

usage: test_one_source.py REPOSITORY BUILD
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(2))
ROOT = pathlib.Path(sys.argv.pop(1))
GENERATED = BUILD / "gen"
UNITS = sorted(path.stem for path in (ROOT / "spec").glob("*.json") if "unit" in json.loads(path.read_text(encoding="utf-8")))

# The facts of a unit: name of a fact -> number. Each reader below takes the text of one file and knows nothing of the generator.


def records_of(spec):
    return ([dict(spec["header"], name="header")] if "header" in spec else []) + spec.get("records", [])


def facts_of_spec(spec):
    facts = {}
    for register in spec.get("registers", {}).get("list", []):
        name = register["name"]
        facts[f"offset of {name}"] = register["offset"]
        if register.get("count", 1) > 1:
            facts[f"words of {name}"] = register["count"]
        if "reset" in register:
            facts[f"reset of {name}"] = register["reset"]
        if register["access"] == "rw":
            facts[f"bits of {name}"] = register.get("width", 32)
    for record in records_of(spec):
        low = 0
        for field in record["fields"]:
            facts[f"place of {record['name']}.{field['name']}"] = low
            facts[f"width of {record['name']}.{field['name']}"] = field["width"]
            low += field["width"]
    for enum in spec["enums"]:
        for value in enum["values"]:
            facts[f"value of {enum['name']}.{value['name']}"] = value["value"]
    return facts


def blocks(pattern, text):
    """(name, body) of each place that fits."""
    return [(match["name"], match["body"]) for match in re.finditer(pattern, text, re.S | re.M)]


def snake(name):
    """`ImageFault` -> `image_fault`."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def facts_of_cpp(text):
    facts = {}
    registers = dict(blocks(r"^namespace (?P<name>reg|count|reset|width) \{$(?P<body>.*?)^\}", text))
    for space, what in {"reg": "offset", "count": "words", "reset": "reset", "width": "bits"}.items():
        for name, value in re.findall(r"(\w+) = (\w+);", registers.get(space, "")):
            facts[f"{what} of {name}"] = int(value, 0)
    for space, body in blocks(r"^namespace (?P<name>\w*field) \{$(?P<body>.*?)^\}", text):
        record = space.removesuffix("field").rstrip("_") or "header"
        for name, what, value in re.findall(r"(\w+)_(lsb|width) = (\d+);", body):
            facts[f"{'place' if what == 'lsb' else 'width'} of {record}.{name}"] = int(value)
    for enum, body in blocks(r"^enum class (?P<name>\w+) : [^{]*\{$(?P<body>.*?)^\};", text):
        for name, value in re.findall(r"(\w+) = (\d+),", body):
            facts[f"value of {snake(enum)}.{name.upper()}"] = int(value)
    for name, value in re.findall(r"constexpr std::uint\d+_t flag_(\w+) = (\d+);", text):
        if name != "all":
            facts[f"value of flag.{name.upper()}"] = int(value)
    return facts


def facts_of_sv(text):
    facts = {}
    for name, value in re.findall(r"REG_(?!COUNT_|WIDTH_)(\w+) = \d+'h(\w+);", text):
        facts[f"offset of {name}"] = int(value, 16)
    for kind, what in {"COUNT": "words", "WIDTH": "bits"}.items():
        for name, value in re.findall(rf"int unsigned REG_{kind}_(\w+) = (\d+);", text):
            facts[f"{what} of {name}"] = int(value)
    for name, value in re.findall(r" RESET_(\w+) = 32'h(\w+);", text):
        facts[f"reset of {name}"] = int(value, 16)
    for record, body in blocks(r"typedef struct packed \{(?P<body>.*?)\} (?P<name>\w+)_t;", text):
        low = 0
        for high, name in reversed(re.findall(r"logic \[(\d+):0\] (\w+);", body)):
            facts[f"place of {record}.{name}"] = low
            facts[f"width of {record}.{name}"] = int(high) + 1
            low += int(high) + 1
    for enum, body in blocks(r"typedef enum logic [^{]*\{(?P<body>[^}]*)\} (?P<name>\w+)_e;", text):
        for name, value in re.findall(rf"{enum.upper()}_(\w+) = \d+'d(\d+)", body):
            facts[f"value of {enum}.{name}"] = int(value)
    for name, value in re.findall(r" FLAG_(\w+) = \d+'d(\d+);", text):
        if name != "ALL":
            facts[f"value of flag.{name}"] = int(value)
    return facts


# Prefixes of macros that begin with that of another unit.
PREFIXES = [f"WEFT_{unit.upper()}_" for unit in UNITS]
LONGER = {prefix: [other for other in PREFIXES if other != prefix and other.startswith(prefix)] for prefix in PREFIXES}


def facts_of_c(values, spec):
    """From what the compiler says that each macro of the unit is."""
    prefix = f"WEFT_{spec['unit'].upper()}_"
    facts = {}
    kinds = {"REG": "offset", "COUNT": "words", "RESET": "reset", "MASK": "bits"}
    apart = {"FORMATS_VERSION"} | {f"{record['name'].upper()}_BYTES" for record in records_of(spec)}
    codes = {f"{enum['name'].upper()}_{value['name']}": f"value of {enum['name']}.{value['name']}" for enum in spec["enums"] for value in enum["values"]}
    for macro, value in values.items():
        name = macro.removeprefix(prefix)
        kind, _, rest = name.partition("_")
        field = re.fullmatch(r"(\w+)_(LSB|WIDTH)", name)
        if not macro.startswith(prefix) or any(macro.startswith(longer) for longer in LONGER[prefix]) or name in apart:
            continue
        if name in codes:
            facts[codes[name]] = value
        elif kind in kinds:
            facts[f"{kinds[kind]} of {rest}"] = value.bit_length() if kind == "MASK" else value
        elif field:
            record = next((r["name"] for r in records_of(spec) if field[1].startswith(r["name"].upper() + "_")), None)
            facts[f"{'place' if field[2] == 'LSB' else 'width'} of {record}.{field[1].lower().removeprefix(record + '_')}"] = value
    return facts


def facts_of_page(text):
    facts = {}
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in section.splitlines() if line.startswith("| ")][1:]
        record = re.match(r"(?:(Packet header)|(Entry)|(\w+) entry) \(", section)
        enum = re.search(r"SystemVerilog: .*?`(\w+?)(?:_e)?`;|SystemVerilog: `(FLAG)_\*`", section)
        if record:
            name = "header" if record[1] else snake(record[2] or record[3])
            for bits, field, width, *_ in rows:
                facts[f"place of {name}.{field.strip('`')}"] = int(bits.split(":")[1])
                facts[f"width of {name}.{field.strip('`')}"] = int(width)
        elif section.startswith("Registers\n"):
            for span, name, access, bits, reset, _ in rows:
                name = name.strip("`")
                facts[f"offset of {name}"] = int(re.match(r"`(\w+)`", span)[1], 0)
                if "i < " in span:
                    facts[f"words of {name}"] = int(span.rsplit(" ", 1)[1])
                if reset != "–":
                    facts[f"reset of {name}"] = int(reset.strip("`"), 0)
                if access == "rw":
                    facts[f"bits of {name}"] = int(bits)
        elif enum:
            for value, name, _ in rows:
                facts[f"value of {(enum[1] or enum[2]).lower()}.{name.strip('`')}"] = int(value)
    return facts


def differences(expected, found):
    """One line for each fact that is not the same."""
    return [f"{name}: {expected.get(name)} in the description, {found.get(name)} here" for name in sorted(expected.keys() | found.keys()) if expected.get(name) != found.get(name)]


def macros(header):
    """Name and value of each macro as a C11 compiler has them."""
    names = re.findall(r"^#define (WEFT_\w+) \S", header, re.M)
    with tempfile.TemporaryDirectory() as holder:
        folder = pathlib.Path(holder)
        (folder / "weft_registers.h").write_text(header, encoding="utf-8")
        lines = ['#include "weft_registers.h"', "#include <stdio.h>", "int main(void) {", *(f'  printf("{name} %llu\\n", (unsigned long long){name});' for name in names), "  return 0;", "}", ""]
        (folder / "main.c").write_text("\n".join(lines), encoding="utf-8")
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o", folder / "main", folder / "main.c"], check=True)
        output = subprocess.run([folder / "main"], check=True, capture_output=True, text=True).stdout
    return {name: int(value) for name, value in map(str.split, output.splitlines())}


class OneSource(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.specs = {unit: json.loads((ROOT / "spec" / f"{unit}.json").read_text(encoding="utf-8")) for unit in UNITS}
        cls.header = (GENERATED / "include" / "weft" / "weft_registers.h").read_text(encoding="utf-8")
        cls.macros = macros(cls.header)

    def files(self, unit):
        """What has the unit's facts: name -> (text, reader)."""
        spec = self.specs[unit]
        places = {
            "C++ header": (GENERATED / "include" / "weft" / unit / "formats.hpp", facts_of_cpp),
            "RTL package": (GENERATED / "rtl" / f"{unit}_formats_pkg.sv", facts_of_sv),
            "page": (ROOT / "docs" / f"{unit}_formats.md", facts_of_page),
        }
        files = {name: (path.read_text(encoding="utf-8"), reader) for name, (path, reader) in places.items()}
        if f"WEFT_{unit.upper()}_FORMATS_VERSION" in self.macros:
            files["C header"] = (self.header, lambda text: facts_of_c(self.macros if text == self.header else macros(text), spec))
        return files

    def test_all_say_the_same(self):
        for unit, spec in self.specs.items():
            for name, (text, reader) in self.files(unit).items():
                with self.subTest(unit=unit, file=name):
                    self.assertGreater(len(facts_of_spec(spec)), 10)
                    self.assertEqual(differences(facts_of_spec(spec), reader(text)), [])

    def test_units_with_registers_are_in_the_c_header(self):
        for unit, spec in self.specs.items():
            if "registers" in spec:
                self.assertEqual(self.macros.get(f"WEFT_{unit.upper()}_FORMATS_VERSION"), spec["version"], unit)

    def alone(self, unit, name, old, new, fact):
        """The file with one change differs from the description in that fact and in no other."""
        text, reader = self.files(unit)[name]
        self.assertEqual(text.count(old), 1, f"{name}: {old}")
        found = differences(facts_of_spec(self.specs[unit]), reader(text.replace(old, new)))
        self.assertEqual(len(found), 1, found)
        self.assertIn(fact, found[0])

    def test_an_offset_changed_in_one_place(self):
        self.alone("rdma", "C++ header", "NODE_ID = 0x014;", "NODE_ID = 0x018;", "offset of NODE_ID")
        self.alone("rdma", "RTL package", "REG_NODE_ID = 12'h014;", "REG_NODE_ID = 12'h018;", "offset of NODE_ID")
        self.alone("rdma", "C header", "WEFT_RDMA_REG_NODE_ID 0x014u", "WEFT_RDMA_REG_NODE_ID 0x018u", "offset of NODE_ID")
        self.alone("rdma", "page", "| `0x014` | `NODE_ID`", "| `0x018` | `NODE_ID`", "offset of NODE_ID")

    def test_a_mask_and_a_reset_changed_in_one_place(self):
        self.alone("barrier", "C header", "WEFT_BARRIER_MASK_TABLE_GROUP 0x000000ffu", "WEFT_BARRIER_MASK_TABLE_GROUP 0x0000007fu", "bits of TABLE_GROUP")
        self.alone("rdma", "C header", "WEFT_RDMA_RESET_MAX_BUSY 0xffu", "WEFT_RDMA_RESET_MAX_BUSY 0xfeu", "reset of MAX_BUSY")

    def test_a_code_changed_in_one_place(self):
        self.alone("rdma", "C++ header", "  drop_zombie = 20,", "  drop_zombie = 120,", "value of outcome.DROP_ZOMBIE")
        self.alone("rdma", "RTL package", "OUTCOME_DROP_ZOMBIE = 8'd20", "OUTCOME_DROP_ZOMBIE = 8'd120", "value of outcome.DROP_ZOMBIE")
        self.alone("rdma", "C header", "WEFT_RDMA_OUTCOME_DROP_ZOMBIE 20u", "WEFT_RDMA_OUTCOME_DROP_ZOMBIE 120u", "value of outcome.DROP_ZOMBIE")
        self.alone("rdma", "page", "| 20 | `DROP_ZOMBIE`", "| 120 | `DROP_ZOMBIE`", "value of outcome.DROP_ZOMBIE")

    def test_a_field_changed_in_one_place(self):
        self.alone("rdma_queues", "C++ header", "inline constexpr int local_key_width = 32;", "inline constexpr int local_key_width = 31;", "width of submission.local_key")
        self.alone("rdma_queues", "C header", "SUBMISSION_LOCAL_KEY_LSB 288u", "SUBMISSION_LOCAL_KEY_LSB 289u", "place of submission.local_key")

    def test_the_description_changed_alone(self):
        spec = json.loads(json.dumps(self.specs["switch_lookup"]))
        next(register for register in spec["registers"]["list"] if register["name"] == "SEED")["offset"] = 0x60
        for name, (text, reader) in self.files("switch_lookup").items():
            self.assertEqual([line.split(":")[0] for line in differences(facts_of_spec(spec), reader(text))], ["offset of SEED"], name)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates one header of plain C with registers, packets, records and codes of all units, for drivers that are not in C++.

usage: gen_c_header.py SPEC... --out FILE. Exit code 0: done; 2: bad input.
"""

import argparse
import os
import sys

from formats_spec import REGISTER_BITS, SpecError, read_spec
from gen_formats import LICENSE, all_records, placed_fields, register_bits, write_if_changed

GUARD = "WEFT_REGISTERS_H"
TOP = [
    f"/* {LICENSE} */",
    "/* Registers, packets, records and codes of weft's units for drivers in C (C11; C++ may include it, too). */",
    "/* Generated from spec/ by scripts/gen_c_header.py: do not edit. */",
    "/*",
    " * WEFT_UNIT_REG_NAME      byte offset of a register from where the unit's registers begin, WEFT_UNIT_COUNT_NAME words if it is a bank of them",
    " * WEFT_UNIT_MASK_NAME     bits of a register that can be written and read",
    " * WEFT_UNIT_RESET_NAME    value after reset, where there is one that does not depend on the hardware's parameters",
    " * WEFT_UNIT_RECORD_BYTES  bytes of a packet's header or of a record; its fields are little endian, each WIDTH bits from bit LSB on",
    " * WEFT_UNIT_CODE_NAME     value of a code: reason of a drop, status, packet type",
    " */",
    f"#ifndef {GUARD}",
    f"#define {GUARD}",
    "",
]


def comment(text):
    return "/* " + text.replace("/*", "/ *").replace("*/", "* /") + " */"


class Header:
    """Lines of the header. Names of two units could meet, so each is looked up."""

    def __init__(self):
        self.lines = []
        self.names = set()

    def title(self, text):
        self.lines += ["", comment(text)]

    def define(self, name, value, doc=""):
        if name in self.names:
            raise SpecError(f"the name {name} appears twice in the C header")
        self.names.add(name)
        self.lines.append(f"#define {name} {value}" + (f" {comment(doc)}" if doc else ""))

    def registers(self, prefix, registers):
        self.title(registers["doc"])
        for register in registers["list"]:
            self.define(f"{prefix}_REG_{register['name']}", f"{register['offset']:#05x}u", f"{register['access']}: {register['doc']}")
        self.title("words of banks")
        for register in registers["list"]:
            if register.get("count", 1) > 1:
                self.define(f"{prefix}_COUNT_{register['name']}", f"{register['count']}u")
        self.title("bits of the registers that can be written and read")
        for register in registers["list"]:
            if register["access"] == "rw":
                self.define(f"{prefix}_MASK_{register['name']}", f"{(1 << register_bits(register)) - 1:#0{2 + REGISTER_BITS // 4}x}u")
        self.title("values after reset")
        for register in registers["list"]:
            if "reset" in register:
                self.define(f"{prefix}_RESET_{register['name']}", f"{register['reset']:#x}u")

    def record(self, prefix, record):
        self.title(record["doc"])
        name = f"{prefix}_{record['name'].upper()}"
        self.define(f"{name}_BYTES", f"{record['bits'] // 8}u")
        for field, low in placed_fields(record):
            self.define(f"{name}_{field['name'].upper()}_LSB", f"{low}u", field["doc"])
            self.define(f"{name}_{field['name'].upper()}_WIDTH", f"{field['width']}u")

    def codes(self, prefix, enum):
        self.title(enum["doc"])
        for value in enum["values"]:
            self.define(f"{prefix}_{enum['name'].upper()}_{value['name']}", f"{value['value']}u", value["doc"])

    def unit(self, spec):
        prefix = f"WEFT_{spec['unit'].upper()}"
        self.lines += ["", f"/* ---- {spec['unit']} ---- */"]
        self.title(spec["brief"])
        self.define(f"{prefix}_FORMATS_VERSION", f"{spec['version']}u")
        if "registers" in spec:
            self.registers(prefix, spec["registers"])
        for record in all_records(spec):
            self.record(prefix, record)
        for enum in spec["enums"]:
            self.codes(prefix, enum)


def generate(specs):
    header = Header()
    for spec in specs:
        header.unit(spec)
    return "\n".join([*TOP, *header.lines[1:], "", "#endif", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("specs", nargs="+", metavar="SPEC", help="descriptions, such as spec/rdma.json")
    parser.add_argument("--out", required=True, metavar="FILE", help="header to write")
    args = parser.parse_args()
    specs = []
    for path in args.specs:
        try:
            specs.append(read_spec(path))
        except SpecError as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 2
    try:
        text = generate(specs)
    except SpecError as error:
        print(f"{', '.join(os.path.basename(path) for path in args.specs)}: {error}", file=sys.stderr)
        return 2
    write_if_changed(args.out, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

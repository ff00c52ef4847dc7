#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates a unit's packet formats, enums and register map from its JSON description.

One description (spec/UNIT.json) becomes a C++ header, a SystemVerilog package and a page of documentation, so that
RTL, golden model, driver and documentation cannot disagree. Needs nothing but Python's standard library.

Exit code 0: done; 1: with --check, a file differs from what would be generated; 2: bad input.
"""

import argparse
import json
import os
import sys
import tempfile

from formats_spec import REGISTER_BITS, FLAG_ENUM, ACCESSES, SpecError, read_spec

LICENSE = "SPDX-License-Identifier: Apache-2.0"


# --- helpers of the generators ----------------------------------------------------------------------------------------


def all_records(spec):
    """The packet header, if there is one, and the records."""
    header = [dict(spec["header"], name="header")] if "header" in spec else []
    return header + spec.get("records", [])


def placed_fields(record):
    """(field, lowest bit) from bit 0 up."""
    low = 0
    for field in record["fields"]:
        yield field, low
        low += field["width"]


def field_namespace(record):
    return "field" if record["name"] == "header" else f"{record['name']}_field"


def unpack_name(record):
    return "unpack" if record["name"] == "header" else f"unpack_{record['name']}"


def camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


def uint_bits(width):
    return next(bits for bits in (8, 16, 32, 64) if width <= bits)


def banner(prefix, text, source):
    return [f"{prefix} {LICENSE}", f"{prefix} {text}", f"{prefix} Generated from {source} by scripts/gen_formats.py: do not edit."]


def register_bits(register):
    return register.get("width", REGISTER_BITS)


# --- C++ --------------------------------------------------------------------------------------------------------------


def cpp_enum(enum):
    name = camel(enum["name"])
    kind = f"std::uint{uint_bits(enum['width'])}_t"
    lines = [f"/// {enum['doc']}."]
    if enum["name"] == FLAG_ENUM:
        for value in enum["values"]:
            constant = f"{enum['name']}_{value['name'].lower()}"
            lines.append(f"inline constexpr {kind} {constant} = {value['value']};  ///< {value['doc']}")
        every = sum(value["value"] for value in enum["values"])
        lines.append(f"inline constexpr {kind} {enum['name']}_all = {every};  ///< all defined bits")
        return lines
    lines.append(f"enum class {name} : {kind} {{")
    for value in enum["values"]:
        lines.append(f"  {value['name'].lower()} = {value['value']},  ///< {value['doc']}")
    lines += ["};", "", "/// Upper-case name of the value, \"?\" for undefined values."]
    lines += [f"constexpr std::string_view name({name} value) {{", "  switch (value) {"]
    lines += [f"    case {name}::{value['name'].lower()}: return \"{value['name']}\";" for value in enum["values"]]
    lines += ["  }", "  return \"?\";", "}"]
    return lines


def cpp_record_struct(record):
    name, size = record["name"], record["bits"] // 8
    lines = [f"inline constexpr int {name}_bits = {record['bits']};", f"inline constexpr int {name}_bytes = {size};", ""]
    lines += [f"/// {record['doc']}", f"struct {camel(name)} {{"]
    for field, _ in placed_fields(record):
        kind = f"std::uint{uint_bits(field['width'])}_t"
        lines.append(f"  {kind} {field['name']}{{}};  ///< {field['width']} bits: {field['doc']}")
    lines += [f"  bool operator==(const {camel(name)}&) const = default;", "};", ""]
    lines += [f"/// Widths and lowest bits of the {name}'s fields.", f"namespace {field_namespace(record)} {{"]
    for field, low in placed_fields(record):
        lines.append(f"inline constexpr int {field['name']}_width = {field['width']};")
        lines.append(f"inline constexpr int {field['name']}_lsb = {low};")
    lines += [f"}}  // namespace {field_namespace(record)}", ""]
    return lines + (cpp_field_table(record) if name == "header" else [])


def cpp_field_table(record):
    """The fields as data, for code that goes through all of them."""
    count = len(record["fields"])
    lines = ["/// A field of the header: `width` bits from bit `lsb` on.", "struct Field {", "  std::string_view name;"]
    lines += ["  int lsb;", "  int width;", "  bool operator==(const Field&) const = default;", "};", ""]
    lines += ["/// All fields of the header, from bit 0 up.", f"inline constexpr std::array<Field, {count}> fields{{{{"]
    lines += [f"    {{\"{field['name']}\", {low}, {field['width']}}}," for field, low in placed_fields(record)]
    return lines + ["}};", ""]


def cpp_bit_access():
    return [
        "namespace detail {",
        "",
        "/// Calls part(byte, bit in it, bit of the value, bits) for every byte that the field touches.",
        "template <typename Part>",
        "constexpr void for_each_part(int lsb, int width, Part part) {",
        "  for (int done = 0; done < width;) {",
        "    const int at = (lsb + done) % 8;",
        "    const int take = std::min(8 - at, width - done);",
        "    part(static_cast<std::size_t>((lsb + done) / 8), at, done, take);",
        "    done += take;",
        "  }",
        "}",
        "",
        "constexpr void put_bits(std::span<std::uint8_t> bytes, int lsb, int width, std::uint64_t value) {",
        "  for_each_part(lsb, width, [&](std::size_t byte, int at, int from, int take) {",
        "    const auto part = (value >> from) & ((1U << take) - 1U);",
        "    bytes[byte] = static_cast<std::uint8_t>(bytes[byte] | part << at);",
        "  });",
        "}",
        "",
        "constexpr std::uint64_t get_bits(std::span<const std::uint8_t> bytes, int lsb, int width) {",
        "  std::uint64_t value = 0;",
        "  for_each_part(lsb, width, [&](std::size_t byte, int at, int from, int take) {",
        "    value |= (std::uint64_t{bytes[byte]} >> at & ((1U << take) - 1U)) << from;",
        "  });",
        "  return value;",
        "}",
        "",
        "}  // namespace detail",
        "",
    ]


def cpp_record_packing(record):
    name, kind, size = record["name"], camel(record["name"]), record["bits"] // 8
    lines = [
        f"/// The {name}'s bytes, little endian, field 0 at bit 0; bits of a value beyond its field's width are cut off.",
        f"constexpr std::array<std::uint8_t, {size}> pack(const {kind}& {name}) {{",
        f"  std::array<std::uint8_t, {size}> bytes{{}};",
    ]
    for field, low in placed_fields(record):
        lines.append(f"  detail::put_bits(bytes, {low}, {field['width']}, {name}.{field['name']});")
    lines += ["  return bytes;", "}", "", f"constexpr {kind} {unpack_name(record)}(std::span<const std::uint8_t, {size}> bytes) {{", f"  {kind} {name};"]
    for field, low in placed_fields(record):
        uint = f"std::uint{uint_bits(field['width'])}_t"
        lines.append(f"  {name}.{field['name']} = static_cast<{uint}>(detail::get_bits(bytes, {low}, {field['width']}));")
    return lines + [f"  return {name};", "}", ""]


def cpp_registers(spec):
    registers = spec["registers"]["list"]
    lines = ["/// Byte offsets of the registers.", "namespace reg {"]
    for register in registers:
        lines.append(f"inline constexpr std::uint32_t {register['name']} = {register['offset']:#05x};  ///< {register['doc']}")
    lines += ["}  // namespace reg", "", "/// Words of the registers that are banks.", "namespace count {"]
    lines += [f"inline constexpr std::uint32_t {r['name']} = {r['count']};" for r in registers if r.get("count", 1) > 1]
    lines += ["}  // namespace count", "", "/// Values after reset.", "namespace reset {"]
    lines += [f"inline constexpr std::uint32_t {r['name']} = {r['reset']:#x};" for r in registers if "reset" in r]
    lines += ["}  // namespace reset", "", "/// Bits of the writable registers.", "namespace width {"]
    lines += [f"inline constexpr int {r['name']} = {register_bits(r)};" for r in registers if r["access"] == "rw"]
    return lines + ["}  // namespace width"]


def generate_cpp(spec, source):
    unit = spec["unit"]
    lines = banner("//", spec["brief"], source)
    lines += ["#pragma once", ""]
    lines += [f"#include <{name}>" for name in ("algorithm", "array", "cstddef", "cstdint", "span", "string_view")]
    lines += ["", f"namespace weft::{unit}::formats {{", "", f"inline constexpr int version = {spec['version']};", ""]
    for enum in spec["enums"]:
        lines += cpp_enum(enum) + [""]
    for record in all_records(spec):
        lines += cpp_record_struct(record)
    lines += cpp_bit_access()
    for record in all_records(spec):
        lines += cpp_record_packing(record)
    lines += (cpp_registers(spec) if "registers" in spec else []) + ["", f"}}  // namespace weft::{unit}::formats", ""]
    return "\n".join(lines)


# --- SystemVerilog ----------------------------------------------------------------------------------------------------


def sv_enum(enum):
    prefix = enum["name"].upper()
    width = enum["width"]
    lines = [f"  // {enum['doc']}."]
    values = enum["values"]
    if enum["name"] == FLAG_ENUM:
        for value in values:
            lines.append(f"  localparam logic [{width - 1}:0] {prefix}_{value['name']} = {width}'d{value['value']};  // {value['doc']}")
        every = sum(value["value"] for value in values)
        return lines + [f"  localparam logic [{width - 1}:0] {prefix}_ALL = {width}'d{every};  // all defined bits"]
    lines.append(f"  typedef enum logic [{width - 1}:0] {{")
    for number, value in enumerate(values):
        comma = "," if number + 1 < len(values) else ""
        lines.append(f"    {prefix}_{value['name']} = {width}'d{value['value']}{comma}  // {value['doc']}")
    return lines + [f"  }} {enum['name']}_e;"]


def sv_record(record):
    lines = [f"  localparam int unsigned {record['name'].upper()}_BITS = {record['bits']};", ""]
    lines += [f"  // {record['doc']}", "  typedef struct packed {"]
    for field, _ in reversed(list(placed_fields(record))):
        lines.append(f"    logic [{field['width'] - 1}:0] {field['name']};  // {field['doc']}")
    return lines + [f"  }} {record['name']}_t;", ""]


def sv_registers(spec):
    registers = spec["registers"]
    address_bits = registers["address_bits"]
    lines = [f"  // {registers['doc']}"]
    for register in registers["list"]:
        name, offset = register["name"], register["offset"]
        lines.append(f"  localparam logic [{address_bits - 1}:0] REG_{name} = {address_bits}'h{offset:03x};  // {register['doc']}")
    lines += ["", "  // Words of the registers that are banks."]
    lines += [f"  localparam int unsigned REG_COUNT_{r['name']} = {r['count']};" for r in registers["list"] if r.get("count", 1) > 1]
    lines += ["", "  // Bits of the writable registers."]
    lines += [f"  localparam int unsigned REG_WIDTH_{r['name']} = {register_bits(r)};" for r in registers["list"] if r["access"] == "rw"]
    lines += ["", "  // Values after reset."]
    for register in registers["list"]:
        if "reset" in register:
            lines.append(f"  localparam logic [{REGISTER_BITS - 1}:0] RESET_{register['name']} = {REGISTER_BITS}'h{register['reset']:08x};")
    return lines + [""]


def generate_sv(spec, source):
    unit = spec["unit"]
    lines = banner("//", spec["brief"], source)
    lines += ["", "// No design uses all of them.", "// verilator lint_off UNUSED", f"package {unit}_formats_pkg;", ""]
    lines += [f"  localparam int unsigned VERSION = {spec['version']};", ""]
    for enum in spec["enums"]:
        lines += sv_enum(enum) + [""]
    for record in all_records(spec):
        lines += sv_record(record)
    if "registers" in spec:
        lines += sv_registers(spec)
    return "\n".join(lines + ["endpackage", "// verilator lint_on UNUSED", ""])


# --- documentation ----------------------------------------------------------------------------------------------------


def table(columns, rows):
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for row in rows:
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |")
    return lines + [""]


def wavedrom(record):
    fields = [{"name": field["name"], "bits": field["width"]} for field, _ in placed_fields(record)]
    lanes = record["bits"] // REGISTER_BITS
    lines = ["```wavedrom", '{"reg": [']
    lines += ["  " + json.dumps(field) + ("," if number + 1 < len(fields) else "") for number, field in enumerate(fields)]
    config = json.dumps({"bits": record["bits"], "lanes": lanes, "hspace": 1000})
    return lines + [f'], "config": {config}}}', "```", ""]


def doc_record(record):
    rows = []
    for field, low in placed_fields(record):
        high = low + field["width"] - 1
        rows.append([f"{high}:{low}", f"`{field['name']}`", field["width"], f"`uint{uint_bits(field['width'])}_t`", field["doc"]])
    title = {"header": "Packet header", "entry": "Entry"}.get(record["name"], f"{camel(record['name'])} entry")
    title = f"## {title} ({record['bits']} bits)"
    return [title, "", record["doc"], ""] + wavedrom(record) + table(["bits", "field", "width", "C++ type", "meaning"], rows)


def doc_enum(enum):
    is_flag = enum["name"] == FLAG_ENUM
    prefix = enum["name"].upper()
    names = f"`{prefix}_*`" if is_flag else f"`{prefix}_*` of `{enum['name']}_e`"
    cpp = f"`{enum['name']}_*`" if is_flag else f"`{camel(enum['name'])}`"
    intro = f"{enum['width']} bit{'s' if enum['width'] > 1 else ''}{', to be combined' if is_flag else ''}. SystemVerilog: {names}; C++: {cpp}."
    rows = [[value["value"], f"`{value['name']}`", value["doc"]] for value in enum["values"]]
    return [f"## {enum['doc']}", "", intro, ""] + table(["value", "name", "meaning"], rows)


def doc_registers(spec):
    registers = spec["registers"]
    rows = []
    for register in sorted(registers["list"], key=lambda register: register["offset"]):
        offset, count = register["offset"], register.get("count", 1)
        span = f"`{offset:#05x}`" + (f" + 4·i, i < {count}" if count > 1 else "")
        reset = f"`{register['reset']:#x}`" if "reset" in register else "–"
        rows.append([span, f"`{register['name']}`", register["access"], register_bits(register), reset, register["doc"]])
    access = ", ".join(f"{key}: {text}" for key, text in ACCESSES.items())
    intro = ["## Registers", "", registers["doc"], "", f"Access {access}. Reset –: no stored value, or it depends on the parameters.", ""]
    return intro + table(["offset", "register", "access", "bits", "reset", "meaning"], rows)


def generate_doc(spec, source):
    lines = [f"<!-- {LICENSE} -->", f"<!-- Generated from {source} by scripts/gen_formats.py: do not edit, run `make formats`. -->", ""]
    lines += [f"# {spec['unit'].upper()}: {'registers and ' if 'registers' in spec else ''}formats, version {spec['version']}", "", spec["brief"], ""]
    for record in all_records(spec):
        lines += doc_record(record)
    for enum in spec["enums"]:
        lines += doc_enum(enum)
    if "registers" in spec:
        lines += doc_registers(spec)
    return "\n".join(lines)


# --- writing ----------------------------------------------------------------------------------------------------------


def current_text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def write_if_changed(path, text):
    """Replaces the file in one step; leaves it alone when it is right already, so that nothing is rebuilt."""
    if current_text(path) == text:
        return
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".gen_formats.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def is_current(path, text):
    if current_text(path) == text:
        return True
    print(f"{path}: is not what scripts/gen_formats.py generates; run `make formats` and check the file in", file=sys.stderr)
    return False


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spec", help="description, such as spec/rdma.json")
    parser.add_argument("--cpp", metavar="FILE", help="C++ header to write")
    parser.add_argument("--sv", metavar="FILE", help="SystemVerilog package to write")
    parser.add_argument("--doc", metavar="FILE", help="Markdown page to write")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file differs from what would be written")
    return parser.parse_args()


def main():
    args = arguments()
    source = "spec/" + os.path.basename(args.spec)
    try:
        spec = read_spec(args.spec)
    except SpecError as error:
        print(f"{args.spec}: {error}", file=sys.stderr)
        return 2
    outputs = [(args.cpp, generate_cpp), (args.sv, generate_sv), (args.doc, generate_doc)]
    wanted = [(path, generate(spec, source)) for path, generate in outputs if path]
    if args.check:
        return 0 if all([is_current(path, text) for path, text in wanted]) else 1
    for path, text in wanted:
        write_if_changed(path, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

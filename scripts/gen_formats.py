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


def placed_fields(spec):
    """(field, lowest bit) from bit 0 up."""
    low = 0
    for field in spec["header"]["fields"]:
        yield field, low
        low += field["width"]


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


def cpp_header_struct(spec):
    size = spec["header"]["bits"] // 8
    lines = [f"inline constexpr int header_bits = {spec['header']['bits']};", f"inline constexpr int header_bytes = {size};", ""]
    lines += [f"/// {spec['header']['doc']}", "struct Header {"]
    for field, _ in placed_fields(spec):
        kind = f"std::uint{uint_bits(field['width'])}_t"
        lines.append(f"  {kind} {field['name']}{{}};  ///< {field['width']} bits: {field['doc']}")
    lines += ["  bool operator==(const Header&) const = default;", "};", ""]
    lines += ["/// Widths and lowest bits of the header's fields.", "namespace field {"]
    for field, low in placed_fields(spec):
        lines.append(f"inline constexpr int {field['name']}_width = {field['width']};")
        lines.append(f"inline constexpr int {field['name']}_lsb = {low};")
    lines += ["}  // namespace field", ""]
    lines += [
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
        "/// The header's bytes, little endian, field 0 at bit 0; bits of a value beyond its field's width are cut off.",
        f"constexpr std::array<std::uint8_t, {size}> pack(const Header& header) {{",
        f"  std::array<std::uint8_t, {size}> bytes{{}};",
    ]
    for field, low in placed_fields(spec):
        lines.append(f"  detail::put_bits(bytes, {low}, {field['width']}, header.{field['name']});")
    lines += ["  return bytes;", "}", "", f"constexpr Header unpack(std::span<const std::uint8_t, {size}> bytes) {{", "  Header header;"]
    for field, low in placed_fields(spec):
        kind = f"std::uint{uint_bits(field['width'])}_t"
        lines.append(f"  header.{field['name']} = static_cast<{kind}>(detail::get_bits(bytes, {low}, {field['width']}));")
    return lines + ["  return header;", "}"]


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
    lines += cpp_header_struct(spec) + [""]
    lines += cpp_registers(spec) + ["", f"}}  // namespace weft::{unit}::formats", ""]
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


def generate_sv(spec, source):
    unit = spec["unit"]
    registers = spec["registers"]
    address_bits = registers["address_bits"]
    lines = banner("//", spec["brief"], source)
    lines += ["", "// verilator lint_off UNUSED", f"package {unit}_formats_pkg;", ""]
    lines += [f"  localparam int unsigned VERSION = {spec['version']};", ""]
    for enum in spec["enums"]:
        lines += sv_enum(enum) + [""]
    lines += [f"  localparam int unsigned HEADER_BITS = {spec['header']['bits']};", ""]
    lines += [f"  // {spec['header']['doc']}", "  typedef struct packed {"]
    for field, _ in reversed(list(placed_fields(spec))):
        lines.append(f"    logic [{field['width'] - 1}:0] {field['name']};  // {field['doc']}")
    lines += ["  } header_t;", "", f"  // {registers['doc']}"]
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
    return "\n".join(lines + ["", "endpackage", "// verilator lint_on UNUSED", ""])


# --- documentation ----------------------------------------------------------------------------------------------------


def table(columns, rows):
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for row in rows:
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |")
    return lines + [""]


def wavedrom(spec):
    fields = [{"name": field["name"], "bits": field["width"]} for field, _ in placed_fields(spec)]
    lanes = spec["header"]["bits"] // REGISTER_BITS
    lines = ["```wavedrom", '{"reg": [']
    lines += ["  " + json.dumps(field) + ("," if number + 1 < len(fields) else "") for number, field in enumerate(fields)]
    config = json.dumps({"bits": spec["header"]["bits"], "lanes": lanes, "hspace": 1000})
    return lines + [f'], "config": {config}}}', "```", ""]


def doc_header(spec):
    rows = []
    for field, low in placed_fields(spec):
        high = low + field["width"] - 1
        rows.append([f"{high}:{low}", f"`{field['name']}`", field["width"], f"`uint{uint_bits(field['width'])}_t`", field["doc"]])
    title = f"## Packet header ({spec['header']['bits']} bits)"
    return [title, "", spec["header"]["doc"], ""] + wavedrom(spec) + table(["bits", "field", "width", "C++ type", "meaning"], rows)


def doc_enum(enum):
    is_flag = enum["name"] == FLAG_ENUM
    prefix = enum["name"].upper()
    names = f"`{prefix}_*`" if is_flag else f"`{prefix}_*` of `{enum['name']}_e`"
    cpp = f"`{enum['name']}_*`" if is_flag else f"`{camel(enum['name'])}`"
    intro = f"{enum['width']} bits{', to be combined' if is_flag else ''}. SystemVerilog: {names}; C++: {cpp}."
    rows = [[value["value"], f"`{value['name']}`", value["doc"]] for value in enum["values"]]
    return [f"## {enum['doc']}", "", intro, ""] + table(["value", "name", "meaning"], rows)


def doc_registers(spec):
    registers = spec["registers"]
    rows = []
    for register in registers["list"]:
        offset, count = register["offset"], register.get("count", 1)
        span = f"`{offset:#05x}`" + (f" + 4·i, i < {count}" if count > 1 else "")
        reset = f"`{register['reset']:#x}`" if "reset" in register else "–"
        rows.append([span, f"`{register['name']}`", register["access"], register_bits(register), reset, register["doc"]])
    access = ", ".join(f"{key}: {text}" for key, text in ACCESSES.items())
    intro = ["## Registers", "", registers["doc"], "", f"Access {access}. Reset –: no stored value, or it depends on the parameters.", ""]
    return intro + table(["offset", "register", "access", "bits", "reset", "meaning"], rows)


def generate_doc(spec, source):
    lines = [f"<!-- {LICENSE} -->", f"<!-- Generated from {source} by scripts/gen_formats.py: do not edit, run `make formats`. -->", ""]
    lines += [f"# {spec['unit'].upper()}: registers and formats, version {spec['version']}", "", spec["brief"], ""]
    lines += doc_header(spec)
    for enum in spec["enums"]:
        lines += doc_enum(enum)
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

# SPDX-License-Identifier: Apache-2.0
"""Reads and checks a unit's JSON description (spec/UNIT.json) for gen_formats.py."""

import json
import re

REGISTER_BITS = 32
REGISTER_BYTES = REGISTER_BITS // 8
FLAG_ENUM = "flag"  # its values are single bits that may be combined, so they become constants, not an enum type
ACCESSES = {"ro": "read only", "rw": "read and write", "wo": "write only", "rw1c": "read, write 1 to clear"}
LOWER_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
UPPER_NAME = re.compile(r"[A-Z][A-Z0-9_]*\Z")
# Words that would break one of the generated files although the pattern allows them.
RESERVED = set(
    """alignas alignof and asm auto bit bool break byte case catch char class concept const continue default delete do
    double else enum event explicit export extern false final float for friend function goto if import inline input int
    inside integer interface local logic long mutable namespace new not operator or output package packed private
    protected public real ref reg register return shared short signed sizeof static string struct switch task template
    this throw time true try type typedef union unique unsigned using var virtual void volatile while wire with xor""".split()
)


class SpecError(Exception):
    """A fault of the description, as one line for its author."""


def without_duplicates(pairs):
    """json hook: an object whose keys differ (the json module would silently keep the last)."""
    result = {}
    for key, value in pairs:
        if key in result:
            raise SpecError(f"key '{key}' appears twice in one object")
        result[key] = value
    return result


def read_spec(path):
    try:
        with open(path, encoding="utf-8") as file:
            spec = json.load(file, object_pairs_hook=without_duplicates)
    except json.JSONDecodeError as error:
        raise SpecError(f"line {error.lineno}: {error.msg}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"cannot be read: {error}") from error
    check_spec(spec)
    return spec


def member(where, thing, key, kind, default=None):
    """thing[key], checked to be of the given kind; a default makes it optional."""
    if not isinstance(thing, dict):
        raise SpecError(f"{where}: must be an object")
    if key not in thing:
        if default is None:
            raise SpecError(f"{where}: '{key}' is missing")
        return default
    value = thing[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise SpecError(f"{where}: '{key}' must be of type {kind.__name__}, not {json.dumps(value)}")
    return value


def check_keys(where, thing, allowed):
    for key in thing:
        if key not in allowed:
            raise SpecError(f"{where}: unknown key '{key}'")


def check_name(where, name, pattern, seen):
    if not pattern.match(name) or name.lower() in RESERVED and pattern is LOWER_NAME:
        raise SpecError(f"{where}: '{name}' is no usable name here")
    if name in seen:
        raise SpecError(f"{where}: the name '{name}' appears twice")
    seen.add(name)


def check_width(where, width, limit):
    if not 1 <= width <= limit:
        raise SpecError(f"{where}: width {width} is not in 1..{limit}")


def check_fits(where, what, value, width):
    if not 0 <= value < 1 << width:
        raise SpecError(f"{where}: {what} {value} does not fit {width} bits")


def check_record(where, record, extra_keys=()):
    """A header or record: fields that fill its bits."""
    check_keys(where, record, {"bits", "doc", "fields", *extra_keys})
    bits = member(where, record, "bits", int)
    member(where, record, "doc", str)
    if bits <= 0 or bits % 8:
        raise SpecError(f"{where}: {bits} bits are not a whole number of bytes")
    seen = set()
    total = 0
    for number, field in enumerate(member(where, record, "fields", list)):
        name = member(f"{where} field {number}", field, "name", str)
        check_keys(f"{where} field {number}", field, {"name", "width", "doc"})
        check_name(f"{where} field {number}", name, LOWER_NAME, seen)
        member(f"{where} field '{name}'", field, "doc", str)
        width = member(f"{where} field '{name}'", field, "width", int)
        check_width(f"{where} field '{name}'", width, 64)
        total += width
    if total != bits:
        raise SpecError(f"{where}: the fields' widths add up to {total} bits, not to {bits}")


def check_records(spec):
    """The packet header is optional, and so are further records; there must be one of either."""
    seen = set()
    if "header" in spec:
        check_record("header", member("top level", spec, "header", dict))
        seen.add("header")
    for number, record in enumerate(member("top level", spec, "records", list, [])):
        name = member(f"record {number}", record, "name", str)
        check_name(f"record {number}", name, LOWER_NAME, seen)
        check_record(f"record '{name}'", record, {"name"})
    if not seen:
        raise SpecError("top level: there is neither a 'header' nor a record")


def check_enum(enum, seen_enums):
    where = f"enum {len(seen_enums)}"
    name = member(where, enum, "name", str)
    check_keys(where, enum, {"name", "width", "doc", "values"})
    check_name(where, name, LOWER_NAME, seen_enums)
    where = f"enum '{name}'"
    width = member(where, enum, "width", int)
    check_width(where, width, 64)
    member(where, enum, "doc", str)
    values = member(where, enum, "values", list)
    if not values:
        raise SpecError(f"{where}: has no values")
    names = set()
    used = {}
    for value in values:
        value_name = member(where, value, "name", str)
        check_keys(where, value, {"name", "value", "doc"})
        check_name(where, value_name, UPPER_NAME, names)
        if value_name.lower() in RESERVED:
            raise SpecError(f"{where}: '{value_name}' is a reserved word of C++ or SystemVerilog")
        member(f"{where} value '{value_name}'", value, "doc", str)
        code = member(f"{where} value '{value_name}'", value, "value", int)
        check_fits(where, f"value {value_name} =", code, width)
        if code in used:
            raise SpecError(f"{where}: {value_name} and {used[code]} have the same value {code}")
        used[code] = value_name
        if name == FLAG_ENUM and bin(code).count("1") != 1:
            raise SpecError(f"{where}: {value_name} = {code} is not a single bit")


def check_register(register, seen, address_bits, enums, taken):
    name = member("register", register, "name", str)
    where = f"register '{name}'"
    check_keys(where, register, {"name", "offset", "access", "reset", "width", "count", "doc"})
    check_name("registers", name, UPPER_NAME, seen)
    member(where, register, "doc", str)
    offset = member(where, register, "offset", int)
    access = member(where, register, "access", str)
    width = member(where, register, "width", int, REGISTER_BITS)
    count = member(where, register, "count", int, 1)
    check_width(where, width, REGISTER_BITS)
    if access not in ACCESSES:
        raise SpecError(f"{where}: access '{access}' is none of {', '.join(ACCESSES)}")
    if count < 1:
        raise SpecError(f"{where}: count {count} is below 1")
    if offset % REGISTER_BYTES:
        raise SpecError(f"{where}: offset {offset:#x} is not a multiple of {REGISTER_BYTES}")
    if offset < 0 or offset + count * REGISTER_BYTES > 1 << address_bits:
        raise SpecError(f"{where}: offset {offset:#x} with {count} word(s) is beyond {address_bits} address bits")
    if access == "rw" and "reset" not in register:
        raise SpecError(f"{where}: is writable and has no 'reset'")
    check_fits(where, "reset value", member(where, register, "reset", int, 0), width)
    for address in range(offset, offset + count * REGISTER_BYTES, REGISTER_BYTES):
        if address in taken:
            raise SpecError(f"{where}: offset {address:#x} is already that of {taken[address]}")
        taken[address] = name
    # A bank of counters named after an enum has one counter for each value.
    for enum in enums:
        top = max((value["value"] for value in enum["values"]), default=0)
        if enum["name"] == name.lower() and count > 1 and top >= count:
            raise SpecError(f"{where}: {count} words are too few for value {top} of enum '{enum['name']}'")


def check_spec(spec):
    check_keys("top level", spec, {"unit", "brief", "version", "header", "records", "enums", "registers"})
    check_name("unit", member("top level", spec, "unit", str), LOWER_NAME, set())
    member("top level", spec, "brief", str)
    version = member("top level", spec, "version", int)
    check_fits("top level", "version", version, REGISTER_BITS)
    check_records(spec)
    enums = member("top level", spec, "enums", list)
    seen = set()
    for enum in enums:
        check_enum(enum, seen)
    if "registers" not in spec:
        return
    registers = member("top level", spec, "registers", dict)
    check_keys("registers", registers, {"address_bits", "doc", "list"})
    address_bits = member("registers", registers, "address_bits", int)
    check_width("registers: address_bits", address_bits, 32)
    member("registers", registers, "doc", str)
    seen, taken = set(), {}
    for register in member("registers", registers, "list", list):
        check_register(register, seen, address_bits, enums, taken)
        if register["name"] == "VERSION" and register.get("reset", version) != version:
            raise SpecError(f"register 'VERSION': reset {register['reset']} is not the description's version {version}")

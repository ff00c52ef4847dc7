#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what the engines keep in their RAMs (spec/contexts.json) with the RTL as Verilator elaborates it and with the golden models, and writes its page.

usage: contexts.py [--root REPOSITORY] [--gen FOLDER] [--page FILE [--check]] [--rtl] [--model]
Exit code 0: all the same; 1: something differs, one line each; 2: bad input.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from formats_spec import LOWER_NAME, UPPER_NAME, SpecError, check_keys, check_name, member
from gen_formats import LICENSE, is_current, table, write_if_changed
from manifests import SPECS, TOPS, elaborate

TOP = "weft_nic"  # has all of them
# Sizes at which the RTL is elaborated: parameters that differ from their defaults.
SIZES = [{}, {"NODE_W": 12, "SID_W": 9, "CID_W": 8, "MSGID_W": 16, "PIDX_W": 12, "ADDR_W": 40, "WINDOW": 32, "PAYLOAD": 64, "N_REGIONS": 16}]
SMALL = {"N_RX_CTX": 16, "N_TX_CTX": 8, "N_QUEUES": 2, "FETCH": 2, "READS": 2, "N_REQUESTS": 8, "N_TICKETS": 4, "MAX_ANSWERS": 2, "N_GROUPS": 2, "N_MEMBERS": 4, "N_NODES": 4}
INTEGERS = {"bool": 1, "uint8_t": 8, "uint16_t": 16, "uint32_t": 32, "uint64_t": 64, "Node": 32}
OPTIONAL = re.compile(r"std::optional<(\w+)>")
MODELS = ("model/rdma", "model/barrier")


# --- description ------------------------------------------------------------------------------------------------------


def read_spec(path):
    try:
        spec = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SpecError(f"cannot be read: {error}") from error
    check_keys("top level", spec, {"brief", "parameters", "derived", "records"})
    names = set()
    for kind, keys in {"parameters": {"name", "default", "most", "model", "doc"}, "derived": {"name", "value", "doc"}}.items():
        for entry in member("top level", spec, kind, list):
            check_keys(kind, entry, keys)
            check_name(kind, member(kind, entry, "name", str), UPPER_NAME, names)
            for key in keys:
                member(f"{kind} '{entry['name']}'", entry, key, int if key in ("default", "most") else str)
    records = set()
    for record in member("top level", spec, "records", list):
        check_record(record, records, spec)
    return spec


def check_record(record, records, spec):
    where = f"record '{member('record', record, 'name', str)}'"
    check_keys(where, record, {"name", "module", "type", "ram", "doc", "fields"})
    fields = set()
    for field in member(where, record, "fields", list):
        check_keys(where, field, {"name", "width", "record", "model", "splits", "stored", "doc"})
        check_name(where, member(where, field, "name", str), LOWER_NAME, fields)
        if ("width" in field) == ("record" in field):
            raise SpecError(f"{where} field '{field['name']}': either 'width' or 'record'")
        if "record" in field and field["record"] not in records:
            raise SpecError(f"{where} field '{field['name']}': no record '{field['record']}' stands above")
        if "width" in field:
            evaluate(field["width"], values(spec))
    check_name("records", record["name"], LOWER_NAME, records)


def evaluate(text, known):
    functions = {"clog2": lambda number: (number - 1).bit_length(), "min": min}
    try:
        return eval(text, {"__builtins__": {}}, {**functions, **known})  # pylint: disable=eval-used  # of the repository's own description
    except Exception as error:  # pylint: disable=broad-except
        raise SpecError(f"'{text}': {error}") from error


def values(spec, settings=None, of="default"):
    """All names of widths: the parameters with these settings, and what follows from them."""
    known = {parameter["name"]: (settings or {}).get(parameter["name"], parameter[of]) for parameter in spec["parameters"]}
    for derived in spec["derived"]:
        known[derived["name"]] = evaluate(derived["value"], known)
    return known


def record_of(spec, name):
    return next(record for record in spec["records"] if record["name"] == name)


def width_of(spec, field, known):
    if "record" in field:
        return bits_of(spec, record_of(spec, field["record"]), known)
    return evaluate(field["width"], known)


def bits_of(spec, record, known):
    return sum(width_of(spec, field, known) for field in record["fields"])


def stored_bits(spec, record, known):
    return sum(width_of(spec, field, known) for field in record["fields"] if field.get("stored", True))


# --- RTL --------------------------------------------------------------------------------------------------------------


class Elaborated:
    """The top module as Verilator elaborates it: structures and RAMs by module."""

    def __init__(self, root, gen, parameters):
        units = TOPS[TOP]
        files, includes = elaborate.read_lists([root / "rtl" / unit / f"{unit}.f" for unit in units])
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder) / "nic.xml"
            # -Wno-lint, -Wno-fatal: the description of elaborated types is wanted, no check of style; the same files are linted by `make lint`.
            command = ["verilator", "--xml-only", "-Wno-fatal", "-Wno-lint", "--xml-output", output, "--top-module", TOP, *[f"-G{name}={value}" for name, value in parameters.items()],
                       *[f"+incdir+{include}" for include in includes], *[gen / f"{SPECS[unit]}_formats_pkg.sv" for unit in units if unit in SPECS], *files]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            if result.returncode:
                raise SpecError(f"Verilator does not elaborate {TOP}: {result.stderr.splitlines()[0] if result.stderr else ''}")
            self.tree = xml.etree.ElementTree.parse(output).getroot()
        self.types = {node.get("id"): node for node in self.tree.iter() if node.tag.endswith("dtype") and node.get("id")}
        self.modules = {node.get("name"): node for node in [*self.tree.iter("module"), *self.tree.iter("package")]}

    def width(self, number):
        node = self.types[number]
        if node.tag == "structdtype":
            return sum(self.width(part.get("sub_dtype_id")) for part in node.iter("memberdtype"))
        if node.tag == "packarraydtype":
            left, right = (int(const.get("name").split("h")[1], 16) for const in node.iter("const"))
            return (abs(left - right) + 1) * self.width(node.get("sub_dtype_id"))
        if node.tag == "basicdtype":
            return abs(int(node.get("left", 0)) - int(node.get("right", 0))) + 1
        return self.width(node.get("sub_dtype_id"))

    def layouts(self, module, name):
        """Fields (name, width) from bit 0 up of a type, once for each form of the module with other parameters."""
        wanted = re.compile(rf"{module}(__\w+)?(\.|::){name}\Z")
        found = [node for node in self.tree.iter("structdtype") if wanted.match(node.get("name", ""))]
        return [[(part.get("name"), self.width(part.get("sub_dtype_id"))) for part in reversed(list(node.iter("memberdtype")))] for node in found]

    def instances(self, module, name):
        """Modules that the instance of this name is of, in each form of the module."""
        for form, node in self.modules.items():
            if re.fullmatch(rf"{module}(__\w+)?", form):
                for instance in node.iter("instance"):
                    if instance.get("origName") == name:
                        yield self.modules[instance.get("defName")]

    def ram_widths(self, module, path):
        """WIDTH of the RAM; `path` is an instance in the module, or MODULE.INSTANCE."""
        if "." in path:
            module, path = path.split(".")
        found = set()
        for ram in self.instances(module, path):
            constant = next(var for var in ram.iter("var") if var.get("name") == "WIDTH").find("const").get("name")
            found.add(int(constant.split("h")[1], 16))
        return found


def compare_rtl(spec, root, gen):
    differences = []
    for settings in SIZES:
        known = values(spec, settings)
        rtl = Elaborated(root, gen, {**settings, **(SMALL if settings else {})})
        at = "default parameters" if not settings else "small parameters"
        for record in spec["records"]:
            differences += [f"{record['name']}{line} (RTL, {record['module']}.{record['type']}, {at})" for line in compare_record(spec, record, known, rtl)]
    return differences


def compare_record(spec, record, known, rtl):
    expected = [(field["name"], width_of(spec, field, known)) for field in record["fields"]]
    layouts = rtl.layouts(record["module"], record["type"])
    if not layouts:
        yield ": there is no such type"
    for layout in layouts:
        for (name, width), (rtl_name, rtl_width) in zip(expected, layout):
            if (name, width) != (rtl_name, rtl_width):
                yield f".{name}: {width} bits in the description; in its place {rtl_name}, {rtl_width} bits"
                break
        else:
            if len(expected) != len(layout):
                yield f": {len(expected)} fields in the description, {len(layout)} here"
    if "ram" in record:
        stored = stored_bits(spec, record, known)
        widths = rtl.ram_widths(record["module"], record["ram"])
        if stored not in widths or ("." not in record["ram"] and widths != {stored}):
            yield f": {stored} bits stored by the description, {record['ram']} has {', '.join(map(str, sorted(widths))) or 'none'}"


# --- golden models ----------------------------------------------------------------------------------------------------


def model_members(root):
    """STRUCT::MEMBER -> (type, initial value) of all structures in the models' headers."""
    members = {}
    for folder in MODELS:
        for header in sorted((root / folder).glob("*.hpp")):
            text = re.sub(r"//.*", "", header.read_text(encoding="utf-8"))
            for struct in re.finditer(r"^ *struct (\w+) \{\n(.*?)^ *\};", text, re.S | re.M):
                for kind, rest in re.findall(r"^ +([\w:<>]+) (\w+(?: = [^;,{]+|\{\}| = \{\})?(?:, \w+(?: = [^;,]+)?)*);", struct[2], re.M):
                    for declared in rest.split(", "):
                        name, _, value = declared.partition(" = ")
                        members[f"{struct[1]}::{name.removesuffix('{}')}"] = (kind, value)
    return members


def compare_model(spec, root):
    members = model_members(root)
    largest = values(spec, of="most")
    for parameter in spec["parameters"]:
        kind, name = parameter["model"].split(" ")
        if members.get(name) != (kind, str(parameter["default"])):
            yield f"parameter {parameter['name']}: {kind} {name} = {parameter['default']} in the description, {' = '.join(members.get(name, ('not there',)))} in the model"
    for record in spec["records"]:
        for field in record["fields"]:
            if "model" in field:
                yield from compare_member(spec, record, field, members, largest)


def compare_member(spec, record, field, members, largest):
    kind, name = field["model"].rsplit(" ", 1)
    found = members.get(name, ("not there",))[0]
    if found != kind:
        yield f"{record['name']}.{field['name']}: {kind} {name} in the description, {found} in the model"
    optional = OPTIONAL.fullmatch(kind)
    room = INTEGERS.get(optional[1] if optional else kind)
    width = width_of(spec, field, largest)
    if "splits" not in field and room is not None and room < width:
        yield f"{record['name']}.{field['name']}: {kind} {name} is too narrow for {width} bits"


# --- page -------------------------------------------------------------------------------------------------------------


def rows_of(spec, record, known, low=0, prefix=""):
    for field in record["fields"]:
        width = width_of(spec, field, known)
        if "record" in field:
            yield from rows_of(spec, record_of(spec, field["record"]), known, low, f"{prefix}{field['name']}.")
        else:
            place = f"{low + width - 1}:{low}" if width > 1 else f"{low}"
            expression = field["width"] if not field["width"].isdigit() else "–"
            model = f"`{field['model'].rsplit(' ', 1)[1]}`" if "model" in field else "–"
            yield [place if field.get("stored", True) else "–", f"`{prefix}{field['name']}`", width, expression, model, field["doc"]]
        low += width


def page(spec):
    known = values(spec)
    nested = {field["record"] for record in spec["records"] for field in record["fields"] if "record" in field}
    lines = [f"<!-- {LICENSE} -->", "<!-- Generated from spec/contexts.json by scripts/contexts.py: do not edit, run `make formats`. -->", "", "# Contexts", "", spec["brief"], "",
             "Bits are those at the default parameters, of a NIC with TRANSFERS. Where the golden model keeps a field in another way, the meaning says so. The test `contexts` elaborates the NIC with Verilator at two sets of",
             "parameters and compares every field, its place and the width of each RAM; and the members of the golden models.", "", "## Parameters", ""]
    lines += table(["parameter", "default", "most", "meaning"], [[f"`{p['name']}`", p["default"], p["most"], p["doc"]] for p in spec["parameters"]])
    lines += table(["follows", "at the defaults", "is", "meaning"], [[f"`{d['name']}`", known[d["name"]], d["value"], d["doc"]] for d in spec["derived"]])
    for record in spec["records"]:
        if record["name"] in nested:
            continue
        ram = f" RAM `{record['ram']}` of" if "ram" in record else ""
        lines += [f"## {record['doc']}: `{record['name']}`", "", f"{stored_bits(spec, record, known)} bits,{ram} `{record['module']}`, type `{record['type']}`.", ""]
        lines += table(["bits", "field", "width", "by parameters", "golden model", "meaning"], rows_of(spec, record, known))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent, help="repository (default: this one)")
    parser.add_argument("--gen", type=pathlib.Path, help="folder of the generated packages (default: build/gen/rtl of the repository)")
    parser.add_argument("--page", type=pathlib.Path, help="page to write")
    parser.add_argument("--check", action="store_true", help="do not write the page, but compare it")
    parser.add_argument("--rtl", action="store_true", help="compare the RTL")
    parser.add_argument("--model", action="store_true", help="compare the golden models")
    args = parser.parse_args()
    source = args.root / "spec" / "contexts.json"
    differences = []
    try:
        spec = read_spec(source)
        text = page(spec)
        if args.page and args.check and not is_current(args.page, text):
            return 1
        if args.page and not args.check:
            write_if_changed(args.page, text)
        if args.model:
            differences += compare_model(spec, args.root)
        if args.rtl:
            differences += compare_rtl(spec, args.root, args.gen or args.root / "build" / "gen" / "rtl")
    except SpecError as error:
        print(f"{source}: {error}", file=sys.stderr)
        return 2
    for line in differences:
        print(f"contexts: {line}", file=sys.stderr)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())

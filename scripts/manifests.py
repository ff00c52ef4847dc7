# SPDX-License-Identifier: Apache-2.0
"""Writes weft.core (FuseSoC) and Bender.yml from the file lists rtl/*/*.f, which stay the one place where sources are named; the version is that of CMakeLists.txt.

usage: manifests.py [--check]. Exit status 1: with --check, a manifest is not what would be written.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "fpga"))
import elaborate  # noqa: E402  # pylint: disable=wrong-import-position
# Top modules: the units whose lists they need, in order. Generated packages are named like the unit's spec.
TOPS = {
    "rdma_top": ["rdma"],
    "rdma_queues": ["rdma_queues"],
    "rdma_nic": ["rdma", "rdma_queues", "rdma_nic"],
    "switch_lookup": ["switch"],
    "barrier_engine": ["barrier"],
    "weft_nic": ["rdma", "rdma_queues", "rdma_nic", "barrier", "nic"],
    "selftest_top": ["rdma", "switch", "selftest"],
}
SPECS = {"rdma": "rdma", "rdma_queues": "rdma_queues", "switch": "switch_lookup", "barrier": "barrier", "nic": "barrier_ring", "selftest": "selftest"}
NOTICE = ["# SPDX-License-Identifier: Apache-2.0", "# Written by scripts/manifests.py from rtl/*/*.f: do not edit."]


def version():
    """As CMakeLists.txt has it, the one place."""
    return re.search(r"^project\(weft VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.M)[1]


def relative(path):
    return path.resolve().relative_to(ROOT).as_posix()


def sources(units):
    """Files, each once, in an order that compiles, and include folders, relative to the repository."""
    files, includes = elaborate.read_lists([ROOT / "rtl" / unit / f"{unit}.f" for unit in units])
    return [relative(file) for file in files], [relative(folder) for folder in includes]


def headers(includes):
    return [relative(header) for folder in includes for header in sorted((ROOT / folder).glob("*.svh"))]


def core():
    """FuseSoC: a fileset and a target `lint` for each top; packages are generated on the fly."""
    lines = ["CAPI=2:", *NOTICE, f"name: weft::weft:{version()}", "description: RDMA engine, NIC and switch lookup block", "filesets:"]
    waivers = sorted(relative(path) for path in (ROOT / "rtl").glob("**/*.vlt"))
    lines += ["  waivers:", "    files:", *(f"      - {path}" for path in waivers), "    file_type: vlt"]
    for top, units in TOPS.items():
        files, includes = sources(units)
        lines += [f"  {top}:", "    files:"]
        lines += [f"      - {header}: {{is_include_file: true}}" for header in headers(includes)]
        lines += [f"      - {file}" for file in files]
        lines += ["    file_type: systemVerilogSource"]
    lines += ["generators:", "  formats:", "    interpreter: python3", "    command: scripts/fusesoc_formats.py", "    description: packages of formats and registers", "generate:"]
    for spec in SPECS.values():
        lines += [f"  {spec}_formats:", "    generator: formats", "    position: first", "    parameters:", f"      spec: spec/{spec}.json"]
    lines += ["targets:", "  default:", "    filesets: [rdma_nic]", f"    generate: [{', '.join(f'{SPECS[unit]}_formats' for unit in TOPS['rdma_nic'] if unit in SPECS)}]"]
    for top, units in TOPS.items():
        lines += [f"  lint_{top}:", "    flow: lint", "    flow_options:", "      tool: verilator", "      verilator_options: [-Wall]",
                  f"    filesets: [waivers, {top}]", f"    generate: [{', '.join(f'{SPECS[unit]}_formats' for unit in units if unit in SPECS)}]",
                  f"    toplevel: {top}"]
    return "\n".join(lines) + "\n"


def bender():
    """Bender: all sources once; packages lie where `make configure` writes them."""
    units = list(dict.fromkeys(unit for top in TOPS.values() for unit in top))
    files, includes = sources(units)
    lines = [*NOTICE, "# Needs the generated packages: make configure.", "package:", "  name: weft", "  authors: [\"weft\"]",
             f"export_include_dirs: [{', '.join(includes)}]", "sources:",
             f"  - include_dirs: [{', '.join(includes)}]", "    files:"]
    lines += [f"      - build/gen/rtl/{spec}_formats_pkg.sv" for spec in SPECS.values()]
    lines += [f"      - {file}" for file in files]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail if a manifest is not current")
    args = parser.parse_args()
    old = []
    for name, text in {"weft.core": core(), "Bender.yml": bender()}.items():
        path = ROOT / name
        if args.check and (not path.exists() or path.read_text(encoding="utf-8") != text):
            old.append(name)
        elif not args.check:
            path.write_text(text, encoding="utf-8")
    if old:
        sys.exit(f"{', '.join(old)}: not current; python3 scripts/manifests.py writes them")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the switch lookup block on its netlists of OSU 0.18 um cells, also with gates swapped, as netlist.py does for the receiver.

Writes build/netlist/switch_results.json and docs/results/switch_netlist.md. Needs Debian's yosys, verilator and qflow-tech-osu018, and the Python
of `make verilog` (elaboration). Exit status 1 if a test failed, or if tests find too few swapped gates.
"""

import json
import sys

import area
import gates
import netlist

PAGE = area.ROOT / "docs" / "results" / "switch_netlist.md"
TOP = "switch_lookup"
LISTING = area.ROOT / "rtl" / "switch" / "switch.f"
FORMATS = area.ROOT / "build" / "gen" / "rtl" / "switch_lookup_formats_pkg.sv"
# As in tests/rtl/CMakeLists.txt.
SIZES = {"switch_lookup": ["N_IN=3", "N_PORTS=8", "N_COLOURS=16", "N_UNICAST=64"], "switch_per_port": ["N_IN=3", "N_PORTS=6", "N_COLOURS=8", "N_UNICAST=64", "PER_PORT=1'b1"]}
SWAPPABLE = "switch_lookup"  # tests/gates/CMakeLists.txt knows it too
TARGETS = ["test_switch_gates", "test_switch_swapped_gates"]


def run_all(args, progress):
    gates.write_cell_models(netlist.CELLS)
    made, picked = {}, []
    for name, parameters in SIZES.items():
        made[name], text = netlist.make_netlist(TOP, name, parameters, LISTING, FORMATS)
        progress(f"{name}: {made[name]['gates']:,} gates, {made[name]['flops']:,} flops")
        if name == SWAPPABLE:
            picked = netlist.make_swappable(name, text, args)
    netlist.build_tests(TARGETS, args.jobs)
    progress("tests built")
    ran, failed = netlist.run_tests(TARGETS[0], "switch_tests", args.seed)
    progress(f"{ran} tests on the netlists, {len(failed)} failed")
    return {"yosys": area.yosys_version(), "seed": args.seed, "netlists": made, "tests": {"ran": ran, "failed": failed},
            "swapped": netlist.check_swapped(TARGETS[1], SWAPPABLE, picked, args.seed, progress)}


def page(results):
    lines = [
        "# The gates of the switch lookup block", "",
        f"Written by `make switch-netlist` with {results['yosys']}, OSU 0.18 µm, the synthesis of `make switch-synth`; what is checked: [verification](../verification.md). RAMs "
        "are models, all else is gates.", "",
        "| netlist | parameters of `switch_lookup` | gates | flops |", "|---|---|---:|---:|",
        *(f"| `{name}` | {each['parameters']} | {each['gates']:,} | {each['flops']:,} |" for name, each in results["netlists"].items()), "",
        netlist.tests_words("the block (`tests/rtl/switch_tests.cmake`)", results["tests"]), "",
        *netlist.swapped_table(SWAPPABLE, results["swapped"], results["seed"]),
    ]
    return "\n".join(lines) + "\n"


def main():
    args = netlist.arguments(__doc__.splitlines()[0])
    area.need([area.LIBERTY])
    try:
        results = run_all(args, netlist.Progress())
    except area.ToolError as error:
        sys.exit(f"switch-netlist: {error}")
    area.write_file(netlist.WORK / "switch_results.json", json.dumps(results, indent=2) + "\n")
    area.write_file(PAGE, page(results))
    wrong = netlist.tests_complaints(SWAPPABLE, results["tests"], results["swapped"])
    for complaint in wrong:
        print(f"switch-netlist: {complaint} (seed {args.seed})", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
